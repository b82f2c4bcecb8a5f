//! What each service costs in instructions: through the unchecked and the checked C entry points of the
//! kernel and through safe Rust.
//!
//! * Service rows: from the call instruction to its return, argument set-up excluded; an empty function
//!   counts 2. In safe Rust there is no call instruction to start from: what the compiler leaves between
//!   two reads of the counter, inlined or not, turning the status into a `Result` included.
//! * `a -> b` rows: from A's call to the first instruction after B's own call has returned. A has
//!   priority 16, B 10.
//! * Ping-pong rows: a round trip of two threads of priority 16 in a plain loop, everything included.
//! * Interrupt rows start at the IRQ vector; the board's dispatcher (`bsp`) is part of them.
//! * The tick is off but where a row is about it.
//!
//! Each figure is that of [`SAMPLES`] samples that must all be equal, or the image fails; of the rows of
//! ticks it is the largest. The lines that
//! `scripts/costs.sh` reads are `COST NAME UNCHECKED CHECKED RUST`, and those of the banner.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptId};
use bsp::memory::Dram0;
use costs::{Turns, Worker, call, call_5, end, since_call, start, timed, timed_long, vector};
use threadx::{
    BlockPool, BytePool, Error, EventFlags, Inheritance, Match, Mutex, MutexGuard, Priority, Queue, Schedule,
    Semaphore, ThreadRef, Ticks, Timeout, Timer, thread,
};
use threadx_sys::{
    TX_BLOCK_POOL, TX_BYTE_POOL, TX_DONT_START, TX_EVENT_FLAGS_GROUP, TX_INHERIT, TX_INT_DISABLE, TX_INT_ENABLE,
    TX_MUTEX, TX_NO_INHERIT, TX_NO_WAIT, TX_OR, TX_OR_CLEAR, TX_QUEUE, TX_SEMAPHORE, TX_THREAD, TX_TIMER, UINT, ULONG,
};

#[bsp::entry]
fn main() -> ! {
    costs::run(measure)
}

/// Samples of each row; the interrupt rows, of which each takes a tick, have [`TICKS`].
const SAMPLES: u32 = 16;
const TICKS: u32 = 4;
/// Round trips of a ping-pong.
const ROUNDS: u32 = 256;

/// Calls that did not return what they should, and samples that differ.
static WRONG: AtomicU32 = AtomicU32::new(0);

#[inline(always)]
fn expect(right: bool) {
    if !right {
        WRONG.store(WRONG.load(Relaxed) + 1, Relaxed);
    }
}

// ---- the objects ----------------------------------------------------------------------------------

static RAW_S: [Turns<TX_SEMAPHORE>; 2] = [const { Turns::new(TX_SEMAPHORE::new()) }; 2];
/// Without and with inheritance.
static RAW_M: [Turns<TX_MUTEX>; 2] = [const { Turns::new(TX_MUTEX::new()) }; 2];
/// Two of one word, two of sixteen.
static RAW_Q: [Turns<TX_QUEUE>; 4] = [const { Turns::new(TX_QUEUE::new()) }; 4];
static RAW_E: [Turns<TX_EVENT_FLAGS_GROUP>; 2] = [const { Turns::new(TX_EVENT_FLAGS_GROUP::new()) }; 2];
static RAW_BLOCKS: Turns<TX_BLOCK_POOL> = Turns::new(TX_BLOCK_POOL::new());
static RAW_BYTES: Turns<TX_BYTE_POOL> = Turns::new(TX_BYTE_POOL::new());
static RAW_T: Turns<TX_THREAD> = Turns::new(TX_THREAD::new());
static QUEUE_MEMORY: [Turns<[ULONG; 64]>; 4] = [const { Turns::new([0; 64]) }; 4];
static BLOCK_MEMORY: Turns<[ULONG; 64]> = Turns::new([0; 64]);
static BYTE_MEMORY: Turns<[ULONG; 256]> = Turns::new([0; 256]);
static STACK_MEMORY: Turns<[u64; 64]> = Turns::new([0; 64]);
static MESSAGE: Turns<[ULONG; 16]> = Turns::new([7; 16]);
static ANSWER: [Turns<[ULONG; 16]>; 2] = [const { Turns::new([0; 16]) }; 2];
static PIECE: Turns<usize> = Turns::new(0);
/// The control block of worker B.
static RAW_B: AtomicUsize = AtomicUsize::new(0);
static NAME: &core::ffi::CStr = c"row";

static S: [Semaphore; 2] = [const { Semaphore::new() }; 2];
static M: [Mutex<u32>; 2] = [const { Mutex::new(0) }; 2];
static Q1: [Queue<u32, 4>; 2] = [const { Queue::new() }; 2];
static Q16: [Queue<[u32; 16], 4>; 2] = [const { Queue::new() }; 2];
static E: [EventFlags; 2] = [const { EventFlags::new() }; 2];
static BLOCKS: BlockPool<[u32; 4], 4> = BlockPool::new();
static BYTES: BytePool<1024> = BytePool::new();
static T: Timer = Timer::new();
/// Guards of A and of B.
static GUARDS: [Turns<Option<MutexGuard<u32>>>; 2] = [const { Turns::new(None) }; 2];
static B: Turns<Option<ThreadRef>> = Turns::new(None);

