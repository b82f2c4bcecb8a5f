//! The scenarios of the crate `scenarios` on the target: the same source as on the host port, on either kernel.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptId};
use bsp::timer;
use ontarget::{Outcome, Test, Why};
use scenarios::ALL;

#[bsp::entry]
fn main() -> ! {
    scenarios::set_platform(in_interrupt, alarm, tick);
    ontarget::run_after(&TESTS, |_| scenarios::contexts::initialization())
}

/// Limit of each scenario, in ticks; the longest takes some 60.
const LIMIT: u32 = 200;

static TESTS: [Test; ALL.len()] = {
    let mut tests = [const { Test { name: "", limit: LIMIT, run: || Ok(()) } }; ALL.len()];
    macro_rules! list {
        ($($name:ident)*) => {
            let mut at = 0;
            $(
                tests[at].name = stringify!($name);
                tests[at].run = || run(stringify!($name));
                at += 1;
            )*
            assert!(at == ALL.len());
        };
    }
    scenarios::for_each_scenario!(list);
    tests
};

fn run(name: &str) -> Outcome {
    let scenario = ALL.iter().find(|(n, _)| *n == name).map(|(_, scenario)| *scenario);
    let scenario = scenario.ok_or_else(|| Why::failed(format_args!("no such scenario")))?;
    scenarios::run(scenario).map_err(|failure| Why::failed(format_args!("{failure}")))?;
    ontarget::check_kernel()
}

/// The handler of an alarm that is set; a `fn()`.
static HANDLER: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

fn enable(line: InterruptId, handler: fn()) {
    if let Err(error) = interrupt::register(line, 0x90, handler) {
        bsp::println!("error: {}", error);
        bsp::exit(1);
    }
    interrupt::enable(line);
}

fn in_interrupt(handler: fn()) {
    enable(InterruptId::sgi(1), handler);
    interrupt::pend_sgi(1);
}

fn alarm(counts: u32, handler: fn()) {
    HANDLER.store(handler as *mut (), Relaxed);
    enable(InterruptId::ALARM, || {
        timer::clear_alarm();
        // SAFETY: the only store is that of a `fn()`, above.
        let handler = unsafe { core::mem::transmute::<*mut (), fn()>(HANDLER.load(Relaxed)) };
        handler();
    });
    timer::set_alarm(counts);
}

/// Goes on directly after the next tick.
fn tick() {
    let now = threadx::time::now();
    while threadx::time::now() == now {
        ontarget::spin(1000);
    }
}
