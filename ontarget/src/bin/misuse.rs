//! What is refused, and how: wrong calling contexts, handles of threads that are gone, bad input.
//!
//! Field reports: K17 and B12 (who may call what), B07 and B10 (handles), B02. Timer callbacks are in
//! `services.rs`; what does not compile is in the tests of the crate `threadx`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptId};
use bsp::memory::Dram0;
use ontarget::{Outcome, Trace, at, check_kernel, ensure, ensure_eq, spawn, spin, tests};
use threadx::{
    Error, JoinError, PreemptionThreshold, Priority, Schedule, Semaphore, ThreadCell, ThreadRef, Ticks, Timeout, Timer,
    stack, thread,
};

#[bsp::entry]
fn main() -> ! {
    ontarget::run_after(
        tests![
            initialization_refuses: 10,
            interrupts_are_refused: 10,
            joined_threads_are_gone: 20,
            bad_input_is_typed: 10,
        ],
        |init| {
            INIT.push(u32::from(thread::sleep(Ticks::new(1)) == Err(Error::Caller)));
            INIT.push(u32::from(thread::sleep(Ticks::ZERO) == Err(Error::Caller)));
            INIT.push(u32::from(thread::current().is_none()));
            INIT.push(u32::from(S.create("init", 0).is_ok()));
            INIT.push(u32::from(S.get(Timeout::Forever) == Err(Error::Wait)));
            INIT.push(u32::from(S.get(Timeout::NoWait) == Err(Error::NoInstance)));
            INIT.push(u32::from(S.put().is_ok() && S.get(Timeout::NoWait).is_ok()));
            INIT.push(u32::from(S.delete() == Err(Error::Caller)));
            INIT.push(u32::from(threadx::try_start(|_| ()).err() == Some(Error::AlreadyStarted)));
            INIT.push(u32::from(threadx::scope(|_| ()) == Err(Error::Caller)));
            thread::relinquish();
            let before_main = init.first_unused_memory().addr();
            INIT.push(u32::from(bsp::memory::region_of(before_main) == "DRAM0"));
        },
    )
}

static INIT: Trace = Trace::new();
static TRACE: Trace = Trace::new();
static S: Semaphore = Semaphore::new();
static TIMER: Timer = Timer::new();
static DONE: AtomicBool = AtomicBool::new(false);

/// Sleeping, waiting for ever, deleting and starting a second time in initialization (K17).
fn initialization_refuses() -> Outcome {
    INIT.expect(&[1; 11])?;
    S.delete()?;
    Ok(())
}

/// Pends software interrupt 1 with `handler` and waits until it has run.
fn in_interrupt(handler: fn()) -> Outcome {
    DONE.store(false, Relaxed);
    if let Err(error) = interrupt::register(InterruptId::sgi(1), 0x90, handler) {
        return Err(ontarget::Why::failed(format_args!("{error:?}")));
    }
    interrupt::enable(InterruptId::sgi(1));
    interrupt::pend_sgi(1);
    spin(100);
    ensure!(DONE.load(Relaxed), "the interrupt was not taken");
    Ok(())
}

/// K17, B12: what an interrupt may not do is refused, what it may do works.
fn interrupts_are_refused() -> Outcome {
    S.create("isr", 0)?;
    in_interrupt(|| {
        let spawned = ontarget::stack_of(0)
            .and_then(|stack| at::<10>("isr").spawn(ontarget::cell(0), stack, || ()).map(|h| h.detach()));
        TRACE.push(u32::from(spawned == Err(Error::Caller)));
        TRACE.push(u32::from(thread::sleep(Ticks::new(1)) == Err(Error::Caller)));
        TRACE.push(u32::from(thread::sleep(Ticks::ZERO) == Err(Error::Caller)));
        TRACE.push(u32::from(S.get(Timeout::Forever) == Err(Error::Wait)));
        TRACE.push(u32::from(S.get(Ticks::new(1)) == Err(Error::Wait)));
        TRACE.push(u32::from(S.get(Timeout::NoWait) == Err(Error::NoInstance)));
        TRACE.push(u32::from(S.delete() == Err(Error::Caller)));
        TRACE.push(u32::from(threadx::scope(|_| ()) == Err(Error::Caller)));
        let me = thread::current();
        TRACE.push(u32::from(me.map(ThreadRef::name) == Some("judge")));
        TRACE.push(u32::from(me.map(|t| t.set_priority(Priority::of::<3>())) == Some(Err(Error::Caller))));
        TRACE.push(u32::from(TIMER.create("isr", Schedule::once(Ticks::new(1)), || ()) == Err(Error::Caller)));
        thread::relinquish();
        TRACE.push(u32::from(S.put().is_ok()));
        DONE.store(true, Relaxed);
    })?;
    TRACE.expect(&[1; 12])?;
    TRACE.clear();
    S.get(Timeout::NoWait)?;
    S.delete()?;
    ensure!(ontarget::stack_of(0).is_ok(), "the refused spawn kept the stack");
    check_kernel()
}

