//! Random service calls of all objects against a model of the documented semantics.
//!
//! Six threads, two timers and interrupt handlers draw their calls from one list of words. The running
//! context first tells the model what it is about to do, then does it. The model, which shares no code
//! with the kernel and does everything the slow and obvious way, says who runs next and what every call
//! returns. Whenever anybody gets the processor, it compares: that it is the one to run, the result of
//! the call it comes from, everything that the information services tell about every object, and the
//! kernel's own invariants.
//!
//! The fuzzer in `fuzz/` draws them from its input through the same decoder.
//!
//! `MODEL_OPERATIONS` sets how many calls [`random_operations_agree_with_the_model`] makes at least.

mod common;
use common::*;
#[cfg(test)]
use proptest::prelude::*;
#[cfg(test)]
use proptest::test_runner::FileFailurePersistence;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const THREADS: usize = 6;
/// The last thread never waits and is never suspended or ended, so that time passes only by its calls.
const IDLE: usize = THREADS - 1;
const PRIORITIES: [UINT; THREADS] = [3, 5, 5, 8, 10, 30];
const SEMAPHORES: usize = 2;
const MUTEXES: usize = 5;
const GROUPS: usize = 2;
const QUEUES: usize = 2;
const CAPACITIES: [usize; QUEUES] = [1, 3];
const BLOCKS: usize = 3;
const BYTES: usize = 1024;
const HEADER: usize = 16;
const PERIODS: [ULONG; 2] = [3, 5];
const NOT_LENT: UINT = 32;

/// The mutexes 0, 2 and 3: a thread can inherit from two after it has put a third.
fn inherits(mutex: usize) -> UINT {
    if mutex % 3 == 1 { TX_NO_INHERIT } else { TX_INHERIT }
}

// ---- what is called ----------------------------------------------------------------------------

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    SemaphoreGet(usize, ULONG),
    SemaphorePut(usize),
    CeilingPut(usize, ULONG),
    SemaphoreDelete(usize),
    SemaphoreCreate(usize, ULONG),
    MutexGet(usize, ULONG),
    MutexPut(usize),
    MutexDelete(usize),
    MutexCreate(usize),
    EventGet(usize, ULONG, UINT, ULONG),
    EventSet(usize, ULONG, UINT),
    EventDelete(usize),
    EventCreate(usize),
    Send(usize, ULONG, ULONG),
    FrontSend(usize, ULONG, ULONG),
    Receive(usize, ULONG),
    Flush(usize),
    QueueDelete(usize),
    QueueCreate(usize),
    BlockAllocate(ULONG),
    BlockRelease(usize),
    ByteAllocate(ULONG, ULONG),
    ByteRelease(usize),
    PrioritizeSemaphore(usize),
    PrioritizeMutex(usize),
    PrioritizeQueue(usize),
    PrioritizeBlocks,
    PrioritizeBytes,
    Sleep(ULONG),
    Relinquish,
    Suspend(usize),
    Resume(usize),
    WaitAbort(usize),
    PriorityChange(usize, UINT),
    ThresholdChange(usize, UINT),
    Terminate(usize),
    Reset(usize),
    Finish,
    Interrupt(u64),
    Tick,
}

/// Whose call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Thread(usize),
    /// An interrupt handler, and the thread it interrupted.
    Isr(usize),
    Timer,
}

impl Op {
    fn decode(word: u64, caller: Caller) -> Self {
        let (kind, a, b, c) = (word & 0xFF, (word >> 8) as usize & 0xFF, (word >> 16) as u32 & 0xFF, word >> 24 & 0xFF);
        let waits = matches!(caller, Caller::Thread(thread) if thread != IDLE);
        let wait = match c & 3 {
            _ if !waits => TX_NO_WAIT,
            0 => TX_NO_WAIT,
            1 => TX_WAIT_FOREVER,
            _ => 1 + (c as ULONG >> 2) % 12,
        };
        let s = a % SEMAPHORES;
        let m = a % MUTEXES;
        let e = a % GROUPS;
        let q = a % QUEUES;
        let thread = a % IDLE;
        let flags = 1 << (b & 3) | 1 << (b >> 2 & 3);
        if caller == Caller::Thread(IDLE) && word >> 60 < 12 {
            // Everybody else waits: let time pass, or bring back those that ended or were suspended.
            return match word >> 56 & 15 {
                0 => Op::Reset(thread),
                1 | 2 => Op::Resume(thread),
                _ => Op::Tick,
            };
        }
        let op = match kind {
            0..16 => Op::SemaphoreGet(s, wait),
            16..30 => Op::SemaphorePut(s),
            30..34 => Op::CeilingPut(s, b & 3),
            34..54 => Op::MutexGet(m, wait),
            54..72 => Op::MutexPut(m),
            72..86 => Op::EventGet(e, flags, b >> 4 & 3, wait),
            86..98 => Op::EventSet(e, flags, TX_OR),
            98..102 => Op::EventSet(e, !flags, TX_AND),
            102..116 => Op::Receive(q, wait),
            116..128 => Op::Send(q, b, wait),
            128..136 => Op::FrontSend(q, b, wait),
            136..138 => Op::Flush(q),
            138..150 => Op::BlockAllocate(wait),
            150..162 => Op::BlockRelease(a),
            162..174 => Op::ByteAllocate(1 + b * 2, wait),
            174..188 => Op::ByteRelease(a),
            188..190 => Op::PrioritizeSemaphore(s),
            190..192 => Op::PrioritizeMutex(m),
            192..194 => Op::PrioritizeQueue(q),
            194 => Op::PrioritizeBlocks,
            195 => Op::PrioritizeBytes,
            196..200 => Op::Sleep(if waits { wait } else { 0 }),
            200..206 => Op::Relinquish,
            206..210 => Op::Suspend(thread),
            210..216 => Op::Resume(thread),
            216..220 => Op::WaitAbort(thread),
            220..224 => Op::PriorityChange(thread, 1 + b % 12),
            224..226 => Op::ThresholdChange(thread, 1 + b % 12),
            226 => Op::Terminate(thread),
            227 => Op::Reset(thread),
            228 => Op::Finish,
            229 => [Op::SemaphoreDelete(s), Op::MutexDelete(m), Op::EventDelete(e), Op::QueueDelete(q)][b as usize & 3],
            230..233 => {
                [Op::SemaphoreCreate(s, b >> 2 & 1), Op::MutexCreate(m), Op::EventCreate(e), Op::QueueCreate(q)]
                    [b as usize & 3]
            }
            233..241 => Op::Interrupt(word >> 8),
            _ => Op::Tick,
        };
        if op.allowed(caller) { op } else { Op::SemaphorePut(s) }
    }

