//! Stack-heavy work: a recursion that writes each frame on the way down and reads it on the way up. One thread, no
//! switch; depth and frame size vary, and each frame size has its four copies.

use core::hint::black_box;

use bsp::memory::region_of;
use bsp::placement::Copies;
use measure::{Bench, Case};

use crate::factors::Preparation;
use crate::report::Report;
use crate::sampler::{Plan, Sampler};
use crate::threads::{Memory, Pair};

/// Samples of a series.
const SAMPLES: usize = 64;

macro_rules! dive {
    ($name:ident, $words:literal) => {
        bsp::placed! {
            /// Sum of all words written at this depth and below.
            fn $name(depth: u32) -> u32 {
                let mut frame = [0u32; $words];
                for (word, value) in frame.iter_mut().zip(depth..) {
                    *word = value;
                }
                let frame = black_box(&mut frame);
                let below = if depth > 1 { $name(depth - 1) } else { 0 };
                frame.iter().fold(below, |sum, word| sum.wrapping_add(*word))
            }
        }
    };
}
dive!(dive_4, 4);
dive!(dive_16, 16);
dive!(dive_64, 64);

/// Depth and frame size of a recursion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    frames: u32,
    words: u32,
    name: &'static str,
}

impl Shape {
    /// The published one.
    pub const PUBLISHED: Self = Self { frames: 24, words: 16, name: "24x16" };
    /// The sweep: by depth, then by frame size.
    pub const ALL: [Self; 6] = [
        Self { frames: 8, words: 16, name: "8x16" },
        Self { frames: 16, words: 16, name: "16x16" },
        Self::PUBLISHED,
        Self { frames: 32, words: 16, name: "32x16" },
        Self { frames: 24, words: 4, name: "24x4" },
        Self { frames: 24, words: 64, name: "24x64" },
    ];

    /// Frames and words, as in `24x16`.
    pub const fn name(self) -> &'static str {
        self.name
    }

    fn copies(self) -> Copies<fn(u32) -> u32> {
        match self.words {
            4 => dive_4(),
            64 => dive_64(),
            _ => dive_16(),
        }
    }

    /// What the recursion must return: the reads saw what the writes wrote.
    const fn expected(self) -> u32 {
        // The sum over all depths d and words w of d + w.
        let (frames, words) = (self.frames, self.words);
        words * frames * (frames + 1) / 2 + frames * words * (words - 1) / 2
    }
}

/// All placements.
pub fn measure(report: &mut Report, memory: Memory, pair: &Pair, preparation: Preparation, shape: Shape) {
    for copy in shape.copies() {
        let mut sampler = Sampler::new(Plan::new(SAMPLES, preparation));
        let dive = copy.function();
        let mut worker = || {
            sampler.note_stack();
            while sampler.wants_more() {
                sampler.before();
                let start = bsp::cycles();
                let sum = dive(shape.frames);
                let end = bsp::cycles();
                sampler.right &= sum == shape.expected();
                sampler.after(start, end);
            }
        };
        if let Err(error) = memory.run(pair, &mut worker, None) {
            report.fail("deep stack", error);
            continue;
        }
        report.check("the timed code lies at its offset", copy.is_in_place());
        let case = Case {
            placement: Some(copy.offset()),
            code: region_of(copy.address()),
            detail: shape.name,
            ..Report::case(Bench::DeepStack, memory, pair, &sampler)
        };
        report.series(&case, memory, &sampler);
    }
}
