//! What the kernel should do, written down as naively as possible: one vector of ready threads, one of
//! claims, one of timers, all searched from the front. Shares no data structure and no code with it.
//!
//! The rule of who runs: a thread that was preempted, and the running thread, *claim* the processor
//! against every priority that is not numerically below their threshold. The first ready thread that
//! no claim holds off runs.

use super::*;

/// Index of the system timer thread; the others follow it.
pub const TIMER: usize = 0;
/// Never suspended or ended, at the lowest priority: somebody is always ready.
pub const IMMORTAL: usize = 1;
pub const DELETED: UINT = 1000;
const WHEEL: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Relinquish,
    Sleep(u32),
    Suspend(usize),
    Resume(usize),
    WaitAbort(usize),
    Priority(usize, u32),
    Threshold(usize, u32),
    Slice(usize, u32),
    Get(usize, u32),
    Put(usize),
    CeilingPut(usize, u32),
    Prioritize(usize),
    DeleteSemaphore(usize),
    CreateSemaphore(usize, u32),
    Terminate(usize),
    Reset(usize),
    Delete(usize),
    Create(usize, Created),
    Complete,
    Tick,
    Interrupt,
    Enter,
    Exit,
    Activate(usize),
    Deactivate(usize),
    Change(usize, u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Created {
    pub priority: u32,
    pub threshold: u32,
    pub slice: u32,
    pub start: bool,
}

/// A service's status, and in the upper half the old value that it returned.
pub type Answer = u64;

fn with_old(status: UINT, old: u32) -> Answer {
    status as u64 | (old as u64) << 32
}

#[derive(Clone, Debug)]
pub struct ModelThread {
    pub state: UINT,
    pub priority: u32,
    pub threshold: u32,
    pub slice: u32,
    pub left: u32,
    pub runs: u32,
    pub pending_suspend: bool,
    /// What its present call returns when it returns.
    pub answer: Answer,
    on_timeout: UINT,
    waits_on: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct ModelSemaphore {
    pub exists: bool,
    pub count: u32,
    pub waiters: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
pub struct ModelTimer {
    /// While inactive.
    remaining: u32,
    pub reschedule: u32,
    pub calls: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Timeout(usize),
    Timer(usize),
}

#[derive(Clone, Copy, Debug)]
struct Hung {
    owner: Owner,
    due: u32,
    rest: u32,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub threads: Vec<ModelThread>,
    pub semaphores: Vec<ModelSemaphore>,
    pub timers: Vec<ModelTimer>,
    pub running: Option<usize>,
    pub disabled: u32,
    /// The timer thread had something to do since this was cleared.
    pub timer_ran: bool,
    /// Sorted by priority, equals in the order in which they became ready.
    ready: Vec<usize>,
    /// Preempted threads with a threshold, innermost last.
    claims: Vec<usize>,
    slice_expired: bool,
    now: u32,
    hung: Vec<Hung>,
    expired: Vec<Hung>,
}

/// One object a line.
impl std::fmt::Display for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, thread) in self.threads.iter().enumerate() {
            writeln!(f, "{i}: {thread:?}")?;
        }
        for (i, semaphore) in self.semaphores.iter().enumerate() {
            writeln!(f, "{i}: {semaphore:?}")?;
        }
        for (i, timer) in self.timers.iter().enumerate() {
            writeln!(f, "{i}: {timer:?}")?;
        }
        let Self { running, disabled, ready, claims, slice_expired, now, hung, expired, .. } = self;
        writeln!(f, "running {running:?}, disabled {disabled}, slice expired {slice_expired}, now {now}")?;
        write!(f, "ready {ready:?}, claims {claims:?}\nhung {hung:?}\nexpired {expired:?}")
    }
}

