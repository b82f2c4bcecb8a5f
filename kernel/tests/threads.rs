//! Every thread service and every code it returns.

mod common;
use common::*;
use std::ptr::null_mut;
use std::sync::Mutex;

/// A thread in each state that a service may find: completed, terminated, suspended, sleeping, waiting
/// on a semaphore, and ready below the caller (priority 16).
struct Zoo {
    completed: Thread,
    terminated: Thread,
    suspended: Thread,
    sleeping: Thread,
    waiting: Thread,
    ready: Thread,
    semaphore: Semaphore,
}

impl Zoo {
    fn new() -> Self {
        let semaphore = Semaphore::new(0);
        let terminated = Thread::spawn(at(5).suspended(), || {});
        assert_eq!(terminated.terminate(), TX_SUCCESS);
        let zoo = Self {
            completed: Thread::spawn(at(5), || {}),
            terminated,
            suspended: Thread::spawn(at(5).suspended(), || {}),
            sleeping: Thread::spawn(at(5), || {
                sleep(TX_WAIT_FOREVER);
            }),
            waiting: Thread::spawn(at(5), move || {
                semaphore.get(TX_WAIT_FOREVER);
            }),
            ready: Thread::spawn(at(25), || {}),
            semaphore,
        };
        zoo.expect_states([TX_COMPLETED, TX_TERMINATED, TX_SUSPENDED, TX_SLEEP, TX_SEMAPHORE_SUSP, TX_READY]);
        zoo
    }

    fn all(&self) -> [Thread; 6] {
        [self.completed, self.terminated, self.suspended, self.sleeping, self.waiting, self.ready]
    }

    #[track_caller]
    fn expect_states(&self, states: [UINT; 6]) {
        assert_eq!(self.all().map(Thread::state), states);
    }
}

// ---- create ------------------------------------------------------------------------------------

struct Create {
    block: *mut TX_THREAD,
    name: *mut CHAR,
    entry: Option<ThreadEntry>,
    stack: *mut u8,
    size: usize,
    priority: UINT,
    threshold: UINT,
    start: UINT,
    block_size: UINT,
}

impl Create {
    fn new() -> Self {
        let stack = Stack::new(1024);
        Self {
            block: Thread::new().0,
            name: null_mut(),
            entry: Some(call),
            stack: stack.start,
            size: stack.size,
            priority: 20,
            threshold: 20,
            start: TX_DONT_START,
            block_size: THREAD_SIZE,
        }
    }

    fn call(&self) -> UINT {
        let input = script(|| {});
        service!(_txe_thread_create(
            self.block,
            self.name,
            self.entry,
            input,
            self.stack.cast(),
            self.size as ULONG,
            self.priority,
            self.threshold,
            0,
            self.start,
            self.block_size,
        ))
    }
}

fn create_refuses() {
    assert_eq!(Create { block: null_mut(), ..Create::new() }.call(), TX_THREAD_ERROR);
    assert_eq!(Create { block_size: THREAD_SIZE - 1, ..Create::new() }.call(), TX_THREAD_ERROR);
    assert_eq!(Create { stack: null_mut(), ..Create::new() }.call(), TX_PTR_ERROR);
    assert_eq!(Create { entry: None, ..Create::new() }.call(), TX_PTR_ERROR);
    assert_eq!(Create { size: 0, ..Create::new() }.call(), TX_SIZE_ERROR);
    assert_eq!(Create { size: TX_MINIMUM_STACK as usize - 1, ..Create::new() }.call(), TX_SIZE_ERROR);
    assert_eq!(Create { size: TX_MINIMUM_STACK as usize, ..Create::new() }.call(), TX_SUCCESS);
    assert_eq!(Create { priority: TX_MAX_PRIORITIES, threshold: 0, ..Create::new() }.call(), TX_PRIORITY_ERROR);
    assert_eq!(Create { priority: UINT::MAX, threshold: 0, ..Create::new() }.call(), TX_PRIORITY_ERROR);
    assert_eq!(Create { threshold: 21, ..Create::new() }.call(), TX_THRESH_ERROR);
    assert_eq!(Create { threshold: 0, ..Create::new() }.call(), TX_SUCCESS);
    assert_eq!(Create { start: 2, ..Create::new() }.call(), TX_START_ERROR);
    assert_eq!(TX_START_ERROR, 0x10);

    let first = Create::new();
    assert_eq!(first.call(), TX_SUCCESS);
    assert_eq!(Create { block: first.block, ..Create::new() }.call(), TX_THREAD_ERROR, "created twice");
}

#[test]
fn create_reports_every_error() {
    run(create_refuses);
    scenario(create_refuses);
}

