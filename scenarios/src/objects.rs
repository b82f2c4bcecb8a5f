//! The objects of the scenarios: static control blocks and memory, by number, with the checked services as methods.
//!
//! Methods return what the service returns. `create` of a block that exists is one of the misuses that scenarios
//! try, so nothing is checked here.

use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use threadx_sys::*;

/// Memory that the kernel owns while the object in it exists.
#[repr(C, align(8))]
struct Memory<T>(UnsafeCell<T>);

// SAFETY: only pointers to it are handed to the kernel, which is the one to use what they lead to.
unsafe impl<T> Sync for Memory<T> {}

impl<T> Memory<T> {
    const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }
}

const THREADS: usize = 8;
const OBJECTS: usize = 3;
/// Bytes of a thread's stack.
pub const STACK: u32 = 4096;

static THREAD_BLOCKS: [Memory<TX_THREAD>; THREADS] = [const { Memory::new(TX_THREAD::new()) }; THREADS];
static STACKS: [Memory<[u8; STACK as usize]>; THREADS] = [const { Memory::new([0; STACK as usize]) }; THREADS];
static SCRIPTS: [AtomicPtr<()>; THREADS] = [const { AtomicPtr::new(null_mut()) }; THREADS];
static CALLBACKS: [AtomicPtr<()>; OBJECTS] = [const { AtomicPtr::new(null_mut()) }; OBJECTS];
static SEMAPHORES: [Memory<TX_SEMAPHORE>; OBJECTS] = [const { Memory::new(TX_SEMAPHORE::new()) }; OBJECTS];
static MUTEXES: [Memory<TX_MUTEX>; OBJECTS + 1] = [const { Memory::new(TX_MUTEX::new()) }; OBJECTS + 1];
static GROUPS: [Memory<TX_EVENT_FLAGS_GROUP>; OBJECTS] = [const { Memory::new(TX_EVENT_FLAGS_GROUP::new()) }; OBJECTS];
static QUEUES: [Memory<TX_QUEUE>; OBJECTS] = [const { Memory::new(TX_QUEUE::new()) }; OBJECTS];
static QUEUE_MEMORY: [Memory<[u8; 256]>; OBJECTS] = [const { Memory::new([0; 256]) }; OBJECTS];
static BLOCK_POOLS: [Memory<TX_BLOCK_POOL>; OBJECTS] = [const { Memory::new(TX_BLOCK_POOL::new()) }; OBJECTS];
static BYTE_POOLS: [Memory<TX_BYTE_POOL>; OBJECTS] = [const { Memory::new(TX_BYTE_POOL::new()) }; OBJECTS];
static BLOCK_MEMORY: [Memory<[u8; 512]>; OBJECTS] = [const { Memory::new([0; 512]) }; OBJECTS];
static POOL_MEMORY: [Memory<[u8; 4096]>; OBJECTS] = [const { Memory::new([0; 4096]) }; OBJECTS];
static TIMERS: [Memory<TX_TIMER>; OBJECTS] = [const { Memory::new(TX_TIMER::new()) }; OBJECTS];

/// What scenarios mostly use.
pub const S: Semaphore = Semaphore(0);
pub const M: Mutex = Mutex(0);
pub const E: Events = Events(0);
pub const Q: Queue = Queue(0);
pub const B: Blocks = Blocks(0);
pub const Y: Bytes = Bytes(0);
pub const A: Thread = Thread(0);
pub const T1: Thread = Thread(1);
pub const T2: Thread = Thread(2);
pub const T3: Thread = Thread(3);
pub const T4: Thread = Thread(4);
pub const FOREVER: ULONG = TX_WAIT_FOREVER;
pub const NONE: ULONG = TX_NO_WAIT;
/// The one that [`remove_all`] leaves alone, for what initialization leaves to a scenario.
pub const KEPT: Mutex = Mutex(OBJECTS);

/// Calls a service with handles of this module and pointers to locals.
macro_rules! service {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: handles lead to static blocks, memory to static memory that is one object's alone, and result
        // pointers to locals that outlive the call.
        unsafe { $name($($argument),*) }
    };
}

/// Where a scenario has no use for an answer.
pub fn ignore<T>(_: T) {}

/// A name that the kernel may keep.
#[must_use]
pub fn name() -> *mut CHAR {
    c"scenarios".as_ptr().cast_mut().cast()
}

