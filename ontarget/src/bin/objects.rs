//! Mutexes, event flags, queues, pools and the executor through the safe API, on the target; and what
//! they cost.
//!
//! Field reports: B04 (guards), B05 and K15 (message sizes), B08 (alignment), B09 and B14 (woken by an
//! interrupt), B11 (the mutex of a terminated thread), K10, K21.
#![no_std]
#![no_main]

use core::future::poll_fn;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use core::task::Poll;

use bsp::interrupt::{self, InterruptId};
use ontarget::{Outcome, Trace, Why, at, check_kernel, ensure, ensure_eq, note, random::Random, spawn, tests};
use threadx::{
    Block, BlockPool, BytePool, Error, EventFlags, Executor, Inheritance, Match, Mutex, PoolBox, Queue, Semaphore,
    Ticks, Timeout, thread,
};

#[bsp::entry]
fn main() -> ! {
    ontarget::run(tests![
        queue_from_an_interrupt: 20,
        messages_keep_to_their_size: 20,
        blocked_senders_and_deletion: 20,
        block_from_an_interrupt: 20,
        mutex_lends_priority: 20,
        mutex_of_a_terminated_thread: 20,
        flags_from_an_interrupt: 20,
        byte_pool_alignments: 200,
        executor_woken_by_interrupts: 100,
        interrupts_are_refused: 20,
        prices: 100,
        ping_pongs: 100,
    ])
}

static TRACE: Trace = Trace::new();

fn on_interrupt(n: u8, handler: fn()) -> Outcome {
    interrupt::register(InterruptId::sgi(n), 0x80, handler)
        .map_err(|error| Why::failed(format_args!("software interrupt {n}: {error:?}")))?;
    interrupt::enable(InterruptId::sgi(n));
    Ok(())
}

static NUMBERS: Queue<u64, 4> = Queue::new();

fn queue_from_an_interrupt() -> Outcome {
    NUMBERS.create("numbers")?;
    on_interrupt(1, || {
        TRACE.push(1);
        if NUMBERS.try_send(0x0123_4567_89AB_CDEF).is_ok() {
            TRACE.push(2);
        }
    })?;
    let receiver = spawn(0, at::<5>("receiver"), || {
        let number = NUMBERS.receive(Timeout::Forever);
        TRACE.push(3);
        number
    })?;
    interrupt::pend_sgi(1);
    TRACE.push(4);
    ensure_eq!(receiver.join()?, Ok(0x0123_4567_89AB_CDEF), "message");
    TRACE.expect(&[1, 2, 3, 4])?;
    TRACE.clear();
    NUMBERS.delete()?;
    check_kernel()
}

fn round_trip<T: Copy + PartialEq + Send>(queue: &'static Queue<T, 3>, message: T) -> Outcome {
    queue.create("typed")?;
    for _ in 0..7 {
        let mut guarded = [(0x5555_5555u32, None, 0x5555_5555u32); 2];
        queue.try_send(message)?;
        queue.try_send(message)?;
        guarded[0].1 = Some(queue.try_receive()?);
        guarded[1].1 = Some(queue.try_receive()?);
        ensure!(guarded == [(0x5555_5555, Some(message), 0x5555_5555); 2], "a message or its neighbours changed");
    }
    queue.delete()?;
    Ok(())
}

fn messages_keep_to_their_size() -> Outcome {
    static BYTE: Queue<u8, 3> = Queue::new();
    static FIVE: Queue<[u8; 5], 3> = Queue::new();
    static MIXED: Queue<(u8, u64, u16), 3> = Queue::new();
    static LARGEST: Queue<[u32; 16], 3> = Queue::new();
    static NOTHING: Queue<(), 3> = Queue::new();
    round_trip(&BYTE, 0xA5)?;
    round_trip(&FIVE, [1, 2, 3, 4, 5])?;
    round_trip(&MIXED, (1, 2, 3))?;
    round_trip(&LARGEST, [7; 16])?;
    round_trip(&NOTHING, ())
}

fn blocked_senders_and_deletion() -> Outcome {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Relaxed);
        }
    }
    static QUEUE: Queue<Counted, 1> = Queue::new();
    for round in 1..=10 {
        QUEUE.create("queue")?;
        QUEUE.try_send(Counted)?;
        let blocked = |n| spawn(n, at::<5>("sender"), || QUEUE.send(Counted, Timeout::Forever).map_err(|r| r.error));
        let (a, b) = (blocked(0)?, blocked(1)?);
        drop(QUEUE.try_receive()?);
        ensure_eq!(a.join()?, Ok(()), "the first sender");
        QUEUE.delete()?;
        ensure_eq!(b.join()?, Err(Error::Deleted), "the second sender");
        ensure_eq!(DROPPED.load(Relaxed), 3 * round, "dropped messages");
    }
    check_kernel()
}

