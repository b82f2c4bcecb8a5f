//! What the guest's own registers say about cacheability, put together with the memories of the part.
//!
//! SCTLR, MAIR and the MPU regions: Armv8-R AArch32 supplement (DDI 0568). IMP_CSCTLR: Cortex-R52 TRM,
//! cache segregation control register; it counts only until a cache is first enabled.

use crate::part::{Part, Port};

/// EL1 regions that a Cortex-R52 may have.
const REGIONS: usize = 24;
const SCTLR_M: u32 = 1;
const SCTLR_C: u32 = 1 << 2;
const SCTLR_I: u32 = 1 << 12;

/// A stretch of addresses that costs the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First address.
    pub first: u32,
    /// Last address.
    pub last: u32,
    /// Index into the part's memories; none where the part has no memory.
    pub memory: Option<usize>,
    /// The data cache holds it in these ways; 0 is uncached.
    pub data_ways: u32,
    /// The same for the instruction cache.
    pub instruction_ways: u32,
}

impl Stretch {
    /// Whether `address` lies in it.
    #[inline]
    pub const fn holds(&self, address: u32) -> bool {
        address >= self.first && address <= self.last
    }
}

/// A system register that the model follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// SCTLR.
    Sctlr,
    /// MAIR0 or MAIR1.
    Mair(u8),
    /// PRSELR.
    Prselr,
    /// PRBAR of the selected region.
    Prbar,
    /// PRLAR of the selected region.
    Prlar,
    /// PRBAR of this region, directly.
    PrbarOf(u8),
    /// PRLAR of this region, directly.
    PrlarOf(u8),
    /// IMP_CSCTLR.
    Csctlr,
    /// VBAR.
    Vbar,
    /// HVBAR.
    Hvbar,
}

impl Register {
    /// The register that `mcr p15, op1, _, crn, crm, op2` writes, if it is one of them.
    pub const fn of(op1: u32, crn: u32, crm: u32, op2: u32) -> Option<Self> {
        Some(match (op1, crn, crm, op2) {
            (0, 1, 0, 0) => Self::Sctlr,
            (0, 10, 2, n @ (0 | 1)) => Self::Mair(n as u8),
            (0, 6, 2, 1) => Self::Prselr,
            (0, 6, 3, 0) => Self::Prbar,
            (0, 6, 3, 1) => Self::Prlar,
            (0 | 1, 6, 8..=15, 0 | 4) if op1 * 16 + (crm - 8) * 2 + op2 / 4 < REGIONS as u32 => {
                Self::PrbarOf((op1 * 16 + (crm - 8) * 2 + op2 / 4) as u8)
            }
            (0 | 1, 6, 8..=15, 1 | 5) if op1 * 16 + (crm - 8) * 2 + op2 / 4 < REGIONS as u32 => {
                Self::PrlarOf((op1 * 16 + (crm - 8) * 2 + op2 / 4) as u8)
            }
            (1, 9, 1, 0) => Self::Csctlr,
            (0, 12, 0, 0) => Self::Vbar,
            (4, 12, 0, 0) => Self::Hvbar,
            _ => return None,
        })
    }
}

/// The registers, and the stretches that follow from them.
#[derive(Debug)]
pub struct System {
    sctlr: u32,
    mair: [u32; 2],
    selected: usize,
    regions: [(u32, u32); REGIONS],
    instruction_flash_ways: u32,
    data_flash_ways: u32,
    /// A cache was enabled once: IMP_CSCTLR is fixed.
    settled: bool,
    vectors: [Option<u32>; 2],
    warnings: Vec<String>,
    stretches: Vec<Stretch>,
    stale: bool,
}

impl System {
    /// The state at reset.
    pub fn new(part: &Part) -> Self {
        Self {
            sctlr: 0,
            mair: [0; 2],
            selected: 0,
            regions: [(0, 0); REGIONS],
            instruction_flash_ways: part.instruction.flash_ways,
            data_flash_ways: part.data.flash_ways,
            settled: false,
            vectors: [None; 2],
            warnings: Vec::new(),
            stretches: Vec::new(),
            stale: true,
        }
    }

