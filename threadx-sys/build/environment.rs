//! The compiler and the C flags of the person who builds, from the environment: also part of the build
//! scripts of C code that calls the kernel.

use std::env;

/// Variables that count, the first one that is set.
const TAKEN: [&str; 2] = ["CFLAGS_armv8r_none_eabihf", "CFLAGS_armv8r-none-eabihf"];
/// Variables that do not: they are mostly there for code of the machine that builds.
const IGNORED: [&str; 3] = ["TARGET_CFLAGS", "HOST_CFLAGS", "CFLAGS"];

/// Takes the flags out of the environment, where the `cc` crate would add all of them once more, past
/// the checks of compiler and layout. To be called first in `main`, while there is one thread.
pub fn take_cflags() -> Option<String> {
    let mut taken = None;
    let mut ignored = Vec::new();
    for name in TAKEN.iter().chain(&IGNORED) {
        println!("cargo::rerun-if-env-changed={name}");
        let value = env::var(name).ok().filter(|value| !value.trim().is_empty());
        // SAFETY: no other thread runs yet.
        unsafe { env::remove_var(name) };
        match value {
            Some(value) if taken.is_none() && TAKEN.contains(name) => taken = Some(value),
            Some(_) => ignored.push(*name),
            None => {}
        }
    }
    // Only code for the image is compiled.
    if !ignored.is_empty() && env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        println!("cargo::warning={} ignored: flags for C code of the image go into {}", ignored.join(", "), TAKEN[0]);
    }
    taken
}

/// The C compiler of the image where no variable names another one.
pub const COMPILER: &str = "arm-none-eabi-gcc";

/// A variable for the image's target: cargo's target without its hyphens, as it is, or the plain one for
/// all targets that are not this machine. The same places, in the same order, as in the `cc` crate.
pub fn variable(name: &str) -> Option<String> {
    for variable in
        [format!("{name}_armv8r-none-eabihf"), format!("{name}_armv8r_none_eabihf"), format!("TARGET_{name}")]
    {
        println!("cargo::rerun-if-env-changed={variable}");
        if let Some(value) = env::var(variable).ok().filter(|value| !value.trim().is_empty()) {
            return Some(value);
        }
    }
    None
}

/// A build of C code for the image. A compiler that a variable names is left to `cc`, which knows
/// wrappers such as ccache and compilers with flags; the variable of this machine does not count.
#[must_use]
pub fn build() -> cc::Build {
    let mut build = cc::Build::new();
    build.no_default_flags(true).warnings(false).cargo_warnings(false);
    if variable("CC").is_none() {
        build.compiler(COMPILER);
    }
    build
}
