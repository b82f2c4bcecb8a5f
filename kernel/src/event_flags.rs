//! Event flags: 32 flags that threads wait for in any combination.
//!
//! # A set and interrupts
//!
//! A set reviews every waiter, and lets interrupts in between two of them with preemption disabled. All
//! waiters are judged by one set of flags, those of the set: a waiter that clears flags takes them from
//! the group, not from the waiters behind it. Meanwhile an interrupt handler may
//!
//! * set flags: the review takes them in and starts again;
//! * clear flags: that is put off until the review has ended, since the flags were there when it began;
//! * end a wait: the review starts again, because the waiter it was about to look at may be gone.

use core::cell::Cell;
use core::ptr::null;

use crate::kernel::{Locked, lock, set_bits};
use crate::list::{LinkKind, Links};
use crate::object_ref;
use crate::performance::{EventFlagsCounters, TOTALS, count_call};
use crate::port;
use crate::thread::Thread;
use crate::types::*;
use crate::wait::{Caller, Wait, WaitQueue};

pub(crate) const EVENT_FLAGS_ID: u32 = crate::types::tag(0xE6);
static WAIT: Wait = Wait::new(TX_EVENT_FLAG, TX_NO_EVENTS);
/// Bit of a get option: the flags are cleared.
const CLEAR: UINT = 1;

/// Control block of an event flags group. Same rules as for [`crate::TX_THREAD`].
#[repr(C)]
pub struct TX_EVENT_FLAGS_GROUP {
    /// First: the address of one is that of the other.
    pub(crate) waiters: WaitQueue,
    pub(crate) id: Cell<ULONG>,
    current: Cell<ULONG>,
    /// Flags to clear when the review that goes on has ended; 0 while none does.
    delayed_clear: Cell<ULONG>,
    set_notify: Cell<Option<EventFlagsNotify>>,
    /// What makes a set more than the wake of a waiter: bits of [`special`].
    special: Cell<u8>,
    /// A set came in during the review.
    review_again: Cell<bool>,
    name: Cell<*const CHAR>,
    created_links: Links<EventFlags>,
    pub(crate) performance: EventFlagsCounters,
}

// SAFETY: reached only with the kernel locked.
unsafe impl Sync for TX_EVENT_FLAGS_GROUP {}
// SAFETY: as for `Sync`.
unsafe impl Send for TX_EVENT_FLAGS_GROUP {}

object_ref! {
    /// A created event flags group.
    EventFlags -> TX_EVENT_FLAGS_GROUP
}

pub(crate) struct CreatedEventFlags;
impl LinkKind<EventFlags> for CreatedEventFlags {
    fn links(node: &EventFlags) -> &Links<EventFlags> {
        &node.created_links
    }
}

impl TX_EVENT_FLAGS_GROUP {
    /// A control block that no kernel knows yet.
    pub const fn new() -> Self {
        Self {
            id: Cell::new(0),
            current: Cell::new(0),
            delayed_clear: Cell::new(0),
            waiters: WaitQueue::closed(TX_GROUP_ERROR),
            set_notify: Cell::new(None),
            special: Cell::new(0),
            review_again: Cell::new(false),
            name: Cell::new(null()),
            created_links: Links::new(),
            performance: EventFlagsCounters::new(),
        }
    }
}

/// A snapshot of an event flags group.
pub(crate) struct EventFlagsInfo {
    pub(crate) name: *const CHAR,
    pub(crate) flags: ULONG,
    pub(crate) first: Option<Thread>,
    pub(crate) waiting: ULONG,
    pub(crate) next: Option<EventFlags>,
}

/// Bits of [`TX_EVENT_FLAGS_GROUP::special`].
mod special {
    /// There is a set notification.
    pub(super) const NOTIFY: u8 = 1;
    /// A review is going on.
    pub(super) const REVIEW: u8 = 2;
}

/// Whether `flags` answer the request; no flags requested are never there.
#[inline(always)]
fn satisfied(flags: ULONG, requested: ULONG, option: UINT) -> bool {
    let present = flags & requested;
    present != 0 && (option & TX_AND == 0 || present == requested)
}

