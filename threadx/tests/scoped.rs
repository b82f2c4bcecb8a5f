//! Scoped threads, on the host port.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Dropped, Host, run};
use threadx::thread::{self, State, ThreadRef};
use threadx::{Builder, Error, JoinError, Priority, Scope, ScopedJoinHandle, Ticks, host};

const MAIN: Priority = Priority::of::<10>();
const HIGHER: Priority = Priority::of::<5>();
const LOWER: Priority = Priority::of::<20>();

/// Runs `main` as a thread; it is expected to return.
macro_rules! run_in_thread {
    ($main:expr) => {{
        cell! { MAIN_CELL, MAIN_STACK; END, END_STACK }
        run(|_| {
            let main =
                Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), $main).unwrap();
            let end = Builder::new("end").priority(Priority::HIGHEST);
            let end = end.spawn(&END, END_STACK.take().unwrap(), move || {
                main.join().unwrap();
                host::check_invariants().unwrap();
                host::finish()
            });
            end.unwrap().detach();
        });
    }};
}

#[test]
fn threads_borrow_from_the_scopes_caller() {
    cell! { A, A_STACK; B, B_STACK }
    run_in_thread!(|| {
        let mut counts = [1, 2, 3, 4];
        let (left, right) = counts.split_at_mut(2);
        let sum = threadx::scope(|s| {
            let a = Builder::new("a").spawn_scoped(s, &A, A_STACK.take().unwrap(), || {
                thread::relinquish();
                left[0] += 10;
                left.iter().sum::<u32>()
            });
            let b = Builder::new("b").spawn_scoped(s, &B, B_STACK.take().unwrap(), || {
                right[0] += 10;
                right.iter().sum::<u32>()
            });
            a.unwrap().join().unwrap() + b.unwrap().join().unwrap()
        });
        assert_eq!(sum, Ok(30));
        assert_eq!(counts, [11, 2, 13, 4]);
        assert!(A_STACK.take().is_ok() && B_STACK.take().is_ok());
    });
}

#[test]
fn the_scope_waits_for_threads_nobody_joins() {
    cell! { A, A_STACK; B, B_STACK; C, C_STACK }
    static RESULTS: AtomicU32 = AtomicU32::new(0);
    run_in_thread!(|| {
        for round in 1..=3 {
            let done = AtomicU32::new(0);
            let work = |ticks| {
                let done = &done;
                move || {
                    thread::sleep(Ticks::new(ticks)).unwrap();
                    done.fetch_add(1, SeqCst);
                    Dropped(&RESULTS)
                }
            };
            let early = threadx::scope(|s| {
                let a = Builder::new("a").spawn_scoped(s, &A, A_STACK.take().unwrap(), work(7)).unwrap();
                let b = Builder::new("b").spawn_scoped(s, &B, B_STACK.take().unwrap(), work(3)).unwrap();
                let c = Builder::new("c").spawn_scoped(s, &C, C_STACK.take().unwrap(), work(1)).unwrap();
                drop(a);
                let _never_dropped = core::mem::ManuallyDrop::new(b);
                c.join().map(drop)
            });
            assert_eq!(early, Ok(Ok(())));
            assert_eq!(done.load(SeqCst), 3);
            assert_eq!(RESULTS.load(SeqCst), 3 * round);
        }
    });
}

#[test]
fn threads_spawn_into_their_own_scope_and_join_each_other() {
    cell! { A, A_STACK; B, B_STACK; C, C_STACK }
    run_in_thread!(|| {
        let log = Mutex::new(Vec::new());
        threadx::scope(|s| {
            let log = &log;
            let c = Builder::new("c").priority(LOWER).spawn_scoped(s, &C, C_STACK.take().unwrap(), move || {
                thread::sleep(Ticks::new(5)).unwrap();
                log.lock().unwrap().push("c");
                "result of c"
            });
            let c = c.unwrap();
            let a = Builder::new("a").spawn_scoped(s, &A, A_STACK.take().unwrap(), move || {
                thread::sleep(Ticks::new(1)).unwrap();
                let b = Builder::new("b").priority(LOWER).spawn_scoped(s, &B, B_STACK.take().unwrap(), move || {
                    thread::sleep(Ticks::new(9)).unwrap();
                    log.lock().unwrap().push("b");
                });
                drop(b.unwrap());
                // Joined before the lock is taken: a blocked OS thread would keep the baton.
                let result = c.join().unwrap();
                log.lock().unwrap().push(result);
            });
            drop(a.unwrap());
        })
        .unwrap();
        assert_eq!(*log.lock().unwrap(), ["c", "result of c", "b"]);
        assert!(A_STACK.take().is_ok() && B_STACK.take().is_ok() && C_STACK.take().is_ok());
    });
}

