//! Interrupts: nesting, spurious acknowledges, preemption at the outermost interrupt's end, what an
//! interrupt leaves of the interrupted thread, and what it costs.
//!
//! Field reports: K02 and B09 (a thread that an interrupt made ready runs directly after it), K21
//! (balance of the nesting counter), P06 (acknowledge order, spurious IDs), P14 (link register and
//! stack of the interrupted thread).
#![no_std]
#![no_main]

use core::arch::global_asm;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptError, InterruptId, TICK_PRIORITY};
use ontarget::{
    Outcome, Trace, Why, at, check_kernel, ensure, ensure_eq, just_after_a_tick, noise, note, spawn, tests,
};
use threadx::thread::{self, State};
use threadx::{Error, Semaphore, Ticks, Timeout};

#[bsp::entry]
fn main() -> ! {
    ontarget::run(tests![
        spurious_acknowledge_in_a_handler_is_no_nesting: 10,
        higher_priorities_nest: 10,
        preemption_waits_for_the_outermost: 10,
        resumed_thread_runs_directly: 200,
        woken_at_any_time: 400,
        no_preemption_below_the_interrupted: 10,
        several_changes_in_one_interrupt: 10,
        suspended_by_an_interrupt: 10,
        posture_belongs_to_the_thread: 10,
        spurious_acknowledge_is_ignored: 10,
        line_without_handler_is_switched_off: 10,
        bad_registration_is_refused: 10,
        registers_survive_nested_interrupts: 1000,
        thread_stack_holds_one_frame: 400,
        latency: 50,
        latency_of_a_woken_thread: 10,
    ])
}

static TRACE: Trace = Trace::new();
static S: Semaphore = Semaphore::new();

fn line(n: u8, priority: u8, handler: fn()) -> Outcome {
    interrupt::register(InterruptId::sgi(n), priority, handler)
        .map_err(|error| Why::failed(format_args!("software interrupt {n}: {error:?}")))?;
    interrupt::enable(InterruptId::sgi(n));
    Ok(())
}

fn higher_priorities_nest() -> Outcome {
    line(1, 0xc0, || {
        TRACE.push(1);
        interrupt::pend_sgi(2);
        TRACE.push(5);
        interrupt::pend_sgi(4);
        TRACE.push(6);
    })?;
    line(2, 0x90, || {
        TRACE.push(2);
        interrupt::pend_sgi(3);
        TRACE.push(4);
    })?;
    line(3, 0x20, || TRACE.push(30 + interrupt::nesting()))?;
    // The same priority as the first: it waits.
    line(4, 0xc0, || TRACE.push(70 + interrupt::nesting()))?;
    interrupt::pend_sgi(1);
    TRACE.push(8);
    TRACE.expect(&[1, 2, 33, 4, 5, 6, 71, 8])?;
    TRACE.clear();
    ensure_eq!(interrupt::nesting(), 0, "nesting in a thread");
    // The tick may have been there too.
    ensure!(matches!(interrupt::max_nesting(), 3 | 4), "deepest nesting {}", interrupt::max_nesting());
    Ok(())
}

fn preemption_waits_for_the_outermost() -> Outcome {
    S.create("outermost", 0)?;
    let high = spawn(0, at::<10>("high"), || {
        let got = S.get(Timeout::Forever);
        TRACE.push(4);
        got
    })?;
    line(1, 0xc0, || {
        TRACE.push(1);
        interrupt::pend_sgi(2);
        TRACE.push(3);
    })?;
    line(2, 0x90, || {
        if S.put().is_ok() {
            TRACE.push(2);
        }
    })?;
    interrupt::pend_sgi(1);
    TRACE.push(5);
    TRACE.expect(&[1, 2, 3, 4, 5])?;
    TRACE.clear();
    high.join()??;
    S.delete()?;
    check_kernel()
}

static RUNS: AtomicU32 = AtomicU32::new(0);
static STOP: AtomicBool = AtomicBool::new(false);

/// A thread of priority 10 that suspends itself and counts each time it is resumed.
fn suspending() -> Result<threadx::JoinHandle<Outcome>, Error> {
    RUNS.store(0, Relaxed);
    STOP.store(false, Relaxed);
    spawn(0, at::<10>("high"), || {
        let me = thread::current().ok_or(Error::Thread)?;
        loop {
            me.suspend()?;
            if STOP.load(Relaxed) {
                return Ok(());
            }
            RUNS.store(RUNS.load(Relaxed) + 1, Relaxed);
        }
    })
}