const FOREVER: usize = u32::MAX as usize;

fn create() -> Result<(), Error> {
    use threadx_sys as sys;
    let name = NAME.as_ptr().cast_mut().cast();
    let mut status: UINT = 0;
    // SAFETY: objects and memory are statics of this image, each for one object.
    unsafe {
        for n in 0..2 {
            status |= sys::tx_semaphore_create(RAW_S[n].get(), name, 0);
            status |= sys::tx_mutex_create(RAW_M[n].get(), name, [TX_NO_INHERIT, TX_INHERIT][n]);
            status |= sys::tx_event_flags_create(RAW_E[n].get(), name);
        }
        for (n, queue) in RAW_Q.iter().enumerate() {
            let words = [1, 1, 16, 16][n];
            status |= sys::tx_queue_create(queue.get(), name, words, QUEUE_MEMORY[n].get().cast(), 4 * words * 4);
        }
        status |= sys::tx_block_pool_create(RAW_BLOCKS.get(), name, 16, BLOCK_MEMORY.get().cast(), 256);
        status |= sys::tx_byte_pool_create(RAW_BYTES.get(), name, BYTE_MEMORY.get().cast(), 1024);
    }
    expect(status == 0);
    for n in 0..2 {
        S[n].create("row", 0)?;
        M[n].create("row", [Inheritance::Off, Inheritance::On][n])?;
        E[n].create("row")?;
        Q1[n].create("row")?;
        Q16[n].create("row")?;
    }
    BLOCKS.create("row")?;
    BYTES.create("row")
}

// ---- the three ways to call a service -------------------------------------------------------------

/// What a service that can wait is asked.
#[derive(Clone, Copy)]
enum Wait {
    No = TX_NO_WAIT as isize,
    Forever = FOREVER as isize,
}

/// The measured services. `..._timed` sets `costs::START` directly before the call and returns the
/// counter directly after it.
trait Api {
    fn sem_get(n: usize);
    fn sem_put(n: usize);
    fn send1(n: usize);
    fn receive1(n: usize);
    fn send16(n: usize);
    fn receive16(n: usize);
    fn set(n: usize);
    fn flags(n: usize);

    fn relinquish_timed() -> u32;
    fn sem_get_timed(n: usize, wait: Wait) -> u32;
    fn sem_put_timed(n: usize) -> u32;
    /// Keeps the guard for `who`, A or B.
    fn lock_timed(n: usize, who: usize, wait: Wait) -> u32;
    fn unlock_timed(n: usize, who: usize) -> u32;
    fn send1_timed(n: usize, wait: Wait) -> u32;
    fn receive1_timed(n: usize, wait: Wait) -> u32;
    fn send16_timed(n: usize, wait: Wait) -> u32;
    fn receive16_timed(n: usize, wait: Wait) -> u32;
    fn set_timed(n: usize) -> u32;
    fn flags_timed(n: usize, wait: Wait) -> u32;
    /// Both, one after the other.
    fn block_timed() -> [u32; 2];
    fn byte_timed() -> [u32; 2];
    fn resume_b_timed() -> u32;
    fn suspend_b_timed() -> u32;
    /// Sum of creation, termination and deletion.
    fn thread_life() -> u32;
    fn sleep_timed() -> u32;
    fn priority_timed(priority: u32) -> u32;
    fn identify_timed() -> u32;
    fn interrupt_control_timed() -> [u32; 2];
    /// Enter and leave, where there are such services.
    fn critical_section_timed() -> Option<[u32; 2]> {
        None
    }
    fn info_timed() -> u32;
}

unsafe extern "C" {
    // `threadx-sys` has this name as a Rust function that appends the block's size, as C's macro does.
    fn _txe_thread_create();
}

