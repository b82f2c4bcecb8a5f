//! Upstream's own demo for the S32Z280 board, unmodified.
//!
//! On this project's board support, what it asks of a board is in `on_bsp.rs` and `../shim`, and what it says about itself
//! becomes the image's exit code. With feature `upstream-bsp` it has its own board files, and the image has no code from
//! Rust but the compiler's run-time library.
#![no_std]
#![no_main]

#[cfg(not(feature = "upstream-bsp"))]
mod on_bsp;

// Brings the kernel's symbols into the image.
use threadx_sys as _;

/// Nothing in this image panics.
#[cfg(feature = "upstream-bsp")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