#[test]
fn scopes_nest_across_threads() {
    cell! { A, A_STACK; B, B_STACK }
    run_in_thread!(|| {
        let mut value = 1;
        threadx::scope(|s| {
            let a = Builder::new("a").spawn_scoped(s, &A, A_STACK.take().unwrap(), || {
                value += 1;
                threadx::scope(|s| {
                    let b = Builder::new("b").spawn_scoped(s, &B, B_STACK.take().unwrap(), || {
                        thread::sleep(Ticks::new(2)).unwrap();
                        value *= 10;
                    });
                    drop(b.unwrap());
                })
                .unwrap();
                value += 1;
            });
            drop(a.unwrap());
        })
        .unwrap();
        assert_eq!(value, 21);
    });
}

#[test]
fn a_wait_abort_does_not_end_a_scope_early() {
    cell! { A, A_STACK; B, B_STACK }
    static MAIN_THREAD: Mutex<Option<ThreadRef>> = Mutex::new(None);
    run_in_thread!(|| {
        *MAIN_THREAD.lock().unwrap() = thread::current();
        let done = AtomicU32::new(0);
        threadx::scope(|s| {
            let a = Builder::new("a").spawn_scoped(s, &A, A_STACK.take().unwrap(), || {
                thread::sleep(Ticks::new(9)).unwrap();
                done.fetch_add(1, SeqCst);
                1
            });
            let b = Builder::new("b").priority(LOWER).spawn_scoped(s, &B, B_STACK.take().unwrap(), || {
                for _ in 0..3 {
                    let main = MAIN_THREAD.lock().unwrap().unwrap();
                    assert_eq!(main.info().unwrap().state, State::Semaphore);
                    main.wait_abort().unwrap();
                }
            });
            // The first abort ends this join, the others hit the scope's end.
            assert_eq!(a.unwrap().join(), Err(JoinError::Failed(Error::WaitAborted)));
            drop(b.unwrap());
        })
        .unwrap();
        assert_eq!(done.load(SeqCst), 1);
        assert!(A_STACK.take().is_ok());
    });
}

