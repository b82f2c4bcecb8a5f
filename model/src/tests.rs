//! The model against cycles worked out by hand. The part is `parts/an536.toml`, whose figures are round.

use crate::cache::Operation;
use crate::core::{Access, Core};
use crate::decode::decode;
use crate::part::Part;
use crate::system::Register;

const AN536: &str = include_str!("../parts/an536.toml");
const S32Z280: &str = include_str!("../parts/s32z280.toml");

pub(crate) fn part() -> Part {
    Part::parse(AN536).unwrap()
}

const BTCM: u32 = 0xee10_0000;
const RAM: u32 = 0x2000_0000;
const CODE: u32 = 0x1000_0000;

const NOP: u32 = 0xe320_f000;
/// mov r0, r0
const MOV: u32 = 0xe1a0_0000;
/// ldr r0, [r1]
const LDR: u32 = 0xe591_0000;
/// str r0, [r1]
const STR: u32 = 0xe581_0000;

/// Caches on, everything mapped write-back.
fn cached(part: Part) -> Core {
    let mut core = Core::new(part);
    core.write(Register::Mair(0), 0xff);
    core.write(Register::PrbarOf(0), 0);
    core.write(Register::PrlarOf(0), 0xffff_ffc0 | 1);
    core.write(Register::Sctlr, 1 | 1 << 2 | 1 << 12);
    core
}

/// Runs instructions at `pc`, each with the addresses that it accesses; the cycles that they took.
fn run(core: &mut Core, pc: u32, program: &[(u32, &[u32])]) -> u64 {
    let before = core.cycles();
    let ops: Vec<_> = (pc..).step_by(4).zip(program).map(|(pc, (x, _))| decode(pc, *x)).collect();
    let accesses: Vec<_> = ops
        .iter()
        .zip(program)
        .flat_map(|(op, (_, all))| all.iter().map(|&address| Access { pc: op.pc, address }))
        .collect();
    let next = pc + 4 * program.len() as u32;
    assert_eq!(core.run(&ops, &accesses, next), accesses.len());
    core.cycles() - before
}

/// A core whose code, in BTCM, has run for a while: fetch never waits, and costs one cycle a group.
fn warm_code(part: Part) -> Core {
    let mut core = cached(part);
    run(&mut core, BTCM, &[(NOP, &[][..]); 64]);
    core
}

/// Where such a core goes on.
const HERE: u32 = BTCM + 256;

#[test]
fn one_instruction_a_cycle_from_a_tcm() {
    assert_eq!(run(&mut warm_code(part()), HERE, &[(MOV, &[][..]); 16]), 16);
}

#[test]
fn a_load_is_used_three_cycles_later() {
    let mut core = warm_code(part());
    // ldr at 1, its result at 4.
    assert_eq!(run(&mut core, HERE, &[(LDR, &[BTCM]), (MOV, &[])]), 4);
    // The wait state of the CTCM comes on top.
    let mut core = warm_code(part());
    assert_eq!(run(&mut core, HERE, &[(LDR, &[0xee20_0000]), (MOV, &[])]), 5);
    // Nobody asks for it.
    let mut core = warm_code(part());
    assert_eq!(run(&mut core, HERE, &[(LDR, &[BTCM]), (NOP, &[])]), 2);
}

#[test]
fn load_hit_and_miss() {
    let mut core = warm_code(part());
    // Miss: ldr at 1, the line 20 later, its use 3 later.
    assert_eq!(run(&mut core, HERE, &[(LDR, &[RAM]), (MOV, &[])]), 24);
    // Hit, at the other end of the line.
    assert_eq!(run(&mut core, HERE + 8, &[(LDR, &[RAM + 60]), (MOV, &[])]), 4);
    // The next line.
    assert_eq!(run(&mut core, HERE + 16, &[(LDR, &[RAM + 64]), (MOV, &[])]), 24);
    assert_eq!((core.counts().hits, core.counts().misses), (1, 2));
}

#[test]
fn eviction_writes_a_dirty_line_back() {
    // 128 sets of 64 bytes: every 8 KB falls on the same set.
    let way = |n: u32| RAM + n * 0x2000;
    let mut core = warm_code(part());
    for n in 0..4 {
        run(&mut core, HERE, &[(LDR, &[way(n)]), (MOV, &[])]);
    }
    // A clean victim costs nothing.
    assert_eq!(run(&mut core, HERE + 8, &[(LDR, &[way(4)]), (MOV, &[])]), 24);
    assert_eq!(core.counts().written_back, 0);
    // Way 1 is now the oldest; a store makes it dirty and the latest, three loads make it the oldest.
    run(&mut core, HERE + 16, &[(STR, &[way(1)]), (NOP, &[])]);
    for n in 2..5 {
        run(&mut core, HERE + 24, &[(LDR, &[way(n)]), (MOV, &[])]);
    }
    assert_eq!(run(&mut core, HERE + 32, &[(LDR, &[way(5)]), (MOV, &[])]), 44, "20 for the dirty victim");
    assert_eq!(core.counts().written_back, 1);
}

