//! Short sequences between two reads of the counter, whose cycles under `parts/an536.toml` are worked out
//! in `../expected.txt`. Each runs twice, so that the second run finds its code in the instruction cache;
//! then its name goes to the console, and the last two reads before it in the model's log are the result.
//!
//! No runtime: the image sets up what it needs itself, so that nothing but the sequence runs in between.
#![no_std]
#![no_main]

use core::arch::global_asm;

global_asm!(
    r#"
    .arm
    .section .vectors, "ax", %progbits
    .balign 64
vectors:
    .rept 8
    b .
    .endr

    .global _start
_start:
    // From Hyp mode to SVC mode with everything masked.
    mov     r0, #0x1d3
    msr     spsr_hyp, r0
    adr     r0, el1
    msr     elr_hyp, r0
    eret
el1:
    ldr     r0, =vectors
    mcr     p15, 0, r0, c12, c0, 0
    // All instruction-cache ways to the flash port, before a cache is enabled.
    mov     r0, #0x400
    mcr     p15, 1, r0, c9, c1, 0
    // Attributes: 0 write-back, 1 non-cacheable, 2 device.
    ldr     r0, =0x000044ff
    mcr     p15, 0, r0, c10, c2, 0
    .macro region n, base, limit, index
    mov     r0, #\n
    mcr     p15, 0, r0, c6, c2, 1
    ldr     r0, =\base
    mcr     p15, 0, r0, c6, c3, 0
    ldr     r0, =(\limit & 0xffffffc0) | (\index << 1) | 1
    mcr     p15, 0, r0, c6, c3, 1
    .endm
    region  0, 0x10000000, 0x1007ffff, 0
    region  1, 0x20000000, 0x200fffff, 0
    region  2, 0x20100000, 0x201fffff, 1
    region  3, 0xee100000, 0xee207fff, 1
    region  4, 0xe7c00000, 0xe7c00fff, 2
    // What the guest is told about the data cache; the model looks at the answer.
    mov     r0, #0
    mcr     p15, 2, r0, c0, c0, 0
    isb
    mrc     p15, 1, r0, c0, c0, 0
    mrc     p15, 0, r0, c1, c0, 0
    orr     r0, r0, #0x5
    orr     r0, r0, #0x1000
    mcr     p15, 0, r0, c1, c0, 0
    isb
    ldr     r0, =0xe7c00000
    mov     r1, #1
    str     r1, [r0, #8]
    ldr     r7, =table
1:  ldr     r6, [r7], #4
    cmp     r6, #0
    beq     done
    blx     r6
    blx     r6
2:  ldrb    r1, [r7], #1
    cmp     r1, #0
    beq     3f
    ldr     r0, =0xe7c00000
    str     r1, [r0]
    b       2b
3:  mov     r1, #10
    ldr     r0, =0xe7c00000
    str     r1, [r0]
    add     r7, r7, #3
    bic     r7, r7, #3
    b       1b
done:
    mov     r0, #0x18
    ldr     r1, =0x20026
    svc     0x123456
    b       .
    .ltorg

    // sequence NAME: what precedes the first read of the counter is given to `before`, the rest follows up
    // to `finish`. r4 is a cached word, r5 one in the BTCM.
    .macro sequence name
    .pushsection .rodata.table, "a", %progbits
    .word   \name
    .asciz  "MICRO \name"
    .balign 4
    .popsection
    .balign 64
\name:
    ldr     r4, =0x20000000
    ldr     r5, =0xee100000
    .endm
    .macro start
    // The addresses, which are literals in slow memory, are there.
    mov     r4, r4
    mov     r5, r5
    dsb
    b       9f
    .balign 64
9:  mrrc    p15, 0, r8, r9, c14
    .endm
    .macro finish
    mrrc    p15, 0, r10, r11, c14
    bx      lr
    .ltorg
    .endm

    .pushsection .rodata.table, "a", %progbits
    .balign 4
table:
    .popsection

    sequence eight_nops
    start
    .rept 8
    nop
    .endr
    finish

    sequence load_from_btcm
    start
    ldr     r0, [r5]
    mov     r0, r0
    finish

    sequence load_from_ctcm
    add     r5, r5, #0x100000
    start
    ldr     r0, [r5]
    mov     r0, r0
    finish

    sequence load_hit
    ldr     r0, [r4, #4]
    start
    ldr     r0, [r4]
    mov     r0, r0
    finish

    sequence load_miss_after_maintenance_by_address
    ldr     r0, [r4]
    mcr     p15, 0, r4, c7, c14, 1
    start
    ldr     r0, [r4]
    mov     r0, r0
    finish

    sequence load_miss_after_maintenance_by_set_and_way
    ldr     r0, [r4]
    mov     r0, #0
    mcr     p15, 0, r0, c7, c14, 2
    mov     r0, #0x40000000
    mcr     p15, 0, r0, c7, c14, 2
    mov     r0, #0x80000000
    mcr     p15, 0, r0, c7, c14, 2
    mov     r0, #0xc0000000
    mcr     p15, 0, r0, c7, c14, 2
    start
    ldr     r0, [r4]
    mov     r0, r0
    finish

    sequence load_of_another_set_survives
    ldr     r0, [r4, #64]
    mov     r0, #0
    mcr     p15, 0, r0, c7, c14, 2
    start
    ldr     r0, [r4, #64]
    mov     r0, r0
    finish

    sequence load_miss_writes_a_dirty_line_back
    add     r4, r4, #0x8000
    .irp    way, 0, 1, 2, 3
    add     r0, r4, #(0x2000 * \way)
    mcr     p15, 0, r0, c7, c14, 1
    str     r0, [r0]
    .endr
    add     r4, r4, #0x8000
    mcr     p15, 0, r4, c7, c14, 1
    start
    ldr     r0, [r4]
    mov     r0, r0
    finish

    sequence load_uncached_by_the_mpu
    add     r4, r4, #0x100000
    ldr     r0, [r4]
    start
    ldr     r0, [r4]
    mov     r0, r0
    finish

    sequence load_uncached_by_sctlr
    ldr     r0, [r4]
    mrc     p15, 0, r1, c1, c0, 0
    bic     r1, r1, #4
    mcr     p15, 0, r1, c1, c0, 0
    start
    ldr     r0, [r4]
    mov     r0, r0
    mrrc    p15, 0, r10, r11, c14
    orr     r1, r1, #4
    mcr     p15, 0, r1, c1, c0, 0
    isb
    bx      lr
    .ltorg

    sequence load_from_device
    ldr     r4, =0xe7c00000
    start
    ldr     r0, [r4, #4]
    mov     r0, r0
    finish

    sequence load_after_store_to_its_doubleword
    start
    str     r0, [r5]
    ldr     r0, [r5, #4]
    mov     r0, r0
    finish

    sequence five_stores_to_uncached_memory
    add     r4, r4, #0x100000
    start
    str     r0, [r4]
    str     r0, [r4, #8]
    str     r0, [r4, #16]
    str     r0, [r4, #24]
    str     r0, [r4, #32]
    finish

    sequence load_of_four_words
    start
    ldm     r5, {{r0, r1, r2, r3}}
    mov     r0, r0
    finish

    sequence mode_change
    start
    cpsid   i
    nop
    finish

    .pushsection .rodata.table, "a", %progbits
    .word   0
    .popsection
    "#
);

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // Nothing here is Rust that could.
    loop {}
}
