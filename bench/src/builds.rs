//! What an inlined relinquish costs and saves: the table of four builds, and whether a fifth one, with
//! link-time optimisation across C and Rust, can be made on this machine.

use std::process::{Command, Stdio};

use crate::row::{Origin, Row};
use crate::table::{Align, Table, opt};

/// Relinquish by call (pre) and inlined (post), each image with one of them, without and with fat LTO; below
/// them the published ones. The size is `.text` of the image for ours, the flash image for the published.
pub fn table(rows: &[Row], published: &[Row]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("build", Left),
        ("flash pre", Right),
        ("flash post", Right),
        ("ticks pre", Right),
        ("ticks post", Right),
        ("unit", Left),
    ]);
    let ours: Vec<&Row> = rows.iter().filter(|row| alone(row, rows)).collect();
    for (pre, post) in pairs(&ours) {
        let name = format!("{}, {}, opt {}, LTO {}", pre.board, pre.kernel, pre.opt, pre.lto);
        table.push(line(name, pre, post));
    }
    let theirs: Vec<&Row> = published.iter().filter(|row| row.source == "published:riot").collect();
    for (pre, post) in pairs(&theirs) {
        table.push(line(format!("{}, RIOT, published", pre.board), pre, post));
    }
    table
}

/// Whether there is such a table of our own.
pub fn has(rows: &[Row]) -> bool {
    let ours: Vec<&Row> = rows.iter().filter(|row| alone(row, rows)).collect();
    !pairs(&ours).is_empty()
}

fn line(name: String, pre: &Row, post: &Row) -> Vec<String> {
    vec![name, opt(pre.text_bytes), opt(post.text_bytes), opt(pre.min), opt(post.min), pre.unit.clone()]
}

/// Whether `row` is a warm round trip of an image that has one variant only, so that its size is the
/// variant's.
fn alone(row: &Row, rows: &[Row]) -> bool {
    let switch = |row: &Row| row.bench == "context_switch" && matches!(row.variant.as_str(), "call" | "inline");
    row.origin != Origin::Published
        && switch(row)
        && (row.memory.as_str(), row.cache.as_str(), row.language.as_str()) == ("BTCM", "warm", "rust")
        && row.text_bytes.is_some()
        && row.repeat.is_none_or(|n| n == 1)
        && row.placement.is_none()
        && rows
            .iter()
            .filter(|other| switch(other) && other.source == row.source)
            .all(|other| other.variant == row.variant)
}

fn pairs<'r>(rows: &[&'r Row]) -> Vec<(&'r Row, &'r Row)> {
    let build = |row: &Row| [&row.board, &row.kernel, &row.opt, &row.lto, &row.unit].map(String::clone);
    let post = |pre: &Row| rows.iter().find(|post| post.variant == "inline" && build(post) == build(pre)).copied();
    rows.iter().filter(|pre| pre.variant == "call").filter_map(|pre| Some((*pre, post(pre)?))).collect()
}

/// Why the C kernel cannot be optimised together with Rust at link time on this machine, or that it could.
///
/// It takes a clang that writes the bitcode of the LLVM that rustc has, and a linker that reads it.
pub fn cross_language(rustc: &str) -> String {
    let ask = |program: &str, option: &str| -> Option<String> {
        let output = Command::new(program).arg(option).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(rust) = ask(rustc, "-vV").and_then(|text| after(&text, "LLVM version: ")) else {
        return format!("not available: {rustc} does not tell its LLVM");
    };
    let names = |base: &str| [base.to_owned(), format!("{base}-{rust}")];
    let clang =
        names("clang").into_iter().find_map(|name| Some((after(&ask(&name, "--version")?, "clang version ")?, name)));
    let linker = names("ld.lld").into_iter().find_map(|name| Some((after(&ask(&name, "--version")?, "LLD ")?, name)));
    availability(rust, clang.as_ref(), linker.as_ref())
}

fn availability(rust: u32, clang: Option<&(u32, String)>, linker: Option<&(u32, String)>) -> String {
    match (clang, linker) {
        (None, _) => format!("not available: no clang on this machine (one of LLVM {rust}, as rustc has, is needed)"),
        (Some((version, name)), _) if *version != rust => {
            format!(
                "not available: {name} is LLVM {version}, rustc has LLVM {rust}, and bitcode of one is not read by the other"
            )
        }
        (_, None) => format!("not available: no ld.lld on this machine (LLVM {rust} or newer is needed)"),
        (_, Some((version, name))) if *version < rust => {
            format!("not available: {name} is LLVM {version} and does not read bitcode of LLVM {rust}")
        }
        (Some((_, clang)), Some((_, linker))) => format!(
            "possible with {clang} and {linker} of this machine, not measured: the build of this project compiles and optimises the C kernel apart from Rust"
        ),
    }
}

/// The major number that follows `marker`.
fn after(text: &str, marker: &str) -> Option<u32> {
    let (_, rest) = text.split_once(marker)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published;

    fn row(source: &str, variant: &str, lto: &str, min: u64, text: u64) -> Row {
        Row {
            source: source.into(),
            bench: "context_switch".into(),
            board: "mps3-an536".into(),
            kernel: "bundled".into(),
            language: "rust".into(),
            opt: "3".into(),
            unit: "instructions".into(),
            memory: "BTCM".into(),
            cache: "warm".into(),
            variant: variant.into(),
            lto: lto.into(),
            min: Some(min),
            text_bytes: Some(text),
            ..Row::default()
        }
    }

    #[test]
    fn four_builds_are_two_lines() {
        let mut rows = vec![
            row("a", "call", "off", 34, 100),
            row("b", "inline", "off", 26, 110),
            row("c", "call", "fat", 34, 90),
            row("d", "inline", "fat", 26, 95),
        ];
        insta::assert_snapshot!(table(&rows, &published::all()).terminal());
        assert!(has(&rows));
        // An image with both has one size for both, which belongs to neither.
        rows.iter_mut().for_each(|row| row.source = "suite".into());
        assert!(!has(&rows));
    }

    #[test]
    fn what_stands_against_a_build_across_languages_is_said() {
        let tool = |version, name: &str| Some((version, name.to_owned()));
        for (clang, linker, says) in [
            (None, tool(21, "ld.lld"), "no clang on this machine (one of LLVM 21"),
            (tool(14, "clang"), tool(21, "ld.lld"), "clang is LLVM 14, rustc has LLVM 21"),
            (tool(21, "clang-21"), None, "no ld.lld"),
            (tool(21, "clang-21"), tool(19, "ld.lld"), "ld.lld is LLVM 19"),
        ] {
            let text = availability(21, clang.as_ref(), linker.as_ref());
            assert!(text.starts_with("not available: ") && text.contains(says), "{text}");
        }
        assert!(availability(21, tool(21, "clang").as_ref(), tool(22, "ld.lld").as_ref()).starts_with("possible"));
        assert_eq!(after("clang version 14.0.6 (x)", "clang version "), Some(14));
        assert!(cross_language("/nonexistent").contains("does not tell its LLVM"));
    }
}
