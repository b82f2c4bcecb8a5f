//! Pools of memory of any size, first fit.
//!
//! The memory is a chain of fragments in address order. Each begins with two words: the address of the
//! next fragment, and either [`FREE`] or the address of the pool. The last fragment is only these two
//! words, never free, and leads back to the start.
//!
//! An allocation costs two words beside its own bytes: 8 on the target, 16 on a 64-bit host. A pool of 4096
//! bytes, for instance, has 4088 available on the target (4080 on the host), 456 (400) after four
//! allocations of 900, 3180 (3160) after three releases, and 572 (544) after one more allocation of 2600.
//!
//! A release merges nothing. Neighbouring free fragments are merged by an allocation whose search comes
//! past them, so fragment counts only fall while somebody allocates.
//!
//! # The search and others
//!
//! The search lets interrupts in, and with them higher threads, at every step. `changes` counts what is
//! done to the chain; a search that finds it moved starts again. No interrupt handler may call a byte
//! pool service.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null;

use crate::kernel::{Locked, lock};
use crate::list::{LinkKind, Links};
use crate::object_ref;
use crate::performance::{BytePoolCounters, TOTALS, bump};
use crate::thread::Thread;
use crate::types::*;
use crate::wait::{Wait, WaitQueue};

pub(crate) const BYTE_POOL_ID: u32 = crate::types::tag(0xB9);
static WAIT: Wait = Wait::new(TX_BYTE_MEMORY, TX_NO_MEMORY);
const HEADER: usize = size_of::<Fragment>();
const WORD: usize = size_of::<usize>();
/// Mark of a free fragment. Not the address of any pool: it is odd.
const FREE: usize = 1;
/// A fragment is split if what is left of it, header included, has at least this many bytes.
const WORTH_SPLITTING: usize = 20;

/// The two words in front of every piece of memory.
#[repr(C)]
struct Fragment {
    next: Cell<*const Fragment>,
    /// [`FREE`], or the pool.
    owner: Cell<usize>,
}

/// Control block of a byte pool. Same rules as for [`crate::TX_THREAD`].
#[repr(C)]
pub struct TX_BYTE_POOL {
    pub(crate) id: Cell<ULONG>,
    /// Bytes of the pool, the end mark included.
    size: Cell<usize>,
    /// The lowest memory that can be allocated, behind the first header.
    lowest: Cell<*const Fragment>,
    /// Words from `lowest` to the end mark.
    span: Cell<usize>,
    /// Where the next search begins: no fragment before it is free, so a search need not go round.
    /// The address behind its header.
    search: Cell<*const Fragment>,
    /// Bytes in free fragments, their headers included.
    available: Cell<usize>,
    /// Fragments, the end mark included.
    fragments: Cell<ULONG>,
    changes: Cell<ULONG>,
    pub(crate) waiters: WaitQueue,
    name: Cell<*const CHAR>,
    created_links: Links<BytePool>,
    pub(crate) performance: BytePoolCounters,
}

// SAFETY: reached only with the kernel locked.
unsafe impl Sync for TX_BYTE_POOL {}
// SAFETY: as for `Sync`.
unsafe impl Send for TX_BYTE_POOL {}

object_ref! {
    /// A created byte pool.
    BytePool -> TX_BYTE_POOL
}

pub(crate) struct CreatedBytePool;
impl LinkKind<BytePool> for CreatedBytePool {
    fn links(node: &BytePool) -> &Links<BytePool> {
        &node.created_links
    }
}

impl TX_BYTE_POOL {
    /// A control block that no kernel knows yet.
    pub const fn new() -> Self {
        Self {
            id: Cell::new(0),
            lowest: Cell::new(null()),
            span: Cell::new(0),
            size: Cell::new(0),
            search: Cell::new(null()),
            available: Cell::new(0),
            fragments: Cell::new(0),
            changes: Cell::new(0),
            waiters: WaitQueue::closed(TX_POOL_ERROR),
            name: Cell::new(null()),
            created_links: Links::new(),
            performance: BytePoolCounters::new(),
        }
    }
}

/// A snapshot of a byte pool.
pub(crate) struct BytePoolInfo {
    pub(crate) name: *const CHAR,
    pub(crate) available: ULONG,
    pub(crate) fragments: ULONG,
    pub(crate) first: Option<Thread>,
    pub(crate) waiting: ULONG,
    pub(crate) next: Option<BytePool>,
}

