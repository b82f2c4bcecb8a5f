//! The factors that more than one measurement has.

use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

use measure::Cache;

/// Words of the buffer that pollutes: 64 KB, twice the largest data cache that a Cortex-R52 has.
const WORDS: usize = 16 * 1024;
static POLLUTION: [AtomicU32; WORDS] = [const { AtomicU32::new(0) }; WORDS];

/// What is done to the data cache before every sample, outside the timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// Nothing: as the sample before left it.
    Warm,
    /// Cleaned and invalidated.
    Cold,
    /// A buffer of so many bytes is read, a word of each line: nothing of it needs to be written back.
    Clean { bytes: u32, line: u32 },
    /// A buffer of so many bytes is written, a word of each line: every line must be written back.
    Dirty { bytes: u32, line: u32 },
}

impl Preparation {
    /// Without and with maintenance, then both pollutions for each data cache of this core.
    pub fn all() -> impl Iterator<Item = Self> {
        // A handful of levels at most; collected once, since asking the processor for a level selects it.
        let mut polluted = [None; 4];
        let both = bsp::cache::geometry().flat_map(|cache| {
            let (bytes, line) = (cache.size(), cache.line);
            [Self::Clean { bytes, line }, Self::Dirty { bytes, line }]
        });
        polluted.iter_mut().zip(both).for_each(|(slot, preparation)| *slot = Some(preparation));
        [Self::Warm, Self::Cold].into_iter().chain(polluted.into_iter().flatten())
    }

    /// The state that a sample finds.
    pub const fn cache(self) -> Cache {
        match self {
            Self::Warm => Cache::Warm,
            Self::Cold => Cache::Cold,
            Self::Clean { .. } => Cache::PollutedClean,
            Self::Dirty { .. } => Cache::PollutedDirty,
        }
    }

    /// Size of the polluting buffer in bytes, 0 without.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Warm | Self::Cold => 0,
            Self::Clean { bytes, .. } | Self::Dirty { bytes, .. } => bytes,
        }
    }

    /// Whether the polluting buffer is as large as the level of cache.
    pub const fn is_possible(self) -> bool {
        self.bytes() as usize <= WORDS * size_of::<u32>()
    }

    /// Once before a series, so that no line of the buffer is dirty when it is to pollute clean.
    pub fn begin(self) {
        bsp::cache::clean_invalidate_data();
    }

    /// Before every sample.
    pub fn apply(self) {
        match self {
            Self::Warm => {}
            Self::Cold => bsp::cache::clean_invalidate_data(),
            Self::Clean { bytes, line } => {
                let mut sum = 0u32;
                lines(bytes, line).for_each(|word| sum = sum.wrapping_add(word.load(Ordering::Relaxed)));
                black_box(sum);
            }
            Self::Dirty { bytes, line } => lines(bytes, line).for_each(|word| word.store(line, Ordering::Relaxed)),
        }
    }
}

/// What [`Preparation::apply`] did to a buffer that was all zeros: how many lines it has written, how many it should
/// have, and how many counts it took.
pub fn observe(preparation: Preparation) -> (usize, usize, u32) {
    POLLUTION.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    let start = bsp::cycles();
    preparation.apply();
    let counts = measure::elapsed(start, bsp::cycles());
    let written = POLLUTION.iter().filter(|word| word.load(Ordering::Relaxed) != 0).count();
    let lines = match preparation {
        Preparation::Clean { bytes, line } | Preparation::Dirty { bytes, line } => lines(bytes, line).count(),
        Preparation::Warm | Preparation::Cold => 0,
    };
    (written, lines, counts)
}

/// A word of every line of the buffer's first so many bytes.
fn lines(bytes: u32, line: u32) -> impl Iterator<Item = &'static AtomicU32> {
    let step = (line as usize / size_of::<u32>()).max(1);
    POLLUTION.iter().take(bytes as usize / size_of::<u32>()).step_by(step)
}

/// How the switch is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `relinquish`, out of line.
    Call,
    /// `relinquish_inline`: the switch is part of the loop. Upstream's kernel has no other code for it than the call.
    #[cfg(feature = "bundled")]
    Inline,
}

impl Variant {
    /// All that this kernel has.
    pub const ALL: &'static [Self] = &[
        Self::Call,
        #[cfg(feature = "bundled")]
        Self::Inline,
    ];

    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            #[cfg(feature = "bundled")]
            Self::Inline => "inline",
        }
    }
}
