#![doc = include_str!("../README.md")]
#![no_std]
#![allow(non_camel_case_types)]

#[cfg(feature = "bundled")]
mod bundled;
#[cfg(feature = "bundled")]
pub use bundled::*;
#[cfg(feature = "bundled")]
pub use kernel::CONFIGURATION;

#[cfg(not(feature = "bundled"))]
mod upstream;
#[cfg(not(feature = "bundled"))]
pub use upstream::*;

mod services;
pub use services::*;
