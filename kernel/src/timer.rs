//! Ticks, timeouts and application timers.
//!
//! A wheel of 32 slots: a timer due in n ticks hangs in the slot that the tick interrupt reaches n
//! ticks from now, or, if n exceeds the wheel, in the last slot, from where it is hung again with the
//! rest. The interrupt only moves a due slot to the expired list and resumes the system timer thread;
//! that thread (priority 0) ends sleeps and waits and calls the application's expiration functions.
//!
//! A timer longer than the wheel therefore comes after a short one that was activated before the long
//! one was hung again, although both are due at the same tick and the long one was activated first.
//! The User Guide promises activation order; upstream's kernel behaves as described here, and so does
//! this one.

use core::cell::{Cell, UnsafeCell};
use core::ptr::{NonNull, null};

use crate::kernel::{Locked, lock};
use crate::list::{LinkKind, Links, List};
use crate::object_ref;
use crate::performance::{TOTALS, TimerCounters, bump};
use crate::port;
use crate::thread::{TX_THREAD, Thread, ThreadOptions, pending};
use crate::types::*;

const SLOTS: u32 = 32;
pub(crate) const TIMER_ID: u32 = crate::types::tag(0xD9);
/// Bytes of the system timer thread's stack: upstream's ports give it 1024; a hard-float interrupt
/// frame and Rust callbacks want more, unoptimised ones much more.
const TIMER_STACK: usize = if cfg!(debug_assertions) { 8192 } else { 2048 };

/// Where a timer is.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Place {
    Inactive,
    /// In the wheel, or due and in the expired list.
    Hung,
    /// Periodic, its expiration function is running.
    Calling,
}

/// What sleeps, waits and application timers have in common.
#[repr(C)]
pub(crate) struct TimerInternal {
    links: Links<TimerRef>,
    /// While hung: ticks to go when the slot has come up; while inactive: ticks to go.
    remaining: Cell<ULONG>,
    reschedule: Cell<ULONG>,
    expiration: Cell<Option<TimerCallback>>,
    input: Cell<ULONG>,
    /// The thread whose sleep or wait this limits; `None` for an application timer.
    thread: Cell<Option<Thread>>,
    /// While hung: the wheel time at which the slot comes up.
    due: Cell<ULONG>,
    place: Cell<Place>,
    /// What the thread is told whose sleep or wait this ends.
    status: Cell<u8>,
    pub(crate) performance: TimerCounters,
}

object_ref! {
    /// A timer the wheel may hold: part of a created thread or of a created application timer.
    TimerRef -> TimerInternal
}

pub(crate) struct TimerLink;
impl LinkKind<TimerRef> for TimerLink {
    fn links(node: &TimerRef) -> &Links<TimerRef> {
        &node.links
    }
}

impl TimerInternal {
    pub(crate) const fn new() -> Self {
        Self {
            links: Links::new(),
            remaining: Cell::new(0),
            reschedule: Cell::new(0),
            expiration: Cell::new(None),
            input: Cell::new(0),
            thread: Cell::new(None),
            due: Cell::new(0),
            place: Cell::new(Place::Inactive),
            status: Cell::new(0),
            performance: TimerCounters::new(),
        }
    }

    /// Makes this the timeout of `thread`.
    pub(crate) fn bind(&self, thread: Thread) {
        self.thread.set(Some(thread));
    }

    fn reference(&self) -> TimerRef {
        // SAFETY: only called on timers of created threads and timers, which stay in place until
        // their delete service has taken them out of the wheel.
        unsafe { TimerRef::new(NonNull::from(self)) }
    }
}

/// Control block of an application timer. Same rules as for [`TX_THREAD`].
#[repr(C)]
pub struct TX_TIMER {
    pub(crate) internal: TimerInternal,
    pub(crate) id: Cell<ULONG>,
    pub(crate) name: Cell<*const CHAR>,
    created_links: Links<Timer>,
}

// SAFETY: reached only with the kernel locked.
unsafe impl Sync for TX_TIMER {}
// SAFETY: as for `Sync`.
unsafe impl Send for TX_TIMER {}

