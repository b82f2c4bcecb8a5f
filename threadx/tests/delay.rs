//! Delays of `embedded-hal`, on the host port.
#![cfg(feature = "embedded-hal")]

mod common;

use common::{Host, run};
use embedded_hal::delay::DelayNs;
use threadx::{Builder, Delay, Priority, Ticks, host, thread, time};

#[test]
fn delays_last_at_least_as_long_and_survive_aborts() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK }
    run(|_| {
        let main = || {
            let ticks = |delay: fn(&mut Delay)| {
                let before = time::now();
                delay(&mut Delay);
                time::now() - before
            };
            assert_eq!(ticks(|d| d.delay_ns(0)), 0);
            assert_eq!(ticks(|d| d.delay_ns(1)), 2);
            assert_eq!(ticks(|d| d.delay_us(10_000)), 2);
            assert_eq!(ticks(|d| d.delay_us(10_001)), 3);
            assert_eq!(ticks(|d| d.delay_ms(100)), 11);
            let delayed = Builder::new("delayed").priority(Priority::of::<5>());
            let delayed = delayed.spawn(&A, A_STACK.take().unwrap(), || Delay.delay_ms(50)).unwrap();
            let before = time::now();
            thread::sleep(Ticks::new(3)).unwrap();
            delayed.thread().wait_abort().unwrap();
            delayed.join().unwrap();
            assert!(time::now() - before >= 6);
            let outside = host_panic(|| critical_section::with(|_| Delay.delay_ms(1)));
            assert_eq!(outside, "threadx::Delay: not allowed in this calling context");
            host::finish()
        };
        Builder::new("main").spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

/// The message of a panic.
fn host_panic(f: impl FnOnce() + std::panic::UnwindSafe) -> String {
    *std::panic::catch_unwind(f).unwrap_err().downcast::<String>().unwrap()
}