/// Deletes every object there is but [`KEPT`], and ends every thread.
pub fn remove_all() {
    for n in 0..OBJECTS {
        Timer(n).delete();
        Semaphore(n).delete();
        Mutex(n).delete();
        Events(n).delete();
        Queue(n).delete();
        Blocks(n).delete();
        Bytes(n).delete();
    }
    for n in 0..THREADS {
        Thread(n).terminate();
        Thread(n).delete();
    }
}

fn script(scripts: &[AtomicPtr<()>], n: ULONG) {
    let script = scripts[n as usize].load(Relaxed);
    // SAFETY: stores are those of `create` and `set_script`, of a `fn()`, before the kernel knows the object.
    let script = unsafe { core::mem::transmute::<*mut (), fn()>(script) };
    script();
}

unsafe extern "C-unwind" fn thread_entry(n: ULONG) {
    script(&SCRIPTS, n);
}

unsafe extern "C-unwind" fn timer_entry(n: ULONG) {
    script(&CALLBACKS, n);
}

// ---- threads -----------------------------------------------------------------------------------

/// Thread 0 to 7.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Thread(pub usize);

/// What `tx_thread_info_get` tells.
#[derive(Clone, Copy)]
pub struct ThreadInfo {
    /// `TX_READY` and so on.
    pub state: UINT,
    /// Times it got the processor.
    pub runs: ULONG,
    /// Priority.
    pub priority: UINT,
    /// Preemption-threshold.
    pub threshold: UINT,
    /// Ticks left of the time-slice.
    pub slice: ULONG,
}

fn info_of(thread: *mut TX_THREAD) -> ThreadInfo {
    let mut i = ThreadInfo { state: 99, runs: 0, priority: 99, threshold: 99, slice: 0 };
    let none = null_mut();
    service!(tx_thread_info_get(
        thread,
        none,
        &mut i.state,
        &mut i.runs,
        &mut i.priority,
        &mut i.threshold,
        &mut i.slice,
        null_mut(),
        null_mut()
    ));
    i
}

impl Thread {
    /// Its control block.
    #[must_use]
    pub fn ptr(self) -> *mut TX_THREAD {
        THREAD_BLOCKS[self.0].0.get()
    }
    /// Creates it, ready, without threshold and time-slice.
    pub fn create(self, priority: UINT, script: fn()) -> UINT {
        self.create_with(priority, priority, TX_NO_TIME_SLICE, TX_AUTO_START, script)
    }
    /// [`Self::create`], to be resumed.
    pub fn create_suspended(self, priority: UINT, script: fn()) -> UINT {
        self.create_with(priority, priority, TX_NO_TIME_SLICE, TX_DONT_START, script)
    }
    /// Creates it on all of its stack.
    pub fn create_with(self, priority: UINT, threshold: UINT, slice: ULONG, start: UINT, script: fn()) -> UINT {
        self.set_script(script);
        let stack = STACKS[self.0].0.get().cast();
        self.create_on(Some(thread_entry), stack, STACK, priority, threshold, slice, start)
    }
    /// What the entry function of [`Self::parts`] does.
    pub fn set_script(self, script: fn()) {
        SCRIPTS[self.0].store(script as *mut (), Relaxed);
    }
    /// Creates it with what may be refused.
    #[expect(clippy::too_many_arguments, reason = "the service's own")]
    pub fn create_on(
        self,
        entry: Option<ThreadEntry>,
        stack: *mut VOID,
        size: ULONG,
        priority: UINT,
        threshold: UINT,
        slice: ULONG,
        start: UINT,
    ) -> UINT {
        let input = self.0 as ULONG;
        let (ptr, name) = (self.ptr(), name());
        service!(tx_thread_create(ptr, name, entry, input, stack, size, priority, threshold, slice, start))
    }
    /// The start of its stack, and an entry function for [`Self::create_on`].
    #[must_use]
    pub fn parts(self) -> (Option<ThreadEntry>, *mut VOID) {
        (Some(thread_entry), STACKS[self.0].0.get().cast())
    }
    /// `tx_thread_delete`.
    pub fn delete(self) -> UINT {
        service!(tx_thread_delete(self.ptr()))
    }
    /// `tx_thread_terminate`.
    pub fn terminate(self) -> UINT {
        service!(tx_thread_terminate(self.ptr()))
    }
    /// `tx_thread_reset`.
    pub fn reset(self) -> UINT {
        service!(tx_thread_reset(self.ptr()))
    }
    /// `tx_thread_suspend`.
    pub fn suspend(self) -> UINT {
        service!(tx_thread_suspend(self.ptr()))
    }
    /// `tx_thread_resume`.
    pub fn resume(self) -> UINT {
        service!(tx_thread_resume(self.ptr()))
    }
    /// `tx_thread_wait_abort`.
    pub fn wait_abort(self) -> UINT {
        service!(tx_thread_wait_abort(self.ptr()))
    }
    /// `tx_thread_priority_change`: status and old value.
    pub fn priority_change(self, new: UINT) -> (UINT, UINT) {
        let mut old = 99;
        (service!(tx_thread_priority_change(self.ptr(), new, &mut old)), old)
    }
    /// `tx_thread_preemption_change`: status and old value.
    pub fn preemption_change(self, new: UINT) -> (UINT, UINT) {
        let mut old = 99;
        (service!(tx_thread_preemption_change(self.ptr(), new, &mut old)), old)
    }
    /// `tx_thread_time_slice_change`: status and old value.
    pub fn time_slice_change(self, new: ULONG) -> (UINT, ULONG) {
        let mut old = 99;
        (service!(tx_thread_time_slice_change(self.ptr(), new, &mut old)), old)
    }
    /// `tx_thread_entry_exit_notify`.
    pub fn notify(self, notify: Option<EntryExitNotify>) -> UINT {
        service!(tx_thread_entry_exit_notify(self.ptr(), notify))
    }
    /// `tx_thread_info_get`.
    #[must_use]
    pub fn info(self) -> ThreadInfo {
        info_of(self.ptr())
    }
    /// State of `tx_thread_info_get`.
    #[must_use]
    pub fn state(self) -> UINT {
        self.info().state
    }
}

