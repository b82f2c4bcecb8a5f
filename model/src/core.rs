//! The core: a decoupled front end, an in-order back end, a store buffer and the two first-level caches.
//!
//! Instructions are handed in after they ran, with the addresses that they accessed; the model says when
//! each of them issues. All times are absolute, in hundredths of a cycle.

use crate::cache::{Cache, Operation};
use crate::decode::{JUMPS, Kind, LINK, Op, RETURN, SETS_FLAGS, USES_FLAGS, WRITE_BACK};
use crate::part::{CYCLE, Centi, Memory, Part, Write};
use crate::system::{Register, Stretch, System};

/// No redirection is outstanding.
const NONE: Centi = Centi::MAX;
const RING: usize = 64;
const HAZARDS: usize = 64;

/// One access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Address of the instruction that made it.
    pub pc: u32,
    /// Address accessed.
    pub address: u32,
}

/// A word in the store buffer, or lately in it.
#[derive(Clone, Copy, Debug)]
struct Stored {
    doubleword: u32,
    at: Centi,
}

/// What happened, for the summary at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions.
    pub instructions: u64,
    /// Fetch groups requested from a memory, not from the instruction cache.
    pub groups: u64,
    /// Loads that hit the data cache.
    pub hits: u64,
    /// Loads that missed it.
    pub misses: u64,
    /// Dirty lines written back.
    pub written_back: u64,
    /// Instructions and accesses outside every memory of the part.
    pub strays: u64,
}

/// The model's state.
#[derive(Debug)]
pub struct Core {
    part: Part,
    system: System,
    instruction: Cache,
    data: Cache,
    counts: Counts,

    /// Time from which the next instruction may issue.
    now: Centi,
    ready: [Centi; 16],
    flags: Centi,

    group: u32,
    group_at: Centi,
    /// When the latest groups began to be used, latest first.
    started: [Centi; 4],
    fetched: Centi,
    restart: Centi,
    issued: [Centi; RING],
    at: usize,
    code: Stretch,

    directions: [u8; 1024],
    returns: [u32; 8],
    top: usize,

    stored: [Stored; HAZARDS],
    drained: [Centi; 32],
    next_store: usize,
    last_drain: Centi,
    /// The last two stretches that data was in.
    ram: [Stretch; 2],
}

impl Core {
    /// A core of `part` at reset.
    pub fn new(part: Part) -> Self {
        let nowhere = Stretch { first: 1, last: 0, memory: None, data_ways: 0, instruction_ways: 0 };
        Self {
            system: System::new(&part),
            instruction: Cache::new(&part.instruction),
            data: Cache::new(&part.data),
            counts: Counts::default(),
            now: 0,
            ready: [0; 16],
            flags: 0,
            group: u32::MAX,
            group_at: 0,
            started: [0; 4],
            fetched: 0,
            restart: 0,
            issued: [0; RING],
            at: 0,
            code: nowhere,
            directions: [2; 1024],
            returns: [0; 8],
            top: 0,
            stored: [Stored { doubleword: u32::MAX, at: 0 }; HAZARDS],
            drained: [0; 32],
            next_store: 0,
            last_drain: 0,
            ram: [nowhere; 2],
            part,
        }
    }

    /// Cycles so far: when the latest instruction issued and was done with the pipeline.
    pub const fn cycles(&self) -> u64 {
        self.now / CYCLE
    }

    /// What happened so far.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The part.
    pub const fn part(&self) -> &Part {
        &self.part
    }

    /// The guest's registers.
    pub const fn system(&mut self) -> &mut System {
        &mut self.system
    }

    /// The guest writes a register that the model follows.
    pub fn write(&mut self, register: Register, value: u32) {
        self.system.write(&self.part, register, value);
    }

    /// The guest invalidates the whole instruction cache.
    pub fn invalidate_instructions(&mut self) {
        self.instruction.invalidate_all();
    }

    /// The guest invalidates one line of the instruction cache.
    pub fn invalidate_instruction(&mut self, address: u32) {
        self.instruction.by_address(address, Operation::Invalidate);
    }

    /// The guest maintains the data cache: by address, or by set and way.
    pub fn maintain(&mut self, operand: u32, set_way: bool, operation: Operation) {
        self.now += self.part.pipeline.maintenance;
        let written =
            if set_way { self.data.by_set_way(operand, operation) } else { self.data.by_address(operand, operation) };
        if let Some(address) = written {
            self.counts.written_back += 1;
            self.now += self.memory_at(address).write_back;
        }
    }

    /// An exception was taken: what follows is fetched from the vector.
    pub fn exception(&mut self) {
        self.restart = self.now + self.part.pipeline.exception;
    }

    fn refresh(&mut self) {
        if self.system.changed() {
            self.system.rebuild(&self.part);
            let nowhere = Stretch { first: 1, last: 0, memory: None, data_ways: 0, instruction_ways: 0 };
            self.code = nowhere;
            self.ram = [nowhere; 2];
        }
    }

