//! Tables for the terminal, in a form that Markdown reads as well.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::log::Record;

/// A table of `rows` under `columns`, without line end.
pub fn render<const N: usize>(columns: &[(&str, CellAlignment); N], rows: &[[String; N]]) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(columns.map(|(title, _)| title));
    for (column, (_, alignment)) in table.column_iter_mut().zip(columns) {
        column.set_cell_alignment(*alignment);
    }
    table.add_rows(rows);
    table.to_string()
}

/// The results, the differences between stacks and what the unit means; empty without records.
pub fn tables(records: &[Record]) -> String {
    if records.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", results(records));
    if let Some(differences) = differences(records) {
        out += &format!("\n{differences}\n");
    }
    if records.iter().any(|r| r.unit == "instructions") {
        out += "\nInstructions counted in an emulator are not time: the memory of a stack, caches and wait\n\
                states have no effect on them, and they do not compare with cycles of a board.\n";
    }
    out += "\n";
    out
}

fn results(records: &[Record]) -> String {
    use CellAlignment::{Left, Right};
    let columns = [
        ("bench", Left),
        ("code", Left),
        ("kernel", Left),
        ("board", Left),
        ("stack", Left),
        ("cache", Left),
        ("unit", Left),
        ("n", Right),
        ("excluded", Right),
        ("min", Right),
        ("mean", Right),
        ("max", Right),
    ];
    let rows: Vec<_> = records
        .iter()
        .map(|r| {
            [
                r.bench.name().into(),
                code(r),
                r.kernel.clone(),
                r.board.clone(),
                r.stack.clone(),
                r.cache.name().into(),
                r.unit.clone(),
                r.n.to_string(),
                r.excluded.to_string(),
                r.min.to_string(),
                r.mean.to_string(),
                r.max.to_string(),
            ]
        })
        .collect();
    render(&columns, &rows)
}

/// Each stack against BTCM, or against the first one where BTCM is missing, as far as all else that
/// is known of the two records is equal.
fn differences(records: &[Record]) -> Option<String> {
    use CellAlignment::{Left, Right};
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for record in records {
        match groups.iter_mut().find(|g| comparable(g[0], record)) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    let mut rows = Vec::new();
    for group in &groups {
        let base = group.iter().find(|r| r.stack == "BTCM").unwrap_or(&group[0]);
        for other in group.iter().filter(|r| r.stack != base.stack) {
            rows.push([
                base.bench.name().into(),
                code(base),
                base.kernel.clone(),
                base.cache.name().into(),
                format!("{} - {}", other.stack, base.stack),
                base.unit.clone(),
                difference(base.min, other.min),
                difference(base.mean, other.mean),
                difference(base.max, other.max),
            ]);
        }
    }
    let columns = [
        ("bench", Left),
        ("code", Left),
        ("kernel", Left),
        ("cache", Left),
        ("difference", Left),
        ("unit", Left),
        ("min", Right),
        ("mean", Right),
        ("max", Right),
    ];
    (!rows.is_empty()).then(|| render(&columns, &rows))
}

/// The measuring code: its language and, for C, which services it calls.
fn code(record: &Record) -> String {
    match (record.language.as_str(), record.checks.as_str()) {
        ("c", "off") => "C, checks off".into(),
        ("c", _) => "C".into(),
        // Records without the key are from when there was no other.
        _ => "Rust".into(),
    }
}

fn comparable(a: &Record, b: &Record) -> bool {
    let key = |r: &Record| {
        let strings = [&r.kernel, &r.board, &r.unit, &r.opt, &r.lto, &r.counter].map(String::clone);
        (r.bench, r.cache, code(r), strings)
    };
    key(a) == key(b)
}

/// `other - base`, and that in per cent of `base`.
fn difference(base: u32, other: u32) -> String {
    let by = i64::from(other) - i64::from(base);
    if by == 0 {
        return "0".into();
    }
    if base == 0 {
        return format!("{by:+}");
    }
    format!("{by:+} ({:+.1} %)", by as f64 * 100.0 / f64::from(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_signed_and_relative_to_the_base() {
        assert_eq!(difference(1370, 1476), "+106 (+7.7 %)");
        assert_eq!(difference(1476, 1370), "-106 (-7.2 %)");
        assert_eq!(difference(40, 40), "0");
        assert_eq!(difference(0, 3), "+3");
        assert_eq!(difference(1, u32::MAX), "+4294967294 (+429496729400.0 %)");
    }

    fn record(stack: &str, cache: &str, min: u32) -> Record {
        serde_json::from_value(serde_json::json!({
            "schema": 1, "bench": "context_switch", "kernel": "bundled", "board": "mps3-an536",
            "stack": stack, "cache": cache, "unit": "cycles", "n": 256, "excluded": 0,
            "min": min, "mean": min + 1, "max": min + 9, "first": min, "opt": "3", "lto": "fat",
            "counter": "PMCCNTR", "overhead": 1,
        }))
        .unwrap()
    }

    #[test]
    fn only_records_that_differ_by_the_stack_alone_are_compared() {
        let mut other_kernel = record("CTCM", "cold", 1);
        other_kernel.kernel = "upstream".into();
        let mut other_flags = record("ATCM", "cold", 1);
        other_flags.opt = "s".into();
        let all = [
            record("DRAM0", "cold", 110),
            record("BTCM", "cold", 100),
            record("BTCM", "warm", 90),
            other_kernel,
            other_flags,
        ];
        insta::assert_snapshot!(tables(&all));
    }

    #[test]
    fn without_btcm_the_first_stack_is_the_base() {
        let all = [record("ATCM", "cold", 100), record("DRAM0", "cold", 110)];
        assert!(differences(&all).unwrap().contains("DRAM0 - ATCM"));
        assert_eq!(differences(&all[..1]), None);
        assert_eq!(tables(&[]), "");
    }
}
