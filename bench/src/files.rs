//! Files that are written: never one that is read, never two to one place, never half of one, and never over
//! one of another kind.

use std::ffi::OsString;
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::row::{self, Run};
use crate::{model, plot, report, source};

/// The rule of [`Plan::check`], for whoever asks for help.
pub const RULE: &str = "\
Outputs: a file that is there is replaced only if it is empty or of the kind that the option writes, which is
told by its contents (logs also by a name that ends in .log or .uart). Any other stays as it is, and the command
ends with 4 before it does anything.";

/// Links that are followed before they are taken for a circle, as many as Linux follows.
const LINKS: usize = 40;

/// Bytes of a file that are looked at to tell what it is; JSON is read whole.
const LOOKED_AT: u64 = 16 << 20;

/// What an output is. Only a file of the same kind may be replaced by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// JSON of this command, `run` for example.
    Json(&'static str),
    /// JSON that a matrix goes on from: of itself, or of its shards put together.
    Cells,
    /// What an image printed.
    Log,
    /// The timing model's own log.
    Cycles,
    /// A report as HTML.
    Html,
    /// A report as Markdown.
    Markdown,
    /// A plot.
    Svg,
    /// A plot.
    Png,
}

impl Kind {
    /// Whether the file at `path`, which has contents, is one of these.
    ///
    /// # Errors
    /// What it should be, and why it is not or cannot be told.
    fn is(self, path: &Path) -> Result<(), String> {
        let contents = |most: u64| {
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
            read.map(|_| bytes).map_err(|e| format!("cannot be read ({})", e.kind()))
        };
        let json = |made: &dyn Fn(&Run) -> bool, by: &str| {
            let bytes = contents(row::LARGEST)?;
            let no = |why: &str| Err(format!("is no file of `txbench {by}` ({why})"));
            match str::from_utf8(&bytes).map_err(|_| "no text".to_owned()).and_then(Run::from_json) {
                Ok(run) if made(&run) => Ok(()),
                Ok(run) if run.command.is_empty() => no("it does not say which command wrote it"),
                Ok(run) => no(&format!("`txbench {}` wrote it", run.command)),
                Err(why) => no(&why),
            }
        };
        let known = |good: bool, what: &str| if good { Ok(()) } else { Err(format!("is no {what}")) };
        match self {
            Self::Json(by) => json(&|run| run.is_by(by), by),
            Self::Cells => json(&|run| run.is_by("matrix") || run.is_by("merge") && run.has_cells(), "matrix"),
            Self::Log => {
                let named = path.extension().is_some_and(|kind| kind == "log" || kind == "uart");
                known(named || !source::log_in(&contents(LOOKED_AT)?).foreign(), "log of an image")
            }
            Self::Cycles => known(model::is_log(&contents(LOOKED_AT)?), "log of the timing model"),
            Self::Html => known(report::is_html(&contents(LOOKED_AT)?), "page of `txbench report --html`"),
            Self::Markdown => known(report::is_markdown(&contents(LOOKED_AT)?), "page of `txbench report --markdown`"),
            Self::Svg => known(plot::is_svg(&contents(LOOKED_AT)?), "plot of txbench"),
            Self::Png => known(plot::is_png(&contents(LOOKED_AT)?), "plot of txbench"),
        }
    }
}

/// An output.
struct Written {
    option: &'static str,
    kind: Kind,
    path: PathBuf,
}

/// What a command reads and what it is to write, to be checked before any of its work.
#[derive(Default)]
pub struct Plan {
    read: Vec<PathBuf>,
    written: Vec<Written>,
    folders: Vec<(&'static str, PathBuf)>,
}

impl Plan {
    /// The command reads this file. One that is not there is somebody else's error.
    pub fn reads(&mut self, path: impl Into<PathBuf>) -> &mut Self {
        self.read.push(path.into());
        self
    }

    /// It writes this file of `kind` because of `option`.
    pub fn writes(&mut self, option: &'static str, kind: Kind, path: impl Into<PathBuf>) -> &mut Self {
        self.written.push(Written { option, kind, path: path.into() });
        self
    }

