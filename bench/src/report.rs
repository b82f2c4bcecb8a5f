//! One page with everything: HTML for a browser, or Markdown for the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use measure::NOISE_RUNS;

use crate::builds;
use crate::compare::{Compare, compare};
use crate::counterparts;
use crate::plot::{self, Kind};
use crate::published;
use crate::row::{Part, Row, Run, placed};
use crate::table::{self, Align, Table, escape, escape_markdown};

/// A part of the page.
struct Section {
    title: &'static str,
    text: Vec<String>,
    /// Title, what stands above, table.
    tables: Vec<(String, String, Table)>,
}

/// Order and titles of the measurements.
const BENCHES: [(&str, &str); 9] = [
    ("context_switch", "Relinquish, round trip of two threads"),
    ("deep_stack", "Stack-heavy work"),
    ("table_sweep", "Table sweep"),
    ("event_handoff", "Two threads wake each other through event flags"),
    ("semaphore_handoff", "Two threads wake each other through semaphores"),
    ("interrupt_to_handler", "Interrupt to its handler"),
    ("interrupt_to_thread", "Interrupt to the thread that it wakes"),
    ("service", "Kernel services"),
    ("host_flip", "Two threads of the host wake each other"),
];

/// The one factor that an image has one setting of.
const CODE_MEMORY: &str = "All code in BRAM (A) against DDR (B), the kernel's too, in two images of one layout";

/// Columns that stand in a table of results even if all rows have the same there.
const FIGURES: [&str; 8] = ["stack", "min", "p50", "mean", "p90", "p99", "max", "sd"];

fn environment(run: &Run) -> Table {
    let mut table = Table::new(&[("of", Align::Left), ("what", Align::Left), ("value", Align::Left)]);
    for (name, value) in &run.environment {
        table.push(vec!["all".into(), name.clone(), value.clone()]);
    }
    for (image, known) in &run.images {
        // Where the linker put a function depends on the folder that it was built in.
        for (name, value) in known.environment.iter().filter(|(name, _)| name != "code") {
            table.push(vec![image.clone(), name.clone(), value.clone()]);
        }
    }
    table
}

/// Which part of the matrix these figures are, and how often each cell was run.
fn extent(run: &Run) -> Vec<String> {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    let mut fewest = u32::MAX;
    for (name, image) in &run.images {
        let runs = |cell: &String| run.done.iter().filter(|(n, c, _)| n == name && c == cell).count() as u32;
        let (Some(least), Some(most)) = (image.cells.iter().map(runs).min(), image.cells.iter().map(runs).max()) else {
            continue;
        };
        fewest = fewest.min(least);
        let times = match (least, most) {
            (1, 1) => "once".to_owned(),
            (least, most) if least == most => format!("{most} times"),
            (least, most) => format!("{least} to {most} times"),
        };
        let what =
            image.part.as_ref().map_or(format!("whole, run {times}"), |part| partial(part, &image.cells, &times));
        match said.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) => names.push(name),
            None => said.push((what, vec![name])),
        }
    }
    let line = |(what, names): (String, Vec<&str>)| format!("- `{}`: {what}.", names.join("`, `"));
    let mut text: Vec<String> = said.into_iter().map(line).collect();
    if run.images.values().any(|image| image.part.is_some()) {
        text.push("`scripts/bench.sh` without `--quick` and `--docs` runs all cells, the sweeps among them.".into());
    }
    if (fewest as usize) < NOISE_RUNS {
        text.push(format!(
            "The noise of a cell is known from {NOISE_RUNS} runs on (`scripts/bench.sh --repeat {NOISE_RUNS}`), so it is \
             not known here."
        ));
    }
    text
}

/// A part of `cells` of an image's cells in words, by measurement.
fn partial(part: &Part, cells: &[String], times: &str) -> String {
    let chosen = if part.words == ["quick"] { "the quick core".into() } else { part.words.join(", ") };
    let mut benches: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (cell, left_out) in part.left_out.iter().map(|cell| (cell, 1)).chain(cells.iter().map(|cell| (cell, 0))) {
        let (out, of) = benches.entry(cell.split('/').next().unwrap_or("")).or_default();
        *out += left_out;
        *of += 1;
    }
    let lacking = benches.iter().filter(|(_, (out, _))| *out > 0);
    let lacking: Vec<_> = lacking.map(|(bench, (out, of))| format!("{bench} {out} of {of}")).collect();
    let (run, all) = (cells.len(), cells.len() + part.left_out.len());
    format!("{chosen}, {run} of its {all} cells, each run {times}. Not here: {}", lacking.join(", "))
}

