//! What is lock-free in the crate `threadx`, its own source compiled with loom's atomics: loom runs each test in
//! every order of the threads' steps that the memory model allows.
//!
//! The firmware has one core and interrupts; loom's threads are more than that.

#[path = "../../src/claim.rs"]
#[allow(dead_code, reason = "shared source")]
mod claim;
#[path = "../../src/executor.rs"]
#[allow(dead_code, rustdoc::broken_intra_doc_links, reason = "shared source")]
mod executor;
#[path = "../../src/push.rs"]
#[allow(dead_code, reason = "shared source")]
mod push;

/// What the shared modules find in `threadx`.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
}

mod start {
    pub(crate) fn check_ready() -> Result<(), crate::Error> {
        Ok(())
    }
}

/// Nothing is masked here, so the models do without what a critical section adds.
mod critical {
    pub(crate) fn with<R>(f: impl FnOnce(()) -> R) -> R {
        f(())
    }
}

/// Stands for `threadx::Error`.
#[derive(Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "no model fails in each of these ways")]
enum Error {
    InUse,
    Caller,
    NoInstance,
    CeilingExceeded,
    Semaphore,
}

/// Stands for the kernel beneath the executor: every caller is a thread, every service one step.
mod thread {
    #[allow(clippy::unnecessary_wraps, reason = "the signature of the service")]
    pub(crate) fn sleep(_: crate::Ticks) -> Result<(), crate::Error> {
        Ok(())
    }
}

struct Ticks;

impl Ticks {
    const ZERO: Self = Self;
}

enum Timeout {
    Forever,
}

/// A semaphore as the User Guide documents it; the count of one that exists.
struct Semaphore {
    count: loom::sync::Mutex<Option<u32>>,
    put: loom::sync::Condvar,
}

impl Semaphore {
    fn new() -> Self {
        Self { count: loom::sync::Mutex::new(None), put: loom::sync::Condvar::new() }
    }

    fn create(&self, _name: &str, count: u32) -> Result<(), Error> {
        let mut there = self.count.lock().expect("no panic before");
        match *there {
            Some(_) => Err(Error::InUse),
            None => {
                *there = Some(count);
                Ok(())
            }
        }
    }

    fn get(&self, timeout: Timeout) -> Result<(), Error> {
        let Timeout::Forever = timeout;
        let mut count = self.count.lock().expect("no panic before");
        loop {
            match *count {
                None => return Err(Error::Semaphore),
                Some(0) => count = self.put.wait(count).expect("no panic before"),
                Some(n) => {
                    *count = Some(n - 1);
                    return Ok(());
                }
            }
        }
    }

