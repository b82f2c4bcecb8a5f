//! The kernel on a development machine: deterministic, for tests.
//!
//! Every kernel thread is an OS thread, and a baton makes sure that exactly one of them (or the test
//! itself, which plays idle loop and interrupt controller) runs. Nothing happens by itself: time passes
//! when somebody calls [`tick`], an interrupt happens where somebody calls [`interrupt`], or at the
//! points a test installs with [`set_interrupt_point`]. The same test therefore always takes the same
//! course.
//!
//! A thread that is terminated ends its OS thread by unwinding. On the target its frames are simply
//! abandoned, without drops; here drops run, and one that calls the kernel parks its OS thread for good.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::kernel::{self, lock};
use crate::thread::{self, Thread};
use crate::types::*;

/// A value only the holder of the baton touches.
struct Baton<T>(T);
// SAFETY: one OS thread at a time holds the baton, and it is handed over through a mutex.
unsafe impl<T> Sync for Baton<T> {}
// SAFETY: as for `Sync`.
unsafe impl<T> Send for Baton<T> {}

impl<T> Baton<T> {
    fn into_inner(self) -> T {
        self.0
    }
}

/// Who is to run when the outermost interrupt ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Whom it interrupted.
    Interrupted,
    /// Whom the scheduler chooses.
    Any,
    /// This thread: it preempts the interrupted one. The scheduler would choose the same, and is asked here.
    Preempting(Thread),
}

struct State {
    current: Cell<super::Current>,
    interrupted: Cell<Option<Thread>>,
    masked: Cell<bool>,
    next: Cell<Next>,
    finished: Cell<bool>,
}

static STATE: Baton<State> = Baton(State {
    current: Cell::new(super::Current::Initialization),
    interrupted: Cell::new(None),
    masked: Cell::new(true),
    next: Cell::new(Next::Interrupted),
    finished: Cell::new(false),
});

fn state() -> &'static State {
    &STATE.0
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Grant {
    Nothing,
    Run,
    Die,
}

/// Where one OS thread waits for the baton, and where it says that it is over.
struct Slot {
    grant: Mutex<Grant>,
    over: Mutex<bool>,
    changed: Condvar,
}

impl Slot {
    fn new() -> Arc<Self> {
        Arc::new(Self { grant: Mutex::new(Grant::Nothing), over: Mutex::new(false), changed: Condvar::new() })
    }

    fn give(&self, grant: Grant) {
        *locked(&self.grant) = grant;
        self.changed.notify_all();
    }