/// What may be said of one factor, everything else equal.
fn verdicts(rows: &[Row]) -> Vec<(String, Vec<String>)> {
    let only = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let rows = &placed(rows);
    let mut all = Vec::new();
    for (title, key, a, b) in [
        ("BTCM (A) against DRAM0 (B) for the stacks or the table", "memory", "BTCM", "DRAM0"),
        ("Warm (A) against cold (B)", "cache", "warm", "cold"),
        (
            "Polluted clean (A) against polluted dirty (B): a difference needs a cache that writes back",
            "cache",
            "polluted_clean",
            "polluted_dirty",
        ),
        ("Relinquish by call (A) against inlined (B)", "variant", "call", "inline"),
        (CODE_MEMORY, "code", "BRAM", "DDR"),
        ("Control: the same configuration twice, A against B", "detail", "A", "B"),
    ] {
        let args = Compare {
            a: String::new(),
            b: String::new(),
            only_a: vec![only(key, a)],
            only_b: vec![only(key, b)],
            direction_only: false,
            self_tests: true,
        };
        // Within one image, or one board and kernel where images are built to differ in nothing else: figures of
        // other two images differ by their placement alone already.
        let mut sentences: Vec<(String, Vec<&String>)> = Vec::new();
        let family = |row: &Row| {
            if title == CODE_MEMORY { format!("{}, {}", row.board, row.kernel) } else { row.source.clone() }
        };
        let families: BTreeSet<String> = rows.iter().map(family).collect();
        for of in &families {
            // Of the method's own tests only the control is asked what it says.
            let result = |row: &Row| row.bench != "service" && (key == "detail" || !row.of_self_test());
            let own: Vec<Row> = rows.iter().filter(|row| family(row) == *of && result(row)).cloned().collect();
            for sentence in together(&compare(&own, &own, &args).headlines) {
                match sentences.iter_mut().find(|(known, _)| *known == sentence) {
                    Some((_, others)) => others.push(of),
                    None => sentences.push((sentence, vec![of])),
                }
            }
        }
        let of = |(sentence, of): (String, Vec<&String>)| match of.len() {
            n if n == families.len() => sentence,
            _ => format!("{}, {sentence}", of.into_iter().cloned().collect::<Vec<_>>().join(" and ")),
        };
        if !sentences.is_empty() {
            all.push((title.to_owned(), sentences.into_iter().map(of).collect()));
        }
    }
    all
}

/// One sentence for all headlines of a measurement that say the same.
fn together(headlines: &[String]) -> Vec<String> {
    let mut groups: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    for headline in headlines {
        let (what, sentence) = headline.split_once(": ").unwrap_or((headline, ""));
        let (bench, setting) = what.split_once(' ').unwrap_or((what, ""));
        match groups.iter_mut().find(|(key, _)| *key == (bench, sentence)) {
            Some((_, settings)) => settings.push(setting),
            None => groups.push(((bench, sentence), vec![setting])),
        }
    }
    let sentence = |((bench, sentence), settings): ((&str, &str), Vec<&str>)| match &settings[..] {
        [only] => format!("{bench} {only}: {sentence}"),
        many => format!("{bench}, each of {} settings: {sentence}", many.len()),
    };
    groups.into_iter().map(sentence).collect()
}