    fn ceiling_put(&self, ceiling: u32) -> Result<(), Error> {
        let mut count = self.count.lock().expect("no panic before");
        match *count {
            None => return Err(Error::Semaphore),
            Some(n) if n >= ceiling => return Err(Error::CeilingExceeded),
            Some(n) => *count = Some(n + 1),
        }
        self.put.notify_one();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Error;
    use crate::claim::Claim;
    use crate::executor::Executor;
    use crate::push::push;
    use crate::sync::{AtomicBool, AtomicPtr, Ordering};
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;
    use std::future::poll_fn;
    use std::ptr::null_mut;
    use std::task::Poll;

    struct Node {
        next: AtomicPtr<Node>,
        /// Written before the push.
        value: UnsafeCell<u32>,
    }

    fn node() -> *mut Node {
        Box::into_raw(Box::new(Node { next: AtomicPtr::new(null_mut()), value: UnsafeCell::new(0) }))
    }

    /// The values of a list from `first` on.
    fn values(first: *mut Node) -> Vec<u32> {
        let mut values = Vec::new();
        let mut at = first;
        // SAFETY: the nodes are freed after the last look at them.
        while let Some(node) = unsafe { at.as_ref() } {
            // SAFETY: values are not written after the push; loom checks it.
            values.push(node.value.with(|v| unsafe { *v }));
            at = node.next.load(Ordering::Acquire);
        }
        values
    }

    #[test]
    fn every_pushed_node_is_in_the_list_once_and_complete() {
        loom::model(|| {
            let head = Arc::new(AtomicPtr::new(null_mut()));
            let nodes = [node(), node()].map(|node| node as usize);
            let threads = [1, 2].map(|value| {
                let (head, node) = (head.clone(), nodes[value - 1]);
                thread::spawn(move || {
                    let node = node as *mut Node;
                    // SAFETY: freed after both threads have ended, and no other thread has it before the push.
                    unsafe { (*node).value.with_mut(|v| *v = value as u32) };
                    // SAFETY: as above.
                    push(&head, node, unsafe { &(*node).next });
                })
            });
            // Somebody looks as soon as there is something: it is complete.
            let first = loop {
                let first = head.load(Ordering::Acquire);
                if !first.is_null() {
                    break first;
                }
                thread::yield_now();
            };
            let seen = values(first);
            assert!(seen.iter().all(|value| [1, 2].contains(value)) && (1..=2).contains(&seen.len()));
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            let mut all = values(head.load(Ordering::Acquire));
            all.sort_unstable();
            assert_eq!(all, [1, 2]);
            // SAFETY: nobody has them any more.
            nodes.into_iter().for_each(|node| drop(unsafe { Box::from_raw(node as *mut Node) }));
        });
    }

    #[test]
    fn one_of_two_creators_gets_the_cell() {
        loom::model(|| {
            let claim = Arc::new(Claim::<true>::new());
            let other = claim.clone();
            let thread = thread::spawn(move || other.take().is_ok());
            let mine = claim.take().is_ok();
            assert!(thread.join().unwrap() != mine);
            assert_eq!(claim.take(), Err(Error::InUse));
        });
    }

    #[test]
    fn an_object_is_whole_for_whoever_creates_it_after_its_deletion() {
        loom::model(|| {
            let shared = Arc::new((Claim::<true>::new(), UnsafeCell::new(0)));
            let other = shared.clone();
            let thread = thread::spawn(move || {
                let (claim, object) = &*other;
                if claim.take().is_ok() {
                    // SAFETY: the claim is this thread's; loom checks it.
                    object.with_mut(|object| unsafe { *object += 1 });
                    claim.release();
                }
            });
            let (claim, object) = &*shared;
            if claim.take().is_ok() {
                // SAFETY: as above.
                object.with_mut(|object| unsafe { *object += 1 });
                claim.release();
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn memory_that_a_guest_holds_is_not_created_again() {
        loom::model(|| {
            let shared = Arc::new((Claim::<true>::new(), UnsafeCell::new(0)));
            shared.0.enter();
            let other = shared.clone();
            let thread = thread::spawn(move || {
                let (claim, memory) = &*other;
                // SAFETY: the guest's own memory until it leaves; loom checks it.
                memory.with_mut(|memory| unsafe { *memory = 1 });
                claim.leave();
            });
            let (claim, memory) = &*shared;
            if claim.take().is_ok() {
                // SAFETY: no guest is left; loom checks it.
                memory.with_mut(|memory| unsafe { *memory = 2 });
            }
            thread.join().unwrap();
        });
    }

    /// An executor of its own for each run of a model; `'static`, as wakers want it, so it is never freed.
    fn executor() -> &'static Executor {
        Box::leak(Box::new(Executor::new()))
    }

    #[test]
    fn no_wake_is_lost_however_many_fall_into_one() {
        // A wake that is lost leaves `block_on` waiting for ever, which loom reports.
        loom::model(|| {
            let executor = executor();
            let done = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
            // As two interrupt handlers would, at any moment, before the wait and during it.
            let wakers = [0, 1].map(|n| {
                let (done, waker) = (done.clone(), executor.waker());
                thread::spawn(move || {
                    done[n].store(true, Ordering::Release);
                    waker.wake();
                })
            });
            let all = poll_fn(|_| {
                let all = done.iter().all(|done| done.load(Ordering::Acquire));
                if all { Poll::Ready(7) } else { Poll::Pending }
            });
            assert_eq!(executor.block_on(all), Ok(7));
            wakers.into_iter().for_each(|waker| waker.join().unwrap());
        });
    }

    #[test]
    fn a_late_wake_reaches_the_next_future_which_only_looks_again() {
        loom::model(|| {
            let executor = executor();
            let done = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
            let (other, waker) = (done.clone(), executor.waker());
            let thread = thread::spawn(move || {
                for done in other.iter() {
                    done.store(true, Ordering::Release);
                    // The first may come when its future has ended already.
                    waker.wake_by_ref();
                }
            });
            for done in done.iter() {
                let one = poll_fn(|_| if done.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending });
                assert_eq!(executor.block_on(one), Ok(()));
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn two_threads_never_run_in_one_executor() {
        loom::model(|| {
            let (executor, running) = (executor(), Arc::new(UnsafeCell::new(0)));
            let run = |running: &UnsafeCell<u32>| {
                executor.block_on(poll_fn(|_| {
                    // SAFETY: one future at a time is polled; loom checks it.
                    running.with_mut(|running| unsafe { *running += 1 });
                    Poll::Ready(())
                }))
            };
            let other = running.clone();
            let thread = thread::spawn(move || run(&other));
            let mine = run(&running);
            let theirs = thread.join().unwrap();
            assert!([&mine, &theirs].iter().all(|result| matches!(result, Ok(()) | Err(Error::InUse))));
            let done = [mine, theirs].iter().filter(|result| result.is_ok()).count();
            // SAFETY: both have ended.
            assert!(done > 0 && running.with(|running| unsafe { *running }) as usize == done);
        });
    }
}