fn resume_high() {
    let _ = on_target_thread(|t| t.resume().map(|_| ()));
}

/// The thread that the handlers act on.
static TARGET: critical_section::Mutex<core::cell::Cell<Option<threadx::ThreadRef>>> =
    critical_section::Mutex::new(core::cell::Cell::new(None));

fn on_target_thread(f: impl FnOnce(threadx::ThreadRef) -> Result<(), Error>) -> Result<(), Error> {
    critical_section::with(|section| TARGET.borrow(section).get()).map_or(Err(Error::Thread), f)
}

fn aim(thread: threadx::ThreadRef) {
    critical_section::with(|section| TARGET.borrow(section).set(Some(thread)));
}

/// B09: 10^4 times, the resumed thread has run before the next instruction of the lower one.
fn resumed_thread_runs_directly() -> Outcome {
    let high = suspending()?;
    aim(high.thread());
    line(1, 0x90, resume_high)?;
    for n in 1..=10_000 {
        interrupt::pend_sgi(1);
        ensure_eq!(RUNS.load(Relaxed), n, "runs after the interrupt");
    }
    STOP.store(true, Relaxed);
    interrupt::pend_sgi(1);
    high.join()?
}

/// K02: an interrupt of random period puts a semaphore while the lower thread is inside services that
/// turn preemption off for a while. Whenever the lower thread looks, each put has been answered.
fn woken_at_any_time() -> Outcome {
    static PUTS: AtomicU32 = AtomicU32::new(0);
    static OWN: Semaphore = Semaphore::new();
    const ROUNDS: u32 = 50_000;
    RUNS.store(0, Relaxed);
    S.create("any time", 0)?;
    OWN.create("own", 0)?;
    let high = spawn(0, at::<10>("high"), || -> Result<(), Error> {
        for _ in 0..ROUNDS {
            S.get(Timeout::Forever)?;
            RUNS.store(RUNS.load(Relaxed) + 1, Relaxed);
        }
        Ok(())
    })?;
    let equal = spawn(1, at::<16>("equal"), || {
        while RUNS.load(Relaxed) < ROUNDS {
            thread::relinquish();
        }
    })?;
    start_noise(0x90, 700, 1000, || {
        noise::again();
        if PUTS.load(Relaxed) < ROUNDS {
            PUTS.store(PUTS.load(Relaxed) + 1, Relaxed);
            // Cannot fail: the semaphore exists until the noise ends.
            let _ = S.put();
        }
    })?;
    let mut worst = Ok(());
    while RUNS.load(Relaxed) < ROUNDS && worst.is_ok() {
        OWN.put()?;
        OWN.get(Timeout::NoWait)?;
        thread::relinquish();
        critical_section::with(|_| OWN.put())?;
        OWN.get(Ticks::new(1))?;
        let (puts, runs) = interrupt::masked(|| (PUTS.load(Relaxed), RUNS.load(Relaxed)));
        if puts != runs {
            worst = Err(Why::failed(format_args!("{puts} puts, {runs} answers")));
        }
    }
    noise::stop();
    worst?;
    ensure_eq!(RUNS.load(Relaxed), ROUNDS, "answers");
    high.join()??;
    equal.join()?;
    S.delete()?;
    OWN.delete()?;
    check_kernel()
}

fn start_noise(priority: u8, least: u32, spread: u32, handler: fn()) -> Outcome {
    noise::start(priority, least, spread, handler).map_err(|error| Why::failed(format_args!("the noise: {error:?}")))
}

/// A thread below the interrupted one becomes ready: nothing happens until it is its turn.
fn no_preemption_below_the_interrupted() -> Outcome {
    S.create("below", 0)?;
    let low = spawn(0, at::<20>("low"), || {
        let got = S.get(Timeout::Forever);
        TRACE.push(2);
        got
    })?;
    thread::sleep(Ticks::new(1))?;
    line(1, 0x90, || {
        let _ = S.put();
    })?;
    interrupt::pend_sgi(1);
    TRACE.push(1);
    low.join()??;
    TRACE.expect(&[1, 2])?;
    TRACE.clear();
    S.delete()?;
    Ok(())
}