    /// It writes these files into `folder`, which it creates, because of `option`.
    pub fn fills(
        &mut self,
        option: &'static str,
        folder: &Path,
        files: impl IntoIterator<Item = (Kind, String)>,
    ) -> &mut Self {
        self.folders.push((option, folder.into()));
        for (kind, file) in files {
            self.writes(option, kind, folder.join(file));
        }
        self
    }

    /// Whether all can be written, none is another, and none is over a file of another kind. Leaves nothing behind.
    ///
    /// # Errors
    /// One line that names the option.
    pub fn check(&self) -> Result<(), String> {
        for (option, folder) in &self.folders {
            let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new(""));
            writable(here(there)).map_err(|why| format!("{option} {}: {why}", folder.display()))?;
        }
        let inputs: Vec<Place> = self.read.iter().map(|path| Place::of(path)).collect();
        let mut outputs: Vec<Place> = Vec::new();
        for Written { option, kind, path } in &self.written {
            let refused = |why: String| Err(format!("{option} {}: {why}", path.display()));
            let place = Place::of(path);
            if let Some(at) = inputs.iter().position(|input| place.is(input)) {
                let input = self.read[at].display();
                return refused(format!("that is {input}, which is read: give the output another name"));
            }
            if place.regular
                && let Some(at) = outputs.iter().position(|output| place.is(output))
            {
                let Written { option: other, path: name, .. } = &self.written[at];
                return refused(format!("{other} {} is the same file: give each its own name", name.display()));
            }
            if place.path.is_dir() {
                return refused("is a folder, a file's name is needed".into());
            }
            let folder = here(place.path.parent().unwrap_or(Path::new("/")));
            // Those that are created are checked above.
            let created = self.folders.iter().any(|(_, folder)| path.starts_with(folder)) && !folder.exists();
            if place.regular && !created {
                writable(folder).or_else(refused)?;
            }
            if place.regular && place.path.metadata().is_ok_and(|known| known.len() > 0) {
                let kept = |why| format!("not overwritten, as it {why}: give the output another name, or remove it");
                kind.is(&place.path).map_err(kept).or_else(refused)?;
            }
            outputs.push(place);
        }
        Ok(())
    }
}

/// The current folder for an empty path.
fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Whether files can be created in `folder`.
fn writable(folder: &Path) -> Result<(), String> {
    if !folder.exists() {
        return Err(format!("there is no folder {}", folder.display()));
    }
    if !folder.is_dir() {
        return Err(format!("{} is no folder", folder.display()));
    }
    let probe = tempfile::Builder::new().prefix(".txbench").tempfile_in(folder);
    probe.map(drop).map_err(|e| match e.kind() {
        // It is there, so that the error means the file: a folder of the system's own, as /proc is.
        ErrorKind::NotFound => format!("cannot be created, as the folder {} takes no new files", folder.display()),
        kind => format!("cannot write to the folder {}: {kind}", folder.display()),
    })
}

/// Where a name leads.
struct Place {
    /// Without links, as far as it is there.
    path: PathBuf,
    /// Device and number of the file, if it is there.
    identity: Option<(u64, u64)>,
    /// Whether it is, or will be, a file of its own, and neither a device nor a pipe.
    regular: bool,
}

impl Place {
    fn of(path: &Path) -> Self {
        // Of what the name leads to: a link to a pipe says only that it is one.
        let known = path.metadata().ok();
        let identity = known.as_ref().map(|known| (known.dev(), known.ino()));
        let system = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
        let regular = !system && known.is_none_or(|known| known.is_file() || known.is_dir());
        Self { path: resolved(path, LINKS), identity, regular }
    }

    fn is(&self, other: &Self) -> bool {
        self.path == other.path || (self.identity.is_some() && self.identity == other.identity)
    }
}

