//! Compiles the C programs with the kernel's `tx_api.h` and nothing defined for them.

use std::{env, path::PathBuf};

#[path = "../../threadx-sys/build/environment.rs"]
mod environment;
#[path = "../../build.rs"]
mod image;
#[allow(dead_code)]
#[path = "../../threadx-sys/build/programs.rs"]
mod programs;

fn main() {
    programs::begin();
    image::main();
    println!("cargo::rerun-if-changed=conformance.c");
    programs::run(compile);
}

fn compile() -> Result<(), String> {
    let out = env::var("OUT_DIR").unwrap_or_default();
    let mut sources = vec![("c-conformance", PathBuf::from("conformance.c"))];
    if env::var_os("CARGO_FEATURE_SAMPLE").is_some() {
        sources.push(("sample", programs::file_of_checkout("samples/demo_threadx.c")?));
    }
    for (name, source) in sources {
        // Each program has a `main` of its own: no library of the whole package.
        programs::build("the C programs need", "", &[])?
            .file(&source)
            .cargo_metadata(false)
            .try_compile(name)
            .map_err(|error| programs::does_not_compile(source.display(), &error))?;
        println!("cargo::rustc-link-arg-bin={name}={out}/lib{name}.a");
    }
    Ok(())
}
