//! Mutexes: ownership, nesting, priority inheritance.
//!
//! # Priority inheritance
//!
//! A mutex keeps the best priority of anybody who has waited on it since its owner got it
//! (`lent`); a thread keeps the best of those of the inherit mutexes it owns (`inherited`). A wait that
//! ends without the mutex takes nothing back, the next change of owner does: so the loan is bounded by
//! the time the mutex is held, as in upstream's kernel. The loan is not passed on to the thread that the
//! owner itself waits for.

use core::cell::Cell;
use core::ptr::null;

use crate::kernel::{Locked, lock};
use crate::list::{LinkKind, Links};
use crate::object_ref;
use crate::performance::{COUNTING, MutexCounters, TOTALS, bump};
use crate::port::{self, Current};
use crate::thread::Thread;
use crate::types::*;
use crate::wait::{Wait, WaitQueue};

pub(crate) const MUTEX_ID: u32 = crate::types::tag(0x9D);
static WAIT: Wait = Wait::new(TX_MUTEX_SUSP, TX_NOT_AVAILABLE);
/// Weaker than every priority.
pub(crate) const NOT_INHERITED: u8 = TX_MAX_PRIORITIES as u8;

/// Control block of a mutex. Same rules as for [`crate::TX_THREAD`].
#[repr(C)]
pub struct TX_MUTEX {
    pub(crate) id: Cell<ULONG>,
    /// Gets without a put; 0 while free.
    count: Cell<ULONG>,
    /// `None` while free, and while held by initialization, which is no thread.
    owner: Cell<Option<Thread>>,
    pub(crate) waiters: WaitQueue,
    owned_links: Links<Mutex>,
    inherit: Cell<bool>,
    lent: Cell<u8>,
    name: Cell<*const CHAR>,
    created_links: Links<Mutex>,
    pub(crate) performance: MutexCounters,
}

// SAFETY: reached only with the kernel locked.
unsafe impl Sync for TX_MUTEX {}
// SAFETY: as for `Sync`.
unsafe impl Send for TX_MUTEX {}

object_ref! {
    /// A created mutex.
    Mutex -> TX_MUTEX
}

pub(crate) struct CreatedMutex;
impl LinkKind<Mutex> for CreatedMutex {
    fn links(node: &Mutex) -> &Links<Mutex> {
        &node.created_links
    }
}

/// Links the mutexes that one thread owns.
pub(crate) struct OwnedMutex;
impl LinkKind<Mutex> for OwnedMutex {
    #[inline(always)]
    fn links(node: &Mutex) -> &Links<Mutex> {
        &node.owned_links
    }
}

impl TX_MUTEX {
    /// A control block that no kernel knows yet.
    pub const fn new() -> Self {
        Self {
            id: Cell::new(0),
            count: Cell::new(0),
            owner: Cell::new(None),
            waiters: WaitQueue::closed(TX_MUTEX_ERROR),
            owned_links: Links::new(),
            inherit: Cell::new(false),
            lent: Cell::new(NOT_INHERITED),
            name: Cell::new(null()),
            created_links: Links::new(),
            performance: MutexCounters::new(),
        }
    }
}

/// A snapshot of a mutex.
pub(crate) struct MutexInfo {
    pub(crate) name: *const CHAR,
    pub(crate) count: ULONG,
    pub(crate) owner: Option<Thread>,
    pub(crate) first: Option<Thread>,
    pub(crate) waiting: ULONG,
    pub(crate) next: Option<Mutex>,
}

/// Who may own a mutex: a thread, or initialization (`None`); nobody else.
#[inline(always)]
fn claimant() -> Result<Option<Thread>, UINT> {
    match port::current() {
        Current::Thread(thread) => Ok(Some(thread)),
        Current::Initialization => Ok(None),
        Current::Interrupt | Current::Idle => Err(TX_CALLER_ERROR),
    }
}

impl Mutex {
    pub(crate) fn create(self, name: *const CHAR, inherit: bool) {
        let k = lock();
        self.name.set(name);
        self.inherit.set(inherit);
        self.waiters.open();
        self.id.set(MUTEX_ID);
        k.mutexes.push_back(self);
        k.release_owned.set(Some(release_owned));
    }

