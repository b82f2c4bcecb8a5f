//! The atomics of what is lock-free. The package in `threadx/loom` compiles the modules that use this with loom's
//! instead, and tries every order of their steps.

pub(crate) use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
