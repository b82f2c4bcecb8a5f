//! expect-exit: 103; expect: prefetch abort; expect: (permission; expect: IFAR 0x2000; expect: thread: culprit
//!
//! Field report P05: what can be written cannot be executed.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        // BX LR, which would return if it were executed.
        let code = [0xe12f_ff1e_u32];
        let code = core::hint::black_box(&code).as_ptr();
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("blx {}", in(reg) code, out("lr") _) }
    })
}
