//! Who may call what: every service from initialization, a thread, a timer callback and an interrupt handler.
//!
//! Field reports: K17, K21 (mutexes in interrupts), K24, B12.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use threadx_sys::*;

use crate::objects::*;
use crate::{Failure, Outcome, differences, interrupt, log, number, set_number};

const I: u8 = 1;
const T: u8 = 2;
const M: u8 = 4;
const R: u8 = 8;
const ALL: u8 = I | T | M | R;
/// Contexts in which a call of the table is made; a thread would wait.
const NOT_T: u8 = I | M | R;

/// A call and what it returns, by context.
struct Call {
    what: &'static str,
    /// Where it is made.
    made: u8,
    /// Where it is allowed.
    allowed: u8,
    /// What it returns elsewhere.
    refused: UINT,
    /// What it returns where it is allowed.
    result: UINT,
    call: fn() -> UINT,
}

const fn call(what: &'static str, allowed: u8, call: fn() -> UINT) -> Call {
    Call { what, made: ALL, allowed, refused: TX_CALLER_ERROR, result: TX_SUCCESS, call }
}

const fn result(result: UINT, call: Call) -> Call {
    Call { result, ..call }
}

/// With a wait option, where nothing is to be had.
const fn waits(what: &'static str, refused: UINT, call: fn() -> UINT) -> Call {
    Call { what, made: NOT_T, allowed: T, refused, result: TX_SUCCESS, call }
}

/// Ready, of a low priority, and suspended.
const READY: Thread = Thread(5);
const SUSPENDED: Thread = Thread(6);
const NEW: Thread = Thread(7);
const X: Mutex = Mutex(0);
const TIMER: Timer = Timer(0);

fn prepare() {
    READY.create(28, || ());
    SUSPENDED.create_suspended(29, || ());
    S.create(1);
    X.create(TX_INHERIT);
    E.create();
    Q.create(1, 4);
    B.create(16, 24);
    Y.create(1024);
    TIMER.create(500, 0, TX_AUTO_ACTIVATE, || ());
}

