//! Scenarios of the safe API: what field reports about bindings say of the running program. What they say must not
//! compile is in `threadx/tests/ui`.
//!
//! Field reports: B02, B04 to B14; K12, measuring a stack.

use core::future::poll_fn;
use core::ops::Range;
use core::panic::Location;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use core::task::{Context, Poll};
use core::time::Duration;

use threadx::thread::State;
use threadx::{
    Block, BlockPool, Builder, BytePool, Error, EventFlags, Executor, Inheritance, JoinError, JoinHandle, Match, Mutex,
    PoolBox, PreemptionThreshold, Priority, Queue, Region, Rejected, Schedule, Semaphore, Stack, ThreadCell, ThreadRef,
    Ticks, TimeSlice, Timeout, Timer, stack, thread, time,
};
use threadx_sys::{
    tx_block_pool_info_get, tx_byte_pool_info_get, tx_event_flags_info_get, tx_mutex_info_get, tx_queue_info_get,
    tx_semaphore_info_get, tx_thread_info_get, tx_timer_info_get,
};

use crate::objects::{self, ignore};
use crate::{Failure, Outcome, add_to_number, interrupt, log, number, set_number, ticks};

const FOREVER: Timeout = Timeout::Forever;
const NONE: Timeout = Timeout::NoWait;

/// Ends the scenario unless this is so.
macro_rules! holds {
    ($condition:expr) => {
        if !$condition {
            return Err(Failure { line: line!(), what: stringify!($condition), seen: 0, expected: 1 });
        }
    };
}

impl From<Error> for Failure {
    #[track_caller]
    fn from(error: Error) -> Self {
        let seen = error.code().unwrap_or(u32::MAX);
        Self { line: Location::caller().line(), what: error.as_str(), seen, expected: threadx_sys::TX_SUCCESS }
    }
}

impl<T> From<Rejected<T>> for Failure {
    #[track_caller]
    fn from(rejected: Rejected<T>) -> Self {
        rejected.error.into()
    }
}

impl From<JoinError> for Failure {
    #[track_caller]
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::Failed(error) => error.into(),
            JoinError::Terminated => {
                Self { line: Location::caller().line(), what: "the thread was terminated", seen: 1, expected: 0 }
            }
        }
    }
}

// ---- threads -----------------------------------------------------------------------------------

/// Main memory, which every board's link script has under this name.
enum Dram0 {}

impl Region for Dram0 {
    const NAME: &'static str = "DRAM0";
    fn range() -> Range<usize> {
        0..usize::MAX
    }
}

/// Where a thread lives.
struct Place {
    cell: &'static ThreadCell,
    stack: &'static Stack<Dram0, 4096>,
}

/// Places of a scenario's own: what it leaves in one is there for ever.
macro_rules! places {
    ($($name:ident)*) => {
        $(static $name: Place = {
            static CELL: ThreadCell = ThreadCell::new();
            stack! { static STACK: Stack<Dram0, 4096>; }
            Place { cell: &CELL, stack: &STACK }
        };)*
    };
}

fn builder(priority: u32) -> Result<Builder, Error> {
    Ok(Builder::new("scenario").priority(Priority::new(priority).ok_or(Error::Priority)?))
}

impl Place {
    fn spawn<T: Send + 'static>(
        &self,
        priority: u32,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, Error> {
        builder(priority)?.spawn(self.cell, self.stack.take()?, f)
    }

    /// [`Self::spawn`], to be resumed.
    fn spawn_suspended<T: Send + 'static>(
        &self,
        priority: u32,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, Error> {
        builder(priority)?.suspended().spawn(self.cell, self.stack.take()?, f)
    }

