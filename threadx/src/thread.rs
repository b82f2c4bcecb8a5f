//! Threads: cells, the builder, handles, and the services of and for threads.
//!
//! # Why this is sound
//!
//! * The kernel links a thread's control block. It lives in a [`ThreadCell`], which the kernel only
//!   ever gets as `&'static`, so it cannot move or go away; an atomic flag lets one thread at a time
//!   have it, and is cleared only after the kernel's delete service has succeeded.
//! * The closure, and after it the result, lie at the top of the thread's own stack memory. Who may
//!   touch them follows from [`ThreadCell::outcome`]: until `RETURNED` the thread, then whoever has
//!   the handle; if the handle was dropped first (`DETACHED`), the thread drops the result.
//! * Terminating a thread abandons its frames without running destructors. Others may borrow from
//!   these frames (scoped threads) or rely on their never being overwritten (`Pin`), so the stack
//!   and the cell of a terminated thread are never used again. Then termination is no different from
//!   a thread that waits for ever, which safe code can do anyway. It is offered for threads whose
//!   closure is `'static` only: a scoped thread may have lent its borrows to threads of its own,
//!   which would outlive the scope if its end did not have to wait for theirs.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char};
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};

use threadx_sys::{
    TX_DONT_START, TX_NO_WAIT, TX_SEMAPHORE, TX_SUCCESS, TX_SUSPEND_LIFTED, TX_THREAD,
    TX_THREAD_EXIT, TX_WAIT_FOREVER, UINT, ULONG,
};

use crate::error::check;
use crate::name::Name;
use crate::scope::Scope;
use crate::stack::{RawStack, Region, StackToken};
use crate::start::check_ready;
use crate::{Error, PreemptionThreshold, Priority, Ticks, TimeSlice};

/// The closure returned and its result lies in the slot.
const RETURNED: u8 = 1;
/// Nobody will ask for the result: the handle was dropped.
const DETACHED: u8 = 2;
/// A scoped handle has moved the result out.
const TAKEN: u8 = 4;

/// Every cell that ever carried a thread; cells are `'static`, so none is ever removed.
static CELLS: AtomicPtr<ThreadCell> = AtomicPtr::new(null_mut());

/// The place of one thread: its control block and what this crate keeps about it.
///
/// Define it as a `static` and give it to [`Builder::spawn`]. It serves one thread at a time and is
/// free again when that thread has been joined. The cell of a detached or terminated thread stays in
/// use for ever.
///
/// ```
/// static PING: threadx::ThreadCell = threadx::ThreadCell::new();
/// ```
#[repr(C)]
pub struct ThreadCell {
    /// First, so that the kernel's pointer to the control block is a pointer to the cell.
    control: UnsafeCell<TX_THREAD>,
    /// A latch: 0 while the thread runs, afterwards as many as it takes for every waiter.
    done: UnsafeCell<TX_SEMAPHORE>,
    /// Next in [`CELLS`].
    next: AtomicPtr<ThreadCell>,
    /// Next in the list of the scope that the thread belongs to.
    pub(crate) next_scoped: AtomicPtr<ThreadCell>,
    /// How often the cell was freed: tells a handle whether it still means this thread.
    generation: AtomicU32,
    claimed: AtomicBool,
    /// In [`CELLS`], and `done` is created: once for each cell, by whoever has claimed it.
    registered: AtomicBool,
    outcome: AtomicU8,
    record: UnsafeCell<Record>,
}

// SAFETY: `control` and `done` are touched by the kernel only, under its own lock. `record` is
// written by the one who has `claimed` the cell, before the thread exists, and read until the cell
// is freed; readers outside this order check the generation with preemption disabled. The rest is
// atomic.
unsafe impl Sync for ThreadCell {}
// SAFETY: nothing in an unclaimed cell is tied to a context, and a claimed one is borrowed for ever.
unsafe impl Send for ThreadCell {}

/// What is known of the thread in a cell.
struct Record {
    name: Name,
    /// The closure, later its result.
    slot: NonNull<u8>,
    /// Drops the result in `slot`.
    drop_result: unsafe fn(*mut u8),
    stack: Option<RawStack>,
    /// Bytes of the stack below the slot.
    stack_size: u32,
}

impl Default for ThreadCell {
    fn default() -> Self {
        Self::new()
    }
}

impl ThreadCell {
    /// A cell without a thread.
    #[must_use]
    pub const fn new() -> Self {
        unsafe fn nothing(_: *mut u8) {}
        Self {
            control: UnsafeCell::new(TX_THREAD::new()),
            done: UnsafeCell::new(TX_SEMAPHORE::new()),
            next: AtomicPtr::new(null_mut()),
            next_scoped: AtomicPtr::new(null_mut()),
            generation: AtomicU32::new(0),
            claimed: AtomicBool::new(false),
            registered: AtomicBool::new(false),
            outcome: AtomicU8::new(0),
            record: UnsafeCell::new(Record {
                name: Name::empty(),
                slot: NonNull::dangling(),
                drop_result: nothing,
                stack: None,
                stack_size: 0,
            }),
        }
    }

