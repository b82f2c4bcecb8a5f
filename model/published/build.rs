//! Compiles `published.c` as the published code was documented to be compiled, and links the image with its
//! functions in an order of their own (MODEL_LAYOUT, a number), so that the spread of layouts can be seen.

use std::env;

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
    println!("cargo::rerun-if-changed=published.c");
    println!("cargo::rerun-if-env-changed=MODEL_LAYOUT");
    programs::run(compile);
}

fn compile() -> Result<(), String> {
    if let Ok(layout) = env::var("MODEL_LAYOUT") {
        println!("cargo::rustc-link-arg=--shuffle-sections=.text.*={layout}");
    }
    // The optimisation comes last, so that it counts.
    programs::build("the measuring code needs", "", &[])?
        .flag("-O0")
        .flag("-mlong-calls")
        .file("published.c")
        .try_compile("published")
        .map_err(|error| programs::does_not_compile("published.c", &error))
}
