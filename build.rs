//! The build script of every firmware package: links the image for the board that `bsp` was built for.
//!
//! A package takes part with `build = "../build.rs"` and a direct dependency on `bsp`.

use std::{
    env,
    path::Path,
    process::{Command, exit},
};

/// Links the image of the package it is called for.
pub fn main() {
    // Seen from the package, which may lie one or two folders below.
    let here = if Path::new("../build.rs").is_file() { "../build.rs" } else { "../../build.rs" };
    println!("cargo::rerun-if-changed={here}");
    // Host builds (cargo doc, cargo check of the workspace) link no image.
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    let Ok(script) = env::var("DEP_BSP_LINK_SCRIPT") else {
        eprintln!("error: this package needs `bsp` among its [dependencies]: the link script comes from there");
        exit(1);
    };
    if !Path::new(&script).is_file() {
        eprintln!("error: the board's link script {script} is missing");
        exit(1);
    }
    println!("cargo::rerun-if-changed={script}");
    describe_build();
    println!("cargo::rustc-link-arg=-T{script}");
    // An image that carries two definitions of a board symbol, or a stack that names no memory of the
    // board, must not link.
    println!("cargo::rustc-link-arg=--fatal-warnings");
    println!("cargo::rustc-link-arg=--gc-sections");
}

/// What the banner and the records say about the build. Cargo tells build scripts everything but the
/// link-time optimisation, which therefore follows the profiles of the workspace's Cargo.toml and the
/// variable that overrides them.
fn describe_build() {
    let value = |name: &str| env::var(name).unwrap_or_default();
    let version = Command::new(value("RUSTC")).arg("--version").output();
    let version = version.ok().and_then(|out| String::from_utf8(out.stdout).ok()).unwrap_or_default();
    let profile = value("PROFILE");
    let lto = format!("CARGO_PROFILE_{}_LTO", if profile == "release" { "RELEASE" } else { "DEV" });
    println!("cargo::rerun-if-env-changed={lto}");
    let lto = env::var(lto).unwrap_or_else(|_| String::from(if profile == "release" { "fat" } else { "off" }));
    // Then rustc leaves it to the linker, whatever the profile says.
    let lto = if value("CARGO_ENCODED_RUSTFLAGS").contains("linker-plugin-lto") { String::from("linker") } else { lto };
    println!("cargo::rustc-env=FIRMWARE_RUSTC={}", version.trim());
    println!("cargo::rustc-env=FIRMWARE_OPT={}", value("OPT_LEVEL"));
    println!("cargo::rustc-env=FIRMWARE_LTO={lto}");
}
