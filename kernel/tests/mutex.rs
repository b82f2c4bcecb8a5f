//! Mutexes: ownership, inheritance, hand-over, and every code of their services.

mod common;
use common::*;
use std::ptr::null_mut;

/// Effective priority and threshold.
fn rank(thread: Thread) -> (UINT, UINT) {
    thread.levels()
}

#[test]
fn information_is_about_the_threads_own_priority() {
    scenario(|| {
        let mutex = TxMutex::new(TX_INHERIT);
        assert_eq!(mutex.get(TX_NO_WAIT), TX_SUCCESS);
        let me = identify();
        let waiter = Thread::spawn(at(3), move || assert_eq!(mutex.get(TX_WAIT_FOREVER), TX_SUCCESS));
        assert_eq!((me.levels(), me.info().priority, me.info().threshold), ((3, 3), 16, 16));
        assert_eq!((waiter.levels(), waiter.info().priority), ((3, 3), 3));
        assert_eq!(mutex.put(), TX_SUCCESS);
        assert_eq!((me.levels(), me.info().priority, me.info().threshold), ((16, 16), 16, 16));
    });
}

/// A thread that gets `mutex` with `wait`, logs the result under `name`, and puts it.
fn getter(log: &Log, name: &'static str, options: Options, mutex: TxMutex, wait: ULONG) -> Thread {
    let log = log.clone();
    Thread::spawn(options, move || {
        let status = mutex.get(wait);
        log.push(format!("{name}:{status:x}"));
        if status == TX_SUCCESS {
            assert_eq!(mutex.put(), TX_SUCCESS);
        }
    })
}

// ---- codes -------------------------------------------------------------------------------------

#[test]
fn create_refuses_what_is_wrong_in_the_documented_order() {
    scenario(|| {
        let create = |block, inherit, size| service!(_txe_mutex_create(block, null_mut(), inherit, size));
        let block = TxMutex::blank();
        assert_eq!(create(null_mut(), 9, TxMutex::SIZE), TX_MUTEX_ERROR);
        assert_eq!(create(block.0, 9, TxMutex::SIZE - 1), TX_MUTEX_ERROR);
        assert_eq!(create(block.0, 2, TxMutex::SIZE), TX_INHERIT_ERROR);
        assert_eq!(create(block.0, TX_NO_INHERIT, TxMutex::SIZE), TX_SUCCESS);
        assert_eq!(create(block.0, 9, TxMutex::SIZE), TX_MUTEX_ERROR);
        let isr_result = Shared::new(0);
        let r = isr_result.clone();
        isr(move || r.set(TxMutex::blank().create(TX_INHERIT)));
        assert_eq!(isr_result.get(), TX_CALLER_ERROR);
        // A deleted mutex may be created again.
        assert_eq!(block.delete(), TX_SUCCESS);
        assert_eq!(create(block.0, TX_INHERIT, TxMutex::SIZE), TX_SUCCESS);
    });
}

#[test]
fn services_refuse_what_is_no_mutex() {
    scenario(|| {
        let deleted = TxMutex::new(TX_INHERIT);
        assert_eq!(deleted.delete(), TX_SUCCESS);
        for mutex in [TxMutex(null_mut()), TxMutex::blank(), deleted] {
            assert_eq!(mutex.get(TX_NO_WAIT), TX_MUTEX_ERROR);
            assert_eq!(mutex.put(), TX_MUTEX_ERROR);
            assert_eq!(mutex.prioritize(), TX_MUTEX_ERROR);
            assert_eq!(mutex.delete(), TX_MUTEX_ERROR);
            let status = service!(_txe_mutex_info_get(
                mutex.0,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
            ));
            assert_eq!(status, TX_MUTEX_ERROR);
        }
    });
}

