//! An interrupt handler hands over to a thread: the handler puts, the thread does the work.
#![no_std]
#![no_main]

use bsp::interrupt::{self, InterruptId};
use bsp::memory::Dram0;
use threadx::{Builder, Priority, Semaphore, ThreadCell, Timeout};

threadx::stack! { static WORKER_STACK: Stack<Dram0, 4096>; }
threadx::stack! { static MAIN_STACK: Stack<Dram0, 4096>; }
static CELLS: [ThreadCell; 2] = [const { ThreadCell::new() }; 2];
static ARRIVED: Semaphore = Semaphore::new();
/// A software interrupt; a device's line is used in the same way.
const LINE: InterruptId = InterruptId::sgi(3);

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_init| {
        ARRIVED.create("arrived", 0).unwrap();
        // The woken thread runs as soon as the handler ends.
        interrupt::register(LINE, 0x90, || ARRIVED.put().unwrap()).unwrap();
        interrupt::enable(LINE);
        let worker = || {
            for number in 1.. {
                ARRIVED.get(Timeout::Forever).unwrap();
                bsp::println!("worker: interrupt {}", number);
            }
        };
        let main = || {
            for _ in 0..3 {
                bsp::println!("main: raises an interrupt");
                interrupt::pend_sgi(3);
                bsp::println!("main: goes on");
            }
            bsp::exit(0)
        };
        let urgent = Builder::new("worker").priority(Priority::of::<5>());
        urgent.spawn(&CELLS[0], WORKER_STACK.take().unwrap(), worker).unwrap().detach();
        Builder::new("main").spawn(&CELLS[1], MAIN_STACK.take().unwrap(), main).unwrap().detach();
    })
}
