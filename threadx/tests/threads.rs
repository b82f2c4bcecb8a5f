//! Threads through the safe API, on the host port.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use common::{Dropped, Host, Log, run};
use threadx::thread::{self, Resumed, State};
use threadx::{
    Builder, Error, JoinError, JoinHandle, PreemptionThreshold, Priority, Schedule, ThreadCell, Ticks, TimeSlice,
    Timer, host,
};

/// Priority of the thread that plays the test in most of these.
const MAIN: Priority = Priority::of::<10>();
const HIGHER: Priority = Priority::of::<5>();
const LOWER: Priority = Priority::of::<20>();

#[test]
fn join_returns_the_result_and_frees_cell_and_stack() {
    cell! { MAIN_CELL, MAIN_STACK; CELL, STACK }
    run(|_| {
        let main = || {
            for round in 0..3u64 {
                let token = STACK.take().unwrap();
                let handle = Builder::new("worker").spawn(&CELL, token, move || [round; 4]).unwrap();
                assert_eq!(STACK.take().err(), Some(Error::StackTaken));
                assert_eq!(handle.join(), Ok([round; 4]));
            }
            assert!(STACK.take().is_ok());
            host::finish()
        };
        Builder::new("main").spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn threads_of_initialization_run_by_priority_after_it() {
    cell! { A, A_STACK; B, B_STACK; C, C_STACK }
    static LOG: Log = Log::new();
    run(|_| {
        let spawn = |name, cell, token, priority| {
            Builder::new(name).priority(priority).spawn(cell, token, move || LOG.add(name)).unwrap().detach();
        };
        spawn("lower", &A, A_STACK.take().unwrap(), LOWER);
        spawn("higher", &B, B_STACK.take().unwrap(), HIGHER);
        LOG.add("initialization");
        Builder::new("last")
            .priority(Priority::LOWEST)
            .spawn(&C, C_STACK.take().unwrap(), || host::finish())
            .unwrap()
            .detach();
    });
    assert_eq!(LOG.take(), ["initialization", "higher", "lower"]);
}

#[test]
fn a_higher_thread_runs_before_spawn_returns() {
    cell! { MAIN_CELL, MAIN_STACK; CELL, STACK }
    static LOG: Log = Log::new();
    run(|_| {
        let main = || {
            let handle =
                Builder::new("h").priority(HIGHER).spawn(&CELL, STACK.take().unwrap(), || LOG.add("higher")).unwrap();
            LOG.add("spawned");
            assert!(handle.is_finished());
            assert_eq!(handle.join(), Ok(()));
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
    assert_eq!(LOG.take(), ["higher", "spawned"]);
}

#[test]
fn relinquish_alternates_equals_and_sleep_waits() {
    cell! { A, A_STACK; B, B_STACK }
    static LOG: Log = Log::new();
    run(|_| {
        let a = || {
            for _ in 0..2 {
                LOG.add("a");
                thread::relinquish();
            }
            let before = threadx::time::now();
            thread::sleep(Ticks::new(7)).unwrap();
            assert_eq!(threadx::time::now().wrapping_sub(before), 7);
            host::finish()
        };
        let b = || {
            for _ in 0..2 {
                LOG.add("b");
                thread::relinquish_inline();
            }
        };
        Builder::new("a").spawn(&A, A_STACK.take().unwrap(), a).unwrap().detach();
        Builder::new("b").spawn(&B, B_STACK.take().unwrap(), b).unwrap().detach();
    });
    assert_eq!(LOG.take(), ["a", "b", "a", "b"]);
}

#[test]
fn refused_spawns_drop_the_closure_and_give_the_stack_back() {
    cell! { MAIN_CELL, MAIN_STACK; BUSY, BUSY_STACK; CELL, STACK }
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    run(|_| {
        let main = || {
            let busy = Builder::new("busy").priority(LOWER).spawn(&BUSY, BUSY_STACK.take().unwrap(), || ()).unwrap();

            let (captured, token) = (Dropped(&DROPPED), STACK.take().unwrap());
            let refused = Builder::new("t").spawn(&BUSY, token, move || drop(captured));
            assert_eq!(refused.err(), Some(Error::InUse));
            assert_eq!(DROPPED.load(SeqCst), 1);

            let (captured, token) = (Dropped(&DROPPED), STACK.take().unwrap());
            let weak = Builder::new("t").priority(HIGHER).preemption_threshold(PreemptionThreshold::at(LOWER));
            let refused = weak.spawn(&CELL, token, move || drop(captured));
            assert_eq!(refused.err(), Some(Error::Threshold));
            assert_eq!(DROPPED.load(SeqCst), 2);

            let (captured, token) = (Dropped(&DROPPED), STACK.take().unwrap());
            let large = [1u8; 900];
            let refused = Builder::new("t").spawn(&CELL, token, move || (large, captured).0[0]);
            assert_eq!(refused.err(), Some(Error::StackSize));
            assert_eq!(DROPPED.load(SeqCst), 3);

            // A large result counts as well; and the cell is as good as new.
            let refused = Builder::new("t").spawn(&CELL, STACK.take().unwrap(), || [1u8; 900]);
            assert_eq!(refused.err(), Some(Error::StackSize));
            let handle = Builder::new("t").spawn(&CELL, STACK.take().unwrap(), || [1u8; 680]).unwrap();
            assert_eq!(handle.join(), Ok([1u8; 680]));
            assert_eq!(busy.join(), Ok(()));
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn the_wrong_context_is_refused() {
    cell! { MAIN_CELL, MAIN_STACK; CELL, STACK; HELPER, HELPER_STACK }
    static TIMER: Timer = Timer::new();
    static REFUSED: AtomicU32 = AtomicU32::new(0);
    static HANDLE: Mutex<Option<JoinHandle<u8>>> = Mutex::new(None);

    /// In an interrupt and in a timer callback nothing may be spawned, slept or waited for.
    fn misuse() {
        let spawned = Builder::new("t").spawn(&CELL, STACK.take().unwrap(), || ());
        assert_eq!(spawned.err(), Some(Error::Caller));
        let handle = HANDLE.lock().unwrap().take().unwrap();
        let handle = handle.try_join().unwrap_err(); // it is not finished
        assert_eq!(handle.join(), Err(JoinError::Failed(Error::Caller)));
        assert_eq!(thread::sleep(Ticks::new(1)), Err(Error::Caller));
        thread::relinquish();
        REFUSED.fetch_add(1, SeqCst);
    }
    fn helper() {
        let helper = Builder::new("helper").priority(LOWER);
        *HANDLE.lock().unwrap() = helper.spawn(&HELPER, HELPER_STACK.take().unwrap(), || 1).ok();
    }
    run(|_| {
        assert_eq!(thread::sleep(Ticks::new(1)), Err(Error::Caller));
        assert_eq!(thread::sleep(Ticks::ZERO), Err(Error::Caller));
        assert_eq!(threadx::scope(|_| ()), Err(Error::Caller));
        assert_eq!(thread::current(), None);
        thread::relinquish();
        let main = || {
            helper();
            host::interrupt(|| {
                assert_eq!(thread::current().unwrap().name(), "main");
                assert_eq!(threadx::scope(|_| ()), Err(Error::Caller));
                assert_eq!(thread::current().unwrap().set_priority(LOWER), Err(Error::Caller));
                misuse();
            });
            assert_eq!(REFUSED.load(SeqCst), 1);
            let beat = || {
                assert_eq!(thread::current(), None, "the system timer thread must not be handed out");
                if let Some(handle) = HANDLE.lock().unwrap().take() {
                    assert!(handle.is_finished());
                    assert_eq!(handle.try_join().unwrap(), Ok(7), "a timer callback may join what has ended");
                }
                assert_eq!(Builder::new("t").spawn(&CELL, STACK.take().unwrap(), || ()).err(), Some(Error::Caller));
                assert_eq!(thread::sleep(Ticks::new(1)), Err(Error::Caller));
                thread::relinquish();
                REFUSED.fetch_add(1, SeqCst);
            };
            TIMER.create("timer", Schedule::once(Ticks::new(1)), beat).unwrap();
            let ended = Builder::new("ended").priority(HIGHER).spawn(&CELL, STACK.take().unwrap(), || 7u8).unwrap();
            *HANDLE.lock().unwrap() = Some(ended);
            TIMER.activate().unwrap();
            thread::sleep(Ticks::new(2)).unwrap();
            assert_eq!(REFUSED.load(SeqCst), 2);
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn results_are_dropped_exactly_once() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK; B, B_STACK; C, C_STACK }
    static CLOSURES: AtomicU32 = AtomicU32::new(0);
    static RESULTS: AtomicU32 = AtomicU32::new(0);
    run(|_| {
        let main = || {
            let work = |closure: Dropped| {
                move || {
                    drop(closure);
                    Dropped(&RESULTS)
                }
            };
            // Joined.
            let handle = Builder::new("a").spawn(&A, A_STACK.take().unwrap(), work(Dropped(&CLOSURES))).unwrap();
            let result = handle.join().unwrap();
            assert_eq!((CLOSURES.load(SeqCst), RESULTS.load(SeqCst)), (1, 0));
            drop(result);
            assert_eq!(RESULTS.load(SeqCst), 1);
            // Detached before it ran: the thread drops its result.
            let b = Builder::new("b").priority(LOWER);
            b.spawn(&B, B_STACK.take().unwrap(), work(Dropped(&CLOSURES))).unwrap().detach();
            assert_eq!((CLOSURES.load(SeqCst), RESULTS.load(SeqCst)), (1, 1));
            thread::sleep(Ticks::new(1)).unwrap();
            assert_eq!((CLOSURES.load(SeqCst), RESULTS.load(SeqCst)), (2, 2));
            // Detached after it ended: the handle drops the result.
            let c = Builder::new("c").priority(HIGHER);
            let handle = c.spawn(&C, C_STACK.take().unwrap(), work(Dropped(&CLOSURES))).unwrap();
            assert_eq!((CLOSURES.load(SeqCst), RESULTS.load(SeqCst)), (3, 2));
            drop(handle);
            assert_eq!((CLOSURES.load(SeqCst), RESULTS.load(SeqCst)), (3, 3));
            // Cells and stacks of the detached stay in use.
            assert!(B_STACK.take().is_err() && C_STACK.take().is_err());
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn a_terminated_thread_leaves_cell_and_stack_in_use() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK; B, B_STACK; C, C_STACK }
    threadx::stack! { static OTHER_STACK: Stack<Host, 1024>; }
    static RAN_ON: AtomicBool = AtomicBool::new(false);
    run(|_| {
        let main = || {
            let handle = Builder::new("a")
                .priority(HIGHER)
                .spawn(&A, A_STACK.take().unwrap(), || {
                    let _ = thread::sleep(Ticks::MAX);
                    RAN_ON.store(true, SeqCst);
                })
                .unwrap();
            let a = handle.thread();
            assert_eq!(a.info().unwrap().state, State::Sleeping);
            assert_eq!(handle.terminate(), Ok(None));
            assert_eq!(a.resume(), Err(Error::Thread));
            assert_eq!(A_STACK.take().err(), Some(Error::StackTaken));
            let again = Builder::new("other").spawn(&A, OTHER_STACK.take().unwrap(), || ());
            assert_eq!(again.err(), Some(Error::InUse));

            // One that has returned is as good as joined.
            let b = Builder::new("b").priority(HIGHER).spawn(&B, B_STACK.take().unwrap(), || 5).unwrap();
            assert_eq!(b.terminate(), Ok(Some(5)));
            assert!(B_STACK.take().is_ok());

            // Nobody borrows from this one.
            let c = Builder::new("c").priority(HIGHER).spawn(&C, C_STACK.take().unwrap(), || {
                let _ = thread::sleep(Ticks::MAX);
            });
            // SAFETY: the thread sleeps in its closure and has no scope, pin or object on its stack.
            assert_eq!(unsafe { c.unwrap().terminate_and_reclaim() }, Ok(None));
            let c = Builder::new("c").spawn(&C, C_STACK.take().unwrap(), || 6).unwrap();
            assert_eq!(c.join(), Ok(6));
            assert!(!RAN_ON.load(SeqCst));
            host::check_invariants().unwrap();
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn a_handle_cannot_be_joined_or_terminated_by_its_own_thread() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK; B, B_STACK }
    static OWN: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);
    static REFUSED: AtomicU32 = AtomicU32::new(0);
    run(|_| {
        let main = || {
            let join = || {
                let own = OWN.lock().unwrap().take().unwrap();
                assert_eq!(own.join(), Err(JoinError::Failed(Error::Caller)));
                REFUSED.fetch_add(1, SeqCst);
            };
            let terminate = || {
                let own = OWN.lock().unwrap().take().unwrap();
                assert_eq!(own.terminate(), Err(Error::Caller));
                REFUSED.fetch_add(1, SeqCst);
            };
            let a = Builder::new("a").priority(LOWER).spawn(&A, A_STACK.take().unwrap(), join);
            *OWN.lock().unwrap() = a.ok();
            thread::sleep(Ticks::new(1)).unwrap();
            let b = Builder::new("b").priority(LOWER).spawn(&B, B_STACK.take().unwrap(), terminate);
            *OWN.lock().unwrap() = b.ok();
            thread::sleep(Ticks::new(1)).unwrap();
            assert_eq!(REFUSED.load(SeqCst), 2);
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn a_reference_means_one_thread_only() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK }
    run(|_| {
        let main = || {
            let me = thread::current().unwrap();
            assert_eq!(me.name(), "a main thread whose name is long");
            let first = Builder::new("first").priority(LOWER).spawn(&A, A_STACK.take().unwrap(), || ()).unwrap();
            let reference = first.thread();
            assert_eq!(reference.name(), "first");
            assert_eq!(first.join(), Ok(()));
            let second =
                Builder::new("second").priority(LOWER).suspended().spawn(&A, A_STACK.take().unwrap(), || ()).unwrap();
            assert_ne!(reference, second.thread());
            assert_eq!(reference.resume(), Err(Error::Thread));
            assert_eq!(reference.suspend(), Err(Error::Thread));
            assert_eq!(reference.wait_abort(), Err(Error::Thread));
            assert_eq!(reference.set_priority(HIGHER), Err(Error::Thread));
            assert_eq!(reference.info(), Err(Error::Thread));
            assert_eq!(reference.stack_usage(), Err(Error::Thread));
            assert_eq!(reference.name(), "(joined thread)");
            let info = second.thread().info().unwrap();
            assert_eq!((info.state, info.priority), (State::Suspended, LOWER));
            assert_eq!(second.thread().resume(), Ok(Resumed::Ready));
            assert_eq!(second.join(), Ok(()));
            host::finish()
        };
        Builder::new("a main thread whose name is long")
            .priority(MAIN)
            .spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main)
            .unwrap()
            .detach();
    });
}

#[test]
fn suspension_of_a_waiting_thread_is_delayed_and_lifted() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK }
    run(|_| {
        let main = || {
            let sleeper = Builder::new("sleeper").priority(HIGHER);
            let sleeper = sleeper.spawn(&A, A_STACK.take().unwrap(), || thread::sleep(Ticks::new(10))).unwrap();
            let a = sleeper.thread();
            assert_eq!(a.resume(), Err(Error::Resume));
            assert_eq!(a.suspend(), Ok(()));
            assert_eq!(a.info().unwrap().state, State::Sleeping);
            assert_eq!(a.resume(), Ok(Resumed::SuspensionLifted));
            assert_eq!(a.resume(), Err(Error::Resume));
            assert_eq!(a.suspend(), Ok(()));
            assert_eq!(a.wait_abort(), Ok(()));
            assert_eq!(a.info().unwrap().state, State::Suspended);
            assert_eq!(a.wait_abort(), Err(Error::WaitAbort));
            assert_eq!(a.resume(), Ok(Resumed::Ready));
            assert_eq!(a.suspend(), Err(Error::Suspend), "it has completed");
            assert_eq!(sleeper.join(), Ok(Err(Error::WaitAborted)));
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn attributes_change_and_report_the_old_value() {
    cell! { MAIN_CELL, MAIN_STACK }
    run(|_| {
        let main = || {
            let me = thread::current().unwrap();
            assert_eq!(me.set_preemption_threshold(PreemptionThreshold::at(HIGHER)), Ok(PreemptionThreshold::at(MAIN)));
            assert_eq!(me.set_preemption_threshold(PreemptionThreshold::at(LOWER)), Err(Error::Threshold));
            assert_eq!(me.set_priority(HIGHER), Ok(MAIN));
            let info = me.info().unwrap();
            assert_eq!(info.priority, HIGHER);
            assert_eq!(info.preemption_threshold, PreemptionThreshold::at(HIGHER));
            assert_eq!(info.state, State::Ready);
            assert_eq!(me.set_time_slice(TimeSlice::NONE), Ok(TimeSlice::ticks(4)));
            assert_eq!(me.info().unwrap().time_slice, TimeSlice::NONE);
            let usage = me.stack_usage().unwrap();
            assert!(usage.size <= 1024 && usage.high_water <= usage.size);
            host::finish()
        };
        let builder = Builder::new("main").priority(MAIN).time_slice(TimeSlice::ticks(4));
        builder.spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn an_aborted_join_detaches_the_thread() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK; B, B_STACK }
    static MAIN_THREAD: Mutex<Option<thread::ThreadRef>> = Mutex::new(None);
    static RESULTS: AtomicU32 = AtomicU32::new(0);
    run(|_| {
        let main = || {
            *MAIN_THREAD.lock().unwrap() = thread::current();
            let sleeper = Builder::new("sleeper").spawn(&A, A_STACK.take().unwrap(), || {
                thread::sleep(Ticks::new(5)).unwrap();
                Dropped(&RESULTS)
            });
            let aborter = Builder::new("aborter").spawn(&B, B_STACK.take().unwrap(), || {
                let main = MAIN_THREAD.lock().unwrap().unwrap();
                assert_eq!(main.info().unwrap().state, State::Semaphore);
                main.wait_abort()
            });
            let joined = sleeper.unwrap().join();
            assert_eq!(joined.err(), Some(JoinError::Failed(Error::WaitAborted)));
            assert_eq!(aborter.unwrap().join(), Ok(Ok(())));
            thread::sleep(Ticks::new(6)).unwrap();
            assert_eq!(RESULTS.load(SeqCst), 1);
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn a_cell_serves_many_threads() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK }
    run(|_| {
        let main = || {
            let mut sum = 0;
            for i in 0..1000u32 {
                let priority = if i % 2 == 0 { HIGHER } else { LOWER };
                let worker = Builder::new("worker").priority(priority);
                sum += worker.spawn(&A, A_STACK.take().unwrap(), move || i).unwrap().join().unwrap();
                host::check_invariants().unwrap();
            }
            assert_eq!(sum, 499_500);
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn a_thread_resumed_by_an_interrupt_runs_right_after_it() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK }
    static LOG: Log = Log::new();
    run(|_| {
        let main = || {
            let waiter = Builder::new("waiter").priority(HIGHER).suspended();
            let waiter = waiter.spawn(&A, A_STACK.take().unwrap(), || LOG.add("thread")).unwrap();
            let reference = waiter.thread();
            host::interrupt(move || {
                assert_eq!(reference.resume(), Ok(Resumed::Ready));
                LOG.add("interrupt");
            });
            LOG.add("main");
            assert_eq!(waiter.join(), Ok(()));
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
    assert_eq!(LOG.take(), ["interrupt", "thread", "main"]);
}

#[test]
fn critical_sections_hold_everybody_off() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK; B, B_STACK }
    static LOG: Log = Log::new();
    run(|_| {
        let main = || {
            let equal = Builder::new("equal").priority(MAIN).spawn(&B, B_STACK.take().unwrap(), || LOG.add("equal"));
            let equal = equal.unwrap();
            let equal = critical_section::with(|_| {
                host::interrupt(|| LOG.add("interrupt"));
                let higher = Builder::new("higher").priority(HIGHER);
                higher.spawn(&A, A_STACK.take().unwrap(), || LOG.add("higher")).unwrap().detach();
                thread::relinquish();
                assert_eq!(thread::sleep(Ticks::new(1)), Err(Error::Caller));
                assert_eq!(thread::current().unwrap().suspend(), Err(Error::Suspend));
                let equal = equal.try_join().unwrap_err();
                critical_section::with(|_| thread::relinquish());
                LOG.add("inside");
                equal
            });
            LOG.add("after");
            assert_eq!(equal.join(), Ok(()));
            let refused = critical_section::with(|_| {
                let handle = Builder::new("late").spawn(&B, B_STACK.take().unwrap(), || ()).unwrap();
                handle.join()
            });
            assert_eq!(refused, Err(JoinError::Failed(Error::Caller)));
            host::check_invariants().unwrap();
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
    let log = LOG.take();
    assert_eq!(log[0], "inside");
    assert!(log.contains(&"interrupt") && log.contains(&"higher"));
    assert_eq!(log[3..], ["after", "equal"]);
}

#[test]
fn interrupts_are_masked_for_their_own_thread_only() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK }
    static LOG: Log = Log::new();
    run(|_| {
        let main = || {
            let equal = Builder::new("equal").priority(MAIN).spawn(&A, A_STACK.take().unwrap(), || {
                host::interrupt(|| LOG.add("interrupt of equal"));
                LOG.add("equal");
            });
            let value = threadx::interrupt::masked(|| {
                host::interrupt(|| LOG.add("interrupt"));
                threadx::interrupt::masked(|| ());
                LOG.add("inside");
                thread::relinquish();
                LOG.add("inside again");
                7
            });
            assert_eq!(value, 7);
            LOG.add("after");
            equal.unwrap().join().unwrap();
            host::check_invariants().unwrap();
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
    // The next thread runs with its own posture, and so interrupts come in; this one's is masked again when it goes on.
    assert_eq!(LOG.take(), ["inside", "interrupt", "interrupt of equal", "equal", "inside again", "after"]);
}

#[test]
fn cells_are_small() {
    // Beside the kernel's two control blocks: about a dozen words and the name.
    let ours = size_of::<ThreadCell>() - size_of::<threadx_sys_sizes::Blocks>();
    assert!(ours <= 8 * 18 + 16, "{ours}");
}

mod threadx_sys_sizes {
    #[repr(C)]
    pub struct Blocks(threadx_sys::TX_THREAD, threadx_sys::TX_SEMAPHORE);
}
