//! All cells of all images, one after another, kept in a file as they come.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;

use crate::code;
use crate::files;
use crate::image::relinquish;
use crate::lines::Lines;
use crate::log::{Closing, Log};
use crate::qemu::{self, End, Qemu};
use crate::row::{Image, Part, Row, Run, is_self_test};
use crate::screen::{Failure, Progress, complain, show};

/// Bytes of cell names for one boot; an image takes a command line of 4000.
const WORDS: usize = 3500;
/// Time between two writes of the file while an image runs.
const SAVE: Duration = Duration::from_secs(2);

/// Exit code of an image that has no cell for a word of its command line.
const WRONG_WORD: u8 = 2;

/// Limit for an image to list its cells, or to run whole if it does not know how.
const LIST: Duration = Duration::from_secs(90);

/// What its files say wrote them.
const MATRIX: &str = "matrix";

/// Options of `txbench matrix`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  txbench matrix --image suite=target/.../suite --out run.json          all cells
  txbench matrix --image suite=... --quick --out run.json               the core set
  txbench matrix --image suite=... --shard 2/4 --out part2.json         a quarter of them
  txbench merge --out run.json part1.json part2.json part3.json part4.json   and together again
Called again with the same file it goes on where it stopped: cells that the file has are not run. An
image that says with `list` what its cells are gives one cell each; any other image is one cell.")]
pub struct Matrix {
    /// Image and its name in the results; may be repeated.
    #[arg(long = "image", value_name = "NAME=ELF", required = true, value_parser = image)]
    images: Vec<(String, PathBuf)>,
    /// File for the results, which is also what a stopped run goes on from.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Only cells whose names begin with this, for example context_switch/BTCM; may be repeated. With --quick: these too.
    #[arg(long, value_name = "CELL", value_parser = selection)]
    select: Vec<String>,
    /// Only the core set of each image.
    #[arg(long)]
    quick: bool,
    /// Run every cell as often; from 5 times on the noise is known.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// Only this part of the cells, the I-th of N.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// Begin anew although the file has results of a matrix, which are lost.
    #[arg(long)]
    fresh: bool,
    /// Limit for each boot of an image, in seconds.
    #[arg(long, value_name = "SECS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// QEMU to use.
    #[arg(long, value_name = "PATH", default_value = "qemu-system-arm")]
    qemu: PathBuf,
}

fn image(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("not NAME=ELF, for example suite=target/suite")?;
    if name.is_empty() || path.is_empty() {
        return Err("not NAME=ELF, for example suite=target/suite".into());
    }
    Ok((name.into(), path.into()))
}

fn selection(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(char::is_whitespace) || ["list", "quick"].contains(&text) {
        return Err("not the name of a cell or how one begins, for example context_switch/BTCM".into());
    }
    Ok(text.into())
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parse = || {
        let (i, n) = text.split_once('/')?;
        Some((i.parse().ok()?, n.parse().ok()?))
    };
    match parse() {
        Some((i, n)) if (1..=n).contains(&i) => Ok((i, n)),
        _ => Err("not I/N with I from 1 to N, for example 2/4".into()),
    }
}

/// What is left to run of one image: name and repeat.
type Job = (String, String, u32);

