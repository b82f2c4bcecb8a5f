//! Event flags: requests, sets with interrupts in between, and every code of their services.

mod common;
use common::*;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// A thread that waits for flags and logs "name:status:flags".
fn getter(log: &Log, name: &'static str, options: Options, group: EventFlags, flags: ULONG, option: UINT) -> Thread {
    let log = log.clone();
    Thread::spawn(options, move || {
        let (status, actual) = group.get(flags, option, TX_WAIT_FOREVER);
        log.push(format!("{name}:{status:x}:{actual:x}"));
    })
}

// ---- codes -------------------------------------------------------------------------------------

#[test]
fn create_refuses_what_is_wrong_in_the_documented_order() {
    scenario(|| {
        let create = |block, size| service!(_txe_event_flags_create(block, null_mut(), size));
        let block = EventFlags::blank();
        assert_eq!(create(null_mut(), EventFlags::SIZE), TX_GROUP_ERROR);
        assert_eq!(create(block.0, EventFlags::SIZE + 4), TX_GROUP_ERROR);
        isr(move || assert_eq!(block.create(), TX_CALLER_ERROR));
        assert_eq!(create(block.0, EventFlags::SIZE), TX_SUCCESS);
        assert_eq!(create(block.0, EventFlags::SIZE), TX_GROUP_ERROR);
        isr(move || assert_eq!(block.create(), TX_GROUP_ERROR));
        assert_eq!(block.flags(), 0);
        assert_eq!(block.delete(), TX_SUCCESS);
        assert_eq!(create(block.0, EventFlags::SIZE), TX_SUCCESS);
    });
}

#[test]
fn services_refuse_what_is_no_group() {
    scenario(|| {
        let deleted = EventFlags::new(1);
        assert_eq!(deleted.delete(), TX_SUCCESS);
        for group in [EventFlags(null_mut()), EventFlags::blank(), deleted] {
            assert_eq!(group.get(1, TX_OR, TX_NO_WAIT), (TX_GROUP_ERROR, 0x55));
            assert_eq!(group.set(1, TX_OR), TX_GROUP_ERROR);
            assert_eq!(group.set_notify(None), TX_GROUP_ERROR);
            assert_eq!(group.delete(), TX_GROUP_ERROR);
            let status = service!(_txe_event_flags_info_get(
                group.0,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut()
            ));
            assert_eq!(status, TX_GROUP_ERROR);
        }
    });
}

#[test]
fn contexts_and_pointers_are_checked() {
    scenario(|| {
        let group = EventFlags::new(1);
        let g = group.0 as usize;
        assert_eq!(service!(_txe_event_flags_get(g as *mut _, 1, TX_OR, null_mut(), TX_NO_WAIT)), TX_PTR_ERROR);
        let calls = Shared::new(0);
        let c = calls.clone();
        let from_isr_or_timer = move || {
            assert_eq!(group.get(2, TX_OR, 1).0, TX_WAIT_ERROR);
            assert_eq!(group.get(2, TX_OR, TX_WAIT_FOREVER).0, TX_WAIT_ERROR);
            assert_eq!(group.get(2, TX_OR, TX_NO_WAIT), (TX_NO_EVENTS, 1));
            assert_eq!(group.get(1, TX_OR, TX_NO_WAIT), (TX_SUCCESS, 1));
            assert_eq!(group.set(1, TX_OR), TX_SUCCESS);
            assert_eq!(group.set_notify(None), TX_SUCCESS);
            assert_eq!(group.delete(), TX_CALLER_ERROR);
            assert_eq!(group.flags(), 1);
            c.set(c.get() + 1);
        };
        let again = from_isr_or_timer.clone();
        isr(from_isr_or_timer);
        Timer::start(1, 0, again);
        sleep(1);
        assert_eq!(calls.get(), 2);
    });
    let ran = Shared::new(false);
    let r = ran.clone();
    run(move || {
        let group = EventFlags::new(3);
        assert_eq!(group.get(1, TX_OR, 1).0, TX_WAIT_ERROR);
        assert_eq!(group.get(1, TX_OR_CLEAR, TX_NO_WAIT), (TX_SUCCESS, 3));
        assert_eq!(group.delete(), TX_CALLER_ERROR);
        r.set(true);
    });
    assert!(ran.get());
}