    /// Takes a write of a register.
    pub fn write(&mut self, part: &Part, register: Register, value: u32) {
        self.stale = true;
        match register {
            Register::Sctlr => {
                self.sctlr = value;
                self.settled |= value & (SCTLR_C | SCTLR_I) != 0;
            }
            Register::Mair(n) => self.mair[n as usize & 1] = value,
            Register::Prselr => self.selected = value as usize & 31,
            Register::Prbar => self.region(self.selected, |r| r.0 = value),
            Register::Prlar => self.region(self.selected, |r| r.1 = value),
            Register::PrbarOf(n) => self.region(n.into(), |r| r.0 = value),
            Register::PrlarOf(n) => self.region(n.into(), |r| r.1 = value),
            Register::Csctlr if self.settled => {
                self.warnings
                    .push("IMP_CSCTLR was written after a cache was enabled: ignored, as the processor does".into());
            }
            Register::Csctlr => {
                self.instruction_flash_ways = (value >> 8 & 7).min(part.instruction.ways);
                self.data_flash_ways = (value & 7).min(part.data.ways);
            }
            Register::Vbar => self.vectors[0] = Some(value & !31),
            Register::Hvbar => self.vectors[1] = Some(value & !31),
        }
    }

    fn region(&mut self, n: usize, change: impl FnOnce(&mut (u32, u32))) {
        if let Some(region) = self.regions.get_mut(n) {
            change(region);
        }
    }

    /// Whether `address` is an exception vector.
    #[inline]
    pub fn is_vector(&self, address: u32) -> bool {
        let page = Some(address & !31);
        page == self.vectors[0] || page == self.vectors[1]
    }

    /// Whether the guest ever enabled a cache.
    pub const fn settled(&self) -> bool {
        self.settled
    }

    /// What the guest did that the model takes otherwise than the guest may think; emptied by the call.
    pub fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Whether stretches handed out before no longer hold; the call clears it.
    #[inline]
    pub fn changed(&mut self) -> bool {
        std::mem::take(&mut self.stale)
    }

    /// Works the stretches out again after [`changed`](Self::changed).
    pub fn rebuild(&mut self, part: &Part) {
        let mut starts = vec![0u32];
        let bounds = part
            .memories
            .iter()
            .map(|m| (m.base, m.last))
            .chain(self.regions.iter().filter(|r| r.1 & 1 == 1).map(|r| (r.0 & !63, r.1 | 63)));
        for (first, last) in bounds {
            starts.push(first);
            starts.extend(last.checked_add(1));
        }
        // The architecture's default map of instruction fetches with the MPU off ends here.
        starts.push(0x8000_0000);
        starts.sort_unstable();
        starts.dedup();
        self.stretches.clear();
        for (i, &first) in starts.iter().enumerate() {
            let last = starts.get(i + 1).map_or(u32::MAX, |next| next - 1);
            let memory = part.memories.iter().position(|m| (m.base..=m.last).contains(&first));
            let (data, instruction) = self.cacheable(first);
            let (data_flash, instruction_flash) = (self.data_flash_ways, self.instruction_flash_ways);
            let ways = |cacheable: bool, all: u32, flash: u32| match memory.map(|m| part.memories[m].port) {
                Some(Port::Flash) if cacheable => (1 << flash) - 1,
                Some(Port::Axim) if cacheable => ((1 << all) - 1) & !((1 << flash) - 1),
                _ => 0,
            };
            let data_ways = ways(data, part.data.ways, data_flash);
            let instruction_ways = ways(instruction, part.instruction.ways, instruction_flash);
            self.stretches.push(Stretch { first, last, memory, data_ways, instruction_ways });
        }
    }

    /// Whether data and instructions at `address` may be cached.
    fn cacheable(&self, address: u32) -> (bool, bool) {
        let (data_on, instruction_on) = (self.sctlr & SCTLR_C != 0, self.sctlr & SCTLR_I != 0);
        if self.sctlr & SCTLR_M == 0 {
            return (false, instruction_on && address < 0x8000_0000);
        }
        let region = self.regions.iter().find(|r| r.1 & 1 == 1 && address >= r.0 & !63 && address <= r.1 | 63);
        let Some(region) = region else { return (false, false) };
        let index = region.1 >> 1 & 7;
        let attribute = self.mair[index as usize / 4] >> (8 * (index % 4)) & 0xff;
        // Normal memory whose inner attribute is not 4 (non-cacheable); what is shareable is not cached on
        // this processor.
        let normal = attribute & 0xf0 != 0 && attribute & 15 != 4 && attribute & 15 != 0;
        let shareable = region.0 >> 3 & 3 != 0;
        let cacheable = normal && !shareable;
        (cacheable && data_on, cacheable && instruction_on)
    }

