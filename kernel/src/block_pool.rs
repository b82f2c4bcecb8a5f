//! Pools of blocks of one size, allocated and released in constant time.
//!
//! In front of every block is one pointer: of a free block to the next free one, of an allocated block to
//! its pool. So a release finds the pool, and the checked one notices a second release.

use core::cell::Cell;
use core::ffi::c_void;
use core::hint::cold_path;
use core::ptr::{null, null_mut};

use crate::kernel::{Locked, lock};
use crate::list::{LinkKind, Links};
use crate::object_ref;
use crate::performance::{BlockPoolCounters, TOTALS, bump, count_call};
use crate::thread::Thread;
use crate::types::*;
use crate::wait::{Caller, Wait, WaitQueue};

pub(crate) const BLOCK_POOL_ID: u32 = crate::types::tag(0xB7);
static WAIT: Wait = Wait::new(TX_BLOCK_MEMORY, TX_NO_MEMORY);
const HEADER: usize = size_of::<Header>();

/// What is in front of a block.
type Header = *mut c_void;

/// Control block of a block pool. Same rules as for [`crate::TX_THREAD`].
#[repr(C)]
pub struct TX_BLOCK_POOL {
    pub(crate) id: Cell<ULONG>,
    available: Cell<UINT>,
    pub(crate) waiters: WaitQueue,
    /// The header of the first free block, null when there is none. Not beside `available`: the compiler
    /// would load both as a pair, which takes a register more, and with it a frame.
    free: Cell<*mut Header>,
    total: Cell<UINT>,
    start: Cell<*mut u8>,
    /// Bytes from one header to the next.
    stride: Cell<usize>,
    name: Cell<*const CHAR>,
    created_links: Links<BlockPool>,
    pub(crate) performance: BlockPoolCounters,
}

// SAFETY: reached only with the kernel locked.
unsafe impl Sync for TX_BLOCK_POOL {}
// SAFETY: as for `Sync`.
unsafe impl Send for TX_BLOCK_POOL {}

object_ref! {
    /// A created block pool.
    BlockPool -> TX_BLOCK_POOL
}

pub(crate) struct CreatedBlockPool;
impl LinkKind<BlockPool> for CreatedBlockPool {
    fn links(node: &BlockPool) -> &Links<BlockPool> {
        &node.created_links
    }
}

impl TX_BLOCK_POOL {
    /// A control block that no kernel knows yet.
    pub const fn new() -> Self {
        Self {
            id: Cell::new(0),
            available: Cell::new(0),
            free: Cell::new(null_mut()),
            waiters: WaitQueue::closed(TX_POOL_ERROR),
            total: Cell::new(0),
            start: Cell::new(null_mut()),
            stride: Cell::new(0),
            name: Cell::new(null()),
            created_links: Links::new(),
            performance: BlockPoolCounters::new(),
        }
    }
}

/// A snapshot of a block pool.
pub(crate) struct BlockPoolInfo {
    pub(crate) name: *const CHAR,
    pub(crate) available: ULONG,
    pub(crate) total: ULONG,
    pub(crate) first: Option<Thread>,
    pub(crate) waiting: ULONG,
    pub(crate) next: Option<BlockPool>,
}

/// Bytes that a block of `size` bytes takes; `None` if they cannot be counted.
fn stride_of(size: ULONG) -> Option<usize> {
    (size as usize).checked_next_multiple_of(HEADER)?.checked_add(HEADER)
}

/// Whether `bytes` bytes are enough for one block of `size` bytes.
pub(crate) fn fits(size: ULONG, bytes: ULONG) -> bool {
    stride_of(size).is_some_and(|stride| stride <= bytes as usize)
}

impl BlockPool {
    /// Makes a free list of the memory; `TX_SIZE_ERROR`, and no pool, if not one block fits in.
    ///
    /// # Safety
    ///
    /// `start` is the start of `bytes` bytes, aligned for pointers, that belong to this pool alone until
    /// it is deleted.
    pub(crate) unsafe fn create(self, name: *const CHAR, size: ULONG, start: *mut u8, bytes: ULONG) -> UINT {
        let Some(stride) = stride_of(size) else { return TX_SIZE_ERROR };
        let total = bytes as usize / stride;
        if total == 0 {
            return TX_SIZE_ERROR;
        }
        let mut free: *mut Header = null_mut();
        for index in (0..total).rev() {
            // SAFETY: `total` blocks of `stride` bytes are inside the memory, and every header is
            // aligned because `start` and `stride` are.
            unsafe {
                let header = start.add(index * stride).cast::<Header>();
                header.write(free.cast());
                free = header;
            }
        }
        self.name.set(name);
        self.start.set(start);
        self.stride.set(stride);
        self.total.set(total as UINT);
        self.available.set(total as UINT);
        self.free.set(free);
        let k = lock();
        self.waiters.open();
        self.id.set(BLOCK_POOL_ID);
        k.block_pools.push_back(self);
        TX_SUCCESS
    }