/// What a search came to.
enum Found {
    Memory(*mut c_void),
    Nothing,
    /// The pool was deleted meanwhile.
    Deleted,
}

/// `bytes` rounded up to words; `None` if they cannot be counted.
#[inline(always)]
pub(crate) fn whole_words(bytes: ULONG) -> Option<usize> {
    (bytes as usize).checked_next_multiple_of(WORD)
}

impl BytePool {
    /// # Safety
    ///
    /// `start` is the start of `bytes` bytes, aligned for pointers and enough for four words, that belong
    /// to this pool alone until it is deleted.
    pub(crate) unsafe fn create(self, name: *const CHAR, start: *mut u8, bytes: ULONG) {
        let size = bytes as usize & !(WORD - 1);
        let first = start.cast::<Fragment>();
        let last = start.wrapping_add(size - HEADER).cast::<Fragment>();
        // SAFETY: both inside the memory, aligned, and apart.
        unsafe {
            first.write(Fragment { next: Cell::new(last), owner: Cell::new(FREE) });
            last.write(Fragment { next: Cell::new(first), owner: Cell::new(self.mark()) });
        }
        self.name.set(name);
        self.lowest.set(first.wrapping_add(1));
        self.span.set((size - 2 * HEADER) / WORD);
        self.size.set(size);
        self.search.set(first.wrapping_add(1));
        self.available.set(size - HEADER);
        self.fragments.set(2);
        let k = lock();
        self.waiters.open();
        self.id.set(BYTE_POOL_ID);
        k.byte_pools.push_back(self);
    }

    /// The first fragment.
    fn start(self) -> *const Fragment {
        self.lowest.get().wrapping_sub(1)
    }

    /// Owner word of this pool's allocated fragments.
    fn mark(self) -> usize {
        self.as_ptr() as usize
    }

    /// Bytes of the whole pool, rounded to words.
    pub(crate) fn size(self, _k: &Locked) -> usize {
        self.size.get()
    }

