//! Two sets of figures beside each other: what differs between them, and what may be said.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use clap::Args;
use measure::{Pair, Paired, Verdict, noise, paired};

use crate::row::{Origin, Row};
use crate::table::{Align, Table, code, difference, opt, overhead};

/// Options of `txbench compare`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  txbench compare before.json after.json                    two runs
  txbench compare run.json board.log --direction-only       other units: only which is lower within each
  txbench compare board.log published:635                   a board against the published figures
  txbench compare run.json run.json --a memory=BTCM --b memory=DRAM0
                                                            two memories of one run, by placement
Keys for --a and --b: source, kind, board, unit, counter, kernel, opt, lto, compiler, options,
assertions, language, checks, tick, bench, detail, memory, cache, placement, variant, code, control. Noise is printed where a file has five or more runs of a
cell (txbench matrix --repeat 5). The exit code is 0 also where figures differ; 1 where nothing can
be compared.")]
pub struct Compare {
    /// First side: a log, a JSON file of txbench, or published:635 and the like.
    pub a: String,
    /// Second side.
    pub b: String,
    /// Only rows of the first side with this value; may be repeated.
    #[arg(long = "a", value_name = "KEY=VALUE", value_parser = filter)]
    pub only_a: Vec<(String, String)>,
    /// Only rows of the second side with this value; may be repeated.
    #[arg(long = "b", value_name = "KEY=VALUE", value_parser = filter)]
    pub only_b: Vec<(String, String)>,
    /// Where the units differ: compare only which of two settings is lower within each side.
    #[arg(long)]
    pub direction_only: bool,
    /// Compare the rows of the method's own tests as well, which are no results.
    #[arg(long)]
    pub self_tests: bool,
}

/// What a setting is called and how a row tells it.
type Setting = (&'static str, fn(&Row) -> String);

/// Everything that two rows may differ in beside their figures.
const SETTINGS: [Setting; 21] = [
    ("kind", |r| r.origin.name().into()),
    ("board", |r| r.board.clone()),
    ("unit", |r| r.unit.clone()),
    ("counter", |r| r.counter.clone()),
    ("kernel", |r| r.kernel.clone()),
    ("opt", |r| r.opt.clone()),
    ("lto", |r| r.lto.clone()),
    ("compiler", |r| r.compiler.clone()),
    ("options", |r| r.options.clone()),
    ("assertions", |r| r.assertions.clone()),
    ("language", |r| r.language.clone()),
    ("checks", |r| r.checks.clone()),
    ("tick", |r| r.tick.clone()),
    ("bench", |r| r.bench.clone()),
    ("detail", |r| r.detail.clone()),
    ("memory", |r| r.memory.clone()),
    ("cache", Row::cache_state),
    ("placement", |r| opt(r.placement.map(u64::from))),
    ("variant", |r| r.variant.clone()),
    ("code", |r| r.code.clone()),
    ("control", |r| r.control.clone()),
];

/// Settings by which rows of the two sides find each other; unknown fits all but the measurement.
const KEYS: [&str; 5] = ["bench", "detail", "memory", "cache", "placement"];
/// Settings in which a row takes the one that is most like it.
const LIKE: [&str; 15] = [
    "kind",
    "board",
    "unit",
    "kernel",
    "opt",
    "lto",
    "options",
    "variant",
    "code",
    "control",
    "language",
    "checks",
    "detail",
    "placement",
    "tick",
];

fn setting(name: &str) -> Option<fn(&Row) -> String> {
    SETTINGS.iter().find(|(known, _)| *known == name).map(|(_, tell)| *tell)
}

fn filter(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("not KEY=VALUE, for example memory=BTCM")?;
    if key != "source" && setting(key).is_none() {
        let known: Vec<_> = SETTINGS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no key {key}: there are source, {}", known.join(", ")));
    }
    Ok((key.into(), value.into()))
}

fn passes(row: &Row, filters: &[(String, String)]) -> bool {
    filters.iter().all(|(key, value)| match setting(key) {
        Some(tell) => tell(row) == *value || (key == "cache" && row.cache == *value),
        None => row.source == *value,
    })
}

/// The outcome.
#[derive(Debug)]
pub struct Comparison {
    /// Name, value in A, value in B of everything that differs or is known of one side only.
    pub differs: Vec<[String; 3]>,
    /// The figures beside each other.
    pub table: Table,
    /// Whether the figures contain what reading the counter costs.
    pub overhead: Option<String>,
    /// One sentence for each group of placements.
    pub headlines: Vec<String>,
    /// The last word.
    pub verdict: String,
    /// Whether something was compared.
    pub compared: bool,
}

/// Runs of one cell on one side: their smallest samples.
struct Group<'r> {
    row: &'r Row,
    /// By the image and cell that were repeated, where a matrix repeated them: the same measured by two
    /// images is no repetition.
    figures: BTreeMap<(&'r str, &'r str), Vec<u64>>,
}

