//! Functions at a chosen offset in their 64-byte line.
//!
//! The same code costs a different number of cycles at another offset in its cache line: 17 % of a published
//! figure, where the memory under test made 1 % (eclipse-threadx/threadx#638). [`placed!`](crate::placed) makes four
//! copies of one function at the four offsets, so that each can be measured in one image.

/// Offsets of the four copies in their line, in bytes.
pub const OFFSETS: [u8; 4] = [0, 16, 32, 48];

/// Bytes of a line, the Cortex-R52's in both caches (TRM, chapter 7).
pub const LINE: usize = 64;

/// One copy of a function. `F` is its function pointer type.
#[derive(Clone, Copy, Debug)]
pub struct Placed<F> {
    offset: u8,
    function: F,
    address: usize,
}

impl<F: Copy> Placed<F> {
    /// For [`placed!`](crate::placed), which puts the function where it says.
    #[doc(hidden)]
    #[must_use]
    pub fn new(offset: u8, function: F, address: *const ()) -> Self {
        Self { offset, function, address: address as usize }
    }

    /// Bytes from the start of its line to its first instruction, as asked for.
    #[must_use]
    pub const fn offset(&self) -> u8 {
        self.offset
    }

    /// The function.
    #[must_use]
    pub const fn function(&self) -> F {
        self.function
    }

    /// Address of its first instruction.
    #[must_use]
    pub const fn address(&self) -> usize {
        self.address
    }

    /// Whether it lies where it should, by the address that calls go to. False in an image whose copies the
    /// compiler spread over several object files, see [`placed!`](crate::placed).
    #[must_use]
    pub const fn is_in_place(&self) -> bool {
        self.address % LINE == self.offset as usize
    }
}

/// The four copies, in the order of [`OFFSETS`].
pub type Copies<F> = [Placed<F>; 4];

/// Defines a function that returns four copies of the function it is given, at the offsets 0, 16, 32 and 48 of
/// their 64-byte line: [`placement::Copies`](Copies).
///
/// Inside the body the function's name means the copy itself, so that a recursion stays at its placement. The
/// name must be used for one `placed!` of an image only, because it names the link sections. It works where the
/// package is compiled into one object file: fat link-time optimisation, or `codegen-units = 1`. Check
/// [`Placed::is_in_place`] at run time.
///
/// ```ignore
/// bsp::placed! {
///     /// Sum of the first `n` numbers.
///     pub fn sum(n: u32) -> u32 {
///         if n == 0 { 0 } else { n + sum(n - 1) }
///     }
/// }
/// for copy in sum() {
///     assert!(copy.is_in_place());
///     assert_eq!(copy.function()(4), 10);
/// }
/// ```
#[macro_export]
macro_rules! placed {
    ($(#[$meta:meta])* $vis:vis fn $name:ident ($($arg:ident : $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name() -> $crate::placement::Copies<fn($($ty),*) $(-> $ret)?> {
            [
                $crate::placed!(@copy 0, "0", $name ($($arg : $ty),*) $(-> $ret)? $body),
                $crate::placed!(@copy 16, "16", $name ($($arg : $ty),*) $(-> $ret)? $body),
                $crate::placed!(@copy 32, "32", $name ($($arg : $ty),*) $(-> $ret)? $body),
                $crate::placed!(@copy 48, "48", $name ($($arg : $ty),*) $(-> $ret)? $body),
            ]
        }
    };
    (@copy $offset:literal, $text:literal, $name:ident ($($arg:ident : $ty:ty),*) $(-> $ret:ty)? $body:block) => {{
        // The assembler's contribution comes first in the object file, so the function follows its padding in
        // the section of that name.
        mod padding {
            ::core::arch::global_asm!(
                concat!(".pushsection \".text.placed.", stringify!($name), ".", $text, "\", \"ax\", %progbits"),
                ".balign 64",
                concat!(".space ", $text),
                ".popsection",
            );
        }
        #[inline(never)]
        #[unsafe(link_section = concat!(".text.placed.", stringify!($name), ".", $text))]
        fn $name($($arg : $ty),*) $(-> $ret)? $body
        $crate::placement::Placed::new($offset, $name as fn($($ty),*) $(-> $ret)?, $name as *const ())
    }};
}

#[cfg(test)]
mod tests {
    use super::Placed;

    #[test]
    fn the_place_is_judged_by_the_address() {
        let at = |offset, address: usize| Placed::new(offset, (), address as *const ()).is_in_place();
        assert!(at(0, 0x1000_0040) && at(16, 0x1000_0050) && at(48, 0x1000_0070));
        assert!(!at(0, 0x1000_0010) && !at(16, 0x1000_0054) && !at(48, 0x1000_0020));
    }
}