fn block_from_an_interrupt() -> Outcome {
    static FRAMES: BlockPool<[u8; 100], 2> = BlockPool::new();
    static RECEIVED: Queue<Block<[u8; 100]>, 2> = Queue::new();
    FRAMES.create("frames")?;
    RECEIVED.create("received")?;
    on_interrupt(2, || {
        // If one of these fails the receiver sees no frame.
        if let Ok(frame) = FRAMES.store([0x5A; 100], Timeout::NoWait) {
            let _ = RECEIVED.try_send(frame);
        }
    })?;
    let receiver = spawn(0, at::<5>("receiver"), || {
        for _ in 0..100 {
            let frame = RECEIVED.receive(Timeout::Forever)?;
            if *frame != [0x5A; 100] {
                return Err(Error::Pointer);
            }
        }
        Ok(())
    })?;
    for _ in 0..100 {
        interrupt::pend_sgi(2);
    }
    ensure_eq!(receiver.join()?, Ok(()), "the receiver");
    ensure_eq!(FRAMES.info()?.available, 2, "blocks that came back");
    RECEIVED.delete()?;
    FRAMES.delete()?;
    check_kernel()
}

static LOCK: Mutex<(u32, u32)> = Mutex::new((0, 0));

fn mutex_lends_priority() -> Outcome {
    LOCK.create("lock", Inheritance::On)?;
    let guard = LOCK.lock(Timeout::Forever)?;
    ensure_eq!(LOCK.lock(Timeout::Forever).err(), Some(Error::Recursion), "a second lock");
    let waiter = spawn(0, at::<5>("waiter"), || {
        let mut guard = LOCK.lock(Timeout::Forever)?;
        TRACE.push(2);
        *guard = (2, 2);
        Ok::<_, Error>(())
    })?;
    // Higher than the owner, but not than the waiter, whose priority the owner has.
    let between = spawn(1, at::<10>("between"), || TRACE.push(3))?;
    TRACE.push(1);
    drop(guard);
    TRACE.push(4);
    ensure_eq!(waiter.join()?, Ok(()), "the waiter");
    between.join()?;
    TRACE.expect(&[1, 2, 3, 4])?;
    TRACE.clear();
    ensure_eq!(*LOCK.lock(Timeout::NoWait)?, (2, 2), "value");
    LOCK.delete()?;
    check_kernel()
}

fn mutex_of_a_terminated_thread() -> Outcome {
    LOCK.create("lock", Inheritance::On)?;
    let owner = spawn(7, at::<5>("owner"), || {
        let mut guard = LOCK.lock(Timeout::Forever)?;
        guard.0 = 3;
        thread::sleep(Ticks::MAX)?;
        guard.1 = 3;
        Ok::<_, Error>(())
    })?;
    let waiter = spawn(0, at::<5>("waiter"), || LOCK.lock(Timeout::Forever).err())?;
    owner.terminate()?;
    ensure_eq!(waiter.join()?, Some(Error::Poisoned), "what the waiter gets");
    ensure!(LOCK.is_poisoned(), "not poisoned");
    ensure_eq!(LOCK.lock(Timeout::Forever).err(), Some(Error::Poisoned), "what others get");
    LOCK.delete()?;
    ensure_eq!(LOCK.create("lock", Inheritance::On), Err(Error::InUse), "a second life");
    check_kernel()
}

fn flags_from_an_interrupt() -> Outcome {
    static FLAGS: EventFlags = EventFlags::new();
    FLAGS.create("flags")?;
    on_interrupt(3, || _ = FLAGS.set(4))?;
    let all = spawn(0, at::<5>("all"), || FLAGS.get(6, Match::AllClear, Timeout::Forever))?;
    let any = spawn(1, at::<6>("any"), || FLAGS.get(12, Match::AnyClear, Timeout::Forever))?;
    FLAGS.set(2)?;
    ensure!(!all.is_finished() && !any.is_finished(), "woken by the wrong flag");
    interrupt::pend_sgi(3);
    ensure!(all.is_finished() && any.is_finished(), "not woken right after the interrupt");
    ensure_eq!((all.join()?, any.join()?), (Ok(6), Ok(6)), "flags seen");
    ensure_eq!(FLAGS.info()?.flags, 0, "flags left");
    FLAGS.delete()?;
    check_kernel()
}

