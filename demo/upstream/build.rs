//! Compiles the demo of the checkout, byte for byte as it is: with the headers in `shim/` in place of its board's, or,
//! with feature `upstream-bsp`, with its own board files and nothing else.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::exit,
};

#[allow(dead_code)]
#[path = "../../threadx-sys/build/board_files.rs"]
mod board_files;
#[path = "../../threadx-sys/build/environment.rs"]
mod environment;
#[path = "../../build.rs"]
mod image;

/// The demo in a checkout of eclipse-threadx/threadx.
const DEMO: &str = "ports/cortex_r52/gnu/example_build/s32z280_evb/demo_s32z280.c";

fn main() {
    // What counts of them is in DEP_THREADX_FLAGS.
    environment::take_cflags();
    println!("cargo::rerun-if-changed=../../threadx-sys/build/environment.rs");
    image::main();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-env-changed=THREADX_DIR");
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
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let workspace = package.join("../..");
    let root = match env::var_os("THREADX_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => workspace.join(dir),
        None => workspace.join("threadx-src"),
    };
    let source = root.join(DEMO);
    let Ok(text) = fs::read(&source) else {
        return Err(format!(
            "{} is not there: set THREADX_DIR to a checkout of eclipse-threadx/threadx that has it, or run scripts/get-threadx.sh",
            source.display()
        ));
    };
    println!("cargo::rerun-if-changed={}", source.display());
    if told("CC").is_none() {
        return Err(String::from(
            "upstream's demo needs a C compiler: install gcc-arm-none-eabi and libnewlib-arm-none-eabi (scripts/setup.sh --upstream)",
        ));
    }

    let include = told("INCLUDE").unwrap_or_default();
    for dir in include.split(';') {
        println!("cargo::rerun-if-changed={dir}");
    }
    if env::var_os("CARGO_FEATURE_UPSTREAM_BSP").is_some() {
        board_files::find(&workspace)?.compile("upstream_board_files", &[])?;
        let mut build = environment::build();
        build.archiver(told("AR").unwrap_or_default());
        build.includes(include.split(';')).define("TX_R52_USE_THREADX_IRQ", "1").file(&source);
        for flag in told("FLAGS").unwrap_or_default().split(';') {
            build.flag(flag);
        }
        return build.try_compile("upstream_demo").map_err(does_not_compile);
    }
    // A quoted #include looks beside the source first, where upstream's board headers are.
    let copy = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("demo_s32z280.c");
    fs::write(&copy, text).map_err(|error| format!("cannot write {}: {error}", copy.display()))?;
    let mut build = environment::build();
    build.archiver(told("AR").unwrap_or_default());
    build.include(Path::new("shim")).includes(include.split(';')).file(&copy);
    for flag in told("FLAGS").unwrap_or_default().split(';') {
        build.flag(flag);
    }
    // Its entry points meet those of the image: the kernel is entered, and calls the application, through
    // the crate `threadx`.
    build.define("bsp_main", "upstream_demo_main");
    build.define("tx_application_define", "upstream_demo_define");
    build.define("_tx_initialize_kernel_enter", "upstream_demo_enter");
    build.try_compile("upstream_demo").map_err(does_not_compile)
}

fn does_not_compile(error: cc::Error) -> String {
    let text = error.to_string();
    format!("{DEMO} does not compile: {}", text.lines().next().unwrap_or_default())
}