/// K17 and K21, mutex part.
#[test]
fn k21_interrupt_handlers_get_no_mutex_in_any_way() {
    scenario(|| {
        let free = TxMutex::new(TX_NO_INHERIT);
        let owned = TxMutex::new(TX_INHERIT);
        owned.get(TX_NO_WAIT);
        let me = identify();
        isr(move || {
            for mutex in [free, owned] {
                for wait in [TX_NO_WAIT, 5, TX_WAIT_FOREVER] {
                    assert_eq!(mutex.get(wait), TX_CALLER_ERROR);
                    assert_eq!(mutex.get_unchecked(wait), TX_CALLER_ERROR);
                }
                assert_eq!(mutex.put(), TX_CALLER_ERROR);
                assert_eq!(mutex.put_unchecked(), TX_CALLER_ERROR);
                assert_eq!(mutex.delete(), TX_CALLER_ERROR);
                assert_eq!(mutex.prioritize(), TX_SUCCESS);
            }
        });
        assert_eq!((free.owner(), free.info().count), (NOBODY, 0));
        assert_eq!((owned.owner(), owned.info().count), (me, 1));
    });
}

#[test]
fn k17_a_timer_callback_owns_as_the_timer_thread() {
    scenario(|| {
        let mutex = TxMutex::new(TX_INHERIT);
        let mine = TxMutex::new(TX_INHERIT);
        mine.get(TX_NO_WAIT);
        let done = Shared::new(false);
        let d = done.clone();
        Timer::start(1, 0, move || {
            assert_eq!(mutex.get(5), TX_WAIT_ERROR);
            assert_eq!(mutex.get(TX_NO_WAIT), TX_SUCCESS);
            assert_eq!(mutex.owner(), identify());
            assert_eq!(mine.get(TX_NO_WAIT), TX_NOT_AVAILABLE);
            assert_eq!(mine.get_unchecked(TX_WAIT_FOREVER), TX_NOT_AVAILABLE);
            assert_eq!(mine.put(), TX_NOT_OWNED);
            assert_eq!(mutex.delete(), TX_CALLER_ERROR);
            assert_eq!(TxMutex::blank().create(TX_INHERIT), TX_CALLER_ERROR);
            assert_eq!(mutex.put(), TX_SUCCESS);
            d.set(true);
        });
        sleep(2);
        assert!(done.get());
    });
}

/// K24, and what K17 says about initialization.
#[test]
fn k24_a_mutex_taken_in_initialization_has_no_owner_and_crashes_nobody() {
    for inherit in [TX_NO_INHERIT, TX_INHERIT] {
        let log = Log::new();
        let l = log.clone();
        run(move || {
            let kept = TxMutex::new(inherit);
            assert_eq!(kept.put(), TX_NOT_OWNED);
            assert_eq!(kept.get(5), TX_WAIT_ERROR);
            assert_eq!(kept.get(TX_NO_WAIT), TX_SUCCESS);
            assert_eq!(kept.get(TX_NO_WAIT), TX_SUCCESS);
            assert_eq!(kept.put(), TX_SUCCESS);
            assert_eq!((kept.owner(), kept.info().count), (NOBODY, 1));
            assert_eq!(kept.delete(), TX_CALLER_ERROR);
            let given_back = TxMutex::new(inherit);
            assert_eq!(given_back.get(TX_NO_WAIT), TX_SUCCESS);
            assert_eq!(given_back.put(), TX_SUCCESS);
            getter(&l, "waits", at(5), kept, 2);
            let l2 = l.clone();
            Thread::spawn(at(6), move || {
                assert_eq!(kept.get(TX_NO_WAIT), TX_NOT_AVAILABLE);
                assert_eq!(kept.put(), TX_NOT_OWNED);
                assert_eq!(given_back.get(TX_NO_WAIT), TX_SUCCESS);
                assert_eq!(given_back.put(), TX_SUCCESS);
                sleep(5);
                getter(&l2, "deleted", at(5), kept, TX_WAIT_FOREVER);
                assert_eq!(kept.delete(), TX_SUCCESS);
                l2.push("end");
                check();
            });
        });
        log.expect("waits:1d deleted:1 end");
    }
}

// ---- ownership ---------------------------------------------------------------------------------

