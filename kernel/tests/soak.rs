//! Random services, ticks and interrupts, step by step against the naive model in `common/model.rs`.
//!
//! Whichever thread runs takes the next step: it draws a service, lets the model do it, then the
//! kernel. When a call returns, its thread must be the one that the model has running, the answer the
//! model's, and the state of every object the model's.

mod common;
use common::*;
#[path = "common/model.rs"]
mod model;
use model::*;

use std::collections::VecDeque;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const THREADS: usize = 11;
const SEMAPHORES: usize = 3;
/// This semaphore has a put notification.
const NOTIFYING: usize = 2;
const TIMERS: usize = 4;
const STACK: usize = 256;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn among<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Which services a soak draws from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mix {
    Everything,
    /// Ready sets and relinquish only: nobody waits, nothing ticks.
    Relinquish,
}

struct World {
    seed: u64,
    mix: Mix,
    random: Random,
    steps: usize,
    limit: usize,
    model: Model,
    threads: Vec<Thread>,
    stacks: Vec<Stack>,
    semaphores: Vec<Semaphore>,
    timers: Vec<Timer>,
    /// Postures of the critical sections that the running thread has entered.
    sections: Vec<UINT>,
    calls: Vec<u32>,
    interrupts: usize,
    switches: usize,
    relinquished: usize,
    last: VecDeque<(Option<usize>, Op)>,
}

/// Interrupts may come at interrupt points: the model is in step with the kernel there. Outside the
/// world, because the kernel reaches such points while the world is locked.
static ARMED: AtomicBool = AtomicBool::new(false);

/// One soak at a time.
static ONE: Mutex<()> = Mutex::new(());

static WORLD: Mutex<Option<World>> = Mutex::new(None);