fn byte_pool_alignments() -> Outcome {
    #[repr(align(64))]
    struct Line(u8);
    enum Held {
        Byte(PoolBox<u8>),
        Wide(PoolBox<u64>),
        Line(PoolBox<Line>),
        Bytes(PoolBox<[u8]>),
    }
    impl Held {
        fn intact(&self) -> bool {
            match self {
                Self::Byte(v) => **v == 1,
                Self::Wide(v) => **v == 2 && (&raw const **v).addr().is_multiple_of(8),
                Self::Line(v) => v.0 == 3 && (&raw const **v).addr().is_multiple_of(64),
                Self::Bytes(v) => v.iter().all(|byte| *byte == 4),
            }
        }
    }
    static HEAP: BytePool<2048> = BytePool::new();
    HEAP.create("heap")?;
    let whole = HEAP.info()?.available;
    let random = Random::new(5);
    let mut held = [const { None }; 32];
    let mut full = 0;
    for _ in 0..3000 {
        let place = &mut held[random.below(32) as usize];
        ensure!(place.as_ref().is_none_or(Held::intact), "a value changed or is not aligned");
        *place = None;
        let new = match random.below(4) {
            0 => HEAP.store(1, Timeout::NoWait).map(Held::Byte).map_err(Error::from),
            1 => HEAP.store(2, Timeout::NoWait).map(Held::Wide).map_err(Error::from),
            2 => HEAP.store(Line(3), Timeout::NoWait).map(Held::Line).map_err(Error::from),
            _ => HEAP.store_slice(&[4; 200][..random.below(200) as usize], Timeout::NoWait).map(Held::Bytes),
        };
        match new {
            Ok(new) => *place = Some(new),
            Err(Error::NoMemory) => full += 1,
            Err(error) => return Err(error.into()),
        }
    }
    ensure!(full > 0, "the pool was never full");
    drop(held);
    ensure_eq!(HEAP.info()?.available, whole, "bytes that came back");
    HEAP.delete()?;
    check_kernel()
}

fn executor_woken_by_interrupts() -> Outcome {
    static EXECUTOR: Executor = Executor::new();
    static VALUE: AtomicU32 = AtomicU32::new(0);
    on_interrupt(4, || {
        VALUE.fetch_add(1, Relaxed);
        EXECUTOR.waker().wake();
    })?;
    let sum = spawn(0, at::<5>("executor"), || {
        EXECUTOR.block_on(async {
            let mut sum = 0;
            while sum < 1000 {
                sum += poll_fn(|_| match VALUE.swap(0, Relaxed) {
                    0 => Poll::Pending,
                    value => Poll::Ready(value),
                })
                .await;
            }
            sum
        })
    })?;
    for _ in 0..1000 {
        interrupt::pend_sgi(4);
    }
    ensure_eq!(sum.join()?, Ok(1000), "wakes");
    Ok(())
}

fn interrupts_are_refused() -> Outcome {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    static HEAP: BytePool<200> = BytePool::new();
    static RIGHT: AtomicU32 = AtomicU32::new(0);
    MUTEX.create("mutex", Inheritance::On)?;
    HEAP.create("heap")?;
    NUMBERS.create("numbers")?;
    on_interrupt(5, || {
        let right = [
            MUTEX.lock(Timeout::NoWait).err() == Some(Error::Caller),
            MUTEX.delete() == Err(Error::Caller),
            HEAP.store(1u8, Timeout::NoWait).is_err_and(|r| r.error == Error::Caller),
            NUMBERS.receive(Timeout::Forever) == Err(Error::Wait),
            NUMBERS.try_receive() == Err(Error::QueueEmpty),
            NUMBERS.delete() == Err(Error::Caller),
        ];
        RIGHT.store(right.iter().map(|right| u32::from(*right)).sum(), Relaxed);
    })?;
    interrupt::pend_sgi(5);
    ensure_eq!(RIGHT.load(Relaxed), 6, "right answers");
    MUTEX.delete()?;
    HEAP.delete()?;
    NUMBERS.delete()?;
    Ok(())
}

