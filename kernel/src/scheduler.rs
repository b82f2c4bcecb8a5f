//! Who runs: ready lists, preemption-threshold, time-slices, and the pointer the fast path follows.
//!
//! # Invariants
//!
//! They hold whenever interrupts are unmasked and the running context is a thread with preemption
//! enabled; R is that thread.
//!
//! 1. R is ready and no ready thread has a priority numerically below R's threshold.
//! 2. R is the first of the ready list of its priority. The stored list head may lag behind,
//!    because the fast path changes R without storing it; [`Scheduler::sync_head`] puts it right
//!    before any list is read or changed.
//! 3. For every ready thread T, `T.context.next` is the ready-list successor of T, unless T is alone
//!    at its priority, has a threshold other than its priority, is the system timer thread, or is R
//!    with preemption disabled: then it is the slow path.
//! 4. Every preempted thread that had a threshold is in `preempted`, at most one a priority, and its
//!    threshold is above (numerically greater than) the priority of everything that has run since.
//!
//! From 1, 3 and 4 follows that the fast path's choice is the scheduler's own: R has no threshold, so
//! by 1 nothing above R's priority is ready; by 4 no preempted thread claims the processor from R's
//! priority; so the scheduler would pick the next of R's equals, which is what `next` points to.

use core::cell::Cell;

use crate::kernel::Locked;
use crate::list::{LinkKind, Links, List};
use crate::performance::count_return;
use crate::port::{self, Current, slow};
use crate::thread::Thread;
use crate::types::*;

pub(crate) struct ReadyLink;
impl LinkKind<Thread> for ReadyLink {
    #[inline(always)]
    fn links(node: &Thread) -> &Links<Thread> {
        node.links_ready()
    }
}

/// The ready threads of one priority.
pub(crate) type ReadyList = List<Thread, ReadyLink>;

pub(crate) struct Scheduler {
    /// Bit p is set while a thread of priority p is ready.
    ready: Cell<u32>,
    lists: [ReadyList; TX_MAX_PRIORITIES as usize],
    /// Bit p is set while a thread of priority p was preempted with its threshold in force.
    preempted: Cell<u32>,
    preempted_threads: [Cell<Option<Thread>>; TX_MAX_PRIORITIES as usize],
    preempt_disable: Cell<u32>,
    /// The tick used up the running thread's slice; it goes behind its equals at the next chance.
    slice_expired: Cell<bool>,
}

/// The bit of a priority in a map of priorities.
pub(crate) const fn bit(priority: u8) -> u32 {
    1 << (priority as u32 % TX_MAX_PRIORITIES)
}

impl Scheduler {
    pub(crate) const fn new() -> Self {
        Self {
            ready: Cell::new(0),
            lists: [const { List::new() }; TX_MAX_PRIORITIES as usize],
            preempted: Cell::new(0),
            preempted_threads: [const { Cell::new(None) }; TX_MAX_PRIORITIES as usize],
            preempt_disable: Cell::new(0),
            slice_expired: Cell::new(false),
        }
    }

    #[cfg(not(target_os = "none"))]
    pub(crate) fn reset(&self) {
        self.ready.set(0);
        self.lists.iter().for_each(List::clear);
        self.preempted.set(0);
        self.preempted_threads.iter().for_each(|t| t.set(None));
        self.preempt_disable.set(0);
        self.slice_expired.set(false);
    }

    #[inline(always)]
    pub(crate) fn list(&self, priority: u8) -> &ReadyList {
        &self.lists[priority as usize % TX_MAX_PRIORITIES as usize]
    }

    #[inline(always)]
    fn preempted_thread(&self, priority: u8) -> &Cell<Option<Thread>> {
        &self.preempted_threads[priority as usize % TX_MAX_PRIORITIES as usize]
    }

    /// Priority of the highest ready thread.
    #[inline(always)]
    fn highest(&self) -> Option<u8> {
        let ready = self.ready.get();
        (ready != 0).then(|| ready.trailing_zeros() as u8)
    }

    #[inline(always)]
    pub(crate) fn preemption_disabled(&self) -> bool {
        self.preempt_disable.get() != 0
    }

