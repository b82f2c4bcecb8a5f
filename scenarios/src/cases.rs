//! The scenarios. Numbers in comments are those of the field reports' tests.

use threadx_sys::*;

use crate::objects::*;
use crate::{LOG, Outcome, add_to_number, alarm, interrupt, log, number, set_number, ticks};

pub(crate) use crate::contexts::{
    k17_in_a_thread, k17_in_a_timer_callback, k17_in_an_interrupt, k17_in_initialization,
    k21_an_interrupt_gets_no_mutex, k24_a_mutex_of_initialization_crashes_nobody,
};
pub(crate) use crate::performance::{
    counts_of_a_mutex, counts_of_a_queue, counts_of_a_semaphore, counts_of_a_timer, counts_of_an_event_flags_group,
    counts_of_delayed_suspensions_and_ends, counts_of_idle_returns, counts_of_pools, counts_of_preemptions,
    counts_of_priority_changes, counts_of_relinquishes_and_time_slices, counts_of_threads,
};

pub(crate) use crate::safe::{
    b02_cells_stay_where_they_were_created, b02_objects_stay_where_they_were_created, b04_a_forgotten_guard,
    b05_messages_keep_to_their_size, b06_notifications_know_their_object, b06_notifications_of_queues_groups_and_ends,
    b07_names_outlive_their_creators, b07_references_to_threads_that_are_gone, b08_all_memory_comes_back,
    b08_sizes_and_contexts_of_pools, b09_readied_by_an_interrupt, b10_one_thread_at_a_time, b11_a_terminated_owner,
    b12_handles_outside_threads, b12_in_a_thread, b12_in_initialization, b12_in_interrupts_and_callbacks,
    b13_durations_of_waits, b13_durations_to_ticks, b14_wakes_are_neither_lost_nor_crossed,
    k12_damaged_pointers_into_the_stack, k12_fill_bytes_in_live_data,
};

/// Calls `$callback!` with the name of every scenario; the first must run first.
#[macro_export]
macro_rules! for_each_scenario {
    ($callback:ident) => {
        $callback! {
            k17_in_initialization k17_in_a_thread k17_in_a_timer_callback k17_in_an_interrupt
            k21_an_interrupt_gets_no_mutex k24_a_mutex_of_initialization_crashes_nobody
            create_refuses_bad_threads states_of_a_thread completion_reset_and_deletion termination
            k22_the_smaller_number_runs_first k22_thresholds k22_relinquish_under_a_threshold
            nested_thresholds_form_a_stack relinquish_in_order priority_change threshold_change time_slices
            k05_sleep_after_a_failed_wait k06_suspension_of_a_waiting_thread sleep_lengths entry_and_exit_notification
            k12_a_stack_at_an_odd_address an_interrupt_readies_a_higher_thread an_interrupt_suspends_whom_it_interrupted
            interrupt_postures_belong_to_threads
            k23_semaphore_edges semaphore_waiters_in_order k20_prioritize_is_a_snapshot semaphore_notification
            semaphore_misuse
            mutex_ownership mutex_waits_end k20_order_of_mutex_waiters inheritance k10_priority_change_while_raised
            an_ending_owner_gives_its_mutexes_back mutex_misuse
            k02_resumed_during_a_set k04_event_flags_output event_requests one_set_wakes_all_it_satisfies event_misuse
            k15_message_sizes k15_messages_are_copied_whole k16_front_sends_and_blocked_senders
            queue_hand_over queue_misuse
            block_pool k14_double_release k13_byte_pool_fragments k20_byte_pool_waiters pool_misuse
            k18_1_timers_due_together k18_2_timers_before_sleepers k18_3_one_shots k18_4_deactivation
            k18_5_no_ticks k18_6_info_in_the_callback k18_7_deletion timer_misuse the_clock_can_be_set
            counts_of_a_semaphore counts_of_a_mutex counts_of_an_event_flags_group counts_of_a_queue counts_of_pools
            counts_of_a_timer counts_of_threads counts_of_relinquishes_and_time_slices counts_of_idle_returns
            counts_of_delayed_suspensions_and_ends counts_of_priority_changes counts_of_preemptions
            k12_fill_bytes_in_live_data k12_damaged_pointers_into_the_stack
            b02_objects_stay_where_they_were_created b02_cells_stay_where_they_were_created b04_a_forgotten_guard
            b05_messages_keep_to_their_size
            b06_notifications_know_their_object b06_notifications_of_queues_groups_and_ends
            b07_names_outlive_their_creators b07_references_to_threads_that_are_gone
            b08_all_memory_comes_back b08_sizes_and_contexts_of_pools b09_readied_by_an_interrupt
            b10_one_thread_at_a_time b11_a_terminated_owner
            b12_in_initialization b12_in_a_thread b12_in_interrupts_and_callbacks
            b12_handles_outside_threads
            b13_durations_to_ticks b13_durations_of_waits b14_wakes_are_neither_lost_nor_crossed
        }
    };
}

macro_rules! run {
    ($($name:ident)*) => {
        /// Names and scenarios, the one that must be first first.
        pub const ALL: &[(&str, fn() -> Outcome)] = &[$((stringify!($name), $name)),*];
    };
}
for_each_scenario!(run);

// ---- threads -----------------------------------------------------------------------------------

fn create_refuses_bad_threads() -> Outcome {
    let (entry, stack) = A.parts();
    let create =
        |entry, stack, size, priority, threshold, start| A.create_on(entry, stack, size, priority, threshold, 0, start);
    is!(create(entry, stack, TX_MINIMUM_STACK - 1, 10, 10, 0), TX_SIZE_ERROR);
    is!(create(entry, core::ptr::null_mut(), STACK, 10, 10, 0), TX_PTR_ERROR);
    is!(create(None, stack, STACK, 10, 10, 0), TX_PTR_ERROR);
    is!(create(entry, stack, STACK, TX_MAX_PRIORITIES, 10, 0), TX_PRIORITY_ERROR);
    is!(create(entry, stack, STACK, 10, 11, 0), TX_THRESH_ERROR);
    is!(create(entry, stack, STACK, 10, 10, 2), TX_START_ERROR);
    is!(create(entry, stack, STACK, 20, 20, 0), TX_SUCCESS);
    // The same block; the same stack, and one that begins inside it, for another thread.
    is!(create(entry, stack, STACK, 20, 20, 0), TX_THREAD_ERROR);
    is!(T1.create_on(entry, stack, STACK, 20, 20, 0, 0), TX_PTR_ERROR);
    let inside = stack.cast::<u8>().wrapping_add(STACK as usize - 8).cast();
    is!(T1.create_on(entry, inside, STACK, 20, 20, 0, 0), TX_PTR_ERROR);
    // A thread that does not exist.
    is!(T1.resume(), TX_THREAD_ERROR);
    is!(T1.suspend(), TX_THREAD_ERROR);
    is!(T1.terminate(), TX_THREAD_ERROR);
    is!(T1.delete(), TX_THREAD_ERROR);
    is!(T1.reset(), TX_THREAD_ERROR);
    is!(T1.wait_abort(), TX_THREAD_ERROR);
    is!(T1.priority_change(3).0, TX_THREAD_ERROR);
    is!(T1.preemption_change(3).0, TX_THREAD_ERROR);
    is!(T1.time_slice_change(3).0, TX_THREAD_ERROR);
    is!(T1.notify(None), TX_THREAD_ERROR);
    // The block of one that was deleted.
    is!(A.terminate(), TX_SUCCESS);
    is!(A.delete(), TX_SUCCESS);
    is!(A.delete(), TX_THREAD_ERROR);
    is!(A.resume(), TX_THREAD_ERROR);
    Ok(())
}

