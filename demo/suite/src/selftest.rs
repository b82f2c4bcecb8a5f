//! Does the method itself hold? Each test repeats a public report of a measurement that misled; the labels are those of
//! `docs/field-reports.md`.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};

use bsp::interrupt::{self, InterruptId};
use bsp::timer;
use bsp::{print, println};
use measure::{Histogram, NOISE_RUNS, Pair as Figures, Verdict, Wide, elapsed, noise, paired};
use threadx::thread::sleep;
use threadx::{Error, Semaphore, Ticks};

use crate::factors::{Preparation, Variant, observe};
use crate::report::Report;
use crate::sampler::{MOST, Plan, Sampler};
use crate::switch::series_at;
use crate::threads::{Cells, Control, Memory, Pair, with_idle};

/// A test of the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfTest {
    /// A against A.
    Control,
    /// The tick inside samples.
    Tick,
    /// Printing inside samples.
    Console,
    /// Rounds before the first sample.
    WarmUp,
    /// Samples at random moments.
    Phase,
    /// The counter's wrap inside a sample.
    Wrap,
}

impl SelfTest {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Control, Self::Tick, Self::Console, Self::WarmUp, Self::Phase, Self::Wrap];

    /// The last part of the cell's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Tick => "tick",
            Self::Console => "console",
            Self::WarmUp => "warmup",
            Self::Phase => "phase",
            Self::Wrap => "wrap",
        }
    }

    /// Runs it.
    pub fn run(self, report: &mut Report, cells: &Cells) {
        let pair = cells.of(Control::Dram0);
        match self {
            Self::Control => {
                preparations_are_what_they_are_called(report);
                m05_a_against_a_is_no_difference(report, pair);
            }
            Self::Tick => m03_ticks_inside_samples_are_told(report, pair),
            Self::Console => m04_printing_inside_a_sample_is_caught(report),
            Self::WarmUp => m08_the_first_sample_with_and_without_warm_up(report, pair),
            Self::Phase => match with_idle(pair, m11_random_moments_have_every_phase) {
                Ok(Some(Ok(found))) => found.check(report),
                Ok(None) => report.check("m11: the sampling thread ran", false),
                Ok(Some(Err(error))) | Err(error) => report.fail("phase", error),
            },
            Self::Wrap => match with_idle(pair, m07_a_sample_over_the_wrap) {
                Ok(Some(Ok(Some(found)))) => found.check(report),
                Ok(None | Some(Ok(None))) => report.check("m07: a sample lay over the wrap", false),
                Ok(Some(Err(error))) | Err(error) => report.fail("wrap", error),
            },
        }
    }
}

/// Each preparation does something: dirty pollution writes every line, clean pollution reads as many and writes none,
/// maintenance goes over the cache. What that does to a cache an emulator without one cannot tell.
fn preparations_are_what_they_are_called(report: &mut Report) {
    let (_, _, nothing) = observe(Preparation::Warm);
    for preparation in Preparation::all().filter(|preparation| preparation.is_possible()) {
        let (written, lines, counts) = observe(preparation);
        let ok = match preparation {
            Preparation::Warm => written == 0,
            Preparation::Cold => written == 0 && counts > nothing + 100,
            Preparation::Clean { .. } => written == 0 && counts > nothing + lines as u32,
            Preparation::Dirty { .. } => written == lines && lines > 0,
        };
        report.check("a preparation of the cache does what it is called", ok);
    }
}

