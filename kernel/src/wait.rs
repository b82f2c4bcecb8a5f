//! Waiting: the queue every object that can be waited on has, and the one way in and out of it.

use core::cell::Cell;
use core::ptr::NonNull;

use crate::kernel::Locked;
use crate::list::{LinkKind, Links, List};
use crate::object_ref;
use crate::performance::{TOTALS, WaitCounters, bump};
use crate::port;
use crate::scheduler::ReadyList;
use crate::thread::{Thread, pending};
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
    /// How many they are, if more than one.
    many: Cell<ULONG>,
    /// What a thread is told that wants to wait here before the object was created, or after it was deleted:
    /// a checked service looks at the object before it locks the kernel, and the object may be gone by then.
    closed: Cell<UINT>,
    pub(crate) performance: WaitCounters,
}

object_ref! {
    /// The queue a thread waits in; valid while the thread waits, because a delete service empties
    /// the queue before it lets go of the object.
    WaitQueueRef -> WaitQueue
}

impl WaitQueue {
    /// The queue of an object that does not exist yet: who wants to wait is told `status`.
    pub(crate) const fn closed(status: UINT) -> Self {
        Self { list: List::new(), many: Cell::new(0), closed: Cell::new(status), performance: WaitCounters::new() }
    }

    /// The object is being created.
    pub(crate) fn open(&self) {
        self.closed.set(TX_SUCCESS);
    }

    #[inline(always)]
    pub(crate) fn first(&self) -> Option<Thread> {
        self.list.front()
    }

    pub(crate) fn len(&self) -> ULONG {
        match self.list.front() {
            None => 0,
            Some(only) if only.links_wait().next() == Some(only) => 1,
            Some(_) => self.many.get(),
        }
    }

    /// Exactly one thread waits.
    #[inline(always)]
    pub(crate) fn is_single(&self) -> bool {
        self.list.front().is_some_and(|first| first.links_wait().next() == Some(first))
    }

    #[inline(never)]
    fn push(&self, thread: Thread, first: bool) {
        self.many.set(self.len() + 1);
        if first {
            self.list.push_front(thread);
        } else {
            self.list.push_back(thread);
        }
    }

    #[inline(never)]
    fn remove_from_others(&self, thread: Thread) {
        self.many.set(self.many.get() - 1);
        self.list.remove(thread);
    }

    /// Nobody waits, and the object exists. One test for both.
    #[inline(always)]
    fn is_free(&self) -> bool {
        self.list.front().map_or(0, |first| first.as_ptr() as usize) | self.closed.get() as usize == 0
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
        if thread.links_wait().next() == Some(thread) {
            self.list.remove_only(thread);
        } else {
            self.remove_from_others(thread);
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
        if members != self.len() {
            result = Err("wait queue and its count disagree");
        }
        result
    }
}

/// Who calls a service that may take effect at once.
pub(crate) trait Caller: Copy {
    /// Whether it may, asked before it does. A wait asks nothing of the caller but [`Locked::may_wait`].
    fn admit(self) -> bool;

    /// [`Self::admit`] where somebody waits on the object, which therefore exists.
    fn admit_beside_waiter(self) -> bool;

    /// The end of a service that was not admitted: unlocks the kernel and says why.
    fn refuse(self, k: Locked) -> UINT;
}

/// C code that calls an unchecked service: the contract vouches for it.
impl Caller for () {
    #[inline(always)]
    fn admit(self) -> bool {
        true
    }

    #[inline(always)]
    fn admit_beside_waiter(self) -> bool {
        true
    }

    #[inline(always)]
    fn refuse(self, _k: Locked) -> UINT {
        TX_SUCCESS
    }
}

/// What the waits of one kind have in common.
pub(crate) struct Wait {
    /// State of a thread that waits so.
    state: u8,
    /// What it gets when its time is over, and what a thread gets that may not wait.
    timed_out: u8,
    /// Before all others.
    first: bool,
}

impl Wait {
    /// A wait behind those who wait already.
    pub(crate) const fn new(state: UINT, timed_out: UINT) -> Self {
        Self { state: state as u8, timed_out: timed_out as u8, first: false }
    }

