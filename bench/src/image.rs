//! Checks an image before it is flashed: what can be wrong with an ELF file is found here, and not on a silent board.
//!
//! The memories are those of the boards' link scripts (a test compares them). Code is decoded as far as the checks
//! need, between the mapping symbols that assemblers leave ("ELF for the Arm Architecture", IHI 0044, 5.5.5).

mod decode;
mod site;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clap::ValueEnum;
use object::elf;
use object::read::elf::{AttributesSection, ElfFile32, FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SectionFlags};

use crate::screen::Failure;
use decode::{Instruction, State};
pub use site::{Places, Relinquish, relinquish};

/// A board that images are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Board {
    /// QEMU's mps3-an536.
    #[value(name = "mps3-an536")]
    Mps3An536,
    /// NXP's S32Z280-594EVB.
    S32z280,
}

/// One memory of a board.
struct Memory {
    name: &'static str,
    start: u32,
    /// One past the last byte; no memory ends at 4 GB.
    end: u32,
}

impl Memory {
    fn has(&self, address: u32) -> bool {
        (self.start..self.end).contains(&address)
    }
}

const fn memory(name: &'static str, start: u32, size: u32) -> Memory {
    Memory { name, start, end: start + size }
}

const KB: u32 = 1024;

impl Board {
    /// The usual memory of code first.
    const fn memories(self) -> &'static [Memory] {
        match self {
            Self::Mps3An536 => {
                &const {
                    [
                        memory("BRAM", 0x1000_0000, 512 * KB),
                        memory("DRAM0", 0x2000_0000, 1024 * KB),
                        memory("ATCM", 0xee00_0000, 32 * KB),
                        memory("BTCM", 0xee10_0000, 32 * KB),
                        memory("CTCM", 0xee20_0000, 32 * KB),
                        memory("DDR", 0x2010_0000, 512 * KB),
                    ]
                }
            }
            Self::S32z280 => {
                &const {
                    [
                        memory("CODE", 0x7990_0000, 7 * 1024 * KB),
                        memory("DRAM0", 0x3178_0000, 256 * KB),
                        memory("DRAM1", 0x317c_0000, 256 * KB),
                        memory("DRAM2", 0x3180_0000, 512 * KB),
                        memory("ATCM", 0x3000_0000, 64 * KB),
                        memory("BTCM", 0x3010_0000, 16 * KB),
                        memory("CTCM", 0x3020_0000, 16 * KB),
                    ]
                }
            }
        }
    }

    /// The memory of an image's code, by where it starts: the usual one, or that of `code-in-ddr`.
    fn code(self, entry: u32) -> &'static Memory {
        let memories = self.memories();
        let in_ddr = |m: &&Memory| m.name == "DDR" && m.has(entry);
        memories.iter().find(in_ddr).unwrap_or(&memories[0])
    }

    /// Addresses at which a memory repeats itself: nothing may lie there.
    const fn repetition(self) -> Option<(u32, u32)> {
        match self {
            Self::Mps3An536 => None,
            Self::S32z280 => Some((0x3188_0000, 0x3210_0000)),
        }
    }

    /// State that reset, or a monitor, enters the image in.
    const fn entry_state(self, guest: bool) -> State {
        if matches!(self, Self::S32z280) && !guest { State::T32 } else { State::A32 }
    }

    /// The board that the image can run on, by where it starts; `None` where that says nothing. An image for the
    /// S32Z280 that uses QEMU's devices in place of the board's bears a mark.
    pub fn of(image: &[u8]) -> Option<Self> {
        let file = ElfFile32::<Endianness>::parse(image).ok()?;
        let entry = file.entry() as u32;
        let board = [Self::Mps3An536, Self::S32z280].into_iter().find(|board| board.code(entry).has(entry))?;
        let marked = || file.symbols().any(|symbol| symbol.name() == Ok("bsp_devices_of_qemu"));
        Some(if board == Self::S32z280 && marked() { Self::Mps3An536 } else { board })
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Mps3An536 => "mps3-an536",
            Self::S32z280 => "s32z280",
        }
    }
}

