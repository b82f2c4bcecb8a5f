//! Pools of memory of any size.

use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering};

use threadx_sys::{TX_BYTE_POOL, TX_BYTE_POOL_MIN, ULONG};

use crate::claim::Claim;
use crate::error::check;
use crate::name::Name;
use crate::performance::BytePoolCounts;
use crate::{Error, Rejected, Timeout};

/// The kernel's memory is aligned for pointers. For more, the value lies further behind, and the word
/// in front of it tells where the kernel's memory begins.
const WORD: usize = size_of::<usize>();

/// A pool of `N` bytes for values of any type and size (User Guide, chapter 3, "Memory Byte Pools").
///
/// First fit, so neither the time of an allocation nor fragmentation is bounded: for start-up and rare
/// occasions. Each allocation costs two words more than its size, and up to its alignment more if that
/// is larger than a word.
///
/// An allocated [`PoolBox`] owns its memory like a `Box`, so nothing is released twice or used
/// afterwards.
///
/// A `static`: the kernel links it, so it can neither move nor go away. Until [`BytePool::create`], and
/// after [`BytePool::delete`], every method returns [`Error::Pool`].
///
/// ```
/// # use core::ops::Range;
/// # struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// # threadx::stack! { static STACK: Stack<Btcm, 2048>; }
/// use threadx::{Builder, BytePool, ThreadCell, Timeout};
///
/// static HEAP: BytePool<4096> = BytePool::new();
/// static WORKER: ThreadCell = ThreadCell::new();
///
/// threadx::host::run(10, |_init| {
///     HEAP.create("heap").unwrap();
///     let worker = Builder::new("worker").spawn(&WORKER, STACK.take().unwrap(), || {
///         let name = HEAP.store_slice(b"spi0", Timeout::NoWait).unwrap();
///         let number = HEAP.store(5u64, Timeout::NoWait).unwrap();
///         assert_eq!((&*name, *number), (&b"spi0"[..], 5));
/// #       threadx::host::finish()
///     });
///     worker.unwrap().detach();
/// });
/// ```
///
/// # Contexts
///
/// The kernel allocates and releases in initialization and threads only. A box that is dropped in an
/// interrupt or a timer callback drops its value there, and leaves the memory to the next allocation or
/// drop in a thread; a thread that waits for memory goes on waiting until then.
///
/// # Deletion
///
/// Waiting threads get [`Error::Deleted`]. Boxes stay valid, and until all are dropped the pool cannot
/// be created again.
#[cfg_attr(
    feature = "allocator",
    doc = "
# As the global allocator

```no_run
# use threadx::BytePool;
#[global_allocator]
static HEAP: BytePool<65536> = BytePool::new();

threadx::start(|_init| {
    HEAP.create(\"heap\").unwrap(); // before the first allocation
# std::process::exit(0);
})
```

Every alignment is honoured. Allocations never wait, and fail before the creation and in interrupts and
timer callbacks."
)]
pub struct BytePool<const N: usize> {
    core: Core,
    memory: UnsafeCell<MaybeUninit<Memory<N>>>,
}

#[repr(C, align(8))]
struct Memory<const N: usize>([u8; N]);

/// Everything but the memory, and so the same for every size.
struct Core {
    control: UnsafeCell<TX_BYTE_POOL>,
    /// Guests are services under way, and boxes: a search in a pool that is created again meanwhile
    /// would go on in fragments that are no more.
    claim: Claim<true>,
    /// Memory that was given up where it could not be released, linked through its first word.
    deferred: AtomicPtr<u8>,
    name: UnsafeCell<Name>,
}

// SAFETY: `control` is touched by the kernel only, under its own lock; `name` is written by the one
// who has claimed the pool before it is created, and read afterwards; the list of deferred memory is
// changed in critical sections only.
unsafe impl Sync for Core {}
// SAFETY: nothing is tied to a context.
unsafe impl Send for Core {}
// SAFETY: of the memory the kernel touches headers and free fragments, and each box its own fragment.
unsafe impl<const N: usize> Sync for BytePool<N> {}