    fn memory_at(&mut self, address: u32) -> &Memory {
        self.refresh();
        let stretch = self.system.find(address);
        self.memory(stretch)
    }

    /// The memory of a stretch. Where the part has none, the first one's costs are as good as any: such
    /// accesses are counted and named at the end.
    fn memory(&self, stretch: Stretch) -> &Memory {
        &self.part.memories[stretch.memory.unwrap_or(0)]
    }

    #[inline]
    fn place(&mut self, address: u32) -> Stretch {
        if self.ram[0].holds(address) {
            return self.ram[0];
        }
        if self.ram[1].holds(address) {
            return self.ram[1];
        }
        let stretch = self.system.find(address);
        self.ram = [stretch, self.ram[0]];
        stretch
    }

    /// Runs `ops` in order. `accesses` begins with those of the first of them; the number used is
    /// returned. `next` is the address of what runs after the last one.
    pub fn run(&mut self, ops: &[Op], accesses: &[Access], next: u32) -> usize {
        self.refresh();
        let mut used = 0;
        for (i, op) in ops.iter().enumerate() {
            let after = ops.get(i + 1).map_or(next, |op| op.pc);
            let rest = &accesses[used..];
            let mine = rest.iter().take_while(|a| a.pc == op.pc).count();
            self.step(op, &rest[..mine], after);
            used += mine;
        }
        used
    }

    #[inline]
    fn step(&mut self, op: &Op, accesses: &[Access], next: u32) {
        self.counts.instructions += 1;
        self.fetch(op.pc);
        let fetched = self.fetched;

        let mut issue = (self.now + self.part.pipeline.issue).max(fetched);
        let mut reads = op.reads;
        while reads != 0 {
            issue = issue.max(self.ready[reads.trailing_zeros() as usize]);
            reads &= reads - 1;
        }
        // A conditional branch is predicted and waits for nothing.
        if op.has(USES_FLAGS) && op.kind != Kind::CondBranch {
            issue = issue.max(self.flags);
        }
        let mut done = issue + self.part.pipeline.result;
        // How long it keeps the next one from issuing, beyond the issue interval.
        let mut busy = 0;
        match op.kind {
            Kind::Load => (issue, done, busy) = self.load(issue, accesses),
            Kind::Store => busy = self.store(issue, accesses),
            Kind::ModeChange => busy = self.part.pipeline.mode_change,
            Kind::Barrier => busy = self.last_drain.saturating_sub(issue),
            Kind::SystemRead => done = issue + self.part.pipeline.system_read,
            Kind::Alu | Kind::Branch | Kind::CondBranch | Kind::Indirect | Kind::Isb | Kind::SystemWrite => {}
        }
        let mut writes = op.writes;
        while writes != 0 {
            self.ready[writes.trailing_zeros() as usize] = done;
            writes &= writes - 1;
        }
        if op.has(WRITE_BACK) {
            self.ready[op.base as usize & 15] = issue + self.part.pipeline.result;
        }
        if op.has(SETS_FLAGS) {
            self.flags = issue + self.part.pipeline.result;
        }
        self.now = issue + busy;
        self.at = (self.at + 1) % RING;
        self.issued[self.at] = self.now;

        match op.kind {
            Kind::ModeChange | Kind::Isb => self.restart = self.now + CYCLE,
            _ if op.has(JUMPS) => self.jump(op, issue, done, fetched, next),
            _ => {}
        }
    }

    /// Sets `fetched` to when the instruction at `pc` has left its fetch group.
    #[inline]
    fn fetch(&mut self, pc: u32) {
        let room = self.issued[(self.at + RING - self.part.pipeline.queue) % RING];
        let group = pc & !(self.part.pipeline.fetch_group - 1);
        let redirected = self.restart != NONE;
        if redirected || group != self.group {
            self.group_in(pc, group, redirected, room);
        }
        self.fetched = self.group_at.max(self.fetched + self.part.pipeline.fetch_rate).max(room);
        self.restart = NONE;
    }

    fn group_in(&mut self, pc: u32, group: u32, redirected: bool, room: Centi) {
        if !self.code.holds(pc) {
            self.code = self.system.find(pc);
            self.counts.strays += u64::from(self.code.memory.is_none());
        }
        let code = self.code;
        let mut cost = (self.memory(code).fetch, self.memory(code).fetch_next);
        let cached = code.instruction_ways != 0;
        if cached && self.instruction.hit(pc, false) {
            cost = (CYCLE, CYCLE);
        } else {
            self.counts.groups += 1;
            if cached {
                self.instruction.fill(pc, code.instruction_ways, false);
            }
        }
        let (first, next) = cost;
        let available = if redirected {
            self.restart + first
        } else {
            let asked = self.started[self.part.pipeline.fetch_ahead - 1];
            asked.max(self.group_at) + next
        };
        let start = available.max(room).max(self.fetched);
        if redirected {
            // Groups behind the first are requested at once.
            self.started = [self.restart; 4];
        } else {
            self.started.copy_within(0..3, 1);
        }
        self.started[0] = start;
        self.group_at = available;
        self.group = group;
    }