fn states_of_a_thread() -> Outcome {
    S.create(0);
    M.create(TX_NO_INHERIT);
    E.create();
    Q.create(1, 4);
    B.create(16, 24);
    Y.create(1024);
    is!(M.get(NONE), TX_SUCCESS);
    is!(B.allocate(NONE).0, TX_SUCCESS);
    let (_, all) = Y.allocate(900, NONE);
    is!(A.create_suspended(10, || ()), TX_SUCCESS);
    is!(A.state(), TX_SUSPENDED);
    A.terminate();
    A.delete();
    A.create(20, || ());
    is!(A.state(), TX_READY);
    A.terminate();
    is!(A.state(), TX_TERMINATED);
    A.delete();
    A.create(10, || ());
    is!(A.state(), TX_COMPLETED);
    A.delete();
    let waiting: [(fn(), UINT); 7] = [
        (|| ignore(sleep(FOREVER)), TX_SLEEP),
        (|| ignore(S.get(FOREVER)), TX_SEMAPHORE_SUSP),
        (|| ignore(M.get(FOREVER)), TX_MUTEX_SUSP),
        (|| ignore(E.get(1, TX_OR, FOREVER)), TX_EVENT_FLAG),
        (|| ignore(Q.receive(FOREVER)), TX_QUEUE_SUSP),
        (|| ignore(B.allocate(FOREVER)), TX_BLOCK_MEMORY),
        (|| ignore(Y.allocate(500, FOREVER)), TX_BYTE_MEMORY),
    ];
    for (script, state) in waiting {
        A.create(10, script);
        is!(A.state(), state);
        is!(A.wait_abort(), TX_SUCCESS);
        is!(A.state(), TX_COMPLETED);
        A.delete();
    }
    is!(byte_release(all), TX_SUCCESS);
    Ok(())
}

fn completion_reset_and_deletion() -> Outcome {
    is!(A.create(10, || log(1)), TX_SUCCESS);
    log_is!(1);
    is!(A.resume(), TX_RESUME_ERROR);
    is!(A.suspend(), TX_SUSPEND_ERROR);
    is!(A.wait_abort(), TX_WAIT_ABORT_ERROR);
    is!(A.terminate(), TX_SUCCESS);
    is!(A.state(), TX_COMPLETED);
    is!(A.reset(), TX_SUCCESS);
    is!(A.state(), TX_SUSPENDED);
    is!(A.reset(), TX_NOT_DONE);
    is!(A.delete(), TX_DELETE_ERROR);
    is!(A.resume(), TX_SUCCESS);
    log_is!(1);
    is!(A.priority_change(20).0, TX_SUCCESS);
    // The priority of a reset thread is the one it has now.
    is!(A.reset(), TX_SUCCESS);
    is!(A.info().priority, 20u32);
    is!(A.resume(), TX_SUCCESS);
    is!(A.state(), TX_READY);
    is!(sleep(2), TX_SUCCESS);
    log_is!(1);
    is!(A.delete(), TX_SUCCESS);
    Ok(())
}

fn termination() -> Outcome {
    S.create(0);
    A.create(10, || {
        log(1);
        S.get(FOREVER);
        log(99);
    });
    is!(S.info().2, 1u32);
    is!(A.terminate(), TX_SUCCESS);
    is!(S.info().2, 0u32);
    is!(A.terminate(), TX_SUCCESS);
    is!(A.state(), TX_TERMINATED);
    is!(A.resume(), TX_RESUME_ERROR);
    is!(A.suspend(), TX_SUSPEND_ERROR);
    is!(S.put(), TX_SUCCESS);
    is!(S.count(), 1u32);
    // By itself.
    T1.create(10, || {
        log(2);
        T1.terminate();
        log(99);
    });
    is!(T1.state(), TX_TERMINATED);
    log_is!(1, 2);
    is!(T1.reset(), TX_SUCCESS);
    is!(T1.resume(), TX_SUCCESS);
    log_is!(2);
    Ok(())
}

fn k22_the_smaller_number_runs_first() -> Outcome {
    let old = set_threshold(0);
    T1.create(12, || log(12));
    T2.create(3, || log(3));
    T3.create(15, || log(15));
    T4.create(17, || log(17));
    log_is!();
    set_threshold(old);
    log_is!(3, 12, 15);
    is!(sleep(1), TX_SUCCESS);
    log_is!(17);
    Ok(())
}

fn k22_thresholds() -> Outcome {
    T1.create_with(20, 10, 0, TX_AUTO_START, || {
        log(1);
        // Not below the threshold; below it; equal to it.
        T2.create(15, || log(15));
        T3.create(9, || log(9));
        T4.create(10, || log(10));
        log(2);
    });
    is!(sleep(1), TX_SUCCESS);
    log_is!(1, 9, 2, 10, 15);
    let (_, stack) = A.parts();
    is!(A.create_on(A.parts().0, stack, STACK, 20, 21, 0, 0), TX_THRESH_ERROR);
    Ok(())
}

fn k22_relinquish_under_a_threshold() -> Outcome {
    T1.create_with(20, 10, 0, TX_AUTO_START, || {
        T2.create(15, || log(15));
        T3.create(20, || log(20));
        log(1);
        relinquish();
        log(2);
    });
    is!(sleep(1), TX_SUCCESS);
    log_is!(1, 15, 20, 2);
    Ok(())
}

fn nested_thresholds_form_a_stack() -> Outcome {
    T1.create_with(20, 15, 0, TX_AUTO_START, || {
        T2.create(18, || log(18));
        log(1);
        // Preempts, blocks, and gives the processor back to the preempted thread, not to the one between.
        T3.create_with(14, 5, 0, TX_AUTO_START, || {
            log(2);
            T4.create(10, || log(10));
            log(3);
        });
        log(4);
    });
    is!(sleep(1), TX_SUCCESS);
    log_is!(1, 2, 3, 10, 4, 18);
    Ok(())
}

fn relinquish_in_order() -> Outcome {
    T1.create(16, || {
        log(1);
        relinquish();
        log(4);
    });
    T2.create(16, || {
        log(2);
        relinquish();
        log(5);
    });
    T3.create(17, || log(17));
    log(0);
    relinquish();
    log(3);
    relinquish();
    log_is!(0, 1, 2, 3, 4, 5);
    // Nobody else is there: it returns.
    relinquish();
    is!(sleep(0), TX_SUCCESS);
    log_is!();
    Ok(())
}

fn priority_change() -> Outcome {
    T1.create(20, || log(1));
    let (status, old) = T1.priority_change(32);
    is!(status, TX_PRIORITY_ERROR);
    let _ = old;
    is!(T1.priority_change(18).1, 20u32);
    is!(T1.info().priority, 18u32);
    is!(T1.info().threshold, 18u32);
    log_is!();
    // Above the caller: runs at once.
    is!(T1.priority_change(15).1, 18u32);
    log_is!(1);
    // The caller, made lower, goes before its new equals.
    T3.create(18, || log(18));
    is!(change_my_priority(18), 16u32);
    log(0);
    is!(change_my_priority(16), 18u32);
    log_is!(0);
    is!(sleep(1), TX_SUCCESS);
    log_is!(18);
    // Where a higher one is ready, that one runs first; who of the equals comes next is not the same everywhere.
    T2.create(17, || log(17));
    T4.create(18, || log(18));
    is!(change_my_priority(18), 16u32);
    set_number(0, u32::from(T4.state() == TX_READY));
    is!(change_my_priority(16), 18u32);
    differs!(number(0), LOWERED_BELOW_ANOTHER_THREAD);
    is!(sleep(1), TX_SUCCESS);
    log_is!(17, 18);
    Ok(())
}