#[test]
fn create_refuses_overlapping_stacks() {
    scenario(|| {
        let memory = Stack::new(4096);
        let part = |from: usize, to: usize| Create {
            stack: memory.start.wrapping_add(from),
            size: to - from,
            ..Create::new()
        };
        assert_eq!(part(1024, 2048).call(), TX_SUCCESS);
        assert_eq!(part(1024, 2048).call(), TX_PTR_ERROR, "the same");
        assert_eq!(part(1200, 1600).call(), TX_PTR_ERROR, "inside");
        assert_eq!(part(512, 3072).call(), TX_PTR_ERROR, "around");
        assert_eq!(part(512, 1025).call(), TX_PTR_ERROR, "over the first byte");
        assert_eq!(part(2047, 3072).call(), TX_PTR_ERROR, "over the last byte");
        assert_eq!(part(512, 1024).call(), TX_SUCCESS, "up to it");
        assert_eq!(part(2048, 3072).call(), TX_SUCCESS, "from its end");
        let wraps = Create { stack: (usize::MAX - 100) as *mut u8, size: 1024, ..Create::new() };
        assert_eq!(wraps.call(), TX_PTR_ERROR, "past the end of memory");
    });
}

#[test]
fn create_keeps_name_and_fills_stack() {
    scenario(|| {
        let stack = Stack::new(512);
        let name = leak_name("worker");
        let create = Create { stack: stack.start, size: stack.size, name, ..Create::new() };
        assert_eq!(create.call(), TX_SUCCESS);
        let thread = Thread(create.block);
        assert!((0..stack.size).all(|at| stack.read(at) == 0xEF));
        assert_eq!(thread.untouched(), 512);
        let mut kept = null_mut();
        let status = service!(_tx_thread_info_get(
            thread.0,
            &mut kept,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
        ));
        assert_eq!((status, kept), (TX_SUCCESS, name), "the pointer itself");
        assert_eq!(thread.info().name.as_deref(), Some("worker"));
    });
}

#[test]
fn create_preempts_only_with_auto_start_and_higher_priority() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let say = |what: &'static str| {
            let l = l.clone();
            move || l.push(what)
        };
        let waiting = Thread::spawn(at(5).suspended(), say("suspended"));
        l.push("a");
        Thread::spawn(at(5), say("high"));
        l.push("b");
        Thread::spawn(at(16), say("equal"));
        l.push("c");
        Thread::spawn(at(17), say("low"));
        l.push("d");
        assert_eq!(waiting.state(), TX_SUSPENDED);
        relinquish();
        l.push("e");
        sleep(1);
        l.push("f");
    });
    log.expect("a high b c d equal e low f");
}

// ---- delete ------------------------------------------------------------------------------------

#[test]
fn delete_takes_only_ended_threads() {
    scenario(|| {
        let zoo = Zoo::new();
        for thread in [zoo.suspended, zoo.sleeping, zoo.waiting, zoo.ready, identify()] {
            assert_eq!(thread.delete(), TX_DELETE_ERROR);
        }
        for thread in [zoo.completed, zoo.terminated] {
            assert_eq!(thread.delete(), TX_SUCCESS);
            assert_eq!(thread.delete(), TX_THREAD_ERROR);
        }
        zoo.semaphore.put();
        assert_eq!(zoo.waiting.delete(), TX_SUCCESS, "it has completed");
        check();
    });
}

#[test]
fn a_deleted_block_and_its_stack_can_be_used_again() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let stack = Stack::new(600);
        let block = Thread::new();
        for round in 0..3 {
            let l = l.clone();
            assert_eq!(block.create_on(stack, at(5), move || l.push(format!("{round}"))), TX_SUCCESS);
            assert_eq!(block.create_on(stack, at(5), || {}), TX_THREAD_ERROR);
            stack.write(300, 7);
            assert_eq!(block.delete(), TX_SUCCESS);
            assert_eq!(stack.read(300), 7, "delete leaves the stack alone");
        }
    });
    log.expect("0 1 2");
}

#[test]
fn services_refuse_what_is_not_a_thread() {
    scenario(|| {
        let deleted = Thread::spawn(at(5), || {});
        assert_eq!(deleted.delete(), TX_SUCCESS);
        for none in [NOBODY, Thread::new(), deleted] {
            assert_eq!(none.delete(), TX_THREAD_ERROR);
            assert_eq!(none.terminate(), TX_THREAD_ERROR);
            assert_eq!(none.reset(), TX_THREAD_ERROR);
            assert_eq!(none.suspend(), TX_THREAD_ERROR);
            assert_eq!(none.resume(), TX_THREAD_ERROR);
            assert_eq!(none.wait_abort(), TX_THREAD_ERROR);
            assert_eq!(none.priority_change(3), Err(TX_THREAD_ERROR));
            assert_eq!(none.preemption_change(3), Err(TX_THREAD_ERROR));
            assert_eq!(none.time_slice_change(3), Err(TX_THREAD_ERROR));
            assert_eq!(none.entry_exit_notify(None), TX_THREAD_ERROR);
            let n = null_mut();
            let info = service!(_txe_thread_info_get(
                none.0,
                n,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
            ));
            assert_eq!(info, TX_THREAD_ERROR);
        }
        let me = identify();
        assert_eq!(service!(_txe_thread_priority_change(me.0, 3, null_mut())), TX_PTR_ERROR);
        assert_eq!(service!(_txe_thread_preemption_change(me.0, 3, null_mut())), TX_PTR_ERROR);
        assert_eq!(service!(_txe_thread_time_slice_change(me.0, 3, null_mut())), TX_PTR_ERROR);
        assert_eq!(me.info().priority, 16);
    });
}