    /// The stretch that holds `address`.
    pub fn find(&self, address: u32) -> Stretch {
        let after = self.stretches.partition_point(|s| s.first <= address);
        self.stretches[after - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::part;

    const RAM: u32 = 0x2000_0000;
    const CODE: u32 = 0x1000_0000;

    fn on() -> (Part, System) {
        let part = part();
        let mut system = System::new(&part);
        for (n, base, limit, index) in
            [(0, CODE, CODE + 0x7_ffff, 0), (1, RAM, RAM + 0xf_ffff, 0), (2, 0xee10_0000, 0xee10_7fff, 0)]
        {
            system.write(&part, Register::Prselr, n);
            system.write(&part, Register::Prbar, base);
            system.write(&part, Register::Prlar, limit & !63 | index << 1 | 1);
        }
        system.write(&part, Register::Mair(0), 0x0000_44ff);
        (part, system)
    }

    fn at(part: &Part, system: &mut System, address: u32) -> (u32, u32) {
        system.rebuild(part);
        let stretch = system.find(address);
        assert!(stretch.holds(address));
        (stretch.data_ways, stretch.instruction_ways)
    }

    #[test]
    fn sctlr_and_the_mpu_decide() {
        let (part, mut system) = on();
        assert_eq!(at(&part, &mut system, RAM), (0, 0));
        system.write(&part, Register::Sctlr, SCTLR_M | SCTLR_C);
        assert_eq!(at(&part, &mut system, RAM), (0b1111, 0));
        system.write(&part, Register::Sctlr, SCTLR_M | SCTLR_C | SCTLR_I);
        assert_eq!(at(&part, &mut system, RAM), (0b1111, 0b11));
        assert_eq!(at(&part, &mut system, 0xee10_0000), (0, 0), "a TCM is never cached");
        assert_eq!(at(&part, &mut system, RAM + 0x10_0000), (0, 0), "no region");
        system.write(&part, Register::PrlarOf(1), (RAM + 0xf_ffc0) | (1 << 1) | 1);
        assert_eq!(at(&part, &mut system, RAM), (0, 0), "non-cacheable");
        system.write(&part, Register::PrlarOf(1), (RAM + 0xf_ffc0) | 1);
        system.write(&part, Register::PrbarOf(1), RAM | 3 << 3);
        assert_eq!(at(&part, &mut system, RAM), (0, 0), "shareable");
    }

    #[test]
    fn ways_of_the_ports() {
        let (part, mut system) = on();
        system.write(&part, Register::Csctlr, 0x101);
        system.write(&part, Register::Sctlr, SCTLR_M | SCTLR_C | SCTLR_I);
        assert_eq!(at(&part, &mut system, CODE), (0b0001, 0b01));
        assert_eq!(at(&part, &mut system, RAM), (0b1110, 0b10));
        assert!(system.warnings().is_empty());
        // Too late.
        system.write(&part, Register::Csctlr, 0x404);
        assert_eq!(at(&part, &mut system, CODE), (0b0001, 0b01));
        assert_eq!(system.warnings().len(), 1);
    }

    #[test]
    fn at_reset_the_flash_port_has_no_way() {
        let (part, mut system) = on();
        system.write(&part, Register::Sctlr, SCTLR_M | SCTLR_C | SCTLR_I);
        assert_eq!(at(&part, &mut system, CODE), (0, 0));
    }

    #[test]
    fn registers_by_their_operands() {
        assert_eq!(Register::of(0, 6, 8, 0), Some(Register::PrbarOf(0)));
        assert_eq!(Register::of(0, 6, 15, 5), Some(Register::PrlarOf(15)));
        assert_eq!(Register::of(1, 6, 8, 4), Some(Register::PrbarOf(17)));
        assert_eq!(Register::of(1, 6, 15, 0), None, "region 30");
        assert_eq!(Register::of(0, 7, 14, 2), None);
    }

    #[test]
    fn vectors() {
        let (part, mut system) = on();
        assert!(!system.is_vector(0x18));
        system.write(&part, Register::Vbar, CODE);
        assert!(system.is_vector(CODE + 0x18));
        assert!(!system.is_vector(CODE + 0x20));
    }
}