    /// A wait before those who wait already.
    pub(crate) const fn first(state: UINT, timed_out: UINT) -> Self {
        Self { first: true, ..Self::new(state, timed_out) }
    }

    /// A thread waits so in `queue`.
    #[inline(always)]
    fn count(&self, queue: &WaitQueue) {
        let totals = TOTALS.waits(self.state.into());
        if self.timed_out != TX_QUEUE_FULL as u8 {
            bump(&queue.performance.suspensions, &totals.suspensions);
        } else if !self.first {
            bump(&queue.performance.full_suspensions, &totals.full_suspensions);
        }
    }
}

// The functions here take the guard last and end in one another, so that the usual case has no frame:
// see [`Code`].
impl Locked {
    /// The running thread, if it may wait as `wait` says: not outside a thread, not in a timer's
    /// expiration function, not with preemption disabled, not with `wait` zero.
    #[inline(always)]
    pub(crate) fn may_wait(&self, wait: ULONG) -> Option<Thread> {
        if wait == TX_NO_WAIT { None } else { port::waitable() }
    }

    /// [`Self::suspend_in`] without limit of `thread`, which is a plain one that executes. The caller knows
    /// `forever` to be without limit: the argument is in the right register already.
    #[inline(always)]
    pub(crate) fn suspend_plain_in(
        thread: Thread,
        queue: &WaitQueue,
        forever: ULONG,
        kind: &'static Wait,
        k: Self,
    ) -> UINT {
        debug_assert!(forever == TX_WAIT_FOREVER);
        if !queue.is_free() {
            return Self::suspend_in(queue, forever, kind, k);
        }
        queue.list.push_only(thread);
        kind.count(queue);
        k.begin_wait(thread, queue);
        Self::suspend_plain(thread, kind.state, k)
    }

    /// Suspends the running thread in `queue` until it is woken, `wait` ticks have passed or the wait is
    /// aborted; returns what the waker said, or at once what a deleted object says, or, where nothing may
    /// wait, as if the time was over. Nobody's readiness or priority has changed since the kernel was locked.
    #[inline(never)]
    pub(crate) fn suspend_in(queue: &WaitQueue, wait: ULONG, kind: &'static Wait, k: Self) -> UINT {
        let Some(thread) = port::waitable() else { return kind.timed_out.into() };
        match k.join(thread, queue, wait, kind) {
            Ok(()) => Self::suspend_running(thread, kind.state, k),
            Err(error) => error.into(),
        }
    }

    /// The part of a suspension in a queue before the thread stops.
    pub(crate) fn join(&self, thread: Thread, queue: &WaitQueue, wait: ULONG, kind: &'static Wait) -> Result<(), Code> {
        if queue.closed.get() != TX_SUCCESS {
            return Err(queue.closed.get() as Code);
        }
        queue.push(thread, kind.first);
        kind.count(queue);
        self.begin_wait(thread, queue);
        if wait != TX_WAIT_FOREVER {
            self.start_timeout(thread, wait, kind.timed_out);
        }
        Ok(())
    }

    #[inline(always)]
    fn begin_wait(&self, thread: Thread, queue: &WaitQueue) {
        // SAFETY: the object's delete service wakes every waiter before the object may go away, and
        // only the state of a wait gives this reference a meaning.
        thread.wait_queue.set(Some(unsafe { WaitQueueRef::new(NonNull::from(queue)) }));
    }

    /// [`Self::suspend_in`] without limit.
    #[inline(never)]
    pub(crate) fn wait_forever(queue: &WaitQueue, forever: ULONG, kind: &'static Wait, k: Self) -> UINT {
        match port::plain() {
            Some(thread) => Self::suspend_plain_in(thread, queue, forever, kind, k),
            None => Self::suspend_in(queue, forever, kind, k),
        }
    }

