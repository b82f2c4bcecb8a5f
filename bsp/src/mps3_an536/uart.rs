//! The CMSDK UART 0 of CPU 0, where QEMU's `-nographic` terminal listens.
//!
//! Registers: Cortex-M System Design Kit TRM (DDI 0479), chapter 4.3; address and clock: AN536
//! application note and QEMU's `mps3-an536`.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const BASE: usize = super::memory::UART0.range.start;
const DATA: *mut u32 = BASE as *mut u32;
const STATE: *const u32 = (BASE + 0x04) as *const u32;
const CTRL: *mut u32 = (BASE + 0x08) as *mut u32;
const BAUDDIV: *mut u32 = (BASE + 0x10) as *mut u32;

const TX_FULL: u32 = 1;
const TX_ENABLE: u32 = 1;
/// 50 MHz / 115200, rounded: 115207 baud, +0.006 %.
const DIVIDER: u32 = 434;

/// Polls per byte before it is dropped: a byte takes 87 us on the wire, and a blocked terminal under
/// QEMU gets about half a second.
const PATIENT: u32 = 50_000_000;
/// Polls per byte once the line has proved dead, so that a whole report still ends soon.
const HASTY: u32 = 1_000;

static READY: AtomicBool = AtomicBool::new(false);
static STUCK: AtomicBool = AtomicBool::new(false);
static LOST: AtomicU32 = AtomicU32::new(0);

/// Sets rate and transmitter.
///
/// # Errors
/// None.
pub fn init(_: crate::mpu::MpuOn) -> Result<(), impl ufmt::uDisplay> {
    enable();
    Ok::<_, crate::mpu::MpuError>(())
}

/// Again is harmless: the registers take the same values.
fn enable() {
    // SAFETY: both registers exist at these addresses on this board, and no other code of the image
    // names them. With the MPU off the architecture's default map makes the range Device; with it on
    // the board's table does.
    unsafe {
        BAUDDIV.write_volatile(DIVIDER);
        CTRL.write_volatile(TX_ENABLE);
    }
    READY.store(true, Ordering::Relaxed);
}

fn has_room() -> bool {
    let limit = if STUCK.load(Ordering::Relaxed) { HASTY } else { PATIENT };
    for _ in 0..limit {
        // SAFETY: as in `enable`; reading STATE has no side effect.
        if unsafe { STATE.read_volatile() } & TX_FULL == 0 {
            STUCK.store(false, Ordering::Relaxed);
            return true;
        }
    }
    STUCK.store(true, Ordering::Relaxed);
    false
}

/// Sends one byte, or drops and counts it when the transmitter stays full beyond the limit.
pub fn send(byte: u8) {
    if !READY.load(Ordering::Relaxed) {
        enable();
    }
    if has_room() {
        // SAFETY: as in `enable`; the transmitter has room, so the byte is neither lost nor overruns.
        unsafe { DATA.write_volatile(u32::from(byte)) };
    } else {
        LOST.store(LOST.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

/// Waits, within the byte limit, until the last byte has left the buffer.
pub fn drain() {
    if READY.load(Ordering::Relaxed) {
        has_room();
    }
}

/// Bytes dropped so far.
pub fn lost() -> u32 {
    LOST.load(Ordering::Relaxed)
}