#[test]
fn a_terminated_parent_leaves_its_frames_to_its_threads() {
    cell! { MAIN_CELL, MAIN_STACK; PARENT, PARENT_STACK; A, A_STACK }
    static SEEN: AtomicU32 = AtomicU32::new(0);
    run(|_| {
        let main = || {
            let parent = Builder::new("parent").priority(HIGHER).spawn(&PARENT, PARENT_STACK.take().unwrap(), || {
                let local = [7u32; 16];
                let _ = threadx::scope(|s| {
                    let a = Builder::new("a").priority(LOWER).spawn_scoped(s, &A, A_STACK.take().unwrap(), || {
                        thread::sleep(Ticks::new(5)).unwrap();
                        SEEN.store(local.iter().sum(), SeqCst);
                    });
                    drop(a.unwrap());
                });
                unreachable!("a terminated thread went on");
            });
            let parent = parent.unwrap();
            assert_eq!(parent.thread().info().unwrap().state, State::Semaphore);
            assert_eq!(parent.terminate().map(|_: Option<()>| ()), Ok(()));
            assert_eq!(PARENT_STACK.take().err(), Some(Error::StackTaken));
            thread::sleep(Ticks::new(6)).unwrap();
            assert_eq!(SEEN.load(SeqCst), 7 * 16);
            assert_eq!(A_STACK.take().err(), Some(Error::StackTaken), "nobody ended the scope");
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn a_refused_spawn_is_no_part_of_the_scope() {
    cell! { A, A_STACK }
    run_in_thread!(|| {
        let local = 5;
        let refused = threadx::scope(|s| {
            let builder = Builder::new("a").preemption_threshold(threadx::PreemptionThreshold::at(Priority::LOWEST));
            builder.spawn_scoped(s, &A, A_STACK.take().unwrap(), || local).err()
        });
        assert_eq!(refused, Ok(Some(Error::Threshold)));
        assert!(A_STACK.take().is_ok());
    });
}

/// A result whose drop starts a thread of the scope, whose result starts another, as often as said.
struct Spawns<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    word: &'scope AtomicU32,
    more: usize,
}

impl Drop for Spawns<'_, '_> {
    fn drop(&mut self) {
        cell! { LATE_0, LATE_0_STACK; LATE_1, LATE_1_STACK }
        let Some(more) = self.more.checked_sub(1) else { return };
        let (scope, word) = (self.scope, self.word);
        let (cell, stack) = [(&LATE_0, &LATE_0_STACK), (&LATE_1, &LATE_1_STACK)][more];
        let late = Builder::new("late").priority(Priority::LOWEST);
        let late = late.spawn_scoped(scope, cell, stack.take().unwrap(), move || {
            thread::sleep(Ticks::new(2)).unwrap();
            word.fetch_add(1, SeqCst);
            Spawns { scope, word, more }
        });
        drop(late.unwrap());
    }
}

#[test]
fn the_scope_waits_for_threads_that_results_spawn() {
    cell! { A, A_STACK }
    run_in_thread!(|| {
        // Twice: the cells and stacks of the late threads are free again.
        for _ in 0..2 {
            let word = AtomicU32::new(0);
            threadx::scope(|s| {
                let word = &word;
                let a = Builder::new("a").spawn_scoped(s, &A, A_STACK.take().unwrap(), move || Spawns {
                    scope: s,
                    word,
                    more: 2,
                });
                drop(a.unwrap());
            })
            .unwrap();
            assert_eq!(word.load(SeqCst), 2, "a scoped thread outlives its scope");
        }
    });
}

/// A result whose drop joins a thread of the scope and says what came out.
struct Joins<'scope>(Option<ScopedJoinHandle<'scope, Dropped>>, &'scope Mutex<Option<Result<(), JoinError>>>);

impl Drop for Joins<'_> {
    fn drop(&mut self) {
        let joined = self.0.take().unwrap().join().map(drop);
        *self.1.lock().unwrap() = Some(joined);
    }
}

#[test]
fn a_result_is_taken_once_whoever_comes_first() {
    cell! { A, A_STACK; B, B_STACK }
    static DROPS: AtomicU32 = AtomicU32::new(0);
    run_in_thread!(|| {
        let joined = Mutex::new(None);
        // The scope's end comes first: it drops the newer thread's result, and then the one that joins.
        threadx::scope(|s| {
            let joined = &joined;
            let a = Builder::new("a").spawn_scoped(s, &A, A_STACK.take().unwrap(), move || {
                let b = Builder::new("b").spawn_scoped(s, &B, B_STACK.take().unwrap(), || Dropped(&DROPS));
                Joins(Some(b.unwrap()), joined)
            });
            drop(a.unwrap());
        })
        .unwrap();
        assert_eq!(joined.lock().unwrap().take(), Some(Err(JoinError::Failed(Error::Thread))));
        assert_eq!(DROPS.load(SeqCst), 1, "how often the one result was dropped");
        // The join comes first.
        threadx::scope(|s| {
            let joined = &joined;
            let b = Builder::new("b").spawn_scoped(s, &B, B_STACK.take().unwrap(), || Dropped(&DROPS)).unwrap();
            let a = Builder::new("a").spawn_scoped(s, &A, A_STACK.take().unwrap(), move || Joins(Some(b), joined));
            drop(a.unwrap());
        })
        .unwrap();
        assert_eq!(joined.lock().unwrap().take(), Some(Ok(())));
        assert_eq!(DROPS.load(SeqCst), 2, "how often two results were dropped");
        assert!(A_STACK.take().is_ok() && B_STACK.take().is_ok());
    });
}

#[test]
fn a_result_that_panics_in_its_drop_is_dropped_once_and_the_scope_ends() {
    struct Panics(&'static AtomicU32);
    impl Drop for Panics {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
            std::panic::resume_unwind(Box::new("the result's drop"));
        }
    }
    cell! { A, A_STACK; B, B_STACK }
    static DROPS: AtomicU32 = AtomicU32::new(0);
    run_in_thread!(|| {
        let done = AtomicU32::new(0);
        let panic = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            threadx::scope(|s| {
                let a = Builder::new("a").spawn_scoped(s, &A, A_STACK.take().unwrap(), || Panics(&DROPS));
                let b = Builder::new("b").spawn_scoped(s, &B, B_STACK.take().unwrap(), || {
                    thread::sleep(Ticks::new(3)).unwrap();
                    done.fetch_add(1, SeqCst);
                    Dropped(&DROPS)
                });
                drop((a.unwrap(), b.unwrap()));
            })
        }));
        assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"the result's drop"));
        assert_eq!(done.load(SeqCst), 1);
        assert_eq!(DROPS.load(SeqCst), 2);
        assert!(A_STACK.take().is_ok() && B_STACK.take().is_ok());
    });
}