/// K04.
#[test]
fn k04_the_output_is_the_whole_group_on_every_return() {
    scenario(|| {
        let group = EventFlags::new(0x0F);
        assert_eq!(group.get(0x13, TX_AND, TX_NO_WAIT), (TX_NO_EVENTS, 0xF));
        assert_eq!(group.get(0x13, TX_OR_CLEAR, TX_NO_WAIT), (TX_SUCCESS, 0xF));
        assert_eq!(group.flags(), 0x0C);
        let log = Log::new();
        getter(&log, "waiter", at(10), group, 0x10, TX_OR);
        assert_eq!(group.set(0x4, TX_AND), TX_SUCCESS);
        assert_eq!(group.flags(), 0x4);
        log.expect("");
        let start = now();
        assert_eq!(group.get(0x10, TX_AND, 3), (TX_NO_EVENTS, 0x4));
        assert_eq!(now(), start + 3);
        assert_eq!(group.get(0, TX_OR, TX_WAIT_FOREVER), (TX_NO_EVENTS, 0x4));
        assert_eq!(group.get(0, TX_AND, TX_WAIT_FOREVER), (TX_NO_EVENTS, 0x4));
        assert_eq!(now(), start + 3);
        assert_eq!(group.get(1, 9, TX_NO_WAIT).0, TX_OPTION_ERROR);
        assert_eq!(group.get(1, 4, TX_NO_WAIT).0, TX_OPTION_ERROR);
        for option in [TX_OR_CLEAR, TX_AND_CLEAR, 4] {
            assert_eq!(group.set(0, option), TX_OPTION_ERROR);
        }
        assert_eq!(group.flags(), 0x4);
    });
}

// ---- requests ----------------------------------------------------------------------------------

#[test]
fn and_wants_all_or_wants_any_and_clear_takes_the_requested() {
    scenario(|| {
        for (option, requested, status, left) in [
            (TX_AND, 0b011, TX_SUCCESS, 0b111),
            (TX_AND, 0b1011, TX_NO_EVENTS, 0b111),
            (TX_OR, 0b1001, TX_SUCCESS, 0b111),
            (TX_OR, 0b1000, TX_NO_EVENTS, 0b111),
            (TX_AND_CLEAR, 0b011, TX_SUCCESS, 0b100),
            (TX_AND_CLEAR, 0b1011, TX_NO_EVENTS, 0b111),
            (TX_OR_CLEAR, 0b1001, TX_SUCCESS, 0b110),
            (TX_OR_CLEAR, 0b1000, TX_NO_EVENTS, 0b111),
            (TX_AND_CLEAR, 0x8000_0000, TX_NO_EVENTS, 0b111),
        ] {
            let group = EventFlags::new(0b111);
            assert_eq!(group.get(requested, option, TX_NO_WAIT), (status, 0b111), "option {option}, {requested:b}");
            assert_eq!(group.flags(), left, "option {option}, {requested:b}");
        }
        let group = EventFlags::new(0x8000_0000);
        assert_eq!(group.get(u32::MAX, TX_OR_CLEAR, TX_NO_WAIT), (TX_SUCCESS, 0x8000_0000));
        assert_eq!(group.flags(), 0);
    });
}

#[test]
fn a_set_resumes_every_waiter_that_it_satisfies_judged_by_the_same_flags() {
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0x100);
        getter(&log, "or", at(10), group, 0b01, TX_OR_CLEAR);
        getter(&log, "and", at(9), group, 0b11, TX_AND_CLEAR);
        getter(&log, "other", at(8), group, 0b1000, TX_OR);
        getter(&log, "or2", at(7), group, 0b01, TX_OR_CLEAR);
        assert_eq!(group.info().waiting, 4);
        check();
        group.set(0b10, TX_OR);
        log.expect("");
        group.set(0b01, TX_OR);
        // All of them see the flags of the set, and run by priority.
        log.expect("or2:0:103 and:0:103 or:0:103");
        assert_eq!((group.flags(), group.info().waiting), (0x100, 1));
        check();
        group.set(0b1000, TX_OR);
        log.expect("other:0:108");
        assert_eq!(group.flags(), 0x108);
    });
}

#[test]
fn a_set_with_and_clears_what_is_not_named_and_wakes_nobody() {
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0xF0);
        getter(&log, "waiter", at(10), group, 0x1F0, TX_AND);
        assert_eq!(group.set(0x1F0, TX_AND), TX_SUCCESS);
        assert_eq!(group.flags(), 0xF0);
        assert_eq!(group.set(0x30, TX_AND), TX_SUCCESS);
        assert_eq!(group.flags(), 0x30);
        log.expect("");
        check();
    });
}

#[test]
fn a_wait_ends_by_time_abort_and_delete_with_its_own_code_and_the_flags_of_the_call() {
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0x10);
        let l = log.clone();
        let timed = Thread::spawn(at(10), move || l.push(format!("{:x?}", group.get(1, TX_OR, 2))));
        let aborted = getter(&log, "aborted", at(11), group, 1, TX_AND);
        getter(&log, "deleted", at(12), group, 2, TX_AND);
        getter(&log, "deleted9", at(9), group, 2, TX_AND);
        assert_eq!((timed.state(), group.info().first), (TX_EVENT_FLAG, timed));
        assert_eq!(timed.info().next_suspended, aborted.0);
        group.set(0x20, TX_OR);
        sleep(2);
        log.expect("(7, 10)");
        aborted.wait_abort();
        log.expect("aborted:1a:10");
        assert_eq!(group.delete(), TX_SUCCESS);
        log.expect("deleted9:1:10 deleted:1:10");
        check();
    });
}

