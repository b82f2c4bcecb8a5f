//! The order of the start-up, apart from what its steps do.
//!
//! On silicon an access to a device before the MPU describes its window, or to the interrupt controller while the MPU is
//! off, stalls the core without an abort (eclipse-threadx/threadx #606). [`bring_up`] is the one place that has the order;
//! every step after the first takes the proof that the first one gives.

use crate::stage::Stage;

/// The steps. Each ends the image itself if it fails.
pub trait Machine {
    /// That the memory map is in force.
    type Proof: Copy;
    /// MPU and caches on.
    fn protect(&mut self) -> Self::Proof;
    /// The console up.
    fn console(&mut self, proof: Self::Proof);
    /// Memories that need it written once.
    fn memories(&mut self, proof: Self::Proof);
    /// The interrupt controller set up, every source off.
    fn interrupts(&mut self, proof: Self::Proof);
    /// Notes how far it got.
    fn reached(&mut self, stage: Stage);
}

/// Everything between the initialised statics and what needs no device.
pub fn bring_up(machine: &mut impl Machine) {
    machine.reached(Stage::Statics);
    let proof = machine.protect();
    machine.reached(Stage::Mpu);
    machine.console(proof);
    machine.reached(Stage::Console);
    machine.memories(proof);
    machine.reached(Stage::Memories);
    machine.interrupts(proof);
    machine.reached(Stage::Interrupts);
}

#[cfg(all(test, feature = "s32z280"))]
mod tests {
    use super::*;
    use crate::board::{TCMS, memory};
    use crate::bus::Bus;
    use crate::gic::Gic;
    use crate::linflexd::Linflexd;
    use crate::memory::Attributes;
    use crate::mpu::{self, Registers};
    use crate::tcm;
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    /// A board on whose bus everything stalls that the real one stalls on: here it panics.
    struct Board {
        regions: RefCell<Vec<(u32, u32)>>,
        on: Cell<bool>,
        words: RefCell<BTreeMap<u32, u32>>,
        stages: Vec<Stage>,
        accesses: Cell<u32>,
    }

    impl Board {
        fn new(regions: usize) -> Self {
            Self {
                regions: RefCell::new(vec![(0, 0); regions]),
                on: Cell::new(false),
                words: RefCell::default(),
                stages: Vec::new(),
                accesses: Cell::new(0),
            }
        }

        /// The attributes of the one region that holds the address.
        fn attribute(&self, address: u32) -> u32 {
            assert!(self.on.get(), "{address:#x} with the MPU off: the core stalls");
            let regions = self.regions.borrow();
            let holds =
                |&&(prbar, prlar): &&(u32, u32)| prlar & 1 == 1 && (prbar & !0x3f..=prlar | 0x3f).contains(&address);
            let all: Vec<_> = regions.iter().filter(holds).collect();
            assert_eq!(all.len(), 1, "{address:#x} is in {} regions", all.len());
            mpu::MAIR0 >> (8 * (all[0].1 >> 1 & 7)) & 0xff
        }

        fn device(&self, address: u32) {
            assert_eq!(self.attribute(address), 0, "{address:#x} is not Device: the core stalls");
            self.accesses.set(self.accesses.get() + 1);
        }
    }

    impl Registers for &Board {
        fn present(&self) -> usize {
            self.regions.borrow().len()
        }
        fn write(&mut self, index: usize, prbar: u32, prlar: u32) {
            assert!(!self.on.get(), "a region is changed under its own feet");
            self.regions.borrow_mut()[index] = (prbar, prlar);
        }
        fn read(&mut self, index: usize) -> (u32, u32) {
            self.regions.borrow()[index]
        }
    }

    const UART: u32 = memory::UART0.range.start as u32;
    const GIC: u32 = memory::GIC.range.start as u32;

    impl Bus for &Board {
        fn read(&self, address: u32) -> u32 {
            self.device(address);
            let stored = self.words.borrow().get(&address).copied().unwrap_or(0);
            match address.wrapping_sub(UART) {
                // LINSR: in initialisation mode as long as LINCR1 asks for it.
                0x08 => (2 - (self.words.borrow().get(&UART).copied().unwrap_or(0) & 1)) << 12,
                // UARTSR: no flag.
                0x14 => 0,
                _ if address == GIC + 0xffe8 => 0x3b,
                _ if address == GIC + 4 => 3,
                _ => stored,
            }
        }
        fn write(&self, address: u32, value: u32) {
            self.device(address);
            self.words.borrow_mut().insert(address, value);
        }
    }

    impl tcm::Hardware for &Board {
        fn region(&self, index: usize) -> u32 {
            TCMS[index].region()
        }
        fn store_word(&self, address: u32, value: u32) {
            assert_eq!(self.attribute(address), 0x44, "a TCM is non-cacheable");
            self.words.borrow_mut().insert(address, value);
        }
        fn store_double(&self, address: u32, value: u64) {
            self.store_word(address, value as u32);
            self.store_word(address + 4, (value >> 32) as u32);
        }
        fn load_word(&self, address: u32) -> u32 {
            self.words.borrow()[&address]
        }
    }

    impl Machine for Board {
        type Proof = ();
        fn protect(&mut self) {
            mpu::program(&mut &*self, &mpu::TABLE).expect("MPU");
            self.on.set(true);
        }
        fn console(&mut self, (): ()) {
            Linflexd::new(&*self, UART).init(40_000_000, 115_200).expect("console");
        }
        fn memories(&mut self, (): ()) {
            for tcm in &TCMS {
                tcm::preload(&&*self, tcm).expect("TCM");
            }
        }
        fn interrupts(&mut self, (): ()) {
            Gic::new(&*self, GIC, GIC + 0x10_0000).init(0xa0).expect("GIC");
        }
        fn reached(&mut self, stage: Stage) {
            self.stages.push(stage);
        }
    }

    #[test]
    fn p08_no_step_touches_what_is_not_there_yet() {
        for regions in [16, 20] {
            let mut board = Board::new(regions);
            bring_up(&mut board);
            assert_eq!(board.stages, [Stage::Statics, Stage::Mpu, Stage::Console, Stage::Memories, Stage::Interrupts]);
            assert!(board.accesses.get() > 50, "{} accesses to devices", board.accesses.get());
        }
    }

    #[test]
    #[should_panic(expected = "with the MPU off")]
    fn p08_the_model_stalls_on_an_early_interrupt_controller() {
        Board::new(20).interrupts(());
    }

    #[test]
    #[should_panic(expected = "is not Device")]
    fn p08_the_model_stalls_on_a_device_as_normal_memory() {
        let mut board = Board::new(20);
        board.protect();
        for region in board.regions.borrow_mut().iter_mut().filter(|r| r.0 & !0x3f == GIC) {
            region.1 &= !0xe;
        }
        board.interrupts(());
    }

    /// Devices are the only rows that the entry of a fault handler may meet before the MPU is on.
    #[test]
    fn p08_every_device_row_is_device() {
        for address in [UART, GIC, memory::LLPP.range.start as u32] {
            let row = crate::memory::MAP.iter().find(|row| row.range.start == address as usize).expect("a row");
            assert_eq!(row.attributes, Attributes::Device);
        }
    }
}
