//! Counting semaphores.

use core::cell::Cell;
use core::hint::cold_path;
use core::ptr::null;

use crate::kernel::{Locked, lock};
use crate::list::{LinkKind, Links};
use crate::object_ref;
use crate::performance::{SemaphoreCounters, TOTALS, bump, count_call};
use crate::types::*;
use crate::wait::{Caller, Wait, WaitQueue};

pub(crate) const SEMAPHORE_ID: u32 = crate::types::tag(0x5E);
static WAIT: Wait = Wait::new(TX_SEMAPHORE_SUSP, TX_NO_INSTANCE);

/// Control block of a counting semaphore. Same rules as for [`crate::TX_THREAD`].
#[repr(C)]
pub struct TX_SEMAPHORE {
    /// First: the address of one is that of the other.
    pub(crate) waiters: WaitQueue,
    pub(crate) id: Cell<ULONG>,
    pub(crate) name: Cell<*const CHAR>,
    pub(crate) count: Cell<ULONG>,
    created_links: Links<Semaphore>,
    pub(crate) put_notify: Cell<Option<SemaphoreNotify>>,
    pub(crate) performance: SemaphoreCounters,
}

// SAFETY: reached only with the kernel locked.
unsafe impl Sync for TX_SEMAPHORE {}
// SAFETY: as for `Sync`.
unsafe impl Send for TX_SEMAPHORE {}

object_ref! {
    /// A created semaphore.
    Semaphore -> TX_SEMAPHORE
}

pub(crate) struct CreatedSemaphore;
impl LinkKind<Semaphore> for CreatedSemaphore {
    fn links(node: &Semaphore) -> &Links<Semaphore> {
        &node.created_links
    }
}

impl TX_SEMAPHORE {
    /// A control block that no kernel knows yet.
    pub const fn new() -> Self {
        Self {
            id: Cell::new(0),
            name: Cell::new(null()),
            count: Cell::new(0),
            waiters: WaitQueue::closed(TX_SEMAPHORE_ERROR),
            created_links: Links::new(),
            put_notify: Cell::new(None),
            performance: SemaphoreCounters::new(),
        }
    }
}

/// A snapshot of a semaphore.
pub(crate) struct SemaphoreInfo {
    pub(crate) name: *const CHAR,
    pub(crate) count: ULONG,
    pub(crate) first: Option<crate::thread::Thread>,
    pub(crate) waiting: ULONG,
    pub(crate) next: Option<Semaphore>,
}

impl Locked {
    pub(crate) fn has_semaphore(&self, semaphore: Semaphore) -> bool {
        self.semaphores.contains(semaphore)
    }

    /// Checks the waiters of all semaphores.
    pub(crate) fn check_semaphores(&self) -> Result<(), &'static str> {
        let mut result = Ok(());
        self.semaphores.for_each(|s| {
            result = result.and(s.waiters.check(TX_SEMAPHORE_SUSP));
            if s.count.get() != 0 && s.waiters.first().is_some() {
                result = Err("a thread waits for a unit that is there");
            }
        });
        result
    }
}

impl Semaphore {
    pub(crate) fn create(self, name: *const CHAR, count: ULONG) {
        let k = lock();
        self.name.set(name);
        self.count.set(count);
        self.put_notify.set(None);
        self.waiters.open();
        self.id.set(SEMAPHORE_ID);
        k.semaphores.push_back(self);
    }

    #[inline(always)]
    pub(crate) fn get(self, wait: ULONG, k: Locked, caller: impl Caller) -> UINT {
        count_call(&self.performance.gets, &TOTALS.semaphores.gets, caller);
        let count = self.count.get();
        if count != 0 {
            if !caller.admit() {
                return caller.refuse(k);
            }
            self.count.set(count - 1);
            return TX_SUCCESS;
        }
        cold_path();
        if wait == TX_WAIT_FOREVER {
            return Locked::wait_forever(&self.waiters, wait, &WAIT, k);
        }
        Locked::wait(&self.waiters, wait, &WAIT, k) as UINT
    }

    /// The unit goes to the first waiter, if there is one, and past the count.
    #[inline(always)]
    pub(crate) fn put(self, k: Locked, caller: impl Caller) -> UINT {
        count_call(&self.performance.puts, &TOTALS.semaphores.puts, caller);
        if self.put_notify.get().is_none() {
            match self.waiters.first() {
                None => {
                    if !caller.admit() {
                        return caller.refuse(k);
                    }
                    self.count.set(self.count.get().wrapping_add(1));
                    return TX_SUCCESS;
                }
                Some(waiter) => return Locked::grant_here(&self.waiters, waiter, k),
            }
        }
        if !caller.admit() {
            return caller.refuse(k);
        }
        self.put_and_tell(k) as UINT
    }

    /// As [`Self::put`], but without a waiter only below `ceiling`.
    pub(crate) fn ceiling_put(self, ceiling: ULONG) -> UINT {
        let k = lock();
        bump(&self.performance.puts, &TOTALS.semaphores.puts);
        if self.waiters.first().is_none() && self.count.get() >= ceiling {
            return TX_CEILING_EXCEEDED;
        }
        self.put_and_tell(k) as UINT
    }

    #[inline(never)]
    fn put_and_tell(self, k: Locked) -> Code {
        let (notify, waiter) = (self.put_notify.get(), self.waiters.first());
        if notify.is_some() {
            // The notification belongs to this put: it runs before the waiter does.
            k.disable_preemption();
        }
        match waiter {
            Some(waiter) => k.wake(waiter, TX_SUCCESS),
            None => self.count.set(self.count.get().wrapping_add(1)),
        }
        if let Some(notify) = notify {
            drop(k);
            // SAFETY: registered through `tx_semaphore_put_notify`, whose caller vouches for the
            // function; the semaphore is a created one.
            unsafe { notify(self.as_ptr()) };
            lock().enable_preemption();
        }
        TX_SUCCESS as Code
    }

    /// Wakes all waiters with `TX_DELETED`.
    pub(crate) fn delete(self) -> UINT {
        let k = lock();
        self.id.set(0);
        self.waiters.close(TX_SEMAPHORE_ERROR);
        k.semaphores.remove(self);
        k.disable_preemption();
        k.wake_all(&self.waiters, TX_DELETED);
        k.enable_preemption();
        TX_SUCCESS
    }

    pub(crate) fn prioritize(self) -> UINT {
        let _k = lock();
        self.waiters.prioritize();
        TX_SUCCESS
    }

    pub(crate) fn info(self) -> SemaphoreInfo {
        let _k = lock();
        SemaphoreInfo {
            name: self.name.get(),
            count: self.count.get(),
            first: self.waiters.first(),
            waiting: self.waiters.len(),
            next: self.created_links.next(),
        }
    }
}
