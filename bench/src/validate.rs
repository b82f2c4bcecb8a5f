//! The timing model against published figures: what it was fitted to, what it predicts, how far off it is,
//! and which published effects it shows.
//!
//! The guest (`model/published`) runs measuring code written after the published description, compiled as
//! that was documented, once for each image: the images differ in where the linker put the functions. The
//! last reads of the counter before a `SERIES` line are that series' samples.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::code;
use crate::judge;
use crate::model::{self, Entry};
use crate::published;
use crate::qemu::{self, End, Qemu};
use crate::row::Row;
use crate::screen::{Failure, complain, show};
use crate::table::{Align, Table};

#[derive(Args)]
pub struct Validate {
    /// Images of model/published, one a layout; scripts/validate.sh builds them from upstream's sources.
    images: Vec<PathBuf>,
    /// Part whose figures are validated: a name of model/parts, or a TOML file.
    #[arg(long, value_name = "PART", default_value = "s32z280")]
    model: String,
    /// The model's plugin, if not the one beside this program.
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,
    /// Limit for each image, in seconds.
    #[arg(long, value_name = "SECS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// QEMU to use.
    #[arg(long, value_name = "PATH", default_value = "qemu-system-arm")]
    qemu: PathBuf,
}

/// Smallest sample of each series, by name.
type Minima = BTreeMap<String, u64>;

/// A published figure that the model is held against.
struct Figure {
    series: &'static str,
    source: &'static str,
    /// The parameters were chosen to meet it, so that meeting it proves nothing.
    fitted: bool,
}

const fn figure(series: &'static str, source: &'static str, fitted: bool) -> Figure {
    Figure { series, source, fitted }
}

const FIGURES: [Figure; 12] = [
    figure("context_switch BTCM warm", "published:635", true),
    figure("context_switch DRAM0 warm", "published:635", true),
    figure("context_switch BTCM cold", "published:635", true),
    figure("context_switch DRAM0 cold", "published:635", false),
    figure("deep_stack BTCM cold 0", "published:638", true),
    figure("deep_stack BTCM cold 16", "published:638", true),
    figure("deep_stack BTCM cold 32", "published:638", false),
    figure("deep_stack BTCM cold 48", "published:638", false),
    figure("deep_stack DRAM0 cold 0", "published:638", false),
    figure("deep_stack DRAM0 cold 16", "published:638", false),
    figure("deep_stack DRAM0 cold 32", "published:638", false),
    figure("deep_stack DRAM0 cold 48", "published:638", false),
];

/// The smallest sample of a series, by its name.
type Series<'a> = &'a dyn Fn(&str) -> f64;

