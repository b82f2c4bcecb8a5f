//! The Thread-Metric tests in safe Rust: what an event of each costs, in instructions.
//!
//! Written from the suite's description of its tests. Each runs from just after a tick to the next one but
//! [`TICKS`], as the lowest threads there are; a reporting thread of the highest priority then reads the
//! counters, checks them by the suite's own rule (counters of threads that take turns differ by one at
//! most; every interrupt was answered) and divides the instructions by the events that were counted. The
//! ticks in between are part of the figure. `scripts/costs.sh` reads lines `METRIC NAME FIGURE`.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptId};
use bsp::memory::Dram0;
use costs::{Turns, WORKERS, cell, end, stack_of};
use threadx::{
    BlockPool, Builder, Error, JoinHandle, Priority, Queue, Semaphore, ThreadCell, ThreadRef, Ticks, Timeout, stack,
    thread,
};

#[bsp::entry]
fn main() -> ! {
    costs::run(start_reporter)
}

/// Length of a test.
const TICKS: u32 = 1;
/// The line of the interrupts that threads cause.
const LINE: u8 = 1;

/// Events, of each thread or of the test's parts.
static EVENTS: [AtomicU32; WORKERS] = [const { AtomicU32::new(0) }; WORKERS];
/// A service or an answer was wrong.
static WRONG: AtomicU32 = AtomicU32::new(0);
static THREADS: [Turns<Option<ThreadRef>>; WORKERS] = [const { Turns::new(None) }; WORKERS];
static S: Semaphore = Semaphore::new();
static Q: Queue<[u32; 4], 10> = Queue::new();
static POOL: BlockPool<[u32; 32], 14> = BlockPool::new();

#[inline(always)]
fn count(n: usize) {
    EVENTS[n].store(EVENTS[n].load(Relaxed).wrapping_add(1), Relaxed);
}

#[inline(always)]
fn expect(right: bool) {
    if !right {
        WRONG.store(1, Relaxed);
    }
}

/// Thread `n` of the test.
#[inline(always)]
fn thread_of(n: usize) -> ThreadRef {
    // SAFETY: written before the test's threads run, and not until the next test.
    match unsafe { *THREADS[n].get() } {
        Some(thread) => thread,
        None => unreachable!("thread {} exists", n),
    }
}

/// What a thread of a test does; its number.
type Body = fn(usize);

/// A test: its threads, each with its priority, and how events are counted.
struct Test {
    name: &'static str,
    bodies: &'static [(u32, Body)],
    /// Whether the counters are of steps of the same event, instead of one each.
    steps: bool,
    /// The rule: least and greatest counter may differ by so many.
    difference: u32,
    handler: Option<fn()>,
}

const fn test(name: &'static str, bodies: &'static [(u32, Body)]) -> Test {
    Test { name, bodies, steps: false, difference: 1, handler: None }
}

fn basic(_: usize) {
    static ARRAY: Turns<[u32; 1024]> = Turns::new([0; 1024]);
    // SAFETY: the only thread of its test.
    let array = unsafe { &mut *ARRAY.get() };
    loop {
        let number = EVENTS[0].load(Relaxed);
        for word in black_box(&mut *array) {
            *word ^= word.wrapping_add(number);
        }
        count(0);
    }
}

fn cooperative(n: usize) {
    loop {
        thread::relinquish();
        count(n);
    }
}

fn lowest(n: usize) {
    let next = thread_of(n + 1);
    loop {
        expect(next.resume().is_ok());
        count(n);
    }
}

fn between(n: usize) {
    let (me, next) = (thread_of(n), thread_of(n + 1));
    loop {
        expect(next.resume().is_ok());
        count(n);
        expect(me.suspend().is_ok());
    }
}

fn highest(n: usize) {
    let me = thread_of(n);
    loop {
        count(n);
        expect(me.suspend().is_ok());
    }
}

/// Causes an interrupt whose handler puts; the thread gets.
fn interrupted(n: usize) {
    loop {
        interrupt::pend_sgi(LINE);
        expect(S.get(Timeout::NoWait).is_ok());
        count(n);
    }
}

/// Causes an interrupt whose handler resumes the other thread.
fn preempted(n: usize) {
    loop {
        interrupt::pend_sgi(LINE);
        count(n);
    }
}

fn message(n: usize) {
    let mut sent = [0x1111_2222, 0x3333_4444, 0x5555_6666, 0x7777_8888];
    loop {
        expect(Q.send(sent, Timeout::NoWait).is_ok());
        match Q.receive(Timeout::NoWait) {
            Ok(received) => expect(received[3] == sent[3]),
            Err(_) => expect(false),
        }
        sent[3] = sent[3].wrapping_add(1);
        count(n);
    }
}

