//! Two threads of this machine wake each other while one of them pollutes a cache level: what a switch
//! costs when the lines that it needs are gone, and when others must be written back first.
//!
//! A sample reaches from before the wake in one thread to after the wait in the other: one wake and one
//! switch. The walk that pollutes ends before the first timestamp. The way back is not timed. A round in which
//! the woken thread had not gone to sleep has no switch in it and gives no sample, see [`sample`].

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use nix::sys::resource::{UsageWho, getrusage};
use rustix::io::Errno;
use rustix::thread::futex;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::row::{Origin, Row, Run};
use crate::screen::{Failure, Progress};

/// Rounds before the first sample of a cell, so that its pollution has taken the place of the one before.
const WARM_UP: u32 = 16;
/// A level larger than this is left out: one walk would take longer than a time slice.
const LARGEST: u64 = 64 << 20;
/// The longest wait for the other thread. Nothing but a stopped process takes as long.
const STALLED: futex::Timespec = futex::Timespec { tv_sec: 20, tv_nsec: 0 };

/// What the timed code is: an unoptimised build spends more between the timestamps.
pub const BUILD: &str = if cfg!(debug_assertions) { "debug" } else { "release" };

/// Options of `txbench host-flip`.
#[derive(Args)]
pub struct HostFlip {
    /// Rounds of each cell. One in which the woken thread was not asleep gives no sample; the row says how many.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    samples: u32,
    /// Limit for each cell in seconds. A cell that reaches it has fewer samples; its row says how many.
    #[arg(long, value_name = "SECS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Pin the threads to two processors instead of one.
    #[arg(long)]
    two: bool,
    /// Cache levels to pollute, for example 1,2 (default: all that sysfs names, up to 64 MiB).
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=9))]
    levels: Option<Vec<u32>>,
    /// Print the rows as JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// A data or unified cache of one processor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Level {
    level: u32,
    bytes: u64,
    line: usize,
}

/// What one thread does to a cache level between switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pollution {
    None,
    /// Reads only: no line becomes dirty.
    Clean,
    /// Writes: every line must be written back before its place can be used.
    Dirty,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    /// The event was there before the thread could sleep, or came while it was on its way to sleep again.
    Found,
    /// One wait of the system, which the other thread's wake ended.
    Woken,
    /// The event never came.
    Never,
}

/// The event that one thread sets and the other waits for.
struct Event(AtomicU32);

impl Event {
    const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn set(&self) {
        self.0.store(1, Ordering::Release);
        // Without a waiter there is nobody to wake; whoever waits next sees the value.
        let _ = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
    }

    /// Waits and takes the event.
    fn wait(&self) -> Waited {
        let (mut waits, mut woken) = (0, false);
        while self.0.swap(0, Ordering::Acquire) == 0 {
            waits += 1;
            woken = match futex::wait(&self.0, futex::Flags::PRIVATE, 0, Some(&STALLED)) {
                Ok(()) => true,
                Err(Errno::AGAIN | Errno::INTR) => false,
                Err(_) => return Waited::Never,
            };
        }
        if woken && waits == 1 { Waited::Woken } else { Waited::Found }
    }
}

/// Lets other threads run until `met`; false if that takes too long.
fn yield_until(met: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !met() {
        if start.elapsed() >= Duration::from_secs(STALLED.tv_sec as u64) {
            return false;
        }
        thread::yield_now();
    }
    true
}

/// How often the calling thread has gone to sleep: its voluntary switches. One that is woken while it is still on
/// its way into the scheduler stays on its processor and is not counted (getrusage(2), `ru_nvcsw`).
fn sleeps() -> Result<u64, String> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).map_err(|e| format!("cannot tell when a thread sleeps: {e}"))?;
    Ok(usage.voluntary_context_switches() as u64)
}

/// Why a round gives no sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excluded {
    /// The woken thread was not asleep: there was no switch.
    Awake,
    /// The wait ended no later than the wake began: the clocks of the two processors are not in step.
    Clock,
}

/// The sample of a round, from the count `before` the wake and the one `after` a wait that ended as `waited` says,
/// with `slept` sleeps in it.
fn sample(before: u64, after: u64, waited: Waited, slept: u64) -> Result<u64, Excluded> {
    if (waited, slept) != (Waited::Woken, 1) {
        return Err(Excluded::Awake);
    }
    after.checked_sub(before).filter(|&took| took > 0).ok_or(Excluded::Clock)
}