    /// What the model does not cover, refusals for the calling context among it, is left out.
    fn allowed(self, caller: Caller) -> bool {
        match self {
            Op::Interrupt(_)
            | Op::Tick
            | Op::Relinquish
            | Op::Sleep(_)
            | Op::SemaphoreDelete(_)
            | Op::SemaphoreCreate(..)
            | Op::MutexDelete(_)
            | Op::MutexCreate(_)
            | Op::EventDelete(_)
            | Op::EventCreate(_)
            | Op::QueueDelete(_)
            | Op::QueueCreate(_)
            | Op::ByteAllocate(..)
            | Op::ByteRelease(_)
            | Op::MutexGet(..)
            | Op::MutexPut(_)
            | Op::Terminate(_)
            | Op::Reset(_) => matches!(caller, Caller::Thread(_)),
            Op::Finish => matches!(caller, Caller::Thread(thread) if thread != IDLE),
            Op::PriorityChange(..) | Op::ThresholdChange(..) => !matches!(caller, Caller::Isr(_)),
            _ => true,
        }
    }
}

// ---- the model ---------------------------------------------------------------------------------

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    Semaphore(usize),
    Mutex(usize),
    Group(usize),
    Queue(usize),
    Blocks,
    Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    Suspended,
    Completed,
    Terminated,
    Sleeping,
    Waiting(Object),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Request {
    Nothing,
    Flags(ULONG, UINT),
    Receive,
    Send(ULONG, bool),
    Bytes(usize),
}

/// Status and output of a call.
type Answer = (UINT, usize);

#[derive(Debug, Clone)]
struct ThreadModel {
    state: State,
    suspend_pending: bool,
    user: UINT,
    user_threshold: UINT,
    priority: UINT,
    threshold: UINT,
    owned: Vec<usize>,
    request: Request,
    /// What the call gets if its time runs out.
    late: Answer,
    answer: Answer,
    /// Was preempted while its threshold was in force, and has not run since.
    claims: bool,
}

#[derive(Debug, Clone, Default)]
struct MutexModel {
    exists: bool,
    inherit: bool,
    owner: Option<usize>,
    count: u32,
    lent: UINT,
    waiters: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Thread(usize),
    Timer(usize),
}

#[derive(Debug, Clone, Copy)]
struct Fragment {
    at: usize,
    len: usize,
    free: bool,
}

#[derive(Debug, Clone)]
struct ByteModel {
    fragments: Vec<Fragment>,
    search: usize,
}

impl ByteModel {
    const END: usize = BYTES - HEADER;

    fn available(&self) -> usize {
        self.fragments.iter().filter(|f| f.free).map(|f| f.len).sum()
    }

    /// The end mark counts.
    fn count(&self) -> usize {
        self.fragments.len() + 1
    }

    fn allocate(&mut self, bytes: usize) -> Option<usize> {
        if bytes >= self.available() + (self.count() - 2) * HEADER {
            return None;
        }
        let mut index = self.fragments.iter().position(|f| f.at == self.search).unwrap_or(0);
        let mut found_free = false;
        // Twice round is more than enough.
        for _ in 0..self.fragments.len() * 2 {
            if self.fragments[index].free {
                if !found_free {
                    found_free = true;
                    self.search = self.fragments[index].at;
                }
                loop {
                    let fragment = self.fragments[index];
                    let room = fragment.len - HEADER;
                    if room >= bytes {
                        self.fragments[index].free = false;
                        if room - bytes >= 20 {
                            self.fragments[index].len = HEADER + bytes;
                            let at = fragment.at + HEADER + bytes;
                            let len = room - bytes;
                            self.fragments.insert(index + 1, Fragment { at, len, free: true });
                        }
                        if self.search == fragment.at {
                            self.search = self.fragments.get(index + 1).map_or(Self::END, |f| f.at);
                        }
                        return Some(fragment.at + HEADER);
                    }
                    match self.fragments.get(index + 1) {
                        Some(&next) if next.free => {
                            self.fragments[index].len += next.len;
                            self.fragments.remove(index + 1);
                            if self.search == next.at {
                                self.search = fragment.at;
                            }
                        }
                        _ => break,
                    }
                }
            }
            index = (index + 1) % self.fragments.len();
        }
        None
    }

    fn release(&mut self, piece: usize) {
        let at = piece - HEADER;
        self.fragments.iter_mut().find(|f| f.at == at).expect("a fragment").free = true;
        self.search = self.search.min(at);
    }
}

#[derive(Debug, Clone, Default)]
struct Counter {
    exists: bool,
    count: u32,
    waiters: Vec<usize>,
}

#[derive(Debug, Clone, Default)]
struct QueueModel {
    exists: bool,
    messages: VecDeque<ULONG>,
    waiters: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Model {
    threads: Vec<ThreadModel>,
    /// Ready threads by priority, the next to run first.
    ready: Vec<Vec<usize>>,
    /// Who has the processor, in an interrupt the interrupted one; nobody while timers run.
    running: Option<usize>,
    now: u32,
    /// In order of activation.
    timers: Vec<(u32, Due)>,
    expired: VecDeque<Due>,
    semaphores: Vec<Counter>,
    mutexes: Vec<MutexModel>,
    groups: Vec<Counter>,
    queues: Vec<QueueModel>,
    free_blocks: Vec<usize>,
    block_waiters: Vec<usize>,
    bytes: ByteModel,
    byte_waiters: Vec<usize>,
    held_blocks: Vec<usize>,
    held_bytes: Vec<usize>,
}

/// What a call does to its caller.
enum Effect {
    Answer(Answer),
    /// The answer comes when the thread runs again.
    Waits,
    /// The caller does not come back.
    Ends,
}

fn done(status: UINT) -> Effect {
    Effect::Answer((status, 0))
}

impl Model {
    fn new() -> Self {
        let threads = PRIORITIES.map(|priority| ThreadModel {
            state: State::Ready,
            suspend_pending: false,
            user: priority,
            user_threshold: priority,
            priority,
            threshold: priority,
            owned: Vec::new(),
            request: Request::Nothing,
            late: (0, 0),
            answer: (0, 0),
            claims: false,
        });
        let mut model = Self {
            threads: threads.to_vec(),
            ready: vec![Vec::new(); 32],
            running: None,
            now: 0,
            timers: PERIODS.iter().enumerate().map(|(at, period)| (*period, Due::Timer(at))).collect(),
            expired: VecDeque::new(),
            semaphores: vec![Counter { exists: true, ..Counter::default() }; SEMAPHORES],
            mutexes: (0..MUTEXES)
                .map(|at| MutexModel {
                    exists: true,
                    inherit: inherits(at) == TX_INHERIT,
                    lent: NOT_LENT,
                    ..MutexModel::default()
                })
                .collect(),
            groups: vec![Counter { exists: true, ..Counter::default() }; GROUPS],
            queues: vec![QueueModel { exists: true, ..QueueModel::default() }; QUEUES],
            free_blocks: (0..BLOCKS).rev().collect(),
            block_waiters: Vec::new(),
            bytes: ByteModel { fragments: vec![Fragment { at: 0, len: BYTES - HEADER, free: true }], search: 0 },
            byte_waiters: Vec::new(),
            held_blocks: Vec::new(),
            held_bytes: Vec::new(),
        };
        for (thread, priority) in PRIORITIES.iter().enumerate() {
            model.ready[*priority as usize].push(thread);
        }
        model.reschedule();
        model
    }

