//! What this image says about itself and its self-checks; also part of the package `suite`.

use bsp::counter::Counter;
use bsp::{print, println};
use measure::{Setting, line};

/// rustc's version, from the build script.
const RUSTC: &str = env!("FIRMWARE_RUSTC");
/// Optimisation level of this image.
const OPT: &str = env!("FIRMWARE_OPT");
/// Link-time optimisation of this image.
const LTO: &str = env!("FIRMWARE_LTO");

/// `on` or `off`.
const fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Prints kernel, board and build; the line about the build is still open.
pub fn print_build(title: &str) {
    println!("{}", title);
    println!("kernel     {}", threadx::KERNEL);
    println!("board      {}, tick {} Hz", bsp::NAME, bsp::tick_hz());
    print!("built with {}, opt-level {}, lto {}, debug assertions {}", RUSTC, OPT, LTO, on_off(cfg!(debug_assertions)));
}

/// Prints the kernel's configuration, counter and caches.
pub fn print_machine(counter: &Counter) {
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
}

/// Prints what counts of an emulator are not.
pub fn print_note(counter: &Counter) {
    if counter.unit == "instructions" {
        println!("note       emulator: functional only. Memories, caches and pipeline are not modelled, so");
        println!("           a count of instructions is the same in every memory and is not a time.");
    }
}

/// What the records of Rust code that measures with `counter` have in common.
pub fn setting(counter: &Counter) -> Setting<'static> {
    Setting {
        kernel: threadx::KERNEL,
        board: bsp::NAME,
        unit: counter.unit,
        opt: OPT,
        lto: LTO,
        counter: counter.name,
        overhead: counter.overhead,
        language: "rust",
        checks: "types",
        options: bsp::CONFIGURATION,
        assertions: on_off(cfg!(debug_assertions)),
        text_bytes: Some(bsp::memory::text_bytes()),
    }
}

/// The self-checks so far.
#[derive(Default)]
pub struct Checks {
    passed: u32,
    failed: u32,
}

impl Checks {
    /// Counts a self-check; prints it only if it failed.
    pub fn check(&mut self, what: &str, ok: bool) {
        if ok {
            self.passed += 1;
        } else {
            self.failed += 1;
            println!("check FAILED: {}", what);
        }
    }

    /// Something could not be measured at all.
    pub fn fail(&mut self, what: &str, error: impl ufmt::uDisplay) {
        self.failed += 1;
        println!("check FAILED: {}: {}", what, error);
    }

    /// Prints a line of a record, a row or raw samples.
    pub fn print(&mut self, text: Result<&str, line::LineError>) {
        match text {
            Ok(text) => println!("{}", text),
            Err(_) => self.check("a line fits its buffer", false),
        }
    }

    /// Prints the verdict and ends the run: exit code 0 only if every self-check passed.
    pub fn finish(self) -> ! {
        if self.failed == 0 {
            println!("{}: {} self-checks passed", line::DONE_OK, self.passed);
        } else {
            println!("{}: {} of {} self-checks failed", line::DONE_FAILED, self.failed, self.passed + self.failed);
        }
        bsp::exit(u8::from(self.failed != 0))
    }
}
