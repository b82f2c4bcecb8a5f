//! From the request of a software interrupt to its handler, and to a thread that the handler wakes.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use bsp::interrupt::{self, InterruptId};
use bsp::memory::region_of;
use measure::{Bench, Case};
use threadx::{Error, Semaphore, Timeout};

use crate::factors::Preparation;
use crate::report::Report;
use crate::sampler::{Plan, Sampler};
use crate::threads::{Memory, PREEMPTS, Pair};

/// Samples of a series.
const SAMPLES: usize = 64;
/// Looks at the flag before an interrupt counts as lost.
const PATIENCE: u32 = 100_000;
const NUMBER: u8 = 5;
const LINE: InterruptId = InterruptId::sgi(NUMBER);
/// Above the tick's, so that a tick does not delay it.
const PRIORITY: u8 = 0x80;

/// When the handler or the thread began.
static ARRIVED_AT: AtomicU32 = AtomicU32::new(0);
static ARRIVED: AtomicBool = AtomicBool::new(false);
static WAKE: Semaphore = Semaphore::new();
static STOP: AtomicBool = AtomicBool::new(false);

/// Creates the objects; once.
pub fn create() -> Result<(), Error> {
    WAKE.create("wake", 0)
}

/// Where the interrupt is to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// In the handler.
    Handler,
    /// In a thread that the handler wakes, which has a higher priority than the interrupted one.
    Thread,
}

impl Target {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Handler, Self::Thread];

    /// The measurement.
    pub const fn bench(self) -> Bench {
        match self {
            Self::Handler => Bench::InterruptToHandler,
            Self::Thread => Bench::InterruptToThread,
        }
    }
}

fn arrive() {
    ARRIVED_AT.store(bsp::cycles(), Ordering::Relaxed);
    ARRIVED.store(true, Ordering::Relaxed);
}

fn wake() {
    // A refused put leaves the flag unset, which the measuring loop reports.
    let _ = WAKE.put();
}

fn waiter() -> Result<(), Error> {
    loop {
        WAKE.get(Timeout::Forever)?;
        let now = bsp::cycles();
        if STOP.load(Ordering::Relaxed) {
            return Ok(());
        }
        ARRIVED_AT.store(now, Ordering::Relaxed);
        ARRIVED.store(true, Ordering::Relaxed);
    }
}

bsp::placed! {
    fn requests(sampler: &mut Sampler) {
        while sampler.wants_more() {
            ARRIVED.store(false, Ordering::Relaxed);
            sampler.before();
            let start = bsp::cycles();
            interrupt::pend_sgi(NUMBER);
            let arrived = (0..PATIENCE).any(|_| ARRIVED.load(Ordering::Relaxed));
            sampler.right &= arrived;
            sampler.after(start, ARRIVED_AT.load(Ordering::Relaxed));
        }
    }
}

/// All placements.
pub fn measure(report: &mut Report, memory: Memory, pair: &Pair, preparation: Preparation, target: Target) {
    let handler = match target {
        Target::Handler => arrive,
        Target::Thread => wake,
    };
    if let Err(error) = interrupt::register(LINE, PRIORITY, handler) {
        return report.fail("software interrupt", error);
    }
    interrupt::enable(LINE);
    for copy in requests() {
        STOP.store(false, Ordering::Relaxed);
        // In the first round the waiting thread goes on from a wait that it began in a call, later from one that an
        // interrupt ended.
        let mut sampler = Sampler::new(Plan { interrupts: 1, warm_up: 1, ..Plan::new(SAMPLES, preparation) });
        let measuring = copy.function();
        let (mut stopped, mut waited) = (Ok(()), Ok(()));
        let mut worker = || {
            sampler.note_stack();
            measuring(&mut sampler);
            STOP.store(true, Ordering::Relaxed);
            if target == Target::Thread {
                stopped = WAKE.put();
            }
        };
        let mut thread = || waited = waiter();
        let partner: Option<(_, crate::threads::Body<'_>)> = match target {
            Target::Handler => None,
            Target::Thread => Some((PREEMPTS, &mut thread)),
        };
        let ran = memory.run(pair, &mut worker, partner);
        if let Err(error) = ran.and(stopped).and(waited) {
            report.fail("interrupt", error);
            continue;
        }
        report.check("the timed code lies at its offset", copy.is_in_place());
        let case = Case {
            placement: Some(copy.offset()),
            code: region_of(copy.address()),
            ..Report::case(target.bench(), memory, pair, &sampler)
        };
        report.series(&case, memory, &sampler);
    }
    interrupt::disable(LINE);
}
