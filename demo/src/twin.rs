//! The same measurements in C, see `../c`.

use bsp::memory::{Btcm, Dram0};
use measure::{Bench, Cache};
use threadx::Region;
use twin::{Checks, Memory, Refusal, Series};

use crate::report::{Code, Report};

/// A refusal in words.
struct Why(Refusal);

impl ufmt::uDisplay for Why {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        match self.0 {
            Refusal::Service(code) => ufmt::uwrite!(f, "a service refused with code {}", code),
            Refusal::Caller => f.write_str("called outside a thread, or twice at a time"),
        }
    }
}

fn report_series<R: Region, const N: usize>(
    report: &mut Report,
    bench: Bench,
    cache: Cache,
    series: Result<Series<N>, Refusal>,
) {
    match series {
        Ok(series) => {
            report.check("C: every result was right", series.right);
            report.check("C: the measuring thread's stack lies in its memory", R::range().contains(&series.stack));
            if bench == Bench::ContextSwitch {
                report.check("C: round trips switched to the partner every time", series.turns >= N as u32);
            }
            report.series(bench, R::NAME, cache, &series.samples);
        }
        Err(refusal) => report.fail("C twin", Why(refusal)),
    }
}

/// Measures both memories with checked and with unchecked services.
pub fn measure(report: &mut Report) {
    report.check("floating-point arguments arrive, from Rust to C and back", twin::floats_arrive());
    report.check("the floating-point flag has its place in the control block to itself", twin::vfp_flag_is_alone());
    for (code, checks) in [(Code::C, Checks::On), (Code::CUnchecked, Checks::Off)] {
        report.set_code(code);
        for cache in [Cache::Cold, Cache::Warm] {
            let btcm = twin::round_trips(checks, Memory::Btcm, cache);
            report_series::<Btcm, { twin::ROUNDS }>(report, Bench::ContextSwitch, cache, btcm);
            let dram0 = twin::round_trips(checks, Memory::Dram0, cache);
            report_series::<Dram0, { twin::ROUNDS }>(report, Bench::ContextSwitch, cache, dram0);
        }
        let btcm = twin::dives(checks, Memory::Btcm);
        report_series::<Btcm, { twin::DIVES }>(report, Bench::DeepStack, Cache::Cold, btcm);
        let dram0 = twin::dives(checks, Memory::Dram0);
        report_series::<Dram0, { twin::DIVES }>(report, Bench::DeepStack, Cache::Cold, dram0);
    }
    report.set_code(Code::Rust);
    report.compare_codes();
}
