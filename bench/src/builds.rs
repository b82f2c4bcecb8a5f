//! What an inlined relinquish costs and saves: the table of builds, of the C kernel too where C and Rust were
//! optimised together at link time, and the tools that this takes.

use std::fmt::Write;
use std::process::{Command, Stdio};

use crate::image::Places;
use crate::published;
use crate::row::{Origin, Row, Run};
use crate::table::{Align, Table, opt, overhead};

/// `lto` of an image whose linker did the link-time optimisation.
const BY_LINKER: &str = "linker";

/// What stands above the table.
const ABOVE: &str = "Pre is relinquish by call, post inlined down to the switch. Each image has one of them, so \
    that its `.text` (\"flash\") is that variant's. A tick is what the unit says, for two switches and the partner's \
    loop. Words (stored + loaded, 32 bits) are those of one switch, bytes those of code at each place that \
    relinquishes; both are decoded from the image. The path of the C kernel has branches, so that no words are read \
    from it.";

/// [`ABOVE`], and whether the ticks contain what reading the counter costs.
pub fn above(run: &Run) -> String {
    let Builds { inlined, across } = builds(&run.rows);
    let ours = inlined.into_iter().chain(across).flat_map(|(pre, post)| [pre, post]);
    let published = published::all();
    format!("{ABOVE} {}", overhead(ours.chain(&published)).unwrap_or_default())
}

/// What the document without the C kernel says of it.
pub const ELSEWHERE: &str = "The bundled kernel is Rust, so that fat LTO sees kernel and application as one and a \
    cross-language build is no question for it. For the C kernel it is: [cross-lto.md](cross-lto.md).";

/// Relinquish by call (pre) and inlined (post), each image with one of them, without and with fat LTO; the C
/// kernel without and with link-time optimisation across C and Rust, or `why_not`; below them the published ones.
/// The size is `.text` of the image for ours, the flash image for the published.
pub fn table(run: &Run, published: &[Row], why_not: Option<&str>) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("build", Left),
        ("flash pre", Right),
        ("flash post", Right),
        ("ticks pre", Right),
        ("ticks post", Right),
        ("words pre", Right),
        ("words post", Right),
        ("bytes pre", Right),
        ("bytes post", Right),
        ("unit", Left),
    ]);
    let line = |name: String, pre: &Row, post: &Row| {
        let (called, inlined) = (places(run, pre), places(run, post));
        let bytes = |places: Option<Places>| opt(places.map(|places| places.bytes.into()));
        let mut line = vec![name, opt(pre.text_bytes), opt(post.text_bytes), opt(pre.min), opt(post.min)];
        line.extend([words(called), words(inlined), bytes(called), bytes(inlined), pre.unit.clone()]);
        line
    };
    let Builds { inlined, across } = builds(&run.rows);
    for (pre, post) in inlined {
        table.push(line(format!("{}, {}, opt {}, LTO {}", pre.board, pre.kernel, pre.opt, pre.lto), pre, post));
    }
    for (pre, post) in &across {
        let calls = calls(run, post);
        let left = match calls {
            Some(0) => String::new(),
            Some(n) => format!(", not inlined: {n} calls left"),
            None => ", not known whether inlined".into(),
        };
        let name = format!(
            "{}, {}, opt {}, pre LTO off, post LTO across C and Rust{left}",
            post.board,
            without_lto(&post.kernel),
            post.opt
        );
        table.push(line(name, pre, post));
    }
    if let (true, Some(why)) = (across.is_empty(), why_not) {
        let pre = run.rows.iter().find(|row| alone(row, &run.rows) && is_c(row));
        let name = pre.map_or("C kernel".into(), |row| format!("{}, {}", row.board, row.kernel));
        let mut line = vec![format!("{name}, LTO across C and Rust")];
        line.extend([opt(pre.and_then(|row| row.text_bytes)), String::new()]);
        line.extend([opt(pre.and_then(|row| row.min)), String::new()]);
        line.extend([String::new(), String::new(), String::new(), String::new(), format!("not available: {why}")]);
        table.push(line);
    }
    let theirs: Vec<&Row> = published.iter().filter(|row| row.source == "published:riot").collect();
    for (pre, post) in pairs(&theirs) {
        table.push(line(format!("{}, RIOT, published", pre.board), pre, post));
    }
    table
}