/// One interrupt makes several threads ready, or changes its mind: who preempts is who may run at its end.
fn several_changes_in_one_interrupt() -> Outcome {
    static MID: Semaphore = Semaphore::new();
    S.create("high", 0)?;
    MID.create("mid", 0)?;
    let high = spawn(0, at::<10>("high"), || -> Result<(), Error> {
        while S.get(Timeout::Forever).is_ok() {
            TRACE.push(10);
        }
        Ok(())
    })?;
    let mid = spawn(1, at::<12>("mid"), || -> Result<(), Error> {
        while MID.get(Timeout::Forever).is_ok() {
            TRACE.push(12);
        }
        Ok(())
    })?;
    aim(high.thread());
    line(1, 0x90, || {
        let _ = MID.put();
        let _ = S.put();
    })?;
    line(2, 0x90, || {
        let _ = S.put();
        let _ = MID.put();
    })?;
    line(3, 0x90, || {
        let _ = S.put();
        let _ = on_target_thread(threadx::ThreadRef::suspend);
    })?;
    line(4, 0x90, || {
        let _ = S.put();
        let _ = MID.put();
        let _ = on_target_thread(threadx::ThreadRef::suspend);
    })?;
    for (n, expected) in [(1, [10, 12, 16].as_slice()), (2, &[10, 12, 16]), (3, &[16, 10]), (4, &[12, 16, 10])] {
        TRACE.clear();
        interrupt::pend_sgi(n);
        TRACE.push(16);
        if expected.ends_with(&[10]) {
            high.thread().resume()?;
        }
        TRACE.expect(expected)?;
    }
    TRACE.clear();
    S.delete()?;
    MID.delete()?;
    high.join()??;
    mid.join()??;
    check_kernel()
}

/// UG4, `tx_thread_suspend`: an interrupt suspends another thread; the interrupted one it may not
/// suspend and rest in.
fn suspended_by_an_interrupt() -> Outcome {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // A terminated thread's stack is not used again: none of the first workers'.
    let spinner = spawn(7, at::<20>("spinner"), || {
        loop {
            COUNT.store(COUNT.load(Relaxed).wrapping_add(1), Relaxed);
        }
    })?;
    aim(spinner.thread());
    line(1, 0x90, || {
        let _ = on_target_thread(threadx::ThreadRef::suspend);
    })?;
    thread::sleep(Ticks::new(1))?;
    interrupt::pend_sgi(1);
    ensure_eq!(spinner.thread().info()?.state, State::Suspended, "state after suspend in an interrupt");
    let before = COUNT.load(Relaxed);
    thread::sleep(Ticks::new(2))?;
    ensure_eq!(COUNT.load(Relaxed), before, "work of a suspended thread");
    spinner.thread().resume()?;
    thread::sleep(Ticks::new(1))?;
    ensure!(COUNT.load(Relaxed) != before, "the resumed thread does not run");
    spinner.terminate()?;
    check_kernel()
}

fn set_posture(new: u32) -> u32 {
    // SAFETY: changes the caller's interrupt mask only; both values are documented.
    unsafe { threadx_sys::tx_interrupt_control(new) }
}

/// Each thread keeps its own interrupt mask across switches.
fn posture_belongs_to_the_thread() -> Outcome {
    const ON: u32 = threadx_sys::TX_INT_ENABLE;
    const OFF: u32 = threadx_sys::TX_INT_DISABLE;
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    TAKEN.store(0, Relaxed);
    line(1, 0x90, || {
        TAKEN.store(TAKEN.load(Relaxed) + 1, Relaxed);
    })?;
    let enabled = spawn(1, at::<16>("enabled"), || {
        for round in 0..100_u32 {
            TRACE.push(set_posture(ON));
            if round.is_multiple_of(3) { thread::relinquish() } else { thread::relinquish_inline() }
        }
    })?;
    let old = set_posture(OFF);
    ensure_eq!(old, ON, "posture of a thread at its start");
    let mut kept = true;
    for round in 0..100_u32 {
        interrupt::pend_sgi(1);
        let held = TAKEN.load(Relaxed) == round;
        if round % 2 == 0 {
            thread::relinquish()
        } else {
            thread::relinquish_inline()
        }
        let taken = TAKEN.load(Relaxed) == round + 1;
        kept &= held && taken && set_posture(OFF) == OFF;
    }
    set_posture(ON);
    ensure!(kept, "the masked thread lost its mask, or the other one got it");
    enabled.join()?;
    ensure_eq!(TRACE.len(), 100, "rounds of the other thread");
    ensure!((0..64).all(|n| TRACE.get(n) == ON), "the other thread was masked");
    TRACE.clear();
    // Through the slow path, with a service that waits.
    set_posture(OFF);
    let slept = thread::sleep(Ticks::new(2));
    let posture = set_posture(ON);
    slept?;
    ensure_eq!(posture, OFF, "posture after a sleep");
    Ok(())
}

