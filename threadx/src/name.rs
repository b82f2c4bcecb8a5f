//! Names of objects: a `&'static str` for Rust, a C string for the kernel.

use core::ffi::c_char;

/// How many bytes of a name the kernel (and with it trace tools and debuggers) sees.
const C_BYTES: usize = 15;

/// The full name and, because the kernel keeps the pointer it is given, a copy that ends in NUL and
/// lives in the object's cell.
pub(crate) struct Name {
    full: &'static str,
    c: [u8; C_BYTES + 1],
}

impl Name {
    pub(crate) const fn empty() -> Self {
        Self { full: "", c: [0; C_BYTES + 1] }
    }

    pub(crate) const fn new(full: &'static str) -> Self {
        let mut c = [0; C_BYTES + 1];
        let mut i = 0;
        while i < C_BYTES && i < full.len() {
            c[i] = full.as_bytes()[i];
            i += 1;
        }
        // A character that was cut in two goes entirely.
        while i > 0 && i < full.len() && !full.is_char_boundary(i) {
            i -= 1;
            c[i] = 0;
        }
        Self { full, c }
    }

    pub(crate) const fn full(&self) -> &'static str {
        self.full
    }

    /// For the kernel, whose signatures want it mutable and which only reads.
    pub(crate) const fn as_c(&self) -> *mut c_char {
        self.c.as_ptr().cast_mut().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::CStr;

    fn c(name: &Name) -> &CStr {
        CStr::from_bytes_until_nul(&name.c).unwrap()
    }

    #[test]
    fn the_kernels_copy_ends_in_nul_and_is_cut_at_a_character() {
        assert_eq!(c(&Name::new("")), c"");
        assert_eq!(c(&Name::new("ping")), c"ping");
        assert_eq!(c(&Name::new("exactly15bytes!")), c"exactly15bytes!");
        assert_eq!(c(&Name::new("longer than fifteen")), c"longer than fif");
        assert_eq!(c(&Name::new("fourteen bytesé")), c"fourteen bytes");
        assert_eq!(Name::new("longer than fifteen").full(), "longer than fifteen");
    }
}