/// `tx_thread_identify`.
#[must_use]
pub fn me() -> *mut TX_THREAD {
    service!(tx_thread_identify())
}

/// Information of the caller, or of the thread that it interrupted.
#[must_use]
pub fn my_info() -> ThreadInfo {
    info_of(me())
}

/// `tx_thread_sleep`.
pub fn sleep(ticks: ULONG) -> UINT {
    service!(tx_thread_sleep(ticks))
}

/// `tx_thread_relinquish`.
pub fn relinquish() {
    #[allow(unused_unsafe, reason = "safe in one of the kernels")]
    // SAFETY: needs none.
    unsafe {
        tx_thread_relinquish();
    }
}

/// `tx_time_get`.
#[must_use]
pub fn now() -> ULONG {
    service!(tx_time_get())
}

/// `tx_time_set`.
pub fn set_now(time: ULONG) {
    service!(tx_time_set(time));
}

/// `tx_interrupt_control`.
pub fn interrupt_control(posture: UINT) -> UINT {
    service!(tx_interrupt_control(posture))
}

/// The caller's own preemption-threshold; the old value.
pub fn set_threshold(new: UINT) -> UINT {
    let mut old = 99;
    service!(tx_thread_preemption_change(me(), new, &mut old));
    old
}

// ---- timers ------------------------------------------------------------------------------------

/// Timer 0 to 2.
#[derive(Clone, Copy)]
pub struct Timer(pub usize);

impl Timer {
    /// Its control block.
    #[must_use]
    pub fn ptr(self) -> *mut TX_TIMER {
        TIMERS[self.0].0.get()
    }
    /// `tx_timer_create`.
    pub fn create(self, first: ULONG, period: ULONG, activate: UINT, callback: fn()) -> UINT {
        // One that is refused because the timer exists must leave its callback alone.
        if self.info().is_none() {
            CALLBACKS[self.0].store(callback as *mut (), Relaxed);
        }
        let input = self.0 as ULONG;
        let (ptr, name) = (self.ptr(), name());
        service!(tx_timer_create(ptr, name, Some(timer_entry), input, first, period, activate))
    }
    /// `tx_timer_activate`.
    pub fn activate(self) -> UINT {
        service!(tx_timer_activate(self.ptr()))
    }
    /// `tx_timer_deactivate`.
    pub fn deactivate(self) -> UINT {
        service!(tx_timer_deactivate(self.ptr()))
    }
    /// `tx_timer_change`.
    pub fn change(self, first: ULONG, period: ULONG) -> UINT {
        service!(tx_timer_change(self.ptr(), first, period))
    }
    /// `tx_timer_delete`.
    pub fn delete(self) -> UINT {
        service!(tx_timer_delete(self.ptr()))
    }
    /// `tx_timer_info_get`: whether active, remaining ticks, period; nothing if there is no such timer.
    #[must_use]
    pub fn info(self) -> Option<(UINT, ULONG, ULONG)> {
        let (mut active, mut remaining, mut period) = (99, 0, 0);
        let (ptr, none) = (self.ptr(), null_mut());
        let status = service!(tx_timer_info_get(ptr, none, &mut active, &mut remaining, &mut period, null_mut()));
        (status == TX_SUCCESS).then_some((active, remaining, period))
    }
    /// Status of `tx_timer_info_get`.
    pub fn info_status(self) -> UINT {
        let none = null_mut();
        service!(tx_timer_info_get(self.ptr(), none, null_mut(), null_mut(), null_mut(), null_mut()))
    }
}