    // ---- who runs ------------------------------------------------------------------------------

    fn leave_ready(&mut self, t: usize) {
        self.threads[t].claims = false;
        self.ready[self.threads[t].priority as usize].retain(|&r| r != t);
    }

    fn make_ready(&mut self, t: usize) {
        self.threads[t].state = State::Ready;
        self.ready[self.threads[t].priority as usize].push(t);
    }

    /// The end of a call or of an interrupt: who has the processor now.
    fn reschedule(&mut self) {
        let highest = (0..32).find(|&p| !self.ready[p].is_empty()).expect("the idle thread is ready");
        if let Some(r) = self.running
            && self.threads[r].state == State::Ready
        {
            let priority = self.threads[r].priority;
            // Only a thread that was just lowered can be held off by an older threshold; it has no
            // claim of its own then.
            let held_off = self.claimant().is_some_and(|c| self.threads[c].threshold <= priority);
            if highest < self.threads[r].threshold as usize {
                self.threads[r].claims = self.threads[r].threshold != priority && !held_off;
            } else if self.ready[priority as usize][0] == r && !held_off {
                return;
            }
        }
        let next = match self.claimant() {
            Some(c) if self.threads[c].threshold as usize <= highest => c,
            _ => self.ready[highest][0],
        };
        self.threads[next].claims = false;
        // A preempted thread that goes on is the first of its equals.
        let equals = &mut self.ready[self.threads[next].priority as usize];
        equals.retain(|&t| t != next);
        equals.insert(0, next);
        self.running = Some(next);
    }

    /// The claim of the highest preempted thread is in question first.
    fn claimant(&self) -> Option<usize> {
        (0..THREADS).filter(|&t| self.threads[t].claims).min_by_key(|&t| self.threads[t].priority)
    }

    fn wait(&mut self, t: usize, state: State, request: Request, wait: ULONG, late: Answer) -> Effect {
        if wait == TX_NO_WAIT {
            return Effect::Answer(late);
        }
        self.leave_ready(t);
        let thread = &mut self.threads[t];
        thread.state = state;
        thread.request = request;
        thread.late = late;
        if wait != TX_WAIT_FOREVER {
            self.timers.push((self.now.wrapping_add(wait), Due::Thread(t)));
        }
        Effect::Waits
    }

    fn waiters(&mut self, object: Object) -> &mut Vec<usize> {
        match object {
            Object::Semaphore(at) => &mut self.semaphores[at].waiters,
            Object::Mutex(at) => &mut self.mutexes[at].waiters,
            Object::Group(at) => &mut self.groups[at].waiters,
            Object::Queue(at) => &mut self.queues[at].waiters,
            Object::Blocks => &mut self.block_waiters,
            Object::Bytes => &mut self.byte_waiters,
        }
    }

    fn stop_waiting(&mut self, t: usize) {
        if let State::Waiting(object) = self.threads[t].state {
            self.waiters(object).retain(|&w| w != t);
        }
        self.timers.retain(|&(_, due)| due != Due::Thread(t));
        self.expired.retain(|&due| due != Due::Thread(t));
    }

    fn wake(&mut self, t: usize, answer: Answer) {
        self.stop_waiting(t);
        self.threads[t].answer = answer;
        if std::mem::take(&mut self.threads[t].suspend_pending) {
            self.threads[t].state = State::Suspended;
        } else {
            self.make_ready(t);
        }
    }

    fn wake_all(&mut self, object: Object, status: UINT) {
        for t in self.waiters(object).clone() {
            let output = if matches!(object, Object::Group(_)) { self.threads[t].late.1 } else { 0 };
            self.wake(t, (status, output));
        }
    }

    fn best(&self, waiters: &[usize]) -> Option<usize> {
        waiters.iter().copied().min_by_key(|&t| self.threads[t].priority)
    }

    fn prioritize(&mut self, object: Object) -> Effect {
        let waiters = self.waiters(object).clone();
        if let Some(best) = self.best(&waiters) {
            let waiters = self.waiters(object);
            waiters.retain(|&t| t != best);
            waiters.insert(0, best);
        }
        done(TX_SUCCESS)
    }

    // ---- time ----------------------------------------------------------------------------------

    fn tick(&mut self) {
        self.now = self.now.wrapping_add(1);
        let now = self.now;
        self.expired.extend(self.timers.iter().filter(|t| t.0 == now).map(|t| t.1));
        self.timers.retain(|t| t.0 != now);
        if !self.expired.is_empty() {
            self.begin_timers();
        }
    }

    /// The system timer thread, above all others, preempts who runs.
    fn begin_timers(&mut self) {
        if let Some(r) = self.running.take() {
            let thread = &mut self.threads[r];
            thread.claims = thread.state == State::Ready && thread.threshold != thread.priority;
        }
    }

    /// Timeouts that are due, up to the next application timer.
    fn run_timeouts(&mut self) -> Option<usize> {
        while let Some(due) = self.expired.pop_front() {
            match due {
                Due::Thread(t) => {
                    let late = self.threads[t].late;
                    self.wake(t, late);
                }
                Due::Timer(timer) => return Some(timer),
            }
        }
        None
    }

    fn end_timers(&mut self) {
        if self.running.is_none() {
            assert_eq!(self.run_timeouts(), None, "a timer's function was not called");
            self.reschedule();
        }
    }

    // ---- priorities ----------------------------------------------------------------------------

    fn inherited(&self, t: usize) -> UINT {
        let owned = self.threads[t].owned.iter().map(|&m| &self.mutexes[m]);
        owned.filter(|m| m.inherit).map(|m| m.lent).min().unwrap_or(NOT_LENT)
    }

    /// Always moves the thread, as an explicit change does.
    fn set_priority(&mut self, t: usize) {
        let priority = self.threads[t].user.min(self.inherited(t));
        let ready = self.threads[t].state == State::Ready;
        if ready {
            self.leave_ready(t);
        }
        self.threads[t].priority = priority;
        self.threads[t].threshold = self.threads[t].user_threshold.min(priority);
        if ready {
            let equals = &mut self.ready[priority as usize];
            if self.running == Some(t) {
                equals.insert(0, t);
            } else {
                equals.push(t);
            }
        }
    }

