//! Everything a reader needs to know about the figures that follow.

use bsp::counter::Counter;
use bsp::memory::region_of;
use bsp::println;

use crate::threads::{Cells, Control};

/// rustc's version, from the build script.
const RUSTC: &str = env!("FIRMWARE_RUSTC");
/// Optimisation level of this image.
pub const OPT: &str = env!("FIRMWARE_OPT");
/// Link-time optimisation of this image.
pub const LTO: &str = env!("FIRMWARE_LTO");

/// `on` or `off`.
pub const fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Prints kernel, build, counter, caches and control blocks.
pub fn print(counter: &Counter, cells: &Cells) {
    println!("ThreadX from safe Rust: the measurement suite");
    println!("kernel     {}", threadx::KERNEL);
    println!("board      {}, tick {} Hz", bsp::NAME, bsp::tick_hz());
    println!(
        "built with {}, opt-level {}, lto {}, debug assertions {}, {} bytes of code",
        RUSTC,
        OPT,
        LTO,
        on_off(cfg!(debug_assertions)),
        bsp::memory::text_bytes()
    );
    println!("configured {}", bsp::CONFIGURATION);
    println!(
        "counter    {}, counts {}, {} Hz by CNTFRQ, own cost {}, resolution {}{}",
        counter.name,
        counter.unit,
        counter.hz,
        counter.overhead,
        counter.resolution,
        if counter.coarse { ", COARSE" } else { "" }
    );
    for cache in bsp::cache::geometry() {
        println!(
            "cache      L{} data {} bytes, {} ways, line {} bytes",
            cache.level,
            cache.size(),
            cache.ways,
            cache.line
        );
    }
    for control in [Control::Dram0, Control::Btcm] {
        let address = cells.of(control).address();
        println!("control    {:#x} {}", address, region_of(address));
    }
    if counter.unit == "instructions" {
        println!("note       emulator: functional only. Memories, caches and pipeline are not modelled, so");
        println!("           a count of instructions is the same in every memory and is not a time.");
    }
    println!("");
}