    /// The control block, with the provenance of the whole cell so that the way back is allowed.
    fn control(&'static self) -> *mut TX_THREAD {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    fn done(&'static self) -> *mut TX_SEMAPHORE {
        self.done.get()
    }

    /// The cell of a control block.
    ///
    /// # Safety
    ///
    /// The control block is that of a cell, as this module passes it to the kernel.
    unsafe fn of(control: *mut TX_THREAD) -> &'static Self {
        // SAFETY: the control block is the first field of the `repr(C)` cell, the pointer was made
        // from a `&'static` to the cell, and everything mutable in it is an `UnsafeCell` or atomic.
        unsafe { &*control.cast::<Self>() }
    }

    /// # Safety
    ///
    /// The caller has claimed the cell and not yet freed it, and its thread was created; or the
    /// generation was checked and nobody else can run.
    unsafe fn record(&self) -> &Record {
        // SAFETY: nobody writes the record between creation of the thread and the cell's release.
        unsafe { &*self.record.get() }
    }

    /// Undoes a claim before anything was recorded.
    fn unclaim(&'static self, stack: RawStack) {
        self.claimed.store(false, Ordering::Release);
        // SAFETY: the token was consumed by the caller and the memory was not used.
        unsafe { stack.give_back() };
    }

    /// Puts the cell on the list of cells and creates its latch, the first time.
    ///
    /// The caller has claimed the cell.
    fn register(&'static self) -> Result<(), Error> {
        if self.registered.load(Ordering::Acquire) {
            // A waiter that the last thread's end woke may have left the latch open.
            // SAFETY: the semaphore is a created one and in place for ever.
            while unsafe { threadx_sys::tx_semaphore_get(self.done(), TX_NO_WAIT) } == TX_SUCCESS {}
            return Ok(());
        }
        // SAFETY: the semaphore is `'static` and not yet created: whoever had the cell before and
        // got this far would have set `registered`, as the step that follows cannot fail.
        check(unsafe { threadx_sys::tx_semaphore_create(self.done(), c"join".as_ptr().cast_mut(), 0) })?;
        let mut head = CELLS.load(Ordering::Acquire);
        loop {
            self.next.store(head, Ordering::Relaxed);
            let me = core::ptr::from_ref(self).cast_mut();
            match CELLS.compare_exchange_weak(head, me, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        self.registered.store(true, Ordering::Release);
        Ok(())
    }

    /// Waits until the thread has ended, and leaves the latch open for others.
    pub(crate) fn wait_done(&'static self) -> Result<(), Error> {
        // SAFETY: the cell carries a thread, so its latch is a created semaphore.
        let status = unsafe { threadx_sys::tx_semaphore_get(self.done(), TX_WAIT_FOREVER) };
        match check(status) {
            Ok(()) => {
                self.open_latch();
                Ok(())
            }
            // A wait without limit that was not even begun: preemption is disabled here.
            Err(Error::NoInstance | Error::Wait) => Err(Error::Caller),
            Err(error) => Err(error),
        }
    }

    fn open_latch(&'static self) {
        // SAFETY: as in `wait_done`; putting is allowed in every context.
        let status = unsafe { threadx_sys::tx_semaphore_put(self.done()) };
        debug_assert_eq!(status, TX_SUCCESS);
    }

    /// Removes the ended thread from the kernel. If its closure returned, nothing of it is left on
    /// the stack but the result: `true`. If it was terminated its frames are to stay.
    ///
    /// # Errors
    ///
    /// [`Error::Caller`] outside threads and timer callbacks.
    fn remove(&'static self) -> Result<bool, Error> {
        // The thread may still be in the last steps of its end, having opened the latch; after this
        // it makes no more.
        // SAFETY: the control block is `'static`; the service checks that it is a created thread.
        check(unsafe { threadx_sys::tx_thread_terminate(self.control()) })?;
        // SAFETY: as above.
        check(unsafe { threadx_sys::tx_thread_delete(self.control()) })?;
        Ok(self.outcome.load(Ordering::Acquire) & RETURNED != 0)
    }

    /// [`Self::remove`] for a scope that ends; drops the result if no handle has taken it.
    ///
    /// # Safety
    ///
    /// The thread has ended, and every handle of it is gone or will not be used.
    pub(crate) unsafe fn end_scoped(&'static self) -> Result<(), Error> {
        if self.remove()? {
            if self.outcome.load(Ordering::Acquire) & TAKEN == 0 {
                // SAFETY: the result is in the slot and nobody else will take it.
                unsafe { (self.record().drop_result)(self.record().slot.as_ptr()) };
            }
            // SAFETY: the thread was deleted after its closure had returned.
            unsafe { self.free() };
        }
        Ok(())
    }

    /// Gives back stack and cell.
    ///
    /// # Safety
    ///
    /// The caller has claimed the cell; the thread is deleted (or never was created); neither its
    /// frames nor its slot will be looked at any more.
    unsafe fn free(&'static self) {
        // SAFETY: the cell is still claimed by the caller, who is the only one to look.
        let stack = unsafe { (*self.record.get()).stack.take() };
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.claimed.store(false, Ordering::Release);
        if let Some(stack) = stack {
            // SAFETY: the token was consumed when the record was written, and is taken from it once.
            unsafe { stack.give_back() };
        }
    }
}

/// The thread that a control block belongs to, if it is one of this crate's.
pub(crate) fn registered(control: *mut TX_THREAD) -> Option<ThreadRef> {
    let mut at = CELLS.load(Ordering::Acquire);
    loop {
        // SAFETY: the list holds pointers made from `&'static ThreadCell` only.
        let cell = unsafe { at.as_ref() }?;
        if at.cast() == control {
            return Some(ThreadRef { cell, generation: cell.generation.load(Ordering::Acquire) });
        }
        at = cell.next.load(Ordering::Acquire);
    }
}

/// The name that the kernel keeps for a thread.
///
/// # Safety
///
/// `control` is a created thread, and its name null or a C string that lives as long.
pub(crate) unsafe fn kernel_name<'a>(control: *mut TX_THREAD) -> Option<&'a CStr> {
    let mut name: *mut c_char = null_mut();
    // SAFETY: a created thread; null pointers are skipped.
    let status = unsafe {
        threadx_sys::tx_thread_info_get(
            control,
            &raw mut name,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
        )
    };
    // SAFETY: the caller vouches for the string.
    (status == TX_SUCCESS && !name.is_null()).then(|| unsafe { CStr::from_ptr(name) })
}

/// First function of a thread: takes the closure from its slot, leaves the result there.
///
/// The cell is found through the current thread and not through the entry input, which is too narrow
/// for a pointer on 64-bit hosts.
unsafe extern "C-unwind" fn entry<F: FnOnce() -> T, T>(_input: ULONG) {
    // SAFETY: this function is the entry of threads in cells only, and the current thread runs it.
    let cell = unsafe { ThreadCell::of(threadx_sys::tx_thread_identify()) };
    // SAFETY: the thread exists, so the record is written and stays.
    let slot = unsafe { cell.record() }.slot;
    // SAFETY: `spawn` put an `F` there; this runs once for each spawn.
    let closure = unsafe { slot.cast::<F>().read() };
    let result = closure();
    // SAFETY: the slot fits an `F` and a `T`, and the closure has been moved out.
    unsafe { slot.cast::<T>().write(result) };
    if cell.outcome.fetch_or(RETURNED, Ordering::AcqRel) & DETACHED != 0 {
        // SAFETY: the handle went without taking the result, so it is this thread's.
        unsafe { slot.cast::<T>().drop_in_place() };
    }
}

/// Entry/exit notification of every thread: the end opens the latch.
unsafe extern "C-unwind" fn notify(thread: *mut TX_THREAD, what: UINT) {
    if what == TX_THREAD_EXIT {
        // SAFETY: registered for threads in cells only.
        unsafe { ThreadCell::of(thread) }.open_latch();
    }
}

/// What a thread is created with.
///
/// ```
/// use threadx::{Builder, Priority, TimeSlice};
/// let builder = Builder::new("logger").priority(Priority::of::<20>()).time_slice(TimeSlice::ticks(4));
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `spawn`"]
pub struct Builder {
    name: &'static str,
    priority: Priority,
    threshold: Option<PreemptionThreshold>,
    time_slice: TimeSlice,
    start: bool,
}

impl Builder {
    /// A thread of priority 16 with this name, without preemption-threshold and time slice.
    ///
    /// The kernel, and with it trace tools and debuggers, sees the first 15 bytes of the name.
    pub const fn new(name: &'static str) -> Self {
        Self { name, priority: Priority::of::<16>(), threshold: None, time_slice: TimeSlice::NONE, start: true }
    }

    /// Sets the priority.
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the preemption-threshold; without one it equals the priority.
    pub const fn preemption_threshold(mut self, threshold: PreemptionThreshold) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Sets the time slice.
    pub const fn time_slice(mut self, slice: TimeSlice) -> Self {
        self.time_slice = slice;
        self
    }

    /// Creates the thread suspended: it runs after [`ThreadRef::resume`].
    pub const fn suspended(mut self) -> Self {
        self.start = false;
        self
    }

    /// Creates a thread that runs `f`.
    ///
    /// From initialization and from threads. A thread of higher priority than the caller's may run,
    /// and even end, before this returns. The closure is kept at the top of the stack, and later
    /// its result in the same place. On an error closure and token are dropped, which gives the
    /// stack back.
    ///
    /// # Errors
    ///
    /// * [`Error::Caller`]: in an interrupt, a timer callback, or before the kernel was started.
    /// * [`Error::InUse`]: the cell carries a thread that was not joined.
    /// * [`Error::StackSize`]: closure or result leave less stack than the kernel's minimum.
    /// * [`Error::Threshold`]: the threshold is greater than the priority.
    pub fn spawn<R, F, T>(self, cell: &'static ThreadCell, stack: StackToken<R>, f: F) -> Result<JoinHandle<T>, Error>
    where
        R: Region,
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: closure and result borrow nothing.
        unsafe { self.spawn_raw(cell, stack, f, || ()) }?;
        Ok(JoinHandle { thread: ThreadRef::live(cell), result: PhantomData })
    }

    /// Creates a thread that runs `f`, which may borrow what outlives `scope`.
    ///
    /// As [`Builder::spawn`] otherwise, see [`scope`](crate::scope()).
    ///
    /// # Errors
    ///
    /// As [`Builder::spawn`].
    pub fn spawn_scoped<'scope, R, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        cell: &'static ThreadCell,
        stack: StackToken<R>,
        f: F,
    ) -> Result<ScopedJoinHandle<'scope, T>, Error>
    where
        R: Region,
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // SAFETY: the scope, on whose list the cell is before the thread starts, does not end before
        // the thread has, and drops or hands out the result before it ends.
        unsafe { self.spawn_raw(cell, stack, f, || scope.add(cell)) }?;
        Ok(ScopedJoinHandle { thread: ThreadRef::live(cell), result: PhantomData })
    }

    /// `before_start` is called when nothing can fail any more and the thread has not begun.
    ///
    /// # Safety
    ///
    /// What closure and result borrow outlives the thread and the result.
    unsafe fn spawn_raw<R, F, T>(
        self,
        cell: &'static ThreadCell,
        stack: StackToken<R>,
        f: F,
        before_start: impl FnOnce(),
    ) -> Result<(), Error>
    where
        R: Region,
        F: FnOnce() -> T + Send,
        T: Send,
    {
        unsafe fn drop_result<T>(slot: *mut u8) {
            // SAFETY: the caller says that the slot holds the result.
            unsafe { slot.cast::<T>().drop_in_place() };
        }
        check_ready()?;
        if cell.claimed.swap(true, Ordering::AcqRel) {
            return Err(Error::InUse);
        }
        let stack = stack.into_raw();
        let size = size_of::<F>().max(size_of::<T>());
        let align = align_of::<F>().max(align_of::<T>()).max(8);
        let Some((slot, stack_size)) = stack.split(size, align) else {
            cell.unclaim(stack);
            return Err(Error::StackSize);
        };
        let record =
            Record { name: Name::new(self.name), slot, drop_result: drop_result::<T>, stack: Some(stack), stack_size };
        // SAFETY: the cell is claimed and carries no thread: nobody reads the record.
        unsafe { *cell.record.get() = record };
        cell.outcome.store(0, Ordering::Release);
        let slot = slot.cast::<F>();
        // SAFETY: the slot is inside the stack, which is this function's, large enough and aligned.
        unsafe { slot.write(f) };
        let created = cell.register().and_then(|()| self.create(cell, entry::<F, T>, stack, stack_size));
        if let Err(error) = created {
            // SAFETY: no thread was created, so the closure is where it was put.
            let closure = unsafe { slot.read() };
            // SAFETY: no thread exists, and the closure was moved out of its slot.
            unsafe { cell.free() };
            drop(closure);
            return Err(error);
        }
        before_start();
        if self.start {
            // SAFETY: a created thread.
            let status = unsafe { threadx_sys::tx_thread_resume(cell.control()) };
            debug_assert_eq!(status, TX_SUCCESS, "a thread created suspended was not resumed");
        }
        Ok(())
    }

    /// Creates the thread suspended and registers its notification.
    fn create(
        self,
        cell: &'static ThreadCell,
        entry: threadx_sys::ThreadEntry,
        stack: RawStack,
        stack_size: u32,
    ) -> Result<(), Error> {
        let threshold = self.threshold.unwrap_or(PreemptionThreshold::at(self.priority));
        // SAFETY: the control block is `'static` and carries no thread, the stack is this thread's
        // until it is deleted, the name is in the cell and so stays as long as the thread; the entry
        // function finds its closure in the slot above the stack. The rest is checked.
        check(unsafe {
            threadx_sys::tx_thread_create(
                cell.control(),
                cell.record().name.as_c(),
                Some(entry),
                0,
                stack.base.as_ptr().cast(),
                stack_size,
                self.priority.number(),
                threshold.number(),
                self.time_slice.get(),
                TX_DONT_START,
            )
        })?;
        // SAFETY: a created thread; the notification has the documented signature.
        let registered = check(unsafe { threadx_sys::tx_thread_entry_exit_notify(cell.control(), Some(notify)) });
        if registered.is_err() {
            // A kernel without notifications cannot report the end of threads. This one never began.
            cell.remove()?;
        }
        registered
    }
}

