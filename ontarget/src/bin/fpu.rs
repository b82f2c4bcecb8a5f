//! Floating-point and callee-saved registers across switches of every kind.
//!
//! Field report P03: threads hold different patterns in D0-D15, FPSCR and the core registers, and
//! every interrupt computes with floats. 10^6 switches by relinquish, called and inlined, 10^6 by
//! preemption, and 10^6 by all three in turn.
#![no_std]
#![no_main]

use core::arch::global_asm;
use core::cell::UnsafeCell;
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ontarget::{Outcome, Why, at, check_kernel, ensure, ensure_eq, noise, note, spawn, tests};
use threadx::thread;
use threadx::{Error, JoinHandle, Semaphore, ThreadRef, Ticks, TimeSlice, Timeout};

#[bsp::entry]
fn main() -> ! {
    ontarget::run(tests![
        rounding_mode_is_per_thread: 10,
        by_relinquish: 1000,
        by_preemption: 2000,
        by_all_in_turn: 2000,
        by_time_slice: 100,
    ])
}

/// What a thread keeps in its registers. The layout is the assembly's.
#[repr(C, align(8))]
struct Pattern {
    d: [u64; 16],
    /// R2-R12 and LR.
    r: [u32; 12],
    fpscr: u32,
    stop: AtomicU32,
    /// Rounds to go in the relinquishing loop, rounds done in the other.
    rounds: UnsafeCell<u32>,
    /// What the relinquishing loop calls.
    relinquish: extern "C" fn(),
}

// SAFETY: `rounds` is used by the one thread that the pattern was given to, and read after its end.
unsafe impl Sync for Pattern {}

const _: () = {
    assert!(core::mem::offset_of!(Pattern, r) == 128);
    assert!(core::mem::offset_of!(Pattern, fpscr) == 176);
    assert!(core::mem::offset_of!(Pattern, stop) == 180);
    assert!(core::mem::offset_of!(Pattern, rounds) == 184);
    assert!(core::mem::offset_of!(Pattern, relinquish) == 188);
};

impl Pattern {
    /// Thread `n` rounds in mode `n % 4` (FPSCR bits 23:22) and has its own condition flags there; an odd one
    /// relinquishes by a call, an even one by the inlined sequence.
    const fn new(n: u32, rounds: u32) -> Self {
        let mut d = [0; 16];
        let mut i = 0;
        while i < 16 {
            d[i] = 0x4010_2030_0000_0000 + ((n as u64 + 1) << 40) + 0x0101_0101 * (i as u64 + 1) + n as u64;
            i += 1;
        }
        let mut r = [0; 12];
        i = 0;
        while i < 12 {
            r[i] = 0xc0de_0000 + (n << 8) + i as u32;
            i += 1;
        }
        let fpscr = (n % 4) << 22 | (n % 3) << 30 | (n % 2) << 24;
        let relinquish = if n.is_multiple_of(2) { inlined } else { called };
        Self { d, r, fpscr, stop: AtomicU32::new(0), rounds: UnsafeCell::new(rounds), relinquish }
    }

    fn rounds(&self) -> u32 {
        // SAFETY: the thread has ended, or it is this one.
        unsafe { *self.rounds.get() }
    }
}

extern "C" fn called() {
    thread::relinquish();
}

/// Its prologue and epilogue keep D8-D15, the sequence in it the rest.
extern "C" fn inlined() {
    thread::relinquish_inline();
}

