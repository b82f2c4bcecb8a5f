//! What the start-up leaves, when a first stage has left exceptions to T32 state, high vectors and no FPU.
//!
//! Field reports: P04 (its faults are in the images `fault_boot_*`), P05 and P11 (MPU read back; the
//! probes are in `fault_*`), P07 (tick rate), P10 (FPU at EL1), P12 (memories are where and as large as
//! the map says), P15 (no reliance on what QEMU lacks), D04 (memory functions).
#![no_std]
#![no_main]

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use aarch32_cpu::register::{Cpacr, IdDfr0, Mpuir, Prbar, Prlar, Prselr, Sctlr, SysRegRead, Vbar};
use bsp::interrupt::{self, InterruptId};
use bsp::memory::{Atcm, Attributes, Btcm, Ctcm, Dram0, MAP, region_of};
use ontarget::{Outcome, ensure, ensure_eq, first_stage, note, tests};
use threadx::{Region, Ticks, thread, time};

#[bsp::entry]
fn main() -> ! {
    ontarget::run(tests![
        first_stage_ran: 10,
        exceptions_go_to_the_table_in_a32: 10,
        interrupts_are_taken: 20,
        fpu_is_on: 10,
        mpu_reads_back: 10,
        everything_lies_in_its_memory: 10,
        memories_are_distinct: 10,
        tick_rate: 200,
        counter_counts_instructions: 20,
        memory_functions: 50,
    ])
}

/// Without it this image would test nothing.
fn first_stage_ran() -> Outcome {
    ensure!(first_stage::was_rough(), "the image was not entered at its first stage: see build.rs");
    Ok(())
}

fn exceptions_go_to_the_table_in_a32() -> Outcome {
    let sctlr = Sctlr::read_raw();
    ensure!(sctlr & 1 << 30 == 0, "SCTLR.TE is set: {sctlr:#010x}");
    ensure!(sctlr & 1 << 13 == 0, "SCTLR.V is set: {sctlr:#010x}");
    let vbar = Vbar::read_raw();
    ensure_eq!(region_of(vbar as usize), MAP[0].name, "memory of the vector table");
    ensure!(vbar % 32 == 0, "VBAR {vbar:#010x}");
    Ok(())
}

/// The fourth exception of P04: an IRQ, of the timer and of software.
fn interrupts_are_taken() -> Outcome {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let before = (time::now(), interrupt::count());
    thread::sleep(Ticks::new(3))?;
    ensure_eq!(time::now() - before.0, 3, "ticks");
    ensure!(interrupt::count() - before.1 >= 3, "{} interrupts in 3 ticks", interrupt::count() - before.1);
    let registered = interrupt::register(InterruptId::sgi(1), 0x90, || TAKEN.store(1, Relaxed));
    ensure!(registered.is_ok(), "{registered:?}");
    interrupt::enable(InterruptId::sgi(1));
    interrupt::pend_sgi(1);
    ensure_eq!(TAKEN.load(Relaxed), 1, "software interrupts taken");
    Ok(())
}

/// P10: with the FPU trapped at EL2, denied at EL1 and disabled, the start-up ran, and floats work.
fn fpu_is_on() -> Outcome {
    let cpacr = Cpacr::read_raw();
    ensure!(cpacr >> 20 & 0xf == 0xf, "CPACR {cpacr:#010x}");
    let third = black_box(1.0_f32) / black_box(3.0_f32);
    ensure_eq!(third.to_bits(), 0x3eaa_aaab, "one third");
    let product = black_box(1.5_f64) * black_box(2.25_f64);
    ensure!(product == 3.375, "1.5 * 2.25 = {product}");
    Ok(())
}

/// One region as the registers hold it.
#[derive(Clone, Copy)]
struct Programmed {
    base: usize,
    /// One past its last byte.
    end: usize,
    read_only: bool,
    execute_never: bool,
    attribute: u32,
}