/// A published effect, as a question to the smallest samples of one layout.
struct Effect {
    name: &'static str,
    source: &'static str,
    shown: fn(Series<'_>) -> bool,
    /// Why the model is known not to show it, where it is.
    lacks: Option<&'static str>,
}

const PLACES: [&str; 4] = ["0", "16", "32", "48"];

fn deep(of: Series<'_>, memory: &str, place: &str) -> f64 {
    of(&format!("deep_stack {memory} cold {place}"))
}

fn gap(of: Series<'_>, cache: &str) -> f64 {
    of(&format!("context_switch DRAM0 {cache}")) - of(&format!("context_switch BTCM {cache}"))
}

const EFFECTS: [Effect; 10] = [
    Effect {
        name: "switch, warm: stacks in BTCM cost less than in DRAM0",
        source: "#635",
        shown: |of| gap(of, "warm") > 0.0,
        lacks: None,
    },
    Effect {
        name: "switch, cold: stacks in BTCM cost less than in DRAM0",
        source: "#635",
        shown: |of| gap(of, "cold") > 0.0,
        lacks: None,
    },
    Effect {
        name: "switch: the gap between the memories is the same cold and warm, within a third",
        source: "#635",
        shown: |of| gap(of, "warm") > 0.0 && (gap(of, "cold") - gap(of, "warm")).abs() <= gap(of, "warm") / 3.0,
        lacks: None,
    },
    Effect {
        name: "switch: a cold data cache costs less than the slower memory does",
        source: "#635",
        shown: |of| of("context_switch BTCM cold") - of("context_switch BTCM warm") < gap(of, "warm"),
        lacks: None,
    },
    Effect {
        name: "deep stack: offsets 16 and 48 cost more than 0 and 32, in both memories",
        source: "#638",
        shown: |of| {
            ["BTCM", "DRAM0"]
                .iter()
                .all(|m| deep(of, m, "16").min(deep(of, m, "48")) > deep(of, m, "0").max(deep(of, m, "32")))
        },
        lacks: None,
    },
    Effect {
        name: "deep stack: placement moves the minimum more than the memory does",
        source: "#638",
        shown: |of| {
            let btcm = PLACES.map(|p| deep(of, "BTCM", p));
            let placement = btcm.iter().fold(0.0, |a: f64, &b| a.max(b)) - btcm.iter().fold(f64::MAX, |a, &b| a.min(b));
            PLACES.iter().all(|p| (deep(of, "DRAM0", p) - deep(of, "BTCM", p)).abs() < placement)
        },
        lacks: None,
    },
    Effect {
        name: "deep stack: BTCM costs less than DRAM0 at every placement",
        source: "#638",
        shown: |of| PLACES.iter().all(|p| deep(of, "BTCM", p) < deep(of, "DRAM0", p)),
        lacks: None,
    },
    Effect {
        name: "table sweep, cold: DRAM2 costs more than DRAM0, and that more than a TCM",
        source: "#634",
        shown: |of| {
            of("table_sweep DRAM2 cold") > of("table_sweep DRAM0 cold")
                && of("table_sweep DRAM0 cold") > of("table_sweep TCM cold")
        },
        lacks: None,
    },
    Effect {
        name: "table sweep, warm: equal in all memories, within 0.1 %",
        source: "#634",
        shown: |of| {
            let all = ["TCM", "DRAM0", "DRAM2"].map(|m| of(&format!("table_sweep {m} warm")));
            all.iter().all(|warm| (warm / all[0] - 1.0).abs() <= 0.001)
        },
        lacks: None,
    },
    Effect {
        name: "table sweep in a TCM: warm costs less than cold, by 1 % at least",
        source: "#634",
        shown: |of| of("table_sweep TCM warm") < 0.99 * of("table_sweep TCM cold"),
        lacks: Some(
            "published as the instruction cache's doing; with the ways as reset leaves them the model caches no code, \
             and this guest's cold samples leave the instruction cache alone",
        ),
    },
];

const LACKS: &str = "\
What the model lacks: the published code itself (these loops are written after its description; ThreadX 6.4.2 with the\n\
Cortex-R5 port instead of 6.5 with the Cortex-R52 one, gcc 12.2), its link map, dual issue, multiply, divide and\n\
floating-point latencies, contention on the buses, the memories' own arbitration and refresh, interrupts other than the\n\
tick. Maxima, means and outliers are not modelled. Interrupt bodies by the memory of their code (#630) were not run.\n";

/// Runs all images and compares; 1 if an effect comes out otherwise than documented.
///
/// # Errors
/// What is missing, in one line.
pub fn validate(args: &Validate) -> Result<u8, Failure> {
    if args.images.is_empty() {
        show(b"not run: no sources. The published code ran on upstream's kernel: set THREADX_DIR, then scripts/validate.sh\n")?;
        return Ok(0);
    }
    let mut layouts = Vec::new();
    for image in &args.images {
        let mut qemu = Qemu::find(&args.qemu)?;
        qemu::check_image(image)?;
        let log = model::follow(&mut qemu, &args.model, model::Mode::Recorded, args.plugin.as_deref())?;
        let end = qemu.boot(image, &[], Duration::from_secs(args.timeout), |_| Ok(()))?;
        if end != End::Exited(0) {
            return Err(format!("{}: {}", image.display(), judge::stopped(&end).1).into());
        }
        layouts.push(minima(&log.entries(&end)?).map_err(|e| format!("{}: {e}", image.display()))?);
    }
    let places = layouts.len();
    show(
        format!("published, and modelled as {} over {places} layouts of the same functions\n\n", args.model).as_bytes(),
    )?;
    show(format!("{}\n\n", figures(&layouts).terminal()).as_bytes())?;
    let (table, otherwise) = effects(&layouts);
    show(format!("{}\n\n{LACKS}\n", table.terminal()).as_bytes())?;
    for what in &otherwise {
        complain(what);
    }
    show(if otherwise.is_empty() { b"verdict: as documented\n" } else { b"verdict: not as documented\n" })?;
    Ok(if otherwise.is_empty() { 0 } else { code::FAILED })
}

/// The smallest sample of every series.
fn minima(entries: &[Entry]) -> Result<Minima, String> {
    let mut reads = Vec::new();
    let mut minima = Minima::new();
    for entry in entries {
        match entry {
            Entry::Read(read) => reads.push(read.cycles),
            Entry::Console(text) => {
                let Some((pairs, name)) = text.strip_prefix("SERIES ").and_then(|rest| rest.split_once(' ')) else {
                    continue;
                };
                let pairs: usize = pairs.parse().map_err(|_| format!("malformed line: {text}"))?;
                let own = reads.len().checked_sub(2 * pairs).and_then(|first| reads.get(first..));
                let own = own.ok_or_else(|| format!("{name}: fewer than {pairs} pairs of reads in the model's log"))?;
                let least = own.chunks_exact(2).map(|pair| pair[1] - pair[0]).min();
                minima.insert(name.to_owned(), least.unwrap_or(0));
                reads.clear();
            }
            _ => {}
        }
    }
    Ok(minima)
}

fn published_minimum(figure: &Figure, rows: &[Row]) -> Option<u64> {
    let mut words = figure.series.split(' ');
    let (bench, memory, cache) = (words.next()?, words.next()?, words.next()?);
    let placement = words.next().and_then(|place| place.parse().ok());
    let same = |row: &&Row| {
        row.source == figure.source
            && row.bench == bench
            && row.memory == memory
            && row.cache == cache
            && row.placement == placement
    };
    rows.iter().find(same)?.min
}

fn figures(layouts: &[Minima]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("smallest sample", Left),
        ("source", Left),
        ("published, cycles", Right),
        ("modelled cycles, median", Right),
        ("layouts", Right),
        ("error", Right),
        ("", Left),
    ]);
    let rows = published::all();
    for figure in &FIGURES {
        let mut all: Vec<u64> = layouts.iter().filter_map(|m| m.get(figure.series).copied()).collect();
        all.sort_unstable();
        let (Some(&least), Some(&most)) = (all.first(), all.last()) else { continue };
        let median = all[all.len() / 2];
        let published = published_minimum(figure, &rows);
        let error = published.map_or(String::new(), |p| format!("{:+.1} %", (median as f64 / p as f64 - 1.0) * 100.0));
        table.push(vec![
            figure.series.into(),
            figure.source.replace("published:", "#"),
            published.map_or(String::new(), |p| p.to_string()),
            median.to_string(),
            format!("{least} to {most}"),
            error,
            if figure.fitted { "fitted" } else { "predicted" }.into(),
        ]);
    }
    table
}