macro_rules! c_api {
    ($Name:ident: $relinquish:path, $sem_get:path, $sem_put:path, $lock:path, $unlock:path, $send:path,
        $receive:path, $set:path, $flags:path, $block:path, $unblock:path, $byte:path, $unbyte:path, $resume:path,
        $suspend:path, $create:path, $terminate:path, $delete:path, $priority:path, $info:path $(,)?) => {
        struct $Name;

        impl Api for $Name {
            #[inline(always)]
            fn sem_get(n: usize) {
                call!($sem_get, RAW_S[n].address(), FOREVER);
            }
            #[inline(always)]
            fn sem_put(n: usize) {
                call!($sem_put, RAW_S[n].address());
            }
            #[inline(always)]
            fn send1(n: usize) {
                call!($send, RAW_Q[n].address(), MESSAGE.address(), FOREVER);
            }
            #[inline(always)]
            fn receive1(n: usize) {
                call!($receive, RAW_Q[n].address(), ANSWER[n].address(), FOREVER);
            }
            #[inline(always)]
            fn send16(n: usize) {
                call!($send, RAW_Q[2 + n].address(), MESSAGE.address(), FOREVER);
            }
            #[inline(always)]
            fn receive16(n: usize) {
                call!($receive, RAW_Q[2 + n].address(), ANSWER[n].address(), FOREVER);
            }
            #[inline(always)]
            fn set(n: usize) {
                call!($set, RAW_E[n].address(), 1, TX_OR as usize);
            }
            #[inline(always)]
            fn flags(n: usize) {
                let seen = ANSWER[n].address();
                let group = RAW_E[n].address();
                // The fifth argument is on the stack.
                call_5!($flags, group, 1, TX_OR_CLEAR as usize, seen, FOREVER);
            }

            fn relinquish_timed() -> u32 {
                timed!($relinquish).1
            }
            fn sem_get_timed(n: usize, wait: Wait) -> u32 {
                let (status, end) = timed!($sem_get, RAW_S[n].address(), wait as usize);
                expect(status == 0);
                end
            }
            fn sem_put_timed(n: usize) -> u32 {
                let (status, end) = timed!($sem_put, RAW_S[n].address());
                expect(status == 0);
                end
            }
            fn lock_timed(n: usize, _who: usize, wait: Wait) -> u32 {
                let (status, end) = timed!($lock, RAW_M[n].address(), wait as usize);
                expect(status == 0);
                end
            }
            fn unlock_timed(n: usize, _who: usize) -> u32 {
                let (status, end) = timed!($unlock, RAW_M[n].address());
                expect(status == 0);
                end
            }
            fn send1_timed(n: usize, wait: Wait) -> u32 {
                let (status, end) = timed!($send, RAW_Q[n].address(), MESSAGE.address(), wait as usize);
                expect(status == 0);
                end
            }
            fn receive1_timed(n: usize, wait: Wait) -> u32 {
                let (status, end) = timed!($receive, RAW_Q[n].address(), ANSWER[0].address(), wait as usize);
                expect(status == 0);
                end
            }
            fn send16_timed(n: usize, wait: Wait) -> u32 {
                let (status, end) = timed!($send, RAW_Q[2 + n].address(), MESSAGE.address(), wait as usize);
                expect(status == 0);
                end
            }
            fn receive16_timed(n: usize, wait: Wait) -> u32 {
                let (status, end) = timed!($receive, RAW_Q[2 + n].address(), ANSWER[0].address(), wait as usize);
                expect(status == 0);
                end
            }
            fn set_timed(n: usize) -> u32 {
                let (status, end) = timed!($set, RAW_E[n].address(), 1, TX_OR as usize);
                expect(status == 0);
                end
            }
            fn flags_timed(n: usize, wait: Wait) -> u32 {
                let (group, seen) = (RAW_E[n].address(), ANSWER[0].address());
                let words = [wait as usize, 0, 0, 0, 0, 0, 0, 0, group, 1, TX_OR_CLEAR as usize, seen];
                let (status, end) = timed_long!($flags, &words);
                expect(status == 0);
                end
            }
            fn block_timed() -> [u32; 2] {
                let (status, end) = timed!($block, RAW_BLOCKS.address(), PIECE.address(), 0);
                let allocated = since_call(end);
                // SAFETY: nobody else uses it.
                let piece = unsafe { *PIECE.get() };
                let (released, end) = timed!($unblock, piece);
                expect(status == 0 && released == 0);
                [allocated, since_call(end)]
            }
            fn byte_timed() -> [u32; 2] {
                let (status, end) = timed!($byte, RAW_BYTES.address(), PIECE.address(), 64, 0);
                let allocated = since_call(end);
                // SAFETY: nobody else uses it.
                let piece = unsafe { *PIECE.get() };
                let (released, end) = timed!($unbyte, piece);
                expect(status == 0 && released == 0);
                [allocated, since_call(end)]
            }
            fn resume_b_timed() -> u32 {
                let (status, end) = timed!($resume, RAW_B.load(Relaxed));
                expect(status == 0);
                end
            }
            fn suspend_b_timed() -> u32 {
                let (status, end) = timed!($suspend, RAW_B.load(Relaxed));
                expect(status == 0);
                end
            }
            fn thread_life() -> u32 {
                extern "C-unwind" fn entry(_: ULONG) {}
                let (name, entry) = (NAME.as_ptr() as usize, entry as *const () as usize);
                let (stack, size) = (STACK_MEMORY.address(), size_of::<TX_THREAD>());
                let words = [stack, 512, 20, 20, 0, TX_DONT_START as usize, size, 0, RAW_T.address(), name, entry, 0];
                let (created, end) = timed_long!($create, &words);
                let mut sum = since_call(end);
                let (terminated, end) = timed!($terminate, RAW_T.address());
                sum += since_call(end);
                let (deleted, end) = timed!($delete, RAW_T.address());
                sum += since_call(end);
                expect(created == 0 && terminated == 0 && deleted == 0);
                sum
            }
            fn sleep_timed() -> u32 {
                let (status, end) = timed!(threadx_sys::tx_thread_sleep, 1);
                expect(status == 0);
                end
            }
            fn priority_timed(priority: u32) -> u32 {
                let me = call!(threadx_sys::tx_thread_identify);
                let (status, end) = timed!($priority, me, priority as usize, ANSWER[0].address());
                expect(status == 0);
                end
            }
            fn identify_timed() -> u32 {
                let (me, end) = timed!(threadx_sys::tx_thread_identify);
                expect(me != 0);
                end
            }
            fn interrupt_control_timed() -> [u32; 2] {
                use threadx_sys::_tx_thread_interrupt_control as control;
                let (_, end) = timed!(control, TX_INT_DISABLE as usize);
                let off = since_call(end);
                let (_, end) = timed!(control, TX_INT_ENABLE as usize);
                [off, since_call(end)]
            }
            fn info_timed() -> u32 {
                let (out, me) = (ANSWER[0].address(), call!(threadx_sys::tx_thread_identify));
                let words = [out + 12, out + 16, out + 20, out + 24, out + 28, 0, 0, 0, me, out, out + 4, out + 8];
                let (status, end) = timed_long!($info, &words);
                expect(status == 0);
                end
            }
        }
    };
}