#[test]
fn the_owner_may_get_again_and_needs_as_many_puts() {
    scenario(|| {
        let mutex = TxMutex::new(TX_NO_INHERIT);
        assert_eq!(mutex.put(), TX_NOT_OWNED);
        for count in 1..=5 {
            assert_eq!(mutex.get(TX_WAIT_FOREVER), TX_SUCCESS);
            assert_eq!((mutex.owner(), mutex.info().count), (identify(), count));
        }
        let log = Log::new();
        getter(&log, "other", at(10), mutex, TX_NO_WAIT);
        let l = log.clone();
        Thread::spawn(at(10), move || l.push(format!("put:{:x}", mutex.put())));
        getter(&log, "waits", at(10), mutex, TX_WAIT_FOREVER);
        for _ in 0..4 {
            assert_eq!(mutex.put(), TX_SUCCESS);
        }
        log.expect("other:1d put:1e");
        assert_eq!(mutex.put(), TX_SUCCESS);
        log.expect("waits:0");
        assert_eq!(mutex.put(), TX_NOT_OWNED);
        assert_eq!(mutex.info().count, 0);
    });
}

#[test]
fn a_wait_ends_by_time_abort_and_delete_with_its_own_code() {
    for inherit in [TX_NO_INHERIT, TX_INHERIT] {
        scenario(move || {
            let log = Log::new();
            let mutex = TxMutex::new(inherit);
            mutex.get(TX_NO_WAIT);
            // Descending, because an inheriting owner does not let a lower one begin.
            let deleted = getter(&log, "deleted", at(12), mutex, TX_WAIT_FOREVER);
            let aborted = getter(&log, "aborted", at(11), mutex, TX_WAIT_FOREVER);
            let timed = getter(&log, "timed", at(10), mutex, 3);
            getter(&log, "deleted9", at(9), mutex, 100);
            assert_eq!(timed.state(), TX_MUTEX_SUSP);
            assert_eq!((mutex.info().first, mutex.info().waiting), (deleted, 4));
            assert_eq!(deleted.info().next_suspended, aborted.0);
            check();
            sleep(2);
            log.expect("");
            // At the tick at which it is due an inheriting owner is raised above it.
            sleep(2);
            log.expect("timed:1d");
            assert_eq!(aborted.wait_abort(), TX_SUCCESS);
            sleep(1);
            log.expect("aborted:1a");
            assert_eq!(mutex.info().waiting, 2);
            assert_eq!(mutex.delete(), TX_SUCCESS);
            log.expect("deleted9:1 deleted:1");
            assert_eq!(rank(identify()), (16, 16));
            check();
            assert_eq!(mutex.put(), TX_MUTEX_ERROR);
        });
    }
}

#[test]
fn info_skips_null_pointers_and_tells_name_and_next() {
    scenario(|| {
        let (a, b) = (TxMutex::blank(), TxMutex::blank());
        assert_eq!(a.create_named("first", TX_INHERIT), TX_SUCCESS);
        assert_eq!(b.create_named("second", TX_INHERIT), TX_SUCCESS);
        assert_eq!(a.info().name.as_deref(), Some("first"));
        assert_eq!((a.info().next, b.info().next), (b, a));
        let status =
            service!(_txe_mutex_info_get(a.0, null_mut(), null_mut(), null_mut(), null_mut(), null_mut(), null_mut(),));
        assert_eq!(status, TX_SUCCESS);
        assert_eq!(b.delete(), TX_SUCCESS);
        assert_eq!(a.info().next, a);
    });
}

// ---- hand-over ---------------------------------------------------------------------------------

/// K20, mutex part: waiters 7, 5, 6.
#[test]
fn k20_inheriting_mutexes_go_to_the_highest_waiter_others_to_the_first() {
    for (inherit, order) in [(TX_INHERIT, "5:0 6:0 7:0"), (TX_NO_INHERIT, "7:0 5:0 6:0")] {
        let log = Log::new();
        let l = log.clone();
        run(move || {
            let mutex = TxMutex::new(inherit);
            let l2 = l.clone();
            Thread::spawn(at(1), move || {
                mutex.get(TX_NO_WAIT);
                getter(&l2, "7", at(7), mutex, TX_WAIT_FOREVER);
                sleep(1);
                getter(&l2, "5", at(5), mutex, TX_WAIT_FOREVER);
                sleep(1);
                getter(&l2, "6", at(6), mutex, TX_WAIT_FOREVER);
                sleep(1);
                check();
                assert_eq!(mutex.put(), TX_SUCCESS);
            });
        });
        assert_eq!(log.take().join(" "), order);
    }
}

