//! What a run has beside each published figure and each published statement, or why there is nothing.

use std::collections::BTreeSet;
use std::fmt;

use crate::builds::{self, Builds};
use crate::published;
use crate::row::{Origin, Row, placed};
use crate::table::{Align, Table, opt};

/// Whether a row is of the first run of its cell, and not published itself.
fn ours(row: &&Row) -> bool {
    row.origin != Origin::Published && row.repeat.is_none_or(|n| n == 1)
}

/// Rows that may stand beside a published one: not of a test of the method.
fn results(rows: &[Row]) -> Vec<&Row> {
    rows.iter().filter(ours).filter(|row| !row.of_self_test()).collect()
}

/// What must stand beside every figure.
fn about(row: &Row) -> String {
    format!("{} ({}), {}, {}", row.unit, row.origin.name(), row.board, row.kernel)
}

fn boards(rows: &[&Row]) -> String {
    let boards: BTreeSet<&str> =
        rows.iter().filter(|row| row.origin != Origin::Host).map(|row| row.board.as_str()).collect();
    if boards.is_empty() { "the board".into() } else { boards.into_iter().collect::<Vec<_>>().join(", ") }
}

fn unmeasured(what: &str) -> String {
    format!("not in this run (scripts/bench.sh without --quick measures {what})")
}

/// Every published figure with its counterpart, or a sentence why there is none.
pub fn figures(rows: &[Row]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("published", Left),
        ("what", Left),
        ("min", Right),
        ("mean", Right),
        ("max", Right),
        ("unit, board", Left),
        ("here: min", Right),
        ("mean", Right),
        ("max", Right),
        ("unit, board, kernel; or why not", Left),
    ]);
    let rows = placed(rows);
    let ours = results(&rows);
    for theirs in published::all() {
        let place = theirs.placement.map_or(String::new(), |place| format!("offset {place}"));
        let what = [
            theirs.bench.as_str(),
            &theirs.detail,
            &theirs.memory,
            &theirs.code,
            &theirs.cache,
            &theirs.variant,
            &place,
        ];
        let what = what.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let (found, remark) = counterpart(&theirs, &ours);
        let mut line = vec![
            theirs.source.clone(),
            what,
            opt(theirs.min),
            opt(theirs.mean),
            opt(theirs.max),
            format!("{}, {}", theirs.unit, theirs.board),
        ];
        match found {
            Some(row) => {
                line.extend([opt(row.min), opt(row.mean), opt(row.max), about(row) + &remark]);
            }
            None => line.extend([String::new(), String::new(), String::new(), remark]),
        }
        table.push(line);
    }
    table
}

