//! Three threads and a mutex: while the urgent one waits, the owner runs at its priority, before the one between.
#![no_std]
#![no_main]

use bsp::memory::Dram0;
use threadx::{Builder, Inheritance, Mutex, Priority, ThreadCell, Ticks, Timeout, thread};

threadx::stack! { static SLOW_STACK: Stack<Dram0, 4096>; }
threadx::stack! { static BUSY_STACK: Stack<Dram0, 4096>; }
threadx::stack! { static URGENT_STACK: Stack<Dram0, 4096>; }
static CELLS: [ThreadCell; 3] = [const { ThreadCell::new() }; 3];
static VALUE: Mutex<u32> = Mutex::new(0);

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_init| {
        VALUE.create("value", Inheritance::On).unwrap();
        let slow = || {
            let mut value = VALUE.lock(Timeout::Forever).unwrap();
            bsp::println!("slow has the mutex");
            thread::sleep(Ticks::new(2)).unwrap(); // the others become ready meanwhile
            *value += 1;
            bsp::println!("slow gives it back"); // urgent runs here, and busy after it
        };
        let busy = || {
            thread::sleep(Ticks::new(2)).unwrap();
            bsp::println!("busy, which needs nothing, had to wait");
            bsp::exit(0)
        };
        let urgent = || {
            thread::sleep(Ticks::new(1)).unwrap();
            bsp::println!("urgent wants it");
            bsp::println!("urgent has it: {}", *VALUE.lock(Timeout::Forever).unwrap());
        };
        let at = |name, priority| Builder::new(name).priority(priority);
        at("slow", Priority::of::<20>()).spawn(&CELLS[0], SLOW_STACK.take().unwrap(), slow).unwrap().detach();
        at("busy", Priority::of::<15>()).spawn(&CELLS[1], BUSY_STACK.take().unwrap(), busy).unwrap().detach();
        at("urgent", Priority::of::<10>()).spawn(&CELLS[2], URGENT_STACK.take().unwrap(), urgent).unwrap().detach();
    })
}
