//! Driver of NXP's LINFlexD in UART mode: 8 data bits, no parity, one stop bit, polled.
//!
//! Rules that the block follows silently (eclipse-threadx/threadx #606, #671, measured on an S32Z280): outside
//! initialisation mode a write to UARTCR sets bits but clears none, so that a parity bit of the boot ROM would stay; the
//! transmit flag is set when a byte is through, and is cleared by writing 1, which takes effect late, so the next byte is
//! written only when the flag reads 0.

use crate::bus::Bus;

const LINCR1: u32 = 0x00;
const LINSR: u32 = 0x08;
const UARTCR: u32 = 0x10;
const UARTSR: u32 = 0x14;
const LINFBRR: u32 = 0x24;
const LINIBRR: u32 = 0x28;
const BDRL: u32 = 0x38;

const LINCR1_INIT: u32 = 1 << 0;
/// LINSR\[15:12\]: 1 is initialisation mode.
const LINS_INIT: u32 = 1;
const UARTCR_UART: u32 = 1 << 0;
const UARTCR_WL0: u32 = 1 << 1;
const UARTCR_TXEN: u32 = 1 << 4;
const UARTCR_RXEN: u32 = 1 << 5;
const UARTSR_DTF: u32 = 1 << 1;

/// UARTCR for 8N1: UART mode, 8 data bits, no parity, transmitter and receiver on.
const UARTCR_8N1: u32 = UARTCR_UART | UARTCR_WL0 | UARTCR_TXEN | UARTCR_RXEN;

/// Polls of a status before it counts as stuck.
const POLLS: u32 = 1_000_000;

/// Why there is no console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UartError {
    /// Initialisation mode was not entered within the limit; LINSR as last read.
    NoInitMode(u32),
    /// Initialisation mode was not left within the limit; LINSR as last read.
    StaysInInitMode(u32),
    /// UARTCR reads back something else.
    ReadBack(u32),
    /// The transmit flag does not go away within the limit.
    FlagStuck,
}

impl ufmt::uDisplay for UartError {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        match *self {
            Self::NoInitMode(linsr) => {
                ufmt::uwrite!(f, "LINFlexD does not enter initialisation mode (LINSR {:#x}): is it clocked?", linsr)
            }
            Self::StaysInInitMode(linsr) => {
                ufmt::uwrite!(f, "LINFlexD stays in initialisation mode (LINSR {:#x})", linsr)
            }
            Self::ReadBack(uartcr) => {
                ufmt::uwrite!(f, "LINFlexD's UARTCR reads back {:#x} instead of {:#x}", uartcr, UARTCR_8N1)
            }
            Self::FlagStuck => ufmt::uwrite!(f, "LINFlexD's transmit flag cannot be cleared"),
        }
    }
}

/// Integer and fractional divider for this rate from a clock of `hz`: a bit is 16 * (LINIBRR + LINFBRR / 16) clocks. To
/// the nearest sixteenth.
#[must_use]
pub const fn divider(hz: u32, baud: u32) -> (u32, u32) {
    let sixteenths = (hz + baud / 2) / baud;
    (sixteenths / 16, sixteenths % 16)
}

/// One LINFlexD.
#[derive(Clone, Copy, Debug)]
pub struct Linflexd<B> {
    bus: B,
    base: u32,
}

impl<B: Bus> Linflexd<B> {
    /// The block at this address; touches no register.
    pub const fn new(bus: B, base: u32) -> Self {
        Self { bus, base }
    }

    fn read(&self, register: u32) -> u32 {
        self.bus.read(self.base + register)
    }

    fn write(&self, register: u32, value: u32) {
        self.bus.write(self.base + register, value);
    }

    fn state(&self) -> u32 {
        (self.read(LINSR) >> 12) & 0xf
    }

