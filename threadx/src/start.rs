//! Starting the kernel.

use core::convert::Infallible;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::{Error, critical, thread};
use threadx_sys::TX_THREAD;

/// Set by the first caller of [`try_start`].
static STARTED: AtomicBool = AtomicBool::new(false);
/// Set when the kernel's lists are initialised, before that no object may be created.
static READY: AtomicBool = AtomicBool::new(false);
/// Set while the application is defined: no thread runs yet.
static INITIALIZING: AtomicBool = AtomicBool::new(false);
/// The closure given to [`try_start`], a `Define` on its frame.
static DEFINE: AtomicPtr<Define> = AtomicPtr::new(null_mut());
/// A `fn(&str) -> !`.
static STACK_ERROR_HOOK: AtomicPtr<()> = AtomicPtr::new(null_mut());

#[cfg_attr(not(target_os = "none"), expect(dead_code, reason = "read by `tx_application_define`"))]
struct Define {
    call: unsafe fn(*mut c_void, &mut Init),
    closure: *mut c_void,
}

/// The initialization context: exists while the closure given to [`start`] runs.
///
/// Interrupts are off, there is no current thread, nothing can wait. Threads spawned now run after
/// the closure has returned, the highest priority first.
pub struct Init {
    /// A raw pointer, which makes this neither `Send` nor `Sync`.
    first_unused_memory: *mut u8,
}

impl Init {
    /// Where the kernel found the first memory that the image does not use. This crate does not use
    /// it either.
    #[must_use]
    pub fn first_unused_memory(&self) -> *mut u8 {
        self.first_unused_memory
    }
}

/// Starts the kernel; never returns.
///
/// `define` is called once, from ThreadX's `tx_application_define`, and creates the first threads.
/// It may borrow from the caller, whose frame stays for ever.
///
/// ```no_run
/// # use core::ops::Range;
/// # pub struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// use threadx::{Builder, Priority, ThreadCell};
///
/// threadx::stack! { static STACK: Stack<Btcm, 2048>; }
/// static WORKER: ThreadCell = ThreadCell::new();
///
/// threadx::start(|_init| {
///     let stack = STACK.take().unwrap();
///     let worker = Builder::new("worker").priority(Priority::of::<8>()).spawn(&WORKER, stack, || {
///         loop {
///             threadx::thread::relinquish();
///         }
///     });
///     worker.unwrap().detach();
/// })
/// ```
///
/// # Panics
///
/// With the text of the error of [`try_start`].
pub fn start(define: impl FnOnce(&mut Init)) -> ! {
    match try_start(define) {
        Ok(never) => match never {},
        Err(error) => panic!("threadx::start: {error}"),
    }
}

/// [`start`], with a typed error instead of a panic.
///
/// # Errors
///
/// * [`Error::AlreadyStarted`]: the kernel was started before.
/// * [`Error::Caller`]: inside a critical section, which would never end.
pub fn try_start<F: FnOnce(&mut Init)>(define: F) -> Result<Infallible, Error> {
    unsafe fn call<F: FnOnce(&mut Init)>(closure: *mut c_void, init: &mut Init) {
        // SAFETY: `closure` points to the `Option<F>` below, which nothing else uses.
        let closure = unsafe { (*closure.cast::<Option<F>>()).take() };
        if let Some(closure) = closure {
            closure(init);
        }
    }
    // Threads would start with preemption disabled for ever.
    if critical::is_inside() && !STARTED.load(Ordering::Acquire) {
        return Err(Error::Caller);
    }
    if STARTED.swap(true, Ordering::AcqRel) {
        return Err(Error::AlreadyStarted);
    }
    let mut closure = Some(define);
    let mut define = Define { call: call::<F>, closure: (&raw mut closure).cast() };
    DEFINE.store(&raw mut define, Ordering::Release);
    // SAFETY: called outside the kernel. `closure` and `define` stay valid since this does not return
    // from the first call.
    unsafe { threadx_sys::tx_kernel_enter() };
    // C code had entered the kernel before.
    Err(Error::AlreadyStarted)
}

// The application's part under the name that the kernel calls, weakly: a C program brings its own.
#[cfg(target_os = "none")]
core::arch::global_asm!(
    ".pushsection .text.tx_application_define, \"ax\", %progbits",
    ".balign 4",
    ".arm",
    ".weak tx_application_define",
    ".type tx_application_define, %function",
    "tx_application_define: b {define}",
    ".size tx_application_define, . - tx_application_define",
    ".popsection",
    define = sym application_define,
);

