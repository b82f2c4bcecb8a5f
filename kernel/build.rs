//! Hands the optimisation level that this package alone may have over to its name.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=KERNEL_OPT_LEVEL={}", std::env::var("OPT_LEVEL").unwrap_or_default());
}
