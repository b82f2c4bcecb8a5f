//! Compiles the C programs with the kernel's `tx_api.h` and nothing defined for them.

use std::{env, process::exit};

#[path = "../../threadx-sys/build/environment.rs"]
mod environment;
#[path = "../../build.rs"]
mod image;

fn main() {
    // What counts of them is in DEP_THREADX_FLAGS.
    environment::take_cflags();
    println!("cargo::rerun-if-changed=../../threadx-sys/build/environment.rs");
    image::main();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=conformance.c");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    if let Err(failure) = compile() {
        eprintln!("error: {failure}");
        exit(1);
    }
}

fn compile() -> Result<(), String> {
    let told = |name: &str| env::var(format!("DEP_THREADX_{name}")).ok().filter(|value| !value.is_empty());
    if told("CC").is_none() {
        return Err(String::from(
            "the C programs need a C compiler: install gcc-arm-none-eabi and libnewlib-arm-none-eabi (scripts/setup.sh --upstream)",
        ));
    }
    let include = told("INCLUDE").unwrap_or_default();
    for dir in include.split(';') {
        println!("cargo::rerun-if-changed={dir}");
    }
    let mut build = environment::build();
    build.archiver(told("AR").unwrap_or_default()).includes(include.split(';')).file("conformance.c");
    for flag in told("FLAGS").unwrap_or_default().split(';') {
        build.flag(flag);
    }
    build.try_compile("conformance").map_err(|error| {
        let text = error.to_string();
        format!("conformance.c does not compile: {}", text.lines().next().unwrap_or_default())
    })
}
