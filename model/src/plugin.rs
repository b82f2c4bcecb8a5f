//! The glue to QEMU: plugin API version 4, public functions only, except what [`crate::steer`] does on request.
//!
//! A block is decoded once, when QEMU translates it. When it runs, its accesses to memory are noted; when
//! the next block starts, the one before is handed to the model with them. One callback a block, one an
//! access; nothing an instruction, except where its operands matter (a cache maintenance operation, a
//! register that the model follows, a read of the counter).

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread::ThreadId;

use qemu_plugin_sys::{
    GArray, GByteArray, qemu_info_t, qemu_plugin_cb_flags, qemu_plugin_id_t, qemu_plugin_insn, qemu_plugin_insn_data,
    qemu_plugin_insn_vaddr, qemu_plugin_mem_get_value, qemu_plugin_mem_is_store, qemu_plugin_mem_rw,
    qemu_plugin_meminfo_t, qemu_plugin_op, qemu_plugin_read_register, qemu_plugin_reg_descriptor, qemu_plugin_register,
    qemu_plugin_register_atexit_cb, qemu_plugin_register_vcpu_init_cb, qemu_plugin_register_vcpu_insn_exec_cb,
    qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu, qemu_plugin_register_vcpu_mem_cb,
    qemu_plugin_register_vcpu_tb_exec_cb, qemu_plugin_register_vcpu_tb_trans_cb, qemu_plugin_scoreboard_find,
    qemu_plugin_scoreboard_new, qemu_plugin_tb, qemu_plugin_tb_get_insn, qemu_plugin_tb_n_insns, qemu_plugin_u64,
};

use crate::cache::Operation;
use crate::core::{Access, Core};
use crate::decode::{Op, decode};
use crate::log::Log;
use crate::part::Part;
use crate::steer::{self, Steer, Wish};
use crate::system::Register;

/// The version of the plugin API; QEMU refuses a plugin that it does not know the version of.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = 4;

unsafe extern "C" {
    // GLib, which QEMU is linked with. `qemu_plugin_get_registers` is declared without the pointer's
    // ownership there; here the array is never freed, it is asked for once.
    fn g_byte_array_new() -> *mut GByteArray;
    fn g_byte_array_set_size(array: *mut GByteArray, length: c_uint) -> *mut GByteArray;
    fn qemu_plugin_get_registers() -> *mut GArray;
}

/// A translated block. Kept for ever: QEMU may run it as long as it likes.
struct Block {
    id: u64,
    ops: Vec<Op>,
}

impl Block {
    fn start(&self) -> u32 {
        self.ops[0].pc
    }
}

/// What an instruction with an own callback does, and to which core register it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    Counter,
    Register(Register),
    Data {
        set_way: bool,
        operation: Operation,
    },
    InvalidateInstructions,
    InvalidateInstruction,
    /// Reads CCSIDR.
    Ccsidr,
    /// Follows a read of CCSIDR.
    Told,
    /// Reads a register of the generic timer, with a steered clock.
    Timer,
    /// Writes one, or halts until an interrupt.
    TimerSet,
}

/// An instruction with an own callback, at its place in a block.
struct Point {
    block: &'static Block,
    index: usize,
    special: Special,
    register: usize,
}

struct State {
    core: Core,
    log: Log,
    console: u32,
    /// The block that runs, and how many of its instructions the model has seen.
    current: Option<&'static Block>,
    seen: usize,
    accesses: Vec<Access>,
    /// How many of the accesses it has seen.
    used: usize,
    blocks: HashMap<(u32, Vec<u32>), &'static Block>,
    registers: [*mut qemu_plugin_register; 16],
    buffer: *mut GByteArray,
    scores: qemu_plugin_u64,
    /// The score that says which block ran to its last instruction.
    finished: *mut u64,
    thread: Option<ThreadId>,
    /// Blocks of T32 code that ran.
    t32: u64,
    /// Where a value of CCSIDR is in a register, if a block ended there.
    told: HashMap<u32, usize>,
    /// What was asked for, and what came of it.
    wish: Option<Wish>,
    steer: Option<Steer>,
}

