//! Compiles the modules of `threadx` that are shared as loom's.

fn main() {
    println!("cargo::rustc-cfg=loom");
}