/// In this order; each leaves things as the next one expects them, wherever it is refused.
static CALLS: [Call; 86] = [
    call("tx_thread_create", I | T, || NEW.create_suspended(31, || ())),
    call("tx_timer_create", I | T, || Timer(1).create(500, 0, TX_AUTO_ACTIVATE, || ())),
    call("tx_semaphore_create", I | T, || Semaphore(1).create(0)),
    call("tx_mutex_create", I | T, || Mutex(1).create(TX_INHERIT)),
    call("tx_event_flags_create", I | T, || Events(1).create()),
    call("tx_queue_create", I | T, || Queue(1).create(1, 64)),
    call("tx_block_pool_create", I | T, || Blocks(1).create(16, 24)),
    call("tx_byte_pool_create", I | T, || Bytes(2).create(1024)),
    // Semaphores.
    call("tx_semaphore_get", ALL, || S.get(TX_NO_WAIT)),
    result(TX_NO_INSTANCE, call("tx_semaphore_get of nothing", ALL, || S.get(TX_NO_WAIT))),
    waits("tx_semaphore_get with a wait", TX_WAIT_ERROR, || S.get(1)),
    waits("tx_semaphore_get for ever", TX_WAIT_ERROR, || S.get(TX_WAIT_FOREVER)),
    call("tx_semaphore_put", ALL, || S.put()),
    waits("tx_semaphore_get with a wait that is not needed", TX_WAIT_ERROR, || S.get(1)),
    call("tx_semaphore_ceiling_put", ALL, || S.ceiling_put(5)),
    result(TX_CEILING_EXCEEDED, call("tx_semaphore_ceiling_put at the ceiling", ALL, || S.ceiling_put(1))),
    call("tx_semaphore_prioritize", ALL, || S.prioritize()),
    call("tx_semaphore_put_notify", ALL, || S.notify(None)),
    call("tx_semaphore_info_get", ALL, || S.info().0),
    call("tx_semaphore_delete", T, || S.delete()),
    // Mutexes.
    result(TX_NOT_OWNED, call("tx_mutex_put of a free one", I | T | M, || X.put())),
    call("tx_mutex_get", I | T | M, || X.get(TX_NO_WAIT)),
    call("tx_mutex_get again", I | T | M, || X.get(TX_NO_WAIT)),
    Call { what: "tx_mutex_get with a wait", made: I | M, ..waits("", TX_WAIT_ERROR, || X.get(1)) },
    Call { what: "tx_mutex_get with a wait in an interrupt", made: R, ..waits("", TX_CALLER_ERROR, || X.get(1)) },
    call("tx_mutex_put", I | T | M, || X.put()),
    call("tx_mutex_put, the second", I | T | M, || X.put()),
    call("tx_mutex_prioritize", ALL, || X.prioritize()),
    call("tx_mutex_info_get", ALL, || X.info().0),
    call("tx_mutex_delete", T, || X.delete()),
    // Event flags.
    call("tx_event_flags_set", ALL, || E.set(3, TX_OR)),
    call("tx_event_flags_get", ALL, || E.get(1, TX_AND_CLEAR, TX_NO_WAIT).0),
    result(TX_NO_EVENTS, call("tx_event_flags_get of others", ALL, || E.get(1, TX_OR, TX_NO_WAIT).0)),
    waits("tx_event_flags_get with a wait", TX_WAIT_ERROR, || E.get(4, TX_OR, 1).0),
    call("tx_event_flags_set_notify", ALL, || E.notify(None)),
    call("tx_event_flags_info_get", ALL, || E.info().0),
    call("tx_event_flags_delete", T, || E.delete()),
    // Queues.
    call("tx_queue_send", ALL, || Q.send_word(1, TX_NO_WAIT)),
    result(TX_QUEUE_FULL, call("tx_queue_send to a full one", ALL, || Q.send_word(2, TX_NO_WAIT))),
    waits("tx_queue_send with a wait", TX_WAIT_ERROR, || Q.send_word(2, 1)),
    result(TX_QUEUE_FULL, call("tx_queue_front_send to a full one", ALL, || Q.front_send_word(2, TX_NO_WAIT))),
    waits("tx_queue_front_send with a wait", TX_WAIT_ERROR, || Q.front_send_word(2, 1)),
    call("tx_queue_receive", ALL, || Q.receive(TX_NO_WAIT).0),
    result(TX_QUEUE_EMPTY, call("tx_queue_receive of nothing", ALL, || Q.receive(TX_NO_WAIT).0)),
    waits("tx_queue_receive with a wait", TX_WAIT_ERROR, || Q.receive(1).0),
    call("tx_queue_front_send", ALL, || Q.front_send_word(1, TX_NO_WAIT)),
    call("tx_queue_flush", ALL, || Q.flush()),
    call("tx_queue_prioritize", ALL, || Q.prioritize()),
    call("tx_queue_send_notify", ALL, || Q.notify(None)),
    call("tx_queue_info_get", ALL, || Q.info().0),
    call("tx_queue_delete", T, || Q.delete()),
    // Block pools.
    call("tx_block_allocate and tx_block_release", ALL, || {
        let (status, piece) = B.allocate(TX_NO_WAIT);
        if status == TX_SUCCESS { block_release(piece) } else { status }
    }),
    waits("tx_block_allocate with a wait", TX_WAIT_ERROR, || B.allocate(1).0),
    call("tx_block_pool_prioritize", ALL, || B.prioritize()),
    call("tx_block_pool_info_get", ALL, || B.info().0),
    call("tx_block_pool_delete", T, || B.delete()),
    // Byte pools.
    call("tx_byte_allocate and tx_byte_release", I | T, || {
        let (status, piece) = Y.allocate(64, TX_NO_WAIT);
        if status == TX_SUCCESS { byte_release(piece) } else { status }
    }),
    Call { what: "tx_byte_allocate with a wait", made: I | R, ..waits("", TX_WAIT_ERROR, || Y.allocate(64, 1).0) },
    Call {
        what: "tx_byte_allocate with a wait in a callback",
        made: M,
        ..waits("", TX_CALLER_ERROR, || Y.allocate(64, 1).0)
    },
    call("tx_byte_pool_prioritize", ALL, || Y.prioritize()),
    call("tx_byte_pool_info_get", ALL, || Y.info().0),
    call("tx_byte_pool_delete", T, || Y.delete()),
    // Threads.
    call("tx_thread_entry_exit_notify", ALL, || READY.notify(None)),
    call("tx_thread_info_get", ALL, || if READY.state() == TX_READY { TX_SUCCESS } else { 99 }),
    call("tx_thread_resume", ALL, || SUSPENDED.resume()),
    result(TX_RESUME_ERROR, call("tx_thread_resume of a ready one", ALL, || READY.resume())),
    call("tx_thread_suspend", ALL, || SUSPENDED.suspend()),
    call("tx_thread_suspend of a suspended one", ALL, || SUSPENDED.suspend()),
    result(TX_WAIT_ABORT_ERROR, call("tx_thread_wait_abort of a ready one", ALL, || READY.wait_abort())),
    call("tx_thread_priority_change", T | M, || READY.priority_change(27).0),
    call("tx_thread_preemption_change", T | M, || READY.preemption_change(26).0),
    call("tx_thread_time_slice_change", T | M, || READY.time_slice_change(5).0),
    result(TX_NOT_DONE, call("tx_thread_reset of a ready one", T, || READY.reset())),
    result(TX_DELETE_ERROR, call("tx_thread_delete of a ready one", T | M, || READY.delete())),
    call("tx_thread_terminate", T | M, || READY.terminate()),
    call("tx_thread_delete", T | M, || READY.delete()),
    call("tx_thread_sleep of no tick", T, || sleep(0)),
    waits("tx_thread_sleep", TX_CALLER_ERROR, || sleep(1)),
    call("tx_thread_relinquish", ALL, || {
        relinquish();
        TX_SUCCESS
    }),
    call("tx_time_set and tx_time_get", ALL, || {
        let time = now();
        set_now(time + 5);
        let moved = now();
        set_now(moved - 5);
        if moved == time + 5 { TX_SUCCESS } else { 99 }
    }),
    // Timers.
    call("tx_timer_info_get", ALL, || TIMER.info_status()),
    call("tx_timer_deactivate", ALL, || TIMER.deactivate()),
    call("tx_timer_change", T | M | R, || TIMER.change(300, 0)),
    call("tx_timer_activate", ALL, || TIMER.activate()),
    result(TX_ACTIVATE_ERROR, call("tx_timer_activate of an active one", ALL, || TIMER.activate())),
    call("tx_timer_delete", T, || TIMER.delete()),
];

