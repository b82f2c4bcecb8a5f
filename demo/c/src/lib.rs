//! The measurements of the demo in C (`../twin.c`), for comparison: the same loops against the kernel's
//! `tx_api.h`, in the same image, with the checked or the unchecked services.
#![no_std]
#![cfg(target_os = "none")]

use core::sync::atomic::{AtomicBool, Ordering};

use measure::{Cache, Disturbed, Exclusion, Samples};

// Brings the kernel's symbols into the image.
use threadx_sys as _;

/// Samples of a series of round trips.
pub const ROUNDS: usize = 256;
/// Samples of a series of dives.
pub const DIVES: usize = 64;

/// Which services the C code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// The checked ones, as `tx_api.h` has it.
    On,
    /// The unchecked ones (`TX_DISABLE_ERROR_CHECKING`).
    Off,
}

/// Memory of the stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Memory {
    /// `bsp::memory::Btcm`.
    Btcm = 0,
    /// `bsp::memory::Dram0`.
    Dram0 = 1,
}

/// Why there is no series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A service of the kernel returned this code.
    Service(u32),
    /// Another thread measures at the moment, or the caller is no thread.
    Caller,
}

/// What a series brings back.
pub struct Series<const N: usize> {
    /// The samples.
    pub samples: Samples<N>,
    /// Every result of the measured work was right.
    pub right: bool,
    /// Times the measuring thread was scheduled.
    pub turns: u32,
    /// Address of a variable on its stack.
    pub stack: usize,
}

#[repr(C)]
struct Board {
    clean_invalidate_data: extern "C" fn(),
    interrupts: extern "C" fn() -> u32,
}

#[repr(C)]
struct Raw {
    samples: [u32; ROUNDS],
    disturbed: [u8; ROUNDS],
    taken: u32,
    wrong: u32,
    turns: u32,
    stack: *const u8,
}

unsafe extern "C" {
    fn twin_switch_checked(board: *const Board, out: *mut Raw, region: u32, cold: u32) -> u32;
    fn twin_switch_unchecked(board: *const Board, out: *mut Raw, region: u32, cold: u32) -> u32;
    fn twin_deep_checked(board: *const Board, out: *mut Raw, region: u32) -> u32;
    fn twin_deep_unchecked(board: *const Board, out: *mut Raw, region: u32) -> u32;
    safe fn twin_floats_checked(a: f32, b: f64, c: f32, rust: extern "C" fn(f32, f64, f32) -> f32) -> f32;
    fn twin_vfp_flag_checked() -> u32;
}

extern "C" fn clean_invalidate_data() {
    bsp::cache::clean_invalidate_data();
}

extern "C" fn interrupts() -> u32 {
    bsp::interrupt::count()
}

static BOARD: Board = Board { clean_invalidate_data, interrupts };
/// The C code has one set of threads and stacks.
static BUSY: AtomicBool = AtomicBool::new(false);

fn run<const N: usize>(call: impl FnOnce(*const Board, *mut Raw) -> u32) -> Result<Series<N>, Refusal> {
    const { assert!(N <= ROUNDS) }
    // A sleep of no ticks is refused where there is no thread.
    if threadx::thread::sleep(threadx::Ticks::ZERO).is_err() || BUSY.swap(true, Ordering::Acquire) {
        return Err(Refusal::Caller);
    }
    let mut raw =
        Raw { samples: [0; ROUNDS], disturbed: [0; ROUNDS], taken: 0, wrong: 0, turns: 0, stack: core::ptr::null() };
    let status = call(&raw const BOARD, &raw mut raw);
    BUSY.store(false, Ordering::Release);
    if status != 0 {
        return Err(Refusal::Service(status));
    }
    let mut samples = Samples::new();
    let mut disturbed = Disturbed::new();
    for (&value, &seen) in raw.samples.iter().zip(&raw.disturbed).take(raw.taken as usize) {
        let seen = match seen {
            0 => None,
            1 => Some(Exclusion::Tick),
            _ => Some(Exclusion::Interrupt),
        };
        if samples.push(value, disturbed.mark(seen)).is_err() {
            break;
        }
    }
    Ok(Series { samples, right: raw.wrong == 0, turns: raw.turns, stack: raw.stack as usize })
}

/// Round trips between two threads of priority 16, from a thread of higher priority.
///
/// # Errors
/// [`Refusal`].
pub fn round_trips(checks: Checks, memory: Memory, cache: Cache) -> Result<Series<ROUNDS>, Refusal> {
    let function = match checks {
        Checks::On => twin_switch_checked,
        Checks::Off => twin_switch_unchecked,
    };
    run(|board, out| {
        // SAFETY: both pointers are valid for the whole call, which returns when the threads that use
        // them are gone; `BUSY` keeps a second call out.
        unsafe { function(board, out, memory as u32, u32::from(cache == Cache::Cold)) }
    })
}

/// The recursion through 24 frames of 16 words, in a thread of priority 16, from a thread of higher
/// priority; the data cache is cold.
///
/// # Errors
/// [`Refusal`].
pub fn dives(checks: Checks, memory: Memory) -> Result<Series<DIVES>, Refusal> {
    let function = match checks {
        Checks::On => twin_deep_checked,
        Checks::Off => twin_deep_unchecked,
    };
    run(|board, out| {
        // SAFETY: as above.
        unsafe { function(board, out, memory as u32) }
    })
}

/// Whether floating-point arguments and results arrive as they were sent, from Rust to C and back.
#[must_use]
pub fn floats_arrive() -> bool {
    extern "C" fn back(a: f32, b: f64, c: f32) -> f32 {
        a * 100.0 + b as f32 * 10.0 + c
    }
    // C calls back with (c, 2b, a) and adds b/4.
    twin_floats_checked(1.5, 8.0, 0.25, back) == 0.25 * 100.0 + 16.0 * 10.0 + 1.5 + 2.0
}

/// Whether switching the calling thread's floating-point flag off and on changes the flag and nothing
/// else of its control block. True on a kernel without such a flag, and outside threads.
#[must_use]
pub fn vfp_flag_is_alone() -> bool {
    if threadx::thread::sleep(threadx::Ticks::ZERO).is_err() {
        return true;
    }
    // SAFETY: called in a thread; interrupts are masked while the flag is off, and the C code in between
    // uses no floating point.
    unsafe { twin_vfp_flag_checked() == 0 }
}
