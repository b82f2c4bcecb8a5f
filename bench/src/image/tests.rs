//! A small image that passes every check, and one doctored image for each that must fail it.

use object::elf;

use super::decode::{Instruction, State, decode};
use super::{Board, Image, report};

/// One section of an image.
#[derive(Clone)]
struct Part {
    name: &'static str,
    address: u32,
    /// `None`: takes memory but nothing in the file.
    data: Option<Vec<u8>>,
    size: u32,
    flags: u32,
    load: u32,
}

/// What an ELF file is written from.
#[derive(Clone)]
struct Plan {
    entry: u32,
    flags: u32,
    parts: Vec<Part>,
    symbols: Vec<(String, u32, u32, usize)>,
    attributes: Vec<u8>,
}

const AX: u32 = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
const A: u32 = elf::SHF_ALLOC;
const WA: u32 = elf::SHF_ALLOC | elf::SHF_WRITE;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Section `.ARM.attributes` with Tag_ABI_VFP_args, tag 28.
fn attributes(vfp_args: u8) -> Vec<u8> {
    let file = [5, b'x', 0, 28, vfp_args];
    let mut section = vec![b'A'];
    let (inner, outer) = (5 + file.len() as u32, 4 + 6 + 5 + file.len() as u32);
    section.extend(outer.to_le_bytes());
    section.extend(b"aeabi\0");
    section.push(1);
    section.extend(inner.to_le_bytes());
    section.extend(file);
    section
}

/// An image of the S32Z280: T32 entry, a vector table, a start-up that turns the FPU on and uses it.
fn plan() -> Plan {
    // cpsid aif; ldr r0, =bsp_start; bx r0; nop; .word
    let mut text = [0xb677_u16, 0x4801, 0x4700, 0xbf00].iter().flat_map(|h| h.to_le_bytes()).collect::<Vec<_>>();
    text.extend(words(&[0x7990_0060, 0, 0, 0, 0, 0]));
    assert_eq!(text.len(), 0x20);
    text.extend(words(&[0xe59f_f018; 8]));
    text.extend(words(&[0x7990_0060; 8]));
    assert_eq!(text.len(), 0x60);
    // cpsid if; mov r0, #0x40000000; vmsr fpexc, r0; vmov.f64 d15, d8; bl; b .
    text.extend(words(&[0xf10c_00c0, 0xe3a0_0101, 0xeee8_0a10, 0xeeb0_fb48, 0xebff_fffe, 0xeaff_fffe]));
    text.extend(words(&[0; 2]));
    let code = 0x7990_0000;
    let stacks = 0x3178_0040;
    let part =
        |name, address, data: Option<Vec<u8>>, size, flags, load| Part { name, address, data, size, flags, load };
    let size = text.len() as u32;
    let parts = vec![
        part(".text", code, Some(text), size, AX, code),
        part(".rodata", code + 0x1000, Some(vec![1; 64]), 64, A, code + 0x1000),
        part(".data", 0x3178_0000, Some(vec![2; 64]), 64, WA, code + 0x1040),
        part(".stacks", stacks, None, 0x1000, WA, stacks),
        part(".stacks.Btcm", 0x3010_0000, None, 0x1000, WA, 0x3010_0000),
        part(".stacks.Dram2", 0x3180_0000, None, 0x8_0000, WA, 0x3180_0000),
    ];
    let mut symbols = vec![
        ("$t".into(), code, 0, 1),
        ("$d".into(), code + 8, 0, 1),
        ("$a".into(), code + 0x20, 0, 1),
        ("$d".into(), code + 0x40, 0, 1),
        ("$a".into(), code + 0x60, 0, 1),
        ("_start".into(), code + 1, 12, 1),
        ("_vector_table".into(), code + 0x20, 64, 1),
        ("bsp_start".into(), code + 0x60, 24, 1),
        ("STACK".into(), 0x3010_0000, 0x1000, 5),
    ];
    for (n, name) in super::STACK_TOPS.iter().enumerate() {
        symbols.push(((*name).into(), stacks + 8 * (n as u32 + 1), 0, 4));
    }
    Plan { entry: code + 1, flags: 0x0500_0400, parts, symbols, attributes: attributes(1) }
}