// ---- semaphores --------------------------------------------------------------------------------

/// Semaphore 0 to 2.
#[derive(Clone, Copy)]
pub struct Semaphore(pub usize);

impl Semaphore {
    /// Its control block.
    #[must_use]
    pub fn ptr(self) -> *mut TX_SEMAPHORE {
        SEMAPHORES[self.0].0.get()
    }
    /// `tx_semaphore_create`.
    pub fn create(self, count: ULONG) -> UINT {
        service!(tx_semaphore_create(self.ptr(), name(), count))
    }
    /// `tx_semaphore_get`.
    pub fn get(self, wait: ULONG) -> UINT {
        service!(tx_semaphore_get(self.ptr(), wait))
    }
    /// `tx_semaphore_put`.
    pub fn put(self) -> UINT {
        service!(tx_semaphore_put(self.ptr()))
    }
    /// `tx_semaphore_ceiling_put`.
    pub fn ceiling_put(self, ceiling: ULONG) -> UINT {
        service!(tx_semaphore_ceiling_put(self.ptr(), ceiling))
    }
    /// `tx_semaphore_delete`.
    pub fn delete(self) -> UINT {
        service!(tx_semaphore_delete(self.ptr()))
    }
    /// `tx_semaphore_prioritize`.
    pub fn prioritize(self) -> UINT {
        service!(tx_semaphore_prioritize(self.ptr()))
    }
    /// `tx_semaphore_put_notify`.
    pub fn notify(self, notify: Option<SemaphoreNotify>) -> UINT {
        service!(tx_semaphore_put_notify(self.ptr(), notify))
    }
    /// Status of `tx_semaphore_info_get`, count, number of waiters.
    pub fn info(self) -> (UINT, ULONG, ULONG) {
        let (mut count, mut waiting) = (99, 99);
        let (ptr, none) = (self.ptr(), null_mut());
        (service!(tx_semaphore_info_get(ptr, none, &mut count, null_mut(), &mut waiting, null_mut())), count, waiting)
    }
    /// Its count.
    #[must_use]
    pub fn count(self) -> ULONG {
        self.info().1
    }
}

// ---- mutexes -----------------------------------------------------------------------------------

/// Mutex 0 to 2.
#[derive(Clone, Copy)]
pub struct Mutex(pub usize);

impl Mutex {
    /// Its control block.
    #[must_use]
    pub fn ptr(self) -> *mut TX_MUTEX {
        MUTEXES[self.0].0.get()
    }
    /// Makes the block one that no kernel knows, as it is before the first kernel of this process starts.
    pub fn forget(self) {
        // SAFETY: the kernel that starts now has no mutex yet, and no other runs any more.
        unsafe { self.ptr().write(TX_MUTEX::new()) };
    }
    /// `tx_mutex_create`.
    pub fn create(self, inherit: UINT) -> UINT {
        service!(tx_mutex_create(self.ptr(), name(), inherit))
    }
    /// `tx_mutex_get`.
    pub fn get(self, wait: ULONG) -> UINT {
        service!(tx_mutex_get(self.ptr(), wait))
    }
    /// `tx_mutex_put`.
    pub fn put(self) -> UINT {
        service!(tx_mutex_put(self.ptr()))
    }
    /// `tx_mutex_delete`.
    pub fn delete(self) -> UINT {
        service!(tx_mutex_delete(self.ptr()))
    }
    /// `tx_mutex_prioritize`.
    pub fn prioritize(self) -> UINT {
        service!(tx_mutex_prioritize(self.ptr()))
    }
    /// Status of `tx_mutex_info_get`, count, owner, number of waiters.
    pub fn info(self) -> (UINT, ULONG, *mut TX_THREAD, ULONG) {
        let (mut count, mut owner, mut waiting) = (99, null_mut(), 99);
        let (ptr, none) = (self.ptr(), null_mut());
        let status =
            service!(tx_mutex_info_get(ptr, none, &mut count, &mut owner, null_mut(), &mut waiting, null_mut()));
        (status, count, owner, waiting)
    }
}

