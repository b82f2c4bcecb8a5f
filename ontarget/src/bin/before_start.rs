//! Services called before the kernel's start come back where they were called, and refuse.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bsp::memory::Dram0;
use threadx::{Builder, Error, Semaphore, ThreadCell, Ticks, Timeout, thread};

threadx::stack! { static STACK: Stack<Dram0, 1024>; }
static CELL: ThreadCell = ThreadCell::new();
static SEMAPHORE: Semaphore = Semaphore::new();
static ENTRIES: AtomicU32 = AtomicU32::new(0);

#[bsp::entry]
fn main() -> ! {
    let entries = ENTRIES.fetch_add(1, Relaxed) + 1;
    let mut failed = 0;
    let mut check = |name: &str, ok: bool| {
        failed += u32::from(!ok);
        bsp::println!("test {} ... {}", name, if ok { "ok" } else { "FAILED: see the source" });
    };
    for _ in 0..3 {
        thread::relinquish();
        thread::relinquish_inline();
    }
    critical_section::with(|_| thread::relinquish_inline());
    check("relinquish_comes_back", entries == 1 && ENTRIES.load(Relaxed) == 1);
    check("there_is_no_current_thread", thread::current().is_none());
    check("sleep_is_refused", thread::sleep(Ticks::new(1)) == Err(Error::Caller));
    let spawned = STACK.take().and_then(|stack| Builder::new("early").spawn(&CELL, stack, || ()));
    check("spawn_is_refused", spawned.err() == Some(Error::Caller));
    check("the_stack_came_back", STACK.take().is_ok());
    check("semaphores_are_refused", SEMAPHORE.create("early", 1).is_err() && SEMAPHORE.get(Timeout::NoWait).is_err());
    check("the_clock_stands", threadx::time::now() == 0);
    let passed = 7 - failed;
    if failed == 0 {
        bsp::println!("test result: ok. {} passed; 0 failed", passed);
    } else {
        bsp::println!("test result: FAILED. {} passed; {} failed", passed, failed);
    }
    bsp::exit(u8::from(failed != 0))
}
