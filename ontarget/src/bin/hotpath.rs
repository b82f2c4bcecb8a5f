//! The hot path: what a relinquish costs, called and inlined, how long it masks interrupts, what it moves,
//! and that the slow path answers where the fast one may not.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptId};
use measure::a32::{self, Decoded};
use ontarget::{Outcome, Trace, Why, at, check_kernel, ensure, ensure_eq, note, spawn, tests};
use threadx::thread;
use threadx::{PreemptionThreshold, Priority, Region, StackToken, Ticks, stack};
use threadx_sys::_tx_thread_relinquish;

#[bsp::entry]
fn main() -> ! {
    ontarget::run(if cfg!(feature = "bundled") {
        tests![
            masked_stretch: 10,
            masked_stretch_inlined: 10,
            round_trip: 20,
            round_trip_inlined: 20,
            round_trip_mixed: 20,
            alone_returns: 10,
            with_a_threshold: 10,
            in_an_interrupt: 10,
            in_a_critical_section: 10,
            in_t32_code: 10,
            ring_changes_between_turns: 20,
        ]
    } else {
        // Upstream's kernel has no path in one piece whose instructions could be read.
        tests![
            round_trip: 20,
            round_trip_inlined: 20,
            alone_returns: 10,
            with_a_threshold: 10,
            in_an_interrupt: 10,
            in_a_critical_section: 10,
            in_t32_code: 10,
            ring_changes_between_turns: 20,
        ]
    })
}

/// A way to relinquish, and what it may cost.
trait Variant: 'static {
    const NAME: &'static str;
    /// Instructions of a round trip, at most.
    const ROUND_TRIP: u32;
    /// Instructions of its two switches, without which there was none.
    const SWITCHES: u32;
    fn relinquish();
}

struct Call;
struct Inline;

/// A debug build does not inline the safe API's call and counts twice.
const DEBUG: bool = cfg!(debug_assertions);
const BUNDLED: bool = cfg!(feature = "bundled");
/// Upstream's kernel, with the stack checks that these images are built with.
const UPSTREAM_ROUND_TRIP: u32 = if DEBUG { 400 } else { 310 };

impl Variant for Call {
    const NAME: &'static str = "call";
    const ROUND_TRIP: u32 = match (BUNDLED, DEBUG) {
        (true, false) => 34,
        (true, true) => 80,
        (false, _) => UPSTREAM_ROUND_TRIP,
    };
    const SWITCHES: u32 = 28;
    #[inline(always)]
    fn relinquish() {
        thread::relinquish();
    }
}

impl Variant for Inline {
    const NAME: &'static str = "inline";
    const ROUND_TRIP: u32 = match (BUNDLED, DEBUG) {
        (true, false) => 26,
        (true, true) => 60,
        (false, _) => UPSTREAM_ROUND_TRIP,
    };
    const SWITCHES: u32 = 22;
    #[inline(always)]
    fn relinquish() {
        thread::relinquish_inline();
    }
}

/// Instructions with IRQ masked in one stretch, at most.
const MASKED: usize = 6;
/// Bytes of code at each place of an inlined relinquish, at most.
const SITE: usize = 44;

const SAMPLES: usize = 256;

static TRACE: Trace = Trace::new();

/// Reads the code that begins there up to and with its first `last`.
fn decode(code: *const u32, last: u32) -> Result<Decoded, Why> {
    // SAFETY: the code RAM is readable, and what is linked there is longer than what is read: reading stops
    // at the last instruction, or after as many as fit behind any function of this image.
    let instructions = (0..).map(|n| unsafe { code.add(n).read_volatile() });
    let seen = a32::decode(instructions, last).map_err(|why| Why::failed(format_args!("relinquish: {why}")))?;
    ensure!(seen.masked <= MASKED, "IRQ masked for {} instructions, at most {MASKED}", seen.masked);
    Ok(seen)
}

fn masked_stretch() -> Outcome {
    let seen = decode(_tx_thread_relinquish as *const u32, a32::CALLED_LAST)?;
    note!("relinquish: {} instructions, IRQ masked for {}", seen.instructions, seen.masked);
    note!("relinquish: {} words stored and {} loaded a switch", seen.stored, seen.loaded);
    // Both callee-saved sets, FPSCR, CPSR, SP and PC must be among them.
    ensure!(seen.stored >= 16 + 8 + 4 && seen.loaded >= 16 + 8 + 4, "not a whole context: {seen:?}");
    Ok(())
}

