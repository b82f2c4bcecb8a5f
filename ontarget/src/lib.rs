//! Harness of the on-target tests.
//!
//! An image is a list of tests. A judge thread (priority [`JUDGE`], 16 KB of stack) runs them one
//! after another and prints a line for each, in the form that `txbench test` reads (crate `measure`,
//! module `line`). Each has a limit in kernel ticks: when it is over, an application timer, which no
//! thread can hold up, names the test and ends the image. A panic or a fault ends the image too; what
//! stops even the tick is ended by the limit of `txbench`.
#![no_std]

use core::fmt::{self, Write as _};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use bsp::memory::Dram0;
use threadx::{
    Builder, Error, Init, JoinError, JoinHandle, Priority, Rejected, Schedule, StackToken, ThreadCell, Ticks, Timer,
    stack,
};

pub mod first_stage;
pub mod noise;
pub mod random;

/// Priority of the judge.
pub const JUDGE: u32 = 16;

/// Why a test did not pass.
pub struct Why {
    missed: bool,
    text: Text,
}

/// What a test returns.
pub type Outcome = Result<(), Why>;

impl Why {
    /// What was seen is wrong.
    #[must_use]
    pub fn failed(why: fmt::Arguments<'_>) -> Self {
        Self { missed: false, text: Text::of(why) }
    }

    /// The event that the test is about never happened, so that nothing was tested.
    #[must_use]
    pub fn missed(why: fmt::Arguments<'_>) -> Self {
        Self { missed: true, text: Text::of(why) }
    }
}

impl From<Error> for Why {
    fn from(error: Error) -> Self {
        Self::failed(format_args!("a service refused: {error}"))
    }
}

impl<T> From<Rejected<T>> for Why {
    fn from(rejected: Rejected<T>) -> Self {
        rejected.error.into()
    }
}

impl From<JoinError> for Why {
    fn from(error: JoinError) -> Self {
        Self::failed(format_args!("{error}"))
    }
}

/// Bytes of a failure's text; returned by value, so few.
const SHORT: usize = 112;

/// A short text; what does not fit is cut.
struct Text {
    bytes: [u8; SHORT],
    length: usize,
}

impl Text {
    fn of(arguments: fmt::Arguments<'_>) -> Self {
        let mut text = Self { bytes: [0; SHORT], length: 0 };
        // Cut or not, there is a text.
        let _ = text.write_fmt(arguments);
        text
    }

    fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.length).unwrap_or_default();
        match core::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        }
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..).unwrap_or_default();
        let taken = text.len().min(room.len());
        room[..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        if taken == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Ends the test with a failure unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($why:tt)+) => {
        if !$condition {
            return Err($crate::Why::failed(format_args!($($why)+)));
        }
    };
}

/// Ends the test with a failure unless both values are equal; the text says what they are.
#[macro_export]
macro_rules! ensure_eq {
    ($seen:expr, $expected:expr, $what:literal) => {{
        let (seen, expected) = (&$seen, &$expected);
        if *seen != *expected {
            return Err($crate::Why::failed(format_args!(concat!($what, ": {:?}, expected {:?}"), seen, expected)));
        }
    }};
}

/// Prints a line that belongs to no test's outcome.
#[macro_export]
macro_rules! note {
    ($($text:tt)+) => { $crate::print_note(format_args!($($text)+)) };
}

/// See [`note!`].
pub fn print_note(text: fmt::Arguments<'_>) {
    // The console does not fail.
    let _ = writeln!(bsp::console(), "note: {text}");
}

/// One test of an image.
pub struct Test {
    /// Name, unique in the image.
    pub name: &'static str,
    /// Limit in kernel ticks.
    pub limit: u32,
    /// The test; runs in the judge.
    pub run: fn() -> Outcome,
}

/// The tests of an image: `tests![function: limit in ticks, ...]`.
#[macro_export]
macro_rules! tests {
    ($($function:ident: $limit:expr),+ $(,)?) => {
        &[$($crate::Test { name: stringify!($function), limit: $limit, run: $function }),+]
    };
}