struct Shared(UnsafeCell<State>);
// SAFETY: `install` runs before any other callback, and hands the state over through a `OnceLock`. All
// later ones run on the thread of the only CPU (a second one ends the run before it executes anything),
// except `at_exit`, which looks at the thread first and touches nothing from another.
unsafe impl Sync for Shared {}
// SAFETY: as above; the raw pointers inside are valid on every thread of this process.
unsafe impl Send for Shared {}

static STATE: OnceLock<Shared> = OnceLock::new();

/// The state, for the duration of one callback.
///
/// # Safety
/// Only in a callback that runs on the CPU's thread, or before there is one; no two at a time.
unsafe fn state() -> &'static mut State {
    let shared = STATE.get().unwrap_or_else(|| stop("called before it was installed"));
    // SAFETY: the caller is the only one who uses the state now, see `Shared`.
    unsafe { &mut *shared.0.get() }
}

fn stop(why: &str) -> ! {
    eprintln!("r52-model: {why}");
    std::process::exit(4)
}

impl State {
    /// Hands the current block to the model, up to its instruction `end`; what runs after it is at `next`.
    #[inline]
    fn replay(&mut self, block: &Block, end: usize, next: u32) {
        if end > self.seen {
            self.used += self.core.run(&block.ops[self.seen..end], &self.accesses[self.used..], next);
            self.seen = end;
        }
    }

    /// The current block is over; what follows starts at `pc`.
    #[inline]
    fn leave(&mut self, pc: u32) {
        if let Some(before) = self.current.take() {
            // SAFETY: QEMU keeps the score as long as its CPU; there is one CPU, so the array never moves. The
            // next run of the same block must find it cleared.
            let whole = unsafe { self.finished.replace(0) } == before.id;
            let end = if whole { before.ops.len() } else { self.broken_off(before, pc) };
            self.replay(before, end, pc);
        }
        self.accesses.clear();
        self.used = 0;
    }

    #[inline]
    fn enter(&mut self, block: &'static Block) {
        let pc = block.start();
        self.leave(pc);
        if self.core.system().is_vector(pc) {
            self.core.exception();
        }
        self.current = Some(block);
        self.seen = 0;
        self.follow();
    }

    /// A block starts: has the guest's clock and timers follow.
    #[inline]
    fn follow(&mut self) {
        if let Some(steer) = &mut self.steer {
            let cycles = self.core.cycles();
            steer.set(cycles, self.core.counts().instructions);
            steer.follow(cycles);
        }
    }

    /// Inside a block, before the guest looks at its clock.
    fn set_clock(&mut self) {
        if let Some(steer) = &self.steer {
            steer.set(self.core.cycles(), self.core.counts().instructions);
        }
    }

    /// How much of a block ran that did not reach its end. QEMU leaves a block before a device access and
    /// goes on behind it; else an exception was taken, at the earliest behind the last access.
    fn broken_off(&self, block: &Block, next: u32) -> usize {
        let behind = block.ops.iter().position(|op| op.pc == next).unwrap_or(0);
        let access =
            self.accesses.last().and_then(|a| block.ops.iter().position(|op| op.pc == a.pc)).map_or(0, |at| at + 1);
        behind.max(access).max(self.seen)
    }

    fn block(&mut self, pc: u32, words: Vec<u32>) -> &'static Block {
        let id = self.blocks.len() as u64 + 1;
        self.blocks.entry((pc, words)).or_insert_with_key(|(pc, words)| {
            let ops = (*pc..).step_by(4).zip(words).map(|(pc, &x)| decode(pc, x)).collect();
            Box::leak(Box::new(Block { id, ops }))
        })
    }

    /// The value of a core register of the guest, in a callback that asked for registers.
    fn register(&mut self, n: usize) -> u32 {
        // SAFETY: the buffer is GLib's and ours alone; the handle is QEMU's for this CPU; the callback was
        // registered with read access to the registers.
        unsafe {
            g_byte_array_set_size(self.buffer, 0);
            let length = qemu_plugin_read_register(self.registers[n], self.buffer);
            if length != 4 {
                stop(&format!("QEMU does not tell register r{n}"));
            }
            (*self.buffer).data.cast::<u32>().read_unaligned()
        }
    }
}

