//! expect-exit: 104; expect: stack overflow: thread interrupt handlers
//!
//! An interrupt handler uses up the stack of all handlers: the next tick finds it.
#![no_std]
#![no_main]

use bsp::interrupt::{self, InterruptId};
use threadx::{Ticks, thread};

unsafe extern "C" {
    static __tx_isr_stack_limit: u8;
}

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("interrupted", || {
        let registered =
            interrupt::register(InterruptId::sgi(1), 0x90, || ontarget::use_up(&raw const __tx_isr_stack_limit));
        if registered.is_ok() {
            interrupt::enable(InterruptId::sgi(1));
            interrupt::pend_sgi(1);
            let _ = thread::sleep(Ticks::new(2));
        }
    })
}
