//! Entries for a safe layer, inlined into it.
//!
//! A checked C service cannot know more about an object than the tag in its control block, nor can it do
//! better than look before it locks the kernel. A layer whose types vouch for the rest is served here: by
//! the unchecked services, which before they take effect, with the kernel locked, look at a flag of the
//! layer's own. Between this look and the effect nothing else runs, so no creation or deletion can come in
//! between; and where a thread is woken, or has to wait, the object's wait queue says enough.
//!
//! # Contract of every function here
//!
//! * The control block was made by its `new`, is in place for ever, and no other code has it created or
//!   deleted.
//! * The flag is set after the create service has succeeded, and cleared before the kernel is unlocked
//!   after the delete service: in the same critical section.
//! * Arguments are as the checked C service wants them.

#![allow(clippy::missing_safety_doc)] // the contract above is the safety section of all of them

use core::ffi::c_void;
use core::hint::cold_path;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::block_pool::{BlockPool, TX_BLOCK_POOL};
use crate::byte_pool::{BytePool, TX_BYTE_POOL, whole_words};
use crate::c_api::{_tx_thread_create, called_from, from};
use crate::event_flags::{EventFlags, TX_EVENT_FLAGS_GROUP};
use crate::kernel::{Locked, lock, locked};
use crate::mutex::{Mutex, TX_MUTEX};
use crate::port::{self, slow};
use crate::queue::{Queue, TX_QUEUE};
use crate::semaphore::{Semaphore, TX_SEMAPHORE};
use crate::thread::{TX_THREAD, Thread};
use crate::types::*;
use crate::wait::Caller;

/// Whether the caller may ask for a wait of `wait`: only in a thread, and in no timer's callback.
#[inline(always)]
fn may_ask(wait: ULONG) -> bool {
    wait == TX_NO_WAIT || port::executing_without(slow::TIMER_THREAD).is_some()
}

/// The layer's caller, who may wait `wait` for what the object gives.
#[derive(Clone, Copy)]
struct Client<'a> {
    exists: &'a AtomicBool,
    /// What the service returns if it does not.
    missing: UINT,
    wait: ULONG,
}

impl Caller for Client<'_> {
    #[inline(always)]
    fn admit(self) -> bool {
        self.exists.load(Ordering::Relaxed) && may_ask(self.wait)
    }

    #[inline(always)]
    fn admit_beside_waiter(self) -> bool {
        may_ask(self.wait)
    }

    #[inline(always)]
    fn refuse(self, k: Locked) -> UINT {
        cold_path();
        refuse(self.exists, self.missing, k)
    }
}

#[cold]
#[inline(never)]
fn refuse(exists: &AtomicBool, missing: UINT, _k: Locked) -> UINT {
    if exists.load(Ordering::Relaxed) { TX_WAIT_ERROR } else { missing }
}

/// What the checked service would have said where an entry said that the time is over. A wait asks only whether
/// the caller may wait now, and is over at once if not: also if the object does not exist, or the caller could
/// never wait. Every other `status` is what it is.
///
/// `timed_out` and `missing` are what the service says when the time is over, and of an object that does not exist.
pub fn explain(status: UINT, exists: &AtomicBool, wait: ULONG, timed_out: UINT, missing: UINT) -> UINT {
    if status != timed_out {
        status
    } else if !exists.load(Ordering::Relaxed) {
        missing
    } else if !may_ask(wait) {
        TX_WAIT_ERROR
    } else {
        status
    }
}

/// Defines the entries; those with a wait need [`explain`]. The service below takes the kernel's guard `k` and the `caller`.
macro_rules! entries {
    ($($(#[$doc:meta])* fn $name:ident$(<$M:ident>)?(
        $object:ident: $Ref:ident of $Block:ty, $missing:expr $(, $arg:ident: $ty:ty)*
        $(; wait $wait:ident)?
    ) = |$k:ident, $caller:ident| $body:expr;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub unsafe fn $name$(<$M>)?(
                $object: *mut $Block, exists: &AtomicBool $(, $arg: $ty)* $(, $wait: ULONG)?
            ) -> UINT {
                #[allow(unused_mut, unused_assignments)] // of a service without a wait
                let mut wait = TX_NO_WAIT;
                $(wait = $wait;)?
                let $caller = Client { exists, missing: $missing, wait };
                let $k = lock();
                // SAFETY: the contract at the top of this module: a control block that `new` made. The services
                // ask the caller before they take effect; what a service asks of its other arguments is the
                // caller's promise.
                unsafe {
                    let $object = $Ref::new(NonNull::new_unchecked($object));
                    $body
                }
            }
        )*
    };
}