/// A snapshot of a pool of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BytePoolInfo {
    /// Free bytes, in however many pieces, what the pieces cost included.
    pub available: u32,
    /// Pieces, free and allocated. Neighbours are merged when an allocation comes past them.
    pub fragments: u32,
    /// How many threads wait.
    pub waiting: u32,
}

impl Core {
    fn control(&self) -> *mut TX_BYTE_POOL {
        self.control.get()
    }

    /// Memory for `layout`; its owner is a guest until [`Self::release`].
    #[inline]
    fn allocate(&self, layout: Layout, wait: ULONG) -> Result<NonNull<u8>, Error> {
        self.reap();
        let in_front = if layout.align() > WORD { layout.align() } else { 0 };
        // At least a word, which a deferred release uses.
        let bytes = layout.size().max(WORD).checked_add(in_front).ok_or(Error::Size)?;
        let bytes = ULONG::try_from(bytes).map_err(|_| Error::Size)?;
        let memory = self.allocate_bytes(bytes, wait)?;
        if in_front == 0 {
            return Ok(memory);
        }
        // At least a word behind the start, which is aligned to words, and at most `in_front`.
        let offset = in_front - (memory.addr().get() & (in_front - 1));
        // SAFETY: the kernel gave `in_front` bytes more than the value has.
        let value = unsafe { memory.add(offset) };
        // SAFETY: the word is in the memory, before the value, and aligned.
        unsafe { value.cast::<NonNull<u8>>().sub(1).write(memory) };
        Ok(value)
    }

    #[inline(always)]
    fn allocate_bytes(&self, bytes: ULONG, wait: ULONG) -> Result<NonNull<u8>, Error> {
        #[cfg(feature = "bundled")]
        // SAFETY: control block and claim are this pool's.
        if let Some(result) = unsafe {
            threadx_sys::direct::byte_allocate(self.control(), self.claim.exists(), self.claim.guests(), bytes, wait)
        } {
            return match result {
                // SAFETY: memory of the pool.
                Ok(memory) => Ok(unsafe { NonNull::new_unchecked(memory.cast()) }),
                Err(status) => Err(self.failed(status)),
            };
        }
        self.allocate_by_service(bytes, wait)
    }

    #[cfg(feature = "bundled")]
    #[cold]
    #[inline(never)]
    fn failed(&self, status: threadx_sys::UINT) -> Error {
        self.claim.leave();
        Error::from_code(status)
    }

    #[cfg_attr(feature = "bundled", inline(never))]
    fn allocate_by_service(&self, bytes: ULONG, wait: ULONG) -> Result<NonNull<u8>, Error> {
        let mut memory = null_mut();
        self.claim.enter();
        // SAFETY: the service checks control block and context; `memory` is valid for writing.
        let status = check(unsafe { threadx_sys::tx_byte_allocate(self.control(), &raw mut memory, bytes, wait) });
        match (status, NonNull::new(memory.cast::<u8>())) {
            (Ok(()), Some(memory)) => Ok(memory),
            (status, _) => {
                self.claim.leave();
                Err(status.err().unwrap_or(Error::Pointer))
            }
        }
    }

    /// Gives back what [`Self::allocate`] gave.
    ///
    /// # Safety
    ///
    /// `value` comes from this pool's `allocate` with a layout of this alignment; called once, and
    /// nobody uses the memory afterwards.
    #[inline]
    unsafe fn release(&self, value: NonNull<u8>, align: usize) {
        let memory = if align > WORD {
            // SAFETY: `allocate` put it there.
            unsafe { value.cast::<NonNull<u8>>().sub(1).read() }
        } else {
            value
        };
        if self.try_release(memory) {
            self.reap();
        } else {
            self.defer(memory);
        }
    }

