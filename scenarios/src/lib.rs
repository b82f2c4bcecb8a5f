//! Scenarios of the documented ThreadX API, written from its documentation (User Guide, chapters 3 and 4) and from
//! public bug reports, whose labels some names begin with (see `docs/field-reports.md`); and of the safe API.
//!
//! One source for every kernel: `tests/host.rs` runs the scenarios on the bundled kernel's host port,
//! `ontarget/src/bin/scenarios.rs` on the target with either kernel. Each runs in a thread of priority 16 with
//! nobody else there, uses the raw API of `threadx-sys` (the documented names are the checked services) with the
//! static objects of this crate, or that of `threadx`, and leaves no object behind. What must be seen is the
//! documented value; where the kernels are known to part, [`differences`] has both values and the reason, and nothing
//! else may differ.
#![no_std]

use core::fmt;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering::Relaxed};

/// What was seen and is not what is documented.
#[derive(Debug)]
pub struct Failure {
    /// Line of the scenario.
    pub line: u32,
    /// The expression, or the name of a listed difference.
    pub what: &'static str,
    /// Value seen.
    pub seen: u32,
    /// Value documented.
    pub expected: u32,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {} is {:#x}, expected {:#x}", self.line, self.what, self.seen, self.expected)
    }
}

/// How a scenario ends.
pub type Outcome = Result<(), Failure>;

/// Ends the scenario unless both, as `u32`, are equal.
#[macro_export]
macro_rules! is {
    ($seen:expr, $expected:expr) => {{
        let (seen, expected) = (u32::from($seen), u32::from($expected));
        if seen != expected {
            return Err($crate::Failure { line: line!(), what: stringify!($seen), seen, expected });
        }
    }};
}

/// Ends the scenario unless the value is what [`differences`] lists for this kernel.
#[macro_export]
macro_rules! differs {
    ($seen:expr, $difference:ident) => {{
        let seen = u32::from($seen);
        let here = $crate::differences::$difference.here();
        if !here.contains(&seen) {
            return Err($crate::Failure { line: line!(), what: stringify!($difference), seen, expected: here[0] });
        }
    }};
}

/// Ends the scenario unless exactly these numbers were logged since the last look.
#[macro_export]
macro_rules! log_is {
    ($($expected:expr),* $(,)?) => { $crate::LOG.expect(line!(), &[$($expected as u32),*])? };
}

mod cases;
pub mod contexts;
pub mod differences;
mod objects;
mod performance;
mod safe;
pub use cases::ALL;

// ---- what the place that runs the scenarios provides -----------------------------------------------

/// Runs its argument in an interrupt handler, now.
static INTERRUPT: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());
/// Runs its second argument in an interrupt handler, some time from now.
static ALARM: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());
/// Lets a tick pass while the caller runs.
static TICK: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Says how interrupts and ticks come about here. `interrupt` runs its argument in a handler, now; `alarm` in some
/// time, the shorter the smaller its number; `tick` returns directly after the next tick.
pub fn set_platform(interrupt: fn(fn()), alarm: fn(u32, fn()), tick: fn()) {
    INTERRUPT.store(interrupt as *mut (), Relaxed);
    ALARM.store(alarm as *mut (), Relaxed);
    TICK.store(tick as *mut (), Relaxed);
}

fn stored(place: &AtomicPtr<()>) -> *mut () {
    let pointer = place.load(Relaxed);
    assert!(!pointer.is_null(), "set_platform was not called");
    pointer
}

/// Interrupts the caller with `handler`.
pub fn interrupt(handler: fn()) {
    // SAFETY: the only store is that of a `fn(fn())`, above.
    let interrupt = unsafe { core::mem::transmute::<*mut (), fn(fn())>(stored(&INTERRUPT)) };
    interrupt(handler);
}

/// Has `handler` interrupt the caller at a later moment, in the middle of whatever it does then.
pub fn alarm(delay: u32, handler: fn()) {
    // SAFETY: the only store is that of a `fn(u32, fn())`, above.
    let alarm = unsafe { core::mem::transmute::<*mut (), fn(u32, fn())>(stored(&ALARM)) };
    alarm(delay, handler);
}

/// Lets `n` ticks pass; the caller goes on directly after the last one.
pub fn ticks(n: u32) {
    // SAFETY: the only store is that of a `fn()`, above.
    let tick = unsafe { core::mem::transmute::<*mut (), fn()>(stored(&TICK)) };
    (0..n).for_each(|_| tick());
}

/// Runs `scenario` in the calling thread, which has priority 16, and removes what it leaves.
///
/// # Errors
/// The first value that is not the documented one.
pub fn run(scenario: fn() -> Outcome) -> Outcome {
    remove_all();
    LOG.clear();
    NUMBERS.iter().for_each(|number| number.store(0, Relaxed));
    let outcome = scenario();
    remove_all();
    outcome
}

fn remove_all() {
    objects::remove_all();
    safe::remove_all();
}

// ---- what the threads of a scenario tell each other ------------------------------------------------

/// Numbers in the order in which they were told, from every context.
pub struct Log {
    entries: [AtomicU32; 32],
    length: AtomicUsize,
}

/// The log of the running scenario.
pub static LOG: Log = Log { entries: [const { AtomicU32::new(0) }; 32], length: AtomicUsize::new(0) };

impl Log {
    fn clear(&self) {
        self.length.store(0, Relaxed);
    }

    /// Adds a number; beyond 32 they are only counted.
    pub fn push(&self, number: u32) {
        let at = self.length.load(Relaxed);
        self.length.store(at + 1, Relaxed);
        if let Some(entry) = self.entries.get(at) {
            entry.store(number, Relaxed);
        }
    }

    /// Takes what was told; it must be this.
    ///
    /// # Errors
    /// The first number that is another, or how many there are.
    pub fn expect(&self, line: u32, expected: &[u32]) -> Outcome {
        let length = self.length.swap(0, Relaxed);
        for (entry, &expected) in self.entries.iter().zip(expected).take(length) {
            let seen = entry.load(Relaxed);
            if seen != expected {
                return Err(Failure { line, what: "the log's entry", seen, expected });
            }
        }
        if length == expected.len() {
            return Ok(());
        }
        Err(Failure { line, what: "the log's length", seen: length as u32, expected: expected.len() as u32 })
    }
}

/// Values that the threads of a scenario leave for each other.
static NUMBERS: [AtomicU32; 8] = [const { AtomicU32::new(0) }; 8];

fn number(n: usize) -> u32 {
    NUMBERS[n].load(Relaxed)
}

fn set_number(n: usize, value: u32) {
    NUMBERS[n].store(value, Relaxed);
}

fn add_to_number(n: usize, value: u32) {
    NUMBERS[n].fetch_add(value, Relaxed);
}

fn log(value: u32) {
    LOG.push(value);
}
