//! What the important kernel services cost when nobody has to wait: pairs that undo themselves, in one thread, or with
//! a partner of higher priority that preempts and waits again.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};

use bsp::memory::region_of;
use measure::{Bench, Case};
use threadx::thread::{current, relinquish};
use threadx::timer::Schedule;
use threadx::{
    BlockPool, BytePool, Error, EventFlags, Inheritance, Match, Mutex, Priority, Queue, Semaphore, Ticks, Timeout,
    Timer,
};

use crate::factors::Preparation;
use crate::report::Report;
use crate::sampler::{Plan, Sampler};
use crate::threads::{Body, Memory, PREEMPTS, Pair, TURNS};

/// Samples of a series.
const SAMPLES: usize = 64;

static SEMAPHORE: Semaphore = Semaphore::new();
static WAKE: Semaphore = Semaphore::new();
static FLAGS: EventFlags = EventFlags::new();
static MUTEX: Mutex<u32> = Mutex::new(0);
static QUEUE: Queue<u32, 4> = Queue::new();
static BLOCKS: BlockPool<[u32; 8], 4> = BlockPool::new();
static BYTES: BytePool<1024> = BytePool::new();
static TIMER: Timer = Timer::new();
static STOP: AtomicBool = AtomicBool::new(false);

/// Creates the objects; once.
pub fn create() -> Result<(), Error> {
    SEMAPHORE.create("service", 0)?;
    WAKE.create("wake service", 0)?;
    FLAGS.create("service")?;
    MUTEX.create("service", Inheritance::On)?;
    QUEUE.create("service")?;
    BLOCKS.create("service")?;
    BYTES.create("service")?;
    TIMER.create("service", Schedule::every(Ticks::new(1_000_000)), || {})
}

macro_rules! services {
    ($($name:ident: $timed:expr;)+) => {
        $(
            #[inline(never)]
            fn $name(sampler: &mut Sampler) {
                while sampler.wants_more() {
                    sampler.before();
                    let start = bsp::cycles();
                    let right = $timed;
                    let end = bsp::cycles();
                    sampler.right &= right;
                    sampler.after(start, end);
                }
            }
        )+

        /// A service, or a pair.
        #[derive(Clone, Copy)]
        pub struct Service {
            name: &'static str,
            code: fn(&mut Sampler),
        }

        impl Service {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self { name: stringify!($name), code: $name },)+];
        }
    };
}

services! {
    relinquish_alone: {
        relinquish();
        true
    };
    time_now: {
        black_box(threadx::time::now());
        true
    };
    thread_info: current().is_some_and(|me| me.info().is_ok());
    thread_set_priority: current().is_some_and(|me| me.set_priority(TURNS) == Ok(TURNS));
    semaphore_put_get: SEMAPHORE.put().is_ok() && SEMAPHORE.get(Timeout::NoWait).is_ok();
    semaphore_put_preempting: WAKE.put().is_ok();
    event_flags_set_get: FLAGS.set(1).is_ok() && FLAGS.get(1, Match::AnyClear, Timeout::NoWait) == Ok(1);
    mutex_lock_unlock: MUTEX.lock(Timeout::NoWait).is_ok();
    queue_send_receive: QUEUE.try_send(7).is_ok() && QUEUE.try_receive() == Ok(7);
    block_allocate_release: BLOCKS.allocate(Timeout::NoWait).is_ok();
    byte_allocate_release: BYTES.allocate::<[u32; 16]>(Timeout::NoWait).is_ok();
    timer_activate_deactivate: TIMER.activate().is_ok() && TIMER.deactivate().is_ok();
}

impl Service {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Whether the core set has it.
    pub fn is_core(self) -> bool {
        matches!(self.name, "relinquish_alone" | "semaphore_put_get" | "semaphore_put_preempting")
    }
}

/// Waits again whenever the service wakes it.
fn waiter() -> Result<(), Error> {
    while !STOP.load(Ordering::Relaxed) {
        WAKE.get(Timeout::Forever)?;
    }
    Ok(())
}

/// One series; where the code lies in its line is left to the compiler.
pub fn measure(report: &mut Report, memory: Memory, pair: &Pair, preparation: Preparation, service: Service) {
    STOP.store(false, Ordering::Relaxed);
    // The first round of some services, of the byte pool's for one, finds its object as it was created.
    let mut sampler = Sampler::new(Plan { warm_up: 1, ..Plan::new(SAMPLES, preparation) });
    let (mut stopped, mut waited) = (Ok(()), Ok(()));
    let mut worker = || {
        sampler.note_stack();
        (service.code)(&mut sampler);
        STOP.store(true, Ordering::Relaxed);
        stopped = WAKE.put();
    };
    let mut waiter = || waited = waiter();
    let partner: (Priority, Body<'_>) = (PREEMPTS, &mut waiter);
    let ran = memory.run(pair, &mut worker, Some(partner));
    if let Err(error) = ran.and(stopped).and(waited) {
        return report.fail(service.name, error);
    }
    let case = Case {
        code: region_of(service.code as *const () as usize),
        detail: service.name,
        ..Report::case(Bench::Service, memory, pair, &sampler)
    };
    report.series(&case, memory, &sampler);
}
