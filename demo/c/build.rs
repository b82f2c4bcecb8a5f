//! Compiles the twin against the kernel's `tx_api.h`: once as it is, once with its calls going to the
//! unchecked services.

use std::env;

#[path = "../../threadx-sys/build/environment.rs"]
mod environment;
#[allow(dead_code)]
#[path = "../../threadx-sys/build/programs.rs"]
mod programs;

fn main() {
    programs::begin();
    println!("cargo::rerun-if-changed=twin.c");
    programs::run(compile);
}

fn compile() -> Result<(), String> {
    for (suffix, checks) in [("checked", true), ("unchecked", false)] {
        let mut build = programs::build("the C twin needs", ", or build the demo without its feature `twin`", &[])?;
        build.file("twin.c").define("TWIN", suffix);
        // As the Rust code of the image, which is what its records say; the kernel has its own.
        build.flag(format!("-O{}", env::var("OPT_LEVEL").unwrap_or_default()));
        if !checks {
            build.define("TX_DISABLE_ERROR_CHECKING", None);
        }
        build.try_compile(&format!("twin_{suffix}")).map_err(|error| programs::does_not_compile("twin.c", &error))?;
    }
    Ok(())
}
