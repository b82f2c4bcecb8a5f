//! The C entry points, under the names that upstream's headers map the API to.
//!
//! `_tx_*` are the unchecked services, `_txe_*` the checked ones: these return the documented error
//! where an argument, the object or the calling context is wrong, and call the unchecked service
//! otherwise.
//!
//! # Contract of every function here
//!
//! * A control-block pointer leads to memory for one block that the application neither moves nor
//!   reuses while the object exists. Unchecked services want an existing object; checked ones refuse
//!   null, and a block that is not that of an existing object, as long as it can be read.
//! * Result pointers may be null where the User Guide says so, else lead to writable memory.
//! * The memory of a stack belongs to the kernel from creation to deletion, a name is never copied.
//!
//! Where an address names a function, the function keeps to the calling rules of the User Guide.

#![allow(clippy::missing_safety_doc)] // the contract above is the safety section of all of them

use core::ptr::NonNull;

use crate::kernel::lock;
use crate::port::{self, Current};
use crate::semaphore::{SEMAPHORE_ID, Semaphore, TX_SEMAPHORE};
use crate::thread::{THREAD_ID, TX_THREAD, Thread, ThreadOptions};
use crate::timer::{TX_TIMER, Timer, TimerOptions, in_timer_thread};
use crate::types::*;

/// Calling contexts as the User Guide's "Allowed From" lists name them.
pub(crate) mod from {
    pub(crate) const INITIALIZATION: u8 = 1;
    pub(crate) const THREADS: u8 = 2;
    pub(crate) const TIMERS: u8 = 4;
    pub(crate) const ISRS: u8 = 8;
}

fn caller() -> u8 {
    match port::current() {
        Current::Thread(thread) if thread.is_timer_thread() => from::TIMERS,
        Current::Thread(_) => from::THREADS,
        Current::Interrupt | Current::Idle => from::ISRS,
        Current::Initialization => from::INITIALIZATION,
    }
}

/// Returns the error of a checked service. As the result of a call, from which the service returns by its own
/// means, so that only this way out of it has a frame: one whose frame nothing needs has it on every way.
#[inline(always)]
fn refuse(error: UINT) -> UINT {
    #[cold]
    #[inline(never)]
    fn code(error: UINT) -> Code {
        port::unknown(error) as Code
    }
    code(error).into()
}

/// The second half of a checked service: the service, unless there is an `error`.
#[inline(always)]
fn unless(error: UINT, service: impl FnOnce() -> UINT) -> UINT {
    if error == TX_SUCCESS { service() } else { refuse(error) }
}

pub(crate) fn called_from(allowed: u8) -> bool {
    caller() & allowed != 0
}

unsafe fn thread(ptr: *mut TX_THREAD) -> Thread {
    debug_assert!(!ptr.is_null());
    // SAFETY: the unchecked services' contract: a created thread.
    unsafe { Thread::new(NonNull::new_unchecked(ptr)) }
}

unsafe fn timer(ptr: *mut TX_TIMER) -> Timer {
    debug_assert!(!ptr.is_null());
    // SAFETY: the unchecked services' contract: a created timer.
    unsafe { Timer::new(NonNull::new_unchecked(ptr)) }
}

unsafe fn semaphore(ptr: *mut TX_SEMAPHORE) -> Semaphore {
    debug_assert!(!ptr.is_null());
    // SAFETY: the unchecked services' contract: a created semaphore.
    unsafe { Semaphore::new(NonNull::new_unchecked(ptr)) }
}

unsafe fn is_thread(ptr: *mut TX_THREAD) -> bool {
    // SAFETY: the checked services' contract: null or readable as a block.
    !ptr.is_null() && unsafe { (*ptr).executor.id() } == THREAD_ID
}

unsafe fn is_timer(ptr: *mut TX_TIMER) -> bool {
    // SAFETY: as above.
    !ptr.is_null() && lock().timer_created(unsafe { timer(ptr) })
}

unsafe fn is_semaphore(ptr: *mut TX_SEMAPHORE) -> bool {
    // SAFETY: as above.
    !ptr.is_null() && unsafe { (*ptr).id.get() } == SEMAPHORE_ID
}

unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: result pointers are null or writable.
        unsafe { to.write(value) };
    }
}

