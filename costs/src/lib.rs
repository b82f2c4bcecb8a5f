//! What the images of this package share: calls of C services that are timed to the instruction, the
//! time of the last IRQ vector, worker threads that a measuring thread sets to work.
//!
//! The figures are counts of the generic timer, of which QEMU's `-icount shift=0` makes one per
//! instruction. [`require_instructions`] ends an image whose counter counts anything else.
#![no_std]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

use bsp::memory::Dram0;
use threadx::{Builder, Error, Priority, StackToken, ThreadCell, ThreadRef, stack, thread};

pub mod vector;

/// Counter at the start of the last timed call, whoever made it.
pub static START: AtomicU32 = AtomicU32::new(0);

/// Counts from the read of the counter at a timed call's start to the call itself: the read and the
/// store to [`START`].
pub const BEFORE_CALL: u32 = 2;

/// Calls a C service by `bl`: never inlined, whatever the link-time optimisation does. The result is r0.
///
/// `call!(service, argument, ...)` with up to three arguments that are `usize`.
#[macro_export]
macro_rules! call {
    ($f:path) => {
        $crate::call!(@ $f, result, lateout("r0") result, lateout("r1") _, lateout("r2") _,)
    };
    ($f:path, $r0:expr) => {
        $crate::call!(@ $f, result, inlateout("r0") $r0 => result, lateout("r1") _, lateout("r2") _,)
    };
    ($f:path, $r0:expr, $r1:expr) => {
        $crate::call!(@ $f, result, inlateout("r0") $r0 => result, inlateout("r1") $r1 => _, lateout("r2") _,)
    };
    ($f:path, $r0:expr, $r1:expr, $r2:expr) => {
        $crate::call!(@ $f, result, inlateout("r0") $r0 => result, inlateout("r1") $r1 => _, inlateout("r2") $r2 => _,)
    };
    (@ $f:path, $result:ident, $($operands:tt)*) => {{
        let $result: usize;
        // SAFETY: a call under the C ABI of a service whose arguments are live objects of the image, as
        // its caller sees to.
        unsafe {
            core::arch::asm!("bl {f}", f = sym $f, $($operands)* lateout("r3") _, lateout("r12") _, lateout("lr") _,
                lateout("d0") _, lateout("d1") _, lateout("d2") _, lateout("d3") _, lateout("d4") _,
                lateout("d5") _, lateout("d6") _, lateout("d7") _);
        }
        $result
    }};
}

/// [`call!`] with five arguments; the last goes to the stack.
#[macro_export]
macro_rules! call_5 {
    ($f:path, $r0:expr, $r1:expr, $r2:expr, $r3:expr, $last:expr) => {
        // SAFETY: as for `call!`; the stack pointer moves by eight bytes and comes back.
        unsafe {
            core::arch::asm!("push {{r4, r12}}", "bl {f}", "add sp, sp, #8", f = sym $f, inlateout("r0") $r0 => _,
                inlateout("r1") $r1 => _, inlateout("r2") $r2 => _, inlateout("r3") $r3 => _, in("r4") $last,
                lateout("r12") _, lateout("lr") _, lateout("d0") _, lateout("d1") _, lateout("d2") _, lateout("d3") _,
                lateout("d4") _, lateout("d5") _, lateout("d6") _, lateout("d7") _);
        }
    };
}

/// [`call!`], with [`START`] set directly before; result and the counter directly after.
#[macro_export]
macro_rules! timed {
    ($f:path $(, $r0:expr $(, $r1:expr $(, $r2:expr $(, $r3:expr)?)?)?)?) => {{
        let (r0, r1, r2, r3) = $crate::arguments!($($r0 $(, $r1 $(, $r2 $(, $r3)?)?)?)?);
        let (result, end): (usize, u32);
        // SAFETY: as for `call!`; the store goes to a static that is made for it.
        unsafe {
            core::arch::asm!(
                "mrrc p15, 0, r4, r5, c14", "str r4, [{start}]", "bl {f}", "mrrc p15, 0, r4, r5, c14",
                f = sym $f, start = in(reg) $crate::START.as_ptr(), inlateout("r0") r0 => result,
                inlateout("r1") r1 => _, inlateout("r2") r2 => _, inlateout("r3") r3 => _, out("r4") end, out("r5") _,
                lateout("r12") _, lateout("lr") _, lateout("d0") _, lateout("d1") _, lateout("d2") _, lateout("d3") _,
                lateout("d4") _, lateout("d5") _, lateout("d6") _, lateout("d7") _);
        }
        (result, end)
    }};
}