    /// Releases memory that the kernel allocated; `false` where that is not allowed.
    #[inline(always)]
    fn try_release(&self, memory: NonNull<u8>) -> bool {
        #[cfg(feature = "bundled")]
        // SAFETY: control block and claim are this pool's, and so is the memory, which nobody uses any more.
        if unsafe {
            let (exists, guests) = (self.claim.exists(), self.claim.guests());
            threadx_sys::direct::byte_release(self.control(), exists, guests, memory.as_ptr().cast())
        } {
            return true;
        }
        self.release_by_service(memory)
    }

    #[cfg_attr(feature = "bundled", inline(never))]
    fn release_by_service(&self, memory: NonNull<u8>) -> bool {
        // Memory of a deleted pool is refused with another error, and is gone all the same.
        // SAFETY: allocated memory; the service checks the context, and finds the pool itself.
        let status = unsafe { threadx_sys::tx_byte_release(memory.as_ptr().cast()) };
        if status == threadx_sys::TX_CALLER_ERROR {
            return false;
        }
        self.claim.leave();
        true
    }

    fn defer(&self, memory: NonNull<u8>) {
        critical_section::with(|_| {
            // SAFETY: allocated memory that nobody uses, of at least a word, aligned for one.
            unsafe { memory.cast::<*mut u8>().write(self.deferred.load(Ordering::Relaxed)) };
            self.deferred.store(memory.as_ptr(), Ordering::Relaxed);
        });
    }

    /// Releases what was deferred, if that is allowed here.
    #[inline(always)]
    fn reap(&self) {
        if !self.deferred.load(Ordering::Relaxed).is_null() {
            self.reap_deferred();
        }
    }

    #[cold]
    #[inline(never)]
    fn reap_deferred(&self) {
        while !self.deferred.load(Ordering::Relaxed).is_null() {
            let memory = critical_section::with(|_| {
                let memory = NonNull::new(self.deferred.load(Ordering::Relaxed))?;
                // SAFETY: `defer` wrote the next one there.
                self.deferred.store(unsafe { memory.cast::<*mut u8>().read() }, Ordering::Relaxed);
                Some(memory)
            });
            let Some(memory) = memory else { return };
            if !self.try_release(memory) {
                self.defer(memory);
                return;
            }
        }
    }
}