/// P05, P11: decoded here from the architecture's field positions, not by the code under test.
fn mpu_reads_back() -> Outcome {
    ensure!(Sctlr::read_raw() & 1 == 1, "the MPU is off");
    ensure!(Sctlr::read_raw() & 1 << 17 == 0, "the background region is on: an unmapped access would not fault");
    let verified = interrupt::masked(bsp::mpu::verify);
    ensure!(verified == Ok(MAP.len() + 1), "{verified:?}");
    let present = usize::from(Mpuir::read().dregions());
    ensure!(present > MAP.len(), "{present} regions");
    let mut regions = [None; 32];
    for (index, region) in regions.iter_mut().enumerate().take(present) {
        let (prbar, prlar) = interrupt::masked(|| {
            Prselr::write(Prselr(index as u32));
            aarch32_cpu::asm::isb();
            (Prbar::read_raw(), Prlar::read_raw())
        });
        if prlar & 1 == 1 {
            ensure_eq!(prbar >> 3 & 3, 0, "shareability");
            ensure_eq!(prbar >> 1 & 1, 0, "access from EL0");
            *region = Some(Programmed {
                base: (prbar & !0x3f) as usize,
                end: (prlar as usize & !0x3f) + 0x40,
                read_only: prbar >> 2 & 1 == 1,
                execute_never: prbar & 1 == 1,
                attribute: prlar >> 1 & 7,
            });
        }
    }
    let regions = || regions.iter().flatten();
    for row in MAP {
        // A row is one region, or cut in parts that leave no gap.
        let mut at = row.range.start;
        while at < row.range.end {
            let Some(region) = regions().find(|r| r.base == at) else {
                return Err(ontarget::Why::failed(format_args!("no region begins at {at:#010x} ({})", row.name)));
            };
            ensure!(region.end <= row.range.end, "a region of {} ends at {:#010x}", row.name, region.end);
            let (read_only, attribute) = match row.attributes {
                Attributes::Code | Attributes::Constants => (true, 0),
                Attributes::WriteBack => (false, 0),
                Attributes::NonCacheable => (false, 1),
                Attributes::Device => (false, 2),
            };
            ensure_eq!(region.read_only, read_only, "read only");
            ensure_eq!(region.attribute, attribute, "attribute index");
            let code = at == row.range.start && row.attributes == Attributes::Code;
            ensure_eq!(region.execute_never, !code, "execute never");
            at = region.end;
        }
    }
    for (n, a) in regions().enumerate() {
        for b in regions().skip(n + 1) {
            ensure!(a.end <= b.base || b.end <= a.base, "regions at {:#x} and {:#x} overlap", a.base, b.base);
        }
    }
    note!("{} of {present} MPU regions in use", regions().count());
    Ok(())
}

static INITIALISED: AtomicU32 = AtomicU32::new(0x1234_5678);
static ZEROED: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];
static CONSTANT: [u32; 4] = [1, 2, 3, 4];

fn everything_lies_in_its_memory() -> Outcome {
    let local = 0_u32;
    for (what, address, memory) in [
        ("code", memory_functions as *const () as usize, MAP[0].name),
        ("a constant", black_box(&CONSTANT).as_ptr().addr(), MAP[0].name),
        ("an initialised static", (&raw const INITIALISED).addr(), "DRAM0"),
        ("a zeroed static", ZEROED.as_ptr().addr(), "DRAM0"),
        ("the judge's stack", black_box(&raw const local).addr(), "DRAM0"),
    ] {
        ensure!(region_of(address) == memory, "{what} lies at {address:#010x}, not in {memory}");
    }
    ensure_eq!(INITIALISED.load(Relaxed), 0x1234_5678, "an initialised static");
    ensure!(ZEROED.iter().all(|z| z.load(Relaxed) == 0), "a zeroed static is not zero");
    Ok(())
}