/// What the calls of the last context returned; initialization's, until it is looked at.
static SEEN: [AtomicU32; CALLS.len()] = [const { AtomicU32::new(NOT_MADE) }; CALLS.len()];
const NOT_MADE: u32 = 0xFFFF;

fn make_calls(context: u8) {
    for (call, seen) in CALLS.iter().zip(&SEEN) {
        seen.store(if call.made & context != 0 { (call.call)() } else { NOT_MADE }, Relaxed);
    }
}

fn compare(context: u8) -> Outcome {
    for (call, seen) in CALLS.iter().zip(&SEEN) {
        let expected = match call.made & context {
            0 => NOT_MADE,
            _ if call.allowed & context != 0 => call.result,
            _ => call.refused,
        };
        let seen = seen.swap(NOT_MADE, Relaxed);
        let listed = match (call.what, context) {
            ("tx_timer_change", I) => Some(&differences::TIMER_CHANGE_IN_INITIALIZATION),
            ("tx_mutex_get with a wait in an interrupt", R) => Some(&differences::MUTEX_WAIT_IN_AN_INTERRUPT),
            _ => None,
        };
        if listed.is_some_and(|listed| listed.here().contains(&seen)) {
            continue;
        }
        if seen != expected {
            return Err(Failure { line: u32::from(context), what: call.what, seen, expected });
        }
    }
    Ok(())
}