/// The partner's loop has one place with the inlined sequence, and this is the code that the round trip runs.
fn masked_stretch_inlined() -> Outcome {
    let code = partner::<Inline> as fn() as *const u32;
    // SAFETY: the code RAM is readable, and more than this is linked behind the function.
    let begin = (0..32).find(|&n| unsafe { code.add(n).read_volatile() } == a32::INLINED_FIRST);
    let Some(begin) = begin else {
        return Err(Why::failed(format_args!("no inlined relinquish in the partner's loop")));
    };
    // SAFETY: inside the same function.
    let seen = decode(unsafe { code.add(begin) }, a32::INLINED_LAST)?;
    let bytes = 4 * seen.instructions;
    note!("inlined relinquish: {} instructions, {bytes} bytes, IRQ masked for {}", seen.instructions, seen.masked);
    note!("inlined relinquish: {} words stored and {} loaded a switch", seen.stored, seen.loaded);
    ensure!(bytes <= SITE, "{bytes} bytes at each place, at most {SITE}");
    // R4-R11, FPSCR, CPSR, SP and PC; D8-D15 are the compiler's.
    ensure!(seen.stored >= 8 + 4 && seen.loaded >= 8 + 4, "not a whole context: {seen:?}");
    ensure!(seen.stored <= 14 && seen.loaded <= 16, "more than it needs: {seen:?}");
    Ok(())
}

use bsp::memory::{Btcm, Dram0};
stack! {
    static IN_BTCM_A: Stack<Btcm, 4096>;
    static IN_BTCM_B: Stack<Btcm, 4096>;
    static IN_DRAM_A: Stack<Dram0, 4096>;
    static IN_DRAM_B: Stack<Dram0, 4096>;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    least: u32,
    most: u32,
    interrupted: u32,
}

static STOP: AtomicBool = AtomicBool::new(false);

/// Never inlined, so that the code that is read above is the one that runs.
#[inline(never)]
fn partner<V: Variant>() {
    while !STOP.load(Relaxed) {
        V::relinquish();
    }
}

fn sampler<V: Variant>() -> Seen {
    let mut seen = Seen { least: u32::MAX, most: 0, interrupted: 0 };
    V::relinquish();
    for _ in 0..SAMPLES {
        let interrupts = interrupt::count();
        let start = bsp::cycles();
        V::relinquish();
        let end = bsp::cycles();
        if interrupt::count() != interrupts {
            seen.interrupted += 1;
            continue;
        }
        let sample = end.wrapping_sub(start);
        seen.least = seen.least.min(sample);
        seen.most = seen.most.max(sample);
    }
    STOP.store(true, Relaxed);
    seen
}

/// Samples with the stacks in `a` and `b`.
fn sample<R: Region, A: Variant, B: Variant>(a: StackToken<R>, b: StackToken<R>) -> Result<Seen, Why> {
    STOP.store(false, Relaxed);
    ontarget::just_after_a_tick()?;
    let a = at::<10>("sampler").suspended().spawn(ontarget::cell(0), a, sampler::<A>)?;
    let b = at::<10>("partner").suspended().spawn(ontarget::cell(1), b, partner::<B>)?;
    let (first, second) = (a.thread(), b.thread());
    critical_section::with(|_| first.resume().and_then(|_| second.resume()))?;
    let seen = a.join()?;
    b.join()?;
    note!(
        "round trip, {} and {}, stacks in {}: {} to {} instructions, {} interrupted",
        A::NAME,
        B::NAME,
        R::NAME,
        seen.least,
        seen.most,
        seen.interrupted
    );
    ensure_eq!(seen.interrupted, 0, "interrupted samples right after a tick");
    ensure!(seen.least == seen.most, "{} to {} instructions: not identical", seen.least, seen.most);
    // Two switches cannot cost less than the code of two.
    let switches = (A::SWITCHES + B::SWITCHES) / 2;
    ensure!(seen.least >= switches, "{} instructions: the partner did not run", seen.least);
    Ok(seen)
}

