//! Compiles `published.c` as the published code was documented to be compiled, and links the image with its
//! functions in an order of their own (MODEL_LAYOUT, a number), so that the spread of layouts can be seen.

use std::{env, process::exit};

#[path = "../../threadx-sys/build/environment.rs"]
mod environment;
#[path = "../../build.rs"]
mod image;

fn main() {
    environment::take_cflags();
    println!("cargo::rerun-if-changed=../../threadx-sys/build/environment.rs");
    image::main();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=published.c");
    println!("cargo::rerun-if-env-changed=MODEL_LAYOUT");
    // Host builds (cargo doc, cargo check of the workspace) link no image.
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    if let Ok(layout) = env::var("MODEL_LAYOUT") {
        println!("cargo::rustc-link-arg=--shuffle-sections=.text.*={layout}");
    }
    if let Err(failure) = compile() {
        eprintln!("error: {failure}");
        exit(1);
    }
}

fn compile() -> Result<(), String> {
    let told = |name: &str| env::var(format!("DEP_THREADX_{name}")).ok().filter(|value| !value.is_empty());
    let Some(compiler) = told("CC") else {
        return Err(String::from(
            "the measuring code needs a C compiler: install gcc-arm-none-eabi and libnewlib-arm-none-eabi \
             (scripts/setup.sh --upstream)",
        ));
    };
    let mut build = cc::Build::new();
    build.no_default_flags(true).compiler(&compiler).archiver(told("AR").unwrap_or_default()).cargo_warnings(false);
    for dir in told("INCLUDE").unwrap_or_default().split(';') {
        println!("cargo::rerun-if-changed={dir}");
        build.include(dir);
    }
    for flag in told("FLAGS").unwrap_or_default().split(';') {
        build.flag(flag);
    }
    // Last, so that they count.
    build.flag("-O0").flag("-mlong-calls").file("published.c");
    build.try_compile("published").map_err(|error| {
        let text = error.to_string();
        format!("published.c does not compile: {}", text.lines().next().unwrap_or_default())
    })
}
