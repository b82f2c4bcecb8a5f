//! expect-exit: 103; expect: prefetch abort (vector 0x0000000c); expect: IFAR 0x40000000 (unmapped); expect: thread: culprit
//!
//! A jump to where there is no memory.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("bx {}", in(reg) 0x4000_0000) }
    })
}
