//! Stacks: typed `'static` memory in a named region, taken once.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::Error;

/// Smallest stack that [`stack!`](crate::stack!) accepts, in bytes: the kernel's minimum and
/// room for a small closure and its result, in steps of 8.
pub const MIN_STACK_SIZE: usize = (threadx_sys::TX_MINIMUM_STACK as usize + 56).next_multiple_of(8);

/// A memory of the board that stacks can be placed in.
///
/// Implemented by board crates. The stacks of region type `Btcm` are in the link section
/// `.stacks.Btcm`, which the board's link script places into that memory.
pub trait Region: 'static {
    /// What records and messages print, for example `"BTCM"`.
    const NAME: &'static str;

    /// The addresses of the memory: every stack of the region must lie inside.
    fn range() -> Range<usize>;
}

/// The memory of one stack; made by [`stack!`](crate::stack!) only.
///
/// Aligned to a cache line of 64 bytes, so that two stacks never share one.
#[doc(hidden)]
#[repr(C, align(64))]
pub struct StackMemory<const N: usize>(UnsafeCell<MaybeUninit<[u8; N]>>);

// SAFETY: the bytes are reached only through the one `StackToken` that `Stack::take` hands out at a
// time, or by the one thread it was given to.
unsafe impl<const N: usize> Sync for StackMemory<N> {}

impl<const N: usize> StackMemory<N> {
    #[expect(clippy::new_without_default, reason = "only for statics, which need `const`")]
    #[must_use]
    pub const fn new() -> Self {
        const {
            assert!(N >= MIN_STACK_SIZE, "the stack is smaller than threadx::MIN_STACK_SIZE");
            assert!(N.is_multiple_of(8), "the size of a stack is a multiple of 8");
            assert!(N < u32::MAX as usize, "the kernel counts 32 bits of stack");
        }
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

/// A stack of `N` bytes in region `R`, defined with [`stack!`](crate::stack!).
pub struct Stack<R: Region, const N: usize> {
    memory: &'static StackMemory<N>,
    taken: AtomicBool,
    region: PhantomData<fn() -> R>,
}

impl<R: Region, const N: usize> Stack<R, N> {
    /// # Safety
    ///
    /// No other `Stack` is made of `memory`.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn from_memory(memory: &'static StackMemory<N>) -> Self {
        Self { memory, taken: AtomicBool::new(false), region: PhantomData }
    }

    /// The right to use the stack, given to one caller at a time.
    ///
    /// It comes back when the token is dropped unused, or when the thread that got it has been
    /// joined. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::StackTaken`]; [`Error::StackRegion`] if the memory is not inside `R::range()`.
    pub fn take(&'static self) -> Result<StackToken<R>, Error> {
        in_region::<R>(self.addresses())?;
        if self.taken.swap(true, Ordering::AcqRel) {
            return Err(Error::StackTaken);
        }
        Ok(StackToken { base: NonNull::from(&self.memory.0).cast(), size: N, taken: &self.taken, region: PhantomData })
    }

    /// Size in bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        N
    }

    /// The addresses the stack occupies.
    #[must_use]
    pub fn addresses(&self) -> Range<usize> {
        let start = self.memory.0.get().addr();
        start..start + N
    }

    /// [`Region::NAME`] of the stack's region.
    #[must_use]
    pub const fn region(&self) -> &'static str {
        R::NAME
    }
}

/// [`Error::StackRegion`] for memory that is not inside `R::range()`.
pub(crate) fn in_region<R: Region>(memory: Range<usize>) -> Result<(), Error> {
    let region = R::range();
    if memory.start < region.start || memory.end > region.end { Err(Error::StackRegion) } else { Ok(()) }
}

/// The exclusive right to use one stack of region `R`; see [`Stack::take`].
#[must_use = "dropping the token gives the stack back"]
pub struct StackToken<R: Region> {
    base: NonNull<u8>,
    size: usize,
    taken: &'static AtomicBool,
    region: PhantomData<fn() -> R>,
}

// SAFETY: the token stands for memory that nobody else uses and that is tied to no context.
unsafe impl<R: Region> Send for StackToken<R> {}
// SAFETY: a shared token only tells address and size.
unsafe impl<R: Region> Sync for StackToken<R> {}

impl<R: Region> StackToken<R> {
    /// Size in bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The addresses the stack occupies.
    #[must_use]
    pub fn addresses(&self) -> Range<usize> {
        let start = self.base.addr().get();
        start..start + self.size
    }

    /// Turns the token into its parts; the stack counts as taken until a `GiveBack` is called.
    pub(crate) fn into_raw(self) -> RawStack {
        let raw = RawStack { base: self.base, size: self.size, taken: self.taken };
        core::mem::forget(self);
        raw
    }
}

impl<R: Region> Drop for StackToken<R> {
    fn drop(&mut self) {
        self.taken.store(false, Ordering::Release);
    }
}