object_ref! {
    /// A created application timer.
    Timer -> TX_TIMER
}

pub(crate) struct CreatedTimer;
impl LinkKind<Timer> for CreatedTimer {
    fn links(node: &Timer) -> &Links<Timer> {
        &node.created_links
    }
}

impl TX_TIMER {
    /// A control block that no kernel knows yet.
    pub const fn new() -> Self {
        Self { internal: TimerInternal::new(), id: Cell::new(0), name: Cell::new(null()), created_links: Links::new() }
    }
}

#[repr(C, align(8))]
struct TimerStack(UnsafeCell<[u8; TIMER_STACK]>);
// SAFETY: only the system timer thread's stack pointer and the kernel's stack fill touch it.
unsafe impl Sync for TimerStack {}

struct TimerThread(UnsafeCell<TX_THREAD>);
// SAFETY: written once by `create_timer_thread`, before any other access; shared from then on like
// every control block.
unsafe impl Sync for TimerThread {}

static TIMER_THREAD: TimerThread = TimerThread(UnsafeCell::new(TX_THREAD::new()));
static TIMER_THREAD_STACK: TimerStack = TimerStack(UnsafeCell::new([0; TIMER_STACK]));

/// The kernel's timer state.
pub(crate) struct Timers {
    /// What the clock shows beyond [`Self::now`].
    clock: Cell<ULONG>,
    wheel: [List<TimerRef, TimerLink>; SLOTS as usize],
    /// Ticks since start, modulo 2^32; unlike the clock, nobody sets it.
    now: Cell<ULONG>,
    expired: List<TimerRef, TimerLink>,
    /// The application timer whose expiration function is running; cleared when it is deleted.
    calling: Cell<Option<TimerRef>>,
    created: List<Timer, CreatedTimer>,
}

impl Timers {
    pub(crate) const fn new() -> Self {
        Self {
            clock: Cell::new(0),
            wheel: [const { List::new() }; SLOTS as usize],
            now: Cell::new(0),
            expired: List::new(),
            calling: Cell::new(None),
            created: List::new(),
        }
    }

    #[cfg(not(target_os = "none"))]
    pub(crate) fn reset(&self) {
        self.clock.set(0);
        self.wheel.iter().for_each(List::clear);
        self.now.set(0);
        self.expired.clear();
        self.calling.set(None);
        self.created.clear();
    }

    fn slot(&self, time: ULONG) -> &List<TimerRef, TimerLink> {
        &self.wheel[(time % SLOTS) as usize]
    }

    /// Hangs an inactive timer so that it is due at the `ticks`-th tick from now, `ticks` > 0.
    fn hang(&self, timer: TimerRef, ticks: ULONG) {
        let here = ticks.min(SLOTS);
        let due = self.now.get().wrapping_add(here);
        timer.remaining.set(ticks - here);
        timer.due.set(due);
        timer.place.set(Place::Hung);
        self.slot(due).push_back(timer);
    }

    /// Takes a timer from wherever it is; its `remaining` is then what it had to go.
    fn take(&self, timer: TimerRef) {
        let remaining = self.remaining(timer);
        if timer.place.replace(Place::Inactive) == Place::Hung {
            // Unlinking needs the list only where the node is its head.
            let slot = self.slot(timer.due.get());
            let list = if self.expired.front() == Some(timer) { &self.expired } else { slot };
            list.remove(timer);
        }
        timer.remaining.set(remaining);
    }

    fn remaining(&self, timer: TimerRef) -> ULONG {
        match timer.place.get() {
            Place::Inactive => timer.remaining.get(),
            Place::Hung => {
                // Not positive once the slot has moved to the expired list.
                let ahead = timer.due.get().wrapping_sub(self.now.get()) as i32;
                timer.remaining.get().saturating_add(ahead.max(0) as ULONG)
            }
            Place::Calling => 0,
        }
    }
}

impl Locked {
    /// Ends the wait or sleep that `thread` is about to begin with `status` after so many ticks.
    pub(crate) fn start_timeout(&self, thread: Thread, ticks: ULONG, status: Code) {
        thread.timeout.status.set(status);
        thread.add_pending(pending::TIMEOUT);
        self.timers.hang(thread.timeout.reference(), ticks);
    }