// ---- event flags -------------------------------------------------------------------------------

/// Event flags group 0 to 2.
#[derive(Clone, Copy)]
pub struct Events(pub usize);

impl Events {
    /// Its control block.
    #[must_use]
    pub fn ptr(self) -> *mut TX_EVENT_FLAGS_GROUP {
        GROUPS[self.0].0.get()
    }
    /// `tx_event_flags_create`.
    pub fn create(self) -> UINT {
        service!(tx_event_flags_create(self.ptr(), name()))
    }
    /// `tx_event_flags_get`: status, and the output, which is 0x55 before.
    pub fn get(self, flags: ULONG, option: UINT, wait: ULONG) -> (UINT, ULONG) {
        let mut seen = 0x55;
        (service!(tx_event_flags_get(self.ptr(), flags, option, &mut seen, wait)), seen)
    }
    /// `tx_event_flags_set`.
    pub fn set(self, flags: ULONG, option: UINT) -> UINT {
        service!(tx_event_flags_set(self.ptr(), flags, option))
    }
    /// `tx_event_flags_delete`.
    pub fn delete(self) -> UINT {
        service!(tx_event_flags_delete(self.ptr()))
    }
    /// `tx_event_flags_set_notify`.
    pub fn notify(self, notify: Option<EventFlagsNotify>) -> UINT {
        service!(tx_event_flags_set_notify(self.ptr(), notify))
    }
    /// Status of `tx_event_flags_info_get`, flags, number of waiters.
    pub fn info(self) -> (UINT, ULONG, ULONG) {
        let (mut flags, mut waiting) = (99, 99);
        let (ptr, none) = (self.ptr(), null_mut());
        (service!(tx_event_flags_info_get(ptr, none, &mut flags, null_mut(), &mut waiting, null_mut())), flags, waiting)
    }
    /// Its flags.
    #[must_use]
    pub fn flags(self) -> ULONG {
        self.info().1
    }
}

// ---- queues ------------------------------------------------------------------------------------

/// Queue 0 to 2, on 256 bytes.
#[derive(Clone, Copy)]
pub struct Queue(pub usize);

impl Queue {
    /// Its control block.
    #[must_use]
    pub fn ptr(self) -> *mut TX_QUEUE {
        QUEUES[self.0].0.get()
    }
    /// `tx_queue_create`.
    pub fn create(self, words: UINT, bytes: ULONG) -> UINT {
        let memory = QUEUE_MEMORY[self.0].0.get().cast();
        service!(tx_queue_create(self.ptr(), name(), words, memory, bytes))
    }
    /// `tx_queue_send` of messages of up to 16 words.
    pub fn send(self, mut message: [ULONG; 16], wait: ULONG) -> UINT {
        service!(tx_queue_send(self.ptr(), message.as_mut_ptr().cast(), wait))
    }
    /// `tx_queue_send` of one word.
    pub fn send_word(self, word: ULONG, wait: ULONG) -> UINT {
        self.send([word; 16], wait)
    }
    /// `tx_queue_front_send` of one word.
    pub fn front_send_word(self, word: ULONG, wait: ULONG) -> UINT {
        let mut message = [word; 16];
        service!(tx_queue_front_send(self.ptr(), message.as_mut_ptr().cast(), wait))
    }
    /// `tx_queue_receive` into the first words of 18 that are 0xEE before.
    pub fn receive(self, wait: ULONG) -> (UINT, [ULONG; 18]) {
        let mut message = [0xEE; 18];
        (service!(tx_queue_receive(self.ptr(), message.as_mut_ptr().cast(), wait)), message)
    }
    /// `tx_queue_receive`: the first word, or the status and 0x8000_0000.
    pub fn receive_word(self, wait: ULONG) -> ULONG {
        match self.receive(wait) {
            (TX_SUCCESS, message) => message[0],
            (status, _) => 0x8000_0000 | status,
        }
    }
    /// `tx_queue_flush`.
    pub fn flush(self) -> UINT {
        service!(tx_queue_flush(self.ptr()))
    }
    /// `tx_queue_prioritize`.
    pub fn prioritize(self) -> UINT {
        service!(tx_queue_prioritize(self.ptr()))
    }
    /// `tx_queue_send_notify`.
    pub fn notify(self, notify: Option<QueueNotify>) -> UINT {
        service!(tx_queue_send_notify(self.ptr(), notify))
    }
    /// `tx_queue_delete`.
    pub fn delete(self) -> UINT {
        service!(tx_queue_delete(self.ptr()))
    }
    /// Status of `tx_queue_info_get`, messages, room, number of waiters.
    pub fn info(self) -> (UINT, ULONG, ULONG, ULONG) {
        let (mut enqueued, mut room, mut waiting) = (99, 99, 99);
        let (ptr, none) = (self.ptr(), null_mut());
        let status =
            service!(tx_queue_info_get(ptr, none, &mut enqueued, &mut room, null_mut(), &mut waiting, null_mut()));
        (status, enqueued, room, waiting)
    }
}