impl Model {
    pub fn new(threads: usize, semaphores: usize, timers: usize) -> Self {
        let thread = ModelThread {
            state: DELETED,
            priority: 0,
            threshold: 0,
            slice: 0,
            left: 0,
            runs: 0,
            pending_suspend: false,
            answer: 0,
            on_timeout: 0,
            waits_on: None,
        };
        let mut model = Self {
            threads: vec![thread; threads],
            semaphores: vec![ModelSemaphore::default(); semaphores],
            timers: vec![ModelTimer::default(); timers],
            running: None,
            disabled: 0,
            timer_ran: false,
            ready: Vec::new(),
            claims: Vec::new(),
            slice_expired: false,
            now: 0,
            hung: Vec::new(),
            expired: Vec::new(),
        };
        model.threads[TIMER].state = TX_SUSPENDED;
        model
    }

    pub fn set_timer(&mut self, timer: usize, initial: u32, reschedule: u32) {
        self.timers[timer] = ModelTimer { remaining: initial, reschedule, calls: 0 };
    }

    // ---- who runs ---------------------------------------------------------------------------

    fn is_ready(&self, t: usize) -> bool {
        self.threads[t].state == TX_READY
    }

    fn has_threshold(&self, t: usize) -> bool {
        self.threads[t].threshold != self.threads[t].priority
    }

    fn holds_off(&self, claim: usize, t: usize) -> bool {
        claim != t && self.threads[t].priority >= self.threads[claim].threshold
    }

    fn ready_back(&mut self, t: usize) {
        let priority = self.threads[t].priority;
        let place = self.ready.iter().position(|&r| self.threads[r].priority > priority);
        self.ready.insert(place.unwrap_or(self.ready.len()), t);
    }

    fn ready_front(&mut self, t: usize) {
        let priority = self.threads[t].priority;
        let place = self.ready.iter().position(|&r| self.threads[r].priority >= priority);
        self.ready.insert(place.unwrap_or(self.ready.len()), t);
    }

    fn unready(&mut self, t: usize) {
        self.ready.retain(|&r| r != t);
        self.claims.retain(|&c| c != t);
    }

    fn requeue(&mut self, t: usize) {
        self.ready.retain(|&r| r != t);
        self.ready_back(t);
    }

    /// Chooses the running thread anew; `gives_up` if the present one asked for that.
    pub fn settle(&mut self, mut gives_up: bool) {
        if self.disabled != 0 {
            return;
        }
        loop {
            let before = self.running.filter(|&t| self.is_ready(t));
            if std::mem::take(&mut self.slice_expired)
                && let Some(t) = before
                && !self.has_threshold(t)
            {
                self.requeue(t);
                gives_up = true;
            }
            let mut claims = self.claims.clone();
            let keeps = before.filter(|&t| !gives_up && !claims.iter().any(|&c| self.holds_off(c, t)));
            claims.extend(keeps);
            let next = self.ready.iter().copied().find(|&t| !claims.iter().any(|&c| self.holds_off(c, t)));
            if next != self.running {
                if let Some(t) = keeps
                    && self.has_threshold(t)
                {
                    self.claims.push(t);
                }
                if let Some(t) = next {
                    self.threads[t].runs += 1;
                    if self.claims.contains(&t) {
                        self.claims.retain(|&c| c != t);
                        self.ready.retain(|&r| r != t);
                        self.ready_front(t);
                    }
                }
                self.running = next;
            }
            if next != Some(TIMER) {
                return;
            }
            self.run_timer_thread();
            self.unready(TIMER);
            self.threads[TIMER].state = TX_SUSPENDED;
            gives_up = false;
        }
    }

    // ---- waiting ----------------------------------------------------------------------------

    fn make_ready(&mut self, t: usize) {
        self.threads[t].state = TX_READY;
        self.ready_back(t);
    }

    /// The running thread stops.
    fn stop(&mut self, t: usize, state: UINT) {
        self.unready(t);
        self.slice_expired = false;
        self.threads[t].state = state;
        self.threads[t].left = self.threads[t].slice;
    }