    #[inline(always)]
    pub(crate) fn stop_timeout(&self, thread: Thread) {
        if thread.take_pending(pending::TIMEOUT) {
            self.timers.take(thread.timeout.reference());
        }
    }

    pub(crate) fn clock(&self) -> ULONG {
        self.timers.now.get().wrapping_add(self.timers.clock.get())
    }

    pub(crate) fn set_clock(&self, ticks: ULONG) {
        self.timers.clock.set(ticks.wrapping_sub(self.timers.now.get()));
    }

    /// One tick: clock, time-slice, wheel. Constant time whatever is due. Called in the tick interrupt.
    #[inline(always)]
    pub(crate) fn tick(&self) {
        let timers = &self.timers;
        let now = timers.now.get().wrapping_add(1);
        timers.now.set(now);
        if let Some(running) = port::interrupted() {
            self.time_slice_tick(running);
        }
        if timers.slot(now).front().is_some() {
            self.expire_slot(now);
        }
    }

    #[cold] // for the sake of ticks with nothing to do
    #[inline(never)]
    fn expire_slot(&self, now: ULONG) {
        self.timers.expired.append(self.timers.slot(now));
        self.wake_timer_thread();
    }

    fn wake_timer_thread(&self) {
        let thread = timer_thread();
        if thread.state.get() == TX_SUSPENDED as u8 {
            self.make_ready(thread);
        }
    }

    pub(crate) fn has_timer(&self, timer: Timer) -> bool {
        let mut found = false;
        self.timers.created.for_each(|t| found |= t == timer);
        found
    }

    pub(crate) fn timer_created(&self, timer: Timer) -> bool {
        timer.id.get() == TIMER_ID
    }
}

fn timer_thread() -> Thread {
    // SAFETY: a static; created before the first tick.
    unsafe { Thread::new(NonNull::new_unchecked(TIMER_THREAD.0.get())) }
}

/// Creates the system timer thread. Called once, during initialization.
pub(crate) fn create_timer_thread() {
    let options = ThreadOptions {
        name: c"System Timer Thread".as_ptr(),
        entry: timer_thread_entry,
        input: 0,
        stack_start: TIMER_THREAD_STACK.0.get().cast(),
        stack_size: TIMER_STACK as ULONG,
        priority: 0,
        threshold: 0,
        time_slice: TX_NO_TIME_SLICE,
        auto_start: false,
        timer_thread: true,
    };
    // SAFETY: block and stack are statics that nothing else uses yet: initialization runs once.
    unsafe {
        TIMER_THREAD.0.get().write(TX_THREAD::new());
        timer_thread().create(&options);
    }
}

/// Whether the caller is an application timer's expiration function.
pub(crate) fn in_timer_thread() -> bool {
    matches!(port::current(), port::Current::Thread(t) if t.is_timer_thread())
}

unsafe extern "C-unwind" fn timer_thread_entry(_input: ULONG) {
    let me = timer_thread();
    loop {
        let k = lock();
        let Some(timer) = k.timers.expired.pop_front() else {
            Locked::suspend_running(me, TX_SUSPENDED as u8, k);
            continue;
        };
        timer.place.set(Place::Inactive);
        let rest = timer.remaining.replace(0);
        if rest != 0 {
            bump(&timer.performance.adjusts, &TOTALS.timers.adjusts);
            k.timers.hang(timer, rest);
        } else if let Some(thread) = timer.thread.get() {
            TOTALS.timers.expirations.bump();
            thread.count_timeout();
            let status = timer.status.get() as UINT;
            k.wake(thread, status);
        } else {
            expire(k, timer);
        }
    }
}