/// P12: first, middle and last word of each memory hold what was written, after all were written.
fn memories_are_distinct() -> Outcome {
    fn words<R: Region>(free_from: usize) -> [usize; 3] {
        let range = free_from..R::range().end;
        [range.start, (range.start + range.len() / 2) & !3, range.end - 4]
    }
    unsafe extern "C" {
        static __tx_free_memory_start: u8;
    }
    let free = (&raw const __tx_free_memory_start).addr();
    let all = [
        words::<Atcm>(Atcm::range().start),
        words::<Btcm>(Btcm::range().start),
        words::<Ctcm>(Ctcm::range().start),
        words::<Dram0>(free),
    ];
    for (n, &address) in (1_u32..).zip(all.iter().flatten()) {
        // SAFETY: this image has no stack in a TCM, and of the main RAM only what no section uses is written.
        unsafe { (address as *mut u32).write_volatile(n * 0x0101_0101) };
    }
    for (n, &address) in (1_u32..).zip(all.iter().flatten()) {
        // SAFETY: as above.
        let word = unsafe { (address as *const u32).read_volatile() };
        ensure!(word == n * 0x0101_0101, "{address:#010x} in {} holds {word:#010x}", region_of(address));
    }
    Ok(())
}

/// P07: ticks against the counter whose frequency CNTFRQ tells.
fn tick_rate() -> Outcome {
    let hz = bsp::timer::frequency();
    ensure!(hz != 0, "CNTFRQ reads 0");
    thread::sleep(Ticks::new(1))?;
    let start = bsp::cycles();
    thread::sleep(Ticks::new(100))?;
    let counts = bsp::cycles().wrapping_sub(start);
    let expected = 100 * (hz / bsp::tick_hz());
    note!("100 ticks of {} Hz took {counts} counts of {hz} Hz", bsp::tick_hz());
    ensure!(counts.abs_diff(expected) < expected / 100, "{counts} counts, expected {expected}");
    ensure_eq!(bsp::timer::dropped(), 0, "dropped ticks");
    Ok(())
}

/// P15: the counter that is used is alive; the one that QEMU lacks is not relied upon.
fn counter_counts_instructions() -> Outcome {
    let counter = match bsp::counter::self_test() {
        Ok(counter) => counter,
        Err(error) => return Err(ontarget::Why::failed(format_args!("{error:?}"))),
    };
    note!("{} counts {} at {} Hz", counter.name, counter.unit, counter.hz);
    ensure_eq!(counter.unit, "instructions", "what the counter counts");
    ensure_eq!(counter.overhead, 1, "overhead");
    let pmu = IdDfr0::read_raw() >> 24 & 0xf;
    ensure!(pmu != 0 || counter.name != "PMCCNTR", "PMCCNTR without a PMU");
    Ok(())
}

/// D04: copies, moves and sets of 0 to 129 bytes at all alignments.
fn memory_functions() -> Outcome {
    let mut from = [0_u8; 160];
    for (n, byte) in from.iter_mut().enumerate() {
        *byte = (n * 7 + 1) as u8;
    }
    for length in 0..130_usize {
        for align in 0..8_usize {
            let other = (align * 3 + length) % 8;
            let mut to = [0xee_u8; 160];
            let length = black_box(length);
            to[8 + align..][..length].copy_from_slice(&from[other..][..length]);
            ensure!(to[8 + align..][..length] == from[other..][..length], "copy of {length} bytes to {align}");
            ensure!(
                to[..8 + align].iter().chain(&to[8 + align + length..]).all(|&b| b == 0xee),
                "copy of {length} bytes to {align} wrote beyond"
            );
            let mut moved = from;
            moved.copy_within(other..other + length, align);
            ensure!(moved[align..][..length] == from[other..][..length], "move of {length} bytes to {align}");
            to[8 + align..][..length].fill(black_box(0x5a));
            let set = to.iter().filter(|&&b| b == 0x5a).count();
            ensure!(set == length, "set of {length} bytes at {align} wrote {set}");
        }
    }
    Ok(())
}
