//! What the kernel's tests share: handles for control blocks, scripts as closures, an event log.
//!
//! Control blocks, stacks and scripts are leaked, so a handle is valid for the rest of the process and
//! the methods need no `unsafe`. All methods are the checked services unless their names say otherwise.

#![allow(dead_code)] // no test uses all of it

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};

pub use kernel::c_api;
pub use kernel::port::host::{self, Outcome};
pub use kernel::*;

/// Size argument of the checked create services.
pub const THREAD_SIZE: UINT = size_of::<TX_THREAD>() as UINT;
pub const TIMER_SIZE: UINT = size_of::<TX_TIMER>() as UINT;
pub const SEMAPHORE_SIZE: UINT = size_of::<TX_SEMAPHORE>() as UINT;

mod objects;
#[allow(unused_imports)] // some tests need no other object
pub use objects::*;

type Script = Arc<dyn Fn() + Send + Sync>;

/// A 32-bit input is all that an entry function gets: scripts are known by number.
static SCRIPTS: Mutex<Vec<Script>> = Mutex::new(Vec::new());

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers `script`; the number is the input for [`call`].
pub fn script(script: impl Fn() + Send + Sync + 'static) -> ULONG {
    let mut scripts = locked(&SCRIPTS);
    scripts.push(Arc::new(script));
    (scripts.len() - 1) as ULONG
}

/// Entry function of every thread and expiration function of every timer: runs a script.
pub unsafe extern "C-unwind" fn call(number: ULONG) {
    let script = locked(&SCRIPTS)[number as usize].clone();
    script();
}

/// Events in the order in which they happened.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&self, event: impl Into<String>) {
        locked(&self.0).push(event.into());
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut locked(&self.0))
    }

    pub fn len(&self) -> usize {
        locked(&self.0).len()
    }

    /// Compares with the events given, separated by blanks, and empties the log.
    #[track_caller]
    pub fn expect(&self, events: &str) {
        assert_eq!(self.take().join(" "), events);
    }
}

/// How a thread is created; by default at priority 10 without threshold or time-slice, ready.
#[derive(Clone, Copy)]
pub struct Options {
    pub priority: UINT,
    pub threshold: Option<UINT>,
    pub time_slice: ULONG,
    pub start: UINT,
}

impl Options {
    pub fn at(priority: UINT) -> Self {
        Self { priority, threshold: None, time_slice: TX_NO_TIME_SLICE, start: TX_AUTO_START }
    }

    pub fn threshold(self, threshold: UINT) -> Self {
        Self { threshold: Some(threshold), ..self }
    }

    pub fn time_slice(self, time_slice: ULONG) -> Self {
        Self { time_slice, ..self }
    }

    pub fn suspended(self) -> Self {
        Self { start: TX_DONT_START, ..self }
    }
}

pub fn at(priority: UINT) -> Options {
    Options::at(priority)
}

/// Memory for a stack, leaked.
#[derive(Clone, Copy)]
pub struct Stack {
    pub start: *mut u8,
    pub size: usize,
}
// SAFETY: an address and a size; what they lead to is used only by the kernel and by code that holds
// the host's baton.
unsafe impl Send for Stack {}
// SAFETY: as above.
unsafe impl Sync for Stack {}

impl Stack {
    pub fn new(size: usize) -> Self {
        let words = size.div_ceil(8);
        let start = Box::leak(vec![0u64; words].into_boxed_slice()).as_mut_ptr().cast();
        Self { start, size }
    }

    /// The byte `at` places from the low end.
    pub fn read(self, at: usize) -> u8 {
        assert!(at < self.size);
        // SAFETY: inside leaked memory.
        unsafe { self.start.add(at).read() }
    }