/// A thread, as long as it is not joined; afterwards every method returns [`Error::Thread`].
///
/// From [`current`] or [`JoinHandle::thread`]. Copies are cheap and may be kept and sent anywhere,
/// they keep nothing alive. There is no way to terminate a thread through it: see
/// [`JoinHandle::terminate`].
#[derive(Clone, Copy)]
pub struct ThreadRef {
    cell: &'static ThreadCell,
    generation: u32,
}

impl PartialEq for ThreadRef {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.cell, other.cell) && self.generation == other.generation
    }
}

impl Eq for ThreadRef {}

impl fmt::Debug for ThreadRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ThreadRef").field(&self.name()).finish()
    }
}

/// What [`ThreadRef::resume`] did.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Resumed {
    /// The thread was suspended and is ready now.
    Ready,
    /// The thread waits or sleeps, and a suspension that was to follow is cancelled
    /// (0x19 SUSPEND_LIFTED).
    SuspensionLifted,
}

/// What a thread does (User Guide, appendix "ThreadX Constants").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum State {
    /// Running or ready to run.
    Ready,
    /// Its closure has returned.
    Completed,
    /// It was terminated.
    Terminated,
    /// Suspended explicitly, or created so.
    Suspended,
    /// Sleeping.
    Sleeping,
    /// Waiting on a queue.
    Queue,
    /// Waiting on a semaphore; joining a thread is such a wait.
    Semaphore,
    /// Waiting for event flags.
    EventFlags,
    /// Waiting on a block pool.
    BlockPool,
    /// Waiting on a byte pool.
    BytePool,
    /// Waiting for a mutex.
    Mutex,
    /// Another of the documented numbers: waiting for a driver, the file system, the network, or
    /// in the middle of a priority change.
    Other(u8),
}