/// A second join does not compile, since the first uses the handle up; what remains is a reference.
fn joined_threads_are_gone() -> Outcome {
    let t = spawn(0, at::<10>("gone"), || ())?;
    let thread = t.thread();
    t.join()?;
    // Another thread in the same cell is not mistaken for it.
    let other = spawn(0, at::<20>("other").suspended(), || ())?;
    ensure_eq!(thread.info().err(), Some(Error::Thread), "info");
    ensure_eq!(thread.suspend(), Err(Error::Thread), "suspend");
    ensure_eq!(thread.resume().err(), Some(Error::Thread), "resume");
    ensure_eq!(thread.wait_abort(), Err(Error::Thread), "wait abort");
    ensure_eq!(thread.stack_usage().err(), Some(Error::Thread), "stack usage");
    ensure!(thread != other.thread(), "two threads are one");
    let other_thread = other.thread();
    ensure_eq!(other.terminate()?, None, "result of a terminated thread");
    ensure!(ontarget::stack_of(0).is_err(), "the stack of a terminated thread came back");
    ensure_eq!(other_thread.resume().err(), Some(Error::Thread), "resume of a deleted thread");

    let sleeper = spawn(1, at::<10>("sleeper"), || thread::sleep(Ticks::new(2)))?;
    ensure!(!sleeper.is_finished(), "a sleeper counts as finished");
    let sleeper = match sleeper.try_join() {
        Ok(_) => return Err(ontarget::Why::failed(format_args!("a sleeper was joined"))),
        Err(handle) => handle,
    };
    ensure_eq!(sleeper.join(), Ok(Ok(())), "join of a sleeper");

    // A wait abort of the joining thread.
    let forever = spawn(2, at::<20>("forever"), || thread::sleep(Ticks::MAX))?;
    let joining = spawn(3, at::<10>("joining"), || forever.join())?;
    joining.thread().wait_abort()?;
    ensure_eq!(joining.join()?, Err(JoinError::Failed(Error::WaitAborted)), "aborted join");
    Ok(())
}

/// A region type whose memory is not where the link script puts its section.
mod wrong {
    pub struct Btcm;
    impl threadx::Region for Btcm {
        const NAME: &'static str = "WRONG";
        fn range() -> core::ops::Range<usize> {
            0x1000..0x2000
        }
    }
    threadx::stack! { pub static STACK: Stack<Btcm, 512>; }
}

/// Bad input, as far as it compiles.
fn bad_input_is_typed() -> Outcome {
    ensure!(Priority::new(32).is_none() && Priority::new(31).is_some(), "priority 32");
    let threshold = at::<10>("threshold").preemption_threshold(PreemptionThreshold::at(Priority::of::<11>()));
    ensure_eq!(spawn(4, threshold, || ()).err(), Some(Error::Threshold), "threshold above the priority");
    ensure!(ontarget::stack_of(4).is_ok(), "the refused spawn kept the stack");
    ensure_eq!(wrong::STACK.take().err(), Some(Error::StackRegion), "stack outside its region");

    stack! { static SMALL: Stack<Dram0, { threadx::MIN_STACK_SIZE }>; }
    static CELL: ThreadCell = ThreadCell::new();
    let captured = [1_u8; 100];
    let small =
        at::<10>("small").spawn(&CELL, SMALL.take()?, move || captured.iter().map(|&b| u32::from(b)).sum::<u32>());
    ensure!(small.err() == Some(Error::StackSize), "a closure of 100 bytes left enough of 256");
    ensure!(SMALL.take().is_ok(), "the refused spawn kept the stack");
    // The same cell works with a stack that is large enough.
    ensure_eq!(at::<10>("large").spawn(&CELL, ontarget::stack_of(5)?, || 7)?.join()?, 7, "large thread");
    let me = thread::current().ok_or(Error::Thread)?;
    let weaker = PreemptionThreshold::at(Priority::of::<17>());
    ensure_eq!(me.set_preemption_threshold(weaker).err(), Some(Error::Threshold), "own threshold above the priority");
    ensure!(threadx::try_start(|_| ()).err() == Some(Error::AlreadyStarted), "started twice");
    Ok(())
}