/// `path` without links; its last part, or where its last link leads, need not be there.
fn resolved(path: &Path, links: usize) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let folder = here(path.parent().unwrap_or(Path::new("/")));
    match path.read_link() {
        Ok(target) if links > 0 => resolved(&folder.join(target), links - 1),
        _ => {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.into());
            path.file_name().map_or(folder.clone(), |name| folder.join(name))
        }
    }
}

/// One file for each name; the others are named. By spelling, by link, or by name: a file twice is one.
pub fn distinct(names: &[String]) -> (Vec<&str>, Vec<String>) {
    let mut kept: Vec<(&str, Place)> = Vec::new();
    let mut twice = Vec::new();
    for name in names {
        let place = Place::of(Path::new(name));
        match kept.iter().find(|(other, known)| *other == name || place.is(known)) {
            Some((other, _)) if other == name => twice.push(format!("{name} is named twice: counted once")),
            Some((other, _)) => twice.push(format!("{name} is the same file as {other}: counted once")),
            None => kept.push((name, place)),
        }
    }
    (kept.into_iter().map(|(name, _)| name).collect(), twice)
}

/// That only this process writes a file; ends with it.
pub struct Claim(Option<(File, PathBuf)>);

impl Claim {
    /// Of the file at `path`, by a lock on a file beside it, since the file itself is replaced.
    ///
    /// # Errors
    /// Another process has it, or nothing can be locked there.
    pub fn of(path: &Path) -> Result<Self, String> {
        let place = Place::of(path);
        let (Some(folder), Some(name), true) = (place.path.parent(), place.path.file_name(), place.regular) else {
            return Ok(Self(None));
        };
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(".lock");
        let beside = folder.join(hidden);
        let cannot = |e: std::io::Error| format!("cannot lock {}: {e}", beside.display());
        loop {
            let lock = File::options().write(true).create(true).truncate(false).open(&beside).map_err(cannot)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(format!("{} is being written by another txbench: wait for its end", path.display()));
                }
                Err(TryLockError::Error(e)) => return Err(cannot(e)),
            }
            // Whoever had it before may have taken the name away since it was opened.
            let mine = lock.metadata().map_err(cannot)?;
            if fs::metadata(&beside).is_ok_and(|there| (there.dev(), there.ino()) == (mine.dev(), mine.ino())) {
                return Ok(Self(Some((lock, beside))));
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While it is locked: a name that is taken away later might be another process's.
        if let Some((_lock, path)) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// Replaces `path` by what `fill` makes of an empty file of that kind of name, or leaves it as it is.
///
/// # Errors
/// One line; what was written so far is gone.
pub fn replace(path: &Path, fill: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
    let cannot = |e: &dyn std::fmt::Display| format!("cannot write {}: {e}", path.display());
    let place = Place::of(path);
    if !place.regular {
        return fill(path);
    }
    let folder = place.path.parent().unwrap_or(Path::new("/"));
    let mut suffix = OsString::from(".part");
    if let Some(kind) = place.path.extension() {
        suffix.push(".");
        suffix.push(kind);
    }
    // As any other new file, or as the one that it replaces; the mask of the process applies.
    let mode = place.path.metadata().map_or(0o666, |known| known.permissions().mode() & 0o777);
    let part = tempfile::Builder::new()
        .prefix(".txbench")
        .suffix(&suffix)
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)
        .map_err(|e| cannot(&e.kind()))?;
    fill(part.path())?;
    part.persist(&place.path).map_err(|e| cannot(&e.error))?;
    Ok(())
}

/// Replaces `path` by a file with `bytes`, or leaves it as it is.
///
/// # Errors
/// One line.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    replace(path, |part| {
        let mut file = fs::OpenOptions::new().write(true).truncate(true).open(part);
        file.as_mut()
            .map_err(|e| e.to_string())
            .and_then(|file| file.write_all(bytes).map_err(|e| e.to_string()))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn plan(read: &[&Path], written: &[&Path]) -> Result<(), String> {
        let mut plan = Plan::default();
        for path in read {
            plan.reads(*path);
        }
        for path in written {
            plan.writes("--json", Kind::Json("run"), *path);
        }
        plan.check()
    }