    fn block(&mut self, t: usize, state: UINT, ticks: u32, on_timeout: UINT) {
        self.threads[t].on_timeout = on_timeout;
        if ticks != TX_WAIT_FOREVER {
            self.hang(Owner::Timeout(t), ticks);
        }
        self.stop(t, state);
    }

    fn leave_wait(&mut self, t: usize) {
        if let Some(s) = self.threads[t].waits_on.take() {
            self.semaphores[s].waiters.retain(|&w| w != t);
        }
        self.unhang(Owner::Timeout(t));
    }

    fn wake(&mut self, t: usize, status: UINT) {
        self.leave_wait(t);
        self.threads[t].answer = status as Answer;
        if std::mem::take(&mut self.threads[t].pending_suspend) {
            self.threads[t].state = TX_SUSPENDED;
        } else {
            self.make_ready(t);
        }
    }

    fn waits(&self, t: usize) -> bool {
        matches!(self.threads[t].state, TX_SLEEP | TX_SEMAPHORE_SUSP)
    }

    pub fn is_over(&self, t: usize) -> bool {
        matches!(self.threads[t].state, TX_COMPLETED | TX_TERMINATED)
    }

    fn end(&mut self, t: usize, state: UINT) {
        self.threads[t].pending_suspend = false;
        if self.running == Some(t) {
            self.disabled = 0;
            self.stop(t, state);
        } else {
            self.leave_wait(t);
            self.unready(t);
            self.threads[t].state = state;
        }
    }

    // ---- time -------------------------------------------------------------------------------

    fn hang(&mut self, owner: Owner, ticks: u32) {
        let here = ticks.min(WHEEL);
        self.hung.push(Hung { owner, due: self.now + here, rest: ticks - here });
    }

    fn unhang(&mut self, owner: Owner) {
        self.hung.retain(|h| h.owner != owner);
        self.expired.retain(|h| h.owner != owner);
    }

    fn tick(&mut self) {
        if let Some(t) = self.running
            && self.is_ready(t)
            && self.threads[t].slice != 0
            && !self.has_threshold(t)
        {
            self.threads[t].left -= 1;
            if self.threads[t].left == 0 {
                self.threads[t].left = self.threads[t].slice;
                let priority = self.threads[t].priority;
                self.slice_expired |= self.ready.iter().any(|&r| r != t && self.threads[r].priority == priority);
            }
        }
        self.now += 1;
        let (due, later): (Vec<_>, Vec<_>) = self.hung.iter().partition(|h| h.due == self.now);
        self.hung = later;
        if !due.is_empty() {
            self.expired.extend(due);
            if self.threads[TIMER].state == TX_SUSPENDED {
                self.make_ready(TIMER);
            }
        }
    }

    fn run_timer_thread(&mut self) {
        self.timer_ran = true;
        while !self.expired.is_empty() {
            let Hung { owner, rest, .. } = self.expired.remove(0);
            match owner {
                _ if rest != 0 => self.hang(owner, rest),
                Owner::Timeout(t) => self.wake(t, self.threads[t].on_timeout),
                Owner::Timer(timer) => {
                    self.timers[timer].calls += 1;
                    self.timers[timer].remaining = 0;
                    // What the callbacks of the test do.
                    self.apply(Op::Put(timer % self.semaphores.len()), None);
                    self.apply(Op::Resume(timer + 2), None);
                    if self.timers[timer].reschedule != 0 {
                        self.hang(Owner::Timer(timer), self.timers[timer].reschedule);
                    }
                }
            }
        }
    }

    /// Active and remaining ticks.
    pub fn timer(&self, timer: usize) -> (UINT, u32) {
        let mine = |h: &&Hung| h.owner == Owner::Timer(timer);
        if let Some(h) = self.hung.iter().find(mine) {
            (1, h.rest + h.due - self.now)
        } else if let Some(h) = self.expired.iter().find(mine) {
            (1, h.rest)
        } else {
            (0, self.timers[timer].remaining)
        }
    }

    // ---- services ---------------------------------------------------------------------------