/// Called in initialization, before there is any object: makes the calls, whose results [`k17_in_initialization`]
/// judges, and leaves a mutex behind that nobody can put.
pub fn initialization() {
    IN_INITIALIZATION.store(u32::from(me().is_null()), Relaxed);
    prepare();
    make_calls(I);
    KEPT.forget();
    let kept = [KEPT.create(TX_INHERIT), KEPT.get(NONE), KEPT.get(NONE), KEPT.put()];
    KEPT_IN_INITIALIZATION.store(u32::from(kept == [TX_SUCCESS; 4]), Relaxed);
    crate::safe::initialization();
}

static KEPT_IN_INITIALIZATION: AtomicU32 = AtomicU32::new(99);

/// The mutex that initialization kept has no owner whose priority could be compared with.
pub(crate) fn k24_a_mutex_of_initialization_crashes_nobody() -> Outcome {
    is!(KEPT_IN_INITIALIZATION.load(Relaxed), 1u32);
    is!(KEPT.info() == (TX_SUCCESS, 1, core::ptr::null_mut(), 0), true);
    is!(KEPT.get(NONE), TX_NOT_AVAILABLE);
    is!(KEPT.put(), TX_NOT_OWNED);
    if differences::WAIT_FOR_A_MUTEX_OF_INITIALIZATION.is_tried_here() {
        differs!(KEPT.get(2), WAIT_FOR_A_MUTEX_OF_INITIALIZATION);
        T1.create(5, || log(KEPT.get(FOREVER)));
        is!(KEPT.info().3, 1u32);
        is!(KEPT.prioritize(), TX_SUCCESS);
        is!(T1.wait_abort(), TX_SUCCESS);
        log_is!(TX_WAIT_ABORTED);
    }
    is!(KEPT.delete(), TX_SUCCESS);
    Ok(())
}

static IN_INITIALIZATION: AtomicU32 = AtomicU32::new(99);

/// What [`initialization`] saw. Must be the first scenario of an image: the next one's calls overwrite it.
pub(crate) fn k17_in_initialization() -> Outcome {
    is!(IN_INITIALIZATION.load(Relaxed), 1u32);
    compare(I)
}

pub(crate) fn k17_in_a_thread() -> Outcome {
    prepare();
    make_calls(T);
    compare(T)
}

pub(crate) fn k17_in_a_timer_callback() -> Outcome {
    prepare();
    set_number(0, 0);
    is!(
        Timer(2).create(1, 0, TX_AUTO_ACTIVATE, || {
            make_calls(M);
            set_number(0, 1 + my_info().priority);
        }),
        TX_SUCCESS
    );
    // The caller keeps the processor, so that the ready thread stays ready.
    crate::ticks(2);
    is!(number(0), 1u32);
    compare(M)
}

pub(crate) fn k17_in_an_interrupt() -> Outcome {
    prepare();
    let interrupted = me();
    set_number(0, 0);
    interrupt(|| {
        make_calls(R);
        let ready = my_info().state == TX_READY;
        set_number(0, 1 + u32::from(ready));
    });
    is!(number(0), 2u32);
    is!(me() == interrupted, true);
    compare(R)
}

/// K21: an owner's mutex in an interrupt, and the nesting afterwards.
pub(crate) fn k21_an_interrupt_gets_no_mutex() -> Outcome {
    X.create(TX_INHERIT);
    is!(X.get(TX_WAIT_FOREVER), TX_SUCCESS);
    for _ in 0..100 {
        set_number(0, 0);
        interrupt(|| {
            let refused = X.get(TX_NO_WAIT) == TX_CALLER_ERROR && X.put() == TX_CALLER_ERROR;
            let listed = differences::MUTEX_WAIT_IN_AN_INTERRUPT.here();
            let waits_refused = [X.get(5), X.get(TX_WAIT_FOREVER)].iter().all(|code| listed.contains(code));
            set_number(0, u32::from(refused && waits_refused));
        });
        is!(number(0), 1u32);
    }
    is!(X.info().1, 1u32);
    // A thread's context.
    is!(sleep(1), TX_SUCCESS);
    is!(X.put(), TX_SUCCESS);
    Ok(())
}
