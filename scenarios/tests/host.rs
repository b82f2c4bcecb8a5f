//! The scenarios on the bundled kernel's host port.
#![cfg(feature = "bundled")]

use std::sync::Mutex;

use scenarios::{Outcome, for_each_scenario};
use threadx_sys::host;

fn on_host(scenario: fn() -> Outcome, in_initialization: fn()) {
    // The objects are the scenarios' in turn.
    static ONE: Mutex<()> = Mutex::new(());
    static OUTCOME: Mutex<Option<Outcome>> = Mutex::new(None);
    static SCENARIO: Mutex<Option<fn() -> Outcome>> = Mutex::new(None);
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    *SCENARIO.lock().unwrap() = Some(scenario);
    *OUTCOME.lock().unwrap() = None;
    scenarios::set_platform(host::interrupt, host::tick);
    let ended = host::run(1000, || {
        in_initialization();
        scenarios::main_thread(|| {
            let scenario = SCENARIO.lock().unwrap().take().expect("a scenario");
            let outcome = scenarios::run(scenario);
            *OUTCOME.lock().unwrap() = Some(outcome);
            host::finish()
        });
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
            let name = stringify!($name);
            let scenario = scenarios::ALL.iter().find(|(n, _)| *n == name).expect("it is in the list").1;
            on_host(scenario, if name == "k17_in_initialization" { scenarios::contexts::initialization } else { || () });
        })*
    };
}
for_each_scenario!(tests);
