//! The points where the kernel and the board meet, beside the interrupt dispatcher.

#[cfg(start_up = "rust")]
unsafe extern "C" {
    static __tx_isr_stack_limit: u8;
    // Upstream's kernel initializes on the stack that it was called on, which is SYS mode's.
    #[cfg_attr(kernel = "upstream", link_name = "_fiq_stack_high_end")]
    static __tx_system_stack_limit: u8;
}

/// Lies in the lowest word of the stacks that belong to no thread; the kernel checks only threads', in the same
/// way. No address and no small number, and one instruction compares with it.
#[cfg(start_up = "rust")]
const GUARD: u32 = 0xEF00_0000;

/// Lowest word of the stack of interrupt handlers.
#[cfg(start_up = "rust")]
fn isr_guard() -> *mut u32 {
    (&raw const __tx_isr_stack_limit).cast_mut().cast()
}

/// Lowest word of the stack of initialization.
#[cfg(start_up = "rust")]
fn system_guard() -> *mut u32 {
    (&raw const __tx_system_stack_limit).cast_mut().cast()
}

/// Ends the image if a stack was used up to its lowest word.
#[cfg(start_up = "rust")]
#[inline(always)]
fn check(guard: *mut u32, whose: &'static str) {
    // SAFETY: the lowest word of a stack of the link script, aligned to 64; volatile, because an overflow
    // writes it behind the compiler's back.
    if unsafe { guard.read_volatile() } != GUARD {
        crate::fault::stack_overflow(whose);
    }
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

/// At the first tick: what initialization, the application's included, left of its stack. Later it holds no more
/// than the frame of an interrupt in the idle loop.
#[cfg(start_up = "rust")]
pub(crate) fn check_initialization() {
    check(system_guard(), "initialization");
}

/// One tick for the kernel.
#[cfg(start_up = "rust")]
#[inline(always)]
pub(crate) fn timer_interrupt() {
    check(isr_guard(), "interrupt handlers");
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
    for guard in [isr_guard(), system_guard()] {
        // SAFETY: as in `check`; this code runs thousands of bytes above the lowest words.
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