fn both_memories<V: Variant>() -> Outcome {
    let seen = sample::<_, V, V>(IN_BTCM_A.take()?, IN_BTCM_B.take()?)?;
    let other = sample::<_, V, V>(IN_DRAM_A.take()?, IN_DRAM_B.take()?)?;
    ensure_eq!(seen, other, "BTCM against DRAM0, which cost the same here");
    ensure!(seen.most <= V::ROUND_TRIP, "{} instructions, at most {}", seen.most, V::ROUND_TRIP);
    Ok(())
}

fn round_trip() -> Outcome {
    both_memories::<Call>()
}

fn round_trip_inlined() -> Outcome {
    both_memories::<Inline>()
}

/// One thread calls, the other has it inlined: each pays for its own half.
fn round_trip_mixed() -> Outcome {
    let one = sample::<_, Call, Inline>(IN_BTCM_A.take()?, IN_BTCM_B.take()?)?;
    let other = sample::<_, Inline, Call>(IN_BTCM_A.take()?, IN_BTCM_B.take()?)?;
    ensure_eq!(one, other, "who calls and who does not");
    let most = (Call::ROUND_TRIP + Inline::ROUND_TRIP) / 2;
    ensure!(one.most <= most, "{} instructions, at most {most}", one.most);
    Ok(())
}

fn alone_returns() -> Outcome {
    let me = thread::current().ok_or(threadx::Error::Thread)?;
    let before = me.info()?.run_count;
    let start = bsp::cycles();
    thread::relinquish();
    let alone = bsp::cycles().wrapping_sub(start);
    note!("relinquish alone at its priority: {alone} instructions");
    for _ in 0..1000 {
        thread::relinquish();
        thread::relinquish_inline();
    }
    // Nothing was scheduled.
    ensure_eq!(me.info()?.run_count, before, "run count");
    // A lower thread gets nothing, a waiting equal neither.
    let low = spawn(0, at::<20>("low"), || TRACE.push(1))?;
    let waiting = spawn(1, at::<16>("waiting").suspended(), || TRACE.push(2))?;
    for _ in 0..1000 {
        thread::relinquish();
        thread::relinquish_inline();
    }
    ensure!(TRACE.is_empty(), "relinquish let the wrong thread run");
    waiting.thread().resume()?;
    thread::relinquish_inline();
    TRACE.expect(&[2])?;
    low.join()?;
    waiting.join()?;
    TRACE.clear();
    check_kernel()
}

/// A threshold switched on and off between turns: the pointer that the fast path follows must change
/// each time.
fn with_a_threshold() -> Outcome {
    let me = thread::current().ok_or(threadx::Error::Thread)?;
    let equal = spawn(0, at::<16>("equal"), || {
        for _ in 0..4 {
            TRACE.push(2);
            thread::relinquish();
        }
    })?;
    let held = spawn(1, at::<14>("held").suspended(), || {
        TRACE.push(1);
        let me = thread::current().ok_or(threadx::Error::Thread)?;
        me.suspend()?;
        TRACE.push(3);
        Ok::<_, threadx::Error>(())
    })?;
    let strong = PreemptionThreshold::at(Priority::of::<12>());
    let none = PreemptionThreshold::at(Priority::of::<16>());
    me.set_preemption_threshold(strong)?;
    held.thread().resume()?;
    TRACE.push(0);
    thread::relinquish_inline();
    TRACE.expect(&[0, 1, 2])?;
    me.set_preemption_threshold(none)?;
    thread::relinquish();
    TRACE.expect(&[0, 1, 2, 2])?;
    me.set_preemption_threshold(strong)?;
    held.thread().resume()?;
    TRACE.push(9);
    // Without a threshold the held thread preempts at once.
    me.set_preemption_threshold(none)?;
    TRACE.expect(&[0, 1, 2, 2, 9, 3])?;
    thread::relinquish();
    thread::relinquish();
    TRACE.expect(&[0, 1, 2, 2, 9, 3, 2, 2])?;
    TRACE.clear();
    equal.join()?;
    held.join()??;
    check_kernel()
}

