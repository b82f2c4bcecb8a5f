//! Running a future in a thread.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use crate::sync::{AtomicBool, Ordering};
use crate::{Error, Semaphore, Timeout};

/// Runs one future at a time in the calling thread, which waits while the future does.
///
/// The thread waits on a semaphore of its own, which a waker puts: so a wake before the wait is not
/// lost, wakes of one executor do not reach another, and wakers may be used in any context, interrupts
/// included. A `static`, because wakers may live as long as they like.
///
/// ```
/// # use core::ops::Range;
/// # struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// # threadx::stack! { static STACK: Stack<Btcm, 2048>; }
/// use threadx::{Builder, Executor, ThreadCell};
///
/// async fn double(number: u32) -> u32 {
///     number * 2
/// }
/// static EXECUTOR: Executor = Executor::new();
/// static WORKER: ThreadCell = ThreadCell::new();
///
/// threadx::host::run(10, |_init| {
///     let worker = Builder::new("worker").spawn(&WORKER, STACK.take().unwrap(), || {
///         assert_eq!(EXECUTOR.block_on(async { double(double(1).await).await }), Ok(4));
/// #       threadx::host::finish()
///     });
///     worker.unwrap().detach();
/// });
/// ```
pub struct Executor {
    woken: Semaphore,
    /// Somebody is in [`Executor::block_on`].
    busy: AtomicBool,
}

impl Default for Executor {
    fn default() -> Self {
        Self::new()
    }
}

impl Executor {
    /// An executor that runs nothing yet.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self { woken: Semaphore::new(), busy: AtomicBool::new(false) }
    }

    /// Loom's atomics are not `const`.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self { woken: Semaphore::new(), busy: AtomicBool::new(false) }
    }

    /// Runs `future` to its end and returns what it returns.
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// * [`Error::InUse`]: it runs another future, or did when its thread was terminated.
    /// * [`Error::Caller`]: outside threads; inside a critical section, if the future has to wait.
    /// * [`Error::WaitAborted`]: the thread's wait was aborted.
    ///
    /// With an error the future is dropped.
    pub fn block_on<F: Future>(&'static self, future: F) -> Result<F::Output, Error> {
        // Where no thread runs no wait is possible: a sleep of no ticks is refused there.
        crate::thread::sleep(crate::Ticks::ZERO)?;
        if self.busy.swap(true, Ordering::AcqRel) {
            return Err(Error::InUse);
        }
        let result = self.run(future);
        self.busy.store(false, Ordering::Release);
        result
    }

    fn run<F: Future>(&'static self, future: F) -> Result<F::Output, Error> {
        match self.woken.create("executor", 0) {
            // Used before; nobody deletes it.
            Ok(()) | Err(Error::InUse) => {}
            Err(error) => return Err(error),
        }
        let waker = self.waker();
        let mut context = Context::from_waker(&waker);
        // Pinned in this frame. If the thread is terminated the frame stays for ever.
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                return Ok(result);
            }
            match self.woken.get(Timeout::Forever) {
                Ok(()) => {}
                // The wait was not even begun: preemption is disabled here.
                Err(Error::NoInstance) => return Err(Error::Caller),
                Err(error) => return Err(error),
            }
        }
    }

    /// A waker of this executor. Waking while it does not wait makes it look at its future once more.
    #[must_use]
    pub fn waker(&'static self) -> Waker {
        // SAFETY: the functions keep to the contract of `RawWaker`: the data is `'static` and shared,
        // so clone and drop have nothing to do, and wake may be called anywhere, any number of times.
        unsafe { Waker::from_raw(self.raw_waker()) }
    }

    fn raw_waker(&'static self) -> RawWaker {
        /// # Safety
        ///
        /// `data` is that of [`Executor::raw_waker`].
        unsafe fn executor(data: *const ()) -> &'static Executor {
            // SAFETY: made from a `&'static Executor`.
            unsafe { &*data.cast::<Executor>() }
        }
        const VTABLE: RawWakerVTable = RawWakerVTable::new(
            // SAFETY: the table is used with this data only.
            |data| unsafe { executor(data) }.raw_waker(),
            // SAFETY: as above.
            |data| unsafe { executor(data) }.wake(),
            // SAFETY: as above.
            |data| unsafe { executor(data) }.wake(),
            |_| (),
        );
        RawWaker::new(core::ptr::from_ref(self).cast(), &VTABLE)
    }

    fn wake(&'static self) {
        // One wake is enough however many come, so the ceiling's refusal is no failure.
        let _ = self.woken.ceiling_put(1);
    }
}