struct Held(MutexGuard<'static, Option<World>>);

impl std::ops::Deref for Held {
    type Target = World;
    fn deref(&self) -> &World {
        self.0.as_ref().expect("a soak is running")
    }
}

impl std::ops::DerefMut for Held {
    fn deref_mut(&mut self) -> &mut World {
        self.0.as_mut().expect("a soak is running")
    }
}

fn world() -> Held {
    Held(WORLD.lock().unwrap_or_else(PoisonError::into_inner))
}

impl World {
    fn fail(&self, what: &str) -> ! {
        let last: Vec<_> = self.last.iter().map(|(by, op)| format!("{by:?}: {op:?}")).collect();
        let (seed, steps, model) = (self.seed, self.steps, &self.model);
        panic!("seed {seed}, step {steps}: {what}\nlast operations:\n{}\n{model:#}", last.join("\n"));
    }

    fn note(&mut self, by: Option<usize>, op: Op) {
        if self.last.len() == 100 {
            self.last.pop_front();
        }
        self.last.push_back((by, op));
    }

    // ---- drawing ----------------------------------------------------------------------------

    fn thread(&mut self) -> usize {
        let random = self.random.below(THREADS - 1) + 1;
        if self.model.threads[random].state == DELETED { IMMORTAL } else { random }
    }

    fn mortal(&mut self) -> usize {
        self.random.below(THREADS - 2) + 2
    }

    fn priority(&mut self) -> u32 {
        self.random.among(&[1, 2, 3, 4, 4, 4, 5, 6, 6, 7, 8])
    }

    fn threshold(&mut self, priority: u32) -> u32 {
        match self.random.below(4) {
            0 => self.random.below(priority as usize + 1) as u32,
            1 => priority - 1,
            _ => priority,
        }
    }

    fn created(&mut self) -> Created {
        let priority = self.priority();
        Created {
            priority,
            threshold: self.threshold(priority),
            slice: self.random.among(&[0, 0, 1, 2, 3, 5]),
            start: self.random.below(3) != 0,
        }
    }

    fn wait(&mut self) -> u32 {
        self.random.among(&[0, 1, 1, 2, 3, 5, 8, 31, 32, 33, 70, TX_WAIT_FOREVER])
    }

    /// Any service that `me` may call without ending the soak.
    fn draw(&mut self, me: usize) -> Op {
        loop {
            let op = match self.mix {
                Mix::Everything => self.draw_any(me),
                Mix::Relinquish => self.draw_ready_set(me),
            };
            let immortal = me == IMMORTAL;
            let exists = |t: usize| self.model.threads[t].state != DELETED;
            let ends = |t: usize| self.model.disabled == 0 || t != me || self.steps.is_multiple_of(8);
            let fits = match op {
                Op::Sleep(ticks) => !immortal || ticks == 0,
                Op::Get(s, _) => !immortal || self.model.semaphores[s].count > 0,
                Op::Suspend(t) => t != IMMORTAL && exists(t),
                Op::Priority(t, _) => t != IMMORTAL && exists(t),
                Op::Resume(t) | Op::WaitAbort(t) | Op::Threshold(t, _) | Op::Slice(t, _) | Op::Reset(t) => exists(t),
                Op::Terminate(t) => t != IMMORTAL && exists(t) && ends(t),
                Op::Complete => !immortal && ends(me),
                Op::Delete(t) => exists(t),
                Op::Create(t, _) => !exists(t),
                Op::CreateSemaphore(s, _) => !self.model.semaphores[s].exists,
                // Masked inside: they would come later.
                Op::Tick | Op::Interrupt => self.model.disabled == 0,
                Op::Enter => self.model.disabled < 3,
                Op::Exit => self.model.disabled > 0,
                _ => true,
            };
            if fits {
                return op;
            }
        }
    }

    fn draw_ready_set(&mut self, me: usize) -> Op {
        match self.random.below(12) {
            0 => Op::Suspend(self.thread()),
            1 | 2 => Op::Resume(self.mortal()),
            3 => Op::Priority(self.mortal(), self.random.among(&[3, 4, 5])),
            4 => {
                let t = self.mortal();
                let threshold = self.threshold(self.model.threads[t].priority);
                Op::Threshold(t, threshold)
            }
            5 if me == IMMORTAL => Op::Resume(self.mortal()),
            _ => Op::Relinquish,
        }
    }

    fn draw_any(&mut self, me: usize) -> Op {
        if me == IMMORTAL && self.random.below(2) == 0 {
            return Op::Tick;
        }
        match self.random.below(100) {
            0..18 => Op::Relinquish,
            18..24 => Op::Sleep(self.wait()),
            24..32 => Op::Suspend(self.thread()),
            32..42 => Op::Resume(self.thread()),
            42..45 => Op::WaitAbort(self.thread()),
            45..50 => Op::Priority(self.thread(), self.priority()),
            50..55 => {
                let t = self.thread();
                let threshold = self.threshold(self.model.threads[t].priority);
                Op::Threshold(t, if self.random.below(8) == 0 { 31 } else { threshold })
            }
            55..57 => Op::Slice(self.thread(), self.random.below(4) as u32),
            57..65 => Op::Get(self.random.below(SEMAPHORES), self.wait()),
            65..72 => Op::Put(self.random.below(SEMAPHORES)),
            72..74 => Op::CeilingPut(self.random.below(SEMAPHORES), 1 + self.random.below(4) as u32),
            74 => Op::Prioritize(self.random.below(SEMAPHORES)),
            75 if self.random.below(4) == 0 => Op::DeleteSemaphore(self.random.below(SEMAPHORES)),
            76 => Op::CreateSemaphore(self.random.below(SEMAPHORES), self.random.below(3) as u32),
            77 => Op::Terminate(self.thread()),
            78..80 => Op::Reset(self.thread()),
            80 => Op::Delete(self.thread()),
            81 => Op::Create(self.mortal(), self.created()),
            82 if self.random.below(2) == 0 => Op::Complete,
            83..87 => Op::Tick,
            87..91 => Op::Interrupt,
            91..93 => Op::Enter,
            93..96 => Op::Exit,
            96 => Op::Activate(self.random.below(TIMERS)),
            97 => Op::Deactivate(self.random.below(TIMERS)),
            98 => Op::Change(self.random.below(TIMERS), 1 + self.random.below(50) as u32, self.random.below(40) as u32),
            _ => Op::Sleep(0),
        }
    }

    /// A service for an interrupt.
    fn draw_for_interrupt(&mut self) -> Op {
        loop {
            let op = match self.random.below(12) {
                0..3 => Op::Resume(self.thread()),
                3 => Op::Suspend(self.thread()),
                4 => Op::WaitAbort(self.thread()),
                5 => Op::Put(self.random.below(SEMAPHORES)),
                6 => Op::CeilingPut(self.random.below(SEMAPHORES), 2),
                7 => Op::Get(self.random.below(SEMAPHORES), 0),
                8 => Op::Tick,
                9 => Op::Relinquish,
                10 => Op::Prioritize(self.random.below(SEMAPHORES)),
                _ => match self.random.below(3) {
                    0 => Op::Activate(self.random.below(TIMERS)),
                    1 => Op::Deactivate(self.random.below(TIMERS)),
                    _ => Op::Change(self.random.below(TIMERS), 1 + self.random.below(9) as u32, 0),
                },
            };
            if op != Op::Suspend(IMMORTAL) {
                return op;
            }
        }
    }

    // ---- comparing --------------------------------------------------------------------------

    /// The kernel is where the model says, and `me` is running.
    fn compare(&mut self, me: usize) {
        ARMED.store(false, Relaxed);
        if self.model.running != Some(me) || identify() != self.threads[me] {
            self.fail(&format!("thread {me} runs"));
        }
        if let Err(broken) = host::check_invariants() {
            self.fail(broken);
        }
        for t in 1..THREADS {
            let expected = &self.model.threads[t];
            if expected.state == DELETED {
                continue;
            }
            let info = self.threads[t].info();
            let got = (info.state, info.priority, info.threshold, info.time_slice, info.run_count);
            let expected = (expected.state, expected.priority, expected.threshold, expected.left, expected.runs);
            if got != expected {
                self.fail(&format!("thread {t} is {got:?}, not {expected:?}"));
            }
        }
        for (s, expected) in self.model.semaphores.iter().enumerate().filter(|(_, s)| s.exists) {
            let info = self.semaphores[s].info();
            let first = expected.waiters.first().map_or(NOBODY, |&t| self.threads[t]);
            if (info.count, info.waiting as usize, info.first) != (expected.count, expected.waiters.len(), first) {
                self.fail(&format!("semaphore {s} is {info:?}"));
            }
        }
        for (i, expected) in self.model.timers.iter().enumerate() {
            let info = self.timers[i].info();
            if ((info.active, info.remaining), info.reschedule, self.calls[i])
                != (self.model.timer(i), expected.reschedule, expected.calls)
            {
                self.fail(&format!("timer {i} is {info:?}, called {} times", self.calls[i]));
            }
        }
    }
}

unsafe extern "C-unwind" fn put_notified(_semaphore: *mut TX_SEMAPHORE) {}

unsafe extern "C-unwind" fn thread_main(me: ULONG) {
    let me = me as usize;
    {
        let mut w = world();
        w.switches += 1;
        w.sections.clear();
        w.compare(me);
    }
    loop {
        let (op, interrupt) = {
            let mut w = world();
            w.steps += 1;
            if w.steps > w.limit {
                drop(w);
                host::finish();
            }
            let op = w.draw(me);
            w.note(Some(me), op);
            w.model.timer_ran = false;
            w.model.apply(op, Some(me));
            if op != Op::Interrupt {
                w.model.settle(op == Op::Relinquish);
            }
            // In these services interrupts come between two steps of the work; the timer thread takes
            // its steps one by one as well.
            let stepwise = match op {
                Op::Terminate(_) | Op::Reset(_) | Op::Complete | Op::DeleteSemaphore(_) | Op::Tick => true,
                Op::Put(s) | Op::CeilingPut(s, _) => s == NOTIFYING,
                Op::CreateSemaphore(..) => true,
                _ => false,
            };
            ARMED.store(!stepwise && !w.model.timer_ran && w.mix == Mix::Everything, Relaxed);
            if op == Op::Relinquish {
                w.relinquished += 1;
            }
            let interrupt: Vec<Op> = match op {
                Op::Interrupt => (0..w.random.below(4)).map(|_| w.draw_for_interrupt()).collect(),
                _ => Vec::new(),
            };
            (op, interrupt)
        };
        if op == Op::Complete {
            return;
        }
        let got = perform(op, interrupt);
        let mut w = world();
        let expected = w.model.threads[me].answer;
        if got != expected {
            w.fail(&format!("{op:?} of thread {me} returned {got:#x}, not {expected:#x}"));
        }
        w.compare(me);
    }
}

/// Calls the service. No lock is held meanwhile: another thread may run before it returns.
fn perform(op: Op, interrupt: Vec<Op>) -> Answer {
    match op {
        Op::Enter => {
            let posture = preempt_disable();
            world().sections.push(posture);
            0
        }
        Op::Exit => {
            let posture = world().sections.pop().expect("in a section");
            preempt_enable(posture);
            0
        }
        Op::Interrupt => {
            isr(move || in_interrupt(&interrupt));
            0
        }
        Op::Tick => {
            host::tick();
            0
        }
        _ => call_service(op),
    }
}

/// Body of an interrupt handler.
fn in_interrupt(ops: &[Op]) {
    for &op in ops {
        let expected = {
            let mut w = world();
            // What was drawn may have been deleted since.
            if let Op::Resume(t) | Op::Suspend(t) | Op::WaitAbort(t) = op
                && w.model.threads[t].state == DELETED
            {
                continue;
            }
            w.note(None, op);
            w.model.apply(op, None)
        };
        let got = match op {
            Op::Tick => {
                service!(_tx_timer_interrupt());
                0
            }
            _ => call_service(op),
        };
        if got != expected {
            world().fail(&format!("{op:?} in an interrupt returned {got:#x}, not {expected:#x}"));
        }
    }
    let mut w = world();
    w.interrupts += 1;
    w.model.timer_ran = false;
    w.model.settle(false);
    if w.model.timer_ran {
        ARMED.store(false, Relaxed);
    }
}

fn call_service(op: Op) -> Answer {
    let (thread, semaphore, timer, stack) = {
        let w = world();
        let thread = |t: usize| w.threads[t].0;
        let t = match op {
            Op::Suspend(t)
            | Op::Resume(t)
            | Op::WaitAbort(t)
            | Op::Priority(t, _)
            | Op::Threshold(t, _)
            | Op::Slice(t, _)
            | Op::Terminate(t)
            | Op::Reset(t)
            | Op::Delete(t)
            | Op::Create(t, _) => thread(t),
            _ => null_mut(),
        };
        let s = match op {
            Op::Get(s, _)
            | Op::Put(s)
            | Op::CeilingPut(s, _)
            | Op::Prioritize(s)
            | Op::DeleteSemaphore(s)
            | Op::CreateSemaphore(s, _) => w.semaphores[s],
            _ => Semaphore(null_mut()),
        };
        let i = match op {
            Op::Activate(i) | Op::Deactivate(i) | Op::Change(i, ..) => w.timers[i].0,
            _ => null_mut(),
        };
        let stack = match op {
            Op::Create(t, _) => w.stacks[t],
            _ => w.stacks[0],
        };
        (t, s, i, stack)
    };
    let mut old = 0;
    // The unchecked services, because the checked ones would have an interrupt point before the effect;
    // semaphores may be deleted ones and need the check, which has none.
    let status = match op {
        Op::Relinquish => {
            service!(_tx_thread_relinquish());
            0
        }
        Op::Sleep(ticks) => sleep(ticks),
        Op::Suspend(_) => service!(_tx_thread_suspend(thread)),
        Op::Resume(_) => service!(_tx_thread_resume(thread)),
        Op::WaitAbort(_) => service!(_tx_thread_wait_abort(thread)),
        Op::Priority(_, new) => service!(_tx_thread_priority_change(thread, new, &mut old)),
        Op::Threshold(_, new) => service!(_tx_thread_preemption_change(thread, new, &mut old)),
        Op::Slice(_, new) => service!(_tx_thread_time_slice_change(thread, new, &mut old)),
        Op::Get(_, wait) => semaphore.get(wait),
        Op::Put(_) => semaphore.put(),
        Op::CeilingPut(_, ceiling) => semaphore.ceiling_put(ceiling),
        Op::Prioritize(_) => semaphore.prioritize(),
        Op::DeleteSemaphore(_) => semaphore.delete(),
        Op::CreateSemaphore(s, count) => {
            let status = semaphore.create(count);
            if s == NOTIFYING {
                semaphore.put_notify(Some(put_notified));
            }
            status
        }
        Op::Terminate(_) => service!(_tx_thread_terminate(thread)),
        Op::Reset(_) => service!(_tx_thread_reset(thread)),
        Op::Delete(_) => service!(_tx_thread_delete(thread)),
        Op::Create(t, created) => create(t, thread, stack, created),
        Op::Activate(_) => service!(_tx_timer_activate(timer)),
        Op::Deactivate(_) => service!(_tx_timer_deactivate(timer)),
        Op::Change(_, initial, reschedule) => service!(_tx_timer_change(timer, initial, reschedule)),
        Op::Complete | Op::Tick | Op::Interrupt | Op::Enter | Op::Exit => unreachable!("not a service"),
    };
    status as Answer | (old as Answer) << 32
}

fn create(t: usize, block: *mut TX_THREAD, stack: Stack, created: Created) -> UINT {
    let Created { priority, threshold, slice, start } = created;
    service!(_tx_thread_create(
        block,
        null_mut(),
        Some(thread_main),
        t as ULONG,
        stack.start.cast(),
        STACK as ULONG,
        priority,
        threshold,
        slice,
        start as UINT,
    ))
}

/// Interrupts at the kernel's interrupt points.
fn point() {
    let ops: Vec<Op> = {
        if !ARMED.load(Relaxed) {
            return;
        }
        let mut w = world();
        if w.random.below(3) != 0 {
            return;
        }
        (0..1 + w.random.below(3)).map(|_| w.draw_for_interrupt()).collect()
    };
    isr(move || in_interrupt(&ops));
}

/// Returns interrupts, thread starts and relinquishes that took place.
fn soak(mix: Mix, seed: u64, steps: usize) -> (usize, usize, usize) {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    ARMED.store(false, Relaxed);
    let outcome = host::run(0, || {
        let mut w = World {
            seed,
            mix,
            random: Random(seed),
            steps: 0,
            limit: steps,
            model: Model::new(THREADS, SEMAPHORES, TIMERS),
            threads: (0..THREADS).map(|_| Thread::new()).collect(),
            stacks: (0..THREADS).map(|_| Stack::new(STACK)).collect(),
            semaphores: (0..SEMAPHORES).map(|_| Semaphore::blank()).collect(),
            timers: (0..TIMERS).map(|_| Timer::new()).collect(),
            sections: Vec::new(),
            calls: vec![0; TIMERS],
            interrupts: 0,
            switches: 0,
            relinquished: 0,
            last: VecDeque::new(),
        };
        for s in 0..SEMAPHORES {
            w.model.apply(Op::CreateSemaphore(s, 1), None);
            assert_eq!(w.semaphores[s].create(1), TX_SUCCESS);
        }
        w.semaphores[NOTIFYING].put_notify(Some(put_notified));
        for i in 0..TIMERS {
            let (initial, reschedule) = (7 + 13 * i as u32, 11 * i as u32);
            w.model.set_timer(i, initial, reschedule);
            w.model.apply(Op::Activate(i), None);
            let (semaphore, thread) = (w.semaphores[i % SEMAPHORES], w.threads[i + 2]);
            let status = w.timers[i].create(initial, reschedule, TX_AUTO_ACTIVATE, move || {
                world().calls[i] += 1;
                semaphore.put();
                thread.resume();
            });
            assert_eq!(status, TX_SUCCESS);
        }
        for t in 1..THREADS {
            let mut created = w.created();
            if t == IMMORTAL {
                created = Created { priority: 31, threshold: 31, slice: 0, start: true };
            }
            w.model.apply(Op::Create(t, created), None);
            assert_eq!(create(t, w.threads[t].0, w.stacks[t], created), TX_SUCCESS);
        }
        w.model.settle(false);
        *WORLD.lock().unwrap_or_else(PoisonError::into_inner) = Some(w);
        host::set_interrupt_point(Some(point));
    });
    assert_eq!(outcome, Outcome::Finished);
    let w = world();
    (w.interrupts, w.switches, w.relinquished)
}

/// Miri interprets; it gets a taste.
const fn scaled(steps: usize) -> usize {
    if cfg!(miri) { steps / 500 } else { steps }
}

/// Seeds that once found a fault come first.
const SEEDS: [u64; 8] = [3, 35, 82, 1, 2, 4, 5, 6];

#[test]
fn random_services_agree_with_the_model() {
    for seed in SEEDS {
        let (interrupts, starts, relinquished) = soak(Mix::Everything, seed, scaled(60_000));
        // It went everywhere.
        assert!(interrupts > scaled(5_000) && starts > scaled(200) && relinquished > scaled(5_000));
    }
}

#[test]
fn relinquish_chooses_what_the_model_chooses_from_any_ready_set() {
    for seed in SEEDS {
        let (_, _, relinquished) = soak(Mix::Relinquish, seed, scaled(15_000));
        assert!(relinquished > scaled(5_000));
    }
}
