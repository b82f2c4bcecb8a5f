//! Creating threads.

use core::marker::PhantomData;
use core::sync::atomic::Ordering;

use threadx_sys::{TX_SUCCESS, TX_THREAD, TX_THREAD_EXIT, UINT, ULONG};

use super::cell::{DETACHED, RETURNED, Record, ThreadCell};
use super::join::{JoinHandle, ScopedJoinHandle};
use super::reference::ThreadRef;
use crate::error::check;
use crate::name::Name;
use crate::scope::Scope;
use crate::stack::{RawStack, Region, StackToken};
use crate::start::check_ready;
use crate::{Error, PreemptionThreshold, Priority, TimeSlice};

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

    /// Creates the thread suspended and registers its notification. The caller has claimed the cell and written
    /// its record, and the stack is its own.
    fn create(
        self,
        cell: &'static ThreadCell,
        entry: threadx_sys::ThreadEntry,
        stack: RawStack,
        stack_size: u32,
    ) -> Result<(), Error> {
        let threshold = self.threshold.unwrap_or(PreemptionThreshold::at(self.priority));
        // SAFETY: the caller's promise: nobody writes the record.
        let name = unsafe { cell.record() }.name.as_c();
        #[cfg(feature = "bundled")]
        // SAFETY: the control block is `'static` and carries no thread; the stack was made by `stack!`, so it
        // is apart from all others, large enough, and this thread's until it is deleted; the name is in the
        // cell and so stays as long as the thread; the entry function finds its closure in the slot above
        // the stack; the notification has the documented signature.
        return check(unsafe {
            threadx_sys::direct::thread_create(
                cell.control(),
                name,
                entry,
                stack.base.as_ptr().cast(),
                stack_size,
                self.priority.number(),
                threshold.number(),
                self.time_slice.get(),
                notify,
            )
        })
        .inspect(|()| cell.exists());
        #[cfg(not(feature = "bundled"))]
        {
            // SAFETY: as above. The rest is checked.
            check(unsafe {
                threadx_sys::tx_thread_create(
                    cell.control(),
                    name,
                    Some(entry),
                    0,
                    stack.base.as_ptr().cast(),
                    stack_size,
                    self.priority.number(),
                    threshold.number(),
                    self.time_slice.get(),
                    threadx_sys::TX_DONT_START,
                )
            })?;
            // SAFETY: a created thread; the notification has the documented signature.
            let registered = check(unsafe { threadx_sys::tx_thread_entry_exit_notify(cell.control(), Some(notify)) });
            cell.exists();
            if registered.is_err() {
                // A kernel without notifications cannot report the end of threads. This one never began.
                cell.remove()?;
            }
            registered
        }
    }
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
