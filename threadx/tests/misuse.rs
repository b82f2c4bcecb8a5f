//! Every class of object: used before its creation, created twice, deleted where that is refused, deleted while a
//! thread waits on it, used after that; from a thread, an interrupt and a timer callback.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Host, run};
use threadx::{
    BlockPool, Builder, BytePool, Error, EventFlags, Inheritance, Match, Mutex, Priority, Queue, Schedule, Semaphore,
    Ticks, Timeout, Timer, host, thread,
};

static S: Semaphore = Semaphore::new();
static M: Mutex<u32> = Mutex::new(0);
static E: EventFlags = EventFlags::new();
static Q: Queue<u32, 1> = Queue::new();
static B: BlockPool<u32, 1> = BlockPool::new();
static Y: BytePool<256> = BytePool::new();
static T: Timer = Timer::new();
static OTHER: Timer = Timer::new();

type Call = fn() -> Result<(), Error>;

/// An object: what its methods return while it does not exist, and how a thread comes to wait on it.
struct Object {
    missing: Error,
    create: Call,
    delete: Call,
    /// Methods other than these two.
    others: &'static [Call],
    /// Waits for what is not there.
    wait: Option<Call>,
}

const FOREVER: Timeout = Timeout::Forever;
const NONE: Timeout = Timeout::NoWait;

static OBJECTS: [Object; 7] = [
    Object {
        missing: Error::Semaphore,
        create: || S.create("s", 0),
        delete: || S.delete(),
        others: &[
            || S.get(NONE),
            || S.put(),
            || S.ceiling_put(1),
            || S.prioritize(),
            || S.set_put_notify(None),
            || S.info().map(drop),
        ],
        wait: Some(|| S.get(FOREVER)),
    },
    Object {
        missing: Error::Mutex,
        create: || M.create("m", Inheritance::On),
        delete: || M.delete(),
        others: &[|| M.lock(NONE).map(drop), || M.prioritize(), || M.info().map(drop)],
        // Who waits for a mutex needs an owner: `mutexes.rs`.
        wait: None,
    },
    Object {
        missing: Error::Group,
        create: || E.create("e"),
        delete: || E.delete(),
        others: &[
            || E.get(1, Match::Any, NONE).map(drop),
            || E.set(1),
            || E.clear(1),
            || E.set_set_notify(None),
            || E.info().map(drop),
        ],
        wait: Some(|| E.get(2, Match::All, FOREVER).map(drop)),
    },
    Object {
        missing: Error::Queue,
        create: || Q.create("q"),
        delete: || Q.delete(),
        others: &[
            || Q.try_send(1).map_err(|rejected| rejected.error),
            || Q.try_send_front(1).map_err(|rejected| rejected.error),
            || Q.try_receive().map(drop),
            || Q.flush().map(drop),
            || Q.prioritize(),
            || Q.set_send_notify(None),
            || Q.info().map(drop),
        ],
        wait: Some(|| Q.receive(FOREVER).map(drop)),
    },
    Object {
        missing: Error::Pool,
        create: || B.create("b"),
        delete: || B.delete(),
        others: &[|| B.allocate(NONE).map(drop), || B.prioritize(), || B.info().map(drop)],
        wait: None,
    },
    Object {
        missing: Error::Pool,
        create: || Y.create("y"),
        delete: || Y.delete(),
        others: &[|| Y.allocate::<u32>(NONE).map(drop), || Y.prioritize(), || Y.info().map(drop)],
        wait: None,
    },
    Object {
        missing: Error::Timer,
        create: || T.create("t", Schedule::once(Ticks::new(50)), || ()),
        delete: || T.delete(),
        others: &[
            || T.activate(),
            || T.deactivate(),
            || T.change(Schedule::once(Ticks::new(5))),
            || T.info().map(drop),
        ],
        wait: None,
    },
];

/// The object does not exist: every method says so.
fn is_missing(object: &Object) {
    for call in object.others {
        assert_eq!(call(), Err(object.missing));
    }
}

/// The same outside threads, where a mutex's lock and a byte pool's allocation look at the context first.
fn is_missing_outside_threads(object: &Object) {
    for call in object.others {
        let seen = call();
        assert!([Err(object.missing), Err(Error::Caller)].contains(&seen), "{seen:?}");
    }
}

static SEEN: AtomicU32 = AtomicU32::new(0);

fn everything() {
    for object in &OBJECTS {
        is_missing(object);
        assert_eq!((object.delete)(), Err(object.missing));
        // Twice, so that a second life is tried as well.
        for _ in 0..2 {
            assert_eq!((object.create)(), Ok(()));
            assert_eq!((object.create)(), Err(Error::InUse));
            if let Some(wait) = object.wait {
                deleted_under_a_waiter(wait, object);
            } else {
                assert_eq!((object.delete)(), Ok(()));
            }
            is_missing(object);
            assert_eq!((object.delete)(), Err(object.missing));
        }
    }
}

/// A thread waits while the object is deleted.
fn deleted_under_a_waiter(wait: Call, object: &Object) {
    cell! { WAITER, WAITER_STACK }
    let waiter = Builder::new("waiter").priority(Priority::of::<5>());
    let waiter = waiter.spawn(&WAITER, WAITER_STACK.take().unwrap(), wait).unwrap();
    assert!(!waiter.is_finished(), "it waits");
    assert_eq!((object.delete)(), Ok(()));
    assert_eq!(waiter.join(), Ok(Err(Error::Deleted)));
}

/// Creation and deletion in a context that has neither.
fn neither() {
    for object in &OBJECTS {
        assert_eq!((object.create)(), Err(Error::InUse), "it exists");
        assert_eq!((object.delete)(), Err(Error::Caller));
        assert_eq!((object.others.last().unwrap())(), Ok(()), "nothing has happened to it");
    }
    SEEN.fetch_add(1, SeqCst);
}

/// The same before there is any object.
fn nothing() {
    for object in &OBJECTS {
        is_missing_outside_threads(object);
        assert_eq!((object.create)(), Err(Error::Caller));
    }
    SEEN.fetch_add(1, SeqCst);
}

fn in_a_callback(callback: fn()) {
    OTHER.create("other", Schedule::once(Ticks::new(1)), callback).unwrap();
    OTHER.activate().unwrap();
    thread::sleep(Ticks::new(2)).unwrap();
    OTHER.delete().unwrap();
}

#[test]
fn every_object_refuses_what_it_must_in_every_context() {
    cell! { MAIN, MAIN_STACK }
    run(|_| {
        OBJECTS.iter().for_each(is_missing_outside_threads);
        let main = || {
            everything();
            host::interrupt(nothing);
            in_a_callback(nothing);
            OBJECTS.iter().for_each(|object| (object.create)().unwrap());
            host::interrupt(neither);
            in_a_callback(neither);
            assert_eq!(SEEN.load(SeqCst), 4);
            OBJECTS.iter().for_each(|object| (object.delete)().unwrap());
            host::finish()
        };
        Builder::new("main").spawn(&MAIN, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}