    /// Invariant 2: the running thread is the head of its list.
    #[inline(never)]
    fn sync_head(&self) {
        if let Some(running) = port::running()
            && running.is_ready()
        {
            running.ready_list().set_front(running);
        }
    }

    /// Invariant 3, for one thread.
    #[inline(never)] // several callers, and size matters more here than a call
    fn refresh_next(&self, thread: Thread) {
        let slow = !thread.is_fast() || thread.links_ready().next() == Some(thread);
        thread.context().set_next(if slow { None } else { thread.links_ready().next() });
    }

    fn refresh_with_predecessor(&self, thread: Thread) {
        self.refresh_next(thread);
        if let Some(previous) = thread.links_ready().prev() {
            self.refresh_next(previous);
        }
    }

    /// Puts a thread that is in no list behind its equals. True if it has none: only then it may be one to
    /// preempt for, since whatever it could bring about its equals have brought about already.
    #[inline(always)]
    fn insert(&self, thread: Thread) -> bool {
        match thread.ready_list().front() {
            None => {
                self.insert_only(thread, thread.ready_list());
                return true;
            }
            Some(only) if only.links_ready().next() == Some(only) => self.insert_second(only, thread),
            Some(_) => self.insert_among_equals(thread),
        }
        false
    }

    /// [`Self::insert`] where nobody is ready in `list`, that of the thread's priority: there is no head to put
    /// right first, and no neighbour whose pointer changes.
    #[inline(always)]
    pub(crate) fn insert_only(&self, thread: Thread, list: &ReadyList) {
        list.push_only(thread);
        self.ready.set(self.ready.get() | thread.ready_bit.get());
    }

    /// [`Self::insert`] behind `only`, the one thread that is ready at the priority: the head of a list of
    /// one does not lag, and the pointers of both lead to the slow path.
    #[inline(always)]
    pub(crate) fn insert_second(&self, only: Thread, thread: Thread) {
        thread.ready_list().push_second(only, thread);
        if only.is_fast() {
            only.context().set_next(Some(thread));
        }
        if thread.is_fast() {
            thread.context().set_next(Some(only));
        }
    }

    #[inline(never)]
    fn insert_among_equals(&self, thread: Thread) {
        self.sync_head();
        thread.ready_list().push_back(thread);
        self.refresh_with_predecessor(thread);
    }

    /// Puts the running thread, which is in no list, before its equals. Only its own list's head may
    /// lag, so none does now.
    #[inline(always)]
    fn insert_running(&self, running: Thread) {
        let priority = running.priority.get();
        let list = self.list(priority);
        if list.front().is_none() {
            list.push_only(running);
            self.ready.set(self.ready.get() | running.ready_bit.get());
        } else {
            list.push_front(running);
            self.refresh_with_predecessor(running);
        }
    }

    /// Moves the running thread, alone at its priority, to one at which nobody is ready. False, and nothing
    /// happens, for any other thread, and while preempted threads with a threshold wait.
    #[inline(always)]
    fn move_alone(&self, thread: Thread, priority: u8, threshold: u8) -> bool {
        let list = self.list(priority);
        if !port::executes(thread)
            || self.preempted.get() != 0
            || thread.links_ready().next() != Some(thread)
            || list.front().is_some()
        {
            return false;
        }
        // A list of one: the links lead to the thread itself in the new list as in the old.
        thread.ready_list().clear_only(thread);
        list.set_only(thread);
        self.ready.set(self.ready.get() & !thread.ready_bit.get());
        thread.set_levels(priority, threshold);
        self.ready.set(self.ready.get() | thread.ready_bit.get());
        true
    }

    /// Takes a ready thread from its list.
    fn remove(&self, thread: Thread) {
        if self.preempted.get() != 0 {
            self.forget_preempted(thread);
        }
        self.unlink(thread);
    }