    /// [`Self::suspend_in`], or what it says when the time is over at once if there is none.
    #[inline(never)]
    pub(crate) fn wait(queue: &WaitQueue, wait: ULONG, kind: &'static Wait, k: Self) -> Code {
        if wait == TX_NO_WAIT { kind.timed_out } else { Self::suspend_in(queue, wait, kind, k) as Code }
    }

    /// Ends the wait or sleep of `thread` with `status`: it becomes ready, or suspended if that was
    /// asked for meanwhile. May switch to it.
    #[inline(never)]
    pub(crate) fn wake(&self, thread: Thread, status: UINT) {
        if let Some(queue) = thread.wait_queue.get() {
            queue.remove(thread);
        }
        thread.wait_status.set(status as u8);
        if thread.pending.get() == 0 || !self.settle(thread) {
            self.make_ready(thread);
        }
    }

    /// Ends the wait of `waiter`, which waits in `queue`, with success, and unlocks the kernel.
    #[inline(never)]
    pub(crate) fn grant(queue: &WaitQueue, waiter: Thread, k: Self) -> UINT {
        Self::grant_here(queue, waiter, k)
    }

    /// [`Self::grant`] without a call where one equal is ready: then nobody can be preempted.
    #[inline(always)]
    pub(crate) fn grant_here(queue: &WaitQueue, waiter: Thread, k: Self) -> UINT {
        if !k.is_simple(waiter) { Self::grant_any(waiter, k) } else { Self::grant_simple(queue, waiter, k) }
    }

    /// Whether nobody waits beside `waiter` and nothing is pending for the end of its wait.
    #[inline(always)]
    pub(crate) fn is_simple(&self, waiter: Thread) -> bool {
        waiter.links_wait().next() == Some(waiter) && waiter.pending.get() == 0
    }

    /// [`Self::grant_here`] of a simple wait.
    #[inline(always)]
    pub(crate) fn grant_simple(queue: &WaitQueue, waiter: Thread, k: Self) -> UINT {
        let list = waiter.ready_list();
        match list.front() {
            None => Self::grant_alone(queue, waiter, k, list),
            Some(only) if only.links_ready().next() == Some(only) => {
                queue.list.remove_only(waiter);
                waiter.wait_status.set(TX_SUCCESS as u8);
                waiter.state.set(TX_READY as u8);
                waiter.count_resumption();
                k.scheduler.insert_second(only, waiter);
                port::success()
            }
            Some(_) => Self::grant_any(waiter, k),
        }
    }

    /// [`Self::grant`] of a simple wait where nobody is ready in `list`, that of the waiter's priority.
    #[inline(never)]
    fn grant_alone(queue: &WaitQueue, waiter: Thread, k: Self, list: &'static ReadyList) -> UINT {
        queue.list.remove_only(waiter);
        waiter.wait_status.set(TX_SUCCESS as u8);
        waiter.state.set(TX_READY as u8);
        waiter.count_resumption();
        k.scheduler.insert_only(waiter, list);
        if port::concerns(waiter.priority.get()) {
            return Self::preempt_and_unlock(waiter, k);
        }
        port::success()
    }

    /// [`Self::grant`] to one of several waiters, or to one that has a timeout or is to be suspended.
    #[inline(never)]
    pub(crate) fn grant_any(waiter: Thread, k: Self) -> UINT {
        k.wake(waiter, TX_SUCCESS);
        port::success()
    }

    /// Sees to what is pending at the end of a wait; true if that suspended the thread.
    #[inline(never)]
    fn settle(&self, thread: Thread) -> bool {
        self.stop_timeout(thread);
        let suspended = thread.take_pending(pending::SUSPENSION);
        if suspended {
            thread.state.set(TX_SUSPENDED as u8);
        }
        suspended
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
