//! Compiles the twin against the kernel's `tx_api.h`: once as it is, once with its calls going to the
//! unchecked services.

use std::{env, process::exit};

#[path = "../../threadx-sys/build/environment.rs"]
mod environment;

fn main() {
    // What counts of them is in DEP_THREADX_FLAGS.
    environment::take_cflags();
    println!("cargo::rerun-if-changed=../../threadx-sys/build/environment.rs");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=twin.c");
    // Host builds (cargo doc, cargo check of the workspace) link no image.
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
            "the C twin needs a C compiler: install gcc-arm-none-eabi and libnewlib-arm-none-eabi \
             (scripts/setup.sh --upstream), or build the demo without its feature `twin`",
        ));
    }
    let flags = told("FLAGS").unwrap_or_default();
    let include = told("INCLUDE").unwrap_or_default();
    for dir in include.split(';') {
        println!("cargo::rerun-if-changed={dir}");
    }
    let archiver = told("AR").unwrap_or_default();
    for (suffix, checks) in [("checked", true), ("unchecked", false)] {
        let mut build = environment::build();
        build.archiver(&archiver).file("twin.c").includes(include.split(';')).define("TWIN", suffix);
        for flag in flags.split(';') {
            build.flag(flag);
        }
        // As the Rust code of the image, which is what its records say; the kernel has its own.
        build.flag(format!("-O{}", env::var("OPT_LEVEL").unwrap_or_default()));
        if !checks {
            build.define("TX_DISABLE_ERROR_CHECKING", None);
        }
        build.try_compile(&format!("twin_{suffix}")).map_err(|error| {
            let text = error.to_string();
            format!("twin.c does not compile: {}", text.lines().next().unwrap_or_default())
        })?;
    }
    Ok(())
}
