//! What the kernel counts: the performance services, on a kernel that was built with them and on one without.

use core::ptr::null_mut;

use threadx_sys::*;

use crate::objects::*;
use crate::{Failure, Outcome, interrupt, number, set_number, ticks};

/// Whether the kernel was built to count.
const COUNTING: bool = cfg!(feature = "performance-info");
/// What an output holds before.
const UNTOUCHED: ULONG = 0x5555_5555;

/// Status of a service, and what it told.
type Counts<const N: usize> = (UINT, [ULONG; N]);

/// Ends the scenario unless the service told exactly this, or, on a kernel that does not count, nothing.
fn told<const N: usize>(line: u32, what: &'static str, (status, seen): Counts<N>, expected: [ULONG; N]) -> Outcome {
    let wanted = if COUNTING { TX_SUCCESS } else { TX_FEATURE_NOT_ENABLED };
    if status != wanted {
        return Err(Failure { line, what, seen: status, expected: wanted });
    }
    for (seen, expected) in seen.into_iter().zip(expected) {
        let expected = if COUNTING { expected } else { UNTOUCHED };
        if seen != expected {
            return Err(Failure { line, what, seen, expected });
        }
    }
    Ok(())
}

macro_rules! told {
    ($seen:expr, $expected:expr) => {
        told(line!(), stringify!($seen), $seen, $expected)?
    };
}

/// What was counted between two answers.
fn since<const N: usize>(before: Counts<N>, after: Counts<N>) -> Counts<N> {
    let difference = core::array::from_fn(|n| after.1[n].wrapping_sub(before.1[n]));
    (after.0, if COUNTING { difference } else { after.1 })
}

/// Calls a service with pointers to as many outputs.
macro_rules! counts {
    ($n:literal, $service:ident($($argument:expr),*) $($at:literal)*) => {{
        let mut n = [UNTOUCHED; $n];
        // SAFETY: handles lead to static blocks, result pointers to locals that outlive the call.
        let status = unsafe { $service($($argument,)* $(&mut n[$at]),*) };
        (status, n)
    }};
}

/// Functions that tell the counts of an object, and those of all of its class.
macro_rules! counts_of {
    ($one:ident, $all:ident, $n:literal: $service:ident($object:expr), $all_service:ident; $($at:literal)*) => {
        fn $one() -> Counts<$n> {
            counts!($n, $service($object) $($at)*)
        }

        fn $all() -> Counts<$n> {
            counts!($n, $all_service() $($at)*)
        }
    };
}

/// The status of a service about what does not exist.
fn refused(status: UINT) -> UINT {
    if COUNTING && status == TX_PTR_ERROR || !COUNTING && status == TX_FEATURE_NOT_ENABLED { 0 } else { status }
}

counts_of! { of_semaphore, of_semaphores, 4: tx_semaphore_performance_info_get(S.ptr()), tx_semaphore_performance_system_info_get; 0 1 2 3 }

pub(crate) fn counts_of_a_semaphore() -> Outcome {
    is!(refused(of_semaphore().0), 0u32);
    S.create(1);
    let before = of_semaphores();
    told!(of_semaphore(), [0, 0, 0, 0]);
    is!(S.get(NONE), TX_SUCCESS);
    is!(S.get(NONE), TX_NO_INSTANCE);
    T1.create(10, || ignore(S.get(FOREVER)));
    T2.create(10, || ignore(S.get(1)));
    is!(sleep(3), TX_SUCCESS);
    is!(S.put(), TX_SUCCESS);
    is!(T1.state(), TX_COMPLETED);
    is!(S.ceiling_put(1), TX_SUCCESS);
    is!(S.ceiling_put(1), TX_CEILING_EXCEEDED);
    // Puts, gets, suspensions, timeouts.
    told!(of_semaphore(), [3, 4, 2, 1]);
    // Nobody has to want everything.
    let none = null_mut();
    // SAFETY: a static block; null results are skipped.
    let status = unsafe { tx_semaphore_performance_info_get(S.ptr(), none, none, none, none) };
    is!(status, if COUNTING { TX_SUCCESS } else { TX_FEATURE_NOT_ENABLED });
    // What is deleted remains part of the sum; one that is created again begins at zero.
    S.delete();
    told!(since(before, of_semaphores()), [3, 4, 2, 1]);
    is!(refused(of_semaphore().0), 0u32);
    S.create(0);
    told!(of_semaphore(), [0, 0, 0, 0]);
    Ok(())
}

