//! Application timers and semaphores through the safe API, on the target.
//!
//! Field reports: K17 (what a timer's callback may do), K18, K23.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ontarget::{Outcome, Trace, at, ensure, ensure_eq, just_after_a_tick, spawn, spin, tests};
use threadx::semaphore::SemaphoreInfo;
use threadx::{Error, Schedule, Semaphore, Ticks, Timeout, Timer, thread, time};

#[bsp::entry]
fn main() -> ! {
    ontarget::run(tests![
        timers_expire_together: 100,
        timers_before_the_sleeping_thread: 30,
        one_shot_is_changed_before_reuse: 50,
        deactivated_timer_keeps_its_rest: 50,
        timer_of_no_ticks: 10,
        timer_seen_by_its_callback: 60,
        timer_deleted_as_it_expires: 200,
        semaphore_edges: 50,
        timer_callbacks_are_refused: 20,
    ])
}

static TRACE: Trace = Trace::new();
static S: Semaphore = Semaphore::new();
static T: [Timer; 3] = [const { Timer::new() }; 3];

fn stamp(number: u32) {
    TRACE.push(number << 16 | (time::now() & 0xffff));
}

/// K18 (1): a timer longer than the wheel and a short one, due in the same tick; the order is not
/// promised.
fn timers_expire_together() -> Outcome {
    T[0].create("long", Schedule::once(Ticks::new(40)), || stamp(1))?;
    T[1].create("short", Schedule::once(Ticks::new(9)), || stamp(2))?;
    just_after_a_tick()?;
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
    just_after_a_tick()?;
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
    just_after_a_tick()?;
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
    just_after_a_tick()?;
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
    just_after_a_tick()?;
    let start = time::now();
    T[0].activate()?;
    thread::sleep(Ticks::new(5))?;
    TRACE.expect(&[0, 0x100_0000 | ((start + 3) & 0xffff)])?;
    TRACE.clear();
    just_after_a_tick()?;
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
    const STEP: u32 = if cfg!(debug_assertions) { 2000 } else { 100 };
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let tick = bsp::timer::frequency() / bsp::tick_hz();
    let (mut called, mut prevented) = (0, 0);
    for step in 0..25_u32 {
        just_after_a_tick()?;
        let start = bsp::cycles();
        T[0].create("brief", Schedule::once(Ticks::new(1)), || {
            CALLS.fetch_add(1, Relaxed);
        })?;
        T[0].activate()?;
        // In steps around the tick; a debug build takes longer to create and to delete.
        let wait = tick - 20 * STEP + STEP * step;
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