/// The row of ours that answers the same question, with what must be said beside it.
pub fn counterpart<'r>(theirs: &Row, ours: &[&'r Row]) -> (Option<&'r Row>, String) {
    let rust = |row: &&&Row| row.language != "c";
    let alike = |row: &&&Row| {
        row.bench == theirs.bench
            && row.cache == theirs.cache
            && (theirs.detail.is_empty() || row.detail == theirs.detail)
            && (theirs.placement.is_none() || row.placement == theirs.placement)
            && (theirs.variant.is_empty() || row.variant.is_empty() || row.variant == theirs.variant)
    };
    let boards = boards(ours);
    let unmeasured = || unmeasured(&theirs.bench);
    match theirs.source.as_str() {
        "published:riot" => {
            let found = ours.iter().filter(rust).find(|row| {
                row.bench == "context_switch"
                    && row.variant == theirs.variant
                    && row.memory == "BTCM"
                    && row.cache == "warm"
            });
            let remark = format!("; {boards} is no {}: the same question on another core", theirs.board);
            (found.copied(), if found.is_some() { remark } else { unmeasured() })
        }
        "published:pollution" => {
            // Theirs had one processor.
            let host = ours.iter().find(|row| {
                row.bench == "host_flip"
                    && row.cache == theirs.cache
                    && row.detail == theirs.detail
                    && row.options != "on two processors"
            });
            let board = ours.iter().filter(rust).find(|row| row.bench == "event_handoff" && row.cache == theirs.cache);
            match (host, board, theirs.detail.as_str()) {
                (Some(host), _, _) => (Some(*host), "; on this host".into()),
                (None, _, "L2") => {
                    (None, "the Cortex-R52 has no second-level cache; `txbench host-flip` measures it on a PC".into())
                }
                (None, Some(board), _) => (Some(*board), "; two threads of the kernel, by event flags".into()),
                (None, None, _) => (None, unmeasured()),
            }
        }
        "published:630" => {
            let found = ours.iter().filter(rust).find(|row| {
                row.bench == theirs.bench
                    && row.placement == theirs.placement
                    && (theirs.code == "ATCM") == (row.code == "ATCM")
            });
            let here: Vec<_> = ours.iter().filter(|row| row.bench == theirs.bench).collect();
            let same_kind = here.iter().any(|row| (theirs.code == "ATCM") == (row.code == "ATCM"));
            match found {
                Some(row) if theirs.code != row.code => (Some(*row), format!("; code in {}", row.code)),
                Some(row) => (Some(*row), String::new()),
                None if same_kind => (None, format!("{boards}: not measured at this placement in this run")),
                None if !here.is_empty() => {
                    let bytes =
                        here.iter().find_map(|row| row.text_bytes).map_or(String::new(), |n| format!(" ({n} bytes)"));
                    let why = "the code of an image lies in one memory, and its code";
                    (None, format!("{boards}: {why}{bytes} is larger than {}", theirs.code))
                }
                None => (None, unmeasured()),
            }
        }
        _ => {
            // A published figure without a placement stands beside our first one.
            let found = ours.iter().filter(rust).filter(alike).find(|row| row.memory == theirs.memory);
            let bench = ours.iter().any(|row| row.bench == theirs.bench);
            match found {
                Some(row) => {
                    let place = match (theirs.placement, row.placement) {
                        (None, Some(place)) => format!(", at offset {place}"),
                        _ => String::new(),
                    };
                    (Some(*row), place)
                }
                None if !bench => (None, unmeasured()),
                None if !ours.iter().any(|row| row.memory == theirs.memory) => {
                    (None, format!("{boards} has no {} that this firmware could use", theirs.memory))
                }
                None => (None, format!("not in this run: {} {} {}", theirs.bench, theirs.memory, theirs.cache)),
            }
        }
    }
}

/// What stands above [`statements`].
pub const ABOVE: &str = "What was published in words, and the same worked out of this run, within one image each. \
    Placements are offsets 0, 16, 32 and 48 of the timed code in its 64-byte line.";

/// Something that was published in words.
struct Statement {
    /// Where.
    source: &'static str,
    /// What it says.
    says: &'static str,
    /// What a run must have measured for a counterpart.
    takes: &'static str,
    /// Where to look for it.
    from: From,
    /// Whether it is about time, of which a count of instructions has none.
    of_time: bool,
    /// The counterpart of what is compared with each other.
    here: fn(&[&Row]) -> Option<String>,
}

/// Rows that are compared with each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// Results of one image, those with a placement where it has such.
    Image,
    /// All of one image, of the tests of the method too.
    WithTests,
    /// Results of all builds of one kernel.
    Builds,
}

const SWITCH: &str = "context_switch";
const DEEP: &str = "deep_stack";
const SWEEP: &str = "table_sweep";
/// The memories of the published comparison.
const MEMORIES: [&str; 2] = ["BTCM", "DRAM0"];