counts_of! { of_mutex, of_mutexes, 6: tx_mutex_performance_info_get(M.ptr()), tx_mutex_performance_system_info_get; 0 1 2 3 4 5 }

pub(crate) fn counts_of_a_mutex() -> Outcome {
    is!(refused(of_mutex().0), 0u32);
    M.create(TX_INHERIT);
    let before = of_mutexes();
    is!(M.get(NONE), TX_SUCCESS);
    is!(M.get(NONE), TX_SUCCESS);
    T1.create(10, || ignore(M.get(NONE)));
    told!(of_mutex(), [0, 3, 0, 0, 0, 0]);
    // Higher than the owner: an inversion, and a raise. The second one finds the owner raised.
    T1.terminate();
    T1.delete();
    T1.create(10, || {
        M.get(FOREVER);
        M.put();
    });
    told!(of_mutex(), [0, 4, 1, 0, 1, 1]);
    told!(of_thread(T1, 4), [1]);
    T2.create(12, || ignore(M.get(1)));
    is!(sleep(3), TX_SUCCESS);
    told!(of_mutex(), [0, 5, 2, 1, 1, 1]);
    is!(M.put(), TX_SUCCESS);
    is!(M.put(), TX_SUCCESS);
    is!(M.put(), TX_NOT_OWNED);
    is!(T1.state(), TX_COMPLETED);
    told!(of_mutex(), [4, 5, 2, 1, 1, 1]);
    // A thread that ends gives back what it has.
    T3.create(10, || ignore(M.get(NONE)));
    is!(T3.state(), TX_COMPLETED);
    told!(of_mutex(), [5, 6, 2, 1, 1, 1]);
    told!(since(before, of_mutexes()), [5, 6, 2, 1, 1, 1]);
    M.delete();
    // Without inheritance there is the inversion only.
    M.create(TX_NO_INHERIT);
    is!(M.get(NONE), TX_SUCCESS);
    T1.terminate();
    T1.delete();
    T1.create(10, || ignore(M.get(FOREVER)));
    told!(of_mutex(), [0, 2, 1, 0, 1, 0]);
    Ok(())
}

counts_of! { of_group, of_groups, 4: tx_event_flags_performance_info_get(E.ptr()), tx_event_flags_performance_system_info_get; 0 1 2 3 }

pub(crate) fn counts_of_an_event_flags_group() -> Outcome {
    is!(refused(of_group().0), 0u32);
    E.create();
    let before = of_groups();
    is!(E.set(0b11, TX_OR), TX_SUCCESS);
    is!(E.get(0b01, TX_OR_CLEAR, NONE).0, TX_SUCCESS);
    is!(E.get(0b01, TX_OR_CLEAR, NONE).0, TX_NO_EVENTS);
    is!(E.set(0, TX_AND), TX_SUCCESS);
    told!(of_group(), [2, 2, 0, 0]);
    T1.create(10, || ignore(E.get(0b100, TX_OR, FOREVER)));
    T2.create(10, || ignore(E.get(0b1000, TX_AND, 1)));
    is!(sleep(3), TX_SUCCESS);
    is!(E.set(0b100, TX_OR), TX_SUCCESS);
    is!(T1.state(), TX_COMPLETED);
    told!(of_group(), [3, 4, 2, 1]);
    told!(since(before, of_groups()), [3, 4, 2, 1]);
    Ok(())
}

counts_of! { of_queue, of_queues, 6: tx_queue_performance_info_get(Q.ptr()), tx_queue_performance_system_info_get; 0 1 2 3 4 5 }