/// The caller's priority; the old one.
fn change_my_priority(new: UINT) -> UINT {
    let mut old = 99;
    // SAFETY: the caller's own block, and a local.
    unsafe { tx_thread_priority_change(me(), new, &mut old) };
    old
}

fn threshold_change() -> Outcome {
    T1.create_suspended(20, || ());
    is!(T1.preemption_change(21).0, TX_THRESH_ERROR);
    is!(T1.preemption_change(TX_MAX_PRIORITIES).0, TX_THRESH_ERROR);
    is!(T1.preemption_change(0).1, 20u32);
    is!(T1.preemption_change(7).1, 0u32);
    is!(T1.info().threshold, 7u32);
    is!(T1.info().priority, 20u32);
    // A priority change takes it along.
    is!(T1.priority_change(22).0, TX_SUCCESS);
    is!(T1.info().threshold, 22u32);
    // Raising the number lets those run at once that it held off.
    set_threshold(5);
    T2.create(6, || log(6));
    T3.create(4, || log(4));
    log_is!(4);
    set_threshold(16);
    log_is!(6);
    Ok(())
}

fn time_slices() -> Outcome {
    T1.create_suspended(18, || ());
    is!(T1.time_slice_change(5).1, 0u32);
    is!(T1.time_slice_change(9).1, 5u32);
    is!(T1.info().slice, 9u32);
    // Two equals of two ticks each take turns while they run on.
    fn turns(n: u32) {
        for _ in 0..4 {
            log(n);
            ticks(1);
        }
    }
    ticks(1);
    T2.create_with(17, 17, 2, TX_DONT_START, || turns(2));
    T3.create_with(17, 17, 2, TX_DONT_START, || turns(3));
    T2.resume();
    T3.resume();
    is!(sleep(10), TX_SUCCESS);
    log_is!(2, 2, 3, 3, 2, 2, 3, 3);
    Ok(())
}

fn k05_sleep_after_a_failed_wait() -> Outcome {
    S.create(0);
    M.create(TX_NO_INHERIT);
    E.create();
    Q.create(1, 4);
    Y.create(1024);
    T1.create(10, || {
        M.get(FOREVER);
        sleep(FOREVER);
    });
    is!(S.get(2), TX_NO_INSTANCE);
    is!(sleep(2), TX_SUCCESS);
    is!(Q.receive(2).0, TX_QUEUE_EMPTY);
    is!(sleep(2), TX_SUCCESS);
    is!(M.get(2), TX_NOT_AVAILABLE);
    is!(sleep(2), TX_SUCCESS);
    is!(E.get(1, TX_OR, 2).0, TX_NO_EVENTS);
    is!(sleep(2), TX_SUCCESS);
    is!(Y.allocate(1016, 2).0, TX_NO_MEMORY);
    is!(sleep(2), TX_SUCCESS);
    T2.create(10, || {
        log(S.get(FOREVER));
        log(sleep(2));
        log(sleep(100));
        log(sleep(2));
    });
    is!(T2.wait_abort(), TX_SUCCESS);
    is!(sleep(3), TX_SUCCESS);
    is!(T2.wait_abort(), TX_SUCCESS);
    is!(sleep(3), TX_SUCCESS);
    log_is!(TX_WAIT_ABORTED, TX_SUCCESS, TX_WAIT_ABORTED, TX_SUCCESS);
    Ok(())
}

fn k06_suspension_of_a_waiting_thread() -> Outcome {
    S.create(0);
    T1.create(5, || log(S.get(FOREVER)));
    is!(T1.suspend(), TX_SUCCESS);
    is!(T1.state(), TX_SEMAPHORE_SUSP);
    is!(S.put(), TX_SUCCESS);
    is!(T1.state(), TX_SUSPENDED);
    is!(S.count(), 0u32);
    log_is!();
    is!(T1.resume(), TX_SUCCESS);
    log_is!(TX_SUCCESS);

    T2.create(5, || log(S.get(FOREVER)));
    is!(T2.suspend(), TX_SUCCESS);
    is!(T2.resume(), TX_SUSPEND_LIFTED);
    is!(T2.resume(), TX_RESUME_ERROR);
    is!(T2.suspend(), TX_SUCCESS);
    is!(T2.wait_abort(), TX_SUCCESS);
    is!(T2.state(), TX_SUSPENDED);
    is!(T2.wait_abort(), TX_WAIT_ABORT_ERROR);
    is!(T2.resume(), TX_SUCCESS);
    log_is!(TX_WAIT_ABORTED);

    ticks(1);
    T3.create(5, || log(sleep(10)));
    is!(T3.resume(), TX_RESUME_ERROR);
    is!(sleep(2), TX_SUCCESS);
    is!(T3.suspend(), TX_SUCCESS);
    is!(T3.state(), TX_SLEEP);
    is!(sleep(12), TX_SUCCESS);
    is!(T3.state(), TX_SUSPENDED);
    is!(T3.resume(), TX_SUCCESS);
    log_is!(TX_SUCCESS);

    T4.create(5, || log(S.get(2)));
    is!(T4.suspend(), TX_SUCCESS);
    is!(sleep(4), TX_SUCCESS);
    is!(T4.state(), TX_SUSPENDED);
    is!(T4.resume(), TX_SUCCESS);
    log_is!(TX_NO_INSTANCE);
    // Suspensions do not nest.
    A.create_suspended(5, || log(1));
    is!(A.suspend(), TX_SUCCESS);
    is!(A.suspend(), TX_SUCCESS);
    is!(A.resume(), TX_SUCCESS);
    log_is!(1);
    Ok(())
}

fn sleep_lengths() -> Outcome {
    ticks(1);
    for n in [1, 2, 5, 33] {
        let before = now();
        is!(sleep(n), TX_SUCCESS);
        is!(now() - before, n);
    }
    // Expires in a tick in which the caller runs: at the n-th tick.
    T1.create(10, || {
        log(sleep(3));
        set_number(0, now());
    });
    let before = now();
    ticks(4);
    log_is!(TX_SUCCESS);
    is!(number(0) - before, 3u32);
    Ok(())
}

fn entry_and_exit_notification() -> Outcome {
    unsafe extern "C-unwind" fn notify(thread: *mut TX_THREAD, event: UINT) {
        log(event + if thread == me() { 10 } else { 20 });
    }
    T1.create_suspended(10, || log(1));
    is!(T1.notify(Some(notify)), TX_SUCCESS);
    is!(T1.resume(), TX_SUCCESS);
    // Both in its own context.
    log_is!(10 + TX_THREAD_ENTRY, 1, 10 + TX_THREAD_EXIT);
    T1.reset();
    T1.resume();
    log_is!(10 + TX_THREAD_ENTRY, 1, 10 + TX_THREAD_EXIT);
    // Terminated: in the context of who terminates.
    T2.create_suspended(20, || log(2));
    is!(T2.notify(Some(notify)), TX_SUCCESS);
    is!(T2.terminate(), TX_SUCCESS);
    log_is!(20 + TX_THREAD_EXIT);
    T3.create_suspended(10, || log(3));
    is!(T3.notify(Some(notify)), TX_SUCCESS);
    is!(T3.notify(None), TX_SUCCESS);
    T3.resume();
    log_is!(3);
    Ok(())
}

