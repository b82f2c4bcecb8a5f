//! Threads seen from elsewhere.

use core::ffi::{CStr, c_char};
use core::fmt;
use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use threadx_sys::{TX_SUCCESS, TX_SUSPEND_LIFTED, TX_THREAD, UINT};

use super::cell::{CELLS, RETURNED, ThreadCell};
use crate::error::check;
use crate::performance::ThreadCounts;
use crate::{Error, PreemptionThreshold, Priority, TimeSlice};

/// A thread, as long as it is not joined; afterwards every method returns [`Error::Thread`].
///
/// From [`current`](super::current) or [`JoinHandle::thread`](super::JoinHandle::thread). Copies are cheap and may be kept and sent anywhere,
/// they keep nothing alive. There is no way to terminate a thread through it: see
/// [`JoinHandle::terminate`](super::JoinHandle::terminate).
#[derive(Clone, Copy)]
pub struct ThreadRef {
    pub(super) cell: &'static ThreadCell,
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
    /// Its own priority, which may be lower than one that it inherits from a mutex.
    pub priority: Priority,
    /// Its own preemption-threshold, which is weaker than an inherited priority.
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
    pub(super) fn live(cell: &'static ThreadCell) -> Self {
        Self { cell, generation: cell.generation.load(Ordering::Acquire) }
    }

    /// The thread that executes, which has the cell as long as it does: so there is nothing to order.
    #[cfg(feature = "bundled")]
    #[inline(always)]
    pub(super) fn running(cell: &'static ThreadCell) -> Self {
        Self { cell, generation: cell.generation.load(Ordering::Relaxed) }
    }

    /// Whether this still means the thread in the cell. Asked where nothing else runs, neither now nor as long as
    /// the answer is used: so there is nothing to order.
    #[inline(always)]
    fn is_meant(self) -> bool {
        self.cell.generation.load(Ordering::Relaxed) == self.generation
    }

    /// Calls a service on the thread if it is still the one that this was made for.
    fn call<T>(self, service: impl FnOnce(*mut TX_THREAD) -> Result<T, Error>) -> Result<T, Error> {
        self.with(|cell| service(cell.control()))
    }

    fn with<T>(self, f: impl FnOnce(&'static ThreadCell) -> Result<T, Error>) -> Result<T, Error> {
        let checked = |_| {
            if !self.is_meant() {
                return Err(Error::Thread);
            }
            f(self.cell)
        };
        // SAFETY: no precondition.
        if unsafe { threadx_sys::tx_thread_identify() } == self.cell.control() {
            // Nobody joins the running (or interrupted) thread between the check and the service.
            // A service that suspends it must not be inside a critical section.
            // And a report from the middle of a service (a fault, a panic, a damaged stack) can ask
            // for the running thread's name: nothing on this way changes the kernel's state.
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
    #[inline]
    pub fn suspend(self) -> Result<(), Error> {
        #[cfg(feature = "bundled")]
        // SAFETY: the thread that this means exists.
        let result = check(unsafe { threadx_sys::direct::thread_suspend(self.cell.control(), || self.is_meant()) });
        #[cfg(not(feature = "bundled"))]
        // SAFETY: the service checks the control block.
        let result = self.call(|thread| check(unsafe { threadx_sys::tx_thread_suspend(thread) }));
        result
    }

    /// Makes the suspended thread ready, or cancels a suspension that is to follow a wait.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Resume`]: no suspension is in force or pending. [`Error::Thread`].
    #[inline]
    pub fn resume(self) -> Result<Resumed, Error> {
        #[cfg(feature = "bundled")]
        // SAFETY: the thread that this means exists.
        let status = unsafe { threadx_sys::direct::thread_resume(self.cell.control(), || self.is_meant()) };
        #[cfg(not(feature = "bundled"))]
        // SAFETY: the service checks the control block.
        let status = self.call(|thread| Ok(unsafe { threadx_sys::tx_thread_resume(thread) }))?;
        match status {
            TX_SUCCESS => Ok(Resumed::Ready),
            TX_SUSPEND_LIFTED => Ok(Resumed::SuspensionLifted),
            status => Err(Error::from_code(status)),
        }
    }

    /// Ends the thread's wait or sleep: its service returns [`Error::WaitAborted`].
    ///
    /// From any context. A join that is aborted detaches its thread, the end of a scope goes on
    /// waiting.
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
    #[inline]
    pub fn info(self) -> Result<Info, Error> {
        #[cfg(feature = "bundled")]
        // SAFETY: the thread that this means exists.
        return match unsafe { threadx_sys::direct::thread_info(self.cell.control(), || self.is_meant()) } {
            Some(info) => Ok(Info {
                state: State::from_kernel(info.state),
                run_count: info.run_count,
                priority: Priority::from_kernel(info.priority),
                preemption_threshold: PreemptionThreshold::from_kernel(info.threshold),
                time_slice: TimeSlice::ticks(info.time_slice),
            }),
            None => Err(Error::Thread),
        };
        #[cfg(not(feature = "bundled"))]
        self.info_by_service()
    }

    #[cfg(not(feature = "bundled"))]
    fn info_by_service(self) -> Result<Info, Error> {
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

    /// What was counted of the thread, see [`performance`](crate::performance), and who took the processor from it
    /// last: `None` if nobody did, or the system timer thread or a thread of C code. A thread that was joined is
    /// told as the one that its cell has now. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Thread`].
    pub fn performance(self) -> Result<(ThreadCounts, Option<Self>), Error> {
        self.call(ThreadCounts::of)
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

    pub(super) fn has_ended(self) -> bool {
        self.cell.outcome.load(Ordering::Acquire) & RETURNED != 0
            || self.info().is_ok_and(|info| matches!(info.state, State::Completed | State::Terminated))
    }

    /// Refuses the calling thread itself.
    pub(super) fn not_self(self) -> Result<(), Error> {
        // In an interrupt of the thread what follows is refused all the same.
        #[cfg(feature = "bundled")]
        let current = threadx_sys::direct::thread_executing();
        #[cfg(not(feature = "bundled"))]
        // SAFETY: no precondition.
        let current = unsafe { threadx_sys::tx_thread_identify() };
        if current == self.cell.control() { Err(Error::Caller) } else { Ok(()) }
    }

    pub(super) fn wait(self) -> Result<(), Error> {
        self.not_self()?;
        self.cell.wait_done()
    }
}

/// The thread that exists in a control block, if it is one of this crate's.
pub(crate) fn registered(control: *mut TX_THREAD) -> Option<ThreadRef> {
    let mut at = CELLS.load(Ordering::Acquire);
    loop {
        // SAFETY: the list holds pointers made from `&'static ThreadCell` only.
        let cell = unsafe { at.as_ref() }?;
        if at.cast() == control {
            let generation = cell.generation.load(Ordering::Acquire);
            return (generation % 2 == 1).then_some(ThreadRef { cell, generation });
        }
        at = cell.next.load(Ordering::Acquire);
    }
}

/// The name of a thread, for reports that interrupt a service too: everything here only reads, and
/// leaves the kernel's state and the interrupt posture as they were.
///
/// # Safety
///
/// `control` is a created thread, its name null or a C string, and the thread is not deleted while
/// the name is used.
pub(crate) unsafe fn name_of<'a>(control: *mut TX_THREAD) -> &'a str {
    if let Some(thread) = registered(control) {
        // SAFETY: the thread exists, so the record is written and stays.
        return unsafe { thread.cell.record() }.name.full();
    }
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
    if status != TX_SUCCESS || name.is_null() {
        return "?";
    }
    // SAFETY: the caller vouches for the string.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("?")
}