unsafe extern "C" {
    /// The bits of 1/3 in the rounding mode in force.
    fn fpu_third() -> u32;
    /// Loads R4-R11, D8-D15 and FPSCR, relinquishes, compares; `rounds` times. What a call must keep.
    /// Returns the number of rounds with a difference.
    fn fpu_relinquishing(pattern: &'static Pattern) -> u32;
    /// Loads R2-R12, LR, D0-D15 and FPSCR, spins, compares; until `stop` is not 0. What an interrupt must
    /// keep. Returns the number of rounds with a difference.
    fn fpu_spinning(pattern: &'static Pattern) -> u32;
}

// Frame of both: D8-D15, then the caller's R3-R11 and LR. Below: the pattern, the differences.
global_asm!(
    ".fpu vfpv3-d16",
    ".arm",
    ".macro fpu_compare_double reg",
    "    vmov    r1, r3, d\\reg",
    "    ldr     r2, [r0, #(8 * \\reg)]",
    "    cmp     r1, r2",
    "    bne     5f",
    "    ldr     r2, [r0, #(8 * \\reg + 4)]",
    "    cmp     r3, r2",
    "    bne     5f",
    ".endm",
    ".section .text.fpu_third,\"ax\",%progbits",
    ".global fpu_third",
    ".type fpu_third, %function",
    "fpu_third:",
    "    vmov.f32 s0, #1.0",
    "    vmov.f32 s1, #3.0",
    "    vdiv.f32 s0, s0, s1",
    "    vmov    r0, s0",
    "    bx      lr",
    ".size fpu_third, . - fpu_third",
    ".section .text.fpu_relinquishing,\"ax\",%progbits",
    ".global fpu_relinquishing",
    ".type fpu_relinquishing, %function",
    "fpu_relinquishing:",
    "    push    {{r3-r11, lr}}",
    "    vpush   {{d8-d15}}",
    "    mov     r1, #0",
    "    push    {{r0, r1}}",
    "2:  ldr     r0, [sp]",
    "    ldr     r1, [r0, #176]",
    "    vmsr    fpscr, r1",
    "    add     r1, r0, #64",
    "    vldmia  r1, {{d8-d15}}",
    "    add     r1, r0, #136", // R4 is the third of R2-R12
    "    ldmia   r1, {{r4-r11}}",
    "    ldr     r0, [r0, #188]",
    "    blx     r0",
    "    ldr     r0, [sp]",
    "    vmrs    r1, fpscr",
    "    ldr     r2, [r0, #176]",
    "    cmp     r1, r2",
    "    bne     5f",
    "    add     r1, r0, #136",
    ".irp reg, r4, r5, r6, r7, r8, r9, r10, r11",
    "    ldr     r2, [r1], #4",
    "    cmp     r2, \\reg",
    "    bne     5f",
    ".endr",
    ".irp reg, 8, 9, 10, 11, 12, 13, 14, 15",
    "    fpu_compare_double \\reg",
    ".endr",
    "    b       6f",
    "5:  ldr     r1, [sp, #4]",
    "    add     r1, r1, #1",
    "    str     r1, [sp, #4]",
    "6:  ldr     r1, [r0, #184]",
    "    subs    r1, r1, #1",
    "    str     r1, [r0, #184]",
    "    bne     2b",
    "    b       fpu_return",
    ".size fpu_relinquishing, . - fpu_relinquishing",
    ".global fpu_spinning",
    ".type fpu_spinning, %function",
    "fpu_spinning:",
    "    push    {{r3-r11, lr}}",
    "    vpush   {{d8-d15}}",
    "    mov     r1, #0",
    "    push    {{r0, r1}}",
    "2:  ldr     r0, [sp]",
    "    ldr     r1, [r0, #176]",
    "    vmsr    fpscr, r1",
    "    vldmia  r0!, {{d0-d15}}",
    "    ldmia   r0, {{r2-r12, lr}}",
    "    mov     r0, #50",
    "3:  subs    r0, r0, #1",
    "    bne     3b",
    "    ldr     r0, [sp]",
    "    add     r0, r0, #128",
    ".irp reg, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, lr",
    "    ldr     r1, [r0], #4",
    "    cmp     r1, \\reg",
    "    bne     5f",
    ".endr",
    "    ldr     r0, [sp]",
    "    vmrs    r1, fpscr",
    "    ldr     r2, [r0, #176]",
    "    cmp     r1, r2",
    "    bne     5f",
    ".irp reg, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
    "    fpu_compare_double \\reg",
    ".endr",
    "    b       6f",
    "5:  ldr     r1, [sp, #4]",
    "    add     r1, r1, #1",
    "    str     r1, [sp, #4]",
    "6:  ldr     r0, [sp]",
    "    ldr     r1, [r0, #184]",
    "    add     r1, r1, #1",
    "    str     r1, [r0, #184]",
    "    ldr     r1, [r0, #180]",
    "    cmp     r1, #0",
    "    beq     2b",
    "fpu_return:",
    "    pop     {{r0, r1}}",
    "    mov     r0, r1",
    "    mov     r1, #0",
    "    vmsr    fpscr, r1",
    "    vpop    {{d8-d15}}",
    "    pop     {{r3-r11, pc}}",
    ".size fpu_spinning, . - fpu_spinning",
);

fn relinquishing(pattern: &'static Pattern) -> u32 {
    // SAFETY: the function keeps the calling convention; FPSCR holds another rounding mode only while
    // no Rust code of this thread runs. The pattern is this thread's.
    unsafe { fpu_relinquishing(pattern) }
}

fn spinning(pattern: &'static Pattern) -> u32 {
    // SAFETY: as above.
    unsafe { fpu_spinning(pattern) }
}

/// One third in the rounding mode to nearest, and what truncation would give.
const NEAREST: u32 = 0x3eaa_aaab;
static WRONG: AtomicU32 = AtomicU32::new(0);

/// Floating-point work as an interrupt handler might do, which must not see a thread's rounding mode.
fn compute() {
    let third = black_box(1.0_f32) / black_box(3.0_f32);
    let mut sum = [0.0_f32; 16];
    for (n, s) in (1_u16..).zip(sum.iter_mut()) {
        *s = third * f32::from(n) + black_box(0.5);
    }
    black_box(&sum);
    if third.to_bits() != NEAREST {
        WRONG.store(WRONG.load(Relaxed) + 1, Relaxed);
    }
}

fn start_noise(least: u32, handler: fn()) -> Outcome {
    WRONG.store(0, Relaxed);
    noise::start(0x90, least, 700, handler).map_err(|error| Why::failed(format_args!("the noise: {error:?}")))
}

fn no_differences(handles: impl IntoIterator<Item = JoinHandle<u32>>) -> Outcome {
    for handle in handles {
        let name = handle.thread().name();
        let differences = handle.join()?;
        ensure!(differences == 0, "{differences} rounds of thread {name} found a register changed");
    }
    ensure_eq!(WRONG.load(Relaxed), 0, "interrupts that computed in a thread's rounding mode");
    check_kernel()
}

/// That the test sees anything at all: a thread that rounds to zero computes another third.
fn rounding_mode_is_per_thread() -> Outcome {
    let set = |fpscr: u32| {
        // SAFETY: FPSCR belongs to the thread; it is set back before the thread ends.
        unsafe { core::arch::asm!("vmsr fpscr, {}", in(reg) fpscr, options(nomem, nostack)) };
    };
    // In assembly, because the compiler knows of no rounding modes and would move a division across the
    // change of mode.
    // SAFETY: uses D0 and D1 only.
    let third = || unsafe { fpu_third() };
    let zero = spawn(0, at::<16>("to zero"), move || {
        set(3 << 22);
        let before = third();
        thread::relinquish();
        let after = third();
        set(0);
        (before, after)
    })?;
    ensure_eq!(third(), NEAREST, "third of the judge");
    thread::relinquish();
    ensure_eq!(third(), NEAREST, "third of the judge after the other thread");
    ensure_eq!(zero.join()?, (NEAREST - 1, NEAREST - 1), "thirds of the thread that rounds to zero");
    Ok(())
}

fn by_relinquish() -> Outcome {
    const ROUNDS: u32 = 250_000;
    static PATTERNS: [Pattern; 4] =
        [Pattern::new(1, ROUNDS), Pattern::new(2, ROUNDS), Pattern::new(3, ROUNDS), Pattern::new(4, ROUNDS)];
    start_noise(300, || {
        noise::again();
        compute();
    })?;
    let handles = [
        spawn(0, at::<20>("one"), || relinquishing(&PATTERNS[0]))?,
        spawn(1, at::<20>("two"), || relinquishing(&PATTERNS[1]))?,
        spawn(2, at::<20>("three"), || relinquishing(&PATTERNS[2]))?,
        spawn(3, at::<20>("four"), || relinquishing(&PATTERNS[3]))?,
    ];
    let switches: u32 = handles.iter().map(|h| h.thread()).map(wait_for_end).sum();
    noise::stop();
    no_differences(handles)?;
    note!("{switches} turns by relinquish, {} interrupts", noise::count());
    ensure!(switches >= 4 * ROUNDS, "only {switches} turns");
    ensure!(noise::count() > 10_000, "only {} interrupts", noise::count());
    Ok(())
}

/// Waits for the thread's end; its run count.
fn wait_for_end(thread: ThreadRef) -> u32 {
    loop {
        match thread.info() {
            Ok(info) if info.state != thread::State::Completed => {
                // Interrupted or not, it is asked again.
                let _ = thread::sleep(Ticks::new(1));
            }
            Ok(info) => return info.run_count,
            Err(_) => return 0,
        }
    }
}

/// Each interrupt wakes a thread that has patterns of its own and that suspends one spinner and resumes
/// the other, so that a spinner continues in a place where another was interrupted.
fn by_preemption() -> Outcome {
    const WAKES: u32 = 500_000;
    static WOKEN: Semaphore = Semaphore::new();
    static SPINNERS: [Pattern; 2] = [Pattern::new(5, 0), Pattern::new(6, 0)];
    static HIGH: Pattern = Pattern::new(7, 0);
    WOKEN.create("woken", 0)?;
    let a = spawn(0, at::<20>("a"), || spinning(&SPINNERS[0]))?;
    let b = spawn(1, at::<20>("b"), || spinning(&SPINNERS[1]))?;
    // One round of the loop at each wake.
    HIGH.stop.store(1, Relaxed);
    let spinners = [a.thread(), b.thread()];
    let high = spawn(2, at::<10>("high"), move || -> Result<u32, Error> {
        let mut differences = 0;
        spinners[1].suspend()?;
        for round in 0..WAKES as usize {
            WOKEN.get(Timeout::Forever)?;
            differences += spinning(&HIGH);
            spinners[round % 2].suspend()?;
            spinners[(round + 1) % 2].resume()?;
        }
        for (pattern, spinner) in SPINNERS.iter().zip(spinners) {
            pattern.stop.store(1, Relaxed);
            let _ = spinner.resume();
        }
        Ok(differences)
    })?;
    // Longer than a wake with all it does, so that the woken thread waits again each time.
    start_noise(2500, || {
        noise::again();
        compute();
        // Cannot fail: the semaphore exists until the noise ends.
        let _ = WOKEN.put();
    })?;
    let wakes = wait_for_end(high.thread());
    noise::stop();
    ensure_eq!(high.join()?, Ok(0), "rounds of thread high that found a register changed");
    no_differences([a, b])?;
    WOKEN.delete()?;
    note!(
        "{wakes} wakes, {} interrupts; rounds of register checks: {} and {} between, {} by the woken thread",
        noise::count(),
        SPINNERS[0].rounds(),
        SPINNERS[1].rounds(),
        HIGH.rounds()
    );
    ensure!(wakes >= WAKES, "only {wakes} preemptions");
    ensure!(SPINNERS.iter().all(|p| p.rounds() > WAKES / 4), "a spinner hardly ran");
    Ok(())
}

/// Values of every kind that live across an inlined relinquish in registers, as far as the compiler finds
/// any that it does not lose: `rounds` times. The number of values that were wrong at the end.
fn living(seed: u32, rounds: u32) -> u32 {
    let mut floats: [f64; 12] = core::array::from_fn(|n| f64::from(seed) + n as f64);
    let mut integers: [u32; 8] = core::array::from_fn(|n| black_box(seed * 100 + n as u32));
    for _ in 0..rounds {
        floats.iter_mut().for_each(|float| *float += 1.0);
        thread::relinquish_inline();
        integers.iter_mut().for_each(|integer| *integer = integer.wrapping_add(3));
    }
    let float = |n: usize| f64::from(seed) + n as f64 + f64::from(rounds);
    let integer = |n: usize| (seed * 100 + n as u32).wrapping_add(3 * rounds);
    let floats = (0..).zip(floats).filter(|&(n, seen)| seen != float(n)).count();
    let integers = (0..).zip(integers).filter(|&(n, seen)| seen != integer(n)).count();
    (floats + integers) as u32
}

/// Threads that call relinquish, that have it inlined, and that have it inlined among living values, while
/// each interrupt wakes a thread with registers of its own: every kind of switch follows every other.
fn by_all_in_turn() -> Outcome {
    const ROUNDS: u32 = 250_000;
    static WOKEN: Semaphore = Semaphore::new();
    static PATTERNS: [Pattern; 2] = [Pattern::new(11, ROUNDS), Pattern::new(12, ROUNDS)];
    static HIGH: Pattern = Pattern::new(13, 0);
    static END: AtomicU32 = AtomicU32::new(0);
    WOKEN.create("woken", 0)?;
    END.store(0, Relaxed);
    // One round of the loop at each wake.
    HIGH.stop.store(1, Relaxed);
    let high = spawn(4, at::<10>("high"), || {
        let mut differences = 0;
        while END.load(Relaxed) == 0 && WOKEN.get(Timeout::Forever).is_ok() {
            differences += spinning(&HIGH);
        }
        differences
    })?;
    start_noise(1500, || {
        noise::again();
        compute();
        // Cannot fail: the semaphore exists until the noise ends.
        let _ = WOKEN.put();
    })?;
    let handles = [
        spawn(0, at::<20>("called"), || relinquishing(&PATTERNS[0]))?,
        spawn(1, at::<20>("inlined"), || relinquishing(&PATTERNS[1]))?,
        spawn(2, at::<20>("living"), || living(7, ROUNDS))?,
        spawn(3, at::<20>("living too"), || living(8, ROUNDS))?,
    ];
    let turns: u32 = handles.iter().map(|h| h.thread()).map(wait_for_end).sum();
    noise::stop();
    END.store(1, Relaxed);
    WOKEN.put()?;
    let wakes = wait_for_end(high.thread());
    no_differences(handles)?;
    no_differences([high])?;
    WOKEN.delete()?;
    note!("{turns} turns of all kinds, {wakes} wakes in between");
    ensure!(turns >= 4 * ROUNDS, "only {turns} turns");
    ensure!(wakes > 10_000, "only {wakes} wakes");
    Ok(())
}

/// Equal threads that only the tick takes the processor from.
fn by_time_slice() -> Outcome {
    static PATTERNS: [Pattern; 3] = [Pattern::new(8, 0), Pattern::new(9, 0), Pattern::new(10, 0)];
    let sliced = |name| at::<20>(name).time_slice(TimeSlice::ticks(1));
    let handles = [
        spawn(0, sliced("a"), || spinning(&PATTERNS[0]))?,
        spawn(1, sliced("b"), || spinning(&PATTERNS[1]))?,
        spawn(2, sliced("c"), || spinning(&PATTERNS[2]))?,
    ];
    start_noise(300, || {
        noise::again();
        compute();
    })?;
    thread::sleep(Ticks::new(31))?;
    for pattern in &PATTERNS {
        pattern.stop.store(1, Relaxed);
    }
    thread::sleep(Ticks::new(5))?;
    noise::stop();
    no_differences(handles)?;
    for pattern in &PATTERNS {
        ensure!(pattern.rounds() > 1000, "only {} rounds in 10 slices", pattern.rounds());
    }
    Ok(())
}
