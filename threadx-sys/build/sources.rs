//! Where upstream's sources are, and whether all of them are there.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::Failure;

/// Ports whose assembly runs on the Cortex-R52, the better one first. Both take an IRQ through context
/// save and restore in A32 state, with the same offsets into the thread's control block.
const PORTS: &[&str] = &["cortex_r52", "cortex_r5"];

/// What the image needs of a port; it may have more.
const PORT_FILES: &[&str] = &[
    "inc/tx_port.h",
    "src/tx_thread_context_restore.S",
    "src/tx_thread_context_save.S",
    "src/tx_thread_interrupt_control.S",
    "src/tx_thread_schedule.S",
    "src/tx_thread_stack_build.S",
    "src/tx_thread_system_return.S",
    "src/tx_timer_interrupt.S",
];

/// Files that every version of the kernel has, and no other repository.
const LANDMARKS: &[&str] = &[
    "common/inc/tx_api.h",
    "common/inc/tx_block_pool.h",
    "common/inc/tx_byte_pool.h",
    "common/inc/tx_event_flags.h",
    "common/inc/tx_initialize.h",
    "common/inc/tx_mutex.h",
    "common/inc/tx_queue.h",
    "common/inc/tx_semaphore.h",
    "common/inc/tx_thread.h",
    "common/inc/tx_timer.h",
    "common/inc/tx_trace.h",
    "common/src/tx_initialize_kernel_enter.c",
    "common/src/tx_thread_relinquish.c",
];

/// A complete checkout.
pub struct Sources {
    root: PathBuf,
    port: &'static str,
    /// C files of the kernel and of the port.
    pub c: Vec<PathBuf>,
    /// Assembly files of the port.
    pub assembly: Vec<PathBuf>,
}

impl Sources {
    pub fn common_include(&self) -> PathBuf {
        self.root.join("common/inc")
    }

    pub fn common_source(&self, name: &str) -> PathBuf {
        self.root.join("common/src").join(name)
    }

    pub fn port_include(&self) -> PathBuf {
        self.port_folder().join("inc")
    }

    fn port_folder(&self) -> PathBuf {
        self.root.join("ports").join(self.port).join("gnu")
    }

    pub fn port_name(&self) -> &'static str {
        self.port
    }
}

/// The checkout that THREADX_DIR names, else the one that `scripts/get-threadx.sh` fetches.
pub fn find() -> Result<Sources, Failure> {
    println!("cargo::rerun-if-env-changed=THREADX_DIR");
    let fetched = workspace().join("threadx-src");
    let (root, origin) = match env::var_os("THREADX_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => (workspace().join(dir), "THREADX_DIR"),
        None => {
            // Not there yet: come again when it is.
            println!("cargo::rerun-if-changed={}", fetched.display());
            if !fetched.join(LANDMARKS[0]).is_file() {
                return Err(String::from(
                    "no sources of the ThreadX C kernel: set THREADX_DIR to a checkout of eclipse-threadx/threadx, \
                     or run scripts/get-threadx.sh, or build with --features bundled for the kernel of this repository",
                ));
            }
            (fetched, "./threadx-src")
        }
    };
    check(root, origin)
}

/// Folder that relative paths in variables start from: cargo runs build scripts in their package.
pub fn workspace() -> PathBuf {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    package.parent().map(Path::to_path_buf).unwrap_or(package)
}

fn check(root: PathBuf, origin: &str) -> Result<Sources, Failure> {
    let shown = root.display().to_string();
    if !root.is_dir() {
        return Err(format!("{origin} names {shown}, which is not a folder"));
    }
    let landmarks: Vec<&&str> = LANDMARKS.iter().filter(|file| root.join(file).is_file()).collect();
    if landmarks.is_empty() {
        return Err(format!(
            "{shown} ({origin}) is not a checkout of eclipse-threadx/threadx: it has no {}",
            LANDMARKS[0]
        ));
    }
    let incomplete = |missing: &str| {
        format!("the ThreadX checkout {shown} ({origin}) is incomplete: {missing} is missing or empty; fetch it again")
    };
    if let Some(missing) = LANDMARKS.iter().find(|file| !there(&root.join(file))) {
        return Err(incomplete(missing));
    }
    let port = PORTS.iter().find(|port| root.join("ports").join(port).join("gnu").is_dir());
    let Some(port) = port else {
        return Err(incomplete("ports/cortex_r52/gnu (or, in older versions, ports/cortex_r5/gnu)"));
    };
    let folder = root.join("ports").join(port).join("gnu");
    if let Some(missing) = PORT_FILES.iter().find(|file| !there(&folder.join(file))) {
        return Err(incomplete(&format!("ports/{port}/gnu/{missing}")));
    }

    let common = root.join("common/src");
    let mut c = files(&common, "c")?;
    let headers = files(&root.join("common/inc"), "h")?;
    if let Some(empty) = c.iter().chain(&headers).find(|file| !there(file)) {
        return Err(incomplete(&empty.strip_prefix(&root).unwrap_or(empty).display().to_string()));
    }
    // The checkout's own list says what the kernel consists of.
    let list = root.join("common/CMakeLists.txt");
    let listed = fs::read_to_string(&list).map_err(|_| incomplete("common/CMakeLists.txt"))?;
    for name in source_names(&listed) {
        if !common.join(name).is_file() {
            return Err(incomplete(&format!("common/src/{name}")));
        }
    }
    c.extend(files(&folder.join("src"), "c")?);
    let assembly = files(&folder.join("src"), "S")?;
    println!("cargo::rerun-if-changed={}", root.join("common").display());
    println!("cargo::rerun-if-changed={}", folder.display());
    Ok(Sources { root, port, c, assembly })
}

/// An interrupted copy or a full disk leaves files without content, which compile.
fn there(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() > 0)
}

/// Names of the form `tx….c` in a list of sources.
fn source_names(list: &str) -> impl Iterator<Item = &str> {
    list.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
        .filter(|word| word.starts_with("tx") && word.ends_with(".c"))
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