/// The memory that sections of this name belong to in an image that starts at `entry`; `None` for a name that says
/// nothing.
fn home(board: Board, entry: u32, section: &str) -> Option<&'static Memory> {
    let named = |name: &str| board.memories().iter().find(|m| m.name == name);
    match section {
        ".text" | ".rodata" | ".boot" | ".vectors_el2" | ".vectors_el1" => Some(board.code(entry)),
        ".atcm_text" => named("ATCM"),
        ".btcm_bss" => named("BTCM"),
        ".boot_record" | ".data" | ".bss" | ".uninit" | ".stacks" => named("DRAM0"),
        _ => section.strip_prefix(".stacks.").and_then(|region| named(&region.to_uppercase())),
    }
}

struct Section {
    name: String,
    start: u32,
    size: u32,
    code: bool,
    writable: bool,
}

impl Section {
    fn end(&self) -> u64 {
        u64::from(self.start) + u64::from(self.size)
    }
}

struct Load {
    virtual_start: u32,
    load_start: u32,
    file_size: u32,
    memory_size: u32,
}

struct Symbol {
    name: String,
    address: u32,
    size: u32,
}

/// What the checks look at.
struct Image {
    entry: u32,
    flags: u32,
    hard_float_arguments: bool,
    /// Those that take memory.
    sections: Vec<Section>,
    loads: Vec<Load>,
    symbols: Vec<Symbol>,
    code: Vec<Instruction>,
}

/// What is wrong, one line each.
type Problems = Vec<String>;

/// What images are not asked that have upstream's own board files (`upstream-bsp`), and why.
const NOT_ASKED: &[&str] = &[
    "that code and constants share no granule: upstream's MPU table has them in one executable region",
    "the sizes of upstream's mode stacks, and that faults are reported: its handlers spin, with fault_vector set",
];

struct Check {
    what: &'static str,
    run: fn(&Image, Board, bool) -> Problems,
}

const CHECKS: &[Check] = &[
    Check { what: "the entry has the state that reset enters it in", run: entry },
    Check { what: "every section lies in the memory that its name names", run: sections_at_home },
    Check { what: "what is loaded lies in code memory", run: loads_in_code_memory },
    Check { what: "nothing overlaps", run: no_overlap },
    Check { what: "code and data share no 64-byte granule of the MPU", run: granules },
    Check { what: "the stacks lie in the stack section", run: stacks },
    Check { what: "nothing lies where a memory repeats itself", run: no_repetition },
    Check { what: "the vector table is aligned to 32 bytes", run: vectors },
    Check { what: "floats are passed in floating-point registers", run: float_abi },
    Check { what: "no instruction uses D16-D31 or Advanced SIMD", run: no_upper_registers },
    Check { what: "nothing uses the FPU before it is on", run: no_early_floats },
];

fn entry(image: &Image, board: Board, guest: bool) -> Problems {
    let mut problems = Vec::new();
    let wanted = board.entry_state(guest);
    let state = if image.entry & 1 == 1 { State::T32 } else { State::A32 };
    if state != wanted {
        problems.push(format!("the entry {:#010x} is {state:?} code by its lowest bit, not {wanted:?}", image.entry));
    }
    let at = image.entry & !1;
    match image.code.iter().find(|i| i.address == at) {
        Some(first) if first.state != wanted => {
            problems.push(format!("the first instruction, at {at:#010x}, is {:?}, not {wanted:?}", first.state));
        }
        Some(_) => {}
        None => problems.push(format!("there is no code at the entry {at:#010x}")),
    }
    if board == Board::S32z280 && at != board.memories()[0].start {
        problems
            .push(format!("the entry is at {at:#010x}, not where reset leads, {:#010x}", board.memories()[0].start));
    }
    problems
}

fn sections_at_home(image: &Image, board: Board, _: bool) -> Problems {
    let mut problems = Vec::new();
    for section in image.sections.iter().filter(|s| s.size > 0) {
        let Section { name, start, size, .. } = section;
        match home(board, image.entry, name) {
            Some(m) if *start >= m.start && section.end() <= u64::from(m.end) => {}
            Some(m) => problems.push(format!("{name} ({size} bytes at {start:#010x}) is not in {}", m.name)),
            None => problems.push(format!("{name} ({size} bytes at {start:#010x}) names no memory of this board")),
        }
    }
    for needed in [".text", ".stacks"] {
        if !image.sections.iter().any(|s| s.name == needed && s.size > 0) {
            problems.push(format!("there is no {needed}: this is no image of this project"));
        }
    }
    problems
}