    /// Sets 8N1 at `baud` from a clock of `hz`, whatever was set before.
    ///
    /// # Errors
    /// [`UartError`]; each wait ends after a fixed number of polls.
    pub fn init(&self, hz: u32, baud: u32) -> Result<(), UartError> {
        // Awake, and nothing of LIN mode.
        self.write(LINCR1, LINCR1_INIT);
        if !(0..POLLS).any(|_| self.state() == LINS_INIT) {
            return Err(UartError::NoInitMode(self.read(LINSR)));
        }
        // The other bits of UARTCR can only be written once UART mode is on.
        self.write(UARTCR, UARTCR_UART);
        self.write(UARTCR, UARTCR_8N1);
        let (integer, fraction) = divider(hz, baud);
        self.write(LINFBRR, fraction);
        self.write(LINIBRR, integer);
        // The settings; what lies above them are buffer lengths and the like.
        let uartcr = self.read(UARTCR) & 0xff;
        self.write(LINCR1, 0);
        if uartcr != UARTCR_8N1 {
            return Err(UartError::ReadBack(uartcr));
        }
        if !(0..POLLS).any(|_| self.state() != LINS_INIT) {
            return Err(UartError::StaysInInitMode(self.read(LINSR)));
        }
        // A flag that the boot ROM left would pass for the first byte's.
        self.write(UARTSR, UARTSR_DTF);
        if (0..POLLS).any(|_| self.read(UARTSR) & UARTSR_DTF == 0) { Ok(()) } else { Err(UartError::FlagStuck) }
    }

