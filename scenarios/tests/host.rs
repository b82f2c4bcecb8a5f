//! The scenarios on the bundled kernel's host port.
#![cfg(feature = "bundled")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use scenarios::{Outcome, for_each_scenario};
use threadx::{Builder, Region, Stack, ThreadCell, host, stack};

/// A region that contains every address of the host.
struct Host;

impl Region for Host {
    const NAME: &'static str = "HOST";
    fn range() -> std::ops::Range<usize> {
        0..usize::MAX
    }
}

/// Steps of the kernel until the alarm, and its handler.
static STEPS: AtomicU32 = AtomicU32::new(0);
static HANDLER: Mutex<Option<fn()>> = Mutex::new(None);

fn alarm(delay: u32, handler: fn()) {
    // Few services take more than three.
    STEPS.store(delay % 4, Relaxed);
    *HANDLER.lock().unwrap() = Some(handler);
    host::set_interrupt_point(Some(|| {
        if STEPS.load(Relaxed) > 0 {
            STEPS.fetch_sub(1, Relaxed);
            return;
        }
        host::set_interrupt_point(None);
        let handler = HANDLER.lock().unwrap().take();
        if let Some(handler) = handler {
            host::interrupt(handler);
        }
    }));
}

fn on_host(scenario: fn() -> Outcome, cell: &'static ThreadCell, stack: &'static Stack<Host, 16384>) {
    // The objects are the scenarios' in turn.
    static ONE: Mutex<()> = Mutex::new(());
    static OUTCOME: Mutex<Option<Outcome>> = Mutex::new(None);
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    *OUTCOME.lock().unwrap() = None;
    scenarios::set_platform(host::interrupt, alarm, host::tick);
    let ended = host::run(1000, |_| {
        scenarios::contexts::initialization();
        let main = Builder::new("main").spawn(cell, stack.take().expect("a stack of its own"), move || {
            let outcome = scenarios::run(scenario);
            *OUTCOME.lock().unwrap() = Some(outcome);
            host::finish()
        });
        main.expect("the main thread").detach();
    });
    assert_eq!(ended, host::Outcome::Finished, "the scenario did not come to its end");
    let outcome = OUTCOME.lock().unwrap().take().expect("an outcome");
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

macro_rules! tests {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            static CELL: ThreadCell = ThreadCell::new();
            stack! { static STACK: Stack<Host, 16384>; }
            let name = stringify!($name);
            on_host(scenarios::ALL.iter().find(|(n, _)| *n == name).expect("it is in the list").1, &CELL, &STACK);
        })*
    };
}
for_each_scenario!(tests);