#[test]
fn prioritize_moves_the_best_waiter_to_the_front_once() {
    scenario(|| {
        let log = Log::new();
        let mutex = TxMutex::new(TX_NO_INHERIT);
        mutex.get(TX_NO_WAIT);
        getter(&log, "7", at(7), mutex, TX_WAIT_FOREVER);
        getter(&log, "5", at(5), mutex, TX_WAIT_FOREVER);
        getter(&log, "6", at(6), mutex, TX_WAIT_FOREVER);
        getter(&log, "5b", at(5), mutex, TX_WAIT_FOREVER);
        assert_eq!(mutex.prioritize(), TX_SUCCESS);
        // A newcomer is behind the others, however high.
        getter(&log, "1", at(1), mutex, TX_WAIT_FOREVER);
        check();
        assert_eq!(mutex.put(), TX_SUCCESS);
        log.expect("5:0 7:0 6:0 5b:0 1:0");
    });
}

#[test]
fn equals_among_the_waiters_keep_their_order() {
    scenario(|| {
        let log = Log::new();
        let mutex = TxMutex::new(TX_INHERIT);
        mutex.get(TX_NO_WAIT);
        for name in ["a", "b", "c"] {
            getter(&log, name, at(10), mutex, TX_WAIT_FOREVER);
        }
        mutex.put();
        log.expect("a:0 b:0 c:0");
    });
}

// ---- inheritance -------------------------------------------------------------------------------

#[test]
fn the_owner_runs_at_the_priority_of_its_highest_waiter_until_the_put() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let mutex = TxMutex::new(TX_INHERIT);
        let l2 = l.clone();
        let low = Thread::spawn(at(20).threshold(18), move || {
            mutex.get(TX_WAIT_FOREVER);
            sleep(2);
            // Two waiters by now, of 5 and of 8, and a busy thread of 10.
            l2.push(format!("raised:{:?}", rank(identify())));
            assert_eq!(mutex.put(), TX_SUCCESS);
            l2.push(format!("low:{:?}", rank(identify())));
        });
        sleep(1);
        assert_eq!(mutex.owner(), low);
        getter(&l, "8", at(8), mutex, TX_WAIT_FOREVER);
        assert_eq!(rank(low), (8, 8));
        getter(&l, "5", at(5), mutex, TX_WAIT_FOREVER);
        assert_eq!(rank(low), (5, 5));
        getter(&l, "9", at(9), mutex, TX_WAIT_FOREVER);
        assert_eq!(rank(low), (5, 5));
        let l3 = l.clone();
        let busy = Thread::spawn(at(10), move || {
            l3.push("busy");
            host::tick();
            l3.push("busy ends");
        });
        check();
        assert_eq!(busy.state(), TX_COMPLETED);
        sleep(1);
        assert_eq!(rank(low), (20, 18));
        assert_eq!(low.state(), TX_COMPLETED);
    });
    // The tick in the busy thread wakes the raised owner, which overtakes it, and so do the waiters.
    log.expect("busy raised:(5, 5) 5:0 8:0 9:0 busy ends low:(20, 18)");
}

#[test]
fn no_inheritance_without_the_option_and_none_through_a_chain() {
    scenario(|| {
        let log = Log::new();
        let me = identify();
        let plain = TxMutex::new(TX_NO_INHERIT);
        plain.get(TX_NO_WAIT);
        getter(&log, "high", at(5), plain, 2);
        assert_eq!(rank(me), (16, 16));
        // me (16) owns a; b's owner (10) waits for a; 5 waits for b: 10 becomes 5, 16 stays at 10.
        let (a, b) = (TxMutex::new(TX_INHERIT), TxMutex::new(TX_INHERIT));
        a.get(TX_NO_WAIT);
        let middle = Thread::spawn(at(10), move || {
            b.get(TX_NO_WAIT);
            a.get(TX_WAIT_FOREVER);
            a.put();
            b.put();
        });
        assert_eq!(rank(me), (10, 10));
        getter(&log, "top", at(5), b, TX_WAIT_FOREVER);
        assert_eq!((rank(middle), rank(me)), ((5, 5), (10, 10)));
        check();
        a.put();
        assert_eq!((rank(middle), rank(me)), ((10, 10), (16, 16)));
        log.expect("top:0");
    });
}

