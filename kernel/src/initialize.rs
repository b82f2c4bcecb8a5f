//! From `tx_kernel_enter` to the first thread.

use core::ffi::c_void;

use crate::port;
use crate::timer;

/// The documented order: board, kernel objects, application, first thread. Interrupts stay masked
/// until that thread runs, unless the application lets them in.
///
/// # Safety
///
/// Called once, in the port's initialization context, with interrupts masked.
pub(crate) unsafe fn initialize(low_level: impl FnOnce(), define: impl FnOnce(*mut c_void)) {
    low_level();
    timer::create_timer_thread();
    define(port::first_unused_memory());
}