c_api!(Unchecked: threadx_sys::_tx_thread_relinquish, threadx_sys::_tx_semaphore_get, threadx_sys::_tx_semaphore_put,
    threadx_sys::_tx_mutex_get, threadx_sys::_tx_mutex_put, threadx_sys::_tx_queue_send,
    threadx_sys::_tx_queue_receive, threadx_sys::_tx_event_flags_set, threadx_sys::_tx_event_flags_get,
    threadx_sys::_tx_block_allocate, threadx_sys::_tx_block_release, threadx_sys::_tx_byte_allocate,
    threadx_sys::_tx_byte_release, threadx_sys::_tx_thread_resume, threadx_sys::_tx_thread_suspend,
    threadx_sys::_tx_thread_create, threadx_sys::_tx_thread_terminate, threadx_sys::_tx_thread_delete,
    threadx_sys::_tx_thread_priority_change, threadx_sys::_tx_thread_info_get);

c_api!(Checked: threadx_sys::tx_thread_relinquish, threadx_sys::tx_semaphore_get, threadx_sys::tx_semaphore_put,
    threadx_sys::tx_mutex_get, threadx_sys::tx_mutex_put, threadx_sys::tx_queue_send,
    threadx_sys::tx_queue_receive, threadx_sys::tx_event_flags_set, threadx_sys::tx_event_flags_get,
    threadx_sys::tx_block_allocate, threadx_sys::tx_block_release, threadx_sys::tx_byte_allocate,
    threadx_sys::tx_byte_release, threadx_sys::tx_thread_resume, threadx_sys::tx_thread_suspend,
    _txe_thread_create, threadx_sys::tx_thread_terminate, threadx_sys::tx_thread_delete,
    threadx_sys::tx_thread_priority_change, threadx_sys::tx_thread_info_get);

struct Safe;

/// The counter after `call` of `argument`, which must succeed: the answer is tested, as a caller would. A
/// function of its own, so that the argument is set up and nothing of the rows around gets in between.
#[inline(never)]
fn apart<A, T, E>(argument: A, call: impl FnOnce(A) -> Result<T, E>) -> (u32, Option<T>) {
    // With something in memory, so that the frame is made before.
    let (argument, _) = black_box((argument, 0u32));
    start();
    match call(argument) {
        Ok(answer) => {
            let end = end();
            (end, Some(black_box(answer)))
        }
        Err(error) => (refused(error), None),
    }
}

/// [`apart`] for dropping what a call before has given.
fn released<T>(given: Option<T>) -> u32 {
    match given {
        Some(given) => {
            apart(given, |given| {
                drop(given);
                Ok::<_, ()>(())
            })
            .0
        }
        None => refused(()),
    }
}

/// A call that should have succeeded.
#[cold]
#[inline(never)]
fn refused<E>(error: E) -> u32 {
    black_box(&error);
    expect(false);
    0
}

/// [`apart`] for a call that can wait: the compiler knows the timeout.
macro_rules! waiting {
    ($wait:expr, $argument:expr, |$a:pat_param, $timeout:ident| $call:expr) => {
        match $wait {
            Wait::No => apart($argument, |$a| {
                let $timeout = Timeout::NoWait;
                $call
            }),
            Wait::Forever => apart($argument, |$a| {
                let $timeout = Timeout::Forever;
                $call
            }),
        }
    };
}

/// This thread, where it is A.
fn a() -> ThreadRef {
    match thread::current() {
        Some(thread) => thread,
        None => unreachable!("a thread"),
    }
}

/// Worker B.
fn b() -> ThreadRef {
    // SAFETY: written once, before the first row.
    match unsafe { *B.get() } {
        Some(thread) => thread,
        None => unreachable!("B exists"),
    }
}