/// Whether there is such a table of our own.
pub fn has(run: &Run) -> bool {
    let Builds { inlined, across } = builds(&run.rows);
    !inlined.is_empty() || !across.is_empty()
}

/// The table as a page of its own, for the C kernel.
///
/// # Errors
/// There is nothing to put into it.
pub fn page(run: &Run) -> Result<String, String> {
    if builds(&run.rows).across.is_empty() {
        return Err("no two images of the C kernel with and without LTO across C and Rust in these figures".into());
    }
    let mut out = format!(
        "# Relinquish across C and Rust\n\n{}\n\n{}\n## Images\n\n",
        above(run),
        table(run, &published::all(), None).markdown()
    );
    for (name, image) in &run.images {
        let known = |key: &str| image.environment.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
        let calls = image.relinquish.map_or(0, |seen| seen.called.count);
        let about = [known("kernel"), known("built with")].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "- `{name}`: {about}; {calls} calls of relinquish in it");
    }
    Ok(out)
}

/// The places of the variant that `row` is about.
fn places(run: &Run, row: &Row) -> Option<Places> {
    let seen = run.images.get(&row.source)?.relinquish?;
    Some(if row.variant == "inline" { seen.inlined } else { seen.called }).filter(|places| places.count > 0)
}

/// Calls of relinquish in the image of `row`.
fn calls(run: &Run, row: &Row) -> Option<u32> {
    Some(run.images.get(&row.source)?.relinquish?.called.count)
}

fn words(places: Option<Places>) -> String {
    let words = places.and_then(|places| Some((places.stored?, places.loaded?)));
    words.map_or(String::new(), |(stored, loaded)| format!("{stored} + {loaded}"))
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

/// Builds that differ in how they relinquish alone, each as call (pre) and inlined (post).
pub struct Builds<'r> {
    /// Inlined by hand, on the bundled kernel.
    pub inlined: Vec<(&'r Row, &'r Row)>,
    /// Inlined by the linker or not, on the C kernel.
    pub across: Vec<(&'r Row, &'r Row)>,
}

/// Those of `rows`.
pub fn builds(rows: &[Row]) -> Builds<'_> {
    let ours: Vec<&Row> = rows.iter().filter(|row| alone(row, rows)).collect();
    Builds { inlined: pairs(&ours), across: across(&ours) }
}

fn pairs<'r>(rows: &[&'r Row]) -> Vec<(&'r Row, &'r Row)> {
    let build = |row: &Row| [&row.board, &row.kernel, &row.opt, &row.lto, &row.unit].map(String::clone);
    let post = |pre: &Row| rows.iter().find(|post| post.variant == "inline" && build(post) == build(pre)).copied();
    rows.iter().filter(|pre| pre.variant == "call").filter_map(|pre| Some((*pre, post(pre)?))).collect()
}

/// Upstream's kernel says so in its name.
fn is_c(row: &Row) -> bool {
    row.kernel.contains("(C, ")
}

/// The name of a kernel without its link-time optimisation.
pub fn without_lto(kernel: &str) -> String {
    let words: Vec<&str> = kernel.split(' ').collect();
    let kept = words.iter().filter(|word| !word.starts_with("-flto")).copied().collect::<Vec<_>>().join(" ");
    // The last word may have closed a parenthesis.
    if kernel.ends_with(')') && !kept.ends_with(')') { kept + ")" } else { kept }
}

/// Images of the C kernel whose linker optimised C and Rust together, after the same without any LTO.
fn across<'r>(rows: &[&'r Row]) -> Vec<(&'r Row, &'r Row)> {
    let build = |row: &Row| [row.board.clone(), without_lto(&row.kernel), row.opt.clone(), row.unit.clone()];
    let both = |row: &Row| row.lto == BY_LINKER && is_c(row) && without_lto(&row.kernel) != row.kernel;
    let pre = |post: &Row| rows.iter().find(|pre| pre.lto == "off" && build(pre) == build(post)).copied();
    rows.iter().filter(|post| both(post)).filter_map(|post| Some((pre(post)?, *post))).collect()
}

