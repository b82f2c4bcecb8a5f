//! Mutexes through the safe API, on the host port.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Host, Log, run};
use threadx::{
    Builder, Error, Inheritance, JoinHandle, Mutex, Priority, Schedule, ThreadCell, Ticks, Timeout, Timer, host, thread,
};

const MAIN: Priority = Priority::of::<10>();
const HIGHER: Priority = Priority::of::<5>();
const HIGHEST: Priority = Priority::of::<3>();

/// Runs `main` as a thread; it is expected to end the run.
macro_rules! run_in_thread {
    ($main:expr) => {{
        cell! { MAIN_CELL, MAIN_STACK }
        run(|_| {
            let main = Builder::new("main").priority(MAIN);
            main.spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), $main).unwrap().detach();
        });
    }};
}

fn spawn<T: Send + 'static>(
    priority: Priority,
    cell: &'static ThreadCell,
    stack: threadx::StackToken<Host>,
    f: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    Builder::new("helper").priority(priority).spawn(cell, stack, f).unwrap()
}

#[test]
fn the_value_is_reached_by_one_at_a_time_and_handed_on() {
    static M: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    cell! { A, A_STACK }
    run_in_thread!(|| {
        assert_eq!(M.lock(Timeout::NoWait).err(), Some(Error::Mutex), "not created");
        M.create("mutex", Inheritance::On).unwrap();
        assert_eq!(M.create("again", Inheritance::On), Err(Error::InUse));
        let mut guard = M.lock(Timeout::Forever).unwrap();
        let helper = spawn(HIGHER, &A, A_STACK.take().unwrap(), || {
            assert_eq!(M.lock(Timeout::NoWait).err(), Some(Error::NotAvailable));
            assert_eq!(M.lock(Ticks::new(3)).err(), Some(Error::NotAvailable));
            M.lock(Timeout::Forever).unwrap().push(2);
        });
        thread::sleep(Ticks::new(5)).unwrap();
        let info = M.info().unwrap();
        assert_eq!((info.locked, info.owner, info.waiting), (true, thread::current(), 1));
        guard.push(1);
        drop(guard);
        helper.join().unwrap();
        assert_eq!(*M.lock(Timeout::NoWait).unwrap(), [1, 2]);
        assert!(!M.info().unwrap().locked && !M.is_poisoned());
        host::check_invariants().unwrap();
        host::finish()
    });
}

#[test]
fn a_second_lock_by_the_owner_is_refused_and_changes_nothing() {
    static M: Mutex<u32> = Mutex::new(0);
    cell! { A, A_STACK }
    run_in_thread!(|| {
        M.create("mutex", Inheritance::Off).unwrap();
        let guard = M.lock(Timeout::Forever).unwrap();
        for timeout in [Timeout::NoWait, Timeout::Forever, Ticks::new(2).into()] {
            assert_eq!(M.lock(timeout).err(), Some(Error::Recursion));
        }
        assert!(M.info().unwrap().locked);
        drop(guard);
        assert!(!M.info().unwrap().locked, "one put is enough");
        core::mem::forget(M.lock(Timeout::Forever).unwrap());
        assert_eq!(M.lock(Timeout::NoWait).err(), Some(Error::Recursion));
        let other = spawn(HIGHER, &A, A_STACK.take().unwrap(), || M.lock(Ticks::new(2)).err());
        assert_eq!(other.join(), Ok(Some(Error::NotAvailable)));
        host::finish()
    });
}

