//! Threads: control block and services.

use core::cell::Cell;
use core::ptr::null;

use crate::kernel::{Locked, lock, set_bits};
use crate::list::{LinkKind, Links, List};
use crate::mutex::{Mutex, NOT_INHERITED, OwnedMutex};
use crate::object_ref;
use crate::performance::{Preemptor, TOTALS, ThreadCounters, bump};
use crate::port::{self, Context, Current, Executor, slow};
use crate::scheduler::ReadyList;
use crate::timer::TimerInternal;
use crate::types::*;
use crate::wait::WaitQueueRef;

/// Tag of a created thread.
pub(crate) const THREAD_ID: u32 = crate::types::tag(0x7D);

/// Bits of [`TX_THREAD::pending`].
pub(crate) mod pending {
    /// The thread's timeout is in the wheel, or was until it expired.
    pub(crate) const TIMEOUT: u8 = 1;
    /// A suspend came during the wait: the thread is suspended when it ends.
    pub(crate) const SUSPENSION: u8 = 2;
}

/// Control block of a thread.
///
/// Memory belongs to the application, which leaves it alone and in place from
/// `tx_thread_create` until `tx_thread_delete` has succeeded. All fields are the kernel's.
#[repr(C)]
pub struct TX_THREAD {
    /// First, so that the processor's pointer to the running context is a pointer to the thread.
    pub(crate) executor: Executor,
    pub(crate) name: Cell<*const CHAR>,
    pub(crate) stack_start: Cell<*mut u8>,
    /// The lowest whole word of the stack, and what a switch needs above it.
    pub(crate) stack_floor: Cell<*mut u32>,
    /// What that word holds as long as it is intact: loaded together with its address.
    pub(crate) stack_fill: Cell<u32>,
    /// Bytes from `stack_start` that belong to the stack.
    pub(crate) stack_size: Cell<ULONG>,
    pub(crate) entry: Cell<Option<ThreadEntry>>,
    pub(crate) entry_input: Cell<ULONG>,
    pub(crate) entry_exit_notify: Cell<Option<EntryExitNotify>>,
    ready_links: Links<Thread>,
    /// The ready list of the thread's priority.
    ready_list: Cell<*const ReadyList>,
    /// The bit of the thread's priority in the map of the ready ones.
    pub(crate) ready_bit: Cell<u32>,
    created_links: Links<Thread>,
    wait_links: Links<Thread>,
    /// Where the thread waits. Means something only in the states of a wait; `None` in a sleep.
    pub(crate) wait_queue: Cell<Option<WaitQueueRef>>,
    /// The waiter's message buffer or, once woken, the memory it got.
    pub(crate) wait_memory: Cell<*mut ULONG>,
    /// The mutexes the thread owns. Between two fields that the compiler would store as a pair, which
    /// takes registers of a pair.
    pub(crate) owned: List<Mutex, OwnedMutex>,
    /// What the thread waits for: event flags, bytes of memory.
    pub(crate) wait_value: Cell<ULONG>,
    pub(crate) timeout: TimerInternal,
    /// Times the processor was taken from this thread; its own turns are counted in the context.
    pub(crate) preemptions: Cell<ULONG>,
    /// Ticks of a full time-slice.
    pub(crate) time_slice: Cell<ULONG>,
    /// Ticks left of the current one, valid while `slice_turn` is the turn count of the context.
    slice_left: Cell<ULONG>,
    slice_turn: Cell<ULONG>,
    pub(crate) state: Cell<u8>,
    /// How the last wait ended; success also while the thread is preempted at the end of a service. Beside
    /// the state, as the two change together.
    pub(crate) wait_status: Cell<u8>,
    pub(crate) priority: Cell<u8>,
    pub(crate) user_priority: Cell<u8>,
    pub(crate) user_threshold: Cell<u8>,
    /// Best priority lent by the waiters of owned inherit mutexes, else [`NOT_INHERITED`]. The
    /// effective priority is the better of this and the user's; the effective threshold is the
    /// stronger of the effective priority and the user's threshold.
    pub(crate) inherited: Cell<u8>,
    /// How the thread waits: option of an event flags request, role at a queue.
    pub(crate) wait_option: Cell<u8>,
    /// What the end of a wait or sleep has to see to: bits of [`pending`]. Mostly nothing.
    pub(crate) pending: Cell<u8>,
    pub(crate) performance: ThreadCounters,
    pub(crate) last_preempted_by: Preemptor,
}