    fn inherit(&mut self, t: usize) {
        if self.threads[t].user.min(self.inherited(t)) != self.threads[t].priority {
            self.set_priority(t);
        }
    }

    fn release_mutex(&mut self, m: usize) {
        let old = self.mutexes[m].owner.take();
        if let Some(old) = old {
            self.threads[old].owned.retain(|&o| o != m);
        }
        self.mutexes[m].count = 0;
        self.mutexes[m].lent = NOT_LENT;
        let waiters = self.mutexes[m].waiters.clone();
        let inherit = self.mutexes[m].inherit;
        let next = if inherit { self.best(&waiters) } else { waiters.first().copied() };
        if let Some(next) = next {
            self.mutexes[m].owner = Some(next);
            self.mutexes[m].count = 1;
            self.threads[next].owned.push(m);
        }
        if inherit && let Some(old) = old {
            self.inherit(old);
        }
        if let Some(next) = next {
            self.wake(next, (TX_SUCCESS, 0));
            if inherit {
                let rest = self.mutexes[m].waiters.clone();
                self.mutexes[m].lent = self.best(&rest).map_or(NOT_LENT, |t| self.threads[t].priority);
            }
        }
    }

    fn end(&mut self, t: usize, state: State) {
        while let Some(&m) = self.threads[t].owned.first() {
            self.release_mutex(m);
        }
        self.leave_ready(t);
        self.stop_waiting(t);
        self.threads[t].suspend_pending = false;
        self.threads[t].state = state;
    }

    // ---- calls ---------------------------------------------------------------------------------

    fn put_semaphore(&mut self, s: usize) {
        match self.semaphores[s].waiters.first() {
            Some(&t) => self.wake(t, (TX_SUCCESS, 0)),
            None => self.semaphores[s].count += 1,
        }
    }

    fn send(&mut self, q: usize, message: ULONG, front: bool, wait: ULONG, t: Option<usize>) -> Effect {
        let queue = &mut self.queues[q];
        if !queue.exists {
            return done(TX_QUEUE_ERROR);
        }
        if queue.messages.len() == CAPACITIES[q] {
            let Some(t) = t.filter(|_| wait != TX_NO_WAIT) else { return done(TX_QUEUE_FULL) };
            let at = if front { 0 } else { queue.waiters.len() };
            queue.waiters.insert(at, t);
            return self.wait(
                t,
                State::Waiting(Object::Queue(q)),
                Request::Send(message, front),
                wait,
                (TX_QUEUE_FULL, 0),
            );
        }
        match queue.waiters.first() {
            Some(&receiver) => self.wake(receiver, (TX_SUCCESS, message as usize)),
            None if front => queue.messages.push_front(message),
            None => queue.messages.push_back(message),
        }
        done(TX_SUCCESS)
    }

    fn receive(&mut self, q: usize, wait: ULONG, t: Option<usize>) -> Effect {
        let queue = &mut self.queues[q];
        if !queue.exists {
            return done(TX_QUEUE_ERROR);
        }
        if queue.messages.is_empty() {
            let Some(t) = t.filter(|_| wait != TX_NO_WAIT) else { return done(TX_QUEUE_EMPTY) };
            queue.waiters.push(t);
            return self.wait(t, State::Waiting(Object::Queue(q)), Request::Receive, wait, (TX_QUEUE_EMPTY, 0));
        }
        let received = match queue.waiters.first() {
            None => queue.messages.pop_front(),
            Some(&sender) => {
                let Request::Send(message, front) = self.threads[sender].request else { panic!("not a sender") };
                self.wake(sender, (TX_SUCCESS, 0));
                let messages = &mut self.queues[q].messages;
                if front {
                    Some(message)
                } else {
                    messages.push_back(message);
                    messages.pop_front()
                }
            }
        };
        Effect::Answer((TX_SUCCESS, received.expect("a message") as usize))
    }

    fn set_flags(&mut self, e: usize, flags: ULONG) {
        self.groups[e].count |= flags;
        let seen = self.groups[e].count;
        for t in self.groups[e].waiters.clone() {
            let Request::Flags(requested, option) = self.threads[t].request else { panic!("no flags requested") };
            if satisfied(seen, requested, option) {
                if option & 1 != 0 {
                    self.groups[e].count &= !requested;
                }
                self.wake(t, (TX_SUCCESS, seen as usize));
            }
        }
    }

