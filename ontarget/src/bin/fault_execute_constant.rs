//! expect-exit: 103; expect: prefetch abort; expect: (permission; expect: (BRAM); expect: thread: culprit
//!
//! Field report P05: constants lie in the code RAM, but cannot be executed.
#![no_std]
#![no_main]

/// BX LR, which would return if it were executed.
static CONSTANT: [u32; 1] = [0xe12f_ff1e];

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        let constant = core::hint::black_box(&CONSTANT).as_ptr();
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("blx {}", in(reg) constant, out("lr") _) }
    })
}