/// Where the fast path's assembly finds the next ready equal.
#[cfg(target_os = "none")]
pub(crate) const READY_NEXT: usize = core::mem::offset_of!(TX_THREAD, ready_links);
/// Where the end of an interrupt finds the ready list.
#[cfg(target_os = "none")]
pub(crate) const READY_LIST: usize = core::mem::offset_of!(TX_THREAD, ready_list);
/// Where it counts a preemption.
#[cfg(target_os = "none")]
pub(crate) const PREEMPTIONS: usize = core::mem::offset_of!(TX_THREAD, preemptions);
/// Where it finds the turn that the time-slice belongs to.
#[cfg(target_os = "none")]
pub(crate) const SLICE_TURN: usize = core::mem::offset_of!(TX_THREAD, slice_turn);

// The block holds all that a switch saves; this bounds what a thread costs beside its stack.
#[cfg(target_arch = "arm")]
const _: () = assert!(size_of::<TX_THREAD>() <= 256 + if cfg!(feature = "performance-info") { 64 } else { 0 });

// SAFETY: the fields are reached only with the kernel locked (see `Kernel`), and the context words
// only by the switch code, which runs with interrupts masked.
unsafe impl Sync for TX_THREAD {}
// SAFETY: as for `Sync`; the block has no tie to a particular OS thread.
unsafe impl Send for TX_THREAD {}

object_ref! {
    /// A created thread.
    Thread -> TX_THREAD
}

pub(crate) struct CreatedThread;
impl LinkKind<Thread> for CreatedThread {
    fn links(node: &Thread) -> &Links<Thread> {
        &node.created_links
    }
}

impl TX_THREAD {
    /// A control block that no kernel knows yet.
    pub const fn new() -> Self {
        Self {
            executor: Executor::new(),
            name: Cell::new(null()),
            stack_start: Cell::new(core::ptr::null_mut()),
            stack_floor: Cell::new(core::ptr::null_mut()),
            stack_fill: Cell::new(TX_STACK_FILL),
            stack_size: Cell::new(0),
            entry: Cell::new(None),
            entry_input: Cell::new(0),
            entry_exit_notify: Cell::new(None),
            ready_links: Links::new(),
            ready_list: Cell::new(null()),
            ready_bit: Cell::new(0),
            created_links: Links::new(),
            wait_links: Links::new(),
            wait_queue: Cell::new(None),
            wait_value: Cell::new(0),
            wait_memory: Cell::new(core::ptr::null_mut()),
            owned: List::new(),
            timeout: TimerInternal::new(),
            preemptions: Cell::new(0),
            time_slice: Cell::new(0),
            slice_left: Cell::new(0),
            slice_turn: Cell::new(0),
            state: Cell::new(TX_TERMINATED as u8),
            wait_status: Cell::new(0),
            priority: Cell::new(0),
            user_priority: Cell::new(0),
            user_threshold: Cell::new(0),
            inherited: Cell::new(NOT_INHERITED),
            wait_option: Cell::new(0),
            pending: Cell::new(0),
            performance: ThreadCounters::new(),
            last_preempted_by: Preemptor::new(),
        }
    }

    /// Writes a control block that no kernel knows yet, like [`Self::new`] but for what `create` sets.
    ///
    /// # Safety
    ///
    /// `block` may be written and is aligned.
    pub(crate) unsafe fn clear(block: *mut Self) {
        // SAFETY: the caller's promise; numbers, null pointers and `None` are what zeroes make of every field.
        unsafe { port::fill_words(block.cast(), size_of::<Self>() / size_of::<u32>(), 0) };
    }

    #[inline(always)]
    pub(crate) fn context(&self) -> &Context {
        self.executor.context()
    }

    #[inline(always)]
    pub(crate) fn links_ready(&self) -> &Links<Thread> {
        &self.ready_links
    }

    pub(crate) fn links_wait(&self) -> &Links<Thread> {
        &self.wait_links
    }

    #[inline(always)]
    pub(crate) fn is_ready(&self) -> bool {
        self.state.get() == TX_READY as u8
    }

    #[inline(always)]
    pub(crate) fn is_timer_thread(&self) -> bool {
        self.executor.slow().get() & slow::TIMER_THREAD != 0
    }

    /// A relinquish that this thread makes now may simply go to the next of its equals.
    #[inline(always)]
    pub(crate) fn is_fast(&self) -> bool {
        self.executor.slow().get() == 0
    }

    /// The preemption-threshold in force.
    #[inline(always)]
    pub(crate) fn threshold(&self) -> u8 {
        self.executor.threshold().get()
    }

