//! The console: text over the board's UART.
//!
//! One line printed by a thread can be cut by one printed from a thread or interrupt that preempts
//! it; there is no lock, so that faults and interrupts can always print.

use core::convert::Infallible;
use core::sync::atomic::{AtomicU32, Ordering};

static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// The board's UART as a text sink. Copies write to the same UART. A byte that the UART does not take
/// within the limit is dropped and counted ([`Console::lost`]), so writing always ends and never fails.
#[derive(Clone, Copy, Debug)]
pub struct Console(());

/// The console. Callable from every context, also before `main`.
#[must_use]
pub const fn console() -> Console {
    Console(())
}

impl Console {
    /// Sends the text; a line feed becomes carriage return and line feed.
    pub fn write(self, text: &str) {
        WRITTEN.store(WRITTEN.load(Ordering::Relaxed).wrapping_add(text.len() as u32), Ordering::Relaxed);
        for byte in text.bytes() {
            if byte == b'\n' {
                crate::board::uart::send(b'\r');
            }
            crate::board::uart::send(byte);
        }
    }

    /// Bytes of text written since reset, dropped ones included, line feeds counted once; wraps. A measured stretch
    /// during which this moved has waited for the UART: 87 us for each byte at 115200 baud.
    #[inline(always)]
    #[must_use]
    pub fn written(self) -> u32 {
        WRITTEN.load(Ordering::Relaxed)
    }

    /// Bytes dropped since reset because the UART stayed full.
    #[must_use]
    pub fn lost(self) -> u32 {
        crate::board::uart::lost()
    }
}

impl ufmt::uWrite for Console {
    type Error = Infallible;

    fn write_str(&mut self, text: &str) -> Result<(), Infallible> {
        self.write(text);
        Ok(())
    }
}

impl core::fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.write(text);
        Ok(())
    }
}

/// Prints to the console, in `ufmt`'s syntax.
#[macro_export]
macro_rules! print {
    ($($arg:tt)*) => {{
        #[allow(unused_imports)]
        use $crate::ufmt;
        let Ok(()) = ufmt::uwrite!(&mut $crate::console(), $($arg)*);
    }};
}

/// Prints a line to the console, in `ufmt`'s syntax.
#[macro_export]
macro_rules! println {
    () => { $crate::console().write("\n") };
    ($($arg:tt)*) => {{
        #[allow(unused_imports)]
        use $crate::ufmt;
        let Ok(()) = ufmt::uwriteln!(&mut $crate::console(), $($arg)*);
    }};
}