impl State {
    const fn from_kernel(state: UINT) -> Self {
        match state {
            0 => Self::Ready,
            1 => Self::Completed,
            2 => Self::Terminated,
            3 => Self::Suspended,
            4 => Self::Sleeping,
            5 => Self::Queue,
            6 => Self::Semaphore,
            7 => Self::EventFlags,
            8 => Self::BlockPool,
            9 => Self::BytePool,
            13 => Self::Mutex,
            other => Self::Other(other as u8),
        }
    }
}

/// A snapshot of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Info {
    /// What the thread does.
    pub state: State,
    /// How often it was scheduled; wraps.
    pub run_count: u32,
    /// Its priority, an inherited one included.
    pub priority: Priority,
    /// Its preemption-threshold.
    pub preemption_threshold: PreemptionThreshold,
    /// What is left of its time slice.
    pub time_slice: TimeSlice,
}

/// How much of a thread's stack was ever used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct StackUsage {
    /// Bytes of the stack, without the closure's place above it.
    pub size: usize,
    /// Bytes from the top to the deepest byte ever written: exact to a word, as the fill pattern
    /// (0xEF bytes) cannot be told from data that looks like it.
    pub high_water: usize,
}

impl ThreadRef {
    /// The thread that was just created in a cell, by the one who did it.
    fn live(cell: &'static ThreadCell) -> Self {
        Self { cell, generation: cell.generation.load(Ordering::Acquire) }
    }