/// The same configuration twice, in turns, at every placement and five times over: there is no difference between the
/// two that the noise of the five runs does not cover. And one between A and something that does more is found.
fn m05_a_against_a_is_no_difference(report: &mut Report, pair: &Pair) {
    const SAMPLES: usize = 64;
    let plan = Plan::new(SAMPLES, Preparation::Cold);
    let mut figures = [Figures { placement: 0, a: 0, b: 0 }; 4];
    let mut widest = 0;
    for (placement, figure) in figures.iter_mut().enumerate() {
        let (mut a, mut b) = ([0; NOISE_RUNS], [0; NOISE_RUNS]);
        for (a, b) in a.iter_mut().zip(&mut b) {
            for (detail, median) in [("A", a), ("B", b)] {
                let taken = series_at(report, Memory::Btcm, pair, plan, Variant::Call, placement, detail, "on");
                let Some(summary) = taken else { return };
                *median = summary.p50;
            }
        }
        let (Ok(of_a), Ok(of_b)) = (noise(&a), noise(&b)) else {
            return report.check("m05: five runs", false);
        };
        widest = widest.max(of_a.spread).max(of_b.spread);
        let median = |mut runs: [u32; NOISE_RUNS]| {
            runs.sort_unstable();
            runs[NOISE_RUNS / 2]
        };
        *figure = Figures { placement: bsp::placement::OFFSETS[placement], a: median(a), b: median(b) };
    }
    let verdict = |figures: &[Figures]| paired(figures, widest).map(|paired| paired.verdict());
    println!("control    A against A: noise of the median over {} runs {}", NOISE_RUNS as u32, widest);
    report.check("m05: A against A is no difference", verdict(&figures) == Ok(Verdict::NoDifference));
    let slower = figures.map(|figure| Figures { b: figure.b + widest + 1, ..figure });
    let found = matches!(verdict(&slower), Ok(Verdict::ALower { .. }));
    report.check("m05: the same comparison finds a difference above the noise", found);
}

/// A fixed stretch of work of so many rounds.
#[inline(never)]
fn spin(rounds: u32) -> u32 {
    (0..rounds).fold(1, |value, round| black_box(value ^ round))
}

/// A series of long samples, of which some contain a tick, in the calling thread.
fn spins(rounds: u32) -> Sampler {
    let mut sampler = Sampler::new(Plan::new(MOST, Preparation::Warm));
    while sampler.wants_more() {
        sampler.before();
        let start = bsp::cycles();
        black_box(spin(rounds));
        let end = bsp::cycles();
        sampler.after(start, end);
    }
    sampler
}

/// Calls `f` with the tick's line off.
fn without_tick<T>(f: impl FnOnce() -> T) -> T {
    interrupt::disable(InterruptId::TICK);
    let value = f();
    interrupt::enable(InterruptId::TICK);
    value
}

/// With the tick on, samples that contain one are kept out and counted; with the tick off there is none, and the other
/// figures are the same.
fn m03_ticks_inside_samples_are_told(report: &mut Report, pair: &Pair) {
    // As many rounds as make three ticks over the series.
    let start = bsp::cycles();
    black_box(spin(1000));
    let of_thousand = elapsed(start, bsp::cycles()).max(1);
    let tick = match counts_of_a_tick() {
        Ok(counts) => counts,
        Err(error) => return report.fail("tick", error),
    };
    let rounds = (u64::from(tick) * 3 * 1000 / (u64::from(of_thousand) * MOST as u64)).max(1) as u32;

    let with = spins(rounds);
    let without = without_tick(|| spins(rounds));
    match (with.samples().summary(), without.samples().summary()) {
        (Ok(with), Ok(without)) => {
            println!(
                "tick       on: {} of {} samples excluded, off: {}",
                with.excluded_tick, MOST as u32, without.excluded
            );
            report.check("m03: samples with a tick in them are excluded for that reason", with.excluded_tick > 0);
            report.check("m03: without tick nothing is excluded", without.excluded == 0);
            let longest = with.excluded_range.map_or(0, |(_, longest)| longest);
            report.check("m03: a sample with a tick is longer than all kept ones", longest > with.max);
            if report.counts_instructions() {
                report.check(
                    "m03: the figures are those without tick",
                    (with.min, with.max) == (without.min, without.max),
                );
            }
        }
        _ => report.check("m03: there are samples without a tick", false),
    }
    // The published measurement both ways, for the records.
    let plan = Plan::new(MOST, Preparation::Warm);
    series_at(report, Memory::Btcm, pair, plan, Variant::Call, 0, "tick", "on");
    without_tick(|| series_at(report, Memory::Btcm, pair, plan, Variant::Call, 0, "tick", "off"));
}

