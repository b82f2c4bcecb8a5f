//! expect-exit: 103; expect: trap to Hyp mode; expect: HVC; expect: thread: culprit
//!
//! A trap to EL2, which has no memory map of its own, is reported from EL1.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!(".inst 0xe1400070") } // HVC #0
    })
}