    #[test]
    fn an_output_is_no_input_by_any_spelling_and_no_other_output() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("in"), "kept").unwrap();
        fs::create_dir(at("sub")).unwrap();
        symlink(at("in"), at("link")).unwrap();
        symlink(at("new"), at("dangling")).unwrap();
        fs::hard_link(at("in"), at("hard")).unwrap();
        for name in ["in", "./in", "sub/../in", "link", "hard"] {
            let says = plan(&[&at("in")], &[&at(name)]).unwrap_err();
            assert!(says.contains("which is read") && says.starts_with("--json "), "{name}: {says}");
        }
        for (a, b) in [("out", "out"), ("out", "sub/../out"), ("new", "dangling")] {
            assert!(plan(&[], &[&at(a), &at(b)]).unwrap_err().contains("is the same file"), "{a} {b}");
        }
        assert_eq!(plan(&[&at("in")], &[&at("out"), &at("sub/in")]), Ok(()));
        let null = Path::new("/dev/null");
        assert_eq!(plan(&[], &[null, null]), Ok(()), "a device takes all");
        assert!(plan(&[null], &[null]).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 5, "nothing is left behind");
    }

    #[test]
    fn what_cannot_be_written_is_found_before() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "").unwrap();
        for (name, says) in [("none/out", "there is no folder"), ("file/out", "is no folder"), ("", "is a folder")] {
            let error = plan(&[], &[&at(name)]).unwrap_err();
            assert!(error.contains(says), "{name}: {error}");
        }
        for (name, good) in [("a/b/c", true), ("file/plots", false), ("file", false), ("/proc/none", false)] {
            let folder = at(name);
            let checked = Plan::default().fills("--out", &folder, [(Kind::Svg, "x.svg".into())]).check();
            assert_eq!(checked.is_ok(), good, "{name}: {checked:?}");
        }
        assert!(!at("a").exists());
        let mut own = Plan::default();
        assert!(own.reads(at("p/x.svg")).fills("--out", &at("p"), [(Kind::Svg, "x.svg".into())]).check().is_err());
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.json");
        write(&path, b"one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let failed = replace(&path, |part| {
            assert_eq!(part.extension(), path.extension());
            fs::write(part, "half").unwrap();
            Err("stopped".into())
        });
        assert_eq!(failed, Err("stopped".into()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        symlink("out.json", dir.path().join("link")).unwrap();
        write(&dir.path().join("link"), b"two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two", "through the link");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no part is left");
        write(Path::new("/dev/null"), b"gone").unwrap();
        assert!(write(Path::new("/nonexistent/out"), b"").unwrap_err().starts_with("cannot write /nonexistent/out"));
    }

    #[test]
    fn a_file_is_claimed_once_by_whatever_name() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("out"), "").unwrap();
        symlink("out", at("link")).unwrap();
        let claim = Claim::of(&at("out")).unwrap();
        let says = Claim::of(&at("link")).err().unwrap();
        assert!(says.ends_with("link is being written by another txbench: wait for its end"), "{says}");
        assert!(Claim::of(&at("other")).is_ok());
        drop(claim);
        drop(Claim::of(&at("link")).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no lock is left");
        // One that a killed process left is nobody's.
        fs::write(at(".out.lock"), "").unwrap();
        assert!(Claim::of(&at("out")).is_ok());
        drop((Claim::of(Path::new("/dev/null")).unwrap(), Claim::of(Path::new("/dev/null")).unwrap()));
    }

    #[test]
    fn a_source_by_two_names_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        fs::write(at("a"), "").unwrap();
        fs::write(at("b"), "").unwrap();
        symlink("a", at("link")).unwrap();
        let names = [at("a"), at("b"), at("./a"), at("link"), "published:635".into(), "published:635".into()];
        let (kept, twice) = distinct(&names);
        assert_eq!(kept, [at("a").as_str(), &at("b"), "published:635"]);
        assert_eq!(twice.len(), 3);
        assert!(twice[2] == "published:635 is named twice: counted once" && twice[0].contains("the same file as"));
    }
}