/// Calls an application timer's function with the kernel unlocked, and hangs a periodic timer again
/// unless the function, or anybody while it ran, changed its mind.
fn expire(k: Locked, timer: TimerRef) {
    bump(&timer.performance.expirations, &TOTALS.timers.expirations);
    let Some(expiration) = timer.expiration.get() else { return };
    let input = timer.input.get();
    if timer.reschedule.get() != 0 {
        timer.place.set(Place::Calling);
    }
    k.timers.calling.set(Some(timer));
    drop(k);
    // SAFETY: the creator of the timer vouched for the function and its input.
    unsafe { expiration(input) };
    let k = lock();
    if k.timers.calling.take() == Some(timer) && timer.place.get() == Place::Calling {
        bump(&timer.performance.reactivates, &TOTALS.timers.reactivates);
        k.timers.hang(timer, timer.reschedule.get());
    }
}

/// A snapshot of a timer.
pub(crate) struct TimerInfo {
    pub(crate) name: *const CHAR,
    pub(crate) active: bool,
    pub(crate) remaining: ULONG,
    pub(crate) reschedule: ULONG,
    pub(crate) next: Option<Timer>,
}

/// What `tx_timer_create` is told.
pub(crate) struct TimerOptions {
    pub(crate) name: *const CHAR,
    pub(crate) expiration: TimerCallback,
    pub(crate) input: ULONG,
    pub(crate) initial: ULONG,
    pub(crate) reschedule: ULONG,
    pub(crate) activate: bool,
}

impl Timer {
    pub(crate) fn create(self, options: &TimerOptions) {
        let k = lock();
        let internal = &self.internal;
        internal.thread.set(None);
        internal.expiration.set(Some(options.expiration));
        internal.input.set(options.input);
        internal.remaining.set(options.initial);
        internal.reschedule.set(options.reschedule);
        internal.place.set(Place::Inactive);
        self.name.set(options.name);
        self.id.set(TIMER_ID);
        k.timers.created.push_back(self);
        if options.activate {
            bump(&internal.performance.activates, &TOTALS.timers.activates);
            self.hang(&k);
        }
    }

    /// Activates with the ticks to go. 0xFFFFFFFF ticks never expire.
    fn hang(self, k: &Locked) {
        let ticks = self.internal.remaining.get();
        if ticks != TX_WAIT_FOREVER {
            k.timers.hang(self.internal.reference(), ticks);
        }
    }

    pub(crate) fn delete(self) -> UINT {
        let k = lock();
        let internal = self.internal.reference();
        k.timers.take(internal);
        if k.timers.calling.get() == Some(internal) {
            k.timers.calling.set(None);
        }
        self.id.set(0);
        k.timers.created.remove(self);
        TX_SUCCESS
    }

    pub(crate) fn activate(self) -> UINT {
        let k = lock();
        let internal = &self.internal;
        if internal.place.get() != Place::Inactive || internal.remaining.get() == 0 {
            return TX_ACTIVATE_ERROR;
        }
        bump(&internal.performance.activates, &TOTALS.timers.activates);
        self.hang(&k);
        TX_SUCCESS
    }

    /// Stops the timer and keeps what it had to go; a periodic one that is due, or whose function is
    /// running, keeps its period.
    pub(crate) fn deactivate(self) -> UINT {
        let k = lock();
        let internal = self.internal.reference();
        bump(&internal.performance.deactivates, &TOTALS.timers.deactivates);
        let active = internal.place.get() != Place::Inactive;
        k.timers.take(internal);
        if active && internal.remaining.get() == 0 {
            internal.remaining.set(internal.reschedule.get());
        }
        TX_SUCCESS
    }

    /// Takes effect on an inactive timer; an active one is left alone.
    pub(crate) fn change(self, initial: ULONG, reschedule: ULONG) -> UINT {
        let _k = lock();
        if self.internal.place.get() == Place::Inactive {
            self.internal.remaining.set(initial);
            self.internal.reschedule.set(reschedule);
        }
        TX_SUCCESS
    }

    pub(crate) fn info(self) -> TimerInfo {
        let k = lock();
        let internal = self.internal.reference();
        TimerInfo {
            name: self.name.get(),
            active: internal.place.get() != Place::Inactive,
            remaining: k.timers.remaining(internal),
            reschedule: internal.reschedule.get(),
            next: self.created_links.next(),
        }
    }
}
