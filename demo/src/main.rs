//! What a thread stack in tightly-coupled memory is worth: the context-switch and stack-heavy
//! measurements of eclipse-threadx/threadx #635 and #636, from safe Rust.
//!
//! One image, one copy of each measuring loop. The `demo` thread (priority 8) runs one measurement
//! after the other; the measured threads have priority 16, so nothing but an interrupt can disturb
//! them, and a sample that one disturbed is marked and kept out of the figures.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod banner;
mod deep_stack;
mod image;
mod judge;
mod report;
mod sample;
mod switch;
#[cfg(feature = "twin")]
mod twin;

use bsp::memory::Dram0;
use threadx::{Builder, Priority, ThreadCell};

/// Unoptimised code wants more stack.
const SCALE: usize = if cfg!(debug_assertions) { 2 } else { 1 };

threadx::stack! { static DEMO_STACK: Stack<Dram0, { 32768 * SCALE }>; }
static DEMO: ThreadCell = ThreadCell::new();

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_init| {
        let started = DEMO_STACK
            .take()
            .and_then(|stack| Builder::new("demo").priority(Priority::of::<8>()).spawn(&DEMO, stack, run));
        match started {
            Ok(handle) => handle.detach(),
            Err(error) => panic!("the demo thread does not start: {error}"),
        }
    })
}

fn run() {
    let counter = match bsp::counter::self_test() {
        Ok(counter) => counter,
        Err(error) => {
            bsp::println!("{}: {}; nothing is measured", measure::line::DONE_FAILED, error);
            bsp::exit(1);
        }
    };
    banner::print(&counter);
    let mut report = report::Report::new(&counter);
    switch::measure(&mut report);
    deep_stack::measure(&mut report);
    #[cfg(feature = "twin")]
    twin::measure(&mut report);
    judge::judge(&mut report);
    report.finish()
}