pub(crate) fn counts_of_a_queue() -> Outcome {
    is!(refused(of_queue().0), 0u32);
    Q.create(1, 8);
    let before = of_queues();
    is!(Q.receive_word(NONE), 0x8000_0000 | TX_QUEUE_EMPTY);
    is!(Q.send_word(1, NONE), TX_SUCCESS);
    is!(Q.front_send_word(2, NONE), TX_SUCCESS);
    is!(Q.send_word(3, NONE), TX_QUEUE_FULL);
    // Sent, received, empty suspensions, full suspensions, full errors, timeouts.
    told!(of_queue(), [3, 1, 0, 0, 1, 0]);
    // What the code of upstream's kernel leaves out: a front send that finds the queue full, with and without a wait.
    is!(Q.front_send_word(3, NONE), TX_QUEUE_FULL);
    T1.create(10, || ignore(Q.front_send_word(4, FOREVER)));
    told!(of_queue(), [5, 1, 0, 0, 1, 0]);
    T2.create(10, || ignore(Q.send_word(5, FOREVER)));
    T3.create(10, || ignore(Q.send_word(6, 1)));
    is!(sleep(3), TX_SUCCESS);
    told!(of_queue(), [7, 1, 0, 2, 1, 1]);
    for word in [4, 2, 1, 5] {
        is!(Q.receive_word(NONE), word as u32);
    }
    T3.terminate();
    T3.delete();
    T3.create(10, || ignore(Q.receive_word(FOREVER)));
    is!(Q.send_word(7, NONE), TX_SUCCESS);
    is!(T3.state(), TX_COMPLETED);
    told!(of_queue(), [8, 6, 1, 2, 1, 1]);
    told!(since(before, of_queues()), [8, 6, 1, 2, 1, 1]);
    Ok(())
}

counts_of! { of_blocks, of_all_blocks, 4: tx_block_pool_performance_info_get(B.ptr()), tx_block_pool_performance_system_info_get; 0 1 2 3 }

counts_of! { of_bytes, of_all_bytes, 7: tx_byte_pool_performance_info_get(Y.ptr()), tx_byte_pool_performance_system_info_get; 0 1 2 3 4 5 6 }

pub(crate) fn counts_of_pools() -> Outcome {
    is!(refused(of_blocks().0), 0u32);
    is!(refused(of_bytes().0), 0u32);
    let before = of_all_blocks();
    let pointer = size_of::<usize>() as ULONG;
    B.create(pointer, 2 * pointer);
    let (status, block) = B.allocate(NONE);
    is!(status, TX_SUCCESS);
    is!(B.allocate(NONE).0, TX_NO_MEMORY);
    T1.create(10, || ignore(B.allocate(FOREVER)));
    T2.create(10, || ignore(B.allocate(1)));
    is!(sleep(3), TX_SUCCESS);
    is!(block_release(block), TX_SUCCESS);
    is!(T1.state(), TX_COMPLETED);
    // Allocations, releases, suspensions, timeouts.
    told!(of_blocks(), [4, 1, 2, 1]);
    told!(since(before, of_all_blocks()), [4, 1, 2, 1]);

    let before = of_all_bytes();
    Y.create(1024);
    let pieces = [Y.allocate(96, NONE).1, Y.allocate(96, NONE).1, Y.allocate(96, NONE).1];
    // Allocations, releases, fragments looked at, merges, splits, suspensions, timeouts. Every search ends at once.
    told!(of_bytes(), [3, 0, 3, 0, 3, 0, 0]);
    for piece in pieces {
        is!(byte_release(piece), TX_SUCCESS);
    }
    is!(byte_release(pieces[0]), TX_PTR_ERROR);
    told!(of_bytes(), [3, 3, 3, 0, 3, 0, 0]);
    // The first is too small, and so it is merged with the second, and again with the third and the rest.
    is!(Y.allocate(400, NONE).0, TX_SUCCESS);
    told!(of_bytes(), [4, 3, 7, 3, 4, 0, 0]);
    is!(Y.allocate(900, NONE).0, TX_NO_MEMORY);
    T1.terminate();
    T1.delete();
    T1.create(10, || ignore(Y.allocate(900, 1)));
    is!(sleep(3), TX_SUCCESS);
    told!(of_bytes(), [6, 3, 7, 3, 4, 1, 1]);
    told!(since(before, of_all_bytes()), [6, 3, 7, 3, 4, 1, 1]);

    // Two free fragments, none of them large enough, with others between them.
    T1.terminate();
    Y.delete();
    Y.create(1024);
    let pieces = [Y.allocate(96, NONE).1, Y.allocate(96, NONE).1, Y.allocate(96, NONE).1];
    let rest = Y.info().1 - 2 * pointer;
    is!(Y.allocate(rest, NONE).0, TX_SUCCESS);
    is!(byte_release(pieces[0]), TX_SUCCESS);
    is!(byte_release(pieces[2]), TX_SUCCESS);
    let before = of_bytes();
    is!(Y.allocate(160, NONE).0, TX_NO_MEMORY);
    let (_, searched) = since(before, of_bytes());
    if COUNTING {
        differs!(searched[2], FRAGMENTS_OF_A_SEARCH_IN_VAIN);
    }
    Ok(())
}

