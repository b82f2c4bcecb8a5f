//! `txbench`: the host's side of the measurements and of the on-target tests.
//!
//! Boots an image in QEMU under a time limit, shows its UART live, reads the lines that
//! [`measure::line`] describes, prints tables and passes the guest's exit code on.
#![forbid(unsafe_code)]

mod builds;
mod compare;
mod counterparts;
mod files;
#[cfg(target_os = "linux")]
mod host_flip;
mod image;
mod judge;
mod lines;
mod log;
mod matrix;
mod model;
mod plot;
mod published;
mod qemu;
mod report;
mod row;
mod screen;
mod serial;
mod source;
mod table;
mod upstream;
mod validate;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand};

use crate::files::Kind;
use crate::judge::Verdict;
use crate::lines::Lines;
use crate::log::Log;
use crate::qemu::{End, Qemu};
use crate::screen::{Failure, complain, show};

/// Exit codes of `txbench` itself; a guest's own code is passed on as it is.
mod code {
    /// A self-check, a test or an expectation failed.
    pub const FAILED: u8 = 1;
    /// The arguments are wrong.
    pub const USAGE: u8 = 2;
    /// The log is cut, malformed or foreign in places.
    pub const LOG: u8 = 3;
    /// QEMU, a file, the serial port or standard output cannot be used.
    pub const UNUSABLE: u8 = 4;
    /// The time limit ended the guest.
    pub const LIMIT: u8 = 124;
    /// A signal ended `txbench`.
    pub const INTERRUPTED: u8 = 130;
}

/// Runs measurement and test images in QEMU and reads what they print.
#[derive(Parser)]
#[command(name = "txbench", version, after_help = format!("{EXIT_CODES}\n\n{}", files::RULE))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: the guest's own if it is not 0; else 0 all well, 1 a check, test or expectation failed,
2 wrong usage, 3 log cut, malformed or foreign in places, 4 QEMU, a file, the serial port or
standard output cannot be used, 124 time limit, 130 interrupted. All commands that read logs or JSON
files use what could be read of them, name the rest by file and line, and end with 3, or with 1 where
a self-check had failed.";

#[derive(Subcommand)]
enum Command {
    /// Boot an image in QEMU, or listen to a board, show its output live, end with the tables and the verdict. An image
    /// that prints no RECORD, test or closing line is judged by its exit code alone.
    Run(Run),
    /// Read a captured log and print its tables and verdict.
    Parse {
        /// Captured UART output, of an image of this project or of upstream's demo for the S32Z280.
        log: PathBuf,
        /// Print what was read as JSON; problems and verdict go to standard error.
        #[arg(long)]
        json: bool,
    },
    /// Check an image before it is flashed and print its memory map.
    Image {
        /// Image, a linked ELF file.
        elf: PathBuf,
        /// Board that it is for.
        #[arg(long, value_enum)]
        board: image::Board,
        /// It was built with `boot-at-el1`.
        #[arg(long)]
        boot_at_el1: bool,
    },
    /// Print the figures of logs, JSON files and publications as one table.
    Table(TableArgs),
    /// Time the switch between two threads of this machine, with each cache level polluted or not (Linux).
    #[cfg(target_os = "linux")]
    HostFlip(host_flip::HostFlip),
    /// Time the switch between two threads of this machine (Linux only).
    #[cfg(not(target_os = "linux"))]
    HostFlip,
    /// Put two runs, boards, kernels or published figures beside each other, with all that differs named.
    Compare(compare::Compare),
    /// Draw plots as SVG and PNG.
    Plot(PlotArgs),
    /// Run all cells of measurement images in QEMU, into a file that a stopped run goes on from.
    Matrix(matrix::Matrix),
    /// Put the files of several runs of `matrix` together, those of its shards for example.
    Merge {
        /// File to write, a result of merge.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Files to put together.
        #[arg(required = true, value_name = "SOURCE")]
        parts: Vec<String>,
    },
    /// Write one page with tables, plots, environment and verdicts.
    Report(ReportArgs),
    /// Print the builds of relinquish on the C kernel, with and without LTO across C and Rust, as a Markdown page.
    Builds {
        /// File of `matrix`.
        run: String,
    },
    /// Name the clang and the linker of this machine that can optimise C together with Rust at link time.
    CrossLto {
        /// The rustc that builds the images.
        #[arg(long, value_name = "PATH", default_value = "rustc")]
        rustc: String,
    },
    /// Hold the timing model against published figures.
    Validate(validate::Validate),
    /// Run images of on-target tests one after another and add up their results.
    Test(Test),
}

