//! Stack-heavy work, by the memory that holds the stack: a recursion of 24 frames of 16 words that
//! writes each frame on the way down and reads it on the way up. One thread, no switch.

use core::hint::black_box;

use bsp::memory::{Btcm, Dram0};
use measure::{Bench, Cache, Samples, elapsed};
use threadx::{Builder, Error, Region, Stack, ThreadCell};

use crate::SCALE;
use crate::report::Report;
use crate::sample::Watch;

/// Samples of a series.
pub const ROUNDS: usize = 64;

macro_rules! shape {
    ($frames:literal, $words:literal) => {
        const FRAMES: u32 = $frames;
        const WORDS: usize = $words;
        /// Frames and words, as records have them. The C twin has the same.
        pub const SHAPE: &str = concat!($frames, "x", $words);
    };
}
shape!(24, 16);

threadx::stack! {
    pub static DEEP_BTCM: Stack<Btcm, { 8192 - 2048 * (SCALE - 1) }>;
    pub static DEEP_DRAM0: Stack<Dram0, { 8192 - 2048 * (SCALE - 1) }>;
}

pub static DEEP: ThreadCell = ThreadCell::new();

/// Sum of all words written below this depth.
#[inline(never)]
pub fn deep_touch(depth: u32) -> u32 {
    let mut frame = [0u32; WORDS];
    for (word, value) in frame.iter_mut().zip(depth..) {
        *word = value;
    }
    let frame = black_box(&mut frame);
    let below = if depth > 1 { deep_touch(depth - 1) } else { 0 };
    frame.iter().fold(below, |sum, word| sum.wrapping_add(*word))
}

/// What [`deep_touch`] must return: the reads saw what the writes wrote.
const fn expected() -> u32 {
    let mut sum = 0;
    let mut depth = 1;
    while depth <= FRAMES {
        let mut word = 0;
        while word < WORDS as u32 {
            sum += depth + word;
            word += 1;
        }
        depth += 1;
    }
    sum
}

struct Series {
    samples: Samples<ROUNDS>,
    right: bool,
    stack: usize,
}

/// The one measuring loop; the data cache is cold before every sample.
#[inline(never)]
fn dives() -> Series {
    let mut samples = Samples::new();
    let mut watch = Watch::new();
    let mut right = true;
    while !samples.is_full() {
        bsp::cache::clean_invalidate_data();
        watch.begin();
        let start = bsp::cycles();
        let sum = deep_touch(FRAMES);
        let end = bsp::cycles();
        let excluded = watch.end();
        right &= sum == expected();
        if samples.push(elapsed(start, end), excluded).is_err() {
            break;
        }
    }
    let here = 0u8;
    Series { samples, right, stack: &raw const here as usize }
}

fn thread<R: Region, const N: usize>(stack: &'static Stack<R, N>) -> Result<Series, Error> {
    let handle = Builder::new("deep_touch").spawn(&DEEP, stack.take()?, dives)?;
    handle.join().map_err(|_| Error::Thread)
}

fn one<R: Region, const N: usize>(report: &mut Report, stack: &'static Stack<R, N>) {
    match thread(stack) {
        Ok(series) => {
            report.check("deep_touch read back every word it wrote", series.right);
            report.check("the diving thread's stack lies in its memory", R::range().contains(&series.stack));
            report.series(Bench::DeepStack, R::NAME, Cache::Cold, &series.samples);
            report.samples(Bench::DeepStack, R::NAME, Cache::Cold, &series.samples);
        }
        Err(error) => report.fail("deep stack", error),
    }
}

/// Measures both memories.
pub fn measure(report: &mut Report) {
    one(report, &DEEP_BTCM);
    one(report, &DEEP_DRAM0);
}