/// Called by the kernel when it has initialised itself.
#[cfg(target_os = "none")]
extern "C" fn application_define(first_unused_memory: *mut c_void) {
    initialize(first_unused_memory, |init| {
        // Null: the kernel was entered by C code, whose threads are defined elsewhere.
        let define = DEFINE.swap(null_mut(), Ordering::AcqRel);
        if !define.is_null() {
            // SAFETY: `try_start` stored a pointer into its own frame and is still in the kernel's
            // entry.
            unsafe { ((*define).call)((*define).closure, init) }
        }
    });
}

fn initialize(first_unused_memory: *mut c_void, define: impl FnOnce(&mut Init)) {
    READY.store(true, Ordering::Release);
    // A kernel without stack checking answers FEATURE_NOT_ENABLED, and the notification never comes.
    // SAFETY: the callback has the documented signature and stays for ever.
    let _ = unsafe { threadx_sys::tx_thread_stack_error_notify(Some(stack_error)) };
    INITIALIZING.store(true, Ordering::Release);
    define(&mut Init { first_unused_memory: first_unused_memory.cast() });
    INITIALIZING.store(false, Ordering::Release);
}

/// Runs an application on a development machine, for tests: [`run`](host::run) in place of [`start`].
///
/// Threads are OS threads of which exactly one runs at a time, time passes when nobody is ready or when
/// a test says so, and interrupts happen where a test says so. Everything else is the bundled kernel
/// as on the target.
#[cfg(not(target_os = "none"))]
pub mod host {
    use core::ptr::null_mut;

    use super::Init;
    pub use threadx_sys::host::{
        Outcome, allow_nesting, check_invariants, finish, interrupt, set_interrupt_point, tick,
    };

    /// Runs `define`, then its threads, until one of them calls [`finish`] or nobody was ready for
    /// `idle_ticks` ticks. A panic of a thread comes out here. One application at a time: others wait.
    ///
    /// Each run needs cells of its own: what an earlier run left in a cell stays there.
    ///
    /// ```
    /// # use core::ops::Range;
    /// # pub struct Btcm;
    /// # impl threadx::Region for Btcm {
    /// #     const NAME: &'static str = "BTCM";
    /// #     fn range() -> Range<usize> { 0..usize::MAX }
    /// # }
    /// use threadx::{Builder, ThreadCell, host};
    ///
    /// threadx::stack! { static STACK: Stack<Btcm, 2048>; }
    /// static WORKER: ThreadCell = ThreadCell::new();
    ///
    /// let outcome = host::run(10, |_init| {
    ///     let stack = STACK.take().unwrap();
    ///     Builder::new("worker").spawn(&WORKER, stack, || host::finish()).unwrap().detach();
    /// });
    /// assert_eq!(outcome, host::Outcome::Finished);
    /// ```
    pub fn run(idle_ticks: u32, define: impl FnOnce(&mut Init)) -> Outcome {
        threadx_sys::host::run(idle_ticks, || super::initialize(null_mut(), define))
    }
}

/// Whether objects may be created: the kernel has initialised its lists.
pub(crate) fn check_ready() -> Result<(), Error> {
    if READY.load(Ordering::Acquire) { Ok(()) } else { Err(Error::Caller) }
}

/// Whether the caller is in initialization.
pub(crate) fn initializing() -> bool {
    INITIALIZING.load(Ordering::Relaxed)
}

/// Chooses what happens when the kernel finds a damaged thread stack (if it is built with stack
/// checking): `hook` gets the thread's name, the kernel's 15 bytes of it if C code created the thread.
/// Without a hook: a panic that names the thread, whose handler has to keep to what is said below.
///
/// The hook runs in the middle of a kernel service, with interrupts masked, on the stack of whoever
/// found the damage, possibly the damaged one. From any context; a board crate installs one at reset.
///
/// # Safety
///
/// The hook calls no service: nothing of this crate but [`thread::current`] and, on what that
/// returns, [`ThreadRef::name`](thread::ThreadRef::name), which only read; no critical section. It
/// ends or parks the image, without unmasking interrupts.
pub unsafe fn set_stack_error_hook(hook: fn(&str) -> !) {
    STACK_ERROR_HOOK.store(hook as *mut (), Ordering::Release);
}

unsafe extern "C-unwind" fn stack_error(thread: *mut TX_THREAD) {
    // SAFETY: the kernel passes a created thread, whose name is a C string or null, and this does not
    // return to it.
    let name = unsafe { thread::name_of(thread) };
    let hook = STACK_ERROR_HOOK.load(Ordering::Acquire);
    if hook.is_null() {
        panic!("stack overflow: thread {name}");
    }
    // SAFETY: only `set_stack_error_hook` stores here, and what it stores is such a function.
    let hook = unsafe { core::mem::transmute::<*mut (), fn(&str) -> !>(hook) };
    hook(name)
}
