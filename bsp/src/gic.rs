//! The interrupt controller: GICv3 distributor and redistributor (Arm IHI 0069).
//!
//! Why not the `arm-gic` crate: its version 0.10 waits without a limit for GICR_WAKER and for the
//! write-pending bits, and a wait that never ends is a board that hangs silently (eclipse-threadx
//! #606, #611). The part that is needed is small, and going through [`Bus`] lets a host test run the
//! whole set-up against a modelled controller.
//!
//! Every source is put into Group 1, which signals IRQ; Group 0 and with it FIQ stay off.

use crate::bus::Bus;

/// Why the controller cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GicError {
    /// GICD_PIDR2 names another architecture version.
    NotGicV3(u32),
    /// The redistributor did not wake the core's interface within the limit.
    Asleep,
    /// A write to the distributor or redistributor stayed pending beyond the limit.
    WritePending,
}

impl ufmt::uDisplay for GicError {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        match *self {
            Self::NotGicV3(version) => {
                ufmt::uwrite!(f, "the interrupt controller is version {}, not 3: wrong board or base address", version)
            }
            Self::Asleep => ufmt::uwrite!(f, "the interrupt redistributor stays asleep: it has no clock or power"),
            Self::WritePending => ufmt::uwrite!(f, "a write to the interrupt controller never completes"),
        }
    }
}

/// Polls of a status bit before it counts as stuck; each takes a bus access.
const POLLS: u32 = 100_000;

const GICD_CTLR: u32 = 0x0000;
const GICD_TYPER: u32 = 0x0004;
const GICD_IROUTER: u32 = 0x6000;
const GICD_PIDR2: u32 = 0xffe8;
const GICR_CTLR: u32 = 0x0000;
const GICR_WAKER: u32 = 0x0014;
/// The SGI and PPI frame follows the redistributor's own.
const SGI_FRAME: u32 = 0x1_0000;
const IGROUPR: u32 = 0x0080;
const ISENABLER: u32 = 0x0100;
const ICENABLER: u32 = 0x0180;
const ICPENDR: u32 = 0x0280;
const IPRIORITYR: u32 = 0x0400;

const CTLR_GROUP1: u32 = 1 << 1;
const CTLR_ARE: u32 = 1 << 4;
const GICD_RWP: u32 = 1 << 31;
const GICR_RWP: u32 = 1 << 3;
const WAKER_PROCESSOR_SLEEP: u32 = 1 << 1;
const WAKER_CHILDREN_ASLEEP: u32 = 1 << 2;

/// One core's view of the controller.
#[derive(Clone, Copy, Debug)]
pub struct Gic<B> {
    bus: B,
    distributor: u32,
    redistributor: u32,
}

impl<B: Bus> Gic<B> {
    /// A controller at these base addresses; touches no register.
    pub const fn new(bus: B, distributor: u32, redistributor: u32) -> Self {
        Self { bus, distributor, redistributor }
    }

    fn until_clear(&self, address: u32, bit: u32, error: GicError) -> Result<(), GicError> {
        for _ in 0..POLLS {
            if self.bus.read(address) & bit == 0 {
                return Ok(());
            }
        }
        Err(error)
    }

    fn distributor_settled(&self) -> Result<(), GicError> {
        self.until_clear(self.distributor + GICD_CTLR, GICD_RWP, GicError::WritePending)
    }

    fn redistributor_settled(&self) -> Result<(), GicError> {
        self.until_clear(self.redistributor + GICR_CTLR, GICR_RWP, GicError::WritePending)
    }