/// Writes the file: header, program headers, contents, section headers. "Tool Interface Standard, ELF", 1.2.
fn write(plan: &Plan) -> Vec<u8> {
    let mut names = vec![0_u8];
    let mut name = |text: &str| {
        let at = names.len() as u32;
        names.extend(text.bytes());
        names.push(0);
        at
    };
    let mut file = vec![0; 52 + 32 * plan.parts.len()];
    let mut headers: Vec<[u32; 10]> = vec![[0; 10]];
    for (n, p) in plan.parts.iter().enumerate() {
        let offset = file.len() as u32;
        let length = p.data.as_ref().map_or(0, |d| d.len() as u32);
        file.extend(p.data.iter().flatten());
        let kind = if p.data.is_some() { elf::SHT_PROGBITS } else { elf::SHT_NOBITS };
        headers.push([name(p.name), kind, p.flags, p.address, offset, p.size, 0, 0, 4, 0]);
        let load = [elf::PT_LOAD, offset, p.address, p.load, length, p.size, 4, 4];
        file[52 + 32 * n..][..32].copy_from_slice(&words(&load));
    }
    headers.push([
        name(".ARM.attributes"),
        0x7000_0003,
        0,
        0,
        file.len() as u32,
        plan.attributes.len() as u32,
        0,
        0,
        1,
        0,
    ]);
    file.extend(&plan.attributes);
    let (mut symbols, mut strings) = (vec![0; 16], vec![0_u8]);
    for (text, address, size, section) in &plan.symbols {
        symbols.extend(words(&[strings.len() as u32, *address, *size]));
        symbols.extend([0x10, 0]);
        symbols.extend((*section as u16).to_le_bytes());
        strings.extend(text.bytes());
        strings.push(0);
    }
    let link = headers.len() as u32 + 1;
    headers.push([name(".symtab"), elf::SHT_SYMTAB, 0, 0, file.len() as u32, symbols.len() as u32, link, 1, 4, 16]);
    file.extend(symbols);
    headers.push([name(".strtab"), elf::SHT_STRTAB, 0, 0, file.len() as u32, strings.len() as u32, 0, 0, 1, 0]);
    file.extend(strings);
    let own = name(".shstrtab");
    headers.push([own, elf::SHT_STRTAB, 0, 0, file.len() as u32, names.len() as u32, 0, 0, 1, 0]);
    file.extend(&names);
    file.resize(file.len().next_multiple_of(4), 0);
    let table = file.len() as u32;
    file.extend(headers.iter().flat_map(|h| words(h)));
    let mut header = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x28\0".to_vec();
    header.extend(words(&[1, plan.entry, 52, table, plan.flags]));
    for half in [52, 32, plan.parts.len() as u16, 40, headers.len() as u16, headers.len() as u16 - 1] {
        header.extend(half.to_le_bytes());
    }
    file[..52].copy_from_slice(&header);
    file
}

fn judge(plan: &Plan, guest: bool) -> (String, bool) {
    let image = Image::parse(&write(plan)).expect("an image");
    report(&image, Board::S32z280, guest)
}

/// The doctored image fails exactly this check, for this reason.
fn fails(what: &str, why: &str, doctor: impl FnOnce(&mut Plan)) {
    let mut plan = plan();
    doctor(&mut plan);
    let (text, good) = judge(&plan, false);
    assert!(!good, "{text}");
    assert!(text.contains(&format!("FAILED  {what}")), "{text}");
    assert!(text.contains(why), "{text}");
}

fn part<'a>(plan: &'a mut Plan, name: &str) -> &'a mut Part {
    plan.parts.iter_mut().find(|p| p.name == name).expect("a part")
}

fn set_symbol(plan: &mut Plan, name: &str, address: u32) {
    plan.symbols.iter_mut().find(|s| s.0 == name).expect("a symbol").1 = address;
}

fn set_code(plan: &mut Plan, offset: usize, bits: u32) {
    let data = part(plan, ".text").data.as_mut().expect("code");
    data[offset..offset + 4].copy_from_slice(&bits.to_le_bytes());
}

#[test]
fn a_good_image_passes_and_its_map_is_printed() {
    let (text, good) = judge(&plan(), false);
    assert!(good, "{text}");
    assert!(text.contains("BTCM      0x30100000     4096  .stacks.Btcm"), "{text}");
    assert!(text.contains("BTCM      0x30100000    12288  free of 16 KB"), "{text}");
    assert!(text.contains("CODE      0x79901040       64  initial values for 0x31780000"), "{text}");
}

