//! Waiting: the queue every object that can be waited on has, and the one way in and out of it.

use core::cell::Cell;
use core::ptr::NonNull;

use crate::kernel::Locked;
use crate::list::{LinkKind, Links, List};
use crate::object_ref;
use crate::port::{self, Current};
use crate::thread::Thread;
use crate::types::*;

pub(crate) struct WaitLink;
impl LinkKind<Thread> for WaitLink {
    fn links(node: &Thread) -> &Links<Thread> {
        node.links_wait()
    }
}

/// The threads that wait on one object, in the order they are to be served.
#[repr(C)]
pub(crate) struct WaitQueue {
    list: List<Thread, WaitLink>,
    count: Cell<ULONG>,
    /// What a thread is told that wants to wait here after the object was deleted: a checked service
    /// looks at the object before it locks the kernel, and the object may be gone by then.
    closed: Cell<UINT>,
}

object_ref! {
    /// The queue a thread waits in; valid while the thread waits, because a delete service empties
    /// the queue before it lets go of the object.
    WaitQueueRef -> WaitQueue
}

impl WaitQueue {
    pub(crate) const fn new() -> Self {
        Self { list: List::new(), count: Cell::new(0), closed: Cell::new(TX_SUCCESS) }
    }

    pub(crate) fn first(&self) -> Option<Thread> {
        self.list.front()
    }

    pub(crate) fn len(&self) -> ULONG {
        self.count.get()
    }

    /// The object is being deleted: nobody may begin to wait any more.
    pub(crate) fn close(&self, status: UINT) {
        self.closed.set(status);
    }

    pub(crate) fn remove(&self, thread: Thread) {
        self.list.remove(thread);
        self.count.set(self.count.get() - 1);
    }

    /// Moves the first of the highest-priority waiters to the front; the others keep their order.
    pub(crate) fn prioritize(&self) {
        let mut best: Option<Thread> = None;
        self.list.for_each(|t| {
            if best.is_none_or(|b| t.priority.get() < b.priority.get()) {
                best = Some(t);
            }
        });
        if let Some(best) = best
            && self.list.front() != Some(best)
        {
            self.list.remove(best);
            self.list.push_front(best);
        }
    }
}

impl Locked {
    /// Suspends the running thread in `queue` until it is woken, times out or is aborted; returns
    /// what the waker said.
    ///
    /// Returns `timed_out`, which is also what the thread gets when `wait` ticks have passed, at once
    /// where nothing may wait: outside a thread, with preemption disabled, or with `wait` zero.
    pub(crate) fn wait(&self, queue: &WaitQueue, state: UINT, wait: ULONG, timed_out: UINT) -> UINT {
        let Current::Thread(thread) = port::current() else { return timed_out };
        if wait == TX_NO_WAIT || self.scheduler.preemption_disabled() {
            return timed_out;
        }
        if queue.closed.get() != TX_SUCCESS {
            return queue.closed.get();
        }
        queue.list.push_back(thread);
        queue.count.set(queue.count.get() + 1);
        // SAFETY: the object's delete service wakes every waiter before the object may go away, and
        // every way out of the wait clears this reference.
        thread.wait_queue.set(Some(unsafe { WaitQueueRef::new(NonNull::from(queue)) }));
        thread.timeout_status.set(timed_out as u8);
        if wait != TX_WAIT_FOREVER {
            self.start_timeout(thread, wait);
        }
        self.suspend_running(thread, state);
        thread.wait_status.get()
    }

    /// Ends the wait or sleep of `thread` with `status`: it becomes ready, or suspended if that was
    /// asked for meanwhile. May switch to it.
    pub(crate) fn wake(&self, thread: Thread, status: UINT) {
        if let Some(queue) = thread.wait_queue.take() {
            queue.remove(thread);
        }
        self.stop_timeout(thread);
        thread.wait_status.set(status);
        if thread.suspend_pending.replace(false) {
            thread.state.set(TX_SUSPENDED as u8);
        } else {
            self.make_ready(thread);
        }
    }
}