    /// Does what the service does except choosing who runs next. `by` is the calling thread, none for
    /// an interrupt or a callback. The answer of a thread's call is in its `answer`.
    pub fn apply(&mut self, op: Op, by: Option<usize>) -> Answer {
        let answer = self.service(op, by);
        if let Some(by) = by {
            self.threads[by].answer = answer;
        }
        answer
    }

    fn service(&mut self, op: Op, by: Option<usize>) -> Answer {
        let answer = match op {
            Op::Relinquish => {
                if let Some(t) = by
                    && self.disabled == 0
                {
                    self.slice_expired = false;
                    self.threads[t].left = self.threads[t].slice;
                    self.requeue(t);
                }
                TX_SUCCESS
            }
            Op::Sleep(ticks) => match by {
                Some(_) if ticks == 0 => TX_SUCCESS,
                Some(t) if self.disabled == 0 => {
                    self.block(t, TX_SLEEP, ticks, TX_SUCCESS);
                    TX_SUCCESS
                }
                _ => TX_CALLER_ERROR,
            },
            Op::Suspend(t) => match self.threads[t].state {
                DELETED => TX_THREAD_ERROR,
                TX_READY if self.running == Some(t) => {
                    if by.is_none() || self.disabled != 0 {
                        TX_SUSPEND_ERROR
                    } else {
                        self.stop(t, TX_SUSPENDED);
                        TX_SUCCESS
                    }
                }
                TX_READY => {
                    self.unready(t);
                    self.threads[t].state = TX_SUSPENDED;
                    TX_SUCCESS
                }
                TX_SUSPENDED => TX_SUCCESS,
                TX_COMPLETED | TX_TERMINATED => TX_SUSPEND_ERROR,
                _ => {
                    self.threads[t].pending_suspend = true;
                    TX_SUCCESS
                }
            },
            Op::Resume(t) if self.threads[t].state == DELETED => TX_THREAD_ERROR,
            Op::Resume(t) if self.threads[t].state == TX_SUSPENDED => {
                self.make_ready(t);
                TX_SUCCESS
            }
            Op::Resume(t) if std::mem::take(&mut self.threads[t].pending_suspend) => TX_SUSPEND_LIFTED,
            Op::Resume(_) => TX_RESUME_ERROR,
            Op::WaitAbort(t) if self.waits(t) => {
                self.wake(t, TX_WAIT_ABORTED);
                TX_SUCCESS
            }
            Op::WaitAbort(_) => TX_WAIT_ABORT_ERROR,
            Op::Priority(t, new) => {
                let old = self.threads[t].priority;
                let ready = self.is_ready(t);
                self.unready(t);
                self.threads[t].priority = new;
                self.threads[t].threshold = new;
                if ready && self.running == Some(t) {
                    self.ready_front(t);
                } else if ready {
                    self.ready_back(t);
                }
                return with_old(TX_SUCCESS, old);
            }
            Op::Threshold(t, new) => {
                let thread = &mut self.threads[t];
                if new > thread.priority {
                    return with_old(TX_THRESH_ERROR, 0);
                }
                let old = std::mem::replace(&mut thread.threshold, new);
                // Others have run that the new threshold would have held off.
                if new < old || new == thread.priority {
                    self.claims.retain(|&c| c != t);
                }
                return with_old(TX_SUCCESS, old);
            }
            Op::Slice(t, new) => {
                let old = std::mem::replace(&mut self.threads[t].slice, new);
                self.threads[t].left = new;
                return with_old(TX_SUCCESS, old);
            }
            Op::Get(s, _) | Op::Put(s) | Op::CeilingPut(s, _) | Op::Prioritize(s) | Op::DeleteSemaphore(s)
                if !self.semaphores[s].exists =>
            {
                TX_SEMAPHORE_ERROR
            }
            Op::Get(s, _) if self.semaphores[s].count > 0 => {
                self.semaphores[s].count -= 1;
                TX_SUCCESS
            }
            Op::Get(s, wait) => {
                if let Some(t) = by
                    && wait != 0
                    && self.disabled == 0
                {
                    self.semaphores[s].waiters.push(t);
                    self.threads[t].waits_on = Some(s);
                    self.block(t, TX_SEMAPHORE_SUSP, wait, TX_NO_INSTANCE);
                }
                TX_NO_INSTANCE
            }
            Op::Put(s) | Op::CeilingPut(s, _) if !self.semaphores[s].waiters.is_empty() => {
                self.wake(self.semaphores[s].waiters[0], TX_SUCCESS);
                TX_SUCCESS
            }
            Op::CeilingPut(s, ceiling) if self.semaphores[s].count >= ceiling => TX_CEILING_EXCEEDED,
            Op::Put(s) | Op::CeilingPut(s, _) => {
                self.semaphores[s].count += 1;
                TX_SUCCESS
            }
            Op::Prioritize(s) => {
                let waiters = &mut self.semaphores[s].waiters;
                if let Some(best) = (0..waiters.len()).min_by_key(|&i| self.threads[waiters[i]].priority) {
                    let best = waiters.remove(best);
                    waiters.insert(0, best);
                }
                TX_SUCCESS
            }
            Op::DeleteSemaphore(s) => {
                self.semaphores[s].exists = false;
                while let Some(&t) = self.semaphores[s].waiters.first() {
                    self.wake(t, TX_DELETED);
                }
                TX_SUCCESS
            }
            Op::CreateSemaphore(s, count) => {
                self.semaphores[s].exists = true;
                self.semaphores[s].count = count;
                TX_SUCCESS
            }
            Op::Terminate(t) => {
                if !self.is_over(t) {
                    self.end(t, TX_TERMINATED);
                }
                TX_SUCCESS
            }
            Op::Complete => {
                if let Some(t) = by {
                    self.end(t, TX_COMPLETED);
                }
                TX_SUCCESS
            }
            Op::Reset(t) if self.is_over(t) => {
                let thread = &mut self.threads[t];
                thread.state = TX_SUSPENDED;
                thread.runs = 0;
                thread.left = thread.slice;
                TX_SUCCESS
            }
            Op::Reset(_) => TX_NOT_DONE,
            Op::Delete(t) if self.is_over(t) => {
                self.threads[t].state = DELETED;
                TX_SUCCESS
            }
            Op::Delete(_) => TX_DELETE_ERROR,
            Op::Create(t, Created { priority, threshold, slice, start }) => {
                self.threads[t] = ModelThread {
                    state: TX_SUSPENDED,
                    priority,
                    threshold,
                    slice,
                    left: slice,
                    runs: 0,
                    pending_suspend: false,
                    answer: 0,
                    on_timeout: 0,
                    waits_on: None,
                };
                if start {
                    self.make_ready(t);
                }
                TX_SUCCESS
            }
            Op::Tick => {
                self.tick();
                TX_SUCCESS
            }
            Op::Interrupt => TX_SUCCESS,
            Op::Enter => {
                self.disabled += 1;
                TX_SUCCESS
            }
            Op::Exit => {
                self.disabled -= 1;
                TX_SUCCESS
            }
            Op::Activate(i) => match self.timer(i) {
                (0, remaining) if remaining != 0 => {
                    self.hang(Owner::Timer(i), remaining);
                    TX_SUCCESS
                }
                _ => TX_ACTIVATE_ERROR,
            },
            Op::Deactivate(i) => {
                let (active, remaining) = self.timer(i);
                self.unhang(Owner::Timer(i));
                let due = active == 1 && remaining == 0;
                self.timers[i].remaining = if due { self.timers[i].reschedule } else { remaining };
                TX_SUCCESS
            }
            Op::Change(i, initial, reschedule) => {
                if self.timer(i).0 == 0 {
                    self.timers[i].remaining = initial;
                    self.timers[i].reschedule = reschedule;
                }
                TX_SUCCESS
            }
        };
        answer as Answer
    }
}