    /// [`Self::remove`] for a thread without a claim, as the running one is: [`Self::select`] ended it.
    #[inline(always)]
    fn unlink(&self, thread: Thread) {
        let (next, previous) = (thread.links_ready().next(), thread.links_ready().prev());
        if next == Some(thread) {
            thread.ready_list().remove_only(thread);
            self.ready.set(self.ready.get() & !thread.ready_bit.get());
        } else if let Some(other) = next
            && next == previous
        {
            // Of two, whichever the head was, the one that stays is.
            thread.ready_list().remove_other(thread, other);
            other.context().set_next(None);
            thread.context().set_next(None);
        } else {
            self.unlink_from_equals(thread);
        }
    }

    /// [`Self::unlink`] for a ready thread that has exactly one equal, who is returned; any other thread stays
    /// where it is.
    #[inline(always)]
    fn unlink_of_two(&self, thread: Thread) -> Option<Thread> {
        // SAFETY: a ready thread is in its ready list.
        let other = unsafe { thread.links_ready().next_of_member() };
        if other == thread || other.links_ready().next() != Some(thread) {
            return None;
        }
        thread.ready_list().remove_other(thread, other);
        other.context().set_next(None);
        thread.context().set_next(None);
        Some(other)
    }

    #[inline(never)]
    fn unlink_from_equals(&self, thread: Thread) {
        self.sync_head();
        let previous = thread.links_ready().prev();
        thread.ready_list().remove(thread);
        thread.context().set_next(None);
        if let Some(previous) = previous {
            self.refresh_next(previous);
        }
    }

    #[inline(never)]
    fn forget_preempted(&self, thread: Thread) {
        let slot = self.preempted_thread(thread.priority.get());
        if slot.get() == Some(thread) {
            slot.set(None);
            self.preempted.set(self.preempted.get() & !bit(thread.priority.get()));
        }
    }

    /// `thread`, which has a threshold, loses the processor to a higher one.
    #[inline(never)]
    fn mark_preempted(&self, thread: Thread) {
        self.preempted_thread(thread.priority.get()).set(Some(thread));
        self.preempted.set(self.preempted.get() | bit(thread.priority.get()));
    }

    /// The thread to run, if any is ready: the highest, unless the innermost preempted thread's
    /// threshold holds that one off.
    #[inline(always)]
    fn select(&self) -> Option<Thread> {
        let highest = self.highest()?;
        if self.preempted.get() != 0
            && let Some(claimant) = self.select_preempted(highest)
        {
            return Some(claimant);
        }
        self.list(highest).front()
    }

    /// The preempted thread whose threshold holds off `highest`, made the first of its list.
    #[inline(never)]
    fn select_preempted(&self, highest: u8) -> Option<Thread> {
        let thread = self.innermost_preempted()?;
        if thread.threshold() > highest {
            return None;
        }
        self.forget_preempted(thread);
        if self.list(thread.priority.get()).front() != Some(thread) {
            self.move_to_front(thread);
        }
        Some(thread)
    }

    /// Puts a ready thread before its equals, whose order is unchanged. Needed only where the running
    /// thread was lowered to the priority of a preempted one, and so became the first there.
    #[cold]
    fn move_to_front(&self, thread: Thread) {
        let list = self.list(thread.priority.get());
        let previous = thread.links_ready().prev();
        list.remove(thread);
        list.push_front(thread);
        if let Some(previous) = previous {
            self.refresh_next(previous);
        }
        self.refresh_with_predecessor(thread);
    }

    /// The preempted thread whose threshold is in question first: thresholds nest, so it is the one
    /// of the highest priority.
    #[inline(always)]
    fn innermost_preempted(&self) -> Option<Thread> {
        match self.preempted.get() {
            0 => None,
            map => self.preempted_thread(map.trailing_zeros() as u8).get(),
        }
    }

    /// Who runs after `running`, which is ready or has just ceased to be; keeps the books of a
    /// preemption. The answer must be acted upon before interrupts are unmasked.
    #[inline(always)]
    fn next_after(&self, running: Thread) -> Option<Thread> {
        let plain =
            self.preempted.get() == 0 && !self.slice_expired.get() && running.threshold() == running.priority.get();
        if plain && running.is_ready() {
            // No threshold anywhere and no slice to end: whoever is highest runs.
            let priority = running.priority.get();
            self.list(priority).set_front(running); // invariant 2
            return match self.highest() {
                Some(highest) if highest < priority => {
                    running.preemptions.set(running.preemptions.get().wrapping_add(1));
                    self.list(highest).front()
                }
                _ => Some(running),
            };
        }
        self.next_after_all(running)
    }

