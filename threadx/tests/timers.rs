//! Application timers through the safe API, on the host port.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Dropped, Host, Log, run};
use threadx::timer::TimerInfo;
use threadx::{Builder, Error, Priority, Schedule, Ticks, Timer, host, thread};

const MAIN: Priority = Priority::of::<10>();

fn sleep(ticks: u32) {
    thread::sleep(Ticks::new(ticks)).unwrap();
}

fn values(info: TimerInfo) -> (bool, u32, u32) {
    (info.active, info.remaining, info.period)
}

#[test]
fn periodic_and_one_shot() {
    cell! { MAIN_CELL, MAIN_STACK }
    static PERIODIC: Timer = Timer::new();
    static ONCE: Timer = Timer::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    static LOG: Log = Log::new();
    run(|_| {
        assert_eq!(PERIODIC.create("zero", Schedule::once(Ticks::ZERO), || ()), Err(Error::Tick));
        let mut calls = 0; // captured state
        PERIODIC
            .create("periodic", Schedule { first: Ticks::new(2), period: Ticks::new(3) }, move || {
                calls += 1;
                COUNT.store(calls, SeqCst);
                LOG.add("periodic");
            })
            .unwrap();
        assert_eq!(PERIODIC.create("again", Schedule::once(Ticks::new(1)), || ()), Err(Error::InUse));
        ONCE.create("once", Schedule::once(Ticks::new(5)), || LOG.add("once")).unwrap();
        let main = || {
            PERIODIC.activate().unwrap();
            ONCE.activate().unwrap();
            assert_eq!(PERIODIC.activate(), Err(Error::Activate));
            sleep(9);
            assert_eq!(COUNT.load(SeqCst), 3);
            assert_eq!(ONCE.activate(), Err(Error::Activate), "an expired one-shot wants a change first");
            assert_eq!(ONCE.change(Schedule::once(Ticks::ZERO)), Err(Error::Tick));
            ONCE.change(Schedule::once(Ticks::new(20))).unwrap();
            ONCE.activate().unwrap();
            sleep(5);
            ONCE.deactivate().unwrap();
            assert_eq!(values(ONCE.info().unwrap()), (false, 15, 0));
            ONCE.deactivate().unwrap();
            ONCE.delete().unwrap();
            PERIODIC.delete().unwrap();
            assert_eq!(
                (ONCE.activate(), ONCE.deactivate(), ONCE.delete()),
                (Err(Error::Timer), Err(Error::Timer), Err(Error::Timer))
            );
            let calls = COUNT.load(SeqCst);
            sleep(10);
            assert_eq!(COUNT.load(SeqCst), calls, "a call after the deletion");
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
    // Both expire at the fifth tick; the periodic one was activated again at the second.
    assert_eq!(LOG.take()[..4], ["periodic", "once", "periodic", "periodic"]);
}

#[test]
fn closures_are_dropped_once_and_timers_live_again() {
    cell! { MAIN_CELL, MAIN_STACK }
    static T: Timer = Timer::new();
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    static CALLED: AtomicU32 = AtomicU32::new(0);
    run(|_| {
        let main = || {
            let refused = Dropped(&DROPPED);
            let zero = T.create("zero", Schedule::once(Ticks::ZERO), move || {
                let _ = &refused;
            });
            assert_eq!(zero, Err(Error::Tick));
            assert_eq!(DROPPED.load(SeqCst), 1);
            for round in 1..=20 {
                let captured = Dropped(&DROPPED);
                let f = move || {
                    let _ = &captured;
                    CALLED.fetch_add(1, SeqCst);
                };
                T.create("timer", Schedule::every(Ticks::new(1)), f).unwrap();
                T.activate().unwrap();
                sleep(2);
                assert_eq!(T.delete(), Ok(()));
                assert_eq!((CALLED.load(SeqCst), DROPPED.load(SeqCst)), (2 * round, 1 + round));
                host::check_invariants().unwrap();
            }
            host::interrupt(|| {
                let captured = Dropped(&DROPPED);
                let in_interrupt = T.create("timer", Schedule::once(Ticks::new(1)), move || {
                    let _ = &captured;
                });
                assert_eq!(in_interrupt, Err(Error::Caller));
                assert_eq!(DROPPED.load(SeqCst), 22);
            });
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn a_callback_may_change_its_own_timer_but_not_delete_it() {
    cell! { MAIN_CELL, MAIN_STACK }
    static T: Timer = Timer::new();
    static CALLED: AtomicU32 = AtomicU32::new(0);
    run(|_| {
        let main = || {
            let f = || {
                assert_eq!(values(T.info().unwrap()), (true, 0, 2));
                assert_eq!(T.delete(), Err(Error::Caller));
                if CALLED.fetch_add(1, SeqCst) == 1 {
                    T.deactivate().unwrap();
                }
            };
            T.create("timer", Schedule::every(Ticks::new(2)), f).unwrap();
            T.activate().unwrap();
            sleep(20);
            assert_eq!(CALLED.load(SeqCst), 2);
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn the_tick_counter_can_be_set_without_moving_timers() {
    cell! { MAIN_CELL, MAIN_STACK }
    run(|_| {
        let main = || {
            threadx::time::set(u32::MAX - 1);
            sleep(3);
            assert_eq!(threadx::time::now(), 1);
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}