#[test]
fn maintenance_takes_effect() {
    let mut core = warm_code(part());
    run(&mut core, HERE, &[(LDR, &[RAM]), (MOV, &[])]);
    assert_eq!(run(&mut core, HERE + 8, &[(LDR, &[RAM]), (MOV, &[])]), 4);
    core.maintain(0, true, Operation::CleanInvalidate);
    assert_eq!(run(&mut core, HERE + 16, &[(LDR, &[RAM]), (MOV, &[])]), 24, "set 0, way 0 is gone");
    core.maintain(RAM, false, Operation::CleanInvalidate);
    assert_eq!(run(&mut core, HERE + 24, &[(LDR, &[RAM]), (MOV, &[])]), 24);
    // A dirty line costs its write-back of 20 and the operation's own cycle.
    run(&mut core, HERE + 32, &[(STR, &[RAM]), (NOP, &[])]);
    let before = core.cycles();
    core.maintain(RAM, false, Operation::Clean);
    assert_eq!(core.cycles() - before, 21);
    let before = core.cycles();
    core.maintain(RAM, false, Operation::Clean);
    assert_eq!(core.cycles() - before, 1, "clean by now");
}

#[test]
fn sctlr_turns_the_data_cache_off() {
    let mut core = warm_code(part());
    run(&mut core, HERE, &[(LDR, &[RAM]), (MOV, &[])]);
    core.write(Register::Sctlr, 1);
    // Uncached: 10, every time.
    for n in 1..3 {
        assert_eq!(run(&mut core, HERE + 8 * n, &[(LDR, &[RAM]), (MOV, &[])]), 14);
    }
}

#[test]
fn devices_are_never_cached() {
    let mut core = warm_code(part());
    for n in 0..2 {
        assert_eq!(run(&mut core, HERE + 8 * n, &[(LDR, &[0xe7c0_0000]), (MOV, &[])]), 24);
    }
    assert_eq!(core.counts().misses, 0);
}

#[test]
fn a_load_waits_for_a_store_to_its_doubleword() {
    let mut core = warm_code(part());
    // str at 1, ldr at 11, its use at 14.
    assert_eq!(run(&mut core, HERE, &[(STR, &[BTCM]), (LDR, &[BTCM + 4]), (MOV, &[])]), 14);
    let mut core = warm_code(part());
    assert_eq!(run(&mut core, HERE, &[(STR, &[BTCM]), (LDR, &[BTCM + 8]), (MOV, &[])]), 5, "another doubleword");
}

#[test]
fn the_store_buffer_fills_and_drains() {
    // Uncached RAM takes a doubleword every 10 cycles. Four go in at 1 to 4; the first has left at 11, the
    // second at 21, the third at 31.
    let stores: Vec<_> = (0..7u32).map(|n| [RAM + 8 * n]).collect();
    let program: Vec<_> = stores.iter().map(|a| (STR, &a[..])).collect();
    let uncached = || {
        let mut core = warm_code(part());
        core.write(Register::Sctlr, 1);
        core
    };
    assert_eq!(run(&mut uncached(), HERE, &program[..4]), 4);
    assert_eq!(run(&mut uncached(), HERE, &program[..5]), 11);
    assert_eq!(run(&mut uncached(), HERE, &program[..7]), 31);
    // A barrier waits for the last of them: in at 1, out at 11.
    assert_eq!(run(&mut uncached(), HERE, &[(STR, &[RAM]), (0xf57f_f04f, &[])]), 11);
    // A TCM takes one a cycle.
    let stores: Vec<_> = (0..7u32).map(|n| [BTCM + 8 * n]).collect();
    let program: Vec<_> = stores.iter().map(|a| (STR, &a[..])).collect();
    assert_eq!(run(&mut warm_code(part()), HERE, &program), 7);
}

#[test]
fn words_of_one_doubleword_merge() {
    // stm r1, {r0, r2, r3, r4}: four words, two doublewords, two cycles.
    let words = [BTCM, BTCM + 4, BTCM + 8, BTCM + 12];
    assert_eq!(run(&mut warm_code(part()), HERE, &[(0xe881_001d, &words), (NOP, &[])]), 3);
    // ldm r1, {r0, r2, r3, r4}: two cycles, the last word 3 after its own.
    assert_eq!(run(&mut warm_code(part()), HERE, &[(0xe891_001d, &words), (NOP, &[])]), 3);
    assert_eq!(run(&mut warm_code(part()), HERE, &[(0xe891_001d, &words), (MOV, &[])]), 5);
}