    /// Gives a thread that is in no ready list the priority and threshold that are in force from now on.
    #[inline(always)]
    pub(crate) fn set_levels(&self, priority: u8, threshold: u8) {
        self.priority.set(priority);
        self.ready_list.set(crate::kernel::ready_list(priority));
        self.ready_bit.set(crate::scheduler::bit(priority));
        self.set_threshold(threshold);
    }

    /// Gives a thread the threshold that is in force from now on.
    #[inline(always)]
    pub(crate) fn set_threshold(&self, threshold: u8) {
        self.executor.threshold().set(threshold);
        self.set_slow(slow::THRESHOLD, threshold != self.priority.get());
    }

    /// Sets or clears bits of [`slow`].
    #[inline(always)]
    pub(crate) fn set_slow(&self, bits: u8, on: bool) {
        set_bits(self.executor.slow(), bits, on);
    }

    /// The ready list of the thread's priority.
    #[inline(always)]
    pub(crate) fn ready_list(&self) -> &'static ReadyList {
        // SAFETY: `set_levels`, which comes before the kernel knows the thread, stored the address of one
        // of the kernel's lists, which live for ever; shared references only, as everywhere in the kernel.
        unsafe { &*self.ready_list.get() }
    }

    /// Waits on an object or sleeps.
    pub(crate) fn is_waiting(&self) -> bool {
        !matches!(self.state.get() as UINT, TX_READY | TX_SUSPENDED | TX_COMPLETED | TX_TERMINATED)
    }

    /// Sets bits of [`pending`].
    #[inline(always)]
    pub(crate) fn add_pending(&self, bits: u8) {
        self.pending.set(self.pending.get() | bits);
    }

    /// Clears bits of [`pending`]; says whether one was set.
    #[inline(always)]
    pub(crate) fn take_pending(&self, bits: u8) -> bool {
        let pending = self.pending.get();
        self.pending.set(pending & !bits);
        pending & bits != 0
    }

    /// Completed or terminated: nothing of the thread will run again.
    fn is_over(&self) -> bool {
        matches!(self.state.get() as UINT, TX_COMPLETED | TX_TERMINATED)
    }

    /// Starts a fresh time-slice.
    pub(crate) fn refill_slice(&self) {
        self.slice_left.set(self.time_slice.get());
        self.slice_turn.set(self.context().turns());
    }

    /// Takes one tick from the slice; true when that used it up (the next one is then in place). The
    /// fast path does not touch slices: a turn count that moved since the last tick says that the
    /// thread gave the processor away in between, which earns a fresh slice.
    pub(crate) fn use_slice(&self) -> bool {
        if self.slice_turn.get() != self.context().turns() {
            self.refill_slice();
        }
        let left = self.slice_left.get().saturating_sub(1);
        self.slice_left.set(if left == 0 { self.time_slice.get() } else { left });
        left == 0
    }

    /// Ticks left of the time-slice.
    #[inline(always)]
    pub(crate) fn slice_left(&self) -> ULONG {
        if self.slice_turn.get() == self.context().turns() { self.slice_left.get() } else { self.time_slice.get() }
    }
}

/// What `tx_thread_create` is told.
pub(crate) struct ThreadOptions {
    pub(crate) name: *const CHAR,
    pub(crate) entry: ThreadEntry,
    pub(crate) input: ULONG,
    pub(crate) stack_start: *mut u8,
    pub(crate) stack_size: ULONG,
    pub(crate) priority: u8,
    pub(crate) threshold: u8,
    pub(crate) time_slice: ULONG,
    pub(crate) auto_start: bool,
    pub(crate) timer_thread: bool,
}

impl Thread {
    /// Fills the stack and links the thread; the arguments have been checked.
    ///
    /// # Safety
    ///
    /// `options.stack_start` is the start of `stack_size` bytes that belong to this thread alone
    /// until it is deleted.
    #[inline(always)]
    pub(crate) unsafe fn create(self, options: &ThreadOptions) {
        self.name.set(options.name);
        self.entry.set(Some(options.entry));
        self.entry_input.set(options.input);
        self.stack_start.set(options.stack_start);
        let to_word = options.stack_start.align_offset(align_of::<u32>());
        self.stack_floor.set(options.stack_start.wrapping_add(to_word + port::SWITCH_STACK).cast());
        self.stack_fill.set(TX_STACK_FILL);
        self.stack_size.set(options.stack_size);
        self.entry_exit_notify.set(None);
        self.time_slice.set(options.time_slice);
        self.set_levels(options.priority, options.threshold);
        self.user_priority.set(options.priority);
        self.user_threshold.set(options.threshold);
        self.set_slow(slow::TIMER_THREAD, options.timer_thread);
        self.inherited.set(NOT_INHERITED);
        self.preemptions.set(0);
        self.wait_queue.set(None);
        self.pending.set(0);
        self.state.set(TX_SUSPENDED as u8);
        self.timeout.bind(self);
        self.prepare();
        let k = lock();
        self.executor.set_id(THREAD_ID);
        k.threads.push_back(self);
        if options.auto_start {
            k.make_ready(self);
        }
    }