    pub(crate) fn get(self, wait: ULONG) -> UINT {
        let k = lock();
        bump(&self.performance.gets, &TOTALS.mutexes.gets);
        let claimant = match claimant() {
            Ok(claimant) => claimant,
            Err(error) => return error,
        };
        let count = self.count.get();
        if count == 0 {
            self.count.set(1);
            self.owner.set(claimant);
            if let Some(thread) = claimant {
                thread.owned.push_back(self);
            }
            TX_SUCCESS
        } else if self.owner.get() == claimant {
            self.count.set(count.wrapping_add(1));
            TX_SUCCESS
        } else {
            self.contend(wait, k) as UINT
        }
    }

    /// Whether [`Self::get`] by `thread` has to wait.
    #[inline(always)]
    pub(crate) fn belongs_to_another(self, thread: Thread) -> bool {
        self.count.get() != 0 && self.owner.get() != Some(thread)
    }

    #[inline(never)]
    pub(crate) fn contend(self, wait: ULONG, k: Locked) -> Code {
        let Some(thread) = k.may_wait(wait) else { return TX_NOT_AVAILABLE as Code };
        self.count_inversion(thread);
        if !self.inherit.get() {
            return Locked::suspend_in(&self.waiters, wait, &WAIT, k) as Code;
        }
        {
            let priority = thread.priority.get();
            self.lent.set(self.lent.get().min(priority));
            // No owner: taken in initialization, and never to be put by a thread. The wait ends by
            // timeout or delete.
            if let Some(owner) = self.owner.get()
                && priority < owner.inherited.get()
            {
                owner.inherited.set(priority);
                k.apply_inheritance(owner);
            }
        }
        if let Err(error) = k.join(thread, &self.waiters, wait, &WAIT) {
            return error;
        }
        // The loan may have moved the owner above everybody.
        Locked::suspend_and_select(thread, TX_MUTEX_SUSP as u8, k) as Code
    }

    /// `thread` is about to wait: an inversion if it is above the owner, whom it raises if it inherits.
    #[inline(always)]
    fn count_inversion(self, thread: Thread) {
        if COUNTING && self.owner.get().is_some_and(|owner| thread.priority.get() < owner.priority.get()) {
            bump(&self.performance.inversions, &TOTALS.mutexes.inversions);
            bump(&thread.performance.inversions, &TOTALS.threads.inversions);
            if self.inherit.get() {
                bump(&self.performance.inheritances, &TOTALS.mutexes.inheritances);
            }
        }
    }

    /// Gives the mutex to `thread`, which executes, if it is free.
    #[inline(always)]
    pub(crate) fn take(self, thread: Thread, _k: &Locked) -> bool {
        if self.count.get() != 0 {
            return false;
        }
        bump(&self.performance.gets, &TOTALS.mutexes.gets);
        self.count.set(1);
        self.owner.set(Some(thread));
        if thread.owned.front().is_none() {
            thread.owned.push_only(self);
        } else {
            thread.owned.push_back(self);
        }
        true
    }

    #[inline(always)]
    pub(crate) fn put(self, k: Locked) -> UINT {
        // One that does not exist is refused like one that has another owner.
        if COUNTING && self.id.get() == MUTEX_ID {
            bump(&self.performance.puts, &TOTALS.mutexes.puts);
        }
        // An owner is a thread, so being it is enough: nothing else needs to be known about the caller.
        if let Some(thread) = self.owner.get()
            && port::executes(thread)
            && self.count.get() == 1
            && self.owned_links.next() == Some(self)
        {
            match self.waiters.first() {
                None if self.lent.get() == NOT_INHERITED => {
                    self.count.set(0);
                    self.owner.set(None);
                    thread.owned.remove_only(self);
                    return TX_SUCCESS;
                }
                Some(waiter) => return self.hand_over(thread, waiter, k),
                None => {}
            }
        }
        self.put_slow(k) as UINT
    }