/// A taken stack without its region, as a thread keeps it.
#[derive(Clone, Copy)]
pub(crate) struct RawStack {
    pub(crate) base: NonNull<u8>,
    pub(crate) size: usize,
    taken: &'static AtomicBool,
}

impl RawStack {
    /// Lets [`Stack::take`] succeed again.
    ///
    /// # Safety
    ///
    /// Called once for each token, when nothing will use the memory any more.
    pub(crate) unsafe fn give_back(self) {
        self.taken.store(false, Ordering::Release);
    }

    /// Where a thread keeps a value of this size and alignment on this stack, and how many bytes,
    /// a multiple of 8, are left below it. `None` if the rest is smaller than the kernel's minimum.
    pub(crate) fn split(self, size: usize, align: usize) -> Option<(NonNull<u8>, u32)> {
        let start = self.base.addr().get();
        let value = (start + self.size).checked_sub(size)? & !(align - 1);
        let offset = value.checked_sub(start)?;
        let rest = offset & !7;
        if rest < threadx_sys::TX_MINIMUM_STACK as usize {
            return None;
        }
        // SAFETY: `offset` was computed by going down from one past the end of the stack and was
        // found not to be below its start, so it stays inside the one object.
        let value = unsafe { self.base.add(offset) };
        Some((value, u32::try_from(rest).ok()?))
    }
}

/// Defines stacks: `static`s of type [`Stack`] whose memory is in a region's link section.
///
/// The region is named by the identifier of its type (import the type first), because that names
/// the section: `.stacks.Btcm` for `Btcm`. The size is in bytes, a literal, a constant or an
/// expression in braces; one below [`MIN_STACK_SIZE`] fails to compile.
///
/// ```
/// # use core::ops::Range;
/// # pub struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// threadx::stack! {
///     static PING: Stack<Btcm, 2048>;
///     static PONG: Stack<Btcm, { 2 * 1024 }>;
/// }
///
/// let token = PING.take().unwrap();
/// assert_eq!(token.size(), 2048);
/// assert_eq!(PING.take().err(), Some(threadx::Error::StackTaken));
/// ```
///
/// ```compile_fail,E0080
/// # use core::ops::Range;
/// # pub struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// threadx::stack! { static TOO_SMALL: Stack<Btcm, 64>; }
/// ```
#[macro_export]
macro_rules! stack {
    ($($(#[$meta:meta])* $vis:vis static $name:ident : Stack<$region:ident, $size:tt>;)+) => {
        $(
            $(#[$meta])*
            $vis static $name: $crate::Stack<$region, $size> = {
                #[cfg_attr(target_os = "none", unsafe(link_section = concat!(".stacks.", stringify!($region))))]
                static MEMORY: $crate::StackMemory<$size> = $crate::StackMemory::new();
                // SAFETY: `MEMORY` can be named in this block only.
                unsafe { $crate::Stack::from_memory(&MEMORY) }
            };
        )+
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Anywhere;
    impl Region for Anywhere {
        const NAME: &'static str = "ANYWHERE";
        fn range() -> Range<usize> {
            0..usize::MAX
        }
    }
    struct Elsewhere;
    impl Region for Elsewhere {
        const NAME: &'static str = "ELSEWHERE";
        fn range() -> Range<usize> {
            0..4096
        }
    }

    #[test]
    fn a_stack_is_taken_once_and_comes_back_with_its_token() {
        crate::stack! { static S: Stack<Anywhere, 1024>; }
        let token = S.take().unwrap();
        assert_eq!(token.addresses(), S.addresses());
        assert_eq!(S.take().err(), Some(Error::StackTaken));
        drop(token);
        assert!(S.take().is_ok());
    }

    #[test]
    fn a_stack_outside_its_region_is_refused() {
        crate::stack! { static S: Stack<Elsewhere, 1024>; }
        assert_eq!(S.take().err(), Some(Error::StackRegion));
    }

    #[test]
    fn closures_sit_at_the_top_aligned_and_leave_the_minimum() {
        crate::stack! { static S: Stack<Anywhere, 1024>; }
        let raw = S.take().unwrap().into_raw();
        let end = S.addresses().end;
        assert_eq!(raw.split(0, 1).map(|(at, rest)| (at.addr().get(), rest)), Some((end, 1024)));
        assert_eq!(raw.split(5, 1).map(|(at, rest)| (at.addr().get(), rest)), Some((end - 5, 1016)));
        assert_eq!(raw.split(40, 64).map(|(at, rest)| (at.addr().get(), rest)), Some((end - 64, 960)));
        let most = 1024 - threadx_sys::TX_MINIMUM_STACK as usize;
        let least = Some((end - most, threadx_sys::TX_MINIMUM_STACK));
        assert_eq!(raw.split(most, 8).map(|(at, rest)| (at.addr().get(), rest)), least);
        assert!(raw.split(most + 8, 8).is_none());
        assert!(raw.split(4096, 8).is_none());
        assert!(raw.split(usize::MAX, 8).is_none());
    }
}