    /// [`Self::next_after`] with everything that may have to be thought of.
    #[inline(never)]
    fn next_after_all(&self, running: Thread) -> Option<Thread> {
        let expired = self.slice_expired.replace(false);
        if running.is_ready() {
            let (priority, threshold) = (running.priority.get(), running.threshold());
            self.list(priority).set_front(running); // invariant 2
            if expired && threshold == priority {
                self.rotate(running);
            }
            // Only a running thread that was just lowered can be held off by an older threshold, and
            // then its own claims nothing (invariant 4).
            let held_off = self.innermost_preempted().is_some_and(|t| t.threshold() <= priority);
            if self.highest().is_some_and(|p| p < threshold) {
                if threshold != priority && !held_off {
                    self.mark_preempted(running);
                }
            } else if !held_off && self.list(priority).front() == Some(running) {
                return Some(running);
            }
            running.preemptions.set(running.preemptions.get().wrapping_add(1));
        }
        self.select()
    }

    /// Puts the running thread behind its equals.
    fn rotate(&self, running: Thread) {
        if let Some(next) = running.links_ready().next() {
            self.list(running.priority.get()).set_front(next);
        }
    }

    /// Checks the invariants 1 to 4 as far as they can be seen from the data; says which one broke.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        self.sync_head();
        for (priority, list) in (0u8..).zip(&self.lists) {
            let mut result = Ok(());
            let mut members = 0u32;
            list.for_each(|t| {
                members += 1;
                if !t.is_ready() || t.priority.get() != priority {
                    result = Err("a listed thread is not ready at this priority");
                }
                let next = t.links_ready().next();
                if next.and_then(|n| n.links_ready().prev()) != Some(t) {
                    result = Err("ready links do not match");
                }
                let slow = t.context().next().is_none();
                if !slow && t.context().next() != next {
                    result = Err("the fast path would leave the ready list");
                }
                let plain = next != Some(t) && t.threshold() == priority && !t.is_timer_thread();
                if plain && slow && !(self.preemption_disabled() && port::is_running(t)) {
                    result = Err("a plain switch takes the slow path");
                }
                if !slow && !plain {
                    result = Err("the fast path ignores a threshold");
                }
            });
            result?;
            if (members != 0) != (self.ready.get() & bit(priority) != 0) {
                return Err("ready bitmap and list disagree");
            }
            match self.preempted_thread(priority).get() {
                Some(t) if !t.is_ready() || t.priority.get() != priority => {
                    return Err("a preempted thread is not ready at this priority");
                }
                t if t.is_some() != (self.preempted.get() & bit(priority) != 0) => {
                    return Err("preempted bitmap and threads disagree");
                }
                _ => {}
            }
        }
        if let Some(running) = port::running()
            && !self.preemption_disabled()
            && matches!(port::current(), Current::Thread(_))
        {
            if !running.is_ready() {
                return Err("the running thread is not ready");
            }
            if self.highest().is_some_and(|p| p < running.threshold()) {
                return Err("a thread above the running thread's threshold is ready");
            }
        }
        Ok(())
    }
}

impl Locked {
    /// Makes `thread` ready behind its equals and lets it preempt if it may.
    #[inline(always)]
    pub(crate) fn make_ready(&self, thread: Thread) {
        thread.state.set(TX_READY as u8);
        thread.count_resumption();
        if self.scheduler.insert(thread) && port::concerns(thread.priority.get()) {
            self.preempt_for(thread);
        }
    }

