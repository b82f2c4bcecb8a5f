//! The C compiler: which, with which flags, and whether its code fits the image.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{
    Failure,
    bindings::Bound,
    environment::{COMPILER, build, variable},
    generated::Generated,
    sources::Sources,
};

/// The optimisation that the kernel is compiled with, whatever the profile: a measured kernel is the
/// same kernel in every image.
const OPTIMISATION: &str = "-O2";

/// What the target armv8r-none-eabihf stands for in rustc: A32 (the kernel's choice), hard-float ABI,
/// 16 double-word registers, arithmetic in single precision, no Advanced SIMD.
const GCC: &[&str] = &["-mcpu=cortex-r52+nofp.dp", "-mfpu=auto", "-mfloat-abi=hard", "-marm"];
const CLANG: &[&str] =
    &["--target=armv8r-none-eabihf", "-mcpu=cortex-r52", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard", "-marm"];

const COMMON: &[&str] = &[
    OPTIMISATION,
    "-g",
    "-std=gnu11",
    "-ffreestanding",
    "-fno-common",
    "-fno-strict-aliasing",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-exceptions",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    // Upstream's warnings are not this build's.
    "-w",
    "-DTX_INCLUDE_USER_DEFINE_FILE",
];

pub struct Compiler {
    /// The program and what comes before all flags: a wrapper has the compiler there.
    command: Vec<String>,
    clang: bool,
    /// `gcc 12.2` or `clang 19.1`, for a banner.
    pub name: String,
    /// Flags of the person who builds, after the own ones.
    extra: Vec<String>,
    /// Directories with the C library's headers, for clang and bindgen.
    system_include: Vec<PathBuf>,
}

/// The compiler that CC_armv8r_none_eabihf or TARGET_CC names, else arm-none-eabi-gcc.
pub fn find(cflags: Option<String>) -> Result<Compiler, Failure> {
    println!("cargo::rerun-if-env-changed=PATH");
    let given = variable("CC").unwrap_or_else(|| String::from(COMPILER));
    // Words, unless it is the path of a file with spaces in it: a wrapper, the compiler, its flags.
    let command: Vec<String> = match Path::new(&given).is_file() {
        true => vec![given.clone()],
        false => given.split_whitespace().map(String::from).collect(),
    };
    let help = "install gcc-arm-none-eabi and libnewlib-arm-none-eabi (scripts/setup.sh --upstream), \
                or name a compiler in CC_armv8r_none_eabihf, or build with --features bundled";
    let output = Command::new(&command[0]).args(&command[1..]).arg("--version").output();
    let version = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(_) => return Err(format!("`{given} --version` fails: {help}")),
        Err(_) => return Err(format!("the C compiler {} is not there: {help}", command[0])),
    };
    let clang = version.contains("clang");
    let number = version
        .lines()
        .next()
        .unwrap_or_default()
        .split([' ', '-'])
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && !word.contains("rel"))
        .unwrap_or("of unknown version");
    let number: Vec<&str> = number.split('.').take(2).collect();
    let name = format!("{} {}", if clang { "clang" } else { "gcc" }, number.join("."));
    let extra = cflags.unwrap_or_default().split_whitespace().map(String::from).collect();
    let mut compiler = Compiler { command, clang, name, extra, system_include: Vec::new() };
    compiler.system_include = compiler.find_system_include();
    Ok(compiler)
}

impl Compiler {
    /// What a build script needs to compile C code of the image.
    pub fn tell_dependents(&self, more_flags: &[&str]) {
        println!("cargo::metadata=COMPILER={}", self.name);
        println!("cargo::metadata=CC={}", self.command.join(" "));
        println!("cargo::metadata=AR={}", self.archiver());
        let flags: Vec<String> = self.flags().into_iter().chain(more_flags.iter().map(ToString::to_string)).collect();
        println!("cargo::metadata=FLAGS={}", flags.join(";"));
    }

    /// Flags for C code of the image, without include directories of the kernel.
    pub fn flags(&self) -> Vec<String> {
        let mut flags: Vec<String> = self.machine().iter().chain(COMMON).map(ToString::to_string).collect();
        if self.clang {
            // It has compiler headers of its own.
            for dir in self.system_include.iter().filter(|dir| !dir.components().any(|part| part.as_os_str() == "gcc"))
            {
                flags.push(String::from("-isystem"));
                flags.push(dir.display().to_string());
            }
        }
        flags.extend(self.extra.iter().cloned());
        flags
    }