    pub fn write(self, at: usize, value: u8) {
        assert!(at < self.size);
        // SAFETY: inside leaked memory.
        unsafe { self.start.add(at).write(value) };
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInfo {
    pub name: Option<String>,
    pub state: UINT,
    pub run_count: ULONG,
    pub priority: UINT,
    pub threshold: UINT,
    pub time_slice: ULONG,
    pub next: Thread,
    pub next_suspended: *mut TX_THREAD,
}

fn name_of(name: *mut CHAR) -> Option<String> {
    // SAFETY: names are null or leaked C strings of these tests.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

pub fn leak_name(name: &str) -> *mut CHAR {
    CString::new(name).expect("no NUL in a test's name").into_raw()
}

/// A thread control block, created or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread(pub *mut TX_THREAD);
// SAFETY: an address; the block behind it is reached through the kernel.
unsafe impl Send for Thread {}
// SAFETY: as above.
unsafe impl Sync for Thread {}

/// Calls a service whose arguments are handles of leaked, initialised blocks and pointers to locals.
macro_rules! service {
    ($name:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: handles lead to leaked blocks that were initialised by `new`; result pointers are
        // null or lead to locals; scripts are never freed.
        unsafe { c_api::$name($($arg),*) }
    };
}
pub(crate) use service;

impl Thread {
    /// A block that no kernel knows.
    pub fn new() -> Self {
        Self(Box::into_raw(Box::new(TX_THREAD::new())))
    }

    /// Priority and preemption-threshold in effect.
    pub fn levels(self) -> (UINT, UINT) {
        service!(levels_in_effect(self.0))
    }

    /// Creates a thread that runs `entry`; the service must succeed.
    #[track_caller]
    pub fn spawn(options: Options, entry: impl Fn() + Send + Sync + 'static) -> Self {
        let thread = Self::new();
        assert_eq!(thread.create(options, entry), TX_SUCCESS);
        thread
    }

    pub fn create(self, options: Options, entry: impl Fn() + Send + Sync + 'static) -> UINT {
        self.create_on(Stack::new(1024), options, entry)
    }

    pub fn create_on(self, stack: Stack, options: Options, entry: impl Fn() + Send + Sync + 'static) -> UINT {
        let input = script(entry);
        let Options { priority, threshold, time_slice, start } = options;
        service!(_txe_thread_create(
            self.0,
            null_mut(),
            Some(call),
            input,
            stack.start.cast(),
            stack.size as ULONG,
            priority,
            threshold.unwrap_or(priority),
            time_slice,
            start,
            THREAD_SIZE,
        ))
    }

    pub fn delete(self) -> UINT {
        service!(_txe_thread_delete(self.0))
    }

    pub fn terminate(self) -> UINT {
        service!(_txe_thread_terminate(self.0))
    }

    pub fn reset(self) -> UINT {
        service!(_txe_thread_reset(self.0))
    }

    pub fn suspend(self) -> UINT {
        service!(_txe_thread_suspend(self.0))
    }

    pub fn resume(self) -> UINT {
        service!(_txe_thread_resume(self.0))
    }

    pub fn wait_abort(self) -> UINT {
        service!(_txe_thread_wait_abort(self.0))
    }

    /// The old priority, or the error.
    pub fn priority_change(self, new: UINT) -> Result<UINT, UINT> {
        let mut old = UINT::MAX;
        result(service!(_txe_thread_priority_change(self.0, new, &mut old)), old)
    }

    /// The old threshold, or the error.
    pub fn preemption_change(self, new: UINT) -> Result<UINT, UINT> {
        let mut old = UINT::MAX;
        result(service!(_txe_thread_preemption_change(self.0, new, &mut old)), old)
    }

    /// The old time-slice, or the error.
    pub fn time_slice_change(self, new: ULONG) -> Result<ULONG, UINT> {
        let mut old = ULONG::MAX;
        result(service!(_txe_thread_time_slice_change(self.0, new, &mut old)), old)
    }

    pub fn entry_exit_notify(self, notify: Option<EntryExitNotify>) -> UINT {
        service!(_txe_thread_entry_exit_notify(self.0, notify))
    }

    pub fn info(self) -> ThreadInfo {
        let (mut name, mut next, mut next_suspended) = (null_mut(), null_mut(), null_mut());
        let (mut state, mut run_count, mut priority, mut threshold, mut time_slice) = (0, 0, 0, 0, 0);
        let status = service!(_txe_thread_info_get(
            self.0,
            &mut name,
            &mut state,
            &mut run_count,
            &mut priority,
            &mut threshold,
            &mut time_slice,
            &mut next,
            &mut next_suspended,
        ));
        assert_eq!(status, TX_SUCCESS);
        let name = name_of(name);
        ThreadInfo { name, state, run_count, priority, threshold, time_slice, next: Thread(next), next_suspended }
    }

    pub fn state(self) -> UINT {
        self.info().state
    }

    pub fn untouched(self) -> usize {
        // SAFETY: only called on created threads.
        unsafe { c_api::stack_untouched(self.0) }
    }
}

pub fn result<T>(status: UINT, value: T) -> Result<T, UINT> {
    if status == TX_SUCCESS { Ok(value) } else { Err(status) }
}

/// Null outside a thread.
pub fn identify() -> Thread {
    Thread(service!(_tx_thread_identify()))
}

pub const NOBODY: Thread = Thread(null_mut());

pub fn relinquish() {
    service!(_txe_thread_relinquish());
}

pub fn sleep(ticks: ULONG) -> UINT {
    service!(_tx_thread_sleep(ticks))
}

pub fn now() -> ULONG {
    service!(_tx_time_get())
}

pub fn set_now(time: ULONG) {
    service!(_tx_time_set(time));
}

pub fn interrupt_control(posture: UINT) -> UINT {
    service!(_tx_thread_interrupt_control(posture))
}

pub fn preempt_disable() -> UINT {
    service!(_tx_thread_preempt_disable_enter())
}

pub fn preempt_enable(posture: UINT) {
    service!(_tx_thread_preempt_disable_exit(posture));
}

pub fn ticks(count: u32) {
    for _ in 0..count {
        host::tick();
    }
}

#[track_caller]
pub fn check() {
    assert_eq!(host::check_invariants(), Ok(()));
}

/// Runs a kernel until nobody has been ready for 100 ticks.
#[track_caller]
pub fn run(define: impl FnOnce()) {
    assert_eq!(host::run(100, define), Outcome::Idle);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimerInfo {
    pub name: Option<String>,
    pub active: UINT,
    pub remaining: ULONG,
    pub reschedule: ULONG,
    pub next: Timer,
}

/// A timer control block, created or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer(pub *mut TX_TIMER);
// SAFETY: an address; the block behind it is reached through the kernel.
unsafe impl Send for Timer {}
// SAFETY: as above.
unsafe impl Sync for Timer {}

impl Timer {
    pub fn new() -> Self {
        Self(Box::into_raw(Box::new(TX_TIMER::new())))
    }

    /// Creates an active timer; the service must succeed.
    #[track_caller]
    pub fn start(initial: ULONG, reschedule: ULONG, callback: impl Fn() + Send + Sync + 'static) -> Self {
        let timer = Self::new();
        assert_eq!(timer.create(initial, reschedule, TX_AUTO_ACTIVATE, callback), TX_SUCCESS);
        timer
    }

    pub fn create(
        self,
        initial: ULONG,
        reschedule: ULONG,
        activate: UINT,
        callback: impl Fn() + Send + Sync + 'static,
    ) -> UINT {
        let input = script(callback);
        service!(_txe_timer_create(self.0, null_mut(), Some(call), input, initial, reschedule, activate, TIMER_SIZE))
    }

    pub fn activate(self) -> UINT {
        service!(_txe_timer_activate(self.0))
    }

    pub fn deactivate(self) -> UINT {
        service!(_txe_timer_deactivate(self.0))
    }

    pub fn change(self, initial: ULONG, reschedule: ULONG) -> UINT {
        service!(_txe_timer_change(self.0, initial, reschedule))
    }

    pub fn delete(self) -> UINT {
        service!(_txe_timer_delete(self.0))
    }

    pub fn info(self) -> TimerInfo {
        let (mut name, mut next) = (null_mut(), null_mut());
        let (mut active, mut remaining, mut reschedule) = (UINT::MAX, 0, 0);
        let status =
            service!(_txe_timer_info_get(self.0, &mut name, &mut active, &mut remaining, &mut reschedule, &mut next,));
        assert_eq!(status, TX_SUCCESS);
        TimerInfo { name: name_of(name), active, remaining, reschedule, next: Timer(next) }
    }

    pub fn delete_unchecked(self) -> UINT {
        service!(_tx_timer_delete(self.0))
    }

    pub fn remaining(self) -> ULONG {
        self.info().remaining
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemaphoreInfo {
    pub name: Option<String>,
    pub count: ULONG,
    pub first: Thread,
    pub waiting: ULONG,
    pub next: Semaphore,
}

/// A semaphore control block, created or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semaphore(pub *mut TX_SEMAPHORE);
// SAFETY: an address; the block behind it is reached through the kernel.
unsafe impl Send for Semaphore {}
// SAFETY: as above.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    /// A block that no kernel knows.
    pub fn blank() -> Self {
        Self(Box::into_raw(Box::new(TX_SEMAPHORE::new())))
    }

    /// Creates a semaphore; the service must succeed.
    #[track_caller]
    pub fn new(count: ULONG) -> Self {
        let semaphore = Self::blank();
        assert_eq!(semaphore.create(count), TX_SUCCESS);
        semaphore
    }

    pub fn create(self, count: ULONG) -> UINT {
        service!(_txe_semaphore_create(self.0, null::<CHAR>().cast_mut(), count, SEMAPHORE_SIZE))
    }

    pub fn get(self, wait: ULONG) -> UINT {
        service!(_txe_semaphore_get(self.0, wait))
    }

    pub fn put(self) -> UINT {
        service!(_txe_semaphore_put(self.0))
    }

    pub fn ceiling_put(self, ceiling: ULONG) -> UINT {
        service!(_txe_semaphore_ceiling_put(self.0, ceiling))
    }

    pub fn delete(self) -> UINT {
        service!(_txe_semaphore_delete(self.0))
    }

    pub fn prioritize(self) -> UINT {
        service!(_txe_semaphore_prioritize(self.0))
    }

    pub fn put_notify(self, notify: Option<SemaphoreNotify>) -> UINT {
        service!(_txe_semaphore_put_notify(self.0, notify))
    }

    pub fn info(self) -> SemaphoreInfo {
        let (mut name, mut first, mut next) = (null_mut(), null_mut(), null_mut());
        let (mut count, mut waiting) = (0, 0);
        let status =
            service!(_txe_semaphore_info_get(self.0, &mut name, &mut count, &mut first, &mut waiting, &mut next,));
        assert_eq!(status, TX_SUCCESS);
        SemaphoreInfo { name: name_of(name), count, first: Thread(first), waiting, next: Semaphore(next) }
    }

    pub fn count(self) -> ULONG {
        self.info().count
    }
}

/// Runs a kernel whose thread of priority 16 executes `main`; the threads that it creates end with it.
#[track_caller]
pub fn scenario(main: impl Fn() + Send + Sync + 'static) {
    let outcome = host::run(10_000, || {
        Thread::spawn(at(16), move || {
            main();
            host::finish();
        });
    });
    assert_eq!(outcome, Outcome::Finished, "the main thread did not come to its end");
}

/// Interrupts the caller with `handler`, now.
pub fn isr(handler: impl FnOnce() + Send + 'static) {
    host::interrupt(handler);
}

/// A value that a script leaves for another.
#[derive(Clone)]
pub struct Shared<T>(Arc<Mutex<T>>);

impl<T: Copy> Shared<T> {
    pub fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }

    pub fn get(&self) -> T {
        *locked(&self.0)
    }

    pub fn set(&self, value: T) {
        *locked(&self.0) = value;
    }
}
