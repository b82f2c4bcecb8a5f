//! `txbench`: the host's side of the measurements and of the on-target tests.
//!
//! Boots an image in QEMU under a time limit, shows its UART live, reads the lines that
//! [`measure::line`] describes, prints tables and passes the guest's exit code on.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod host_flip;
mod judge;
mod lines;
mod log;
mod model;
mod published;
mod qemu;
mod row;
mod screen;
mod source;
mod table;
mod upstream;
mod validate;

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::judge::Verdict;
use crate::lines::Lines;
use crate::log::Log;
use crate::qemu::{End, Qemu};
use crate::screen::{Failure, complain, show};

/// Exit codes of `txbench` itself; a guest's own code is passed on as it is.
mod code {
    /// A self-check, a test or an expectation failed.
    pub const FAILED: u8 = 1;
    /// The log is cut, malformed or foreign in places.
    pub const LOG: u8 = 3;
    /// QEMU, a file or standard output cannot be used.
    pub const UNUSABLE: u8 = 4;
    /// The time limit ended the guest.
    pub const LIMIT: u8 = 124;
    /// A signal ended `txbench`.
    pub const INTERRUPTED: u8 = 130;
}

/// Runs measurement and test images in QEMU and reads what they print.
#[derive(Parser)]
#[command(name = "txbench", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: the guest's own if it is not 0; else 0 all well, 1 a check, test or expectation failed,
2 wrong usage, 3 log cut, malformed or foreign in places, 4 QEMU, a file or standard output
cannot be used, 124 time limit, 130 interrupted.";

#[derive(Subcommand)]
enum Command {
    /// Boot an image in QEMU, show its output live, end with the tables and the verdict. An image
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
    /// Print the figures of logs, JSON files and publications as one table.
    Table(TableArgs),
    /// Time the switch between two threads of this machine, with each cache level polluted or not (Linux).
    #[cfg(target_os = "linux")]
    HostFlip(host_flip::HostFlip),
    /// Time the switch between two threads of this machine (Linux only).
    #[cfg(not(target_os = "linux"))]
    HostFlip,
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
struct Run {
    /// Image to boot, an ELF file for 32-bit Arm.
    elf: PathBuf,
    #[command(flatten)]
    machine: Machine,
    /// Write the UART's bytes to this file as well.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Succeed exactly when the guest exits with this code; no closing line is asked for.
    #[arg(long, value_name = "CODE")]
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
struct Test {
    /// Images to boot, ELF files for 32-bit Arm.
    #[arg(required = true)]
    elf: Vec<PathBuf>,
    #[command(flatten)]
    machine: Machine,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run(&args),
        Command::Parse { log, json } => parse(&log, json),
        Command::Table(args) => print_table(&args),
        Command::Test(args) => test(&args),
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
}

fn boot(
    qemu: &Qemu,
    elf: &Path,
    limit: Duration,
    expect: &[String],
    mut copy: Option<(&Path, File)>,
) -> Result<Ran, Failure> {
    let mut lines = Lines::new();
    let mut log = Log::default();
    let mut seen = vec![false; expect.len()];
    let mut take = |line: lines::Line<'_>, log: &mut Log| {
        for (text, seen) in expect.iter().zip(&mut seen) {
            *seen |= line.text.contains(text.as_str());
        }
        log.take(&line);
    };
    let end = qemu.boot(elf, limit, |bytes| {
        show(bytes)?;
        if let Some((path, file)) = &mut copy {
            file.write_all(bytes).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        }
        lines.feed(bytes, |line| take(line, &mut log));
        Ok(())
    })?;
    let cut = lines.finish(|line| take(line, &mut log));
    if cut {
        // What follows starts on a line of its own.
        show(b"\n")?;
    }
    log.finish();
    Ok(Ran { log, end, seen })
}

fn run(args: &Run) -> Result<u8, Failure> {
    let qemu = Qemu::find(&args.machine.qemu)?;
    if let Some(part) = &args.model.model {
        let limit = Duration::from_secs(args.machine.timeout);
        return model::Run { part, options: &args.model, elf: &args.elf, limit, expect: &args.expect }.run(qemu);
    }
    qemu::check_image(&args.elf)?;
    let copy = match &args.log {
        Some(path) => {
            if same_file(path, &args.elf) {
                let path = path.display();
                return Err(format!("--log {path} is the image itself: give the log another name").into());
            }
            let file = File::create(path).map_err(|e| format!("cannot create {}: {e}", path.display()))?;
            Some((path.as_path(), file))
        }
        None => None,
    };
    let limit = Duration::from_secs(args.machine.timeout);
    let ran = boot(&qemu, &args.elf, limit, &args.expect, copy)?;

    show(table::tables(&ran.log.rows).as_bytes())?;
    let missing: Vec<_> =
        args.expect.iter().zip(&ran.seen).filter(|(_, seen)| !**seen).map(|(text, _)| text.as_str()).collect();
    let verdict = match args.expect_exit {
        Some(code) => Verdict::expected(&ran.end, code, &missing),
        None => Verdict::run(&ran.log, &ran.end, &missing),
    };
    verdict.print()
}

/// Whether both names lead to one file that is there.
fn same_file(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| path.metadata().map(|m| (m.dev(), m.ino()));
    matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
}

fn parse(path: &Path, json: bool) -> Result<u8, Failure> {
    let log = source::log(path)?;
    let verdict = Verdict::log(&log);
    if json {
        show(source::of_log(log, &path.display().to_string()).json().as_bytes())?;
        return Ok(verdict.print_to_stderr());
    }
    show(table::tables(&log.rows).as_bytes())?;
    verdict.print()
}

fn print_table(args: &TableArgs) -> Result<u8, Failure> {
    let mut rows = Vec::new();
    for name in &args.sources {
        let run = source::load(name)?;
        for problem in &run.problems {
            complain(&format!("{name}: {problem}"));
        }
        rows.extend(run.rows);
    }
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
    Ok(0)
}

#[cfg(target_os = "linux")]
fn host_flip(args: &host_flip::HostFlip) -> Result<u8, Failure> {
    let run = host_flip::measure(args)?;
    if args.json {
        show(run.json().as_bytes())?;
    } else {
        for (name, value) in &run.environment {
            show(format!("{name:<10} {value}\n").as_bytes())?;
        }
        show(table::tables(&run.rows).as_bytes())?;
    }
    for problem in &run.problems {
        complain(problem);
    }
    Ok(0)
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
        let ran = boot(&qemu, elf, limit, &[], None)?;
        suite.image(&name, &ran.log, &ran.end);
        if matches!(ran.end, End::Interrupted) {
            complain("interrupted");
            return Ok(code::INTERRUPTED);
        }
        show(b"\n")?;
    }
    suite.print()
}