stack! { static JUDGE_STACK: Stack<Dram0, 16384>; }
static JUDGE_CELL: ThreadCell = ThreadCell::new();
static WATCHDOG: Timer = Timer::new();
static AT: AtomicUsize = AtomicUsize::new(0);
static PASSED: AtomicU32 = AtomicU32::new(0);
static FAILED: AtomicU32 = AtomicU32::new(0);

/// Runs the tests; ends the image with 0 if all passed and with 1 otherwise.
pub fn run(tests: &'static [Test]) -> ! {
    run_after(tests, |_| ())
}

/// [`run`], with a look at the initialization context before.
pub fn run_after(tests: &'static [Test], define: impl FnOnce(&mut Init)) -> ! {
    threadx::start(|init| {
        define(init);
        if let Err(error) = start_judge(tests) {
            bsp::println!("error: the judge does not start: {}", error);
            bsp::exit(1);
        }
    })
}

/// Uses the stack that it is called on down to `limit` and a little more.
pub fn use_up(limit: *const u8) {
    let frame = core::hint::black_box([0u32; 16]);
    if frame.as_ptr().cast() > limit {
        use_up(limit);
    }
    core::hint::black_box(&frame);
}

/// Starts the kernel with one thread, of this name, priority 5 and worker 0's stack, that runs `f`: for the
/// images that are to end in a fault. If `f` returns, the image ends with 1.
pub fn run_to_fault(name: &'static str, f: fn()) -> ! {
    threadx::start(|_| {
        let thread = Builder::new(name).priority(Priority::of::<5>());
        let spawned = spawn(0, thread, move || {
            f();
            bsp::println!("survived");
            bsp::exit(1);
        });
        match spawned {
            Ok(handle) => handle.detach(),
            Err(error) => {
                bsp::println!("error: the thread does not start: {}", error);
                bsp::exit(1);
            }
        }
    })
}

fn start_judge(tests: &'static [Test]) -> Result<(), Error> {
    WATCHDOG.create("watchdog", Schedule::once(Ticks::MAX), move || {
        let test = tests.get(AT.load(Ordering::Relaxed));
        let (name, limit) = test.map_or(("?", 0), |t| (t.name, t.limit));
        bsp::println!("\ntest {} ... FAILED: time limit of {} ticks", name, limit);
        FAILED.fetch_add(1, Ordering::Relaxed);
        finish();
    })?;
    let stack = JUDGE_STACK.take()?;
    let judge = Builder::new("judge").priority(Priority::of::<JUDGE>());
    judge.spawn(&JUDGE_CELL, stack, move || judge_all(tests))?.detach();
    Ok(())
}

fn judge_all(tests: &'static [Test]) {
    for (at, test) in tests.iter().enumerate() {
        AT.store(at, Ordering::Relaxed);
        let outcome = watch(test.limit).and_then(|()| (test.run)());
        let (counter, outcome_text) = match &outcome {
            Ok(()) => (&PASSED, "ok"),
            Err(why) if why.missed => (&FAILED, "window not hit: "),
            Err(_) => (&FAILED, "FAILED: "),
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let why = outcome.as_ref().err().map_or("", |why| why.text.as_str());
        bsp::println!("test {} ... {}{}", test.name, outcome_text, why);
    }
    finish();
}

fn watch(limit: u32) -> Outcome {
    WATCHDOG.deactivate()?;
    WATCHDOG.change(Schedule::once(Ticks::new(limit)))?;
    WATCHDOG.activate()?;
    Ok(())
}

fn finish() -> ! {
    let (passed, failed) = (PASSED.load(Ordering::Relaxed), FAILED.load(Ordering::Relaxed));
    let word = if failed == 0 { "ok" } else { "FAILED" };
    bsp::println!("test result: {}. {} passed; {} failed", word, passed, failed);
    bsp::exit(u8::from(failed != 0))
}

stack! {
    static STACK_0: Stack<Dram0, 4096>;
    static STACK_1: Stack<Dram0, 4096>;
    static STACK_2: Stack<Dram0, 4096>;
    static STACK_3: Stack<Dram0, 4096>;
    static STACK_4: Stack<Dram0, 4096>;
    static STACK_5: Stack<Dram0, 4096>;
    static STACK_6: Stack<Dram0, 4096>;
    static STACK_7: Stack<Dram0, 4096>;
}
static STACKS: [&threadx::Stack<Dram0, 4096>; 8] =
    [&STACK_0, &STACK_1, &STACK_2, &STACK_3, &STACK_4, &STACK_5, &STACK_6, &STACK_7];
static CELLS: [ThreadCell; 8] = [const { ThreadCell::new() }; 8];

/// Cell of worker `n`, 0 to 7.
#[must_use]
pub fn cell(n: usize) -> &'static ThreadCell {
    &CELLS[n]
}

