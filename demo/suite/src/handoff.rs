//! Two threads of equal priority that wake each other: a sample sets the partner's object, waits for its own, and
//! contains the partner's wait and answer. Two services of each kind and two switches.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};

use bsp::memory::region_of;
use bsp::placement::Copies;
use measure::{Bench, Case};
use threadx::{Error, EventFlags, Match, Semaphore, Timeout};

use crate::factors::Preparation;
use crate::report::Report;
use crate::sampler::{Plan, Sampler};
use crate::threads::{Memory, Pair, TURNS};

/// Samples of a series.
const SAMPLES: usize = 128;

static FLAGS: EventFlags = EventFlags::new();
const PING: u32 = 1;
const PONG: u32 = 2;
static PINGED: Semaphore = Semaphore::new();
static PONGED: Semaphore = Semaphore::new();
static STOP: AtomicBool = AtomicBool::new(false);

/// Creates the objects; once.
pub fn create() -> Result<(), Error> {
    FLAGS.create("hand-off")?;
    PINGED.create("ping", 0)?;
    PONGED.create("pong", 0)
}

/// What the threads wake each other through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// One event-flags group.
    EventFlags,
    /// Two counting semaphores.
    Semaphores,
}

impl Object {
    /// Both.
    pub const ALL: [Self; 2] = [Self::EventFlags, Self::Semaphores];

    /// The measurement.
    pub const fn bench(self) -> Bench {
        match self {
            Self::EventFlags => Bench::EventHandoff,
            Self::Semaphores => Bench::SemaphoreHandoff,
        }
    }

    fn copies(self) -> Copies<fn(&mut Sampler)> {
        match self {
            Self::EventFlags => by_flags(),
            Self::Semaphores => by_semaphores(),
        }
    }

    fn wake_partner(self) -> Result<(), Error> {
        match self {
            Self::EventFlags => FLAGS.set(PING),
            Self::Semaphores => PINGED.put(),
        }
    }

    fn answer(self) -> Result<(), Error> {
        match self {
            Self::EventFlags => answer_by_flags(),
            Self::Semaphores => answer_by_semaphores(),
        }
    }
}

bsp::placed! {
    fn by_flags(sampler: &mut Sampler) {
        // Addresses and results are opaque: what the compiler makes of them could differ from copy to copy.
        let flags = black_box(&FLAGS);
        while sampler.wants_more() {
            sampler.before();
            let start = bsp::cycles();
            let set = black_box(flags.set(PING));
            let got = black_box(flags.get(PONG, Match::AllClear, Timeout::Forever));
            let end = bsp::cycles();
            sampler.right &= set.is_ok() && got.is_ok();
            sampler.after(start, end);
        }
    }
}

bsp::placed! {
    fn by_semaphores(sampler: &mut Sampler) {
        let (pinged, ponged) = (black_box(&PINGED), black_box(&PONGED)); // as above
        while sampler.wants_more() {
            sampler.before();
            let start = bsp::cycles();
            let put = black_box(pinged.put());
            let got = black_box(ponged.get(Timeout::Forever));
            let end = bsp::cycles();
            sampler.right &= put.is_ok() && got.is_ok();
            sampler.after(start, end);
        }
    }
}

fn answer_by_flags() -> Result<(), Error> {
    loop {
        FLAGS.get(PING, Match::AllClear, Timeout::Forever)?;
        if STOP.load(Ordering::Relaxed) {
            return Ok(());
        }
        FLAGS.set(PONG)?;
    }
}

fn answer_by_semaphores() -> Result<(), Error> {
    loop {
        PINGED.get(Timeout::Forever)?;
        if STOP.load(Ordering::Relaxed) {
            return Ok(());
        }
        PONGED.put()?;
    }
}

/// All placements.
pub fn measure(report: &mut Report, memory: Memory, pair: &Pair, preparation: Preparation, object: Object) {
    for copy in object.copies() {
        STOP.store(false, Ordering::Relaxed);
        let mut sampler = Sampler::new(Plan::new(SAMPLES, preparation));
        let measuring = copy.function();
        let (mut stopped, mut answered) = (Ok(()), Ok(()));
        let mut worker = || {
            sampler.note_stack();
            measuring(&mut sampler);
            STOP.store(true, Ordering::Relaxed);
            stopped = object.wake_partner();
        };
        let mut partner = || answered = object.answer();
        let ran = memory.run(pair, &mut worker, Some((TURNS, &mut partner)));
        if let Err(error) = ran.and(stopped).and(answered) {
            report.fail("hand-off", error);
            continue;
        }
        report.check("the timed code lies at its offset", copy.is_in_place());
        let case = Case {
            placement: Some(copy.offset()),
            code: region_of(copy.address()),
            ..Report::case(object.bench(), memory, pair, &sampler)
        };
        report.series(&case, memory, &sampler);
    }
}