#[test]
fn write_back_hits_stay_in_the_cache_and_write_through_stores_do_not() {
    // Seven stores to lines that are there already.
    let stores: Vec<_> = (0..7u32).map(|n| [RAM + 8 * n]).collect();
    let program: Vec<_> = stores.iter().map(|a| (STR, &a[..])).collect();
    let with = |policy: &str| {
        let text = AN536.replace("write = { value = \"back\"", &format!("write = {{ value = \"{policy}\""));
        let mut core = warm_code(Part::parse(&text).unwrap());
        run(&mut core, HERE, &[(LDR, &[RAM]), (MOV, &[])]);
        core
    };
    assert_eq!(run(&mut with("back"), HERE + 8, &program), 7);
    // As if uncached, see the_store_buffer_fills_and_drains.
    let mut core = with("through");
    assert_eq!(run(&mut core, HERE + 8, &program), 31);
    let before = core.cycles();
    core.maintain(RAM, false, Operation::CleanInvalidate);
    assert_eq!((core.cycles() - before, core.counts().written_back), (1, 0), "no line is ever dirty");
}

#[test]
fn uncached_code_costs_its_fetch_groups() {
    let mut core = cached(part());
    // The first group is there at 10; one instruction a cycle follows. The second was requested with it and
    // comes 5 after it, before the first is used up.
    assert_eq!(run(&mut core, CODE, &[(NOP, &[][..]); 8]), 17);
    assert_eq!(run(&mut core, CODE + 32, &[(NOP, &[][..]); 8]), 8);
    // The third was requested when the first began to be used, at 10: there in time.
    assert_eq!(run(&mut core, CODE + 64, &[(NOP, &[][..]); 8]), 8);
    assert_eq!(core.counts().groups, 3);
}

#[test]
fn a_taken_branch_restarts_the_fetch() {
    let mut core = cached(part());
    run(&mut core, CODE, &[(NOP, &[][..]); 8]);
    // b at 1 to a group of its own: requested a cycle after the branch was fetched, there 10 later.
    let b = decode(CODE + 32, 0xea00_0006);
    let fetched_at = core.cycles();
    core.run(&[b], &[], CODE + 64);
    let at = core.cycles();
    assert_eq!(at - fetched_at, 1);
    // The branch left its group at 15 (see above), the first of a group that came then; the nops before it
    // issued until 17. Request at 16, arrival at 26.
    run(&mut core, CODE + 64, &[(NOP, &[])]);
    assert_eq!(core.cycles(), 26);
}

#[test]
fn a_mode_change_fetches_again() {
    let mut core = cached(part());
    run(&mut core, CODE, &[(NOP, &[][..]); 2]);
    assert_eq!(core.cycles(), 11);
    // cpsid i at 12 takes 5 more; a cycle later the same group is requested again and there after 10.
    run(&mut core, CODE + 8, &[(0xf10c_0080, &[]), (NOP, &[])]);
    assert_eq!(core.cycles(), 12 + 5 + 1 + 10);
}

#[test]
fn a_loop_is_learnt() {
    let mut core = warm_code(part());
    // subs r0, r0, #1; bne .-4
    let body = [decode(HERE, 0xe250_0001), decode(HERE + 4, 0x1aff_fffd)];
    let mut times = Vec::new();
    for round in 0..6 {
        let before = core.cycles();
        core.run(&body, &[], if round < 5 { HERE } else { HERE + 8 });
        times.push(core.cycles() - before);
    }
    // Predicted taken from the start. Each round waits for the fetch of its group: a cycle for the branch,
    // one for the group; the branch itself leaves the group half a cycle after the instruction before it.
    assert_eq!(times[0], 2);
    assert!(times[1..].iter().all(|&t| (2..=3).contains(&t)), "{times:?}");
    // The way out was not expected: 8 cycles and the fetch.
    let before = core.cycles();
    run(&mut core, HERE + 8, &[(NOP, &[])]);
    assert_eq!(core.cycles() - before, 9);
}

#[test]
fn calls_return_where_expected() {
    let mut core = warm_code(part());
    let call = decode(HERE, 0xeb00_003e);
    let back = decode(HERE + 0x100, 0xe12f_ff1e);
    core.run(&[call], &[], HERE + 0x100);
    core.run(&[back], &[], HERE + 4);
    let before = core.cycles();
    run(&mut core, HERE + 4, &[(NOP, &[])]);
    assert!(core.cycles() - before <= 2, "predicted");
    // The same return with nothing on the stack of addresses.
    core.run(&[decode(HERE + 8, 0xe12f_ff1e)], &[], HERE + 0x200);
    let before = core.cycles();
    run(&mut core, HERE + 0x200, &[(NOP, &[])]);
    assert_eq!(core.cycles() - before, 9, "8 and the fetch");
}