/// Rows that differ in nothing but the run they are from.
fn groups<'r>(rows: &[&'r Row]) -> Vec<Group<'r>> {
    let key = |row: &Row| SETTINGS.map(|(_, tell)| tell(row));
    let mut groups: Vec<Group<'r>> = Vec::new();
    for row in rows {
        let Some(min) = row.min else { continue };
        let run = if row.repeat.is_some() { (row.source.as_str(), row.cell.as_str()) } else { ("", "") };
        match groups.iter_mut().find(|group| key(group.row) == key(row)) {
            Some(group) => {
                group.figures.entry(run).or_default().push(min);
                if Some(min) < group.row.min {
                    group.row = row;
                }
            }
            None => groups.push(Group { row, figures: BTreeMap::from([(run, vec![min])]) }),
        }
    }
    groups
}

/// Compares the rows that find each other by all keys that are not in `free`; unknown matches all.
pub fn compare(a: &[Row], b: &[Row], args: &Compare) -> Comparison {
    let free: BTreeSet<&str> = args.only_a.iter().chain(&args.only_b).map(|(key, _)| key.as_str()).collect();
    let rows_a: Vec<&Row> = a.iter().filter(|row| passes(row, &args.only_a)).collect();
    let rows_b: Vec<&Row> = b.iter().filter(|row| passes(row, &args.only_b)).collect();
    let (groups_a, groups_b) = (groups(&rows_a), groups(&rows_b));
    let fits = |a: &Row, b: &Row| {
        KEYS.iter().filter(|key| !free.contains(**key)).all(|key| {
            let Some(tell) = setting(key) else { return true };
            let (a, b) = (tell(a), tell(b));
            a == b || ((a.is_empty() || b.is_empty()) && *key != "bench")
        })
    };
    let alike = |a: &Row, b: &Row| {
        let same = |key: &&&str| setting(key).is_some_and(|tell| tell(a) == tell(b));
        LIKE.iter().filter(|key| !free.contains(**key)).filter(same).count()
    };
    let mut pairs: Vec<(&Group<'_>, &Group<'_>)> = Vec::new();
    for group_a in &groups_a {
        let fitting: Vec<_> = groups_b.iter().filter(|group_b| fits(group_a.row, group_b.row)).collect();
        let best = fitting.iter().map(|group_b| alike(group_a.row, group_b.row)).max();
        pairs.extend(
            fitting.into_iter().filter(|b| Some(alike(group_a.row, b.row)) == best).map(|group_b| (group_a, group_b)),
        );
    }

    if pairs.is_empty() {
        let verdict = nothing((a, &rows_a, &args.only_a), (b, &rows_b, &args.only_b));
        let differs = KEYS.iter().filter_map(|key| Some((*key, setting(key)?)));
        let differs =
            differs.map(|(key, tell)| [key.to_owned(), values(&rows_a, tell), values(&rows_b, tell)]).collect();
        return Comparison {
            differs,
            table: Table::default(),
            overhead: None,
            headlines: Vec::new(),
            verdict,
            compared: false,
        };
    }
    let differs = differs(&pairs);
    let units_differ = pairs.iter().any(|(a, b)| a.row.unit != b.row.unit);
    let kinds_differ = pairs.iter().any(|(a, b)| a.row.origin != b.row.origin);
    let mismatch = if units_differ {
        Some("units differ")
    } else if kinds_differ && pairs.iter().any(|(a, b)| [a, b].iter().any(|g| g.row.origin == Origin::Host)) {
        Some("one side is host data")
    } else {
        None
    };
    match (mismatch, args.direction_only) {
        (Some(why), false) => Comparison {
            differs,
            table: figures(&pairs, true),
            overhead: overhead_of(&pairs),
            headlines: Vec::new(),
            verdict: format!(
                "not compared: {why}, so no ratio means anything (--direction-only shows which is lower within each side)"
            ),
            compared: false,
        },
        (_, true) => directions(differs, &pairs),
        (None, false) => {
            let (headlines, verdict) = verdicts(&pairs);
            Comparison {
                differs,
                table: figures(&pairs, false),
                overhead: overhead_of(&pairs),
                headlines,
                verdict,
                compared: true,
            }
        }
    }
}