/// Runs what is missing.
///
/// # Errors
/// One line: an image, QEMU or the file cannot be used.
pub fn run(args: &Matrix) -> Result<u8, Failure> {
    let mut plan = files::Plan::default();
    for (_, elf) in &args.images {
        plan.reads(elf);
    }
    let kind = if args.fresh { files::Kind::Json(MATRIX) } else { files::Kind::Cells };
    plan.reads(&args.qemu).writes("--out", kind, &args.out).check()?;
    let _claim = files::Claim::of(&args.out)?;
    let qemu = Qemu::find(&args.qemu)?;
    let mut names = BTreeSet::new();
    for (name, elf) in &args.images {
        qemu::check_image(elf)?;
        if !names.insert(name) {
            return Err(format!("two images with the name {name}: give each its own").into());
        }
    }
    let cannot = |why: String| format!("cannot go on from {}: {why}", args.out.display());
    let known = match fs::read_to_string(&args.out) {
        Ok(text) if !args.fresh && !text.is_empty() => Run::from_json(&text).map_err(cannot)?,
        Err(e) if !args.fresh && e.kind() != ErrorKind::NotFound => return Err(cannot(e.to_string()).into()),
        _ => Run::new(Vec::new()),
    };
    let mut run = known.by(MATRIX);
    run.problems.clear();
    run.tell_newer(&args.out.display().to_string());
    let lacking = run.mend();
    for what in &lacking {
        complain(&format!("{}: {what}, measured again if it is asked for", args.out.display()));
    }
    let limit = Duration::from_secs(args.timeout);
    let mut jobs = Vec::new();
    for (name, elf) in &args.images {
        let bytes = fs::read(elf).map_err(|e| format!("cannot read {}: {e}", elf.display()))?;
        let crc32 = crc32fast::hash(&bytes);
        if run.images.get(name).is_some_and(|known| known.crc32 != crc32) {
            let out = args.out.display();
            return Err(format!(
                "{out} has results of another build of {name}: --fresh begins anew, --out another file keeps both"
            )
            .into());
        }
        let list = |words: &[String]| {
            list(&qemu, elf, words, limit).map_err(|e| match e {
                Failure::Says(what) => Failure::Says(format!("{name}: {what}")),
                unread => unread,
            })
        };
        let mut words: Vec<String> = args.select.clone();
        words.extend(args.quick.then(|| "quick".to_owned()));
        let cells = list(&words)?;
        if cells == [""] && !args.select.is_empty() {
            let why = "it does not list its cells, so that --select has none to choose from: leave one of the two out";
            return Err(format!("{name}: {why}").into());
        }
        // An image that does not know the question runs whole in any case.
        let all = if words.is_empty() || cells == [""] { Vec::new() } else { list(&[])? };
        let known = run.images.entry(name.clone()).or_default();
        known.crc32 = crc32;
        known.relinquish = relinquish(&bytes).ok();
        for cell in &cells {
            if !known.cells.contains(cell) {
                known.cells.push(cell.clone());
            }
        }
        let left_out: Vec<String> = all.into_iter().filter(|cell| !known.cells.contains(cell)).collect();
        known.part = (!left_out.is_empty()).then_some(Part { words, left_out });
        for repeat in 1..=args.repeat {
            jobs.extend(cells.iter().map(|cell| (name.clone(), cell.clone(), repeat)));
        }
    }
    let (part, parts) = args.shard.unwrap_or((1, 1));
    // Numbered before the ones that are done are left out, so that all shards agree.
    let mine: Vec<Job> = jobs.into_iter().skip(part - 1).step_by(parts).collect();
    let all = mine.len();
    let mut left: Vec<Job> = mine.into_iter().filter(|job| !run.done.contains(job)).collect();
    show(format!("{} of {all} cells to run\n", left.len()).as_bytes())?;

    if !lacking.is_empty() {
        save(&run, &args.out)?;
    }
    let progress = Progress::new("matrix", left.len());
    let mut failed = false;
    let mut undone = 0;
    while let Some(batch) = batch(&left) {
        let (name, _, repeat) = batch[0].clone();
        let Some((_, elf)) = args.images.iter().find(|(known, _)| *known == name) else { break };
        progress.at(&name);
        let whole = batch[0].1.is_empty();
        let words: Vec<String> = if whole { Vec::new() } else { batch.iter().map(|job| job.1.clone()).collect() };
        let before = run.done.len();
        let (log, end) = boot(&qemu, elf, &words, limit, |log, closed| {
            take(&mut run, log, closed, &name, &batch, repeat, &progress);
            save(&run, &args.out)
        })?;
        save(&run, &args.out)?;
        left.retain(|job| !run.done.contains(job));
        if end == End::Interrupted {
            progress.finish();
            complain(&format!(
                "interrupted: {} of {all} cells are in {}, the same command goes on",
                all - left.len(),
                args.out.display()
            ));
            return Ok(code::INTERRUPTED);
        }
        let ok = matches!(log.closing, Some(Closing::Done { ok: true, .. })) && end == End::Exited(0);
        if !ok || !log.problems.is_empty() {
            failed = true;
            let mut what: Vec<String> = log.failed_checks.clone();
            what.extend(log.problems.iter().map(ToString::to_string));
            what.push(match &end {
                End::Exited(code) => format!("exit code {code}"),
                End::Limit(limit) => format!("ended by the limit of {} s (--timeout)", limit.as_secs()),
                other => format!("{other:?}"),
            });
            run.problems.push(format!("{name}: {}", what.join("; ")));
        }
        if !log.failed_checks.is_empty() {
            // Figures of an image that found itself wrong are not kept as results: the next call runs these again.
            run.done.retain(|job| !batch.contains(job));
            let of_batch = |row: &Row| batch.contains(&(row.source.clone(), row.cell.clone(), row.repeat.unwrap_or(0)));
            run.rows.retain(|row| !of_batch(row));
            left.retain(|job| !batch.contains(job));
            undone += batch.len();
        } else if run.done.len() == before {
            // Nothing came of it: the first cell is what stopped it.
            let (_, cell, _) = left.remove(0);
            let ended = log.cells.iter().any(|(known, ended)| *known == cell && *ended);
            let what = if ended { "has no record" } else { "did not complete" };
            run.problems.push(format!("{name}: cell {cell} {what}"));
            undone += 1;
            failed = true;
        }
        save(&run, &args.out)?;
    }
    progress.finish();
    for problem in &run.problems {
        complain(problem);
    }
    let done = all - left.len() - undone;
    show(format!("{done} of {all} cells, {} rows in {}\n", run.rows.len(), args.out.display()).as_bytes())?;
    Ok(if failed { code::FAILED } else { 0 })
}