// ---- pools -------------------------------------------------------------------------------------

/// Block pool 0 to 2, on 512 bytes.
#[derive(Clone, Copy)]
pub struct Blocks(pub usize);

/// Memory of a pool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Piece(pub *mut u8);

impl Blocks {
    /// Its control block.
    #[must_use]
    pub fn ptr(self) -> *mut TX_BLOCK_POOL {
        BLOCK_POOLS[self.0].0.get()
    }
    /// `tx_block_pool_create`.
    pub fn create(self, size: ULONG, bytes: ULONG) -> UINT {
        let memory = BLOCK_MEMORY[self.0].0.get().cast();
        service!(tx_block_pool_create(self.ptr(), name(), size, memory, bytes))
    }
    /// `tx_block_allocate`.
    pub fn allocate(self, wait: ULONG) -> (UINT, Piece) {
        let mut piece: *mut VOID = null_mut();
        (service!(tx_block_allocate(self.ptr(), &mut piece, wait)), Piece(piece.cast()))
    }
    /// `tx_block_pool_prioritize`.
    pub fn prioritize(self) -> UINT {
        service!(tx_block_pool_prioritize(self.ptr()))
    }
    /// `tx_block_pool_delete`.
    pub fn delete(self) -> UINT {
        service!(tx_block_pool_delete(self.ptr()))
    }
    /// Status of `tx_block_pool_info_get`, free blocks, all blocks, number of waiters.
    pub fn info(self) -> (UINT, ULONG, ULONG, ULONG) {
        let (mut free, mut total, mut waiting) = (99, 99, 99);
        let (ptr, none) = (self.ptr(), null_mut());
        let status =
            service!(tx_block_pool_info_get(ptr, none, &mut free, &mut total, null_mut(), &mut waiting, null_mut()));
        (status, free, total, waiting)
    }
}

/// `tx_block_release`.
pub fn block_release(piece: Piece) -> UINT {
    service!(tx_block_release(piece.0.cast()))
}

/// Byte pool 0 to 2, on 4096 bytes.
#[derive(Clone, Copy)]
pub struct Bytes(pub usize);

impl Bytes {
    /// Its control block.
    #[must_use]
    pub fn ptr(self) -> *mut TX_BYTE_POOL {
        BYTE_POOLS[self.0].0.get()
    }
    /// `tx_byte_pool_create`.
    pub fn create(self, bytes: ULONG) -> UINT {
        let memory = POOL_MEMORY[self.0].0.get().cast();
        service!(tx_byte_pool_create(self.ptr(), name(), memory, bytes))
    }
    /// `tx_byte_allocate`.
    pub fn allocate(self, bytes: ULONG, wait: ULONG) -> (UINT, Piece) {
        let mut piece: *mut VOID = null_mut();
        (service!(tx_byte_allocate(self.ptr(), &mut piece, bytes, wait)), Piece(piece.cast()))
    }
    /// `tx_byte_pool_prioritize`.
    pub fn prioritize(self) -> UINT {
        service!(tx_byte_pool_prioritize(self.ptr()))
    }
    /// `tx_byte_pool_delete`.
    pub fn delete(self) -> UINT {
        service!(tx_byte_pool_delete(self.ptr()))
    }
    /// Status of `tx_byte_pool_info_get`, free bytes, fragments, number of waiters.
    pub fn info(self) -> (UINT, ULONG, ULONG, ULONG) {
        let (mut free, mut fragments, mut waiting) = (99, 99, 99);
        let (ptr, none) = (self.ptr(), null_mut());
        let status =
            service!(tx_byte_pool_info_get(ptr, none, &mut free, &mut fragments, null_mut(), &mut waiting, null_mut()));
        (status, free, fragments, waiting)
    }
}

/// `tx_byte_release`.
pub fn byte_release(piece: Piece) -> UINT {
    service!(tx_byte_release(piece.0.cast()))
}
