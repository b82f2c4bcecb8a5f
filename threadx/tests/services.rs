//! The table in `docs/services.md` names what there is, and all of it.

use std::collections::BTreeSet;
use std::fs::read_to_string;

const TABLE: &str = include_str!("../../docs/services.md");

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The first column's services, and those that have no row because they are raw only.
fn services() -> BTreeSet<&'static str> {
    let rows = TABLE.lines().filter_map(|line| quoted(line.strip_prefix("| `tx_").map(|_| line)?).next());
    let (_, raw) = TABLE.split_once("Through `threadx-sys` only").expect("the paragraph of raw services");
    let (raw, _) = raw.split_once("\n\n").expect("its end");
    rows.chain(quoted(raw).filter(|name| name.starts_with("tx_"))).collect()
}

#[test]
fn every_test_in_the_table_exists() {
    let mut tests = BTreeSet::new();
    let scenarios = ["cases", "contexts", "performance", "safe"]
        .map(|file| read_to_string(format!("{}/../scenarios/src/{file}.rs", env!("CARGO_MANIFEST_DIR"))).expect(file));
    for (file, test) in quoted(TABLE).filter_map(|name| name.split_once("::")) {
        if file == "scenarios" {
            let function = format!("fn {test}() -> Outcome");
            assert!(scenarios.iter().any(|source| source.contains(&function)), "{file}::{test}: no such scenario");
            tests.insert((file, test));
            continue;
        }
        let Ok(source) = read_to_string(format!("{}/tests/{file}.rs", env!("CARGO_MANIFEST_DIR"))) else {
            // A path of the crate, not a test's.
            assert!(!["Error", "Timeout"].contains(&file) || !test.contains('_'), "{file}::{test}");
            continue;
        };
        let function = format!("#[test]\nfn {test}()");
        assert!(source.contains(&function), "{file}::{test}: no such test");
        tests.insert((file, test));
    }
    let rows = TABLE.lines().filter(|line| line.starts_with("| `tx_"));
    for row in rows {
        let last = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let shown: Vec<_> = quoted(last).filter_map(|name| name.split_once("::")).collect();
        assert!(!shown.is_empty() && shown.iter().all(|test| tests.contains(test)), "{row}");
    }
}

/// Names in the source of a kernel's raw API.
fn raw_services(source: &'static str) -> BTreeSet<&'static str> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names = code.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    names
        .filter(|name| name.starts_with("tx_"))
        // Not in the User Guide: what critical sections are made of, and a field.
        .filter(|name| !name.starts_with("tx_thread_preempt_disable") && *name != "tx_thread_stack_start")
        .collect()
}

#[test]
fn every_service_of_both_kernels_is_in_the_table() {
    let both = raw_services(include_str!("../../threadx-sys/src/services.rs"));
    let with = |kernel| both.union(&raw_services(kernel)).copied().collect::<BTreeSet<_>>();
    assert_eq!(with(include_str!("../../threadx-sys/src/bundled.rs")), services());
    assert_eq!(with(include_str!("../../threadx-sys/src/upstream.rs")), services());
}