fn loads_in_code_memory(image: &Image, board: Board, _: bool) -> Problems {
    let code = board.code(image.entry);
    let within = |l: &Load, m: &Memory| {
        l.load_start >= m.start && u64::from(l.load_start) + u64::from(l.file_size) <= u64::from(m.end)
    };
    // Upstream's map has initial values loaded where they are used.
    let in_place = |l: &Load| {
        image.has_upstream_board_files()
            && l.load_start == l.virtual_start
            && board.memories().iter().any(|m| m.name == "DRAM0" && within(l, m))
    };
    let inside = |l: &Load| within(l, code) || in_place(l);
    let outside = image.loads.iter().filter(|l| l.file_size > 0 && !inside(l));
    outside
        .map(|l| format!("{} bytes are loaded at {:#010x}, outside {}", l.file_size, l.load_start, code.name))
        .collect()
}

fn no_overlap(image: &Image, _: Board, _: bool) -> Problems {
    fn pairs(mut ranges: Vec<(u64, u64, String)>) -> Problems {
        ranges.sort();
        let overlap = ranges.windows(2).filter(|w| w[0].1 > w[1].0);
        overlap.map(|w| format!("{} and {} overlap at {:#010x}", w[0].2, w[1].2, w[1].0)).collect()
    }
    let used = image.sections.iter().filter(|s| s.size > 0);
    let mut problems = pairs(used.map(|s| (u64::from(s.start), s.end(), s.name.clone())).collect());
    let loaded = image.loads.iter().filter(|l| l.file_size > 0).map(|l| {
        let start = u64::from(l.load_start);
        (start, start + u64::from(l.file_size), format!("what is loaded at {:#010x}", l.load_start))
    });
    problems.extend(pairs(loaded.collect()));
    problems
}

fn granules(image: &Image, _: Board, _: bool) -> Problems {
    let mut problems = Vec::new();
    let used = || image.sections.iter().filter(|s| s.size > 0);
    for code in used().filter(|s| s.code) {
        for other in used().filter(|s| !s.code && (s.writable || !image.has_upstream_board_files())) {
            let shared = u64::from(code.start & !63) < other.end().next_multiple_of(64)
                && u64::from(other.start & !63) < code.end().next_multiple_of(64);
            if shared {
                problems.push(format!("{} and {} share a granule", code.name, other.name));
            }
        }
    }
    for section in used().filter(|s| s.code && s.writable) {
        problems.push(format!("{} is writable and executable", section.name));
    }
    problems
}

/// Tops of the stacks that belong to no thread. A stack of size n ends at its top, so the top may be the section's end.
const STACK_TOPS: &[&str] = &[
    "_und_stack_high_end",
    "_svc_stack_high_end",
    "_abt_stack_high_end",
    "_irq_stack_high_end",
    "_fiq_stack_high_end",
    "_sys_stack_high_end",
    "__tx_isr_stack_top",
    "__tx_system_stack_top",
];

/// The same in upstream's map.
const UPSTREAM_STACK_TOPS: &[&str] = &[
    "__hyp_stack_top",
    "__svc_stack_top",
    "__irq_stack_top",
    "__fiq_stack_top",
    "__abt_stack_top",
    "__und_stack_top",
    "__sys_stack_top",
];

fn stacks(image: &Image, _: Board, _: bool) -> Problems {
    let mut problems = Vec::new();
    let Some(section) = image.sections.iter().find(|s| s.name == ".stacks") else {
        return vec![String::from("there is no section .stacks")];
    };
    for name in if image.has_upstream_board_files() { UPSTREAM_STACK_TOPS } else { STACK_TOPS } {
        match image.symbol(name) {
            Some(s) if s.address > section.start && u64::from(s.address) <= section.end() => {
                if s.address % 8 != 0 {
                    problems.push(format!("{name} is {:#010x}, not aligned to 8 bytes", s.address));
                }
            }
            Some(s) => problems.push(format!("{name} is {:#010x}, outside .stacks", s.address)),
            None => problems.push(format!("there is no symbol {name}")),
        }
    }
    problems
}

