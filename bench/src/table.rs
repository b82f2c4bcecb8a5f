//! Tables for the terminal, Markdown, CSV and HTML.

use std::collections::BTreeSet;
use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, presets};

use crate::row::{Origin, Row};

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A table in no form yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With these columns and no rows.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        Self { columns: columns.iter().map(|(title, align)| ((*title).to_owned(), *align)).collect(), rows: Vec::new() }
    }

    /// Adds a row, which has a text for every column.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Its rows.
    #[cfg(test)]
    pub fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        self.rows.iter()
    }

    /// Without the columns that say the same in all of several rows, but for those in `keep`; and what they say.
    pub fn without_constant(self, keep: &[&str]) -> (String, Self) {
        if self.rows.len() < 2 {
            return (String::new(), self);
        }
        let constant = |at: usize| {
            let (title, _) = &self.columns[at];
            let first = &self.rows[0][at];
            !keep.contains(&title.as_str()) && self.rows.iter().all(|row| row[at] == *first)
        };
        let (gone, left): (Vec<usize>, Vec<usize>) = (0..self.columns.len()).partition(|&at| constant(at));
        let said = gone.iter().filter(|&&at| !self.rows[0][at].is_empty());
        let said: Vec<_> = said.map(|&at| format!("{} {}", self.columns[at].0, self.rows[0][at])).collect();
        let text = if said.is_empty() { String::new() } else { format!("All rows: {}.", said.join("; ")) };
        let columns = left.iter().map(|&at| self.columns[at].clone()).collect();
        let rows = self.rows.iter().map(|row| left.iter().map(|&at| row[at].clone()).collect()).collect();
        (text, Self { columns, rows })
    }

    /// With aligned columns, without line end; Markdown reads it as well.
    pub fn terminal(&self) -> String {
        let mut table = comfy_table::Table::new();
        table
            .load_preset(presets::ASCII_MARKDOWN)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(self.columns.iter().map(|(title, _)| title));
        for (column, (_, align)) in table.column_iter_mut().zip(&self.columns) {
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        table.add_rows(&self.rows);
        table.to_string()
    }

    /// As compact Markdown, with line end.
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        let escape = |text: &String| escape_markdown(text);
        let mut out = line(&mut self.columns.iter().map(|(title, _)| escape(title)));
        let rule = |align: &Align| if *align == Align::Left { "---" } else { "---:" };
        let _ = writeln!(out, "|{}|", self.columns.iter().map(|(_, a)| rule(a)).collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            out += &line(&mut row.iter().map(escape));
        }
        out
    }

    /// As comma-separated values (RFC 4180), with a line of titles.
    pub fn csv(&self) -> String {
        let field = |text: &String| {
            if text.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text.clone()
            }
        };
        let line = |cells: &mut dyn Iterator<Item = String>| cells.collect::<Vec<_>>().join(",") + "\n";
        let mut out = line(&mut self.columns.iter().map(|(title, _)| field(title)));
        for row in &self.rows {
            out += &line(&mut row.iter().map(field));
        }
        out
    }

    /// As an HTML table.
    pub fn html(&self) -> String {
        let class = |align: &Align| if *align == Align::Right { " class=\"n\"" } else { "" };
        let mut out = String::from("<div class=\"wide\"><table>\n<thead><tr>");
        for (title, align) in &self.columns {
            let _ = write!(out, "<th{}>{}</th>", class(align), escape(title));
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            out += "<tr>";
            for (text, (_, align)) in row.iter().zip(&self.columns) {
                let _ = write!(out, "<td{}>{}</td>", class(align), escape(text));
            }
            out += "</tr>\n";
        }
        out + "</tbody></table></div>\n"
    }
}