/// Counts of the measuring counter from one tick to the next.
fn counts_of_a_tick() -> Result<u32, Error> {
    let next_tick = || {
        let now = threadx::time::now();
        // The loop ends with the tick; the kernel runs it above this thread.
        while threadx::time::now() == now {
            core::hint::spin_loop();
        }
        bsp::cycles()
    };
    let first = next_tick();
    match elapsed(first, next_tick()) {
        0 => Err(Error::Tick),
        counts => Ok(counts),
    }
}

/// A sample that prints is caught by the console's count, so that "nothing was printed" is a finding.
fn m04_printing_inside_a_sample_is_caught(report: &mut Report) {
    let take = |printing: bool| {
        let mut sampler = Sampler::new(Plan::new(8, Preparation::Warm));
        while sampler.wants_more() {
            sampler.before();
            let start = bsp::cycles();
            if printing {
                print!(".");
            }
            let end = bsp::cycles();
            sampler.after(start, end);
        }
        sampler.talked
    };
    let (loud, quiet) = (take(true), take(false));
    println!(" {} of 8 samples printed", loud);
    report.check("m04: printing inside a sample is caught every time", loud == 8);
    report.check("m04: a quiet sample is not suspected", quiet == 0);
}

/// The same series without and with 100 rounds before it: the first sample is in the record, the number of rounds is
/// checked by the number of switches.
fn m08_the_first_sample_with_and_without_warm_up(report: &mut Report, pair: &Pair) {
    for memory in [Memory::Btcm, Memory::Dram0] {
        for (warm_up, detail) in [(0, "warm_up_0"), (100, "warm_up_100")] {
            let plan = Plan { warm_up, ..Plan::new(64, Preparation::Warm) };
            let taken = series_at(report, memory, pair, plan, Variant::Call, 0, detail, "on");
            if let Some(summary) = taken {
                println!("warm-up    {} rounds: first {}, median {}", warm_up, summary.first, summary.p50);
            }
        }
    }
}

/// Bins of a phase histogram.
const BINS: usize = 8;
/// Samples of a phase histogram.
const PHASES: u32 = 800;

static ALARM: Semaphore = Semaphore::new();
static ALARM_CREATED: AtomicBool = AtomicBool::new(false);

fn on_alarm() {
    timer::clear_alarm();
    // A refused put lets the sampler's wait end by its limit.
    let _ = ALARM.put();
}

/// Where in the tick's period samples were taken.
struct Phases {
    random: Histogram<BINS>,
    by_tick: Histogram<BINS>,
}

/// Phases of samples that an alarm of random period takes, and of samples that the tick takes.
fn m11_random_moments_have_every_phase() -> Result<Phases, Error> {
    if !ALARM_CREATED.swap(true, Ordering::Relaxed) {
        ALARM.create("alarm", 0)?;
    }
    // Below the tick in urgency, so that it does not push the tick around.
    interrupt::register(InterruptId::ALARM, 0xb0, on_alarm).map_err(|_| Error::Caller)?;
    interrupt::enable(InterruptId::ALARM);
    let period = timer::tick_period();
    let empty = || Histogram::<BINS>::new(0, period.div_ceil(BINS as u32));
    let mut phases = Phases { random: empty(), by_tick: empty() };
    let mut random = 0x2545_f491u32;
    let taken: Result<(), Error> = (0..PHASES).try_for_each(|_| {
        // Xorshift: every value but 0 comes once in 2^32 - 1.
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        timer::set_alarm(1 + random % period);
        ALARM.get(Ticks::new(100))?;
        phases.random.add(timer::since_tick());
        Ok(())
    });
    interrupt::disable(InterruptId::ALARM);
    timer::clear_alarm();
    taken?;
    for _ in 0..PHASES / 8 {
        sleep(Ticks::new(1))?;
        phases.by_tick.add(timer::since_tick());
    }
    Ok(phases)
}