const R: Timer = Timer(0);

counts_of! { of_timer, of_timers, 5: tx_timer_performance_info_get(R.ptr()), tx_timer_performance_system_info_get; 0 1 2 3 4 }

pub(crate) fn counts_of_a_timer() -> Outcome {
    is!(refused(of_timer().0), 0u32);
    let before = of_timers();
    R.create(2, 3, TX_AUTO_ACTIVATE, || {});
    ticks(9);
    // Activations, reactivations, deactivations, expirations (at 2, 5 and 8), adjustments.
    told!(of_timer(), [1, 3, 0, 3, 0]);
    is!(R.activate(), TX_ACTIVATE_ERROR);
    is!(R.deactivate(), TX_SUCCESS);
    is!(R.deactivate(), TX_SUCCESS);
    told!(of_timer(), [1, 3, 2, 3, 0]);
    // Longer than the timer list: looked at in between.
    is!(R.change(70, 0), TX_SUCCESS);
    is!(R.activate(), TX_SUCCESS);
    ticks(72);
    told!(of_timer(), [2, 3, 2, 4, 2]);
    // Adjustments of whoever waits elsewhere for long are in the sum as well.
    let (status, [a, r, d, e, _]) = since(before, of_timers());
    told!((status, [a, r, d, e]), [2, 3, 2, 4]);
    Ok(())
}

/// One of the counts about a thread, in the order of the service.
fn of_thread(thread: Thread, at: usize) -> Counts<1> {
    let (status, n, _) = of_any_thread(thread.ptr());
    (status, [n[at]])
}

fn of_any_thread(thread: *mut TX_THREAD) -> (UINT, [ULONG; 9], *mut TX_THREAD) {
    let mut by = null_mut();
    let mut n = [UNTOUCHED; 9];
    let [n0, n1, n2, n3, n4, n5, n6, n7, n8] = &mut n;
    // SAFETY: a static block, result pointers to locals that outlive the call.
    let status = unsafe { tx_thread_performance_info_get(thread, n0, n1, n2, n3, n4, n5, n6, n7, n8, &mut by) };
    (status, n, by)
}

fn mine() -> Counts<9> {
    let (status, n, _) = of_any_thread(me());
    (status, n)
}

fn of_threads() -> Counts<11> {
    counts!(11, tx_thread_performance_system_info_get() 0 1 2 3 4 5 6 7 8 9 10)
}

fn relinquish_three_times() {
    (0..3).for_each(|_| relinquish());
}

/// Whether the thread was last preempted by this one, where that is told.
fn preempted_by(thread: *mut TX_THREAD, other: Thread) -> u32 {
    let (_, _, by) = of_any_thread(thread);
    u32::from(if COUNTING { by == other.ptr() } else { by.is_null() })
}

