//! The two points where the kernel and the board meet, beside the interrupt dispatcher.

/// One tick for the kernel.
pub(crate) fn timer_interrupt() {
    // SAFETY: called from the tick's handler only, inside the kernel's interrupt entry, as the
    // kernel's ports require.
    unsafe { threadx_sys::_tx_timer_interrupt() }
}

#[cfg(kernel = "upstream")]
mod upstream;

/// Called once by the kernel's start, in SVC mode with interrupts masked: gives the kernel its tick.
/// The controller itself is up since before `main`, so handlers registered there are kept.
// Upstream's kernel comes here through the assembly of the module above.
#[cfg_attr(not(kernel = "upstream"), unsafe(export_name = "_tx_initialize_low_level"))]
#[cfg_attr(kernel = "upstream", unsafe(export_name = "bsp_initialize_low_level"))]
extern "C" fn initialize_low_level() {
    #[cfg(kernel = "upstream")]
    upstream::set_up();
    if let Err(error) = crate::interrupt::start_tick() {
        crate::println!("error: {}", error);
        crate::exit(crate::exit::BOARD);
    }
}

/// The name of the running or interrupted thread, for reports; `"none"` outside threads.
pub(crate) fn thread_name() -> &'static str {
    threadx::thread::current().map_or("none", threadx::ThreadRef::name)
}

/// Lets the kernel's stack check end the image with the report of this board.
pub(crate) fn install_stack_report() {
    threadx::set_stack_error_hook(|thread| crate::fault::stack_overflow(thread.name()));
}
