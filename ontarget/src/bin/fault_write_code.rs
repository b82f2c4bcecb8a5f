//! expect-exit: 103; expect: data abort; expect: (write; expect: permission; expect: (BRAM); expect: thread: culprit
//!
//! Field report P05: what can be executed cannot be written.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        let code = ontarget::spin as *const () as u32;
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("str {0}, [{0}]", in(reg) code) }
    })
}
