//! What the build scripts of C code that calls the kernel share. Such a package lies two folders below the
//! workspace and depends on `threadx-sys`, which tells it how the kernel was compiled.

use std::{
    env,
    path::{Path, PathBuf},
    process::exit,
};

use crate::environment;

/// What the build script of `threadx-sys` tells under this name; `None` if nothing.
pub fn told(name: &str) -> Option<String> {
    env::var(format!("DEP_THREADX_{name}")).ok().filter(|value| !value.is_empty())
}

/// To be called first in `main`, see [`environment::take_cflags`].
pub fn begin() {
    // What counts of them is in DEP_THREADX_FLAGS.
    environment::take_cflags();
    println!("cargo::rerun-if-changed=../../threadx-sys/build");
    println!("cargo::rerun-if-changed=build.rs");
}

/// Compiles for an image; host builds (cargo doc, cargo check of the workspace) link none.
pub fn run(compile: impl FnOnce() -> Result<(), String>) {
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    if let Err(failure) = compile() {
        eprintln!("error: {failure}");
        exit(1);
    }
}

/// The checkout of eclipse-threadx/threadx that THREADX_DIR names, else where `scripts/get-threadx.sh` puts one;
/// `workspace` is this repository. It need not be there.
pub fn checkout(workspace: &Path) -> PathBuf {
    println!("cargo::rerun-if-env-changed=THREADX_DIR");
    workspace.join(env::var_os("THREADX_DIR").filter(|dir| !dir.is_empty()).unwrap_or("threadx-src".into()))
}

/// A file of the checkout that the package compiles.
///
/// # Errors
/// One line if it is not there.
pub fn file_of_checkout(name: &str) -> Result<PathBuf, String> {
    let workspace = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    let file = checkout(&workspace).join(name);
    println!("cargo::rerun-if-changed={}", file.display());
    if file.is_file() {
        return Ok(file);
    }
    Err(format!(
        "{} is not there: set THREADX_DIR to a checkout of eclipse-threadx/threadx that has it, or run scripts/get-threadx.sh",
        file.display()
    ))
}

/// A build with the kernel's compiler, flags and headers; headers in `first` are found before the kernel's.
///
/// # Errors
/// One line without a compiler: `what`, for example "the twin needs", and `or`, another way out, are parts of it.
pub fn build(what: &str, or: &str, first: &[&str]) -> Result<cc::Build, String> {
    if told("CC").is_none() {
        return Err(format!(
            "{what} a C compiler: install gcc-arm-none-eabi and libnewlib-arm-none-eabi \
             (scripts/setup.sh --upstream){or}"
        ));
    }
    let mut build = environment::build();
    build.archiver(told("AR").unwrap_or_default()).includes(first);
    for dir in told("INCLUDE").unwrap_or_default().split(';') {
        println!("cargo::rerun-if-changed={dir}");
        build.include(dir);
    }
    for flag in told("FLAGS").unwrap_or_default().split(';') {
        build.flag(flag);
    }
    Ok(build)
}

/// One line about what a compiler said of `name`.
pub fn does_not_compile(name: impl std::fmt::Display, error: &cc::Error) -> String {
    let text = error.to_string();
    format!("{name} does not compile: {}", text.lines().next().unwrap_or_default())
}
