//! Byte pools through the safe API, on the host port.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Dropped, Host, run};
use threadx::{Builder, BytePool, Error, PoolBox, Priority, Queue, Schedule, Ticks, Timeout, Timer, host, thread};

const MAIN: Priority = Priority::of::<10>();
const HIGHER: Priority = Priority::of::<5>();

macro_rules! run_in_thread {
    ($main:expr) => {{
        cell! { MAIN_CELL, MAIN_STACK }
        run(|_| {
            let main = Builder::new("main").priority(MAIN);
            main.spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), $main).unwrap().detach();
        });
    }};
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(64))]
struct Line(u8);
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(16))]
struct Wide([u8; 24]);

enum Any {
    Byte(PoolBox<u8>),
    Word(PoolBox<u64>),
    Wide(PoolBox<Wide>),
    Line(PoolBox<Line>),
    Slice(PoolBox<[Wide]>),
    Nothing(PoolBox<()>),
}

impl Any {
    fn check(&self) {
        let aligned = |address: usize, align| assert!(address.is_multiple_of(align), "{address:x} {align}");
        match self {
            Self::Byte(v) => assert_eq!(**v, 1),
            Self::Word(v) => {
                aligned((&raw const **v).addr(), align_of::<u64>());
                assert_eq!(**v, u64::MAX);
            }
            Self::Wide(v) => {
                aligned((&raw const **v).addr(), 16);
                assert_eq!(**v, Wide([3; 24]));
            }
            Self::Line(v) => {
                aligned((&raw const **v).addr(), 64);
                assert_eq!(**v, Line(4));
            }
            Self::Slice(v) => {
                aligned(v.as_ptr().addr(), 16);
                assert!(v.iter().all(|wide| *wide == Wide([5; 24])));
            }
            Self::Nothing(v) => assert_eq!(**v, ()),
        }
    }
}

#[test]
fn every_size_and_alignment_and_all_memory_comes_back() {
    static POOL: BytePool<8192> = BytePool::new();
    run_in_thread!(|| {
        POOL.create("pool").unwrap();
        assert_eq!(POOL.create("again"), Err(Error::InUse));
        let whole = POOL.info().unwrap().available;
        let mut seed = 0x9E37_79B9u32;
        let mut random = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            seed as usize % below
        };
        let mut held: Vec<Any> = Vec::new();
        let mut full = 0;
        for round in 0..100_000 {
            if random(5) < 3 {
                let new = match random(6) {
                    0 => POOL.store(1, Timeout::NoWait).map(Any::Byte).map_err(Error::from),
                    1 => POOL.store(u64::MAX, Timeout::NoWait).map(Any::Word).map_err(Error::from),
                    2 => POOL.store(Wide([3; 24]), Timeout::NoWait).map(Any::Wide).map_err(Error::from),
                    3 => POOL.store(Line(4), Timeout::NoWait).map(Any::Line).map_err(Error::from),
                    4 => POOL.store_slice(&[Wide([5; 24]); 9][..random(10)], Timeout::NoWait).map(Any::Slice),
                    _ => POOL.store((), Timeout::NoWait).map(Any::Nothing).map_err(Error::from),
                };
                match new {
                    Ok(new) => held.push(new),
                    Err(error) => {
                        assert_eq!(error, Error::NoMemory);
                        full += 1;
                    }
                }
            } else if !held.is_empty() {
                let one = held.swap_remove(random(held.len()));
                one.check();
            }
            if round % 1000 == 0 {
                held.iter().for_each(Any::check);
                host::check_invariants().unwrap();
            }
        }
        assert!(full > 100, "the pool was never full");
        held.clear();
        assert_eq!(POOL.info().unwrap().available, whole);
        // All of it but its own two words and the end mark's.
        let all = POOL.allocate_slice::<u8>(8192 - 4 * size_of::<usize>(), Timeout::NoWait).unwrap();
        assert_eq!((POOL.info().unwrap().available, POOL.info().unwrap().fragments), (0, 2));
        drop(all);
        host::finish()
    });
}

#[test]
fn sizes_that_cannot_be_had() {
    static POOL: BytePool<4096> = BytePool::new();
    run_in_thread!(|| {
        POOL.create("pool").unwrap();
        let bytes = |len| POOL.allocate_slice::<u8>(len, Timeout::NoWait);
        assert_eq!(bytes(4096).err(), Some(Error::NoMemory));
        assert_eq!((bytes(5000).err(), bytes(usize::MAX / 2).err()), (Some(Error::Size), Some(Error::Size)));
        assert_eq!(POOL.allocate_slice::<u64>(usize::MAX / 4, Timeout::NoWait).err(), Some(Error::Size));
        // K13: neighbours are merged by a later search, not by the release.
        let mut four: Vec<_> = (0..4).map(|_| bytes(900).unwrap()).collect();
        assert_eq!(POOL.info().unwrap().fragments, 6);
        drop(four.drain(..3));
        assert_eq!(POOL.info().unwrap().fragments, 6);
        let large = bytes(2600).unwrap();
        assert!(POOL.info().unwrap().fragments < 6);
        assert_eq!(POOL.allocate_slice::<u8>(2000, Ticks::new(3)).err(), Some(Error::NoMemory));
        drop((large, four));
        host::finish()
    });
}

