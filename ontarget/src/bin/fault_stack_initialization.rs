//! expect-exit: 104; expect: stack overflow: thread initialization
//!
//! Initialization uses up its stack, which belongs to no thread: the first tick finds it.
#![no_std]
#![no_main]

use threadx::{Builder, Priority, Ticks, thread};

unsafe extern "C" {
    #[cfg_attr(not(feature = "bundled"), link_name = "_fiq_stack_high_end")]
    static __tx_system_stack_limit: u8;
}

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_| {
        ontarget::use_up(&raw const __tx_system_stack_limit);
        let thread = Builder::new("survivor").priority(Priority::of::<5>());
        let spawned = ontarget::spawn(0, thread, || {
            let _ = thread::sleep(Ticks::new(2));
            bsp::println!("survived");
            bsp::exit(1);
        });
        if let Ok(handle) = spawned {
            handle.detach();
        }
    })
}
