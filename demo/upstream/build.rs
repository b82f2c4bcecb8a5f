//! Compiles the demo of the checkout, byte for byte as it is: with the headers in `shim/` in place of its board's, or,
//! with feature `upstream-bsp`, with its own board files and nothing else.

use std::{env, fs, path::PathBuf};

#[allow(dead_code)]
#[path = "../../threadx-sys/build/board_files.rs"]
mod board_files;
#[path = "../../threadx-sys/build/environment.rs"]
mod environment;
#[path = "../../build.rs"]
mod image;
#[allow(dead_code)]
#[path = "../../threadx-sys/build/programs.rs"]
mod programs;

/// The demo in a checkout of eclipse-threadx/threadx.
const DEMO: &str = "ports/cortex_r52/gnu/example_build/s32z280_evb/demo_s32z280.c";

fn main() {
    programs::begin();
    image::main();
    println!("cargo::rerun-if-changed=shim");
    programs::run(compile);
}

fn compile() -> Result<(), String> {
    let source = programs::file_of_checkout(DEMO)?;
    let text = fs::read(&source).map_err(|error| format!("cannot read {}: {error}", source.display()))?;
    let own_board = env::var_os("CARGO_FEATURE_UPSTREAM_BSP").is_some();
    let mut build = programs::build("upstream's demo needs", "", if own_board { &[] } else { &["shim"] })?;
    if own_board {
        let workspace = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
        board_files::find(&workspace)?.compile("upstream_board_files", &[])?;
        build.define("TX_R52_USE_THREADX_IRQ", "1").file(&source);
    } else {
        // A quoted #include looks beside the source first, where upstream's board headers are.
        let copy = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("demo_s32z280.c");
        fs::write(&copy, text).map_err(|error| format!("cannot write {}: {error}", copy.display()))?;
        // Its entry points meet those of the image: the kernel is entered, and calls the application, through
        // the crate `threadx`.
        build.define("bsp_main", "upstream_demo_main");
        build.define("tx_application_define", "upstream_demo_define");
        build.define("_tx_initialize_kernel_enter", "upstream_demo_enter");
        build.file(&copy);
    }
    build.try_compile("upstream_demo").map_err(|error| programs::does_not_compile(DEMO, &error))
}