#[derive(Args)]
struct Machine {
    /// Limit for each image, in seconds.
    #[arg(long, value_name = "SECS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// QEMU to use.
    #[arg(long, value_name = "PATH", default_value = "qemu-system-arm")]
    qemu: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  txbench run target/armv8r-none-eabihf/release/demo
  txbench run target/.../suite --arg context_switch --json run.json
  txbench run --serial /dev/ttyUSB0 --log board.log --timeout 600")]
struct Run {
    /// Image to boot, an ELF file for 32-bit Arm.
    #[arg(required_unless_present = "serial", conflicts_with = "serial")]
    elf: Option<PathBuf>,
    /// Listen to a board at this serial port instead, until its log is closed or the limit is over.
    #[arg(long, value_name = "PORT")]
    serial: Option<PathBuf>,
    /// Speed of the serial port.
    #[arg(long, value_name = "BAUD", default_value_t = 115_200, value_parser = clap::value_parser!(u32).range(300..=4_000_000))]
    baud: u32,
    /// A word of the image's command line, a cell's name for example; may be repeated.
    #[arg(long, value_name = "WORD", conflicts_with = "serial")]
    arg: Vec<String>,
    /// Write what was read to this file as JSON. Not with --model, which has --modelled.
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    json: Option<PathBuf>,
    #[command(flatten)]
    machine: Machine,
    /// Write the UART's bytes to this file as well. Not with --model.
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    log: Option<PathBuf>,
    /// Succeed exactly when the guest exits with this code; no closing line is asked for. Not with --model.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["serial", "model"])]
    expect_exit: Option<u8>,
    /// Succeed only if a line of the output contains this text; may be repeated.
    #[arg(long, value_name = "TEXT")]
    expect: Vec<String>,
    #[command(flatten)]
    model: model::Options,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  txbench table board.log                       a captured log
  txbench table run.json published:638          this run above the published figures
  txbench table published:all --csv >all.csv    every published figure with its setting")]
struct TableArgs {
    /// Captured logs, JSON files of txbench, or published:635 and the like (published:all).
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// Only this measurement, for example context_switch.
    #[arg(long, value_name = "NAME")]
    bench: Option<String>,
    /// Markdown without padding.
    #[arg(long, conflicts_with = "csv")]
    markdown: bool,
    /// Comma-separated values.
    #[arg(long)]
    csv: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  txbench plot run.json                           all that the figures allow, into this folder
  txbench plot run.json --kind placement --out plots
  txbench plot published:638 --kind placement     what #638 found")]
struct PlotArgs {
    /// Captured logs, JSON files of txbench, or published:635 and the like.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// Only this plot.
    #[arg(long)]
    kind: Option<plot::Kind>,
    /// Folder for the files, created if it is not there.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
}

#[derive(Args)]
#[command(group = ArgGroup::new("pages").args(["html", "markdown"]).required(true).multiple(true))]
#[command(after_help = "\
Examples:
  txbench report run.json --html report.html
  txbench report run.json host.json --html report.html
  txbench report run.json --markdown docs/results.md      with SVG files in docs/plots")]
struct ReportArgs {
    /// Captured logs or JSON files of txbench.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// Self-contained HTML page to write.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Markdown page to write; its plots go to a folder `plots` beside it.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Title of the page.
    #[arg(long, value_name = "TEXT", default_value = "ThreadX from safe Rust: measurements")]
    title: String,
    /// The rustc that built the images, for the question whether C and Rust can be optimised together.
    #[arg(long, value_name = "PATH", default_value = "rustc")]
    rustc: String,
}

#[derive(Args)]
struct Test {
    /// Images to boot, ELF files for 32-bit Arm.
    #[arg(required = true)]
    elf: Vec<PathBuf>,
    #[command(flatten)]
    machine: Machine,
}

/// Says in one line what is wrong with the arguments; prints the help or the version that was asked for.
fn wrong_usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;