    /// Stack and context of a thread that starts at its entry function. Nobody runs or links the
    /// thread meanwhile, so interrupts stay as they are however large the stack is.
    fn prepare(self) {
        port::fill_stack(self.stack_start.get(), self.stack_size.get() as usize);
        port::build(self);
        self.refill_slice();
    }

    pub(crate) fn delete(self, k: &Locked) -> UINT {
        if !self.is_over() {
            return TX_DELETE_ERROR;
        }
        self.executor.set_id(0);
        self.bequeath_relinquishes();
        k.threads.remove(self);
        TX_SUCCESS
    }

    pub(crate) fn reset(self) -> UINT {
        let k = lock();
        if !self.is_over() || port::is_running(self) {
            return TX_NOT_DONE;
        }
        // The thread stays ended, so that nobody resumes it, and no other thread runs, so that nobody
        // deletes or resets it, until stack and context are ready.
        k.disable_preemption();
        self.keep_relinquishes();
        drop(k);
        self.preemptions.set(0);
        self.prepare();
        let k = lock();
        self.pending.set(0);
        self.state.set(TX_SUSPENDED as u8);
        k.enable_preemption();
        TX_SUCCESS
    }

    #[inline(always)]
    pub(crate) fn suspend(self, k: Locked) -> UINT {
        match self.state.get() as UINT {
            TX_READY => {
                if port::preemptible() == Some(self) {
                    self.wait_status.set(TX_SUCCESS as u8);
                    return Locked::suspend_running(self, TX_SUSPENDED as u8, k);
                } else if port::is_running(self) {
                    return TX_SUSPEND_ERROR;
                } else {
                    k.make_unready(self, TX_SUSPENDED);
                }
                TX_SUCCESS
            }
            TX_SUSPENDED => TX_SUCCESS,
            TX_COMPLETED | TX_TERMINATED => TX_SUSPEND_ERROR,
            _ => {
                self.add_pending(pending::SUSPENSION);
                TX_SUCCESS
            }
        }
    }

    #[inline(always)]
    pub(crate) fn resume(self, k: Locked) -> UINT {
        if self.state.get() == TX_SUSPENDED as u8 {
            k.make_ready(self);
            TX_SUCCESS
        } else if self.take_pending(pending::SUSPENSION) {
            TX_SUSPEND_LIFTED
        } else {
            TX_RESUME_ERROR
        }
    }

    pub(crate) fn wait_abort(self) -> UINT {
        let k = lock();
        match self.state.get() as UINT {
            TX_READY | TX_SUSPENDED | TX_COMPLETED | TX_TERMINATED => TX_WAIT_ABORT_ERROR,
            _ => {
                bump(&self.performance.wait_aborts, &TOTALS.threads.wait_aborts);
                k.wake(self, TX_WAIT_ABORTED);
                TX_SUCCESS
            }
        }
    }

    /// Ends the thread wherever it is. The exit notification comes first, in the caller's context
    /// and while the thread still exists in its old state.
    pub(crate) fn terminate(self) -> UINT {
        {
            let _k = lock();
            if self.is_over() {
                return TX_SUCCESS;
            }
        }
        self.notify(TX_THREAD_EXIT);
        self.end(lock(), TX_TERMINATED);
        TX_SUCCESS
    }

    /// The entry function returned.
    pub(crate) fn complete(self) -> ! {
        self.notify(TX_THREAD_EXIT);
        self.end(lock(), TX_COMPLETED);
        unreachable!("a completed thread was resumed")
    }

    /// Releases the thread's mutexes and ends it. No other thread runs in between, so nobody sees a
    /// thread that has lost its mutexes and still runs.
    fn end(self, k: Locked, state: UINT) {
        if self.is_over() {
            return;
        }
        k.disable_preemption();
        if let Some(release_owned) = k.release_owned.get() {
            release_owned(&k, self);
        }
        self.take_pending(pending::SUSPENSION);
        if self.is_ready() {
            if port::is_running(self) {
                // A thread that ends with preemption disabled takes its claim on the processor
                // with it.
                k.force_preemption(self);
                port::abandon_running();
                Locked::suspend_and_select(self, state as u8, k);
                return;
            }
            k.make_unready(self, state);
        } else {
            if self.is_waiting()
                && let Some(queue) = self.wait_queue.get()
            {
                queue.remove(self);
            }
            k.stop_timeout(self);
            self.state.set(state as u8);
        }
        port::abandon(self);
        k.enable_preemption();
    }