/// `text` as Markdown's text in one line: it neither ends a cell nor begins a tag.
pub fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Between backquotes nothing but the end of a cell means anything.
    let closed = text.matches('`').count().is_multiple_of(2);
    let mut code = false;
    for c in text.chars() {
        match c {
            '`' if closed => {
                code = !code;
                out.push(c);
            }
            '|' => out += "\\|",
            '\n' | '\r' => out.push(' '),
            '&' | '<' if code => out.push(c),
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '\\' | '`' if !code => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// `text` as HTML's text.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Rows that a terminal is shown; the whole matrix has fewer.
const SHOWN: usize = 1000;

/// The results, the differences between stacks and what the unit means; empty without rows.
pub fn tables(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let more = rows.len().saturating_sub(SHOWN);
    let rows = &rows[..rows.len() - more];
    let mut out = format!("\n{}\n", results(rows).terminal());
    let differences = differences(rows);
    if !differences.is_empty() {
        let _ = writeln!(out, "\n{}", differences.terminal());
    }
    for note in notes(rows) {
        let _ = writeln!(out, "\n{note}");
    }
    if more > 0 {
        let _ = writeln!(out, "\nand {more} more rows: txbench table --csv has all");
    }
    out += "\n";
    out
}

/// What must stand beside the figures of these rows, by their kinds.
pub fn notes(rows: &[Row]) -> Vec<String> {
    let kinds = [
        (
            Origin::Emulated,
            "Instructions counted in an emulator are not time: the memory of a stack, caches and wait\n\
             states have no effect on them, and they do not compare with cycles of a board.",
        ),
        (
            Origin::Modelled,
            "Modelled cycles come from a fitted timing model on top of an emulator. They were not measured on a board.",
        ),
        (
            Origin::Host,
            "Host data: measured on this machine under its operating system. They say nothing about a board.",
        ),
        (
            Origin::Published,
            "Published figures are second-hand: another compiler, kernel, optimisation and, mostly, another board.",
        ),
    ];
    let kinds = kinds.into_iter().filter(|(origin, _)| rows.iter().any(|row| row.origin == *origin));
    overhead(rows).into_iter().chain(kinds.map(|(_, note)| note.to_owned())).collect()
}

/// Whether the figures of these rows contain what reading the counter costs, and how much that is; nothing
/// where there are no figures.
pub fn overhead<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Option<String> {
    let (mut known, mut others) = (BTreeSet::new(), BTreeSet::new());
    for row in rows.into_iter().filter(|row| row.min.is_some()) {
        match row.overhead {
            Some(overhead) => known.insert(format!("{} {overhead} {}", row.counter, row.unit)),
            None if row.origin == Origin::Published => others.insert("published figures"),
            None => others.insert("figures without it in their record"),
        };
    }
    let own = (!known.is_empty()).then(|| {
        let costs = known.into_iter().collect::<Vec<String>>().join(", ");
        format!(
            "Figures contain the counter's own cost, which is not subtracted: {costs}. A difference of two has none of it."
        )
    });
    let unknown = (!others.is_empty()).then(|| {
        let whose = others.into_iter().collect::<Vec<_>>().join(" and ");
        format!("Whether {whose} contain a counter's own cost is not known.")
    });
    let texts: Vec<String> = own.into_iter().chain(unknown).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// A column: its title, its alignment, whether it stands even if it is empty, and its text.
type Column = (&'static str, Align, bool, fn(&Row) -> String);

/// All figures of every row. A column that no row has anything for is left out.
pub fn results(rows: &[Row]) -> Table {
    use Align::{Left, Right};
    let all: &[Column] = &[
        ("bench", Left, true, |r| r.bench.clone()),
        ("detail", Left, false, |r| r.detail.clone()),
        ("code", Left, true, code),
        ("origin", Left, false, |r| r.origin.name().into()),
        ("variant", Left, false, |r| r.variant.clone()),
        ("kernel", Left, true, |r| r.kernel.clone()),
        ("board", Left, true, |r| r.board.clone()),
        ("stack", Left, true, |r| r.memory.clone()),
        ("code in", Left, false, |r| r.code.clone()),
        ("control in", Left, false, |r| r.control.clone()),
        ("cache", Left, true, Row::cache_state),
        ("placement", Right, false, |r| opt(r.placement.map(u64::from))),
        ("opt", Left, false, |r| r.opt.clone()),
        ("lto", Left, false, |r| r.lto.clone()),
        ("tick", Left, false, |r| r.tick.clone()),
        ("unit", Left, true, |r| r.unit.clone()),
        ("n", Right, true, |r| opt(r.n)),
        ("excluded", Right, true, excluded),
        ("min", Right, true, |r| opt(r.min)),
        ("p50", Right, false, |r| opt(r.p50)),
        ("mean", Right, true, |r| opt(r.mean)),
        ("p90", Right, false, |r| opt(r.p90)),
        ("p99", Right, false, |r| opt(r.p99)),
        ("max", Right, true, |r| opt(r.max)),
        ("spread", Right, false, |r| if r.placement.is_some() { opt(r.spread()) } else { String::new() }),
        ("max at", Right, false, |r| opt(r.max_at)),
        ("sd", Right, false, |r| r.sd_hundredths.map_or(String::new(), |sd| format!("{}.{:02}", sd / 100, sd % 100))),
        ("first", Right, false, |r| if r.sd_hundredths.is_some() { opt(r.first) } else { String::new() }),
        ("min, ns", Right, false, |r| nanoseconds(r, r.min)),
        ("p50, ns", Right, false, |r| nanoseconds(r, r.p50)),
        ("p99, ns", Right, false, |r| nanoseconds(r, r.p99)),
        ("overhead", Right, false, |r| opt(r.overhead)),
        (".text", Right, false, |r| opt(r.text_bytes)),
    ];
    // Levels of optimisation stand in the table only where they differ, as they are in the banner, and beside figures
    // of this machine, which have none.
    let differs = |title: &str, text: fn(&Row) -> String| {
        !matches!(title, "opt" | "lto" | "tick" | "origin")
            || rows.iter().any(|row| text(row) != text(&rows[0]))
            || title == "opt" && rows.iter().any(|row| row.origin == Origin::Host)
    };
    let shown: Vec<_> = all
        .iter()
        .filter(|(title, _, always, text)| {
            *always || (differs(title, *text) && rows.iter().any(|row| !text(row).is_empty()))
        })
        .collect();
    let mut table = Table::new(&shown.iter().map(|(title, align, _, _)| (*title, *align)).collect::<Vec<_>>());
    for row in rows {
        table.push(shown.iter().map(|(_, _, _, text)| text(row)).collect());
    }
    table
}

/// A number, or nothing where it is unknown.
pub fn opt(value: Option<u64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// Samples left out, with the reason where it is known.
fn excluded(row: &Row) -> String {
    let reasons = [
        ("tick", row.excluded_tick),
        ("interrupt", row.excluded_interrupt),
        ("awake", row.excluded_awake),
        ("clock", row.excluded_clock),
    ];
    let known: Vec<_> = reasons.iter().filter_map(|(why, n)| n.map(|n| format!("{n} {why}"))).collect();
    match row.excluded {
        Some(n @ 1..) if !known.is_empty() => format!("{n} ({})", known.join(", ")),
        n => opt(n),
    }
}

/// `count` as a time, where the counter's rate is known.
fn nanoseconds(row: &Row, count: Option<u64>) -> String {
    match (row.counter_hz, count) {
        (Some(hz @ 1..), Some(count)) => format!("{:.0}", count as f64 * 1e9 / hz as f64),
        _ => String::new(),
    }
}

/// Each stack against BTCM, or against the first one where BTCM is missing, as far as all else that
/// is known of the two rows is equal.
fn differences(rows: &[Row]) -> Table {
    use Align::{Left, Right};
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows.iter().filter(|row| !row.memory.is_empty()) {
        match groups.iter_mut().find(|g| alike(g[0], row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let detailed = rows.iter().any(|row| !row.detail.is_empty());
    let placed = rows.iter().any(|row| row.placement.is_some());
    let mut columns = vec![("bench", Left)];
    columns.extend(detailed.then_some(("detail", Left)));
    columns.extend([("code", Left), ("kernel", Left), ("cache", Left)]);
    columns.extend(placed.then_some(("placement", Right)));
    columns.extend([("difference", Left), ("unit", Left), ("min", Right), ("mean", Right), ("max", Right)]);
    let mut table = Table::new(&columns);
    for group in &groups {
        let base = group.iter().find(|r| r.memory == "BTCM").unwrap_or(&group[0]);
        for other in group.iter().filter(|r| r.memory != base.memory) {
            let mut row = vec![base.bench.clone()];
            row.extend(detailed.then(|| base.detail.clone()));
            row.extend([code(base), base.kernel.clone(), base.cache_state()]);
            row.extend(placed.then(|| opt(base.placement.map(u64::from))));
            row.extend([
                format!("{} - {}", other.memory, base.memory),
                base.unit.clone(),
                difference(base.min, other.min),
                difference(base.mean, other.mean),
                difference(base.max, other.max),
            ]);
            table.push(row);
        }
    }
    table
}

/// The measuring code: its language and, for C, which services it calls.
pub fn code(row: &Row) -> String {
    match (row.language.as_str(), row.checks.as_str()) {
        ("c", "off") => "C, checks off".into(),
        ("c", _) => "C".into(),
        // Records without the key are from when there was no other.
        _ => "Rust".into(),
    }
}

/// Whether two rows differ by the memory alone, as far as is known.
fn alike(a: &Row, b: &Row) -> bool {
    // What is measured, and what is only about the series' place and outcome.
    let key = |r: &Row| Row {
        source: String::new(),
        cell: String::new(),
        repeat: None,
        memory: String::new(),
        n: None,
        excluded: None,
        excluded_tick: None,
        excluded_interrupt: None,
        excluded_awake: None,
        excluded_clock: None,
        min: None,
        p50: None,
        p90: None,
        p99: None,
        mean: None,
        sd_hundredths: None,
        max: None,
        max_at: None,
        first: None,
        samples: Vec::new(),
        excluded_at: Vec::new(),
        note: String::new(),
        ..r.clone()
    };
    key(a) == key(b)
}

/// `other - base`, and that in per cent of `base`; empty where one is unknown.
pub fn difference(base: Option<u64>, other: Option<u64>) -> String {
    let (Some(base), Some(other)) = (base, other) else {
        return String::new();
    };
    let by = i128::from(other) - i128::from(base);
    if by == 0 {
        return "0".into();
    }
    if base == 0 {
        return format!("{by:+}");
    }
    format!("{by:+} ({:+.1} %)", by as f64 * 100.0 / base as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_signed_and_relative_to_the_base() {
        let difference = |base, other| super::difference(Some(base), Some(other));
        assert_eq!(difference(1370, 1476), "+106 (+7.7 %)");
        assert_eq!(difference(1476, 1370), "-106 (-7.2 %)");
        assert_eq!(difference(40, 40), "0");
        assert_eq!(difference(0, 3), "+3");
        assert_eq!(difference(1, u64::from(u32::MAX)), "+4294967294 (+429496729400.0 %)");
        assert_eq!(super::difference(None, Some(1)), "");
    }

    fn row(memory: &str, cache: &str, min: u64) -> Row {
        Row {
            bench: "context_switch".into(),
            kernel: "bundled".into(),
            board: "s32z280".into(),
            origin: Origin::Silicon,
            memory: memory.into(),
            cache: cache.into(),
            unit: "cycles".into(),
            n: Some(256),
            excluded: Some(0),
            min: Some(min),
            mean: Some(min + 1),
            max: Some(min + 9),
            opt: "3".into(),
            lto: "fat".into(),
            ..Row::default()
        }
    }

    #[test]
    fn only_rows_that_differ_by_the_stack_alone_are_compared() {
        let mut other_kernel = row("CTCM", "cold", 1);
        other_kernel.kernel = "upstream".into();
        let mut other_flags = row("ATCM", "cold", 1);
        other_flags.opt = "s".into();
        let mut other_place = row("CTCM", "cold", 1);
        other_place.placement = Some(16);
        let all = [
            row("DRAM0", "cold", 110),
            row("BTCM", "cold", 100),
            row("BTCM", "warm", 90),
            other_kernel,
            other_flags,
            other_place,
        ];
        insta::assert_snapshot!(tables(&all));
    }

    #[test]
    fn without_btcm_the_first_stack_is_the_base() {
        let all = [row("ATCM", "cold", 100), row("DRAM0", "cold", 110)];
        assert!(differences(&all).terminal().contains("DRAM0 - ATCM"));
        assert!(differences(&all[..1]).is_empty());
        assert_eq!(tables(&[]), "");
    }

    #[test]
    fn every_form_keeps_odd_text_in_its_cell() {
        let mut table = Table::new(&[("a|b", Align::Left), ("n", Align::Right)]);
        table.push(vec!["x, \"y\" <z> | &".into(), "1".into()]);
        assert_eq!(table.csv(), "a|b,n\n\"x, \"\"y\"\" <z> | &\",1\n");
        assert_eq!(table.markdown(), "| a\\|b | n |\n|---|---:|\n| x, \"y\" &lt;z> \\| &amp; | 1 |\n");
        for (text, escaped) in
            [("`a<b` <c>", "`a<b` &lt;c>"), ("`<", "\\`&lt;"), ("a\nb\\", "a b\\\\"), ("`a|b`", "`a\\|b`")]
        {
            assert_eq!(escape_markdown(text), escaped);
        }
        assert!(table.html().contains("<td>x, &quot;y&quot; &lt;z&gt; | &amp;</td><td class=\"n\">1</td>"));
    }

    #[test]
    fn what_all_rows_say_is_said_once() {
        let rows = [row("BTCM", "cold", 1), row("DRAM0", "cold", 1)];
        let (text, table) = results(&rows).without_constant(&["min"]);
        assert!(text.starts_with("All rows: bench context_switch; code Rust; kernel bundled;"), "{text}");
        assert_eq!(table.csv(), "stack,min\nBTCM,1\nDRAM0,1\n");
        let (text, table) = results(&rows[..1]).without_constant(&[]);
        assert!(text.is_empty() && table.csv().starts_with("bench,"));
    }

    #[test]
    fn a_terminal_is_not_flooded() {
        let text = tables(&vec![row("BTCM", "cold", 1); SHOWN + 7]);
        assert_eq!(text.matches("| context_switch").count(), SHOWN);
        assert!(text.ends_with("and 7 more rows: txbench table --csv has all\n\n"), "{}", &text[text.len() - 200..]);
        assert!(!tables(&vec![row("BTCM", "cold", 1); SHOWN]).contains("more rows"));
    }

    #[test]
    fn what_a_kind_of_figure_means_stands_below_it() {
        let mut rows = vec![row("BTCM", "cold", 1)];
        let unknown = "Whether figures without it in their record contain a counter's own cost is not known.";
        assert_eq!(notes(&rows), [unknown], "measured on a board");
        for origin in [Origin::Emulated, Origin::Modelled, Origin::Host, Origin::Published] {
            rows[0].origin = origin;
            assert_eq!(notes(&rows).len(), 2, "{origin:?}");
        }
    }

    #[test]
    fn whether_the_counters_own_cost_is_in_the_figures_stands_beside_them() {
        let mut rows = vec![row("BTCM", "cold", 40), row("DRAM0", "cold", 40)];
        for row in &mut rows {
            (row.counter, row.overhead) = ("PMCCNTR".into(), Some(3));
        }
        let own = "Figures contain the counter's own cost, which is not subtracted: PMCCNTR 3 cycles. A difference of \
                   two has none of it.";
        assert_eq!(overhead(&rows).as_deref(), Some(own));
        assert!(tables(&rows).contains(own) && tables(&rows).contains("| overhead |"));
        let (same, _) = results(&rows).without_constant(&[]);
        assert!(same.contains("; overhead 3"), "{same}");
        rows.push(Row { origin: Origin::Published, overhead: None, ..rows[0].clone() });
        let both = overhead(&rows).unwrap();
        assert_eq!(both, format!("{own} Whether published figures contain a counter's own cost is not known."));
        rows.iter_mut().for_each(|row| row.min = None);
        assert_eq!(overhead(&rows), None);
    }
}