pub(crate) fn counts_of_threads() -> Outcome {
    is!(refused(of_any_thread(T1.ptr()).0), 0u32);
    // Resumptions, suspensions, solicited and interrupt preemptions, inversions, time-slices, relinquishes, timeouts,
    // wait aborts.
    let before = mine();
    T1.create(10, || {});
    told!(since(before, mine()), [0, 0, 1, 0, 0, 0, 0, 0, 0]);
    is!(preempted_by(me(), T1), 1u32);
    // Made ready, and suspended at its end.
    told!(of_thread(T1, 0), [1]);
    told!(of_thread(T1, 1), [1]);

    T2.create_suspended(9, || {});
    told!(of_thread(T2, 1), [0]);
    interrupt(|| ignore(T2.resume()));
    told!(since(before, mine()), [0, 0, 1, 1, 0, 0, 0, 0, 0]);
    is!(preempted_by(me(), T2), 1u32);

    is!(sleep(2), TX_SUCCESS);
    told!(since(before, mine()), [1, 1, 1, 1, 0, 0, 0, 0, 0]);
    S.create(0);
    is!(S.get(1), TX_NO_INSTANCE);
    told!(since(before, mine()), [2, 2, 1, 1, 0, 0, 0, 1, 0]);

    // A wait that is aborted, and an explicit suspension.
    T3.create(20, || ignore(S.get(FOREVER)));
    is!(sleep(1), TX_SUCCESS);
    is!(T3.wait_abort(), TX_SUCCESS);
    is!(T3.suspend(), TX_SUCCESS);
    is!(T3.resume(), TX_SUCCESS);
    let (_, n, by) = of_any_thread(T3.ptr());
    if COUNTING {
        is!(n[0], 3u32);
        is!(n[1], 2u32);
        is!(n[8], 1u32);
        is!(n[7], 0u32);
        is!(u32::from(by.is_null()), 1u32);
    }
    T3.terminate();
    // Ready as it was, it is suspended by its end.
    told!(of_thread(T3, 1), [3]);
    T3.delete();
    Ok(())
}

pub(crate) fn counts_of_relinquishes_and_time_slices() -> Outcome {
    let (before, all) = (mine(), of_threads());
    // With nobody to relinquish to there is nothing to count.
    relinquish_three_times();
    told!(since(before, mine()), [0; 9]);
    T1.create(16, relinquish_three_times);
    relinquish_three_times();
    told!(of_thread(T1, 6), [3]);
    relinquish();
    is!(T1.state(), TX_COMPLETED);
    relinquish();
    told!(since(before, mine()), [0, 0, 0, 0, 0, 0, 4, 0, 0]);
    let after = since(all, of_threads());
    // Seven relinquishes, whose returns found a thread each, and the one at the end of T1.
    told!((after.0, [after.1[0], after.1[1], after.1[6], after.1[9], after.1[10]]), [1, 1, 7, 8, 0]);

    // Neither a reset nor the end of a thread takes anything from what is told.
    is!(T1.reset(), TX_SUCCESS);
    told!(of_thread(T1, 6), [3]);
    is!(T1.resume(), TX_SUCCESS);
    (0..4).for_each(|_| relinquish());
    told!(of_thread(T1, 6), [6]);
    T1.delete();
    let after = since(all, of_threads());
    told!((after.0, [after.1[6]]), [14]);

    // One time-slice of two that comes to its end.
    T2.create_with(16, 16, 2, TX_DONT_START, || {
        while number(0) == 0 {
            ticks(1);
        }
    });
    let before = of_threads();
    is!(T2.resume(), TX_SUCCESS);
    relinquish();
    set_number(0, 1);
    relinquish();
    is!(T2.state(), TX_COMPLETED);
    told!(of_thread(T2, 5), [1]);
    let after = since(before, of_threads());
    told!((after.0, [after.1[5]]), [1]);
    Ok(())
}

pub(crate) fn counts_of_idle_returns() -> Outcome {
    let before = of_threads();
    is!(sleep(1), TX_SUCCESS);
    let after = since(before, of_threads());
    // The sleeper leaves the processor to nobody, the timer thread to the sleeper; both are suspended and resumed.
    told!((after.0, [after.1[0], after.1[1], after.1[9], after.1[10]]), [2, 2, 1, 1]);
    Ok(())
}

pub(crate) fn counts_of_delayed_suspensions_and_ends() -> Outcome {
    S.create(0);
    T1.create(10, || ignore(S.get(FOREVER)));
    // Made ready once, and suspended by the wait. A suspension that has to wait for that is no second one.
    is!(T1.suspend(), TX_SUCCESS);
    is!(S.put(), TX_SUCCESS);
    is!(T1.state(), TX_SUSPENDED);
    told!(of_thread(T1, 0), [1]);
    told!(of_thread(T1, 1), [1]);
    is!(T1.resume(), TX_SUCCESS);
    is!(T1.state(), TX_COMPLETED);
    told!(of_thread(T1, 0), [2]);
    told!(of_thread(T1, 1), [2]);
    // The end of a thread that waits is no suspension.
    T2.create(10, || ignore(S.get(FOREVER)));
    is!(T2.terminate(), TX_SUCCESS);
    told!(of_thread(T2, 1), [1]);
    told!(of_semaphore(), [1, 2, 2, 0]);
    Ok(())
}

