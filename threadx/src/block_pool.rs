//! Pools of blocks of one type.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::ptr::{NonNull, null_mut};

use threadx_sys::{TX_BLOCK_POOL, ULONG};

use crate::claim::Claim;
use crate::error::check;
use crate::name::Name;
use crate::performance::BlockPoolCounts;
use crate::{Error, Rejected, Timeout, service};

/// What the kernel keeps in front of each block: one pointer (User Guide, chapter 3, "Memory Block
/// Pools", "Pool Capacity").
type Header = MaybeUninit<*mut ()>;

/// The first block's header, at the end of whatever it takes to align the block.
#[repr(C)]
union Lead<T> {
    header: Header,
    align: ManuallyDrop<[T; 0]>,
}

/// A block and, at the end, the header of the next one.
#[repr(C)]
struct Place<T> {
    block: MaybeUninit<T>,
    /// Somewhere behind the block, so that the size leaves room for it; the kernel uses the last bytes.
    header: Header,
}

/// Blocks are where `places` says: the kernel is given the memory from the first block's header on.
#[repr(C)]
struct Memory<T, const N: usize> {
    lead: Lead<T>,
    places: [Place<T>; N],
}

impl<T, const N: usize> Memory<T, N> {
    /// Bytes in front of the first header.
    const OFFSET: usize = size_of::<Lead<T>>() - size_of::<Header>();
    /// Bytes of a block for the kernel, which puts a header in front of it.
    const BLOCK: usize = size_of::<Place<T>>() - size_of::<Header>();
    const BYTES: usize = {
        assert!(N > 0, "a pool has at least one block");
        // The kernel rounds blocks up to headers. One that changed by that would move all others.
        assert!(Self::BLOCK.is_multiple_of(size_of::<Header>()) && Self::BLOCK >= size_of::<T>());
        assert!(core::mem::offset_of!(Self, places) == Self::OFFSET + size_of::<Header>());
        let bytes = N * size_of::<Place<T>>();
        assert!(bytes <= u32::MAX as usize, "the kernel counts 32 bits of memory");
        assert!(Self::OFFSET + bytes <= size_of::<Self>());
        bytes
    };
}

/// A pool of `N` blocks that each hold a `T`, allocated and released in constant time (User Guide,
/// chapter 3, "Memory Block Pools").
///
/// An allocated [`Block`] owns its place like a box: it gives access to its value, can be sent to other
/// threads, in a [`Queue`](crate::Queue) for instance, and goes back to the pool when it is dropped, so
/// that nothing is released twice or used afterwards. Any alignment of `T` is kept.
///
/// A `static`: the kernel links it, so it can neither move nor go away. Until [`BlockPool::create`], and
/// after [`BlockPool::delete`], every method returns [`Error::Pool`].
///
/// ```
/// # use core::ops::Range;
/// # struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// # threadx::stack! { static STACK: Stack<Btcm, 2048>; }
/// use threadx::{Block, BlockPool, Builder, Queue, ThreadCell, Timeout};
///
/// static FRAMES: BlockPool<[u8; 1500], 4> = BlockPool::new();
/// static RECEIVED: Queue<Block<[u8; 1500]>, 4> = Queue::new();
/// static WORKER: ThreadCell = ThreadCell::new();
///
/// threadx::host::run(10, |_init| {
///     FRAMES.create("frames").unwrap();
///     RECEIVED.create("received").unwrap();
///     let worker = Builder::new("worker").spawn(&WORKER, STACK.take().unwrap(), || {
///         let frame = RECEIVED.receive(Timeout::Forever).unwrap(); // a pointer, not 1500 bytes
///         assert_eq!(frame[..4], [1, 2, 3, 4]);
///         drop(frame);
///         assert_eq!(FRAMES.info().unwrap().available, 4);
/// #       threadx::host::finish()
///     });
///     worker.unwrap().detach();
///     let mut frame = FRAMES.store([0; 1500], Timeout::NoWait).unwrap(); // as an interrupt handler would
///     frame[..4].copy_from_slice(&[1, 2, 3, 4]);
///     RECEIVED.try_send(frame).unwrap();
/// });
/// ```
///
/// # Deletion
///
/// Waiting threads get [`Error::Deleted`]. Blocks that are allocated stay valid, and until all are
/// dropped the pool cannot be created again.
pub struct BlockPool<T, const N: usize> {
    control: UnsafeCell<TX_BLOCK_POOL>,
    /// On upstream's kernel blocks are guests.
    claim: Claim<false>,
    name: UnsafeCell<Name>,
    memory: UnsafeCell<MaybeUninit<Memory<T, N>>>,
}