#[test]
fn the_mutex_of_a_terminated_owner_is_poisoned() {
    static M: Mutex<(u32, u32)> = Mutex::new((0, 0));
    cell! { A, A_STACK; B, B_STACK }
    run_in_thread!(|| {
        M.create("mutex", Inheritance::On).unwrap();
        let owner = spawn(HIGHER, &A, A_STACK.take().unwrap(), || {
            let mut guard = M.lock(Timeout::Forever).unwrap();
            guard.0 = 1;
            thread::sleep(Ticks::MAX).unwrap();
            guard.1 = 1;
        });
        let waiter = spawn(HIGHER, &B, B_STACK.take().unwrap(), || M.lock(Timeout::Forever).err());
        assert_eq!(M.info().unwrap().waiting, 1);
        assert!(!M.is_poisoned());
        owner.terminate().unwrap();
        assert_eq!(waiter.join(), Ok(Some(Error::Poisoned)), "the kernel hands it over half-written");
        assert!(M.is_poisoned());
        for _ in 0..3 {
            assert_eq!(M.lock(Timeout::Forever).err(), Some(Error::Poisoned));
        }
        assert!(!M.info().unwrap().locked, "each refused lock is given back");
        // SAFETY: the owner was between two assignments, and its borrow ended with it.
        unsafe { M.clear_poison() }.unwrap();
        assert_eq!(*M.lock(Timeout::NoWait).unwrap(), (1, 0));
        let guard = M.lock(Timeout::NoWait).unwrap();
        // SAFETY: refused, as the mutex is owned.
        assert_eq!(unsafe { M.clear_poison() }, Err(Error::NotAvailable));
        drop(guard);
        host::check_invariants().unwrap();
        host::finish()
    });
}

#[test]
fn a_guard_that_was_forgotten_poisons_when_its_thread_ends() {
    static M: Mutex<u32> = Mutex::new(0);
    cell! { A, A_STACK }
    run_in_thread!(|| {
        M.create("mutex", Inheritance::On).unwrap();
        // The same cell twice: the second thread is another owner under the same address.
        let forget = || core::mem::forget(M.lock(Timeout::Forever));
        spawn(HIGHER, &A, A_STACK.take().unwrap(), forget).join().unwrap();
        let next = spawn(HIGHER, &A, A_STACK.take().unwrap(), || M.lock(Timeout::Forever).err());
        assert_eq!(next.join(), Ok(Some(Error::Poisoned)));
        M.delete().unwrap();
        assert!(!M.is_poisoned(), "there is no mutex");
        assert_eq!(M.create("again", Inheritance::On), Err(Error::InUse), "a leaked borrow may be in use");
        host::finish()
    });
}

#[test]
fn deletion_wakes_waiters_and_leaves_the_guard_its_value() {
    static M: Mutex<u32> = Mutex::new(7);
    cell! { A, A_STACK }
    run_in_thread!(|| {
        for _ in 0..1000 {
            M.create("mutex", Inheritance::On).unwrap();
            let mut guard = M.lock(Timeout::Forever).unwrap();
            let waiter = spawn(HIGHER, &A, A_STACK.take().unwrap(), || M.lock(Timeout::Forever).err());
            M.delete().unwrap();
            assert_eq!(waiter.join(), Ok(Some(Error::Deleted)));
            assert_eq!((M.delete(), M.prioritize()), (Err(Error::Mutex), Err(Error::Mutex)));
            assert_eq!(M.create("again", Inheritance::On), Err(Error::InUse), "the guard is still there");
            *guard += 1;
            drop(guard);
            host::check_invariants().unwrap();
        }
        M.create("mutex", Inheritance::On).unwrap();
        assert_eq!(*M.lock(Timeout::NoWait).unwrap(), 1007);
        host::finish()
    });
}

#[test]
fn without_inheritance_first_come_first_served_unless_prioritized() {
    static M: Mutex<()> = Mutex::new(());
    static LOG: Log = Log::new();
    cell! { A, A_STACK; B, B_STACK }
    run_in_thread!(|| {
        M.create("mutex", Inheritance::Off).unwrap();
        for (prioritize, order) in [(false, ["high", "highest"]), (true, ["highest", "high"])] {
            let guard = M.lock(Timeout::Forever).unwrap();
            let wait = |name| {
                move || {
                    let _guard = M.lock(Timeout::Forever).unwrap();
                    LOG.add(name);
                }
            };
            let a = spawn(HIGHER, &A, A_STACK.take().unwrap(), wait("high"));
            let b = spawn(HIGHEST, &B, B_STACK.take().unwrap(), wait("highest"));
            if prioritize {
                M.prioritize().unwrap();
            }
            drop(guard);
            assert!(a.join().is_ok() && b.join().is_ok());
            assert_eq!(LOG.take(), order);
        }
        host::finish()
    });
}