/// Fills the memory of a stack, of which a thread gets an odd part, and looks at the rest afterwards.
fn k12_a_stack_at_an_odd_address() -> Outcome {
    const SIZE: ULONG = STACK - 16;
    /// The lowest address that was written, so many frames down.
    fn deepest(frames: u32) -> usize {
        let frame = core::hint::black_box([frames; 16]);
        let here = frame.as_ptr().addr();
        let below = if frames == 0 { here } else { deepest(frames - 1) };
        core::hint::black_box(frame);
        below
    }
    let (entry, stack) = A.parts();
    let memory = stack.cast::<u8>();
    // SAFETY: the stack's memory, of which there is no thread.
    unsafe { memory.write_bytes(0x11, STACK as usize) };
    A.set_script(|| set_number(0, deepest(10) as u32));
    is!(A.create_on(entry, memory.wrapping_add(1).cast(), SIZE, 10, 10, 0, 0), TX_SUCCESS);
    is!(A.resume(), TX_SUCCESS);
    is!(A.state(), TX_COMPLETED);
    // SAFETY: as above, nobody runs there.
    let outside = |at: ULONG| unsafe { memory.add(at as usize).read() } == 0x11;
    is!(outside(0), true);
    is!((SIZE + 1..STACK).all(outside), true);
    // Threads of a development machine run elsewhere.
    if cfg!(target_os = "none") {
        let below_top = (memory.addr() as u32 + 1 + SIZE).wrapping_sub(number(0));
        is!(below_top < SIZE, true);
        is!(below_top > 10 * 64, true);
    }
    Ok(())
}