    /// Sends one byte: write, wait for the flag, clear it, wait until it is clear. False if one of the waits took more
    /// than `polls` polls; the byte may then be lost.
    pub fn send(&self, byte: u8, polls: u32) -> bool {
        self.write(BDRL, u32::from(byte));
        if !(0..polls).any(|_| self.read(UARTSR) & UARTSR_DTF != 0) {
            return false;
        }
        self.write(UARTSR, UARTSR_DTF);
        (0..polls).any(|_| self.read(UARTSR) & UARTSR_DTF == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    const BASE: u32 = 0x4298_0000;
    const LINCR1_SLEEP: u32 = 1 << 1;
    /// Bits of UARTCR above the settings that read as the block likes.
    const LENGTHS: u32 = 0x2400;

    /// What the block does, as the module's documentation has it.
    struct Block {
        lincr1: u32,
        uartcr: u32,
        brr: (u32, u32),
        dtf: bool,
        /// Reads of UARTSR until a byte is through, and until a clearing takes effect.
        busy: u32,
        clearing: u32,
        sent: Vec<(u8, u32)>,
        lost: u32,
        clocked: bool,
        deaf: bool,
    }

    impl Block {
        /// As the boot ROM leaves it: 8E1, receiver on, transmitter off, asleep, a flag left over.
        fn after_rom() -> RefCell<Self> {
            RefCell::new(Self {
                lincr1: 0x82,
                uartcr: UARTCR_UART | UARTCR_WL0 | 1 << 2 | UARTCR_RXEN,
                brr: (0, 0),
                dtf: true,
                busy: 0,
                clearing: 0,
                sent: Vec::new(),
                lost: 0,
                clocked: true,
                deaf: false,
            })
        }
        fn in_init_mode(&self) -> bool {
            self.clocked && self.lincr1 & LINCR1_INIT != 0 && self.lincr1 & LINCR1_SLEEP == 0
        }
    }

    impl Bus for &RefCell<Block> {
        fn read(&self, address: u32) -> u32 {
            let mut block = self.borrow_mut();
            match address - BASE {
                LINCR1 => block.lincr1,
                LINSR if !block.clocked => 0,
                LINSR if block.in_init_mode() => 1 << 12,
                LINSR if block.lincr1 & LINCR1_SLEEP != 0 => 0,
                LINSR => 2 << 12,
                UARTCR => block.uartcr | LENGTHS,
                UARTSR => {
                    if block.busy > 0 {
                        block.busy -= 1;
                        if block.busy == 0 {
                            block.dtf = true;
                        }
                    }
                    if block.clearing > 0 {
                        block.clearing -= 1;
                        if block.clearing == 0 {
                            block.dtf = false;
                        }
                    }
                    u32::from(block.dtf) << 1
                }
                LINIBRR => block.brr.0,
                LINFBRR => block.brr.1,
                other => panic!("read of {other:#x}"),
            }
        }
        fn write(&self, address: u32, value: u32) {
            let mut block = self.borrow_mut();
            let init = block.in_init_mode();
            match address - BASE {
                LINCR1 => block.lincr1 = value,
                UARTCR if init => {
                    // Until the UART bit is set the others do not take.
                    block.uartcr = if block.uartcr & UARTCR_UART == 0 { value & UARTCR_UART } else { value };
                }
                // The trap: set bits stick, cleared bits stay.
                UARTCR => block.uartcr |= value,
                UARTSR if value & UARTSR_DTF != 0 => block.clearing = 3,
                UARTSR => {}
                LINIBRR if init => block.brr.0 = value,
                LINFBRR if init => block.brr.1 = value,
                LINIBRR | LINFBRR => {}
                // A byte that is written while the last one is under way, or its flag not clear yet, is lost.
                BDRL if init || block.uartcr & UARTCR_TXEN == 0 || block.busy > 0 || block.dtf || block.deaf => {
                    block.lost += 1;
                }
                BDRL => {
                    let uartcr = block.uartcr;
                    block.sent.push((value as u8, uartcr));
                    block.busy = 5;
                }
                other => panic!("write of {value:#x} to {other:#x}"),
            }
        }
    }

    #[test]
    fn p09_boot_rom_settings_do_not_survive() {
        let block = Block::after_rom();
        assert_eq!(Linflexd::new(&block, BASE).init(40_000_000, 115_200), Ok(()));
        let block = block.into_inner();
        assert_eq!(block.uartcr, 0x33, "UART, 8 bits, no parity, both directions");
        assert_eq!(block.brr, (21, 11));
        assert_eq!(block.lincr1 & (LINCR1_INIT | LINCR1_SLEEP), 0);
    }

    /// The trap of the report, on the same model: what a driver that does not enter initialisation mode gets.
    #[test]
    fn p09_the_model_keeps_parity_outside_initialisation_mode() {
        let block = Block::after_rom();
        (&block).write(BASE + UARTCR, UARTCR_8N1);
        assert_eq!((&block).read(BASE + UARTCR) & 0xff, UARTCR_8N1 | 1 << 2, "8E1");
    }

    #[test]
    fn p09_no_byte_is_lost() {
        let block = Block::after_rom();
        let uart = Linflexd::new(&block, BASE);
        uart.init(40_000_000, 115_200).expect("init");
        for _ in 0..1000 {
            for &byte in b"ab\r\n" {
                assert!(uart.send(byte, 100));
            }
        }
        let block = block.into_inner();
        assert_eq!((block.sent.len(), block.lost), (4000, 0));
        assert!(block.sent.chunks(4).all(|line| line.iter().map(|b| b.0).eq(*b"ab\r\n")));
        assert!(block.sent.iter().all(|b| b.1 == UARTCR_8N1));
    }

    /// The first byte directly after `init` must not meet the flag that the boot ROM left.
    #[test]
    fn p09_the_first_byte_waits_for_nothing_old() {
        let block = Block::after_rom();
        let uart = Linflexd::new(&block, BASE);
        uart.init(40_000_000, 115_200).expect("init");
        assert!(uart.send(b'x', 100));
        assert_eq!(block.borrow().lost, 0);
    }

    #[test]
    fn p09_every_wait_ends() {
        let block = Block::after_rom();
        block.borrow_mut().clocked = false;
        assert_eq!(Linflexd::new(&block, BASE).init(40_000_000, 115_200), Err(UartError::NoInitMode(0)));
        let block = Block::after_rom();
        let uart = Linflexd::new(&block, BASE);
        uart.init(40_000_000, 115_200).expect("init");
        block.borrow_mut().deaf = true;
        assert!(!uart.send(b'x', 100));
    }

    #[test]
    fn dividers() {
        assert_eq!(divider(40_000_000, 115_200), (21, 11));
        let (integer, fraction) = divider(40_000_000, 115_200);
        let baud = 40e6 / f64::from(16 * integer + fraction);
        assert!((baud / 115_200.0 - 1.0).abs() < 0.001, "{baud}");
    }
}