    /// Wakes the redistributor and leaves every source in Group 1, disabled, not pending, at
    /// `priority`. Returns the number of interrupt lines, private ones included.
    ///
    /// # Errors
    /// See [`GicError`]; each wait ends after a fixed number of polls.
    pub fn init(&self, priority: u8) -> Result<u32, GicError> {
        let version = (self.bus.read(self.distributor + GICD_PIDR2) >> 4) & 0xf;
        if version != 3 {
            return Err(GicError::NotGicV3(version));
        }
        let lines = 32 * ((self.bus.read(self.distributor + GICD_TYPER) & 0x1f) + 1);
        let priorities = u32::from(priority) * 0x0101_0101;

        // Groups off while they are assigned; affinity routing may only change then.
        self.bus.write(self.distributor + GICD_CTLR, 0);
        self.distributor_settled()?;
        self.bus.write(self.distributor + GICD_CTLR, CTLR_ARE);
        self.distributor_settled()?;
        for word in 1..lines / 32 {
            self.bus.write(self.distributor + ICENABLER + 4 * word, u32::MAX);
            self.bus.write(self.distributor + ICPENDR + 4 * word, u32::MAX);
            self.bus.write(self.distributor + IGROUPR + 4 * word, u32::MAX);
        }
        for word in 8..lines / 4 {
            self.bus.write(self.distributor + IPRIORITYR + 4 * word, priorities);
        }
        self.distributor_settled()?;
        self.bus.write(self.distributor + GICD_CTLR, CTLR_ARE | CTLR_GROUP1);
        self.distributor_settled()?;

        let waker = self.redistributor + GICR_WAKER;
        self.bus.write(waker, self.bus.read(waker) & !WAKER_PROCESSOR_SLEEP);
        self.until_clear(waker, WAKER_CHILDREN_ASLEEP, GicError::Asleep)?;
        let frame = self.redistributor + SGI_FRAME;
        self.bus.write(frame + ICENABLER, u32::MAX);
        self.redistributor_settled()?;
        self.bus.write(frame + ICPENDR, u32::MAX);
        self.bus.write(frame + IGROUPR, u32::MAX);
        for word in 0..8 {
            self.bus.write(frame + IPRIORITYR + 4 * word, priorities);
        }
        Ok(lines)
    }

    /// The frame that holds the registers of this line: the core's own for SGIs and PPIs.
    const fn frame(&self, id: u32) -> u32 {
        if id < 32 { self.redistributor + SGI_FRAME } else { self.distributor }
    }

    /// Sets the priority of one line; read-modify-write of its word, so with interrupts masked.
    pub fn set_priority(&self, id: u32, priority: u8) {
        let address = self.frame(id) + IPRIORITYR + (id & !3);
        let shift = 8 * (id & 3);
        let word = self.bus.read(address) & !(0xff << shift);
        self.bus.write(address, word | (u32::from(priority) << shift));
    }

    /// Routes a shared line to the core with this affinity (MPIDR); nothing to do for private ones.
    pub fn route(&self, id: u32, mpidr: u32) {
        if id >= 32 {
            self.bus.write(self.distributor + GICD_IROUTER + 8 * id, mpidr & 0x00ff_ffff);
            self.bus.write(self.distributor + GICD_IROUTER + 8 * id + 4, 0);
        }
    }

    /// Lets the line signal.
    pub fn enable(&self, id: u32) {
        self.bus.write(self.frame(id) + ISENABLER + 4 * (id / 32), 1 << (id % 32));
    }

    /// Stops the line from signalling. What was already signalled may still be acknowledged.
    pub fn disable(&self, id: u32) {
        self.bus.write(self.frame(id) + ICENABLER + 4 * (id / 32), 1 << (id % 32));
    }
}