    /// Lets `thread`, the only ready one of its priority and ready only now, preempt where that is possible,
    /// and unlocks the kernel.
    #[inline(always)]
    pub(crate) fn preempt_and_unlock(thread: Thread, k: Self) -> UINT {
        match port::plain() {
            Some(running) if k.own_stack_damaged(running) => Self::preempt_any_and_unlock(thread, k),
            Some(running) => {
                running.ready_list().set_front(running); // invariant 2
                running.preemptions.set(running.preemptions.get().wrapping_add(1));
                running.count_solicited_preemption(Some(thread));
                count_return(Some(thread));
                port::give_way(running, thread, k.into_posture())
            }
            None if port::preempt_later(thread, thread.priority.get()) => port::success(),
            None => Self::preempt_any_and_unlock(thread, k),
        }
    }

    #[inline(never)]
    fn preempt_any_and_unlock(thread: Thread, k: Self) -> UINT {
        k.preempt_for(thread);
        port::success()
    }

    /// [`Self::preempt_and_unlock`] with the kernel locked.
    #[inline(never)]
    fn preempt_for(&self, thread: Thread) {
        if let Some(running) = port::preemptible() {
            debug_assert!(running.is_ready());
            self.preempt(running, thread);
        } else {
            port::preempt_later(thread, thread.priority.get());
        }
    }

    /// Switches from `running` to `thread`, which has just become ready above the threshold of
    /// `running`. By invariant 1 nobody else was ready up there, and by invariant 4 no preempted
    /// thread's threshold holds off what `running` did not: so `thread` is what [`Scheduler::select`]
    /// would choose.
    #[inline(always)]
    fn preempt(&self, running: Thread, thread: Thread) {
        let priority = running.priority.get();
        running.ready_list().set_front(running);
        if running.threshold() != priority {
            self.scheduler.mark_preempted(running);
        }
        running.preemptions.set(running.preemptions.get().wrapping_add(1));
        if self.own_stack_damaged(running) {
            self.stack_damaged(running);
        }
        running.count_solicited_preemption(Some(thread));
        count_return(Some(thread));
        port::switch(running, Some(thread));
    }

    /// Takes `thread`, which is ready and not running, from the ready list.
    pub(crate) fn make_unready(&self, thread: Thread, state: UINT) {
        self.scheduler.remove(thread);
        thread.count_suspension();
        port::request_reschedule(); // it may be the one to run next
        thread.state.set(state as u8);
    }

    /// Takes the running thread from the ready list and runs another; returns when it is chosen
    /// again, with the kernel unlocked. The caller has made sure that preemption is enabled, and nobody's
    /// readiness, priority or threshold has changed since the kernel was locked.
    #[inline(always)]
    pub(crate) fn suspend_running(running: Thread, state: u8, k: Self) -> UINT {
        if running.is_fast() {
            Self::suspend_plain(running, state, k)
        } else {
            Self::suspend_and_select(running, state, k)
        }
    }

    /// [`Self::suspend_running`] of a plain thread.
    #[inline(always)]
    pub(crate) fn suspend_plain(running: Thread, state: u8, k: Self) -> UINT {
        debug_assert!(running.is_ready());
        match k.scheduler.unlink_of_two(running) {
            // By the invariants, and as on the fast path, a plain thread is followed by its next equal.
            Some(next) => {
                running.state.set(state);
                Self::leave(running, Some(next), k)
            }
            None => Self::suspend_and_select(running, state, k),
        }
    }

    /// [`Self::suspend_running`] for a thread that is no plain one of two equals, and for a caller that has
    /// changed who is ready, and where.
    #[inline(never)]
    pub(crate) fn suspend_and_select(running: Thread, state: u8, k: Self) -> UINT {
        // Still ready: only a ready running thread is the head that the list is made to begin with.
        k.scheduler.unlink(running);
        running.state.set(state);
        let next = k.scheduler.select();
        Self::leave(running, next, k)
    }

    /// Whether a thread was preempted while it held off others by its preemption-threshold.
    #[inline(always)]
    pub(crate) fn has_claims(&self) -> bool {
        self.scheduler.preempted.get() != 0
    }

