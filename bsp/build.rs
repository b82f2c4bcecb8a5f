//! Picks the board, puts its link script together, hands it to the firmware packages and refuses code-generation flags
//! that the kernels cannot keep their promises under.

use std::{env, fs, path::PathBuf, process::exit};

#[cfg(feature = "upstream-bsp")]
#[path = "../threadx-sys/build/board_files.rs"]
mod board_files;
#[allow(dead_code)]
#[path = "src/codegen.rs"]
mod codegen;
#[cfg(feature = "upstream-bsp")]
#[allow(dead_code)]
#[path = "../threadx-sys/build/environment.rs"]
mod environment;
#[cfg(feature = "upstream-bsp")]
#[allow(dead_code)]
#[path = "../threadx-sys/build/programs.rs"]
mod programs;

fn fail(message: &str) -> ! {
    eprintln!("error: {message}");
    exit(1)
}

/// The board's script with the common part in its place and the memory of code as asked for. Linkers look for an included
/// file in folders that the firmware package would have to name, so that one file is handed on.
fn link_script(board: &str, in_ddr: bool) {
    const INCLUDE: &str = "INCLUDE sections.ld\n";
    let folder =
        |name: &str| PathBuf::from(env::var_os(name).unwrap_or_else(|| fail(&format!("cargo sets no {name}"))));
    let sources = folder("CARGO_MANIFEST_DIR").join("src");
    let read = |path: PathBuf| {
        println!("cargo::rerun-if-changed={}", path.display());
        fs::read_to_string(&path).unwrap_or_else(|error| fail(&format!("cannot read {}: {error}", path.display())))
    };
    let script = read(sources.join(board).join("link.ld"));
    if !script.contains(INCLUDE) {
        fail(&format!("the link script of {board} has no line `{}`", INCLUDE.trim_end()));
    }
    let script = script.replace(INCLUDE, &read(sources.join("sections.ld")));
    if !in_ddr {
        return hand_on(&script);
    }
    let moved = script.replace("REGION_ALIAS(\"CODE\", BRAM)", "REGION_ALIAS(\"CODE\", DDR)");
    if moved == script {
        fail(&format!("the link script of {board} does not say that CODE is the BRAM"));
    }
    hand_on(&moved);
}

/// Has the firmware packages link with this script.
fn hand_on(script: &str) {
    let path = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("link.ld");
    if let Err(error) = fs::write(&path, script) {
        fail(&format!("cannot write {}: {error}", path.display()));
    }
    println!("cargo::metadata=LINK_SCRIPT={}", path.display());
}

/// Compiles the checkout's board files; its linker map, with what this project's images have beside it, is the script.
#[cfg(feature = "upstream-bsp")]
fn upstream_board_files() -> Result<(), String> {
    println!("cargo::rerun-if-changed=../threadx-sys/build");
    // The MPU and the interrupt controller are up when this function returns: `upstream.rs` has its place.
    let files = board_files::find(&PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join(".."))?;
    files.compile("bsp_board_files", &[("board_init", "upstream_board_init")])?;
    let read = |path: PathBuf| {
        println!("cargo::rerun-if-changed={}", path.display());
        fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    let supplement = read(PathBuf::from("src/s32z280/upstream.ld"))?;
    hand_on(&format!("{}\n{supplement}", read(files.link_map())?));
    Ok(())
}

fn main() {
    // What counts of them is in DEP_THREADX_FLAGS.
    #[cfg(feature = "upstream-bsp")]
    environment::take_cflags();
    println!("cargo::rustc-check-cfg=cfg(kernel, values(\"upstream\"))");
    if env::var("DEP_THREADX_KERNEL").as_deref() == Ok("upstream") {
        println!("cargo::rustc-cfg=kernel=\"upstream\"");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/codegen.rs");

    let on = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let board = match (on("MPS3_AN536"), on("S32Z280")) {
        (true, false) => "mps3_an536",
        (false, true) => "s32z280",
        (false, false) => fail("bsp needs one board: enable its feature `mps3-an536` or `s32z280`"),
        (true, true) => fail("bsp is for one board, and both are on: add --no-default-features to choose `s32z280`"),
    };
    let emulated = board == "mps3_an536" || on("QEMU_DEVICES");
    for (feature, name) in [("FLASH_CACHE", "flash-cache"), ("QEMU_DEVICES", "qemu-devices")] {
        if board != "s32z280" && on(feature) {
            fail(&format!("bsp's feature `{name}` is for the board `s32z280`"));
        }
    }
    if board != "mps3_an536" && on("CODE_IN_DDR") {
        fail("bsp's feature `code-in-ddr` is for the board `mps3-an536`");
    }
    if on("FLASH_CACHE") && on("BOOT_AT_EL1") {
        fail("bsp's feature `flash-cache` needs EL2, which `boot-at-el1` leaves to the monitor: drop one of them");
    }
    println!("cargo::rustc-check-cfg=cfg(semihosting)");
    if emulated {
        println!("cargo::rustc-cfg=semihosting");
    }
    println!("cargo::rustc-check-cfg=cfg(counter, values(\"pmccntr\"))");
    if on("PMU") || !emulated {
        println!("cargo::rustc-cfg=counter=\"pmccntr\"");
    }
    if on("UPSTREAM_BSP") {
        if board != "s32z280" {
            fail("bsp's feature `upstream-bsp` is for the board `s32z280`");
        }
        if env::var("DEP_THREADX_KERNEL").as_deref() != Ok("upstream") {
            fail("bsp's feature `upstream-bsp` needs upstream's kernel: drop `bundled`");
        }
        for (feature, name) in
            [("FLASH_CACHE", "flash-cache"), ("BOOT_AT_EL1", "boot-at-el1"), ("QEMU_DEVICES", "qemu-devices")]
        {
            if on(feature) {
                fail(&format!("upstream's board files have no `{name}`: drop it or `upstream-bsp`"));
            }
        }
    }
    println!("cargo::rustc-check-cfg=cfg(start_up, values(\"rust\", \"upstream\"))");
    let arm = env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("arm");
    if !on("UPSTREAM_BSP") {
        link_script(board, on("CODE_IN_DDR"));
    }
    if !arm {
        return;
    }
    println!("cargo::rustc-cfg=start_up=\"{}\"", if on("UPSTREAM_BSP") { "upstream" } else { "rust" });
    #[cfg(feature = "upstream-bsp")]
    if let Err(failure) = upstream_board_files() {
        fail(&failure);
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if let Err(refusal) = codegen::check(flags.split('\u{1f}')) {
        fail(&refusal);
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if let Some(feature) = features.split(',').find(|f| matches!(*f, "d32" | "neon")) {
        fail(&codegen::refusal(feature));
    }
    if env::var("CARGO_CFG_TARGET_ABI").as_deref() != Ok("eabihf") {
        fail("the kernel's frames are those of the hard-float ABI: build for armv8r-none-eabihf");
    }
}