fn sections(run: &Run, why_not: Option<&str>) -> Vec<Section> {
    let mut sections = Vec::new();
    let rows = &run.rows;
    let text = extent(run);
    if !text.is_empty() {
        sections.push(Section { title: "What was run", text, tables: Vec::new() });
    }
    let sentences = verdicts(rows);
    let mut text: Vec<String> = run.problems.iter().map(|problem| format!("PROBLEM: {problem}")).collect();
    // Before anything is said to be no different.
    text.extend(table::notes(rows).into_iter().map(|note| note.replace('\n', " ")));
    for (title, lines) in &sentences {
        text.push(format!("{title}:"));
        text.extend(lines.iter().map(|line| format!("- {line}")));
    }
    if sentences.is_empty() {
        text.push("No factor has two settings in these figures.".into());
    }
    sections.push(Section { title: "Verdicts", text, tables: Vec::new() });

    if builds::has(run) {
        let mut text = vec![builds::above(run)];
        if why_not.is_none() {
            text.push(builds::ELSEWHERE.to_owned());
        }
        let tables = vec![(String::new(), String::new(), builds::table(run, &published::all(), why_not))];
        sections.push(Section { title: "Inlined relinquish", text, tables });
    }

    let mut results = Section { title: "Results", text: Vec::new(), tables: Vec::new() };
    let known = |bench: &str| BENCHES.iter().find(|(name, _)| *name == bench).map(|(_, title)| *title);
    let mut names: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
    names.extend(rows.iter().map(|row| row.bench.as_str()).filter(|bench| known(bench).is_none()));
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        let own = |row: &&Row| row.bench == name && !row.of_self_test();
        let own: Vec<Row> = rows.iter().filter(own).cloned().collect();
        if !own.is_empty() && seen.insert(name) {
            let (same, table) = table::results(&own).without_constant(&FIGURES);
            let above = [same, table::overhead(&own).unwrap_or_default()].join(" ");
            results.tables.push((known(name).unwrap_or(name).to_owned(), above.trim().to_owned(), table));
        }
    }
    sections.push(results);

    let text = vec![
        "Second-hand figures of others. Where the units differ nothing is put into a ratio; instructions of an emulator \
         are not cycles."
            .to_owned(),
    ];
    let overhead = table::overhead(rows.iter().chain(&published::all())).unwrap_or_default();
    let tables = vec![
        ("Figures".to_owned(), overhead, counterparts::figures(rows)),
        ("Statements".to_owned(), counterparts::ABOVE.to_owned(), counterparts::statements(rows)),
    ];
    sections.push(Section { title: "Published figures and their counterparts", text, tables });
    sections.push(Section {
        title: "Environment",
        text: Vec::new(),
        tables: vec![(String::new(), String::new(), environment(run))],
    });
    sections
}

/// Rows of a table of the page that is folded.
const LONG: usize = 60;

const STYLE: &str = "\
body{font:15px/1.45 system-ui,sans-serif;color:#222;background:#fff;max-width:1180px;margin:2em auto;padding:0 1em}\
h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em;border-bottom:1px solid #ccc}h3{font-size:1em;margin-bottom:.3em}\
table{border-collapse:collapse;font-size:12.5px}th{text-align:left;background:#f2f2f2}\
th,td{padding:.2em .55em;border-bottom:1px solid #e4e4e4;vertical-align:top}.n{white-space:nowrap}summary{cursor:pointer;color:#555;font-size:13px}tbody tr:nth-child(even){background:#fafafa}.n{text-align:right;font-variant-numeric:tabular-nums}\
.wide{overflow-x:auto}ul{margin:.2em 0 .8em}figure{margin:1em 0;overflow-x:auto}figcaption{font-size:13px;color:#555}\
.problem{color:#a00;font-weight:bold}code{background:#f4f4f4}";

/// Whether a file's bytes are a page of [`html`].
pub fn is_html(bytes: &[u8]) -> bool {
    let last = bytes.len().saturating_sub(200);
    bytes.starts_with(b"<!doctype html>") && String::from_utf8_lossy(&bytes[last..]).contains("<p>txbench ")
}

/// Whether a file's bytes are a page of [`markdown`].
pub fn is_markdown(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.starts_with("# ") && ["## Verdicts", "## Environment"].iter().all(|title| text.lines().any(|l| l == *title))
}

