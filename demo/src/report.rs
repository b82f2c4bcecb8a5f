//! Results as they come, and the verdict at the end.

use bsp::counter::Counter;
use bsp::println;
use measure::{Bench, Cache, Case, RawSamples, Record, Samples, Setting};

use crate::image::{self, Checks};

/// The code that measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// This package.
    Rust,
    /// Its C twin, calling the checked services.
    #[cfg(feature = "twin")]
    C,
    /// Its C twin, calling the unchecked services.
    #[cfg(feature = "twin")]
    CUnchecked,
}

#[cfg(feature = "twin")]
impl Code {
    /// `language` and `checks` of records.
    const fn keys(self) -> (&'static str, &'static str) {
        match self {
            Self::Rust => ("rust", "types"),
            Self::C => ("c", "on"),
            Self::CUnchecked => ("c", "off"),
        }
    }
}

/// Collects what was measured and what was found wrong.
pub struct Report {
    setting: Setting<'static>,
    checks: Checks,
    /// Smallest sample of the first series of each kind and code, to compare the others with.
    baseline: [[Option<u32>; 2]; 3],
    code: Code,
}

impl Report {
    /// An empty report for measurements with `counter`.
    pub fn new(counter: &Counter) -> Self {
        println!("{}", Record::HEADING);
        let mut report = Self {
            setting: image::setting(counter),
            checks: Checks::default(),
            baseline: [[None; 2]; 3],
            code: Code::Rust,
        };
        report.check("the counter is fine enough to measure a switch", !counter.coarse);
        report
    }

    /// Says whose samples follow.
    #[cfg(feature = "twin")]
    pub fn set_code(&mut self, code: Code) {
        self.code = code;
        (self.setting.language, self.setting.checks) = code.keys();
    }

    /// Checks the goal: no service costs more from safe Rust than from C that goes without its checks.
    #[cfg(feature = "twin")]
    pub fn compare_codes(&mut self) {
        let switch = |code: Code| self.baseline[code as usize][0];
        if let (Some(rust), Some(c)) = (switch(Code::Rust), switch(Code::CUnchecked)) {
            self.check("a round trip costs safe Rust at most what it costs C without checks", rust <= c);
        }
    }

    /// [`Checks::check`].
    pub fn check(&mut self, what: &str, ok: bool) {
        self.checks.check(what, ok);
    }

    /// [`Checks::fail`].
    pub fn fail(&mut self, what: &str, error: impl ufmt::uDisplay) {
        self.checks.fail(what, error);
    }

    /// The factors of a series.
    fn case(&self, bench: Bench, stack: &'static str, cache: Cache) -> Case<'static> {
        let detail = if bench == Bench::DeepStack { crate::deep_stack::SHAPE } else { "" };
        let case = Case { detail, ..Case::new(bench, stack, cache) };
        let of_switch = |variant| if bench == Bench::ContextSwitch { variant } else { "" };
        if self.code != Code::Rust {
            // Where C's code and control blocks lie is not known here.
            return Case { variant: of_switch("call"), ..case };
        }
        let (code, cell) = match bench {
            Bench::ContextSwitch => (crate::switch::round_trips as *const () as usize, &crate::switch::MEASURING),
            _ => (crate::deep_stack::deep_touch as *const () as usize, &crate::deep_stack::DEEP),
        };
        let control = bsp::memory::region_of(core::ptr::from_ref(cell) as usize);
        Case { variant: of_switch(crate::switch::VARIANT), code: bsp::memory::region_of(code), control, ..case }
    }

    /// Prints a series as a row and as a record.
    pub fn series<const N: usize>(&mut self, bench: Bench, stack: &'static str, cache: Cache, samples: &Samples<N>) {
        let summary = match samples.summary() {
            Ok(summary) => summary,
            Err(_) => return self.check("a series has samples that no interrupt disturbed", false),
        };
        let record = Record::new(&self.setting, &self.case(bench, stack, cache), &summary);
        self.checks.print(record.row(&mut [0; 160]));
        self.checks.print(record.line(&mut [0; 1024 + bsp::CONFIGURATION.len()]));
        self.check("a series is complete", samples.is_full());
        if self.setting.unit == "instructions" {
            // Nothing but an interrupt can change how many instructions the same code takes.
            self.check("undisturbed samples all took the same instructions", summary.min == summary.max);
            let kind = usize::from(bench == Bench::DeepStack);
            if let Some(baseline) = self.baseline.get_mut(self.code as usize).and_then(|row| row.get_mut(kind)) {
                let same = *baseline.get_or_insert(summary.min) == summary.min;
                self.check("all memories and cache states took the same instructions", same);
            }
        }
    }

    /// Prints the raw samples of a series.
    pub fn samples<const N: usize>(&mut self, bench: Bench, stack: &'static str, cache: Cache, samples: &Samples<N>) {
        let raw = RawSamples::new(&self.setting, &self.case(bench, stack, cache), samples);
        self.checks.print(raw.line(&mut [0; 4096]));
    }

    /// [`Checks::finish`].
    pub fn finish(self) -> ! {
        self.checks.finish()
    }
}