/// The values that rows have of a setting, as far as a line holds them.
fn values(rows: &[&Row], tell: fn(&Row) -> String) -> String {
    const MOST: usize = 12;
    let all: BTreeSet<String> = rows.iter().map(|row| tell(row)).collect();
    let known = |value: String| if value.is_empty() { "unknown".into() } else { value };
    let more = all.len().saturating_sub(MOST);
    let mut shown: Vec<String> = all.into_iter().take(MOST).map(known).collect();
    if shown.is_empty() {
        shown.push("none".into());
    }
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// All rows of a side, those that its filters leave, and these.
type Side<'s> = (&'s [Row], &'s [&'s Row], &'s [(String, String)]);

/// Why no row of A met one of B.
fn nothing(a: Side<'_>, b: Side<'_>) -> String {
    for (name, (all, left, filters)) in [("A", a), ("B", b)] {
        if !left.is_empty() || filters.is_empty() {
            continue;
        }
        let all: Vec<&Row> = all.iter().collect();
        let asked: Vec<String> = filters.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let there: Vec<String> = filters
            .iter()
            .map(|(key, _)| format!("{key} {}", values(&all, setting(key).unwrap_or(|row| row.source.clone()))))
            .collect();
        return format!(
            "nothing to compare: no row of {name} has {}; there are {}",
            asked.join(" and "),
            there.join("; ")
        );
    }
    "nothing to compare: no measurement is on both sides with the same detail, memory, cache and placement".into()
}

fn overhead_of(pairs: &[(&Group<'_>, &Group<'_>)]) -> Option<String> {
    overhead(pairs.iter().flat_map(|(a, b)| [a.row, b.row]))
}

fn differs(pairs: &[(&Group<'_>, &Group<'_>)]) -> Vec<[String; 3]> {
    let mut differs = Vec::new();
    for (name, tell) in SETTINGS {
        if !pairs.iter().any(|(a, b)| tell(a.row) != tell(b.row)) {
            continue;
        }
        let values = |rows: &mut dyn Iterator<Item = &Row>| {
            let set: BTreeSet<String> =
                rows.map(tell).map(|v| if v.is_empty() { "unknown".into() } else { v }).collect();
            set.into_iter().collect::<Vec<_>>().join(", ")
        };
        let a = values(&mut pairs.iter().map(|(a, _)| a.row));
        let b = values(&mut pairs.iter().map(|(_, b)| b.row));
        differs.push([name.into(), a, b]);
    }
    differs
}

/// How much the smallest sample moves over the runs of one cell, on the noisier side.
fn noise_of(pairs: &[&(&Group<'_>, &Group<'_>)]) -> Result<u32, usize> {
    let mut spread = 0;
    for figures in pairs.iter().flat_map(|(a, b)| [a, b]).flat_map(|group| group.figures.values()) {
        let figures: Vec<u32> = figures.iter().filter_map(|&f| u32::try_from(f).ok()).collect();
        spread = spread.max(noise(&figures).map_err(|e| e.runs)?.spread);
    }
    Ok(spread)
}

fn noise_text(noise: Result<u32, usize>) -> String {
    match noise {
        Ok(noise) => noise.to_string(),
        Err(1) => "unknown, 1 run".into(),
        Err(runs) => format!("unknown, {runs} runs"),
    }
}

