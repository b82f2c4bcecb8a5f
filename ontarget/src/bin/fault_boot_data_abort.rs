//! expect-exit: 103; expect: data abort (vector 0x00000010); expect: SVC, A32; expect: thread: culprit
//!
//! Field report P04: the first stage has left exceptions to T32 state and high vectors; still this one
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
        unsafe { core::arch::asm!("ldr {0}, [{0}]", inout(reg) 0 => _) }
    })
}