// ---- terminate, completion, reset ----------------------------------------------------------------

#[test]
fn terminate_ends_a_thread_in_any_state() {
    scenario(|| {
        let zoo = Zoo::new();
        for thread in zoo.all() {
            assert_eq!(thread.terminate(), TX_SUCCESS);
            assert_eq!(thread.terminate(), TX_SUCCESS, "again");
            check();
        }
        let t = TX_TERMINATED;
        zoo.expect_states([TX_COMPLETED, t, t, t, t, t]);
        assert_eq!(zoo.semaphore.info().waiting, 0);
        assert_eq!(zoo.semaphore.put(), TX_SUCCESS);
        assert_eq!(zoo.semaphore.count(), 1, "nobody was there to take it");
    });
}

#[test]
fn terminate_stops_the_timeout() {
    scenario(|| {
        let semaphore = Semaphore::new(0);
        let sleeper = Thread::spawn(at(5), || {
            sleep(3);
        });
        let waiter = Thread::spawn(at(5), move || {
            semaphore.get(3);
        });
        let neighbour = Thread::spawn(at(5), || {
            sleep(3);
        });
        sleeper.terminate();
        waiter.terminate();
        sleep(10);
        assert_eq!((sleeper.state(), waiter.state()), (TX_TERMINATED, TX_TERMINATED));
        assert_eq!(neighbour.state(), TX_COMPLETED, "due in the same slot");
        check();
    });
}

/// On the host the frames of a terminated thread are unwound; a drop that calls the kernel has nobody
/// to call for.
struct CallsKernel(Semaphore);

impl Drop for CallsKernel {
    fn drop(&mut self) {
        self.0.put();
    }
}

#[test]
fn frames_of_a_terminated_thread_do_not_reach_the_kernel() {
    scenario(|| {
        for own in [false, true] {
            let semaphore = Semaphore::new(0);
            let thread = Thread::spawn(at(5), move || {
                let _guard = CallsKernel(semaphore);
                if own {
                    identify().terminate();
                }
                sleep(TX_WAIT_FOREVER);
            });
            assert_eq!(thread.terminate(), TX_SUCCESS);
            assert_eq!((thread.state(), semaphore.count()), (TX_TERMINATED, 0));
            sleep(1);
            check();
        }
    });
}

#[test]
fn terminate_self_does_not_return() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let thread = Thread::spawn(at(5), move || {
            l2.push("before");
            identify().terminate();
            l2.push("after");
        });
        assert_eq!(thread.state(), TX_TERMINATED);
    });
    log.expect("before");
}

#[test]
fn a_completed_thread_runs_again_only_after_reset_and_resume() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let thread = Thread::spawn(at(5), move || l2.push("run"));
        assert_eq!(thread.state(), TX_COMPLETED);
        assert_eq!(thread.resume(), TX_RESUME_ERROR);
        assert_eq!(thread.suspend(), TX_SUSPEND_ERROR);
        assert_eq!(thread.wait_abort(), TX_WAIT_ABORT_ERROR);
        sleep(2);
        l.expect("run");
        assert_eq!(thread.reset(), TX_SUCCESS);
        assert_eq!(thread.state(), TX_SUSPENDED);
        l.expect("");
        assert_eq!(thread.resume(), TX_SUCCESS);
        l.expect("run");
        assert_eq!(thread.state(), TX_COMPLETED);
    });
}

#[test]
fn reset_refuses_threads_that_are_not_over() {
    scenario(|| {
        let zoo = Zoo::new();
        for thread in [zoo.suspended, zoo.sleeping, zoo.waiting, zoo.ready, identify()] {
            assert_eq!(thread.reset(), TX_NOT_DONE);
        }
        assert_eq!(zoo.completed.reset(), TX_SUCCESS);
        assert_eq!(zoo.completed.reset(), TX_NOT_DONE, "it is suspended now");
        assert_eq!(zoo.terminated.reset(), TX_SUCCESS);
        assert_eq!(zoo.terminated.state(), TX_SUSPENDED);
    });
}