/// The least counts of 32 calls, without what two reads of the counter cost.
fn price(mut f: impl FnMut() -> Result<(), Error>) -> Result<u32, Error> {
    let least = |f: &mut dyn FnMut() -> Result<(), Error>| {
        let mut least = u32::MAX;
        for _ in 0..32 {
            let start = bsp::cycles();
            f()?;
            least = least.min(bsp::cycles().wrapping_sub(start));
        }
        Ok::<_, Error>(least)
    };
    Ok(least(&mut f)?.saturating_sub(least(&mut || Ok(()))?))
}

/// Through the checked services, without waiters.
fn prices() -> Outcome {
    static SEMAPHORE: Semaphore = Semaphore::new();
    static MUTEX: Mutex<u32> = Mutex::new(0);
    static FLAGS: EventFlags = EventFlags::new();
    static ONE_WORD: Queue<u32, 4> = Queue::new();
    static FOUR_WORDS: Queue<[u32; 4], 4> = Queue::new();
    static BLOCKS: BlockPool<[u32; 8], 4> = BlockPool::new();
    SEMAPHORE.create("semaphore", 1)?;
    MUTEX.create("mutex", Inheritance::On)?;
    FLAGS.create("flags")?;
    ONE_WORD.create("one word")?;
    FOUR_WORDS.create("four words")?;
    BLOCKS.create("blocks")?;
    let semaphore = price(|| SEMAPHORE.get(Timeout::NoWait).and_then(|()| SEMAPHORE.put()))?;
    let mutex = price(|| MUTEX.lock(Timeout::NoWait).map(|mut guard| *guard += 1))?;
    let flags = price(|| FLAGS.set(1).and_then(|()| FLAGS.get(1, Match::AnyClear, Timeout::NoWait).map(drop)))?;
    let one = price(|| ONE_WORD.try_send(1).map_err(Error::from).and_then(|()| ONE_WORD.try_receive().map(drop)))?;
    let four =
        price(|| FOUR_WORDS.try_send([1; 4]).map_err(Error::from).and_then(|()| FOUR_WORDS.try_receive().map(drop)))?;
    let block = price(|| BLOCKS.allocate(Timeout::NoWait).map(drop))?;
    note!("get + put: semaphore {semaphore}, mutex lock + unlock {mutex}, flags set + get {flags}");
    note!("send + receive: 1 word {one}, 4 words {four}; block allocate + drop {block}");
    ensure!(semaphore > 0 && mutex > 0 && flags > 0 && one > 0 && four >= one && block > 0, "the counter stands still");
    Ok(())
}

/// A round trip between two threads of one priority, through the checked services.
fn ping_pong(
    name: &str,
    ping: impl Fn() -> Result<(), Error> + Send + 'static,
    pong: impl Fn() -> Result<(), Error> + Send + 'static,
) -> Outcome {
    const ROUNDS: u32 = 64;
    let answering = spawn(0, at::<{ ontarget::JUDGE }>("pong"), move || {
        for _ in 0..ROUNDS {
            pong()?;
        }
        Ok::<_, Error>(())
    })?;
    let mut least = u32::MAX;
    for _ in 0..ROUNDS {
        let start = bsp::cycles();
        ping()?;
        least = least.min(bsp::cycles().wrapping_sub(start));
    }
    ensure_eq!(answering.join()?, Ok(()), "the other side");
    note!("ping-pong, {name}: {least}");
    Ok(())
}

fn ping_pongs() -> Outcome {
    static A: Semaphore = Semaphore::new();
    static B: Semaphore = Semaphore::new();
    static THERE: Queue<u32, 1> = Queue::new();
    static BACK: Queue<u32, 1> = Queue::new();
    static FLAGS: EventFlags = EventFlags::new();
    const CLEAR: Match = Match::AnyClear;
    A.create("a", 0)?;
    B.create("b", 0)?;
    THERE.create("there")?;
    BACK.create("back")?;
    FLAGS.create("flags")?;
    let ever = Timeout::Forever;
    ping_pong("semaphores", move || A.put().and_then(|()| B.get(ever)), move || A.get(ever).and_then(|()| B.put()))?;
    ping_pong(
        "queues",
        move || THERE.send(1, ever).map_err(Error::from).and_then(|()| BACK.receive(ever).map(drop)),
        move || THERE.receive(ever).and_then(|message| BACK.send(message, ever).map_err(Error::from)),
    )?;
    ping_pong(
        "event flags",
        move || FLAGS.set(1).and_then(|()| FLAGS.get(2, CLEAR, ever).map(drop)),
        move || FLAGS.get(1, CLEAR, ever).and_then(|_| FLAGS.set(2)),
    )
}
