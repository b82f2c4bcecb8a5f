//! Block pools through the safe API, on the host port.

mod common;

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Dropped, Host, run};
use threadx::{
    Block, BlockPool, Builder, Error, JoinHandle, Priority, Queue, Schedule, ThreadCell, Ticks, Timeout, Timer, host,
    thread,
};

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

/// Fills a pool, checks that the blocks are aligned and apart, empties it out of order, twice.
fn fill<T: PartialEq + Copy + core::fmt::Debug, const N: usize>(pool: &'static BlockPool<T, N>, value: T) {
    pool.create("typed").unwrap();
    assert_eq!((pool.info().unwrap().total, pool.info().unwrap().available), (N as u32, N as u32));
    for _ in 0..2 {
        let mut blocks: Vec<Block<T>> = (0..N).map(|_| pool.store(value, Timeout::NoWait).unwrap()).collect();
        assert_eq!(pool.store(value, Timeout::NoWait).unwrap_err().error, Error::NoMemory);
        let mut at: Vec<usize> = blocks.iter().map(|block| (&raw const **block).addr()).collect();
        assert!(at.iter().all(|address| address.is_multiple_of(align_of::<T>())), "{at:x?}");
        at.sort_unstable();
        assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= size_of::<T>() + size_of::<usize>()), "{at:x?}");
        assert!(blocks.iter().all(|block| **block == value));
        blocks.swap(0, N / 2);
        drop(blocks);
        assert_eq!(pool.info().unwrap().available, N as u32);
        host::check_invariants().unwrap();
    }
    pool.delete().unwrap();
}

#[test]
fn blocks_of_all_sizes_and_alignments() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(64))]
    struct Line(u8);
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(16))]
    struct Wide([u8; 24]);
    macro_rules! types {
        ($($ty:ty, $n:literal = $value:expr;)*) => {$({
            static POOL: BlockPool<$ty, $n> = BlockPool::new();
            fill(&POOL, $value);
        })*};
    }
    run_in_thread!(|| {
        types! {
            (), 3 = ();
            u8, 5 = 0xA5;
            [u8; 3], 1 = [1, 2, 3];
            u64, 4 = 7;
            [u8; 13], 4 = [9; 13];
            Line, 3 = Line(4);
            Wide, 6 = Wide([8; 24]);
            [u32; 100], 2 = [1; 100];
        }
        host::finish()
    });
}

#[test]
fn a_block_owns_its_value_and_drops_it_once() {
    static POOL: BlockPool<Dropped, 2> = BlockPool::new();
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    static Q: Queue<Block<Dropped>, 2> = Queue::new();
    run_in_thread!(|| {
        let rejected = POOL.store(Dropped(&DROPPED), Timeout::NoWait).unwrap_err();
        assert_eq!((rejected.error, DROPPED.load(SeqCst)), (Error::Pool, 0));
        drop(rejected);
        POOL.create("pool").unwrap();
        Q.create("queue").unwrap();
        assert_eq!(POOL.create("again"), Err(Error::InUse));
        let block = POOL.store(Dropped(&DROPPED), Timeout::NoWait).unwrap();
        drop(POOL.allocate(Timeout::NoWait).unwrap());
        assert_eq!(DROPPED.load(SeqCst), 1, "an empty block drops nothing");
        let value = block.into_inner();
        assert_eq!((DROPPED.load(SeqCst), POOL.info().unwrap().available), (1, 2));
        drop(value);
        Q.try_send(POOL.store(Dropped(&DROPPED), Timeout::NoWait).unwrap()).unwrap();
        Q.try_send(POOL.store(Dropped(&DROPPED), Timeout::NoWait).unwrap()).unwrap();
        host::interrupt(|| drop(Q.try_receive().unwrap()));
        assert_eq!((DROPPED.load(SeqCst), POOL.info().unwrap().available), (3, 1));
        Q.delete().unwrap();
        assert_eq!((DROPPED.load(SeqCst), POOL.info().unwrap().available), (4, 2));
        host::check_invariants().unwrap();
        host::finish()
    });
}

fn waiter(
    pool: &'static BlockPool<u32, 1>,
    cell: &'static ThreadCell,
    stack: threadx::StackToken<Host>,
) -> JoinHandle<Result<Block<MaybeUninit<u32>>, Error>> {
    Builder::new("waiter").priority(HIGHER).spawn(cell, stack, || pool.allocate(Timeout::Forever)).unwrap()
}