#[test]
fn reset_starts_afresh_with_the_same_input_and_the_current_priority() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let semaphore = Semaphore::new(0);
        let stack = Stack::new(512);
        let thread = Thread::new();
        thread.create_on(stack, at(5).time_slice(7), move || {
            l2.push(format!("start{}", identify().info().priority));
            semaphore.get(TX_WAIT_FOREVER);
            l2.push("end");
        });
        stack.write(400, 1);
        assert_eq!(thread.untouched(), 400);
        assert_eq!(thread.priority_change(6), Ok(5));
        assert_eq!(thread.terminate(), TX_SUCCESS);
        assert_eq!(thread.reset(), TX_SUCCESS);
        assert_eq!(thread.untouched(), 512, "filled again");
        let info = thread.info();
        assert_eq!((info.priority, info.threshold, info.time_slice, info.run_count), (6, 6, 7, 0));
        assert_eq!(thread.resume(), TX_SUCCESS);
        l.expect("start5 start6");
        semaphore.put();
        l.expect("end");
    });
}

#[test]
fn a_suspension_that_was_pending_dies_with_the_thread() {
    scenario(|| {
        let semaphore = Semaphore::new(0);
        let thread = Thread::spawn(at(5), move || {
            semaphore.get(TX_WAIT_FOREVER);
        });
        assert_eq!(thread.suspend(), TX_SUCCESS);
        thread.terminate();
        thread.reset();
        thread.resume();
        assert_eq!(thread.state(), TX_SEMAPHORE_SUSP);
        assert_eq!(thread.resume(), TX_RESUME_ERROR);
        semaphore.put();
        assert_eq!(thread.state(), TX_COMPLETED);
    });
}

/// The interrupt point of the test below may fire in the middle of a reset.
static RESUMED: Mutex<Option<(Thread, Vec<UINT>)>> = Mutex::new(None);

#[test]
fn an_interrupt_cannot_resume_a_thread_in_the_middle_of_its_reset() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let thread = Thread::spawn(at(5), move || {
            l2.push("run");
            sleep(TX_WAIT_FOREVER);
        });
        thread.terminate();
        *RESUMED.lock().unwrap() = Some((thread, Vec::new()));
        host::set_interrupt_point(Some(|| {
            isr(|| {
                if let Some((thread, results)) = RESUMED.lock().unwrap().as_mut() {
                    let status = thread.resume();
                    results.push(status);
                }
            });
        }));
        let status = thread.reset();
        host::set_interrupt_point(None);
        assert_eq!(status, TX_SUCCESS);
        let (_, results) = RESUMED.lock().unwrap().take().unwrap();
        let resumed = results.iter().filter(|&&r| r == TX_SUCCESS).count();
        assert!(results.len() >= 2 && resumed == 1, "{results:?}");
        l.expect("run run");
        assert_eq!(thread.state(), TX_SLEEP);
        assert_eq!(thread.untouched(), 1024);
        check();
    });
}

// ---- suspend, resume, wait abort -----------------------------------------------------------------

#[test]
fn suspend_in_every_state() {
    scenario(|| {
        let zoo = Zoo::new();
        assert_eq!(zoo.completed.suspend(), TX_SUSPEND_ERROR);
        assert_eq!(zoo.terminated.suspend(), TX_SUSPEND_ERROR);
        for thread in [zoo.suspended, zoo.sleeping, zoo.waiting, zoo.ready] {
            assert_eq!(thread.suspend(), TX_SUCCESS);
            assert_eq!(thread.suspend(), TX_SUCCESS, "again");
        }
        zoo.expect_states([TX_COMPLETED, TX_TERMINATED, TX_SUSPENDED, TX_SLEEP, TX_SEMAPHORE_SUSP, TX_SUSPENDED]);
        check();
    });
}

#[test]
fn suspensions_do_not_nest() {
    scenario(|| {
        let thread = Thread::spawn(at(25), || {});
        for _ in 0..3 {
            assert_eq!(thread.suspend(), TX_SUCCESS);
        }
        assert_eq!(thread.resume(), TX_SUCCESS);
        assert_eq!(thread.state(), TX_READY);
        assert_eq!(thread.resume(), TX_RESUME_ERROR);
    });
}

#[test]
fn resume_in_every_state() {
    scenario(|| {
        let zoo = Zoo::new();
        assert_eq!(zoo.completed.resume(), TX_RESUME_ERROR);
        assert_eq!(zoo.terminated.resume(), TX_RESUME_ERROR);
        assert_eq!(zoo.sleeping.resume(), TX_RESUME_ERROR);
        assert_eq!(zoo.waiting.resume(), TX_RESUME_ERROR);
        assert_eq!(zoo.ready.resume(), TX_RESUME_ERROR);
        assert_eq!(identify().resume(), TX_RESUME_ERROR);
        assert_eq!(zoo.suspended.resume(), TX_SUCCESS);
        assert_eq!(zoo.suspended.state(), TX_COMPLETED);
    });
}