    /// A fragment of this pool.
    #[inline(always)]
    fn at(self, fragment: *const Fragment) -> &'static Fragment {
        // SAFETY: only called with the start, the search position and what `next` leads to from there:
        // fragments in the memory that is the pool's until it is deleted. The application writes only
        // behind the headers. The reference is not kept across an unlocking of the kernel.
        unsafe { &*fragment }
    }

    /// Looks for `bytes` bytes, a multiple of the word size, and takes them.
    #[inline(never)]
    fn take(self, k: &Locked, bytes: usize) -> Found {
        'search: loop {
            // Even if all free fragments were merged into one, it would be smaller.
            if bytes >= self.available.get() + (self.fragments.get() as usize - 2) * HEADER {
                return Found::Nothing;
            }
            let mut at = self.search.get().wrapping_sub(1);
            let mut first_free = true;
            loop {
                let fragment = self.at(at);
                self.count_search();
                let next = fragment.next.get();
                let mut merged = false;
                if fragment.owner.get() != FREE {
                    at = next;
                } else {
                    if first_free {
                        first_free = false;
                        self.search.set(at.wrapping_add(1));
                    }
                    let room = next as usize - at as usize - HEADER;
                    if room >= bytes {
                        return Found::Memory(self.carve(at, room, bytes));
                    }
                    let neighbour = self.at(next);
                    if neighbour.owner.get() == FREE {
                        // Merged, and looked at again.
                        fragment.next.set(neighbour.next.get());
                        self.fragments.set(self.fragments.get() - 1);
                        self.changed();
                        bump(&self.performance.merges, &TOTALS.byte_pools.merges);
                        merged = true;
                    } else {
                        self.count_search();
                        at = neighbour.next.get();
                    }
                }
                if !merged && at == self.start() {
                    // Past the end mark.
                    return Found::Nothing;
                }
                let changes = self.changes.get();
                k.breathe();
                if self.id.get() != BYTE_POOL_ID {
                    return Found::Deleted;
                }
                if self.changes.get() != changes {
                    continue 'search;
                }
            }
        }
    }

    /// A fragment is looked at.
    #[inline(always)]
    fn count_search(self) {
        bump(&self.performance.searched, &TOTALS.byte_pools.searched);
    }

    #[inline(always)]
    fn changed(self) {
        self.changes.set(self.changes.get().wrapping_add(1));
    }

    /// Takes the first `bytes` of the `room` bytes in the free fragment `at`, or all if the rest is not
    /// worth a fragment.
    fn carve(self, at: *const Fragment, room: usize, bytes: usize) -> *mut c_void {
        let fragment = self.at(at);
        let mut taken = room;
        if room - bytes >= WORTH_SPLITTING {
            let rest = at.cast::<u8>().wrapping_add(HEADER + bytes).cast::<Fragment>();
            // SAFETY: inside the free fragment, aligned because `bytes` is a multiple of the word size,
            // and with room for a header, which `WORTH_SPLITTING` is no smaller than.
            unsafe {
                rest.cast_mut().write(Fragment { next: Cell::new(fragment.next.get()), owner: Cell::new(FREE) });
            }
            fragment.next.set(rest);
            self.fragments.set(self.fragments.get() + 1);
            bump(&self.performance.splits, &TOTALS.byte_pools.splits);
            taken = bytes;
        }
        fragment.owner.set(self.mark());
        self.available.set(self.available.get() - taken - HEADER);
        let memory = at.wrapping_add(1);
        if self.search.get() == memory {
            self.search.set(fragment.next.get().wrapping_add(1));
        }
        self.changed();
        memory.cast_mut().cast()
    }

    #[inline(always)]
    fn give_back(self, memory: *mut c_void) {
        let fragment = self.at(memory.cast::<Fragment>().wrapping_sub(1));
        fragment.owner.set(FREE);
        let bytes = fragment.next.get() as usize - memory as usize;
        self.available.set(self.available.get() + bytes + HEADER);
        if memory.cast_const().cast() < self.search.get() {
            self.search.set(memory.cast());
        }
        self.changed();
    }

    /// `bytes` bytes, rounded up to words, or the error.
    #[inline(always)]
    pub(crate) fn allocate(self, bytes: ULONG, wait: ULONG, k: Locked) -> Result<*mut c_void, UINT> {
        self.allocate_words(whole_words(bytes).ok_or(TX_NO_MEMORY)?, wait, k)
    }

    /// [`Self::allocate`] of `bytes` that are whole words.
    #[inline(always)]
    pub(crate) fn allocate_words(self, bytes: usize, wait: ULONG, k: Locked) -> Result<*mut c_void, UINT> {
        bump(&self.performance.allocates, &TOTALS.byte_pools.allocates);
        match self.take(&k, bytes) {
            Found::Memory(memory) => Ok(memory),
            Found::Deleted => Err(TX_DELETED),
            Found::Nothing => self.wait(bytes, wait, k),
        }
    }

    #[inline(never)]
    fn wait(self, bytes: usize, wait: ULONG, k: Locked) -> Result<*mut c_void, UINT> {
        // Nothing has run since the search looked last.
        let Some(thread) = k.may_wait(wait) else { return Err(TX_NO_MEMORY) };
        thread.wait_value.set(bytes as ULONG);
        match Locked::suspend_in(&self.waiters, wait, &WAIT, k) {
            TX_SUCCESS => Ok(thread.wait_memory.get().cast()),
            error => Err(error),
        }
    }

    /// Takes `memory` back and serves waiters from the first on, up to one that does not fit.
    /// `TX_PTR_ERROR` if it is not allocated memory of a pool: one that `is_lent` says to be the lender.
    #[inline(always)]
    pub(crate) fn release(memory: *mut c_void, is_lent: impl FnOnce(Self) -> bool) -> UINT {
        let k = lock();
        if let Some(first) = k.byte_pools.front()
            && first.waiters.first().is_none()
            && is_lent(first)
        {
            bump(&first.performance.releases, &TOTALS.byte_pools.releases);
            first.give_back(memory);
            return TX_SUCCESS;
        }
        Self::release_any(memory, k).into()
    }

    /// [`Self::release`] to any pool, and with waiters.
    #[inline(never)]
    fn release_any(memory: *mut c_void, k: Locked) -> Code {
        let Some(pool) = k.lender_of(memory) else { return TX_PTR_ERROR as Code };
        // SAFETY: its header says so.
        unsafe { pool.take_back(memory, k) };
        TX_SUCCESS as Code
    }

    /// [`Self::release`] for who knows the pool.
    ///
    /// # Safety
    ///
    /// `memory` was allocated from this pool, which exists, and is the pool's again from now on.
    #[inline(always)]
    pub(crate) unsafe fn take_back(self, memory: *mut c_void, k: Locked) {
        bump(&self.performance.releases, &TOTALS.byte_pools.releases);
        self.give_back(memory);
        if self.waiters.first().is_some() {
            self.serve(k);
        }
    }

    #[inline(never)]
    fn serve(self, k: Locked) {
        // No other thread runs, so the pool is not deleted meanwhile, and only the end of a wait by an
        // interrupt handler can change who is first.
        k.disable_preemption();
        while let Some(waiter) = self.waiters.first() {
            let Found::Memory(memory) = self.take(&k, waiter.wait_value.get() as usize) else { break };
            // The search unlocked the kernel between its steps.
            if self.waiters.first() == Some(waiter) {
                waiter.wait_memory.set(memory.cast());
                k.wake(waiter, TX_SUCCESS);
            } else {
                self.give_back(memory);
            }
            k.breathe();
        }
        k.enable_preemption();
    }

    /// Wakes all waiters with `TX_DELETED`.
    pub(crate) fn delete(self) -> UINT {
        let k = lock();
        self.id.set(0);
        self.waiters.close(TX_POOL_ERROR);
        self.changed();
        k.byte_pools.remove(self);
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

    pub(crate) fn info(self) -> BytePoolInfo {
        let _k = lock();
        BytePoolInfo {
            name: self.name.get(),
            available: self.available.get() as ULONG,
            fragments: self.fragments.get(),
            first: self.waiters.first(),
            waiting: self.waiters.len(),
            next: self.created_links.next(),
        }
    }

    /// Whether `memory` has the header of one of this pool's allocated fragments in front of it. Reads
    /// nothing outside the pool.
    #[inline(always)]
    pub(crate) fn lent(self, memory: *mut c_void) -> bool {
        // In words, and more than any of them where it is none: the bits of the rest are on top.
        let words = (memory as usize).wrapping_sub(self.lowest.get() as usize).rotate_right(WORD.trailing_zeros());
        words <= self.span.get() && self.at(memory.cast::<Fragment>().wrapping_sub(1)).owner.get() == self.mark()
    }

    /// [`Self::lent`] and the header's other word leads on to somewhere in the pool, as it does not where the
    /// fragment before was written one word too far.
    #[inline(always)]
    pub(crate) fn lent_intact(self, memory: *mut c_void) -> bool {
        self.lent(memory) && {
            let next = self.at(memory.cast::<Fragment>().wrapping_sub(1)).next.get();
            (next as usize).wrapping_sub(memory as usize) <= self.size.get()
        }
    }

    fn check(self) -> Result<(), &'static str> {
        self.waiters.check(TX_BYTE_MEMORY)?;
        let (mut free, mut fragments, mut searched) = (0, 0, false);
        let mut at = self.start();
        loop {
            let fragment = self.at(at);
            fragments += 1;
            searched |= self.search.get() == at.wrapping_add(1);
            if !searched && fragment.owner.get() == FREE {
                return Err("a free fragment lies before where a byte pool searches");
            }
            let next = fragment.next.get();
            if next == self.start() {
                break;
            }
            let offset = (next as usize).wrapping_sub(self.start() as usize);
            if next <= at || offset > self.size.get() - HEADER || fragments > self.fragments.get() {
                return Err("a byte pool's fragments are out of order");
            }
            match fragment.owner.get() {
                FREE => free += next as usize - at as usize,
                owner if owner != self.mark() => return Err("a fragment is neither free nor the pool's"),
                _ => {}
            }
            at = next;
        }
        if fragments != self.fragments.get() || free != self.available.get() {
            return Err("a byte pool's counts and its fragments disagree");
        }
        if !searched { Err("a byte pool searches from what is no fragment") } else { Ok(()) }
    }
}

impl Locked {
    pub(crate) fn has_byte_pool(&self, pool: BytePool) -> bool {
        self.byte_pools.contains(pool)
    }

    /// The pool that `memory` was allocated from.
    fn lender_of(&self, memory: *mut c_void) -> Option<BytePool> {
        let mut at = self.byte_pools.front();
        while let Some(pool) = at {
            if pool.lent_intact(memory) {
                return Some(pool);
            }
            at = self.byte_pools.after(pool);
        }
        None
    }

    /// Checks fragments and waiters of all byte pools.
    pub(crate) fn check_byte_pools(&self) -> Result<(), &'static str> {
        let mut result = Ok(());
        self.byte_pools.for_each(|p| result = result.and(p.check()));
        result
    }
}