    /// Whether the running thread would go on running, preemption is enabled, and so a thread that
    /// becomes ready is the only one that may preempt.
    #[inline(always)]
    pub(crate) fn is_settled(&self) -> bool {
        let Current::Thread(running) = port::current() else { return false };
        !self.scheduler.preemption_disabled()
            && !self.has_claims()
            && self.scheduler.highest().is_some_and(|p| p >= running.threshold())
    }

    /// Switches to the thread that should run, if that is not the running one.
    pub(crate) fn reschedule(&self) {
        if self.scheduler.preemption_disabled() {
            return;
        }
        let Current::Thread(running) = port::current() else { return };
        let next = self.scheduler.next_after(running);
        if next != Some(running) {
            if self.own_stack_damaged(running) {
                self.stack_damaged(running);
            }
            running.count_solicited_preemption(next);
            count_return(next);
            port::switch(running, next);
        }
    }

    /// A switch that the running thread, which is not ready any more, asked for: counted as one of its
    /// turns, so that its next turn starts with a fresh time-slice.
    #[inline(always)]
    fn leave(running: Thread, next: Option<Thread>, k: Self) -> UINT {
        // The tick sets it with preemption disabled, or its interrupt's end has seen to it.
        debug_assert!(!k.scheduler.slice_expired.get());
        running.count_own_suspension();
        count_return(next);
        if k.own_stack_damaged(running) {
            return Self::leave_damaged(running, next, k).into();
        }
        port::suspend(running, next, k.into_posture())
    }

    #[cold]
    #[inline(never)]
    fn leave_damaged(running: Thread, next: Option<Thread>, k: Self) -> Code {
        k.stack_damaged(running);
        port::suspend(running, next, k.into_posture()) as Code
    }

    /// The slow path of relinquish: the answer to a `next` that forbade the plain switch. Returns
    /// the thread to continue with; the caller of this (the port) performs the switch.
    ///
    /// Equals run first; a thread with a threshold also lets those run that it held off.
    pub(crate) fn relinquish_slow(&self, running: Thread) -> Option<Thread> {
        if self.scheduler.preemption_disabled() || running.is_timer_thread() {
            return Some(running);
        }
        self.scheduler.sync_head();
        self.scheduler.slice_expired.set(false);
        running.refill_slice();
        self.scheduler.rotate(running);
        let next = self.scheduler.select();
        if next != Some(running) {
            if self.own_stack_damaged(running) {
                self.stack_damaged(running);
            }
            running.context().count_turn();
        }
        next
    }

    /// End of the outermost interrupt: who continues. `None` is the idle loop.
    pub(crate) fn after_interrupt(&self) -> Option<Thread> {
        let running = port::running();
        if self.scheduler.preemption_disabled() {
            return running;
        }
        match running {
            Some(running) => {
                let next = self.scheduler.next_after(running);
                running.count_interrupt_preemption(next);
                next
            }
            None => self.scheduler.select(),
        }
    }

    /// The first thread to run, at the end of initialization.
    pub(crate) fn first_thread(&self) -> Option<Thread> {
        self.scheduler.select()
    }

    /// From here until [`Self::enable_preemption`] no other thread runs, whatever becomes ready.
    pub(crate) fn disable_preemption(&self) {
        let count = self.scheduler.preempt_disable.get();
        self.scheduler.preempt_disable.set(count + 1);
        if count == 0
            && let Current::Thread(running) = port::current()
        {
            running.set_slow(slow::NO_PREEMPTION, true);
            running.context().set_next(None);
        }
    }

    /// Undoes one [`Self::disable_preemption`]; the last one lets a pending preemption happen.
    pub(crate) fn enable_preemption(&self) {
        let count = self.scheduler.preempt_disable.get();
        debug_assert!(count != 0, "preemption was not disabled");
        self.scheduler.preempt_disable.set(count.saturating_sub(1));
        if count == 1 {
            if let Current::Thread(running) = port::current() {
                running.set_slow(slow::NO_PREEMPTION, false);
                if running.is_ready() {
                    self.scheduler.refresh_next(running);
                }
            }
            self.reschedule();
        }
    }

