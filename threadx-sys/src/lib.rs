#![doc = include_str!("../README.md")]
#![no_std]
#![allow(non_camel_case_types)]

#[cfg(not(feature = "bundled"))]
compile_error!("no ThreadX kernel chosen: build with `--features bundled` for the bundled Rust kernel");

#[cfg(feature = "bundled")]
mod bundled;
#[cfg(feature = "bundled")]
pub use bundled::*;
