//! More than 10^7 switches under everything at once: rings of equals, time slices, sleeping threads,
//! thresholds, an application timer, a timer interrupt of random period and a storm of software
//! interrupts, pended by threads and by other interrupts. Threads relinquish by calls and by the inlined
//! sequence, in all orders.
//!
//! Every thread checks the order of the turns, or that what it waited for was given once; the lists of
//! the kernel are checked against their invariants every few thousand turns. Field reports: K02, K21,
//! P06, and D09 (a window that is not hit is told apart from a test that passed).
#![no_std]
#![no_main]

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptId};
use critical_section::Mutex;
use ontarget::random::Random;
use ontarget::{Outcome, Why, at, cell, check_kernel, ensure, ensure_eq, noise, note, spawn, spin, stack_of, tests};
use threadx::{
    Error, JoinHandle, PreemptionThreshold, Priority, Schedule, Semaphore, ThreadRef, Ticks, TimeSlice, Timeout, Timer,
    thread, time,
};

#[bsp::entry]
fn main() -> ! {
    ontarget::run(if cfg!(feature = "bundled") {
        tests![strict_ring: 6000, slices: 6000, windows_of_relinquish: 10]
    } else {
        // Upstream's relinquish is not one piece of code whose instructions could be counted off.
        tests![strict_ring: 6000, slices: 6000]
    })
}

/// Turns of the ring, and of the threads with slices.
const RING_TURNS: u32 = 7_000_000;
const SLICE_TURNS: u32 = 3_500_000;

/// Turns between two checks of the kernel's lists by the same thread.
const CHECK_EVERY: u32 = 4096;

static STOP: AtomicBool = AtomicBool::new(false);
static TURNS: AtomicU32 = AtomicU32::new(0);

static S: Semaphore = Semaphore::new();
static PUTS: AtomicU32 = AtomicU32::new(0);
static GETS: AtomicU32 = AtomicU32::new(0);
static RESUMED: AtomicU32 = AtomicU32::new(0);
static RESUMES: AtomicU32 = AtomicU32::new(0);
static BEATS: AtomicU32 = AtomicU32::new(0);
static BEAT: Timer = Timer::new();
static SUSPENDED: Mutex<Cell<Option<ThreadRef>>> = Mutex::new(Cell::new(None));

fn add(counter: &AtomicU32, n: u32) -> u32 {
    counter.fetch_add(n, Relaxed) + n
}

/// The lower of the two software interrupts: a put, and sometimes the other one inside this one.
fn lower_interrupt() {
    static RANDOM: Random = Random::new(77);
    if S.put().is_ok() {
        add(&PUTS, 1);
    }
    if RANDOM.below(4) == 0 {
        interrupt::pend_sgi(4);
    }
}

/// The higher one resumes the thread with a threshold, if that is suspended.
fn higher_interrupt() {
    let target = critical_section::with(|section| SUSPENDED.borrow(section).get());
    if target.is_some_and(|thread| thread.resume().is_ok()) {
        add(&RESUMES, 1);
    }
}

fn noise_interrupt() {
    static RANDOM: Random = Random::new(99);
    #[cfg(feature = "bundled")]
    look_where_it_hit();
    noise::again();
    if RANDOM.below(2) == 0 {
        interrupt::pend_sgi(3);
    }
}

/// A place in the code where a thread relinquishes.
struct Place {
    name: &'static str,
    /// Address of its first instruction; 0 while it is not known.
    start: AtomicU32,
    /// Interrupts by the instruction that would have been next.
    hits: [AtomicU32; 16],
}

static PLACES: [Place; 2] = [Place::new("relinquish"), Place::new("the inlined relinquish")];

impl Place {
    const fn new(name: &'static str) -> Self {
        Self { name, start: AtomicU32::new(0), hits: [const { AtomicU32::new(0) }; 16] }
    }
}

/// The one place with the inlined sequence, so that there is one address to look at.
#[inline(never)]
fn relinquish_inlined() {
    thread::relinquish_inline();
}

/// Either of the two, as `n` is even or odd.
fn relinquish(n: u32) {
    if n.is_multiple_of(2) { thread::relinquish() } else { relinquish_inlined() }
}

#[cfg(feature = "bundled")]
unsafe extern "C" {
    /// What the kernel's entry keeps of the interrupted context; first the address of its frame.
    static _tx_interrupt: u32;
}

