//! The start-up as a guest: a monitor has set EL2 up and enters the image at EL1, in SVC mode and A32 state.
//!
//! Field report: P13. Runs on images without `boot-at-el1`, which look where they are, and on those with it, which have no
//! code for EL2 at all (`txbench image --boot-at-el1` looks at that).
#![no_std]
#![no_main]

use core::hint::black_box;

use aarch32_cpu::register::{Cntfrq, Sctlr, SysRegRead};
use bsp::stage::{self, Stage};
use ontarget::{Outcome, ensure, ensure_eq, first_stage, tests};
use threadx::{Ticks, thread, time};

#[bsp::entry]
fn main() -> ! {
    ontarget::run(tests![
        p13_entered_at_el1_in_a32: 10,
        p13_the_monitor_is_untouched: 10,
        p13_the_guest_runs: 50,
    ])
}

fn p13_entered_at_el1_in_a32() -> Outcome {
    ensure!(first_stage::was_monitored(), "the image was not entered by the monitor: see build.rs");
    let [cpsr, sctlr, hsctlr] = stage::entry_state();
    ensure_eq!(cpsr & 0x3f, 0x13, "mode and state at the entry");
    ensure!(sctlr & 1 << 30 != 0, "the monitor left SCTLR.TE clear, so this tests nothing: {sctlr:#010x}");
    ensure_eq!(hsctlr, 0, "HSCTLR in the record, which a guest does not read");
    ensure!(Sctlr::read_raw() & 1 << 30 == 0, "SCTLR.TE is still set");
    ensure_eq!(stage::reached(), Some(Stage::Tick), "the stage that was reached");
    Ok(())
}

/// An access to a register of EL2 would have been an undefined instruction; what EL1 may write is asked for.
fn p13_the_monitor_is_untouched() -> Outcome {
    ensure_eq!(first_stage::ask_monitor(), first_stage::monitor(), "HVBAR, HTPIDR, HCR, CNTHCTL");
    ensure_eq!(Cntfrq::read().0, 1_000_000_000, "CNTFRQ");
    Ok(())
}

fn p13_the_guest_runs() -> Outcome {
    let before = time::now();
    thread::sleep(Ticks::new(3))?;
    ensure_eq!(time::now() - before, 3, "ticks");
    let third = black_box(1.0_f32) / black_box(3.0_f32);
    ensure_eq!(third.to_bits(), 0x3eaa_aaab, "one third");
    Ok(())
}