    /// Does the call of `caller`, whom it may make wait.
    fn call(&mut self, caller: Caller, op: Op) -> Effect {
        let me = if let Caller::Thread(t) = caller { Some(t) } else { None };
        match op {
            Op::SemaphoreGet(s, wait) => {
                let semaphore = &mut self.semaphores[s];
                if !semaphore.exists {
                    return done(TX_SEMAPHORE_ERROR);
                }
                if semaphore.count != 0 {
                    semaphore.count -= 1;
                    return done(TX_SUCCESS);
                }
                let Some(t) = me.filter(|_| wait != TX_NO_WAIT) else { return done(TX_NO_INSTANCE) };
                semaphore.waiters.push(t);
                self.wait(t, State::Waiting(Object::Semaphore(s)), Request::Nothing, wait, (TX_NO_INSTANCE, 0))
            }
            Op::SemaphorePut(s) => {
                if !self.semaphores[s].exists {
                    return done(TX_SEMAPHORE_ERROR);
                }
                self.put_semaphore(s);
                done(TX_SUCCESS)
            }
            Op::CeilingPut(s, ceiling) => {
                let semaphore = &self.semaphores[s];
                if !semaphore.exists {
                    return done(TX_SEMAPHORE_ERROR);
                }
                if ceiling == 0 {
                    return done(TX_INVALID_CEILING);
                }
                if semaphore.waiters.is_empty() && semaphore.count >= ceiling {
                    return done(TX_CEILING_EXCEEDED);
                }
                self.put_semaphore(s);
                done(TX_SUCCESS)
            }
            Op::SemaphoreDelete(s) => {
                if !std::mem::take(&mut self.semaphores[s].exists) {
                    return done(TX_SEMAPHORE_ERROR);
                }
                self.wake_all(Object::Semaphore(s), TX_DELETED);
                done(TX_SUCCESS)
            }
            Op::SemaphoreCreate(s, count) => {
                if self.semaphores[s].exists {
                    return done(TX_SEMAPHORE_ERROR);
                }
                self.semaphores[s] = Counter { exists: true, count, waiters: Vec::new() };
                done(TX_SUCCESS)
            }
            Op::MutexGet(m, wait) => {
                let t = me.expect("a thread");
                let priority = self.threads[t].priority;
                let mutex = &mut self.mutexes[m];
                if !mutex.exists {
                    return done(TX_MUTEX_ERROR);
                }
                if mutex.count == 0 {
                    mutex.owner = Some(t);
                    mutex.count = 1;
                    self.threads[t].owned.push(m);
                    return done(TX_SUCCESS);
                }
                let owner = mutex.owner.expect("an owner");
                if owner == t {
                    mutex.count += 1;
                    return done(TX_SUCCESS);
                }
                if wait == TX_NO_WAIT {
                    return done(TX_NOT_AVAILABLE);
                }
                mutex.waiters.push(t);
                if mutex.inherit {
                    mutex.lent = mutex.lent.min(priority);
                    self.inherit(owner);
                }
                self.wait(t, State::Waiting(Object::Mutex(m)), Request::Nothing, wait, (TX_NOT_AVAILABLE, 0))
            }
            Op::MutexPut(m) => {
                let mutex = &mut self.mutexes[m];
                if !mutex.exists {
                    return done(TX_MUTEX_ERROR);
                }
                if mutex.count == 0 || mutex.owner != me {
                    return done(TX_NOT_OWNED);
                }
                mutex.count -= 1;
                if mutex.count == 0 {
                    self.release_mutex(m);
                }
                done(TX_SUCCESS)
            }
            Op::MutexDelete(m) => {
                if !std::mem::take(&mut self.mutexes[m].exists) {
                    return done(TX_MUTEX_ERROR);
                }
                self.wake_all(Object::Mutex(m), TX_DELETED);
                self.release_mutex(m);
                done(TX_SUCCESS)
            }
            Op::MutexCreate(m) => {
                if self.mutexes[m].exists {
                    return done(TX_MUTEX_ERROR);
                }
                self.mutexes[m].exists = true;
                done(TX_SUCCESS)
            }
            Op::EventGet(e, requested, option, wait) => {
                let group = &mut self.groups[e];
                if !group.exists {
                    return Effect::Answer((TX_GROUP_ERROR, 0x55));
                }
                let flags = group.count;
                if satisfied(flags, requested, option) {
                    if option & 1 != 0 {
                        group.count &= !requested;
                    }
                    return Effect::Answer((TX_SUCCESS, flags as usize));
                }
                let late = (TX_NO_EVENTS, flags as usize);
                let Some(t) = me.filter(|_| wait != TX_NO_WAIT) else { return Effect::Answer(late) };
                group.waiters.push(t);
                self.wait(t, State::Waiting(Object::Group(e)), Request::Flags(requested, option), wait, late)
            }
            Op::EventSet(e, flags, option) => {
                if !self.groups[e].exists {
                    return done(TX_GROUP_ERROR);
                }
                if option == TX_AND {
                    self.groups[e].count &= flags;
                } else {
                    self.set_flags(e, flags);
                }
                done(TX_SUCCESS)
            }
            Op::EventDelete(e) => {
                if !std::mem::take(&mut self.groups[e].exists) {
                    return done(TX_GROUP_ERROR);
                }
                self.wake_all(Object::Group(e), TX_DELETED);
                done(TX_SUCCESS)
            }
            Op::EventCreate(e) => {
                if self.groups[e].exists {
                    return done(TX_GROUP_ERROR);
                }
                self.groups[e] = Counter { exists: true, ..Counter::default() };
                done(TX_SUCCESS)
            }
            Op::Send(q, message, wait) => self.send(q, message, false, wait, me),
            Op::FrontSend(q, message, wait) => self.send(q, message, true, wait, me),
            Op::Receive(q, wait) => self.receive(q, wait, me),
            Op::Flush(q) => {
                if !self.queues[q].exists {
                    return done(TX_QUEUE_ERROR);
                }
                if !self.queues[q].messages.is_empty() {
                    self.queues[q].messages.clear();
                    self.wake_all(Object::Queue(q), TX_SUCCESS);
                }
                done(TX_SUCCESS)
            }
            Op::QueueDelete(q) => {
                if !std::mem::take(&mut self.queues[q].exists) {
                    return done(TX_QUEUE_ERROR);
                }
                self.wake_all(Object::Queue(q), TX_DELETED);
                done(TX_SUCCESS)
            }
            Op::QueueCreate(q) => {
                if self.queues[q].exists {
                    return done(TX_QUEUE_ERROR);
                }
                self.queues[q] = QueueModel { exists: true, ..QueueModel::default() };
                done(TX_SUCCESS)
            }
            Op::BlockAllocate(wait) => {
                if let Some(block) = self.free_blocks.pop() {
                    self.held_blocks.push(block);
                    return Effect::Answer((TX_SUCCESS, block));
                }
                let Some(t) = me.filter(|_| wait != TX_NO_WAIT) else { return done(TX_NO_MEMORY) };
                self.block_waiters.push(t);
                self.wait(t, State::Waiting(Object::Blocks), Request::Nothing, wait, (TX_NO_MEMORY, 0))
            }
            Op::BlockRelease(block) => {
                if !self.held_blocks.contains(&block) {
                    return done(TX_PTR_ERROR);
                }
                match self.block_waiters.first() {
                    Some(&t) => self.wake(t, (TX_SUCCESS, block)),
                    None => {
                        self.held_blocks.retain(|&held| held != block);
                        self.free_blocks.push(block);
                    }
                }
                done(TX_SUCCESS)
            }
            Op::ByteAllocate(bytes, wait) => {
                let t = me.expect("a thread");
                let bytes = (bytes as usize).next_multiple_of(8);
                if let Some(piece) = self.bytes.allocate(bytes) {
                    self.held_bytes.push(piece);
                    return Effect::Answer((TX_SUCCESS, piece));
                }
                if wait == TX_NO_WAIT {
                    return done(TX_NO_MEMORY);
                }
                self.byte_waiters.push(t);
                self.wait(t, State::Waiting(Object::Bytes), Request::Bytes(bytes), wait, (TX_NO_MEMORY, 0))
            }
            Op::ByteRelease(piece) => {
                if !self.held_bytes.contains(&piece) {
                    return done(TX_PTR_ERROR);
                }
                self.held_bytes.retain(|&held| held != piece);
                self.bytes.release(piece);
                while let Some(&t) = self.byte_waiters.first() {
                    let Request::Bytes(bytes) = self.threads[t].request else { panic!("no bytes requested") };
                    let Some(piece) = self.bytes.allocate(bytes) else { break };
                    self.held_bytes.push(piece);
                    self.wake(t, (TX_SUCCESS, piece));
                }
                done(TX_SUCCESS)
            }
            Op::PrioritizeSemaphore(s) if self.semaphores[s].exists => self.prioritize(Object::Semaphore(s)),
            Op::PrioritizeSemaphore(_) => done(TX_SEMAPHORE_ERROR),
            Op::PrioritizeMutex(m) if self.mutexes[m].exists => self.prioritize(Object::Mutex(m)),
            Op::PrioritizeMutex(_) => done(TX_MUTEX_ERROR),
            Op::PrioritizeQueue(q) if self.queues[q].exists => self.prioritize(Object::Queue(q)),
            Op::PrioritizeQueue(_) => done(TX_QUEUE_ERROR),
            Op::PrioritizeBlocks => self.prioritize(Object::Blocks),
            Op::PrioritizeBytes => self.prioritize(Object::Bytes),
            Op::Sleep(ticks) => {
                self.wait(me.expect("a thread"), State::Sleeping, Request::Nothing, ticks, (TX_SUCCESS, 0))
            }
            Op::Relinquish => {
                let t = me.expect("a thread");
                // Its equals first; with a threshold also those that it held off, which its claim no
                // longer does.
                let equals = &mut self.ready[self.threads[t].priority as usize];
                equals.rotate_left(1);
                self.running = None;
                done(TX_SUCCESS)
            }
            Op::Suspend(t) => match (self.threads[t].state, caller) {
                (State::Ready, Caller::Isr(interrupted)) if interrupted == t => done(TX_SUSPEND_ERROR),
                (State::Ready, _) => {
                    self.leave_ready(t);
                    self.threads[t].state = State::Suspended;
                    if me == Some(t) {
                        self.threads[t].answer = (TX_SUCCESS, 0);
                        return Effect::Waits;
                    }
                    done(TX_SUCCESS)
                }
                (State::Suspended, _) => done(TX_SUCCESS),
                (State::Completed | State::Terminated, _) => done(TX_SUSPEND_ERROR),
                _ => {
                    self.threads[t].suspend_pending = true;
                    done(TX_SUCCESS)
                }
            },
            Op::Resume(t) => {
                if self.threads[t].state == State::Suspended {
                    self.make_ready(t);
                    return done(TX_SUCCESS);
                }
                let pending = std::mem::take(&mut self.threads[t].suspend_pending);
                done(if pending { TX_SUSPEND_LIFTED } else { TX_RESUME_ERROR })
            }
            Op::WaitAbort(t) => match self.threads[t].state {
                State::Waiting(object) => {
                    let output = if matches!(object, Object::Group(_)) { self.threads[t].late.1 } else { 0 };
                    self.wake(t, (TX_WAIT_ABORTED, output));
                    done(TX_SUCCESS)
                }
                State::Sleeping => {
                    self.wake(t, (TX_WAIT_ABORTED, 0));
                    done(TX_SUCCESS)
                }
                _ => done(TX_WAIT_ABORT_ERROR),
            },
            Op::PriorityChange(t, priority) => {
                let old = self.threads[t].user;
                self.threads[t].user = priority;
                self.threads[t].user_threshold = priority;
                self.set_priority(t);
                Effect::Answer((TX_SUCCESS, old as usize))
            }
            Op::ThresholdChange(t, threshold) => {
                if threshold > self.threads[t].user {
                    return done(TX_THRESH_ERROR);
                }
                let old = self.threads[t].user_threshold;
                let thread = &mut self.threads[t];
                thread.user_threshold = threshold;
                let effective = threshold.min(thread.priority);
                if effective < thread.threshold || effective == thread.priority {
                    // Others have run that this threshold would have held off.
                    thread.claims = false;
                }
                thread.threshold = effective;
                Effect::Answer((TX_SUCCESS, old as usize))
            }
            Op::Terminate(t) => {
                if !matches!(self.threads[t].state, State::Completed | State::Terminated) {
                    self.end(t, State::Terminated);
                    if me == Some(t) {
                        return Effect::Ends;
                    }
                }
                done(TX_SUCCESS)
            }
            Op::Reset(t) => {
                if !matches!(self.threads[t].state, State::Completed | State::Terminated) {
                    return done(TX_NOT_DONE);
                }
                self.threads[t].state = State::Suspended;
                self.threads[t].answer = (TX_SUCCESS, 0);
                done(TX_SUCCESS)
            }
            Op::Finish => {
                self.end(me.expect("a thread"), State::Completed);
                Effect::Ends
            }
            Op::Interrupt(_) | Op::Tick => unreachable!("not a call"),
        }
    }
}

fn satisfied(flags: ULONG, requested: ULONG, option: UINT) -> bool {
    if option & 2 != 0 { flags & requested == requested } else { flags & requested != 0 }
}

// ---- the kernel beside it ----------------------------------------------------------------------

#[derive(Clone, Copy)]
struct World {
    threads: [Thread; THREADS],
    semaphores: [Semaphore; SEMAPHORES],
    mutexes: [TxMutex; MUTEXES],
    groups: [EventFlags; GROUPS],
    queues: [Queue; QUEUES],
    blocks: BlockPool,
    block_memory: Memory,
    bytes: BytePool,
    byte_memory: Memory,
}

const STRIDE: usize = 24;

impl World {
    fn block(&self, index: usize) -> Piece {
        Piece(self.block_memory.start.wrapping_add(index * STRIDE + 8).cast())
    }