entries! {
    /// `tx_semaphore_get`.
    fn semaphore_get(semaphore: Semaphore of TX_SEMAPHORE, TX_SEMAPHORE_ERROR; wait wait) =
        |k, caller| semaphore.get(wait, k, caller);
    /// `tx_semaphore_put`.
    fn semaphore_put(semaphore: Semaphore of TX_SEMAPHORE, TX_SEMAPHORE_ERROR) = |k, caller| semaphore.put(k, caller);
    /// `tx_event_flags_get`.
    fn event_flags_get(
        group: EventFlags of TX_EVENT_FLAGS_GROUP, TX_GROUP_ERROR, requested: ULONG, option: UINT, output: *mut ULONG;
        wait wait
    ) = |k, caller| group.get(requested, option, output, wait, k, caller);
    /// `tx_event_flags_set`.
    fn event_flags_set(
        group: EventFlags of TX_EVENT_FLAGS_GROUP, TX_GROUP_ERROR, flags: ULONG, option: UINT
    ) = |k, caller| group.set(flags, option, k, caller);
    /// `tx_block_allocate`.
    fn block_allocate(
        pool: BlockPool of TX_BLOCK_POOL, TX_POOL_ERROR, block: *mut *mut c_void; wait wait
    ) = |k, caller| pool.allocate(block, wait, k, caller);
    /// `tx_queue_send` of a queue whose messages have the size of an `M`.
    fn queue_send<M>(
        queue: Queue of TX_QUEUE, TX_QUEUE_ERROR, source: *mut c_void; wait wait
    ) = |k, caller| queue.send::<M>(source.cast(), wait, k, caller);
    /// `tx_queue_receive` of a queue whose messages have the size of an `M`.
    fn queue_receive<M>(
        queue: Queue of TX_QUEUE, TX_QUEUE_ERROR, destination: *mut c_void; wait wait
    ) = |k, caller| queue.receive::<M>(destination.cast(), wait, k, caller);
}

/// `tx_semaphore_put` of a created semaphore.
#[inline(always)]
pub unsafe fn semaphore_put_created(semaphore: *mut TX_SEMAPHORE) -> UINT {
    // SAFETY: the caller's promise: a created semaphore.
    unsafe { Semaphore::new(NonNull::new_unchecked(semaphore)) }.put(lock(), ())
}

/// As many `tx_semaphore_get` of a created semaphore as succeed without a wait.
#[inline(always)]
pub unsafe fn semaphore_empty(semaphore: *mut TX_SEMAPHORE) {
    let _k = lock();
    // SAFETY: the caller's promise: a created semaphore.
    unsafe { Semaphore::new(NonNull::new_unchecked(semaphore)) }.count.set(0);
}

/// `tx_thread_preempt_disable_enter` of this kernel: masks interrupts, and no service switches threads, until
/// [`preempt_disable_exit`] gets the result. Such pairs nest.
#[inline(always)]
pub fn preempt_disable_enter() -> UINT {
    let k = lock();
    k.disable_preemption();
    k.into_posture()
}

/// Undoes [`preempt_disable_enter`]; a preemption that became due happens here.
#[inline(always)]
pub unsafe fn preempt_disable_exit(posture: UINT) {
    // SAFETY: masked since the matching `preempt_disable_enter`, whose result is restored here.
    unsafe { locked() }.end_critical_section();
    port::restore(posture);
}

/// `tx_interrupt_control` in two steps.
pub mod interrupts {
    use crate::port;
    use crate::types::UINT;

    /// Masks interrupts for the caller; the posture before.
    #[inline(always)]
    pub fn mask() -> UINT {
        port::mask()
    }

    /// Sets the posture that the matching [`mask`] told.
    ///
    /// # Safety
    ///
    /// It is one, and the caller's.
    #[inline(always)]
    pub unsafe fn restore(posture: UINT) {
        port::restore(posture);
    }
}

/// Whether the caller is between [`preempt_disable_enter`] and [`preempt_disable_exit`].
pub fn preemption_disabled() -> bool {
    lock().scheduler.preemption_disabled()
}

/// `tx_block_release` of a block that was allocated from a pool whose control block is in place, though the
/// pool may have been deleted since.
#[inline(always)]
pub unsafe fn block_release(block: *mut c_void) -> UINT {
    // SAFETY: the caller's promise. What a deletion leaves of a pool is its control block and its memory, and
    // the release needs no more.
    unsafe { BlockPool::release(block, lock()) }
}

/// Whether blocks of a pool that does not exist (any more) have not been released.
pub unsafe fn block_pool_is_lent(pool: *mut TX_BLOCK_POOL) -> bool {
    // SAFETY: the contract at the top of this module: a control block that `new` made is enough here.
    let info = unsafe { BlockPool::new(NonNull::new_unchecked(pool)) }.info();
    info.available != info.total
}