/// Stack of worker `n`, 0 to 7: 4096 bytes in the main RAM.
///
/// # Errors
/// [`Error::StackTaken`].
pub fn stack_of(n: usize) -> Result<StackToken<Dram0>, Error> {
    STACKS[n].take()
}

/// Where the stack of worker `n` lies.
#[must_use]
pub fn stack_addresses(n: usize) -> core::ops::Range<usize> {
    STACKS[n].addresses()
}

/// Spawns worker `n`, 0 to 7.
///
/// # Errors
/// As [`Builder::spawn`] and [`stack_of`].
pub fn spawn<T: Send + 'static>(
    n: usize,
    builder: Builder,
    f: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    builder.spawn(cell(n), stack_of(n)?, f)
}

/// A builder of priority `P`.
pub const fn at<const P: u32>(name: &'static str) -> Builder {
    Builder::new(name).priority(Priority::of::<P>())
}

/// Waits until just after a tick, so that what follows has a whole tick to itself. From threads.
///
/// # Errors
/// [`Error::Caller`] elsewhere and in a critical section.
pub fn just_after_a_tick() -> Result<(), Error> {
    threadx::thread::sleep(Ticks::new(1))
}

/// Spins for about this many counts of the board's counter, at most some ten too many. Callable from
/// every context.
pub fn spin(counts: u32) {
    /// At most so many instructions a round.
    const ROUND: u32 = if cfg!(debug_assertions) { 512 } else { 16 };
    let start = bsp::cycles();
    loop {
        let left = counts.saturating_sub(bsp::cycles().wrapping_sub(start));
        if left == 0 {
            return;
        }
        // A loop without counter reads runs faster in the emulator.
        for round in 0..left / ROUND {
            core::hint::black_box(round);
        }
    }
}

/// Numbers in the order in which they happened, from any context.
pub struct Trace {
    entries: [AtomicU32; 64],
    length: AtomicUsize,
}

impl Default for Trace {
    fn default() -> Self {
        Self::new()
    }
}

impl Trace {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: [const { AtomicU32::new(0) }; 64], length: AtomicUsize::new(0) }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.length.store(0, Ordering::Relaxed);
    }

    /// Adds a number; from the 65th on they are only counted.
    pub fn push(&self, number: u32) {
        let at = self.length.fetch_add(1, Ordering::Relaxed);
        if let Some(entry) = self.entries.get(at) {
            entry.store(number, Ordering::Relaxed);
        }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number `at`.
    #[must_use]
    pub fn get(&self, at: usize) -> u32 {
        self.entries.get(at).map_or(0, |entry| entry.load(Ordering::Relaxed))
    }

    /// Fails unless exactly this happened, in this order.
    ///
    /// # Errors
    /// With both sequences in words.
    pub fn expect(&self, expected: &[u32]) -> Outcome {
        let same = self.len() == expected.len() && expected.iter().enumerate().all(|(at, &e)| self.get(at) == e);
        if same {
            return Ok(());
        }
        let mut seen = Text { bytes: [0; SHORT], length: 0 };
        for at in 0..self.len() {
            // Cut or not, there is a text.
            let _ = write!(seen, "{} ", self.get(at));
        }
        Err(Why::failed(format_args!("order {}instead of {expected:?}", seen.as_str())))
    }
}

/// Checks the scheduler's lists against their invariants. From threads.
///
/// # Errors
/// Says which one is broken. Without the bundled kernel there is nothing to look at.
pub fn check_kernel() -> Outcome {
    #[cfg(feature = "bundled")]
    if let Err(broken) = kernel::c_api::check_invariants() {
        return Err(Why::failed(format_args!("kernel invariant: {broken}")));
    }
    Ok(())
}