/// Counts, in [`PLACES`], an outermost interrupt that was taken inside a relinquish.
#[cfg(feature = "bundled")]
fn look_where_it_hit() {
    if interrupt::nesting() != 1 {
        return;
    }
    // SAFETY: in the outermost interrupt the kernel's entry has stored the address of the interrupted
    // thread's frame there; both outlive this handler. Frame: D0-D7, R0-R3, R12, LR, then PC.
    let pc = unsafe {
        let frame = (&raw const _tx_interrupt).read_volatile() as *const u32;
        frame.add(22).read()
    };
    for place in &PLACES {
        let offset = pc.wrapping_sub(place.start.load(Relaxed));
        if let Some(hits) = place.hits.get(offset as usize / 4) {
            add(hits, 1);
        }
    }
}

/// Finds out where [`PLACES`] are. The inlined one begins with the MRC that reads the running context.
#[cfg(feature = "bundled")]
fn find_places() -> Outcome {
    const MRC_TPIDRPRW: u32 = 0xee1d_0f90;
    let called = threadx_sys::_tx_thread_relinquish as *const u32;
    let inlined = relinquish_inlined as fn() as *const u32;
    // SAFETY: the code RAM is readable, and more than this is linked behind the function.
    let before = (0..16).find(|&n| unsafe { inlined.add(n).read_volatile() } == MRC_TPIDRPRW);
    let Some(before) = before else {
        return Err(Why::failed(format_args!("no inlined relinquish where one was compiled")));
    };
    PLACES[0].start.store(called as u32, Relaxed);
    PLACES[1].start.store(inlined as u32 + 4 * before as u32, Relaxed);
    Ok(())
}

/// Threads and sources that disturb the ones under test.
struct Storm {
    getter: JoinHandle<Result<(), Error>>,
    threshold: JoinHandle<Result<(), Error>>,
    sleepers: [JoinHandle<Outcome>; 2],
    before: u32,
}

fn sleeper(seed: u32) -> Outcome {
    let random = Random::new(seed);
    let mut rounds = 0_u32;
    while !STOP.load(Relaxed) {
        let n = 1 + random.below(3);
        let before = time::now();
        thread::sleep(Ticks::new(n))?;
        let slept = time::now() - before;
        // Threads above this one run briefly only: never a whole tick.
        ensure!(slept == n, "slept {slept} ticks instead of {n} after {rounds} rounds");
        rounds += 1;
        interrupt::pend_sgi(3);
    }
    ensure!(rounds > 5, "slept only {rounds} times");
    Ok(())
}

impl Storm {
    fn start() -> Result<Self, Why> {
        #[cfg(feature = "bundled")]
        find_places()?;
        STOP.store(false, Relaxed);
        for counter in [&PUTS, &GETS, &RESUMES, &RESUMED, &BEATS, &TURNS] {
            counter.store(0, Relaxed);
        }
        S.create("storm", 0)?;
        let getter = spawn(4, at::<10>("getter"), || -> Result<(), Error> {
            while !STOP.load(Relaxed) {
                S.get(Timeout::Forever)?;
                add(&GETS, 1);
            }
            Ok(())
        })?;
        // Its threshold lets the getter in, not the sleeper at 12.
        let held = at::<14>("threshold").preemption_threshold(PreemptionThreshold::at(Priority::of::<11>()));
        let threshold = spawn(5, held, || -> Result<(), Error> {
            let me = thread::current().ok_or(Error::Thread)?;
            while !STOP.load(Relaxed) {
                me.suspend()?;
                add(&RESUMED, 1);
                interrupt::pend_sgi(3);
                relinquish(RESUMED.load(Relaxed));
            }
            Ok(())
        })?;
        critical_section::with(|section| SUSPENDED.borrow(section).set(Some(threshold.thread())));
        let sleepers = [spawn(6, at::<12>("sleeper"), || sleeper(5))?, spawn(7, at::<18>("sleeper"), || sleeper(6))?];
        for (n, priority, handler) in [(3, 0x90, lower_interrupt as fn()), (4, 0x40, higher_interrupt)] {
            interrupt::register(InterruptId::sgi(n), priority, handler)
                .map_err(|error| Why::failed(format_args!("software interrupt {n}: {error:?}")))?;
            interrupt::enable(InterruptId::sgi(n));
        }
        BEAT.create("beat", Schedule::every(Ticks::new(1)), || {
            add(&BEATS, 1);
            interrupt::pend_sgi(3);
        })?;
        BEAT.activate()?;
        let before = interrupt::count();
        noise::start(0xb0, 500, 4000, noise_interrupt)
            .map_err(|error| Why::failed(format_args!("noise: {error:?}")))?;
        Ok(Self { getter, threshold, sleepers, before })
    }

