//! Event flags through the safe API, on the host port.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Host, run};
use threadx::{Builder, Error, EventFlags, Match, Priority, Schedule, Ticks, Timeout, Timer, host, thread};

const MAIN: Priority = Priority::of::<10>();
const HIGHER: Priority = Priority::of::<5>();

macro_rules! run_in_thread {
    ($main:expr) => {{
        cell! { MAIN_CELL, MAIN_STACK }
        run(|_| {
            let main = Builder::new("main").priority(MAIN);
            main.spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), $main).unwrap().detach();
        });
    }};
}

#[test]
fn the_four_requests_and_their_answers() {
    static E: EventFlags = EventFlags::new();
    run_in_thread!(|| {
        assert_eq!(E.set(1), Err(Error::Group), "not created");
        E.create("group").unwrap();
        assert_eq!(E.create("again"), Err(Error::InUse));
        let get = |flags, wanted| E.get(flags, wanted, Timeout::NoWait);
        E.set(0x0F).unwrap();
        assert_eq!(get(0x13, Match::All), Err(Error::NoEvents));
        assert_eq!(get(0x03, Match::All), Ok(0x0F), "the whole group, not what was asked for");
        assert_eq!(get(0x13, Match::Any), Ok(0x0F));
        assert_eq!(get(0x13, Match::AnyClear), Ok(0x0F), "as it was before the clear");
        assert_eq!(E.info().unwrap().flags, 0x0C);
        assert_eq!(get(0x0C, Match::AllClear), Ok(0x0C));
        assert_eq!(E.info().unwrap().flags, 0);
        E.set(0xFF).unwrap();
        E.clear(0xF0).unwrap();
        assert_eq!(E.info().unwrap().flags, 0x0F);
        let before = threadx::time::now();
        assert_eq!(E.get(0x10, Match::All, Ticks::new(3)), Err(Error::NoEvents));
        assert_eq!(threadx::time::now() - before, 3);
        assert_eq!(E.get(0, Match::Any, Timeout::Forever), Err(Error::NoEvents), "at once");
        assert_eq!(critical_section::with(|_| E.get(0x10, Match::Any, Timeout::Forever)), Err(Error::NoEvents));
        host::finish()
    });
}

#[test]
fn one_set_wakes_all_it_satisfies_and_deletion_the_rest() {
    static E: EventFlags = EventFlags::new();
    cell! { A, A_STACK; B, B_STACK; C, C_STACK }
    run_in_thread!(|| {
        for _ in 0..300 {
            E.create("group").unwrap();
            let waiter = |cell, stack: threadx::StackToken<Host>, flags, wanted| {
                let waiter = Builder::new("waiter").priority(HIGHER);
                waiter.spawn(cell, stack, move || E.get(flags, wanted, Timeout::Forever)).unwrap()
            };
            let a = waiter(&A, A_STACK.take().unwrap(), 1, Match::AnyClear);
            let b = waiter(&B, B_STACK.take().unwrap(), 3, Match::AllClear);
            let c = waiter(&C, C_STACK.take().unwrap(), 4, Match::Any);
            E.set(2).unwrap();
            assert_eq!(E.info().unwrap().waiting, 3);
            E.set(1).unwrap();
            assert_eq!((a.join(), b.join()), (Ok(Ok(3)), Ok(Ok(3))), "one flag wakes both");
            assert_eq!((E.info().unwrap().flags, E.info().unwrap().waiting), (0, 1));
            E.delete().unwrap();
            assert_eq!(c.join(), Ok(Err(Error::Deleted)));
            assert_eq!((E.set(4), E.clear(4), E.delete()), (Err(Error::Group), Err(Error::Group), Err(Error::Group)));
            assert_eq!(E.get(1, Match::Any, Timeout::Forever), Err(Error::Group));
            assert_eq!(E.info(), Err(Error::Group));
            host::check_invariants().unwrap();
        }
        host::finish()
    });
}

#[test]
fn contexts() {
    static E: EventFlags = EventFlags::new();
    static OTHER: EventFlags = EventFlags::new();
    static T: Timer = Timer::new();
    static DONE: AtomicU32 = AtomicU32::new(0);
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK }
    fn outside_threads() {
        assert_eq!(OTHER.create("other"), Err(Error::Caller));
        assert_eq!(E.delete(), Err(Error::Caller));
        assert_eq!(E.get(1, Match::Any, Timeout::Forever), Err(Error::Wait));
        assert_eq!(E.set(1), Ok(()));
        assert_eq!(E.get(1, Match::AnyClear, Timeout::NoWait), Ok(1));
        DONE.fetch_add(1, SeqCst);
    }
    run(|_| {
        E.create("group").unwrap();
        assert_eq!(E.set(1), Ok(()));
        assert_eq!(E.get(1, Match::AnyClear, Timeout::NoWait), Ok(1));
        assert_eq!(E.get(1, Match::Any, Timeout::Forever), Err(Error::Wait));
        let main = || {
            host::interrupt(outside_threads);
            T.create("timer", Schedule::once(Ticks::new(1)), outside_threads).unwrap();
            T.activate().unwrap();
            thread::sleep(Ticks::new(2)).unwrap();
            assert_eq!(DONE.load(SeqCst), 2);
            let waiter = Builder::new("waiter").priority(HIGHER);
            let waiter = waiter.spawn(&A, A_STACK.take().unwrap(), || E.get(8, Match::Any, Timeout::Forever));
            let waiter = waiter.unwrap();
            host::interrupt(|| E.set(8).unwrap());
            assert!(waiter.is_finished(), "woken by an interrupt, it runs right after it");
            assert_eq!(waiter.join(), Ok(Ok(8)));
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn each_group_has_its_own_notification() {
    static A: EventFlags = EventFlags::new();
    static B: EventFlags = EventFlags::new();
    static A_SETS: AtomicU32 = AtomicU32::new(0);
    static B_SETS: AtomicU32 = AtomicU32::new(0);
    run_in_thread!(|| {
        A.create("a").unwrap();
        B.create("b").unwrap();
        let count_a = |group: &'static EventFlags| {
            assert!(core::ptr::eq(group, &raw const A));
            A_SETS.fetch_add(group.info().unwrap().flags, SeqCst);
        };
        A.set_set_notify(Some(count_a)).unwrap();
        B.set_set_notify(Some(|_| _ = B_SETS.fetch_add(1, SeqCst))).unwrap();
        A.set(5).unwrap();
        A.clear(5).unwrap();
        host::interrupt(|| B.set(1).unwrap());
        B.set(1).unwrap();
        B.set_set_notify(None).unwrap();
        B.set(1).unwrap();
        assert_eq!((A_SETS.load(SeqCst), B_SETS.load(SeqCst)), (5, 2));
        A.delete().unwrap();
        assert_eq!(A.set_set_notify(Some(count_a)), Err(Error::Group));
        A.create("a").unwrap();
        A.set(1).unwrap();
        assert_eq!(A_SETS.load(SeqCst), 5, "forgotten with the deletion");
        host::finish()
    });
}