    /// [`Self::enable_preemption`] at the end of a critical section, in which no interrupt came: without a call
    /// where nothing has become due.
    #[inline(always)]
    pub(crate) fn end_critical_section(&self) {
        if self.scheduler.preempt_disable.get() == 1
            && let Some(running) = port::executing_without(!slow::NO_PREEMPTION)
            && self.scheduler.preempted.get() == 0
            && !self.scheduler.slice_expired.get()
            && self.scheduler.highest().is_some_and(|p| p >= running.priority.get())
        {
            // The thread refused to suspend itself, and has been a plain one but for the disabled preemption.
            debug_assert!(running.is_ready());
            self.scheduler.preempt_disable.set(0);
            running.executor.slow().set(0);
            let next = running.links_ready().next();
            running.context().set_next(next.filter(|next| *next != running));
            return;
        }
        self.enable_preemption();
    }

    /// Forgets every [`Self::disable_preemption`]: the running thread, whose they are, is about to
    /// end.
    pub(crate) fn force_preemption(&self, running: Thread) {
        self.scheduler.preempt_disable.set(0);
        self.scheduler.slice_expired.set(false);
        running.set_slow(slow::NO_PREEMPTION, false);
    }

    /// Gives `thread` a new effective priority and threshold, wherever it is, and reschedules. A
    /// running thread that is lowered goes to the front of its new list, so that it is not
    /// overtaken by its new equals.
    pub(crate) fn set_priority(&self, thread: Thread, priority: u8, threshold: u8) {
        self.move_to_priority(thread, priority, threshold);
        if thread.is_ready() {
            self.preempt_if_needed();
        }
    }

    /// [`Self::set_priority`] for a caller that lets the scheduler choose afterwards anyway: nobody is
    /// preempted here.
    pub(crate) fn move_to_priority(&self, thread: Thread, priority: u8, threshold: u8) {
        if thread.is_ready() {
            thread.count_suspension();
            thread.count_resumption();
        }
        if self.scheduler.move_alone(thread, priority, threshold) {
            return;
        }
        let ready = thread.is_ready();
        if ready {
            self.scheduler.remove(thread);
            port::request_reschedule(); // it may be the one to run next
        }
        thread.set_levels(priority, threshold);
        match ready {
            true if port::is_running(thread) => self.scheduler.insert_running(thread),
            true => _ = self.scheduler.insert(thread),
            false => {}
        }
    }

    /// Changes only the threshold of `thread`.
    ///
    /// A preempted thread loses its claim if its threshold becomes stronger or is switched off:
    /// others have run since that the new threshold would have held off (invariant 4).
    pub(crate) fn set_threshold(&self, thread: Thread, threshold: u8) {
        let old = thread.threshold();
        thread.set_threshold(threshold);
        if thread.is_ready() {
            if threshold < old || threshold == thread.priority.get() {
                self.scheduler.forget_preempted(thread);
            }
            self.scheduler.refresh_next(thread);
            self.preempt_if_needed();
        }
    }

    fn preempt_if_needed(&self) {
        match port::current() {
            Current::Thread(_) => self.reschedule(),
            Current::Interrupt => port::request_reschedule(),
            Current::Idle | Current::Initialization => {}
        }
    }

    /// One tick of the time-slice of the interrupted thread `running`. Called in the tick interrupt.
    #[inline(always)]
    pub(crate) fn time_slice_tick(&self, running: Thread) {
        if self.interrupted_stack_damaged(running) {
            self.stack_damaged(running);
        }
        if running.time_slice.get() != TX_NO_TIME_SLICE {
            self.use_slice(running);
        }
    }

    #[cold] // for the sake of ticks with nothing to do
    #[inline(never)]
    fn use_slice(&self, running: Thread) {
        if running.is_ready()
            && running.threshold() == running.priority.get()
            && running.use_slice()
            && running.links_ready().next() != Some(running)
        {
            self.scheduler.slice_expired.set(true);
            running.count_time_slice();
            port::request_reschedule();
        }
    }

    /// Checks every list and pointer of the scheduler against its invariants.
    pub(crate) fn check_scheduler(&self) -> Result<(), &'static str> {
        self.scheduler.check()
    }
}