fn figures(pairs: &[(&Group<'_>, &Group<'_>)], apart: bool) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("bench", Left),
        ("detail", Left),
        ("A", Left),
        ("B", Left),
        ("cache", Left),
        ("placement", Right),
        ("min A", Right),
        ("min B", Right),
        ("B - A", Right),
        ("noise", Right),
        ("mean A", Right),
        ("mean B", Right),
        ("B - A, mean", Right),
    ]);
    for pair in pairs {
        let (a, b) = (pair.0.row, pair.1.row);
        let side = |row: &Row| {
            let parts = [row.memory.clone(), code(row), row.variant.clone(), row.unit.clone()];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
        };
        let both = |tell: fn(&Row) -> String| {
            let (a, b) = (tell(a), tell(b));
            if a == b || b.is_empty() {
                a
            } else if a.is_empty() {
                b
            } else {
                format!("{a} / {b}")
            }
        };
        let by = |a, b| if apart { "not compared".into() } else { difference(a, b) };
        table.push(vec![
            a.bench.clone(),
            both(|r| r.detail.clone()),
            side(a),
            side(b),
            both(Row::cache_state),
            both(|r| opt(r.placement.map(u64::from))),
            opt(a.min),
            opt(b.min),
            by(a.min, b.min),
            if apart { String::new() } else { noise_text(noise_of(&[pair])) },
            opt(a.mean),
            opt(b.mean),
            if a.mean.is_some() && b.mean.is_some() { by(a.mean, b.mean) } else { String::new() },
        ]);
    }
    table
}

/// One sentence for each group of placements, and the last word on all of them.
fn verdicts(pairs: &[(&Group<'_>, &Group<'_>)]) -> (Vec<String>, String) {
    // Code whose placement is not known is no other placement of what has known ones.
    let place_free = |row: &Row| -> Vec<String> {
        let tell =
            |&(name, tell): &Setting| if name == "placement" { opt(row.placement.map(|_| 0)) } else { tell(row) };
        SETTINGS.iter().map(tell).collect()
    };
    let mut families: Vec<Vec<&(&Group<'_>, &Group<'_>)>> = Vec::new();
    for pair in pairs {
        let key = (place_free(pair.0.row), place_free(pair.1.row));
        match families.iter_mut().find(|f| (place_free(f[0].0.row), place_free(f[0].1.row)) == key) {
            Some(family) => family.push(pair),
            None => families.push(vec![pair]),
        }
    }
    let mut headlines = Vec::new();
    let (mut different, mut undecided) = (0, 0);
    for family in &families {
        let (a, b) = (family[0].0.row, family[0].1.row);
        let mut name = a.bench.clone();
        for (left, right) in [
            (a.detail.clone(), b.detail.clone()),
            (a.memory.clone(), b.memory.clone()),
            (a.cache_state(), b.cache_state()),
            (a.variant.clone(), b.variant.clone()),
            (a.kernel.clone(), b.kernel.clone()),
            (a.lto.clone(), b.lto.clone()),
        ]
        .into_iter()
        .enumerate()
        .filter(|(at, (left, right))| *at < 4 || left != right)
        .map(|(_, sides)| sides)
        {
            if left != right {
                let known = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
                let _ = write!(name, " {} (A) / {} (B)", known(&left), known(&right));
            } else if !left.is_empty() {
                let _ = write!(name, " {left}");
            }
        }
        match judge(family) {
            Ok((judged, sentence)) => {
                different += usize::from(judged.verdict() != Verdict::NoDifference);
                headlines.push(format!("{name}: {sentence}"));
            }
            Err(why) => {
                undecided += 1;
                headlines.push(format!("{name}: no headline: {why}"));
            }
        }
    }
    let compared = count(families.len(), "measurement");
    let mut verdict = match different {
        0 => format!("no difference in {compared} compared"),
        n => format!("a difference in {n} of {compared} compared, see the sentences above"),
    };
    if undecided > 0 {
        let decided = families.len() - undecided;
        verdict = match different {
            0 => format!("no difference in {decided} of {compared} compared, {undecided} undecided"),
            n => format!("a difference in {n} of {compared} compared, {undecided} undecided, see the sentences above"),
        };
    }
    (headlines, verdict)
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn judge(family: &[&(&Group<'_>, &Group<'_>)]) -> Result<(Paired, String), String> {
    let noise = noise_of(family);
    let figure = |group: &Group<'_>| {
        let min = group.figures.values().flatten().min().copied().unwrap_or(0);
        u32::try_from(min).map_err(|_| format!("{min} is beyond 32 bits"))
    };
    let mut placed = Vec::new();
    for (a, b) in family {
        let placement = a.row.placement.or(b.row.placement).unwrap_or(0);
        let placement = u8::try_from(placement).map_err(|_| format!("placement {placement} is beyond the line"))?;
        placed.push(Pair { placement, a: figure(a)?, b: figure(b)? });
    }
    let judged = paired(&placed, noise.unwrap_or(0)).map_err(|e| e.to_string())?;
    let sentence = judged.to_string();
    let sentence = if family.iter().any(|(a, b)| a.row.placement.or(b.row.placement).is_some()) {
        sentence
    } else {
        sentence
            .replace("one placement only", "the placement of the code is not known")
            .replace(" at 1 of 1 placements", ", the placement of the code is not known")
    };
    let sentence = match noise {
        Ok(_) => sentence,
        Err(_) => sentence.replace("(noise 0)", &format!("(noise {})", noise_text(noise))),
    };
    Ok((judged, sentence))
}

