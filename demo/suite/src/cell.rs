//! The matrix: every combination of factors that the image measures, with its name.

use core::convert::Infallible;

use ufmt::{uDisplay, uWrite, uwrite};

use crate::deep_stack::{self, Shape};
use crate::factors::{Preparation, Variant};
use crate::handoff::{self, Object};
use crate::interrupts::{self, Target};
use crate::report::Report;
use crate::selftest::SelfTest;
use crate::service::{self, Service};
use crate::switch;
use crate::table_sweep;
use crate::threads::{Cells, Control, Memory};

/// One combination. Those with a placement measure all four of them.
#[derive(Clone, Copy)]
pub enum Cell {
    Switch { memory: Memory, preparation: Preparation, variant: Variant, control: Control },
    DeepStack { memory: Memory, preparation: Preparation, shape: Shape },
    TableSweep { memory: Memory, preparation: Preparation },
    Handoff { memory: Memory, preparation: Preparation, object: Object },
    Interrupt { memory: Memory, preparation: Preparation, target: Target },
    Service { memory: Memory, preparation: Preparation, service: Service },
    SelfTest(SelfTest),
}

/// The two memories of the published comparison.
const PUBLISHED: [Memory; 2] = [Memory::Btcm, Memory::Dram0];

/// Hands all cells to `take`, in the order they run.
pub fn for_each(take: &mut dyn FnMut(Cell)) {
    let cold_and_warm = [Preparation::Cold, Preparation::Warm];
    for &memory in Memory::ALL {
        for preparation in Preparation::all() {
            for &variant in Variant::ALL {
                take(Cell::Switch { memory, preparation, variant, control: Control::Dram0 });
            }
        }
    }
    for memory in PUBLISHED {
        for preparation in cold_and_warm {
            take(Cell::Switch { memory, preparation, variant: Variant::Call, control: Control::Btcm });
        }
    }
    for &memory in Memory::ALL {
        for preparation in Preparation::all() {
            take(Cell::DeepStack { memory, preparation, shape: Shape::PUBLISHED });
        }
        for shape in Shape::ALL.into_iter().filter(|shape| *shape != Shape::PUBLISHED) {
            take(Cell::DeepStack { memory, preparation: Preparation::Cold, shape });
        }
    }
    for &memory in Memory::ALL {
        for preparation in cold_and_warm {
            take(Cell::TableSweep { memory, preparation });
        }
    }
    for object in Object::ALL {
        for &memory in Memory::ALL {
            for preparation in Preparation::all() {
                take(Cell::Handoff { memory, preparation, object });
            }
        }
    }
    for target in Target::ALL {
        for &memory in Memory::ALL {
            for preparation in cold_and_warm {
                take(Cell::Interrupt { memory, preparation, target });
            }
        }
    }
    for memory in PUBLISHED {
        for preparation in cold_and_warm {
            for &service in Service::ALL {
                take(Cell::Service { memory, preparation, service });
            }
        }
    }
    for test in SelfTest::ALL {
        take(Cell::SelfTest(test));
    }
}

impl Cell {
    /// `bench/stack/cache` and what the bench needs behind that, or `selftest/name`.
    pub fn name(self) -> Name {
        let mut name = Name { bytes: [0; 80], len: 0 };
        // The longest combination has 62 bytes; a name that did not fit would be cut, and found twice in a list.
        let Ok(()) = self.write_name(&mut name);
        name
    }

    fn write_name(self, to: &mut Name) -> Result<(), Infallible> {
        use measure::Bench;
        let start = |to: &mut Name, bench: Bench, memory: Memory, preparation: Preparation| {
            uwrite!(to, "{}/{}/{}", bench.name(), memory.name(), preparation.cache().name())?;
            if preparation.bytes() > 0 { uwrite!(to, ".{}", preparation.bytes()) } else { Ok(()) }
        };
        match self {
            Self::Switch { memory, preparation, variant, control } => {
                start(to, Bench::ContextSwitch, memory, preparation)?;
                uwrite!(to, "/{}", variant.name())?;
                if control == Control::Btcm { to.write_str("/control-BTCM") } else { Ok(()) }
            }
            Self::DeepStack { memory, preparation, shape } => {
                start(to, Bench::DeepStack, memory, preparation)?;
                uwrite!(to, "/{}", shape.name())
            }
            Self::TableSweep { memory, preparation } => start(to, Bench::TableSweep, memory, preparation),
            Self::Handoff { memory, preparation, object } => start(to, object.bench(), memory, preparation),
            Self::Interrupt { memory, preparation, target } => start(to, target.bench(), memory, preparation),
            Self::Service { memory, preparation, service } => {
                start(to, Bench::Service, memory, preparation)?;
                uwrite!(to, "/{}", service.name())
            }
            Self::SelfTest(test) => uwrite!(to, "selftest/{}", test.name()),
        }
    }

    /// Whether it is in the core set: what was published, and the tests of the method.
    pub fn is_core(self) -> bool {
        let published = |memory: Memory| PUBLISHED.contains(&memory);
        match self {
            Self::Switch { memory, preparation, control, .. } => {
                published(memory) && preparation.bytes() == 0 && control == Control::Dram0
            }
            Self::DeepStack { memory, preparation, shape } => {
                published(memory) && preparation == Preparation::Cold && shape == Shape::PUBLISHED
            }
            Self::TableSweep { memory, .. } => published(memory),
            Self::Handoff { memory, .. } => memory == Memory::Dram0,
            Self::Interrupt { memory, preparation, .. } => memory == Memory::Btcm && preparation == Preparation::Cold,
            Self::Service { memory, preparation, service } => {
                memory == Memory::Dram0 && preparation == Preparation::Warm && service.is_core()
            }
            Self::SelfTest(_) => true,
        }
    }

    /// Measures it.
    pub fn run(self, report: &mut Report, cells: &Cells) {
        if let Self::Switch { preparation, .. }
        | Self::DeepStack { preparation, .. }
        | Self::Handoff { preparation, .. } = self
        {
            report.check("the polluting buffer is as large as the cache", preparation.is_possible());
        }
        let usual = cells.of(Control::Dram0);
        match self {
            Self::Switch { memory, preparation, variant, control } => {
                switch::measure(report, memory, cells.of(control), preparation, variant);
            }
            Self::DeepStack { memory, preparation, shape } => {
                deep_stack::measure(report, memory, usual, preparation, shape);
            }
            Self::TableSweep { memory, preparation } => table_sweep::measure(report, memory, usual, preparation),
            Self::Handoff { memory, preparation, object } => {
                handoff::measure(report, memory, usual, preparation, object);
            }
            Self::Interrupt { memory, preparation, target } => {
                interrupts::measure(report, memory, usual, preparation, target);
            }
            Self::Service { memory, preparation, service } => {
                service::measure(report, memory, usual, preparation, service);
            }
            Self::SelfTest(test) => test.run(report, cells),
        }
    }
}

/// A cell's name.
pub struct Name {
    bytes: [u8; 80],
    len: usize,
}

impl Name {
    /// As text.
    pub fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or("")
    }
}

impl uWrite for Name {
    type Error = Infallible;

    fn write_str(&mut self, text: &str) -> Result<(), Infallible> {
        if let Some(room) = self.bytes.get_mut(self.len..self.len + text.len()) {
            room.copy_from_slice(text.as_bytes());
            self.len += text.len();
        }
        Ok(())
    }
}

impl uDisplay for Name {
    fn fmt<W: uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        f.write_str(self.as_str())
    }
}