    /// Gives the mutex, the only one that `owner` has and for the last time, to `waiter`, the first of those
    /// who wait. `owner` is the caller.
    #[inline(never)]
    fn hand_over(self, owner: Thread, waiter: Thread, k: Locked) -> UINT {
        // One waiter, who has no mutex yet, and nothing special about anybody: no loan has to be worked out.
        if !k.is_simple(waiter) || waiter.owned.front().is_some() || !owner.is_fast() {
            return self.put_slow(k).into();
        }
        owner.owned.remove_only(self);
        self.lent.set(NOT_INHERITED);
        self.owner.set(Some(waiter));
        waiter.owned.push_only(self);
        if self.inherit.get() {
            let old = owner.priority.get();
            k.end_inheritance(owner);
            // The plain thread that runs keeps out those below it. So does `waiter` if it has the priority that `owner`
            // ran with, and has it alone; without a preempted thread's claim, which the lowered `owner` may be under.
            // Else others may run before it.
            let next = old == waiter.priority.get() && waiter.ready_list().front().is_none() && !k.has_claims();
            if !next && !k.is_settled() {
                k.disable_preemption();
                k.wake(waiter, TX_SUCCESS);
                k.enable_preemption();
                return TX_SUCCESS;
            }
        }
        Locked::grant_simple(&self.waiters, waiter, k)
    }

    /// Every other case: the caller owns more, nothing, got it more than once, or somebody waits.
    #[inline(never)]
    fn put_slow(self, k: Locked) -> Code {
        let claimant = match claimant() {
            Ok(claimant) => claimant,
            Err(error) => return error as Code,
        };
        let count = self.count.get();
        if count == 0 || self.owner.get() != claimant {
            return TX_NOT_OWNED as Code;
        }
        if count != 1 {
            self.count.set(count - 1);
        } else {
            let next = self.pass_on(&k);
            match next {
                // No priority has changed, or it leaves `next` as the only one who may preempt: the
                // wake is the last step.
                Some(next) if !self.inherit.get() || self.waiters.is_single() && k.is_settled() => {
                    return Locked::grant(&self.waiters, next, k) as Code;
                }
                _ => {
                    k.disable_preemption();
                    self.admit(next, &k);
                    k.enable_preemption();
                }
            }
        }
        TX_SUCCESS as Code
    }

    /// Takes the mutex from its owner, whoever that is and however often it got it, takes back what
    /// was lent, and hands the mutex to the next waiter. Called with preemption disabled.
    pub(crate) fn release(self, k: &Locked) {
        if COUNTING && self.owner.get().is_some() {
            bump(&self.performance.puts, &TOTALS.mutexes.puts);
        }
        let next = self.pass_on(k);
        self.admit(next, k);
    }

    /// The first part of a release, which makes nobody ready: the new owner, who still waits. The
    /// scheduler has to be asked afterwards, because the old owner may have been lowered.
    #[inline(always)]
    fn pass_on(self, k: &Locked) -> Option<Thread> {
        let old = self.owner.take();
        let inherit = self.inherit.get();
        if let Some(old) = old {
            if self.owned_links.next() == Some(self) {
                old.owned.remove_only(self);
            } else {
                old.owned.remove(self);
            }
        }
        self.lent.set(NOT_INHERITED);
        let next = if inherit { self.waiters.highest() } else { self.waiters.first() };
        match next {
            Some(next) => {
                self.count.set(1);
                self.owner.set(Some(next));
                if next.owned.front().is_none() {
                    next.owned.push_only(self);
                } else {
                    next.owned.push_back(self);
                }
            }
            None => self.count.set(0),
        }
        if inherit && let Some(old) = old {
            k.recall_inheritance(old);
        }
        next
    }

    /// The second part: wakes the new owner. Called with preemption disabled, so the new owner does
    /// not run before it has inherited.
    fn admit(self, next: Option<Thread>, k: &Locked) {
        let Some(next) = next else { return };
        k.wake(next, TX_SUCCESS);
        if self.inherit.get()
            && let Some(best) = self.waiters.highest()
        {
            // `next` was the best waiter, so this raises nobody now; it counts when the user lowers
            // the new owner.
            let priority = best.priority.get();
            self.lent.set(priority);
            next.inherited.set(next.inherited.get().min(priority));
        }
    }

