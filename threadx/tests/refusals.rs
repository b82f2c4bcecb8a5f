//! What services refuse that are done at once: objects that do not exist, and waits asked for outside threads.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Host, run};
use threadx::{
    BlockPool, Builder, Error, EventFlags, Inheritance, Match, Mutex, Priority, Queue, Schedule, Semaphore, Ticks,
    Timeout, Timer, host, thread,
};

static S: Semaphore = Semaphore::new();
static E: EventFlags = EventFlags::new();
static Q: Queue<u32, 2> = Queue::new();
static Q3: Queue<[u32; 3], 2> = Queue::new();
static M: Mutex<u32> = Mutex::new(0);
static B: BlockPool<u32, 2> = BlockPool::new();

const TIMEOUTS: [Timeout; 3] = [Timeout::NoWait, Timeout::Ticks(Ticks::new(3)), Timeout::Forever];

/// Everything is there for the taking, and room as well.
fn provide() {
    S.put().unwrap();
    E.set(1).unwrap();
    Q.try_send(7).unwrap();
    Q3.try_send([7; 3]).unwrap();
}

/// Takes it, whatever is asked.
fn take(timeout: Timeout) {
    provide();
    S.get(timeout).unwrap();
    assert_eq!(E.get(1, Match::AnyClear, timeout), Ok(1));
    assert_eq!((Q.receive(timeout), Q3.receive(timeout)), (Ok(7), Ok([7; 3])));
    Q.send(8, timeout).unwrap();
    Q3.send([8; 3], timeout).unwrap();
    assert_eq!((Q.try_receive(), Q3.try_receive()), (Ok(8), Ok([8; 3])));
    *M.lock(timeout).unwrap() += 1;
    drop(B.allocate(timeout).unwrap());
}

/// Every service says the same, whatever is there.
fn refused(timeout: Timeout, error: impl Fn(Error) -> Error) {
    assert_eq!(S.get(timeout), Err(error(Error::Semaphore)));
    assert_eq!(E.get(1, Match::AnyClear, timeout), Err(error(Error::Group)));
    assert_eq!(Q.receive(timeout), Err(error(Error::Queue)));
    assert_eq!(Q3.receive(timeout), Err(error(Error::Queue)));
    let rejected = Q.send(9, timeout).unwrap_err();
    assert_eq!((rejected.error, rejected.value), (error(Error::Queue), 9));
    let rejected = Q3.send([9; 3], timeout).unwrap_err();
    assert_eq!((rejected.error, rejected.value), (error(Error::Queue), [9; 3]));
    assert_eq!(B.allocate(timeout).err(), Some(error(Error::Pool)));
}

fn nothing_exists() {
    for timeout in TIMEOUTS {
        refused(timeout, |error| error);
        assert_eq!(M.lock(timeout).err(), Some(Error::Mutex));
    }
    assert_eq!((S.put(), S.ceiling_put(1)), (Err(Error::Semaphore), Err(Error::Semaphore)));
    assert_eq!((E.set(1), E.clear(1)), (Err(Error::Group), Err(Error::Group)));
    assert_eq!(Q.send_front(1, Timeout::Forever).unwrap_err().error, Error::Queue);
    host::check_invariants().unwrap();
}

fn create() {
    S.create("s", 0).unwrap();
    E.create("e").unwrap();
    Q.create("q").unwrap();
    Q3.create("q3").unwrap();
    M.create("m", Inheritance::On).unwrap();
    B.create("b").unwrap();
}

fn delete() {
    S.delete().unwrap();
    E.delete().unwrap();
    Q.delete().unwrap();
    Q3.delete().unwrap();
    M.delete().unwrap();
    B.delete().unwrap();
}

/// Initialization, an interrupt or a timer callback: what is there can be had without a wait only.
fn no_thread() {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    SEEN.fetch_add(1, SeqCst);
    for there in [false, true] {
        if there {
            provide();
        }
        for timeout in &TIMEOUTS[1..] {
            refused(*timeout, |_| Error::Wait);
        }
    }
    // Nothing was taken, and nothing came.
    S.get(Timeout::NoWait).unwrap();
    assert_eq!(S.get(Timeout::NoWait), Err(Error::NoInstance));
    assert_eq!(E.get(1, Match::AnyClear, Timeout::NoWait), Ok(1));
    assert_eq!(E.get(1, Match::AnyClear, Timeout::NoWait), Err(Error::NoEvents));
    assert_eq!((Q.try_receive(), Q3.try_receive()), (Ok(7), Ok([7; 3])));
    assert_eq!((Q.try_receive(), Q3.try_receive()), (Err(Error::QueueEmpty), Err(Error::QueueEmpty)));
    assert_eq!(B.info().unwrap().available, 2);
    host::check_invariants().unwrap();
}

#[test]
fn whatever_is_there() {
    cell! { MAIN, MAIN_STACK }
    static T: Timer = Timer::new();
    run(|_| {
        for timeout in TIMEOUTS {
            refused(timeout, |error| error);
        }
        create();
        no_thread();
        assert_eq!(M.lock(Timeout::NoWait).err(), Some(Error::Caller));
        let main = || {
            for _ in 0..2 {
                delete();
                nothing_exists();
                host::interrupt(|| {
                    for timeout in TIMEOUTS {
                        refused(timeout, |error| error);
                    }
                });
                create();
                TIMEOUTS.into_iter().for_each(take);
                host::interrupt(no_thread);
                host::interrupt(|| assert_eq!(M.lock(Timeout::NoWait).err(), Some(Error::Caller)));
                if T.create("timer", Schedule::once(Ticks::new(1)), || {
                    no_thread();
                    assert_eq!(M.lock(Timeout::Forever).err(), Some(Error::Wait));
                    *M.lock(Timeout::NoWait).unwrap() += 1;
                }) == Err(Error::InUse)
                {
                    T.change(Schedule::once(Ticks::new(1))).unwrap();
                }
                T.activate().unwrap();
                thread::sleep(Ticks::new(2)).unwrap();
                // In a critical section nothing waits, and what is there is given.
                critical_section::with(|_| {
                    assert_eq!(S.get(Timeout::Forever), Err(Error::NoInstance));
                    assert_eq!(E.get(1, Match::All, Timeout::Forever), Err(Error::NoEvents));
                    assert_eq!(Q.receive(Timeout::Ticks(Ticks::new(1))), Err(Error::QueueEmpty));
                    TIMEOUTS.into_iter().for_each(take);
                });
                assert_eq!(S.get(Timeout::Ticks(Ticks::new(1))), Err(Error::NoInstance));
            }
            host::finish()
        };
        let builder = Builder::new("main").priority(Priority::of::<10>());
        builder.spawn(&MAIN, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}
