//! Where a thread lives.

use core::cell::UnsafeCell;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};

use threadx_sys::{TX_SEMAPHORE, TX_SUCCESS, TX_THREAD, TX_WAIT_FOREVER};

use crate::Error;
use crate::error::check;
use crate::name::Name;
use crate::push::push;
use crate::stack::RawStack;

/// The closure returned and its result lies in the slot.
pub(super) const RETURNED: u8 = 1;
/// Nobody will ask for the result: the handle was dropped.
pub(super) const DETACHED: u8 = 2;
/// The result of a scoped thread belongs to the one who set this: its handle or the scope's end.
pub(super) const TAKEN: u8 = 4;

/// Every cell that ever carried a thread; cells are `'static`, so none is ever removed.
pub(super) static CELLS: AtomicPtr<ThreadCell> = AtomicPtr::new(null_mut());

/// The place of one thread: its control block and what this crate keeps about it.
///
/// Define it as a `static` and give it to [`Builder::spawn`](super::Builder::spawn). It serves one thread at a time and is
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
    pub(super) next: AtomicPtr<ThreadCell>,
    /// Next in the list of the scope that the thread belongs to.
    pub(crate) next_scoped: AtomicPtr<ThreadCell>,
    /// How many threads of the cell were created and deleted, odd as long as one exists: tells a reference whether
    /// it still means this thread, which then exists.
    pub(super) generation: AtomicU32,
    pub(super) claimed: AtomicBool,
    /// In [`CELLS`], and `done` is created: once for each cell, by whoever has claimed it.
    registered: AtomicBool,
    pub(super) outcome: AtomicU8,
    pub(super) record: UnsafeCell<Record>,
}

// SAFETY: `control` and `done` are touched by the kernel only, under its own lock. `record` is
// written by the one who has `claimed` the cell, before the thread exists, and read until the cell
// is freed; readers outside this order check the generation with preemption disabled. The rest is
// atomic.
unsafe impl Sync for ThreadCell {}
// SAFETY: nothing in an unclaimed cell is tied to a context, and a claimed one is borrowed for ever.
unsafe impl Send for ThreadCell {}

/// What is known of the thread in a cell.
pub(super) struct Record {
    pub(super) name: Name,
    /// The closure, later its result.
    pub(super) slot: NonNull<u8>,
    /// Drops the result in `slot`.
    pub(super) drop_result: unsafe fn(*mut u8),
    pub(super) stack: Option<RawStack>,
    /// Bytes of the stack below the slot.
    pub(super) stack_size: u32,
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
    pub(super) fn control(&'static self) -> *mut TX_THREAD {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    pub(super) fn done(&'static self) -> *mut TX_SEMAPHORE {
        self.done.get()
    }