    /// Calls a service on the thread if it is still the one that this was made for.
    fn call<T>(self, service: impl FnOnce(*mut TX_THREAD) -> Result<T, Error>) -> Result<T, Error> {
        self.with(|cell| service(cell.control()))
    }

    fn with<T>(self, f: impl FnOnce(&'static ThreadCell) -> Result<T, Error>) -> Result<T, Error> {
        let checked = |_| {
            if self.cell.generation.load(Ordering::Acquire) != self.generation {
                return Err(Error::Thread);
            }
            f(self.cell)
        };
        // SAFETY: no precondition.
        if unsafe { threadx_sys::tx_thread_identify() } == self.cell.control() {
            // Nobody joins the running (or interrupted) thread between the check and the service.
            // A service that suspends it must not be inside a critical section.
            checked(())
        } else {
            critical_section::with(|_| checked(()))
        }
    }

    /// The name it was spawned with, `"(joined thread)"` if it is no more.
    ///
    /// From any context.
    #[must_use]
    pub fn name(self) -> &'static str {
        // SAFETY: the generation is checked and the record cannot change meanwhile.
        self.with(|cell| Ok(unsafe { cell.record() }.name.full())).unwrap_or("(joined thread)")
    }

    /// Suspends the thread. One that waits or sleeps is suspended when the wait ends, whose result
    /// it keeps; suspensions do not nest.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Suspend`]: it has ended, or it is the caller inside a critical section, or the
    /// interrupted thread of the interrupt that calls. [`Error::Thread`].
    pub fn suspend(self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.call(|thread| check(unsafe { threadx_sys::tx_thread_suspend(thread) }))
    }

