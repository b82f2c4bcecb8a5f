//! expect-exit: 103; expect: supervisor call (vector 0x00000008); expect: thread: culprit
//!
//! A supervisor call that is neither the board's nor the kernel's.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("svc #1") }
    })
}
