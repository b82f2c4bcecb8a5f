//! A second interrupt source: the virtual timer with a pseudo-random period, so that it is locked to
//! neither the kernel's tick nor the code that it interrupts.
//!
//! CNTVOFF is 0, so its counter is the board's ([`bsp::cycles`]). The interrupt is PPI 27 (Arm Base
//! System Architecture, and QEMU's `mps3-an536`).

use aarch32_cpu::register::{CntVct, CntvCtl, CntvCval};
use bsp::interrupt::{self, InterruptError, InterruptId};
use core::sync::atomic::{AtomicU32, Ordering};

use crate::random::Random;

const LINE: u32 = 27;

static RANDOM: Random = Random::new(0x2545_f491);
static LEAST: AtomicU32 = AtomicU32::new(0);
static SPREAD: AtomicU32 = AtomicU32::new(1);
static COUNT: AtomicU32 = AtomicU32::new(0);

/// How much slower everything is in a build without optimisation, so that the handlers still leave time
/// for what they interrupt.
const SLOWER: u32 = if cfg!(debug_assertions) { 10 } else { 1 };

/// Starts the noise: `handler` runs every `least` to `least + spread` counts (ten times as many in a debug
/// build) and must call [`again`].
///
/// # Errors
/// A priority that the board refuses.
pub fn start(priority: u8, least: u32, spread: u32, handler: fn()) -> Result<(), InterruptError> {
    // The board has 128 lines.
    let Some(line) = InterruptId::new(LINE) else { return Ok(()) };
    interrupt::register(line, priority, handler)?;
    LEAST.store(least * SLOWER, Ordering::Relaxed);
    SPREAD.store(spread.max(1) * SLOWER, Ordering::Relaxed);
    COUNT.store(0, Ordering::Relaxed);
    arm();
    let mut control = CntvCtl::new_with_raw_value(0);
    control.set_enable(true);
    CntvCtl::write(control);
    interrupt::enable(line);
    Ok(())
}

fn arm() {
    let delay = LEAST.load(Ordering::Relaxed) + RANDOM.below(SPREAD.load(Ordering::Relaxed));
    CntvCval::write(CntvCval(CntVct::read().0.wrapping_add(u64::from(delay))));
    aarch32_cpu::asm::isb();
}

/// Counts the interrupt and arms the timer for the next, which also drops its line. From its handler.
pub fn again() {
    COUNT.store(COUNT.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    arm();
}

/// Interrupts since [`start`].
#[must_use]
pub fn count() -> u32 {
    COUNT.load(Ordering::Relaxed)
}

/// Ends the noise.
pub fn stop() {
    CntvCtl::write(CntvCtl::new_with_raw_value(0));
    if let Some(line) = InterruptId::new(LINE) {
        interrupt::disable(line);
    }
}