    /// Makes the suspended thread ready, or cancels a suspension that is to follow a wait.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Resume`]: no suspension is in force or pending. [`Error::Thread`].
    pub fn resume(self) -> Result<Resumed, Error> {
        // SAFETY: the service checks the control block.
        self.call(|thread| match unsafe { threadx_sys::tx_thread_resume(thread) } {
            TX_SUSPEND_LIFTED => Ok(Resumed::SuspensionLifted),
            status => check(status).map(|()| Resumed::Ready),
        })
    }

    /// Ends the thread's wait or sleep: its service returns [`Error::WaitAborted`].
    ///
    /// From any context. A scope's end and a started wait of this crate's join that is aborted are
    /// described there.
    ///
    /// # Errors
    ///
    /// [`Error::WaitAbort`]: it neither waits nor sleeps. [`Error::Thread`].
    pub fn wait_abort(self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.call(|thread| check(unsafe { threadx_sys::tx_thread_wait_abort(thread) }))
    }

    /// Sets the priority, and the preemption-threshold to the same; returns the old priority.
    ///
    /// From threads and timer callbacks.
    ///
    /// # Errors
    ///
    /// [`Error::Caller`], [`Error::Thread`].
    pub fn set_priority(self, priority: Priority) -> Result<Priority, Error> {
        let mut old = 0;
        self.call(|thread| {
            // SAFETY: the service checks the control block; `old` is valid for writing.
            check(unsafe { threadx_sys::tx_thread_priority_change(thread, priority.number(), &raw mut old) })
        })?;
        Ok(Priority::from_kernel(old))
    }

    /// Sets the preemption-threshold; returns the old one.
    ///
    /// From threads and timer callbacks.
    ///
    /// # Errors
    ///
    /// [`Error::Threshold`]: greater than the priority. [`Error::Caller`], [`Error::Thread`].
    pub fn set_preemption_threshold(self, threshold: PreemptionThreshold) -> Result<PreemptionThreshold, Error> {
        let mut old = 0;
        self.call(|thread| {
            // SAFETY: the service checks the control block; `old` is valid for writing.
            check(unsafe { threadx_sys::tx_thread_preemption_change(thread, threshold.number(), &raw mut old) })
        })?;
        Ok(PreemptionThreshold::from_kernel(old))
    }

    /// Sets the time slice and starts a fresh one; returns the old one.
    ///
    /// From threads and timer callbacks.
    ///
    /// # Errors
    ///
    /// [`Error::Caller`], [`Error::Thread`].
    pub fn set_time_slice(self, slice: TimeSlice) -> Result<TimeSlice, Error> {
        let mut old = 0;
        self.call(|thread| {
            // SAFETY: the service checks the control block; `old` is valid for writing.
            check(unsafe { threadx_sys::tx_thread_time_slice_change(thread, slice.get(), &raw mut old) })
        })?;
        Ok(TimeSlice::ticks(old))
    }

    /// A snapshot of the thread. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Thread`].
    pub fn info(self) -> Result<Info, Error> {
        let (mut state, mut run_count, mut priority, mut threshold, mut slice) = (0, 0, 0, 0, 0);
        self.call(|thread| {
            // SAFETY: the service checks the control block, writes to valid variables, skips nulls.
            check(unsafe {
                threadx_sys::tx_thread_info_get(
                    thread,
                    null_mut(),
                    &raw mut state,
                    &raw mut run_count,
                    &raw mut priority,
                    &raw mut threshold,
                    &raw mut slice,
                    null_mut(),
                    null_mut(),
                )
            })
        })?;
        Ok(Info {
            state: State::from_kernel(state),
            run_count,
            priority: Priority::from_kernel(priority),
            preemption_threshold: PreemptionThreshold::from_kernel(threshold),
            time_slice: TimeSlice::ticks(slice),
        })
    }