#[test]
fn waiting_deletion_and_a_second_life() {
    cell! { A, A_STACK }
    static POOL: BytePool<256> = BytePool::new();
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    run_in_thread!(|| {
        assert_eq!(POOL.store(1, Timeout::NoWait).unwrap_err().error, Error::Pool);
        for round in 1..=300 {
            POOL.create("pool").unwrap();
            let most = POOL.allocate_slice::<u8>(150, Timeout::NoWait).unwrap();
            let waiter = Builder::new("waiter").priority(HIGHER);
            let wait = || POOL.store([0u8; 150], Timeout::Forever).map_err(Error::from);
            let waiting = waiter.spawn(&A, A_STACK.take().unwrap(), wait).unwrap();
            POOL.prioritize().unwrap();
            assert_eq!(POOL.info().unwrap().waiting, 1);
            drop(most);
            assert_eq!(waiting.join().unwrap().unwrap().into_inner(), [0; 150]);
            let counted = POOL.store(Dropped(&DROPPED), Timeout::NoWait).unwrap();
            let most = POOL.allocate_slice::<u8>(150, Timeout::NoWait).unwrap();
            let waiting = waiter.spawn(&A, A_STACK.take().unwrap(), wait).unwrap();
            POOL.delete().unwrap();
            assert_eq!(waiting.join(), Ok(Err(Error::Deleted)));
            assert_eq!((POOL.create("again"), POOL.delete()), (Err(Error::InUse), Err(Error::Pool)));
            assert_eq!((POOL.prioritize(), POOL.info()), (Err(Error::Pool), Err(Error::Pool)));
            drop(counted);
            assert_eq!((DROPPED.load(SeqCst), POOL.create("again")), (round, Err(Error::InUse)));
            drop(most);
            host::check_invariants().unwrap();
        }
        host::finish()
    });
}

#[test]
fn only_threads_and_initialization_allocate_but_boxes_end_anywhere() {
    cell! { MAIN_CELL, MAIN_STACK }
    static POOL: BytePool<512> = BytePool::new();
    static GIFTS: Queue<PoolBox<Dropped>, 4> = Queue::new();
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    static T: Timer = Timer::new();
    fn take_and_drop() {
        assert_eq!(POOL.store(1, Timeout::NoWait).unwrap_err().error, Error::Caller);
        drop(GIFTS.try_receive().unwrap());
        drop(GIFTS.try_receive().unwrap());
    }
    run(|_| {
        POOL.create("pool").unwrap();
        GIFTS.create("gifts").unwrap();
        assert_eq!(POOL.store(1, Timeout::Forever).unwrap_err().error, Error::Wait);
        drop(POOL.store(1, Timeout::NoWait).unwrap());
        let main = || {
            let whole = POOL.info().unwrap().available;
            for _ in 0..4 {
                let gift = POOL.store(Dropped(&DROPPED), Timeout::NoWait).unwrap();
                assert!(GIFTS.try_send(gift).is_ok());
            }
            host::interrupt(|| {
                assert_eq!(POOL.store(1, Timeout::Forever).unwrap_err().error, Error::Wait);
                assert_eq!((POOL.create("pool"), POOL.delete()), (Err(Error::InUse), Err(Error::Caller)));
                take_and_drop();
            });
            T.create("timer", Schedule::once(Ticks::new(1)), take_and_drop).unwrap();
            T.activate().unwrap();
            thread::sleep(Ticks::new(2)).unwrap();
            assert_eq!(DROPPED.load(SeqCst), 4);
            assert!(POOL.info().unwrap().available < whole, "not released yet");
            drop(POOL.store(1, Timeout::NoWait).unwrap());
            assert_eq!(POOL.info().unwrap().available, whole);

            // Memory that is given up in an interrupt after its pool was deleted.
            assert!(GIFTS.try_send(POOL.store(Dropped(&DROPPED), Timeout::NoWait).unwrap()).is_ok());
            POOL.delete().unwrap();
            host::interrupt(|| drop(GIFTS.try_receive().unwrap()));
            assert_eq!((DROPPED.load(SeqCst), POOL.create("again")), (5, Ok(())));
            host::check_invariants().unwrap();
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[cfg(feature = "allocator")]
#[test]
fn as_an_allocator() {
    use std::alloc::{GlobalAlloc, Layout};
    static POOL: BytePool<4096> = BytePool::new();
    let local = BytePool::<256>::new();
    let word = Layout::new::<u32>();
    // SAFETY: a layout that is not empty.
    assert!(unsafe { local.alloc(word) }.is_null(), "not created");
    run_in_thread!(move || {
        POOL.create("pool").unwrap();
        let whole = POOL.info().unwrap().available;
        for power in 0..10 {
            let align = 1usize << power;
            let mut taken = Vec::new();
            for size in [1, 3, 8, 100, 200] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: a layout that is not empty; the memory has room for `size` bytes.
                unsafe {
                    let memory = POOL.alloc_zeroed(layout);
                    if memory.is_null() {
                        continue;
                    }
                    assert!(memory.addr().is_multiple_of(align));
                    assert!((0..size).all(|i| memory.add(i).read() == 0));
                    memory.write_bytes(0xFF, size);
                    let memory = POOL.realloc(memory, layout, size + 40);
                    assert!((0..size).all(|i| memory.add(i).read() == 0xFF));
                    taken.push((memory, Layout::from_size_align(size + 40, align).unwrap()));
                }
            }
            assert!(taken.len() >= 3, "alignment {align}");
            for (memory, layout) in taken {
                // SAFETY: allocated with this layout and not used afterwards.
                unsafe { POOL.dealloc(memory, layout) };
            }
            assert_eq!(POOL.info().unwrap().available, whole);
        }
        host::interrupt(move || {
            // SAFETY: a layout that is not empty.
            assert!(unsafe { POOL.alloc(word) }.is_null());
        });
        // SAFETY: a layout that is not empty.
        assert!(unsafe { POOL.alloc(Layout::new::<[u8; 5000]>()) }.is_null());
        host::check_invariants().unwrap();
        host::finish()
    });
}