fn thread_ptr(thread: Option<Thread>) -> *mut TX_THREAD {
    thread.map_or(core::ptr::null_mut(), Thread::as_ptr)
}

/// [`_tx_thread_info_get`], inlined into both: a call would copy the arguments that lie on the stack.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the documented signature")]
unsafe fn thread_info_get(
    thread_ptr: *mut TX_THREAD,
    name: *mut *mut CHAR,
    state: *mut UINT,
    run_count: *mut ULONG,
    priority: *mut UINT,
    preemption_threshold: *mut UINT,
    time_slice: *mut ULONG,
    next_thread: *mut *mut TX_THREAD,
    next_suspended_thread: *mut *mut TX_THREAD,
) -> UINT {
    // SAFETY: the contract at the top of this module.
    unsafe {
        // One after the other: a snapshot of all would not fit into the registers.
        let (_k, thread) = (lock(), thread(thread_ptr));
        let (turns, slice) = (thread.run_count(), thread.slice_left());
        put(name, thread.name.get().cast_mut());
        put(state, thread.state.get().into());
        put(run_count, turns);
        // The thread's own, as in upstream's kernel, whatever it inherits at the moment.
        put(priority, thread.user_priority.get().into());
        put(preemption_threshold, thread.user_threshold.get().into());
        put(time_slice, slice);
        put(next_thread, self::thread_ptr(thread.next_created()));
        put(next_suspended_thread, self::thread_ptr(thread.links_wait().next()));
    }
    TX_SUCCESS
}

/// Defines unchecked services and, after `checked`, their checked twins.
macro_rules! services {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            #[allow(unused_unsafe)] // some bodies need none
            pub unsafe extern "C-unwind" fn $name($($arg: $ty),*) $(-> $ret)? {
                #[allow(unused_unsafe)] // some bodies need none
                // SAFETY: every unsafe operation in a service's body rests on the contract at the
                // top of this module, which is the caller's promise.
                unsafe { $body }
            }
        )*
    };
}

static STARTED: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);