fn synchronization(n: usize) {
    loop {
        expect(S.get(Timeout::NoWait).is_ok());
        expect(S.put().is_ok());
        count(n);
    }
}

fn memory(n: usize) {
    loop {
        match POOL.allocate(Timeout::NoWait) {
            Ok(block) => drop(black_box(block)),
            Err(_) => expect(false),
        }
        count(n);
    }
}

static TESTS: [Test; 8] = [
    test("basic", &[(10, basic)]),
    test("cooperative", &[(3, cooperative), (3, cooperative), (3, cooperative), (3, cooperative), (3, cooperative)]),
    test("preemptive", &[(10, lowest), (9, between), (8, between), (7, between), (6, highest)]),
    Test {
        steps: true,
        handler: Some(|| {
            count(1);
            expect(S.put().is_ok());
        }),
        ..test("interrupt", &[(10, interrupted)])
    },
    Test {
        steps: true,
        handler: Some(|| {
            count(2);
            expect(thread_of(1).resume().is_ok());
        }),
        ..test("interrupt_preemption", &[(10, preempted), (3, highest)])
    },
    test("message", &[(10, message)]),
    test("synchronization", &[(10, synchronization)]),
    test("memory", &[(10, memory)]),
];

/// Runs one test; tenths of instructions an event.
fn run(test: &Test) -> Result<u32, Error> {
    EVENTS.iter().for_each(|events| events.store(0, Relaxed));
    if test.name == "synchronization" {
        S.put()?;
    }
    if let Some(handler) = test.handler {
        expect(interrupt::register(InterruptId::sgi(LINE), 0x90, handler).is_ok());
        interrupt::enable(InterruptId::sgi(LINE));
    }
    let mut handles: [Option<JoinHandle<()>>; WORKERS] = [const { None }; WORKERS];
    for (n, &(priority, body)) in test.bodies.iter().enumerate() {
        let builder = Builder::new(test.name).priority(Priority::new(priority).ok_or(Error::Priority)?).suspended();
        let handle = builder.spawn(cell(n), stack_of(n)?, move || body(n))?;
        // SAFETY: no thread of a test runs.
        unsafe { *THREADS[n].get() = Some(handle.thread()) };
        handles[n] = Some(handle);
    }
    thread::sleep(Ticks::new(1))?;
    // Those that wait to be resumed by others stay suspended.
    let started = if test.name == "cooperative" { test.bodies.len() } else { 1 };
    for n in 0..started {
        thread_of(n).resume()?;
    }
    let begin = end();
    thread::sleep(Ticks::new(TICKS))?;
    let instructions = end().wrapping_sub(begin);
    interrupt::disable(InterruptId::sgi(LINE));
    for handle in handles.into_iter().flatten() {
        // SAFETY: the bodies lend nothing of their frames to anybody.
        unsafe { handle.terminate_and_reclaim()? };
    }
    if test.name == "interrupt" {
        // Ended between an interrupt and its get.
        let _ = S.get(Timeout::NoWait);
    }

    let counters = if test.steps { test.bodies.len() + 1 } else { test.bodies.len() };
    let counters = EVENTS[..counters].iter().map(|events| events.load(Relaxed));
    let (least, most) = counters.clone().fold((u32::MAX, 0), |(least, most), n| (least.min(n), most.max(n)));
    if most - least > test.difference || least == 0 {
        bsp::println!("error: {}: counters of threads that take turns are {} to {}", test.name, least, most);
        WRONG.store(1, Relaxed);
    }
    let events = if test.steps { least } else { counters.sum() };
    Ok((u64::from(instructions) * 10 / u64::from(events.max(1))) as u32)
}

fn report() -> Result<(), Error> {
    S.create("metric", 0)?;
    Q.create("metric")?;
    POOL.create("metric")?;
    costs::banner!();
    for test in &TESTS {
        let tenths = run(test)?;
        bsp::println!("METRIC {} {}.{}", test.name, tenths / 10, tenths % 10);
    }
    if WRONG.load(Relaxed) == 0 {
        bsp::println!("COSTS ok");
        bsp::exit(0)
    }
    bsp::println!("COSTS FAILED: a service, an answer or a counter was wrong");
    bsp::exit(1)
}

/// The reporting thread is above all others.
fn start_reporter() -> Result<(), Error> {
    stack! { static STACK: Stack<Dram0, 8192>; }
    static CELL: ThreadCell = ThreadCell::new();
    let reporter = Builder::new("reporter").priority(Priority::of::<2>()).spawn(&CELL, STACK.take()?, report)?;
    match reporter.join() {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::Thread),
    }
}