    /// When a load issues, when its data can be used, and how long it occupies the pipeline.
    fn load(&mut self, mut issue: Centi, accesses: &[Access]) -> (Centi, Centi, Centi) {
        let mut latest = issue;
        let mut last = u32::MAX;
        for access in accesses {
            let doubleword = access.address >> 3;
            let stored = &self.stored[doubleword as usize % HAZARDS];
            if stored.doubleword == doubleword {
                issue = issue.max(stored.at + self.part.pipeline.store_to_load);
            }
            let mut data = issue;
            if doubleword != last {
                let place = self.place(access.address);
                self.counts.strays += u64::from(place.memory.is_none());
                if place.data_ways == 0 {
                    data += self.memory(place).read;
                } else if self.data.hit(access.address, false) {
                    self.counts.hits += 1;
                } else {
                    self.counts.misses += 1;
                    data += self.memory(place).fill;
                    if let Some(victim) = self.data.fill(access.address, place.data_ways, false) {
                        self.counts.written_back += 1;
                        data += self.memory_at(victim).write_back;
                    }
                }
            }
            last = doubleword;
            latest = latest.max(data);
        }
        // A doubleword a cycle.
        let busy = (accesses.len() as Centi).div_ceil(2).max(1) * CYCLE - CYCLE;
        (issue, latest.max(issue) + self.part.pipeline.load_use + busy, busy)
    }

    /// How long a store occupies the pipeline: a doubleword a cycle, and the wait for room in the buffer.
    fn store(&mut self, issue: Centi, accesses: &[Access]) -> Centi {
        let mut busy: Centi = 0;
        let mut words = 0;
        let mut last = u32::MAX;
        for access in accesses {
            let doubleword = access.address >> 3;
            if doubleword == last {
                continue;
            }
            last = doubleword;
            let oldest = self.drained[(self.next_store + 32 - self.part.pipeline.store_buffer) % 32];
            busy += oldest.saturating_sub(issue + busy);
            let at = issue + busy;
            let place = self.place(access.address);
            self.counts.strays += u64::from(place.memory.is_none());
            let memory = self.memory(place);
            let mut drained = at.max(self.last_drain) + memory.drain;
            if place.data_ways != 0 {
                let back = self.part.data.write == Write::Back;
                let fill = self.memory(place).fill;
                if self.data.hit(access.address, back) {
                    if back {
                        drained = at.max(self.last_drain) + CYCLE;
                    }
                } else if back {
                    drained = at.max(self.last_drain) + CYCLE + fill;
                    if let Some(victim) = self.data.fill(access.address, place.data_ways, true) {
                        self.counts.written_back += 1;
                        drained += self.memory_at(victim).write_back;
                    }
                }
            }
            self.stored[doubleword as usize % HAZARDS] = Stored { doubleword, at };
            self.drained[self.next_store % 32] = drained;
            self.next_store = (self.next_store + 1) % 32;
            self.last_drain = drained;
            words += 1;
            busy += CYCLE;
        }
        // The first doubleword leaves with the instruction itself.
        if words > 0 { busy - CYCLE } else { 0 }
    }

    /// Where and when the front end goes on after an instruction that may jump.
    fn jump(&mut self, op: &Op, issue: Centi, done: Centi, fetched: Centi, next: u32) {
        let p = &self.part.pipeline;
        let taken = next != op.pc.wrapping_add(4);
        match op.kind {
            Kind::Branch => self.restart = fetched + p.branch,
            Kind::CondBranch => {
                let counter = &mut self.directions[(op.pc >> 2) as usize % 1024];
                let expected = *counter >= 2;
                *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
                if expected != taken {
                    self.restart = issue.max(self.flags) + p.mispredict;
                } else if taken {
                    self.restart = fetched + p.branch;
                }
            }
            _ if !taken => {}
            _ if op.has(RETURN) => {
                let expected = self.returns[self.top % 8];
                self.top = self.top.wrapping_sub(1);
                self.restart = if expected == next {
                    fetched + p.branch
                } else if op.kind == Kind::Load {
                    done + p.mispredict
                } else {
                    issue + p.mispredict
                };
            }
            Kind::Load => self.restart = done + p.mispredict,
            _ => self.restart = issue + p.mispredict,
        }
        if op.has(LINK) && taken {
            self.top = self.top.wrapping_add(1);
            self.returns[self.top % 8] = op.pc.wrapping_add(4);
        }
    }
}