#[test]
fn self_suspension_waits_for_resume() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        let thread = Thread::spawn(at(5), move || {
            l2.push("a");
            assert_eq!(identify().suspend(), TX_SUCCESS);
            l2.push("b");
        });
        assert_eq!(thread.state(), TX_SUSPENDED);
        l.push("m");
        assert_eq!(thread.resume(), TX_SUCCESS);
    });
    log.expect("a m b");
}

#[test]
fn self_suspension_is_refused_where_it_cannot_be() {
    scenario(|| {
        let me = identify();
        let posture = preempt_disable();
        assert_eq!(me.suspend(), TX_SUSPEND_ERROR);
        preempt_enable(posture);
        let from_isr = Shared::new(0);
        let f = from_isr.clone();
        isr(move || f.set(me.suspend()));
        assert_eq!(from_isr.get(), TX_SUSPEND_ERROR);
        assert_eq!(me.state(), TX_READY);
        check();
    });
}

#[test]
fn wait_abort_in_every_state() {
    scenario(|| {
        let zoo = Zoo::new();
        for thread in [zoo.completed, zoo.terminated, zoo.suspended, zoo.ready, identify()] {
            assert_eq!(thread.wait_abort(), TX_WAIT_ABORT_ERROR);
        }
        let result = Shared::new((99, 99));
        let r = result.clone();
        let empty = zoo.semaphore;
        let thread = Thread::spawn(at(5), move || {
            let first = sleep(TX_WAIT_FOREVER);
            r.set((first, empty.get(50)));
        });
        assert_eq!(thread.wait_abort(), TX_SUCCESS);
        assert_eq!(empty.info().waiting, 2);
        assert_eq!(thread.wait_abort(), TX_SUCCESS);
        assert_eq!(result.get(), (TX_WAIT_ABORTED, TX_WAIT_ABORTED));
        assert_eq!(empty.info().waiting, 1);
        sleep(60);
        assert_eq!(thread.state(), TX_COMPLETED);
        check();
    });
}

#[test]
fn k06_suspend_on_a_waiting_thread_is_delayed() {
    scenario(|| {
        // First: the wait succeeds.
        let semaphore = Semaphore::new(0);
        let result = Shared::new(99);
        let r = result.clone();
        let w = Thread::spawn(at(5), move || r.set(semaphore.get(TX_WAIT_FOREVER)));
        assert_eq!(w.suspend(), TX_SUCCESS);
        assert_eq!(w.state(), TX_SEMAPHORE_SUSP);
        assert_eq!(semaphore.put(), TX_SUCCESS);
        assert_eq!((w.state(), semaphore.count()), (TX_SUSPENDED, 0));
        assert_eq!(result.get(), 99, "it has not run");
        assert_eq!(w.resume(), TX_SUCCESS);
        assert_eq!(result.get(), TX_SUCCESS);

        // Second: lifted, then aborted.
        let r = result.clone();
        let w = Thread::spawn(at(5), move || r.set(semaphore.get(TX_WAIT_FOREVER)));
        assert_eq!(w.suspend(), TX_SUCCESS);
        assert_eq!(w.resume(), TX_SUSPEND_LIFTED);
        assert_eq!(w.resume(), TX_RESUME_ERROR);
        assert_eq!(w.state(), TX_SEMAPHORE_SUSP);
        assert_eq!(w.suspend(), TX_SUCCESS);
        assert_eq!(w.wait_abort(), TX_SUCCESS);
        assert_eq!(w.state(), TX_SUSPENDED, "abort does not lift the suspension");
        assert_eq!(w.wait_abort(), TX_WAIT_ABORT_ERROR);
        assert_eq!(w.resume(), TX_SUCCESS);
        assert_eq!(result.get(), TX_WAIT_ABORTED);

        // Third: a sleep ends in the suspension.
        let r = result.clone();
        let start = now();
        let w2 = Thread::spawn(at(5), move || r.set(sleep(10)));
        assert_eq!(w2.resume(), TX_RESUME_ERROR, "no suspension is pending");
        sleep(2);
        assert_eq!(w2.suspend(), TX_SUCCESS);
        assert_eq!(w2.state(), TX_SLEEP);
        sleep(12);
        assert_eq!((now() - start, w2.state()), (14, TX_SUSPENDED));
        assert_eq!(w2.resume(), TX_SUCCESS);
        assert_eq!(result.get(), TX_SUCCESS);

        // Fourth: a time-out ends in it, with the time-out's result.
        let r = result.clone();
        let w = Thread::spawn(at(5), move || r.set(semaphore.get(2)));
        assert_eq!(w.suspend(), TX_SUCCESS);
        sleep(3);
        assert_eq!(w.state(), TX_SUSPENDED);
        assert_eq!(w.resume(), TX_SUCCESS);
        assert_eq!(result.get(), TX_NO_INSTANCE);

        let over = Thread::spawn(at(5), || {});
        assert_eq!(over.suspend(), TX_SUSPEND_ERROR);
        over.terminate();
        assert_eq!(over.suspend(), TX_SUSPEND_ERROR);
    });
}

