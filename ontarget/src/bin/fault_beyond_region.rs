//! expect-exit: 103; expect: data abort; expect: last byte read; expect: (read; expect: DFAR 0x20100000 (unmapped); expect: thread: culprit
//!
//! Field report P11: the limit of a region is its last byte: that one can be read, the next cannot.
#![no_std]
#![no_main]

use bsp::memory::Dram0;
use threadx::Region;

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || {
        let beyond = Dram0::range().end;
        let byte: u32;
        // SAFETY: the last byte of the main RAM; reading it has no effect.
        unsafe { core::arch::asm!("ldrb {}, [{}, #-1]", out(reg) byte, in(reg) beyond) };
        bsp::println!("last byte read: {}", byte);
        // SAFETY: the image is to end here.
        unsafe { core::arch::asm!("ldrb {}, [{}]", out(reg) _, in(reg) beyond) }
    })
}