impl EventFlags {
    pub(crate) fn create(self, name: *const CHAR) {
        let k = lock();
        self.name.set(name);
        self.waiters.open();
        self.id.set(EVENT_FLAGS_ID);
        k.event_flags.push_back(self);
    }

    /// Writes the flags of the whole group to `output`: with success as they were before the clear,
    /// otherwise as they were at the call.
    ///
    /// # Safety
    ///
    /// `output` is writable until this returns.
    #[inline(always)]
    pub(crate) unsafe fn get(
        self,
        requested: ULONG,
        option: UINT,
        output: *mut ULONG,
        wait: ULONG,
        k: Locked,
        caller: impl Caller,
    ) -> UINT {
        count_call(&self.performance.gets, &TOTALS.event_flags.gets, caller);
        let flags = self.current.get() & !self.delayed_clear.get();
        // SAFETY: the caller's promise.
        unsafe { output.write(flags) };
        if satisfied(flags, requested, option) {
            if !caller.admit() {
                return caller.refuse(k);
            }
            if option & CLEAR != 0 {
                self.clear(requested);
            }
            return TX_SUCCESS;
        }
        if wait == TX_WAIT_FOREVER
            && requested != 0
            && let Some(thread) = port::plain()
        {
            thread.wait_memory.set(output);
            thread.wait_option.set(option as u8);
            return self.wait_forever(requested, thread, k);
        }
        match k.may_wait(wait) {
            Some(thread) if requested != 0 => {
                thread.wait_memory.set(output);
                thread.wait_value.set(requested);
                thread.wait_option.set(option as u8);
                Locked::wait(&self.waiters, wait, &WAIT, k).into()
            }
            _ => TX_NO_EVENTS,
        }
    }

    // In this order the first two arguments are where a get has them.
    #[inline(never)]
    fn wait_forever(self, requested: ULONG, thread: Thread, k: Locked) -> UINT {
        thread.wait_value.set(requested);
        Locked::suspend_plain_in(thread, &self.waiters, TX_WAIT_FOREVER, &WAIT, k)
    }

    /// Registers the set notification, or none.
    pub(crate) fn notify(self, notify: Option<EventFlagsNotify>) {
        let _k = lock();
        self.set_notify.set(notify);
        set_bits(&self.special, special::NOTIFY, notify.is_some());
    }

    #[inline(always)]
    fn is_reviewing(self) -> bool {
        self.special.get() & special::REVIEW != 0
    }

    #[inline(always)]
    fn clear(self, flags: ULONG) {
        if self.is_reviewing() {
            self.delayed_clear.set(self.delayed_clear.get() | flags);
        } else {
            self.current.set(self.current.get() & !flags);
        }
    }

    #[inline(always)]
    pub(crate) fn set(self, flags: ULONG, option: UINT, k: Locked, caller: impl Caller) -> UINT {
        count_call(&self.performance.sets, &TOTALS.event_flags.sets, caller);
        // Of a group that does not exist the flags mean nothing.
        if option & TX_AND != 0 {
            if !caller.admit() {
                return caller.refuse(k);
            }
            self.clear(!flags);
            return TX_SUCCESS;
        }
        self.current.set(self.current.get() | flags);
        if self.special.get() != 0 {
            if !caller.admit() {
                return caller.refuse(k);
            }
            return self.serve_all(flags, k).into();
        }
        match self.waiters.first() {
            Some(waiter) => self.serve(flags, waiter, k),
            None => {
                if !caller.admit() {
                    return caller.refuse(k);
                }
                TX_SUCCESS
            }
        }
    }

    /// The part of a set that concerns `waiter`, the first of those who wait.
    #[inline(never)]
    fn serve(self, flags: ULONG, waiter: Thread, k: Locked) -> UINT {
        if !k.is_simple(waiter) {
            return self.serve_all(flags, k).into();
        }
        // Nobody else is concerned: no review, no preemption to put off.
        if self.satisfy(waiter, self.current.get()) {
            return Locked::grant_simple(&self.waiters, waiter, k);
        }
        port::success()
    }

