//! The console: LINFlexD_9, and the boot record's text while it is not up.
//!
//! The USB connector's UART is LINFlexD_9 (jumper J248); LINFlex_0 is another. Its clock, P5_LIN_BAUD_CLK, is 40 MHz as
//! the board's boot code leaves it.

use crate::bus::Mmio;
use crate::linflexd::{Linflexd, UartError};
use crate::mpu::MpuOn;
use crate::stage;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const BASE: u32 = super::memory::UART0.range.start as u32;
const CLOCK_HZ: u32 = 40_000_000;
const BAUD: u32 = 115_200;

/// Polls per byte before it counts as lost: a byte takes 87 us on the wire, a poll some ten cycles.
const PATIENT: u32 = 1_000_000;
/// Polls per byte once the line has proved dead, so that a whole report still ends soon: more than the two bytes'
/// time that a line needs which is only slow.
const HASTY: u32 = 50_000;

static READY: AtomicBool = AtomicBool::new(false);
static STUCK: AtomicBool = AtomicBool::new(false);
static LOST: AtomicU32 = AtomicU32::new(0);

/// Sets the UART up. The proof is what keeps every access behind the MPU: before that the window's memory type is not
/// Device, and an access may stall the core without an abort.
///
/// # Errors
/// [`UartError`]; text then goes to the boot record.
pub fn init(proof: MpuOn) -> Result<(), UartError> {
    Linflexd::new(Mmio::new(proof), BASE).init(CLOCK_HZ, BAUD)?;
    READY.store(true, Ordering::Relaxed);
    Ok(())
}

/// Sends one byte. Without a console it goes to the boot record; a byte that the UART does not take within the limit is
/// counted as lost.
pub fn send(byte: u8) {
    let proof = if READY.load(Ordering::Relaxed) { MpuOn::now() } else { None };
    let Some(proof) = proof else {
        return stage::text(byte);
    };
    let polls = if STUCK.load(Ordering::Relaxed) { HASTY } else { PATIENT };
    let sent = Linflexd::new(Mmio::new(proof), BASE).send(byte, polls);
    STUCK.store(!sent, Ordering::Relaxed);
    if !sent {
        LOST.store(LOST.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

/// Nothing to wait for: a byte is through when `send` returns.
pub fn drain() {}

/// Bytes lost so far.
pub fn lost() -> u32 {
    LOST.load(Ordering::Relaxed)
}