unsafe extern "C" {
    /// Enters the IRQ vector's target as the processor does, without any interrupt pending. Returns the
    /// exclusive-or of its registers with what they should be: 0.
    fn interrupts_enter_spuriously() -> u32;
    /// Spins with R2-R12, LR, D0-D15 and the flags holding patterns until `*stop` is not 0, and at least
    /// once. Returns how many rounds found a pattern changed; `*rounds` is the number of rounds and
    /// `*sp` the stack pointer meanwhile.
    fn interrupts_spin(stop: *const u32, rounds: *mut u32, sp: *mut u32) -> u32;
}

global_asm!(
    ".fpu vfpv3-d16",
    ".arm",
    ".section .text.interrupts_enter_spuriously,\"ax\",%progbits",
    ".global interrupts_enter_spuriously",
    ".type interrupts_enter_spuriously, %function",
    "interrupts_enter_spuriously:",
    "    push    {{r4-r11, lr}}",
    "    mov     r4, #0x44",
    "    mov     r12, #0x12",
    "    mov     lr, #0xee",
    "    mov     r11, sp",
    "    mrs     r2, cpsr",
    "    adr     r3, 1f",
    "    add     r3, r3, #4",
    // What taking an IRQ does: IRQ mode, masked, SPSR and LR set, then the vector.
    "    cpsid   i, #0x12",
    "    msr     spsr_cxsf, r2",
    "    mov     lr, r3",
    "    b       _tx_irq_entry",
    "1:",
    "    eor     r0, r4, #0x44",
    "    eor     r1, r12, #0x12",
    "    orr     r0, r0, r1",
    "    eor     r1, lr, #0xee",
    "    orr     r0, r0, r1",
    "    eor     r1, r11, sp",
    "    orr     r0, r0, r1",
    "    mrs     r1, cpsr",
    "    eor     r1, r1, r2",
    "    orr     r0, r0, r1",
    "    pop     {{r4-r11, pc}}",
    ".size interrupts_enter_spuriously, . - interrupts_enter_spuriously",
    ".section .text.interrupts_spin,\"ax\",%progbits",
    ".global interrupts_spin",
    ".type interrupts_spin, %function",
    "interrupts_spin:",
    "    push    {{r4-r11, lr}}",
    "    sub     sp, sp, #4",
    "    vpush   {{d8-d15}}",
    "    str     sp, [r2]",
    "    push    {{r0, r1}}",
    "    mov     r0, #0",
    "    push    {{r0, r1}}", // [sp] = mismatches, [sp+4] = rounds; above: stop, &rounds
    "    str     r0, [sp, #4]",
    "    adr     r0, 9f",
    "    vldmia  r0!, {{d0-d15}}",
    "    ldmia   r0, {{r2-r12, lr}}",
    "2:  mov     r1, #24",
    "3:  subs    r1, r1, #1", // LR is live and nowhere else
    "    bne     3b",
    "    mov     r1, #0x80000000",
    "    adds    r1, r1, r1", // Z, C and V set, N clear
    "    mrs     r1, cpsr",
    "    nop",
    "    nop",
    "    nop",
    "    mrs     r0, cpsr",
    "    eors    r1, r0, r1",
    "    bne     5f",
    "    adr     r0, 9f + 128",
    ".irp reg, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, lr",
    "    ldr     r1, [r0], #4",
    "    cmp     r1, \\reg",
    "    bne     5f",
    ".endr",
    "    adr     r0, 9f",
    ".irp reg, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
    "    vmov    r1, s\\reg",
    "    ldr     lr, [r0, #(4 * \\reg)]",
    "    cmp     r1, lr",
    "    bne     5f",
    ".endr",
    ".irp reg, 8, 9, 10, 11, 12, 13, 14, 15",
    "    vmov    r1, lr, d\\reg",
    "    ldr     r0, =9f + (8 * \\reg)",
    "    ldr     r0, [r0]",
    "    cmp     r1, r0",
    "    bne     5f",
    "    ldr     r0, =9f + (8 * \\reg) + 4",
    "    ldr     r0, [r0]",
    "    cmp     lr, r0",
    "    bne     5f",
    ".endr",
    "    b       6f",
    "5:  ldr     r0, [sp]",
    "    add     r0, r0, #1",
    "    str     r0, [sp]",
    "6:  ldr     r0, [sp, #4]",
    "    add     r0, r0, #1",
    "    str     r0, [sp, #4]",
    "    adr     r0, 9f",
    "    vldmia  r0!, {{d0-d15}}",
    "    ldmia   r0, {{r2-r12, lr}}",
    "    ldr     r0, [sp, #8]",
    "    ldr     r0, [r0]",
    "    cmp     r0, #0",
    "    beq     2b",
    "    pop     {{r0, r1, r2, r3}}",
    "    str     r1, [r3]",
    "    vpop    {{d8-d15}}",
    "    add     sp, sp, #4",
    "    pop     {{r4-r11, pc}}",
    "    .balign 8",
    "9:",
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
    "    .word   0x3f800001 + \\n * 0x01010203",
    ".endr",
    ".irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14",
    "    .word   0x10203040 * \\n + 0x5a5a5a",
    ".endr",
    "    .ltorg",
    ".size interrupts_spin, . - interrupts_spin",
);