/// For every two settings that one factor tells apart: which is lower, in A and in B.
fn directions(differs: Vec<[String; 3]>, pairs: &[(&Group<'_>, &Group<'_>)]) -> Comparison {
    use Align::Left;
    use std::cmp::Ordering::{Equal, Greater, Less};
    const FACTORS: [&str; 4] = ["memory", "cache", "placement", "variant"];
    let mut table = Table::new(&[
        ("bench", Left),
        ("first", Left),
        ("second", Left),
        ("in A", Left),
        ("in B", Left),
        ("agree", Left),
    ]);
    let word = |ordering| match ordering {
        Less => "first lower",
        Equal => "equal",
        Greater => "second lower",
    };
    let (mut agree, mut all) = (0, 0);
    for (i, first) in pairs.iter().enumerate() {
        for second in &pairs[i + 1..] {
            let apart = |side: fn(&(&Group<'_>, &Group<'_>)) -> Row| -> Vec<&str> {
                let (first, second) = (side(first), side(second));
                SETTINGS.iter().filter(|(_, tell)| tell(&first) != tell(&second)).map(|(name, _)| *name).collect()
            };
            let in_a = apart(|pair| pair.0.row.clone());
            if in_a.len() != 1 || !FACTORS.contains(&in_a[0]) || in_a != apart(|pair| pair.1.row.clone()) {
                continue;
            }
            let tell = |row: &Row| {
                let parts =
                    [row.memory.clone(), row.cache_state(), opt(row.placement.map(u64::from)), row.variant.clone()];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
            };
            let a = first.0.row.min.cmp(&second.0.row.min);
            let b = first.1.row.min.cmp(&second.1.row.min);
            all += 1;
            agree += usize::from(a == b);
            table.push(vec![
                first.0.row.bench.clone(),
                tell(first.0.row),
                tell(second.0.row),
                word(a).into(),
                word(b).into(),
                if a == b { "yes" } else { "no" }.into(),
            ]);
        }
    }
    let verdict = match all {
        0 => "direction only: no two settings that one factor tells apart are on both sides".into(),
        _ => format!("direction only: {agree} of {all} directions agree; no size is compared"),
    };
    Comparison { differs, table, overhead: overhead_of(pairs), headlines: Vec::new(), verdict, compared: all > 0 }
}