/// Cells that an image names when asked for these words; one without a name for an image that does not know the question.
fn list(qemu: &Qemu, elf: &Path, words: &[String], limit: Duration) -> Result<Vec<String>, Failure> {
    let mut words = words.to_vec();
    words.push("list".into());
    // An image that does not list runs whole here and is run again: only its first line is waited for.
    let (log, end) = boot(qemu, elf, &words, limit.min(LIST), |_, _| Ok(()))?;
    match (&log.closing, &end) {
        (_, End::Interrupted) => Err(String::from("interrupted").into()),
        (Some(Closing::Done { ok: true, .. }), _) if !log.cells.is_empty() => {
            Ok(log.cells.into_iter().map(|(name, _)| name).collect())
        }
        (Some(Closing::Done { ok: true, .. }), End::Exited(0)) if !log.rows.is_empty() => Ok(vec![String::new()]),
        (Some(Closing::Done { ok: false, detail }), End::Exited(WRONG_WORD)) if words.len() > 1 => {
            let what = detail.split(':').next().unwrap_or_default();
            Err(format!("--select: {what}; `txbench run {} --arg list` names its cells", elf.display()).into())
        }
        (_, End::Limit(limit)) => Err(format!("it did not list its cells within {} s", limit.as_secs()).into()),
        (Some(Closing::Done { detail, .. }), _) => Err(format!("it does not list its cells: {detail}").into()),
        _ => Err(String::from("it does not list its cells and is no measurement").into()),
    }
}

/// The next cells for one boot: of one image and one repeat, as many as fit.
fn batch(left: &[Job]) -> Option<Vec<Job>> {
    let first = left.first()?;
    let mut bytes = 0;
    let alike = left.iter().take_while(|job| {
        bytes += job.1.len() + 5;
        (&job.0, job.2) == (&first.0, first.2) && bytes <= WORDS
    });
    let mut batch: Vec<Job> = alike.cloned().collect();
    if batch.is_empty() {
        batch.push(first.clone());
    }
    Some(batch)
}

/// Boots and reads; `each` sees the log whenever a cell may have ended.
fn boot(
    qemu: &Qemu,
    elf: &Path,
    words: &[String],
    limit: Duration,
    mut each: impl FnMut(&Log, bool) -> Result<(), Failure>,
) -> Result<(Log, End), Failure> {
    let mut lines = Lines::new();
    let mut log = Log::default();
    let mut last = Instant::now();
    let end = qemu.boot(elf, words, limit, |bytes| {
        lines.feed(bytes, |line| log.take(&line));
        if last.elapsed() >= SAVE {
            last = Instant::now();
            each(&log, false)?;
        }
        Ok(())
    })?;
    lines.finish(|line| log.take(&line));
    log.finish();
    each(&log, true)?;
    Ok((log, end))
}

/// Moves what is complete of a log into the run.
fn take(run: &mut Run, log: &Log, closed: bool, name: &str, batch: &[Job], repeat: u32, progress: &Progress) {
    let rows = |cell: &str| {
        let own = move |row: &Row| Row { source: name.into(), repeat: Some(repeat), ..row.clone() };
        let of_cell: Vec<Row> = log.rows.iter().filter(|row| row.cell == cell).map(own).collect();
        of_cell
    };
    let mut complete: Vec<&str> = log.cells.iter().filter(|cell| cell.1).map(|cell| cell.0.as_str()).collect();
    if batch[0].1.is_empty() && closed && matches!(log.closing, Some(Closing::Done { .. })) {
        complete.push("");
    }
    for cell in complete {
        let job = (name.to_owned(), cell.to_owned(), repeat);
        let rows = rows(cell);
        // A result without figures is none.
        if batch.contains(&job) && (!rows.is_empty() || is_self_test(cell)) && run.done.insert(job) {
            run.rows.extend(rows);
            progress.step();
        }
    }
    if let Some(image) = run.images.get_mut(name)
        && image.environment.is_empty()
    {
        image.environment = log.environment.clone();
    }
}

/// Writes the file so that it is whole at every moment.
fn save(run: &Run, out: &Path) -> Result<(), Failure> {
    files::write(out, run.json().as_bytes()).map_err(Failure::Says)
}

