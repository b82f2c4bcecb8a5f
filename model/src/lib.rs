//! A memory timing model of the Cortex-R52 for QEMU, as a TCG plugin.
//!
//! QEMU counts instructions; all memories cost the same there. This plugin follows a guest that runs on
//! QEMU's `mps3-an536`, gives each of its memories the cost of a memory of the part that is modelled, and
//! keeps a count of modelled cycles: fetch groups over a slow port, hazards, a store buffer that drains,
//! the two first-level caches. See `docs/model.md` for what that is worth.
//!
//! The modules below `plugin` know nothing of QEMU.

// Only the plugin uses all of it.
#![cfg_attr(test, allow(dead_code))]

mod cache;
mod core;
mod decode;
mod log;
mod part;
// The symbols of QEMU are there only when QEMU loads the library.
#[cfg(not(test))]
mod plugin;
mod steer;
mod system;

#[cfg(test)]
mod tests;