#[test]
fn a_released_block_goes_to_the_waiting_thread() {
    cell! { A, A_STACK }
    static POOL: BlockPool<u32, 1> = BlockPool::new();
    run_in_thread!(|| {
        POOL.create("pool").unwrap();
        let block = POOL.store(3, Timeout::Forever).unwrap();
        assert_eq!(POOL.store(4, Ticks::new(2)).unwrap_err().error, Error::NoMemory);
        assert_eq!(critical_section::with(|_| POOL.allocate(Timeout::Forever).err()), Some(Error::NoMemory));
        let waiter = waiter(&POOL, &A, A_STACK.take().unwrap());
        assert_eq!((*block, POOL.info().unwrap().waiting), (3, 1));
        POOL.prioritize().unwrap();
        let address = (&raw const *block).addr();
        drop(block);
        let block = waiter.join().unwrap().unwrap();
        assert_eq!(((&raw const *block).addr(), POOL.info().unwrap().available), (address, 0));
        drop(block.write(5));
        assert_eq!(POOL.info().unwrap().available, 1);
        host::finish()
    });
}

#[test]
fn deletion_wakes_waiters_and_waits_with_a_second_life_for_the_blocks() {
    cell! { A, A_STACK }
    static POOL: BlockPool<u32, 1> = BlockPool::new();
    run_in_thread!(|| {
        for _ in 0..300 {
            POOL.create("pool").unwrap();
            let mut block = POOL.store(3, Timeout::NoWait).unwrap();
            let waiter = waiter(&POOL, &A, A_STACK.take().unwrap());
            POOL.delete().unwrap();
            assert_eq!(waiter.join().unwrap().err(), Some(Error::Deleted));
            *block += 1;
            assert_eq!((*block, POOL.create("again")), (4, Err(Error::InUse)));
            assert_eq!(POOL.allocate(Timeout::Forever).err(), Some(Error::Pool));
            assert_eq!((POOL.delete(), POOL.info()), (Err(Error::Pool), Err(Error::Pool)));
            assert_eq!(POOL.prioritize(), Err(Error::Pool));
            drop(block);
            host::check_invariants().unwrap();
        }
        POOL.create("pool").unwrap();
        core::mem::forget(POOL.store(3, Timeout::NoWait).unwrap());
        POOL.delete().unwrap();
        assert_eq!(POOL.create("again"), Err(Error::InUse), "somebody may use a forgotten block");
        host::finish()
    });
}

#[test]
fn a_terminated_waiter_keeps_its_pool_from_being_created_again_only_with_a_block() {
    cell! { A, A_STACK; B, B_STACK }
    static POOL: BlockPool<u32, 1> = BlockPool::new();
    run_in_thread!(|| {
        POOL.create("pool").unwrap();
        let block = POOL.store(3, Timeout::NoWait).unwrap();
        let waiter = waiter(&POOL, &A, A_STACK.take().unwrap());
        assert!(waiter.terminate().unwrap().is_none());
        drop(block);
        assert_eq!((POOL.info().unwrap().available, POOL.info().unwrap().waiting), (1, 0));
        drop(POOL.store(4, Timeout::NoWait).unwrap());
        POOL.delete().unwrap();
        POOL.create("again").unwrap();

        let block = POOL.store(5, Timeout::NoWait).unwrap();
        let lower = Builder::new("lower").priority(Priority::of::<20>());
        let lower = lower.spawn(&B, B_STACK.take().unwrap(), || drop(POOL.allocate(Timeout::Forever))).unwrap();
        thread::sleep(Ticks::new(1)).unwrap();
        assert_eq!(POOL.info().unwrap().waiting, 1);
        drop(block);
        // It has the block, and does not run any more.
        assert!(lower.terminate().unwrap().is_none());
        assert_eq!((POOL.info().unwrap().available, POOL.info().unwrap().waiting), (0, 0));
        POOL.delete().unwrap();
        assert_eq!(POOL.create("once more"), Err(Error::InUse), "its frames may hold a block");
        host::finish()
    });
}

#[test]
fn contexts() {
    static POOL: BlockPool<u32, 1> = BlockPool::new();
    static OTHER: BlockPool<u32, 1> = BlockPool::new();
    static T: Timer = Timer::new();
    static DONE: AtomicU32 = AtomicU32::new(0);
    cell! { MAIN_CELL, MAIN_STACK }
    fn anywhere() {
        let block = POOL.store(1, Timeout::NoWait).unwrap();
        assert_eq!(POOL.allocate(Timeout::NoWait).err(), Some(Error::NoMemory));
        assert_eq!(POOL.allocate(Timeout::Forever).err(), Some(Error::Wait));
        assert_eq!((POOL.delete(), POOL.info().unwrap().available), (Err(Error::Caller), 0));
        drop(block);
        assert_eq!(POOL.info().unwrap().available, 1);
        DONE.fetch_add(1, SeqCst);
    }
    run(|_| {
        POOL.create("pool").unwrap();
        anywhere();
        let main = || {
            host::interrupt(|| {
                anywhere();
                assert_eq!(OTHER.create("other"), Err(Error::Caller));
            });
            OTHER.create("other").unwrap();
            T.create("timer", Schedule::once(Ticks::new(1)), anywhere).unwrap();
            T.activate().unwrap();
            thread::sleep(Ticks::new(2)).unwrap();
            assert_eq!(DONE.load(SeqCst), 3);
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}
