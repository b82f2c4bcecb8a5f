//! The kernel's state and the lock that is the only way to it.

use core::cell::Cell;
use core::mem::ManuallyDrop;
use core::ops::Deref;

use crate::block_pool::{BlockPool, CreatedBlockPool};
use crate::byte_pool::{BytePool, CreatedBytePool};
use crate::event_flags::{CreatedEventFlags, EventFlags};
use crate::list::List;
use crate::mutex::{CreatedMutex, Mutex};
use crate::port;
use crate::queue::{CreatedQueue, Queue};
use crate::scheduler::{ReadyList, Scheduler};
use crate::semaphore::{CreatedSemaphore, Semaphore};
use crate::thread::{CreatedThread, Thread};
use crate::timer::Timers;
use crate::types::*;

/// What a thread that ends has done to the mutexes it owns.
pub(crate) type ReleaseOwned = fn(&Locked, Thread);

/// All state of the kernel that is not in a control block.
pub(crate) struct Kernel {
    pub(crate) scheduler: Scheduler,
    pub(crate) timers: Timers,
    pub(crate) threads: List<Thread, CreatedThread>,
    pub(crate) semaphores: List<Semaphore, CreatedSemaphore>,
    pub(crate) mutexes: List<Mutex, CreatedMutex>,
    pub(crate) event_flags: List<EventFlags, CreatedEventFlags>,
    pub(crate) queues: List<Queue, CreatedQueue>,
    pub(crate) block_pools: List<BlockPool, CreatedBlockPool>,
    pub(crate) byte_pools: List<BytePool, CreatedBytePool>,
    pub(crate) stack_error: Cell<Option<StackErrorNotify>>,
    /// Releases the mutexes of a thread that ends; set by the first mutex, so that an image without
    /// mutexes carries none of their code.
    pub(crate) release_owned: Cell<Option<ReleaseOwned>>,
}

impl Kernel {
    const fn new() -> Self {
        Self {
            scheduler: Scheduler::new(),
            timers: Timers::new(),
            threads: List::new(),
            semaphores: List::new(),
            mutexes: List::new(),
            event_flags: List::new(),
            queues: List::new(),
            block_pools: List::new(),
            byte_pools: List::new(),
            stack_error: Cell::new(None),
            release_owned: Cell::new(None),
        }
    }
}

/// Address of the ready list of a priority.
pub(crate) fn ready_list(priority: u8) -> *const ReadyList {
    KERNEL.scheduler.list(priority)
}

// SAFETY: the only access is through `Locked` and through what it hands out, which exists while interrupts are masked on the one
// processor (on the host: while the one OS thread that holds the baton runs), so accesses from
// different contexts never overlap.
unsafe impl Sync for Kernel {}

static KERNEL: Kernel = Kernel::new();

/// The kernel, with interrupts masked until this is dropped.
///
/// A switch to another thread may happen while a thread holds its guard: the interrupt posture
/// belongs to the thread, so the guard's promise holds again whenever its thread runs.
pub(crate) struct Locked {
    posture: port::Posture,
}

/// Masks interrupts and hands out the kernel.
#[inline(always)]
pub(crate) fn lock() -> Locked {
    Locked { posture: port::mask() }
}

/// The kernel, for code that runs with interrupts masked from its first to its last instruction: nothing is
/// restored.
///
/// # Safety
///
/// Interrupts are masked for as long as the result is used.
#[inline(always)]
#[cfg_attr(not(target_os = "none"), allow(dead_code))]
pub(crate) unsafe fn locked() -> ManuallyDrop<Locked> {
    ManuallyDrop::new(Locked { posture: port::MASKED })
}

impl Deref for Locked {
    type Target = Kernel;
    #[inline(always)]
    fn deref(&self) -> &Kernel {
        &KERNEL
    }
}

impl Drop for Locked {
    #[inline(always)]
    fn drop(&mut self) {
        port::restore(self.posture);
    }
}

impl Locked {
    /// Gives the guard up for its posture, which is not restored.
    #[inline(always)]
    pub(crate) fn into_posture(self) -> port::Posture {
        let posture = self.posture;
        core::mem::forget(self);
        posture
    }

    /// The posture that dropping this guard restores.
    pub(crate) fn posture(&self) -> port::Posture {
        self.posture
    }

    /// Lets interrupts in for a moment (as far as the caller had them on) between two steps of work
    /// whose length the caller does not bound. Preemption must be disabled or harmless here.
    pub(crate) fn breathe(&self) {
        port::restore(self.posture);
        port::mask();
    }
}

/// Puts the kernel back to its state before start: the host's tests run many kernels in a process.
#[cfg(not(target_os = "none"))]
pub(crate) fn reset() {
    let k = lock();
    k.scheduler.reset();
    k.timers.reset();
    k.threads.clear();
    k.semaphores.clear();
    k.mutexes.clear();
    k.event_flags.clear();
    k.queues.clear();
    k.block_pools.clear();
    k.byte_pools.clear();
    k.stack_error.set(None);
    k.release_owned.set(None);
    crate::performance::TOTALS.reset();
}

/// Sets or clears these bits.
#[inline(always)]
pub(crate) fn set_bits(flags: &Cell<u8>, bits: u8, on: bool) {
    let others = flags.get() & !bits;
    flags.set(if on { others | bits } else { others });
}