// ---- sleep -------------------------------------------------------------------------------------

#[test]
fn sleep_ends_at_the_tick_given() {
    scenario(|| {
        for ticks in [1, 2, 31, 32, 33, 63, 64, 65, 100, 1000] {
            let start = now();
            assert_eq!(sleep(ticks), TX_SUCCESS);
            assert_eq!(now() - start, ticks);
        }
    });
}

#[test]
fn sleep_of_zero_gives_nothing_away() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let l2 = l.clone();
        Thread::spawn(at(16), move || l2.push("equal"));
        assert_eq!(sleep(0), TX_SUCCESS);
        l.push("main");
    });
    log.expect("main");
}

#[test]
fn endless_sleep_ends_only_by_abort() {
    scenario(|| {
        let result = Shared::new(99);
        let r = result.clone();
        let thread = Thread::spawn(at(5), move || r.set(sleep(TX_WAIT_FOREVER)));
        sleep(5000);
        assert_eq!(thread.state(), TX_SLEEP);
        assert_eq!(thread.wait_abort(), TX_SUCCESS);
        assert_eq!(result.get(), TX_WAIT_ABORTED);
    });
}

#[test]
fn k05_sleep_after_a_failed_wait_succeeds() {
    scenario(|| {
        let empty = Semaphore::new(0);
        assert_eq!(empty.get(2), TX_NO_INSTANCE);
        assert_eq!(sleep(2), TX_SUCCESS);

        let results = Shared::new([99; 4]);
        let r = results.clone();
        let thread = Thread::spawn(at(5), move || {
            let aborted = empty.get(TX_WAIT_FOREVER);
            let slept = sleep(2);
            let aborted_sleep = sleep(100);
            r.set([aborted, slept, aborted_sleep, sleep(2)]);
        });
        assert_eq!(thread.wait_abort(), TX_SUCCESS);
        sleep(3);
        assert_eq!(thread.wait_abort(), TX_SUCCESS);
        sleep(3);
        assert_eq!(results.get(), [TX_WAIT_ABORTED, TX_SUCCESS, TX_WAIT_ABORTED, TX_SUCCESS]);

        let deleted = Semaphore::new(0);
        let r = results.clone();
        Thread::spawn(at(5), move || {
            let deleted = deleted.get(TX_WAIT_FOREVER);
            r.set([deleted, sleep(1), 0, 0]);
        });
        deleted.delete();
        sleep(2);
        assert_eq!(results.get()[..2], [TX_DELETED, TX_SUCCESS]);
    });
}

// ---- priority, threshold, time-slice ---------------------------------------------------------------

#[test]
fn priority_change_returns_the_old_one_and_takes_the_threshold_along() {
    scenario(|| {
        let thread = Thread::spawn(at(20).threshold(12), || {});
        assert_eq!(thread.priority_change(TX_MAX_PRIORITIES), Err(TX_PRIORITY_ERROR));
        assert_eq!(thread.priority_change(UINT::MAX), Err(TX_PRIORITY_ERROR));
        assert_eq!(thread.info().threshold, 12);
        assert_eq!(thread.priority_change(31), Ok(20));
        let info = thread.info();
        assert_eq!((info.priority, info.threshold), (31, 31));
        let suspended = Thread::spawn(at(20).threshold(3).suspended(), || {});
        assert_eq!(suspended.priority_change(22), Ok(20));
        assert_eq!((suspended.info().priority, suspended.info().threshold), (22, 22));
        check();
    });
}

#[test]
fn k10_priority_changes_of_a_thread_that_owns_nothing() {
    scenario(|| {
        let a = Thread::spawn(at(10).suspended(), || {});
        for (new, old) in [(20, 10), (1, 20), (20, 1)] {
            assert_eq!(a.priority_change(new), Ok(old));
            assert_eq!((a.info().priority, a.info().threshold), (new, new));
        }
    });
}

#[test]
fn preemption_change_checks_against_the_priority() {
    scenario(|| {
        let thread = Thread::spawn(at(20), || {});
        assert_eq!(thread.preemption_change(21), Err(TX_THRESH_ERROR));
        assert_eq!(thread.preemption_change(TX_MAX_PRIORITIES), Err(TX_THRESH_ERROR));
        assert_eq!(thread.preemption_change(UINT::MAX), Err(TX_THRESH_ERROR));
        assert_eq!(service!(_tx_thread_preemption_change(thread.0, 256 + 5, null_mut())), TX_THRESH_ERROR);
        assert_eq!(thread.preemption_change(0), Ok(20));
        assert_eq!(thread.preemption_change(20), Ok(0));
        assert_eq!(thread.preemption_change(7), Ok(20));
        assert_eq!((thread.info().priority, thread.info().threshold), (20, 7));
        check();
    });
}