/// The table of effects, and those that come out otherwise than documented.
fn effects(layouts: &[Minima]) -> (Table, Vec<String>) {
    use Align::{Left, Right};
    let mut table = Table::new(&[("published effect", Left), ("source", Left), ("layouts", Right), ("", Left)]);
    let mut otherwise = Vec::new();
    for effect in &EFFECTS {
        // A series that is not there is as good as no effect.
        let shown = |m: &&Minima| (effect.shown)(&|name| m.get(name).map_or(f64::NAN, |&v| v as f64));
        let n = layouts.iter().filter(shown).count();
        let all = n == layouts.len();
        let says = match (all, effect.lacks) {
            (true, _) => "reproduced".to_owned(),
            (false, None) => "NOT reproduced".to_owned(),
            (false, Some(why)) => format!("not reproduced: {why}"),
        };
        if all == effect.lacks.is_some() {
            otherwise.push(format!(
                "{}: {}, documented otherwise",
                effect.name,
                if all { "reproduced" } else { "not reproduced" }
            ));
        }
        table.push(vec![effect.name.into(), effect.source.into(), format!("{n} of {}", layouts.len()), says]);
    }
    (table, otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was published, as if the model had said it.
    fn published_minima() -> Minima {
        let rows = published::all();
        let mut all: Minima = FIGURES.iter().map(|f| (f.series.into(), published_minimum(f, &rows).unwrap())).collect();
        for (name, value) in [
            ("table_sweep DRAM2 cold", 857_540),
            ("table_sweep DRAM2 warm", 651_436),
            ("table_sweep DRAM0 cold", 797_824),
            ("table_sweep DRAM0 warm", 651_297),
            ("table_sweep TCM cold", 694_689),
            ("table_sweep TCM warm", 651_369),
        ] {
            all.insert(name.into(), value);
        }
        all
    }

    #[test]
    fn the_published_figures_show_the_published_effects() {
        let published = published_minima();
        for effect in &EFFECTS {
            assert!((effect.shown)(&|name| published[name] as f64), "{}", effect.name);
        }
    }

    #[test]
    fn every_effect_can_fail() {
        for effect in &EFFECTS {
            // All equal: no memory differs from another, and no state of the cache.
            let flat = |_: &str| 1000.0;
            // And the other way round.
            let published = published_minima();
            let turned = |name: &str| 1e6 - published[name] as f64;
            assert!(
                !(effect.shown)(&flat) || !(effect.shown)(&turned) || effect.name.contains("equal"),
                "{}",
                effect.name
            );
            assert!(!(effect.shown)(&|_| f64::NAN), "{}", effect.name);
        }
        let uneven = |name: &str| if name.contains("DRAM2") { 1002.0 } else { 1000.0 };
        let equal = EFFECTS.iter().find(|e| e.name.contains("equal")).unwrap();
        assert!(!(equal.shown)(&uneven));
    }

    #[test]
    fn an_effect_must_hold_in_every_layout() {
        let good = published_minima();
        let mut bad = good.clone();
        bad.insert("context_switch DRAM0 warm".into(), 1);
        let (table, otherwise) = effects(&[good, bad]);
        assert!(table.terminal().contains("1 of 2"));
        assert!(otherwise.iter().any(|what| what.contains("switch, warm")), "{otherwise:?}");
        // The published effect that the model is documented to lack shows up here.
        assert!(otherwise.iter().any(|what| what.contains("in a TCM: warm")), "{otherwise:?}");
    }

    #[test]
    fn figures_show_error_and_layouts() {
        let mut low = published_minima();
        low.insert("context_switch BTCM warm".into(), 1200);
        let mut high = low.clone();
        high.insert("context_switch BTCM warm".into(), 1467);
        let text = figures(&[high, low]).terminal();
        assert!(text.contains("1200 to 1467") && text.contains("+10.0 %"), "{text}");
    }

    #[test]
    fn samples_are_the_last_reads_before_the_name() {
        let read = |cycles| Entry::Read(model::Read { pc: 0, instructions: 0, cycles });
        let mut entries: Vec<_> = [1, 900, 1000, 1010, 2000, 2007].into_iter().map(read).collect();
        entries.push(Entry::Console("SERIES 2 a b".into()));
        assert_eq!(minima(&entries), Ok(Minima::from([("a b".into(), 7)])));
        entries.push(Entry::Console("SERIES 1 c".into()));
        assert!(minima(&entries).unwrap_err().contains("fewer than 1"));
    }
}