/// What `x` needs a callback of its own for when the clock is steered: the generic timer's registers, and WFI.
fn timer(x: u32) -> Option<Special> {
    if x >> 28 == 15 {
        return None;
    }
    // MCR and MRC with CRn 14, MCRR and MRRC with CRm 14, all of coprocessor 15.
    let one = x & 0x0f0f_0f10 == 0x0e0e_0f10;
    let two = x & 0x0fe0_0f0f == 0x0c40_0f0e;
    let halts = x & 0x0fff_ffff == 0x0320_f003;
    if one || two {
        return Some(if x >> 20 & 1 == 1 { Special::Timer } else { Special::TimerSet });
    }
    halts.then_some(Special::TimerSet)
}

/// What `x` needs a callback of its own for.
fn special(x: u32) -> Option<(Special, usize)> {
    let register = (x >> 12 & 15) as usize;
    // MRRC p15, 0: CNTPCT or PMCCNTR.
    if x & 0x0ff0_0fff == 0x0c50_0f0e || x & 0x0ff0_0fff == 0x0c50_0f09 {
        return Some((Special::Counter, register));
    }
    if x & 0x0f00_0f10 != 0x0e00_0f10 || x >> 28 == 15 {
        return None;
    }
    let (op1, crn, crm, op2) = (x >> 21 & 7, x >> 16 & 15, x & 15, x >> 5 & 7);
    let special = if x >> 20 & 1 == 1 {
        match (op1, crn, crm, op2) {
            (0, 9, 13, 0) => Special::Counter,
            (1, 0, 0, 0) => Special::Ccsidr,
            _ => return None,
        }
    } else {
        use Operation::{Clean, CleanInvalidate, Invalidate};
        match (op1, crn, crm, op2) {
            (0, 7, 1 | 5, 0) => Special::InvalidateInstructions,
            (0, 7, 5, 1) => Special::InvalidateInstruction,
            (0, 7, 6, 1) => Special::Data { set_way: false, operation: Invalidate },
            (0, 7, 6, 2) => Special::Data { set_way: true, operation: Invalidate },
            (0, 7, 10 | 11, 1) => Special::Data { set_way: false, operation: Clean },
            (0, 7, 10, 2) => Special::Data { set_way: true, operation: Clean },
            (0, 7, 14, 1) => Special::Data { set_way: false, operation: CleanInvalidate },
            (0, 7, 14, 2) => Special::Data { set_way: true, operation: CleanInvalidate },
            _ => Special::Register(Register::of(op1, crn, crm, op2)?),
        }
    };
    Some((special, register))
}

unsafe extern "C" fn translated(_id: qemu_plugin_id_t, tb: *mut qemu_plugin_tb) {
    // SAFETY: translation happens on the CPU's thread, between blocks.
    let state = unsafe { state() };
    // SAFETY: `tb` is valid during this callback, and so are its instructions.
    let instructions: Vec<*mut qemu_plugin_insn> =
        unsafe { (0..qemu_plugin_tb_n_insns(tb)).map(|i| qemu_plugin_tb_get_insn(tb, i)).collect() };
    let Some(&first) = instructions.first() else { return };
    // SAFETY: as above.
    let pc = unsafe { qemu_plugin_insn_vaddr(first) } as u32;
    let mut words = Vec::with_capacity(instructions.len());
    for &instruction in &instructions {
        let mut word = [0u8; 4];
        // SAFETY: the buffer has the room that is stated.
        let length = unsafe { qemu_plugin_insn_data(instruction, word.as_mut_ptr().cast(), word.len()) };
        if length != 4 {
            // SAFETY: `tb` is valid during this callback.
            unsafe {
                let (cb, flags) = (Some(entered_t32 as _), qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS);
                qemu_plugin_register_vcpu_tb_exec_cb(tb, cb, flags, std::ptr::null_mut());
            }
            return;
        }
        words.push(u32::from_le_bytes(word));
    }
    let mut specials: Vec<(usize, Special, usize)> = Vec::new();
    if let Some(register) = state.told.remove(&pc) {
        specials.push((0, Special::Told, register));
    }
    for (index, &x) in words.iter().enumerate() {
        match special(x) {
            Some((Special::Ccsidr, register)) if index + 1 < words.len() => {
                specials.push((index + 1, Special::Told, register))
            }
            Some((Special::Ccsidr, register)) => {
                state.told.insert(pc.wrapping_add(4 * words.len() as u32), register);
            }
            Some((special, register)) => specials.push((index, special, register)),
            None if state.steer.is_some() => specials.extend(timer(x).map(|special| (index, special, 0))),
            None => {}
        }
    }
    let block = state.block(pc, words);
    let pointer = std::ptr::from_ref(block).cast_mut().cast::<c_void>();
    let no_registers = qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS;
    // SAFETY: `tb` and its instructions are valid during this callback; blocks and points live for ever;
    // the callbacks have the types that QEMU calls them with.
    unsafe {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, Some(entered), no_registers, pointer);
        for (&instruction, op) in instructions.iter().zip(&block.ops) {
            let (rw, pc) = (qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW, op.pc as usize as *mut c_void);
            qemu_plugin_register_vcpu_mem_cb(instruction, Some(accessed), no_registers, rw, pc);
        }
        for (index, special, register) in specials {
            let point: *mut Point = Box::leak(Box::new(Point { block, index, special, register }));
            let flags = qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS;
            qemu_plugin_register_vcpu_insn_exec_cb(instructions[index], Some(reached), flags, point.cast());
        }
        if let Some(&last) = instructions.last() {
            let store = qemu_plugin_op::QEMU_PLUGIN_INLINE_STORE_U64;
            qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(last, store, state.scores, block.id);
        }
    }
}