/// Puts the results of several runs of [`run`] together.
///
/// # Errors
/// One line: they are of different builds, or have a cell twice with different figures.
pub fn merge(runs: &[(String, Run)]) -> Result<Run, String> {
    let mut all = Run::new(Vec::new());
    for (file, run) in runs {
        for (name, image) in &run.images {
            let known = all.images.entry(name.clone()).or_insert_with(|| Image { cells: Vec::new(), ..image.clone() });
            if known.crc32 != image.crc32 {
                return Err(format!("{file}: {name} is another build than in the files before it"));
            }
            for cell in &image.cells {
                if !known.cells.contains(cell) {
                    known.cells.push(cell.clone());
                }
            }
        }
        for row in &run.rows {
            let of_cell =
                |other: &&Row| (&other.source, &other.cell, other.repeat) == (&row.source, &row.cell, row.repeat);
            let twice = row.repeat.is_some()
                && all.done.contains(&(row.source.clone(), row.cell.clone(), row.repeat.unwrap_or(0)));
            if !twice {
                all.rows.push(row.clone());
            } else if !all.rows.iter().filter(of_cell).any(|other| other == row) {
                let cell = if row.cell.is_empty() { &row.source } else { &row.cell };
                return Err(format!(
                    "{file}: {cell} has other figures than in the files before it (another --repeat?)"
                ));
            }
        }
        all.done.extend(run.done.iter().cloned());
        for pair in &run.environment {
            if !all.environment.contains(pair) {
                all.environment.push(pair.clone());
            }
        }
        all.problems.extend(run.problems.iter().cloned());
    }
    // In the order of the images' own lists, whatever the order of the files.
    let place = |row: &Row| {
        let image = all.images.keys().position(|name| *name == row.source);
        let cells = all.images.get(&row.source).map(|image| &image.cells);
        (image.is_none(), image, row.repeat, cells.and_then(|cells| cells.iter().position(|cell| *cell == row.cell)))
    };
    let mut rows = all.rows.clone();
    rows.sort_by_key(place);
    all.rows = rows;
    for (name, image) in &all.images {
        let missing =
            image.cells.iter().filter(|cell| !all.done.iter().any(|(n, c, _)| n == name && c == *cell)).count();
        if missing > 0 {
            all.problems.push(format!("{name}: {missing} of {} cells are in none of the files", image.cells.len()));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_and_images_are_checked() {
        assert_eq!(shard("2/4"), Ok((2, 4)));
        for bad in ["0/4", "5/4", "2", "a/b", "1/0", ""] {
            assert!(shard(bad).is_err(), "{bad}");
        }
        assert_eq!(image("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert!(image("suite").is_err() && image("=x").is_err());
    }

    #[test]
    fn a_boot_gets_cells_of_one_image_that_fit() {
        let job = |image: &str, cell: String, repeat| (image.to_owned(), cell, repeat);
        let left = vec![job("a", "x".repeat(3000), 1), job("a", "y".repeat(1000), 1), job("b", "z".into(), 1)];
        assert_eq!(batch(&left).unwrap().len(), 1);
        assert_eq!(batch(&left[1..]).unwrap().len(), 1);
        assert_eq!(
            batch(&[job("a", "p".into(), 1), job("a", "q".into(), 1), job("a", "p".into(), 2)]).unwrap().len(),
            2
        );
        assert_eq!(batch(&[job("a", "x".repeat(9000), 1)]).unwrap().len(), 1);
        assert_eq!(batch(&[]), None);
    }

    fn part(cells: &[&str], crc32: u32, min: u64) -> Run {
        let mut run = Run::new(Vec::new());
        for cell in cells {
            let row =
                Row { source: "suite".into(), cell: (*cell).into(), repeat: Some(1), min: Some(min), ..Row::default() };
            run.rows.push(row);
            run.done.insert(("suite".into(), (*cell).into(), 1));
        }
        let all = vec!["a".into(), "b".into(), "c".into()];
        run.images.insert("suite".into(), Image { crc32, cells: all, ..Image::default() });
        run
    }

    #[test]
    fn parts_merge_in_the_images_order() {
        let merged = merge(&[("2".into(), part(&["b"], 7, 1)), ("1".into(), part(&["a", "c"], 7, 1))]).unwrap();
        assert_eq!(merged.rows.iter().map(|r| r.cell.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(merged.problems.is_empty());
        let holes = merge(&[("2".into(), part(&["b"], 7, 1))]).unwrap();
        assert_eq!(holes.problems, ["suite: 2 of 3 cells are in none of the files"]);
        let again = merge(&[("x".into(), part(&["b"], 7, 1)), ("y".into(), part(&["b"], 7, 1))]).unwrap();
        assert_eq!(again.rows.len(), 1);
        let other = merge(&[("x".into(), part(&["b"], 7, 1)), ("y".into(), part(&["b"], 7, 2))]);
        assert!(other.unwrap_err().starts_with("y: b has other figures"));
        let build = merge(&[("x".into(), part(&["a"], 7, 1)), ("y".into(), part(&["b"], 8, 1))]);
        assert!(build.unwrap_err().contains("another build"));
    }
}