    /// The part of a set that concerns others.
    #[inline(never)]
    fn serve_all(self, flags: ULONG, k: Locked) -> Code {
        let notify = self.set_notify.get();
        k.disable_preemption();
        if self.is_reviewing() {
            self.delayed_clear.set(self.delayed_clear.get() & !flags);
            self.review_again.set(true);
        } else {
            self.review(&k);
        }
        if let Some(notify) = notify {
            drop(k);
            // SAFETY: registered through `tx_event_flags_set_notify`, whose caller vouches for the
            // function; the group is a created one.
            unsafe { notify(self.as_ptr()) };
            lock().enable_preemption();
        } else {
            k.enable_preemption();
        }
        // Not the state of the group: whoever preempted the caller may have deleted it since.
        TX_SUCCESS as Code
    }

    /// Whether `flags` satisfy the waiter `thread`. If so it gets them, and what it asked to be cleared is
    /// cleared; it remains to be woken.
    #[inline(always)]
    fn satisfy(self, thread: Thread, flags: ULONG) -> bool {
        let requested = thread.wait_value.get();
        let option = thread.wait_option.get() as UINT;
        let satisfied = satisfied(flags, requested, option);
        if satisfied {
            if option & CLEAR != 0 {
                self.current.set(self.current.get() & !requested);
            }
            // SAFETY: the waiter, whose `get` has not returned, vouched for its output.
            unsafe { thread.wait_memory.get().write(flags) };
        }
        satisfied
    }

    fn review(self, k: &Locked) {
        set_bits(&self.special, special::REVIEW, true);
        self.review_again.set(false);
        let mut flags = self.current.get();
        let mut at = self.waiters.first();
        while let Some(thread) = at {
            at = self.waiters.after(thread);
            if self.satisfy(thread, flags) {
                k.wake(thread, TX_SUCCESS);
            }
            if at.is_some() {
                // Nobody can join while preemption is disabled, so an unchanged number of waiters
                // says that `at` is still one of them.
                let waiting = self.waiters.len();
                k.breathe();
                let again = self.review_again.replace(false);
                if again {
                    flags |= self.current.get();
                }
                if again || self.waiters.len() != waiting {
                    at = self.waiters.first();
                }
            }
        }
        self.current.set(self.current.get() & !self.delayed_clear.replace(0));
        set_bits(&self.special, special::REVIEW, false);
    }

    /// Wakes all waiters with `TX_DELETED`.
    pub(crate) fn delete(self) -> UINT {
        let k = lock();
        self.id.set(0);
        self.waiters.close(TX_GROUP_ERROR);
        k.event_flags.remove(self);
        k.disable_preemption();
        k.wake_all(&self.waiters, TX_DELETED);
        k.enable_preemption();
        TX_SUCCESS
    }

    pub(crate) fn info(self) -> EventFlagsInfo {
        let _k = lock();
        EventFlagsInfo {
            name: self.name.get(),
            flags: self.current.get() & !self.delayed_clear.get(),
            first: self.waiters.first(),
            waiting: self.waiters.len(),
            next: self.created_links.next(),
        }
    }

    fn check(self) -> Result<(), &'static str> {
        self.waiters.check(TX_EVENT_FLAG)?;
        if self.is_reviewing() {
            return Ok(());
        }
        let mut at = self.waiters.first();
        while let Some(thread) = at {
            if satisfied(self.current.get(), thread.wait_value.get(), thread.wait_option.get() as UINT) {
                return Err("a thread waits for flags that are there");
            }
            at = self.waiters.after(thread);
        }
        if self.delayed_clear.get() != 0 { Err("a delayed clear was forgotten") } else { Ok(()) }
    }
}

impl Locked {
    pub(crate) fn has_event_flags(&self, group: EventFlags) -> bool {
        self.event_flags.contains(group)
    }

    /// Checks all groups: nobody waits for what is there.
    pub(crate) fn check_event_flags(&self) -> Result<(), &'static str> {
        let mut result = Ok(());
        self.event_flags.for_each(|g| result = result.and(g.check()));
        result
    }
}