#[test]
fn ways_given_to_the_flash_port_cache_the_code() {
    let mut core = Core::new(part());
    core.write(Register::Mair(0), 0xff);
    core.write(Register::PrlarOf(0), 0xffff_ffc0 | 1);
    core.write(Register::Csctlr, 0x200);
    core.write(Register::Sctlr, 1 | 1 << 2 | 1 << 12);
    run(&mut core, CODE, &[(NOP, &[][..]); 32]);
    assert_eq!(core.counts().groups, 2, "two lines of two groups");
    // A branch back to the first line: a cycle each for the branch and the group, nothing from memory.
    let b = decode(CODE + 128, 0xeaff_ffde);
    core.run(&[b], &[], CODE);
    run(&mut core, CODE, &[(NOP, &[][..]); 16]);
    assert_eq!(core.counts().groups, 3);
    core.invalidate_instructions();
    let b = decode(CODE + 64, 0xeaff_ffee);
    core.run(&[b], &[], CODE);
    run(&mut core, CODE, &[(NOP, &[])]);
    assert_eq!(core.counts().groups, 5);
}

#[test]
fn an_exception_goes_to_the_vector() {
    let mut core = cached(part());
    run(&mut core, CODE + 64, &[(NOP, &[])]);
    let before = core.cycles();
    core.exception();
    run(&mut core, CODE + 0x18, &[(NOP, &[])]);
    assert_eq!(core.cycles() - before, 8 + 10);
}

#[test]
fn the_parts_in_the_repository_are_whole() {
    for text in [AN536, S32Z280] {
        let part = Part::parse(text).unwrap();
        assert!(part.mapping().len() > 5);
    }
    let part = Part::parse(S32Z280).unwrap();
    let memory = |name: &str| part.memories.iter().find(|m| m.name == name).unwrap();
    assert_eq!(memory("DRAM2").fill, 2 * memory("DRAM0").fill, "half the clock");
    assert_eq!(memory("ATCM").read, memory("BTCM").read + 100, "one wait state");
    // Both kinds of image get the same part.
    for (here, there) in [("BRAM", "CODE"), ("DRAM0 of mps3-an536", "DRAM0"), ("BTCM of mps3-an536", "BTCM")] {
        let costs = |name: &str| {
            let m = memory(name);
            (m.port, m.fetch, m.fetch_next, m.read, m.fill, m.drain)
        };
        assert_eq!(costs(here), costs(there));
    }
}

#[test]
fn bad_files_are_refused_in_one_line() {
    for (from, to, says) in [
        ("schema = 1", "schema = 2", "schema 2"),
        ("issue = ", "isue = ", "unknown field `isue`"),
        (
            "load_use = { value = 3, unit = \"cycles\", ",
            "load_use = { value = 3, ",
            "pipeline.load_use has no unit: add unit = \"cycles\"",
        ),
        (
            "load_use = { value = 3, unit = \"cycles\"",
            "load_use = { value = 3, unit = \"ns\"",
            "pipeline.load_use is in \"ns\"",
        ),
        ("load_use = { value = 3", "load_use = { value = -3", "pipeline.load_use is -3"),
        ("load_use = { value = 3", "load_use = { value = 3.001", "two decimals"),
        ("load_use = { value = 3", "load_use = { value = -1e300", "pipeline.load_use is -1e300: expected 0 to"),
        ("load_use = { value = 3", "load_use = { value = 1e-3", "two decimals"),
        ("fetch_ahead = { value = 2", "fetch_ahead = { value = 1e-300", "is 1e-300: expected a whole"),
        ("load_use = { value = 3", "load_use = { value = \"x\"", "line 23: invalid type"),
        ("fetch_ahead = { value = 2", "fetch_ahead = { value = 9", "from 1 to 4"),
        ("base = 0xee100000", "base = 0xee104000", "memories BTCM and CTCM overlap"),
        ("size = 0x60000000", "size = 0xf0000000", "ends beyond 4 GB"),
        ("base = 0x20000000", "base = 0x20000004", "64-byte bounds"),
        ("port = \"axim\"", "port = \"bus\"", "unknown variant `bus`"),
        ("line = { value = 64", "line = { value = 32", "would miss lines"),
        ("value = \"lru\"", "value = \"random\"", "instruction_cache.replacement"),
        ("source = \"QEMU 10.0.2, mps3-an536\"", "", "guest has no source"),
        ("[pipeline]", "[pipelin", "line"),
    ] {
        assert!(AN536.contains(from), "{from}");
        let mut text = AN536.replacen(from, to, 1);
        if says.contains("overlap") {
            text = text.replace("size = 0x8000\nplays = \"BTCM\"", "size = 0xfd000\nplays = \"BTCM\"");
        }
        let error = Part::parse(&text).unwrap_err();
        assert!(error.contains(says) && !error.contains('\n'), "{from} -> {to}: {error}");
    }
}