/// Why there are no figures of such a build.
pub fn why_not(run: &Run, rustc: &str) -> String {
    let c_kernel = run.rows.iter().any(|row| row.origin != Origin::Published && is_c(row));
    match tools(rustc) {
        _ if !c_kernel => "no figures of the C kernel here (THREADX_DIR or scripts/get-threadx.sh)".into(),
        Err(why) => why,
        Ok((clang, linker)) => format!("not among these figures, though {clang} and {linker} would do"),
    }
}

/// A clang and a linker that can optimise C together with the Rust of `rustc`: a linker reads the bitcode of its
/// own LLVM and of older ones.
///
/// # Errors
/// What is missing.
pub fn tools(rustc: &str) -> Result<(String, String), String> {
    let ask = |program: &str, option: &str| -> Option<String> {
        let output = Command::new(program).arg(option).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(rust) = ask(rustc, "-vV").and_then(|text| after(&text, "LLVM version: ")) else {
        return Err(format!("{rustc} does not tell its LLVM"));
    };
    let found = |base: &str, marker: &str| -> Vec<(u32, String)> {
        let names = std::iter::once(base.to_owned()).chain((rust..rust + NEWER).map(|n| format!("{base}-{n}")));
        names.filter_map(|name| Some((after(&ask(&name, "--version")?, marker)?, name))).collect()
    };
    choose(rust, &found("clang", "clang version "), &found("ld.lld", "LLD "))
}

/// Versions after rustc's that are looked for under their own names.
const NEWER: u32 = 6;

fn choose(rust: u32, clangs: &[(u32, String)], linkers: &[(u32, String)]) -> Result<(String, String), String> {
    let needed = format!("of LLVM {rust} or newer, as rustc has LLVM {rust} (scripts/setup.sh --cross-lto)");
    let Some((version, clang)) = clangs.iter().filter(|(version, _)| *version >= rust).min() else {
        return Err(match clangs.first() {
            Some((version, name)) => format!("{name} is of LLVM {version}, it takes a clang {needed}"),
            None => format!("no clang here, it takes one {needed}"),
        });
    };
    let Some((_, linker)) = linkers.iter().filter(|(reads, _)| reads >= version).min() else {
        return Err(match linkers.first() {
            Some((reads, name)) => format!("{name} is of LLVM {reads} and does not read what {clang} writes"),
            None => format!("no ld.lld here, it takes one of LLVM {version} or newer beside {clang}"),
        });
    };
    Ok((clang.clone(), linker.clone()))
}

/// The major number that follows `marker`.
fn after(text: &str, marker: &str) -> Option<u32> {
    let (_, rest) = text.split_once(marker)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Relinquish;
    use crate::row::Image;

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

    fn image(called: Places, inlined: Places) -> Image {
        Image { relinquish: Some(Relinquish { called, inlined }), ..Image::default() }
    }

    fn places(count: u32, bytes: u32, words: Option<(u32, u32)>) -> Places {
        Places { count, bytes, stored: words.map(|w| w.0), loaded: words.map(|w| w.1) }
    }

    fn four_builds() -> Run {
        let mut run = Run::new(vec![
            row("a", "call", "off", 34, 100),
            row("b", "inline", "off", 26, 110),
            row("c", "call", "fat", 34, 90),
            row("d", "inline", "fat", 26, 95),
        ]);
        for name in ["a", "c"] {
            run.images.insert(name.into(), image(places(2, 4, Some((30, 32))), Places::default()));
        }
        for name in ["b", "d"] {
            run.images.insert(name.into(), image(places(0, 4, Some((30, 32))), places(3, 44, Some((14, 16)))));
        }
        run
    }

    /// The C kernel by clang, without and with LTO across languages, of which `calls` are left.
    fn with_c_kernel(calls: u32) -> Run {
        let mut run = four_builds();
        let of = |source: &str, kernel: &str, lto: &str, min: u64, text: u64| Row {
            kernel: kernel.into(),
            ..row(source, "call", lto, min, text)
        };
        run.rows.push(of("gcc", "ThreadX 1 (C, port p, gcc 1 -O2)", "off", 169, 200));
        run.rows.push(of("clang", "ThreadX 1 (C, port p, clang 1 -O2)", "off", 173, 210));
        run.rows.push(of("cross", "ThreadX 1 (C, port p, clang 1 -O2 -flto=thin)", "linker", 168, 220));
        run.images.insert("clang".into(), image(places(3, 4, None), Places::default()));
        run.images.insert("cross".into(), image(places(calls, 4, None), Places::default()));
        run
    }

    #[test]
    fn four_builds_are_two_lines() {
        let mut run = four_builds();
        insta::assert_snapshot!(table(&run, &published::all(), None).terminal());
        assert!(has(&run));
        // An image with both has one size for both, which belongs to neither.
        run.rows.iter_mut().for_each(|row| row.source = "suite".into());
        assert!(!has(&run));
    }

    #[test]
    fn the_c_kernel_stands_beside_its_own_build_without() {
        let csv = table(&with_c_kernel(0), &[], Some("not used")).csv();
        let line = "\"mps3-an536, ThreadX 1 (C, port p, clang 1 -O2), opt 3, pre LTO off, post LTO across C and Rust\"\
                    ,210,220,173,168,,,4,,instructions\n";
        assert!(csv.ends_with(line) && !csv.contains("not used"), "{csv}");
        // What the linker left as calls is not called inlined.
        let csv = table(&with_c_kernel(3), &[], None).csv();
        assert!(csv.contains("across C and Rust, not inlined: 3 calls left"), "{csv}");
        let page = page(&with_c_kernel(0)).unwrap();
        assert!(page.contains("- `cross`: ; 0 calls of relinquish") && page.contains("samr21-xpro"), "{page}");
    }

    #[test]
    fn what_is_not_available_is_said_in_the_table() {
        let mut run = with_c_kernel(0);
        run.rows.pop();
        let csv = table(&run, &[], Some("no clang")).csv();
        assert!(csv.ends_with("200,,169,,,,,,not available: no clang\n"), "{csv}");
        assert!(super::page(&run).unwrap_err().contains("no two images"));
        assert_eq!(why_not(&run, "/nonexistent"), "/nonexistent does not tell its LLVM");
        let run = four_builds();
        let why = why_not(&run, "/nonexistent");
        assert!(why.starts_with("no figures of the C kernel here"), "{why}");
        let csv = table(&run, &[], Some(&why)).csv();
        assert!(csv.contains("\"C kernel, LTO across C and Rust\",,,,,,,,,not available: no figures"), "{csv}");
    }

    #[test]
    fn the_closest_clang_and_a_linker_that_reads_it() {
        let tools = |list: &[(u32, &str)]| list.iter().map(|(n, name)| (*n, (*name).to_owned())).collect::<Vec<_>>();
        for (clangs, linkers, says) in [
            (tools(&[]), tools(&[(21, "ld.lld")]), "no clang here, it takes one of LLVM 21 or newer"),
            (tools(&[(14, "clang")]), tools(&[(21, "ld.lld")]), "clang is of LLVM 14"),
            (tools(&[(21, "clang-21")]), tools(&[]), "no ld.lld here"),
            (tools(&[(22, "clang-22")]), tools(&[(21, "ld.lld")]), "ld.lld is of LLVM 21 and does not read"),
        ] {
            let why = choose(21, &clangs, &linkers).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
        let chosen = choose(
            21,
            &tools(&[(14, "clang"), (23, "clang-23"), (22, "clang-22")]),
            &tools(&[(21, "ld.lld"), (24, "ld.lld-24"), (22, "ld.lld-22")]),
        );
        assert_eq!(chosen, Ok(("clang-22".into(), "ld.lld-22".into())));
        assert_eq!(after("clang version 14.0.6 (x)", "clang version "), Some(14));
        assert!(super::tools("/nonexistent").unwrap_err().contains("does not tell its LLVM"));
    }

    #[test]
    fn the_name_of_a_kernel_without_its_lto() {
        for (kernel, plain) in [
            ("ThreadX 1 (C, port p, clang 1 -O2 -flto=thin)", "ThreadX 1 (C, port p, clang 1 -O2)"),
            ("ThreadX 1 (C, port p, clang 1 -O2)", "ThreadX 1 (C, port p, clang 1 -O2)"),
            ("bundled", "bundled"),
        ] {
            assert_eq!(without_lto(kernel), plain);
        }
    }
}