    fn byte(&self, offset: usize) -> Piece {
        Piece(self.byte_memory.start.wrapping_add(offset).cast())
    }

    /// Makes the call; status and output.
    fn call(&self, op: Op) -> Answer {
        let plain = |status: UINT| (status, 0);
        let value = |result: Result<ULONG, UINT>| match result {
            Ok(value) => (TX_SUCCESS, value as usize),
            Err(status) => (status, 0),
        };
        match op {
            Op::SemaphoreGet(s, wait) => plain(self.semaphores[s].get(wait)),
            Op::SemaphorePut(s) => plain(self.semaphores[s].put()),
            Op::CeilingPut(s, ceiling) => plain(self.semaphores[s].ceiling_put(ceiling)),
            Op::SemaphoreDelete(s) => plain(self.semaphores[s].delete()),
            Op::SemaphoreCreate(s, count) => plain(self.semaphores[s].create(count)),
            Op::MutexGet(m, wait) => plain(self.mutexes[m].get(wait)),
            Op::MutexPut(m) => plain(self.mutexes[m].put()),
            Op::MutexDelete(m) => plain(self.mutexes[m].delete()),
            Op::MutexCreate(m) => plain(self.mutexes[m].create(inherits(m))),
            Op::EventGet(e, flags, option, wait) => {
                let (status, flags) = self.groups[e].get(flags, option, wait);
                (status, flags as usize)
            }
            Op::EventSet(e, flags, option) => plain(self.groups[e].set(flags, option)),
            Op::EventDelete(e) => plain(self.groups[e].delete()),
            Op::EventCreate(e) => plain(self.groups[e].create()),
            Op::Send(q, message, wait) => plain(self.queues[q].send(message, wait)),
            Op::FrontSend(q, message, wait) => plain(self.queues[q].front_send(message, wait)),
            Op::Receive(q, wait) => value(self.queues[q].receive(wait)),
            Op::Flush(q) => plain(self.queues[q].flush()),
            Op::QueueDelete(q) => plain(self.queues[q].delete()),
            Op::QueueCreate(q) => plain(self.queues[q].create(1, CAPACITIES[q] * 4)),
            Op::BlockAllocate(wait) => match self.blocks.allocate(wait) {
                Ok(Piece(at)) => (TX_SUCCESS, (at as usize - self.block_memory.start as usize) / STRIDE),
                Err(status) => (status, 0),
            },
            Op::BlockRelease(block) => plain(block_release(self.block(block))),
            Op::ByteAllocate(bytes, wait) => match self.bytes.allocate(bytes, wait) {
                Ok(Piece(at)) => (TX_SUCCESS, at as usize - self.byte_memory.start as usize),
                Err(status) => (status, 0),
            },
            Op::ByteRelease(piece) => plain(byte_release(self.byte(piece))),
            Op::PrioritizeSemaphore(s) => plain(self.semaphores[s].prioritize()),
            Op::PrioritizeMutex(m) => plain(self.mutexes[m].prioritize()),
            Op::PrioritizeQueue(q) => plain(self.queues[q].prioritize()),
            Op::PrioritizeBlocks => plain(self.blocks.prioritize()),
            Op::PrioritizeBytes => plain(self.bytes.prioritize()),
            Op::Sleep(ticks) => plain(sleep(ticks)),
            Op::Relinquish => {
                relinquish();
                plain(TX_SUCCESS)
            }
            Op::Suspend(t) => plain(self.threads[t].suspend()),
            Op::Resume(t) => plain(self.threads[t].resume()),
            Op::WaitAbort(t) => plain(self.threads[t].wait_abort()),
            Op::PriorityChange(t, priority) => value(self.threads[t].priority_change(priority)),
            Op::ThresholdChange(t, threshold) => value(self.threads[t].preemption_change(threshold)),
            Op::Terminate(t) => plain(self.threads[t].terminate()),
            Op::Reset(t) => plain(self.threads[t].reset()),
            Op::Finish | Op::Interrupt(_) | Op::Tick => unreachable!("not a call"),
        }
    }