impl Comparison {
    /// As text for the terminal, with the names of both sides.
    pub fn text(&self, a: &str, b: &str) -> String {
        let mut out = format!("A: {a}\nB: {b}\n\n");
        if self.differs.is_empty() && self.compared {
            out += "Nothing differs in what is known of the settings.\n";
        } else if !self.differs.is_empty() {
            let mut table = Table::new(&[("differs", Align::Left), ("A", Align::Left), ("B", Align::Left)]);
            self.differs.iter().for_each(|row| table.push(row.to_vec()));
            let _ = writeln!(out, "{}", table.terminal());
        }
        if !self.table.is_empty() {
            let _ = writeln!(out, "\n{}\n", self.table.terminal());
        }
        if let Some(overhead) = &self.overhead {
            let _ = writeln!(out, "{overhead}\n");
        }
        for headline in &self.headlines {
            let _ = writeln!(out, "{headline}");
        }
        let _ = writeln!(out, "verdict: {}", self.verdict);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published;

    fn options(a: &[(&str, &str)], b: &[(&str, &str)], direction_only: bool) -> Compare {
        let own = |f: &[(&str, &str)]| f.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Compare { a: "A".into(), b: "B".into(), only_a: own(a), only_b: own(b), direction_only, self_tests: false }
    }

    fn plain() -> Compare {
        options(&[], &[], false)
    }

    fn row(memory: &str, placement: u32, min: u64) -> Row {
        Row {
            origin: Origin::Silicon,
            bench: "deep_stack".into(),
            board: "s32z280".into(),
            unit: "cycles".into(),
            memory: memory.into(),
            placement: Some(placement),
            min: Some(min),
            mean: Some(min),
            ..Row::default()
        }
    }

    #[test]
    fn m05_a_against_a_is_no_difference() {
        let rows = published::of("published:638").unwrap();
        let same = compare(&rows, &rows, &plain());
        assert!(same.differs.is_empty());
        assert_eq!(same.verdict, "no difference in 2 measurements compared");
        assert_eq!(same.headlines.len(), 2);
        assert!(same.headlines.iter().all(|h| h.contains("no difference at 4 of 4 placements")), "{same:?}");
    }

    #[test]
    fn m05_noise_of_five_runs_stands_beside_each_difference() {
        let run =
            |least: u64| (0..5).flat_map(move |i| [0, 16].map(|p| row("BTCM", p, least + 2 * i))).collect::<Vec<_>>();
        let within = compare(&run(1000), &run(1008), &plain());
        assert!(within.table.terminal().contains("| +8 (+0.8 %) |     8 |"), "{}", within.table.terminal());
        assert_eq!(within.headlines, ["deep_stack BTCM: no difference at 2 of 2 placements (noise 8)"]);
        let beyond = compare(&run(1000), &run(1009), &plain());
        assert_eq!(beyond.headlines, ["deep_stack BTCM: A is lower at 2 of 2 placements, by 9 (noise 8)"]);
        let once =
            compare(&[row("BTCM", 0, 1), row("BTCM", 16, 1)], &[row("BTCM", 0, 3), row("BTCM", 16, 2)], &plain());
        assert_eq!(
            once.headlines,
            ["deep_stack BTCM: A is lower at 2 of 2 placements, by 1 to 2 (noise unknown, 1 run)"]
        );
    }

    #[test]
    fn m05_the_same_in_five_images_is_no_repetition() {
        let of = |source: &str, repeat, min| Row { source: source.into(), repeat: Some(repeat), ..row("BTCM", 0, min) };
        let images: Vec<Row> = ["a", "b", "c", "d", "e"].map(|source| of(source, 1, 7)).into();
        let once = compare(&images, &images, &plain());
        assert!(once.headlines[0].ends_with("(noise unknown, 1 run)"), "{once:?}");
        let repeated: Vec<Row> = (1..=5).map(|repeat| of("a", repeat, u64::from(repeat))).collect();
        let five = compare(&repeated, &repeated, &plain());
        assert!(five.headlines[0].ends_with("(noise 4)"), "{five:?}");
        let mixed = [repeated, images].concat();
        assert!(compare(&mixed, &mixed, &plain()).headlines[0].contains("noise unknown"));
    }

    #[test]
    fn a_row_of_unknown_placement_is_not_one_of_a_family_with_known_ones() {
        let unknown = Row { placement: None, ..row("BTCM", 0, 40) };
        let rows: Vec<Row> =
            [0, 16, 32, 48].map(|placement| row("BTCM", placement, 34)).into_iter().chain([unknown]).collect();
        let same = compare(&rows, &rows, &plain());
        assert_eq!(same.headlines.len(), 2, "{same:?}");
        assert!(!same.verdict.contains("undecided"), "{same:?}");
    }

    #[test]
    fn only_what_all_placements_agree_on_is_a_headline() {
        let rows = published::of("published:638").unwrap();
        let memories = options(&[("memory", "BTCM")], &[("memory", "DRAM0")], false);
        let min = compare(&rows, &rows, &memories);
        assert_eq!(
            min.headlines,
            ["deep_stack 24x16 BTCM (A) / DRAM0 (B) cold: A is lower at 4 of 4 placements, by 122 to 364 \
              (noise unknown, 1 run)"]
        );
        let one = published::of("published:635").unwrap();
        let single = compare(&one, &one, &memories);
        assert!(
            single.headlines.iter().all(|h| h.contains("no headline: the placement of the code is not known")),
            "{single:?}"
        );
        let torn =
            compare(&[row("BTCM", 0, 10), row("BTCM", 16, 30)], &[row("BTCM", 0, 20), row("BTCM", 16, 20)], &plain());
        assert!(torn.headlines[0].contains("no headline: of 2 placements A is lower at 1, B at 1"), "{torn:?}");
    }

    #[test]
    fn m12_units_that_differ_are_refused_but_for_their_direction() {
        let emulated = |memory: &str, min| Row {
            origin: Origin::Emulated,
            bench: "context_switch".into(),
            board: "mps3-an536".into(),
            unit: "instructions".into(),
            cache: "cold".into(),
            memory: memory.into(),
            min: Some(min),
            ..Row::default()
        };
        let rows = [emulated("BTCM", 34), emulated("DRAM0", 34)];
        let published = published::of("published:635").unwrap();
        let refused = compare(&rows, &published, &plain());
        assert!(!refused.compared && refused.verdict.starts_with("not compared: units differ"));
        assert!(!refused.table.terminal().contains('%'));
        let named: Vec<_> = refused.differs.iter().map(|d| d[0].as_str()).collect();
        for name in ["kind", "board", "unit", "kernel", "opt", "compiler"] {
            assert!(named.contains(&name), "{named:?}");
        }
        let direction = compare(&rows, &published, &options(&[], &[], true));
        assert_eq!(direction.verdict, "direction only: 0 of 1 directions agree; no size is compared");
        assert!(
            direction.table.terminal().contains("| equal | first lower | no    |"),
            "{}",
            direction.table.terminal()
        );
    }

    #[test]
    fn each_row_meets_the_one_most_like_it() {
        let of = |language: &str, checks: &str, min| Row {
            language: language.into(),
            checks: checks.into(),
            ..row("BTCM", 0, min)
        };
        let all = [of("rust", "types", 34), of("c", "on", 60), of("c", "off", 40)];
        let same = compare(&all, &all, &plain());
        assert_eq!(same.verdict, "no difference in 3 measurements compared");
        let other = compare(&all[..1], &all[1..], &plain());
        assert_eq!(other.headlines.len(), 2, "both are equally unlike: {other:?}");
        assert!(other.differs.iter().any(|d| d == &["language".to_owned(), "rust".into(), "c".into()]));
    }

    #[test]
    fn nothing_in_common_is_said() {
        let none =
            compare(&published::of("published:635").unwrap(), &published::of("published:riot").unwrap(), &plain());
        assert!(!none.compared || none.verdict.contains("not compared"), "{none:?}");
        let none =
            compare(&published::of("published:634").unwrap(), &published::of("published:636").unwrap(), &plain());
        assert!(none.verdict.starts_with("nothing to compare"));
        let row = ["bench", "table_sweep", "deep_stack"].map(str::to_owned);
        assert!(none.differs.contains(&row) && none.text("x", "y").contains("| table_sweep"), "{none:?}");
        let rows = published::of("published:635").unwrap();
        let none = compare(&rows, &rows, &options(&[("memory", "XTCM")], &[], false));
        assert_eq!(none.verdict, "nothing to compare: no row of A has memory=XTCM; there are memory BTCM, DRAM0");
    }

    #[test]
    fn the_help_names_every_key() {
        use clap::{Args, Command};
        let help = Compare::augment_args(Command::new("compare")).render_long_help().to_string();
        let (_, keys) = help.split_once("Keys for --a and --b: ").unwrap();
        let keys = keys.split_once('.').unwrap().0.replace('\n', " ");
        let mut keys: Vec<&str> = keys.split(", ").map(str::trim).collect();
        let mut known: Vec<&str> = SETTINGS.iter().map(|(name, _)| *name).collect();
        known.push("source");
        keys.sort_unstable();
        known.sort_unstable();
        assert_eq!(keys, known);
    }

    #[test]
    fn filters_are_checked() {
        assert_eq!(filter("memory=BTCM"), Ok(("memory".into(), "BTCM".into())));
        assert!(filter("memory").is_err());
        assert!(filter("colour=red").unwrap_err().starts_with("no key colour: there are source, kind, board"));
    }
}