pub(crate) fn counts_of_priority_changes() -> Outcome {
    let before = mine();
    T1.create_suspended(20, || {});
    is!(T1.priority_change(21).0, TX_SUCCESS);
    told!(of_thread(T1, 0), [0]);
    told!(of_thread(T1, 1), [0]);
    // A ready thread is taken from its list and put into another.
    is!(T1.resume(), TX_SUCCESS);
    is!(T1.priority_change(20).0, TX_SUCCESS);
    told!(of_thread(T1, 0), [2]);
    told!(of_thread(T1, 1), [1]);
    told!(since(before, mine()), [0; 9]);
    is!(T1.priority_change(10).0, TX_SUCCESS);
    is!(T1.state(), TX_COMPLETED);
    told!(since(before, mine()), [0, 0, 1, 0, 0, 0, 0, 0, 0]);
    is!(preempted_by(me(), T1), 1u32);
    // A threshold that no longer holds a thread off.
    is!(set_threshold(5), 16u32);
    T2.create(10, || {});
    is!(T2.state(), TX_READY);
    told!(since(before, mine()), [0, 0, 1, 0, 0, 0, 0, 0, 0]);
    is!(set_threshold(16), 5u32);
    is!(T2.state(), TX_COMPLETED);
    told!(since(before, mine()), [0, 0, 2, 0, 0, 0, 0, 0, 0]);
    // An owner that is raised by a waiter, and lowered again.
    M.create(TX_INHERIT);
    is!(M.get(NONE), TX_SUCCESS);
    T3.create(10, || {
        M.get(FOREVER);
        M.put();
    });
    is!(M.put(), TX_SUCCESS);
    is!(T3.state(), TX_COMPLETED);
    let (_, [resumptions, suspensions, ..]) = since(before, mine());
    if COUNTING {
        is!(resumptions, 2u32);
        is!(suspensions, 2u32);
    }
    Ok(())
}

pub(crate) fn counts_of_preemptions() -> Outcome {
    // Two that one call makes ready, the lower one first.
    E.create();
    T1.create(10, || ignore(E.get(1, TX_OR, FOREVER)));
    T2.create(9, || ignore(E.get(1, TX_OR, FOREVER)));
    let before = mine();
    is!(E.set(1, TX_OR), TX_SUCCESS);
    told!(since(before, mine()), [0, 0, 1, 0, 0, 0, 0, 0, 0]);
    if COUNTING {
        differs!(of_thread(T1, 2).1[0], PREEMPTIONS_OF_A_THREAD_THAT_DID_NOT_RUN);
    }
    for thread in [T1, T2] {
        thread.delete();
    }
    // The same by an interrupt.
    T1.create_suspended(10, || {});
    T2.create_suspended(9, || {});
    interrupt(|| {
        ignore(T1.resume());
        ignore(T2.resume());
    });
    told!(since(before, mine()), [0, 0, 1, 1, 0, 0, 0, 0, 0]);
    if COUNTING {
        differs!(of_thread(T1, 3).1[0], PREEMPTIONS_OF_A_THREAD_THAT_DID_NOT_RUN);
    }
    // A thread that lowers itself.
    T3.create(20, || {
        let (_, n, _) = of_any_thread(me());
        let mut old = 0;
        // SAFETY: the calling thread, and a local that outlives the call.
        unsafe { tx_thread_priority_change(me(), 22, &mut old) };
        let (_, after, _) = of_any_thread(me());
        set_number(1, after[2].wrapping_sub(n[2]));
    });
    T1.terminate();
    T1.delete();
    T1.create(21, || {});
    is!(sleep(1), TX_SUCCESS);
    is!(T3.state(), TX_COMPLETED);
    if COUNTING {
        differs!(number(1), PREEMPTIONS_OF_A_THREAD_THAT_LOWERED_ITSELF);
    }
    Ok(())
}