unsafe extern "C" fn entered(_cpu: c_uint, block: *mut c_void) {
    // SAFETY: on the CPU's thread; the pointer is a leaked block's.
    unsafe { state().enter(&*block.cast::<Block>()) }
}

/// A block of T32 code starts. It costs nothing, which the end of the log says.
unsafe extern "C" fn entered_t32(_cpu: c_uint, _data: *mut c_void) {
    // SAFETY: on the CPU's thread.
    let state = unsafe { state() };
    state.leave(0);
    state.t32 += 1;
    state.follow();
}

unsafe extern "C" fn accessed(_cpu: c_uint, info: qemu_plugin_meminfo_t, address: u64, pc: *mut c_void) {
    // SAFETY: on the CPU's thread.
    let state = unsafe { state() };
    let address = address as u32;
    state.accesses.push(Access { pc: pc as usize as u32, address });
    if address == state.console {
        // SAFETY: `info` is the one of this callback.
        unsafe {
            if qemu_plugin_mem_is_store(info) {
                let value = qemu_plugin_mem_get_value(info);
                state.log.console(value.data.u8_);
            }
        }
    }
}

unsafe extern "C" fn reached(_cpu: c_uint, point: *mut c_void) {
    // SAFETY: on the CPU's thread; the pointer is a leaked point's.
    let (state, point) = unsafe { (state(), &*point.cast::<Point>()) };
    let op = point.block.ops[point.index];
    if state.current.is_none_or(|block| !std::ptr::eq(block, point.block)) {
        return;
    }
    let after = op.pc.wrapping_add(4);
    match point.special {
        Special::Counter => {
            state.replay(point.block, point.index + 1, after);
            let instructions = state.core.counts().instructions;
            state.log.counter(op.pc, instructions, state.core.cycles());
            state.set_clock();
        }
        Special::Timer => {
            state.replay(point.block, point.index + 1, after);
            state.set_clock();
        }
        Special::TimerSet => {
            state.replay(point.block, point.index + 1, after);
            state.set_clock();
            if let Some(steer) = &mut state.steer {
                steer.doubt();
            }
        }
        Special::Register(register) => {
            state.replay(point.block, point.index + 1, after);
            let value = state.register(point.register);
            state.core.write(register, value);
            for warning in state.core.system().warnings() {
                state.log.line(&format!("warning {warning}"));
                eprintln!("r52-model: warning: {warning}");
            }
        }
        Special::Data { set_way, operation } => {
            state.replay(point.block, point.index + 1, after);
            let operand = state.register(point.register);
            state.core.maintain(operand, set_way, operation);
        }
        Special::InvalidateInstructions => {
            state.replay(point.block, point.index + 1, after);
            state.core.invalidate_instructions();
        }
        Special::InvalidateInstruction => {
            state.replay(point.block, point.index + 1, after);
            let operand = state.register(point.register);
            state.core.invalidate_instruction(operand);
        }
        Special::Told => {
            let value = state.register(point.register);
            let part = state.core.part();
            if value != part.data_ccsidr && value != part.instruction_ccsidr {
                stop(&format!(
                    "the guest was told a cache of CCSIDR {value:#010x}, the part's file maps {:#010x} and {:#010x}: \
                     another QEMU or machine than the file is for",
                    part.data_ccsidr, part.instruction_ccsidr
                ));
            }
        }
        Special::Ccsidr => {}
    }
}

