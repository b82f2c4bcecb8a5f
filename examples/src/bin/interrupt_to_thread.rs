//! An interrupt handler hands over to a thread: the handler counts and puts, the thread does the work.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptId};
use bsp::memory::Dram0;
use threadx::{Builder, Priority, Semaphore, ThreadCell, Timeout};

threadx::stack! {
    static WORKER_STACK: Stack<Dram0, 4096>;
    static MAIN_STACK: Stack<Dram0, 4096>;
}
static WORKER: ThreadCell = ThreadCell::new();
static MAIN: ThreadCell = ThreadCell::new();
static ARRIVED: Semaphore = Semaphore::new();
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
/// A software interrupt; a device's line is used in the same way.
const LINE: InterruptId = InterruptId::sgi(3);

fn handler() {
    INTERRUPTS.fetch_add(1, Relaxed);
    ARRIVED.put().unwrap(); // the woken thread runs as soon as this handler ends
}

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_init| {
        ARRIVED.create("arrived", 0).unwrap();
        interrupt::register(LINE, 0x90, handler).unwrap();
        interrupt::enable(LINE);
        let worker = || {
            while ARRIVED.get(Timeout::Forever).is_ok() {
                bsp::println!("worker: interrupt {}", INTERRUPTS.load(Relaxed));
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
        let at = |name, priority| Builder::new(name).priority(priority);
        at("worker", Priority::of::<5>()).spawn(&WORKER, WORKER_STACK.take().unwrap(), worker).unwrap().detach();
        at("main", Priority::of::<16>()).spawn(&MAIN, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    })
}