    /// How deep the thread's stack was ever used, by the fill pattern that is left.
    ///
    /// Looks at each unused word, with interrupts on. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Thread`].
    pub fn stack_usage(self) -> Result<StackUsage, Error> {
        // SAFETY: the generation is checked and the record cannot change meanwhile.
        let (stack, size) =
            self.with(|cell| Ok(unsafe { (cell.record().stack, cell.record().stack_size as usize) }))?;
        let stack = stack.ok_or(Error::Thread)?;
        let words = stack.base.cast::<u32>();
        let untouched = (0..size / 4)
            // SAFETY: inside the `'static` stack memory, aligned to 64, all of it written (filled)
            // at creation. The thread may write it at any time, but not in the middle of this read:
            // one processor, one instruction, and volatile, so that no value is assumed.
            .take_while(|&i| unsafe { words.add(i).read_volatile() } == threadx_sys::TX_STACK_FILL)
            .count();
        // If the thread was joined meanwhile the words may be another's.
        self.with(|_| Ok(StackUsage { size, high_water: size - untouched * 4 }))
    }
}

/// Why [`JoinHandle::join`] has no result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JoinError {
    /// The thread was terminated before its closure returned.
    Terminated,
    /// The wait was refused or ended early; the thread goes on, detached (or, in a scope, until the
    /// scope's end).
    Failed(Error),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminated => f.write_str("the thread was terminated"),
            Self::Failed(error) => write!(f, "cannot join: {error}"),
        }
    }
}

impl core::error::Error for JoinError {}

/// Owns a thread's result; like `std::thread::JoinHandle`.
///
/// Dropping it detaches the thread: it goes on, drops its result itself, and its cell and stack stay
/// in use for ever.
#[must_use = "dropping the handle detaches the thread: say so with `detach`"]
pub struct JoinHandle<T> {
    thread: ThreadRef,
    result: PhantomData<*mut T>,
}

// SAFETY: the handle gives out one `T`, in whatever context it is in then.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives no access to the `T`.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// The thread.
    #[must_use]
    pub fn thread(&self) -> ThreadRef {
        self.thread
    }

    /// Whether the thread has ended, so that [`JoinHandle::join`] would not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.has_ended()
    }

    /// Lets the thread go on without a handle; the same as dropping it.
    pub fn detach(self) {}

    /// Waits for the thread to end and returns its result. Cell and stack are free afterwards.
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// * [`JoinError::Terminated`].
    /// * [`JoinError::Failed`] with [`Error::Caller`] outside threads, inside a critical section, or
    ///   from the thread itself; with [`Error::WaitAborted`] if the wait was aborted. The thread is
    ///   detached then.
    pub fn join(self) -> Result<T, JoinError> {
        self.thread.wait().map_err(JoinError::Failed)?;
        match self.try_join() {
            Ok(result) => result,
            Err(_) => Err(JoinError::Failed(Error::Caller)),
        }
    }

    /// The result if the thread has ended, else the handle.
    ///
    /// From threads and timer callbacks; elsewhere the answer is always the handle.
    ///
    /// # Errors
    ///
    /// The handle.
    pub fn try_join(self) -> Result<Result<T, JoinError>, Self> {
        if !self.is_finished() {
            return Err(self);
        }
        match self.thread.cell.remove() {
            // SAFETY: the thread is deleted and its closure returned.
            Ok(true) => Ok(Ok(unsafe { self.take_result() })),
            Ok(false) => {
                core::mem::forget(self);
                Ok(Err(JoinError::Terminated))
            }
            Err(_) => Err(self),
        }
    }

    /// Ends the thread wherever it is; returns the result if its closure had returned already.
    ///
    /// Frames are abandoned and no destructor runs: what the thread holds is leaked. Its cell and
    /// stack are never used again, since others may still borrow from its frames or rely on their
    /// staying as they are; see [`JoinHandle::terminate_and_reclaim`].
    ///
    /// From threads and timer callbacks.
    ///
    /// # Errors
    ///
    /// [`Error::Caller`] elsewhere and from the thread itself; the thread is detached then.
    pub fn terminate(self) -> Result<Option<T>, Error> {
        self.thread.not_self()?;
        if self.thread.cell.remove()? {
            // SAFETY: the thread is deleted and its closure returned.
            return Ok(Some(unsafe { self.take_result() }));
        }
        core::mem::forget(self);
        Ok(None)
    }

    /// [`JoinHandle::terminate`], after which cell and stack are free in any case.
    ///
    /// # Safety
    ///
    /// Nothing on the thread's stack is borrowed by anybody, is pinned, or is linked by the kernel
    /// or anybody else: the memory will be overwritten without a destructor having run. That
    /// excludes a thread inside [`scope`](crate::scope()).
    ///
    /// # Errors
    ///
    /// As [`JoinHandle::terminate`].
    pub unsafe fn terminate_and_reclaim(self) -> Result<Option<T>, Error> {
        self.thread.not_self()?;
        if self.thread.cell.remove()? {
            // SAFETY: the thread is deleted and its closure returned.
            return Ok(Some(unsafe { self.take_result() }));
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: the thread is deleted, and the caller vouches for its frames.
        unsafe { this.thread.cell.free() };
        Ok(None)
    }

    /// # Safety
    ///
    /// The thread is deleted and its closure returned.
    unsafe fn take_result(self) -> T {
        let this = ManuallyDrop::new(self);
        let cell = this.thread.cell;
        // SAFETY: the result is in the slot, and belongs to this handle, which is used up.
        let result = unsafe { cell.record().slot.cast::<T>().read() };
        // SAFETY: the thread is gone, the result moved out.
        unsafe { cell.free() };
        result
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let cell = self.thread.cell;
        if cell.outcome.fetch_or(DETACHED, Ordering::AcqRel) & RETURNED != 0 {
            // SAFETY: the thread left its result to this handle, and the cell is never freed now.
            unsafe { cell.record().slot.cast::<T>().drop_in_place() };
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JoinHandle").field(&self.thread.name()).finish()
    }
}

impl ThreadRef {
    fn has_ended(self) -> bool {
        self.cell.outcome.load(Ordering::Acquire) & RETURNED != 0
            || self.info().is_ok_and(|info| matches!(info.state, State::Completed | State::Terminated))
    }

    /// Refuses the calling thread itself.
    fn not_self(self) -> Result<(), Error> {
        // SAFETY: no precondition.
        let current = unsafe { threadx_sys::tx_thread_identify() };
        if current == self.cell.control() { Err(Error::Caller) } else { Ok(()) }
    }

    fn wait(self) -> Result<(), Error> {
        self.not_self()?;
        self.cell.wait_done()
    }
}

/// Owns the result of a scoped thread; like `std::thread::ScopedJoinHandle`.
///
/// Dropping it leaves the thread to the end of its scope. There is no way to terminate a scoped
/// thread, because threads may borrow from it that its scope does not know.
#[must_use = "the scope's end drops the result"]
pub struct ScopedJoinHandle<'scope, T> {
    thread: ThreadRef,
    result: PhantomData<(*mut T, &'scope ())>,
}

// SAFETY: the handle gives out one `T`, in whatever context it is in then.
unsafe impl<T: Send> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: a shared handle gives no access to the `T`.
unsafe impl<T: Send> Sync for ScopedJoinHandle<'_, T> {}

impl<T> ScopedJoinHandle<'_, T> {
    /// The thread.
    #[must_use]
    pub fn thread(&self) -> ThreadRef {
        self.thread
    }

    /// Whether the thread has ended, so that [`ScopedJoinHandle::join`] would not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.has_ended()
    }

    /// Waits for the thread to end and returns its result. Cell and stack are free when the scope
    /// has ended.
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// As [`JoinHandle::join`].
    pub fn join(self) -> Result<T, JoinError> {
        self.thread.wait().map_err(JoinError::Failed)?;
        let cell = self.thread.cell;
        if cell.outcome.load(Ordering::Acquire) & RETURNED == 0 {
            return Err(JoinError::Terminated);
        }
        cell.outcome.fetch_or(TAKEN, Ordering::AcqRel);
        // SAFETY: the result is in the slot; the one handle takes it, and the scope's end, which
        // comes after this thread's use of the handle, has been told.
        Ok(unsafe { cell.record().slot.cast::<T>().read() })
    }
}

