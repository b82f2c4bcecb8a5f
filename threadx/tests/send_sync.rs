//! Which handles may go to another thread, and which may be shared. The file passes when it compiles
//! and has nothing to run; what must not be `Send` or `Sync` is in `ui/handles_not_send.rs` and `ui/init_not_send.rs`.

use core::cell::Cell;

use threadx::semaphore::SemaphoreInfo;
use threadx::thread::{Info, Resumed, StackUsage, State};
use threadx::timer::TimerInfo;
use threadx::{
    Builder, Error, JoinError, JoinHandle, PreemptionThreshold, Priority, Region, Schedule, Scope, ScopedJoinHandle,
    Semaphore, Stack, StackToken, ThreadCell, ThreadRef, Ticks, TimeSlice, Timeout, Timer,
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
};
