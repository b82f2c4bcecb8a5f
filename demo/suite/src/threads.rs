//! The measured threads: a worker and, for most measurements, a partner, with their stacks in one memory.

use core::sync::atomic::{AtomicBool, Ordering};

use bsp::memory::region_of;
use threadx::{Builder, Error, Priority, Region, Stack, ThreadCell};

/// Of the worker and of a partner that takes turns with it.
pub const TURNS: Priority = Priority::of::<16>();
/// Of a partner that preempts the worker.
pub const PREEMPTS: Priority = Priority::of::<12>();

/// Of a thread that runs when nothing else does.
const IDLE: Priority = Priority::of::<31>();

/// Bytes of the worker's stack: 32 frames and a table of 8 KB fit.
const WORKER: usize = 12 * 1024;
/// Bytes of the partner's stack.
const PARTNER: usize = 1536;

macro_rules! memories {
    ($($(#[$cfg:meta])? $region:ident, $worker:ident, $partner:ident;)+) => {
        $(
            $(#[$cfg])?
            use bsp::memory::$region;
            $(#[$cfg])?
            threadx::stack! {
                static $worker: Stack<$region, WORKER>;
                static $partner: Stack<$region, PARTNER>;
            }
        )+

        /// A memory of the board that stacks can lie in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Memory {
            $($(#[$cfg])? $region,)+
        }

        impl Memory {
            /// All of them.
            pub const ALL: &'static [Self] = &[$($(#[$cfg])? Self::$region,)+];

            /// The name in records.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[$cfg])? Self::$region => $region::NAME,)+
                }
            }

            /// Whether the address lies in it.
            pub fn holds(self, address: usize) -> bool {
                match self {
                    $($(#[$cfg])? Self::$region => $region::range().contains(&address),)+
                }
            }

            /// Runs a worker and perhaps a partner, both with their stacks here, until both have ended. The partner
            /// runs first.
            pub fn run(self, pair: &Pair, worker: Body<'_>, partner: Option<(Priority, Body<'_>)>) -> Result<(), Error> {
                match self {
                    $($(#[$cfg])? Self::$region => run_on(&$worker, &$partner, pair, worker, partner),)+
                }
            }
        }
    };
}

memories! {
    Btcm, WORKER_BTCM, PARTNER_BTCM;
    Ctcm, WORKER_CTCM, PARTNER_CTCM;
    Atcm, WORKER_ATCM, PARTNER_ATCM;
    Dram0, WORKER_DRAM0, PARTNER_DRAM0;
    #[cfg(feature = "s32z280")] Dram1, WORKER_DRAM1, PARTNER_DRAM1;
    #[cfg(feature = "s32z280")] Dram2, WORKER_DRAM2, PARTNER_DRAM2;
}

/// What a thread does; borrowed from the suite's thread, which waits.
pub type Body<'a> = &'a mut (dyn FnMut() + Send);

/// Control blocks of worker and partner, in one memory.
#[derive(Clone, Copy)]
pub struct Pair {
    worker: &'static ThreadCell,
    partner: &'static ThreadCell,
}

impl Pair {
    /// The memory that the worker's control block lies in.
    pub fn memory(&self) -> &'static str {
        region_of(core::ptr::from_ref(self.worker) as usize)
    }

    /// Address of the worker's control block.
    pub fn address(&self) -> usize {
        core::ptr::from_ref(self.worker) as usize
    }
}

threadx::place! {
    static WORKER_CELL: Placed<Btcm, ThreadCell>;
    static PARTNER_CELL: Placed<Btcm, ThreadCell>;
}
static WORKER_CELL_DRAM0: ThreadCell = ThreadCell::new();
static PARTNER_CELL_DRAM0: ThreadCell = ThreadCell::new();

/// Where control blocks lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// With the other statics.
    Dram0,
    /// In tightly-coupled memory.
    Btcm,
}

/// All control blocks of measured threads.
pub struct Cells {
    dram0: Pair,
    btcm: Pair,
}

impl Cells {
    /// Puts them into their memories; once.
    pub fn place() -> Result<Self, Error> {
        Ok(Self {
            dram0: Pair { worker: &WORKER_CELL_DRAM0, partner: &PARTNER_CELL_DRAM0 },
            btcm: Pair { worker: WORKER_CELL.init(ThreadCell::new())?, partner: PARTNER_CELL.init(ThreadCell::new())? },
        })
    }

    /// Those in this memory.
    pub const fn of(&self, control: Control) -> &Pair {
        match control {
            Control::Dram0 => &self.dram0,
            Control::Btcm => &self.btcm,
        }
    }
}

static STOP: AtomicBool = AtomicBool::new(false);

/// Runs `f` in a worker thread, with a thread below it that lets the core sleep: upstream's kernel spins when nothing is
/// ready, which an emulator has to follow instruction by instruction.
pub fn with_idle<T: Send>(pair: &Pair, f: fn() -> T) -> Result<Option<T>, Error> {
    STOP.store(false, Ordering::Relaxed);
    let mut result = None;
    let mut worker = || {
        result = Some(f());
        STOP.store(true, Ordering::Relaxed);
    };
    let mut idle = || {
        while !STOP.load(Ordering::Relaxed) {
            bsp::wait_for_interrupt();
        }
    };
    Memory::Dram0.run(pair, &mut worker, Some((IDLE, &mut idle)))?;
    Ok(result)
}

fn run_on<R: Region, const W: usize, const P: usize>(
    worker_stack: &'static Stack<R, W>,
    partner_stack: &'static Stack<R, P>,
    pair: &Pair,
    worker: Body<'_>,
    partner: Option<(Priority, Body<'_>)>,
) -> Result<(), Error> {
    let (worker_stack, partner_stack) = (worker_stack.take()?, partner_stack.take()?);
    threadx::scope(|scope| {
        let second = match partner {
            Some((priority, body)) => {
                let builder = Builder::new("partner").priority(priority);
                Some(builder.spawn_scoped(scope, pair.partner, partner_stack, body)?)
            }
            None => None,
        };
        let first = Builder::new("worker").priority(TURNS).spawn_scoped(scope, pair.worker, worker_stack, worker)?;
        first.join().map_err(|_| Error::Thread)?;
        second.map_or(Ok(()), |second| second.join().map_err(|_| Error::Thread))
    })?
}
