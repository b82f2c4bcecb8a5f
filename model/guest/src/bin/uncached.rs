//! A guest that never enables a cache, which the model must say.
#![no_std]
#![no_main]

use core::arch::global_asm;

global_asm!(
    r#"
    .arm
    .section .vectors, "ax", %progbits
    .global _start
_start:
    mov     r0, #0x18
    ldr     r1, =0x20026
    svc     0x123456
    b       .
    .ltorg
    "#
);

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // Nothing here is Rust that could.
    loop {}
}