impl Api for Safe {
    #[inline(always)]
    fn sem_get(n: usize) {
        let _ = S[n].get(Timeout::Forever);
    }
    #[inline(always)]
    fn sem_put(n: usize) {
        let _ = S[n].put();
    }
    #[inline(always)]
    fn send1(n: usize) {
        let _ = Q1[n].send(7, Timeout::Forever);
    }
    #[inline(always)]
    fn receive1(n: usize) {
        let _ = Q1[n].receive(Timeout::Forever);
    }
    #[inline(always)]
    fn send16(n: usize) {
        let _ = Q16[n].send([7; 16], Timeout::Forever);
    }
    #[inline(always)]
    fn receive16(n: usize) {
        let _ = Q16[n].receive(Timeout::Forever);
    }
    #[inline(always)]
    fn set(n: usize) {
        let _ = E[n].set(1);
    }
    #[inline(always)]
    fn flags(n: usize) {
        let _ = E[n].get(1, Match::AnyClear, Timeout::Forever);
    }

    fn relinquish_timed() -> u32 {
        apart((), |()| {
            thread::relinquish();
            Ok::<_, ()>(())
        })
        .0
    }
    fn sem_get_timed(n: usize, wait: Wait) -> u32 {
        waiting!(wait, &S[n], |semaphore, timeout| semaphore.get(timeout)).0
    }
    fn sem_put_timed(n: usize) -> u32 {
        apart(&S[n], |semaphore| semaphore.put()).0
    }
    fn lock_timed(n: usize, who: usize, wait: Wait) -> u32 {
        let (end, guard) = waiting!(wait, &M[n], |mutex, timeout| mutex.lock(timeout));
        // SAFETY: A and B have one each.
        unsafe { *GUARDS[who].get() = guard };
        end
    }
    fn unlock_timed(_n: usize, who: usize) -> u32 {
        // SAFETY: A and B have one each.
        released(unsafe { (*GUARDS[who].get()).take() })
    }
    fn send1_timed(n: usize, wait: Wait) -> u32 {
        waiting!(wait, &Q1[n], |queue, timeout| queue.send(7, timeout)).0
    }
    fn receive1_timed(n: usize, wait: Wait) -> u32 {
        waiting!(wait, &Q1[n], |queue, timeout| queue.receive(timeout)).0
    }
    fn send16_timed(n: usize, wait: Wait) -> u32 {
        waiting!(wait, (&Q16[n], [7; 16]), |(queue, message), timeout| queue.send(message, timeout)).0
    }
    fn receive16_timed(n: usize, wait: Wait) -> u32 {
        waiting!(wait, &Q16[n], |queue, timeout| queue.receive(timeout)).0
    }
    fn set_timed(n: usize) -> u32 {
        apart(&E[n], |group| group.set(1)).0
    }
    fn flags_timed(n: usize, wait: Wait) -> u32 {
        waiting!(wait, &E[n], |group, timeout| group.get(1, Match::AnyClear, timeout)).0
    }
    fn block_timed() -> [u32; 2] {
        let (end, block) = apart(&BLOCKS, |pool| pool.allocate(Timeout::NoWait));
        let allocated = since_call(end);
        [allocated, since_call(released(block))]
    }
    fn byte_timed() -> [u32; 2] {
        let (end, piece) = apart(&BYTES, |pool| pool.allocate::<[u32; 16]>(Timeout::NoWait));
        let allocated = since_call(end);
        [allocated, since_call(released(piece))]
    }
    fn resume_b_timed() -> u32 {
        apart(b(), ThreadRef::resume).0
    }
    fn suspend_b_timed() -> u32 {
        apart(b(), ThreadRef::suspend).0
    }
    fn thread_life() -> u32 {
        threadx::stack! { static STACK: Stack<Dram0, 512>; }
        static CELL: threadx::ThreadCell = threadx::ThreadCell::new();
        let Ok(token) = STACK.take() else { return refused(()) };
        // The compiler knows the builder, as anywhere.
        let (end, handle) = apart(token, |token| {
            threadx::Builder::new("row").priority(Priority::of::<20>()).suspended().spawn(&CELL, token, || ())
        });
        let created = since_call(end);
        let Some(handle) = handle else { return refused(()) };
        // SAFETY: the thread never ran, so nothing is on its stack.
        created + since_call(apart(handle, |handle| unsafe { handle.terminate_and_reclaim() }).0)
    }
    fn sleep_timed() -> u32 {
        apart(Ticks::new(1), thread::sleep).0
    }
    fn priority_timed(priority: u32) -> u32 {
        let priority = Priority::new(priority).unwrap_or(Priority::of::<16>());
        apart((a(), priority), |(me, priority)| me.set_priority(priority)).0
    }
    fn identify_timed() -> u32 {
        apart((), |()| thread::current().ok_or(())).0
    }
    fn interrupt_control_timed() -> [u32; 2] {
        let (end, off) = apart((), |()| {
            Ok::<_, ()>(threadx::interrupt::masked(|| {
                let off = since_call(end());
                start();
                off
            }))
        });
        [off.unwrap_or_else(|| refused(())), since_call(end)]
    }
    fn critical_section_timed() -> Option<[u32; 2]> {
        // SAFETY: released below, in this thread.
        let (end, state) = apart((), |()| Ok::<_, ()>(unsafe { critical_section::acquire() }));
        let off = since_call(end);
        let state = state?;
        let (end, _) = apart(state, |state| {
            // SAFETY: acquired above.
            unsafe { critical_section::release(state) };
            Ok::<_, ()>(())
        });
        Some([off, since_call(end)])
    }
    fn info_timed() -> u32 {
        apart(a(), ThreadRef::info).0
    }
}