    /// Whether another thread can be spawned here.
    fn is_free(&self) -> Result<bool, Error> {
        match self.spawn_suspended(20, || ()) {
            Ok(thread) => {
                thread.thread().resume()?;
                Ok(thread.join().is_ok())
            }
            Err(Error::InUse | Error::StackTaken) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Writes a word that is not the fill pattern, with the pattern above it, this many frames down; its address.
fn write_deep(frames: u32) -> usize {
    let words: [u32; 16] = core::array::from_fn(|n| if n == 0 { frames } else { threadx_sys::TX_STACK_FILL });
    let words = core::hint::black_box(words);
    let below = if frames == 1 { words.as_ptr().addr() } else { write_deep(frames - 1) };
    core::hint::black_box(words);
    below
}

/// K12, second part.
pub(crate) fn k12_fill_bytes_in_live_data() -> Outcome {
    places! { DEEP }
    for frames in [1, 4, 12] {
        let thread = DEEP.spawn(10, move || write_deep(frames))?;
        let usage = thread.thread().stack_usage()?;
        let deepest = thread.join()?;
        holds!(usage.size <= 4096 && usage.high_water <= usage.size);
        // Threads of a development machine run elsewhere.
        if cfg!(target_os = "none") {
            let written = DEEP.stack.addresses().start + usage.size - deepest;
            holds!(usage.high_water >= written);
            // Below it there may be the rest of a frame, and one of a call or of an interrupt.
            holds!(usage.high_water < written + 512);
        }
    }
    Ok(())
}

/// K12, third part: whatever the control block says of the stack, measuring it comes to the same and to an end.
pub(crate) fn k12_damaged_pointers_into_the_stack() -> Outcome {
    const WORDS: usize = size_of::<threadx_sys::TX_THREAD>() / size_of::<usize>();
    places! { DAMAGED }
    let thread = DAMAGED.spawn_suspended(10, || 7)?;
    let usage = thread.thread().stack_usage()?;
    let Range { start, end } = DAMAGED.stack.addresses();
    let control: *mut usize = core::ptr::from_ref(DAMAGED.cell).cast_mut().cast();
    let damages: [fn(usize, usize, usize) -> usize; 5] = [
        |_, _, _| 0,
        |_, _, _| usize::MAX - 7,
        |start, _, _| start - 64,
        |_, end, _| end + 64,
        // Inverted: as far from one end as it was from the other.
        |start, end, at| end - (at - start),
    ];
    for damage in damages {
        let mut intact = [0; WORDS];
        for (n, intact) in intact.iter_mut().enumerate() {
            // SAFETY: a word of the control block, the cell's first field, which the kernel may change at any time;
            // not this one, whose thread is suspended.
            let word = unsafe { control.add(n) };
            // SAFETY: as above.
            *intact = unsafe { word.read_volatile() };
            if (start..=end).contains(intact) {
                // SAFETY: as above, and restored before the thread goes on.
                unsafe { word.write_volatile(damage(start, end, *intact)) };
            }
        }
        let seen = thread.thread().stack_usage();
        for (n, intact) in intact.iter().enumerate() {
            if (start..=end).contains(intact) {
                // SAFETY: as above.
                unsafe { control.add(n).write_volatile(*intact) };
            }
        }
        holds!(intact.iter().any(|word| (start..=end).contains(word)));
        holds!(seen == Ok(usage));
    }
    thread.thread().resume()?;
    is!(thread.join()? as u32, 7u32);
    Ok(())
}

pub(crate) fn b07_names_outlive_their_creators() -> Outcome {
    const LONG: &str = "a name of more than thirty-one bytes, which once made a binding panic";
    places! { CREATOR NAMED OTHER }
    let creator = CREATOR.spawn(10, || {
        let named = Builder::new(LONG).priority(Priority::of::<20>()).suspended();
        named.spawn(NAMED.cell, NAMED.stack.take()?, || thread::current().map(ThreadRef::name))
    })?;
    let named = creator.join()??;
    // The creator's stack is used again, and then its cell.
    OTHER.spawn(10, || write_deep(12))?.join()?;
    CREATOR.spawn(10, || write_deep(12))?.join()?;
    holds!(named.thread().name() == LONG);
    // What the kernel keeps is a part of it, in the cell.
    let (mut name, none) = (null_mut(), null_mut());
    let block = core::ptr::from_ref(NAMED.cell).cast_mut().cast();
    // SAFETY: the thread exists, the name goes to a local, and nulls are skipped.
    let status = unsafe {
        tx_thread_info_get(block, &mut name, none, null_mut(), none, none, null_mut(), null_mut(), null_mut())
    };
    is!(status, threadx_sys::TX_SUCCESS);
    holds!(lies_in(name.addr(), NAMED.cell));
    // SAFETY: the kernel's name is a C string as long as the thread exists.
    let kept = unsafe { core::ffi::CStr::from_ptr(name.cast()) };
    holds!(kept.to_bytes() == &LONG.as_bytes()[..15]);
    named.thread().resume()?;
    holds!(named.join()? == Some(LONG));
    Ok(())
}

pub(crate) fn b07_references_to_threads_that_are_gone() -> Outcome {
    places! { ONE TWO }
    let thread = ONE.spawn(10, || ())?;
    let gone = thread.thread();
    thread.join()?;
    // Another thread in the same cell is not mistaken for it.
    let other = ONE.spawn_suspended(20, || 7)?;
    holds!(other.thread() != gone);
    holds!(gone.info().err() == Some(Error::Thread));
    holds!(gone.resume().err() == Some(Error::Thread));
    holds!(gone.suspend() == Err(Error::Thread));
    holds!(gone.wait_abort() == Err(Error::Thread));
    holds!(gone.set_priority(Priority::of::<3>()).err() == Some(Error::Thread));
    holds!(gone.stack_usage().err() == Some(Error::Thread));
    holds!(other.thread().info()?.state == State::Suspended);
    other.thread().resume()?;
    is!(other.join()? as u32, 7u32);
    // One that runs cannot be joined yet, and its handle is not lost.
    let sleeper = TWO.spawn(10, || thread::sleep(Ticks::new(1)))?;
    holds!(!sleeper.is_finished());
    let Err(sleeper) = sleeper.try_join() else {
        return Err(Failure { line: line!(), what: "a sleeper was joined", seen: 1, expected: 0 });
    };
    sleeper.join()??;
    Ok(())
}

pub(crate) fn b09_readied_by_an_interrupt() -> Outcome {
    static S: Semaphore = Semaphore::new();
    static E: EventFlags = EventFlags::new();
    static Q: Queue<u32, 1> = Queue::new();
    static TO_RESUME: Queue<ThreadRef, 2> = Queue::new();
    places! { HIGH LOW }
    S.create("s", 0)?;
    E.create("e")?;
    Q.create("q")?;
    TO_RESUME.create("to resume")?;
    let high = HIGH.spawn(10, || -> Result<(), Error> {
        S.get(FOREVER)?;
        log(11);
        E.get(1, Match::AnyClear, FOREVER)?;
        log(12);
        log(Q.receive(FOREVER)?);
        thread::current().ok_or(Error::Thread)?.suspend()?;
        log(14);
        Ok(())
    })?;
    // Below the interrupted thread: its turn comes later.
    let low = LOW.spawn_suspended(20, || log(15))?;
    fn resume() {
        log(TO_RESUME.try_receive().and_then(ThreadRef::resume).is_ok().into());
    }
    TO_RESUME.try_send(high.thread())?;
    TO_RESUME.try_send(low.thread())?;
    let calls: [(fn(), u32); 4] = [
        (|| log(S.put().is_ok().into()), 11),
        (|| log(E.set(1).is_ok().into()), 12),
        (|| log(Q.try_send(13).is_ok().into()), 13),
        (resume, 14),
    ];
    for (call, answer) in calls {
        interrupt(call);
        log(2);
        log_is!(1, answer, 2);
    }
    interrupt(resume);
    log(2);
    low.join()?;
    log_is!(1, 2, 15);
    high.join()??;
    S.delete()?;
    E.delete()?;
    Q.delete()?;
    TO_RESUME.delete()?;
    Ok(())
}

pub(crate) fn b10_one_thread_at_a_time() -> Outcome {
    places! { ONE TWO DETACHED }
    let thread = ONE.spawn_suspended(10, || 1)?;
    // Neither the stack nor the cell is to be had, whether the thread has begun, runs, or has ended.
    let taken = || -> Outcome {
        holds!(ONE.stack.take().err() == Some(Error::StackTaken));
        holds!(builder(10)?.spawn(ONE.cell, TWO.stack.take()?, || ()).err() == Some(Error::InUse));
        // What was refused kept nothing.
        holds!(TWO.stack.take().is_ok());
        Ok(())
    };
    taken()?;
    thread.thread().resume()?;
    holds!(thread.is_finished());
    taken()?;
    is!(thread.join()? as u32, 1u32);
    holds!(ONE.is_free()?);
    // Nobody can say any more when a detached thread's place is free.
    DETACHED.spawn(10, || ())?.detach();
    holds!(!DETACHED.is_free()?);
    Ok(())
}

// ---- objects -----------------------------------------------------------------------------------

static S: Semaphore = Semaphore::new();
static M: Mutex<u32> = Mutex::new(0);
static E: EventFlags = EventFlags::new();
static Q: Queue<u32, 1> = Queue::new();
static B: BlockPool<u32, 1> = BlockPool::new();
static Y: BytePool<256> = BytePool::new();
static T: Timer = Timer::new();

type Call = fn() -> Result<(), Error>;

/// One object of each class.
struct Object {
    create: Call,
    delete: Call,
    /// Methods other than these two; the last one works as soon as the object exists.
    others: &'static [Call],
    /// What they return while it does not exist.
    missing: Error,
    /// Waits for what is not there.
    wait: Option<fn(Timeout) -> Result<(), Error>>,
    /// Whether an address is in the object.
    has: fn(usize) -> bool,
    /// Creates one through the C service; the control block.
    anchor: fn() -> *mut (),
    /// The control block behind this one in the kernel's list.
    next: fn(*mut ()) -> *mut (),
}

fn lies_in<T>(address: usize, object: &T) -> bool {
    let start = core::ptr::from_ref(object).addr();
    (start..start + size_of::<T>()).contains(&address)
}

/// The last result of a service that tells of an object, behind others that nobody wants.
macro_rules! next {
    ($service:ident($($nobody:expr),*)) => {
        |block| {
            let mut next = null_mut();
            // SAFETY: the block is one of the kernel's list, so it exists; the result is a local, nulls are skipped.
            unsafe { $service(block.cast(), $($nobody,)* &raw mut next) };
            next.cast()
        }
    };
}

static OBJECTS: [Object; 7] = [
    Object {
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
        missing: Error::Semaphore,
        wait: Some(|timeout| S.get(timeout)),
        has: |address| lies_in(address, &S),
        anchor: || {
            objects::S.create(0);
            objects::S.ptr().cast()
        },
        next: next!(tx_semaphore_info_get(null_mut(), null_mut(), null_mut(), null_mut())),
    },
    Object {
        create: || M.create("m", Inheritance::On),
        delete: || M.delete(),
        others: &[|| M.lock(NONE).map(drop), || M.prioritize(), || M.info().map(drop)],
        missing: Error::Mutex,
        wait: Some(|timeout| M.lock(timeout).map(drop)),
        has: |address| lies_in(address, &M),
        anchor: || {
            objects::M.create(threadx_sys::TX_INHERIT);
            objects::M.ptr().cast()
        },
        next: next!(tx_mutex_info_get(null_mut(), null_mut(), null_mut(), null_mut(), null_mut())),
    },
    Object {
        create: || E.create("e"),
        delete: || E.delete(),
        others: &[
            || E.get(1, Match::Any, NONE).map(drop),
            || E.set(1),
            || E.clear(1),
            || E.set_set_notify(None),
            || E.info().map(drop),
        ],
        missing: Error::Group,
        wait: Some(|timeout| E.get(2, Match::All, timeout).map(drop)),
        has: |address| lies_in(address, &E),
        anchor: || {
            objects::E.create();
            objects::E.ptr().cast()
        },
        next: next!(tx_event_flags_info_get(null_mut(), null_mut(), null_mut(), null_mut())),
    },
    Object {
        create: || Q.create("q"),
        delete: || Q.delete(),
        others: &[
            || Q.try_send(1).map_err(Error::from),
            || Q.try_send_front(1).map_err(Error::from),
            || Q.send(1, NONE).map_err(Error::from),
            || Q.send_front(1, NONE).map_err(Error::from),
            || Q.sender().send(1, NONE).map_err(Error::from),
            || Q.receiver().receive(NONE).map(drop),
            || Q.try_receive().map(drop),
            || Q.flush().map(drop),
            || Q.prioritize(),
            || Q.set_send_notify(None),
            || Q.info().map(drop),
        ],
        missing: Error::Queue,
        wait: Some(|timeout| Q.receive(timeout).map(drop)),
        has: |address| lies_in(address, &Q),
        anchor: || {
            objects::Q.create(1, 64);
            objects::Q.ptr().cast()
        },
        next: next!(tx_queue_info_get(null_mut(), null_mut(), null_mut(), null_mut(), null_mut())),
    },
    Object {
        create: || B.create("b"),
        delete: || B.delete(),
        others: &[
            || B.allocate(NONE).map(drop),
            || B.store(1, NONE).map(drop).map_err(Error::from),
            || B.prioritize(),
            || B.info().map(drop),
        ],
        missing: Error::Pool,
        wait: Some(|timeout| {
            let _the_only_one = B.allocate(timeout)?;
            B.allocate(timeout).map(drop)
        }),
        has: |address| lies_in(address, &B),
        anchor: || {
            objects::B.create(16, 64);
            objects::B.ptr().cast()
        },
        next: next!(tx_block_pool_info_get(null_mut(), null_mut(), null_mut(), null_mut(), null_mut())),
    },
    Object {
        create: || Y.create("y"),
        delete: || Y.delete(),
        others: &[
            || Y.allocate::<u32>(NONE).map(drop),
            || Y.allocate_slice::<u32>(2, NONE).map(drop),
            || Y.store(1, NONE).map(drop).map_err(Error::from),
            || Y.store_slice(&[1, 2], NONE).map(drop),
            || Y.prioritize(),
            || Y.info().map(drop),
        ],
        missing: Error::Pool,
        wait: Some(|timeout| {
            let _most = Y.allocate::<[u8; 150]>(timeout)?;
            Y.allocate::<[u8; 150]>(timeout).map(drop)
        }),
        has: |address| lies_in(address, &Y),
        anchor: || {
            objects::Y.create(256);
            objects::Y.ptr().cast()
        },
        next: next!(tx_byte_pool_info_get(null_mut(), null_mut(), null_mut(), null_mut(), null_mut())),
    },
    Object {
        create: || T.create("t", Schedule::once(Ticks::new(50)), || ()),
        delete: || T.delete(),
        others: &[
            || T.activate(),
            || T.deactivate(),
            || T.change(Schedule::once(Ticks::new(5))),
            || T.info().map(drop),
        ],
        missing: Error::Timer,
        wait: None,
        has: |address| lies_in(address, &T),
        anchor: || {
            objects::Timer(0).create(50, 0, threadx_sys::TX_NO_ACTIVATE, || ());
            objects::Timer(0).ptr().cast()
        },
        next: next!(tx_timer_info_get(null_mut(), null_mut(), null_mut(), null_mut())),
    },
];

/// Deletes the objects that a scenario leaves.
pub(crate) fn remove_all() {
    for object in &OBJECTS {
        ignore((object.delete)());
    }
}

/// Goes around a list of the kernel: its length, and the addresses in it that belong to an object, at most one.
fn around(
    line: u32,
    anchor: *mut (),
    next: impl Fn(*mut ()) -> *mut (),
    has: impl Fn(usize) -> bool,
) -> Result<(u32, Option<usize>), Failure> {
    let broken = |what, seen| Err(Failure { line, what, seen, expected: 0 });
    let (mut length, mut found, mut at) = (0, None, anchor);
    loop {
        if has(at.addr()) && found.replace(at.addr()).is_some() {
            return broken("twice in the list", length);
        }
        length += 1;
        at = next(at);
        if at == anchor {
            return Ok((length, found));
        }
        if at.is_null() || length > 99 {
            return broken("the list does not come round", length);
        }
    }
}

pub(crate) fn b02_objects_stay_where_they_were_created() -> Outcome {
    for object in &OBJECTS {
        let anchor = (object.anchor)();
        let look = |line| around(line, anchor, object.next, object.has);
        let (before, none) = look(line!())?;
        holds!(none.is_none());
        let mut address = None;
        for _ in 0..1000 {
            (object.create)()?;
            let (length, found) = look(line!())?;
            is!(length, before + 1);
            holds!(found.is_some() && *address.get_or_insert(found) == found);
            (object.delete)()?;
        }
        (object.create)()?;
        for call in object.others {
            ignore(call());
            holds!(Some(look(line!())?.1) == address);
        }
        (object.delete)()?;
        holds!(look(line!())? == (before, None));
    }
    Ok(())
}

pub(crate) fn b02_cells_stay_where_they_were_created() -> Outcome {
    places! { CELL }
    let block: usize = core::ptr::from_ref(CELL.cell).addr();
    let look = |line| {
        let next = |block: *mut ()| {
            let (mut next, none) = (null_mut(), null_mut());
            // SAFETY: the block is one of the kernel's list, so it exists; the result is a local, nulls are skipped.
            unsafe {
                tx_thread_info_get(
                    block.cast(),
                    null_mut(),
                    none,
                    null_mut(),
                    none,
                    none,
                    null_mut(),
                    &mut next,
                    null_mut(),
                )
            };
            next.cast()
        };
        around(line, objects::me().cast(), next, |address| lies_in(address, CELL.cell))
    };
    let (before, none) = look(line!())?;
    holds!(none.is_none());
    for _ in 0..1000 {
        let thread = CELL.spawn(10, || ())?;
        holds!(look(line!())? == (before + 1, Some(block)));
        thread.join()?;
        holds!(look(line!())? == (before, None));
    }
    Ok(())
}

pub(crate) fn b04_a_forgotten_guard() -> Outcome {
    static LOCK: Mutex<u32> = Mutex::new(0);
    static LAST: Mutex<u32> = Mutex::new(0);
    places! { OWNER WAITER }
    fn forgetful(mutex: &'static Mutex<u32>) -> Result<(), Error> {
        core::mem::forget(mutex.lock(FOREVER)?);
        thread::sleep(Ticks::MAX)
    }
    fn waits(mutex: &'static Mutex<u32>) -> Option<Error> {
        mutex.lock(FOREVER).err()
    }
    // The mutex is deleted under owner and waiter.
    LOCK.create("lock", Inheritance::On)?;
    let owner = OWNER.spawn(10, || forgetful(&LOCK))?;
    let waiter = WAITER.spawn(5, || waits(&LOCK))?;
    is!(LOCK.info()?.waiting, 1u32);
    holds!(owner.thread().info()?.priority == Priority::of::<10>());
    LOCK.delete()?;
    holds!(waiter.join()? == Some(Error::Deleted));
    holds!(LOCK.lock(FOREVER).err() == Some(Error::Mutex));
    // The value may still be in use: not as long as the guard could be there, which is for ever.
    holds!(LOCK.create("lock", Inheritance::On) == Err(Error::InUse));
    owner.thread().wait_abort()?;
    holds!(owner.join()? == Err(Error::WaitAborted));
    holds!(LOCK.create("lock", Inheritance::On) == Err(Error::InUse));
    // The owner ends while somebody waits.
    LAST.create("last", Inheritance::On)?;
    let owner = OWNER.spawn(10, || forgetful(&LAST))?;
    let waiter = WAITER.spawn(5, || waits(&LAST))?;
    owner.thread().wait_abort()?;
    holds!(owner.join()? == Err(Error::WaitAborted));
    holds!(waiter.join()? == Some(Error::Poisoned));
    holds!(LAST.is_poisoned());
    LAST.delete()?;
    // A guard that is dropped after the deletion, in the thread that locked.
    M.create("m", Inheritance::On)?;
    let mut guard = M.lock(FOREVER)?;
    M.delete()?;
    holds!(M.create("m", Inheritance::On) == Err(Error::InUse));
    *guard += 1;
    drop(guard);
    M.create("m", Inheritance::On)?;
    holds!(M.lock(NONE).is_ok());
    Ok(())
}

const GUARD: u32 = 0x5555_5555;

/// Messages of a type through a queue of three: into it, and straight to a receiver that waits.
fn message<T: Copy + PartialEq + Send>(queue: &'static Queue<T, 3>, receiver: &Place, message: T) -> Outcome {
    queue.create("typed")?;
    for _ in 0..5 {
        let mut guarded = [(GUARD, None, GUARD); 3];
        for _ in 0..3 {
            queue.try_send(message)?;
        }
        // Room for so many whole messages, and no part of another.
        holds!(queue.try_send(message).is_err_and(|refused| refused.error == Error::QueueFull));
        for (_, place, _) in &mut guarded {
            *place = Some(queue.try_receive()?);
        }
        holds!(queue.try_receive().err() == Some(Error::QueueEmpty));
        holds!(guarded == [(GUARD, Some(message), GUARD); 3]);
    }
    let waiting = receiver.spawn(10, move || {
        let mut guarded = (GUARD, None, GUARD);
        guarded.1 = queue.receive(FOREVER).ok();
        guarded == (GUARD, Some(message), GUARD)
    })?;
    queue.try_send(message)?;
    holds!(waiting.join()?);
    queue.delete()?;
    Ok(())
}

pub(crate) fn b05_messages_keep_to_their_size() -> Outcome {
    places! { RECEIVER }
    macro_rules! messages {
        ($($type:ty: $value:expr),* $(,)?) => {
            $({
                static QUEUE: Queue<$type, 3> = Queue::new();
                message(&QUEUE, &RECEIVER, $value)?;
            })*
        };
    }
    messages! {
        (): (),
        u8: 0xA5,
        [u8; 3]: [1, 2, 3],
        u32: 0x0123_4567,
        [u8; 5]: [1, 2, 3, 4, 5],
        [u32; 3]: [1, 2, 3],
        (u8, u64, u16): (1, 2, 3),
        [u32; 16]: core::array::from_fn(|n| 100 + n as u32),
    }
    Ok(())
}

pub(crate) fn b06_notifications_know_their_object() -> Outcome {
    static SEMAPHORES: [Semaphore; 3] = [const { Semaphore::new() }; 3];
    places! { WAITER }
    /// Which it is, with how many waiters.
    fn told(semaphore: &'static Semaphore) -> u32 {
        let which = SEMAPHORES.iter().position(|one| core::ptr::eq(one, semaphore)).map_or(9, |n| n as u32);
        10 * which + semaphore.info().map_or(9, |info| info.waiting)
    }
    for semaphore in &SEMAPHORES {
        semaphore.create("s", 0)?;
    }
    SEMAPHORES[0].set_put_notify(Some(|s| log(100 + told(s))))?;
    SEMAPHORES[1].set_put_notify(Some(|s| log(200 + told(s))))?;
    // The third's callback is the first's: what they do not share is the object.
    SEMAPHORES[2].set_put_notify(Some(|s| log(100 + told(s))))?;
    for semaphore in &SEMAPHORES {
        semaphore.put()?;
        semaphore.get(NONE)?;
    }
    log_is!(100, 210, 120);
    // When the waiter is no longer one, whether it runs first or not.
    fn notified(s: &'static Semaphore) {
        set_number(0, 1);
        log(200 + told(s));
    }
    SEMAPHORES[1].set_put_notify(Some(notified))?;
    let waiter = WAITER.spawn(10, || SEMAPHORES[1].get(FOREVER).map(|()| set_number(1, number(0))))?;
    SEMAPHORES[1].put()?;
    log_is!(210);
    waiter.join()??;
    differs!(number(1), NOTIFIED_BEFORE_A_HIGHER_WAITER_RUNS);
    // In an interrupt the waiter is no longer one, and runs afterwards.
    let waiter = WAITER.spawn(10, || SEMAPHORES[2].get(FOREVER).map(|()| log(1)))?;
    interrupt(|| ignore(SEMAPHORES[2].put()));
    log_is!(120, 1);
    waiter.join()??;
    // Replaced, and ended by the deletion.
    SEMAPHORES[0].set_put_notify(Some(|s| log(300 + told(s))))?;
    SEMAPHORES[0].put()?;
    log_is!(300);
    SEMAPHORES[0].delete()?;
    SEMAPHORES[0].create("s", 0)?;
    SEMAPHORES[0].put()?;
    log_is!();
    for semaphore in &SEMAPHORES {
        semaphore.delete()?;
    }
    Ok(())
}

pub(crate) fn b06_notifications_of_queues_groups_and_ends() -> Outcome {
    static QUEUES: [Queue<u32, 2>; 2] = [const { Queue::new() }; 2];
    static GROUPS: [EventFlags; 2] = [const { EventFlags::new() }; 2];
    places! { WAITER FIRST SECOND }
    for (queue, group) in QUEUES.iter().zip(&GROUPS) {
        queue.create("q")?;
        group.create("e")?;
        queue.set_send_notify(Some(|queue| log(100 + queue.info().map_or(99, |info| info.messages))))?;
    }
    QUEUES[1].set_send_notify(Some(|queue| log(200 + queue.try_receive().unwrap_or(99))))?;
    QUEUES[0].try_send(1)?;
    QUEUES[0].try_send(1)?;
    holds!(QUEUES[0].try_send(1).is_err());
    QUEUES[1].try_send(7)?;
    QUEUES[1].try_send_front(8)?;
    log_is!(101, 102, 207, 208);
    QUEUES[1].set_send_notify(Some(|queue| {
        set_number(0, 1);
        log(200 + queue.info().map_or(99, |info| info.waiting));
    }))?;
    let waiter = WAITER.spawn(10, || {
        let received = QUEUES[1].receive(FOREVER);
        set_number(1, number(0));
        received
    })?;
    QUEUES[1].try_send(9)?;
    log_is!(200);
    is!(waiter.join()??, 9u32);
    differs!(number(1), NOTIFIED_BEFORE_A_HIGHER_WAITER_RUNS);

    GROUPS[0].set_set_notify(Some(|group| {
        log(300 + u32::from(core::ptr::eq(group, &GROUPS[0])) + group.info().map_or(99, |info| 10 * info.flags));
    }))?;
    GROUPS[1].set_set_notify(Some(|group| log(400 + u32::from(core::ptr::eq(group, &GROUPS[1])))))?;
    GROUPS[0].set(2)?;
    GROUPS[1].set(1)?;
    GROUPS[1].clear(1)?;
    log_is!(321, 401);
    GROUPS[0].set_set_notify(Some(|group| {
        set_number(0, 1);
        log(300 + group.info().map_or(99, |info| info.waiting));
    }))?;
    set_number(0, 0);
    let waiter = WAITER.spawn(10, || {
        let seen = GROUPS[0].get(3, Match::AllClear, FOREVER);
        set_number(1, number(0));
        seen
    })?;
    GROUPS[0].set(1)?;
    log_is!(300);
    is!(waiter.join()??, 3u32);
    differs!(number(1), NOTIFIED_BEFORE_A_HIGHER_WAITER_RUNS);
    for (queue, group) in QUEUES.iter().zip(&GROUPS) {
        queue.delete()?;
        group.delete()?;
    }

    // The kernel's notification of ends is taken: each handle learns of its own thread's, once.
    let first = FIRST.spawn(20, || 1)?;
    let second = SECOND.spawn(19, || 2)?;
    holds!(!first.is_finished() && !second.is_finished());
    is!(second.join()? as u32, 2u32);
    holds!(!first.is_finished());
    is!(first.join()? as u32, 1u32);
    holds!(FIRST.is_free()? && SECOND.is_free()?);
    Ok(())
}

#[repr(align(8))]
struct Eight(u8);
#[repr(align(16))]
struct Sixteen(u8);
#[repr(align(64))]
struct SixtyFour([u8; 70]);

enum Held {
    Four(PoolBox<u32>),
    Eight(PoolBox<Eight>),
    Sixteen(PoolBox<Sixteen>),
    SixtyFour(PoolBox<SixtyFour>),
    Bytes(PoolBox<[u8]>),
}

impl Held {
    fn new(pool: &'static BytePool<4096>, kind: u32, length: usize) -> Result<Self, Error> {
        Ok(match kind {
            0 => Self::Four(pool.store(4, NONE)?),
            1 => Self::Eight(pool.store(Eight(8), NONE)?),
            2 => Self::Sixteen(pool.store(Sixteen(16), NONE)?),
            3 => Self::SixtyFour(pool.store(SixtyFour([64; 70]), NONE)?),
            _ => Self::Bytes(pool.store_slice(&[5; 200][..length], NONE)?),
        })
    }

    /// What was stored is there, where it may be.
    fn is_right(&self) -> bool {
        fn aligned<T>(place: &T) -> bool {
            core::ptr::from_ref(place).is_aligned()
        }
        match self {
            Self::Four(v) => **v == 4 && aligned(&**v),
            Self::Eight(v) => v.0 == 8 && aligned(&**v),
            Self::Sixteen(v) => v.0 == 16 && aligned(&**v),
            Self::SixtyFour(v) => v.0 == [64; 70] && aligned(&**v),
            Self::Bytes(v) => v.iter().all(|byte| *byte == 5),
        }
    }
}

fn random(seed: &mut u32, below: u32) -> u32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*seed >> 8) % below
}

pub(crate) fn b08_all_memory_comes_back() -> Outcome {
    static POOL: BytePool<4096> = BytePool::new();
    const ROUNDS: u32 = 100_000;
    POOL.create("pool")?;
    let new = POOL.info()?;
    // As much as one allocation can have.
    let most = (0..new.available as usize).rev().find(|&bytes| POOL.allocate_slice::<u8>(bytes, NONE).is_ok());
    let most = most.ok_or(Error::NoMemory)?;
    let all_of_it = || -> Result<u32, Error> {
        let _all = POOL.allocate_slice::<u8>(most, NONE)?;
        Ok(POOL.info()?.fragments)
    };
    let fragments = all_of_it()?;
    // That one, and the kernel's mark at the end.
    is!(fragments, 2u32);
    let mut held = [const { None }; 32];
    let (mut seed, mut exhausted) = (1, 0);
    for _ in 0..ROUNDS {
        let place = &mut held[random(&mut seed, 32) as usize];
        holds!(place.as_ref().is_none_or(Held::is_right));
        *place = None;
        match Held::new(&POOL, random(&mut seed, 5), random(&mut seed, 200) as usize) {
            Ok(new) => *place = Some(new),
            Err(Error::NoMemory) => exhausted += 1,
            Err(error) => return Err(error.into()),
        }
    }
    holds!(exhausted > 0 && exhausted < ROUNDS / 2);
    holds!(held.iter().flatten().all(Held::is_right));
    drop(held);
    is!(all_of_it()?, fragments);
    is!(POOL.info()?.available, new.available);
    POOL.delete()?;
    Ok(())
}

pub(crate) fn b08_sizes_and_contexts_of_pools() -> Outcome {
    static BLOCKS: BlockPool<u64, 2> = BlockPool::new();
    Y.create("y")?;
    BLOCKS.create("blocks")?;
    let whole = Y.info()?.available;
    // Nothing is something: each its own.
    let (one, two) = (Y.store((), NONE)?, Y.allocate_slice::<u64>(0, NONE)?);
    holds!(core::ptr::from_ref(&*one).addr() != two.as_ptr().addr());
    holds!(two.is_empty() && two.as_ptr().is_aligned());
    drop((one, two));
    // Too much: at once, beyond what can be counted, and in sum.
    holds!(Y.allocate::<[u8; 257]>(NONE).err() == Some(Error::Size));
    holds!(Y.allocate_slice::<u64>(usize::MAX / 4, FOREVER).err() == Some(Error::Size));
    let most = Y.allocate::<[u8; 150]>(NONE)?;
    holds!(Y.allocate::<[u8; 150]>(NONE).err() == Some(Error::NoMemory));
    holds!(Y.allocate::<[u8; 150]>(Ticks::new(1)).err() == Some(Error::NoMemory));
    drop(most);
    let blocks = [BLOCKS.store(1, NONE)?, BLOCKS.store(2, NONE)?];
    holds!(BLOCKS.store(3, NONE).is_err_and(|refused| refused.value == 3 && refused.error == Error::NoMemory));
    holds!(blocks.iter().map(|block| **block).eq([1, 2]));
    drop(blocks);
    // Byte pools are for threads, block pools for everybody. What a thread leaves to an interrupt comes back.
    static LEFT: Queue<(PoolBox<u8>, Block<u64>), 1> = Queue::new();
    LEFT.create("left")?;
    LEFT.try_send((Y.store(9, NONE)?, BLOCKS.store(9, NONE)?))?;
    interrupt(|| {
        let right = [
            Y.store(1u8, NONE).is_err_and(|refused| refused.error == Error::Caller),
            Y.store(1u8, FOREVER).is_err(),
            BLOCKS.store(1, NONE).is_ok(),
            BLOCKS.store(1, FOREVER).is_err_and(|refused| refused.error == Error::Wait),
            LEFT.try_receive().map(drop).is_ok(),
        ];
        set_number(0, right.iter().map(|right| u32::from(*right)).sum());
    });
    is!(number(0), 5u32);
    T.create("t", Schedule::once(Ticks::new(1)), || {
        let refused = [Y.store(1u8, NONE).is_err(), Y.store(1u8, FOREVER).is_err()];
        set_number(1, refused.iter().map(|refused| u32::from(*refused)).sum());
    })?;
    T.activate()?;
    thread::sleep(Ticks::new(2))?;
    is!(number(1), 2u32);
    // The next thread that allocates finds it.
    drop(Y.store(1u8, NONE)?);
    is!(Y.info()?.available, whole);
    is!(BLOCKS.info()?.available, 2u32);
    LEFT.delete()?;
    BLOCKS.delete()?;
    Ok(())
}

pub(crate) fn b11_a_terminated_owner() -> Outcome {
    static LOCK: Mutex<(u32, u32)> = Mutex::new((0, 0));
    places! { OWNER WAITER GONE }
    LOCK.create("lock", Inheritance::On)?;
    let owner = OWNER.spawn(10, || {
        let mut guard = LOCK.lock(FOREVER)?;
        guard.0 = 1;
        thread::sleep(Ticks::MAX)?;
        guard.1 = 1;
        Ok::<_, Error>(())
    })?;
    let waiter = WAITER.spawn(5, || LOCK.lock(FOREVER).err())?;
    let reference = owner.thread();
    // In the middle of a change.
    holds!(owner.terminate()?.is_none());
    holds!(waiter.join()? == Some(Error::Poisoned));
    holds!(LOCK.is_poisoned());
    holds!(LOCK.lock(NONE).err() == Some(Error::Poisoned));
    holds!(reference.info().err() == Some(Error::Thread));
    // Somebody may have borrowed from its frames.
    holds!(!OWNER.is_free()?);
    // Whoever knows that nobody did says so, and that the value is one.
    let gone = GONE.spawn(10, || thread::sleep(Ticks::MAX))?;
    // SAFETY: the thread sleeps in its closure, which has lent nothing to anybody.
    holds!(unsafe { gone.terminate_and_reclaim() }?.is_none());
    holds!(GONE.is_free()?);
    // SAFETY: every pair of numbers is valid, and the owner's guard is out of reach.
    unsafe { LOCK.clear_poison() }?;
    holds!(*LOCK.lock(NONE)? == (1, 0));
    LOCK.delete()?;
    // One whose closure has returned is as good as joined.
    let over = GONE.spawn(10, || 5)?;
    holds!(over.terminate()? == Some(5));
    holds!(GONE.is_free()?);
    Ok(())
}

/// The object does not exist, and its methods say so: a mutex's lock and a byte pool's allocation perhaps only that
/// they are not for this context.
fn is_missing(object: &Object, in_a_thread: bool) -> Outcome {
    for call in object.others.iter().chain([&object.delete]) {
        let seen = call();
        holds!(seen == Err(object.missing) || !in_a_thread && seen == Err(Error::Caller));
    }
    Ok(())
}

/// What a context without a thread may not do, with and without the objects.
fn without_a_thread(exist: bool) -> Outcome {
    static EXECUTOR: Executor = Executor::new();
    for object in &OBJECTS {
        if exist {
            holds!((object.create)() == Err(Error::InUse));
            holds!((object.delete)() == Err(Error::Caller));
            for timeout in [Timeout::Ticks(Ticks::new(1)), FOREVER] {
                let seen = object.wait.map(|wait| wait(timeout));
                holds!(seen.is_none_or(|seen| [Err(Error::Wait), Err(Error::Caller)].contains(&seen)));
            }
            // Nothing has happened to it.
            holds!(object.others.last().is_some_and(|call| call().is_ok()));
        } else {
            is_missing(object, false)?;
        }
    }
    holds!(thread::sleep(Ticks::new(1)) == Err(Error::Caller));
    holds!(thread::sleep(Ticks::ZERO) == Err(Error::Caller));
    holds!(threadx::scope(|_| ()) == Err(Error::Caller));
    holds!(EXECUTOR.block_on(async {}) == Err(Error::Caller));
    thread::relinquish();
    Ok(())
}

/// [`without_a_thread`] where creation is refused as well.
fn without_creation(exist: bool) -> Outcome {
    places! { NEW }
    holds!(NEW.spawn(10, || ()).err() == Some(Error::Caller));
    if !exist {
        for object in &OBJECTS {
            holds!((object.create)() == Err(Error::Caller));
        }
    }
    without_a_thread(exist)
}

/// The line of the failure, or nothing; and that this was run.
fn keep(outcome: Outcome) {
    set_number(0, outcome.err().map_or(0, |failure| failure.line));
    add_to_number(1, 1);
}

static IN_INITIALIZATION: AtomicU32 = AtomicU32::new(u32::MAX);

/// Called in initialization; [`b12_in_initialization`] judges it.
pub(crate) fn initialization() {
    let outcome = (|| {
        without_a_thread(false)?;
        for object in &OBJECTS {
            (object.create)()?;
        }
        without_a_thread(true)?;
        // There is nobody who could own it.
        holds!(M.lock(NONE).err() == Some(Error::Caller));
        holds!(thread::current().is_none());
        Ok(())
    })();
    IN_INITIALIZATION.store(outcome.err().map_or(0, |failure| failure.line), Relaxed);
}

/// The objects of initialization are gone by now.
pub(crate) fn b12_in_initialization() -> Outcome {
    is!(IN_INITIALIZATION.load(Relaxed), 0u32);
    Ok(())
}

pub(crate) fn b12_in_a_thread() -> Outcome {
    const TIMED_OUT: [Error; 5] =
        [Error::NoInstance, Error::NotAvailable, Error::NoEvents, Error::QueueEmpty, Error::NoMemory];
    places! { WAITER }
    for object in &OBJECTS {
        is_missing(object, true)?;
        // Twice, so that a second life is tried as well.
        for _ in 0..2 {
            (object.create)()?;
            holds!((object.create)() == Err(Error::InUse));
            if let Some(wait) = object.wait {
                // Who waits for a mutex needs an owner.
                let _owned = M.lock(NONE);
                let waiter = WAITER.spawn(5, move || (wait(Ticks::new(1).into()), wait(FOREVER)))?;
                thread::sleep(Ticks::new(2))?;
                holds!(!waiter.is_finished());
                (object.delete)()?;
                let (in_time, for_ever) = waiter.join()?;
                holds!(TIMED_OUT.map(Err).contains(&in_time) && for_ever == Err(Error::Deleted));
            } else {
                (object.delete)()?;
            }
            is_missing(object, true)?;
        }
    }
    Ok(())
}

fn in_a_callback(callback: fn()) -> Outcome {
    static OTHER: Timer = Timer::new();
    OTHER.create("other", Schedule::once(Ticks::new(1)), callback)?;
    OTHER.activate()?;
    thread::sleep(Ticks::new(2))?;
    OTHER.delete()?;
    Ok(())
}

pub(crate) fn b12_in_interrupts_and_callbacks() -> Outcome {
    interrupt(|| keep(without_creation(false)));
    is!(number(0), 0u32);
    in_a_callback(|| keep(without_creation(false)))?;
    is!(number(0), 0u32);
    for object in &OBJECTS {
        (object.create)()?;
    }
    interrupt(|| {
        keep(without_creation(true));
        // Not even without a wait.
        set_number(2, u32::from(M.lock(NONE).err() == Some(Error::Caller)));
        let refused = thread::current().is_some_and(|interrupted| {
            interrupted.set_priority(Priority::of::<3>()) == Err(Error::Caller)
                && interrupted.set_preemption_threshold(PreemptionThreshold::NO_PREEMPTION) == Err(Error::Caller)
                && interrupted.set_time_slice(TimeSlice::ticks(1)) == Err(Error::Caller)
        });
        set_number(3, u32::from(refused));
    });
    is!(number(0), 0u32);
    in_a_callback(|| {
        keep(without_creation(true));
        set_number(4, u32::from(M.lock(NONE).is_ok() && thread::current().is_none()));
    })?;
    is!(number(0), 0u32);
    is!(number(1), 4u32);
    is!(number(2) + number(3) + number(4), 3u32);
    Ok(())
}

/// Waiting for a thread, and ending it, are for threads; what was refused has lost its handle.
pub(crate) fn b12_handles_outside_threads() -> Outcome {
    static HANDLES: Queue<JoinHandle<()>, 3> = Queue::new();
    places! { ONE TWO THREE }
    HANDLES.create("handles")?;
    let mut threads = [None; 3];
    for (place, thread) in [&ONE, &TWO, &THREE].into_iter().zip(&mut threads) {
        let handle = place.spawn(10, || ignore(thread::sleep(Ticks::MAX)))?;
        *thread = Some(handle.thread());
        HANDLES.try_send(handle)?;
    }
    interrupt(|| {
        let joined = HANDLES.try_receive().map(JoinHandle::join);
        let terminated = HANDLES.try_receive().map(JoinHandle::terminate);
        let refused = joined == Ok(Err(JoinError::Failed(Error::Caller))) && terminated == Ok(Err(Error::Caller));
        set_number(0, u32::from(refused));
    });
    is!(number(0), 1u32);
    in_a_callback(|| {
        let joined = HANDLES.try_receive().map(JoinHandle::join);
        set_number(1, u32::from(joined == Ok(Err(JoinError::Failed(Error::Caller)))));
    })?;
    is!(number(1), 1u32);
    // Nothing has happened to the threads.
    for thread in threads.into_iter().flatten() {
        holds!(thread.info()?.state == State::Sleeping);
        thread.wait_abort()?;
        holds!(thread.info()?.state == State::Completed);
    }
    HANDLES.delete()?;
    Ok(())
}

// ---- time --------------------------------------------------------------------------------------

pub(crate) fn b13_durations_to_ticks() -> Outcome {
    for rate in [100, 1000, 3000] {
        let at = |duration| Ticks::from_duration_at(duration, rate).get();
        let tick = Duration::from_nanos(1_000_000_000u64.div_ceil(rate.into()));
        is!(at(Duration::ZERO), 0u32);
        is!(at(Duration::from_nanos(1)), 1u32);
        is!(at(tick - Duration::from_nanos(1)), 1u32);
        // A third of a millisecond is no whole number of nanoseconds.
        is!(at(tick), if rate == 3000 { 2u32 } else { 1 });
        is!(at(Duration::from_secs(1)), rate);
        is!(at(Duration::from_secs(1) + Duration::from_nanos(1)), rate + 1);
        // The largest that fits, and what does not: never the number that means "for ever".
        let seconds = |ticks: u32| Duration::from_secs(u64::from(ticks) / u64::from(rate));
        is!(at(seconds(u32::MAX)), u32::MAX / rate * rate);
        is!(at(seconds(u32::MAX) + Duration::from_secs(1)), u32::MAX - 1);
        is!(at(Duration::from_secs(u64::MAX)), u32::MAX - 1);
        is!(at(Duration::MAX), u32::MAX - 1);
    }
    is!(Ticks::from_duration_at(Duration::from_micros(10_100), 100).get(), 2u32);
    is!(Ticks::from(Duration::from_micros(10_100)).get(), 2u32);
    is!(Ticks::at_least(Duration::from_micros(10_100)).get(), 3u32);
    is!(Ticks::new(u32::MAX).get(), u32::MAX - 1);
    Ok(())
}

pub(crate) fn b13_durations_of_waits() -> Outcome {
    places! { WAITER }
    S.create("s", 0)?;
    ticks(1);
    let before = time::now();
    // No time is none, and any time is a tick at least.
    thread::sleep(Duration::ZERO.into())?;
    holds!(S.get(Duration::ZERO) == Err(Error::NoInstance));
    is!(time::now() - before, 0u32);
    thread::sleep(Duration::from_nanos(1).into())?;
    is!(time::now() - before, 1u32);
    holds!(S.get(Duration::from_micros(10_100)) == Err(Error::NoInstance));
    is!(time::now() - before, 3u32);
    // The longest is a wait as any other.
    let waiter = WAITER.spawn(10, || S.get(Duration::MAX))?;
    thread::sleep(Ticks::new(2))?;
    holds!(waiter.thread().info()?.state == State::Semaphore);
    S.put()?;
    waiter.join()??;
    // A timer needs a tick.
    holds!(T.create("t", Schedule::once(Duration::ZERO.into()), || ()) == Err(Error::Tick));
    T.create("t", Schedule::every(Duration::from_nanos(1).into()), || log(1))?;
    holds!(T.change(Schedule::once(Ticks::ZERO)) == Err(Error::Tick));
    ticks(1);
    T.activate()?;
    thread::sleep(Ticks::new(2))?;
    T.deactivate()?;
    log_is!(1, 1);
    T.change(Schedule::once(Duration::MAX.into()))?;
    T.activate()?;
    is!(T.info()?.remaining, u32::MAX - 1);
    Ok(())
}

// ---- futures -----------------------------------------------------------------------------------

pub(crate) fn b14_wakes_are_neither_lost_nor_crossed() -> Outcome {
    const ROUNDS: u32 = 10_000;
    static EXECUTORS: [Executor; 3] = [const { Executor::new() }; 3];
    static POSTS: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];
    static ANSWERS: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];
    static MAINS: Executor = Executor::new();
    places! { HIGH EQUAL LOW }
    fn post(n: usize, value: u32) {
        POSTS[n].store(value, Relaxed);
        EXECUTORS[n].waker().wake();
    }
    /// Echoes what is posted for thread `n`.
    fn echo(n: usize) -> Result<u32, Error> {
        EXECUTORS[n].block_on(async move {
            for round in 1..=ROUNDS {
                let take = |context: &mut Context<'_>| match POSTS[n].swap(0, Relaxed) {
                    0 => Poll::Pending,
                    value => Poll::Ready((value, context.waker().will_wake(&EXECUTORS[n].waker()))),
                };
                if poll_fn(take).await != (round, true) {
                    return round;
                }
                ANSWERS[n].store(round, Relaxed);
                MAINS.waker().wake();
            }
            0
        })
    }
    let threads = [HIGH.spawn(10, || echo(0))?, EQUAL.spawn(16, || echo(1))?, LOW.spawn(20, || echo(2))?];
    let mut seed = 7;
    MAINS.block_on(async {
        for round in 1..=ROUNDS {
            let first = random(&mut seed, 3) as usize;
            set_number(0, round);
            for n in (first..first + 3).map(|n| n % 3) {
                match (random(&mut seed, 3), n) {
                    (0, _) => post(n, round),
                    (1, 0) => interrupt(|| post(0, number(0))),
                    (1, 1) => interrupt(|| post(1, number(0))),
                    (1, _) => interrupt(|| post(2, number(0))),
                    // A needless one first.
                    _ => {
                        EXECUTORS[n].waker().wake_by_ref();
                        post(n, round);
                    }
                }
            }
            let answered = |_: &mut Context<'_>| match ANSWERS.iter().all(|answer| answer.load(Relaxed) == round) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            };
            poll_fn(answered).await;
        }
    })?;
    for thread in threads {
        is!(thread.join()??, 0u32);
    }
    // A wake before the wait, and a second future in the same executor.
    EXECUTORS[0].waker().wake();
    let mut polls = 0;
    EXECUTORS[0].block_on(poll_fn(|_| {
        polls += 1;
        if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
    }))?;
    Ok(())
}