/// The page as HTML, with nothing outside of it; `why_not`: why there is no build across C and Rust, for a run
/// that has none.
///
/// # Errors
/// What the drawing library says.
pub fn html(run: &Run, title: &str, why_not: &str) -> Result<String, String> {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>{STYLE}</style></head><body>\n<h1>{0}</h1>\n",
        escape(title)
    );
    for section in sections(run, Some(why_not)) {
        let _ = writeln!(out, "<h2>{}</h2>", section.title);
        let mut list = false;
        for line in &section.text {
            let item = line.strip_prefix("- ");
            if item.is_some() != list {
                out += if list { "</ul>\n" } else { "<ul>\n" };
                list = item.is_some();
            }
            let class = if line.starts_with("PROBLEM") { " class=\"problem\"" } else { "" };
            match item {
                Some(item) => drop(writeln!(out, "<li>{}</li>", marked(item))),
                None => drop(writeln!(out, "<p{class}>{}</p>", marked(line))),
            }
        }
        if list {
            out += "</ul>\n";
        }
        if section.title == "Results" {
            for kind in Kind::ALL.into_iter().filter(|kind| plot::has(*kind, &run.rows)) {
                let svg = plot::svg(kind, &run.rows)?;
                let _ = writeln!(
                    out,
                    "<figure>{svg}<figcaption>{}</figcaption></figure>",
                    escape(&kind.caption(&run.rows))
                );
            }
        }
        for (title, above, table) in &section.tables {
            if !title.is_empty() {
                let _ = writeln!(out, "<h3>{}</h3>", escape(title));
            }
            if !above.is_empty() {
                let _ = writeln!(out, "<p>{}</p>", escape(above));
            }
            // A reader looks for a row in a long one, and past it for anything else.
            if table.len() > LONG {
                let _ = writeln!(out, "<details><summary>{} rows</summary>\n{}</details>", table.len(), table.html());
            } else {
                out += &table.html();
            }
        }
    }
    let _ = writeln!(out, "<p>txbench {}</p>\n</body></html>", escape(&run.txbench));
    Ok(out)
}

/// Text with `code` in it, as HTML.
fn marked(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in escape(text).split('`').enumerate() {
        out += &if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() };
    }
    out
}