/// `tx_byte_allocate` in a thread, of no more bytes than the pool has in all: `None`, and nothing has happened, if
/// the pool does not exist or this is anything else.
///
/// `guests` is how many services on the pool are under way and how much memory of it is allocated: one more from
/// the beginning, and not one less if the service fails.
#[inline(always)]
pub unsafe fn byte_allocate(
    pool: *mut TX_BYTE_POOL,
    exists: &AtomicBool,
    guests: &AtomicU32,
    bytes: ULONG,
    wait: ULONG,
) -> Option<Result<*mut c_void, UINT>> {
    let k = lock();
    // SAFETY: the contract at the top of this module: a control block that `new` made.
    let pool = unsafe { BytePool::new(NonNull::new_unchecked(pool)) };
    if !exists.load(Ordering::Relaxed)
        || port::executing_without(slow::TIMER_THREAD).is_none()
        || bytes as usize > pool.size(&k)
    {
        cold_path();
        return None;
    }
    let bytes = whole_words(bytes)?;
    guests.store(guests.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    Some(pool.allocate_words(bytes, wait, k))
}

/// `tx_byte_release` in a thread, of memory that [`byte_allocate`] or the checked service allocated from this pool:
/// `false`, and nothing has happened, elsewhere. `guests` is one less from then on. If the pool does not exist any
/// more that is all.
#[inline(always)]
pub unsafe fn byte_release(
    pool: *mut TX_BYTE_POOL,
    exists: &AtomicBool,
    guests: &AtomicU32,
    memory: *mut c_void,
) -> bool {
    let k = lock();
    if port::executing_without(slow::TIMER_THREAD).is_none() {
        cold_path();
        return false;
    }
    guests.store(guests.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
    if exists.load(Ordering::Relaxed) {
        // SAFETY: the contract at the top of this module: the flag says that the pool is a created one.
        unsafe { BytePool::new(NonNull::new_unchecked(pool)).take_back(memory, k) };
    }
    true
}

/// What [`mutex_get`] came to.
pub enum MutexGet {
    /// The mutex was free, and so was the access: both are the caller's.
    Taken,
    /// The mutex is the caller's after a wait. The access was this word before the wait; it is still to be taken.
    Granted(u32),
    /// What the service says of a wait that ended otherwise.
    Refused(UINT),
    /// Nothing has happened: the mutex does not exist, or is the caller's or nobody's while the access is not free, or
    /// the caller is no thread, or may not wait as `wait` says.
    Unfit,
}

/// `tx_mutex_get` for a caller that keeps the access to what the mutex protects in the bit `held` of a word of its
/// own: of a free mutex that is taken in the same step.
#[inline(always)]
pub unsafe fn mutex_get(
    mutex: *mut TX_MUTEX,
    exists: &AtomicBool,
    access: &AtomicU32,
    held: u32,
    wait: ULONG,
) -> MutexGet {
    let k = lock();
    // SAFETY: the contract at the top of this module: a control block that `new` made.
    let mutex = unsafe { Mutex::new(NonNull::new_unchecked(mutex)) };
    let unfit = if wait == TX_NO_WAIT { 0 } else { slow::TIMER_THREAD };
    let Some(thread) = port::executing_without(unfit) else {
        cold_path();
        return MutexGet::Unfit;
    };
    let word = access.load(Ordering::Acquire);
    if !exists.load(Ordering::Relaxed) {
        cold_path();
        return MutexGet::Unfit;
    }
    if word & held == 0 && mutex.take(thread, &k) {
        access.store(word | held, Ordering::Relaxed);
        return MutexGet::Taken;
    }
    cold_path();
    if !mutex.belongs_to_another(thread) {
        return MutexGet::Unfit;
    }
    match mutex.contend(wait, k).into() {
        TX_SUCCESS => MutexGet::Granted(word),
        status => MutexGet::Refused(status),
    }
}

/// `tx_mutex_put`, also of a mutex that does not exist (any more): refused, as whenever the caller is not the
/// owner.
#[inline(always)]
pub unsafe fn mutex_put(mutex: *mut TX_MUTEX) -> UINT {
    // SAFETY: the contract at the top of this module: a control block that `new` made. A deleted mutex has no
    // owner.
    unsafe { Mutex::new(NonNull::new_unchecked(mutex)) }.put(lock())
}

/// `tx_thread_create` of a thread of the layer's, suspended, with its entry/exit notification: `TX_THRESH_ERROR`,
/// `TX_CALLER_ERROR`, or what the unchecked service says.
///
/// # Safety
///
/// See the top of this module. No thread exists in the control block, and the stack overlaps no other's and has
/// at least `TX_MINIMUM_STACK` bytes.
#[expect(clippy::too_many_arguments, reason = "the documented signature, more or less")]
pub unsafe fn thread_create(
    thread: *mut TX_THREAD,
    name: *mut CHAR,
    entry: ThreadEntry,
    stack: *mut VOID,
    stack_size: ULONG,
    priority: UINT,
    threshold: UINT,
    time_slice: ULONG,
    notify: EntryExitNotify,
) -> UINT {
    debug_assert!(stack_size >= TX_MINIMUM_STACK && priority < TX_MAX_PRIORITIES);
    if threshold > priority {
        return TX_THRESH_ERROR;
    }
    if port::executing_without(slow::TIMER_THREAD).is_none() && !called_from(from::INITIALIZATION) {
        return TX_CALLER_ERROR;
    }
    // SAFETY: the caller's promise.
    let status = unsafe {
        let entry = Some(entry);
        _tx_thread_create(thread, name, entry, 0, stack, stack_size, priority, threshold, time_slice, TX_DONT_START)
    };
    if status == TX_SUCCESS {
        // SAFETY: just created; nobody resumes it before this returns.
        let thread = unsafe { Thread::new(NonNull::new_unchecked(thread)) };
        thread.entry_exit_notify.set(Some(notify));
        thread.executor.layer().set(true);
    }
    status
}

/// `tx_thread_terminate` and `tx_thread_delete` of a thread of the layer's that exists; `deleted` is called with
/// the kernel locked. `TX_CALLER_ERROR`, and nothing has happened, outside threads and timer callbacks.
pub unsafe fn thread_remove(thread: *mut TX_THREAD, deleted: impl FnOnce()) -> UINT {
    if port::executing_without(0).is_none() {
        return TX_CALLER_ERROR;
    }
    // SAFETY: the contract at the top of this module: a created thread.
    let thread = unsafe { Thread::new(NonNull::new_unchecked(thread)) };
    thread.terminate();
    let k = lock();
    let status = thread.delete(&k);
    if status == TX_SUCCESS {
        deleted();
    }
    status
}

/// The thread that executes, if it is one of the layer's: else, and in interrupts, null.
#[inline(always)]
pub fn thread_executing() -> *mut TX_THREAD {
    port::executing_in_layer().map_or(core::ptr::null_mut(), Thread::as_ptr)
}

/// What [`thread_info`] tells of a thread.
pub struct ThreadInfo {
    /// Its state, `TX_READY` and so on.
    pub state: UINT,
    /// How often it was scheduled.
    pub run_count: ULONG,
    /// Its own priority, whatever it inherits.
    pub priority: UINT,
    /// Its own preemption-threshold.
    pub threshold: UINT,
    /// What is left of its time-slice.
    pub time_slice: ULONG,
}

/// The thread, if `is_meant` says with the kernel locked that the control block is still that of the thread
/// that the caller means, which then exists.
///
/// # Safety
///
/// See the top of this module.
#[inline(always)]
unsafe fn meant(thread: *mut TX_THREAD, is_meant: impl FnOnce() -> bool, _k: &Locked) -> Option<Thread> {
    if !is_meant() {
        cold_path();
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { Thread::new(NonNull::new_unchecked(thread)) })
}

/// `tx_thread_resume` of a thread that exists if `is_meant` says so, which is asked with the kernel locked.
#[inline(always)]
pub unsafe fn thread_resume(thread: *mut TX_THREAD, is_meant: impl FnOnce() -> bool) -> UINT {
    let k = lock();
    // SAFETY: the contract at the top of this module.
    match unsafe { meant(thread, is_meant, &k) } {
        Some(thread) => thread.resume(k),
        None => TX_THREAD_ERROR,
    }
}

/// `tx_thread_suspend` of a thread that exists if `is_meant` says so, which is asked with the kernel locked.
#[inline(always)]
pub unsafe fn thread_suspend(thread: *mut TX_THREAD, is_meant: impl FnOnce() -> bool) -> UINT {
    let k = lock();
    // SAFETY: the contract at the top of this module.
    match unsafe { meant(thread, is_meant, &k) } {
        Some(thread) => thread.suspend(k),
        None => TX_THREAD_ERROR,
    }
}

/// `tx_thread_info_get` of a thread that exists if `is_meant` says so, which is asked with the kernel locked.
#[inline(always)]
pub unsafe fn thread_info(thread: *mut TX_THREAD, is_meant: impl FnOnce() -> bool) -> Option<ThreadInfo> {
    let k = lock();
    // SAFETY: the contract at the top of this module.
    let thread = unsafe { meant(thread, is_meant, &k) }?;
    Some(ThreadInfo {
        state: thread.state.get().into(),
        run_count: thread.run_count(),
        priority: thread.user_priority.get().into(),
        threshold: thread.user_threshold.get().into(),
        time_slice: thread.slice_left(),
    })
}
