//! Compiles the C programs with the kernel's `tx_api.h` and nothing defined for them.

use std::{env, path::PathBuf, process::exit};

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
    let out = env::var("OUT_DIR").unwrap_or_default();
    let mut programs = vec![("c-conformance", PathBuf::from("conformance.c"))];
    if env::var_os("CARGO_FEATURE_SAMPLE").is_some() {
        programs.push(("sample", sample()?));
    }
    for (name, source) in programs {
        let mut build = environment::build();
        build.archiver(told("AR").unwrap_or_default()).includes(include.split(';')).file(&source);
        for flag in told("FLAGS").unwrap_or_default().split(';') {
            build.flag(flag);
        }
        // Each program has a `main` of its own: no library of the whole package.
        build.cargo_metadata(false).try_compile(name).map_err(|error| {
            let text = error.to_string();
            format!("{} does not compile: {}", source.display(), text.lines().next().unwrap_or_default())
        })?;
        println!("cargo::rustc-link-arg-bin={name}={out}/lib{name}.a");
    }
    Ok(())
}

/// The sample of the checkout.
fn sample() -> Result<PathBuf, String> {
    println!("cargo::rerun-if-env-changed=THREADX_DIR");
    let workspace = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    let root = env::var_os("THREADX_DIR").filter(|dir| !dir.is_empty()).unwrap_or("threadx-src".into());
    let source = workspace.join(root).join("samples/demo_threadx.c");
    println!("cargo::rerun-if-changed={}", source.display());
    if !source.is_file() {
        return Err(format!(
            "{} is not there: set THREADX_DIR to a checkout of eclipse-threadx/threadx that has it, or run scripts/get-threadx.sh",
            source.display()
        ));
    }
    Ok(source)
}