/// The page as Markdown, with the plots as files beside it in `plots`.
pub fn markdown(run: &Run, title: &str, plots: &str) -> String {
    let mut out = format!("# {}\n", escape_markdown(title));
    for section in sections(run, None) {
        let _ = writeln!(out, "\n## {}\n", section.title);
        let mut list = false;
        for line in &section.text {
            if list && !line.starts_with("- ") {
                out += "\n";
            }
            list = line.starts_with("- ");
            out += &escape_markdown(line);
            out += if list { "\n" } else { "\n\n" };
        }
        if list {
            out += "\n";
        }
        if section.title == "Results" {
            for kind in Kind::ALL.into_iter().filter(|kind| plot::has(*kind, &run.rows)) {
                let _ = writeln!(
                    out,
                    "![{0}]({plots}/{0}.svg)\n\n{1}.\n",
                    kind.name(),
                    escape_markdown(&kind.caption(&run.rows))
                );
            }
        }
        for (title, above, table) in &section.tables {
            if !title.is_empty() {
                let _ = writeln!(out, "### {}\n", escape_markdown(title));
            }
            if !above.is_empty() {
                let _ = writeln!(out, "{}\n", escape_markdown(above));
            }
            out += &table.markdown();
            out += "\n";
        }
    }
    let mut lines: Vec<&str> = out.trim_end().lines().collect();
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Image;
    use crate::row::example as row;

    #[test]
    fn the_page_needs_nothing_else_and_names_its_problems() {
        let mut run = Run::new(vec![row("context_switch", "BTCM", "cold"), row("context_switch", "DRAM0", "cold")]);
        run.problems.push("suite: <exit code 1>".into());
        run.environment.push(("kernel".into(), "bundled & more".into()));
        let page = html(&run, "Title <1>", "x").unwrap();
        for text in
            ["Title &lt;1&gt;", "PROBLEM: suite: &lt;exit code 1&gt;", "bundled &amp; more", "<svg", "are not time"]
        {
            assert!(page.contains(text), "{text}");
        }
        for outside in ["src=", "href=", "<script", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        let (first, note) = (page.find("BTCM (A) against DRAM0 (B)").unwrap(), page.find("are not time").unwrap());
        assert!(note < first, "what a count cannot show stands before what it does not show");
        assert_eq!(page.matches("<ul>").count(), page.matches("</ul>").count());
        assert!(page.contains("no difference, the placement of the code is not known"));
        assert!(is_html(page.as_bytes()) && !is_html(b"<!doctype html><p>mine</p>"));
    }

    #[test]
    fn images_that_differ_by_the_memory_of_their_code_are_compared_with_each_other() {
        let of = |source: &str, code: &str, kernel: &str, min: u64| {
            let at = move |placement: u32| Row {
                source: source.into(),
                code: code.into(),
                kernel: kernel.into(),
                placement: Some(placement),
                min: Some(min),
                mean: Some(min),
                max: Some(min),
                ..row("context_switch", "BTCM", "cold")
            };
            [at(0), at(16)]
        };
        let one = of("suite", "BRAM", "bundled", 34);
        assert!(verdicts(&one).is_empty());
        let images = [one, of("suite-ddr", "DDR", "bundled", 40)];
        let said = verdicts(images.as_flattened());
        let [(title, sentences)] = &said[..] else { panic!("{said:?}") };
        assert_eq!(title, CODE_MEMORY);
        assert!(
            sentences.len() == 1 && sentences[0].contains("A is lower at 2 of 2 placements, by 6"),
            "{sentences:?}"
        );
        // The other kernel's code elsewhere is no counterpart.
        let kernels = [images[0].clone(), of("suite-ddr", "DDR", "upstream", 40)];
        assert!(verdicts(kernels.as_flattened()).is_empty());
    }

    #[test]
    fn a_part_of_the_matrix_is_not_taken_for_all_of_it() {
        let mut run = Run::new(vec![row("context_switch", "BTCM", "cold")]);
        assert!(!markdown(&run, "Results", "plots").contains("What was run"), "a log is no part of a matrix");
        let names = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let cells = names(&["context_switch/BTCM", "deep_stack/BTCM"]);
        run.done.extend(cells.iter().map(|cell| ("suite".into(), cell.clone(), 1)));
        run.done.extend([("call".into(), String::new(), 1), ("inline".into(), String::new(), 1)]);
        let left_out = names(&["context_switch/CTCM", "service/BTCM"]);
        let part = Some(Part { words: names(&["quick"]), left_out });
        run.images.insert("suite".into(), Image { cells, part, ..Image::default() });
        for name in ["call", "inline"] {
            run.images.insert(name.into(), Image { cells: vec![String::new()], ..Image::default() });
        }
        let text = extent(&run).join("\n");
        let quick = "- `call`, `inline`: whole, run once.\n- `suite`: the quick core, 2 of its 4 cells, each run once. \
                     Not here: context_switch 1 of 2, service 1 of 1.\n`scripts/bench.sh` without";
        assert!(text.starts_with(quick) && text.contains("not known here"), "{text}");
        for image in run.images.values_mut() {
            image.part = None;
        }
        for repeat in 2..=5 {
            let again: Vec<_> = run.done.iter().map(|(image, cell, _)| (image.clone(), cell.clone(), repeat)).collect();
            run.done.extend(again);
        }
        assert_eq!(extent(&run), ["- `call`, `inline`, `suite`: whole, run 5 times."]);
    }

    #[test]
    fn tests_of_the_method_are_no_results() {
        let of = |cell: &str, detail: &str, memory: &str| Row {
            cell: cell.into(),
            detail: detail.into(),
            ..row("context_switch", memory, "cold")
        };
        let tests = [of("selftest/tick", "", "BTCM"), of("selftest/tick", "", "DRAM0")];
        assert!(verdicts(&tests).is_empty());
        let counterparts = counterparts::figures(&tests).csv();
        assert!(!counterparts.contains(",34,"), "{counterparts}");
        let control = [of("selftest/control", "A", "BTCM"), of("selftest/control", "B", "BTCM")];
        assert_eq!(verdicts(&control).len(), 1);
    }

    #[test]
    fn markdown_links_its_plots() {
        let run = Run::new(vec![row("context_switch", "BTCM", "cold")]);
        let text = markdown(&run, "Results", "plots");
        assert!(text.contains("](plots/distribution.svg)") && text.contains("### Relinquish, round trip"));
        let mut broken = run;
        broken.problems.push("suite: <exit code 1> | x".into());
        let broken = markdown(&broken, "A <b>", "plots");
        assert!(broken.contains("# A &lt;b>") && broken.contains("PROBLEM: suite: &lt;exit code 1> \\| x"), "{broken}");
        assert!(!text.contains("\n\n\n"));
        assert!(is_markdown(text.as_bytes()) && !is_markdown(b"# Mine\n\n## Environment\n"));
        assert!(is_markdown(include_bytes!("../../docs/results.md")), "scripts/bench.sh --docs replaces it");
        assert!(plot::is_svg(include_bytes!("../../docs/plots/distribution.svg")));
    }
}
