//! Threads that borrow.

use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::push::push;
use crate::thread::ThreadCell;
use crate::{Error, Ticks, thread};

/// A place for threads that may borrow what outlives it; see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    /// Cells of the threads that were spawned, linked through `next_scoped`, newest first.
    head: AtomicPtr<ThreadCell>,
    // Invariant in both, as in the standard library: a longer or shorter `'scope` or `'env` in its
    // place would let threads borrow what does not live long enough.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Calls `f` with a scope in which [`Builder::spawn_scoped`](crate::Builder::spawn_scoped) creates
/// threads that borrow from the caller, like `std::thread::scope`.
///
/// Returns when all these threads have ended, whether their handles were joined or not and however
/// `f` ends; their cells and stacks are free then. Results that nobody took are dropped here, one by
/// one, when all threads have ended; threads that such a drop spawns in the scope are waited for too.
/// A wait abort of the caller does not shorten this.
/// If the calling thread is terminated instead, its frames stay for ever, and so do the borrows.
///
/// From threads.
///
/// ```no_run
/// # use core::ops::Range;
/// # pub struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// use threadx::{Builder, ThreadCell};
///
/// threadx::stack! { static STACK: Stack<Btcm, 2048>; }
/// static HELPER: ThreadCell = ThreadCell::new();
///
/// fn sum(numbers: &[u32]) -> u32 {
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     threadx::scope(|s| {
///         let stack = STACK.take().unwrap();
///         let helper = Builder::new("helper").spawn_scoped(s, &HELPER, stack, || left.iter().sum::<u32>());
///         right.iter().sum::<u32>() + helper.unwrap().join().unwrap()
///     })
///     .unwrap()
/// }
/// # sum(&[1, 2]);
/// ```
///
/// # Errors
///
/// [`Error::Caller`] outside threads; `f` is not called then.
///
/// # Panics
///
/// If it ends inside a critical section with threads still running: it can neither wait nor return.
/// The panic does not unwind.
pub fn scope<'env, F, R>(f: F) -> Result<R, Error>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
{
    /// Waits for the threads even if `f` unwinds, and once more if the wait does: on a development
    /// machine a terminated thread unwinds.
    struct End<'a, 'scope, 'env>(&'a Scope<'scope, 'env>);
    impl Drop for End<'_, '_, '_> {
        fn drop(&mut self) {
            let again = End(self.0);
            self.0.end();
            core::mem::forget(again);
        }
    }

    // Where no thread runs no wait is possible: a sleep of no ticks is refused there.
    thread::sleep(Ticks::ZERO)?;
    let scope = Scope { head: AtomicPtr::new(null_mut()), scope: PhantomData, env: PhantomData };
    let end = End(&scope);
    let result = f(&scope);
    drop(end);
    Ok(result)
}

impl Scope<'_, '_> {
    /// Makes the scope's end wait for the thread in `cell`.
    pub(crate) fn add(&self, cell: &'static ThreadCell) {
        push(&self.head, core::ptr::from_ref(cell).cast_mut(), &cell.next_scoped);
    }

    fn end(&self) {
        // Threads and the results that nobody took can both hold this scope and handles of its
        // threads, and so spawn more threads here and join others: threads while they run, results
        // while they are dropped. So no cell is freed before all threads have ended and all results
        // are gone, and each result's drop is followed by another look for new threads. A running
        // thread may still join, so results are claimed only while none is left.
        let mut waited = null_mut();
        loop {
            self.wait_for_new(&mut waited);
            // Claimed before it is dropped: neither a join in the drop nor, if the drop unwinds,
            // the second call of this function gets it once more.
            let Some(cell) = Cells(waited).find(|cell| cell.claim_result()) else { break };
            // SAFETY: the claim was granted to this call.
            unsafe { cell.drop_result() };
        }
        for cell in Cells(self.head.swap(null_mut(), Ordering::AcqRel)) {
            // SAFETY: the thread has ended and its result is gone. Handles cannot leave the scope:
            // they were with `f`, with threads of the scope, or in results, which are all gone, and
            // nobody is left who could have spawned since the last look.
            let ended = unsafe { cell.end_scoped() };
            debug_assert!(ended.is_ok(), "a thread of the scope was not deleted");
        }
    }

    /// Waits for all threads of the scope, those included that appear meanwhile. `waited` is where
    /// the list began at the end of the last such wait, and is moved on.
    fn wait_for_new(&self, waited: &mut *mut ThreadCell) {
        loop {
            let head = self.head.load(Ordering::Acquire);
            if head == *waited {
                return;
            }
            Cells(head).take_while(|&cell| !core::ptr::eq(cell, *waited)).for_each(wait);
            *waited = head;
        }
    }
}

/// The cells of a scope's list from one on. Each cell's successor is read before the cell is handed
/// out: one that was freed may be in another scope's list the next moment.
struct Cells(*mut ThreadCell);

impl Iterator for Cells {
    type Item = &'static ThreadCell;

    fn next(&mut self) -> Option<&'static ThreadCell> {
        // SAFETY: the lists hold pointers made from `&'static ThreadCell` and end with null.
        let cell = unsafe { self.0.as_ref::<'static>() }?;
        self.0 = cell.next_scoped.load(Ordering::Acquire);
        Some(cell)
    }
}

fn wait(cell: &'static ThreadCell) {
    loop {
        match cell.wait_done() {
            Ok(()) => return,
            Err(Error::WaitAborted) => {}
            Err(_) => cannot_wait(),
        }
    }
}

/// The threads of the scope use frames that must not go away, so this must neither return nor unwind.
#[cold]
extern "C" fn cannot_wait() -> ! {
    panic!("threadx::scope ends where waiting for its threads is impossible: inside a critical section")
}