impl Phases {
    fn check(&self, report: &mut Report) {
        for (what, phases) in [("random period", &self.random), ("every tick", &self.by_tick)] {
            print!("phase      {}:", what);
            phases.bins().iter().for_each(|count| print!(" {}", count));
            println!(", outside {}", phases.above() + phases.below());
        }
        report.check("m11: samples of a random period have every phase, flat within 2x", self.random.flat_within(2));
        report.check("m11: samples that the tick takes do not, and are told", !self.by_tick.flat_within(2));
    }
}

/// A sample that the counter wrapped in, between its neighbours, and a stretch longer than a turn.
struct Wrap {
    before: u32,
    over: u32,
    after: u32,
    /// Counts of the stretch by 64 bits, and ticks times counts of a tick; none where it would take too long.
    long: Option<(u64, u64)>,
}

/// Waits until the 32-bit counter is about to wrap, and takes samples across that; none if the wrap fell between two
/// samples. Waits asleep where the counter counts then (one that counts cycles may stop in WFI), since a whole turn is
/// 4.29 s at 1 GHz.
fn m07_a_sample_over_the_wrap() -> Result<Option<Wrap>, Error> {
    let before = bsp::cycles();
    sleep(Ticks::new(2))?;
    let asleep = elapsed(before, bsp::cycles()) / 2;
    let awake = counts_of_a_tick()?;
    let counts_asleep = asleep > awake / 2;
    let ticks_left = (u32::MAX - bsp::cycles()) / awake;
    if counts_asleep && ticks_left > 2 {
        sleep(Ticks::new(ticks_left - 2))?;
    }
    let sample = || {
        let start = bsp::cycles();
        black_box(spin(20_000));
        (start, bsp::cycles())
    };
    let mut clock = Wide::new(bsp::cycles());
    let mut previous = None;
    while clock.advance(bsp::cycles()) <= 1 << 32 {
        let (start, end) = sample();
        let value = elapsed(start, end);
        if end < start {
            let (from, to) = sample();
            let long = if counts_asleep { Some(long_stretch(awake)?) } else { None };
            return Ok(Some(Wrap { before: previous.unwrap_or(value), over: value, after: elapsed(from, to), long }));
        }
        previous = Some(value);
    }
    Ok(None)
}

/// Counts by 64 bits over more than one turn of the counter, and the counts that its ticks stand for.
fn long_stretch(counts_of_a_tick: u32) -> Result<(u64, u64), Error> {
    let turn = u32::MAX / counts_of_a_tick;
    let (mut clock, ticks) = (Wide::new(bsp::cycles()), threadx::time::now());
    for _ in 0..5 {
        sleep(Ticks::new(turn / 4))?;
        clock.advance(bsp::cycles());
    }
    let ticks = threadx::time::now().wrapping_sub(ticks);
    Ok((clock.advance(bsp::cycles()), u64::from(ticks) * u64::from(counts_of_a_tick)))
}

impl Wrap {
    fn check(&self, report: &mut Report) {
        println!("wrap       sample before {}, over the wrap {}, after {}", self.before, self.over, self.after);
        // One of them may contain a tick, which is short beside it.
        let near = |a: u32, b: u32| a.abs_diff(b) <= a.min(b) / 2;
        report.check("m07: a sample over the wrap is as long as the one before", near(self.before, self.over));
        report.check("m07: and the one behind it, too", near(self.over, self.after));
        if let Some((counts, by_ticks)) = self.long {
            println!("wrap       {} counts in {} counts of ticks", counts, by_ticks);
            report.check("m07: a long stretch has more counts than 32 bits hold", counts > u64::from(u32::MAX));
            report.check("m07: as many as its ticks, within 1 %", counts.abs_diff(by_ticks) < by_ticks / 100);
        }
    }
}
