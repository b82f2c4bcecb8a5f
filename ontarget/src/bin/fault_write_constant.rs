//! expect-exit: 103; expect: data abort; expect: (write; expect: permission; expect: (BRAM); expect: thread: culprit
//!
//! Field report P05: constants cannot be written.
#![no_std]
#![no_main]

static CONSTANT: [u32; 4] = [1, 2, 3, 4];

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        let constant = core::hint::black_box(&CONSTANT).as_ptr();
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("str {0}, [{0}]", in(reg) constant) }
    })
}
