#![doc = include_str!("../README.md")]
#![no_std]

pub mod block_pool;
pub mod byte_pool;
mod claim;
mod critical;
#[cfg(feature = "embedded-hal")]
mod delay;
mod error;
pub mod event_flags;
mod executor;
pub mod interrupt;
pub mod mutex;
mod name;
pub mod performance;
mod placed;
mod priority;
mod push;
pub mod queue;
mod rejected;
mod scope;
pub mod semaphore;
mod service;
pub mod stack;
mod start;
mod sync;
pub mod thread;
pub mod time;
pub mod timer;

pub use block_pool::{Block, BlockPool};
pub use byte_pool::{BytePool, PoolBox};
#[cfg(feature = "embedded-hal")]
pub use delay::Delay;
pub use error::Error;
pub use event_flags::{EventFlags, Match};
pub use executor::Executor;
pub use mutex::{Inheritance, Mutex, MutexGuard};
pub use placed::Placed;
#[doc(hidden)]
pub use placed::PlacedMemory;
pub use priority::{PreemptionThreshold, Priority, TimeSlice};
pub use queue::{Queue, Receiver, Sender};
pub use rejected::Rejected;
pub use scope::{Scope, scope};
pub use semaphore::Semaphore;
#[doc(hidden)]
pub use stack::StackMemory;
pub use stack::{MIN_STACK_SIZE, Region, Stack, StackToken};
#[cfg(not(target_os = "none"))]
pub use start::host;
pub use start::{Init, set_stack_error_hook, start, try_start};
pub use thread::{Builder, JoinError, JoinHandle, ScopedJoinHandle, ThreadCell, ThreadRef};
pub use time::{Ticks, Timeout};
pub use timer::{Schedule, Timer};

/// The kernel beneath, for a banner: its kind and version.
pub const KERNEL: &str = threadx_sys::NAME;

/// What the kernel beneath was configured with, for a banner.
pub const KERNEL_CONFIGURATION: &str = threadx_sys::CONFIGURATION;