fn no_repetition(image: &Image, board: Board, _: bool) -> Problems {
    let Some((start, end)) = board.repetition() else { return Vec::new() };
    let inside = |from: u64, to: u64| from < u64::from(end) && to > u64::from(start);
    let mut problems = Vec::new();
    for s in image.sections.iter().filter(|s| s.size > 0 && inside(u64::from(s.start), s.end())) {
        problems.push(format!("{} reaches {:#010x}, which is other memory again", s.name, s.end() - 1));
    }
    for l in &image.loads {
        let from = u64::from(l.virtual_start);
        if inside(from, from + u64::from(l.memory_size)) {
            problems.push(format!("a segment at {from:#010x} reaches memory that repeats itself"));
        }
    }
    for s in &image.symbols {
        // A symbol may mark the end of the memory before.
        if inside(u64::from(s.address), u64::from(s.address) + u64::from(s.size.max(1))) && s.address != start {
            problems.push(format!("{} lies at {:#010x}, in memory that repeats itself", s.name, s.address));
        }
    }
    problems
}

fn vectors(image: &Image, board: Board, _: bool) -> Problems {
    let code = board.code(image.entry);
    let tables: &[&str] =
        if image.has_upstream_board_files() { &["el1_vectors", "el2_vectors"] } else { &["_vector_table"] };
    let mut problems = Vec::new();
    for name in tables {
        match image.symbol(name) {
            Some(s) if s.address % 32 != 0 => problems.push(format!("{name} is at {:#010x}", s.address)),
            Some(s) if !(code.start..code.end).contains(&s.address) => {
                problems.push(format!("{name} is at {:#010x}, outside {}", s.address, code.name));
            }
            Some(s) => match image.code.iter().find(|i| i.address == s.address) {
                Some(i) if i.state == State::A32 => {}
                _ => problems.push(format!("{name} is not A32 code")),
            },
            None => problems.push(format!("there is no symbol {name}")),
        }
    }
    problems
}

fn float_abi(image: &Image, _: Board, _: bool) -> Problems {
    let mut problems = Vec::new();
    if image.flags & elf::EF_ARM_ABI_FLOAT_HARD == 0 {
        problems.push(format!("the header's flags {:#010x} do not say hard-float", image.flags));
    }
    if !image.hard_float_arguments {
        problems.push(String::from("the build attributes do not say that floats are passed in registers"));
    }
    problems
}

/// How many offenders a check names.
const NAMED: usize = 8;

fn name_some(offenders: impl Iterator<Item = String>) -> Problems {
    let mut all: Problems = offenders.collect();
    if let Some(more @ 1..) = all.len().checked_sub(NAMED) {
        all.truncate(NAMED);
        all.push(format!("and {more} more"));
    }
    all
}

fn no_upper_registers(image: &Image, _: Board, _: bool) -> Problems {
    let bad = image.code.iter().filter(|i| i.uses_upper_registers());
    name_some(bad.map(|i| format!("{:#010x}: {:#010x} ({})", i.address, i.bits, image.function_at(i.address))))
}

fn no_early_floats(image: &Image, _: Board, _: bool) -> Problems {
    let mut problems = Vec::new();
    if image.has_upstream_board_files() {
        // From the entry at EL2 to `main`, in the order in which it is executed; then handlers.
        let end = image.symbol("el1_irq_entry").map_or(0, |s| s.address);
        let boot: Vec<_> = image.code.iter().filter(|i| (image.entry & !1..end).contains(&i.address)).collect();
        return early_floats("the entry code", &boot);
    }
    let start = image.instructions_of("_start");
    if start.is_empty() {
        problems.push(String::from("there is no function _start"));
    }
    for i in &start {
        if i.is_floating_point() {
            problems.push(format!("{:#010x} in _start uses the FPU", i.address));
        }
    }
    problems.extend(early_floats("bsp_start", &image.instructions_of("bsp_start")));
    problems
}

/// Floating point, or a call, in `boot` before it turns the FPU on.
fn early_floats(name: &str, boot: &[&Instruction]) -> Problems {
    let mut problems = Vec::new();
    let Some(on) = boot.iter().position(|i| i.enables_fpu()) else {
        problems.push(format!("{name} never turns the FPU on"));
        return problems;
    };
    for i in &boot[..on] {
        if i.is_floating_point() {
            problems.push(format!("{:#010x} in {name} uses the FPU before it is on", i.address));
        }
        if i.is_call() {
            problems.push(format!("{:#010x} in {name} calls something before the FPU is on", i.address));
        }
    }
    problems
}