    /// Wakes all waiters with `TX_DELETED`; the owner loses the mutex and what it was lent.
    pub(crate) fn delete(self) -> UINT {
        let k = lock();
        self.id.set(0);
        self.waiters.close(TX_MUTEX_ERROR);
        k.mutexes.remove(self);
        k.disable_preemption();
        k.wake_all(&self.waiters, TX_DELETED);
        self.release(&k);
        // Nobody's for good: a get that was about to lock the kernel finds no free mutex.
        self.count.set(1);
        k.enable_preemption();
        TX_SUCCESS
    }

    pub(crate) fn prioritize(self) -> UINT {
        let _k = lock();
        self.waiters.prioritize();
        TX_SUCCESS
    }

    pub(crate) fn info(self) -> MutexInfo {
        let _k = lock();
        MutexInfo {
            name: self.name.get(),
            count: self.count.get(),
            owner: self.owner.get(),
            first: self.waiters.first(),
            waiting: self.waiters.len(),
            next: self.created_links.next(),
        }
    }

    fn check(self) -> Result<(), &'static str> {
        self.waiters.check(TX_MUTEX_SUSP)?;
        match (self.owner.get(), self.count.get()) {
            (Some(_), 0) => Err("a free mutex has an owner"),
            (None, 0) if self.waiters.first().is_some() => Err("threads wait on a free mutex"),
            (Some(owner), _) if !owner.owned.contains(self) => Err("a mutex's owner does not list it"),
            (Some(owner), _) if self.inherit.get() && owner.inherited.get() > self.lent.get() => {
                Err("an owner has not inherited what was lent")
            }
            _ => Ok(()),
        }
    }
}

impl Locked {
    pub(crate) fn has_mutex(&self, mutex: Mutex) -> bool {
        self.mutexes.contains(mutex)
    }

    /// Works out again what `thread` inherits from the mutexes it still owns.
    fn recall_inheritance(&self, thread: Thread) {
        let mut inherited = NOT_INHERITED;
        let mut at = thread.owned.front();
        while let Some(mutex) = at {
            if mutex.inherit.get() {
                inherited = inherited.min(mutex.lent.get());
            }
            at = thread.owned.after(mutex);
        }
        thread.inherited.set(inherited);
        self.apply_inheritance(thread);
    }

    /// Gives `thread` the effective priority and threshold that user's and inherited ones make. The
    /// caller lets the scheduler choose afterwards: it suspends itself or enables preemption.
    #[inline(always)]
    fn apply_inheritance(&self, thread: Thread) {
        let priority = thread.user_priority.get().min(thread.inherited.get());
        if priority != thread.priority.get() {
            self.move_to_priority(thread, priority, thread.user_threshold.get().min(priority));
        }
    }

    /// [`Self::apply_inheritance`] of nothing: the user's own, of which the threshold is never the weaker one.
    #[inline(always)]
    fn end_inheritance(&self, thread: Thread) {
        thread.inherited.set(NOT_INHERITED);
        let priority = thread.user_priority.get();
        if priority != thread.priority.get() {
            self.move_to_priority(thread, priority, thread.user_threshold.get());
        }
    }

    /// Checks owners, loans and wait queues of all mutexes.
    pub(crate) fn check_mutexes(&self) -> Result<(), &'static str> {
        let mut result = Ok(());
        self.mutexes.for_each(|m| result = result.and(m.check()));
        self.threads.for_each(|t| {
            t.owned.for_each(|m| {
                if m.owner.get() != Some(t) {
                    result = Err("a thread lists a mutex that it does not own");
                }
            });
            if t.priority.get() != t.user_priority.get().min(t.inherited.get()) {
                result = Err("an effective priority is neither the user's nor the inherited one");
            }
            if t.threshold() != t.user_threshold.get().min(t.priority.get()) {
                result = Err("an effective threshold is neither the user's nor the priority");
            }
        });
        result
    }
}

/// Releases all mutexes that `owner` has, letting interrupts in between two of them. Called with
/// preemption disabled.
fn release_owned(k: &Locked, owner: Thread) {
    while let Some(mutex) = owner.owned.front() {
        mutex.release(k);
        k.breathe();
    }
}