#[test]
fn with_several_mutexes_the_best_loan_counts_and_each_put_gives_its_own_back() {
    scenario(|| {
        let log = Log::new();
        let me = identify();
        let (a, b, c) = (TxMutex::new(TX_INHERIT), TxMutex::new(TX_INHERIT), TxMutex::new(TX_NO_INHERIT));
        let d = TxMutex::new(TX_INHERIT);
        for mutex in [a, d, b, c] {
            mutex.get(TX_NO_WAIT);
        }
        getter(&log, "d9", at(9), d, TX_WAIT_FOREVER);
        getter(&log, "a8", at(8), a, TX_WAIT_FOREVER);
        getter(&log, "b5", at(5), b, TX_WAIT_FOREVER);
        getter(&log, "c2", at(2), c, TX_WAIT_FOREVER);
        assert_eq!(rank(me), (5, 5));
        c.put();
        assert_eq!(rank(me), (5, 5));
        b.put();
        assert_eq!(rank(me), (8, 8));
        check();
        a.put();
        assert_eq!(rank(me), (9, 9));
        d.put();
        assert_eq!(rank(me), (16, 16));
        log.expect("c2:0 b5:0 a8:0 d9:0");
    });
}

#[test]
fn a_waiter_that_gives_up_leaves_its_loan_until_the_put() {
    scenario(|| {
        let log = Log::new();
        let mutex = TxMutex::new(TX_INHERIT);
        mutex.get(TX_NO_WAIT);
        getter(&log, "5", at(5), mutex, 1);
        sleep(2);
        log.expect("5:1d");
        assert_eq!(rank(identify()), (5, 5));
        check();
        mutex.put();
        assert_eq!(rank(identify()), (16, 16));
        check();
    });
}

/// K10.
#[test]
fn k10_a_priority_change_while_raised_is_neither_wiped_out_nor_undone() {
    scenario(|| {
        let log = Log::new();
        let mutex = TxMutex::new(TX_INHERIT);
        let done = Shared::new(false);
        let d = done.clone();
        Thread::spawn(at(10), move || {
            let me = identify();
            mutex.get(TX_NO_WAIT);
            getter(&log, "5", at(5), mutex, TX_WAIT_FOREVER);
            assert_eq!(rank(me), (5, 5));
            assert_eq!(me.priority_change(20), Ok(10));
            assert_eq!(rank(me), (5, 5));
            assert_eq!(me.priority_change(1), Ok(20));
            assert_eq!(rank(me), (1, 1));
            assert_eq!(me.priority_change(20), Ok(1));
            assert_eq!(rank(me), (5, 5));
            check();
            d.set(true);
            assert_eq!(mutex.put(), TX_SUCCESS);
            assert_eq!(rank(me), (20, 20));
        });
        assert!(done.get());
        sleep(1);
    });
}

#[test]
fn a_threshold_change_while_raised_is_the_users_and_counts_as_far_as_it_is_stronger() {
    scenario(|| {
        let me = identify();
        let mutex = TxMutex::new(TX_INHERIT);
        mutex.get(TX_NO_WAIT);
        let log = Log::new();
        getter(&log, "8", at(8), mutex, TX_WAIT_FOREVER);
        assert_eq!(me.preemption_change(12), Ok(16));
        assert_eq!(rank(me), (8, 8));
        assert_eq!(me.preemption_change(17), Err(TX_THRESH_ERROR));
        assert_eq!(me.preemption_change(3), Ok(12));
        assert_eq!(rank(me), (8, 3));
        assert_eq!(me.preemption_change(12), Ok(3));
        check();
        mutex.put();
        assert_eq!(rank(me), (16, 12));
        check();
        log.expect("8:0");
    });
}

