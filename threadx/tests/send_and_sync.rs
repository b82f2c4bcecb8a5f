//! Which handles and guards may go to other threads. What may not is in `ui/`.

use std::cell::Cell;

use threadx::{
    Block, BlockPool, BytePool, EventFlags, Executor, Mutex, MutexGuard, PoolBox, Queue, Receiver, Semaphore, Sender,
    ThreadCell, ThreadRef, Timer,
};

const fn send<T: Send>() {}
const fn sync<T: Sync>() {}

const _: () = {
    send::<Mutex<Cell<u32>>>();
    sync::<Mutex<Cell<u32>>>();
    sync::<MutexGuard<u32>>();
    send::<EventFlags>();
    sync::<EventFlags>();
    send::<Queue<Cell<u32>, 2>>();
    sync::<Queue<Cell<u32>, 2>>();
    send::<Sender<Cell<u32>>>();
    sync::<Sender<Cell<u32>>>();
    send::<Receiver<Cell<u32>>>();
    sync::<Receiver<Cell<u32>>>();
    sync::<BlockPool<*mut u8, 2>>();
    send::<Block<Cell<u32>>>();
    sync::<Block<u32>>();
    sync::<BytePool<100>>();
    send::<PoolBox<Cell<u32>>>();
    sync::<PoolBox<[u32]>>();
    send::<Executor>();
    sync::<Executor>();
    send::<Semaphore>();
    sync::<Semaphore>();
    send::<Timer>();
    sync::<Timer>();
    send::<ThreadCell>();
    sync::<ThreadRef>();
};

/// Compiles only while `T` is not `Send`: otherwise both implementations apply and `A` is ambiguous.
trait NotSend<A> {
    const HOLDS: () = ();
}
struct IsSend;
impl<T: ?Sized> NotSend<()> for T {}
impl<T: ?Sized + Send> NotSend<IsSend> for T {}

/// A guard that is dropped in another thread would unlock a mutex that thread does not own.
const _: () = <MutexGuard<u32> as NotSend<_>>::HOLDS;

#[test]
fn handles_are_small_and_optional_for_free() {
    assert_eq!(size_of::<Option<MutexGuard<u64>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Sender<u64>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Block<u64>>>(), 2 * size_of::<usize>());
    assert_eq!(size_of::<Option<PoolBox<u64>>>(), 2 * size_of::<usize>());
}
