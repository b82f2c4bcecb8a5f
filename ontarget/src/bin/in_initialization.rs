//! Interrupts while the kernel initializes, which C code may let in: they are handled, and initialization goes on, whoever
//! is ready and whatever the handler does. Nor does it matter whether they are let in at its end.
#![no_std]
#![no_main]

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptId};
use bsp::memory::Dram0;
use critical_section::Mutex;
use threadx::{Builder, Priority, ThreadCell, ThreadRef, thread};

threadx::stack! {
    static STACK: Stack<Dram0, 2048>;
    static HIGH_STACK: Stack<Dram0, 2048>;
}
static CELL: ThreadCell = ThreadCell::new();
static HIGH_CELL: ThreadCell = ThreadCell::new();
static HIGH: Mutex<Cell<Option<ThreadRef>>> = Mutex::new(Cell::new(None));
static HIGH_RAN: AtomicU32 = AtomicU32::new(0);
static READY: Mutex<Cell<Option<ThreadRef>>> = Mutex::new(Cell::new(None));
static HANDLED: AtomicU32 = AtomicU32::new(0);
static INITIALIZED: AtomicU32 = AtomicU32::new(0);

/// Counts from here to where the first thread has been chosen and does not run yet, on the bundled kernel.
const ALARM: u32 = 28;

const TESTS: u32 = 5;
static FAILED: AtomicU32 = AtomicU32::new(0);

fn check(name: &str, ok: bool) {
    FAILED.store(FAILED.load(Relaxed) + u32::from(!ok), Relaxed);
    bsp::println!("test {} ... {}", name, if ok { "ok" } else { "FAILED: see the source" });
}

/// Takes the ready thread from the ready list and puts it back: the scheduler is to look again.
fn handler() {
    let ready = critical_section::with(|section| READY.borrow(section).get());
    let done = ready.is_some_and(|thread| thread.suspend().is_ok() && thread.resume().is_ok());
    HANDLED.store(HANDLED.load(Relaxed) + u32::from(done), Relaxed);
}

/// Resumes a thread above the one that has been chosen.
fn alarm() {
    bsp::timer::clear_alarm();
    let high = critical_section::with(|section| HIGH.borrow(section).get());
    HANDLED.store(HANDLED.load(Relaxed) + u32::from(high.is_some_and(|high| high.resume().is_ok())), Relaxed);
}

fn first() {
    // The alarm has come by now.
    ontarget::spin(1000);
    check("whom_the_alarm_resumed_ran_first", HANDLED.load(Relaxed) == 3 && HIGH_RAN.load(Relaxed) == 1);
    check("initialization_is_over_before_a_thread_runs", INITIALIZED.load(Relaxed) == 1);
    check("the_kernel_is_sound", ontarget::check_kernel().is_ok());
    let failed = FAILED.load(Relaxed);
    if failed == 0 {
        bsp::println!("test result: ok. {} passed; 0 failed", TESTS);
    } else {
        bsp::println!("test result: FAILED. {} passed; {} failed", TESTS - failed, failed);
    }
    bsp::exit(u8::from(failed != 0))
}

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_init| {
        let high = Builder::new("high").priority(Priority::of::<5>()).suspended();
        let high = high.spawn(&HIGH_CELL, HIGH_STACK.take().unwrap(), || HIGH_RAN.store(1, Relaxed)).unwrap();
        critical_section::with(|section| HIGH.borrow(section).set(Some(high.thread())));
        high.detach();
        let stack = STACK.take().unwrap();
        let ready = Builder::new("ready").priority(Priority::of::<10>()).spawn(&CELL, stack, first).unwrap();
        critical_section::with(|section| READY.borrow(section).set(Some(ready.thread())));
        ready.detach();
        interrupt::register(InterruptId::sgi(1), 0xc0, handler).unwrap();
        interrupt::enable(InterruptId::sgi(1));
        // SAFETY: nothing here relies on interrupts being masked, and they are again before the end.
        unsafe { threadx_sys::tx_interrupt_control(threadx_sys::TX_INT_ENABLE) };
        interrupt::pend_sgi(1);
        interrupt::pend_sgi(1);
        // SAFETY: as before.
        unsafe { threadx_sys::tx_interrupt_control(threadx_sys::TX_INT_DISABLE) };
        check("both_interrupts_are_handled", HANDLED.load(Relaxed) == 2);
        check("nobody_is_the_current_thread", thread::current().is_none());
        INITIALIZED.store(1, Relaxed);
        interrupt::register(InterruptId::ALARM, 0x90, alarm).unwrap();
        interrupt::enable(InterruptId::ALARM);
        bsp::timer::set_alarm(ALARM);
        // SAFETY: nothing here relies on interrupts being masked, and they need not be at the end.
        unsafe { threadx_sys::tx_interrupt_control(threadx_sys::TX_INT_ENABLE) };
    })
}