// SAFETY: `control` is touched by the kernel only, under its own lock; `name` is written by the one
// who has claimed the pool before it is created, and read afterwards; of `memory` the kernel touches
// free blocks and headers, and each `Block` its own block. The pool itself holds no `T`.
unsafe impl<T, const N: usize> Sync for BlockPool<T, N> {}
// SAFETY: nothing is tied to a context.
unsafe impl<T, const N: usize> Send for BlockPool<T, N> {}

/// A snapshot of a pool of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BlockPoolInfo {
    /// Free blocks.
    pub available: u32,
    /// All blocks.
    pub total: u32,
    /// How many threads wait.
    pub waiting: u32,
}

impl<T, const N: usize> Default for BlockPool<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> BlockPool<T, N> {
    /// A pool that is not created yet.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(Memory::<T, N>::BYTES > 0) }
        Self {
            control: UnsafeCell::new(TX_BLOCK_POOL::new()),
            claim: Claim::new(),
            name: UnsafeCell::new(Name::empty()),
            memory: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    fn control(&'static self) -> *mut TX_BLOCK_POOL {
        self.control.get()
    }

    /// Creates the pool, all blocks free. Takes time in proportion to their number.
    ///
    /// From initialization and threads.
    ///
    /// # Errors
    ///
    /// [`Error::InUse`] if it exists, or was deleted and a block of it is still there;
    /// [`Error::Caller`] elsewhere and before the kernel is started.
    pub fn create(&'static self, name: &'static str) -> Result<(), Error> {
        self.claim.take()?;
        #[cfg(feature = "bundled")]
        // SAFETY: the pool does not exist, so nobody allocates, and the number only falls.
        if unsafe { threadx_sys::direct::block_pool_is_lent(self.control()) } {
            self.claim.release();
            return Err(Error::InUse);
        }
        // SAFETY: claimed and not created: nobody else looks at the name.
        unsafe { *self.name.get() = Name::new(name) };
        // SAFETY: the control block is `'static`, not created, and nobody is inside; name and memory
        // stay in place until the pool is deleted. No block is allocated, so the memory, from the
        // first header to the end, is the kernel's alone until it allocates.
        let status = unsafe {
            threadx_sys::tx_block_pool_create(
                self.control(),
                (*self.name.get()).as_c(),
                Memory::<T, N>::BLOCK as ULONG,
                self.memory.get().cast::<u8>().add(Memory::<T, N>::OFFSET).cast(),
                Memory::<T, N>::BYTES as ULONG,
            )
        };
        self.claim.created(check(status))
    }

    /// Deletes the pool: threads that wait get [`Error::Deleted`], allocated blocks stay valid.
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// [`Error::Pool`], [`Error::Caller`].
    pub fn delete(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.claim.delete(Error::Pool, || check(unsafe { threadx_sys::tx_block_pool_delete(self.control()) }))?;
        self.claim.release();
        Ok(())
    }

    /// A block without a value, waiting for one to be free as long as `timeout` says;
    /// [`Block::write`] gives it its value.
    ///
    /// From any context with [`Timeout::NoWait`], else from threads.
    ///
    /// # Errors
    ///
    /// * [`Error::NoMemory`]: no block in time; inside a critical section at once.
    /// * [`Error::Wait`]: a wait outside threads.
    /// * [`Error::Deleted`], [`Error::WaitAborted`]: the wait ended early.
    /// * [`Error::Pool`].
    #[inline]
    pub fn allocate(&'static self, timeout: impl Into<Timeout>) -> Result<Block<MaybeUninit<T>>, Error> {
        let mut block = MaybeUninit::uninit();
        let tie = Tie::new(&self.claim);
        let wait = timeout.into().option();
        // SAFETY: control block and claim are this pool's; `block` is valid for writing.
        let result = unsafe { service::block_allocate(self.control(), &self.claim, block.as_mut_ptr(), wait) };
        if let Err(error) = result {
            tie.end();
            return Err(error);
        }
        // SAFETY: with success the kernel has written the address of a block.
        let value = unsafe { NonNull::new_unchecked(block.assume_init()) }.cast();
        Ok(Block { value, tie, owned: PhantomData })
    }

    /// A block with a value: [`BlockPool::allocate`] and [`Block::write`].
    ///
    /// # Errors
    ///
    /// The value, and the error of [`BlockPool::allocate`].
    pub fn store(&'static self, value: T, timeout: impl Into<Timeout>) -> Result<Block<T>, Rejected<T>> {
        match self.allocate(timeout) {
            Ok(block) => Ok(block.write(value)),
            Err(error) => Err(Rejected { error, value }),
        }
    }

    /// Moves the first of the highest-priority waiting threads to the front, once.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Pool`].
    pub fn prioritize(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        critical_section::with(|_| check(unsafe { threadx_sys::tx_block_pool_prioritize(self.control()) }))
    }

    /// A snapshot of blocks and waiting threads. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Pool`].
    pub fn info(&'static self) -> Result<BlockPoolInfo, Error> {
        let (mut available, mut total, mut waiting) = (0, 0, 0);
        // SAFETY: the service checks the control block, writes to valid variables, skips nulls.
        check(unsafe {
            threadx_sys::tx_block_pool_info_get(
                self.control(),
                null_mut(),
                &raw mut available,
                &raw mut total,
                null_mut(),
                &raw mut waiting,
                null_mut(),
            )
        })?;
        Ok(BlockPoolInfo { available, total, waiting })
    }

    /// What was counted, see [`performance`](crate::performance). From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Pool`].
    pub fn performance(&'static self) -> Result<BlockPoolCounts, Error> {
        BlockPoolCounts::of(self.control())
    }
}

/// What keeps a deleted pool from being created again while a block of it is allocated. The bundled kernel knows
/// how many blocks of a deleted pool are still out; on upstream's a block, and an allocation, is a guest.
#[derive(Clone, Copy)]
struct Tie {
    #[cfg(not(feature = "bundled"))]
    claim: &'static Claim<false>,
}

impl Tie {
    #[inline(always)]
    fn new(_claim: &'static Claim<false>) -> Self {
        #[cfg(not(feature = "bundled"))]
        _claim.enter();
        Self {
            #[cfg(not(feature = "bundled"))]
            claim: _claim,
        }
    }

