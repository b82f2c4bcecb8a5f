//! Passes over a table of 8 KB: reads each word and writes another. The table is a local of the measuring thread, so that
//! it lies in the memory of the stack.

use bsp::memory::region_of;
use measure::{Bench, Case};

use crate::factors::Preparation;
use crate::report::Report;
use crate::sampler::{Plan, Sampler};
use crate::threads::{Memory, Pair};

/// Samples of a series.
const SAMPLES: usize = 16;
const WORDS: usize = 2048;
const PASSES: u32 = 8;

/// What a pass makes of a word.
const fn step(word: u32) -> u32 {
    word.wrapping_mul(5).wrapping_add(1)
}

bsp::placed! {
    /// Sum of all words read.
    fn sweep(table: &mut [u32; WORDS], passes: u32) -> u32 {
        let mut sum = 0u32;
        for _ in 0..passes {
            for word in table.iter_mut() {
                sum = sum.wrapping_add(*word);
                *word = step(*word);
            }
        }
        sum
    }
}

/// All placements.
pub fn measure(report: &mut Report, memory: Memory, pair: &Pair, preparation: Preparation) {
    for copy in sweep() {
        let mut sampler = Sampler::new(Plan::new(SAMPLES, preparation));
        let (sweep, mut lies_here) = (copy.function(), false);
        let mut worker = || {
            sampler.note_stack();
            // In place: a table made elsewhere and moved here would need its room twice.
            let mut table = [0u32; WORDS];
            table.iter_mut().zip(0u32..).for_each(|(word, at)| *word = at);
            lies_here = memory.holds(table.as_ptr() as usize);
            let mut sum = 0u32;
            while sampler.wants_more() {
                sampler.before();
                let start = bsp::cycles();
                let read = sweep(&mut table, PASSES);
                let end = bsp::cycles();
                sum = sum.wrapping_add(read);
                sampler.after(start, end);
            }
            sampler.right &= is_right(&table, sum, sampler.rounds() * PASSES);
        };
        if let Err(error) = memory.run(pair, &mut worker, None) {
            report.fail("table sweep", error);
            continue;
        }
        report.check("the timed code lies at its offset", copy.is_in_place());
        report.check("the table lies in the memory under test", lies_here);
        let case = Case {
            placement: Some(copy.offset()),
            code: region_of(copy.address()),
            detail: "2048x8",
            ..Report::case(Bench::TableSweep, memory, pair, &sampler)
        };
        report.series(&case, memory, &sampler);
    }
}

/// Whether so many passes over the words 0, 1, 2 ... leave this table and have read words of this sum.
fn is_right(table: &[u32; WORDS], sum: u32, passes: u32) -> bool {
    let mut expected = 0u32;
    let words = table.iter().zip(0u32..).all(|(&word, first)| {
        let mut value = first;
        for _ in 0..passes {
            expected = expected.wrapping_add(value);
            value = step(value);
        }
        value == word
    });
    words && sum == expected
}