impl<const N: usize> Default for BytePool<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> BytePool<N> {
    /// A pool that is not created yet.
    #[must_use]
    pub const fn new() -> Self {
        const {
            assert!(N >= TX_BYTE_POOL_MIN as usize, "a byte pool has at least 100 bytes");
            assert!(N <= u32::MAX as usize, "the kernel counts 32 bits of memory");
        }
        Self {
            core: Core {
                control: UnsafeCell::new(TX_BYTE_POOL::new()),
                claim: Claim::new(),
                deferred: AtomicPtr::new(null_mut()),
                name: UnsafeCell::new(Name::empty()),
            },
            memory: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Creates the pool, all memory free.
    ///
    /// From initialization and threads.
    ///
    /// # Errors
    ///
    /// [`Error::InUse`] if it exists, or was deleted and a box of it is still there; [`Error::Caller`]
    /// elsewhere and before the kernel is started.
    pub fn create(&'static self, name: &'static str) -> Result<(), Error> {
        let core = &self.core;
        core.reap();
        core.claim.take()?;
        // SAFETY: claimed and not created: nobody else looks at the name.
        unsafe { *core.name.get() = Name::new(name) };
        // One step, see `Claim`: memory of a pool that does not exist yet for its boxes would be lost.
        critical_section::with(|_| {
            // SAFETY: the control block is `'static`, not created, and nobody is inside; name and memory
            // stay in place until the pool is deleted. Nothing is allocated, so the memory is the kernel's
            // alone until it allocates.
            let status = unsafe {
                threadx_sys::tx_byte_pool_create(
                    core.control(),
                    (*core.name.get()).as_c(),
                    self.memory.get().cast(),
                    N as ULONG,
                )
            };
            core.claim.created(check(status))
        })
    }

    /// Deletes the pool: threads that wait get [`Error::Deleted`], boxes stay valid.
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// [`Error::Pool`], [`Error::Caller`].
    pub fn delete(&'static self) -> Result<(), Error> {
        let core = &self.core;
        // SAFETY: the service checks the control block.
        core.claim.delete(Error::Pool, || check(unsafe { threadx_sys::tx_byte_pool_delete(core.control()) }))?;
        self.core.claim.release();
        Ok(())
    }

    fn boxed<T: ?Sized>(
        &'static self,
        layout: Result<Layout, core::alloc::LayoutError>,
        timeout: Timeout,
        typed: impl FnOnce(*mut u8) -> *mut T,
    ) -> Result<PoolBox<T>, Error> {
        let memory = self.core.allocate(layout.map_err(|_| Error::Size)?, timeout.option())?;
        // SAFETY: a cast and a length keep a pointer what it is: not null.
        let value = unsafe { NonNull::new_unchecked(typed(memory.as_ptr())) };
        Ok(PoolBox { value, pool: &self.core, owned: PhantomData })
    }

    /// Memory for a `T`, waiting for it as long as `timeout` says; [`PoolBox::write`] gives it its
    /// value.
    ///
    /// From initialization with [`Timeout::NoWait`], and from threads.
    ///
    /// # Errors
    ///
    /// * [`Error::NoMemory`]: no free piece is large enough in time; inside a critical section at once.
    /// * [`Error::Size`]: more than the whole pool.
    /// * [`Error::Caller`]: in interrupts and timer callbacks.
    /// * [`Error::Wait`]: a wait in initialization or an interrupt.
    /// * [`Error::Deleted`], [`Error::WaitAborted`]: the wait ended early.
    /// * [`Error::Pool`].
    pub fn allocate<T>(&'static self, timeout: impl Into<Timeout>) -> Result<PoolBox<MaybeUninit<T>>, Error> {
        self.boxed(Ok(Layout::new::<T>()), timeout.into(), <*mut u8>::cast)
    }

    /// Memory for `len` times a `T`, as [`BytePool::allocate`].
    ///
    /// # Errors
    ///
    /// As [`BytePool::allocate`].
    pub fn allocate_slice<T>(
        &'static self,
        len: usize,
        timeout: impl Into<Timeout>,
    ) -> Result<PoolBox<[MaybeUninit<T>]>, Error> {
        let typed = |memory: *mut u8| core::ptr::slice_from_raw_parts_mut(memory.cast(), len);
        self.boxed(Layout::array::<T>(len), timeout.into(), typed)
    }

    /// A value in the pool: [`BytePool::allocate`] and [`PoolBox::write`].
    ///
    /// # Errors
    ///
    /// The value, and the error of [`BytePool::allocate`].
    pub fn store<T>(&'static self, value: T, timeout: impl Into<Timeout>) -> Result<PoolBox<T>, Rejected<T>> {
        match self.allocate(timeout) {
            Ok(memory) => Ok(memory.write(value)),
            Err(error) => Err(Rejected { error, value }),
        }
    }

    /// A copy of a slice in the pool.
    ///
    /// # Errors
    ///
    /// As [`BytePool::allocate`].
    pub fn store_slice<T: Copy>(
        &'static self,
        values: &[T],
        timeout: impl Into<Timeout>,
    ) -> Result<PoolBox<[T]>, Error> {
        let mut memory = self.allocate_slice(values.len(), timeout)?;
        memory.write_copy_of_slice(values);
        // SAFETY: all of it was just written.
        Ok(unsafe { memory.assume_init() })
    }

    /// Moves the first of the highest-priority waiting threads to the front, once. That serves nobody:
    /// the next release does, from the front up to a thread whose request does not fit.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Pool`].
    pub fn prioritize(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        critical_section::with(|_| check(unsafe { threadx_sys::tx_byte_pool_prioritize(self.core.control()) }))
    }

    /// A snapshot of memory and waiting threads. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Pool`].
    pub fn info(&'static self) -> Result<BytePoolInfo, Error> {
        let (mut available, mut fragments, mut waiting) = (0, 0, 0);
        // SAFETY: the service checks the control block, writes to valid variables, skips nulls.
        check(unsafe {
            threadx_sys::tx_byte_pool_info_get(
                self.core.control(),
                null_mut(),
                &raw mut available,
                &raw mut fragments,
                null_mut(),
                &raw mut waiting,
                null_mut(),
            )
        })?;
        Ok(BytePoolInfo { available, fragments, waiting })
    }

    /// What was counted, see [`performance`](crate::performance). From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Pool`].
    pub fn performance(&'static self) -> Result<BytePoolCounts, Error> {
        BytePoolCounts::of(self.core.control())
    }
}

/// The pool as an allocator.
#[cfg(feature = "allocator")]
// SAFETY: memory from the kernel is valid, nobody else's, and in place until it is released; it has the
// layout's size and alignment; no method unwinds. A pool that is not `'static` cannot be created, and
// gives null.
unsafe impl<const N: usize> core::alloc::GlobalAlloc for BytePool<N> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.core.allocate(layout, threadx_sys::TX_NO_WAIT).map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if let Some(memory) = NonNull::new(memory) {
            // SAFETY: the caller's promise.
            unsafe { self.core.release(memory, layout.align()) };
        }
    }
}

