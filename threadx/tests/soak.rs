//! Random services of all objects from threads and interrupts, deletions and creations among them, with an
//! interrupt at any place where the kernel lets one in. Nothing may be lost, doubled or shared.
//!
//! `SOAK_OPERATIONS` and `SOAK_SEED` choose how many (of one thread of four) and which.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use common::Host;
use threadx::{
    Block, BlockPool, Builder, BytePool, Error, EventFlags, Inheritance, Match, Mutex, PoolBox, Priority, Queue,
    Semaphore, Ticks, Timeout, host, thread,
};

fn setting(name: &str, default: u32) -> u32 {
    std::env::var(name).map_or(default, |value| value.parse().expect(name))
}

static MADE: AtomicU32 = AtomicU32::new(0);
static DROPPED: AtomicU32 = AtomicU32::new(0);

/// Knows whether it was dropped, and counts.
struct Tracked(u64);
const ALIVE: u64 = 0x600D_600D_600D_600D;

impl Tracked {
    fn new() -> Self {
        MADE.fetch_add(1, SeqCst);
        Self(ALIVE)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        assert_eq!(std::mem::replace(&mut self.0, 0), ALIVE, "dropped twice, or never made");
        DROPPED.fetch_add(1, SeqCst);
    }
}

static QUEUE: Queue<Tracked, 2> = Queue::new();
static BLOCKS: BlockPool<Tracked, 3> = BlockPool::new();
static BYTES: BytePool<400> = BytePool::new();
static FLAGS: EventFlags = EventFlags::new();
static SEMAPHORE: Semaphore = Semaphore::new();
static MUTEX: Mutex<(u32, u32)> = Mutex::new((0, 0));
/// Somebody uses the value of `MUTEX`.
static INSIDE: AtomicBool = AtomicBool::new(false);
static LOCKS: AtomicU32 = AtomicU32::new(0);
/// Never deleted: wakes the highest thread.
static WAKE: Semaphore = Semaphore::new();

static SEED: AtomicU32 = AtomicU32::new(0);

fn random(below: u32) -> u32 {
    // One at a time has the baton.
    let mut seed = SEED.load(SeqCst);
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    SEED.store(seed, SeqCst);
    seed % below
}

#[derive(Default)]
struct Held {
    blocks: Vec<Block<Tracked>>,
    boxes: Vec<PoolBox<Tracked>>,
}

fn timeout() -> Timeout {
    match random(4) {
        0 => Ticks::new(1).into(),
        1 => Ticks::new(2).into(),
        _ => Timeout::NoWait,
    }
}

/// Every object there may be deleted at any time: an error is as good as success.
fn operate(held: &mut Held) {
    match random(24) {
        0 | 1 => drop(QUEUE.send(Tracked::new(), timeout())),
        2 | 3 => drop(QUEUE.receive(timeout())),
        4 => drop(QUEUE.send_front(Tracked::new(), timeout())),
        5 => _ = QUEUE.flush(),
        6 => _ = QUEUE.prioritize(),
        7 => _ = FLAGS.set(1 << random(3)),
        8 => _ = FLAGS.get(1 + random(7), [Match::AnyClear, Match::AllClear][random(2) as usize], timeout()),
        9 => _ = SEMAPHORE.ceiling_put(3),
        10 => _ = SEMAPHORE.get(timeout()),
        11..=13 => {
            if let Ok(block) = BLOCKS.store(Tracked::new(), timeout()) {
                held.blocks.push(block);
            }
        }
        14 | 15 => {
            if let Ok(memory) = BYTES.store(Tracked::new(), timeout()) {
                held.boxes.push(memory);
            }
        }
        16 if !held.blocks.is_empty() => drop(held.blocks.swap_remove(random(held.blocks.len() as u32) as usize)),
        17 if !held.boxes.is_empty() => drop(held.boxes.swap_remove(random(held.boxes.len() as u32) as usize)),
        18 => *held = Held::default(),
        _ => lock(),
    }
}

fn lock() {
    if let Ok(mut guard) = MUTEX.lock(timeout()) {
        assert!(!INSIDE.swap(true, SeqCst), "two have the mutex");
        guard.0 += 1;
        assert!(!matches!(MUTEX.lock(timeout()), Ok(_) | Err(Error::Poisoned)));
        if random(3) == 0 {
            thread::relinquish();
        }
        guard.1 += 1;
        assert_eq!(guard.0, guard.1);
        LOCKS.fetch_add(1, SeqCst);
        INSIDE.store(false, SeqCst);
    }
}