#[test]
fn terminating_a_waiter_takes_it_out() {
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0);
        let ended = getter(&log, "ended", at(10), group, 1, TX_OR);
        getter(&log, "stays", at(10), group, 1, TX_OR_CLEAR);
        ended.terminate();
        check();
        group.set(1, TX_OR);
        log.expect("stays:0:1");
        assert_eq!(group.flags(), 0);
    });
}

#[test]
fn a_suspended_waiter_gets_its_flags_and_stays_suspended() {
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0);
        let waiter = getter(&log, "w", at(10), group, 1, TX_OR_CLEAR);
        waiter.suspend();
        group.set(3, TX_OR);
        assert_eq!((waiter.state(), group.flags()), (TX_SUSPENDED, 2));
        waiter.resume();
        log.expect("w:0:3");
    });
}

#[test]
fn info_skips_null_pointers_and_tells_name_and_next() {
    scenario(|| {
        let (a, b) = (EventFlags::blank(), EventFlags::blank());
        assert_eq!(a.create_named("first"), TX_SUCCESS);
        assert_eq!(b.create_named("second"), TX_SUCCESS);
        assert_eq!(b.info().name.as_deref(), Some("second"));
        assert_eq!((a.info().next, b.info().next), (b, a));
        let status =
            service!(_txe_event_flags_info_get(a.0, null_mut(), null_mut(), null_mut(), null_mut(), null_mut()));
        assert_eq!(status, TX_SUCCESS);
    });
}

// ---- notification ------------------------------------------------------------------------------

#[test]
fn the_notification_comes_after_an_or_set_in_the_setters_context_and_before_the_waiter_runs() {
    static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
    unsafe extern "C-unwind" fn notify(group: *mut TX_EVENT_FLAGS_GROUP) {
        let group = EventFlags(group);
        let info = group.info();
        LOG.lock().unwrap().push(format!("{:x}/{}", info.flags, info.waiting));
    }
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0);
        let waiter = getter(&log, "w", at(10), group, 1, TX_OR_CLEAR);
        group.set_notify(Some(notify));
        group.set(2, TX_OR);
        group.set(2, TX_AND);
        group.set(5, TX_OR);
        log.expect("w:0:7");
        assert_eq!(waiter.state(), TX_COMPLETED);
        isr(move || assert_eq!(group.set(8, TX_OR), TX_SUCCESS));
        group.set_notify(None);
        group.set(16, TX_OR);
        assert_eq!(*LOG.lock().unwrap(), ["2/1", "6/0", "e/0"]);
        check();
    });
}

// ---- interrupts during the review of the waiters -----------------------------------------------

/// Interrupt handlers to run at the next points at which the kernel lets interrupts in.
static AT_POINT: Mutex<Vec<Option<Handler>>> = Mutex::new(Vec::new());

type Handler = Box<dyn FnOnce() + Send>;

fn at_point() {
    let next = {
        let mut queue = AT_POINT.lock().unwrap();
        if queue.is_empty() { None } else { queue.remove(0) }
    };
    if let Some(handler) = next {
        host::interrupt(handler);
    }
}

/// Runs `set`; at the `n`-th unmasking in it, counted from 0, `handler` runs as an interrupt.
fn set_with_interrupt(n: usize, handler: impl FnOnce() + Send + 'static, set: impl FnOnce()) {
    {
        let mut queue = AT_POINT.lock().unwrap();
        queue.clear();
        queue.resize_with(n, || None);
        queue.push(Some(Box::new(handler)));
    }
    host::set_interrupt_point(Some(at_point));
    set();
    host::set_interrupt_point(None);
    assert!(AT_POINT.lock().unwrap().is_empty(), "the interrupt point was not reached");
}

/// The tests with interrupt points share `AT_POINT`.
static ONE: Mutex<()> = Mutex::new(());

#[test]
fn a_clear_by_an_interrupt_during_the_review_is_carried_out_after_it() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0);
        getter(&log, "a", at(10), group, 1, TX_OR);
        getter(&log, "b", at(11), group, 3, TX_AND);
        let seen = Shared::new((0, 0));
        let s = seen.clone();
        set_with_interrupt(
            0,
            move || {
                group.set(!2, TX_AND);
                s.set(group.get(2, TX_OR, TX_NO_WAIT));
            },
            || assert_eq!(group.set(3, TX_OR), TX_SUCCESS),
        );
        // b is satisfied by the flags of the set; for everybody else flag 2 is gone already.
        log.expect("a:0:3 b:0:3");
        assert_eq!((seen.get(), group.flags()), ((TX_NO_EVENTS, 1), 1));
        check();
    });
}