// ---- the rows -------------------------------------------------------------------------------------

/// The samples of a row for one way.
#[derive(Clone, Copy)]
struct Row {
    least: u32,
    most: u32,
}

impl Row {
    const NONE: Self = Self { least: u32::MAX, most: 0 };

    fn add(&mut self, sample: u32) {
        self.least = self.least.min(sample);
        self.most = self.most.max(sample);
    }

    fn is_empty(&self) -> bool {
        self.least > self.most
    }
}

/// The largest sample, or `-` without any.
impl bsp::ufmt::uDisplay for Row {
    fn fmt<W: bsp::ufmt::uWrite + ?Sized>(&self, f: &mut bsp::ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        if self.is_empty() { f.write_str("-") } else { self.most.fmt(f) }
    }
}

/// Names in the order of [`Table`].
const NAMES: [&str; ROWS] = [
    "relinquish_alone",
    "semaphore_get",
    "semaphore_put",
    "semaphore_put_to_waiter",
    "semaphore_ping_pong",
    "mutex_lock",
    "mutex_unlock",
    "mutex_lock_inherit",
    "mutex_unlock_inherit",
    "mutex_contended_unlock",
    "mutex_contended_unlock_inherit",
    "queue_send_1",
    "queue_receive_1",
    "queue_send_16",
    "queue_receive_16",
    "queue_ping_pong_1",
    "queue_ping_pong_16",
    "event_set",
    "event_get",
    "event_ping_pong",
    "block_allocate",
    "block_release",
    "byte_allocate_64",
    "byte_release",
    "resume_to_higher",
    "suspend_back",
    "thread_create_terminate_delete_512",
    "sleep_to_next_thread",
    "tick_to_woken_thread",
    "tick_idle",
    "tick_to_timer_callback",
    "interrupt_entry_and_exit",
    "interrupt_to_handler",
    "interrupt_to_woken_thread",
    "priority_change",
    "identify",
    "interrupt_control_off",
    "interrupt_control_restore",
    "critical_section_enter",
    "critical_section_leave",
    "info_get",
];
const ROWS: usize = 41;

type Table = [Row; ROWS];

fn row<'a>(table: &'a mut Table, name: &str) -> &'a mut Row {
    match NAMES.iter().position(|&n| n == name) {
        Some(at) => &mut table[at],
        None => unreachable!("a row's name"),
    }
}

/// What B, or an interrupt handler, measured.
static SEEN: AtomicU32 = AtomicU32::new(0);

/// Worker B's and C's side, and what an interrupt handler does.
struct Crew {
    b: Worker,
    c: Worker,
}

fn alone<A: Api>(table: &mut Table) {
    for _ in 0..SAMPLES {
        let mut add = |name, sample| row(table, name).add(sample);
        add("relinquish_alone", since_call(A::relinquish_timed()));
        add("semaphore_put", since_call(A::sem_put_timed(0)));
        add("semaphore_get", since_call(A::sem_get_timed(0, Wait::No)));
        add("mutex_lock", since_call(A::lock_timed(0, 0, Wait::No)));
        add("mutex_unlock", since_call(A::unlock_timed(0, 0)));
        add("mutex_lock_inherit", since_call(A::lock_timed(1, 0, Wait::No)));
        add("mutex_unlock_inherit", since_call(A::unlock_timed(1, 0)));
        add("queue_send_1", since_call(A::send1_timed(0, Wait::No)));
        add("queue_receive_1", since_call(A::receive1_timed(0, Wait::No)));
        add("queue_send_16", since_call(A::send16_timed(0, Wait::No)));
        add("queue_receive_16", since_call(A::receive16_timed(0, Wait::No)));
        add("event_set", since_call(A::set_timed(0)));
        add("event_get", since_call(A::flags_timed(0, Wait::No)));
        let [allocated, released] = A::block_timed();
        add("block_allocate", allocated);
        add("block_release", released);
        let [allocated, released] = A::byte_timed();
        add("byte_allocate_64", allocated);
        add("byte_release", released);
        add("thread_create_terminate_delete_512", A::thread_life());
        // Its own, the only ready thread's.
        add("priority_change", since_call(A::priority_timed(15)));
        A::priority_timed(16);
        add("identify", since_call(A::identify_timed()));
        let [off, restored] = A::interrupt_control_timed();
        add("interrupt_control_off", off);
        add("interrupt_control_restore", restored);
        if let Some([enter, leave]) = A::critical_section_timed() {
            add("critical_section_enter", enter);
            add("critical_section_leave", leave);
        }
        add("info_get", since_call(A::info_timed()));
    }
}