/// The same image with the names of upstream's board files, initial values where they are used, and constants beside code.
fn upstream_plan() -> Plan {
    let mut plan = plan();
    part(&mut plan, ".data").load = 0x3178_0000;
    part(&mut plan, ".rodata").address = 0x7990_0080;
    part(&mut plan, ".rodata").load = 0x7990_0080;
    plan.symbols.retain(|s| !super::STACK_TOPS.contains(&s.0.as_str()) && s.0 != "bsp_start");
    set_symbol(&mut plan, "_vector_table", 0x7990_0020);
    plan.symbols.iter_mut().find(|s| s.0 == "_vector_table").expect("a symbol").0 = "el1_vectors".into();
    plan.symbols.push(("el2_vectors".into(), 0x7990_0020, 32, 1));
    plan.symbols.push(("el1_irq_entry".into(), 0x7990_0078, 0, 1));
    for (n, name) in super::UPSTREAM_STACK_TOPS.iter().enumerate() {
        plan.symbols.push(((*name).into(), 0x3178_0040 + 8 * (n as u32 + 1), 0, 4));
    }
    plan
}

#[test]
fn an_image_with_upstreams_board_files_is_asked_what_applies() {
    let (text, good) = judge(&upstream_plan(), false);
    assert!(good, "{text}");
    assert!(text.contains("upstream's board files") && text.contains("not asked: "), "{text}");
    let fails = |why: &str, doctor: &dyn Fn(&mut Plan)| {
        let mut plan = upstream_plan();
        doctor(&mut plan);
        let (text, good) = judge(&plan, false);
        assert!(!good && text.contains(why), "{text}");
    };
    fails("el2_vectors is at 0x79900024", &|p| set_symbol(p, "el2_vectors", 0x7990_0024));
    fails("__svc_stack_top is 0x31790000, outside .stacks", &|p| set_symbol(p, "__svc_stack_top", 0x3179_0000));
    fails("the entry code never turns the FPU on", &|p| set_symbol(p, "el1_irq_entry", 0x7990_0068));
    fails("the entry code uses the FPU before it is on", &|p| set_code(p, 0x64, 0xeeb0_fb48));
    fails("outside CODE", &|p| part(p, ".data").load = 0x3010_2000);
    fails("share a granule", &|p| part(p, ".data").address = 0x7990_0070);
}

#[test]
fn p04_an_a32_entry_is_found() {
    fails("the entry has the state", "is A32 code by its lowest bit", |p| p.entry &= !1);
    fails("the entry has the state", "the first instruction", |p| p.symbols[0].0 = "$a".into());
    fails("the entry has the state", "not where reset leads", |p| p.entry = 0x7990_0003);
}

#[test]
fn d07_sections_away_from_home_are_found() {
    fails("every section lies", ".stacks.Btcm (4096 bytes at 0x30200000) is not in BTCM", |p| {
        let part = part(p, ".stacks.Btcm");
        (part.address, part.load) = (0x3020_0000, 0x3020_0000);
    });
    fails("every section lies", ".stacks.Btcm (32768 bytes", |p| part(p, ".stacks.Btcm").size = 0x8000);
    fails("every section lies", "names no memory", |p| part(p, ".rodata").name = ".surprise");
    fails("every section lies", "there is no .text", |p| part(p, ".text").size = 0);
    fails("what is loaded", "64 bytes are loaded at 0x31780000", |p| part(p, ".data").load = 0x3178_0000);
}

#[test]
fn p11_overlaps_and_shared_granules_are_found() {
    fails("nothing overlaps", ".data and .stacks overlap", |p| part(p, ".data").size = 128);
    fails("nothing overlaps", "what is loaded at 0x79901000", |p| part(p, ".data").load = 0x7990_1020);
    fails("code and data share", ".text and .rodata", |p| {
        let text = part(p, ".text");
        text.data.as_mut().expect("code").extend([0; 4]);
        text.size += 4;
        let part = part(p, ".rodata");
        (part.address, part.load) = (0x7990_0090, 0x7990_0090);
    });
    fails("code and data share", ".text is writable", |p| part(p, ".text").flags |= elf::SHF_WRITE);
}

