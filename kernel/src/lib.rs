//! The bundled kernel: the documented ThreadX API in Rust, without allocation.
//!
//! # How it is built
//!
//! * One processor. Kernel state is one static, `kernel::Kernel`, made of `Cell`s; it is reached
//!   only through `kernel::lock`, whose guard exists exactly while interrupts are masked. So two
//!   accesses never overlap, and no code in between needs `unsafe`.
//! * A control block belongs to the caller. From its create service to its delete service the kernel
//!   holds a reference (`thread::Thread` and its kin); the C entry points in [`c_api`] are where a
//!   raw pointer becomes one, and where the contract of the caller is stated.
//! * The processor's side (registers, masking, interrupt entry) is in [`port`]; everything else runs
//!   unchanged on the host, where the tests are.
//!
//! # The fast path
//!
//! `tx_thread_relinquish` is the kernel's hot path: 14 instructions a switch on Armv8-R and the call,
//! or 11 inlined into the caller, of which 6 run with interrupts masked. It compares nothing. Every question it would have to ask ("is anybody
//! else ready at my priority", "do I have a preemption-threshold", "is preemption disabled", "is this
//! an interrupt") is answered beforehand by the pointer it follows: `next` of the running context
//! leads to the next ready thread of the same priority, or, if any answer forbids the plain switch,
//! to a pseudo context that continues in `scheduler`'s slow path. `scheduler::Scheduler` keeps
//! that pointer true; its invariants are listed there.

#![cfg_attr(target_os = "none", no_std)]
#![allow(clippy::new_without_default)]

mod block_pool;
mod byte_pool;
pub mod c_api;
pub mod c_header;
pub mod direct;
mod event_flags;
mod initialize;
mod kernel;
mod list;
mod mutex;
mod performance;
pub mod port;
mod queue;
mod scheduler;
mod semaphore;
mod thread;
mod timer;
mod types;
mod wait;

pub use block_pool::TX_BLOCK_POOL;
pub use byte_pool::TX_BYTE_POOL;
pub use event_flags::TX_EVENT_FLAGS_GROUP;
pub use mutex::TX_MUTEX;
pub use queue::TX_QUEUE;
pub use semaphore::TX_SEMAPHORE;
pub use thread::TX_THREAD;
pub use timer::TX_TIMER;
pub use types::*;

/// What a banner prints for this kernel.
pub const NAME: &str =
    concat!("bundled ", env!("CARGO_PKG_VERSION"), " (Rust, opt-level ", env!("KERNEL_OPT_LEVEL"), ")");

#[cfg(feature = "stack-checking")]
macro_rules! stack_checking {
    () => {
        "on"
    };
}
#[cfg(not(feature = "stack-checking"))]
macro_rules! stack_checking {
    () => {
        "off"
    };
}

#[cfg(feature = "performance-info")]
macro_rules! performance_info {
    () => {
        "on"
    };
}
#[cfg(not(feature = "performance-info"))]
macro_rules! performance_info {
    () => {
        "off"
    };
}

/// What the kernel was built with, for a banner: the keys that upstream's kernel has there.
pub const CONFIGURATION: &str = concat!(
    "error checking on, stack checking ",
    stack_checking!(),
    ", tick 100 Hz, ready search clz, floating point on, notify callbacks on, timers in thread, \
     inline suspension off, performance info ",
    performance_info!(),
    ", trace off, optimisation opt-level ",
    env!("KERNEL_OPT_LEVEL")
);

/// Gives a control block its reference type: `Copy`, compared by address, dereferenced to the block.
macro_rules! object_ref {
    ($(#[$doc:meta])* $Ref:ident -> $Block:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(transparent)]
        pub(crate) struct $Ref(core::ptr::NonNull<$Block>);

        impl $Ref {
            /// # Safety
            ///
            /// `ptr` points to an initialised block that stays at its address, and is not
            /// borrowed mutably, for as long as the kernel keeps this reference: from the create
            /// service to the delete service of the object.
            #[inline(always)]
            pub(crate) const unsafe fn new(ptr: core::ptr::NonNull<$Block>) -> Self {
                Self(ptr)
            }

            #[inline(always)]
            #[allow(dead_code)]
            pub(crate) const fn as_ptr(self) -> *mut $Block {
                self.0.as_ptr()
            }
        }

        impl core::ops::Deref for $Ref {
            type Target = $Block;
            #[inline(always)]
            fn deref(&self) -> &$Block {
                // SAFETY: `new`'s caller promised an initialised block that lives, unmoved and
                // without a mutable borrow, as long as this reference.
                unsafe { self.0.as_ref() }
            }
        }
    };
}
pub(crate) use object_ref;