/// P06: an acknowledge that finds nothing is not ended, not counted as an interrupt and disturbs nobody.
fn spurious_acknowledge_is_ignored() -> Outcome {
    let (spurious, unhandled) = (interrupt::spurious(), interrupt::unhandled());
    let mut changed = 0;
    let mut counted = 0;
    for _ in 0..1000 {
        changed |= interrupt::masked(|| {
            let count = interrupt::count();
            // SAFETY: SVC mode with IRQ masked, so no real interrupt comes between; the function keeps the
            // calling convention.
            let changed = unsafe { interrupts_enter_spuriously() };
            counted += interrupt::count() - count;
            changed
        });
    }
    ensure_eq!(changed, 0, "register differences");
    ensure_eq!(interrupt::spurious() - spurious, 1000, "spurious acknowledges counted");
    ensure_eq!(counted, 0, "interrupts counted");
    ensure_eq!(interrupt::unhandled(), unhandled, "handler table was looked at");
    ensure_eq!(interrupt::nesting(), 0, "nesting");
    // And interrupts still work.
    higher_priorities_nest()
}

/// P06: nor does it count as a handler, if it comes while one runs. Before any handler has interrupted another.
fn spurious_acknowledge_in_a_handler_is_no_nesting() -> Outcome {
    static CHANGED: AtomicU32 = AtomicU32::new(1);
    just_after_a_tick()?;
    ensure_eq!(interrupt::max_nesting(), 1, "deepest nesting before");
    line(1, 0x20, || {
        // SAFETY: handlers run in SVC mode, and IRQ is masked.
        CHANGED.store(interrupt::masked(|| unsafe { interrupts_enter_spuriously() }), Relaxed);
    })?;
    let spurious = interrupt::spurious();
    interrupt::pend_sgi(1);
    ensure_eq!(CHANGED.load(Relaxed), 0, "register differences");
    ensure_eq!(interrupt::spurious() - spurious, 1, "spurious acknowledges counted");
    ensure_eq!(interrupt::max_nesting(), 1, "deepest nesting");
    ensure_eq!(interrupt::nesting(), 0, "nesting");
    Ok(())
}

fn line_without_handler_is_switched_off() -> Outcome {
    let before = (interrupt::unhandled(), interrupt::count());
    interrupt::enable(InterruptId::sgi(9));
    interrupt::pend_sgi(9);
    interrupt::pend_sgi(9);
    interrupt::pend_sgi(9);
    ensure_eq!(interrupt::unhandled() - before.0, 1, "unhandled interrupts");
    Ok(())
}