fn an_interrupt_readies_a_higher_thread() -> Outcome {
    S.create(0);
    T1.create(10, || {
        while S.get(FOREVER) == TX_SUCCESS {
            log(2);
        }
    });
    for _ in 0..3 {
        log(0);
        interrupt(|| {
            S.put();
            log(1);
        });
        log(3);
    }
    log_is!(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    // A lower one waits for its turn; a threshold holds a higher one off.
    T2.create_suspended(20, || log(20));
    interrupt(|| ignore(T2.resume()));
    log_is!();
    set_threshold(10);
    interrupt(|| ignore(S.put()));
    log_is!();
    set_threshold(16);
    log_is!(2);
    is!(S.delete(), TX_SUCCESS);
    Ok(())
}

fn an_interrupt_suspends_whom_it_interrupted() -> Outcome {
    T1.create(10, || {
        interrupt(|| set_number(0, T1.suspend()));
        log(T1.state());
    });
    differs!(number(0), SUSPENSION_OF_THE_INTERRUPTED_THREAD);
    if number(0) == TX_SUCCESS {
        is!(T1.state(), TX_SUSPENDED);
        log_is!();
        is!(T1.resume(), TX_SUCCESS);
    }
    log_is!(TX_READY);
    Ok(())
}

fn interrupt_postures_belong_to_threads() -> Outcome {
    is!(interrupt_control(TX_INT_DISABLE), TX_INT_ENABLE);
    is!(interrupt_control(TX_INT_DISABLE), TX_INT_DISABLE);
    is!(interrupt_control(TX_INT_ENABLE), TX_INT_DISABLE);
    is!(interrupt_control(TX_INT_ENABLE), TX_INT_ENABLE);
    T1.create(16, || {
        // A thread starts with interrupts on, whatever its creator's posture is.
        log(interrupt_control(TX_INT_DISABLE));
        relinquish();
        log(interrupt_control(TX_INT_DISABLE));
    });
    relinquish();
    is!(interrupt_control(TX_INT_ENABLE), TX_INT_ENABLE);
    relinquish();
    log_is!(TX_INT_ENABLE, TX_INT_DISABLE);
    Ok(())
}

// ---- semaphores --------------------------------------------------------------------------------

fn k23_semaphore_edges() -> Outcome {
    is!(S.create(1), TX_SUCCESS);
    is!(S.ceiling_put(0), TX_INVALID_CEILING);
    is!(S.ceiling_put(1), TX_CEILING_EXCEEDED);
    is!(S.ceiling_put(2), TX_SUCCESS);
    is!(S.count(), 2u32);
    is!(S.get(NONE), TX_SUCCESS);
    is!(S.get(FOREVER), TX_SUCCESS);
    is!(S.get(NONE), TX_NO_INSTANCE);
    let before = now();
    is!(S.get(3), TX_NO_INSTANCE);
    is!(now() - before, 3u32);
    T1.create(10, || log(S.get(FOREVER)));
    is!(S.ceiling_put(1), TX_SUCCESS);
    is!(S.count(), 0u32);
    log_is!(TX_SUCCESS);
    T2.create(10, || log(S.get(FOREVER)));
    T3.create(9, || log(S.get(50)));
    is!(S.info().2, 2u32);
    is!(S.delete(), TX_SUCCESS);
    log_is!(TX_DELETED, TX_DELETED);
    is!(S.put(), TX_SEMAPHORE_ERROR);
    is!(S.get(NONE), TX_SEMAPHORE_ERROR);
    is!(S.create(u32::MAX), TX_SUCCESS);
    is!(S.put(), TX_SUCCESS);
    is!(S.count(), 0u32);
    Ok(())
}

fn semaphore_waiters_in_order() -> Outcome {
    S.create(0);
    T1.create(12, || log(S.get(FOREVER) + 1));
    T2.create(10, || log(S.get(FOREVER) + 2));
    T3.create(11, || log(S.get(FOREVER) + 3));
    for _ in 0..3 {
        is!(S.put(), TX_SUCCESS);
    }
    log_is!(1, 2, 3);
    is!(S.count(), 0u32);
    // A wait that ran out or was aborted is not in the way.
    for (thread, script) in
        [(T1, (|| log(S.get(1) + 10)) as fn()), (T2, || log(S.get(FOREVER) + 20)), (T3, || log(S.get(FOREVER) + 30))]
    {
        thread.delete();
        thread.create(10, script);
    }
    is!(sleep(2), TX_SUCCESS);
    is!(T2.wait_abort(), TX_SUCCESS);
    is!(S.info().2, 1u32);
    is!(S.put(), TX_SUCCESS);
    log_is!(10 + TX_NO_INSTANCE, 20 + TX_WAIT_ABORTED, 30);
    Ok(())
}

fn k20_prioritize_is_a_snapshot() -> Outcome {
    S.create(0);
    T1.create(12, || log(S.get(FOREVER) + 1));
    T2.create(11, || log(S.get(FOREVER) + 2));
    T3.create(8, || log(S.get(FOREVER) + 3));
    T4.create(9, || log(S.get(FOREVER) + 4));
    is!(S.prioritize(), TX_SUCCESS);
    // Higher, and later.
    A.create(5, || log(S.get(FOREVER) + 5));
    for _ in 0..5 {
        is!(S.put(), TX_SUCCESS);
    }
    log_is!(3, 1, 2, 4, 5);
    Ok(())
}

fn semaphore_notification() -> Outcome {
    unsafe extern "C-unwind" fn notify(semaphore: *mut TX_SEMAPHORE) {
        let mut count = 99;
        let none = core::ptr::null_mut();
        // SAFETY: the semaphore that was put exists.
        unsafe {
            tx_semaphore_info_get(
                semaphore,
                none,
                &mut count,
                core::ptr::null_mut(),
                core::ptr::null_mut(),
                core::ptr::null_mut(),
            )
        };
        log(100 + count);
    }
    S.create(0);
    is!(S.notify(Some(notify)), TX_SUCCESS);
    is!(S.put(), TX_SUCCESS);
    is!(S.ceiling_put(5), TX_SUCCESS);
    log_is!(101, 102);
    is!(S.get(NONE), TX_SUCCESS);
    is!(S.get(NONE), TX_SUCCESS);
    T1.create(10, || log(S.get(FOREVER)));
    interrupt(|| ignore(S.put()));
    // After the put took effect, in the putter's context: the waiter runs behind the interrupt.
    log_is!(100, 0);
    is!(S.notify(None), TX_SUCCESS);
    is!(S.put(), TX_SUCCESS);
    log_is!();
    Ok(())
}

fn semaphore_misuse() -> Outcome {
    for code in [S.get(NONE), S.put(), S.ceiling_put(3), S.delete(), S.prioritize(), S.notify(None), S.info().0] {
        is!(code, TX_SEMAPHORE_ERROR);
    }
    is!(S.create(0), TX_SUCCESS);
    is!(S.create(0), TX_SEMAPHORE_ERROR);
    is!(S.delete(), TX_SUCCESS);
    is!(S.delete(), TX_SEMAPHORE_ERROR);
    Ok(())
}

// ---- mutexes -----------------------------------------------------------------------------------

fn mutex_ownership() -> Outcome {
    is!(M.create(TX_NO_INHERIT), TX_SUCCESS);
    is!(M.put(), TX_NOT_OWNED);
    for count in 1..=3 {
        is!(M.get(FOREVER), TX_SUCCESS);
        is!(M.info().1, count as u32);
    }
    is!(M.info().2 == me(), true);
    T1.create(10, || {
        log(M.get(NONE));
        log(M.put());
        log(M.get(FOREVER));
        log(100);
    });
    log_is!(TX_NOT_AVAILABLE, TX_NOT_OWNED);
    is!(M.put(), TX_SUCCESS);
    is!(M.put(), TX_SUCCESS);
    log_is!();
    is!(M.put(), TX_SUCCESS);
    log_is!(TX_SUCCESS, 100);
    is!(M.put(), TX_NOT_OWNED);
    // Its thread completed while it owned the mutex.
    is!(M.info().1, 0u32);
    Ok(())
}

fn mutex_waits_end() -> Outcome {
    M.create(TX_NO_INHERIT);
    M.get(NONE);
    T1.create(10, || log(M.get(2) + 100));
    T2.create(11, || log(M.get(FOREVER) + 200));
    T3.create(12, || log(M.get(FOREVER) + 300));
    is!(M.info().3, 3u32);
    is!(sleep(3), TX_SUCCESS);
    log_is!(100 + TX_NOT_AVAILABLE);
    is!(T2.wait_abort(), TX_SUCCESS);
    log_is!(200 + TX_WAIT_ABORTED);
    is!(M.delete(), TX_SUCCESS);
    log_is!(300 + TX_DELETED);
    is!(M.put(), TX_MUTEX_ERROR);
    Ok(())
}

fn k20_order_of_mutex_waiters() -> Outcome {
    fn wait(n: u32) {
        M.get(FOREVER);
        log(n);
        M.put();
    }
    for (inherit, order) in [(TX_INHERIT, [5, 6, 7]), (TX_NO_INHERIT, [7, 5, 6])] {
        M.create(inherit);
        // Above the waiters, so that it creates them while it owns the mutex.
        A.create(1, || {
            M.get(NONE);
            T1.create(7, || wait(7));
            sleep(1);
            T2.create(5, || wait(5));
            sleep(1);
            T3.create(6, || wait(6));
            sleep(1);
            M.put();
        });
        is!(sleep(5), TX_SUCCESS);
        log_is!(order[0], order[1], order[2]);
        M.delete();
        for thread in [A, T1, T2, T3] {
            is!(thread.delete(), TX_SUCCESS);
        }
    }
    // Without inheritance, prioritized once: the best goes to the front, the others stay.
    M.create(TX_NO_INHERIT);
    M.get(NONE);
    T1.create(7, || wait(7));
    T2.create(6, || wait(6));
    T3.create(5, || wait(5));
    is!(M.prioritize(), TX_SUCCESS);
    is!(M.put(), TX_SUCCESS);
    log_is!(5, 7, 6);
    Ok(())
}

/// Who runs shows what priority an owner has: a thread between owner and waiter.
fn inheritance() -> Outcome {
    M.create(TX_INHERIT);
    // The owner.
    T1.create(14, || {
        M.get(FOREVER);
        log(1);
        sleep(1);
        log(3);
        // Raised to 8: the one of 10 does not preempt.
        T3.create(10, || log(10));
        log(4);
        M.put();
        log(5);
    });
    T2.create(8, || {
        log(2);
        log(M.get(FOREVER) + 100);
        M.put();
    });
    is!(sleep(3), TX_SUCCESS);
    log_is!(1, 2, 3, 4, 100, 10, 5);
    is!(T1.info().priority, 14u32);

    // A wait that ends takes the loan back at the put, not before.
    M.get(NONE);
    T4.create(9, || log(M.get(1)));
    is!(my_info().threshold, 16u32);
    is!(sleep(3), TX_SUCCESS);
    log_is!(TX_NOT_AVAILABLE);
    is!(M.put(), TX_SUCCESS);
    let own = my_info();
    is!(own.priority, 16u32);
    is!(own.threshold, 16u32);
    Ok(())
}

fn k10_priority_change_while_raised() -> Outcome {
    M.create(TX_INHERIT);
    // Suspended as the owner, so that the main thread can change it; it goes on to put.
    T1.create(10, || {
        M.get(FOREVER);
        T1.suspend();
        M.put();
    });
    T2.create(5, || {
        M.get(FOREVER);
        M.put();
    });
    is!(T1.info().priority, 10u32);
    is!(T1.priority_change(20).1, 10u32);
    is!(T1.info().priority, 20u32);
    is!(T1.info().threshold, 20u32);
    is!(T1.priority_change(1).1, 20u32);
    is!(T1.info().priority, 1u32);
    is!(T1.priority_change(20).1, 1u32);
    is!(T1.info().priority, 20u32);
    is!(T1.resume(), TX_SUCCESS);
    is!(T2.state(), TX_COMPLETED);
    is!(T1.info().priority, 20u32);
    is!(T1.info().threshold, 20u32);
    Ok(())
}

fn an_ending_owner_gives_its_mutexes_back() -> Outcome {
    M.create(TX_INHERIT);
    Mutex(1).create(TX_NO_INHERIT);
    T1.create(15, || {
        M.get(FOREVER);
        M.get(FOREVER);
        Mutex(1).get(FOREVER);
        sleep(FOREVER);
    });
    T2.create(10, || log(M.get(FOREVER) + 1));
    T3.create(11, || log(Mutex(1).get(FOREVER) + 2));
    log_is!();
    is!(T1.terminate(), TX_SUCCESS);
    log_is!(1, 2);
    // Both have ended as owners: free again.
    is!(M.info().1, 0u32);
    is!(M.get(NONE), TX_SUCCESS);
    is!(Mutex(1).get(NONE), TX_SUCCESS);
    // A deleted mutex is no longer its owner's.
    is!(M.delete(), TX_SUCCESS);
    is!(my_info().priority, 16u32);
    is!(Mutex(1).put(), TX_SUCCESS);
    Ok(())
}

fn mutex_misuse() -> Outcome {
    for code in [M.get(NONE), M.put(), M.delete(), M.prioritize(), M.info().0] {
        is!(code, TX_MUTEX_ERROR);
    }
    is!(M.create(2), TX_INHERIT_ERROR);
    is!(M.create(TX_INHERIT), TX_SUCCESS);
    is!(M.create(TX_INHERIT), TX_MUTEX_ERROR);
    is!(M.delete(), TX_SUCCESS);
    is!(M.delete(), TX_MUTEX_ERROR);
    Ok(())
}

// ---- event flags -------------------------------------------------------------------------------

/// Interrupts at every moment of a set that finds waiters and satisfies none of them.
fn k02_resumed_during_a_set() -> Outcome {
    const RESUMED: usize = 0;
    const RAN: usize = 1;
    const IN_A_SET: usize = 2;
    const HIT: usize = 3;
    E.create();
    T1.create(10, || ignore(E.get(1, TX_OR, FOREVER)));
    T2.create(10, || ignore(E.get(2, TX_OR, FOREVER)));
    T3.create(5, || {
        loop {
            T3.suspend();
            add_to_number(RAN, 1);
        }
    });
    for delay in 0..400 {
        let before = number(RESUMED);
        alarm(delay, || {
            add_to_number(RESUMED, u32::from(T3.resume() == TX_SUCCESS));
            add_to_number(HIT, number(IN_A_SET));
        });
        // The moment comes while this goes on.
        while number(RESUMED) == before {
            set_number(IN_A_SET, 1);
            is!(E.set(4, TX_OR), TX_SUCCESS);
            set_number(IN_A_SET, 0);
            let posture = interrupt_control(TX_INT_DISABLE);
            let (ran, resumed) = (number(RAN), number(RESUMED));
            interrupt_control(posture);
            is!(ran, resumed);
        }
    }
    is!(number(RESUMED), 400u32);
    is!(number(HIT) > 0, true);
    is!(E.info().2, 2u32);
    Ok(())
}

fn k04_event_flags_output() -> Outcome {
    is!(E.create(), TX_SUCCESS);
    is!(E.set(0x0F, TX_OR), TX_SUCCESS);
    let got = |seen: (UINT, ULONG), status: UINT, output: ULONG| seen == (status, output);
    is!(got(E.get(0x13, TX_AND, NONE), TX_NO_EVENTS, 0xF), true);
    is!(got(E.get(0x13, TX_OR_CLEAR, NONE), TX_SUCCESS, 0xF), true);
    is!(E.flags(), 0x0Cu32);
    is!(E.set(0x4, TX_AND), TX_SUCCESS);
    is!(E.flags(), 0x4u32);
    is!(got(E.get(0x10, TX_AND, 3), TX_NO_EVENTS, 0x4), true);
    is!(E.get(0, TX_OR, FOREVER).0, TX_NO_EVENTS);
    is!(E.get(1, 9, NONE).0, TX_OPTION_ERROR);
    is!(E.set(1, 1), TX_OPTION_ERROR);
    Ok(())
}

fn event_requests() -> Outcome {
    E.create();
    let cases = [
        (TX_AND, 0b0011, 0b0111, TX_SUCCESS, 0b0111u32),
        (TX_AND, 0b1001, 0b0111, TX_NO_EVENTS, 0b0111),
        (TX_AND_CLEAR, 0b0011, 0b0111, TX_SUCCESS, 0b0100),
        (TX_OR, 0b1001, 0b0111, TX_SUCCESS, 0b0111),
        (TX_OR, 0b1000, 0b0111, TX_NO_EVENTS, 0b0111),
        (TX_OR_CLEAR, 0b1001, 0b0111, TX_SUCCESS, 0b0110),
    ];
    for (option, wanted, present, status, after) in cases {
        E.set(0, TX_AND);
        E.set(present, TX_OR);
        let (code, seen) = E.get(wanted, option, NONE);
        is!(code, status);
        is!(seen, present);
        is!(E.flags(), after);
    }
    Ok(())
}

fn one_set_wakes_all_it_satisfies() -> Outcome {
    E.create();
    T1.create(12, || log(E.get(0b011, TX_AND_CLEAR, FOREVER).1 + 100));
    T2.create(11, || log(E.get(0b010, TX_OR, FOREVER).1 + 200));
    T3.create(10, || log(E.get(0b100, TX_OR_CLEAR, FOREVER).1 + 300));
    T4.create(9, || log(E.get(0b1000, TX_OR, FOREVER).0 + 400));
    is!(E.info().2, 4u32);
    is!(E.set(0b001, TX_OR), TX_SUCCESS);
    log_is!();
    // Clears wake nobody.
    is!(E.set(0b001, TX_AND), TX_SUCCESS);
    is!(E.set(0b110, TX_OR), TX_SUCCESS);
    // Each sees all flags as they were when it was satisfied; the highest runs first.
    log_is!(300 + 0b111, 200 + 0b111, 100 + 0b111);
    is!(E.flags(), 0u32);
    is!(E.delete(), TX_SUCCESS);
    log_is!(400 + TX_DELETED);

    unsafe extern "C-unwind" fn notify(_: *mut TX_EVENT_FLAGS_GROUP) {
        log(7);
    }
    E.create();
    is!(E.notify(Some(notify)), TX_SUCCESS);
    E.set(1, TX_OR);
    E.set(0, TX_AND);
    log_is!(7);
    is!(E.notify(None), TX_SUCCESS);
    E.set(1, TX_OR);
    log_is!();
    Ok(())
}

fn event_misuse() -> Outcome {
    for code in [E.get(1, TX_OR, NONE).0, E.set(1, TX_OR), E.delete(), E.notify(None), E.info().0] {
        is!(code, TX_GROUP_ERROR);
    }
    is!(E.create(), TX_SUCCESS);
    is!(E.create(), TX_GROUP_ERROR);
    // SAFETY: a null output is what is to be refused.
    is!(unsafe { tx_event_flags_get(core::ptr::null_mut(), 1, TX_OR, core::ptr::null_mut(), NONE) }, TX_GROUP_ERROR);
    is!(E.delete(), TX_SUCCESS);
    is!(E.delete(), TX_GROUP_ERROR);
    Ok(())
}

// ---- queues ------------------------------------------------------------------------------------

fn k15_message_sizes() -> Outcome {
    is!(Q.create(0, 64), TX_SIZE_ERROR);
    is!(Q.create(17, 256), TX_SIZE_ERROR);
    is!(Q.create(2, 4), TX_SIZE_ERROR);
    is!(Q.create(2, 28), TX_SUCCESS);
    is!(Q.info().2, 3u32);
    Ok(())
}

fn k15_messages_are_copied_whole() -> Outcome {
    for words in 1..=16usize {
        is!(Q.create(words as UINT, 256), TX_SUCCESS);
        is!(Q.info().2, (64 / words) as u32);
        let message = core::array::from_fn(|n| 100 + n as ULONG);
        // Into the queue and, in the second round, straight to a receiver that waits.
        is!(Q.send(message, NONE), TX_SUCCESS);
        for round in 0..2 {
            if round == 1 {
                T1.create(10, || {
                    let (status, message) = Q.receive(FOREVER);
                    log(status);
                    message.iter().for_each(|&word| log(word));
                });
                is!(Q.send(message, NONE), TX_SUCCESS);
            } else {
                let (status, message) = Q.receive(NONE);
                log(status);
                message.iter().for_each(|&word| log(word));
            }
            let mut expected = [0xEE; 19];
            expected[0] = TX_SUCCESS;
            expected[1..=words].copy_from_slice(&message[..words]);
            LOG.expect(line!(), &expected)?;
        }
        T1.delete();
        is!(Q.delete(), TX_SUCCESS);
    }
    Ok(())
}

fn k16_front_sends_and_blocked_senders() -> Outcome {
    Q.create(1, 12);
    for word in 1..=3 {
        is!(Q.send_word(word, NONE), TX_SUCCESS);
    }
    is!(Q.send_word(4, NONE), TX_QUEUE_FULL);
    is!(Q.front_send_word(4, NONE), TX_QUEUE_FULL);
    T1.create(10, || set_number(1, Q.send_word(50, FOREVER) + 1));
    T2.create(10, || set_number(2, Q.send_word(51, FOREVER) + 1));
    T3.create(10, || set_number(3, Q.front_send_word(100, FOREVER) + 1));
    for _ in 0..7 {
        log(Q.receive_word(NONE));
    }
    log_is!(100, 1, 2, 3, 50, 51, 0x8000_0000 | TX_QUEUE_EMPTY);
    is!(number(1) + number(2) + number(3), 3u32);
    // A flush lets blocked senders go; their messages are lost.
    for word in 1..=3 {
        Q.send_word(word, NONE);
    }
    T4.create(10, || log(Q.send_word(60, FOREVER)));
    is!(Q.flush(), TX_SUCCESS);
    log_is!(TX_SUCCESS);
    is!(Q.info().1, 0u32);
    is!(Q.receive(NONE).0, TX_QUEUE_EMPTY);
    // A front send overtakes what is stored.
    Q.send_word(1, NONE);
    Q.send_word(2, NONE);
    is!(Q.front_send_word(3, NONE), TX_SUCCESS);
    for _ in 0..3 {
        log(Q.receive_word(NONE));
    }
    log_is!(3, 1, 2);
    Ok(())
}

fn queue_hand_over() -> Outcome {
    Q.create(1, 4);
    T1.create(12, || log(Q.receive_word(FOREVER) + 100));
    T2.create(11, || log(Q.receive_word(FOREVER) + 200));
    T3.create(10, || log(Q.receive_word(2) & 0xFF));
    is!(Q.info().3, 3u32);
    is!(sleep(3), TX_SUCCESS);
    log_is!(TX_QUEUE_EMPTY);
    is!(Q.prioritize(), TX_SUCCESS);
    is!(Q.send_word(7, NONE), TX_SUCCESS);
    is!(Q.front_send_word(8, NONE), TX_SUCCESS);
    log_is!(207, 108);
    is!(Q.info().1, 0u32);

    unsafe extern "C-unwind" fn notify(_: *mut TX_QUEUE) {
        log(9);
    }
    is!(Q.notify(Some(notify)), TX_SUCCESS);
    is!(Q.send_word(1, NONE), TX_SUCCESS);
    is!(Q.send_word(1, NONE), TX_QUEUE_FULL);
    log_is!(9);
    is!(Q.notify(None), TX_SUCCESS);

    // Waiters of both kinds learn of a deletion, an abort, the end of their time.
    T4.create(10, || log(Q.send_word(5, 1) + 300));
    is!(sleep(2), TX_SUCCESS);
    log_is!(300 + TX_QUEUE_FULL);
    A.create(10, || log(Q.send_word(5, FOREVER) + 400));
    is!(A.wait_abort(), TX_SUCCESS);
    log_is!(400 + TX_WAIT_ABORTED);
    A.delete();
    A.create(10, || log(Q.send_word(5, FOREVER) + 500));
    is!(Q.delete(), TX_SUCCESS);
    log_is!(500 + TX_DELETED);
    Ok(())
}

fn queue_misuse() -> Outcome {
    let codes = [
        Q.send_word(1, NONE),
        Q.front_send_word(1, NONE),
        Q.receive(NONE).0,
        Q.flush(),
        Q.prioritize(),
        Q.notify(None),
        Q.delete(),
        Q.info().0,
    ];
    for code in codes {
        is!(code, TX_QUEUE_ERROR);
    }
    is!(Q.create(1, 64), TX_SUCCESS);
    is!(Q.create(1, 64), TX_QUEUE_ERROR);
    is!(Q.delete(), TX_SUCCESS);
    is!(Q.delete(), TX_QUEUE_ERROR);
    Ok(())
}

// ---- pools -------------------------------------------------------------------------------------

fn block_pool() -> Outcome {
    let word = size_of::<*mut u8>() as u32;
    // Sizes are rounded to pointers and each block has one more.
    is!(B.create(2 * word - 1, 9 * word), TX_SUCCESS);
    is!(B.info().2, 3u32);
    let (a, b, c) = (B.allocate(NONE).1, B.allocate(NONE).1, B.allocate(NONE).1);
    is!(b.0.addr() as u32 - a.0.addr() as u32, 3 * word);
    is!(B.allocate(NONE).0, TX_NO_MEMORY);
    is!(B.allocate(2).0, TX_NO_MEMORY);
    T1.create(12, || {
        let (status, piece) = B.allocate(FOREVER);
        log(status);
        set_number(0, piece.0.addr() as u32);
        sleep(FOREVER);
    });
    T2.create(11, || log(B.allocate(FOREVER).0 + 100));
    is!(B.info().3, 2u32);
    // To the first waiter; the number of free blocks stays.
    is!(block_release(b), TX_SUCCESS);
    is!(number(0), b.0.addr() as u32);
    is!(B.info().1, 0u32);
    is!(B.delete(), TX_SUCCESS);
    log_is!(TX_SUCCESS, 100 + TX_DELETED);
    let _ = (a, c);
    is!(B.create(16, 8), TX_SIZE_ERROR);
    // The last released is the first given.
    is!(B.create(16, 400), TX_SUCCESS);
    let (a, b) = (B.allocate(NONE).1, B.allocate(NONE).1);
    is!(block_release(a), TX_SUCCESS);
    is!(block_release(b), TX_SUCCESS);
    is!(B.allocate(NONE).1 == b, true);
    Ok(())
}

/// Only of byte pools: a block's second release is not found by either kernel's C services.
fn k14_double_release() -> Outcome {
    Y.create(1024);
    let (_, piece) = Y.allocate(100, NONE);
    is!(byte_release(piece), TX_SUCCESS);
    is!(byte_release(piece), TX_PTR_ERROR);
    is!(byte_release(Piece(core::ptr::null_mut())), TX_PTR_ERROR);
    is!(block_release(Piece(core::ptr::null_mut())), TX_PTR_ERROR);
    Ok(())
}

fn k13_byte_pool_fragments() -> Outcome {
    is!(Y.create(4096), TX_SUCCESS);
    is!(Y.allocate(0, NONE).0, TX_SIZE_ERROR);
    is!(Y.allocate(4096, NONE).0, TX_NO_MEMORY);
    is!(Y.allocate(5000, NONE).0, TX_SIZE_ERROR);
    is!(Y.info().2, 2u32);
    let pieces: [Piece; 4] = core::array::from_fn(|_| Y.allocate(900, NONE).1);
    is!(Y.info().2, 6u32);
    for piece in &pieces[..3] {
        is!(byte_release(*piece), TX_SUCCESS);
    }
    // Neighbours are merged by whoever allocates, not by a release.
    is!(Y.info().2, 6u32);
    let before = Y.info().1;
    let (status, large) = Y.allocate(2600, NONE);
    is!(status, TX_SUCCESS);
    is!(large == pieces[0], true);
    is!(Y.info().1 < before, true);
    is!(byte_release(large), TX_SUCCESS);
    is!(byte_release(pieces[3]), TX_SUCCESS);
    // All of it again.
    let (status, all) = Y.allocate(3900, NONE);
    is!(status, TX_SUCCESS);
    is!(byte_release(all), TX_SUCCESS);
    Ok(())
}

fn k20_byte_pool_waiters() -> Outcome {
    Y.create(3000);
    let (one, two) = (Y.allocate(900, NONE).1, Y.allocate(900, NONE).1);
    is!(Y.allocate(900, NONE).0, TX_SUCCESS);
    T1.create(5, || log(Y.allocate(2000, FOREVER).0 + 100));
    T2.create(4, || log(Y.allocate(400, FOREVER).0 + 200));
    is!(Y.info().3, 2u32);
    // The head does not fit, and the search ends there.
    is!(byte_release(one), TX_SUCCESS);
    log_is!();
    // Prioritize alone serves nobody.
    is!(Y.prioritize(), TX_SUCCESS);
    log_is!();
    is!(byte_release(two), TX_SUCCESS);
    log_is!(200);
    is!(T1.wait_abort(), TX_SUCCESS);
    log_is!(100 + TX_WAIT_ABORTED);
    T3.create(10, || log(Y.allocate(2900, 2).0 + 300));
    T4.create(10, || log(Y.allocate(2900, FOREVER).0 + 400));
    is!(sleep(3), TX_SUCCESS);
    is!(Y.delete(), TX_SUCCESS);
    log_is!(300 + TX_NO_MEMORY, 400 + TX_DELETED);
    Ok(())
}

fn pool_misuse() -> Outcome {
    for code in [B.allocate(NONE).0, B.prioritize(), B.delete(), B.info().0] {
        is!(code, TX_POOL_ERROR);
    }
    for code in [Y.allocate(10, NONE).0, Y.prioritize(), Y.delete(), Y.info().0] {
        is!(code, TX_POOL_ERROR);
    }
    is!(B.create(16, 400), TX_SUCCESS);
    is!(B.create(16, 400), TX_POOL_ERROR);
    is!(B.delete(), TX_SUCCESS);
    is!(B.delete(), TX_POOL_ERROR);
    is!(Y.create(TX_BYTE_POOL_MIN - 1), TX_SIZE_ERROR);
    is!(Y.create(1000), TX_SUCCESS);
    is!(Y.create(1000), TX_POOL_ERROR);
    is!(Y.delete(), TX_SUCCESS);
    is!(Y.delete(), TX_POOL_ERROR);
    Ok(())
}

// ---- timers ------------------------------------------------------------------------------------

fn stamp(n: u32) {
    log(n * 1000 + now().wrapping_sub(number(0)));
}

/// The current tick is 0 for [`stamp`].
fn start_stamps() {
    ticks(1);
    set_number(0, now());
}

fn k18_1_timers_due_together() -> Outcome {
    Timer(0).create(40, 0, TX_NO_ACTIVATE, || stamp(1));
    Timer(1).create(9, 0, TX_NO_ACTIVATE, || stamp(2));
    start_stamps();
    is!(Timer(0).activate(), TX_SUCCESS);
    is!(sleep(31), TX_SUCCESS);
    is!(Timer(1).activate(), TX_SUCCESS);
    is!(sleep(20), TX_SUCCESS);
    // One longer than the kernel's 32 lists falls behind a later short one.
    log_is!(2040, 1040);
    Ok(())
}

fn k18_2_timers_before_sleepers() -> Outcome {
    Timer(0).create(5, 0, TX_NO_ACTIVATE, || stamp(1));
    Timer(1).create(5, 0, TX_NO_ACTIVATE, || stamp(2));
    start_stamps();
    is!(Timer(1).activate(), TX_SUCCESS);
    is!(Timer(0).activate(), TX_SUCCESS);
    is!(sleep(5), TX_SUCCESS);
    stamp(3);
    log_is!(2005, 1005, 3005);
    Ok(())
}

fn k18_3_one_shots() -> Outcome {
    let timer = Timer(0);
    is!(timer.create(2, 0, TX_AUTO_ACTIVATE, || log(1)), TX_SUCCESS);
    is!(sleep(4), TX_SUCCESS);
    log_is!(1);
    is!(timer.activate(), TX_ACTIVATE_ERROR);
    is!(timer.change(3, 0), TX_SUCCESS);
    ticks(1);
    is!(timer.activate(), TX_SUCCESS);
    is!(timer.activate(), TX_ACTIVATE_ERROR);
    is!(timer.change(50, 0), TX_SUCCESS);
    is!(timer.info().map_or(99, |info| info.1), 3u32);
    is!(sleep(4), TX_SUCCESS);
    log_is!(1);
    is!(timer.info().map_or(99, |info| info.0), TX_FALSE);
    Ok(())
}

fn k18_4_deactivation() -> Outcome {
    let timer = Timer(0);
    timer.create(20, 7, TX_NO_ACTIVATE, || log(1));
    ticks(1);
    is!(timer.activate(), TX_SUCCESS);
    is!(sleep(5), TX_SUCCESS);
    is!(timer.deactivate(), TX_SUCCESS);
    is!(timer.info() == Some((TX_FALSE, 15, 7)), true);
    is!(timer.deactivate(), TX_SUCCESS);
    ticks(1);
    is!(timer.activate(), TX_SUCCESS);
    is!(sleep(14), TX_SUCCESS);
    log_is!();
    is!(sleep(8), TX_SUCCESS);
    log_is!(1, 1);
    Ok(())
}

fn k18_5_no_ticks() -> Outcome {
    is!(Timer(0).create(0, 0, TX_NO_ACTIVATE, || ()), TX_TICK_ERROR);
    is!(Timer(0).create(1, 0, 2, || ()), TX_ACTIVATE_ERROR);
    is!(Timer(0).create(1, 0, TX_NO_ACTIVATE, || ()), TX_SUCCESS);
    is!(Timer(0).change(0, 3), TX_TICK_ERROR);
    Ok(())
}

fn k18_6_info_in_the_callback() -> Outcome {
    fn look(n: usize) {
        log(Timer(n).info().map_or(99, |(active, remaining, _)| active * 10 + remaining));
    }
    Timer(0).create(3, 0, TX_AUTO_ACTIVATE, || look(0));
    Timer(1).create(4, 4, TX_AUTO_ACTIVATE, || look(1));
    ticks(1);
    is!(sleep(9), TX_SUCCESS);
    log_is!(0, 10, 10);
    Ok(())
}

fn k18_7_deletion() -> Outcome {
    for _ in 0..3 {
        ticks(1);
        is!(Timer(0).create(1, 1, TX_AUTO_ACTIVATE, || log(1)), TX_SUCCESS);
        is!(sleep(2), TX_SUCCESS);
        is!(Timer(0).delete(), TX_SUCCESS);
        log_is!(1, 1);
        is!(sleep(2), TX_SUCCESS);
        log_is!();
    }
    // Two that are due together: the first one's callback cannot delete, but it can stop the second.
    ticks(1);
    Timer(0).create(2, 0, TX_AUTO_ACTIVATE, || log(Timer(1).deactivate()));
    Timer(1).create(2, 0, TX_AUTO_ACTIVATE, || log(99));
    is!(sleep(4), TX_SUCCESS);
    log_is!(TX_SUCCESS);
    Ok(())
}

fn timer_misuse() -> Outcome {
    let timer = Timer(0);
    for code in [timer.activate(), timer.deactivate(), timer.change(1, 1), timer.delete(), timer.info_status()] {
        is!(code, TX_TIMER_ERROR);
    }
    is!(timer.create(5, 0, TX_AUTO_ACTIVATE, || ()), TX_SUCCESS);
    is!(timer.create(5, 0, TX_AUTO_ACTIVATE, || ()), TX_TIMER_ERROR);
    is!(timer.delete(), TX_SUCCESS);
    is!(timer.delete(), TX_TIMER_ERROR);
    Ok(())
}

fn the_clock_can_be_set() -> Outcome {
    ticks(1);
    let before = now();
    T1.create(10, || {
        log(sleep(3));
    });
    set_now(u32::MAX);
    ticks(1);
    // It wraps; sleeps and timers do not look at it.
    is!(now(), 0u32);
    ticks(1);
    log_is!();
    ticks(1);
    log_is!(TX_SUCCESS);
    set_now(before + 3);
    Ok(())
}