services! {
    /// `tx_kernel_enter`: does not return; a second call does, and changes nothing.
    fn _tx_initialize_kernel_enter() {
        use core::sync::atomic::Ordering;
        // A plain load and store: nothing else runs before the kernel does.
        if !STARTED.load(Ordering::Relaxed) {
            STARTED.store(true, Ordering::Relaxed);
            port::start();
        }
    }

    /// The board's tick interrupt calls this once a tick.
    fn _tx_timer_interrupt() {
        lock().tick();
    }

    /// Masks interrupts and disables preemption; returns the posture for
    /// [`_tx_thread_preempt_disable_exit`]. In between no service switches threads: relinquish
    /// returns at once and services that would have to wait refuse.
    fn _tx_thread_preempt_disable_enter() -> UINT {
        let k = lock();
        k.disable_preemption();
        let posture = k.posture();
        core::mem::forget(k);
        posture
    }

    /// Undoes [`_tx_thread_preempt_disable_enter`]; a preemption that became due happens here.
    fn _tx_thread_preempt_disable_exit(posture: UINT) {
        let k = lock();
        k.enable_preemption();
        core::mem::forget(k);
        port::restore(posture);
    }

    // ---- threads ---------------------------------------------------------------------------------

    /// `tx_thread_create`.
    fn _tx_thread_create(
        thread_ptr: *mut TX_THREAD, name_ptr: *mut CHAR, entry_function: Option<ThreadEntry>, entry_input: ULONG,
        stack_start: *mut VOID, stack_size: ULONG, priority: UINT, preempt_threshold: UINT, time_slice: ULONG,
        auto_start: UINT,
    ) -> UINT {
        let Some(entry) = entry_function else { return TX_PTR_ERROR };
        TX_THREAD::clear(thread_ptr);
        thread(thread_ptr).create(&ThreadOptions {
            name: name_ptr,
            entry,
            input: entry_input,
            stack_start: stack_start.cast(),
            stack_size,
            priority: priority as u8,
            threshold: preempt_threshold as u8,
            time_slice,
            auto_start: auto_start == TX_AUTO_START,
            timer_thread: false,
        });
        TX_SUCCESS
    }

    /// `tx_thread_create`, checked.
    fn _txe_thread_create(
        thread_ptr: *mut TX_THREAD, name_ptr: *mut CHAR, entry_function: Option<ThreadEntry>, entry_input: ULONG,
        stack_start: *mut VOID, stack_size: ULONG, priority: UINT, preempt_threshold: UINT, time_slice: ULONG,
        auto_start: UINT, thread_control_block_size: UINT,
    ) -> UINT {
        if thread_ptr.is_null() || thread_control_block_size as usize != size_of::<TX_THREAD>() {
            return TX_THREAD_ERROR;
        }
        if !called_from(from::INITIALIZATION | from::THREADS) {
            return TX_CALLER_ERROR;
        }
        let start = stack_start as usize;
        let end = start.wrapping_add((stack_size as usize).saturating_sub(1));
        let (mut exists, mut overlaps) = (false, false);
        lock().threads.for_each(|t| {
            exists |= t.as_ptr() == thread_ptr;
            let other = t.stack_start.get() as usize;
            let other_end = other.wrapping_add(t.stack_size.get() as usize).wrapping_sub(1);
            overlaps |= start <= other_end && other <= end;
        });
        let error = if exists {
            TX_THREAD_ERROR
        } else if stack_start.is_null() || overlaps || end < start || entry_function.is_none() {
            TX_PTR_ERROR
        } else if stack_size < TX_MINIMUM_STACK {
            TX_SIZE_ERROR
        } else if priority >= TX_MAX_PRIORITIES {
            TX_PRIORITY_ERROR
        } else if preempt_threshold > priority {
            TX_THRESH_ERROR
        } else if auto_start > TX_AUTO_START {
            TX_START_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_thread_create(thread_ptr, name_ptr, entry_function, entry_input, stack_start, stack_size, priority,
                preempt_threshold, time_slice, auto_start))
    }

    /// `tx_thread_delete`.
    fn _tx_thread_delete(thread_ptr: *mut TX_THREAD) -> UINT { thread(thread_ptr).delete(&lock()) }

    /// `tx_thread_delete`, checked.
    fn _txe_thread_delete(thread_ptr: *mut TX_THREAD) -> UINT {
        let error = if !is_thread(thread_ptr) {
            TX_THREAD_ERROR
        } else if !called_from(from::THREADS | from::TIMERS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_thread_delete(thread_ptr))
    }

    /// `tx_thread_entry_exit_notify`.
    fn _tx_thread_entry_exit_notify(thread_ptr: *mut TX_THREAD, notify: Option<EntryExitNotify>) -> UINT {
        let _k = lock();
        thread(thread_ptr).entry_exit_notify.set(notify);
        TX_SUCCESS
    }

    /// `tx_thread_entry_exit_notify`, checked.
    fn _txe_thread_entry_exit_notify(thread_ptr: *mut TX_THREAD, notify: Option<EntryExitNotify>) -> UINT {
        if is_thread(thread_ptr) { _tx_thread_entry_exit_notify(thread_ptr, notify) } else { refuse(TX_THREAD_ERROR) }
    }

    /// `tx_thread_identify`: the running thread, in an interrupt the interrupted one, else null.
    fn _tx_thread_identify() -> *mut TX_THREAD {
        // A thread that executes goes on executing whatever interrupts it.
        match port::executing_without(0) {
            Some(thread) => thread.as_ptr(),
            None => {
                let _k = lock();
                thread_ptr(port::running())
            }
        }
    }

    /// `tx_thread_info_get`: null pointers are skipped.
    fn _tx_thread_info_get(
        thread_ptr: *mut TX_THREAD, name: *mut *mut CHAR, state: *mut UINT, run_count: *mut ULONG,
        priority: *mut UINT, preemption_threshold: *mut UINT, time_slice: *mut ULONG,
        next_thread: *mut *mut TX_THREAD, next_suspended_thread: *mut *mut TX_THREAD,
    ) -> UINT {
        thread_info_get(thread_ptr, name, state, run_count, priority, preemption_threshold, time_slice, next_thread,
            next_suspended_thread)
    }

    /// `tx_thread_info_get`, checked.
    fn _txe_thread_info_get(
        thread_ptr: *mut TX_THREAD, name: *mut *mut CHAR, state: *mut UINT, run_count: *mut ULONG,
        priority: *mut UINT, preemption_threshold: *mut UINT, time_slice: *mut ULONG,
        next_thread: *mut *mut TX_THREAD, next_suspended_thread: *mut *mut TX_THREAD,
    ) -> UINT {
        if is_thread(thread_ptr) {
            thread_info_get(thread_ptr, name, state, run_count, priority, preemption_threshold, time_slice,
                next_thread, next_suspended_thread)
        } else {
            refuse(TX_THREAD_ERROR)
        }
    }

    /// `tx_thread_preemption_change`.
    fn _tx_thread_preemption_change(thread_ptr: *mut TX_THREAD, new_threshold: UINT, old_threshold: *mut UINT) -> UINT {
        match thread(thread_ptr).preemption_change(new_threshold.min(u8::MAX as UINT) as u8) {
            Ok(old) => { put(old_threshold, old); TX_SUCCESS }
            Err(error) => error,
        }
    }

    /// `tx_thread_preemption_change`, checked.
    fn _txe_thread_preemption_change(thread_ptr: *mut TX_THREAD, new_threshold: UINT, old_threshold: *mut UINT) -> UINT {
        let error = if !is_thread(thread_ptr) {
            TX_THREAD_ERROR
        } else if old_threshold.is_null() {
            TX_PTR_ERROR
        } else if !called_from(from::THREADS | from::TIMERS) {
            TX_CALLER_ERROR
        } else if new_threshold >= TX_MAX_PRIORITIES {
            TX_THRESH_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_thread_preemption_change(thread_ptr, new_threshold, old_threshold))
    }

    /// `tx_thread_priority_change`.
    fn _tx_thread_priority_change(thread_ptr: *mut TX_THREAD, new_priority: UINT, old_priority: *mut UINT) -> UINT {
        put(old_priority, thread(thread_ptr).priority_change(new_priority as u8));
        TX_SUCCESS
    }

    /// `tx_thread_priority_change`, checked.
    fn _txe_thread_priority_change(thread_ptr: *mut TX_THREAD, new_priority: UINT, old_priority: *mut UINT) -> UINT {
        let error = if !is_thread(thread_ptr) {
            TX_THREAD_ERROR
        } else if old_priority.is_null() {
            TX_PTR_ERROR
        } else if !called_from(from::THREADS | from::TIMERS) {
            TX_CALLER_ERROR
        } else if new_priority >= TX_MAX_PRIORITIES {
            TX_PRIORITY_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_thread_priority_change(thread_ptr, new_priority, old_priority))
    }

    /// `tx_thread_relinquish`, checked: from anywhere but a thread it does nothing, and so does the
    /// unchecked one of this kernel.
    fn _txe_thread_relinquish() { port::relinquish() }

    /// `tx_thread_reset`.
    fn _tx_thread_reset(thread_ptr: *mut TX_THREAD) -> UINT { thread(thread_ptr).reset() }

    /// `tx_thread_reset`, checked.
    fn _txe_thread_reset(thread_ptr: *mut TX_THREAD) -> UINT {
        let error = if !is_thread(thread_ptr) {
            TX_THREAD_ERROR
        } else if !called_from(from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_thread_reset(thread_ptr))
    }

    /// `tx_thread_resume`.
    fn _tx_thread_resume(thread_ptr: *mut TX_THREAD) -> UINT { thread(thread_ptr).resume(lock()) }

    /// `tx_thread_resume`, checked.
    fn _txe_thread_resume(thread_ptr: *mut TX_THREAD) -> UINT {
        if is_thread(thread_ptr) { _tx_thread_resume(thread_ptr) } else { refuse(TX_THREAD_ERROR) }
    }

    /// `tx_thread_sleep`.
    fn _tx_thread_sleep(timer_ticks: ULONG) -> UINT { lock().sleep(timer_ticks) }

    /// `tx_thread_stack_error_notify`.
    fn _tx_thread_stack_error_notify(handler: Option<StackErrorNotify>) -> UINT {
        if cfg!(feature = "stack-checking") {
            lock().stack_error.set(handler);
            TX_SUCCESS
        } else {
            TX_FEATURE_NOT_ENABLED
        }
    }

    /// `tx_thread_suspend`.
    fn _tx_thread_suspend(thread_ptr: *mut TX_THREAD) -> UINT { thread(thread_ptr).suspend(lock()) }

    /// `tx_thread_suspend`, checked.
    fn _txe_thread_suspend(thread_ptr: *mut TX_THREAD) -> UINT {
        if is_thread(thread_ptr) { _tx_thread_suspend(thread_ptr) } else { refuse(TX_THREAD_ERROR) }
    }

    /// `tx_thread_terminate`.
    fn _tx_thread_terminate(thread_ptr: *mut TX_THREAD) -> UINT { thread(thread_ptr).terminate() }

    /// `tx_thread_terminate`, checked.
    fn _txe_thread_terminate(thread_ptr: *mut TX_THREAD) -> UINT {
        let error = if !is_thread(thread_ptr) {
            TX_THREAD_ERROR
        } else if !called_from(from::THREADS | from::TIMERS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_thread_terminate(thread_ptr))
    }

    /// `tx_thread_time_slice_change`.
    fn _tx_thread_time_slice_change(thread_ptr: *mut TX_THREAD, new_time_slice: ULONG, old_time_slice: *mut ULONG) -> UINT {
        put(old_time_slice, thread(thread_ptr).time_slice_change(new_time_slice));
        TX_SUCCESS
    }

    /// `tx_thread_time_slice_change`, checked.
    fn _txe_thread_time_slice_change(thread_ptr: *mut TX_THREAD, new_time_slice: ULONG, old_time_slice: *mut ULONG) -> UINT {
        let error = if !is_thread(thread_ptr) {
            TX_THREAD_ERROR
        } else if old_time_slice.is_null() {
            TX_PTR_ERROR
        } else if !called_from(from::THREADS | from::TIMERS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_thread_time_slice_change(thread_ptr, new_time_slice, old_time_slice))
    }

    /// `tx_thread_wait_abort`.
    fn _tx_thread_wait_abort(thread_ptr: *mut TX_THREAD) -> UINT { thread(thread_ptr).wait_abort() }

    /// `tx_thread_wait_abort`, checked.
    fn _txe_thread_wait_abort(thread_ptr: *mut TX_THREAD) -> UINT {
        if is_thread(thread_ptr) { _tx_thread_wait_abort(thread_ptr) } else { refuse(TX_THREAD_ERROR) }
    }

    // ---- time and timers -------------------------------------------------------------------------

    /// `tx_time_get`: ticks since start or since the last set, modulo 2^32.
    fn _tx_time_get() -> ULONG { lock().clock() }

    /// `tx_time_set`: changes the number only; timers and sleeps are not affected.
    fn _tx_time_set(new_time: ULONG) { lock().set_clock(new_time) }

    /// `tx_timer_activate`.
    fn _tx_timer_activate(timer_ptr: *mut TX_TIMER) -> UINT { timer(timer_ptr).activate() }

    /// `tx_timer_activate`, checked.
    fn _txe_timer_activate(timer_ptr: *mut TX_TIMER) -> UINT {
        if is_timer(timer_ptr) { _tx_timer_activate(timer_ptr) } else { refuse(TX_TIMER_ERROR) }
    }

    /// `tx_timer_change`.
    fn _tx_timer_change(timer_ptr: *mut TX_TIMER, initial_ticks: ULONG, reschedule_ticks: ULONG) -> UINT {
        timer(timer_ptr).change(initial_ticks, reschedule_ticks)
    }

    /// `tx_timer_change`, checked. Allowed from initialization as in upstream since September 2026.
    fn _txe_timer_change(timer_ptr: *mut TX_TIMER, initial_ticks: ULONG, reschedule_ticks: ULONG) -> UINT {
        let error = if !is_timer(timer_ptr) {
            TX_TIMER_ERROR
        } else if initial_ticks == 0 {
            TX_TICK_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_timer_change(timer_ptr, initial_ticks, reschedule_ticks))
    }

    /// `tx_timer_create`.
    fn _tx_timer_create(
        timer_ptr: *mut TX_TIMER, name_ptr: *mut CHAR, expiration_function: Option<TimerCallback>,
        expiration_input: ULONG, initial_ticks: ULONG, reschedule_ticks: ULONG, auto_activate: UINT,
    ) -> UINT {
        let Some(expiration) = expiration_function else { return TX_PTR_ERROR };
        timer_ptr.write(TX_TIMER::new());
        timer(timer_ptr).create(&TimerOptions {
            name: name_ptr,
            expiration,
            input: expiration_input,
            initial: initial_ticks,
            reschedule: reschedule_ticks,
            activate: auto_activate == TX_AUTO_ACTIVATE,
        });
        TX_SUCCESS
    }

    /// `tx_timer_create`, checked.
    fn _txe_timer_create(
        timer_ptr: *mut TX_TIMER, name_ptr: *mut CHAR, expiration_function: Option<TimerCallback>,
        expiration_input: ULONG, initial_ticks: ULONG, reschedule_ticks: ULONG, auto_activate: UINT,
        timer_control_block_size: UINT,
    ) -> UINT {
        let error = if timer_ptr.is_null() || timer_control_block_size as usize != size_of::<TX_TIMER>() || lock().has_timer(timer(timer_ptr)) {
            TX_TIMER_ERROR
        } else if expiration_function.is_none() {
            TX_PTR_ERROR
        } else if initial_ticks == 0 {
            TX_TICK_ERROR
        } else if auto_activate > TX_AUTO_ACTIVATE {
            TX_ACTIVATE_ERROR
        } else if !called_from(from::INITIALIZATION | from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_timer_create(timer_ptr, name_ptr, expiration_function, expiration_input, initial_ticks,
                reschedule_ticks, auto_activate))
    }

    /// `tx_timer_deactivate`.
    fn _tx_timer_deactivate(timer_ptr: *mut TX_TIMER) -> UINT { timer(timer_ptr).deactivate() }

    /// `tx_timer_deactivate`, checked.
    fn _txe_timer_deactivate(timer_ptr: *mut TX_TIMER) -> UINT {
        if is_timer(timer_ptr) { _tx_timer_deactivate(timer_ptr) } else { refuse(TX_TIMER_ERROR) }
    }

    /// `tx_timer_delete`.
    fn _tx_timer_delete(timer_ptr: *mut TX_TIMER) -> UINT { timer(timer_ptr).delete() }

    /// `tx_timer_delete`, checked.
    fn _txe_timer_delete(timer_ptr: *mut TX_TIMER) -> UINT {
        let error = if !is_timer(timer_ptr) {
            TX_TIMER_ERROR
        } else if !called_from(from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_timer_delete(timer_ptr))
    }

    /// `tx_timer_info_get`: null pointers are skipped.
    fn _tx_timer_info_get(
        timer_ptr: *mut TX_TIMER, name: *mut *mut CHAR, active: *mut UINT, remaining_ticks: *mut ULONG,
        reschedule_ticks: *mut ULONG, next_timer: *mut *mut TX_TIMER,
    ) -> UINT {
        let info = timer(timer_ptr).info();
        put(name, info.name.cast_mut());
        put(active, info.active as UINT);
        put(remaining_ticks, info.remaining);
        put(reschedule_ticks, info.reschedule);
        put(next_timer, info.next.map_or(core::ptr::null_mut(), Timer::as_ptr));
        TX_SUCCESS
    }

    /// `tx_timer_info_get`, checked.
    fn _txe_timer_info_get(
        timer_ptr: *mut TX_TIMER, name: *mut *mut CHAR, active: *mut UINT, remaining_ticks: *mut ULONG,
        reschedule_ticks: *mut ULONG, next_timer: *mut *mut TX_TIMER,
    ) -> UINT {
        if !is_timer(timer_ptr) {
            return TX_TIMER_ERROR;
        }
        _tx_timer_info_get(timer_ptr, name, active, remaining_ticks, reschedule_ticks, next_timer)
    }

    // ---- semaphores ------------------------------------------------------------------------------

    /// `tx_semaphore_create`.
    fn _tx_semaphore_create(semaphore_ptr: *mut TX_SEMAPHORE, name_ptr: *mut CHAR, initial_count: ULONG) -> UINT {
        semaphore_ptr.write(TX_SEMAPHORE::new());
        semaphore(semaphore_ptr).create(name_ptr, initial_count);
        TX_SUCCESS
    }

    /// `tx_semaphore_create`, checked.
    fn _txe_semaphore_create(
        semaphore_ptr: *mut TX_SEMAPHORE, name_ptr: *mut CHAR, initial_count: ULONG, semaphore_control_block_size: UINT,
    ) -> UINT {
        let error = if semaphore_ptr.is_null() || semaphore_control_block_size as usize != size_of::<TX_SEMAPHORE>()
            || lock().has_semaphore(semaphore(semaphore_ptr))
        {
            TX_SEMAPHORE_ERROR
        } else if !called_from(from::INITIALIZATION | from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_semaphore_create(semaphore_ptr, name_ptr, initial_count))
    }

    /// `tx_semaphore_get`.
    fn _tx_semaphore_get(semaphore_ptr: *mut TX_SEMAPHORE, wait_option: ULONG) -> UINT {
        semaphore(semaphore_ptr).get(wait_option, lock(), ())
    }

    /// `tx_semaphore_get`, checked.
    fn _txe_semaphore_get(semaphore_ptr: *mut TX_SEMAPHORE, wait_option: ULONG) -> UINT {
        let error = if !is_semaphore(semaphore_ptr) {
            TX_SEMAPHORE_ERROR
        } else if wait_option != TX_NO_WAIT && !called_from(from::THREADS) {
            TX_WAIT_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_semaphore_get(semaphore_ptr, wait_option))
    }

    /// `tx_semaphore_put`.
    fn _tx_semaphore_put(semaphore_ptr: *mut TX_SEMAPHORE) -> UINT { semaphore(semaphore_ptr).put(lock(), ()) }

    /// `tx_semaphore_put`, checked.
    fn _txe_semaphore_put(semaphore_ptr: *mut TX_SEMAPHORE) -> UINT {
        if is_semaphore(semaphore_ptr) { _tx_semaphore_put(semaphore_ptr) } else { refuse(TX_SEMAPHORE_ERROR) }
    }

    /// `tx_semaphore_ceiling_put`.
    fn _tx_semaphore_ceiling_put(semaphore_ptr: *mut TX_SEMAPHORE, ceiling: ULONG) -> UINT {
        semaphore(semaphore_ptr).ceiling_put(ceiling)
    }

    /// `tx_semaphore_ceiling_put`, checked.
    fn _txe_semaphore_ceiling_put(semaphore_ptr: *mut TX_SEMAPHORE, ceiling: ULONG) -> UINT {
        if !is_semaphore(semaphore_ptr) {
            refuse(TX_SEMAPHORE_ERROR)
        } else if ceiling == 0 {
            TX_INVALID_CEILING
        } else {
            _tx_semaphore_ceiling_put(semaphore_ptr, ceiling)
        }
    }

    /// `tx_semaphore_delete`.
    fn _tx_semaphore_delete(semaphore_ptr: *mut TX_SEMAPHORE) -> UINT { semaphore(semaphore_ptr).delete() }

    /// `tx_semaphore_delete`, checked.
    fn _txe_semaphore_delete(semaphore_ptr: *mut TX_SEMAPHORE) -> UINT {
        let error = if !is_semaphore(semaphore_ptr) {
            TX_SEMAPHORE_ERROR
        } else if !called_from(from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_semaphore_delete(semaphore_ptr))
    }

    /// `tx_semaphore_prioritize`.
    fn _tx_semaphore_prioritize(semaphore_ptr: *mut TX_SEMAPHORE) -> UINT { semaphore(semaphore_ptr).prioritize() }

    /// `tx_semaphore_prioritize`, checked.
    fn _txe_semaphore_prioritize(semaphore_ptr: *mut TX_SEMAPHORE) -> UINT {
        if is_semaphore(semaphore_ptr) { _tx_semaphore_prioritize(semaphore_ptr) } else { refuse(TX_SEMAPHORE_ERROR) }
    }

    /// `tx_semaphore_put_notify`.
    fn _tx_semaphore_put_notify(semaphore_ptr: *mut TX_SEMAPHORE, notify: Option<SemaphoreNotify>) -> UINT {
        let _k = lock();
        semaphore(semaphore_ptr).put_notify.set(notify);
        TX_SUCCESS
    }

    /// `tx_semaphore_put_notify`, checked.
    fn _txe_semaphore_put_notify(semaphore_ptr: *mut TX_SEMAPHORE, notify: Option<SemaphoreNotify>) -> UINT {
        if is_semaphore(semaphore_ptr) { _tx_semaphore_put_notify(semaphore_ptr, notify) } else { refuse(TX_SEMAPHORE_ERROR) }
    }

    /// `tx_semaphore_info_get`: null pointers are skipped.
    fn _tx_semaphore_info_get(
        semaphore_ptr: *mut TX_SEMAPHORE, name: *mut *mut CHAR, current_value: *mut ULONG,
        first_suspended: *mut *mut TX_THREAD, suspended_count: *mut ULONG, next_semaphore: *mut *mut TX_SEMAPHORE,
    ) -> UINT {
        let info = semaphore(semaphore_ptr).info();
        put(name, info.name.cast_mut());
        put(current_value, info.count);
        put(first_suspended, thread_ptr(info.first));
        put(suspended_count, info.waiting);
        put(next_semaphore, info.next.map_or(core::ptr::null_mut(), Semaphore::as_ptr));
        TX_SUCCESS
    }

    /// `tx_semaphore_info_get`, checked.
    fn _txe_semaphore_info_get(
        semaphore_ptr: *mut TX_SEMAPHORE, name: *mut *mut CHAR, current_value: *mut ULONG,
        first_suspended: *mut *mut TX_THREAD, suspended_count: *mut ULONG, next_semaphore: *mut *mut TX_SEMAPHORE,
    ) -> UINT {
        if !is_semaphore(semaphore_ptr) {
            return TX_SEMAPHORE_ERROR;
        }
        _tx_semaphore_info_get(semaphore_ptr, name, current_value, first_suspended, suspended_count, next_semaphore)
    }
}