/// In the order of the published figures.
const STATEMENTS: [Statement; 15] = [
    Statement {
        source: "published:635",
        says: "a round trip is 7.4 % or 110 cycles shorter with the stacks in BTCM; warm the minima are 1334 and 1440, \
               the same gap",
        takes: "context_switch in BTCM and DRAM0, cold and warm",
        from: From::Image,
        of_time: true,
        here: |rows| {
            let gap = |cache| {
                let gaps = paired(rows, SWITCH, cache, |row| row.min)?;
                Some(format!("{cache} {}", gaps.text()))
            };
            Some(format!("DRAM0 less BTCM, minima: {}; {}", gap("cold")?, gap("warm")?))
        },
    },
    Statement {
        source: "published:635",
        says: "jitter (maximum less minimum) without preempted samples is 32 cycles in BTCM, 28 to 34 in DRAM0",
        takes: "context_switch in BTCM and DRAM0",
        from: From::Image,
        of_time: true,
        here: |rows| of_memories(rows, SWITCH, None, |series| range(series.iter().filter_map(|row| row.spread()))),
    },
    Statement {
        source: "published:635",
        says: "samples above 2000 cycles are taken for preempted ones: counted, and kept out of minimum, mean and \
               maximum alike",
        takes: "any series of an image",
        from: From::Image,
        of_time: false,
        here: |rows| {
            let sum = |figure: fn(&Row) -> Option<u64>| rows.iter().filter_map(|row| figure(row)).sum::<u64>();
            let (tick, interrupt) = (sum(|row| row.excluded_tick), sum(|row| row.excluded_interrupt));
            let told = rows.iter().any(|row| row.excluded_tick.is_some());
            told.then(|| {
                format!(
                    "told by counts of ticks and interrupts, not by length: {} of {} samples kept out ({tick} tick, \
                     {interrupt} interrupt)",
                    tick + interrupt,
                    sum(|row| row.n) + tick + interrupt,
                )
            })
        },
    },
    Statement {
        source: "published:635",
        says: "a first version had the timer tick in the maximum and reported 16 times less jitter",
        takes: "raw samples of a series with a tick in it",
        from: From::WithTests,
        of_time: false,
        here: |rows| {
            let spread = |values: &[u64]| Some(values.iter().max()? - values.iter().min()?);
            let ticked = rows.iter().filter(|row| row.excluded_tick.is_some_and(|n| n > 0));
            let (row, with, without) = ticked
                .filter_map(|row| Some((row, spread(&row.samples)?, spread(&row.kept())?)))
                .max_by_key(|(_, with, _)| *with)?;
            let series = words(&[&row.bench, &row.memory, &row.cache]);
            Some(format!("jitter of {series} {without}; with its ticks left in it would be {with}"))
        },
    },
    Statement {
        source: "published:635",
        says: "loading the partner by a walk through the cache was dropped: the partner is inside the timed region, and \
               all 256 samples became outliers",
        takes: "a polluted cache",
        from: From::Image,
        of_time: false,
        here: |rows| {
            let told = |row: &&&Row| row.pollution_bytes > 0 && row.excluded_tick.is_some();
            let polluted: Vec<_> = rows.iter().filter(told).collect();
            let sum = |figure: fn(&Row) -> Option<u64>| polluted.iter().filter_map(|row| figure(row)).sum::<u64>();
            let benches: BTreeSet<&str> = polluted.iter().map(|row| row.bench.as_str()).collect();
            let (out, kept) = (sum(|row| row.excluded), sum(|row| row.n));
            (kept > 0).then(|| {
                format!(
                    "the walk ends before the first timestamp: {out} of {} samples kept out ({})",
                    kept + out,
                    benches.into_iter().collect::<Vec<_>>().join(", ")
                )
            })
        },
    },
    Statement {
        source: "published:635",
        says: "the image had never started the cycle counter: every reading would have been zero, a switch for nothing",
        takes: "a counter whose own cost is known",
        from: From::Image,
        of_time: false,
        here: |rows| {
            let row = rows.iter().find(|row| row.overhead.is_some())?;
            let zero = rows.iter().filter(|row| row.min == Some(0)).count();
            Some(format!(
                "{} is read before anything is measured, and costs {} itself; {zero} of {} series have a sample of 0",
                row.counter,
                opt(row.overhead),
                rows.len()
            ))
        },
    },
    Statement {
        source: "published:636",
        says: "for stack-heavy work BTCM has the same mean within 0.6 %, a worst case 10 % lower and a spread 3.4 times \
               tighter (#638 takes the spread back)",
        takes: "deep_stack 24x16 in BTCM and DRAM0, cold",
        from: From::Image,
        of_time: true,
        here: |rows| {
            let by = |figure| Some(paired(rows, DEEP, "cold", figure)?.text());
            let spreads = of_memories(rows, DEEP, Some("cold"), |rows| range(rows.iter().filter_map(|r| r.spread())))?;
            Some(format!("DRAM0 less BTCM: mean {}; maximum {}; spread {spreads}", by(|r| r.mean)?, by(|r| r.max)?))
        },
    },
    Statement {
        source: "published:638",
        says: "the placement of the code moves the minimum by 17 %",
        takes: "deep_stack 24x16, cold, at several placements",
        from: From::Image,
        of_time: true,
        here: |rows| of_memories(rows, DEEP, Some("cold"), moved),
    },
    Statement {
        source: "published:638",
        says: "BTCM's minimum is lower at all four placements, by 0.4 to 0.9 % (by its own table 0.3 to 0.9 %), so no \
               spread is claimed from one placement",
        takes: "deep_stack 24x16 in BTCM and DRAM0, cold",
        from: From::Image,
        of_time: true,
        here: |rows| {
            let gaps = paired(rows, DEEP, "cold", |row| row.min)?;
            let lower = gaps.0.iter().filter(|(btcm, dram0)| btcm < dram0).count();
            Some(format!("lower at {lower} of {} placements, DRAM0 less BTCM {}", gaps.0.len(), gaps.text()))
        },
    },
    Statement {
        source: "published:631, 633",
        says: "an older loop benchmark gained 24 % or 0 % by the alignment of its loop alone",
        takes: "table_sweep at several placements",
        from: From::Image,
        of_time: true,
        here: |rows| {
            let of = |cache| Some(format!("{cache}: {}", of_memories(rows, SWEEP, Some(cache), moved)?));
            Some(format!("{}; {}", of("cold")?, of("warm")?))
        },
    },
    Statement {
        source: "published:634",
        says: "a warm cache gains 24.0 % in DRAM2 at half speed, 18.3 % in DRAM0, 6.2 % in BTCM",
        takes: "table_sweep cold and warm",
        from: From::Image,
        of_time: true,
        here: |rows| {
            let memories: BTreeSet<&str> =
                rows.iter().filter(|row| row.bench == SWEEP).map(|row| row.memory.as_str()).collect();
            let gain = |memory: &&str| {
                let cold = minima(rows, SWEEP, memory, "cold");
                let warm = minima(rows, SWEEP, memory, "warm");
                let gains = cold.iter().filter_map(|(place, cold)| {
                    let (_, warm) = warm.iter().find(|(other, _)| other == place)?;
                    Some(Percent::of(*cold as f64 - *warm as f64, *cold))
                });
                Some(format!("{memory} {}", range(gains)?))
            };
            let gains: Vec<_> = memories.iter().filter_map(gain).collect();
            let none = if memories.contains("DRAM2") { "" } else { "; no DRAM2 on this board" };
            (!gains.is_empty()).then(|| format!("{}{none}", gains.join(", ")))
        },
    },
    Statement {
        source: "published:630",
        says: "the body of an interrupt takes 383, 377, 375 and 383 cycles in ATCM and 523, 534, 539 and 521 in code \
               SRAM, at four placements (#632 confirms it)",
        takes: "interrupt_to_handler at several placements",
        from: From::Image,
        of_time: true,
        here: |rows| {
            let of: Vec<_> = rows.iter().filter(|row| row.bench == "interrupt_to_handler").collect();
            let memories: BTreeSet<&str> = of.iter().map(|row| row.code.as_str()).collect();
            let minima = |code: &&str| {
                let mut at: Vec<_> = of.iter().filter(|row| row.code == *code).collect();
                at.sort_by_key(|row| row.placement);
                at.dedup_by_key(|row| row.placement);
                let figures: Vec<_> = at.iter().map(|row| opt(row.min)).collect();
                format!("code in {code} {}", figures.join(", "))
            };
            (!of.is_empty()).then(|| memories.iter().map(minima).collect::<Vec<_>>().join("; "))
        },
    },
    Statement {
        source: "published:pollution",
        says: "it is the writing back of dirty lines that costs (L1 750 to 1330, L2 750 to 2760 cycles) and not the refill \
               (clean as without); a cache that writes through cannot show it",
        takes: "event_handoff or host_flip under pollution",
        from: From::Image,
        of_time: true,
        here: |rows| {
            let bench =
                ["host_flip", "event_handoff"].into_iter().find(|bench| rows.iter().any(|r| r.bench == *bench))?;
            let mut minima: Vec<(String, u64)> = Vec::new();
            for row in rows.iter().filter(|row| row.bench == bench && row.cache != "cold") {
                let level = if row.detail == "none" { "" } else { &row.detail };
                let (what, min) = (words(&[level, &row.cache_state()]), row.min?);
                match minima.iter_mut().find(|(known, _)| *known == what) {
                    Some((_, least)) => *least = min.min(*least),
                    None => minima.push((what, min)),
                }
            }
            let levels = if bench == "host_flip" { "" } else { "; a Cortex-R52 has no second level" };
            let figures: Vec<_> = minima.iter().map(|(what, min)| format!("{what} {min}")).collect();
            (figures.len() > 1).then(|| format!("{bench}: {}{levels}", figures.join(", ")))
        },
    },
    Statement {
        source: "published:riot",
        says: "inlining the yield saves 1.7 to 5.0 % of the ticks for 24 to 80 bytes of flash",
        takes: "images with one variant of relinquish each",
        from: From::Builds,
        of_time: false,
        here: |rows| {
            let rows: Vec<Row> = rows.iter().map(|row| (*row).clone()).collect();
            let saved = builds::builds(&rows).inlined.into_iter().filter_map(|(pre, post)| {
                let (before, after) = (pre.min?, post.min?);
                let bytes = post.text_bytes? as i64 - pre.text_bytes? as i64;
                let saves = Percent::of(before as f64 - after as f64, before);
                Some(format!("LTO {}: {before} to {after}, {saves} for {bytes} bytes of .text", pre.lto))
            });
            let saved: Vec<_> = saved.collect();
            (!saved.is_empty()).then(|| saved.join("; "))
        },
    },
    Statement {
        source: "published:riot",
        says: "open question of the reviewers: does link-time optimisation make the inlining redundant?",
        takes: "images with one variant of relinquish each, without and with fat LTO",
        from: From::Builds,
        of_time: false,
        here: |rows| {
            let rows: Vec<Row> = rows.iter().map(|row| (*row).clone()).collect();
            let Builds { inlined, across } = builds::builds(&rows);
            let of =
                |lto: &str| inlined.iter().find(|(pre, _)| pre.lto == lto).and_then(|(a, b)| Some((a.min?, b.min?)));
            let ours = || {
                let ((off, _), (fat, inline)) = (of("off")?, of("fat")?);
                let answer = if fat <= inline { "yes" } else { "no" };
                Some(format!("{answer}: the call takes {off} without LTO and {fat} with it, inlined by hand {inline}"))
            };
            let linked = across.iter().map(|(pre, post)| {
                format!(
                    "C kernel across C and Rust: the call takes {} without LTO and {} with it",
                    opt(pre.min),
                    opt(post.min)
                )
            });
            let answers: Vec<_> = ours().into_iter().chain(linked).collect();
            (!answers.is_empty()).then(|| answers.join("; "))
        },
    },
];