#[test]
fn a_new_owner_inherits_from_those_who_still_wait() {
    scenario(|| {
        let log = Log::new();
        let mutex = TxMutex::new(TX_INHERIT);
        mutex.get(TX_NO_WAIT);
        let gate = Semaphore::new(0);
        let first = Thread::spawn(at(5), move || {
            mutex.get(TX_WAIT_FOREVER);
            gate.get(TX_WAIT_FOREVER);
            mutex.put();
        });
        getter(&log, "7", at(7), mutex, TX_WAIT_FOREVER);
        mutex.put();
        assert_eq!(mutex.owner(), first);
        assert_eq!(rank(first), (5, 5));
        assert_eq!(first.priority_change(20), Ok(5));
        assert_eq!(rank(first), (7, 7));
        check();
        gate.put();
        log.expect("7:0");
        assert_eq!(rank(first), (20, 20));
        sleep(1);
    });
}

#[test]
fn deleting_an_inheriting_mutex_takes_the_loan_back_from_another_owner() {
    scenario(|| {
        let log = Log::new();
        let mutex = TxMutex::new(TX_INHERIT);
        let owner = Thread::spawn(at(10), move || {
            mutex.get(TX_NO_WAIT);
            sleep(TX_WAIT_FOREVER);
        });
        getter(&log, "5", at(5), mutex, TX_WAIT_FOREVER);
        assert_eq!(rank(owner), (5, 5));
        assert_eq!(mutex.delete(), TX_SUCCESS);
        log.expect("5:1");
        assert_eq!(rank(owner), (10, 10));
        check();
        assert_eq!(owner.terminate(), TX_SUCCESS);
        assert_eq!(owner.delete(), TX_SUCCESS);
    });
}

// ---- the owner ends ----------------------------------------------------------------------------

#[test]
fn a_thread_that_returns_releases_its_mutexes_after_its_exit_notification() {
    static LOG: std::sync::Mutex<Vec<UINT>> = std::sync::Mutex::new(Vec::new());
    unsafe extern "C-unwind" fn notify(thread: *mut TX_THREAD, what: UINT) {
        if what == TX_THREAD_EXIT {
            LOG.lock().unwrap().push(Thread(thread).state());
        }
    }
    scenario(|| {
        let log = Log::new();
        let (a, b) = (TxMutex::new(TX_INHERIT), TxMutex::new(TX_NO_INHERIT));
        let gate = Semaphore::new(0);
        let owner = Thread::spawn(at(10), move || {
            for mutex in [a, b, a] {
                mutex.get(TX_NO_WAIT);
            }
            gate.get(TX_WAIT_FOREVER);
        });
        owner.entry_exit_notify(Some(notify));
        getter(&log, "5", at(5), a, TX_WAIT_FOREVER);
        getter(&log, "6", at(6), b, TX_WAIT_FOREVER);
        assert_eq!(rank(owner), (5, 5));
        gate.put();
        log.expect("5:0 6:0");
        assert_eq!(*LOG.lock().unwrap(), [TX_READY]);
        assert_eq!((owner.state(), rank(owner)), (TX_COMPLETED, (10, 10)));
        assert_eq!((a.info().count, b.info().count), (0, 0));
        check();
    });
}

#[test]
fn terminating_an_owner_in_any_state_hands_its_mutexes_on() {
    for case in 0..4 {
        scenario(move || {
            let log = Log::new();
            let (a, b) = (TxMutex::new(TX_INHERIT), TxMutex::new(TX_NO_INHERIT));
            let other = TxMutex::new(TX_INHERIT);
            other.get(TX_NO_WAIT);
            let owner = Thread::spawn(at(10), move || {
                a.get(TX_NO_WAIT);
                b.get(TX_NO_WAIT);
                match case {
                    0 => drop(sleep(TX_WAIT_FOREVER)),
                    1 => drop(other.get(TX_WAIT_FOREVER)),
                    2 => drop(identify().suspend()),
                    _ => drop(identify().priority_change(30)),
                }
            });
            // In a, waiters of 12: lower than the owner, so that case 3 stays ready below the caller.
            getter(&log, "a20", at(20), a, TX_WAIT_FOREVER);
            getter(&log, "b12", at(12), b, TX_WAIT_FOREVER);
            sleep(1);
            let states = [TX_SLEEP, TX_MUTEX_SUSP, TX_SUSPENDED];
            if case < 3 {
                assert_eq!(owner.state(), states[case]);
                assert_eq!(owner.terminate(), TX_SUCCESS);
            } else {
                sleep(1);
            }
            sleep(1);
            assert_eq!(log.take().join(" "), "b12:0 a20:0");
            assert_eq!(other.info().waiting, 0);
            assert_eq!((a.owner(), b.owner()), (NOBODY, NOBODY));
            check();
            other.put();
            assert_eq!(owner.reset(), TX_SUCCESS);
            check();
        });
    }
}