mod objects;
mod performance;
mod trace;
pub use objects::*;
pub use performance::*;
pub use trace::*;

/// On the host the fast path is a Rust function.
///
/// # Safety
///
/// None needed; the signature is that of the target's assembly.
#[cfg(not(target_os = "none"))]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _tx_thread_relinquish() {
    port::relinquish();
}

/// `tx_interrupt_control`: sets the caller's interrupt posture, returns the old one.
///
/// # Safety
///
/// As for [`_tx_thread_relinquish`].
#[cfg(not(target_os = "none"))]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _tx_thread_interrupt_control(new_posture: UINT) -> UINT {
    port::interrupt_control(new_posture)
}

#[cfg(target_os = "none")]
unsafe extern "C" {
    /// `tx_thread_relinquish`: in a thread, gives the next ready equal its turn; anywhere else, alone
    /// or with preemption disabled it returns at once.
    pub safe fn _tx_thread_relinquish();

    /// `tx_interrupt_control`: sets the caller's interrupt posture, returns the old one.
    pub fn _tx_thread_interrupt_control(new_posture: UINT) -> UINT;
}

/// [`_tx_thread_relinquish`] inlined: on Armv8-R in A32 code 11 instructions (44 bytes) in place of the
/// call, in every other code the call. Same contexts, same effect.
#[inline(always)]
pub fn relinquish_inline() {
    port::relinquish_inline();
}