    /// Ends everything; the number of switches of its threads.
    fn end(self) -> Result<u32, Why> {
        STOP.store(true, Relaxed);
        noise::stop();
        BEAT.delete()?;
        // The sleepers wake the getter, which sees STOP after one more; so may these.
        thread::sleep(Ticks::new(5))?;
        S.put()?;
        // It may have ended already.
        let _ = self.threshold.thread().resume();
        thread::sleep(Ticks::new(1))?;
        let mut switches = 0;
        for thread in
            [self.getter.thread(), self.threshold.thread(), self.sleepers[0].thread(), self.sleepers[1].thread()]
        {
            switches += thread.info()?.run_count;
        }
        self.getter.join()??;
        self.threshold.join()??;
        for sleeper in self.sleepers {
            sleeper.join()??;
        }
        let left = S.info()?.count;
        // The last put is the one above, not an interrupt's.
        ensure_eq!(GETS.load(Relaxed) + left, PUTS.load(Relaxed) + 1, "gets and what is left, against puts");
        S.delete()?;
        let (resumes, resumed) = (RESUMES.load(Relaxed), RESUMED.load(Relaxed));
        ensure!(resumed == resumes || resumed == resumes + 1, "{resumes} resumes, {resumed} runs");
        ensure_eq!(interrupt::nesting(), 0, "interrupt nesting in a thread");
        ensure!(interrupt::max_nesting() <= 4, "nesting of {} with four priorities", interrupt::max_nesting());
        ensure_eq!(interrupt::unhandled(), 0, "unhandled interrupts");
        note!(
            "{} interrupts, nesting up to {}, {} puts, {resumes} resumes, {} timer expirations",
            interrupt::count() - self.before,
            interrupt::max_nesting(),
            PUTS.load(Relaxed),
            BEATS.load(Relaxed)
        );
        for (what, count) in [("puts", PUTS.load(Relaxed)), ("resumes", resumes), ("expirations", BEATS.load(Relaxed))]
        {
            if count < 20 {
                return Err(Why::missed(format_args!("only {count} {what}")));
            }
        }
        check_kernel()?;
        Ok(switches)
    }
}

/// Waits until the turns are done; the number of switches of the threads.
fn watch(threads: &[ThreadRef], turns: u32) -> Result<u32, Why> {
    while TURNS.load(Relaxed) < turns {
        thread::sleep(Ticks::new(1))?;
        check_kernel()?;
        // A thread that found something wrong has ended.
        if threads.iter().any(|t| t.info().is_ok_and(|info| info.state == thread::State::Completed)) {
            break;
        }
    }
    threads.iter().map(|t| t.info().map(|info| info.run_count)).sum::<Result<u32, Error>>().map_err(Why::from)
}

/// Four equals without slices: whatever interrupts and preempts, the turns go round in order.
fn strict_ring() -> Outcome {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    const MEMBERS: u32 = 4;
    fn member(me: u32) -> Outcome {
        let random = Random::new(1000 + me);
        let mut turn = 0_u32;
        while !STOP.load(Relaxed) {
            let next = NEXT.load(Relaxed);
            ensure!(next == me, "turn {turn} of member {me}, but it is the turn of {next}");
            if random.below(64) == 0 {
                interrupt::pend_sgi(3);
            }
            turn += 1;
            if turn.is_multiple_of(CHECK_EVERY) {
                check_kernel()?;
            }
            NEXT.store((me + 1) % MEMBERS, Relaxed);
            add(&TURNS, 1);
            relinquish(random.below(2));
        }
        // The others' order no longer matters, STOP is set.
        Ok(())
    }
    let storm = Storm::start()?;
    let builder = at::<20>("ring");
    let members = critical_section::with(|_| -> Result<_, Error> {
        Ok([
            builder.spawn(cell(0), stack_of(0)?, || member(0))?,
            builder.spawn(cell(1), stack_of(1)?, || member(1))?,
            builder.spawn(cell(2), stack_of(2)?, || member(2))?,
            builder.spawn(cell(3), stack_of(3)?, || member(3))?,
        ])
    })?;
    let threads = [0, 1, 2, 3].map(|n: usize| members[n].thread());
    let switches = watch(&threads, RING_TURNS)?;
    let others = storm.end()?;
    for member in members {
        member.join()??;
    }
    finish(switches, others, RING_TURNS)
}

