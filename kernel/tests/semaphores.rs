//! Counting semaphores.

mod common;
use common::*;
use std::ptr::null_mut;
use std::sync::Mutex;

/// Threads of the priorities given wait on `semaphore` in this order; each logs its priority and what
/// its get returned.
fn waiters(log: &Log, semaphore: Semaphore, priorities: &[UINT]) -> Vec<Thread> {
    let spawn = |&priority: &UINT| {
        let log = log.clone();
        let thread = Thread::spawn(at(priority), move || {
            let status = semaphore.get(TX_WAIT_FOREVER);
            let name = if status == TX_SUCCESS { format!("{priority}") } else { format!("{priority}:{status}") };
            log.push(name);
        });
        if priority > 16 {
            sleep(1);
        }
        thread
    };
    let threads = priorities.iter().map(spawn).collect();
    assert_eq!(semaphore.info().waiting as usize, priorities.len());
    threads
}

#[test]
fn create_reports_every_error() {
    let refuses = || {
        let create = |block, size| service!(_txe_semaphore_create(block, null_mut(), 1, size));
        assert_eq!(create(null_mut(), SEMAPHORE_SIZE), TX_SEMAPHORE_ERROR);
        let semaphore = Semaphore::blank();
        assert_eq!(create(semaphore.0, SEMAPHORE_SIZE + 1), TX_SEMAPHORE_ERROR);
        assert_eq!(create(semaphore.0, SEMAPHORE_SIZE), TX_SUCCESS);
        assert_eq!(create(semaphore.0, SEMAPHORE_SIZE), TX_SEMAPHORE_ERROR, "created twice");
        assert_eq!(semaphore.count(), 1);
    };
    run(refuses);
    scenario(refuses);
}

#[test]
fn services_refuse_what_is_not_a_semaphore() {
    scenario(|| {
        let deleted = Semaphore::new(3);
        assert_eq!(deleted.delete(), TX_SUCCESS);
        for none in [Semaphore(null_mut()), Semaphore::blank(), deleted] {
            assert_eq!(none.get(TX_NO_WAIT), TX_SEMAPHORE_ERROR);
            assert_eq!(none.get(TX_WAIT_FOREVER), TX_SEMAPHORE_ERROR);
            assert_eq!(none.put(), TX_SEMAPHORE_ERROR);
            assert_eq!(none.ceiling_put(1), TX_SEMAPHORE_ERROR);
            assert_eq!(none.delete(), TX_SEMAPHORE_ERROR);
            assert_eq!(none.prioritize(), TX_SEMAPHORE_ERROR);
            assert_eq!(none.put_notify(None), TX_SEMAPHORE_ERROR);
            let info =
                service!(_txe_semaphore_info_get(none.0, null_mut(), null_mut(), null_mut(), null_mut(), null_mut(),));
            assert_eq!(info, TX_SEMAPHORE_ERROR);
        }
        assert_eq!(deleted.create(2), TX_SUCCESS, "the block can be used again");
        assert_eq!(deleted.count(), 2);
    });
}

#[test]
fn gets_take_units_until_there_are_none() {
    scenario(|| {
        let semaphore = Semaphore::new(2);
        assert_eq!(semaphore.get(TX_NO_WAIT), TX_SUCCESS);
        assert_eq!(semaphore.get(TX_WAIT_FOREVER), TX_SUCCESS);
        assert_eq!(semaphore.count(), 0);
        assert_eq!(semaphore.get(TX_NO_WAIT), TX_NO_INSTANCE);
        let start = now();
        assert_eq!(semaphore.get(40), TX_NO_INSTANCE);
        assert_eq!(now() - start, 40);
        assert_eq!(semaphore.info().waiting, 0, "a timed-out waiter is gone");
        assert_eq!(semaphore.put(), TX_SUCCESS);
        assert_eq!(semaphore.count(), 1);
    });
}

#[test]
fn a_put_gives_the_unit_to_the_first_waiter() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let semaphore = Semaphore::new(0);
        waiters(&l, semaphore, &[7, 5, 6, 20]);
        for left in [3, 2, 1, 0] {
            assert_eq!(semaphore.put(), TX_SUCCESS);
            assert_eq!((semaphore.count(), semaphore.info().waiting), (0, left));
            l.push("|");
        }
        sleep(1);
        assert_eq!(semaphore.put(), TX_SUCCESS);
        assert_eq!(semaphore.count(), 1);
    });
    log.expect("7 | 5 | 6 | | 20");
}