fn in_an_interrupt() -> Outcome {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let handler = || {
        for _ in 0..10 {
            thread::relinquish();
            thread::relinquish_inline();
        }
        TAKEN.store(TAKEN.load(Relaxed) + 1, Relaxed);
    };
    interrupt::register(InterruptId::sgi(1), 0x90, handler)
        .map_err(|error| Why::failed(format_args!("software interrupt: {error:?}")))?;
    interrupt::enable(InterruptId::sgi(1));
    let equal = spawn(0, at::<16>("equal"), || TRACE.push(1))?;
    let me = thread::current().ok_or(threadx::Error::Thread)?;
    let before = me.info()?.run_count;
    for n in 1..=100 {
        interrupt::pend_sgi(1);
        ensure_eq!(TAKEN.load(Relaxed), n, "interrupts");
    }
    ensure!(TRACE.is_empty(), "relinquish in an interrupt let another thread run");
    ensure_eq!(me.info()?.run_count, before, "run count");
    thread::relinquish();
    TRACE.expect(&[1])?;
    TRACE.clear();
    equal.join()?;
    check_kernel()
}

fn in_a_critical_section() -> Outcome {
    let equal = spawn(0, at::<16>("equal"), || TRACE.push(1))?;
    critical_section::with(|_| {
        for _ in 0..100 {
            thread::relinquish();
            thread::relinquish_inline();
        }
    });
    ensure!(TRACE.is_empty(), "relinquish in a critical section let another thread run");
    thread::relinquish();
    TRACE.expect(&[1])?;
    TRACE.clear();
    equal.join()?;
    Ok(())
}

/// A32 and T32 functions take turns, and values that live across a turn are kept in both.
fn in_t32_code() -> Outcome {
    const TURNS: u32 = 1000;
    #[instruction_set(arm::t32)]
    #[inline(never)]
    fn t32() -> (u32, f64) {
        let (mut sum, mut float) = (0, 0.0);
        for n in 0..TURNS {
            (sum, float) = (sum + n, float + 0.5);
            TRACE.push(2);
            thread::relinquish_inline();
        }
        (sum, float)
    }
    ensure!(t32 as fn() -> _ as usize & 1 == 1, "not T32 code");
    let other = spawn(0, at::<16>("t32"), t32)?;
    let (mut sum, mut float) = (0, 0.0);
    for n in 0..TURNS {
        (sum, float) = (sum + n, float + 0.5);
        TRACE.push(1);
        thread::relinquish_inline();
    }
    let expected = (TURNS * (TURNS - 1) / 2, f64::from(TURNS) / 2.0);
    ensure_eq!((sum, float), expected, "values of the A32 code");
    ensure_eq!(other.join()?, expected, "values of the T32 code");
    ensure!((0..64).all(|n| TRACE.get(n) == 1 + n as u32 % 2), "they did not take turns");
    TRACE.clear();
    check_kernel()
}

/// Threads come to and leave the ring of equals in all ways while it turns.
fn ring_changes_between_turns() -> Outcome {
    static ROUNDS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];
    fn turns(n: usize) -> impl FnOnce() + Send + 'static {
        move || {
            while ROUNDS[n].load(Relaxed) < 1000 {
                ROUNDS[n].fetch_add(1, Relaxed);
                if n.is_multiple_of(2) { thread::relinquish() } else { thread::relinquish_inline() }
            }
        }
    }
    let a = spawn(0, at::<16>("a"), turns(0))?;
    let b = spawn(1, at::<16>("b"), turns(1))?;
    let c = spawn(2, at::<16>("c").suspended(), turns(2))?;
    let d = spawn(3, at::<17>("d"), turns(3))?;
    for round in 0..900_u32 {
        match round % 9 {
            0 => drop(c.thread().resume()?),
            2 => c.thread().suspend()?,
            3 => drop(d.thread().set_priority(Priority::of::<16>())?),
            5 => drop(d.thread().set_priority(Priority::of::<17>())?),
            6 => drop(a.thread().suspend()),
            8 => drop(a.thread().resume()),
            _ => {}
        }
        check_kernel()?;
        thread::relinquish();
    }
    let counts = [0, 1, 2, 3].map(|n: usize| ROUNDS[n].load(Relaxed));
    ensure_eq!(counts[1], 900, "turns of the thread that was always there");
    // In the ring for 7 of 9, 2 of 9 and 2 of 9 turns.
    ensure_eq!(counts, [700, 900, 200, 200], "turns");
    let _ = c.thread().resume();
    thread::sleep(Ticks::new(1))?;
    for handle in [a, b, c, d] {
        handle.join()?;
    }
    check_kernel()
}
