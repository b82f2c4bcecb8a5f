//! Performance information through the safe API, on the target: counts where the kernel was built to count
//! (feature `performance-info`), else the documented error.
#![no_std]
#![no_main]

use bsp::interrupt::{self, InterruptId};
use ontarget::{Outcome, Why, at, check_kernel, ensure, ensure_eq, spawn, tests};
use threadx::{Error, Semaphore, ThreadRef, Ticks, Timeout, performance, thread};

const COUNTING: bool = cfg!(feature = "performance-info");

#[bsp::entry]
fn main() -> ! {
    ontarget::run(tests![every_kind_answers: 20, an_object_and_the_sum_agree: 20, an_interrupt_preempts: 20])
}

/// Success of a kernel that counts, the error of one that does not.
fn answered<T>(answer: Result<T, Error>) -> bool {
    answer.err() == (!COUNTING).then_some(Error::FeatureNotEnabled)
}

fn every_kind_answers() -> Outcome {
    ensure!(answered(performance::threads()), "threads");
    ensure!(answered(performance::timers()), "timers");
    ensure!(answered(performance::semaphores()), "semaphores");
    ensure!(answered(performance::mutexes()), "mutexes");
    ensure!(answered(performance::event_flags()), "event flags");
    ensure!(answered(performance::queues()), "queues");
    ensure!(answered(performance::block_pools()), "block pools");
    ensure!(answered(performance::byte_pools()), "byte pools");
    Ok(())
}

static DOOR: Semaphore = Semaphore::new();

fn an_object_and_the_sum_agree() -> Outcome {
    let before = performance::semaphores();
    DOOR.create("door", 0)?;
    DOOR.put()?;
    DOOR.get(Timeout::NoWait)?;
    ensure_eq!(DOOR.get(Ticks::new(1)), Err(Error::NoInstance), "a get of nothing");
    let after = performance::semaphores();
    let own = DOOR.performance();
    DOOR.delete()?;
    ensure!(answered(own), "the counts");
    if let (Ok(own), Ok(before), Ok(after)) = (own, before, after) {
        ensure_eq!([own.puts, own.gets, own.suspensions, own.timeouts], [1, 2, 1, 1], "its counts");
        let sums = [after.puts.wrapping_sub(before.puts), after.gets.wrapping_sub(before.gets)];
        ensure_eq!(sums, [1, 2], "the sums");
        ensure_eq!(DOOR.performance(), Err(Error::Semaphore), "one that was deleted");
    }
    check_kernel()
}

fn an_interrupt_preempts() -> Outcome {
    let me = thread::current().ok_or_else(|| Why::failed(format_args!("no thread")))?;
    let interrupted = |me: ThreadRef| me.performance().map(|(counts, _)| counts.interrupt_preemptions);
    DOOR.create("door", 0)?;
    let higher = spawn(0, at::<5>("higher"), || DOOR.get(Timeout::Forever))?;
    let line = InterruptId::sgi(1);
    interrupt::register(line, 0x80, || {
        // What it returns is seen by the thread that waits.
        let _ = DOOR.put();
    })
    .map_err(|error| Why::failed(format_args!("software interrupt 1: {error:?}")))?;
    interrupt::enable(line);
    let before = interrupted(me);
    interrupt::pend_sgi(1);
    let after = interrupted(me);
    ensure!(answered(before) && answered(after), "the counts");
    if let (Ok(before), Ok(after)) = (before, after) {
        ensure_eq!(after.wrapping_sub(before), 1, "preemptions");
        let by = me.performance()?.1;
        ensure_eq!(by, Some(higher.thread()), "who preempted");
    }
    ensure_eq!(higher.join()?, Ok(()), "the get");
    DOOR.delete()?;
    check_kernel()
}