fn bad_registration_is_refused() -> Outcome {
    let sgi = InterruptId::sgi(5);
    ensure_eq!(interrupt::register(sgi, 0x91, || ()), Err(InterruptError::PriorityStep(0x91)), "priority 0x91");
    ensure_eq!(interrupt::register(InterruptId::TICK, 0x90, || ()), Err(InterruptError::Reserved), "the tick's line");
    ensure!(InterruptId::new(1020).is_none() && InterruptId::new(1023).is_none(), "a line that the board lacks");
    Ok(())
}

/// Interrupt of the timer with one of a software interrupt inside it.
fn nested_noise() {
    noise::again();
    interrupt::pend_sgi(6);
}

/// P14, P06: 10^6 nested interrupts over a leaf's live registers.
fn registers_survive_nested_interrupts() -> Outcome {
    static STOP_WORD: AtomicU32 = AtomicU32::new(0);
    static NESTED: AtomicU32 = AtomicU32::new(0);
    const PAIRS: u32 = 500_000;
    STOP_WORD.store(0, Relaxed);
    line(6, 0x40, || {
        let nested = NESTED.load(Relaxed) + 1;
        NESTED.store(nested, Relaxed);
        if nested >= PAIRS {
            STOP_WORD.store(1, Relaxed);
        }
    })?;
    let before = interrupt::count();
    start_noise(0xb0, 300, 500, nested_noise)?;
    let (mut rounds, mut sp) = (0, 0);
    // SAFETY: the function keeps the calling convention; the pointers are valid for the call.
    let changed = unsafe { interrupts_spin(STOP_WORD.as_ptr(), &raw mut rounds, &raw mut sp) };
    noise::stop();
    let interrupts = interrupt::count() - before;
    note!("{interrupts} interrupts over {rounds} rounds of register checks");
    ensure_eq!(changed, 0, "rounds that found a register changed");
    ensure!(interrupts >= 2 * PAIRS, "only {interrupts} interrupts");
    ensure_eq!(interrupt::nesting(), 0, "nesting in a thread");
    // Priorities in use: the noise, the tick, the nested one; 4 in the first test.
    ensure!(interrupt::max_nesting() <= 4, "deepest nesting {}", interrupt::max_nesting());
    check_kernel()
}

/// P14: whatever interrupts do, they use 96 bytes (24 words) of the interrupted thread's stack, and 64
/// more for D8-D15 when they preempt it.
fn thread_stack_holds_one_frame() -> Outcome {
    // Upstream's kernel saves all of a preempted thread on its stack.
    const FRAME: usize = if cfg!(feature = "bundled") { 160 } else { 200 };
    static STOP_WORD: AtomicU32 = AtomicU32::new(0);
    STOP_WORD.store(0, Relaxed);
    let high = suspending()?;
    aim(high.thread());
    let spinner = spawn(1, at::<17>("spinner"), || {
        let (mut rounds, mut sp) = (0, 0);
        // SAFETY: the function keeps the calling convention; the pointers are valid for the call.
        let changed = unsafe { interrupts_spin(STOP_WORD.as_ptr(), &raw mut rounds, &raw mut sp) };
        // Below this the function has four words of its own.
        (changed, sp as usize - 16)
    })?;
    line(6, 0x40, || {
        // Deep use of the stack that interrupts run on.
        let mut deep = [interrupt::nesting(); 256];
        core::hint::black_box(&mut deep);
        resume_high();
    })?;
    start_noise(0xb0, 300, 3000, nested_noise)?;
    thread::sleep(Ticks::new(20))?;
    STOP_WORD.store(1, Relaxed);
    noise::stop();
    let usage = spinner.thread().stack_usage()?;
    let spinner_thread = spinner.thread();
    let (changed, sp) = spinner.join()?;
    ensure!(spinner_thread.info().is_err(), "joined");
    STOP.store(true, Relaxed);
    resume_high();
    high.join()??;
    let base = ontarget::stack_addresses(1).start + usage.size - sp;
    ensure_eq!(changed, 0, "rounds that found a register changed");
    ensure!(RUNS.load(Relaxed) > 1000, "only {} preemptions", RUNS.load(Relaxed));
    ensure!(usage.high_water <= base + FRAME, "{} bytes below the thread's own", usage.high_water.wrapping_sub(base));
    ensure!(
        usage.high_water == base + FRAME,
        "high water {} with {base} of its own: no interrupt seen",
        usage.high_water
    );
    note!("{} preemptions used {FRAME} bytes of the thread's stack", RUNS.load(Relaxed));
    Ok(())
}

