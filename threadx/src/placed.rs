//! Values in a named memory.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::Error;
use crate::stack::{Region, in_region};

/// The memory of one value; made by [`place!`](crate::place!) only.
///
/// Aligned to a cache line of 64 bytes, so that two values never share one.
#[doc(hidden)]
#[repr(C, align(64))]
pub struct PlacedMemory<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: the memory is written once, by the one caller of `Placed::init` that claims it, and read
// through the shared reference made afterwards, which `T: Sync` allows; `T: Send`, since the one who
// writes it need not be the one who made the value.
unsafe impl<T: Send + Sync> Sync for PlacedMemory<T> {}

impl<T> PlacedMemory<T> {
    #[expect(clippy::new_without_default, reason = "only for statics, which need `const`")]
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

/// Room for a value of type `T` in region `R`, defined with [`place!`](crate::place!).
///
/// The memories that stacks lie in are not initialised at start-up, so the value comes at run time, once.
pub struct Placed<R: Region, T: 'static> {
    memory: &'static PlacedMemory<T>,
    taken: AtomicBool,
    region: PhantomData<fn() -> R>,
}

impl<R: Region, T: Send + Sync> Placed<R, T> {
    /// # Safety
    ///
    /// No other `Placed` is made of `memory`.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn from_memory(memory: &'static PlacedMemory<T>) -> Self {
        Self { memory, taken: AtomicBool::new(false), region: PhantomData }
    }

    /// Puts the value there and returns it for ever. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::InUse`]: the room has a value already. [`Error::StackRegion`]: it does not lie inside
    /// `R::range()`. The value is dropped then.
    pub fn init(&'static self, value: T) -> Result<&'static T, Error> {
        let start = self.memory.0.get().addr();
        in_region::<R>(start..start + size_of::<T>())?;
        if self.taken.swap(true, Ordering::AcqRel) {
            return Err(Error::InUse);
        }
        // SAFETY: `taken` went from false to true once in this program's life, here, so nobody else
        // reads or writes the memory before this reference exists, and nobody writes it afterwards.
        Ok(unsafe { (*self.memory.0.get()).write(value) })
    }
}

/// Defines room for values in a named memory: `static`s of type [`Placed`].
///
/// The region is named by the identifier of its type, as in [`stack!`](crate::stack!). What it is good for:
/// control blocks, tables and buffers in tightly coupled memory.
///
/// ```
/// # use core::ops::Range;
/// # pub struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// use threadx::ThreadCell;
///
/// threadx::place! { static PING: Placed<Btcm, ThreadCell>; }
///
/// let ping: &'static ThreadCell = PING.init(ThreadCell::new()).unwrap();
/// assert_eq!(PING.init(ThreadCell::new()).err(), Some(threadx::Error::InUse));
/// ```
///
/// What is not `Sync` cannot be shared:
///
/// ```compile_fail,E0277
/// # use core::ops::Range;
/// # pub struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// threadx::place! { static CELL: Placed<Btcm, core::cell::Cell<u32>>; }
/// ```
#[macro_export]
macro_rules! place {
    ($($(#[$meta:meta])* $vis:vis static $name:ident : Placed<$region:ident, $type:ty>;)+) => {
        $(
            $(#[$meta])*
            $vis static $name: $crate::Placed<$region, $type> = {
                #[cfg_attr(target_os = "none", unsafe(link_section = concat!(".stacks.", stringify!($region))))]
                static MEMORY: $crate::PlacedMemory<$type> = $crate::PlacedMemory::new();
                // SAFETY: `MEMORY` can be named in this block only.
                unsafe { $crate::Placed::from_memory(&MEMORY) }
            };
        )+
    };
}

#[cfg(test)]
mod tests {
    use core::ops::Range;
    use core::sync::atomic::AtomicU32;

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
    fn a_value_comes_once_and_stays() {
        crate::place! { static ROOM: Placed<Anywhere, AtomicU32>; }
        let value = ROOM.init(AtomicU32::new(7)).unwrap();
        value.store(8, Ordering::Relaxed);
        assert_eq!(ROOM.init(AtomicU32::new(9)).err(), Some(Error::InUse));
        assert_eq!(value.load(Ordering::Relaxed), 8);
        assert_eq!(core::ptr::from_ref(value).addr() % 64, 0);
    }

    #[test]
    fn room_outside_its_region_is_refused() {
        crate::place! { static ROOM: Placed<Elsewhere, AtomicU32>; }
        assert_eq!(ROOM.init(AtomicU32::new(7)).err(), Some(Error::StackRegion));
    }
}