#[test]
fn p11_stacks_outside_their_section_are_found() {
    fails("the stacks lie", "_abt_stack_high_end is 0x31781048", |p| set_symbol(p, "_abt_stack_high_end", 0x3178_1048));
    fails("the stacks lie", "not aligned", |p| set_symbol(p, "_sys_stack_high_end", 0x3178_0064));
    fails("the stacks lie", "no symbol __tx_isr_stack_top", |p| p.symbols.retain(|s| s.0 != "__tx_isr_stack_top"));
    fails("the stacks lie", "no section .stacks", |p| part(p, ".stacks").name = ".stacks.Dram0");
}

#[test]
fn p12_what_lies_in_repeated_memory_is_found() {
    fails("nothing lies where", ".stacks.Dram2 reaches 0x3188003f", |p| part(p, ".stacks.Dram2").size += 64);
    fails("nothing lies where", "STACK lies at 0x318f0000", |p| set_symbol(p, "STACK", 0x318f_0000));
}

#[test]
fn p04_vectors_off_their_alignment_are_found() {
    fails("the vector table", "at 0x79900024", |p| set_symbol(p, "_vector_table", 0x7990_0024));
    fails("the vector table", "outside CODE", |p| set_symbol(p, "_vector_table", 0x3178_0000));
    fails("the vector table", "not A32", |p| set_symbol(p, "_vector_table", 0x7990_0040));
}

#[test]
fn d03_another_float_abi_is_found() {
    fails("floats are passed", "flags 0x05000200", |p| p.flags = 0x0500_0200);
    fails("floats are passed", "build attributes", |p| p.attributes = attributes(0));
}

#[test]
fn d05_upper_registers_are_found() {
    // vmov.f64 d16, d0; vpush {d8-d23}; vadd.i32 q0, q0, q0; vld1.8 {d0}, [r0].
    for bits in [0xeef0_0b40, 0xed2d_8b20, 0xf220_0840, 0xf420_070f] {
        fails("no instruction uses", &format!("{bits:#010x} (bsp_start)"), |p| set_code(p, 0x6c, bits));
    }
}

#[test]
fn p10_floats_before_the_fpu_is_on_are_found() {
    fails("nothing uses the FPU", "0x79900064 in bsp_start uses", |p| set_code(p, 0x64, 0xeeb0_fb48));
    fails("nothing uses the FPU", "0x79900064 in bsp_start calls", |p| set_code(p, 0x64, 0xebff_fffe));
    fails("nothing uses the FPU", "never turns the FPU on", |p| set_code(p, 0x68, 0xe320_f000));
    // T32 vmov.f64 d0, d1: the same bits, first halfword first.
    fails("nothing uses the FPU", "0x79900000 in _start", |p| set_code(p, 0, 0x0b41_eeb0));
}

#[test]
fn p13_registers_of_the_monitor_are_found() {
    // A guest is entered in A32 state at the start of code memory.
    let with = |bits| {
        let mut plan = plan();
        plan.symbols[0].0 = "$a".into();
        plan.symbols[1].1 = 0x7990_0004;
        plan.entry = 0x7990_0000;
        set_code(&mut plan, 0, 0xf10c_01c0);
        set_code(&mut plan, 0x74, bits);
        judge(&plan, true)
    };
    let (text, good) = with(0xe320_f000);
    assert!(good, "{text}");
    for (bits, what) in [
        (0xee8c_0f10, "register of EL2"),
        (0xec41_0f4e, "register of EL2"),
        (0xee0e_0f10, "CNTFRQ"),
        (0xee09_0f11, "TCM region"),
        (0xee0f_0f10, "IMP_PERIPHPREGIONR"),
        (0xee29_0f11, "IMP_CSCTLR"),
        (0xe160_006e, "ERET"),
    ] {
        let (text, good) = with(bits);
        assert!(!good && text.contains("FAILED  a guest") && text.contains(what), "{bits:#x}: {text}");
    }
}

#[test]
fn what_is_no_image_is_refused() {
    assert!(Image::parse(b"text").is_err());
    let mut stripped = plan();
    stripped.symbols.retain(|s| !s.0.starts_with('$'));
    let error = Image::parse(&write(&stripped)).err().expect("refused");
    assert!(error.contains("stripped"), "{error}");
    let mut object = write(&plan());
    object[16] = 1;
    assert!(Image::parse(&object).err().expect("refused").contains("no linked image"));
    let whole = write(&plan());
    for length in 0..whole.len() - 1 {
        // No length may panic; most are refused.
        let _ = Image::parse(&whole[..length]);
    }
}