/// Low word of ICC_SGI1R for software interrupt `sgi` to the core with this MPIDR (the high word
/// holds affinity levels 2 and 3, which a Cortex-R52 cluster leaves 0).
#[must_use]
pub const fn sgi_request(sgi: u8, mpidr: u32) -> u32 {
    ((sgi as u32 & 0xf) << 24) | (((mpidr >> 8) & 0xff) << 16) | (1 << (mpidr & 0xf))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    const GICD: u32 = 0xf000_0000;
    const GICR: u32 = 0xf010_0000;
    const LINES: u32 = 128;

    /// A controller that obeys the rules of IHI 0069 and panics where an access breaks one.
    #[derive(Default)]
    struct Model {
        words: RefCell<BTreeMap<u32, u32>>,
        polls: RefCell<u32>,
        asleep_for_ever: bool,
        pending_for_ever: bool,
        version: u32,
    }

    impl Model {
        fn good() -> Self {
            let model = Self { version: 3, ..Self::default() };
            model.words.borrow_mut().insert(GICR + GICR_WAKER, WAKER_PROCESSOR_SLEEP | WAKER_CHILDREN_ASLEEP);
            model
        }
        fn word(&self, address: u32) -> u32 {
            self.words.borrow().get(&address).copied().unwrap_or(0)
        }
    }

    impl Bus for &Model {
        fn read(&self, address: u32) -> u32 {
            *self.polls.borrow_mut() += 1;
            match address {
                a if a == GICD + GICD_PIDR2 => self.version << 4,
                a if a == GICD + GICD_TYPER => LINES / 32 - 1,
                a if a == GICD + GICD_CTLR && self.pending_for_ever => GICD_RWP,
                a => self.word(a),
            }
        }
        fn write(&self, address: u32, value: u32) {
            let mut value = value;
            if address == GICD + GICD_CTLR {
                let old = self.word(address);
                assert!((old ^ value) & CTLR_ARE == 0 || old & 3 == 0, "ARE changed with a group enabled");
                assert_eq!(value & 1, 0, "Group 0 must stay off");
            } else if address == GICR + GICR_WAKER {
                if value & WAKER_PROCESSOR_SLEEP == 0 && !self.asleep_for_ever {
                    value &= !WAKER_CHILDREN_ASLEEP;
                }
            } else if address >= GICR + SGI_FRAME {
                assert_eq!(self.word(GICR + GICR_WAKER) & WAKER_CHILDREN_ASLEEP, 0, "SGI frame before wake-up");
            } else if address < GICD + GICD_IROUTER {
                let word = (address - GICD) & 0x7f;
                let per_line = (GICD + IGROUPR..GICD + IPRIORITYR).contains(&address);
                assert!(!per_line || word != 0, "private lines belong to the redistributor once ARE is set");
            }
            self.words.borrow_mut().insert(address, value);
        }
    }

    #[test]
    fn set_up_leaves_everything_in_group_1_and_disabled() {
        let model = Model::good();
        assert_eq!(Gic::new(&model, GICD, GICR).init(0xa0), Ok(LINES));
        assert_eq!(model.word(GICD + GICD_CTLR), CTLR_ARE | CTLR_GROUP1);
        assert_eq!(model.word(GICR + SGI_FRAME + IGROUPR), u32::MAX);
        for word in 1..LINES / 32 {
            assert_eq!(model.word(GICD + IGROUPR + 4 * word), u32::MAX);
            assert_eq!(model.word(GICD + ISENABLER + 4 * word), 0);
        }
        for id in 0..LINES {
            let frame = if id < 32 { GICR + SGI_FRAME } else { GICD };
            let word = model.word(frame + IPRIORITYR + (id & !3));
            assert_eq!((word >> (8 * (id & 3))) & 0xff, 0xa0, "line {id}");
        }
    }

    #[test]
    fn waits_end() {
        let model = Model { asleep_for_ever: true, ..Model::good() };
        assert_eq!(Gic::new(&model, GICD, GICR).init(0xa0), Err(GicError::Asleep));
        assert!(*model.polls.borrow() < 2 * POLLS);
        let model = Model { pending_for_ever: true, ..Model::good() };
        assert_eq!(Gic::new(&model, GICD, GICR).init(0xa0), Err(GicError::WritePending));
        let model = Model { version: 2, ..Model::good() };
        assert_eq!(Gic::new(&model, GICD, GICR).init(0xa0), Err(GicError::NotGicV3(2)));
    }

    #[test]
    fn one_line_is_changed_alone() {
        let model = Model::good();
        let gic = Gic::new(&model, GICD, GICR);
        gic.init(0xa0).expect("set up");
        gic.set_priority(30, 0x48);
        gic.set_priority(97, 0x10);
        assert_eq!(model.word(GICR + SGI_FRAME + IPRIORITYR + 28), 0xa048_a0a0);
        assert_eq!(model.word(GICD + IPRIORITYR + 96), 0xa0a0_10a0);
        gic.enable(30);
        gic.enable(97);
        assert_eq!(model.word(GICR + SGI_FRAME + ISENABLER), 1 << 30);
        assert_eq!(model.word(GICD + ISENABLER + 12), 1 << 1);
        gic.route(97, 0x8000_0001);
        assert_eq!(model.word(GICD + GICD_IROUTER + 8 * 97), 1);
        gic.disable(97);
        assert_eq!(model.word(GICD + ICENABLER + 12), 1 << 1);
    }

    #[test]
    fn software_interrupts_go_to_the_asking_core() {
        assert_eq!(sgi_request(5, 0x8000_0000), 0x0500_0001);
        assert_eq!(sgi_request(15, 0x8000_0101), 0x0f01_0002);
    }
}
