//! The C flags of the person who builds, from the environment: also part of the build scripts of C code
//! that calls the kernel.

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