/// Asked of images that are entered at EL1 only.
const GUEST: Check = Check { what: "a guest touches no register of EL2", run: guest };

fn guest(image: &Image, _: Board, _: bool) -> Problems {
    let bad = image.code.iter().filter_map(|i| i.of_the_monitor().map(|what| (i, what)));
    name_some(bad.map(|(i, what)| format!("{:#010x} ({}) {what}", i.address, image.function_at(i.address))))
}

impl Image {
    fn parse(data: &[u8]) -> Result<Self, String> {
        let file = ElfFile32::<Endianness>::parse(data).map_err(|e| format!("is no 32-bit ELF file: {e}"))?;
        let endian = file.endian();
        let header = file.elf_header();
        if header.e_machine(endian) != elf::EM_ARM || header.e_type(endian) != elf::ET_EXEC {
            return Err(String::from("is no linked image for 32-bit Arm"));
        }
        let bad = |e: object::Error| format!("is damaged: {e}");
        let mut sections = Vec::new();
        let mut hard_float_arguments = false;
        let mut bytes = Vec::new();
        for section in file.sections() {
            let name = section.name().map_err(bad)?.to_owned();
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            if name == ".ARM.attributes" {
                hard_float_arguments = passes_floats_in_registers(endian, section.data().map_err(bad)?).map_err(bad)?;
            }
            if sh_flags & u64::from(elf::SHF_ALLOC) == 0 {
                continue;
            }
            let code = sh_flags & u64::from(elf::SHF_EXECINSTR) != 0;
            let (start, size) = (section.address() as u32, section.size() as u32);
            if code {
                bytes.push((start, section.data().map_err(bad)?));
            }
            sections.push(Section { name, start, size, code, writable: sh_flags & u64::from(elf::SHF_WRITE) != 0 });
        }
        let mut loads = Vec::new();
        for segment in header.program_headers(endian, data).map_err(bad)? {
            if segment.p_type(endian) == elf::PT_LOAD {
                loads.push(Load {
                    virtual_start: segment.p_vaddr(endian),
                    load_start: segment.p_paddr(endian),
                    file_size: segment.p_filesz(endian),
                    memory_size: segment.p_memsz(endian),
                });
            }
        }
        let mut symbols = Vec::new();
        let mut marks = Vec::new();
        for symbol in file.symbols() {
            let name = symbol.name().map_err(bad)?;
            let address = symbol.address() as u32;
            // Absolute symbols are sizes and the like.
            if symbol.section_index().is_none() {
                continue;
            }
            match name.split('.').next().unwrap_or(name) {
                "$a" => marks.push((address, Some(State::A32))),
                "$t" => marks.push((address, Some(State::T32))),
                "$d" => marks.push((address, None)),
                _ if name.is_empty() => {}
                _ => symbols.push(Symbol { name: name.to_owned(), address, size: symbol.size() as u32 }),
            }
        }
        if marks.is_empty() {
            return Err(String::from("has no mapping symbols ($a, $t, $d): it is stripped and cannot be checked"));
        }
        marks.sort_by_key(|m| m.0);
        let mut code = Vec::new();
        for (start, data) in bytes {
            decode::decode(start, data, &marks, &mut code);
        }
        Ok(Self {
            entry: header.e_entry(endian),
            flags: header.e_flags(endian),
            hard_float_arguments,
            sections,
            loads,
            symbols,
            code,
        })
    }

    /// Whether the image has upstream's entry and vectors in place of this project's.
    fn has_upstream_board_files(&self) -> bool {
        self.symbol("el1_vectors").is_some() && self.symbol("_vector_table").is_none()
    }

    fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|s| s.name == name)
    }

    fn instructions_of(&self, function: &str) -> Vec<&Instruction> {
        let Some(symbol) = self.symbol(function) else { return Vec::new() };
        let start = symbol.address & !1;
        self.code.iter().filter(|i| (start..start + symbol.size).contains(&i.address)).collect()
    }

    /// The function that holds the address, for messages.
    fn function_at(&self, address: u32) -> &str {
        let holds = |s: &&Symbol| (s.address & !1..(s.address & !1) + s.size).contains(&address);
        self.symbols.iter().find(holds).map_or("?", |s| &s.name)
    }
}

