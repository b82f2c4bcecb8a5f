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

    /// The waiter after `thread`, itself a waiter; `None` at the end.
    pub(crate) fn after(&self, thread: Thread) -> Option<Thread> {
        self.list.after(thread)
    }

    #[inline(always)]
    pub(crate) fn remove(&self, thread: Thread) {
        if self.count.replace(self.count.get() - 1) == 1 {
            self.list.remove_only(thread);
        } else {
            self.list.remove(thread);
        }
    }

    /// The first of the highest-priority waiters.
    pub(crate) fn highest(&self) -> Option<Thread> {
        let mut best = self.list.front()?;
        let mut at = self.list.after(best);
        while let Some(thread) = at {
            if thread.priority.get() < best.priority.get() {
                best = thread;
            }
            at = self.list.after(thread);
        }
        Some(best)
    }

    /// Moves the first of the highest-priority waiters to the front; the others keep their order.
    pub(crate) fn prioritize(&self) {
        if let Some(best) = self.highest()
            && self.list.front() != Some(best)
        {
            self.list.remove(best);
            self.list.push_front(best);
        }
    }

    /// Checks links, count and the waiters' side of the wait.
    pub(crate) fn check(&self, state: UINT) -> Result<(), &'static str> {
        let mut result = Ok(());
        let mut members = 0;
        self.list.for_each(|t| {
            members += 1;
            if t.state.get() != state as u8 {
                result = Err("a waiter is not in the state of its wait");
            }
            if t.wait_queue.get().is_none_or(|q| !core::ptr::eq(&*q, self)) {
                result = Err("a waiter does not know its queue");
            }
            if t.links_wait().next().and_then(|n| n.links_wait().prev()) != Some(t) {
                result = Err("wait links do not match");
            }
        });
        if members != self.count.get() {
            result = Err("wait queue and its count disagree");
        }
        result
    }
}

/// Where in a queue a thread waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Front,
    Back,
}

impl Locked {
    /// The running thread, if it may wait as `wait` says: not outside a thread, not in a timer's
    /// expiration function, not with preemption disabled, not with `wait` zero.
    #[inline(always)]
    pub(crate) fn may_wait(&self, wait: ULONG) -> Option<Thread> {
        match port::current() {
            Current::Thread(thread)
                if wait != TX_NO_WAIT && !self.scheduler.preemption_disabled() && !thread.is_timer_thread() =>
            {
                Some(thread)
            }
            _ => None,
        }
    }

    /// Suspends the running thread in `queue` until it is woken, times out or is aborted; returns
    /// what the waker said, or at once what a deleted object says. [`Self::may_wait`] has allowed it
    /// and the kernel has not been unlocked since. `timed_out` is what the thread gets when `wait` ticks have passed.
    #[inline(always)]
    pub(crate) fn suspend_in(
        &self,
        thread: Thread,
        queue: &WaitQueue,
        place: Place,
        state: UINT,
        wait: ULONG,
        timed_out: UINT,
    ) -> UINT {
        if queue.closed.get() != TX_SUCCESS {
            return queue.closed.get();
        }
        match place {
            _ if queue.list.front().is_none() => queue.list.push_only(thread),
            Place::Back => queue.list.push_back(thread),
            Place::Front => queue.list.push_front(thread),
        }
        queue.count.set(queue.count.get() + 1);
        // SAFETY: the object's delete service wakes every waiter before the object may go away, and
        // every way out of the wait clears this reference.
        thread.wait_queue.set(Some(unsafe { WaitQueueRef::new(NonNull::from(queue)) }));
        thread.timeout_status.set(timed_out as u8);
        if wait != TX_WAIT_FOREVER {
            self.start_timeout(thread, wait);
        }
        self.suspend_running(thread, state);
        thread.wait_status.get() as UINT
    }

    /// [`Self::suspend_in`] at the back, or `timed_out` at once where nothing may wait.
    #[inline(always)]
    pub(crate) fn wait(&self, queue: &WaitQueue, state: UINT, wait: ULONG, timed_out: UINT) -> UINT {
        match self.may_wait(wait) {
            Some(thread) => self.suspend_in(thread, queue, Place::Back, state, wait, timed_out),
            None => timed_out,
        }
    }

    /// Ends the wait or sleep of `thread` with `status`: it becomes ready, or suspended if that was
    /// asked for meanwhile. May switch to it.
    #[inline(always)]
    pub(crate) fn wake(&self, thread: Thread, status: UINT) {
        if let Some(queue) = thread.wait_queue.take() {
            queue.remove(thread);
        }
        self.stop_timeout(thread);
        thread.wait_status.set(status as u8);
        if thread.suspend_pending.replace(false) {
            thread.state.set(TX_SUSPENDED as u8);
        } else {
            self.make_ready(thread);
        }
    }

    /// Ends every wait in `queue` with `status`, letting interrupts in between two of them. Called
    /// with preemption disabled, so nobody joins meanwhile.
    pub(crate) fn wake_all(&self, queue: &WaitQueue, status: UINT) {
        while let Some(waiter) = queue.first() {
            self.wake(waiter, status);
            self.breathe();
        }
    }
}