    /// Writes the address of the block last released to `block`.
    ///
    /// # Safety
    ///
    /// `block` is writable until this returns.
    #[inline(always)]
    pub(crate) unsafe fn allocate(self, block: *mut *mut c_void, wait: ULONG, k: Locked, caller: impl Caller) -> UINT {
        count_call(&self.performance.allocates, &TOTALS.block_pools.allocates, caller);
        let header = self.free.get();
        if header.is_null() {
            cold_path();
            return self.wait(block, wait, k) as UINT;
        }
        if !caller.admit() {
            return caller.refuse(k);
        }
        self.available.set(self.available.get() - 1);
        // SAFETY: a free block's header belongs to the pool; it holds the next one's address. `block` is
        // the caller's promise.
        unsafe {
            self.free.set(header.replace(self.as_ptr().cast()).cast());
            block.write(header.add(1).cast());
        }
        TX_SUCCESS
    }

    #[inline(never)]
    fn wait(self, block: *mut *mut c_void, wait: ULONG, k: Locked) -> Code {
        let Some(thread) = k.may_wait(wait) else { return TX_NO_MEMORY as Code };
        thread.wait_memory.set(block.cast());
        Locked::suspend_in(&self.waiters, wait, &WAIT, k) as Code
    }

    /// Gives `block` to the first waiter, or to the pool it came from.
    ///
    /// # Safety
    ///
    /// `block` was allocated from a created pool, and is the pool's again from now on.
    #[inline(always)]
    pub(crate) unsafe fn release(block: *mut c_void, k: Locked) -> UINT {
        let header = block.cast::<Header>().wrapping_sub(1);
        // SAFETY: in front of an allocated block is the address of its pool, which exists.
        let pool = unsafe { Self::new(core::ptr::NonNull::new_unchecked(header.read().cast())) };
        bump(&pool.performance.releases, &TOTALS.block_pools.releases);
        if pool.waiters.first().is_some() {
            return pool.pass_on(header, k) as UINT;
        }
        pool.available.set(pool.available.get() + 1);
        // SAFETY: the header belongs to the pool.
        unsafe { header.write(pool.free.replace(header).cast()) };
        TX_SUCCESS
    }

    #[inline(never)]
    fn pass_on(self, header: *mut Header, k: Locked) -> Code {
        let Some(waiter) = self.waiters.first() else { return TX_SUCCESS as Code };
        // SAFETY: the waiter, whose `allocate` has not returned, vouched for where its block is to go.
        unsafe { waiter.wait_memory.get().cast::<*mut c_void>().write(header.wrapping_add(1).cast()) };
        Locked::grant(&self.waiters, waiter, k) as Code
    }

    /// Wakes all waiters with `TX_DELETED`.
    pub(crate) fn delete(self) -> UINT {
        let k = lock();
        self.id.set(0);
        self.waiters.close(TX_POOL_ERROR);
        k.block_pools.remove(self);
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

    pub(crate) fn info(self) -> BlockPoolInfo {
        let _k = lock();
        BlockPoolInfo {
            name: self.name.get(),
            available: self.available.get(),
            total: self.total.get(),
            first: self.waiters.first(),
            waiting: self.waiters.len(),
            next: self.created_links.next(),
        }
    }

    /// Whether `block` is an allocated block of this pool. Reads nothing outside the pool.
    fn lent(self, block: *mut c_void) -> bool {
        let header = block.cast::<Header>().wrapping_sub(1);
        let offset = (header as usize).wrapping_sub(self.start.get() as usize);
        let stride = self.stride.get();
        offset < self.total.get() as usize * stride
            && offset.is_multiple_of(stride)
            // SAFETY: the header of one of the pool's blocks.
            && unsafe { header.read() } == self.as_ptr().cast()
    }

    fn check(self) -> Result<(), &'static str> {
        self.waiters.check(TX_BLOCK_MEMORY)?;
        if self.waiters.first().is_some() && self.available.get() != 0 {
            return Err("a thread waits for a block that is there");
        }
        let mut free = 0;
        let mut at = self.free.get();
        while !at.is_null() && free <= self.total.get() {
            let offset = (at as usize).wrapping_sub(self.start.get() as usize);
            if offset >= self.total.get() as usize * self.stride.get() || !offset.is_multiple_of(self.stride.get()) {
                return Err("a free list leaves its block pool");
            }
            free += 1;
            // SAFETY: just found to be the header of one of the pool's blocks.
            at = unsafe { at.read().cast() };
        }
        if free != self.available.get() { Err("a block pool's free list and its count disagree") } else { Ok(()) }
    }
}

impl Locked {
    pub(crate) fn has_block_pool(&self, pool: BlockPool) -> bool {
        self.block_pools.contains(pool)
    }

    /// Whether `block` is an allocated block of any pool.
    pub(crate) fn is_lent_block(&self, block: *mut c_void) -> bool {
        let mut at = self.block_pools.front();
        while let Some(pool) = at {
            if pool.lent(block) {
                return true;
            }
            at = self.block_pools.after(pool);
        }
        false
    }

    /// Checks free lists and waiters of all block pools.
    pub(crate) fn check_block_pools(&self) -> Result<(), &'static str> {
        let mut result = Ok(());
        self.block_pools.for_each(|p| result = result.and(p.check()));
        result
    }
}