/// [`timed!`] for services of more than four arguments: eight words for the stack, then those of r0 to r3.
#[macro_export]
macro_rules! timed_long {
    ($f:path, $words:expr) => {{
        let words: &[usize; 12] = $words;
        let (result, end): (usize, u32);
        // SAFETY: as for `timed!`; the stack pointer moves by a multiple of eight and comes back.
        unsafe {
            core::arch::asm!(
                "sub sp, sp, #32", "add r12, sp, #16",
                "ldm r8!, {{r0-r3}}", "stm sp, {{r0-r3}}", "ldm r8!, {{r0-r3}}", "stm r12, {{r0-r3}}",
                "ldm r8, {{r0-r3}}",
                "mrrc p15, 0, r4, r5, c14", "str r4, [{start}]", "bl {f}", "mrrc p15, 0, r4, r5, c14",
                "add sp, sp, #32",
                f = sym $f, start = in(reg) $crate::START.as_ptr(), inout("r8") words => _, out("r4") end,
                out("r5") _, out("r0") result, out("r1") _, out("r2") _, out("r3") _, out("r12") _, lateout("lr") _,
                lateout("d0") _, lateout("d1") _, lateout("d2") _, lateout("d3") _, lateout("d4") _, lateout("d5") _,
                lateout("d6") _, lateout("d7") _);
        }
        (result, end)
    }};
}

/// Four register arguments, those not given 0.
#[doc(hidden)]
#[macro_export]
macro_rules! arguments {
    () => {
        (0usize, 0usize, 0usize, 0usize)
    };
    ($a:expr) => {
        ($a, 0usize, 0usize, 0usize)
    };
    ($a:expr, $b:expr) => {
        ($a, $b, 0usize, 0usize)
    };
    ($a:expr, $b:expr, $c:expr) => {
        ($a, $b, $c, 0usize)
    };
    ($a:expr, $b:expr, $c:expr, $d:expr) => {
        ($a, $b, $c, $d)
    };
}

/// Sets [`START`], as a timed call does.
#[inline(always)]
pub fn start() {
    // SAFETY: reads the counter and stores it to a static that is made for it; a memory clobber, so
    // that no service moves to the other side.
    unsafe {
        core::arch::asm!("mrrc p15, 0, {t}, {high}, c14", "str {t}, [{start}]", t = out(reg) _, high = out(reg) _,
            start = in(reg) START.as_ptr(), options(nostack, preserves_flags));
    }
}

/// The counter, as a timed call's end reads it.
#[inline(always)]
pub fn end() -> u32 {
    let now: u32;
    // SAFETY: reads the counter; a memory clobber, so that no service moves to the other side.
    unsafe {
        core::arch::asm!("mrrc p15, 0, {t}, {high}, c14", t = out(reg) now, high = out(reg) _,
            options(nostack, preserves_flags));
    }
    now
}

/// Instructions from the call instruction that followed the last [`start`] to `end`.
#[inline(always)]
pub fn since_call(end: u32) -> u32 {
    end.wrapping_sub(START.load(Relaxed)).wrapping_sub(BEFORE_CALL)
}

/// A value that threads of the image use in turns, never at once.
pub struct Turns<T>(UnsafeCell<T>);

// SAFETY: a pointer only; who dereferences it argues that it is its turn.
unsafe impl<T> Sync for Turns<T> {}

impl<T> Turns<T> {
    /// Holds `value`.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Where it is.
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }

    /// Its address, as an argument of a C service.
    #[inline(always)]
    pub fn address(&self) -> usize {
        self.0.get() as usize
    }
}

/// Ends the image, with a line that says why, unless the counter counts exactly instructions.
pub fn require_instructions() {
    match bsp::counter::self_test() {
        Ok(counter) if counter.unit == "instructions" && counter.name == "CNTPCT" => {}
        Ok(counter) => {
            bsp::println!(
                "COSTS FAILED: the counter {} counts {}: this image needs CNTPCT under QEMU with -icount \
                shift=0 and cntfrq=1000000000",
                counter.name,
                counter.unit
            );
            bsp::exit(1);
        }
        Err(error) => {
            bsp::println!("COSTS FAILED: {}", error);
            bsp::exit(1);
        }
    }
}