/// Every published statement with its counterpart of each image, or a sentence why there is none.
pub fn statements(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        ("published", Align::Left),
        ("statement", Align::Left),
        ("here", Align::Left),
        ("unit, board, kernel; or why not", Align::Left),
    ]);
    let known = placed(rows);
    for statement in &STATEMENTS {
        let rows: Vec<&Row> = match statement.from {
            From::Image => results(&known),
            From::WithTests => rows.iter().filter(ours).collect(),
            From::Builds => results(rows),
        };
        let mut answers = Vec::new();
        for group in groups(&rows, statement.from) {
            if let Some(here) = (statement.here)(&group) {
                let emulated = statement.of_time && group[0].origin == Origin::Emulated;
                answers.push((here, about(group[0]), group[0].code.clone(), if emulated { NO_TIME } else { "" }));
            }
        }
        // What is the same with the code elsewhere is said once.
        let mut answers: Vec<[String; 2]> = answers
            .iter()
            .map(|(here, about, code, remark)| {
                let elsewhere = answers.iter().any(|other| other.1 == *about && other.0 != *here);
                let code = if elsewhere { format!(", code in {code}") } else { String::new() };
                [here.clone(), format!("{about}{code}{remark}")]
            })
            .collect();
        answers.dedup();
        if answers.is_empty() {
            let why = format!("{}: {}", boards(&rows), unmeasured(statement.takes));
            answers.push([String::new(), why]);
        }
        for [here, about] in answers {
            table.push(vec![statement.source.into(), statement.says.into(), here, about]);
        }
    }
    table
}