#[test]
fn a_unit_handed_over_cannot_be_taken_by_another() {
    scenario(|| {
        let semaphore = Semaphore::new(0);
        let got = Shared::new(99);
        let g = got.clone();
        Thread::spawn(at(15), move || g.set(semaphore.get(TX_WAIT_FOREVER)));
        identify().preemption_change(0).unwrap();
        semaphore.put();
        assert_eq!(semaphore.get(TX_NO_WAIT), TX_NO_INSTANCE);
        assert_eq!(got.get(), 99);
        identify().preemption_change(16).unwrap();
        assert_eq!(got.get(), TX_SUCCESS);
    });
}

#[test]
fn a_put_in_time_ends_the_time_out() {
    scenario(|| {
        let semaphore = Semaphore::new(0);
        let got = Shared::new((99, 99));
        let g = got.clone();
        let waiter = Thread::spawn(at(5), move || {
            let status = semaphore.get(10);
            let slept = sleep(100);
            g.set((status, slept));
        });
        sleep(9);
        semaphore.put();
        sleep(90);
        assert_eq!(waiter.state(), TX_SLEEP, "the old time-out does not end the sleep");
        sleep(20);
        assert_eq!(got.get(), (TX_SUCCESS, TX_SUCCESS));
    });
}

#[test]
fn k23_edge_values() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let semaphore = Semaphore::new(1);
        assert_eq!(semaphore.ceiling_put(0), TX_INVALID_CEILING);
        assert_eq!(semaphore.ceiling_put(1), TX_CEILING_EXCEEDED);
        assert_eq!(semaphore.count(), 1);
        assert_eq!(semaphore.ceiling_put(2), TX_SUCCESS);
        assert_eq!(semaphore.ceiling_put(2), TX_CEILING_EXCEEDED);
        assert_eq!(semaphore.ceiling_put(1), TX_CEILING_EXCEEDED);
        assert_eq!(semaphore.count(), 2);

        let empty = Semaphore::new(0);
        waiters(&l, empty, &[5]);
        assert_eq!(empty.ceiling_put(1), TX_SUCCESS);
        assert_eq!(empty.count(), 0, "the unit went to the waiter");
        l.expect("5");

        let full = Semaphore::new(ULONG::MAX);
        assert_eq!(full.ceiling_put(ULONG::MAX), TX_CEILING_EXCEEDED);
        assert_eq!(full.put(), TX_SUCCESS);
        assert_eq!(full.count(), 0, "wraps");

        waiters(&l, full, &[5, 20, 6]);
        assert_eq!(full.delete(), TX_SUCCESS);
        sleep(1);
        l.expect("5:1 6:1 20:1");
        assert_eq!(full.put(), TX_SEMAPHORE_ERROR);
        assert_eq!(full.get(TX_NO_WAIT), TX_SEMAPHORE_ERROR);

        assert_eq!(empty.get(1), TX_NO_INSTANCE);
        check();
    });
}

#[test]
fn delete_wakes_suspended_waiters_without_running_them() {
    scenario(|| {
        let semaphore = Semaphore::new(0);
        let got = Shared::new(99);
        let g = got.clone();
        let waiter = Thread::spawn(at(5), move || g.set(semaphore.get(50)));
        waiter.suspend();
        assert_eq!(semaphore.delete(), TX_SUCCESS);
        assert_eq!((waiter.state(), got.get()), (TX_SUSPENDED, 99));
        waiter.resume();
        assert_eq!(got.get(), TX_DELETED);
        sleep(60);
        check();
    });
}

#[test]
fn prioritize_moves_the_best_waiter_and_only_it() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let semaphore = Semaphore::new(0);
        assert_eq!(semaphore.prioritize(), TX_SUCCESS, "nobody waits");
        waiters(&l, semaphore, &[9, 7, 5, 8, 5]);
        assert_eq!(semaphore.prioritize(), TX_SUCCESS);
        for _ in 0..5 {
            semaphore.put();
        }
        l.expect("5 9 7 8 5");

        waiters(&l, semaphore, &[5, 9]);
        assert_eq!(semaphore.prioritize(), TX_SUCCESS, "the first is the best");
        semaphore.put();
        semaphore.put();
        l.expect("5 9");
    });
}

#[test]
fn k20_prioritize_is_a_snapshot() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let semaphore = Semaphore::new(0);
        waiters(&l, semaphore, &[9, 8, 5, 7, 6]);
        let l2 = l.clone();
        let newcomer = Thread::spawn(at(2).suspended(), move || {
            semaphore.get(TX_WAIT_FOREVER);
            l2.push("2");
        });
        assert_eq!(semaphore.prioritize(), TX_SUCCESS);
        isr(move || {
            newcomer.resume();
        });
        assert_eq!(semaphore.info().waiting, 6);
        for _ in 0..6 {
            semaphore.put();
        }
    });
    log.expect("5 9 8 7 6 2");
}

