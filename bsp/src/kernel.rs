//! The points where the kernel and the board meet, beside the interrupt dispatcher.

#[cfg(start_up = "rust")]
unsafe extern "C" {
    static __tx_isr_stack_limit: u8;
    static __tx_system_stack_limit: u8;
}

/// Lies in the lowest word of the stacks that belong to no thread; the kernel checks only threads', in the same
/// way. This is done at every tick.
#[cfg(start_up = "rust")]
const GUARD: u32 = 0xEFEF_EFEF;

#[cfg(start_up = "rust")]
fn guards() -> [(*mut u32, &'static str); 2] {
    [
        ((&raw const __tx_isr_stack_limit).cast_mut().cast(), "interrupt handlers"),
        ((&raw const __tx_system_stack_limit).cast_mut().cast(), "initialization and idle"),
    ]
}

/// Whether the caller is an interrupt handler.
#[cfg(start_up = "rust")]
pub(crate) fn in_interrupt() -> bool {
    #[cfg(not(kernel = "upstream"))]
    {
        unsafe extern "C" {
            safe fn _tx_irq_active() -> u32;
        }
        _tx_irq_active() != 0
    }
    #[cfg(kernel = "upstream")]
    upstream::in_interrupt()
}

/// One tick for the kernel.
#[cfg(start_up = "rust")]
pub(crate) fn timer_interrupt() {
    for (guard, whose) in guards() {
        // SAFETY: the lowest word of a stack of the link script, aligned to 64; volatile, because an
        // overflow writes them behind the compiler's back.
        if unsafe { guard.read_volatile() } != GUARD {
            crate::fault::stack_overflow(whose);
        }
    }
    // SAFETY: called from the tick's handler only, inside the kernel's interrupt entry, as the
    // kernel's ports require.
    unsafe { threadx_sys::_tx_timer_interrupt() }
}

#[cfg(all(kernel = "upstream", start_up = "rust"))]
mod upstream;

/// Called once by the kernel's start, in SVC mode with interrupts masked: gives the kernel its tick.
/// The controller itself is up since before `main`, so handlers registered there are kept.
// Upstream's kernel comes here through the assembly of the module above.
#[cfg(start_up = "rust")]
#[cfg_attr(not(kernel = "upstream"), unsafe(export_name = "_tx_initialize_low_level"))]
#[cfg_attr(kernel = "upstream", unsafe(export_name = "bsp_initialize_low_level"))]
extern "C" fn initialize_low_level() {
    for (guard, _) in guards() {
        // SAFETY: as above; this code runs thousands of bytes above the lowest words.
        unsafe { guard.write_volatile(GUARD) };
    }
    #[cfg(kernel = "upstream")]
    upstream::set_up();
    if let Err(error) = crate::interrupt::start_tick() {
        crate::println!("error: {}", error);
        crate::exit(crate::exit::BOARD);
    }
    crate::stage::mark(crate::stage::Stage::Tick);
}

/// The name of the running or interrupted thread, for reports; `"none"` outside threads.
pub(crate) fn thread_name() -> &'static str {
    threadx::thread::current().map_or("none", threadx::ThreadRef::name)
}

/// Lets the kernel's stack check end the image with the report of this board.
pub(crate) fn install_stack_report() {
    // SAFETY: `stack_overflow` masks IRQ, writes to the console and ends the image; it calls nothing
    // of the kernel.
    unsafe { threadx::set_stack_error_hook(crate::fault::stack_overflow) };
}