fn finish(switches: u32, others: u32, expected: u32) -> Outcome {
    note!("{switches} switches by the threads under test, {others} by the others");
    ensure!(switches >= expected, "only {switches} switches");
    check_kernel()
}

/// Three equals with slices of 1, 2 and 3 ticks that relinquish, spin past their slices, and change
/// their own slices and thresholds.
fn slices() -> Outcome {
    static LAST: AtomicU32 = AtomicU32::new(0);
    static EXPIRED: AtomicU32 = AtomicU32::new(0);
    fn slicer(me: u32) -> Outcome {
        let random = Random::new(2000 + me);
        let own = thread::current().ok_or(Error::Thread)?;
        let mut turn = 0_u32;
        while !STOP.load(Relaxed) {
            turn += 1;
            LAST.store(me, Relaxed);
            match random.below(1 << 17) {
                0..3 => {
                    spin((1 + me) * 12_000_000);
                    if LAST.load(Relaxed) != me {
                        add(&EXPIRED, 1);
                    }
                }
                100..200 => drop(own.set_time_slice(TimeSlice::ticks(1 + random.below(3)))?),
                200..300 => {
                    let old = own.set_preemption_threshold(PreemptionThreshold::at(Priority::of::<15>()))?;
                    relinquish(turn);
                    spin(300);
                    own.set_preemption_threshold(old)?;
                }
                1000..2000 => interrupt::pend_sgi(3),
                _ => {}
            }
            if turn.is_multiple_of(CHECK_EVERY) {
                check_kernel()?;
            }
            add(&TURNS, 1);
            relinquish(random.below(2));
        }
        Ok(())
    }
    let storm = Storm::start()?;
    let sliced = |n| at::<22>("slicer").time_slice(TimeSlice::ticks(n));
    let slicers =
        [spawn(0, sliced(1), || slicer(0))?, spawn(1, sliced(2), || slicer(1))?, spawn(2, sliced(3), || slicer(2))?];
    let threads = [0, 1, 2].map(|n: usize| slicers[n].thread());
    let switches = watch(&threads, SLICE_TURNS)?;
    let others = storm.end()?;
    for slicer in slicers {
        slicer.join()??;
    }
    let expired = EXPIRED.load(Relaxed);
    note!("{expired} slices seen to expire");
    if expired < 10 {
        return Err(Why::missed(format_args!("only {expired} slices expired")));
    }
    finish(switches, others, SLICE_TURNS)
}

/// Whether the interrupts of the tests before hit relinquish at every instruction where they can.
fn windows_of_relinquish() -> Outcome {
    PLACES.iter().try_for_each(windows_of)
}

fn windows_of(place: &Place) -> Outcome {
    /// CPSID I and MSR CPSR: an interrupt can come up to the first and after the second.
    const CPSID_I: u32 = 0xf10c_0080;
    const MSR_CPSR: u32 = 0xe121_f000;
    /// The last instruction of either: BX LR, or VMSR FPSCR in the inlined one.
    const BX_LR: u32 = 0xe12f_ff1e;
    const VMSR_FPSCR: u32 = 0xeee1_ca10;
    let name = place.name;
    let code = place.start.load(Relaxed) as *const u32;
    ensure!(!code.is_null(), "nobody looked for {name}");
    let inlined = place.start.load(Relaxed) != threadx_sys::_tx_thread_relinquish as *const () as u32;
    let mut masked = false;
    let mut missed = None;
    for (n, hits) in place.hits.iter().enumerate() {
        // SAFETY: the code RAM is readable, and the loop ends at the sequence's last instruction.
        let instruction = unsafe { code.add(n).read_volatile() };
        let hits = hits.load(Relaxed);
        if masked {
            ensure!(hits == 0, "{hits} interrupts at instruction {n} of {name}, where they are masked");
        } else {
            note!("{hits} interrupts before instruction {n} of {name}");
            if hits == 0 {
                missed = Some(n);
            }
        }
        if instruction == CPSID_I {
            masked = true;
        } else if instruction & 0xfff1_fff0 == MSR_CPSR {
            masked = false;
        } else if instruction == BX_LR || (inlined && instruction == VMSR_FPSCR) {
            return missed
                .map_or(Ok(()), |n| Err(Why::missed(format_args!("no interrupt before instruction {n} of {name}"))));
        }
    }
    Err(Why::failed(format_args!("no end in the code of {name}")))
}
