//! expect-exit: 103; expect: undefined instruction (vector 0x00000004); expect: thread: culprit; expect: r4  0xc0ffee04; expect: SVC, A32
//!
//! An undefined instruction in a thread: reported with vector, registers and thread, no silent hang.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("udf #7", in("r4") 0xc0ff_ee04_u32) }
    })
}