/// A value in the memory of a [`BytePool`], which is released when this is dropped.
///
/// Dropping is allowed in any context, see [`BytePool`]. A waiting thread may run before the drop
/// returns.
pub struct PoolBox<T: ?Sized> {
    value: NonNull<T>,
    pool: &'static Core,
    owned: PhantomData<T>,
}

// SAFETY: the box owns its value and nothing that is tied to a context; releasing is allowed in all.
unsafe impl<T: Send + ?Sized> Send for PoolBox<T> {}
// SAFETY: a shared box gives out `&T` only.
unsafe impl<T: Sync + ?Sized> Sync for PoolBox<T> {}

impl<T> PoolBox<MaybeUninit<T>> {
    /// The box with its value.
    #[must_use]
    pub fn write(mut self, value: T) -> PoolBox<T> {
        MaybeUninit::write(&mut self, value);
        // SAFETY: just written.
        unsafe { self.assume_init() }
    }

    /// The box with what was written to it.
    ///
    /// # Safety
    ///
    /// As [`MaybeUninit::assume_init`]: a valid value was written.
    #[must_use]
    pub unsafe fn assume_init(self) -> PoolBox<T> {
        let this = ManuallyDrop::new(self);
        PoolBox { value: this.value.cast(), pool: this.pool, owned: PhantomData }
    }
}

impl<T> PoolBox<[MaybeUninit<T>]> {
    /// The box with what was written to it.
    ///
    /// # Safety
    ///
    /// As [`MaybeUninit::assume_init`]: a valid value was written to each element.
    #[must_use]
    pub unsafe fn assume_init(self) -> PoolBox<[T]> {
        let this = ManuallyDrop::new(self);
        let value = NonNull::slice_from_raw_parts(this.value.cast(), this.value.len());
        PoolBox { value, pool: this.pool, owned: PhantomData }
    }
}

impl<T> PoolBox<T> {
    /// Takes the value out and releases the memory.
    #[must_use]
    pub fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: the box holds a value, which moves out; nobody uses it afterwards.
        let value = unsafe { this.value.read() };
        // SAFETY: allocated for a `T`, and not used afterwards.
        unsafe { this.pool.release(this.value.cast(), align_of::<T>()) };
        value
    }
}

impl<T: ?Sized> Deref for PoolBox<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the memory holds a value and is this box's alone.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for PoolBox<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and it is borrowed exclusively.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized> Drop for PoolBox<T> {
    fn drop(&mut self) {
        let align = align_of_val::<T>(self);
        // SAFETY: the memory holds a value, and this is its end.
        unsafe { self.value.drop_in_place() };
        // SAFETY: allocated with the value's alignment, and not used afterwards.
        unsafe { self.pool.release(self.value.cast(), align) };
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for PoolBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: PartialEq + ?Sized> PartialEq for PoolBox<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq + ?Sized> Eq for PoolBox<T> {}