#[test]
fn the_priority_that_counts_for_prioritize_is_the_present_one() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let semaphore = Semaphore::new(0);
        let threads = waiters(&l, semaphore, &[5, 6, 7]);
        threads[2].priority_change(4).unwrap();
        semaphore.prioritize();
        semaphore.put();
        semaphore.put();
    });
    log.expect("7 5");
}

static NOTIFIED: Mutex<Vec<(usize, ULONG, ULONG, usize)>> = Mutex::new(Vec::new());

unsafe extern "C-unwind" fn notified(semaphore: *mut TX_SEMAPHORE) {
    let info = Semaphore(semaphore).info();
    NOTIFIED.lock().unwrap().push((semaphore as usize, info.count, info.waiting, identify().0 as usize));
}

#[test]
fn the_put_notification_comes_after_the_put_and_before_the_waiter() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        NOTIFIED.lock().unwrap().clear();
        let take = || std::mem::take(&mut *NOTIFIED.lock().unwrap());
        let me = identify().0 as usize;
        let semaphore = Semaphore::new(0);
        let it = semaphore.0 as usize;
        assert_eq!(semaphore.put_notify(Some(notified)), TX_SUCCESS);
        semaphore.put();
        assert_eq!(take(), [(it, 1, 0, me)]);
        semaphore.ceiling_put(2);
        assert_eq!(take(), [(it, 2, 0, me)]);
        assert_eq!(semaphore.ceiling_put(2), TX_CEILING_EXCEEDED);
        assert_eq!(take(), [], "nothing was put");
        semaphore.get(TX_NO_WAIT);
        semaphore.get(TX_NO_WAIT);

        let l2 = l.clone();
        let waiter = Thread::spawn(at(5), move || {
            semaphore.get(TX_WAIT_FOREVER);
            l2.push(format!("notified{}", NOTIFIED.lock().unwrap().len()));
        });
        semaphore.put();
        l.expect("notified1");
        assert_eq!(take(), [(it, 0, 0, me)]);
        assert_eq!(waiter.state(), TX_COMPLETED);

        isr(move || {
            semaphore.put();
        });
        assert_eq!(take(), [(it, 1, 0, me)], "in the interrupt's context");
        assert_eq!(semaphore.put_notify(None), TX_SUCCESS);
        semaphore.put();
        assert_eq!(take(), []);
        check();
    });
}

#[test]
fn a_waiter_readied_by_an_interrupts_put_runs_at_its_end() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        for notify in [None, Some(notified as SemaphoreNotify)] {
            let semaphore = Semaphore::new(0);
            semaphore.put_notify(notify);
            waiters(&l, semaphore, &[5]);
            let l2 = l.clone();
            isr(move || {
                semaphore.put();
                l2.push("interrupt");
            });
            l.push("main");
        }
        check();
    });
    log.expect("interrupt 5 main interrupt 5 main");
}

#[test]
fn an_interrupts_put_with_notification_leaves_the_ready_list_in_order() {
    let log = Log::new();
    let l = log.clone();
    scenario(move || {
        let semaphore = Semaphore::new(0);
        semaphore.put_notify(Some(notified));
        let l2 = l.clone();
        Thread::spawn(at(16), move || {
            semaphore.get(TX_WAIT_FOREVER);
            l2.push("equal");
        });
        relinquish();
        isr(move || {
            semaphore.put();
        });
        check();
        l.push("main");
        relinquish();
    });
    log.expect("main equal");
}

#[test]
fn info_tells_name_count_and_neighbours() {
    scenario(|| {
        let name = leak_name("units");
        let a = Semaphore::blank();
        assert_eq!(service!(_txe_semaphore_create(a.0, name, 7, SEMAPHORE_SIZE)), TX_SUCCESS);
        let info = a.info();
        assert_eq!((info.name.as_deref(), info.count, info.waiting), (Some("units"), 7, 0));
        assert_eq!((info.first, info.next), (NOBODY, a));
        let b = Semaphore::new(0);
        let c = Semaphore::new(0);
        assert_eq!((a.info().next, b.info().next, c.info().next), (b, c, a));
        b.delete();
        assert_eq!((a.info().next, c.info().next), (c, a));
        let n = null_mut();
        let status = service!(_txe_semaphore_info_get(a.0, n, null_mut(), null_mut(), null_mut(), null_mut()));
        assert_eq!(status, TX_SUCCESS, "all skipped");
    });
}