/// QEMU left the guest for its timers, because [`Steer::follow`] asked for it.
unsafe extern "C" fn between_blocks(_cpu: *mut c_void, _data: u64) {
    // SAFETY: QEMU runs this work on the CPU's thread, between two blocks.
    let Some(timers) = unsafe { state() }.steer.as_ref().map(Steer::timers) else { return };
    let next = timers.run();
    // SAFETY: as above; a timer calls no plugin, and the first reference is gone.
    let state = unsafe { state() };
    let cycle = state.core.cycles() + next;
    if let Some(steer) = &mut state.steer {
        steer.until(cycle);
    }
}

unsafe extern "C" fn cpu_started(_id: qemu_plugin_id_t, cpu: c_uint) {
    if cpu != 0 {
        stop("a second CPU started: run QEMU with -smp 1, and the guest on one core");
    }
    // SAFETY: on the new CPU's thread, which is the one that all other callbacks use.
    let state = unsafe { state() };
    state.thread = Some(std::thread::current().id());
    // SAFETY: in the callback that QEMU provides for this; array, descriptors and names are QEMU's and live
    // as long as the CPU.
    unsafe {
        state.finished = qemu_plugin_scoreboard_find(state.scores.score, cpu).cast();
        let array = &*qemu_plugin_get_registers();
        let descriptors = array.data.cast::<qemu_plugin_reg_descriptor>();
        for descriptor in std::slice::from_raw_parts(descriptors, array.len as usize) {
            let name = CStr::from_ptr(descriptor.name).to_str().unwrap_or("");
            let n = match name {
                "sp" => Some(13),
                "lr" => Some(14),
                "pc" => Some(15),
                _ => name.strip_prefix('r').and_then(|n| n.parse().ok()),
            };
            if let Some(slot) = n.and_then(|n: usize| state.registers.get_mut(n)) {
                *slot = descriptor.handle;
            }
        }
    }
    if state.registers.iter().any(|handle| handle.is_null()) {
        stop("QEMU does not offer all core registers: QEMU 10.0 is needed");
    }
    let mut mode = String::from("recorded");
    if let Some(wish) = &state.wish {
        // SAFETY: on the thread of the only CPU, which has run nothing; the work is made for it.
        match unsafe { Steer::new(state.core.part(), wish, between_blocks) } {
            Ok(steer) => {
                state.steer = Some(steer);
                mode = "steered".into();
            }
            Err(why) => {
                eprintln!("r52-model: not steered but recorded: {why}");
                mode = format!("recorded not steered: {why}");
            }
        }
    }
    let part = state.core.part();
    let map: Vec<_> = part.mapping().into_iter().map(|line| format!("map {line}")).collect();
    state.log.line(&format!("model 1 {} {mode}", part.name));
    for line in map {
        state.log.line(&line);
    }
    state.log.flush();
}

unsafe extern "C" fn ended(_id: qemu_plugin_id_t, _data: *mut c_void) {
    let Some(shared) = STATE.get() else { return };
    // SAFETY: `thread` was written before the CPU ran anything; another thread only reads it.
    let thread = unsafe { (*shared.0.get()).thread };
    if thread != Some(std::thread::current().id()) {
        // QEMU was told to end while the guest ran. The log keeps what was reported so far.
        return;
    }
    // SAFETY: on the CPU's thread.
    let state = unsafe { state() };
    let counts = *state.core.counts();
    let mut warnings = Vec::new();
    if !state.core.system().settled() {
        warnings.push("the guest never enabled a cache: every figure is that of uncached memory".into());
    }
    if counts.strays > 0 {
        warnings.push(format!("{} accesses outside every memory of the part: their cost is arbitrary", counts.strays));
    }
    if state.t32 > 0 {
        warnings.push(format!("{} blocks of T32 code cost nothing: the model reads A32 only", state.t32));
    }
    for warning in warnings {
        state.log.line(&format!("warning {warning}"));
        eprintln!("r52-model: warning: {warning}");
    }
    state.log.line(&format!(
        "end instructions {} cycles {} groups {} hits {} misses {} written_back {}",
        counts.instructions,
        state.core.cycles(),
        counts.groups,
        counts.hits,
        counts.misses,
        counts.written_back
    ));
    state.log.flush();
}