    /// Compares all that the information services tell.
    fn compare(&self, model: &Model) {
        check();
        for (t, (thread, expected)) in self.threads.iter().zip(&model.threads).enumerate() {
            let info = thread.info();
            let state = match expected.state {
                State::Ready => TX_READY,
                State::Suspended => TX_SUSPENDED,
                State::Completed => TX_COMPLETED,
                State::Terminated => TX_TERMINATED,
                State::Sleeping => TX_SLEEP,
                State::Waiting(Object::Semaphore(_)) => TX_SEMAPHORE_SUSP,
                State::Waiting(Object::Mutex(_)) => TX_MUTEX_SUSP,
                State::Waiting(Object::Group(_)) => TX_EVENT_FLAG,
                State::Waiting(Object::Queue(_)) => TX_QUEUE_SUSP,
                State::Waiting(Object::Blocks) => TX_BLOCK_MEMORY,
                State::Waiting(Object::Bytes) => TX_BYTE_MEMORY,
            };
            let got = (info.state, info.priority, info.threshold, thread.levels());
            let levels = (expected.priority, expected.threshold);
            assert_eq!(got, (state, expected.user, expected.user_threshold, levels), "thread {t}");
        }
        let first = |waiters: &[usize]| (waiters.first().map_or(NOBODY, |&t| self.threads[t]), waiters.len() as ULONG);
        for (semaphore, expected) in self.semaphores.iter().zip(&model.semaphores).filter(|(_, m)| m.exists) {
            let info = semaphore.info();
            assert_eq!((info.count, (info.first, info.waiting)), (expected.count, first(&expected.waiters)));
        }
        for (mutex, expected) in self.mutexes.iter().zip(&model.mutexes).filter(|(_, m)| m.exists) {
            let info = mutex.info();
            let owner = expected.owner.map_or(NOBODY, |t| self.threads[t]);
            assert_eq!((info.owner, info.count), (owner, expected.count));
            assert_eq!((info.first, info.waiting), first(&expected.waiters));
        }
        for (group, expected) in self.groups.iter().zip(&model.groups).filter(|(_, m)| m.exists) {
            let info = group.info();
            assert_eq!((info.flags, (info.first, info.waiting)), (expected.count, first(&expected.waiters)));
        }
        for (queue, expected) in self.queues.iter().zip(&model.queues).filter(|(_, m)| m.exists) {
            let info = queue.info();
            assert_eq!(info.enqueued as usize, expected.messages.len());
            assert_eq!((info.first, info.waiting), first(&expected.waiters));
        }
        let info = self.blocks.info();
        assert_eq!(info.available as usize, model.free_blocks.len());
        assert_eq!((info.first, info.waiting), first(&model.block_waiters));
        let info = self.bytes.info();
        assert_eq!((info.available as usize, info.total as usize), (model.bytes.available(), model.bytes.count()));
        assert_eq!((info.first, info.waiting), first(&model.byte_waiters));
    }
}

// ---- both together -----------------------------------------------------------------------------

struct Run {
    world: World,
    model: Model,
    words: Vec<u64>,
    next: usize,
    /// Calls made, those in interrupts and timers included.
    calls: u64,
    /// The last calls, for the report of a difference.
    trace: VecDeque<(Caller, Op)>,
}

static RUN: Mutex<Option<Run>> = Mutex::new(None);

fn with<T>(f: impl FnOnce(&mut Run) -> T) -> T {
    let mut run = RUN.lock().unwrap_or_else(|e| e.into_inner());
    f(run.as_mut().expect("a run"))
}

impl Run {
    fn word(&mut self) -> Option<u64> {
        let word = self.words.get(self.next).copied();
        self.next += 1;
        word
    }

    /// Names of pieces are drawn from those that are held.
    fn resolve(&self, op: Op) -> Op {
        match op {
            Op::BlockRelease(at) => match self.model.held_blocks.len() {
                0 => Op::BlockRelease(at % BLOCKS),
                held => Op::BlockRelease(self.model.held_blocks[at % held]),
            },
            Op::ByteRelease(at) => match self.model.held_bytes.len() {
                0 => Op::ByteRelease(HEADER),
                held => Op::ByteRelease(self.model.held_bytes[at % held]),
            },
            op => op,
        }
    }

