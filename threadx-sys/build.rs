//! Tells dependent build scripts which kernel is linked: `DEP_THREADX_KERNEL`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        println!("cargo::metadata=kernel=bundled");
    }
}
