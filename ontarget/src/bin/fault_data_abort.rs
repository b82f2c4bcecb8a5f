//! expect-exit: 103; expect: data abort (vector 0x00000010); expect: (write; expect: DFAR 0x00000000 (unmapped); expect: thread: culprit
//!
//! A write through a null pointer. QEMU has RAM at address 0 (field report P15): the MPU must refuse it.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("str {0}, [{0}]", in(reg) 0) }
    })
}