#[test]
fn a_thread_that_terminates_itself_hands_its_mutex_on() {
    scenario(|| {
        let log = Log::new();
        let mutex = TxMutex::new(TX_INHERIT);
        Thread::spawn(at(20), {
            let log = log.clone();
            move || {
                mutex.get(TX_NO_WAIT);
                getter(&log, "5", at(5), mutex, TX_WAIT_FOREVER);
                identify().terminate();
                log.push("never");
            }
        });
        sleep(1);
        log.expect("5:0");
        check();
    });
}

#[test]
fn a_raised_owner_is_not_overtaken_by_its_new_equals_after_the_put() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let mutex = TxMutex::new(TX_INHERIT);
        mutex.get(TX_NO_WAIT);
        getter(&l, "5", at(5), mutex, TX_WAIT_FOREVER);
        let l2 = l.clone();
        Thread::spawn(at(16), move || l2.push("equal"));
        l.push("put");
        mutex.put();
        l.push("owner goes on");
        relinquish();
        l.push("end");
    });
    log.expect("put 5:0 owner goes on equal end");
}

#[test]
fn preemption_threshold_comes_back_after_inheritance() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let mutex = TxMutex::new(TX_INHERIT);
        let me = identify();
        me.preemption_change(10).unwrap();
        mutex.get(TX_NO_WAIT);
        getter(&l, "5", at(5), mutex, TX_WAIT_FOREVER);
        assert_eq!(rank(me), (5, 5));
        let l2 = l.clone();
        Thread::spawn(at(8), move || l2.push("8"));
        let l2 = l.clone();
        Thread::spawn(at(12), move || l2.push("12"));
        l.push("put");
        mutex.put();
        // 5 got the mutex, 8 is above the threshold, 12 is held off by it.
        l.push("on");
        check();
        me.preemption_change(16).unwrap();
        l.push("end");
    });
    log.expect("put 5:0 8 on 12 end");
}

/// An owner that was raised above a preempted thread's claim and is lowered by its put is held off by that claim,
/// whatever its own preemption-threshold is.
fn put_under_an_older_claim(threshold: UINT, expected: &str) {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let (mutex, go) = (TxMutex::new(TX_INHERIT), Semaphore::new(0));
        let me = identify();
        me.preemption_change(threshold).unwrap();
        mutex.get(TX_NO_WAIT);
        let waiter = getter(&l, "3", at(3).suspended(), mutex, TX_WAIT_FOREVER);
        let l2 = l.clone();
        let below = Thread::spawn(at(12).suspended(), move || l2.push("12"));
        let l2 = l.clone();
        Thread::spawn(at(10).threshold(5), move || {
            go.put();
            waiter.resume(); // preempts this one, whose threshold stays in force
            below.resume();
            l2.push("10");
        });
        go.get(TX_WAIT_FOREVER);
        // Raised by 3, with the claim of 10 pending.
        assert_eq!(rank(me), (3, 3));
        l.push("put");
        mutex.put();
        l.push("on");
        assert_eq!(rank(me), (16, threshold));
        check();
        sleep(1);
        l.push("end");
    });
    log.expect(expected);
}

#[test]
fn an_owner_with_the_waiters_priority_as_threshold_is_held_off_by_an_older_claim_after_the_put() {
    put_under_an_older_claim(3, "put 3:0 10 12 on end");
}

#[test]
fn a_lowered_owner_that_is_held_off_by_an_older_claim_claims_nothing() {
    put_under_an_older_claim(4, "put 3:0 10 12 on end");
}

#[test]
fn a_lowered_owner_without_a_threshold_is_held_off_by_an_older_claim() {
    put_under_an_older_claim(16, "put 3:0 10 12 on end");
}
