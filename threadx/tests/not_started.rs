//! Before the kernel is started everything is refused. A process of its own, because that state never
//! comes back.

mod common;

use common::Host;
use threadx::{
    BlockPool, Builder, BytePool, Error, EventFlags, Executor, Inheritance, JoinError, Match, Mutex, Queue, Schedule,
    Semaphore, Ticks, Timeout, Timer, thread,
};

/// One test at a time: before the start nothing keeps one from seeing the other's critical section.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn nothing_works_before_the_start() {
    let _alone = ALONE.lock().unwrap();
    cell! { A, A_STACK }
    static SEMAPHORE: Semaphore = Semaphore::new();
    static TIMER: Timer = Timer::new();
    let spawned = Builder::new("a").spawn(&A, A_STACK.take().unwrap(), || ());
    assert_eq!(spawned.err(), Some(Error::Caller));
    assert!(A_STACK.take().is_ok());
    assert_eq!(SEMAPHORE.create("semaphore", 1), Err(Error::Caller));
    assert_eq!(SEMAPHORE.put(), Err(Error::Semaphore));
    assert_eq!(TIMER.create("timer", Schedule::once(Ticks::new(1)), || ()), Err(Error::Caller));
    assert_eq!(TIMER.activate(), Err(Error::Timer));
    static MUTEX: Mutex<u32> = Mutex::new(0);
    assert_eq!(MUTEX.create("mutex", Inheritance::On), Err(Error::Caller));
    assert_eq!((MUTEX.lock(Timeout::NoWait).err(), MUTEX.delete()), (Some(Error::Mutex), Err(Error::Mutex)));
    assert!(!MUTEX.is_poisoned());
    static FLAGS: EventFlags = EventFlags::new();
    assert_eq!((FLAGS.create("flags"), FLAGS.set(1)), (Err(Error::Caller), Err(Error::Group)));
    assert_eq!(FLAGS.get(1, Match::Any, Timeout::Forever), Err(Error::Group));
    static QUEUE: Queue<u32, 2> = Queue::new();
    assert_eq!((QUEUE.create("queue"), QUEUE.try_receive()), (Err(Error::Caller), Err(Error::Queue)));
    assert_eq!(QUEUE.try_send(1).unwrap_err().error, Error::Queue);
    static BLOCKS: BlockPool<u32, 2> = BlockPool::new();
    assert_eq!((BLOCKS.create("blocks"), BLOCKS.info()), (Err(Error::Caller), Err(Error::Pool)));
    assert_eq!(BLOCKS.store(1, Timeout::NoWait).unwrap_err().error, Error::Pool);
    static BYTES: BytePool<100> = BytePool::new();
    assert_eq!((BYTES.create("bytes"), BYTES.info()), (Err(Error::Caller), Err(Error::Pool)));
    assert_eq!(BYTES.store(1, Timeout::NoWait).unwrap_err().error, Error::Pool);
    static EXECUTOR: Executor = Executor::new();
    assert_eq!(EXECUTOR.block_on(async {}), Err(Error::Caller));
    EXECUTOR.waker().wake();
    assert_eq!(thread::sleep(Ticks::new(1)), Err(Error::Caller));
    assert_eq!(threadx::scope(|_| ()), Err(Error::Caller));
    assert_eq!(thread::current(), None);
    thread::relinquish();
    assert_eq!(critical_section::with(|_| 5), 5);
    assert_eq!(JoinError::Failed(Error::Caller).to_string(), "cannot join: not allowed in this calling context");
}

#[test]
fn a_start_in_a_critical_section_or_a_second_one_is_a_typed_error_or_a_named_panic() {
    let _alone = ALONE.lock().unwrap();
    // Refused where it would never end, which is no start.
    let inside = || critical_section::with(|_| critical_section::with(|_| threadx::try_start(|_| ())));
    assert_eq!(inside().err(), Some(Error::Caller));
    let panic = std::panic::catch_unwind(|| critical_section::with(|_| threadx::start(|_| ()))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "threadx::start: not allowed in this calling context");
    // On a development machine the first start ends in the port's panic instead of running for ever.
    let first = std::panic::catch_unwind(|| threadx::try_start(|_| ()));
    assert!(first.is_err());
    assert_eq!(threadx::try_start(|_| ()).err(), Some(Error::AlreadyStarted));
    assert_eq!(inside().err(), Some(Error::AlreadyStarted));
    let again = std::panic::catch_unwind(|| threadx::start(|_| ()));
    let message = again.unwrap_err();
    assert_eq!(message.downcast_ref::<String>().unwrap(), "threadx::start: the kernel is started already");
}