/// What an emulator's counterpart of a statement about time is worth.
const NO_TIME: &str = ": no memory, cache or placement moves a count of instructions, so it cannot be shown there";

/// Rows that may be compared: of one image, or of all builds of one kernel.
fn groups<'r>(rows: &[&'r Row], from: From) -> Vec<Vec<&'r Row>> {
    let key = |row: &Row| {
        let source = if from == From::Builds { String::new() } else { row.source.clone() };
        [source, row.board.clone(), builds::without_lto(&row.kernel), row.unit.clone()]
    };
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for &row in rows.iter().filter(|row| row.language != "c") {
        match groups.iter_mut().find(|group| key(group[0]) == key(row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// Whether `row` is of a series that was published: of the called relinquish, of the published depth.
fn of(row: &Row, bench: &str, memory: &str, cache: Option<&str>) -> bool {
    row.bench == bench
        && row.memory == memory
        && cache.map_or(row.pollution_bytes == 0, |cache| row.cache == cache)
        && matches!(row.variant.as_str(), "" | "call")
        && (bench != DEEP || row.detail == "24x16")
        && row.control != "BTCM"
}

/// Smallest samples by placement.
fn minima(rows: &[&Row], bench: &str, memory: &str, cache: &str) -> Vec<(Option<u32>, u64)> {
    let series = rows.iter().filter(|row| of(row, bench, memory, Some(cache)));
    series.filter_map(|row| Some((row.placement, row.min?))).collect()
}

/// A figure in BTCM and in DRAM0, at each placement.
struct Pairs(Vec<(u64, u64)>);

impl Pairs {
    /// DRAM0 less BTCM, alone and in parts of DRAM0.
    fn text(&self) -> String {
        let by = range(self.0.iter().map(|(btcm, dram0)| *dram0 as i64 - *btcm as i64)).unwrap_or_default();
        let parts = self.0.iter().map(|(btcm, dram0)| Percent::of(*dram0 as f64 - *btcm as f64, *dram0));
        format!("{by} ({})", range(parts).unwrap_or_default())
    }
}

fn paired(rows: &[&Row], bench: &str, cache: &str, figure: fn(&Row) -> Option<u64>) -> Option<Pairs> {
    let [btcm, dram0] = MEMORIES.map(|memory| rows.iter().filter(move |row| of(row, bench, memory, Some(cache))));
    let other =
        |row: &Row| dram0.clone().find(|other| other.placement == row.placement).and_then(|other| figure(other));
    let pairs: Vec<_> = btcm.filter_map(|row| Some((figure(row)?, other(row)?))).collect();
    (!pairs.is_empty()).then_some(Pairs(pairs))
}

/// `tell` of the series in each memory of the published comparison, `0 (BTCM), 0 (DRAM0)`.
fn of_memories(
    rows: &[&Row],
    bench: &str,
    cache: Option<&str>,
    tell: impl Fn(&[&Row]) -> Option<String>,
) -> Option<String> {
    let one = |memory| {
        let series: Vec<&Row> = rows.iter().filter(|row| of(row, bench, memory, cache)).copied().collect();
        Some(format!("{} ({memory})", tell(&series)?))
    };
    let all: Option<Vec<String>> = MEMORIES.into_iter().map(one).collect();
    all.map(|all| all.join(", "))
}

/// By how much the placement moves the minimum.
fn moved(series: &[&Row]) -> Option<String> {
    let minima = || series.iter().filter(|row| row.placement.is_some()).filter_map(|row| row.min);
    let (least, most) = (minima().min()?, minima().max()?);
    let moved = Percent::of((most - least) as f64, least);
    let n = minima().count();
    (n > 1).then(|| format!("{moved}, {} at {n} placements", range(minima()).unwrap_or_default()))
}

/// A part in hundredths.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Percent(f64);

impl Percent {
    fn of(part: f64, whole: u64) -> Self {
        Self(part * 100.0 / whole.max(1) as f64)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not -0.0.
        let rounded = (self.0 * 10.0).round() / 10.0 + 0.0;
        write!(f, "{rounded:.1} %")
    }
}

/// The smallest and the largest of some, or what all of them are.
fn range<T: Copy + PartialOrd + fmt::Display>(values: impl Iterator<Item = T>) -> Option<String> {
    let values: Vec<T> = values.collect();
    let end = |further: fn(&T, &T) -> bool| values.iter().copied().reduce(|a, b| if further(&b, &a) { b } else { a });
    let (least, most) = (end(T::lt)?.to_string(), end(T::gt)?.to_string());
    Some(if least == most { least } else { format!("{least} to {most}") })
}

fn words(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::example as row;

    fn empty_quick_full() -> [Vec<Row>; 3] {
        let quick = vec![row("context_switch", "BTCM", "cold"), row("context_switch", "DRAM0", "cold")];
        let all = ["BTCM", "DRAM0"].into_iter().flat_map(|memory| {
            ["context_switch", "deep_stack", "table_sweep", "event_handoff", "interrupt_to_handler"]
                .map(|bench| row(bench, memory, "cold"))
        });
        [Vec::new(), quick, all.collect()]
    }

    #[test]
    fn every_published_figure_has_a_counterpart_or_a_reason() {
        for rows in empty_quick_full() {
            let csv = figures(&rows).csv();
            assert_eq!(csv.lines().count(), 1 + published::all().len());
            for line in csv.lines().skip(1) {
                assert!(!line.ends_with(','), "neither a figure nor a reason: {line}");
            }
        }
        let [_, _, full] = empty_quick_full();
        let csv = figures(&full).csv();
        assert!(csv.contains("mps3-an536 has no DRAM2 that this firmware could use"), "{csv}");
        assert!(csv.contains("has no second-level cache"), "{csv}");
    }

    #[test]
    fn every_published_statement_has_a_counterpart_or_a_reason() {
        for id in published::ids() {
            assert!(STATEMENTS.iter().any(|statement| statement.source == id), "no statement of {id}");
        }
        for rows in empty_quick_full() {
            let table = statements(&rows);
            for statement in &STATEMENTS {
                let own = table.lines().filter(|line| line[1] == statement.says);
                let answers: Vec<_> = own.map(|line| (!line[2].is_empty(), line[3].as_str())).collect();
                assert!(!answers.is_empty(), "{}", statement.says);
                for (here, about) in answers {
                    assert!(!about.is_empty() && (here || about.contains("not in this run")), "{}", statement.says);
                }
            }
        }
    }

    #[test]
    fn the_document_has_every_statement_with_its_counterpart() {
        let document = include_str!("../../docs/results.md");
        for statement in &STATEMENTS {
            let says = format!("| {} | {} | ", statement.source, crate::table::escape_markdown(statement.says));
            let line = document.lines().find(|line| line.starts_with(&says));
            let here = line.and_then(|line| line.strip_prefix(&says)).unwrap_or_default();
            assert!(here.len() > 3 && !here.starts_with('|'), "docs/results.md has nothing beside: {}", statement.says);
        }
    }

    /// The published rows as if they were one image's.
    fn theirs(id: &str) -> Vec<Row> {
        let own = |row: Row| Row { origin: Origin::Silicon, source: "image".into(), language: String::new(), ..row };
        published::of(id).unwrap().into_iter().map(own).collect()
    }

    fn says(statement: &str, rows: &[Row]) -> String {
        let table = statements(rows);
        let line = table.lines().find(|line| line[1].contains(statement)).unwrap();
        line[2].clone()
    }

    #[test]
    fn the_published_figures_give_the_published_statements() {
        for (id, statement, here) in [
            ("published:635", "a round trip is 7.4 %", "DRAM0 less BTCM, minima: cold 106 (7.2 %); warm 106 (7.4 %)"),
            (
                "published:636",
                "for stack-heavy work",
                "DRAM0 less BTCM: mean 260 (0.6 %); maximum 4952 (9.9 %); spread 2022 (BTCM), 6860 (DRAM0)",
            ),
            (
                "published:638",
                "moves the minimum by 17 %",
                "16.9 %, 41854 to 48914 at 4 placements (BTCM), 17.0 %, 42036 to 49198 at 4 placements (DRAM0)",
            ),
            (
                "published:638",
                "BTCM's minimum is lower",
                "lower at 4 of 4 placements, DRAM0 less BTCM 122 to 364 (0.3 % to 0.9 %)",
            ),
            ("published:634", "a warm cache gains", "BTCM 6.2 %, DRAM0 18.4 %, DRAM2 24.0 %"),
            (
                "published:630",
                "the body of an interrupt",
                "code in ATCM 383, 377, 375, 383; code in code SRAM 523, 534, 539, 521",
            ),
            (
                "published:pollution",
                "it is the writing back",
                "host_flip: warm 750, L1 polluted_clean 750, L1 polluted_dirty 1330, L2 polluted_clean 750, L2 polluted_dirty 2760",
            ),
        ] {
            assert_eq!(says(statement, &theirs(id)), here, "{id}");
        }
        let jitter = says("jitter (maximum less minimum)", &theirs("published:635"));
        assert_eq!(jitter, "32 (BTCM), 32 (DRAM0)");
    }

    #[test]
    fn a_tick_that_is_left_in_is_what_the_jitter_would_be() {
        let ticked = Row {
            samples: vec![34, 34, 934, 40],
            excluded_at: vec![2, 3],
            excluded_tick: Some(2),
            excluded: Some(2),
            ..row("context_switch", "BTCM", "cold")
        };
        let here = says("a first version had the timer tick", &[ticked]);
        assert_eq!(here, "jitter of context_switch BTCM cold 0; with its ticks left in it would be 900");
    }

    #[test]
    fn whether_lto_makes_inlining_redundant_is_worked_out() {
        let of = |variant: &str, lto: &str, min, text| Row {
            source: format!("{variant}-{lto}"),
            variant: variant.into(),
            lto: lto.into(),
            min: Some(min),
            text_bytes: Some(text),
            ..row("context_switch", "BTCM", "warm")
        };
        let builds = |fat| {
            [
                of("call", "off", 34, 100),
                of("inline", "off", 26, 110),
                of("call", "fat", fat, 90),
                of("inline", "fat", 26, 95),
            ]
        };
        let no = says("open question", &builds(34));
        assert_eq!(no, "no: the call takes 34 without LTO and 34 with it, inlined by hand 26");
        assert!(says("open question", &builds(26)).starts_with("yes: "));
        let saved = says("inlining the yield", &builds(34));
        assert_eq!(
            saved,
            "LTO off: 34 to 26, 23.5 % for 10 bytes of .text; LTO fat: 34 to 26, 23.5 % for 5 bytes of .text"
        );
    }

    #[test]
    fn each_image_is_compared_within_itself() {
        let at = |source: &str, memory: &str, min| Row {
            source: source.into(),
            placement: Some(0),
            min: Some(min),
            ..row("deep_stack", memory, "cold")
        };
        let mut rows = vec![at("a", "BTCM", 10), at("a", "DRAM0", 12), at("b", "BTCM", 90), at("b", "DRAM0", 99)];
        rows.iter_mut().for_each(|row| row.detail = "24x16".into());
        let table = statements(&rows);
        let here: Vec<_> =
            table.lines().filter(|line| line[1].contains("lower at all four")).map(|l| l[2].as_str()).collect();
        assert_eq!(
            here,
            [
                "lower at 1 of 1 placements, DRAM0 less BTCM 2 (16.7 %)",
                "lower at 1 of 1 placements, DRAM0 less BTCM 9 (9.1 %)"
            ]
        );
    }
}