#[test]
fn the_memory_of_code_is_the_one_that_the_image_starts_in() {
    for (board, entry, memory) in [
        (Board::Mps3An536, 0x1000_0040, "BRAM"),
        (Board::Mps3An536, 0x2010_0040, "DDR"),
        // Data, where no image starts.
        (Board::Mps3An536, 0x2000_0000, "BRAM"),
        (Board::S32z280, 0x7990_0000, "CODE"),
    ] {
        assert_eq!(board.code(entry).name, memory, "{entry:#x}");
        assert_eq!(super::home(board, entry, ".text").map(|home| home.name), Some(memory));
    }
}

/// The link scripts state the memories for the linker; here are the same.
#[test]
fn memories_are_those_of_the_link_scripts() {
    for (board, script) in [
        (Board::Mps3An536, include_str!("../../../bsp/src/mps3_an536/link.ld")),
        (Board::S32z280, include_str!("../../../bsp/src/s32z280/link.ld")),
    ] {
        let lines: Vec<_> = script.lines().filter(|l| l.contains("ORIGIN =")).collect();
        assert_eq!(lines.len(), board.memories().len());
        for memory in board.memories() {
            let size = (memory.end - memory.start) / 1024;
            let size = if size % 1024 == 0 { format!("{}M", size / 1024) } else { format!("{size}K") };
            let line = format!("{:5} : ORIGIN = {:#010x}, LENGTH = {size}", memory.name, memory.start);
            assert!(lines.iter().any(|l| l.trim() == line), "{line}");
        }
    }
}

fn a32(bits: u32) -> Instruction {
    Instruction { address: 0, state: State::A32, bits, wide: true }
}

#[test]
fn lower_registers_are_no_upper_ones() {
    for bits in [
        0xeeb0_fb48, // vmov.f64 d15, d8
        0xed2d_8b10, // vpush {d8-d15}
        0xecbd_0b20, // vpop {d0-d15}
        0xed2d_8a10, // vpush {s16-s31}
        0xeef0_0a60, // vmov.f32 s1, s1
        0xeeb7_0ae0, // vcvt.f64.f32 d0, s1: M is the single's lowest bit
        0xeef7_0bc0, // vcvt.f32.f64 s1, d0
        0xeeb8_0be0, // vcvt.f64.s32 d0, s1
        0xeefd_0bc0, // vcvt.s32.f64 s1, d0
        0xec41_0b10, // vmov d0, r0, r1
        0xeee1_0a10, // vmsr fpscr, r0
        0xee10_0a90, // vmov r0, s1
        0xf57f_f05f, // dmb
        0xf5d0_f000, // pld
    ] {
        assert!(!a32(bits).uses_upper_registers(), "{bits:#010x}");
    }
    for bits in [
        0xeef0_0b40, // vmov.f64 d16, d0
        0xeeb0_0b60, // vmov.f64 d0, d32's half: d0, d16
        0xee30_0ba0, // vadd.f64 d0, d16, d16
        0xedd0_0b00, // vldr d16, [r0]
        0xeef7_0ac0, // vcvt.f64.f32 d16, s0
        0xeeb7_0be0, // vcvt.f32.f64 s0, d16
        0xec41_0b30, // vmov d16, r0, r1
        0xfef8_0b40, // vrinta.f64 d16, d0
    ] {
        assert!(a32(bits).uses_upper_registers(), "{bits:#010x}");
    }
}

#[test]
fn t32_is_cut_into_its_instructions() {
    let mut code = Vec::new();
    // nop; bl; vmov.f64 d16, d0; nop.w; two bytes of data.
    let data = [0x00, 0xbf, 0xff, 0xf7, 0xfe, 0xff, 0xf0, 0xee, 0x40, 0x0b, 0xaf, 0xf3, 0x00, 0x80, 1, 2];
    decode(0x100, &data, &[(0x100, Some(State::T32)), (0x10e, None)], &mut code);
    assert_eq!(code.iter().map(|i| i.address).collect::<Vec<_>>(), [0x100, 0x102, 0x106, 0x10a]);
    assert!(code[1].is_call() && !code[0].is_call());
    assert!(code[2].uses_upper_registers() && code[2].is_floating_point());
    assert!(!code[3].is_floating_point());
}