#[test]
fn the_owner_has_the_priority_of_the_highest_waiter() {
    static M: Mutex<()> = Mutex::new(());
    static LOG: Log = Log::new();
    cell! { A, A_STACK; B, B_STACK }
    run_in_thread!(|| {
        for (inheritance, deleted, order) in [
            (Inheritance::On, false, ["owner", "waiter", "between", "main"]),
            (Inheritance::On, true, ["owner", "waiter", "between", "main"]),
            (Inheritance::Off, false, ["between", "owner", "waiter", "main"]),
        ] {
            M.create("mutex", inheritance).unwrap();
            let guard = M.lock(Timeout::Forever).unwrap();
            let waiter = spawn(HIGHEST, &A, A_STACK.take().unwrap(), || {
                let _guard = M.lock(Timeout::Forever);
                LOG.add("waiter");
            });
            let between = spawn(HIGHER, &B, B_STACK.take().unwrap(), || LOG.add("between"));
            LOG.add("owner");
            if deleted {
                M.delete().unwrap();
            }
            drop(guard);
            LOG.add("main");
            assert_eq!(LOG.take(), order);
            assert!(waiter.join().is_ok() && between.join().is_ok());
            assert_eq!(M.delete().is_ok(), !deleted);
        }
        host::finish()
    });
}

#[test]
fn the_wrong_context_is_refused() {
    static M: Mutex<u32> = Mutex::new(0);
    static T: Timer = Timer::new();
    static DONE: AtomicU32 = AtomicU32::new(0);
    cell! { MAIN_CELL, MAIN_STACK }
    run(|_| {
        M.create("mutex", Inheritance::On).unwrap();
        assert_eq!(M.lock(Timeout::NoWait).err(), Some(Error::Caller), "K24: nobody could own it");
        assert_eq!(M.delete(), Err(Error::Caller));
        let main = || {
            host::interrupt(|| {
                assert_eq!(M.lock(Timeout::NoWait).err(), Some(Error::Caller));
                assert_eq!(M.lock(Timeout::Forever).err(), Some(Error::Caller));
                assert_eq!((M.delete(), M.create("m", Inheritance::On)), (Err(Error::Caller), Err(Error::InUse)));
                assert!(!M.info().unwrap().locked);
                DONE.fetch_add(1, SeqCst);
            });
            let callback = || {
                assert_eq!(M.lock(Timeout::Forever).err(), Some(Error::Wait));
                let guard = M.lock(Timeout::NoWait).unwrap();
                assert_eq!(M.lock(Timeout::NoWait).err(), Some(Error::Recursion));
                drop(guard);
                assert_eq!(M.delete(), Err(Error::Caller));
                DONE.fetch_add(1, SeqCst);
            };
            T.create("timer", Schedule::once(Ticks::new(1)), callback).unwrap();
            T.activate().unwrap();
            thread::sleep(Ticks::new(2)).unwrap();
            assert_eq!(DONE.load(SeqCst), 2);
            let error = critical_section::with(|_| M.lock(Timeout::Forever).map(drop));
            assert_eq!(error, Ok(()), "a free mutex needs no wait");
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn an_aborted_wait_says_so() {
    static M: Mutex<u32> = Mutex::new(0);
    cell! { A, A_STACK }
    run_in_thread!(|| {
        M.create("mutex", Inheritance::On).unwrap();
        let _guard = M.lock(Timeout::Forever).unwrap();
        let waiter = spawn(HIGHER, &A, A_STACK.take().unwrap(), || M.lock(Timeout::Forever).err());
        waiter.thread().wait_abort().unwrap();
        assert_eq!(waiter.join(), Ok(Some(Error::WaitAborted)));
        host::finish()
    });
}