/// The running thread.
///
/// `None` in initialization, when nothing runs, in timer callbacks, and in threads that C code
/// created. In an interrupt: the interrupted thread. Takes time in proportion to the number of cells
/// that were ever used. From any context.
#[must_use]
pub fn current() -> Option<ThreadRef> {
    // SAFETY: no precondition.
    let control = unsafe { threadx_sys::tx_thread_identify() };
    if control.is_null() { None } else { registered(control) }
}

/// Lets the other ready threads of the caller's priority run first, and with a preemption-threshold
/// those that it held off. Returns at once if there are none, inside a critical section, and outside
/// threads.
#[inline(always)]
pub fn relinquish() {
    #[cfg(feature = "bundled")]
    use threadx_sys::_tx_thread_relinquish as service;
    #[cfg(not(feature = "bundled"))]
    use threadx_sys::tx_thread_relinquish as service;

    #[allow(unused_unsafe)] // the bundled kernel's is a safe function on the target
    // SAFETY: the checked service may be called in any context, and so may the bundled kernel's
    // unchecked one.
    unsafe {
        service();
    }
}

/// Sleeps until the `ticks`-th tick from now, which is up to one tick early
/// ([`Ticks::at_least`](crate::Ticks::at_least) makes up for it). Zero returns at once.
///
/// From threads.
///
/// # Errors
///
/// [`Error::Caller`] elsewhere and inside a critical section; [`Error::WaitAborted`].
pub fn sleep(ticks: Ticks) -> Result<(), Error> {
    // SAFETY: the service checks the context itself.
    check(unsafe { threadx_sys::tx_thread_sleep(ticks.get()) })
}
