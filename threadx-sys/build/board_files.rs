//! The checkout's own board files for NXP's S32Z280-594EVB: which, whether all are there, and how they are compiled.
//! Part of the build scripts of the packages that link them.

use std::path::{Path, PathBuf};

use crate::{environment, programs};

/// Where a checkout of eclipse-threadx/threadx has them.
const FOLDER: &str = "ports/cortex_r52/gnu/example_build/s32z280_evb";

/// Entry and low-level initialization, console, timer, interrupt controller and dispatcher, MPU, TCMs, caches.
const COMPILED: [&str; 9] = [
    "entry.S",
    "tx_initialize_low_level.S",
    "linflexd.c",
    "timer.c",
    "gicv3.c",
    "mpu.c",
    "tcm.c",
    "cache.c",
    "irq_dispatch.c",
];
const LINK_MAP: &str = "link.lds";

/// The folder, with every file that is compiled or linked with.
pub struct BoardFiles {
    folder: PathBuf,
}

/// The board files of the checkout that THREADX_DIR names, else of the one that `scripts/get-threadx.sh` fetches;
/// `workspace` is this repository.
///
/// # Errors
/// One line that names the first file that is missing.
pub fn find(workspace: &Path) -> Result<BoardFiles, String> {
    let folder = programs::checkout(workspace).join(FOLDER);
    println!("cargo::rerun-if-changed={}", folder.display());
    for name in COMPILED.iter().chain([&LINK_MAP]) {
        if !folder.join(name).is_file() {
            return Err(format!(
                "{} is not there: set THREADX_DIR to a checkout of eclipse-threadx/threadx with the board files of the \
                 S32Z280, or build without upstream-bsp",
                folder.join(name).display()
            ));
        }
    }
    Ok(BoardFiles { folder })
}

impl BoardFiles {
    /// The linker map.
    pub fn link_map(&self) -> PathBuf {
        self.folder.join(LINK_MAP)
    }

    /// Compiles them, as they are and as upstream's own build does, into the library `name`, which is linked. `renamed`
    /// are functions of `irq_dispatch.c` that it defines under another name.
    ///
    /// # Errors
    /// One line.
    pub fn compile(&self, name: &str, renamed: &[(&str, &str)]) -> Result<(), String> {
        let (Some(flags), Some(archiver)) = (programs::told("FLAGS"), programs::told("AR")) else {
            return Err(String::from("upstream's board files need the C compiler of upstream's kernel"));
        };
        let include = programs::told("INCLUDE").unwrap_or_default();
        let build = || {
            let mut build = environment::build();
            build.archiver(&archiver).includes(include.split(';')).define("TX_R52_USE_THREADX_IRQ", "1");
            for flag in flags.split(';') {
                build.flag(flag);
            }
            build
        };
        let failed = |error| programs::does_not_compile("a board file of the checkout", &error);
        let (dispatcher, others): (Vec<_>, Vec<_>) = COMPILED.into_iter().partition(|name| *name == "irq_dispatch.c");
        let mut dispatch = build();
        for (function, other) in renamed {
            dispatch.define(function, *other);
        }
        let path = |name: &str| self.folder.join(name);
        let mut objects = build().files(others.into_iter().map(path)).try_compile_intermediates().map_err(failed)?;
        objects.extend(dispatch.files(dispatcher.into_iter().map(path)).try_compile_intermediates().map_err(failed)?);
        build().objects(objects).try_compile(name).map_err(failed)
    }
}