/// Checks the scheduler's lists, bitmaps and fast-path pointers, and every object's waiters, owners and
/// memory; says what is wrong.
pub fn check_invariants() -> Result<(), &'static str> {
    let k = lock();
    k.check_scheduler()?;
    k.check_performance()?;
    k.check_semaphores()?;
    k.check_mutexes()?;
    k.check_event_flags()?;
    k.check_queues()?;
    k.check_block_pools()?;
    k.check_byte_pools()
}

/// Whether the caller is a timer's expiration function.
pub fn in_timer_callback() -> bool {
    in_timer_thread()
}

/// Priority and preemption-threshold in effect: those of the thread itself, which `tx_thread_info_get` tells, or
/// what it inherits.
///
/// # Safety
///
/// `thread_ptr` is a created thread.
pub unsafe fn levels_in_effect(thread_ptr: *mut TX_THREAD) -> (UINT, UINT) {
    let _k = lock();
    // SAFETY: the caller's promise.
    let thread = unsafe { thread(thread_ptr) };
    (thread.priority.get().into(), thread.threshold().into())
}

/// Bytes at the low end of the thread's stack that still have the fill pattern: never written since
/// creation, unless with that very pattern.
///
/// # Safety
///
/// `thread_ptr` is a created thread.
pub unsafe fn stack_untouched(thread_ptr: *mut TX_THREAD) -> usize {
    // SAFETY: the caller's promise.
    unsafe { thread(thread_ptr) }.stack_untouched()
}