/// The plugin's options.
struct Options {
    /// `part=FILE`: the figures.
    part: Part,
    /// `log=FILE`.
    log: PathBuf,
    /// `mode=steered`; without it, or with `mode=recorded`, nothing of QEMU is changed. `steers=VERSION` and
    /// `without=SYMBOL` have the checks before steering fail, for tests.
    wish: Option<Wish>,
}

fn options(arguments: &[&str]) -> Result<Options, String> {
    let (mut part, mut log, mut steered) = (None, None, false);
    let mut wish = Wish { version: steer::VERSION.into(), without: None };
    for argument in arguments {
        match argument.split_once('=') {
            Some(("part", path)) => part = Some(path),
            Some(("log", path)) => log = Some(PathBuf::from(path)),
            Some(("mode", "steered")) => steered = true,
            Some(("mode", "recorded")) => steered = false,
            Some(("steers", version)) => wish.version = version.into(),
            Some(("without", symbol)) => wish.without = Some(symbol.into()),
            _ => {
                return Err(format!(
                    "unknown option {argument}: part=FILE, log=FILE, mode=recorded and mode=steered are known"
                ));
            }
        }
    }
    let path = part.ok_or("no part: add part=FILE")?;
    let log = log.ok_or("no log: add log=FILE")?;
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {path}: {e}"))?;
    let part = Part::parse(&text).map_err(|e| format!("{path}: {e}"))?;
    Ok(Options { part, log, wish: steered.then_some(wish) })
}

/// Called by QEMU when it loads the plugin.
///
/// # Safety
/// QEMU's own call, with what its plugin API promises: `info` and `argc` strings at `argv` are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: qemu_plugin_id_t,
    info: *const qemu_info_t,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // SAFETY: valid during this call, see above.
    let info = unsafe { &*info };
    if info.version.cur != 4 {
        stop(&format!("this QEMU has plugin API {}, QEMU 10.0 with API 4 is needed", info.version.cur));
    }
    // SAFETY: a string of QEMU's.
    let target = unsafe { CStr::from_ptr(info.target_name) };
    if !info.system_emulation || target != c"arm" {
        stop("only for qemu-system-arm");
    }
    // SAFETY: with system emulation this is the union's member.
    let cpus = unsafe { info.__bindgen_anon_1.system.smp_vcpus };
    if cpus != 1 {
        stop(&format!("{cpus} CPUs: the model has one core, run QEMU with -smp 1"));
    }
    // SAFETY: argc strings, see above.
    let arguments: Vec<&str> =
        unsafe { (0..argc as usize).map(|i| CStr::from_ptr(*argv.add(i)).to_str().unwrap_or("")).collect() };
    let Options { part, log: path, wish } = options(&arguments).unwrap_or_else(|e| stop(&e));
    let log = Log::create(&path).unwrap_or_else(|e| stop(&e));
    // SAFETY: plain allocations of QEMU and GLib.
    let (score, buffer) = unsafe { (qemu_plugin_scoreboard_new(size_of::<u64>()), g_byte_array_new()) };
    let state = State {
        console: part.console,
        core: Core::new(part),
        log,
        current: None,
        seen: 0,
        accesses: Vec::with_capacity(1024),
        used: 0,
        blocks: HashMap::new(),
        registers: [std::ptr::null_mut(); 16],
        buffer,
        scores: qemu_plugin_u64 { score, offset: 0 },
        finished: std::ptr::null_mut(),
        thread: None,
        t32: 0,
        told: HashMap::new(),
        wish,
        steer: None,
    };
    if STATE.set(Shared(UnsafeCell::new(state))).is_err() {
        stop("loaded twice");
    }
    // SAFETY: the id is ours; the callbacks live as long as the library, which is never unloaded.
    unsafe {
        qemu_plugin_register_vcpu_init_cb(id, Some(cpu_started));
        qemu_plugin_register_vcpu_tb_trans_cb(id, Some(translated));
        qemu_plugin_register_atexit_cb(id, Some(ended), std::ptr::null_mut());
    }
    0
}