#[test]
fn time_slice_change_sets_slice_and_remainder() {
    scenario(|| {
        let me = identify();
        assert_eq!(me.time_slice_change(5), Ok(0));
        ticks(2);
        assert_eq!(me.info().time_slice, 3);
        assert_eq!(me.time_slice_change(9), Ok(5));
        assert_eq!(me.info().time_slice, 9);
        assert_eq!(me.time_slice_change(0), Ok(9));
        ticks(3);
        assert_eq!(me.info().time_slice, 0);
    });
}

// ---- identify, info, notifications -----------------------------------------------------------------

#[test]
fn identify_names_the_running_thread() {
    let seen = Shared::new([NOBODY; 4]);
    let s = seen.clone();
    assert_eq!(identify_in_initialization(), NOBODY);
    scenario(move || {
        let s2 = s.clone();
        let me = identify();
        let other = Thread::spawn(at(5), move || s2.set([identify(); 4]));
        assert_eq!(s.get(), [other; 4]);
        let s2 = s.clone();
        isr(move || s2.set([identify(); 4]));
        assert_eq!(s.get(), [me; 4], "an interrupt tells whom it interrupted");
        let s2 = s.clone();
        let timer = Timer::start(1, 0, move || s2.set([identify(); 4]));
        sleep(2);
        let system = s.get()[0];
        assert!(![NOBODY, me, other].contains(&system));
        assert_eq!((system.info().priority, system.info().name.as_deref()), (0, Some("System Timer Thread")));
        timer.delete();
    });
}

fn identify_in_initialization() -> Thread {
    let seen = Shared::new(Thread::new());
    let s = seen.clone();
    run(move || s.set(identify()));
    seen.get()
}

/// The idle loop's interrupt point leaves here what identify says.
static IDLE: Mutex<Option<usize>> = Mutex::new(None);

#[test]
fn identify_is_null_when_idle() {
    scenario(|| {
        *IDLE.lock().unwrap() = None;
        host::set_interrupt_point(Some(|| {
            isr(|| {
                IDLE.lock().unwrap().get_or_insert(identify().0 as usize);
            });
        }));
        // The first unmasking after this one's own is in the idle loop: sleep switches to it masked.
        *IDLE.lock().unwrap() = None;
        sleep(1);
        host::set_interrupt_point(None);
        assert_eq!(IDLE.lock().unwrap().take(), Some(0));
    });
}

#[test]
fn info_can_skip_everything_and_walks_the_created_threads() {
    scenario(|| {
        let me = identify();
        let status = service!(_txe_thread_info_get(
            me.0,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
        ));
        assert_eq!(status, TX_SUCCESS);
        let others = [at(20), at(21), at(22)].map(|o| Thread::spawn(o.suspended(), || {}));
        let mut walk = vec![me];
        while walk.len() < 5 {
            walk.push(walk[walk.len() - 1].info().next);
        }
        assert_eq!(walk[1..4], others);
        assert_eq!(walk[4].info().name.as_deref(), Some("System Timer Thread"));
        assert_eq!(walk[4].info().next, me);
        others[1].terminate();
        others[1].delete();
        assert_eq!(others[0].info().next, others[2]);
    });
}

#[test]
fn info_walks_the_waiting_threads() {
    scenario(|| {
        let semaphore = Semaphore::new(0);
        let [a, b] = [5, 4].map(|p| {
            Thread::spawn(at(p), move || {
                semaphore.get(TX_WAIT_FOREVER);
            })
        });
        assert_eq!((semaphore.info().first, semaphore.info().waiting), (a, 2));
        assert_eq!(a.info().next_suspended, b.0);
        assert_eq!(b.info().next_suspended, a.0);
        assert_eq!(identify().info().next_suspended, null_mut());
    });
}

#[test]
fn run_count_counts_turns_and_preemptions() {
    scenario(|| {
        let me = identify();
        assert_eq!(me.info().run_count, 1);
        let high = Thread::spawn(at(5), || {
            identify().suspend();
        });
        assert_eq!(me.info().run_count, 2, "preempted once");
        assert_eq!(high.info().run_count, 1);
        high.resume();
        assert_eq!(high.info().run_count, 2);
        assert_eq!(me.info().run_count, 3);
        relinquish();
        assert_eq!(me.info().run_count, 3, "nobody else was there");
        let equal = Thread::spawn(at(16), relinquish);
        assert_eq!(equal.info().run_count, 0);
        relinquish();
        assert_eq!((me.info().run_count, equal.info().run_count), (4, 1));
        sleep(1);
        assert_eq!((me.info().run_count, equal.info().run_count), (5, 2));
    });
}

static NOTIFIED: Mutex<Vec<(usize, UINT, usize)>> = Mutex::new(Vec::new());