    /// The block is released, or there was none.
    #[inline(always)]
    fn end(self) {
        #[cfg(not(feature = "bundled"))]
        self.claim.leave();
    }
}

/// A value in a block of a [`BlockPool`], which it goes back to when this is dropped.
///
/// Dropping is allowed in any context. A waiting thread may run before the drop returns.
pub struct Block<T: 'static> {
    value: NonNull<T>,
    tie: Tie,
    owned: PhantomData<T>,
}

// SAFETY: the block owns its value and nothing that is tied to a context; releasing is allowed in all.
unsafe impl<T: Send> Send for Block<T> {}
// SAFETY: a shared block gives out `&T` only.
unsafe impl<T: Sync> Sync for Block<T> {}

impl<T> Block<MaybeUninit<T>> {
    /// The block with its value.
    #[must_use]
    pub fn write(mut self, value: T) -> Block<T> {
        MaybeUninit::write(&mut self, value);
        // SAFETY: just written.
        unsafe { self.assume_init() }
    }

    /// The block with what was written to it.
    ///
    /// # Safety
    ///
    /// As [`MaybeUninit::assume_init`]: a valid value was written.
    #[must_use]
    pub unsafe fn assume_init(self) -> Block<T> {
        let this = ManuallyDrop::new(self);
        Block { value: this.value.cast(), tie: this.tie, owned: PhantomData }
    }
}

impl<T> Block<T> {
    /// Takes the value out and releases the block.
    #[must_use]
    pub fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: the block holds a value, which moves out; nobody uses it afterwards.
        let value = unsafe { this.value.read() };
        // SAFETY: the block is not used afterwards.
        unsafe { this.release() };
        value
    }

    /// # Safety
    ///
    /// Called once, when the value is gone.
    #[inline(always)]
    unsafe fn release(&self) {
        #[cfg(not(feature = "bundled"))]
        use threadx_sys::_tx_block_release as release;
        #[cfg(feature = "bundled")]
        use threadx_sys::direct::block_release as release;
        // SAFETY: the block was allocated from this pool and is nobody's any more. The unchecked
        // service: even of a deleted pool the memory and the control block that the header leads to are
        // in place, and no other pool was made of them while the block is allocated.
        let status = unsafe { release(self.value.as_ptr().cast()) };
        debug_assert_eq!(status, threadx_sys::TX_SUCCESS);
        self.tie.end();
    }
}

impl<T> Deref for Block<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the block holds a value and is this one's alone.
        unsafe { self.value.as_ref() }
    }
}

impl<T> DerefMut for Block<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and it is borrowed exclusively.
        unsafe { self.value.as_mut() }
    }
}

impl<T> Drop for Block<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the block holds a value, and this is its end.
        unsafe { self.value.drop_in_place() };
        // SAFETY: nothing uses the block afterwards.
        unsafe { self.release() };
    }
}

impl<T: fmt::Debug> fmt::Debug for Block<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: PartialEq> PartialEq for Block<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Block<T> {}