    /// Calls the entry/exit notification, if there is one, with the kernel unlocked.
    pub(crate) fn notify(self, what: UINT) {
        let notify = {
            let _k = lock();
            self.entry_exit_notify.get()
        };
        if let Some(notify) = notify {
            // SAFETY: registered through `tx_thread_entry_exit_notify`, whose caller vouches for the
            // function; the thread is a created one.
            unsafe { notify(self.as_ptr(), what) };
        }
    }

    pub(crate) fn priority_change(self, new: u8) -> UINT {
        let k = lock();
        let old = self.user_priority.replace(new);
        self.user_threshold.set(new);
        let effective = new.min(self.inherited.get());
        k.set_priority(self, effective, effective);
        old as UINT
    }

    pub(crate) fn preemption_change(self, new: u8) -> Result<UINT, UINT> {
        let k = lock();
        if new > self.user_priority.get() {
            return Err(TX_THRESH_ERROR);
        }
        let old = self.user_threshold.replace(new);
        k.set_threshold(self, new.min(self.priority.get()));
        Ok(old as UINT)
    }

    pub(crate) fn time_slice_change(self, new: ULONG) -> ULONG {
        let _k = lock();
        let old = self.time_slice.replace(new);
        self.refill_slice();
        old
    }

    /// Bytes from the low end of the stack that still hold the fill pattern.
    pub(crate) fn stack_untouched(self) -> usize {
        let start = self.stack_start.get();
        let size = self.stack_size.get() as usize;
        (0..size)
            .find(|&at| {
                // SAFETY: inside the stack; volatile, because the thread may be writing it.
                unsafe { start.add(at).read_volatile() != TX_STACK_FILL as u8 }
            })
            .unwrap_or(size)
    }

    /// How often the thread got the processor.
    #[inline(always)]
    pub(crate) fn run_count(self) -> ULONG {
        let running = port::is_running(self);
        self.context().turns().wrapping_add(self.preemptions.get()).wrapping_add(running.into())
    }

    pub(crate) fn next_created(self) -> Option<Thread> {
        self.created_links.next()
    }
}

impl Locked {
    /// Suspends the running thread for `ticks`.
    pub(crate) fn sleep(self, ticks: ULONG) -> UINT {
        let Current::Thread(thread) = port::current() else { return TX_CALLER_ERROR };
        if thread.is_timer_thread() {
            return TX_CALLER_ERROR;
        }
        if ticks == TX_NO_WAIT {
            return TX_SUCCESS;
        }
        if self.scheduler.preemption_disabled() {
            return TX_CALLER_ERROR;
        }
        thread.wait_queue.set(None);
        if ticks != TX_WAIT_FOREVER {
            self.start_timeout(thread, ticks, TX_SUCCESS as Code);
        }
        Self::suspend_running(thread, TX_SLEEP as u8, self)
    }

    /// Whether the stack pointer of the thread that executes has left its stack, or would by what a switch
    /// pushes, or the lowest word of the stack was overwritten: [`Self::stack_damaged`] has to be called.
    ///
    /// This detects an overflow, it does not prevent it: the memory below the stack was written
    /// before anybody looked.
    #[inline(always)]
    pub(crate) fn own_stack_damaged(&self, running: Thread) -> bool {
        cfg!(feature = "stack-checking") && !port::own_stack_intact(running)
    }

    /// [`Self::own_stack_damaged`] of the interrupted thread, for an interrupt handler.
    #[inline(always)]
    pub(crate) fn interrupted_stack_damaged(&self, running: Thread) -> bool {
        cfg!(feature = "stack-checking") && !port::interrupted_stack_intact(running)
    }

    /// Reports a damaged stack.
    #[cold]
    pub(crate) fn stack_damaged(&self, thread: Thread) {
        if let Some(notify) = self.stack_error.get() {
            // SAFETY: registered through `tx_thread_stack_error_notify`, whose caller vouches for
            // the function; the thread is a created one.
            unsafe { notify(thread.as_ptr()) };
        }
    }
}

/// First function of every thread: notification, entry function, completion.
pub(crate) fn shell(thread: Thread) -> ! {
    thread.notify(TX_THREAD_ENTRY);
    if let Some(entry) = thread.entry.get() {
        // SAFETY: the creator vouched for the entry function and its input.
        unsafe { entry(thread.entry_input.get()) };
    }
    thread.complete()
}