/// Instructions, each figure from the instruction that requests the interrupt: it is taken directly
/// after that one.
fn latency() -> Outcome {
    static HANDLER: AtomicU32 = AtomicU32::new(0);
    static WOKEN: AtomicU32 = AtomicU32::new(0);
    line(1, 0x90, || HANDLER.store(bsp::cycles(), Relaxed))?;
    line(2, 0x90, || {
        let _ = S.put();
    })?;
    line(3, 0x90, || ())?;
    line(4, 0x90, resume_high)?;
    S.create("latency", 0)?;
    let (mut empty, mut handler, mut put, mut resumed) = (0, 0, 0, 0);
    for _ in 0..16 {
        let (start, end) = request(3);
        empty = end.wrapping_sub(start);
        let (start, _) = request(1);
        handler = HANDLER.load(Relaxed).wrapping_sub(start);
        let high = spawn(0, at::<10>("woken"), || {
            let got = S.get(Timeout::Forever);
            WOKEN.store(bsp::cycles(), Relaxed);
            got
        })?;
        let (start, _) = request(2);
        put = WOKEN.load(Relaxed).wrapping_sub(start);
        high.join()??;
        let high = spawn(0, at::<10>("resumed"), || {
            let suspended = thread::current().map(threadx::ThreadRef::suspend);
            WOKEN.store(bsp::cycles(), Relaxed);
            suspended
        })?;
        aim(high.thread());
        let (start, _) = request(4);
        resumed = WOKEN.load(Relaxed).wrapping_sub(start);
        ensure_eq!(high.join()?, Some(Ok(())), "suspend");
    }
    S.delete()?;
    note!("interrupt to handler: {handler} instructions");
    note!("interrupt with an empty handler, entry to exit: {empty} instructions");
    note!("interrupt to thread woken by the handler's semaphore put: {put} instructions");
    note!("interrupt to thread resumed by the handler through the safe API: {resumed} instructions");
    ensure!(handler > 10 && empty > handler, "handler {handler}, entry and exit {empty}: not measured");
    ensure!(put > empty && resumed > empty, "woken after {put} and {resumed}: not measured");
    PUT_TO_WOKEN.store(put, Relaxed);
    Ok(())
}

static PUT_TO_WOKEN: AtomicU32 = AtomicU32::new(0);

/// From the request of an interrupt whose handler puts a semaphore to the first instruction of the thread
/// that waited for it, after its own call has returned. Upstream's C kernel takes 219 from the vector on
/// with a handler that does nothing else; this figure has the board's dispatcher for nested interrupts in
/// it. The limit keeps what was reached; the debug profile is only asked to arrive.
fn latency_of_a_woken_thread() -> Outcome {
    const LIMIT: u32 = match (cfg!(debug_assertions), cfg!(feature = "bundled")) {
        (true, _) => 10_000,
        (false, true) => 200,
        // With its stack checks.
        (false, false) => 400,
    };
    let put = PUT_TO_WOKEN.load(Relaxed);
    ensure!(put != 0, "not measured");
    ensure!(put <= LIMIT, "{put} instructions, at most {LIMIT}");
    Ok(())
}

/// Requests software interrupt `n` and returns the counter before and after.
#[inline(never)]
fn request(n: u8) -> (u32, u32) {
    let request = bsp::gic::sgi_request(n, 0);
    let (before, after): (u32, u32);
    // SAFETY: reads the counter, requests an interrupt of this core (QEMU: affinity 0.0.0.0), reads again.
    unsafe {
        core::arch::asm!(
            "isb",
            "mrrc p15, 0, {before}, {scratch}, c14",
            "mcrr p15, 0, {request}, {zero}, c12",
            "mrrc p15, 0, {after}, {scratch}, c14",
            before = out(reg) before,
            after = out(reg) after,
            scratch = out(reg) _,
            request = in(reg) request,
            zero = in(reg) 0,
        );
    }
    (before, after)
}

const _: () = assert!(TICK_PRIORITY == 0xa0, "the priorities of these tests lie around the tick's");
