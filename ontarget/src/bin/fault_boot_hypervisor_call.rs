//! expect-exit: 103; expect: trap to Hyp mode; expect: HVC; expect: thread: culprit
//!
//! Field report P04: the first stage has left exceptions at EL2 to T32 state (HSCTLR.TE); still this one
//! reaches its handler. (The interrupt is in `boot.rs`.)
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        if !ontarget::first_stage::was_rough() {
            return;
        }
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!(".inst 0xe1400070") } // HVC #0
    })
}
