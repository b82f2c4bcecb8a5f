//! The measurement suite: every measurement under every factor, in cells that the command line chooses.
//!
//! One image, so that all figures come from the same code at the same addresses. The `suite` thread (priority 8) runs
//! one cell after the other; the measured threads have priority 16, or 12 where one is to preempt. Without a command
//! line, as on a board, everything runs.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod banner;
mod cell;
mod deep_stack;
mod factors;
mod handoff;
#[path = "../../src/image.rs"]
mod image;
mod interrupts;
mod report;
mod sampler;
mod selftest;
mod service;
mod switch;
mod table_sweep;
mod threads;

use core::convert::Infallible;

use bsp::memory::Dram0;
use bsp::println;
use measure::{Selection, answers, line};
use threadx::{Builder, Error, Priority, ThreadCell};

use crate::cell::Cell;
use crate::report::Report;
use crate::threads::Cells;

/// Bytes of a command line that are read.
const COMMAND_LINE: usize = 4096;
/// Exit status for a command line that cannot be followed.
const USAGE: u8 = 2;

threadx::stack! { static SUITE_STACK: Stack<Dram0, 49152>; }
static SUITE: ThreadCell = ThreadCell::new();

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_init| {
        let started = SUITE_STACK
            .take()
            .and_then(|stack| Builder::new("suite").priority(Priority::of::<8>()).spawn(&SUITE, stack, run));
        match started {
            Ok(handle) => handle.detach(),
            Err(error) => panic!("the suite's thread does not start: {error}"),
        }
    })
}

/// Ends the image where nothing can be measured.
fn refuse(why: impl ufmt::uDisplay, status: u8) -> ! {
    println!("{}: {}; nothing is measured", line::DONE_FAILED, why);
    bsp::exit(status)
}

fn run() {
    let mut buffer = [0; COMMAND_LINE];
    let selection = match bsp::command_line(&mut buffer) {
        Ok(text) => Selection::parse(text),
        Err(error) => refuse(error, USAGE),
    };
    for word in selection.words() {
        let mut found = false;
        cell::for_each(&mut |cell| found |= answers(word, cell.name().as_str(), cell.is_core()));
        if !found {
            println!("{}: no cell matches {}: the word `list` shows their names", line::DONE_FAILED, word);
            bsp::exit(USAGE)
        }
    }
    if selection.lists() {
        let mut cells = 0u32;
        for_each_chosen(&selection, &mut |cell| {
            println!("{}{}", line::CELL, cell.name());
            cells += 1;
        });
        println!("{}: {} cells", line::DONE_OK, cells);
        bsp::exit(0)
    }
    match measure_cells(&selection) {
        Ok(never) => match never {},
        Err(error) => refuse(error, 1),
    }
}

fn for_each_chosen(selection: &Selection<'_>, take: &mut dyn FnMut(Cell)) {
    cell::for_each(&mut |cell| {
        if selection.has(cell.name().as_str(), cell.is_core()) {
            take(cell);
        }
    });
}

#[inline(never)]
fn measure_cells(selection: &Selection<'_>) -> Result<Infallible, Error> {
    let counter = match bsp::counter::self_test() {
        Ok(counter) => counter,
        Err(error) => refuse(error, 1),
    };
    let cells = Cells::place()?;
    handoff::create()?;
    interrupts::create()?;
    service::create()?;
    banner::print(&counter, &cells);
    let mut report = Report::new(&counter);
    for_each_chosen(selection, &mut |cell| {
        println!("{}{}", line::CELL, cell.name());
        cell.run(&mut report, &cells);
    });
    report.finish()
}
