//! `txbench` against a QEMU that is a shell script: every way an image can end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const MACHINES: &str = "echo 'mps3-an524  ARM MPS3 with AN524'; echo 'mps3-an536  ARM MPS3 with AN536'";
const CLOSING: &str = "DONE ok: 5 checks";

fn record(stack: &str, cache: &str, figures: [u32; 3]) -> String {
    let [min, mean, max] = figures;
    format!(
        r#"RECORD {{"schema":1,"bench":"context_switch","kernel":"bundled","board":"mps3-an536","stack":"{stack}","cache":"{cache}","unit":"instructions","n":255,"excluded":1,"min":{min},"mean":{mean},"max":{max},"first":{max},"opt":"3","lto":"fat","counter":"CNTPCT","overhead":3}}"#
    )
}

fn records() -> String {
    [
        record("BTCM", "cold", [40, 40, 41]),
        record("DRAM0", "cold", [40, 42, 44]),
        record("BTCM", "warm", [40, 40, 40]),
        record("DRAM0", "warm", [40, 40, 40]),
    ]
    .join("\n")
}

struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bench = Self { dir };
        bench.elf("image");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn elf(&self, name: &str) -> PathBuf {
        let mut head = [0; 52];
        head[..6].copy_from_slice(b"\x7fELF\x01\x01");
        head[18] = 40;
        let path = self.path(name);
        fs::write(&path, head).unwrap();
        path
    }

    /// A stand-in for QEMU: `machines` answers `-machine help`, `body` is the guest. In `body`,
    /// `$image` is the name of the booted image.
    fn qemu(&self, machines: &str, body: &str) -> PathBuf {
        self.qemu_of("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)", machines, body)
    }

    fn qemu_of(&self, version: &str, machines: &str, body: &str) -> PathBuf {
        let path = self.path("qemu");
        let script = format!(
            "#!/bin/sh\n\
             case \"$1\" in\n\
             --version) echo '{version}'; exit 0;;\n\
             -machine) {machines}; exit 0;;\n\
             esac\n\
             for image; do :; done\n\
             args=\"$*\"; image=${{image##*/}}\n\
             {body}\n"
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A guest that prints `text` and exits with `code`.
    fn prints(&self, text: &str, code: u8) -> PathBuf {
        fs::write(self.path("uart"), text).unwrap();
        let uart = self.path("uart");
        self.qemu(MACHINES, &format!("cat '{}'; exit {code}", uart.display()))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_txbench"));
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    fn txbench(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.txbench(&[&["run", "image", "--qemu", "./qemu"], args].concat())
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Everything a user sees, for golden files.
fn seen(output: &Output) -> String {
    format!("exit code {}\n--- stdout\n{}--- stderr\n{}", code(output), stdout(output), stderr(output))
}

#[test]
fn run_shows_the_uart_and_ends_with_tables_and_verdict() {
    let bench = Bench::new();
    bench.prints(&format!("banner\r\n{}\r\n{CLOSING}\r\n", records()), 0);
    insta::assert_snapshot!(seen(&bench.run(&[])));
}

#[test]
fn run_boots_with_the_flags_the_figures_depend_on() {
    let bench = Bench::new();
    bench.qemu(MACHINES, "echo \"$args\"; exit 0");
    let shown = stdout(&bench.run(&[]));
    assert_eq!(
        shown.lines().next().unwrap(),
        "-M mps3-an536 -smp 1 -nographic -icount shift=0,sleep=off \
         -global cortex-r52-arm-cpu.cntfrq=1000000000 \
         -semihosting-config enable=on,target=native -kernel image"
    );
}

#[test]
fn run_passes_the_guests_code_on() {
    let bench = Bench::new();
    bench.prints(&format!("{}\n{CLOSING}\n", records()), 103);
    let output = bench.run(&[]);
    assert_eq!(code(&output), 103);
    assert!(stdout(&output).ends_with("verdict: FAILED (the guest exited with 103)\n"));
}

#[test]
fn run_fails_on_a_failed_self_check_even_if_the_guest_exits_well() {
    let bench = Bench::new();
    bench.prints(&format!("{}\nDONE FAILED: sleeper not resumed\n", records()), 0);
    let output = bench.run(&[]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).ends_with("verdict: FAILED: self-checks: sleeper not resumed\n"));
}

#[test]
fn run_keeps_what_could_be_read_of_a_broken_log() {
    let bench = Bench::new();
    let records = records();
    let malformed = record("ATCM", "warm", [5, 4, 3]);
    let text = format!("\x01\x02 noise\n{malformed}\n[ts] {records}\n{}", &records[..90]);
    bench.prints(&text, 0);
    insta::assert_snapshot!(seen(&bench.run(&[])));
}

#[test]
fn run_ends_a_hanging_image_and_all_its_processes() {
    let bench = Bench::new();
    // The guest ignores the polite signal, and so does a child that holds the pipe.
    let body = "trap '' TERM; echo started; (trap '' TERM; echo $$ >child; while :; do sleep 1; done)";
    bench.qemu(MACHINES, body);
    let start = Instant::now();
    let output = bench.run(&["--timeout", "1"]);
    let took = start.elapsed();
    assert_eq!(code(&output), 124);
    assert!(stdout(&output).starts_with("started\n"));
    assert!(stdout(&output).ends_with("verdict: FAILED: ended by the limit of 1 s (--timeout)\n"));
    assert!(took < Duration::from_secs(10), "took {took:?}");
    let child = fs::read_to_string(bench.path("child")).unwrap();
    let gone = || !Path::new("/proc").join(child.trim()).join("exe").exists();
    let deadline = Instant::now() + Duration::from_secs(5);
    while !gone() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(gone(), "process {child} survived");
}

#[test]
fn run_does_not_wait_for_a_grandchild_that_holds_the_pipe() {
    let bench = Bench::new();
    bench.qemu(MACHINES, "sleep 60 & echo bye; exit 7");
    let start = Instant::now();
    let output = bench.run(&[]);
    assert_eq!(code(&output), 7);
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn run_shows_output_before_the_image_ends() {
    use std::io::Read;

    let bench = Bench::new();
    bench.qemu(MACHINES, "echo first; while [ ! -e go ]; do sleep 0.05; done; exit 9");
    let args = ["run", "image", "--qemu", "./qemu", "--timeout", "30"];
    let mut child = bench.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"first\n");
    fs::write(bench.path("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn a_signal_ends_the_image_as_well() {
    let bench = Bench::new();
    bench.qemu(MACHINES, "echo $$ >guest; echo up; while :; do sleep 0.1; done");
    let args = ["run", "image", "--qemu", "./qemu", "--timeout", "60"];
    let mut child = bench.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let guest = loop {
        match fs::read_to_string(bench.path("guest")) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => assert!(Instant::now() < deadline, "the guest never started"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!Path::new("/proc").join(guest).exists());
}

#[test]
fn an_unfit_qemu_is_named() {
    let bench = Bench::new();
    bench.qemu("echo 'mps3-an524  ARM MPS3 with AN524'", "echo booted; exit 0");
    let output = bench.run(&[]);
    assert_eq!(code(&output), 4);
    assert_eq!(stdout(&output), "");
    insta::assert_snapshot!(stderr(&output), @"txbench: ./qemu (QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)) has no machine mps3-an536: QEMU 10 or newer is needed, scripts/setup.sh installs it");
}

#[test]
fn an_old_qemu_is_named_even_if_it_has_the_machine() {
    let bench = Bench::new();
    for (version, expected) in [
        ("QEMU emulator version 9.2.4", 4),
        ("QEMU emulator version 7.2.19 (Debian 1:7.2+dfsg-7)", 4),
        ("something else", 4),
        ("QEMU emulator version 10.0.0", 0),
        ("QEMU emulator version 11.1.50 (v11.1.0-7-g1234)", 0),
    ] {
        bench.qemu_of(version, MACHINES, "exit 0");
        assert_eq!(code(&bench.run(&[])), expected, "{version}");
    }
    bench.qemu_of("QEMU emulator version 9.2.4", MACHINES, "exit 0");
    insta::assert_snapshot!(stderr(&bench.run(&[])), @"txbench: ./qemu is too old (QEMU emulator version 9.2.4): QEMU 10 or newer is needed, scripts/setup.sh installs it");
}

#[test]
fn firmware_without_records_is_judged_by_its_exit_code() {
    let bench = Bench::new();
    for (text, guest, says) in [
        ("hello from my board\n", 0, "exit code 0, no records"),
        ("no line end", 0, "exit code 0, no records"),
        ("", 0, "exit code 0, no records"),
        ("hello\n", 42, "exit code 42, no records"),
    ] {
        bench.prints(text, guest);
        let output = bench.run(&[]);
        assert_eq!(code(&output), i32::from(guest), "{}", seen(&output));
        assert!(stdout(&output).ends_with(&format!("verdict: {says}\n")), "{}", seen(&output));
        assert_eq!(stderr(&output), "");
        // The other two ask for a log of ours.
        assert_eq!(code(&bench.txbench(&["test", "image", "--qemu", "./qemu"])), 1);
        assert_eq!(code(&bench.txbench(&["parse", "uart"])), 3);
    }
    bench.prints("hello\n", 0);
    assert_eq!(code(&bench.run(&["--expect", "hello"])), 0);
    assert_eq!(code(&bench.run(&["--expect", "DONE ok"])), 1);
    // What has some of the lines must have all of them.
    let records = records();
    for cut in [&records[..3], &records[..100], &records[..], "test a ... ok\n"] {
        bench.prints(cut, 0);
        assert_eq!(code(&bench.run(&[])), 3, "{cut}");
    }
}

#[test]
fn output_that_nobody_takes_ends_without_a_panic() {
    let bench = Bench::new();
    fs::write(bench.path("log"), format!("{}\n{CLOSING}\n", records())).unwrap();
    bench.prints(&format!("{}\n{CLOSING}\n", records()), 0);
    bench.elf("good");
    let exe = env!("CARGO_BIN_EXE_txbench");
    for args in ["parse log", "run image --qemu ./qemu", "test good --qemu ./qemu"] {
        let full = "txbench: cannot write to standard output: No space left on device (os error 28)\n";
        for (script, says) in [
            (format!("'{exe}' {args} >/dev/full"), full),
            // The reader is gone before the first byte comes.
            (format!("(sleep 0.3; exec '{exe}' {args}) | true; exit ${{PIPESTATUS[0]}}"), ""),
        ] {
            let output = Command::new("bash").args(["-c", &script]).current_dir(bench.dir.path()).output().unwrap();
            assert_eq!((code(&output), stderr(&output).as_str()), (4, says), "{script}");
        }
        // A terminal that is gone takes neither output nor complaint.
        let script = format!("'{exe}' {args} >/dev/full 2>/dev/full");
        let output = Command::new("sh").args(["-c", &script]).current_dir(bench.dir.path()).output().unwrap();
        assert_eq!(code(&output), 4, "{script}");
    }
}

#[test]
fn an_output_must_not_be_an_input() {
    let bench = Bench::new();
    bench.prints("", 0);
    let before = fs::read(bench.path("image")).unwrap();
    std::os::unix::fs::symlink("image", bench.path("alias")).unwrap();
    for (option, name) in ["--log", "--json"].iter().flat_map(|o| ["image", "./image", "alias"].map(|name| (*o, name)))
    {
        let output = bench.run(&[option, name]);
        let says = format!("txbench: {option} {name}: that is image, which is read: give the output another name\n");
        assert_eq!((code(&output), stderr(&output)), (4, says));
        assert_eq!(fs::read(bench.path("image")).unwrap(), before);
    }
    fs::write(bench.path("x"), format!("{}\n{CLOSING}\n", records())).unwrap();
    fs::write(bench.path("y"), format!("{}\nnoise\n{CLOSING}\n", records())).unwrap();
    fs::create_dir(bench.path("plots")).unwrap();
    fs::copy(bench.path("x"), bench.path("plots/distribution.svg")).unwrap();
    fs::hard_link(bench.path("x"), bench.path("hard")).unwrap();
    let files = |folder: &str| {
        let mut all: Vec<_> = fs::read_dir(bench.path(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(&path).ok()))
            .collect();
        all.sort();
        all
    };
    let before = (files("."), files("plots"));
    for args in [
        &["report", "x", "--markdown", "x"][..],
        &["report", "x", "--html", "./x"],
        &["report", "x", "--html", "hard"],
        &["report", "y", "x", "--html", "plots/../x"],
        &["report", "x", "--html", "new", "--markdown", "new"],
        &["report", "plots/distribution.svg", "--markdown", "page.md"],
        &["report", "x", "--html", "plots/distribution.svg", "--markdown", "page.md"],
        &["plot", "plots/distribution.svg", "--out", "plots"],
        &["plot", "x", "--out", "x"],
        &["merge", "--out", "x", "x", "y"],
        &["merge", "--out", "y", "x", "./y"],
        &["merge", "--out", "plots", "x"],
        &["matrix", "--image", "i=image", "--qemu", "./qemu", "--out", "image"],
        &["run", "image", "--qemu", "./qemu", "--json", "new", "--log", "./new"],
        &["run", "image", "--qemu", "./qemu", "--json", "qemu"],
        &["run", "image", "--qemu", "./qemu", "--model", "an536", "--modelled", "image"],
        &["run", "image", "--qemu", "./qemu", "--model", "an536", "--cycles", "alias"],
        &["run", "image", "--qemu", "./qemu", "--model", "an536", "--modelled", "new", "--cycles", "new"],
    ] {
        let output = bench.txbench(args);
        assert_eq!((code(&output), stderr(&output).lines().count()), (4, 1), "{args:?}: {}", seen(&output));
        assert!((files("."), files("plots")) == before, "{args:?} touched something");
    }
}

#[test]
fn an_output_replaces_only_what_is_of_its_kind() {
    let bench = Bench::new();
    suite(&bench);
    fs::write(bench.path("x"), format!("{}\n{CLOSING}\n", records())).unwrap();
    fs::write(bench.path("notes"), "# Notes\n\nOf a month.\n").unwrap();
    fs::write(bench.path("cycles"), "model 1 s32z280 recorded\nend x\n").unwrap();
    // What writes each kind of file: the command, its option, a file, and the files that it goes on from or replaces.
    let run = "run image --qemu ./qemu --arg a/cold";
    let matrix = "matrix --image suite=image --qemu ./qemu";
    let outputs = [
        (run, "--json", "run.json", &["run.json"][..]),
        (run, "--log", "uart", &["uart", "x"]),
        (matrix, "--out", "matrix.json", &["matrix.json", "merge.json"]),
        ("merge matrix.json", "--out", "merge.json", &["merge.json"]),
        ("report published:635", "--html", "page.html", &["page.html"]),
        ("report published:635", "--markdown", "page.md", &["page.md"]),
        ("plot published:638 --kind placement", "--out", "placement.svg", &["placement.svg"]),
    ];
    // A plot is given its folder.
    let call = |command: &str, option: &str, file: &str| {
        let file = if command.starts_with("plot") { "." } else { file };
        bench.txbench(&command.split(' ').chain([option, file]).collect::<Vec<_>>())
    };
    for (command, option, file, _) in outputs {
        for _ in 0..2 {
            let output = call(command, option, file);
            assert_eq!(code(&output), 0, "{command} {option} {file}: {}", seen(&output));
        }
        let whole = fs::read(bench.path(file)).unwrap();
        fs::write(bench.path(file), "").unwrap();
        assert_eq!(code(&call(command, option, file)), 0, "{command} {option} {file}, which is empty");
        assert!(fs::read(bench.path(file)).unwrap() == whole);
    }
    let refused = |output: &Output, option: &str, file: &str| {
        assert_eq!((code(output), stderr(output).lines().count()), (4, 1), "{option} {file}: {}", seen(output));
        let says = stderr(output);
        assert!(says.starts_with(&format!("txbench: {option} ")), "{says}");
        assert!(says.contains(&format!("{file}: not overwritten, as it is no ")), "{says}");
    };
    let files = outputs.map(|output| output.2).into_iter().chain(["x", "notes", "cycles"]);
    for file in files {
        let before = fs::read(bench.path(file)).unwrap();
        for (command, option, own, _) in outputs.iter().filter(|output| !output.3.contains(&file)) {
            if command.ends_with(file) {
                continue; // It is an input.
            }
            if command.starts_with("plot") {
                let plot = fs::read(bench.path(own)).unwrap();
                fs::copy(bench.path(file), bench.path(own)).unwrap();
                refused(&call(command, option, file), option, own);
                assert_eq!(fs::read(bench.path(own)).unwrap(), before);
                fs::write(bench.path(own), plot).unwrap();
                continue;
            }
            refused(&call(command, option, file), option, file);
            if command.starts_with("matrix") {
                refused(&call(&format!("{command} --fresh"), option, file), option, file);
            }
            assert_eq!(fs::read(bench.path(file)).unwrap(), before, "{command} {option} {file}");
        }
        for (option, replaced) in [("--cycles", "cycles"), ("--modelled", "uart x")] {
            let output = call("run image --qemu ./qemu --model an536 --plugin image", option, file);
            if replaced.split(' ').any(|name| name == file) {
                assert!(!stderr(&output).contains("not overwritten"), "{}", seen(&output));
            } else {
                refused(&output, option, file);
            }
            assert_eq!(fs::read(bench.path(file)).unwrap(), before);
        }
    }
    // A merge of shards is gone on from, and not begun anew.
    refused(&call(&format!("{matrix} --fresh"), "--out", "merge.json"), "--out", "merge.json");
}

#[test]
fn merge_takes_no_source_for_its_output() {
    let bench = Bench::new();
    for name in ["a", "b", "c"] {
        let text = format!("{}\n{CLOSING}\n", records().replace("bundled", name));
        fs::write(bench.path(name), text).unwrap();
        let parsed = bench.txbench(&["parse", name, "--json"]);
        fs::write(bench.path(&format!("{name}.json")), parsed.stdout).unwrap();
    }
    let text = |name: &str| fs::read(bench.path(name)).unwrap();
    // Without the option there is no output, whatever comes first.
    for first in ["a", "a.json"] {
        let before = text(first);
        let output = bench.txbench(&["merge", first, "b.json"]);
        assert_eq!(code(&output), 2, "{}", seen(&output));
        assert!(stderr(&output).contains("--out <FILE>") && text(first) == before, "{}", seen(&output));
        // A pattern of the shell in the place of the option's value.
        let output = bench.txbench(&["merge", "--out", first, "b.json", "c.json"]);
        assert_eq!(code(&output), 4, "{}", seen(&output));
        assert!(text(first) == before && stderr(&output).contains("not overwritten"), "{}", seen(&output));
    }
    assert_eq!(code(&bench.txbench(&["merge", "--out", "all.json", "a.json", "b.json"])), 0);
    assert_eq!(code(&bench.txbench(&["merge", "--out", "all.json", "a.json", "b.json", "c.json"])), 0);
    assert_eq!(rows(&bench, "all.json").len(), 12);
}

#[test]
fn an_unusable_output_is_found_before_the_work() {
    let bench = Bench::new();
    // Nothing boots: whatever asks QEMU for more than its version leaves a mark.
    bench.qemu(MACHINES, "touch \"$(dirname \"$0\")/booted\"; exit 0");
    fs::write(bench.path("x"), format!("{}\n{CLOSING}\n", records())).unwrap();
    fs::write(bench.path("file"), "").unwrap();
    for (args, says) in [
        (&["run", "image", "--qemu", "./qemu", "--json", "none/x.json"][..], "--json none/x.json: there is no folder"),
        (&["run", "image", "--qemu", "./qemu", "--log", "none/x.log"], "--log none/x.log: there is no folder"),
        (&["run", "image", "--qemu", "./qemu", "--json", "file/x"], "is no folder"),
        (&["run", "image", "--qemu", "./qemu", "--json", "."], "is a folder"),
        (
            &["matrix", "--image", "i=image", "--qemu", "./qemu", "--out", "none/m.json"],
            "--out none/m.json: there is no",
        ),
        (&["plot", "x", "--out", "file"], "--out file: "),
        (&["plot", "x", "--out", "file/plots"], "is no folder"),
        (
            &["plot", "x", "--out", "/proc/x"],
            "txbench: --out /proc/x: cannot be created, as the folder /proc takes no new files\n",
        ),
        (&["report", "x", "--html", "none/page.html"], "--html none/page.html: there is no folder"),
        (&["report", "x", "--markdown", "file/page.md"], "--markdown file: file is no folder"),
        (&["merge", "--out", "none/all.json", "x"], "there is no folder"),
    ] {
        let output = bench.txbench(args);
        assert_eq!((code(&output), stderr(&output).lines().count()), (4, 1), "{args:?}: {}", seen(&output));
        assert!(stderr(&output).contains(says), "{args:?}: {}", seen(&output));
    }
    assert!(!bench.path("booted").exists());
}

#[test]
fn an_output_that_fails_leaves_what_was_there() {
    let bench = Bench::new();
    fs::write(bench.path("x"), format!("{}\n{CLOSING}\n", records())).unwrap();
    assert_eq!(code(&bench.txbench(&["report", "published:635", "--html", "report.html"])), 0);
    let before = fs::read(bench.path("report.html")).unwrap();
    // No room for the page: the limit of a file's size is one block.
    let exe = env!("CARGO_BIN_EXE_txbench");
    let script = format!("trap '' XFSZ; ulimit -f 1; '{exe}' report x --html report.html");
    let output = Command::new("bash").args(["-c", &script]).current_dir(bench.dir.path()).output().unwrap();
    assert_eq!(code(&output), 4, "{}", seen(&output));
    assert!(stderr(&output).starts_with("txbench: cannot write report.html: "), "{}", seen(&output));
    assert_eq!(fs::read(bench.path("report.html")).unwrap(), before);
    let left: Vec<_> = fs::read_dir(bench.dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_full_disk_costs_neither_tables_nor_verdict() {
    let bench = Bench::new();
    bench.prints(&format!("{}\n{CLOSING}\n", records()), 0);
    for option in ["--log", "--json"] {
        let output = bench.run(&[option, "/dev/full"]);
        assert_eq!((code(&output), stderr(&output).lines().count()), (4, 1), "{}", seen(&output));
        assert!(stderr(&output).starts_with("txbench: cannot write /dev/full: No space left"), "{}", seen(&output));
        assert!(
            stdout(&output).ends_with("verdict: ok: 4 records, self-checks passed (5 checks)\n"),
            "{}",
            seen(&output)
        );
    }
}

#[test]
fn a_run_named_twice_is_no_repetition() {
    let bench = Bench::new();
    fs::write(bench.path("log"), format!("{}\n{CLOSING}\n", records())).unwrap();
    fs::copy(bench.path("log"), bench.path("copy")).unwrap();
    std::os::unix::fs::symlink("log", bench.path("link")).unwrap();
    let once = stdout(&bench.txbench(&["table", "log"]));
    let output = bench.txbench(&["table", "log", "./log", "link", "copy", "log"]);
    assert_eq!(stdout(&output), once);
    assert_eq!(stderr(&output).lines().count(), 4, "{}", seen(&output));
    assert!(stderr(&output).contains("txbench: copy has the same contents as log: counted once\n"));
    // Five times the same run has no noise that could be known.
    let output = bench.txbench(&["merge", "--out", "five.json", "log", "./log", "link", "copy", "log"]);
    assert!(code(&output) == 0 && stdout(&output) == "4 rows in five.json\n", "{}", seen(&output));
    let compared = stdout(&bench.txbench(&["compare", "five.json", "five.json"]));
    assert!(compared.contains("unknown, 1 run") && !compared.contains("noise 0"), "{compared}");
    let output = bench.txbench(&["merge", "--out", "more.json", "five.json", "log"]);
    assert_eq!(stdout(&output), "4 rows in more.json\n", "{}", seen(&output));
    assert!(stderr(&output).contains("4 of 4 rows of log are those of five.json: counted once"), "{}", seen(&output));
}

#[test]
fn an_image_of_another_board_is_not_booted() {
    let bench = Bench::new();
    bench.qemu(MACHINES, "touch \"$(dirname \"$0\")/booted\"; sleep 60");
    let mut image = fs::read(bench.path("image")).unwrap();
    for (at, bytes) in [
        (6, &[1][..]),
        (16, &[2, 0]),
        (20, &[1]),
        (24, &0x7990_0001_u32.to_le_bytes()),
        (40, &[52, 0, 32, 0]),
        (46, &[40]),
    ] {
        image[at..at + bytes.len()].copy_from_slice(bytes);
    }
    fs::write(bench.path("image"), image).unwrap();
    let matrix = ["matrix", "--image", "i=image", "--qemu", "./qemu", "--out", "m.json"];
    for args in [&["run", "image", "--qemu", "./qemu"][..], &["test", "image", "--qemu", "./qemu"], &matrix] {
        let output = bench.txbench(args);
        assert_eq!((code(&output), stderr(&output).lines().count()), (4, 1), "{}", seen(&output));
        let says =
            "image is linked for s32z280, QEMU has mps3-an536 only: build it for that (scripts/build.sh), or run it on";
        assert!(stderr(&output).contains(says), "{}", seen(&output));
    }
    assert!(!bench.path("booted").exists());
}

#[test]
fn a_missing_qemu_is_named() {
    let bench = Bench::new();
    let output = bench.run(&[]);
    assert_eq!(code(&output), 4);
    insta::assert_snapshot!(stderr(&output), @"txbench: ./qemu not found: QEMU 10 or newer is needed, scripts/setup.sh installs it");
}

#[test]
fn files_that_are_no_images_are_named() {
    let bench = Bench::new();
    bench.prints("", 0);
    fs::write(bench.path("text"), "just a text that is longer than a header").unwrap();
    fs::write(bench.path("short"), "x").unwrap();
    for (file, says) in [
        ("text", "txbench: text is not an ELF file for 32-bit Arm\n"),
        ("short", "txbench: short is not an ELF file\n"),
        ("none", "txbench: cannot read none: No such file or directory (os error 2)\n"),
    ] {
        let output = bench.txbench(&["run", file, "--qemu", "./qemu"]);
        assert_eq!((code(&output), stderr(&output).as_str()), (4, says));
    }
}

#[test]
fn a_fault_image_succeeds_with_the_expected_code_and_text() {
    let bench = Bench::new();
    bench.prints("data abort at 0x10\nthread worker\n", 103);
    let good = ["--expect-exit", "103", "--expect", "data abort", "--expect", "thread worker"];
    let output = bench.run(&good);
    assert_eq!(code(&output), 0, "{}", seen(&output));
    assert!(stdout(&output).ends_with("verdict: ok: exit code 103 and the expected text\n"));

    let output = bench.run(&["--expect-exit", "104"]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).ends_with("verdict: FAILED: exit code 103, expected 104\n"));

    let output = bench.run(&["--expect-exit", "103", "--expect", "undefined instruction"]);
    assert_eq!(code(&output), 1);
    assert_eq!(stderr(&output), "txbench: never printed: undefined instruction\n");
}

#[test]
fn run_leaves_the_uarts_bytes_in_the_log_and_parse_agrees() {
    let bench = Bench::new();
    let text = format!("banner\r\n{}\r\n{CLOSING}\r\n", records());
    bench.prints(&text, 0);
    let run = bench.run(&["--log", "kept.log"]);
    assert_eq!(code(&run), 0, "{}", seen(&run));
    assert_eq!(fs::read_to_string(bench.path("kept.log")).unwrap(), text);
    let parse = bench.txbench(&["parse", "kept.log"]);
    assert_eq!(code(&parse), 0);
    assert_eq!(stdout(&run), text + &stdout(&parse));
}

#[test]
fn parse_names_what_is_wrong_with_a_log() {
    let bench = Bench::new();
    let whole = format!("{}\n{CLOSING}\n", records());
    for (text, expected) in [
        (whole.as_str(), 0),
        (&whole[..whole.len() - CLOSING.len() - 1], 3),
        (&whole[..whole.len() - CLOSING.len() - 9], 3),
        ("root:x:0:0:root:/root:/bin/bash\n", 3),
        ("", 3),
    ] {
        fs::write(bench.path("log"), text).unwrap();
        let output = bench.txbench(&["parse", "log"]);
        assert_eq!(code(&output), expected, "{}", seen(&output));
        assert_eq!(expected == 0, stderr(&output).is_empty());
    }
    assert_eq!(code(&bench.txbench(&["parse", "absent"])), 4);
}

#[test]
fn every_command_uses_what_could_be_read_and_names_the_rest() {
    let bench = Bench::new();
    let lines = records();
    let lines: Vec<&str> = lines.lines().collect();
    let log = |second: &str, closing: &str| format!("{}\n{second}\n{}\n{closing}\n", lines[0], lines[2..].join("\n"));
    fs::write(bench.path("good"), log(lines[1], CLOSING)).unwrap();
    fs::write(bench.path("cut"), log(&lines[1][..100], CLOSING)).unwrap();
    fs::write(bench.path("failed"), log(&lines[1][..100], "DONE FAILED: sleeper not resumed")).unwrap();
    let parsed = bench.txbench(&["parse", "cut", "--json"]);
    fs::write(bench.path("cut.json"), &parsed.stdout).unwrap();
    for (name, expected, says) in [
        ("good", 0, ""),
        ("cut", 3, "txbench: cut: line 2: record cut off\n"),
        ("cut.json", 3, "txbench: cut.json: line 2: record cut off\n"),
        (
            "failed",
            1,
            "txbench: failed: self-check failed: sleeper not resumed\ntxbench: failed: line 2: record cut off\n",
        ),
    ] {
        for (args, shown) in [
            (&["table", name][..], "context_switch"),
            (&["table", name, "--csv"], "context_switch"),
            (&["plot", name, "--out", "plots"], "plots/distribution.svg"),
            (&["compare", name, name], "verdict: no difference"),
            (&["report", name, "--html", "page.html", "--markdown", "page.md"], ""),
            (&["merge", "--out", "all.json", name], "rows in all.json"),
            (&["parse", name], "context_switch"),
        ] {
            if args[0] == "parse" && name == "cut.json" {
                continue;
            }
            let output = bench.txbench(args);
            assert_eq!(code(&output), expected, "{args:?}: {}", seen(&output));
            // What parse says of self-checks is its verdict.
            let says = if args[0] == "parse" { says.lines().last().unwrap_or("") } else { says.trim_end() };
            assert_eq!(stderr(&output).trim_end(), says, "{args:?}");
            assert!(stdout(&output).contains(shown), "{args:?}: {}", seen(&output));
        }
        for page in ["page.html", "page.md"] {
            let page = fs::read_to_string(bench.path(page)).unwrap();
            let problem = format!("{name}: line 2: record cut off");
            assert_eq!(page.contains(&problem), expected != 0, "{name}");
        }
    }
    // Of two sides both are named, and one that two have is named once.
    let output = bench.txbench(&["compare", "good", "cut"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (3, "txbench: cut: line 2: record cut off\n"));
    let output = bench.txbench(&["table", "cut", "failed"]);
    assert!(code(&output) == 1 && stderr(&output).starts_with("txbench: cut: line 2: "), "{}", seen(&output));
}

#[test]
fn parse_says_in_one_line_what_is_no_log() {
    let bench = Bench::new();
    let binary: Vec<u8> = (0..20_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(bench.path("binary"), binary).unwrap();
    fs::write(bench.path("one-line"), vec![b'x'; 1 << 17]).unwrap();
    fs::write(bench.path("x"), format!("{}\n{CLOSING}\n", records())).unwrap();
    fs::write(bench.path("run.json"), bench.txbench(&["parse", "x", "--json"]).stdout).unwrap();
    fs::write(bench.path("other.json"), "{\n  \"name\": 1\n}\n").unwrap();
    for (name, expected, says) in [
        ("binary", 3, " lines are no text"),
        ("one-line", 3, "no log of an image: 1 of its 1 lines are no text"),
        ("run.json", 4, "is a JSON result of txbench and no log: txbench table, compare and report read it"),
        ("other.json", 4, "other.json: no schema number: not written by txbench"),
    ] {
        let output = bench.txbench(&["parse", name]);
        assert_eq!((code(&output), stderr(&output).lines().count()), (expected, 1), "{}", seen(&output));
        assert!(stderr(&output).contains(says) && stderr(&output).contains(name), "{}", seen(&output));
        if !name.starts_with("run") {
            let output = bench.txbench(&["table", name]);
            assert_eq!((code(&output), stderr(&output).lines().count()), (4, 1), "{}", seen(&output));
        }
    }
    // Noise at the start of a log is no JSON.
    fs::write(bench.path("noisy"), format!("{{\n{}\n{CLOSING}\n", records())).unwrap();
    assert_eq!(code(&bench.txbench(&["table", "noisy"])), 0);
}

#[test]
fn test_adds_images_up_and_names_every_failure() {
    let bench = Bench::new();
    for name in ["good", "bad", "hangs", "lies", "crashes", "silent"] {
        bench.elf(name);
    }
    bench.qemu(
        MACHINES,
        "case $image in\n\
         good) echo 'test a ... ok'; echo 'test b ... ok'; echo 'test result: ok. 2 passed; 0 failed';;\n\
         bad) echo 'test a ... ok'; echo 'test b ... FAILED: left 1, right 2'\n\
              echo 'test c ... window not hit: 0 of 1000'\n\
              echo 'test result: FAILED. 1 passed; 2 failed'; exit 1;;\n\
         hangs) echo 'test a ... ok'; printf 'test b ... '; sleep 60;;\n\
         lies) echo 'test a ... ok'; echo 'test result: ok. 2 passed; 0 failed';;\n\
         crashes) echo 'test a ... ok'; echo 'data abort'; exit 103;;\n\
         esac",
    );
    let images = ["good", "bad", "hangs", "lies", "crashes", "silent"];
    let args = [&["test", "--qemu", "./qemu", "--timeout", "2"], &images[..]].concat();
    insta::assert_snapshot!(seen(&bench.txbench(&args)));

    let output = bench.txbench(&["test", "--qemu", "./qemu", "good"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).ends_with("\n2 passed, 0 failed\n"));
}

#[test]
fn wrong_usage_is_code_2() {
    let bench = Bench::new();
    for args in
        [&["run"][..], &["test"], &["run", "image", "--timeout", "0"], &["run", "image", "--expect-exit", "256"]]
    {
        assert_eq!(code(&bench.txbench(args)), 2, "{args:?}");
    }
    for args in [&["--help"][..], &["help"], &["merge", "--help"], &["--version"]] {
        let help = bench.txbench(args);
        assert!(code(&help) == 0 && stderr(&help).is_empty() && stdout(&help).contains("txbench"), "{args:?}");
    }
    assert!(stdout(&bench.txbench(&["--help"])).contains("Exit codes"));
}

#[test]
fn wrong_usage_is_told_in_one_line() {
    let bench = Bench::new();
    for (args, says) in [
        ("", "no command given (try `txbench --help`)"),
        ("nonsense", "unrecognized subcommand 'nonsense' (try `txbench --help`)"),
        ("--nonsense", "unexpected argument '--nonsense' found (try `txbench --help`)"),
        ("merge a b", "the following required arguments were not provided: --out <FILE> (try `txbench merge --help`)"),
        (
            "report x",
            "the following required arguments were not provided: <--html <FILE>|--markdown <FILE>> \
             (try `txbench report --help`)",
        ),
        (
            "plot x --kind pie",
            "invalid value 'pie' for '--kind <KIND>' [possible values: distribution, placement, published] \
             (try `txbench plot --help`)",
        ),
        (
            "table x --markdow",
            "unexpected argument '--markdow' found; tip: a similar argument exists: '--markdown' (try `txbench table --help`)",
        ),
        (
            "table x --csv --markdown",
            "the argument '--csv' cannot be used with '--markdown' (try `txbench table --help`)",
        ),
        (
            "run x --timeout 0",
            "invalid value '0' for '--timeout <SECS>': 0 is not in 1..=86400 (try `txbench run --help`)",
        ),
        (
            "matrix --image i=image --out x --select list",
            "invalid value 'list' for '--select <CELL>': not the name of a cell or how one begins, \
             for example context_switch/BTCM (try `txbench matrix --help`)",
        ),
    ] {
        let output = bench.txbench(&args.split_whitespace().collect::<Vec<_>>());
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{args}");
        assert_eq!(stderr(&output), format!("txbench: {says}\n"), "{args}");
    }
}

#[test]
fn parse_reads_upstreams_demo() {
    let bench = Bench::new();
    let log = "\n=== ThreadX Cortex-R52 :: S32Z280-594EVB ===\nconsole   = 0x00000000\n\n\
               stack-heavy work, cycles (24 frames, cold cache)\n\
               \x20 stack in BTCM : min 42868  mean 43031  max 44890  interrupted 0 of 64\n\
               \x20 stack in DRAM0: min 42982  mean 43291  max 49842  interrupted 1 of 64\n\
               context switch round trip, cycles\n\
               \x20 stacks in BTCM : min 1370  mean 1379  max 1402  preempted 6 of 256\n\
               \x20 stacks in DRAM0: min 1476  mean 1480  max 1508  preempted 5 of 256\n\
               PASS threads, tick and preemption all verified\n=== demo complete ===\n";
    fs::write(bench.path("board.log"), log).unwrap();
    insta::assert_snapshot!(seen(&bench.txbench(&["parse", "board.log"])));

    // Cut in the middle of a line: the rest is kept, the line is named.
    fs::write(bench.path("cut.log"), &log[..log.len() - 120]).unwrap();
    let output = bench.txbench(&["parse", "cut.log"]);
    assert_eq!(code(&output), 3);
    assert!(
        stderr(&output).contains("txbench: cut.log: line 10: malformed figures of upstream's demo"),
        "{}",
        seen(&output)
    );
    assert!(stdout(&output).contains("1370"), "{}", seen(&output));
}

#[test]
fn parse_as_json_is_read_back_as_a_source() {
    let bench = Bench::new();
    fs::write(bench.path("log"), format!("board      mps3-an536\n{}\n{CLOSING}\n", records())).unwrap();
    let parsed = bench.txbench(&["parse", "log", "--json"]);
    assert_eq!(
        (code(&parsed), stderr(&parsed).as_str()),
        (0, "txbench: verdict: ok: 4 records, self-checks passed (5 checks)\n")
    );
    fs::write(bench.path("run.json"), stdout(&parsed)).unwrap();
    let (log, json) = (bench.txbench(&["table", "log"]), bench.txbench(&["table", "run.json"]));
    assert_eq!(stdout(&log), stdout(&json));
    let csv = stdout(&bench.txbench(&["table", "run.json", "--csv"]));
    assert!(csv.starts_with("bench,code,kernel,board,stack,"), "{csv}");
    assert_eq!(csv.lines().count(), 5);
}

#[test]
fn published_figures_are_a_source() {
    let bench = Bench::new();
    let output = bench.txbench(&["table", "published:635", "--markdown"]);
    insta::assert_snapshot!(stdout(&output));
    let output = bench.txbench(&["table", "published:1"]);
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).starts_with("txbench: no published figures published:1: there are published:635, "));
}

#[test]
#[cfg(target_os = "linux")]
fn host_flip_says_that_it_is_host_data() {
    let bench = Bench::new();
    let output = bench.txbench(&["host-flip", "--samples", "200", "--levels", "1", "--json"]);
    if code(&output) == 4 && stderr(&output).contains("sysfs names no data cache") {
        return; // a container that hides its processor
    }
    assert_eq!(code(&output), 0, "{}", seen(&output));
    let run: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let rows = run["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "none, clean and dirty");
    for row in rows {
        assert_eq!(row["origin"], "host");
        let count = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(count("n") + count("excluded_awake") + count("excluded_clock"), 200);
        assert_eq!(count("n") + count("excluded"), 200);
        assert!(row["min"].as_u64().unwrap() > 0 && row["min"].as_u64() <= row["p50"].as_u64());
        assert_eq!(row["opt"], if cfg!(debug_assertions) { "debug" } else { "release" });
        assert_eq!(row["options"], "on one processor");
    }
    assert_eq!(stderr(&output).contains("this is a debug build"), cfg!(debug_assertions), "{}", seen(&output));
    assert!(run["environment"][0][1].as_str().unwrap().contains("not on a board"));
    let output = bench.txbench(&["host-flip", "--samples", "200", "--levels", "1"]);
    let text = stdout(&output);
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    assert!(text.contains(&format!("{build} build of txbench")) && text.contains("| opt"), "{text}");
    let output = bench.txbench(&["host-flip", "--levels", "9"]);
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("--levels 9: sysfs names no data cache of that level"));
}

/// A stand-in for an image that lists its cells and runs those it is told.
const SUITE: &str = r#"
for word in $(echo "$args" | tr ',' '\n' | sed -n 's/^arg=\([^ ]*\).*/\1/p' | tail -n +2); do words="$words $word"; done
record() { cat "$here/record" | sed "s/CACHE/$1/;s/MIN/$2/g"; }
here=$(dirname "$0")
cells='a/cold a/warm b/cold'
case " $words " in *' quick '*) cells='a/cold a/warm';; esac
case " $words " in
*' list '*) for c in $cells; do echo "CELL $c"; done; echo 'DONE ok: 3 cells'; exit 0;;
esac
echo "boot$words" >>"$here/boots"
echo 'kernel     bundled 0.1.0'
for c in $words; do
  if [ "$c" = "$(cat "$here/crash" 2>/dev/null)" ]; then echo "CELL $c"; exit 103; fi
  echo "CELL $c"; record "${c#*/}" 34
done
echo 'DONE ok: 3 self-checks passed'
"#;

fn suite(bench: &Bench) {
    let record = record("BTCM", "CACHE", [7, 7, 7]).replace(":7", ":MIN");
    fs::write(bench.path("record"), format!("{record}\n")).unwrap();
    bench.qemu(MACHINES, SUITE);
}

fn matrix(bench: &Bench, args: &[&str]) -> Output {
    bench.txbench(&[&["matrix", "--image", "suite=image", "--qemu", "./qemu"], args].concat())
}

fn boots(bench: &Bench) -> usize {
    fs::read_to_string(bench.path("boots")).unwrap_or_default().lines().count()
}

fn rows(bench: &Bench, file: &str) -> Vec<String> {
    let run: serde_json::Value = serde_json::from_str(&fs::read_to_string(bench.path(file)).unwrap()).unwrap();
    run["rows"].as_array().unwrap().iter().map(|row| row["cell"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn matrix_runs_every_cell_once_and_goes_on_where_it_stopped() {
    let bench = Bench::new();
    suite(&bench);
    fs::write(bench.path("crash"), "a/warm").unwrap();
    let output = matrix(&bench, &["--out", "run.json"]);
    assert_eq!(code(&output), 1, "{}", seen(&output));
    assert!(stderr(&output).contains("suite: cell a/warm did not complete"), "{}", seen(&output));
    assert_eq!(rows(&bench, "run.json"), ["a/cold", "b/cold"], "the others are kept");

    // Mended, the same command runs only what is missing.
    fs::remove_file(bench.path("crash")).unwrap();
    let before = boots(&bench);
    let output = matrix(&bench, &["--out", "run.json"]);
    assert_eq!(code(&output), 0, "{}", seen(&output));
    assert!(stdout(&output).starts_with("1 of 3 cells to run\n"));
    assert_eq!(boots(&bench), before + 1);
    assert_eq!(rows(&bench, "run.json").len(), 3);
    let output = matrix(&bench, &["--out", "run.json"]);
    assert!(stdout(&output).starts_with("0 of 3 cells to run\n") && code(&output) == 0);
    assert_eq!(boots(&bench), before + 1);

    // Results of two builds do not mix.
    fs::write(bench.path("image"), [fs::read(bench.path("image")).unwrap(), vec![1]].concat()).unwrap();
    let output = matrix(&bench, &["--out", "run.json"]);
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("another build of suite: --fresh begins anew"), "{}", seen(&output));
    assert_eq!(code(&matrix(&bench, &["--out", "run.json", "--fresh", "--repeat", "2"])), 0);
    assert_eq!(rows(&bench, "run.json").len(), 6);
}

#[test]
fn two_matrices_do_not_write_one_file() {
    let bench = Bench::new();
    suite(&bench);
    // It waits in its first boot until it is told to go on.
    let wait = SUITE.replacen(
        "here=$(dirname \"$0\")",
        "here=$(dirname \"$0\"); while [ -e $here/wait ]; do sleep 0.05; done",
        1,
    );
    bench.qemu(MACHINES, &wait);
    fs::write(bench.path("wait"), "").unwrap();
    let args = ["matrix", "--image", "suite=image", "--qemu", "./qemu", "--out"];
    let first = bench.command(&[&args[..], &["run.json"]].concat()).stdout(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !bench.path(".run.json.lock").exists() {
        assert!(Instant::now() < deadline, "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    let second = bench.txbench(&[&args[..], &["./run.json"]].concat());
    fs::remove_file(bench.path("wait")).unwrap();
    let says = "txbench: ./run.json is being written by another txbench: wait for its end\n";
    assert_eq!((code(&second), stderr(&second).as_str()), (4, says));
    assert_eq!(code(&first.wait_with_output().unwrap()), 0);
    assert_eq!(rows(&bench, "run.json").len(), 3);
    assert!(!bench.path(".run.json.lock").exists());
    assert_eq!(code(&matrix(&bench, &["--out", "run.json"])), 0);
}

#[test]
fn a_matrix_file_that_is_half_there_is_mended() {
    let bench = Bench::new();
    suite(&bench);
    assert_eq!(code(&matrix(&bench, &["--out", "run.json"])), 0);
    let whole = fs::read_to_string(bench.path("run.json")).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let without = |cell: &str| {
        let kept = lines.iter().filter(|line| !line.contains(&format!("\"cell\":\"{cell}\"")));
        kept.copied().collect::<Vec<_>>().join("\n").replace(",\n]", "\n]")
    };
    for (text, says) in [
        (without("a/warm"), "suite cell a/warm is marked as complete, but has no rows"),
        (
            whole.replace(r#"["suite","b/cold",1]"#, r#"["suite","a/cold",1]"#),
            "suite cell b/cold has rows, but is not marked",
        ),
    ] {
        assert_ne!(text, whole);
        fs::write(bench.path("run.json"), &text).unwrap();
        let report = bench.txbench(&["table", "run.json"]);
        assert!(stderr(&report).contains(says), "{}", seen(&report));
        let merged = bench.txbench(&["merge", "--out", "all.json", "run.json"]);
        assert!(
            code(&merged) == 3 && stderr(&merged).contains("1 of 3 cells are in none of the files"),
            "{}",
            seen(&merged)
        );
        let output = matrix(&bench, &["--out", "run.json"]);
        assert!(code(&output) == 0 && stderr(&output).contains(says), "{}", seen(&output));
        assert!(stdout(&output).starts_with("1 of 3 cells to run\n"), "{}", seen(&output));
        let sorted = |file: &str| {
            let mut cells = rows(&bench, file);
            cells.sort();
            cells
        };
        assert_eq!(sorted("run.json"), ["a/cold", "a/warm", "b/cold"]);
    }
}

#[test]
fn a_cell_without_a_record_is_not_complete() {
    let bench = Bench::new();
    bench.qemu(
        MACHINES,
        "case $args in *list*) echo 'CELL a'; echo 'CELL b'; echo 'DONE ok';;\n\
         *) echo 'CELL a'; cat \"$(dirname \"$0\")/record\"; echo 'CELL b'; echo 'DONE ok: 1 check';; esac",
    );
    fs::write(bench.path("record"), format!("{}\n", record("BTCM", "cold", [1, 1, 1]))).unwrap();
    for _ in 0..2 {
        let output = matrix(&bench, &["--out", "run.json"]);
        assert!(code(&output) == 1 && stderr(&output).contains("suite: cell b has no record"), "{}", seen(&output));
        assert_eq!(rows(&bench, "run.json"), ["a"]);
    }
}

#[test]
fn shards_together_are_the_whole() {
    let bench = Bench::new();
    suite(&bench);
    assert_eq!(code(&matrix(&bench, &["--out", "whole.json"])), 0);
    for part in ["1/2", "2/2"] {
        let out = format!("part{}.json", &part[..1]);
        assert_eq!(code(&matrix(&bench, &["--out", &out, "--shard", part])), 0);
    }
    assert_eq!(rows(&bench, "part2.json"), ["a/warm"]);
    let output = bench.txbench(&["merge", "--out", "all.json", "part2.json", "part1.json"]);
    assert_eq!(code(&output), 0, "{}", seen(&output));
    let text = |file: &str| fs::read_to_string(bench.path(file)).unwrap();
    assert_eq!(text("all.json"), text("whole.json").replacen("\"matrix\"", "\"merge\"", 1));
    let output = bench.txbench(&["merge", "--out", "some.json", "part1.json"]);
    assert_eq!(code(&output), 3);
    assert_eq!(stderr(&output), "txbench: suite: 1 of 3 cells are in none of the files\n");
    assert_eq!(code(&matrix(&bench, &["--out", "x.json", "--shard", "3/2"])), 2);
}

#[test]
fn an_image_without_a_list_is_one_cell() {
    let bench = Bench::new();
    bench.prints(&format!("{}\n{CLOSING}\n", records()), 0);
    assert_eq!(code(&matrix(&bench, &["--out", "run.json"])), 0);
    assert_eq!(rows(&bench, "run.json"), [""; 4]);
    // There is nothing to choose from, and what was chosen must not be taken for what ran.
    let output = matrix(&bench, &["--out", "some.json", "--select", "x"]);
    let says = "txbench: suite: it does not list its cells, so that --select has none to choose from: leave one of the two out\n";
    assert_eq!((code(&output), stderr(&output).as_str()), (4, says));
    assert!(!bench.path("some.json").exists());
    assert_eq!(code(&matrix(&bench, &["--out", "quick.json", "--quick"])), 0, "all of it is its core set");
    bench.prints("DONE FAILED: no cell matches x: the word `list` shows their names\n", 2);
    let output = matrix(&bench, &["--out", "other.json", "--select", "x"]);
    let says = "txbench: suite: --select: no cell matches x; `txbench run image --arg list` names its cells\n";
    assert_eq!((code(&output), stderr(&output).as_str()), (4, says));
    bench.prints("hello\n", 0);
    let output = matrix(&bench, &["--out", "other.json"]);
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("suite: it does not list its cells and is no measurement"));
}

#[test]
fn rows_of_self_tests_are_compared_on_request_only() {
    let bench = Bench::new();
    let log = |min| {
        format!(
            "CELL a\n{}\nCELL selftest/tick\n{}\n{CLOSING}\n",
            record("BTCM", "cold", [7, 7, 7]),
            record("BTCM", "warm", [min, min, min])
        )
    };
    fs::write(bench.path("a"), log(8)).unwrap();
    fs::write(bench.path("b"), log(9)).unwrap();
    let output = bench.txbench(&["compare", "a", "b"]);
    assert!(stdout(&output).ends_with("verdict: no difference in 1 measurement compared\n"), "{}", seen(&output));
    assert_eq!(
        stderr(&output),
        "txbench: rows of the method's own tests are left out, 2 on both sides together (--self-tests compares them)\n"
    );
    let output = bench.txbench(&["compare", "a", "b", "--self-tests"]);
    assert!(
        stdout(&output).contains("a difference in 1 of 2 measurements") && stderr(&output).is_empty(),
        "{}",
        seen(&output)
    );
}

#[test]
fn a_model_that_does_not_start_is_told_once() {
    let bench = Bench::new();
    bench.qemu(MACHINES, "echo 'r52-model: x.toml: line 3: wrong' >&2; exit 1");
    fs::write(bench.path("old"), "model 1 s32z280 recorded\nend x\n").unwrap();
    let output = bench.run(&["--model", "an536", "--plugin", "image", "--cycles", "old"]);
    assert_eq!(code(&output), 4, "{}", seen(&output));
    let says = "r52-model: x.toml: line 3: wrong\ntxbench: the model did not start (QEMU ended with 1): the line above says why\n";
    assert_eq!(stderr(&output), says, "and an older log is not taken for its own");
    assert!(fs::read_to_string(bench.path("old")).unwrap().starts_with("model 1"));
}

#[test]
fn matrix_keeps_what_it_was_not_asked_for() {
    let bench = Bench::new();
    suite(&bench);
    let part = || {
        let run: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(bench.path("run.json")).unwrap()).unwrap();
        run["images"]["suite"]["part"].clone()
    };
    assert_eq!(code(&matrix(&bench, &["--out", "run.json", "--quick"])), 0);
    assert_eq!(part(), serde_json::json!({ "words": ["quick"], "left_out": ["b/cold"] }));
    assert_eq!(code(&bench.txbench(&["report", "run.json", "--markdown", "page.md"])), 0);
    let page = fs::read_to_string(bench.path("page.md")).unwrap();
    assert!(page.contains("- `suite`: the quick core, 2 of its 3 cells, each run once. Not here: b 1 of 1."), "{page}");
    let output = matrix(&bench, &["--out", "run.json"]);
    assert!(stdout(&output).starts_with("1 of 3 cells to run\n") && code(&output) == 0, "{}", seen(&output));
    assert!(part().is_null(), "all are there now");
}

#[test]
fn later_keys_are_told_once_and_kept() {
    let bench = Bench::new();
    suite(&bench);
    assert_eq!(code(&matrix(&bench, &["--out", "run.json", "--select", "a"])), 0);
    let text = fs::read_to_string(bench.path("run.json")).unwrap();
    let later =
        text.replace("{\"origin\"", "{\"volts\":3,\"origin\"").replacen("\"schema\"", "\"lab\":\"x\",\"schema\"", 1);
    let later = later.replace("\"crc32\"", "\"size\":1,\"crc32\"");
    fs::write(bench.path("run.json"), later).unwrap();
    let says = "run.json is of a later txbench, whose images.size, lab, rows.volts this one does not know: ignored\n";
    for args in
        [&["table", "run.json"][..], &["compare", "run.json", "run.json"], &["merge", "--out", "all.json", "run.json"]]
    {
        let output = bench.txbench(args);
        assert!(stderr(&output).starts_with(&format!("txbench: {says}")), "{args:?}: {}", seen(&output));
        assert_eq!(stderr(&output).matches("later txbench").count(), 1);
    }
    assert_eq!(code(&matrix(&bench, &["--out", "run.json", "--fresh"])), 0);
    fs::write(bench.path("log"), format!("{}\n{CLOSING}\n", records().replace("\"n\"", "\"volts\":3,\"n\""))).unwrap();
    let output = bench.txbench(&["parse", "log"]);
    assert_eq!(code(&output), 0, "{}", seen(&output));
    assert_eq!(
        stderr(&output),
        "txbench: the log is of a later txbench, whose volts this one does not know: ignored\n"
    );
}

#[test]
fn words_reach_the_image() {
    let bench = Bench::new();
    bench.qemu(MACHINES, "echo \"$args\"; exit 0");
    let shown = stdout(&bench.run(&["--arg", "a,b", "--arg", "c"]));
    assert!(shown.contains("-semihosting-config enable=on,target=native,arg=image,arg=a,,b,arg=c -kernel"), "{shown}");
}

#[test]
fn m05_a_log_against_itself_is_no_difference() {
    let bench = Bench::new();
    fs::write(bench.path("log"), format!("{}\n{CLOSING}\n", records())).unwrap();
    let output = bench.txbench(&["compare", "log", "log"]);
    assert_eq!(code(&output), 0);
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn m12_a_count_of_instructions_gets_no_ratio_to_cycles() {
    let bench = Bench::new();
    fs::write(bench.path("log"), format!("{}\n{CLOSING}\n", records())).unwrap();
    let output = bench.txbench(&["compare", "log", "published:635"]);
    assert_eq!(code(&output), 1);
    insta::assert_snapshot!(stdout(&output));
    let output = bench.txbench(&["compare", "log", "published:635", "--direction-only"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("direction only: "), "{}", seen(&output));
}

#[test]
fn plots_and_page_are_files_of_their_own() {
    let bench = Bench::new();
    fs::write(bench.path("log"), format!("{}\n{CLOSING}\n", records())).unwrap();
    let output = bench.txbench(&["plot", "log", "published:638", "--out", "plots"]);
    assert_eq!(code(&output), 0, "{}", seen(&output));
    for name in ["distribution", "placement", "published"] {
        assert!(stdout(&output).contains(&format!("plots/{name}.svg\nplots/{name}.png\n")), "{}", seen(&output));
        let png = fs::read(bench.path(&format!("plots/{name}.png"))).unwrap();
        assert_eq!(&png[..4], b"\x89PNG");
    }
    let output = bench.txbench(&["report", "log", "--html", "page.html", "--markdown", "page.md"]);
    assert_eq!(code(&output), 0, "{}", seen(&output));
    assert!(fs::read_to_string(bench.path("page.html")).unwrap().ends_with("</html>\n"));
    assert!(fs::read_to_string(bench.path("page.md")).unwrap().starts_with("# ThreadX"));
    let output = bench.txbench(&["report", "log", "--markdown", "new/folder/page.md"]);
    assert_eq!(code(&output), 0, "{}", seen(&output));
    assert!(bench.path("new/folder/page.md").exists() && bench.path("new/folder/plots/distribution.svg").exists());
    let output = bench.txbench(&["plot", "log", "--kind", "placement"]);
    assert_eq!(
        (code(&output), stderr(&output).as_str()),
        (4, "txbench: nothing to draw: no result says where its timed code lies in the line\n")
    );
}

/// A pair of ends, of which the second is a serial port for whoever opens it.
fn port() -> (fs::File, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let board = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&board).unwrap();
    unlockpt(&board).unwrap();
    let name = ptsname(&board, Vec::new()).unwrap().into_string().unwrap();
    (fs::File::from(board), name)
}

/// A board and a `txbench` that listens to it.
fn listening(bench: &Bench, more: &[&str]) -> (fs::File, Child) {
    let (board, name) = port();
    let args = [&["run", "--serial", &name, "--timeout", "20"], more].concat();
    let child = bench.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    (board, child)
}

#[test]
fn a_board_at_a_serial_port_is_read_until_its_log_is_closed() {
    use std::io::Write;

    let bench = Bench::new();
    let (mut board, child) = listening(&bench, &["--json", "run.json"]);
    let start = Instant::now();
    for piece in format!("{}\r\n{CLOSING}\r\n", records()).as_bytes().chunks(100) {
        board.write_all(piece).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", seen(&output));
    assert!(stdout(&output).ends_with("verdict: ok: 4 records, self-checks passed (5 checks)\n"), "{}", seen(&output));
    assert!(start.elapsed() < Duration::from_secs(15));
    assert_eq!(rows(&bench, "run.json").len(), 4);
}

#[test]
fn a_serial_port_that_goes_away_leaves_what_came() {
    use std::io::Write;

    let bench = Bench::new();
    for (text, says, expected) in [
        (format!("{}\r\n", records()), "verdict: FAILED: the serial port went away (", 4),
        // A board that is switched off after its last line has said all.
        (format!("{}\r\n{CLOSING}\r\n", records()), "verdict: ok: 4 records", 0),
    ] {
        let (mut board, child) = listening(&bench, &["--json", "run.json", "--log", "run.log"]);
        board.write_all(text.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        drop(board);
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), expected, "{}", seen(&output));
        assert!(stdout(&output).contains(says) && stdout(&output).contains("| context_switch |"), "{}", seen(&output));
        assert_eq!(rows(&bench, "run.json").len(), 4);
        assert_eq!(fs::read_to_string(bench.path("run.log")).unwrap(), text);
    }
}

#[test]
fn a_serial_port_that_is_missing_silent_or_none_is_named() {
    let bench = Bench::new();
    let output = bench.txbench(&["run", "--serial", "/dev/nothing"]);
    assert_eq!(code(&output), 4);
    assert_eq!(stderr(&output).lines().count(), 1);
    assert!(stderr(&output).starts_with("txbench: there is no serial port /dev/nothing: "));
    fs::write(bench.path("file"), "").unwrap();
    assert_eq!(stderr(&bench.txbench(&["run", "--serial", "file"])), "txbench: file is no serial port\n");
    let (_board, name) = port();
    let output = bench.txbench(&["run", "--serial", &name, "--timeout", "1"]);
    assert_eq!(code(&output), 124, "{}", seen(&output));
    for args in [&["run"][..], &["run", "image", "--serial", "x"]] {
        assert_eq!(code(&bench.txbench(args)), 2, "{args:?}");
    }
}

/// Every key of the JSON is in the table of the README, and nothing else is.
#[test]
fn the_documented_schema_is_the_written_one() {
    let bench = Bench::new();
    suite(&bench);
    assert_eq!(code(&matrix(&bench, &["--out", "run.json", "--quick"])), 0);
    let run: serde_json::Value = serde_json::from_str(&fs::read_to_string(bench.path("run.json")).unwrap()).unwrap();
    let mut written: Vec<String> = run.as_object().unwrap().keys().cloned().collect();
    let row = run["rows"][0].as_object().unwrap();
    written.extend(row.keys().map(|key| format!("rows.{key}")));
    written.extend(run["images"]["suite"].as_object().unwrap().keys().map(|key| format!("images.{key}")));
    // Left out where they are empty or unknown.
    let elsewhere = [
        "rows.samples",
        "rows.excluded_at",
        "rows.excluded_awake",
        "rows.excluded_clock",
        "images.relinquish",
        "images.part",
    ];
    written.extend(elsewhere.map(String::from));
    written.sort();
    written.dedup();
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let (_, table) = readme.split_once("| key | value |").unwrap();
    let mut documented: Vec<String> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .flat_map(|line| line.split('|').nth(1).unwrap().split(',').map(|key| key.trim().trim_matches('`').to_owned()))
        .collect();
    documented.sort();
    assert_eq!(documented, written);
    assert_eq!(run["schema"], 1);
}