unsafe extern "C-unwind" fn notified(thread: *mut TX_THREAD, what: UINT) {
    NOTIFIED.lock().unwrap().push((thread as usize, what, identify().0 as usize));
}

#[test]
fn entry_and_exit_are_notified_in_the_context_of_who_causes_them() {
    scenario(|| {
        NOTIFIED.lock().unwrap().clear();
        let take = || std::mem::take(&mut *NOTIFIED.lock().unwrap());
        let me = identify().0 as usize;
        let thread = Thread::spawn(at(5).suspended(), || {
            identify().suspend();
        });
        let it = thread.0 as usize;
        assert_eq!(thread.entry_exit_notify(Some(notified)), TX_SUCCESS);
        thread.resume();
        assert_eq!(take(), [(it, TX_THREAD_ENTRY, it)]);
        thread.resume();
        assert_eq!(take(), [(it, TX_THREAD_EXIT, it)], "completion, in its own context");
        thread.terminate();
        assert_eq!(take(), [], "it is over already");
        thread.reset();
        assert_eq!(take(), []);
        thread.resume();
        assert_eq!(take(), [(it, TX_THREAD_ENTRY, it)]);
        thread.terminate();
        assert_eq!(take(), [(it, TX_THREAD_EXIT, me)], "in the terminating thread's context");
        thread.terminate();
        thread.reset();
        assert_eq!(thread.entry_exit_notify(None), TX_SUCCESS);
        thread.resume();
        thread.terminate();
        assert_eq!(take(), []);
    });
}

// ---- stacks ------------------------------------------------------------------------------------

#[test]
fn k12_stack_bounds_at_an_odd_address() {
    scenario(|| {
        let memory = Stack::new(4096 + 16);
        for at in 0..memory.size {
            memory.write(at, 0x11);
        }
        let create = Create { stack: memory.start.wrapping_add(1), size: 4096, ..Create::new() };
        assert_eq!(create.call(), TX_SUCCESS);
        let thread = Thread(create.block);
        assert_eq!(memory.read(0), 0x11, "below the stack");
        assert!((4097..memory.size).all(|at| memory.read(at) == 0x11), "past the stack");
        assert!((1..4097).all(|at| memory.read(at) == 0xEF));
        assert_eq!(thread.untouched(), 4096);
        assert_eq!(thread.resume(), TX_SUCCESS);
        sleep(2);
        assert_eq!(thread.state(), TX_COMPLETED);
    });
}

#[test]
fn k12_high_water_mark_with_fill_bytes_in_live_data() {
    scenario(|| {
        let stack = Stack::new(1024);
        let thread = Thread::new();
        assert_eq!(thread.create_on(stack, at(20).suspended(), || {}), TX_SUCCESS);
        // 64 words, every other one the fill pattern, the deepest a live one.
        for word in 0..64 {
            for byte in 0..4 {
                stack.write(512 + 4 * word + byte, if word % 2 == 0 { 0x5A } else { 0xEF });
            }
        }
        assert_eq!(thread.untouched(), 512);
        // A single live byte deeper down, with fill bytes above it.
        stack.write(300, 1);
        assert_eq!(thread.untouched(), 300);
        stack.write(0, 1);
        assert_eq!(thread.untouched(), 0);
    });
}

static DAMAGED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

unsafe extern "C-unwind" fn damaged(thread: *mut TX_THREAD) {
    DAMAGED.lock().unwrap().push(thread as usize);
}

#[test]
#[cfg(feature = "stack-checking")]
fn a_damaged_stack_is_reported_with_its_thread() {
    scenario(|| {
        DAMAGED.lock().unwrap().clear();
        let take = || std::mem::take(&mut *DAMAGED.lock().unwrap());
        assert_eq!(service!(_tx_thread_stack_error_notify(Some(damaged))), TX_SUCCESS);
        let stack = Stack::new(512);
        let thread = Thread::new();
        let entry = move || {
            sleep(1);
            stack.write(0, 0);
            sleep(1);
            host::tick();
            sleep(TX_WAIT_FOREVER);
        };
        assert_eq!(thread.create_on(stack, at(5), entry), TX_SUCCESS);
        assert_eq!(take(), []);
        ticks(1);
        assert_eq!(take(), [thread.0 as usize], "found when it slept");
        ticks(1);
        assert_eq!(take().len(), 2, "at the tick and when it slept");
        assert_eq!(service!(_tx_thread_stack_error_notify(None)), TX_SUCCESS);
        thread.wait_abort();
        assert_eq!(take(), []);
        assert_eq!(thread.state(), TX_COMPLETED);
    });
}

#[test]
#[cfg(not(feature = "stack-checking"))]
fn stack_error_notify_needs_stack_checking() {
    scenario(|| {
        assert_eq!(service!(_tx_thread_stack_error_notify(Some(damaged))), TX_FEATURE_NOT_ENABLED);
        assert!(DAMAGED.lock().unwrap().is_empty());
    });
}