fn from_a_to_b<A: Api>(table: &mut Table, crew: &Crew) -> Result<(), Error> {
    for _ in 0..SAMPLES {
        crew.b.run(|| SEEN.store(since_call(A::sem_get_timed(0, Wait::Forever)), Relaxed))?;
        A::sem_put_timed(0);
        row(table, "semaphore_put_to_waiter").add(SEEN.load(Relaxed));

        A::lock_timed(0, 0, Wait::Forever);
        crew.b.run(|| {
            SEEN.store(since_call(A::lock_timed(0, 1, Wait::Forever)), Relaxed);
            A::unlock_timed(0, 1);
        })?;
        A::unlock_timed(0, 0);
        row(table, "mutex_contended_unlock").add(SEEN.load(Relaxed));

        A::lock_timed(1, 0, Wait::Forever);
        crew.b.run(|| {
            SEEN.store(since_call(A::lock_timed(1, 1, Wait::Forever)), Relaxed);
            A::unlock_timed(1, 1);
        })?;
        A::unlock_timed(1, 0);
        row(table, "mutex_contended_unlock_inherit").add(SEEN.load(Relaxed));

        crew.b.run(|| {
            SEEN.store(since_call(A::suspend_b_timed()), Relaxed);
            A::suspend_b_timed();
        })?;
        let back = A::resume_b_timed();
        row(table, "suspend_back").add(since_call(back));
        row(table, "resume_to_higher").add(SEEN.load(Relaxed));
        // Out of the second suspension.
        A::resume_b_timed();
    }
    Ok(())
}

/// Instructions of a round trip of A and C, which run `a` and `c`.
fn ping_pong<A: Api>(crew: &Crew, a: fn(), c: fn()) -> Result<u32, Error> {
    crew.c.run(c)?;
    // C waits for its first turn.
    thread::relinquish();
    let begin = end();
    a();
    let total = end().wrapping_sub(begin);
    // C ends.
    thread::relinquish();
    Ok((total + ROUNDS / 2) / ROUNDS)
}

fn ping_pongs<A: Api>(table: &mut Table, crew: &Crew) -> Result<(), Error> {
    for _ in 0..2 {
        let trip = ping_pong::<A>(
            crew,
            || {
                (0..ROUNDS).for_each(|_| {
                    A::sem_put(1);
                    A::sem_get(0);
                })
            },
            || {
                (0..ROUNDS).for_each(|_| {
                    A::sem_get(1);
                    A::sem_put(0);
                })
            },
        )?;
        row(table, "semaphore_ping_pong").add(trip);
        let trip = ping_pong::<A>(
            crew,
            || {
                (0..ROUNDS).for_each(|_| {
                    A::send1(1);
                    A::receive1(0);
                })
            },
            || {
                (0..ROUNDS).for_each(|_| {
                    A::receive1(1);
                    A::send1(0);
                })
            },
        )?;
        row(table, "queue_ping_pong_1").add(trip);
        let trip = ping_pong::<A>(
            crew,
            || {
                (0..ROUNDS).for_each(|_| {
                    A::send16(1);
                    A::receive16(0);
                })
            },
            || {
                (0..ROUNDS).for_each(|_| {
                    A::receive16(1);
                    A::send16(0);
                })
            },
        )?;
        row(table, "queue_ping_pong_16").add(trip);
        let trip = ping_pong::<A>(
            crew,
            || {
                (0..ROUNDS).for_each(|_| {
                    A::set(1);
                    A::flags(0);
                })
            },
            || {
                (0..ROUNDS).for_each(|_| {
                    A::flags(1);
                    A::set(0);
                })
            },
        )?;
        row(table, "event_ping_pong").add(trip);
    }
    Ok(())
}

const LINE: InterruptId = InterruptId::sgi(1);

fn interrupts<A: Api>(table: &mut Table, crew: &Crew) -> Result<(), Error> {
    let install = |handler: fn()| {
        expect(interrupt::register(LINE, 0x90, handler).is_ok());
        interrupt::enable(LINE);
    };
    for _ in 0..SAMPLES {
        install(|| SEEN.store(vector::since(end()), Relaxed));
        vector::mask();
        interrupt::pend_sgi(1);
        let _ = vector::unmask();
        row(table, "interrupt_to_handler").add(SEEN.load(Relaxed));

        install(|| ());
        vector::mask();
        interrupt::pend_sgi(1);
        let back = vector::unmask();
        row(table, "interrupt_entry_and_exit").add(vector::since(back));

        install(|| A::sem_put(0));
        crew.b.run(|| SEEN.store(vector::since(A::sem_get_timed(0, Wait::Forever)), Relaxed))?;
        vector::mask();
        interrupt::pend_sgi(1);
        let _ = vector::unmask();
        row(table, "interrupt_to_woken_thread").add(SEEN.load(Relaxed));
    }
    interrupt::disable(LINE);
    Ok(())
}

/// Waits, with IRQ masked, until exactly one tick is due, takes it, and returns the counter behind it.
fn one_tick() -> u32 {
    let tick = bsp::timer::frequency() / bsp::tick_hz();
    vector::mask();
    let begin = end();
    while end().wrapping_sub(begin) < tick {
        // A loop without counter reads runs faster in the emulator.
        for n in 0..1000 {
            black_box(n);
        }
    }
    vector::unmask()
}