#[test]
fn a_clearing_get_by_an_interrupt_during_the_review_is_carried_out_after_it() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0);
        getter(&log, "a", at(10), group, 1, TX_OR);
        getter(&log, "b", at(11), group, 2, TX_OR);
        let seen = Shared::new(((0, 0), (0, 0)));
        let s = seen.clone();
        set_with_interrupt(
            0,
            move || s.set((group.get(2, TX_OR_CLEAR, TX_NO_WAIT), group.get(2, TX_OR_CLEAR, TX_NO_WAIT))),
            || assert_eq!(group.set(7, TX_OR), TX_SUCCESS),
        );
        log.expect("a:0:7 b:0:7");
        assert_eq!(seen.get(), ((TX_SUCCESS, 7), (TX_NO_EVENTS, 5)));
        assert_eq!(group.flags(), 5);
        check();
    });
}

#[test]
fn a_set_by_an_interrupt_during_the_review_reaches_those_looked_at_already() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0);
        getter(&log, "a", at(10), group, 0x10, TX_OR_CLEAR);
        getter(&log, "b", at(11), group, 0x01, TX_OR_CLEAR);
        getter(&log, "c", at(12), group, 0x20, TX_OR_CLEAR);
        set_with_interrupt(
            1,
            move || {
                group.set(!0x20, TX_AND);
                group.set(0x30, TX_OR);
            },
            || assert_eq!(group.set(0x01, TX_OR), TX_SUCCESS),
        );
        log.expect("a:0:31 b:0:1 c:0:31");
        assert_eq!((group.flags(), group.info().waiting), (0, 0));
        check();
    });
}

#[test]
fn a_wait_aborted_by_an_interrupt_during_the_review_disturbs_nobody() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    for victim in 0..4 {
        scenario(move || {
            let log = Log::new();
            let group = EventFlags::new(0);
            let waiters = [
                getter(&log, "a", at(10), group, 1, TX_OR),
                getter(&log, "b", at(11), group, 2, TX_OR),
                getter(&log, "c", at(12), group, 1, TX_OR),
                getter(&log, "d", at(13), group, 2, TX_OR),
            ];
            let expected = match victim {
                // Satisfied already when the interrupt comes.
                0 => "a:0:1 c:0:1",
                1 => "a:0:1 b:1a:0 c:0:1",
                2 => "a:0:1 c:1a:0",
                _ => "a:0:1 c:0:1 d:1a:0",
            };
            set_with_interrupt(
                0,
                move || {
                    let status = waiters[victim].wait_abort();
                    assert_eq!(status, if victim == 0 { TX_WAIT_ABORT_ERROR } else { TX_SUCCESS });
                },
                || assert_eq!(group.set(1, TX_OR), TX_SUCCESS),
            );
            log.expect(expected);
            check();
            group.set(2, TX_OR);
            check();
            assert_eq!(group.info().waiting, 0);
        });
    }
}

/// K02.
#[test]
fn k02_a_thread_that_an_interrupt_resumed_during_the_review_runs_before_the_setter_goes_on() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    static ISSUED: AtomicU32 = AtomicU32::new(0);
    static RUNS: AtomicU32 = AtomicU32::new(0);
    static HIGH: Mutex<Option<Thread>> = Mutex::new(None);
    static SEED: AtomicU32 = AtomicU32::new(1);
    fn point() {
        // About every third point; a linear congruence is random enough to hit each of them.
        let seed = SEED.load(Ordering::Relaxed).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        SEED.store(seed, Ordering::Relaxed);
        if seed >> 30 == 0 {
            host::interrupt(|| {
                let high = *HIGH.lock().unwrap();
                if let Some(high) = high
                    && high.resume() == TX_SUCCESS
                {
                    ISSUED.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    }
    scenario(|| {
        let log = Log::new();
        let group = EventFlags::new(0);
        getter(&log, "1", at(10), group, 1, TX_OR);
        getter(&log, "2", at(10), group, 2, TX_OR);
        getter(&log, "3", at(10), group, 8, TX_OR);
        *HIGH.lock().unwrap() = Some(Thread::spawn(at(5), || {
            loop {
                identify().suspend();
                RUNS.fetch_add(1, Ordering::Relaxed);
            }
        }));
        for _ in 0..1000 {
            host::set_interrupt_point(Some(point));
            group.set(4, TX_OR);
            host::set_interrupt_point(None);
            assert_eq!(ISSUED.load(Ordering::Relaxed), RUNS.load(Ordering::Relaxed));
        }
        assert!(ISSUED.load(Ordering::Relaxed) > 100);
        log.expect("");
        *HIGH.lock().unwrap() = None;
    });
}
