//! Who may call what: initialization, threads, timer callbacks, interrupts.

mod common;
use common::*;
use std::ptr::null_mut;

/// Objects for the calls of [`calls`], made new for each context.
struct Objects {
    /// Ready, below the main thread.
    ready: Thread,
    suspended: Thread,
    over: Thread,
    semaphore: Semaphore,
    timer: Timer,
}

impl Objects {
    /// For initialization, threads, and for others by a thread.
    fn new() -> Self {
        let in_initialization = identify() == NOBODY;
        let over = if in_initialization {
            // Nothing has run yet and terminate is not allowed here: unchecked.
            let over = Thread::spawn(at(30).suspended(), || {});
            assert_eq!(service!(_tx_thread_terminate(over.0)), TX_SUCCESS);
            over
        } else {
            Thread::spawn(at(5), || {})
        };
        Self {
            ready: Thread::spawn(at(28), || {}),
            suspended: Thread::spawn(at(29).suspended(), || {}),
            over,
            semaphore: Semaphore::new(1),
            timer: Timer::start(500, 0, || {}),
        }
    }
}

const I: u8 = 1;
const T: u8 = 2;
const M: u8 = 4;
const R: u8 = 8;
const ALL: u8 = I | T | M | R;

/// Makes every call that depends on the context (`me`) and compares with the table in the User Guide:
/// where it is not allowed, the error named, else the given result.
fn calls(me: u8, o: &Objects) {
    let check = |name: &str, allowed: u8, refused: UINT, allowed_result: UINT, got: UINT| {
        let expected = if allowed & me != 0 { allowed_result } else { refused };
        assert_eq!(got, expected, "{name} in context {me}");
    };
    let code = |r: Result<u32, u32>| r.map_or_else(|e| e, |_| TX_SUCCESS);
    let caller = TX_CALLER_ERROR;

    check("thread create", I | T, caller, 0, Thread::new().create(at(31).suspended(), || {}));
    check("timer create", I | T, caller, 0, Timer::new().create(500, 0, TX_AUTO_ACTIVATE, || {}));
    check("semaphore create", I | T, caller, 0, Semaphore::blank().create(0));

    check("semaphore get, no wait", ALL, caller, 0, o.semaphore.get(TX_NO_WAIT));
    check("empty semaphore get, no wait", ALL, caller, TX_NO_INSTANCE, o.semaphore.get(TX_NO_WAIT));
    check("empty semaphore get, wait", T, TX_WAIT_ERROR, TX_NO_INSTANCE, {
        if me == T {
            identify().preemption_change(0).unwrap();
        }
        let status = o.semaphore.get(1);
        if me == T {
            identify().preemption_change(16).unwrap();
        }
        status
    });
    check("semaphore put", ALL, caller, 0, o.semaphore.put());
    check("full semaphore get, wait", T, TX_WAIT_ERROR, 0, o.semaphore.get(TX_WAIT_FOREVER));
    check("semaphore ceiling put", ALL, caller, 0, o.semaphore.ceiling_put(5));
    check("semaphore prioritize", ALL, caller, 0, o.semaphore.prioritize());
    check("semaphore notify", ALL, caller, 0, o.semaphore.put_notify(None));
    check("semaphore info", ALL, caller, 0, {
        let n = null_mut();
        service!(_txe_semaphore_info_get(o.semaphore.0, n, null_mut(), null_mut(), null_mut(), null_mut()))
    });
    check("semaphore delete", T, caller, 0, o.semaphore.delete());

    check("thread notify", ALL, caller, 0, o.ready.entry_exit_notify(None));
    check("thread info", ALL, caller, 0, {
        let n = null_mut();
        let m = null_mut();
        service!(_txe_thread_info_get(
            o.ready.0,
            n,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            m,
            null_mut(),
        ))
    });
    check("thread resume", ALL, caller, 0, o.suspended.resume());
    check("thread suspend", ALL, caller, 0, o.suspended.suspend());
    check("thread wait abort", ALL, caller, TX_WAIT_ABORT_ERROR, o.ready.wait_abort());
    check("thread priority change", T | M, caller, 0, code(o.ready.priority_change(27)));
    check("thread preemption change", T | M, caller, 0, code(o.ready.preemption_change(26)));
    check("thread time-slice change", T | M, caller, 0, code(o.ready.time_slice_change(5)));
    check("thread terminate", T | M, caller, 0, o.ready.terminate());
    check("thread reset", T, caller, 0, o.over.reset());
    check("thread delete", T | M, caller, if me == T { TX_DELETE_ERROR } else { 0 }, o.over.delete());
    check("thread sleep 0", T, caller, 0, sleep(0));
    check("thread sleep", T, caller, 0, if me == T { TX_SUCCESS } else { sleep(1) });
    relinquish();

    check("timer info", ALL, caller, 0, {
        let n = null_mut();
        service!(_txe_timer_info_get(o.timer.0, n, null_mut(), null_mut(), null_mut(), null_mut()))
    });
    check("timer deactivate", ALL, caller, 0, o.timer.deactivate());
    check("timer change", ALL, caller, 0, o.timer.change(300, 0));
    check("timer activate", ALL, caller, 0, o.timer.activate());
    check("timer delete", T, caller, 0, o.timer.delete());

    set_now(now());
    common::check();
}

#[test]
fn k17_in_initialization() {
    run(|| {
        assert_eq!(identify(), NOBODY);
        calls(I, &Objects::new());
        assert_eq!(identify(), NOBODY);
    });
}

#[test]
fn k17_in_a_thread() {
    scenario(|| {
        calls(T, &Objects::new());
        assert_eq!(sleep(1), TX_SUCCESS);
    });
}

#[test]
fn k17_in_a_timer_callback() {
    scenario(|| {
        let objects = Objects::new();
        let called = Shared::new(false);
        let c = called.clone();
        Timer::start(1, 0, move || {
            calls(M, &objects);
            assert_eq!(identify().info().priority, 0);
            assert_eq!(interrupt_control(TX_INT_DISABLE), TX_INT_ENABLE);
            assert_eq!(interrupt_control(TX_INT_ENABLE), TX_INT_DISABLE);
            c.set(true);
        });
        ticks(1);
        assert!(called.get());
    });
}

#[test]
fn k17_in_an_interrupt() {
    scenario(|| {
        let objects = Objects::new();
        let me = identify();
        let called = Shared::new(false);
        let c = called.clone();
        isr(move || {
            calls(R, &objects);
            assert_eq!(identify(), me);
            assert_eq!(me.suspend(), TX_SUSPEND_ERROR);
            c.set(true);
        });
        assert!(called.get());
    });
}

#[test]
fn k17_in_an_interrupt_of_the_idle_loop() {
    let called = Shared::new(false);
    let c = called.clone();
    scenario(move || {
        let objects = Objects::new();
        objects.ready.suspend();
        let c = c.clone();
        // The interrupt is raised masked, and comes when the sleep has reached the idle loop.
        interrupt_control(TX_INT_DISABLE);
        isr(move || {
            assert_eq!(identify(), NOBODY);
            calls(R, &objects);
            c.set(true);
        });
        sleep(1);
        interrupt_control(TX_INT_ENABLE);
    });
    assert!(called.get());
}

#[test]
fn k21_the_interrupt_nesting_is_balanced() {
    scenario(|| {
        let me = identify();
        for _ in 0..1000 {
            isr(|| host::allow_nesting(|| isr(|| host::allow_nesting(|| isr(|| {})))));
            assert_eq!(identify(), me);
        }
        assert_eq!(sleep(1), TX_SUCCESS, "this is a thread's context");
    });
}