    fn note(&mut self, caller: Caller, op: Op) {
        self.calls += 1;
        self.trace.push_back((caller, op));
        if self.trace.len() > 40 {
            self.trace.pop_front();
        }
    }
}

/// One call by an interrupt handler or a timer, which never waits.
fn call_without_wait(caller: Caller, word: u64) {
    let (world, op, outcome) = with(|run| {
        let op = run.resolve(Op::decode(word, caller));
        run.note(caller, op);
        (run.world, op, run.model.call(caller, op))
    });
    let Effect::Answer(expected) = outcome else { panic!("{op:?} must not wait") };
    assert_eq!(world.call(op), expected, "{op:?} by {caller:?}");
    with(|run| run.world.compare(&run.model));
}

/// The processor is `t`'s.
fn arrive(t: usize) {
    with(|run| {
        run.model.end_timers();
        assert_eq!(run.model.running, Some(t), "the wrong thread runs");
        run.world.compare(&run.model);
    });
}

fn thread_body(t: usize) {
    arrive(t);
    loop {
        let next = with(|run| {
            let word = run.word()?;
            let op = run.resolve(Op::decode(word, Caller::Thread(t)));
            run.note(Caller::Thread(t), op);
            Some((run.world, op))
        });
        let Some((world, op)) = next else { host::finish() };
        match op {
            Op::Tick => {
                with(|run| run.model.tick());
                host::tick();
            }
            Op::Interrupt(seed) => isr(move || {
                for shift in [0, 13, 26].into_iter().take(1 + (seed >> 40) as usize % 3) {
                    call_without_wait(Caller::Isr(t), seed >> shift);
                }
                with(|run| run.model.reschedule());
            }),
            _ => {
                let outcome = with(|run| {
                    let outcome = run.model.call(Caller::Thread(t), op);
                    run.model.reschedule();
                    outcome
                });
                if op == Op::Finish {
                    return;
                }
                let got = world.call(op);
                arrive(t);
                let expected = match outcome {
                    Effect::Answer(answer) => answer,
                    Effect::Waits => with(|run| run.model.threads[t].answer),
                    Effect::Ends => panic!("thread {t} ended and goes on"),
                };
                assert_eq!(got, expected, "{op:?} by thread {t}");
                continue;
            }
        }
        arrive(t);
    }
}

fn timer_body(timer: usize) {
    let word = with(|run| {
        assert_eq!(run.model.run_timeouts(), Some(timer), "the wrong timer expired");
        run.word()
    });
    if let Some(word) = word {
        call_without_wait(Caller::Timer, word);
    }
    with(|run| run.model.timers.push((run.model.now + PERIODS[timer], Due::Timer(timer))));
}

static CALLS: AtomicU64 = AtomicU64::new(0);

/// The words of a fuzzer's input; what is left at the end is filled up with zeros.
pub fn words_of(data: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    data.chunks(8).map(word).collect()
}

/// Runs one kernel through `words`; panics at the first difference.
pub fn run_case(words: Vec<u64>) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let result = std::panic::catch_unwind(move || {
        let outcome = host::run(1, || {
            let block_memory = Memory::new(BLOCKS * STRIDE);
            let byte_memory = Memory::new(BYTES);
            let world = World {
                threads: std::array::from_fn(|t| {
                    let thread = Thread::new();
                    assert_eq!(thread.create(at(PRIORITIES[t]), move || thread_body(t)), TX_SUCCESS);
                    thread
                }),
                semaphores: std::array::from_fn(|_| Semaphore::new(0)),
                mutexes: std::array::from_fn(|m| TxMutex::new(inherits(m))),
                groups: std::array::from_fn(|_| EventFlags::new(0)),
                queues: std::array::from_fn(|q| Queue::new(1, CAPACITIES[q])),
                blocks: BlockPool::blank(),
                block_memory,
                bytes: BytePool::blank(),
                byte_memory,
            };
            let size = block_memory.size as ULONG;
            assert_eq!(world.blocks.create_on(16, block_memory.start, size), TX_SUCCESS);
            assert_eq!(world.bytes.create_on(byte_memory.start, BYTES as ULONG), TX_SUCCESS);
            for (timer, period) in PERIODS.into_iter().enumerate() {
                Timer::start(period, period, move || timer_body(timer));
            }
            let run = Run { world, model: Model::new(), words, next: 0, calls: 0, trace: VecDeque::new() };
            *RUN.lock().unwrap_or_else(|e| e.into_inner()) = Some(run);
        });
        assert_eq!(outcome, Outcome::Finished);
    });
    let run = RUN.lock().unwrap_or_else(|e| e.into_inner()).take().expect("a run");
    CALLS.fetch_add(run.calls, Ordering::Relaxed);
    if let Err(panic) = result {
        eprintln!("after {} calls; the last ones:", run.calls);
        for (caller, op) in &run.trace {
            eprintln!("  {caller:?}: {op:?}");
        }
        std::panic::resume_unwind(panic);
    }
}

fn random_words(seed: u64, count: usize) -> Vec<u64> {
    // SplitMix64, by Steele, Lea and Flood (2014).
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ z >> 31
        })
        .collect()
}

#[test]
fn random_operations_agree_with_the_model() {
    let wanted = match std::env::var("MODEL_OPERATIONS") {
        Ok(text) => text.parse().expect("MODEL_OPERATIONS is a number"),
        Err(_) => 1_000_000,
    };
    let mut seed = 0;
    let mut calls = 0;
    while calls < wanted {
        seed += 1;
        let before = CALLS.load(Ordering::Relaxed);
        if let Err(panic) = std::panic::catch_unwind(|| run_case(random_words(seed, 5_000))) {
            eprintln!("seed {seed}");
            std::panic::resume_unwind(panic);
        }
        // The other test may add its own; then this one only makes more.
        calls += CALLS.load(Ordering::Relaxed) - before;
    }
    eprintln!("{calls} calls");
}

/// What the fuzzer found worth keeping (`fuzz/corpus/operations`): inputs that together reach all that it reached.
#[test]
fn the_fuzzers_corpus_agrees_with_the_model() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/operations");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect(folder).map(|entry| entry.expect(folder).path()).collect();
    files.sort();
    assert!(files.len() >= 100, "{folder} has {} inputs", files.len());
    for file in files {
        eprintln!("{}", file.display());
        run_case(words_of(&std::fs::read(&file).expect("an input")));
    }
}

#[cfg(test)]
proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        max_shrink_iters: 20_000,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    /// The same with cases that proptest makes smaller when they fail, and keeps.
    #[test]
    fn short_cases_agree_with_the_model(words in proptest::collection::vec(any::<u64>(), 1..300)) {
        run_case(words);
    }
}