/// Whether the build attributes have Tag_ABI_VFP_args = 1 ("Addenda to the ABI for the Arm Architecture", IHI 0045).
fn passes_floats_in_registers(endian: Endianness, data: &[u8]) -> object::Result<bool> {
    const ABI_VFP_ARGS: u64 = 28;
    let section = AttributesSection::<elf::FileHeader32<Endianness>>::new(endian, data)?;
    let mut subsections = section.subsections()?;
    while let Some(subsection) = subsections.next()? {
        let mut parts = subsection.subsubsections();
        while let Some(part) = parts.next()? {
            let mut attributes = part.attributes();
            while let Some(tag) = attributes.read_tag()? {
                match tag {
                    4 | 5 => {
                        attributes.read_string()?;
                    }
                    32 => {
                        attributes.read_integer()?;
                        attributes.read_string()?;
                    }
                    _ if tag > 32 && tag % 2 == 1 => {
                        attributes.read_string()?;
                    }
                    _ => {
                        let value = attributes.read_integer()?;
                        if tag == ABI_VFP_ARGS && value == 1 {
                            return Ok(true);
                        }
                    }
                }
            }
        }
    }
    Ok(false)
}

/// The memory map, then one line a check.
fn report(image: &Image, board: Board, guest: bool) -> (String, bool) {
    let mut text = String::new();
    let upstream = image.has_upstream_board_files();
    let role = match (guest, upstream) {
        (true, _) => ", entered at EL1",
        (_, true) => ", upstream's board files",
        _ => "",
    };
    let state = if image.entry & 1 == 1 { "T32" } else { "A32" };
    let _ = writeln!(text, "board {}{role}, entry {:#010x} ({state})\n", board.name(), image.entry & !1);
    let _ = writeln!(text, "memory    address      bytes  holds");
    for memory in board.memories() {
        let mut inside: Vec<&Section> =
            image.sections.iter().filter(|s| s.size > 0 && (memory.start..memory.end).contains(&s.start)).collect();
        inside.sort_by_key(|s| s.start);
        let mut used = 0;
        for section in inside {
            let _ = writeln!(text, "{:8}  {:#010x}  {:>7}  {}", memory.name, section.start, section.size, section.name);
            used += section.size;
        }
        // Initial values of statics are loaded where they are not used.
        let initial = image.loads.iter().filter(|l| {
            l.file_size > 0 && l.load_start != l.virtual_start && (memory.start..memory.end).contains(&l.load_start)
        });
        for load in initial {
            let _ = writeln!(
                text,
                "{:8}  {:#010x}  {:>7}  initial values for {:#010x}",
                memory.name, load.load_start, load.file_size, load.virtual_start
            );
            used += load.file_size;
        }
        let size = memory.end - memory.start;
        let _ = writeln!(
            text,
            "{:8}  {:#010x}  {:>7}  free of {} KB",
            memory.name,
            memory.start,
            i64::from(size) - i64::from(used),
            size / 1024
        );
    }
    text.push('\n');
    let mut good = true;
    for check in CHECKS.iter().chain(guest.then_some(&GUEST)) {
        let problems = (check.run)(image, board, guest);
        if problems.is_empty() {
            let _ = writeln!(text, "ok      {}", check.what);
        } else {
            good = false;
            let _ = writeln!(text, "FAILED  {}", check.what);
            for problem in problems {
                let _ = writeln!(text, "        {problem}");
            }
        }
    }
    for what in NOT_ASKED.iter().filter(|_| upstream) {
        let _ = writeln!(text, "not asked: {what}");
    }
    let _ = writeln!(text, "\n{} instructions decoded", image.code.len());
    (text, good)
}

/// Reads and checks the image; the text for the user, and whether every check passed.
///
/// # Errors
/// One line: the file cannot be read, or is no image that can be checked.
pub fn check(path: &Path, board: Board, guest: bool) -> Result<(String, bool), Failure> {
    let data = fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let image = Image::parse(&data).map_err(|why| format!("{} {why}", path.display()))?;
    Ok(report(&image, board, guest))
}