    let commands = Cli::command();
    let command = std::env::args().nth(1).filter(|name| commands.find_subcommand(name).is_some());
    let what = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.exit(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => "no command given".into(),
        _ => said(&error.render().to_string()),
    };
    let command = command.map_or(String::new(), |name| format!(" {name}"));
    complain(&format!("{what} (try `txbench{command} --help`)"));
    ExitCode::from(code::USAGE)
}

/// The lines of an error of `clap` up to the usage, as one.
fn said(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let mut said = String::new();
    for line in lines {
        said += match line {
            _ if said.is_empty() => "",
            _ if said.ends_with(':') || line.starts_with('[') => " ",
            _ if line.starts_with("tip:") => "; ",
            _ => ", ",
        };
        said += line.strip_prefix("error: ").unwrap_or(line);
    }
    said
}

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) => return wrong_usage(&error),
    };
    let result = match command {
        Command::Run(args) => run(&args),
        Command::Image { elf, board, boot_at_el1 } => image(&elf, board, boot_at_el1),
        Command::Parse { log, json } => parse(&log, json),
        Command::Table(args) => print_table(&args),
        Command::Matrix(args) => matrix::run(&args),
        Command::Merge { out, parts } => merge(&out, &parts),
        Command::Compare(args) => compare_sources(&args),
        Command::Report(args) => write_report(&args),
        Command::Plot(args) => plot_sources(&args),
        Command::Test(args) => test(&args),
        Command::Builds { run } => print_builds(&run),
        Command::CrossLto { rustc } => cross_lto(&rustc),
        Command::Validate(args) => validate::validate(&args),
        #[cfg(target_os = "linux")]
        Command::HostFlip(args) => host_flip(&args),
        #[cfg(not(target_os = "linux"))]
        Command::HostFlip => {
            Err(Failure::Says("host-flip works on Linux only: it pins threads and asks sysfs for the caches".into()))
        }
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            if let Failure::Says(what) = failure {
                complain(&what);
            }
            ExitCode::from(code::UNUSABLE)
        }
    }
}

/// What an image printed and how it ended.
struct Ran {
    log: Log,
    end: End,
    /// For each expected text, whether a line contained it.
    seen: Vec<bool>,
    /// Why the copy of the output is not whole, if it is not.
    lost: Option<String>,
}

/// Reads what `guest` hands over: shows it, copies it to a file, looks for expected texts. `guest` gets a
/// function that takes bytes and says whether the log is closed.
fn follow(
    expect: &[String],
    mut copy: Option<(&Path, File)>,
    guest: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<bool, Failure>) -> Result<End, Failure>,
) -> Result<Ran, Failure> {
    let mut lines = Lines::new();
    let mut log = Log::default();
    let mut seen = vec![false; expect.len()];
    let mut lost = None;
    let mut take = |line: lines::Line<'_>, log: &mut Log| {
        for (text, seen) in expect.iter().zip(&mut seen) {
            *seen |= line.text.contains(text.as_str());
        }
        log.take(&line);
    };
    let end = guest(&mut |bytes| {
        show(bytes)?;
        // A full disk must not cost what the image says.
        if let Some((path, file)) = &mut copy
            && let Err(e) = file.write_all(bytes)
        {
            lost = Some(format!("cannot write {}: {e}; it ends there", path.display()));
            copy = None;
        }
        lines.feed(bytes, |line| take(line, &mut log));
        Ok(log.closed())
    })?;
    let cut = lines.finish(|line| take(line, &mut log));
    if cut {
        // What follows starts on a line of its own.
        show(b"\n")?;
    }
    log.finish();
    Ok(Ran { log, end, seen, lost })
}

fn boot(
    qemu: &Qemu,
    elf: &Path,
    words: &[String],
    limit: Duration,
    expect: &[String],
    copy: Option<(&Path, File)>,
) -> Result<Ran, Failure> {
    follow(expect, copy, |sink| qemu.boot(elf, words, limit, |bytes| sink(bytes).map(|_| ())))
}