/// The counter that samples are read from.
#[derive(Clone, Copy)]
enum Counter {
    #[cfg(target_arch = "x86_64")]
    Tsc(&'static quanta::Clock),
    Clock(Instant),
}

impl Counter {
    /// The time-stamp counter where it runs evenly, else the clock and the reason.
    fn find(cpuinfo: &str) -> (Self, Option<String>) {
        let start = Instant::now();
        #[cfg(target_arch = "x86_64")]
        {
            let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or("");
            let has = |flag: &str| flags.split_whitespace().any(|f| f == flag);
            // What `quanta` asks the processor for as well before it reads the counter and not the system's clock.
            if has("constant_tsc") && has("nonstop_tsc") {
                static CLOCK: LazyLock<quanta::Clock> = LazyLock::new(quanta::Clock::new);
                return (Self::Tsc(&CLOCK), None);
            }
            let why = "no cycles: this processor's time-stamp counter does not run evenly";
            (Self::Clock(start), Some(why.into()))
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = cpuinfo;
            (Self::Clock(start), Some("no cycles: only x86-64 lets a program read its cycle counter".into()))
        }
    }

    #[inline(always)]
    fn read(self) -> u64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tsc(clock) => clock.raw(),
            Self::Clock(start) => start.elapsed().as_nanos() as u64,
        }
    }

    fn name(self) -> (&'static str, &'static str) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tsc(_) => ("TSC", "TSC cycles"),
            Self::Clock(_) => ("CLOCK_MONOTONIC", "ns"),
        }
    }

    /// The smallest difference of two reads.
    fn overhead(self) -> u64 {
        let pair = || {
            let before = self.read();
            self.read().saturating_sub(before)
        };
        (0..1000).map(|_| pair()).min().unwrap_or(0)
    }

    /// Counts a second, against the clock.
    fn hz(self) -> u64 {
        let (clock, count) = (Instant::now(), self.read());
        thread::sleep(Duration::from_millis(100));
        let (took, counted) = (clock.elapsed(), self.read().saturating_sub(count));
        (counted as f64 / took.as_secs_f64()).round() as u64
    }
}

/// Data and unified caches of `cpu` under `root`, which is sysfs's folder of processors.
fn levels(root: &Path, cpu: usize) -> Vec<Level> {
    let mut found = Vec::new();
    for index in 0..16 {
        let folder = root.join(format!("cpu{cpu}/cache/index{index}"));
        let read = |name: &str| fs::read_to_string(folder.join(name)).map(|text| text.trim().to_owned());
        let (Ok(level), Ok(kind), Ok(size)) = (read("level"), read("type"), read("size")) else {
            continue;
        };
        let (Ok(level), Some(bytes)) = (level.parse(), bytes(&size)) else {
            continue;
        };
        if kind == "Data" || kind == "Unified" {
            let line = read("coherency_line_size").ok().and_then(|line| line.parse().ok()).unwrap_or(64);
            found.push(Level { level, bytes, line });
        }
    }
    found.sort_by_key(|level| level.level);
    found
}

/// `32K`, `1024K`, `8M`, as sysfs writes sizes.
fn bytes(size: &str) -> Option<u64> {
    let (digits, unit) = match size.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => match size.strip_suffix('M') {
            Some(digits) => (digits, 1 << 20),
            None => (size, 1),
        },
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

/// The processors that this process may use and that the threads go to.
fn processors(two: bool) -> Result<[usize; 2], String> {
    let allowed = sched_getaffinity(None).map_err(|e| format!("cannot tell the processors of this process: {e}"))?;
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
    match (two, &allowed[..]) {
        // The first processor has most of the machine's interrupts.
        (false, [.., last]) => Ok([*last, *last]),
        (true, [.., a, b]) => Ok([*a, *b]),
        (true, _) => Err("--two needs two processors, this process may use one: leave --two out".into()),
        (false, []) => Err("this process may use no processor".into()),
    }
}

fn pin(cpu: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|e| format!("cannot pin a thread to processor {cpu}: {e}"))
}

/// One access to every line of `buffer`.
fn walk(buffer: &mut [u64], line: usize, dirty: bool) {
    let step = (line / size_of::<u64>()).max(1);
    if dirty {
        for word in buffer.iter_mut().step_by(step) {
            *black_box(word) += 1;
        }
    } else {
        for word in buffer.iter().step_by(step) {
            black_box(*black_box(word));
        }
    }
}

/// A buffer whose pages are all there.
fn buffer(bytes: u64) -> Vec<u64> {
    vec![1; (bytes as usize).div_ceil(size_of::<u64>())]
}

struct Plan {
    counter: Counter,
    cpus: [usize; 2],
    rounds: u32,
    limit: Duration,
}

