//! Picks the board, hands its link script to the firmware packages and refuses code-generation flags
//! that the kernels cannot keep their promises under.

use std::{env, path::PathBuf, process::exit};

#[allow(dead_code)]
#[path = "src/codegen.rs"]
mod codegen;

fn fail(message: &str) -> ! {
    eprintln!("error: {message}");
    exit(1)
}

fn main() {
    println!("cargo::rustc-check-cfg=cfg(kernel, values(\"upstream\"))");
    if env::var("DEP_THREADX_KERNEL").as_deref() == Ok("upstream") {
        println!("cargo::rustc-cfg=kernel=\"upstream\"");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/codegen.rs");

    if env::var_os("CARGO_FEATURE_MPS3_AN536").is_none() {
        fail("bsp needs one board: enable its feature `mps3-an536`");
    }
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let script = root.join("src/mps3_an536/link.ld");
    println!("cargo::rerun-if-changed={}", script.display());
    println!("cargo::metadata=LINK_SCRIPT={}", script.display());

    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("arm") {
        return;
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if let Err(refusal) = codegen::check(flags.split('\u{1f}')) {
        fail(&refusal);
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if let Some(feature) = features.split(',').find(|f| matches!(*f, "d32" | "neon")) {
        fail(&codegen::refusal(feature));
    }
    if env::var("CARGO_CFG_TARGET_ABI").as_deref() != Ok("eabihf") {
        fail("the kernel's frames are those of the hard-float ABI: build for armv8r-none-eabihf");
    }
}