fn run(args: &Run) -> Result<u8, Failure> {
    let limit = Duration::from_secs(args.machine.timeout);
    let mut plan = files::Plan::default();
    for path in args.elf.iter().chain(&args.serial) {
        plan.reads(path);
    }
    plan.reads(&args.machine.qemu);
    for (option, kind, path) in [("--json", Kind::Json("run"), &args.json), ("--log", Kind::Log, &args.log)] {
        if let Some(path) = path {
            plan.writes(option, kind, path);
        }
    }
    args.model.plan(&mut plan);
    plan.check()?;
    if let (Some(part), Some(elf)) = (&args.model.model, &args.elf) {
        let qemu = Qemu::find(&args.machine.qemu)?;
        return model::Run { part, options: &args.model, elf, words: &args.arg, limit, expect: &args.expect }.run(qemu);
    }
    // Written as it comes, so that it can be followed and is there whatever happens.
    let copy = || match &args.log {
        Some(path) => {
            let file = File::create(path).map_err(|e| format!("cannot create {}: {e}", path.display()))?;
            Ok::<_, String>(Some((path.as_path(), file)))
        }
        None => Ok(None),
    };
    let ran = match (&args.elf, &args.serial) {
        (_, Some(path)) => {
            let interrupted = qemu::interrupted()?;
            let port = serial::Port::open(path, args.baud)?;
            complain(&format!("listening on {}, {} baud: start the board now", path.display(), args.baud));
            follow(&args.expect, copy()?, |sink| port.listen(limit, &interrupted, sink))?
        }
        (Some(elf), None) => {
            let qemu = Qemu::find(&args.machine.qemu)?;
            qemu::check_image(elf)?;
            boot(&qemu, elf, &args.arg, limit, &args.expect, copy()?)?
        }
        // clap asks for one of them.
        (None, None) => return Err(String::from("no image and no serial port").into()),
    };
    let mut lost: Vec<String> = ran.lost.clone().into_iter().collect();
    if let Some(path) = &args.json {
        let name = args.elf.as_ref().or(args.serial.as_ref()).map_or(String::new(), |path| path.display().to_string());
        let run = source::of_log(ran.log.clone(), &name).by("run");
        lost.extend(files::write(path, run.json().as_bytes()).err());
    }
    tell_newer(&ran.log);

    show(table::tables(&ran.log.rows).as_bytes())?;
    let missing: Vec<_> =
        args.expect.iter().zip(&ran.seen).filter(|(_, seen)| !**seen).map(|(text, _)| text.as_str()).collect();
    let verdict = match args.expect_exit {
        Some(code) => Verdict::expected(&ran.end, code, &missing),
        None => Verdict::run(&ran.log, &ran.end, &missing),
    };
    finished(verdict.print()?, &lost)
}

/// The exit code, after whatever could not be written is named.
fn finished(code: u8, lost: &[String]) -> Result<u8, Failure> {
    lost.iter().for_each(|what| complain(what));
    Ok(if lost.is_empty() { code } else { code::UNUSABLE })
}

/// One line if a log has keys of a later version.
fn tell_newer(log: &Log) {
    row::Run { newer: log.newer.clone(), ..row::Run::default() }.tell_newer("the log");
}

fn parse(path: &Path, json: bool) -> Result<u8, Failure> {
    let log = source::log(path)?;
    let verdict = Verdict::log(&log).of_file(path);
    tell_newer(&log);
    if json {
        show(source::of_log(log, &path.display().to_string()).by("parse").json().as_bytes())?;
        return Ok(verdict.print_to_stderr());
    }
    show(table::tables(&log.rows).as_bytes())?;
    verdict.print()
}

fn compare_sources(args: &compare::Compare) -> Result<u8, Failure> {
    let (mut a, mut b) = (source::load(&args.a)?, source::load(&args.b)?);
    // One file on both sides is told about once.
    let sides = [(&args.a, &a), (&args.b, &b)];
    let mut code = 0;
    for (name, run) in sides.iter().take(if args.a == args.b { 1 } else { 2 }) {
        run.tell_newer(name);
        code = worse(code, say_problems(&run.problems));
    }
    if !args.self_tests {
        let of_tests = |row: &row::Row| row.of_self_test();
        let left_out = a.rows.iter().chain(&b.rows).filter(|row| of_tests(row)).count();
        if left_out > 0 {
            complain(&format!(
                "rows of the method's own tests are left out, {left_out} on both sides together (--self-tests compares them)"
            ));
        }
        for run in [&mut a, &mut b] {
            run.rows.retain(|row| !of_tests(row));
        }
    }
    let comparison = compare::compare(&a.rows, &b.rows, args);
    show(comparison.text(&args.a, &args.b).as_bytes())?;
    Ok(if comparison.compared { code } else { code::FAILED })
}