/// The rounds of one cell, in the order taken.
type Rounds = Vec<Result<u64, Excluded>>;

fn cell(plan: &Plan, pollution: Pollution, polluted: Option<&Level>, scrub: &mut [u64]) -> Result<Rounds, String> {
    let (go, back) = (Event::new(), Event::new());
    let (before, done) = (AtomicU64::new(0), AtomicBool::new(false));
    // Waits of the woken thread that have begun, or are about to.
    let waits = AtomicU32::new(0);
    let counter = plan.counter;
    // Dirty lines of an earlier cell, and those of the scrub buffer itself, are written back: a cache
    // cannot hold two passes over twice its size.
    walk(scrub, 64, false);
    walk(scrub, 64, false);

    thread::scope(|scope| {
        let waker = scope.spawn(|| {
            let result = pin(plan.cpus[0]).and_then(|()| {
                let mut memory = buffer(polluted.map_or(0, |level| level.bytes));
                let line = polluted.map_or(64, |level| level.line);
                if pollution == Pollution::Clean {
                    // What filling it left dirty is written back before it is only read.
                    walk(scrub, 64, false);
                    walk(scrub, 64, false);
                }
                let start = Instant::now();
                for round in 0..plan.rounds.saturating_add(WARM_UP) {
                    if start.elapsed() >= plan.limit {
                        break;
                    }
                    // Whoever wakes a thread may run in its place before it has slept again.
                    if !yield_until(|| waits.load(Ordering::Relaxed) > round) {
                        return Err("the other thread does not answer".into());
                    }
                    if pollution != Pollution::None {
                        walk(&mut memory, line, pollution == Pollution::Dirty);
                    }
                    before.store(counter.read(), Ordering::Relaxed);
                    go.set();
                    if back.wait() == Waited::Never {
                        return Err("the other thread does not answer".into());
                    }
                }
                Ok(())
            });
            done.store(true, Ordering::Relaxed);
            go.set();
            result
        });
        let woken = scope.spawn(|| {
            pin(plan.cpus[1])?;
            let mut rounds = Vec::with_capacity(plan.rounds as usize);
            let (mut warm, mut slept) = (0, sleeps()?);
            loop {
                waits.fetch_add(1, Ordering::Relaxed);
                let waited = go.wait();
                let after = counter.read();
                if done.load(Ordering::Relaxed) {
                    return Ok(rounds);
                }
                if waited == Waited::Never {
                    return Err(String::from("the other thread does not answer"));
                }
                // Nothing between this and the next wait puts the thread to sleep: `back.set` waits for nobody.
                let earlier = std::mem::replace(&mut slept, sleeps()?);
                let round = sample(before.load(Ordering::Relaxed), after, waited, slept - earlier);
                if warm < WARM_UP {
                    warm += 1;
                } else {
                    rounds.push(round);
                }
                back.set();
            }
        });
        let woken = woken.join().map_err(|_| String::from("a thread of the measurement died"))?;
        waker.join().map_err(|_| String::from("a thread of the measurement died"))??;
        woken
    })
}

/// The figures of a cell, and how many rounds gave no sample and why.
///
/// # Errors
/// One line if none did.
fn summarize(row: &mut Row, rounds: &Rounds) -> Result<(), String> {
    let count = |why| rounds.iter().filter(|round| **round == Err(why)).count() as u64;
    let (awake, clock) = (count(Excluded::Awake), count(Excluded::Clock));
    (row.excluded, row.excluded_awake, row.excluded_clock) = (Some(awake + clock), Some(awake), Some(clock));
    row.summarize(&rounds.iter().filter_map(|round| round.ok()).collect::<Vec<_>>());
    let Some(max) = row.max else {
        return Err(format!(
            "none of {} rounds ({} {}) gave a sample: {awake} times the woken thread was not asleep, {clock} times the \
             clocks of the two processors were not in step",
            rounds.len(),
            row.detail,
            row.cache
        ));
    };
    // The position among all, as in the series of an image.
    row.max_at = rounds.iter().position(|round| *round == Ok(max)).map(|at| at as u64);
    Ok(())
}

