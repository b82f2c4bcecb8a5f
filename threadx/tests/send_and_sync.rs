//! Which handles and guards may go to another thread, and which may be shared. What it says about types holds when
//! the file compiles; what the compiler answers where they must not is in `ui/`.
//!
//! Field report: B04.

use std::cell::Cell;
use std::rc::Rc;

use threadx::semaphore::SemaphoreInfo;
use threadx::thread::{Info, Resumed, StackUsage, State};
use threadx::timer::TimerInfo;
use threadx::{
    Block, BlockPool, Builder, BytePool, Error, EventFlags, Executor, Init, JoinError, JoinHandle, Mutex, MutexGuard,
    PoolBox, PreemptionThreshold, Priority, Queue, Receiver, Region, Schedule, Scope, ScopedJoinHandle, Semaphore,
    Sender, Stack, StackToken, ThreadCell, ThreadRef, Ticks, TimeSlice, Timeout, Timer,
};

/// A region type that is itself neither `Send` nor `Sync`: it only names a memory.
struct Named(#[allow(dead_code)] *mut ());

impl Region for Named {
    const NAME: &'static str = "NAMED";
    fn range() -> core::ops::Range<usize> {
        0..usize::MAX
    }
}

const fn assert_send<T: Send>() {}
const fn assert_sync<T: Sync>() {}

macro_rules! send_and_sync {
    ($($type:ty),+ $(,)?) => { $( assert_send::<$type>(); assert_sync::<$type>(); )+ };
}

/// Compiles only while `T` is not `Send`: otherwise both implementations apply and `A` is ambiguous.
trait NotSend<A> {
    const HOLDS: () = ();
}
/// The same for `Sync`.
trait NotSync<A> {
    const HOLDS: () = ();
}
struct Is;
impl<T: ?Sized> NotSend<()> for T {}
impl<T: ?Sized + Send> NotSend<Is> for T {}
impl<T: ?Sized> NotSync<()> for T {}
impl<T: ?Sized + Sync> NotSync<Is> for T {}

macro_rules! not_send {
    ($($type:ty),+ $(,)?) => { $( let () = <$type as NotSend<_>>::HOLDS; )+ };
}
macro_rules! not_sync {
    ($($type:ty),+ $(,)?) => { $( let () = <$type as NotSync<_>>::HOLDS; )+ };
}

/// For every lifetime, borrowed results included.
const fn scoped<'scope, 'env: 'scope>() {
    // Threads of a scope spawn others in it.
    assert_sync::<Scope<'scope, 'env>>();
    send_and_sync!(&'scope Scope<'scope, 'env>, ScopedJoinHandle<'scope, ()>, ScopedJoinHandle<'scope, &'env u32>);
    // A shared handle gives no access to the result: `Send` is enough.
    send_and_sync!(ScopedJoinHandle<'scope, Cell<u32>>);
}

const _: () = {
    // Objects in statics and what stands for them.
    send_and_sync!(ThreadCell, ThreadRef, Semaphore, Timer, Stack<Named, 2048>, StackToken<Named>);
    send_and_sync!(&'static ThreadCell, &'static Semaphore, &'static Timer, &'static Stack<Named, 2048>);
    send_and_sync!(JoinHandle<()>, JoinHandle<String>, JoinHandle<Cell<u32>>);
    scoped();
    // Values.
    send_and_sync!(Builder, Priority, PreemptionThreshold, TimeSlice, Schedule, Ticks, Timeout);
    send_and_sync!(Error, JoinError, Info, Resumed, StackUsage, State, SemaphoreInfo, TimerInfo);
    // Objects whose content may go to another thread, though not be shared.
    send_and_sync!(EventFlags, Mutex<Cell<u32>>, Queue<Cell<u32>, 2>, Sender<Cell<u32>>, Receiver<Cell<u32>>);
    send_and_sync!(BytePool<100>, Executor);
    // Its blocks hold nothing before somebody allocates one.
    assert_sync::<BlockPool<*mut u8, 2>>();
    // What gives access to a value.
    assert_sync::<MutexGuard<u32>>();
    assert_send::<Block<Cell<u32>>>();
    assert_sync::<Block<u32>>();
    assert_send::<PoolBox<Cell<u32>>>();
    assert_sync::<PoolBox<[u32]>>();
};

const _: () = {
    // A guard that is dropped in another thread would unlock a mutex that thread does not own.
    not_send!(MutexGuard<u32>);
    not_sync!(MutexGuard<Cell<u32>>, Block<Cell<u32>>, PoolBox<Cell<u32>>);
    // What must stay in its thread does not go through an object.
    not_send!(Block<Rc<u32>>, PoolBox<Rc<u32>>, JoinHandle<Rc<u32>>, Sender<Rc<u32>>, Receiver<Rc<u32>>);
    not_sync!(Mutex<Rc<u32>>, Queue<Rc<u32>, 2>);
    // Initialization is where it is.
    not_send!(Init);
    not_sync!(Init);
};

#[test]
fn handles_are_small_and_optional_for_free() {
    assert_eq!(size_of::<Option<MutexGuard<u64>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Sender<u64>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Block<u64>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<PoolBox<u64>>>(), 2 * size_of::<usize>());
}
