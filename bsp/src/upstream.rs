//! The checkout's own board files in place of the start-up in Rust (feature `upstream-bsp`).
//!
//! Their entry code goes from reset to [`bsp_main`] in SVC mode, their vectors take interrupts and spin on faults
//! (`fault_vector`, `fault_syndrome` and `fault_address` say why), their low-level initialization turns on MPU, interrupt
//! controller and tick. Waits in them have no limit: a UART that never reports a byte as sent stops the image.
//!
//! From Rust come the cycle counter, cache maintenance and the boot record. The checkout's `cache.c` has clean and
//! invalidate as two calls; what is written between them, the second call's own frame for example, would be lost.

use crate::stage::{self, Stage};
use crate::{board, exit, println};
use aarch32_cpu::register::{Sctlr, SysRegRead};
use core::ffi::{c_uint, c_ulong};
use core::sync::atomic::{AtomicBool, Ordering};

// As the checkout's linflexd.h, timer.h, mpu.h, cache.h, tcm.h and irq_dispatch.c have them.
unsafe extern "C" {
    fn linflexd_init() -> c_uint;
    fn linflexd_putc(c: u8);
    safe fn timer_read_cntfrq() -> c_uint;
    safe fn mpu_is_enabled() -> c_uint;
    safe fn mpu_region_count() -> c_uint;
    safe fn cache_enabled() -> c_uint;
    fn tcm_preload(index: c_uint, base: c_ulong, bytes: c_ulong);
    /// The checkout's `board_init`.
    fn upstream_board_init();
    static board_irq_count: c_ulong;
    static cpsr_at_el2: c_uint;
    /// What the entry attribute makes of `main`.
    fn kmain() -> !;
}

// The checkout's timer.c is started and restarted with a hundredth of CNTFRQ.
const _: () = assert!(crate::timer::TICK_HZ == 100, "upstream's board files have a tick of 100 Hz");

/// The console: the checkout's LINFlexD driver, and the boot record's text while it is not up.
pub mod uart {
    use super::{AtomicBool, Ordering, linflexd_putc, stage};

    pub(super) static READY: AtomicBool = AtomicBool::new(false);

    /// Sends one byte; waits until it is through. The driver puts a carriage return before every line feed, so those
    /// of [`Console::write`](crate::Console::write) are left out.
    pub fn send(byte: u8) {
        if !READY.load(Ordering::Relaxed) {
            stage::text(byte);
        } else if byte != b'\r' {
            // SAFETY: the driver was initialised before `READY` was set; it touches the UART's registers only.
            unsafe { linflexd_putc(byte) }
        }
    }

    /// Nothing to wait for: a byte is through when `send` returns.
    pub fn drain() {}

    /// Bytes lost so far: none, as the driver waits for ever.
    pub fn lost() -> u32 {
        0
    }
}

/// Interrupts taken since the kernel's start: those of the tick, as nothing else enables or raises one.
#[inline(always)]
pub fn count() -> u32 {
    // SAFETY: a variable of the checkout's interrupt handler, aligned; volatile, because that writes it.
    unsafe { (&raw const board_irq_count).read_volatile() }
}

/// What the counter runs at, in Hz: CNTFRQ, which the checkout's entry code wrote.
#[must_use]
pub fn frequency() -> u32 {
    timer_read_cntfrq()
}

/// Called once by the checkout's entry code in SVC mode with interrupts masked, MPU and caches off, statics
/// initialised.
#[unsafe(no_mangle)]
extern "C" fn bsp_main() {
    // SAFETY: the entry code wrote it before it came here; nothing writes it again.
    let entered = unsafe { (&raw const cpsr_at_el2).read_volatile() };
    stage::begin(entered, <Sctlr as SysRegRead>::read_raw());
    // SAFETY: once, before any other use of the UART.
    let refused = unsafe { linflexd_init() };
    if refused != 0 {
        println!("error: linflexd_init of the board files returned {:#x}", refused);
        exit(exit::BOARD);
    }
    uart::READY.store(true, Ordering::Relaxed);
    stage::mark(Stage::Console);
    let atcm = &board::memory::ATCM.range;
    // SAFETY: the memory of `Atcm` stacks, which nothing uses yet; the entry code has enabled it.
    unsafe { tcm_preload(0, atcm.start as c_ulong, (atcm.end - atcm.start) as c_ulong) };
    stage::mark(Stage::Memories);
    crate::counter::start();
    crate::kernel::install_stack_report();
    println!("{}: board files: upstream, entered with CPSR {:#x} in Hyp mode", board::NAME, entered);
    stage::mark(Stage::Main);
    // SAFETY: `main`, once, on the stack and in the mode that it may enter the kernel from.
    unsafe { kmain() }
}

/// Called by the checkout's low-level initialization, inside the kernel's start, in the place of its own `board_init`.
#[unsafe(no_mangle)]
extern "C" fn board_init() {
    stage::mark(Stage::Interrupts);
    // SAFETY: once, where the checkout calls it.
    unsafe { upstream_board_init() };
    if mpu_is_enabled() == 0 {
        println!("error: mpu_init of the board files did not turn the MPU on");
        exit(exit::BOARD);
    }
    println!(
        "{}: MPU on, {} regions in the part, caches {}; counter {} Hz by CNTFRQ, tick {} Hz",
        board::NAME,
        mpu_region_count(),
        if cache_enabled() == 0 { "off" } else { "on" },
        frequency(),
        crate::tick_hz()
    );
    stage::mark(Stage::Tick);
}

/// Set by the first report.
static REPORTING: AtomicBool = AtomicBool::new(false);

/// Whether this is the first report; later ones only end the image.
fn first_report() -> bool {
    aarch32_cpu::asm::irq_disable();
    let first = !REPORTING.load(Ordering::Relaxed);
    REPORTING.store(true, Ordering::Relaxed);
    first
}

/// Ends the image because the kernel found the thread's stack overflowed: prints `stack overflow: thread NAME` and exits
/// with status 104. Callable from every context.
pub fn stack_overflow(thread: &str) -> ! {
    if first_report() {
        println!("\nstack overflow: thread {}", thread);
    }
    exit(exit::STACK)
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    use core::fmt::Write as _;
    if !first_report() {
        exit(exit::DOUBLE_FAULT);
    }
    // Writing to the console cannot fail.
    let _ = write!(crate::console(), "\n{info}\n");
    println!("thread: {}", crate::kernel::thread_name());
    exit(exit::PANIC)
}
