//! Threads through the safe API, on the target.
//!
//! Field reports: K05, K06, K12, K17, K22 of the kernel's semantics; B02, B07, B10, B12 of
//! the bindings' soundness.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ontarget::{Outcome, Trace, at, check_kernel, ensure, ensure_eq, just_after_a_tick, spawn, spin, tests};
use threadx::thread::{self, Resumed, State};
use threadx::{Builder, Error, PreemptionThreshold, Priority, Semaphore, ThreadRef, Ticks, TimeSlice, Timeout, time};

#[bsp::entry]
fn main() -> ! {
    ontarget::run(tests![
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
            info_tells_the_truth: 20,
            high_water_is_exact: 20,
            names_outlive_their_creator: 10,
            critical_section_keeps_the_processor: 20,
            masked_interrupts_are_the_threads_own: 20,
    ])
}

static TRACE: Trace = Trace::new();
static S: Semaphore = Semaphore::new();

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
        // Loads and stores between two looks at the time, which cost the emulator much more.
        for _ in 0..100 {
            if LAST.load(Relaxed) != me {
                LAST.store(me, Relaxed);
                TRACE.push(me << 16 | (time::now() & 0xffff));
            }
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

    just_after_a_tick()?;
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
        just_after_a_tick()?;
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

/// Interrupts stay masked for the thread that asked for it, also over its next turns, and for no other.
fn masked_interrupts_are_the_threads_own() -> Outcome {
    static TICKS_SEEN: AtomicU32 = AtomicU32::new(0);
    just_after_a_tick()?;
    let equal = spawn(0, at::<16>("equal"), || {
        let ticks = time::now();
        spin(2 * bsp::timer::frequency() / bsp::tick_hz());
        TICKS_SEEN.store(time::now() - ticks, Relaxed);
    })?;
    let (held_off, ticks) = threadx::interrupt::masked(|| {
        thread::relinquish();
        let ticks = time::now();
        threadx::interrupt::masked(|| ());
        spin(3 * bsp::timer::frequency() / bsp::tick_hz());
        (time::now() == ticks, ticks)
    });
    ensure!(TICKS_SEEN.load(Relaxed) >= 1, "another thread ran with interrupts masked");
    ensure!(held_off, "a tick came in between");
    ensure!(time::now() > ticks, "interrupts stayed masked");
    equal.join()?;
    check_kernel()
}