fn ticks<A: Api>(table: &mut Table, crew: &Crew) -> Result<(), Error> {
    // None is left over from the rows without ticks.
    interrupt::enable(InterruptId::TICK);
    thread::sleep(Ticks::new(2))?;
    for _ in 0..TICKS {
        thread::sleep(Ticks::new(1))?;
        let back = one_tick();
        row(table, "tick_idle").add(vector::since(back));

        // B sleeps; A goes on behind the call with which it let B run.
        crew.b.prepare(|| SEEN.store(vector::since(A::sleep_timed()), Relaxed));
        let next = A::resume_b_timed();
        row(table, "sleep_to_next_thread").add(since_call(next));
        let _ = one_tick();
        row(table, "tick_to_woken_thread").add(SEEN.load(Relaxed));
    }
    interrupt::disable(InterruptId::TICK);
    Ok(())
}

static RAW_TIMER: Turns<TX_TIMER> = Turns::new(TX_TIMER::new());

extern "C-unwind" fn expired(_: ULONG) {
    SEEN.store(vector::since(end()), Relaxed);
}

/// A timer of one tick: in C, where no service of the image's is called, and in safe Rust.
fn timers(table: &mut [Table; 3]) -> Result<(), Error> {
    use threadx_sys::{TX_NO_ACTIVATE, tx_timer_activate, tx_timer_change, tx_timer_create};
    interrupt::enable(InterruptId::TICK);
    thread::sleep(Ticks::new(2))?;
    let raw = RAW_TIMER.get();
    // SAFETY: a static control block and a name that stays; the callback waits for nothing.
    unsafe {
        expect(tx_timer_create(raw, NAME.as_ptr().cast_mut().cast(), Some(expired), 0, 1, 0, TX_NO_ACTIVATE) == 0)
    };
    T.create("row", Schedule::once(Ticks::new(1)), || SEEN.store(vector::since(end()), Relaxed))?;
    for _ in 0..TICKS {
        thread::sleep(Ticks::new(1))?;
        // SAFETY: the timer was created above.
        unsafe { expect(tx_timer_change(raw, 1, 0) == 0 && tx_timer_activate(raw) == 0) };
        let _ = one_tick();
        row(&mut table[0], "tick_to_timer_callback").add(SEEN.load(Relaxed));
        row(&mut table[1], "tick_to_timer_callback").add(SEEN.load(Relaxed));

        thread::sleep(Ticks::new(1))?;
        T.change(Schedule::once(Ticks::new(1)))?;
        T.activate()?;
        let _ = one_tick();
        row(&mut table[2], "tick_to_timer_callback").add(SEEN.load(Relaxed));
    }
    T.delete()?;
    interrupt::disable(InterruptId::TICK);
    Ok(())
}

fn one_way<A: Api>(table: &mut Table, crew: &Crew) -> Result<(), Error> {
    // Pools find what they look for where the last release left it, from the second time on.
    alone::<A>(&mut [Row::NONE; ROWS]);
    alone::<A>(table);
    from_a_to_b::<A>(table, crew)?;
    ping_pongs::<A>(table, crew)?;
    vector::stamped(|| {
        interrupts::<A>(table, crew)?;
        ticks::<A>(table, crew)
    })
}

fn measure() -> Result<(), Error> {
    interrupt::disable(InterruptId::TICK);
    create()?;
    let b = Worker::new::<10>(0, "b")?;
    let crew = Crew { b, c: Worker::new::<16>(1, "c")? };
    thread::relinquish();
    // SAFETY: read from here on only.
    unsafe { *B.get() = Some(b.thread()) };
    b.run(|| RAW_B.store(call!(threadx_sys::tx_thread_identify), Relaxed))?;

    let mut tables = [[Row::NONE; ROWS]; 3];
    one_way::<Unchecked>(&mut tables[0], &crew)?;
    one_way::<Checked>(&mut tables[1], &crew)?;
    one_way::<Safe>(&mut tables[2], &crew)?;
    vector::stamped(|| timers(&mut tables))?;

    costs::banner!();
    for (at, name) in NAMES.iter().enumerate() {
        let [unchecked, checked, safe] = [0, 1, 2].map(|way: usize| tables[way][at]);
        for row in [unchecked, checked, safe] {
            // A tick that turns the wheel of timers costs a little more than the others; C has no critical sections.
            if row.least != row.most
                && !name.starts_with("tick_")
                && !(row.is_empty() && name.starts_with("critical_section_"))
            {
                bsp::println!("error: samples of {} differ: {} to {}", *name, row.least, row.most);
                expect(false);
            }
        }
        bsp::println!("COST {} {} {} {}", *name, unchecked, checked, safe);
    }
    match WRONG.load(Relaxed) {
        0 => {
            bsp::println!("COSTS ok");
            bsp::exit(0)
        }
        wrong => {
            bsp::println!("COSTS FAILED: {} calls or rows are wrong", wrong);
            bsp::exit(1)
        }
    }
}
