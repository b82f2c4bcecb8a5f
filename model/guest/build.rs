//! Links the guest where QEMU's `mps3-an536` has its code RAM.

/// Hands the linker the script of this package.
pub fn main() {
    println!("cargo::rerun-if-changed=link.ld");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        let package = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg=-T{package}/link.ld");
    }
}