    /// The optimisation that the kernel is compiled with, at link time too: the last of the flags counts.
    pub fn optimisation(&self) -> String {
        let level = self.flags().into_iter().rfind(|flag| flag.starts_with("-O"));
        level.into_iter().chain(self.link_time()).collect::<Vec<_>>().join(" ")
    }

    /// The flag that leaves code in the objects for the linker to optimise.
    fn link_time(&self) -> Option<String> {
        let last = self.flags().into_iter().rfind(|flag| flag.starts_with("-flto") || flag == "-fno-lto");
        last.filter(|flag| flag != "-fno-lto")
    }

    fn machine(&self) -> &'static [&'static str] {
        if self.clang { CLANG } else { GCC }
    }

    pub fn system_include(&self) -> &[PathBuf] {
        &self.system_include
    }

    /// Where GCC finds its own headers and those of the C library, of which clang has none: it gets
    /// those of arm-none-eabi-gcc, or whatever CFLAGS say.
    fn find_system_include(&self) -> Vec<PathBuf> {
        let gcc: &[String] = if self.clang { &[String::from(COMPILER)] } else { &self.command };
        let output =
            Command::new(&gcc[0]).args(&gcc[1..]).args(GCC).args(["-E", "-v", "-x", "c", "/dev/null"]).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default();
        text.lines()
            .skip_while(|line| !line.starts_with("#include <...>"))
            .skip(1)
            .take_while(|line| line.starts_with(' '))
            .map(|line| PathBuf::from(line.trim()))
            // GCC names the C library's by way of its own folder.
            .map(|dir| dir.canonicalize().unwrap_or(dir))
            .collect()
    }

    fn command(&self, include: &[PathBuf]) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).args(self.flags());
        for dir in include {
            command.arg("-I").arg(dir);
        }
        command
    }

    fn try_compile(&self, include: &[PathBuf], source: &Path, out: &Path) -> Result<(), Vec<String>> {
        let object = out.join("threadx_sys_check.o");
        let output = self.command(include).arg("-c").arg(source).arg("-o").arg(&object).output();
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(complaints(&output)),
            Err(error) => Err(vec![error.to_string()]),
        }
    }

    /// What the preprocessor knows after these headers: names and, in their words, values.
    pub fn macros(&self, include: &[PathBuf], source: &Path) -> Result<HashMap<String, String>, Failure> {
        let failed = |why: &str| format!("the kernel's headers do not compile: {why}");
        let output = self.command(include).args(["-E", "-dM"]).arg(source).output();
        let output = output.map_err(|error| failed(&error.to_string()))?;
        if !output.status.success() {
            return Err(failed(complaints(&output).first().map_or("", String::as_str)));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let definition = |line: &str| {
            let rest = line.strip_prefix("#define ")?;
            let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
            Some((name.split('(').next()?.to_owned(), value.to_owned()))
        };
        Ok(text.lines().filter_map(definition).collect())
    }

    /// Has cargo look at the files that the configuration is made of: a `tx_user.h` may include others.
    pub fn watch(&self, include: &[PathBuf], source: &Path, out: &Path) {
        let output = self.command(include).arg("-M").arg(source).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let generated = |path: &&str| Path::new(path).starts_with(out);
        for path in text.split_whitespace().filter(|word| Path::new(word).is_file()).filter(|path| !generated(path)) {
            println!("cargo::rerun-if-changed={path}");
        }
    }

    /// Refuses a compiler whose objects would not fit the image.
    pub fn probe(&self, include: &[PathBuf], generated: &Generated) -> Result<(), Failure> {
        self.try_compile(include, &generated.probe, &generated.out).map_err(|complaints| {
            let reason = complaints.iter().find_map(|line| line.split("#error ").nth(1));
            let reason = reason.map(|text| text.trim_matches('"').to_owned());
            let reason = reason.or_else(|| complaints.first().cloned()).unwrap_or_default();
            let flags =
                if self.extra.is_empty() { String::new() } else { format!(" with CFLAGS {}", self.extra.join(" ")) };
            format!("the C compiler {}{flags} does not fit the image: {reason}", self.command.join(" "))
        })
    }

    /// Has the compiler confirm what bindgen (and with it rustc) holds sizes and offsets to be, and the
    /// offsets that the assembly uses.
    pub fn check_layout(&self, include: &[PathBuf], generated: &Generated, bound: &Bound) -> Result<(), Failure> {
        for source in [&generated.glue, &bound.assertions] {
            self.try_compile(include, source, &generated.out).map_err(|complaints| {
                let reason = complaints
                    .iter()
                    .find_map(|line| {
                        line.split("static assertion failed").nth(1).or(line.split("static_assert failed").nth(1))
                    })
                    .map(|text| text.trim_matches([':', ' ', '"', '\'']).to_owned());
                match reason {
                    Some(reason) => {
                        format!("this configuration changes a layout that is fixed: {reason} (check tx_user.h)")
                    }
                    None => format!(
                        "the kernel's headers do not compile: {}",
                        complaints.first().cloned().unwrap_or_default()
                    ),
                }
            })?;
        }
        Ok(())
    }

    /// Compiles kernel and port into `libthreadx.a` and has it linked.
    pub fn compile(&self, include: &[PathBuf], sources: &Sources, generated: &Generated) -> Result<(), Failure> {
        let build = || {
            let mut build = build();
            build.archiver(self.archiver()).cargo_metadata(false).includes(include).out_dir(&generated.out);
            for flag in self.flags() {
                build.flag(flag);
            }
            build
        };
        // What `cc` reports is the command line; the compiler's own words take another attempt.
        let failed = |error: cc::Error| {
            let complaint = sources
                .c
                .iter()
                .chain(&sources.assembly)
                .find_map(|source| self.try_compile(include, source, &generated.out).err())
                .and_then(|complaints| complaints.into_iter().next())
                .unwrap_or_else(|| error.to_string());
            format!("a source of the ThreadX kernel does not compile: {complaint}")
        };
        let (reset, rest): (Vec<_>, Vec<_>) =
            sources.c.iter().partition(|path| path.file_name().is_some_and(|name| name == "tx_thread_reset.c"));
        let mut objects = build()
            .files(rest)
            .files(&sources.assembly)
            .file(&generated.glue)
            .try_compile_intermediates()
            .map_err(failed)?;
        objects.extend(
            build()
                .files(reset)
                .define("_tx_thread_stack_build", "threadx_sys_stack_rebuild")
                .try_compile_intermediates()
                .map_err(failed)?,
        );
        let mut relinquish = build();
        // Addresses from memory instead of two instructions each make up for the question in it. As bitcode it may
        // become part of its callers, which are compiled without.
        match (self.link_time().is_some(), self.clang) {
            (true, _) => {}
            (false, true) => drop(relinquish.flag("-mno-movt")),
            (false, false) => drop(relinquish.flag("-mword-relocations")),
        }
        objects.extend(relinquish.file(&generated.relinquish).try_compile_intermediates().map_err(failed)?);
        let library = generated.out.join("libthreadx.a");
        // `ar` adds to what is there.
        if library.exists() {
            fs::remove_file(&library).map_err(|error| format!("cannot remove {}: {error}", library.display()))?;
        }
        let output = Command::new(self.archiver()).arg("crs").arg(&library).args(&objects).output();
        match output {
            Ok(output) if output.status.success() => {}
            Ok(output) => return Err(format!("{} fails: {}", self.archiver(), complaints(&output).join(" "))),
            Err(_) => {
                return Err(format!("the archiver {} is not there: install binutils-arm-none-eabi", self.archiver()));
            }
        }
        println!("cargo::rustc-link-search=native={}", generated.out.display());
        println!("cargo::rustc-link-lib=static=threadx");
        Ok(())
    }

    fn archiver(&self) -> String {
        if let Some(given) = variable("AR") {
            return given;
        }
        match self.command.iter().find_map(|word| word.strip_suffix("gcc")) {
            Some(prefix) if !self.clang => format!("{prefix}ar"),
            _ => String::from("arm-none-eabi-ar"),
        }
    }
}

/// The lines of a compiler's output that say what is wrong.
fn complaints(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines: Vec<String> =
        text.lines().filter(|line| line.contains("error")).map(|line| line.trim().to_owned()).collect();
    if lines.is_empty() {
        lines = text.lines().take(1).map(String::from).collect();
    }
    lines
}
