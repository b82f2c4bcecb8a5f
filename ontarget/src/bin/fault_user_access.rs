//! expect-exit: 103; expect: data abort; expect: (read; expect: permission; expect: (DRAM0); expect: thread: culprit
//!
//! Field report P05: no region is open to EL0 (LDRT accesses as EL0 would).
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        let data = 1_u32;
        let data = core::hint::black_box(&raw const data);
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("ldrt {}, [{}]", out(reg) _, inout(reg) data => _) }
    })
}
