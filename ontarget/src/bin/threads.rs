//! Threads, timers and semaphores through the safe API, on the target.
//!
//! Field reports: K05, K06, K12, K17, K18, K22, K23 of the kernel's semantics; B02, B07, B10, B12 of
//! the bindings' soundness.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use bsp::interrupt::{self, InterruptId};
use bsp::memory::Dram0;
use ontarget::{Outcome, Trace, at, check_kernel, ensure, ensure_eq, just_after_a_tick, spawn, spin, tests};
use threadx::semaphore::SemaphoreInfo;
use threadx::thread::{self, Resumed, State};
use threadx::{
    Builder, Error, JoinError, PreemptionThreshold, Priority, Schedule, Semaphore, ThreadCell, ThreadRef, Ticks,
    TimeSlice, Timeout, Timer, stack, time,
};

#[bsp::entry]
fn main() -> ! {
    ontarget::run_after(
        tests![
            initialization_refuses: 10,
            spawn_and_join: 10,
            cell_and_stack_come_back: 100,
            scoped_threads_borrow: 10,
            smaller_number_runs_first: 10,
            relinquish_with_a_threshold: 10,
            thresholds_nest: 10,
            time_slices_rotate: 60,
            no_time_slice_no_rotation: 20,
            suspension_is_delayed: 50,
            suspension_and_wait_abort: 20,
            sleep_is_exact: 400,
            sleep_after_a_timed_out_wait: 50,
            wait_abort_of_a_sleeper: 20,
            timers_expire_together: 100,
            timers_before_the_sleeping_thread: 30,
            one_shot_is_changed_before_reuse: 50,
            deactivated_timer_keeps_its_rest: 50,
            timer_of_no_ticks: 10,
            timer_seen_by_its_callback: 60,
            timer_deleted_as_it_expires: 200,
            semaphore_edges: 50,
            info_tells_the_truth: 20,
            high_water_is_exact: 20,
            names_outlive_their_creator: 10,
            interrupts_are_refused: 10,
            timer_callbacks_are_refused: 20,
            critical_section_keeps_the_processor: 20,
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
static T: [Timer; 3] = [const { Timer::new() }; 3];

/// Sleeping, waiting for ever, deleting and starting a second time in initialization (K17, issue 2).
fn initialization_refuses() -> Outcome {
    INIT.expect(&[1; 11])?;
    S.delete()?;
    Ok(())
}

fn spawn_and_join() -> Outcome {
    let high = spawn(0, at::<10>("high"), || {
        TRACE.push(1);
        [7_u64; 9]
    })?;
    TRACE.push(2);
    let low = spawn(1, at::<20>("low"), || {
        TRACE.push(3);
        5_u8
    })?;
    TRACE.push(4);
    ensure!(high.is_finished() && !low.is_finished(), "who has ended is told wrongly");
    ensure_eq!(high.join()?, [7_u64; 9], "result of the high thread");
    ensure_eq!(low.join()?, 5, "result of the low thread");
    TRACE.expect(&[1, 2, 4, 3])?;
    TRACE.clear();

    static DROPS: AtomicU32 = AtomicU32::new(0);
    struct Dropped;
    impl Drop for Dropped {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Relaxed);
        }
    }
    let moved = Dropped;
    let handle = spawn(0, at::<10>("drop"), move || moved)?;
    ensure_eq!(DROPS.load(Relaxed), 0, "drops before the join");
    drop(handle.join()?);
    ensure_eq!(DROPS.load(Relaxed), 1, "drops after the join");
    Ok(())
}

/// 1000 threads in the same cell and stack (B02, B10).
fn cell_and_stack_come_back() -> Outcome {
    for round in 0..1000_u32 {
        let handle = spawn(0, at::<20>("again"), move || round)?;
        ensure_eq!(ontarget::stack_of(0).err(), Some(Error::StackTaken), "second take of the stack");
        let second = at::<20>("second").spawn(ontarget::cell(0), ontarget::stack_of(1)?, || ());
        ensure!(second.err() == Some(Error::InUse), "the cell took a second thread");
        ensure_eq!(handle.join()?, round, "result");
    }
    check_kernel()
}

fn scoped_threads_borrow() -> Outcome {
    let mut numbers = [0_u32; 64];
    let sum = threadx::scope(|scope| -> Result<u32, ontarget::Why> {
        let (left, right) = numbers.split_at_mut(32);
        let (left_stack, right_stack) = (ontarget::stack_of(0)?, ontarget::stack_of(1)?);
        let fill = |part: &mut [u32], from: u32| {
            for (n, number) in (from..).zip(part.iter_mut()) {
                *number = n;
                thread::relinquish();
            }
            part.iter().sum::<u32>()
        };
        let a = at::<20>("left").spawn_scoped(scope, ontarget::cell(0), left_stack, move || fill(left, 0))?;
        let b = at::<20>("right").spawn_scoped(scope, ontarget::cell(1), right_stack, move || fill(right, 32))?;
        // The second is joined by the scope's end.
        let _ = b.thread();
        Ok(a.join()?)
    })??;
    ensure_eq!(sum, 31 * 32 / 2, "sum of the left half");
    ensure!(numbers.iter().zip(0..).all(|(&n, i)| n == i), "the scope ended before its threads");
    ensure!(ontarget::stack_of(1).is_ok(), "the scope kept a stack");
    Ok(())
}

/// K22.
fn smaller_number_runs_first() -> Outcome {
    let d = spawn(0, at::<20>("d"), || TRACE.push(20))?;
    let b = spawn(1, at::<18>("b"), || TRACE.push(18))?;
    let c1 = spawn(2, at::<19>("c1"), || TRACE.push(191))?;
    let a = spawn(3, at::<17>("a"), || TRACE.push(17))?;
    let c2 = spawn(4, at::<19>("c2"), || TRACE.push(192))?;
    d.join()?;
    TRACE.expect(&[17, 18, 191, 192, 20])?;
    TRACE.clear();
    for handle in [a, b, c1, c2] {
        handle.join()?;
    }
    Ok(())
}

/// K22: priority 20, threshold 10, with a 15 and another 20 ready: the 15 runs, then the 20.
fn relinquish_with_a_threshold() -> Outcome {
    // Above the judge and its own threshold it would preempt, so all three become ready below.
    let held = |name| at::<20>(name).preemption_threshold(PreemptionThreshold::at(Priority::of::<17>()));
    let a = spawn(0, held("a"), || {
        TRACE.push(1);
        let b = spawn(1, at::<18>("b"), || TRACE.push(3));
        let c = spawn(2, at::<20>("c"), || TRACE.push(4));
        TRACE.push(2);
        thread::relinquish();
        TRACE.push(5);
        (b, c)
    })?;
    let (b, c) = a.join()?;
    TRACE.expect(&[1, 2, 3, 4, 5])?;
    TRACE.clear();
    b?.join()?;
    c?.join()?;
    check_kernel()
}

fn thresholds_nest() -> Outcome {
    // 24/22 is preempted by 21/19, which holds off the 20 but not the 18; afterwards the 20 runs, and
    // the 23 only when the outer one, whose threshold of 22 it does not beat, has ended.
    let threshold = |n: u32| PreemptionThreshold::new(n).unwrap_or(PreemptionThreshold::NO_PREEMPTION);
    let outer = spawn(0, at::<24>("outer").preemption_threshold(threshold(22)), move || {
        TRACE.push(1);
        let held = spawn(1, at::<23>("held"), || TRACE.push(9));
        TRACE.push(2);
        let inner = spawn(2, at::<21>("inner").preemption_threshold(threshold(19)), || {
            TRACE.push(3);
            let twenty = spawn(3, at::<20>("twenty"), || TRACE.push(7));
            TRACE.push(4);
            let eighteen = spawn(4, at::<18>("eighteen"), || TRACE.push(5));
            TRACE.push(6);
            (twenty, eighteen)
        });
        TRACE.push(8);
        (held, inner)
    })?;
    let (held, inner) = outer.join()?;
    let (twenty, eighteen) = inner?.join()?;
    held?.join()?;
    twenty?.join()?;
    eighteen?.join()?;
    TRACE.expect(&[1, 2, 3, 4, 5, 6, 7, 8, 9])?;
    TRACE.clear();

    let none = spawn(0, at::<20>("none").preemption_threshold(PreemptionThreshold::NO_PREEMPTION), || {
        TRACE.push(1);
        let high = spawn(1, at::<1>("high"), || TRACE.push(3));
        TRACE.push(2);
        high
    })?;
    none.join()??.join()?;
    TRACE.expect(&[1, 2, 3])?;
    TRACE.clear();
    check_kernel()
}

/// Which spinner runs; each notes the tick at which it took over.
fn spinner(me: u32, stop_at: u32) {
    static LAST: AtomicU32 = AtomicU32::new(0);
    while time::now().wrapping_sub(stop_at) > u32::MAX / 2 {
        if LAST.swap(me, Relaxed) != me {
            TRACE.push(me << 16 | (time::now() & 0xffff));
        }
    }
}

fn time_slices_rotate() -> Outcome {
    let stop_at = time::now() + 26;
    let sliced = |name| at::<20>(name).time_slice(TimeSlice::ticks(2));
    let a = spawn(0, sliced("a"), move || spinner(1, stop_at))?;
    let b = spawn(1, sliced("b"), move || spinner(2, stop_at))?;
    let c = spawn(2, sliced("c"), move || spinner(3, stop_at))?;
    for handle in [a, b, c] {
        handle.join()?;
    }
    ensure!(TRACE.len() >= 12, "only {} turns in 26 ticks", TRACE.len());
    for turn in 1..12 {
        let (before, now) = (TRACE.get(turn - 1), TRACE.get(turn));
        ensure_eq!(now >> 16, (before >> 16) % 3 + 1, "whose turn");
        // The first slice begins in the middle of a tick.
        ensure_eq!((now & 0xffff) - (before & 0xffff), 2, "ticks of a slice");
    }
    TRACE.clear();
    Ok(())
}

fn no_time_slice_no_rotation() -> Outcome {
    let stop_at = time::now() + 6;
    let a = spawn(0, at::<20>("a"), move || spinner(1, stop_at))?;
    let b = spawn(1, at::<20>("b"), move || spinner(2, stop_at))?;
    a.join()?;
    b.join()?;
    ensure!(TRACE.len() <= 2, "{} turns without a time slice", TRACE.len());
    TRACE.clear();
    Ok(())
}

fn state(thread: ThreadRef) -> Result<State, Error> {
    thread.info().map(|info| info.state)
}

/// K06, first and third part.
fn suspension_is_delayed() -> Outcome {
    S.create("k06", 0)?;
    let w = spawn(0, at::<10>("w"), || S.get(Timeout::Forever))?;
    let thread = w.thread();
    ensure_eq!(state(thread)?, State::Semaphore, "state of the waiter");
    thread.suspend()?;
    ensure_eq!(state(thread)?, State::Semaphore, "state after suspend");
    S.put()?;
    ensure_eq!(state(thread)?, State::Suspended, "state after put");
    ensure_eq!(S.info()?.count, 0, "count: the unit is handed over");
    ensure_eq!(thread.resume()?, Resumed::Ready, "resume");
    ensure_eq!(w.join()?, Ok(()), "the waiter's get");

    just_after_a_tick();
    let sleeper = spawn(0, at::<10>("sleeper"), || thread::sleep(Ticks::new(10)))?;
    let thread = sleeper.thread();
    ensure_eq!(thread.resume().err(), Some(Error::Resume), "resume of a sleeper");
    thread::sleep(Ticks::new(2))?;
    thread.suspend()?;
    ensure_eq!(state(thread)?, State::Sleeping, "state at 2");
    thread::sleep(Ticks::new(12))?;
    ensure_eq!(state(thread)?, State::Suspended, "state at 14");
    thread.resume()?;
    ensure_eq!(sleeper.join()?, Ok(()), "the sleep");
    S.delete()?;
    Ok(())
}

/// K06, second part.
fn suspension_and_wait_abort() -> Outcome {
    S.create("k06", 0)?;
    let w = spawn(0, at::<10>("w"), || S.get(Timeout::Forever))?;
    let thread = w.thread();
    thread.suspend()?;
    ensure_eq!(thread.resume()?, Resumed::SuspensionLifted, "first resume");
    ensure_eq!(thread.resume().err(), Some(Error::Resume), "second resume");
    thread.suspend()?;
    thread.wait_abort()?;
    ensure_eq!(state(thread)?, State::Suspended, "state after wait abort");
    ensure_eq!(thread.wait_abort().err(), Some(Error::WaitAbort), "second wait abort");
    thread.resume()?;
    ensure_eq!(state(thread)?, State::Completed, "state after resume");
    ensure_eq!(thread.suspend().err(), Some(Error::Suspend), "suspend of a completed thread");
    ensure_eq!(w.join()?, Err(Error::WaitAborted), "the waiter's get");
    S.delete()?;
    Ok(())
}

fn sleep_is_exact() -> Outcome {
    let tick = bsp::timer::frequency() / bsp::tick_hz();
    for n in 1..=20_u32 {
        just_after_a_tick();
        let (before, start) = (time::now(), bsp::cycles());
        thread::sleep(Ticks::new(n))?;
        ensure_eq!(time::now() - before, n, "ticks slept");
        let counts = bsp::cycles().wrapping_sub(start);
        // At the start up to a thousand instructions of the tick are gone; waking takes some.
        ensure!(
            counts <= n * tick + 2000 && counts >= n * tick - 2000,
            "{n} ticks took {counts} counts at {tick} a tick"
        );
    }
    let before = bsp::cycles();
    thread::sleep(Ticks::ZERO)?;
    ensure!(bsp::cycles().wrapping_sub(before) < tick / 2, "sleep of no ticks waited");
    Ok(())
}

/// K05.
fn sleep_after_a_timed_out_wait() -> Outcome {
    S.create("k05", 0)?;
    ensure_eq!(S.get(Ticks::new(2)), Err(Error::NoInstance), "get of an empty semaphore");
    ensure_eq!(thread::sleep(Ticks::new(2)), Ok(()), "sleep after a timeout");
    let w = spawn(0, at::<10>("w"), || {
        let get = S.get(Timeout::Forever);
        (get, thread::sleep(Ticks::new(2)))
    })?;
    w.thread().wait_abort()?;
    ensure_eq!(w.join()?, (Err(Error::WaitAborted), Ok(())), "get and sleep after a wait abort");
    S.delete()?;
    Ok(())
}

fn wait_abort_of_a_sleeper() -> Outcome {
    let before = time::now();
    let sleeper = spawn(0, at::<10>("sleeper"), || thread::sleep(Ticks::MAX))?;
    thread::sleep(Ticks::new(1))?;
    sleeper.thread().wait_abort()?;
    ensure_eq!(sleeper.join()?, Err(Error::WaitAborted), "the sleep");
    ensure!(time::now() - before <= 2, "the abort came late");
    Ok(())
}

fn stamp(number: u32) {
    TRACE.push(number << 16 | (time::now() & 0xffff));
}

/// K18 (1): a timer longer than the wheel and a short one, due in the same tick; the order is not
/// promised.
fn timers_expire_together() -> Outcome {
    T[0].create("long", Schedule::once(Ticks::new(40)), || stamp(1))?;
    T[1].create("short", Schedule::once(Ticks::new(9)), || stamp(2))?;
    just_after_a_tick();
    let start = time::now() & 0xffff;
    T[0].activate()?;
    thread::sleep(Ticks::new(31))?;
    T[1].activate()?;
    thread::sleep(Ticks::new(20))?;
    ensure_eq!(TRACE.len(), 2, "expirations");
    for at in 0..2 {
        ensure_eq!(TRACE.get(at) & 0xffff, (start + 40) & 0xffff, "tick of the expiration");
    }
    ensure!(TRACE.get(0) >> 16 != TRACE.get(1) >> 16, "one timer expired twice");
    TRACE.clear();
    T[0].delete()?;
    T[1].delete()?;
    Ok(())
}

/// K18 (2).
fn timers_before_the_sleeping_thread() -> Outcome {
    T[0].create("one", Schedule::once(Ticks::new(5)), || stamp(1))?;
    T[1].create("two", Schedule::once(Ticks::new(5)), || stamp(2))?;
    just_after_a_tick();
    let due = (time::now() + 5) & 0xffff;
    T[1].activate()?;
    T[0].activate()?;
    thread::sleep(Ticks::new(5))?;
    stamp(3);
    TRACE.expect(&[2 << 16 | due, 1 << 16 | due, 3 << 16 | due])?;
    TRACE.clear();
    T[0].delete()?;
    T[1].delete()?;
    Ok(())
}

/// K18 (3).
fn one_shot_is_changed_before_reuse() -> Outcome {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let timer = &T[0];
    timer.create("once", Schedule::once(Ticks::new(2)), || {
        CALLS.fetch_add(1, Relaxed);
    })?;
    timer.activate()?;
    thread::sleep(Ticks::new(4))?;
    ensure_eq!(CALLS.load(Relaxed), 1, "calls of a one-shot");
    ensure_eq!(timer.activate(), Err(Error::Activate), "activate after expiry");
    timer.change(Schedule::once(Ticks::new(3)))?;
    just_after_a_tick();
    timer.activate()?;
    ensure_eq!(timer.activate(), Err(Error::Activate), "second activate");
    timer.change(Schedule::once(Ticks::new(50)))?;
    ensure_eq!(timer.info()?.remaining, 3, "remaining: a change of an active timer does nothing");
    thread::sleep(Ticks::new(4))?;
    ensure_eq!(CALLS.load(Relaxed), 2, "calls after the second activation");
    timer.delete()?;
    ensure_eq!(timer.activate(), Err(Error::Timer), "activate after delete");
    Ok(())
}

/// K18 (4).
fn deactivated_timer_keeps_its_rest() -> Outcome {
    let timer = &T[0];
    timer.create("rest", Schedule { first: Ticks::new(20), period: Ticks::new(7) }, || ())?;
    just_after_a_tick();
    timer.activate()?;
    thread::sleep(Ticks::new(5))?;
    timer.deactivate()?;
    let info = timer.info()?;
    ensure_eq!((info.active, info.remaining, info.period), (false, 15, 7), "after deactivate");
    timer.deactivate()?;
    timer.activate()?;
    ensure_eq!(timer.info()?.remaining, 15, "remaining after activate");
    timer.delete()?;
    Ok(())
}

/// K18 (5).
fn timer_of_no_ticks() -> Outcome {
    let none = Schedule::once(Ticks::ZERO);
    ensure_eq!(T[0].create("none", none, || ()), Err(Error::Tick), "create");
    T[0].create("some", Schedule::once(Ticks::new(1)), || ())?;
    ensure_eq!(T[0].change(none), Err(Error::Tick), "change");
    ensure_eq!(T[0].create("twice", none, || ()), Err(Error::InUse), "second create");
    T[0].delete()?;
    Ok(())
}

/// K18 (6), and the period of a periodic timer.
fn timer_seen_by_its_callback() -> Outcome {
    for (n, timer) in (0..2_usize).zip(&T) {
        let schedule = Schedule { first: Ticks::new(3), period: Ticks::new(n as u32 * 4) };
        timer.create("seen", schedule, move || {
            let info = T[n].info();
            TRACE.push(info.map_or(999, |i| i.remaining * 10 + u32::from(i.active)));
            stamp(0x100);
        })?;
    }
    just_after_a_tick();
    let start = time::now();
    T[0].activate()?;
    thread::sleep(Ticks::new(5))?;
    TRACE.expect(&[0, 0x100_0000 | ((start + 3) & 0xffff)])?;
    TRACE.clear();
    just_after_a_tick();
    let start = time::now();
    T[1].activate()?;
    thread::sleep(Ticks::new(12))?;
    let stamps = [3, 7, 11].map(|after| 0x100_0000 | ((start + after) & 0xffff));
    TRACE.expect(&[1, stamps[0], 1, stamps[1], 1, stamps[2]])?;
    TRACE.clear();
    T[0].delete()?;
    T[1].delete()?;
    Ok(())
}

/// K18 (7): no call after delete has returned, however close to the tick it is.
fn timer_deleted_as_it_expires() -> Outcome {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let tick = bsp::timer::frequency() / bsp::tick_hz();
    let (mut called, mut prevented) = (0, 0);
    for step in 0..60_u32 {
        just_after_a_tick();
        let start = bsp::cycles();
        T[0].create("brief", Schedule::once(Ticks::new(1)), || {
            CALLS.fetch_add(1, Relaxed);
        })?;
        T[0].activate()?;
        // In steps of 50 instructions around the tick.
        let wait = tick - 2500 + 50 * step;
        spin(wait.wrapping_sub(bsp::cycles().wrapping_sub(start)));
        T[0].delete()?;
        let at_delete = CALLS.swap(0, Relaxed);
        thread::sleep(Ticks::new(1))?;
        ensure_eq!(CALLS.load(Relaxed), 0, "calls after delete");
        if at_delete == 0 { prevented += 1 } else { called += 1 }
    }
    if called == 0 || prevented == 0 {
        return Err(ontarget::Why::missed(format_args!("{called} expired, {prevented} were deleted before")));
    }
    Ok(())
}

/// K23.
fn semaphore_edges() -> Outcome {
    S.create("edges", 1)?;
    ensure_eq!(S.ceiling_put(0), Err(Error::InvalidCeiling), "ceiling 0");
    ensure_eq!(S.ceiling_put(1), Err(Error::CeilingExceeded), "ceiling 1 at count 1");
    S.ceiling_put(2)?;
    ensure_eq!(S.info()?, info(2, 0)?, "count after a ceiling put");
    S.get(Timeout::NoWait)?;
    S.get(Timeout::Forever)?;
    ensure_eq!(S.get(Timeout::NoWait), Err(Error::NoInstance), "get of nothing");
    let before = time::now();
    ensure_eq!(S.get(Ticks::new(3)), Err(Error::NoInstance), "get with a timeout");
    ensure_eq!(time::now() - before, 3, "ticks of the timeout");

    let w = spawn(0, at::<10>("w"), || S.get(Timeout::Forever))?;
    ensure_eq!(S.info()?.waiting, 1, "waiting");
    S.ceiling_put(1)?;
    ensure_eq!(S.info()?.count, 0, "count with a waiter: the unit is the waiter's");
    ensure_eq!(w.join()?, Ok(()), "the waiter");
    S.delete()?;

    S.create("full", u32::MAX)?;
    S.put()?;
    ensure_eq!(S.info()?.count, 0, "count after the put at 0xFFFFFFFF");
    let w1 = spawn(0, at::<10>("w1"), || S.get(Timeout::Forever))?;
    let w2 = spawn(1, at::<20>("w2"), || S.get(Ticks::new(30)))?;
    thread::sleep(Ticks::new(1))?;
    ensure_eq!(S.info()?.waiting, 2, "waiting");
    S.delete()?;
    ensure_eq!(w1.join()?, Err(Error::Deleted), "first waiter");
    ensure_eq!(w2.join()?, Err(Error::Deleted), "second waiter");
    ensure_eq!(S.put(), Err(Error::Semaphore), "put after delete");
    ensure_eq!(S.get(Timeout::NoWait), Err(Error::Semaphore), "get after delete");
    ensure_eq!(S.delete(), Err(Error::Semaphore), "second delete");
    Ok(())
}

fn info(count: u32, waiting: u32) -> Result<SemaphoreInfo, Error> {
    let mut info = S.info()?;
    (info.count, info.waiting) = (count, waiting);
    Ok(info)
}

fn info_tells_the_truth() -> Outcome {
    let builder = at::<20>("told")
        .preemption_threshold(PreemptionThreshold::at(Priority::of::<19>()))
        .time_slice(TimeSlice::ticks(5))
        .suspended();
    let t = spawn(0, builder, || {
        for _ in 0..3 {
            let _ = thread::sleep(Ticks::new(1));
        }
        thread::current().and_then(|me| me.info().ok()).map(|me| me.state)
    })?;
    let thread = t.thread();
    let info = thread.info()?;
    ensure_eq!(info.state, State::Suspended, "state");
    ensure_eq!(info.priority, Priority::of::<20>(), "priority");
    ensure_eq!(info.preemption_threshold.number(), 19, "threshold");
    ensure_eq!(info.time_slice.get(), 5, "time slice");
    ensure_eq!(info.run_count, 0, "run count before the first run");
    ensure_eq!(thread.name(), "told", "name");
    ensure_eq!(thread.set_time_slice(TimeSlice::ticks(7))?.get(), 5, "old time slice");
    ensure_eq!(thread.set_priority(Priority::of::<21>())?, Priority::of::<20>(), "old priority");
    ensure_eq!(thread.info()?.preemption_threshold.number(), 21, "threshold after the priority change");
    ensure_eq!(thread.resume()?, Resumed::Ready, "resume");
    thread::sleep(Ticks::new(10))?;
    let info = thread.info()?;
    ensure_eq!(info.state, State::Completed, "state after its end");
    ensure!(info.run_count >= 4, "run count {} after three sleeps", info.run_count);
    ensure_eq!(t.join()?, Some(State::Ready), "state of the running thread");
    Ok(())
}

/// Writes two words `depth` bytes below the stack pointer, nothing else, and returns their address.
#[inline(never)]
fn touch(depth: usize, low: u32, high: u32) -> usize {
    let address: usize;
    // SAFETY: the words lie below the stack pointer, where nothing alive is (the ABI has no red zone),
    // and within this thread's stack, as the caller chose; an interrupt may overwrite them, so they are
    // written with the stack pointer moved below them.
    unsafe {
        asm!(
            "sub {address}, sp, {depth}",
            "mov {saved}, sp",
            "mov sp, {address}",
            "str {high}, [sp, #4]",
            "str {low}, [sp]",
            "mov sp, {saved}",
            address = out(reg) address,
            depth = in(reg) depth,
            saved = out(reg) _,
            low = in(reg) low,
            high = in(reg) high,
        );
    }
    address
}

/// K12 (2): exact to the word, and not fooled by live data that looks like the fill.
fn high_water_is_exact() -> Outcome {
    const FILL: u32 = 0xEFEF_EFEF;
    for (low, above, what) in [(1, 0, "live"), (FILL, 4, "fill below live")] {
        let t = spawn(0, at::<10>("deep"), move || {
            let live = [FILL; 64];
            core::hint::black_box(&live);
            touch(1024, low, 2)
        })?;
        let usage = t.thread().stack_usage()?;
        let address = t.join()?;
        let top = ontarget::stack_addresses(0).start + usage.size;
        ensure!(
            usage.high_water == top - address - above,
            "{what}: high water {}, deepest write {}",
            usage.high_water,
            top - address - above
        );
        ensure!(usage.size <= 4096 && usage.high_water > 1024, "size {}", usage.size);
    }
    Ok(())
}

/// B07.
fn names_outlive_their_creator() -> Outcome {
    const LONG: &str = "a name of more than thirty-one bytes, which once made a binding panic";
    let creator = spawn(0, at::<10>("creator"), || {
        spawn(1, Builder::new(LONG).priority(Priority::of::<20>()).suspended(), || {
            thread::current().map(ThreadRef::name)
        })
    })?;
    let named = creator.join()??;
    // The creator's stack is used again.
    spawn(0, at::<10>("other"), || touch(1024, 0x5858_5858, 0x5858_5858))?.join()?;
    ensure_eq!(named.thread().name(), LONG, "name");
    named.thread().resume()?;
    ensure_eq!(named.join()?, Some(LONG), "name seen by the thread itself");
    Ok(())
}

static DONE: AtomicBool = AtomicBool::new(false);

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

/// Issue 2, K17, B12: what an interrupt may not do is refused, what it may do works.
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
        TRACE.push(u32::from(T[0].create("isr", Schedule::once(Ticks::new(1)), || ()) == Err(Error::Caller)));
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

/// K17: what a timer's callback may not do.
fn timer_callbacks_are_refused() -> Outcome {
    static OTHER: Semaphore = Semaphore::new();
    S.create("timer", 0)?;
    T[0].create("refused", Schedule::once(Ticks::new(1)), || {
        TRACE.push(u32::from(thread::sleep(Ticks::new(1)) == Err(Error::Caller)));
        TRACE.push(u32::from(S.get(Timeout::Forever) == Err(Error::Wait)));
        TRACE.push(u32::from(S.get(Timeout::NoWait) == Err(Error::NoInstance)));
        TRACE.push(u32::from(OTHER.create("other", 0) == Err(Error::Caller)));
        TRACE.push(u32::from(S.delete() == Err(Error::Caller)));
        TRACE.push(u32::from(T[0].delete() == Err(Error::Caller)));
        TRACE.push(u32::from(thread::current().is_none()));
        let spawned = ontarget::stack_of(0)
            .and_then(|stack| at::<10>("timer").spawn(ontarget::cell(0), stack, || ()).map(|h| h.detach()));
        TRACE.push(u32::from(spawned == Err(Error::Caller)));
        TRACE.push(u32::from(S.put().is_ok()));
    })?;
    T[0].activate()?;
    S.get(Ticks::new(5))?;
    TRACE.expect(&[1; 9])?;
    TRACE.clear();
    T[0].delete()?;
    S.delete()?;
    Ok(())
}

/// Inside a critical section no other thread runs, whatever the section does.
fn critical_section_keeps_the_processor() -> Outcome {
    let equal = spawn(0, at::<16>("equal"), || TRACE.push(3))?;
    let high = spawn(1, at::<10>("high").suspended(), || TRACE.push(2))?;
    let ticks = time::now();
    let inside = critical_section::with(|_| {
        thread::relinquish();
        high.thread().resume()?;
        critical_section::with(|_| thread::relinquish());
        thread::relinquish();
        TRACE.push(1);
        let refused = thread::sleep(Ticks::new(1));
        spin(3 * bsp::timer::frequency() / bsp::tick_hz());
        Ok::<_, Error>((refused, time::now()))
    })?;
    TRACE.expect(&[1, 2])?;
    ensure_eq!(inside.0, Err(Error::Caller), "sleep inside");
    ensure!(inside.1 - ticks <= 1, "the tick interrupted the section");
    thread::relinquish();
    TRACE.expect(&[1, 2, 3])?;
    TRACE.clear();
    equal.join()?;
    high.join()?;
    // The ticks that the section held back come in afterwards.
    thread::sleep(Ticks::new(1))?;
    ensure!(time::now() - ticks >= 3, "ticks were lost: {}", time::now() - ticks);
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

/// Bad input of issue 2, as far as it compiles.
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
    // The same cell and stack work for what fits.
    ensure_eq!(at::<10>("small").spawn(&CELL, SMALL.take()?, || 7)?.join()?, 7, "small thread");
    let me = thread::current().ok_or(Error::Thread)?;
    let weaker = PreemptionThreshold::at(Priority::of::<17>());
    ensure_eq!(me.set_preemption_threshold(weaker).err(), Some(Error::Threshold), "own threshold above the priority");
    ensure!(threadx::try_start(|_| ()).err() == Some(Error::AlreadyStarted), "started twice");
    Ok(())
}
