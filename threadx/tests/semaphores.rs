//! Semaphores through the safe API, on the host port.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Host, run};
use threadx::{Builder, Error, Priority, Schedule, Semaphore, Ticks, Timeout, Timer, host, thread};

const MAIN: Priority = Priority::of::<10>();
const HIGHER: Priority = Priority::of::<5>();

#[test]
fn counting_ceiling_and_waiting() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK }
    static S: Semaphore = Semaphore::new();
    run(|_| {
        S.create("semaphore", 1).unwrap();
        assert_eq!(S.create("again", 1), Err(Error::InUse));
        assert_eq!(S.delete(), Err(Error::Caller), "not from initialization");
        assert_eq!(S.get(Timeout::Forever), Err(Error::Wait));
        let main = || {
            assert_eq!(S.ceiling_put(0), Err(Error::InvalidCeiling));
            assert_eq!(S.ceiling_put(1), Err(Error::CeilingExceeded));
            assert_eq!(S.ceiling_put(2), Ok(()));
            assert_eq!(S.info().unwrap().count, 2);
            assert_eq!((S.get(Timeout::NoWait), S.get(Ticks::new(5))), (Ok(()), Ok(())));
            assert_eq!(S.get(Timeout::NoWait), Err(Error::NoInstance));
            let before = threadx::time::now();
            assert_eq!(S.get(Ticks::new(4)), Err(Error::NoInstance));
            assert_eq!(threadx::time::now() - before, 4);
            assert_eq!(thread::sleep(Ticks::new(2)), Ok(()), "a timeout before must not show in the sleep");
            assert_eq!(critical_section::with(|_| S.get(Timeout::Forever)), Err(Error::NoInstance));

            let waiter = Builder::new("waiter").priority(HIGHER);
            let waiter = waiter.spawn(&A, A_STACK.take().unwrap(), || S.get(Timeout::Forever)).unwrap();
            assert_eq!((S.info().unwrap().count, S.info().unwrap().waiting), (0, 1));
            assert_eq!(S.ceiling_put(1), Ok(()), "the unit goes to the waiter");
            assert_eq!(S.info().unwrap().count, 0);
            assert_eq!(waiter.join(), Ok(Ok(())));

            let waiter = Builder::new("waiter").priority(HIGHER);
            let waiter = waiter.spawn(&A, A_STACK.take().unwrap(), || S.get(Timeout::Forever)).unwrap();
            assert_eq!(S.delete(), Ok(()));
            assert_eq!(waiter.join(), Ok(Err(Error::Deleted)));
            assert_eq!((S.put(), S.get(Timeout::NoWait)), (Err(Error::Semaphore), Err(Error::Semaphore)));
            assert_eq!((S.delete(), S.prioritize()), (Err(Error::Semaphore), Err(Error::Semaphore)));
            assert_eq!(S.info(), Err(Error::Semaphore));
            assert_eq!(S.create("second life", 3), Ok(()));
            assert_eq!(S.info().unwrap().count, 3);
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn creation_and_deletion_are_refused_in_interrupts_and_timers() {
    cell! { MAIN_CELL, MAIN_STACK }
    static S: Semaphore = Semaphore::new();
    static T: Timer = Timer::new();
    static DONE: AtomicU32 = AtomicU32::new(0);
    fn misuse() {
        assert_eq!(S.create("semaphore", 0), Err(Error::Caller));
        assert_eq!(S.put(), Err(Error::Semaphore));
        DONE.fetch_add(1, SeqCst);
    }
    run(|_| {
        let main = || {
            host::interrupt(misuse);
            T.create("timer", Schedule::once(Ticks::new(1)), misuse).unwrap();
            T.activate().unwrap();
            thread::sleep(Ticks::new(2)).unwrap();
            assert_eq!(DONE.load(SeqCst), 2);
            S.create("semaphore", 0).unwrap();
            host::interrupt(|| {
                assert_eq!(S.delete(), Err(Error::Caller));
                assert_eq!(S.get(Timeout::Forever), Err(Error::Wait));
                assert_eq!(S.put(), Ok(()));
                assert_eq!(S.get(Timeout::NoWait), Ok(()));
            });
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn each_semaphore_has_its_own_notification() {
    cell! { MAIN_CELL, MAIN_STACK }
    static A: Semaphore = Semaphore::new();
    static B: Semaphore = Semaphore::new();
    static A_PUTS: AtomicU32 = AtomicU32::new(0);
    static B_PUTS: AtomicU32 = AtomicU32::new(0);
    run(|_| {
        let main = || {
            A.create("a", 0).unwrap();
            B.create("b", 0).unwrap();
            let count_a = |s: &'static Semaphore| {
                assert!(core::ptr::eq(s, &raw const A));
                assert_eq!(s.info().unwrap().count, 1, "after the put took effect");
                A_PUTS.fetch_add(1, SeqCst);
            };
            let count_b = |s: &'static Semaphore| {
                assert!(core::ptr::eq(s, &raw const B));
                B_PUTS.fetch_add(1, SeqCst);
            };
            A.set_put_notify(Some(count_a)).unwrap();
            B.set_put_notify(Some(count_b)).unwrap();
            A.put().unwrap();
            host::interrupt(|| B.put().unwrap());
            B.put().unwrap();
            B.set_put_notify(None).unwrap();
            B.put().unwrap();
            assert_eq!((A_PUTS.load(SeqCst), B_PUTS.load(SeqCst)), (1, 2));
            A.delete().unwrap();
            A.create("a", 0).unwrap();
            A.put().unwrap();
            assert_eq!(A_PUTS.load(SeqCst), 1, "forgotten with the deletion");
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}