fn merge(out: &Path, parts: &[String]) -> Result<u8, Failure> {
    let mut plan = plan_of(parts);
    plan.writes("--out", Kind::Json("merge"), out).check()?;
    let run = matrix::merge(&source::load_all(parts)?)?.by("merge");
    files::write(out, run.json().as_bytes())?;
    let code = say_problems(&run.problems);
    show(format!("{} rows in {}\n", run.rows.len(), out.display()).as_bytes())?;
    Ok(code)
}

/// What must not be written to.
fn plan_of(sources: &[String]) -> files::Plan {
    let mut plan = files::Plan::default();
    for name in sources.iter().filter(|name| !name.starts_with(published::PREFIX)) {
        plan.reads(name);
    }
    plan
}

/// Names problems of what was read on standard error, as many as a terminal holds; the exit code that they leave.
fn say_problems(problems: &[String]) -> u8 {
    for problem in problems.iter().take(judge::NAMED) {
        complain(problem);
    }
    if let more @ 1.. = problems.len().saturating_sub(judge::NAMED) {
        complain(&format!("and {more} more problems"));
    }
    match problems {
        [] => 0,
        problems if problems.iter().any(|problem| problem.contains(log::FAILED_CHECK)) => code::FAILED,
        _ => code::LOG,
    }
}

/// Of two exit codes that [`say_problems`] gave.
fn worse(a: u8, b: u8) -> u8 {
    if [a, b].contains(&code::FAILED) { code::FAILED } else { a.max(b) }
}

/// Figures of several sources together, and the exit code that their problems leave.
fn rows_of(sources: &[String]) -> Result<(Vec<row::Row>, u8), Failure> {
    let (mut rows, mut code) = (Vec::new(), 0);
    for (_, run) in source::load_all(sources)? {
        code = worse(code, say_problems(&run.problems));
        rows.extend(run.rows);
    }
    Ok((rows, code))
}

fn plot_sources(args: &PlotArgs) -> Result<u8, Failure> {
    let files = plot::Kind::ALL.into_iter().filter(|kind| args.kind.is_none_or(|only| only == *kind));
    let files = files.flat_map(|kind| [(Kind::Svg, kind.file("svg")), (Kind::Png, kind.file("png"))]);
    plan_of(&args.sources).fills("--out", &args.out, files).check()?;
    let (rows, code) = rows_of(&args.sources)?;
    let kinds: Vec<plot::Kind> = match args.kind {
        Some(kind) => vec![kind],
        None => plot::Kind::ALL.into_iter().filter(|kind| plot::has(*kind, &rows)).collect(),
    };
    if kinds.is_empty() {
        return Err(String::from("nothing to draw: no row has a minimum and a maximum").into());
    }
    for name in plot_files(&kinds, &rows, &args.out)? {
        show(format!("{}\n", name.display()).as_bytes())?;
    }
    Ok(code)
}

fn write_report(args: &ReportArgs) -> Result<u8, Failure> {
    let mut plan = plan_of(&args.sources);
    plan.reads(&args.rustc);
    let plots = |page: &Path| page.parent().unwrap_or(Path::new("")).join("plots");
    if let Some(path) = &args.markdown {
        let files = plot::Kind::ALL.map(|kind| (Kind::Svg, kind.file("svg")));
        // Where its plots can be created, so can the page.
        let folder = path.parent().unwrap_or(Path::new(""));
        plan.fills("--markdown", folder, []).fills("--markdown", &plots(path), files).writes(
            "--markdown",
            Kind::Markdown,
            path,
        );
    }
    if let Some(path) = &args.html {
        plan.writes("--html", Kind::Html, path);
    }
    plan.check()?;
    let mut run = row::Run::new(Vec::new());
    let mut code = 0;
    for (_, part) in source::load_all(&args.sources)? {
        code = worse(code, say_problems(&part.problems));
        for pair in part.environment {
            if !run.environment.contains(&pair) {
                run.environment.push(pair);
            }
        }
        run.rows.extend(part.rows);
        run.images.extend(part.images);
        run.done.extend(part.done);
        run.problems.extend(part.problems);
    }
    if let Some(path) = &args.markdown {
        let folder = plots(path);
        fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
        for kind in plot::Kind::ALL.into_iter().filter(|kind| plot::has(*kind, &run.rows)) {
            files::write(&folder.join(kind.file("svg")), plot::svg(kind, &run.rows)?.as_bytes())?;
        }
        files::write(path, report::markdown(&run, &args.title, "plots").as_bytes())?;
    }
    if let Some(path) = &args.html {
        let why_not = builds::why_not(&run, &args.rustc);
        files::write(path, report::html(&run, &args.title, &why_not)?.as_bytes())?;
    }
    Ok(code)
}