/// Refused if the object exists, or somebody is inside.
fn create() {
    _ = QUEUE.create("queue");
    _ = BLOCKS.create("blocks");
    _ = BYTES.create("bytes");
    _ = FLAGS.create("flags");
    _ = SEMAPHORE.create("semaphore", 1);
    _ = MUTEX.create("mutex", [Inheritance::Off, Inheritance::On][random(2) as usize]);
}

fn delete() {
    _ = match random(6) {
        0 => QUEUE.delete(),
        1 => BLOCKS.delete(),
        2 => BYTES.delete(),
        3 => FLAGS.delete(),
        4 => SEMAPHORE.delete(),
        _ => MUTEX.delete(),
    };
}

fn point() {
    if random(6) == 0 {
        host::interrupt(|| {
            // Boxes are dropped in interrupts, too.
            let mut held = Held::default();
            for _ in 0..random(4) {
                operate(&mut held);
            }
            if random(4) == 0 {
                WAKE.put().unwrap();
            }
        });
    }
}

#[test]
fn nothing_is_lost_doubled_or_shared() {
    cell! { MAIN, MAIN_STACK; A, A_STACK; B, B_STACK; HIGHEST, HIGHEST_STACK }
    static OVER: AtomicBool = AtomicBool::new(false);
    static CREATED: AtomicU32 = AtomicU32::new(0);
    let operations = setting("SOAK_OPERATIONS", 30_000);
    // Zero stays zero in this generator.
    SEED.store(setting("SOAK_SEED", 0x1234_5678).max(1), SeqCst);
    // Idle ticks add up: each operation may wait for two.
    let outcome = host::run(2 * operations + 1000, move |_| {
        WAKE.create("wake", 0).unwrap();
        let worker = || {
            let mut held = Held::default();
            while !OVER.load(SeqCst) {
                operate(&mut held);
                thread::relinquish();
            }
        };
        let highest = || {
            let mut held = Held::default();
            while !OVER.load(SeqCst) {
                WAKE.get(Timeout::Forever).unwrap();
                match random(4) {
                    0 => delete(),
                    1 => create(),
                    _ => operate(&mut held),
                }
            }
        };
        let builder = Builder::new("worker").priority(Priority::of::<10>());
        let a = builder.spawn(&A, A_STACK.take().unwrap(), worker).unwrap();
        let b = builder.spawn(&B, B_STACK.take().unwrap(), worker).unwrap();
        let c = builder.priority(Priority::of::<5>()).spawn(&HIGHEST, HIGHEST_STACK.take().unwrap(), highest).unwrap();
        let main = move || {
            host::set_interrupt_point(Some(point));
            let mut held = Held::default();
            for operation in 0..operations {
                match random(20) {
                    0 => delete(),
                    1 => {
                        create();
                        CREATED.fetch_add(u32::from(BYTES.info().is_ok() && BLOCKS.info().is_ok()), SeqCst);
                    }
                    2 => thread::relinquish(),
                    _ => operate(&mut held),
                }
                if operation % 500 == 0 {
                    host::check_invariants().unwrap();
                }
            }
            host::set_interrupt_point(None);
            OVER.store(true, SeqCst);
            WAKE.put().unwrap();
            drop(held);
            assert!(a.join().is_ok() && b.join().is_ok() && c.join().is_ok());
            // Nobody is inside any more, and nobody has a block.
            create();
            for all_exist in [QUEUE.info().is_ok(), BLOCKS.info().is_ok(), BYTES.info().is_ok(), MUTEX.info().is_ok()] {
                assert!(all_exist);
            }
            assert_eq!(BLOCKS.info().unwrap().available, 3);
            QUEUE.delete().unwrap();
            assert_eq!(MADE.load(SeqCst), DROPPED.load(SeqCst));
            // It was no walk through errors.
            assert!(MADE.load(SeqCst) > operations / 4, "{MADE:?}");
            assert!(LOCKS.load(SeqCst) > operations / 20, "{LOCKS:?}");
            assert!(CREATED.load(SeqCst) > operations / 100, "{CREATED:?}");
            host::check_invariants().unwrap();
            host::finish()
        };
        Builder::new("main")
            .priority(Priority::of::<10>())
            .spawn(&MAIN, MAIN_STACK.take().unwrap(), main)
            .unwrap()
            .detach();
    });
    assert_eq!(outcome, host::Outcome::Finished, "the threads wait for ever");
}