    fn take(&self) -> Grant {
        let mut grant = locked(&self.grant);
        while *grant == Grant::Nothing {
            grant = self.changed.wait(grant).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::replace(&mut *grant, Grant::Nothing)
    }

    fn set_over(&self) {
        *locked(&self.over) = true;
        self.changed.notify_all();
    }

    fn wait_over(&self) {
        let mut over = locked(&self.over);
        while !*over {
            over = self.changed.wait(over).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

static SLOTS: Mutex<Option<HashMap<usize, Arc<Slot>>>> = Mutex::new(None);
static MAIN: Mutex<Option<Arc<Slot>>> = Mutex::new(None);
static PENDING: Mutex<Vec<Handler>> = Mutex::new(Vec::new());
static INTERRUPT_POINT: Mutex<Option<fn()>> = Mutex::new(None);
static PANIC: Mutex<Option<Box<dyn std::any::Any + Send>>> = Mutex::new(None);
static ONE_KERNEL: Mutex<()> = Mutex::new(());

type Handler = Box<dyn FnOnce() + Send>;

/// Payload of the unwinding that ends a terminated thread.
struct Killed;

std::thread_local! {
    static DYING: Cell<bool> = const { Cell::new(false) };
    /// This OS thread executes the interrupt point.
    static IN_POINT: Cell<bool> = const { Cell::new(false) };
    /// The slot of the kernel thread that this OS thread is.
    static MINE: Cell<Option<Arc<Slot>>> = const { Cell::new(None) };
    /// Who gets the baton when this dying OS thread has unwound.
    static HEIR: Cell<Option<Option<Thread>>> = const { Cell::new(None) };
}

fn key(thread: Thread) -> usize {
    thread.as_ptr() as usize
}

/// The slot of `thread`; starts its OS thread at the first turn.
fn slot_of(thread: Thread) -> Arc<Slot> {
    let mut slots = locked(&SLOTS);
    let slots = slots.get_or_insert_default();
    slots
        .entry(key(thread))
        .or_insert_with(|| {
            let slot = Slot::new();
            let mine = slot.clone();
            let thread = Baton(thread);
            let spawned = std::thread::Builder::new().stack_size(256 * 1024).spawn(move || {
                MINE.set(Some(mine.clone()));
                run_thread(thread.into_inner(), &mine);
            });
            assert!(spawned.is_ok(), "the host has no more OS threads");
            slot
        })
        .clone()
}

fn run_thread(thread: Thread, slot: &Slot) {
    if slot.take() == Grant::Run {
        state().masked.set(false);
        let Err(payload) = catch_unwind(AssertUnwindSafe(|| thread::shell(thread)));
        if !payload.is::<Killed>() {
            // For instance a failed assertion of a test: `run` ends and passes it on.
            *locked(&PANIC) = Some(payload);
            state().finished.set(true);
            HEIR.set(Some(None));
        }
    }
    slot.set_over();
    if let Some(heir) = HEIR.take() {
        hand_over(heir);
    }
}

/// Gives the baton away.
fn hand_over(to: Option<Thread>) {
    match to {
        Some(thread) => slot_of(thread).give(Grant::Run),
        None => main_slot().give(Grant::Run),
    }
}

fn main_slot() -> Arc<Slot> {
    locked(&MAIN).get_or_insert_with(Slot::new).clone()
}

fn die() -> ! {
    DYING.set(true);
    resume_unwind(Box::new(Killed))
}

/// A drop of a dying thread called the kernel: let the others go on and never return.
fn park_for_good() -> ! {
    if let Some(slot) = MINE.take() {
        slot.set_over();
    }
    if let Some(heir) = HEIR.take() {
        hand_over(heir);
    }
    loop {
        std::thread::park();
    }
}

/// What the kernel asks of a port.
pub(crate) mod port {
    use super::*;
    use crate::port::Current;

    /// Bytes of a thread's stack that a switch needs: threads run on the stacks of OS threads here.
    pub(crate) const SWITCH_STACK: usize = 0;

    /// `TX_INT_ENABLE` or `TX_INT_DISABLE`.
    pub(crate) type Posture = UINT;

    /// A posture for a guard that restores none.
    pub(crate) const MASKED: Posture = TX_INT_DISABLE;

    pub(crate) fn unknown(status: UINT) -> UINT {
        status
    }

    pub(crate) fn success() -> UINT {
        TX_SUCCESS
    }

    fn posture(masked: bool) -> Posture {
        if masked { TX_INT_DISABLE } else { TX_INT_ENABLE }
    }

    pub(crate) struct Context {
        turns: Cell<u32>,
        next: Cell<Option<Thread>>,
    }

    impl Context {
        pub(crate) fn turns(&self) -> u32 {
            self.turns.get()
        }

        pub(crate) fn count_turn(&self) {
            self.turns.set(self.turns.get().wrapping_add(1));
        }

        pub(crate) fn set_next(&self, next: Option<Thread>) {
            self.next.set(next);
        }

        pub(crate) fn next(&self) -> Option<Thread> {
            self.next.get()
        }
    }

    pub(crate) struct Executor {
        context: Context,
        id: Cell<u32>,
        slow: Cell<u8>,
        threshold: Cell<u8>,
        layer: Cell<bool>,
    }

    impl Executor {
        pub(crate) const fn new() -> Self {
            Self {
                context: Context { turns: Cell::new(0), next: Cell::new(None) },
                id: Cell::new(0),
                slow: Cell::new(0),
                threshold: Cell::new(0),
                layer: Cell::new(false),
            }
        }

        pub(crate) fn slow(&self) -> &Cell<u8> {
            &self.slow
        }

        pub(crate) fn threshold(&self) -> &Cell<u8> {
            &self.threshold
        }

        pub(crate) fn layer(&self) -> &Cell<bool> {
            &self.layer
        }

        pub(crate) fn context(&self) -> &Context {
            &self.context
        }

        pub(crate) fn id(&self) -> u32 {
            self.id.get()
        }

        pub(crate) fn set_id(&self, id: u32) {
            self.id.set(id);
        }
    }

    pub(crate) fn mask() -> Posture {
        if DYING.get() {
            if std::thread::panicking() {
                park_for_good();
            }
            return TX_INT_DISABLE;
        }
        posture(state().masked.replace(true))
    }

    pub(crate) fn restore(posture: Posture) {
        if DYING.get() {
            return;
        }
        state().masked.set(posture != TX_INT_ENABLE);
        if posture == TX_INT_ENABLE {
            deliver_pending();
            interrupt_point();
        }
    }

    pub(crate) fn interrupt_control(new: UINT) -> UINT {
        let old = mask();
        restore(new & TX_INT_DISABLE);
        old
    }

    pub(crate) fn current() -> Current {
        state().current.get()
    }

    pub(crate) fn running() -> Option<Thread> {
        match current() {
            Current::Thread(thread) => Some(thread),
            Current::Interrupt => state().interrupted.get(),
            Current::Idle | Current::Initialization => None,
        }
    }

    pub(crate) fn is_running(thread: Thread) -> bool {
        running() == Some(thread)
    }

    /// The thread that executes, if it belongs to a layer.
    pub(crate) fn executing_in_layer() -> Option<Thread> {
        executing_without(0).filter(|thread| thread.executor.layer().get())
    }

    /// The thread that executes, if it has none of these bits of [`crate::port::slow`].
    pub(crate) fn executing_without(flags: u8) -> Option<Thread> {
        // A thread that unwinds because it was terminated goes no further than into the kernel, see `mask`.
        if DYING.get() {
            return None;
        }
        match current() {
            Current::Thread(thread) if thread.executor.slow().get() & flags == 0 => Some(thread),
            _ => None,
        }
    }

    /// Whether a thread of this priority that has just become ready may concern who executes.
    pub(crate) fn concerns(priority: u8) -> bool {
        match current() {
            Current::Thread(thread) => priority < thread.threshold(),
            Current::Interrupt => true,
            Current::Idle | Current::Initialization => false,
        }
    }

    /// Whether the caller is `thread` itself, no interrupt handler.
    pub(crate) fn executes(thread: Thread) -> bool {
        current() == Current::Thread(thread)
    }

    pub(crate) fn request_reschedule() {
        state().next.set(Next::Any);
    }

    /// In an interrupt handler: sees to it that `thread`, the only ready one of its priority and ready only
    /// now, runs when the interrupt ends, if it preempts what was interrupted. False outside of interrupts.
    pub(crate) fn preempt_later(thread: Thread, priority: u8) -> bool {
        if current() != Current::Interrupt {
            return false;
        }
        let interrupted = state().interrupted.get();
        if interrupted.is_none_or(|i| priority < i.threshold()) {
            let simple = interrupted.is_some_and(|i| i.executor.slow().get() == 0);
            let first = state().next.get() == Next::Interrupted;
            state().next.set(if simple && first { Next::Preempting(thread) } else { Next::Any });
        }
        true
    }

    pub(crate) fn switch(from: Thread, to: Option<Thread>) {
        let masked = state().masked.get();
        state().current.set(to.map_or(Current::Idle, Current::Thread));
        if DYING.get() {
            HEIR.set(Some(to));
            die();
        }
        let mine = slot_of(from);
        hand_over(to);
        if mine.take() == Grant::Die {
            die();
        }
        state().masked.set(masked);
    }

    /// [`switch`] by a thread that suspends itself: counts its turn. When it is chosen again the kernel is
    /// unlocked to `posture`; returns how the wait ended.
    pub(crate) fn suspend(from: Thread, to: Option<Thread>, posture: Posture) -> UINT {
        from.context().count_turn();
        switch(from, to);
        restore(posture);
        from.wait_status.get().into()
    }

    /// [`switch`] by a thread that made `to` ready. When it is chosen again the kernel is unlocked to
    /// `posture`; returns success.
    pub(crate) fn give_way(from: Thread, to: Thread, posture: Posture) -> UINT {
        switch(from, Some(to));
        restore(posture);
        TX_SUCCESS
    }

    /// Writes `words` times `word`.
    ///
    /// # Safety
    ///
    /// `start` is aligned and so many words may be written there.
    pub(crate) unsafe fn fill_words(start: *mut u32, words: usize, word: u32) {
        for at in 0..words {
            // SAFETY: the caller's promise.
            unsafe { start.add(at).write(word) };
        }
    }

    pub(crate) fn build(thread: Thread) {
        let context = thread.context();
        context.turns.set(0);
        context.next.set(None);
    }

    pub(crate) fn own_stack_intact(thread: Thread) -> bool {
        crate::port::lowest_stack_word(thread) == thread.stack_fill.get()
    }

    pub(crate) use own_stack_intact as interrupted_stack_intact;

    pub(crate) fn interrupted() -> Option<Thread> {
        state().interrupted.get()
    }

    pub(crate) fn first_unused_memory() -> *mut VOID {
        std::ptr::null_mut()
    }

    /// Another thread was terminated: ends its OS thread.
    pub(crate) fn abandon(thread: Thread) {
        let slot = locked(&SLOTS).as_mut().and_then(|slots| slots.remove(&key(thread)));
        if let Some(slot) = slot {
            slot.give(Grant::Die);
            slot.wait_over();
        }
    }

    /// The running thread ends: its next switch unwinds.
    pub(crate) fn abandon_running() {
        if let Some(thread) = running() {
            if let Some(slots) = locked(&SLOTS).as_mut() {
                slots.remove(&key(thread));
            }
            DYING.set(true);
        }
    }

    pub(crate) fn relinquish() {
        let posture = mask();
        if let Current::Thread(running) = current() {
            let next = match running.context().next() {
                Some(next) => {
                    running.context().count_turn();
                    Some(next)
                }
                None => lock().relinquish_slow(running),
            };
            if next != Some(running) {
                switch(running, next);
            }
        }
        restore(posture);
    }

    pub(crate) fn relinquish_inline() {
        relinquish();
    }

    /// The host's kernel is entered with [`run`](super::run).
    pub(crate) unsafe fn start() -> ! {
        panic!("on the host the kernel is entered with kernel::port::host::run")
    }
}

fn deliver_pending() {
    while state().current.get() != super::Current::Interrupt && !state().masked.get() {
        let mut pending = locked(&PENDING);
        if pending.is_empty() {
            return;
        }
        let handler = pending.remove(0);
        drop(pending);
        take_interrupt(handler);
    }
}

fn interrupt_point() {
    if state().current.get() == super::Current::Interrupt {
        return;
    }
    let point = *locked(&INTERRUPT_POINT);
    if let Some(point) = point
        && !state().finished.get()
        && !IN_POINT.replace(true)
    {
        point();
        IN_POINT.set(false);
    }
}

/// Calls `point` whenever the kernel unmasks interrupts in a thread or in the idle loop, for instance
/// to raise an [`interrupt`] there; not for the unmaskings that `point` itself causes in the same
/// thread. `None` removes it.
pub fn set_interrupt_point(point: Option<fn()>) {
    *locked(&INTERRUPT_POINT) = point;
}

/// An interrupt arrives: `handler` runs in interrupt context now, or as soon as the running context
/// unmasks interrupts; a thread it makes ready may run before this returns.
pub fn interrupt(handler: impl FnOnce() + Send + 'static) {
    if state().masked.get() {
        locked(&PENDING).push(Box::new(handler));
    } else {
        take_interrupt(Box::new(handler));
    }
}

fn take_interrupt(handler: Handler) {
    use super::Current;
    let before = state().current.get();
    let nested = before == Current::Interrupt;
    if !nested {
        state().interrupted.set(port::running());
        state().next.set(Next::Interrupted);
    }
    state().current.set(Current::Interrupt);
    state().masked.set(true);
    handler();
    state().masked.set(true);
    state().current.set(before);
    if !nested && state().next.get() != Next::Interrupted {
        let next = lock().after_interrupt();
        if let Next::Preempting(thread) = state().next.get() {
            assert!(next == Some(thread), "the end of an interrupt runs a thread that the scheduler does not choose");
        }
        match before {
            Current::Thread(running) if next != Some(running) => port::switch(running, next),
            Current::Idle if next.is_some() => leave_idle(next),
            _ => {}
        }
    }
    // An interrupt is taken only while unmasked, nested ones included.
    port::restore(TX_INT_ENABLE);
}

/// One tick of the system clock, as an interrupt.
pub fn tick() {
    interrupt(|| lock().tick());
}

/// Unmasks interrupts inside an interrupt handler while `f` runs, so that [`interrupt`] nests.
pub fn allow_nesting(f: impl FnOnce()) {
    state().masked.set(false);
    f();
    state().masked.set(true);
}

/// Ends [`run`]. Called by a kernel thread; does not return to it.
pub fn finish() -> ! {
    state().finished.set(true);
    let super::Current::Thread(me) = state().current.get() else { panic!("finish() outside a thread") };
    state().masked.set(true);
    port::switch(me, None);
    unreachable!("a finished kernel went on")
}

/// Checks the scheduler's lists, bitmaps and fast-path pointers against each other, and every object.
pub fn check_invariants() -> Result<(), &'static str> {
    crate::c_api::check_invariants()
}

/// How [`run`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A thread called [`finish`].
    Finished,
    /// No thread was ready for the number of idle ticks allowed.
    Idle,
}

fn leave_idle(next: Option<Thread>) {
    if let Some(thread) = next {
        state().current.set(super::Current::Thread(thread));
        hand_over(next);
        main_slot().take();
        state().masked.set(true);
    }
}

/// Runs a kernel of its own: `define` plays `tx_application_define`; then the threads run, and a tick
/// passes whenever all of them wait. Ends when a thread calls [`finish`] or after `idle_ticks` ticks in
/// which nobody was ready. One kernel at a time: tests in parallel wait for one another here.
pub fn run(idle_ticks: u32, define: impl FnOnce()) -> Outcome {
    let _one = locked(&ONE_KERNEL);
    state().current.set(super::Current::Initialization);
    state().interrupted.set(None);
    state().masked.set(true);
    state().next.set(Next::Interrupted);
    state().finished.set(false);
    locked(&PENDING).clear();
    *locked(&MAIN) = Some(Slot::new());
    kernel::reset();
    // SAFETY: the one initialization of this kernel; masked.
    unsafe { crate::initialize::initialize(|| {}, |_| define()) };
    state().current.set(super::Current::Idle);
    leave_idle(lock().first_thread());
    let mut idle = 0;
    while !state().finished.get() && idle < idle_ticks {
        port::restore(TX_INT_ENABLE);
        if !state().finished.get() {
            idle += 1;
            tick();
        }
    }
    state().masked.set(true);
    set_interrupt_point(None);
    let slots = locked(&SLOTS).take();
    for slot in slots.into_iter().flatten().map(|(_, slot)| slot) {
        slot.give(Grant::Die);
        slot.wait_over();
    }
    if let Some(payload) = locked(&PANIC).take() {
        resume_unwind(payload);
    }
    if state().finished.get() { Outcome::Finished } else { Outcome::Idle }
}