fn print_builds(name: &str) -> Result<u8, Failure> {
    let run = source::load(name)?;
    let code = say_problems(&run.problems);
    show(builds::page(&run)?.as_bytes())?;
    Ok(code)
}

fn cross_lto(rustc: &str) -> Result<u8, Failure> {
    let (clang, linker) = builds::tools(rustc)?;
    show(format!("{clang} {linker}\n").as_bytes())?;
    Ok(0)
}

/// Draws each kind twice; the files.
fn plot_files(kinds: &[plot::Kind], rows: &[row::Row], folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    fs::create_dir_all(folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let mut files = Vec::new();
    for kind in kinds {
        let (svg, png) = (folder.join(kind.file("svg")), folder.join(kind.file("png")));
        files::write(&svg, plot::svg(*kind, rows)?.as_bytes())?;
        files::replace(&png, |part| plot::png(*kind, rows, part))?;
        files.extend([svg, png]);
    }
    Ok(files)
}

fn print_table(args: &TableArgs) -> Result<u8, Failure> {
    let (mut rows, code) = rows_of(&args.sources)?;
    if let Some(bench) = &args.bench {
        rows.retain(|row| row.bench == *bench);
        if rows.is_empty() {
            return Err(format!("no figures of {bench} there").into());
        }
    }
    let text = if args.csv {
        table::results(&rows).csv()
    } else if args.markdown {
        let notes: String = table::notes(&rows).iter().map(|note| format!("\n{note}\n")).collect();
        table::results(&rows).markdown() + &notes
    } else {
        table::tables(&rows)
    };
    show(text.as_bytes())?;
    Ok(code)
}

#[cfg(target_os = "linux")]
fn host_flip(args: &host_flip::HostFlip) -> Result<u8, Failure> {
    if host_flip::BUILD != "release" {
        complain(
            "this is a debug build, whose own code is part of the figures: `cargo build --release -p bench` has less",
        );
    }
    let run = host_flip::measure(args)?.by("host-flip");
    if args.json {
        show(run.json().as_bytes())?;
    } else {
        for (name, value) in &run.environment {
            show(format!("{name:<10} {value}\n").as_bytes())?;
        }
        show(table::tables(&run.rows).as_bytes())?;
    }
    Ok(0)
}

fn image(elf: &Path, board: image::Board, guest: bool) -> Result<u8, Failure> {
    let (text, good) = image::check(elf, board, guest)?;
    show(text.as_bytes())?;
    if good { Ok(0) } else { Ok(code::FAILED) }
}

fn test(args: &Test) -> Result<u8, Failure> {
    let qemu = Qemu::find(&args.machine.qemu)?;
    for elf in &args.elf {
        qemu::check_image(elf)?;
    }
    let limit = Duration::from_secs(args.machine.timeout);
    let mut suite = judge::Suite::default();
    for elf in &args.elf {
        let name = elf.file_stem().unwrap_or(elf.as_os_str());
        let name = name.to_string_lossy();
        show(format!("Running {name}\n").as_bytes())?;
        let ran = boot(&qemu, elf, &[], limit, &[], None)?;
        suite.image(&name, &ran.log, &ran.end);
        if matches!(ran.end, End::Interrupted) {
            complain("interrupted");
            return Ok(code::INTERRUPTED);
        }
        show(b"\n")?;
    }
    suite.print()
}