/// Prints what the figures belong to, in lines that start with `BUILD`.
#[macro_export]
macro_rules! banner {
    () => {
        bsp::println!("BUILD kernel {}", threadx_sys::NAME);
        bsp::println!("BUILD configuration {}", threadx_sys::CONFIGURATION);
        bsp::println!(
            "BUILD image {}, opt-level {}, LTO {}",
            env!("FIRMWARE_RUSTC"),
            env!("FIRMWARE_OPT"),
            env!("FIRMWARE_LTO")
        );
        bsp::println!("BUILD unit instructions, counted by {} ({})", "CNTPCT", bsp::NAME);
    };
}

stack! {
    static MAIN_STACK: Stack<Dram0, 16384>;
    static STACK_0: Stack<Dram0, 4096>;
    static STACK_1: Stack<Dram0, 4096>;
    static STACK_2: Stack<Dram0, 4096>;
    static STACK_3: Stack<Dram0, 4096>;
    static STACK_4: Stack<Dram0, 4096>;
}
static STACKS: [&threadx::Stack<Dram0, 4096>; WORKERS] = [&STACK_0, &STACK_1, &STACK_2, &STACK_3, &STACK_4];
static MAIN_CELL: ThreadCell = ThreadCell::new();
static CELLS: [ThreadCell; WORKERS] = [const { ThreadCell::new() }; WORKERS];

/// Number of workers there can be.
pub const WORKERS: usize = 5;

/// Stack of worker `n`.
///
/// # Errors
/// [`Error::StackTaken`].
pub fn stack_of(n: usize) -> Result<StackToken<Dram0>, Error> {
    STACKS[n].take()
}

/// Cell of worker `n`.
#[must_use]
pub fn cell(n: usize) -> &'static ThreadCell {
    &CELLS[n]
}

/// A thread that runs what [`Worker::run`] hands to it.
#[derive(Clone, Copy)]
pub struct Worker {
    thread: ThreadRef,
    job: &'static AtomicPtr<()>,
}

static JOBS: [AtomicPtr<()>; WORKERS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; WORKERS];

impl Worker {
    /// Spawns worker `n`; it has suspended itself when this returns, if its priority is above the caller's,
    /// and will otherwise at its first turn.
    ///
    /// # Errors
    /// As [`Builder::spawn`] and [`stack_of`].
    pub fn new<const P: u32>(n: usize, name: &'static str) -> Result<Self, Error> {
        let job = &JOBS[n];
        let builder = Builder::new(name).priority(Priority::of::<P>());
        let handle = builder.spawn(cell(n), stack_of(n)?, move || -> Result<(), Error> {
            let me = thread::current().ok_or(Error::Thread)?;
            loop {
                me.suspend()?;
                let job = job.load(Relaxed);
                // SAFETY: the only store is that of `run`, a `fn()`.
                let job = unsafe { core::mem::transmute::<*mut (), fn()>(job) };
                job();
            }
        })?;
        let thread = handle.thread();
        handle.detach();
        Ok(Self { thread, job })
    }

    /// Lets the worker run `job`. It must be suspended.
    ///
    /// # Errors
    /// As [`ThreadRef::resume`].
    pub fn run(self, job: fn()) -> Result<(), Error> {
        self.prepare(job);
        self.thread.resume().map(drop)
    }

    /// Says what the worker runs when it is resumed.
    pub fn prepare(self, job: fn()) {
        self.job.store(job as *mut (), Relaxed);
    }

    /// The thread.
    #[must_use]
    pub fn thread(self) -> ThreadRef {
        self.thread
    }
}

/// Starts the kernel with one thread of priority 16 that runs `main`.
pub fn run(main: fn() -> Result<(), Error>) -> ! {
    require_instructions();
    threadx::start(|_| {
        let spawned = MAIN_STACK.take().and_then(|stack| {
            Builder::new("main").priority(Priority::of::<16>()).spawn(&MAIN_CELL, stack, move || match main() {
                Ok(()) => {}
                Err(error) => {
                    bsp::println!("COSTS FAILED: a service refused: {}", error);
                    bsp::exit(1);
                }
            })
        });
        match spawned {
            Ok(handle) => handle.detach(),
            Err(error) => {
                bsp::println!("COSTS FAILED: the main thread does not start: {}", error);
                bsp::exit(1);
            }
        }
    })
}
