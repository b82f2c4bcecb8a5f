//! expect-exit: 103; expect: data abort; expect: DFAR 0x00000004; expect: thread: victim
//!
//! A fault in an interrupt handler names the interrupted thread.
#![no_std]
#![no_main]

use bsp::interrupt::{self, InterruptId};

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("victim", || {
        let registered = interrupt::register(InterruptId::sgi(1), 0x90, || {
            // SAFETY: the image is to end here.
            unsafe { core::arch::asm!("ldr {0}, [{0}]", inout(reg) 4 => _) }
        });
        if registered.is_ok() {
            interrupt::enable(InterruptId::sgi(1));
            interrupt::pend_sgi(1);
        }
    })
}
