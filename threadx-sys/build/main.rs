//! Picks the kernel: the bundled one, or upstream's C sources compiled and bound here.
//!
//! Dependent build scripts learn the choice from `DEP_THREADX_KERNEL` (`bundled` or `upstream`), and
//! with upstream's kernel `DEP_THREADX_VERSION`, `_PORT`, `_CONFIGURATION`, and what C code that calls
//! the kernel has to be compiled with: `_INCLUDE` (directories, `;` between them), and if there is a C
//! compiler `_COMPILER` (its name), `_CC`, `_AR`, `_FLAGS` (`;` between them).

use std::{env, process::exit};

mod bindings;
mod compiler;
mod configuration;
mod environment;
mod generated;
mod sources;

/// Why there is no kernel: one line for the person who builds.
type Failure = String;

fn main() {
    let cflags = environment::take_cflags();
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-check-cfg=cfg(threadx_stack_checking)");
    if env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        bundled(cflags);
        return;
    }
    if let Err(failure) = upstream(cflags) {
        // Cargo prints what a failed build script wrote to standard error.
        eprintln!("error: {failure}");
        exit(1);
    }
}

fn bundled(cflags: Option<String>) {
    println!("cargo::metadata=KERNEL=bundled");
    let package = std::path::PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::metadata=INCLUDE={}", package.join("../kernel/include").display());
    // C code of the image is a choice of the image: without a compiler its build says so.
    if let Ok(compiler) = compiler::find(cflags) {
        // The control blocks in tx_api.h have the sizes that the kernel's have.
        let counting = env::var_os("CARGO_FEATURE_PERFORMANCE_INFO").is_some();
        compiler.tell_dependents(if counting { &["-DTX_KERNEL_PERFORMANCE_INFO"] } else { &[] });
    }
}

fn upstream(cflags: Option<String>) -> Result<(), Failure> {
    let target = env::var("TARGET").unwrap_or_default();
    if target != "armv8r-none-eabihf" {
        return Err(format!(
            "upstream's C kernel is built for armv8r-none-eabihf, not {target}: add --target armv8r-none-eabihf, \
             or use --features bundled"
        ));
    }
    let sources = sources::find()?;
    let compiler = compiler::find(cflags)?;
    let generated = generated::write(&sources)?;
    let include = [generated.include.clone(), sources.common_include(), sources.port_include()];
    compiler.probe(&include, &generated)?;
    let macros = configuration::check(&compiler, &include, &generated)?;
    let bound = bindings::generate(&compiler, &include, &generated)?;
    let configuration = configuration::describe(&macros, &bound, &compiler.optimisation())?;
    compiler.check_layout(&include, &generated, &bound)?;
    compiler.compile(&include, &sources, &generated)?;

    let version = &bound.version;
    let port = sources.port_name();
    let name = format!("ThreadX {version} (C, port {port}, {} {})", compiler.name, compiler.optimisation());
    println!("cargo::rustc-env=THREADX_NAME={name}");
    println!("cargo::rustc-env=THREADX_CONFIGURATION={configuration}");
    println!("cargo::metadata=KERNEL=upstream");
    println!("cargo::metadata=VERSION={version}");
    println!("cargo::metadata=PORT={port}");
    println!("cargo::metadata=CONFIGURATION={configuration}");
    compiler.tell_dependents(&[]);
    let include: Vec<String> = include.iter().map(|dir| dir.display().to_string()).collect();
    println!("cargo::metadata=INCLUDE={}", include.join(";"));
    Ok(())
}
