//! Board support: everything from reset to `main`, and what a measurement needs from a board.
//!
//! One feature picks the board. Start-up order, which each step's type or assertion enforces:
//! exception levels and FPU, statics, stacks, MPU and caches, console, interrupt controller, `main`;
//! the tick starts with the kernel. See the crate's README for the memory map and exit codes.
//!
//! The registers are those of an AArch32 Cortex-R52; on any other architecture the crate has only its
//! portable logic, which is what its unit tests run.
#![cfg_attr(not(test), no_std)]

#[cfg(any(target_feature = "d32", target_feature = "neon"))]
compile_error!("D16-D31 are on: no ThreadX kernel saves them; build for armv8r-none-eabihf without d32 and neon");

// The build script says the same, in words; this holds where it does not run.
#[cfg(not(any(feature = "mps3-an536", feature = "s32z280")))]
compile_error!("bsp needs one board: enable its feature `mps3-an536` or `s32z280`");
#[cfg(all(feature = "mps3-an536", feature = "s32z280"))]
compile_error!("bsp is for one board, and both are on: add --no-default-features to choose `s32z280`");

#[cfg(feature = "mps3-an536")]
mod mps3_an536;
#[cfg(feature = "mps3-an536")]
use mps3_an536 as board;
#[cfg(feature = "s32z280")]
mod s32z280;
#[cfg(feature = "s32z280")]
use s32z280 as board;

#[cfg(start_up = "rust")]
mod boot;
pub mod bus;
pub mod cache;
#[cfg(test)]
mod codegen;
pub mod counter;
pub mod fault;
pub mod gic;
pub mod interrupt;
pub mod linflexd;
pub mod memory;
pub mod mpu;
pub mod placement;
pub mod stage;
pub mod startup;
pub mod tcm;
pub mod timer;

#[cfg(target_arch = "arm")]
mod command_line;
#[cfg(target_arch = "arm")]
pub mod console;
#[cfg(target_arch = "arm")]
pub mod exit;
#[cfg(start_up = "rust")]
mod init;
#[cfg(target_arch = "arm")]
mod kernel;
#[cfg(start_up = "upstream")]
mod upstream;

#[cfg(target_arch = "arm")]
pub use aarch32_rt::entry;
pub use board::NAME;
#[cfg(target_arch = "arm")]
pub use command_line::{CommandLineError, command_line};
#[cfg(target_arch = "arm")]
pub use console::{Console, console};
#[cfg(target_arch = "arm")]
pub use counter::cycles;
#[cfg(target_arch = "arm")]
pub use exit::exit;
#[doc(hidden)]
pub use ufmt;

/// Lets the core sleep until an interrupt is pending: what an idle thread does on a kernel that spins when nothing is
/// ready. Callable from every context.
#[cfg(target_arch = "arm")]
pub fn wait_for_interrupt() {
    aarch32_cpu::asm::wfi();
}

/// What the image was built with, as banner and records have it: the options of the kernel, and on `s32z280` the ways of the
/// instruction cache, on which every figure depends.
pub const CONFIGURATION: &str = if cfg!(feature = "s32z280") {
    match core::str::from_utf8(&WITH_CACHE) {
        Ok(text) => text,
        Err(_) => panic!("texts joined by a comma are text"),
    }
} else {
    threadx::KERNEL_CONFIGURATION
};

const WITH_CACHE: [u8; threadx::KERNEL_CONFIGURATION.len() + 2 + cache::CONFIGURATION.len()] = {
    let parts = [threadx::KERNEL_CONFIGURATION.as_bytes(), b", ", cache::CONFIGURATION.as_bytes()];
    let mut joined = [0; _];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            joined[at] = parts[part][i];
            (i, at) = (i + 1, at + 1);
        }
        part += 1;
    }
    joined
};

/// Kernel ticks a second.
#[must_use]
pub const fn tick_hz() -> u32 {
    timer::TICK_HZ
}