/// Measures all cells.
///
/// # Errors
/// One line that says what this machine lacks.
pub fn measure(options: &HostFlip) -> Result<Run, Failure> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let cpus = processors(options.two)?;
    let all = levels(Path::new("/sys/devices/system/cpu"), cpus[0]);
    let mut remarks = Vec::new();
    if all.is_empty() {
        remarks.push("sysfs names no caches here: nothing is polluted".to_owned());
    }
    for wanted in options.levels.iter().flatten() {
        if !all.iter().any(|level| level.level == *wanted) {
            return Err(format!(
                "--levels {wanted}: sysfs names no data cache of that level for processor {}",
                cpus[0]
            )
            .into());
        }
    }
    let (chosen, too_large): (Vec<_>, Vec<_>) = all
        .into_iter()
        .filter(|level| options.levels.as_ref().is_none_or(|wanted| wanted.contains(&level.level)))
        .partition(|level| level.bytes <= LARGEST);
    for level in too_large {
        remarks.push(format!(
            "L{} of {} MiB left out: one walk takes longer than a time slice",
            level.level,
            level.bytes >> 20
        ));
    }
    let (counter, why) = Counter::find(&cpuinfo);
    remarks.extend(why);
    let (name, unit) = counter.name();
    let (hz, overhead) = (counter.hz(), counter.overhead());
    let limit = Duration::from_secs(options.timeout);
    let plan = Plan { counter, cpus, rounds: options.samples, limit };
    let mut scrub = buffer(2 * chosen.iter().map(|level| level.bytes).max().unwrap_or(0));

    let mut cells = vec![(Pollution::None, None)];
    for level in &chosen {
        cells.extend([(Pollution::Clean, Some(level)), (Pollution::Dirty, Some(level))]);
    }
    let system = rustix::system::uname();
    let board = field("model name").unwrap_or_else(|| format!("unnamed {} processor", std::env::consts::ARCH));
    let kernel = format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy());
    let progress = Progress::new("host-flip", cells.len());
    let mut rows = Vec::new();
    for (pollution, level) in cells {
        let rounds = cell(&plan, pollution, level, &mut scrub)?;
        let mut row = Row {
            origin: Origin::Host,
            source: "txbench host-flip".into(),
            bench: "host_flip".into(),
            detail: match (level, pollution) {
                (Some(level), _) => format!("L{}", level.level),
                (None, _) => "none".into(),
            },
            board: board.clone(),
            kernel: kernel.clone(),
            language: "rust".into(),
            cache: match pollution {
                Pollution::None => "warm",
                Pollution::Clean => "polluted_clean",
                Pollution::Dirty => "polluted_dirty",
            }
            .into(),
            pollution_bytes: level.map_or(0, |level| level.bytes),
            opt: BUILD.into(),
            options: if options.two { "on two processors" } else { "on one processor" }.into(),
            unit: unit.into(),
            counter: name.into(),
            counter_hz: Some(hz),
            overhead: Some(overhead),
            note: "the larger samples contain what else this machine did".into(),
            ..Row::default()
        };
        if rounds.is_empty() {
            return Err(format!("no round within the limit of {} s: raise --timeout", options.timeout).into());
        }
        summarize(&mut row, &rounds)?;
        progress.step();
        rows.push(row);
    }
    progress.finish();
    let mut run = Run::new(rows);
    let threads = if options.two {
        format!("two threads on processors {} and {}", cpus[0], cpus[1])
    } else {
        format!("two threads on processor {}", cpus[0])
    };
    run.environment = vec![
        ("host data".into(), "measured on this machine under its operating system, not on a board".into()),
        ("processor".into(), board),
        ("system".into(), kernel),
        ("threads".into(), threads),
        ("build".into(), format!("{BUILD} build of txbench {}", env!("CARGO_PKG_VERSION"))),
        ("counter".into(), format!("{name}, {hz} Hz against the clock, own cost {overhead} {unit}")),
        ("caches".into(), {
            let one = |level: &Level| format!("L{} {} KiB, line {}", level.level, level.bytes >> 10, level.line);
            chosen.iter().map(one).collect::<Vec<_>>().join("; ")
        }),
    ];
    run.environment.extend(remarks.into_iter().map(|remark| ("note".into(), remark)));
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_sysfs_writes_them() {
        assert_eq!(bytes("32K"), Some(32 << 10));
        assert_eq!(bytes("8M"), Some(8 << 20));
        assert_eq!(bytes("512"), Some(512));
        for bad in ["", "K", "-1K", "0K", "18446744073709551615M", "3.5M"] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }

    #[test]
    fn data_caches_are_found_and_others_left_out() {
        let root = tempfile::tempdir().unwrap();
        for (index, level, kind, size) in
            [(0, "1", "Data", "48K"), (1, "1", "Instruction", "32K"), (2, "2", "Unified", "2M"), (3, "x", "Data", "1K")]
        {
            let folder = root.path().join(format!("cpu3/cache/index{index}"));
            fs::create_dir_all(&folder).unwrap();
            for (name, text) in [("level", level), ("type", kind), ("size", size), ("coherency_line_size", "64")] {
                fs::write(folder.join(name), format!("{text}\n")).unwrap();
            }
        }
        let level = |level, bytes| Level { level, bytes, line: 64 };
        assert_eq!(levels(root.path(), 3), [level(1, 48 << 10), level(2, 2 << 20)]);
        assert_eq!(levels(root.path(), 4), []);
    }

    #[test]
    fn a_walk_touches_every_line_once() {
        let mut memory = buffer(1024);
        walk(&mut memory, 64, true);
        assert_eq!(memory.iter().filter(|&&word| word == 2).count(), 16);
        walk(&mut memory, 64, false);
        assert_eq!(memory.iter().sum::<u64>(), 128 + 16);
    }

    #[test]
    fn an_event_that_was_set_is_taken_once_without_sleep() {
        let event = Event::new();
        event.set();
        let before = sleeps().unwrap();
        assert_eq!((event.wait(), sleeps().unwrap() - before), (Waited::Found, 0));
        assert_eq!(event.0.load(Ordering::Relaxed), 0);
    }

    /// Until the thread sleeps, as the system tells.
    fn await_sleep(thread: i32) {
        let stat = format!("/proc/self/task/{thread}/stat");
        let limit = Instant::now() + Duration::from_secs(20);
        while !fs::read_to_string(&stat).unwrap().contains(") S ") {
            assert!(Instant::now() < limit, "thread {thread} does not go to sleep");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_thread_that_was_asleep_is_told_from_one_that_was_not() {
        let (event, tid) = (Event::new(), std::sync::mpsc::channel());
        let (waited, slept) = thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                tid.0.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
                let before = sleeps().unwrap();
                (event.wait(), sleeps().unwrap() - before)
            });
            await_sleep(tid.1.recv().unwrap());
            event.set();
            sleeper.join().unwrap()
        });
        assert_eq!((waited, slept), (Waited::Woken, 1));
    }

    #[test]
    fn a_round_without_a_switch_gives_no_sample() {
        assert_eq!(sample(100, 4600, Waited::Woken, 1), Ok(4500));
        for (waited, slept) in [
            (Waited::Found, 0), // the event was there
            (Waited::Woken, 0), // woken on its way to sleep
            (Waited::Found, 1), // slept, and was about to once more
            (Waited::Woken, 2), // slept elsewhere as well
        ] {
            assert_eq!(sample(100, 127, waited, slept), Err(Excluded::Awake), "{waited:?} {slept}");
            assert_eq!(sample(127, 100, waited, slept), Err(Excluded::Awake), "{waited:?} {slept}");
        }
        assert_eq!(sample(4600, 100, Waited::Woken, 1), Err(Excluded::Clock));
        assert_eq!(sample(100, 100, Waited::Woken, 1), Err(Excluded::Clock));
    }

    #[test]
    fn excluded_rounds_are_counted_and_nothing_left_is_an_error() {
        let mut row = Row { detail: "L1".into(), cache: "warm".into(), ..Row::default() };
        let rounds = vec![Err(Excluded::Awake), Ok(5000), Err(Excluded::Clock), Ok(7000), Err(Excluded::Awake)];
        summarize(&mut row, &rounds).unwrap();
        assert_eq!((row.n, row.min, row.max, row.max_at), (Some(2), Some(5000), Some(7000), Some(3)));
        assert_eq!((row.excluded, row.excluded_awake, row.excluded_clock), (Some(3), Some(2), Some(1)));
        let none = vec![Err(Excluded::Awake), Err(Excluded::Clock), Err(Excluded::Awake)];
        let mut row = Row { detail: "L1".into(), cache: "warm".into(), ..Row::default() };
        assert_eq!(
            summarize(&mut row, &none).unwrap_err(),
            "none of 3 rounds (L1 warm) gave a sample: 2 times the woken thread was not asleep, 1 times the clocks of \
             the two processors were not in step"
        );
    }

    #[test]
    fn every_round_gives_a_sample_or_the_reason_why_not() {
        let (counter, _) = Counter::find("flags : constant_tsc nonstop_tsc\n");
        let level = Level { level: 1, bytes: 4096, line: 64 };
        for cpus in [processors(false), processors(true)].into_iter().flatten() {
            let plan = Plan { counter, cpus, rounds: 200, limit: Duration::from_secs(20) };
            for pollution in [Pollution::None, Pollution::Clean, Pollution::Dirty] {
                let rounds = cell(&plan, pollution, Some(&level), &mut buffer(8192)).unwrap();
                assert_eq!(rounds.len(), 200);
                assert!(rounds.iter().all(|round| *round != Ok(0)));
            }
        }
    }
}