    /// The cell of a control block.
    ///
    /// # Safety
    ///
    /// The control block is that of a cell, as this module passes it to the kernel.
    pub(super) unsafe fn of(control: *mut TX_THREAD) -> &'static Self {
        // SAFETY: the control block is the first field of the `repr(C)` cell, the pointer was made
        // from a `&'static` to the cell, and everything mutable in it is an `UnsafeCell` or atomic.
        unsafe { &*control.cast::<Self>() }
    }

    /// # Safety
    ///
    /// The caller has claimed the cell and not yet freed it, and its thread was created; or the
    /// generation was checked and nobody else can run.
    pub(super) unsafe fn record(&self) -> &Record {
        // SAFETY: nobody writes the record between creation of the thread and the cell's release.
        unsafe { &*self.record.get() }
    }

    /// Undoes a claim before anything was recorded.
    pub(super) fn unclaim(&'static self, stack: RawStack) {
        self.claimed.store(false, Ordering::Release);
        // SAFETY: the token was consumed by the caller and the memory was not used.
        unsafe { stack.give_back() };
    }

    /// Puts the cell on the list of cells and creates its latch, the first time.
    ///
    /// The caller has claimed the cell.
    #[inline]
    pub(super) fn register(&'static self) -> Result<(), Error> {
        if !self.registered.load(Ordering::Acquire) {
            return self.register_new();
        }
        // A waiter that the last thread's end woke may have left the latch open.
        #[cfg(feature = "bundled")]
        // SAFETY: the semaphore is a created one and in place for ever.
        unsafe {
            threadx_sys::direct::semaphore_empty(self.done());
        }
        #[cfg(not(feature = "bundled"))]
        // SAFETY: as above, and nothing waits.
        while unsafe { threadx_sys::_tx_semaphore_get(self.done(), threadx_sys::TX_NO_WAIT) } == TX_SUCCESS {}
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn register_new(&'static self) -> Result<(), Error> {
        // SAFETY: the semaphore is `'static` and not yet created: whoever had the cell before and
        // got this far would have set `registered`, as the step that follows cannot fail.
        check(unsafe { threadx_sys::tx_semaphore_create(self.done(), c"join".as_ptr().cast_mut(), 0) })?;
        push(&CELLS, core::ptr::from_ref(self).cast_mut(), &self.next);
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

    /// The thread was created, and has not been started by its creator.
    pub(super) fn exists(&'static self) {
        self.generation.store(self.generation.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    pub(super) fn open_latch(&'static self) {
        #[cfg(not(feature = "bundled"))]
        use threadx_sys::_tx_semaphore_put as put;
        #[cfg(feature = "bundled")]
        use threadx_sys::direct::semaphore_put_created as put;
        // SAFETY: as in `wait_done`; putting is allowed in every context.
        let status = unsafe { put(self.done()) };
        debug_assert_eq!(status, TX_SUCCESS);
    }

    /// Removes the ended thread from the kernel. If its closure returned, nothing of it is left on
    /// the stack but the result: `true`. If it was terminated its frames are to stay.
    ///
    /// # Errors
    ///
    /// [`Error::Caller`] outside threads and timer callbacks.
    pub(super) fn remove(&'static self) -> Result<bool, Error> {
        // One step for everybody else: nobody means a deleted thread.
        let deleted =
            || self.generation.store(self.generation.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        // The thread may still be in the last steps of its end, having opened the latch; after its termination
        // it makes no more.
        #[cfg(feature = "bundled")]
        // SAFETY: the control block is `'static`, and the thread in it exists: nobody but the caller, who has
        // claimed the cell, removes it.
        check(unsafe { threadx_sys::direct::thread_remove(self.control(), deleted) })?;
        #[cfg(not(feature = "bundled"))]
        {
            // SAFETY: the control block is `'static`; the service checks that it is a created thread.
            check(unsafe { threadx_sys::tx_thread_terminate(self.control()) })?;
            critical_section::with(|_| {
                // SAFETY: as above.
                check(unsafe { threadx_sys::tx_thread_delete(self.control()) }).inspect(|()| deleted())
            })?;
        }
        Ok(self.outcome.load(Ordering::Acquire) & RETURNED != 0)
    }

    /// Whether there is a result of the scoped thread, which has ended, and it is the caller's from
    /// now on. Of all callers one gets it.
    pub(crate) fn claim_result(&'static self) -> bool {
        self.outcome.fetch_or(TAKEN, Ordering::AcqRel) & (RETURNED | TAKEN) == RETURNED
    }

    /// Drops the result in its slot.
    ///
    /// # Safety
    ///
    /// [`Self::claim_result`] granted it to the caller.
    pub(crate) unsafe fn drop_result(&'static self) {
        // SAFETY: the cell is not freed before the scope has ended, which owns it until then. The
        // result is in the slot, and nobody else will take it.
        unsafe { (self.record().drop_result)(self.record().slot.as_ptr()) }
    }

    /// [`Self::remove`] and [`Self::free`] for a scope that ends.
    ///
    /// # Safety
    ///
    /// The thread has ended, its result was taken or dropped, and every handle of it is gone or
    /// will not be used.
    pub(crate) unsafe fn end_scoped(&'static self) -> Result<(), Error> {
        if self.remove()? {
            // SAFETY: the thread was deleted after its closure had returned, and its result is gone.
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
    pub(super) unsafe fn free(&'static self) {
        // SAFETY: the cell is still claimed by the caller, who is the only one to look.
        let stack = unsafe { (*self.record.get()).stack.take() };
        self.claimed.store(false, Ordering::Release);
        if let Some(stack) = stack {
            // SAFETY: the token was consumed when the record was written, and is taken from it once.
            unsafe { stack.give_back() };
        }
    }
}
