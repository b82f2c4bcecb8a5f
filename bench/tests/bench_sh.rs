//! `scripts/bench.sh` with a cargo and a `txbench` that are shell scripts: how it ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Says what it is asked for, leaves a file for the matrix and ends as the variables say.
const TXBENCH: &str = r#"#!/bin/sh
echo "$1" >>"$STEPS"
case $1 in
matrix) while [ "$1" != --out ]; do shift; done; echo measured >"$2"; exit "${MATRIX:-0}";;
host-flip) echo half; [ -z "$INTERRUPT_FLIP" ] || kill -INT "$PPID"; exit "${FLIP:-0}";;
merge) exit "${MERGE:-0}";;
report) while [ $# -gt 1 ]; do [ "$1" != --markdown ] || cp "$PAGE" "$2"; shift; done; exit "${REPORT:-0}";;
esac
"#;

/// Interrupts who called it, as Ctrl-C does, where the build of this package is asked for.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
*"--package ${INTERRUPT_BUILD:-none}"*) kill -INT "$PPID"; exit 130;;
*"--package ${FAIL_BUILD:-none}"*) exit 101;;
esac
case "$*" in
*'--profile tool'*'--package bench'*) mkdir -p "$CARGO_TARGET_DIR/tool"; cp "$STUB" "$CARGO_TARGET_DIR/tool/txbench";;
*'--package bench'*) mkdir -p "$CARGO_TARGET_DIR/debug"; cp "$STUB" "$CARGO_TARGET_DIR/debug/txbench";;
*) mkdir -p "$CARGO_TARGET_DIR/armv8r-none-eabihf/release"
   for image in demo suite; do : >"$CARGO_TARGET_DIR/armv8r-none-eabihf/release/$image"; done;;
esac
"#;

struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let scripts = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts"));
        let at = |name: &str| dir.path().join(name);
        for folder in ["scripts", "bin", "system/lib/rustlib/armv8r-none-eabihf/lib"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for script in ["bench.sh", "env.sh"] {
            fs::copy(scripts.join(script), at("scripts").join(script)).unwrap();
        }
        fs::write(at("Cargo.toml"), "rust-version = \"1.0\"\n").unwrap();
        let rustc = format!(
            "#!/bin/sh\ncase $1 in --version) echo 'rustc 1.99.0 (x)';; *) echo '{}';; esac\n",
            at("system").display()
        );
        for (name, text) in
            [("scripts/setup.sh", "#!/bin/sh\n"), ("bin/cargo", CARGO), ("bin/rustc", &rustc), ("stub", TXBENCH)]
        {
            fs::write(at(name), text).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(dir)
    }

    fn bench(&self, args: &[&str], ends: &[(&str, &str)]) -> Output {
        let at = |name: &str| self.0.path().join(name);
        let _ = fs::remove_file(at("steps"));
        let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
        // A signal that this test's own caller ignores would stay ignored.
        let mut command = Command::new(if cfg!(target_os = "linux") { "env" } else { "bash" });
        if cfg!(target_os = "linux") {
            command.args(["--default-signal=INT", "bash"]);
        }
        command
            .arg(at("scripts/bench.sh"))
            .args(args)
            .env_remove("THREADX_DIR")
            .env("PATH", path)
            .env("CARGO_TARGET_DIR", at("target"))
            .env("STUB", at("stub"))
            .env("STEPS", at("steps"))
            .env("PAGE", at("page"))
            .envs(ends.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn steps(&self) -> String {
        fs::read_to_string(self.0.path().join("steps")).unwrap_or_default().replace('\n', " ")
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn it_ends_with_the_report_where_all_is_well_or_something_did_not_pass() {
    let all =
        if cfg!(target_os = "linux") { "matrix host-flip merge report plot " } else { "matrix merge report plot " };
    let repository = Repository::new();
    for (ends, expected) in [(&[][..], 0), (&[("MATRIX", "1")], 1), (&[("MERGE", "3")], 1), (&[("REPORT", "1")], 1)] {
        let output = repository.bench(&[], ends);
        assert_eq!((output.status.code(), repository.steps().as_str()), (Some(expected), all), "{}", said(&output));
    }
}

#[test]
fn it_stops_where_txbench_was_stopped_or_refused() {
    let repository = Repository::new();
    let report = repository.0.path().join("target/bench/report.json");
    fs::create_dir_all(report.parent().unwrap()).unwrap();
    fs::write(&report, "before").unwrap();
    for (ends, expected, steps, says) in [
        (("MATRIX", "130"), 130, "matrix ", "interrupted at the matrix: the same command goes on"),
        (("MATRIX", "4"), 4, "matrix ", "the matrix failed"),
        (("MATRIX", "2"), 2, "matrix ", "the matrix failed"),
    ] {
        let output = repository.bench(&["--quick"], &[ends]);
        assert_eq!((output.status.code(), repository.steps().as_str()), (Some(expected), steps), "{}", said(&output));
        assert!(said(&output).contains(says), "{}", said(&output));
        assert_eq!(fs::read_to_string(&report).unwrap(), "before");
        assert_eq!(fs::read_to_string(report.with_file_name("matrix.json")).unwrap(), "measured\n");
    }
    let output = repository.bench(&[], &[("MERGE", "4")]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(!repository.steps().contains("report"));
}

#[test]
#[cfg(target_os = "linux")]
fn what_this_machine_cannot_measure_is_left_out() {
    let repository = Repository::new();
    let output = repository.bench(&[], &[("FLIP", "4")]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("left out: this machine cannot measure it"), "{}", said(&output));
    let output = repository.bench(&[], &[("FLIP", "130")]);
    assert_eq!((output.status.code(), repository.steps().as_str()), (Some(130), "matrix host-flip "));
    let left = fs::read_dir(repository.0.path().join("target/bench")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.contains("part") || name.contains("probe")), "{left:?}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named_before_anything_is_built() {
    let repository = Repository::new();
    let at = |name: &str| repository.0.path().join(name);
    fs::write(at("file"), "").unwrap();
    fs::create_dir_all(at("odd/matrix.json")).unwrap();
    fs::create_dir_all(at("flat")).unwrap();
    fs::write(at("flat/plots"), "").unwrap();
    for folder in ["file", "file/x", "odd", "flat"] {
        let output = repository.bench(&["--out", at(folder).to_str().unwrap()], &[]);
        assert_eq!(output.status.code(), Some(2), "{folder}: {}", said(&output));
        assert!(said(&output).contains("give another folder with --out"), "{}", said(&output));
        assert!(!at("target").exists() && repository.steps().is_empty());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_at_any_step_ends_with_one_line_and_130() {
    let repository = Repository::new();
    let built = |says: &str| format!("interrupted at building {says}: the same command goes on\n");
    let in_flip = "interrupted at the measurement on this machine: the same command goes on, what was measured is in ";
    for (ends, says) in [
        (("INTERRUPT_BUILD", "bench"), built("txbench").as_str()),
        (("INTERRUPT_BUILD", "suite"), built("suite-bundled").as_str()),
        (("INTERRUPT_BUILD", "demo"), built("call-fat-bundled").as_str()),
        (("INTERRUPT_FLIP", "1"), in_flip),
        (("FLIP", "130"), in_flip),
    ] {
        let output = repository.bench(&[], &[ends]);
        assert_eq!(output.status.code(), Some(130), "{ends:?}: {}", said(&output));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.starts_with("bench.sh: ") && errors.contains(says), "{ends:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{ends:?}: {errors}");
        let left = fs::read_dir(repository.0.path().join("target/bench")).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert!(!left.iter().any(|name| name.contains("part") || name.contains("probe")), "{left:?}");
    }
    let output = repository.bench(&[], &[("FAIL_BUILD", "suite")]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("building suite-bundled failed, see above"), "{}", said(&output));
}

#[test]
fn documents_are_compared_to_the_byte_where_the_compiler_is_the_same() {
    let repository = Repository::new();
    let at = |name: &str| repository.0.path().join(name);
    let page =
        |rustc: &str, text: u32| format!("| suite-bundled | built with | {rustc}, opt-level 3 |\n.text {text}\n");
    let check = || repository.bench(&["--check"], &[]);
    fs::create_dir_all(at("docs/plots")).unwrap();
    fs::create_dir_all(at("target/bench-docs/plots")).unwrap();
    fs::write(at("docs/results.md"), page("rustc 1.96.0 (x)", 168_948)).unwrap();
    for (rustc, text, code, says) in [
        ("rustc 1.96.0 (x)", 168_948, 0, "docs/results.md is what the images give"),
        ("rustc 1.96.0 (x)", 168_952, 1, "docs/results.md is not what the images give: run scripts/bench.sh --docs"),
        ("rustc 1.95.0", 168_952, 77, "neither figures nor sizes of .text are compared"),
    ] {
        fs::write(at("page"), page(rustc, text)).unwrap();
        let output = check();
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(said(&output).contains(says), "{}", said(&output));
    }
    assert!(said(&check()).contains("docs/results.md is of rustc 1.96.0 (x), this is rustc 1.95.0: "));
    let output = repository.bench(&["--docs"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(fs::read_to_string(at("docs/results.md")).unwrap(), page("rustc 1.95.0", 168_952));
    for both in [["--docs", "--check"], ["--check", "--docs"]] {
        let output = repository.bench(&both, &[]);
        assert_eq!((output.status.code(), repository.steps().as_str()), (Some(2), ""), "{}", said(&output));
        assert_eq!(said(&output), "bench.sh: --docs writes what --check compares: give one of them\n");
    }
}
