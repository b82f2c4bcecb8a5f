//! Lets the guest's own counter and timers follow the model.
//!
//! The public plugin API cannot do that under `-icount`. QEMU exports its internal functions, and its virtual
//! clock under `-icount` is one function pointer of the accelerator, `icount_get`: one nanosecond an
//! instruction at shift 0. Here that pointer is replaced by a function that adds the model's cycles beyond
//! one an instruction. With a counter of 1 GHz the guest then reads modelled cycles.
//!
//! Nothing of that is promised by QEMU, so [`Steer::new`] checks all of it first, and that the clock does
//! follow at last; what it finds otherwise is an error, and the clock is as it was.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::mem;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use crate::part::{CYCLE, Part};

/// The version of QEMU whose internals were read for this module.
pub const VERSION: &str = "10.0.2";
/// `QEMU_CLOCK_VIRTUAL`.
const VIRTUAL: c_int = 1;
/// `QEMU_TIMER_ATTR_ALL`.
const ALL: c_int = -1;
/// Words of the accelerator's class that are searched: more than it has, less than a page.
const CLASS: usize = 48;
/// Longest time without a look at QEMU's timers, in cycles: a device other than the generic timer may have set one.
const PERIOD: u64 = 10_000;
/// What the proof moves the clock by, in nanoseconds.
const STEP: i64 = 1 << 30;

type Clock = extern "C" fn() -> i64;
type Work = unsafe extern "C" fn(*mut c_void, u64);

/// Cycles beyond one an instruction. Written by the CPU's thread; another one reads it while that thread is
/// halted, which QEMU's big lock orders.
static EXTRA: AtomicI64 = AtomicI64::new(0);
static ORIGINAL: OnceLock<Clock> = OnceLock::new();

/// QEMU's virtual clock, in nanoseconds.
extern "C" fn clock() -> i64 {
    ORIGINAL.get().map_or(0, |original| original()) + EXTRA.load(Ordering::Relaxed)
}

/// What the tests change of the checks.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The only version that is steered.
    pub version: String,
    /// A symbol that counts as missing.
    pub without: Option<String>,
}

/// The clock, after all checks.
#[derive(Debug)]
pub struct Steer {
    cpu: *mut c_void,
    work: Work,
    async_run_on_cpu: extern "C" fn(*mut c_void, Work, u64),
    timers: Timers,
    /// The cycle at which a timer may be due.
    look: u64,
    asked: bool,
}

/// QEMU's timers on the virtual clock.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    qemu_clock_run_timers: extern "C" fn(c_int) -> bool,
    qemu_clock_deadline_ns_all: extern "C" fn(c_int, c_int) -> i64,
}

impl Timers {
    /// Runs the timers that are due; how long until the next one, in cycles. Only on the CPU's thread
    /// between two blocks, with QEMU's big lock held.
    pub fn run(self) -> u64 {
        (self.qemu_clock_run_timers)(VIRTUAL);
        u64::try_from((self.qemu_clock_deadline_ns_all)(VIRTUAL, ALL)).map_or(PERIOD, |next| next.min(PERIOD))
    }
}

impl Steer {
    /// Checks this QEMU and takes its clock over. `work` is what [`follow`](Self::follow) asks QEMU to call.
    ///
    /// # Errors
    /// Which check failed, in one line. The clock is as it was.
    ///
    /// # Safety
    /// On the thread of the only CPU, before it runs anything. `work` must be callable there at any time
    /// between two blocks.
    pub unsafe fn new(part: &Part, wish: &Wish, work: Work) -> Result<Self, String> {
        if part.pipeline.issue < CYCLE {
            return Err("the part issues more than one instruction a cycle, and a clock must not run backwards".into());
        }
        let symbols = Symbols { maps: maps()?, without: wish.without.as_deref() };
        let cpus_get_accel = symbols.function(c"cpus_get_accel")?;
        let cpus_get_virtual_clock = symbols.function(c"cpus_get_virtual_clock")?;
        let icount_get = symbols.function(c"icount_get")?;
        let icount_to_ns = symbols.function(c"icount_to_ns")?;
        let qemu_clock_get_ns = symbols.function(c"qemu_clock_get_ns")?;
        let qemu_get_cpu = symbols.function(c"qemu_get_cpu")?;
        let qmp_query_version = symbols.function(c"qmp_query_version")?;
        let use_icount = symbols.data(c"use_icount")?;
        let async_run_on_cpu = symbols.function(c"async_run_on_cpu")?;
        let qemu_clock_run_timers = symbols.function(c"qemu_clock_run_timers")?;
        let qemu_clock_deadline_ns_all = symbols.function(c"qemu_clock_deadline_ns_all")?;
        // The version first: the types below are those of that one.
        // SAFETY: a function of QEMU's by its name, without a state; the type is that of every version with this
        // plugin API. It returns a fresh structure of QAPI's, which is small and stays allocated.
        let version = unsafe {
            let ask: extern "C" fn(*mut c_void) -> *const VersionInfo = mem::transmute(qmp_query_version);
            let info = ask(std::ptr::null_mut());
            let Some(triple) = info.as_ref().and_then(|info| info.qemu.as_ref()) else {
                return Err("this QEMU does not tell its version".into());
            };
            format!("{}.{}.{}", triple.major, triple.minor, triple.micro)
        };
        if version != wish.version {
            return Err(format!("this QEMU is {version}, steering was checked with {} only", wish.version));
        }
        icount_option()?;
        // SAFETY: functions of QEMU's by their names, with the types that they have in the version checked above.
        let (accel, get_clock, icount, to_ns, get_ns, get_cpu): (
            extern "C" fn() -> usize,
            Clock,
            Clock,
            extern "C" fn(i64) -> i64,
            extern "C" fn(c_int) -> i64,
            extern "C" fn(c_int) -> *mut c_void,
        ) = unsafe {
            (
                mem::transmute::<*mut c_void, extern "C" fn() -> usize>(cpus_get_accel),
                mem::transmute::<*mut c_void, Clock>(cpus_get_virtual_clock),
                mem::transmute::<*mut c_void, Clock>(icount_get),
                mem::transmute::<*mut c_void, extern "C" fn(i64) -> i64>(icount_to_ns),
                mem::transmute::<*mut c_void, extern "C" fn(c_int) -> i64>(qemu_clock_get_ns),
                mem::transmute::<*mut c_void, extern "C" fn(c_int) -> *mut c_void>(qemu_get_cpu),
            )
        };
        // SAFETY: as above; these are stored for later calls.
        let (async_run_on_cpu, timers) = unsafe {
            (
                mem::transmute::<*mut c_void, extern "C" fn(*mut c_void, Work, u64)>(async_run_on_cpu),
                Timers {
                    qemu_clock_run_timers: mem::transmute::<*mut c_void, extern "C" fn(c_int) -> bool>(
                        qemu_clock_run_timers,
                    ),
                    qemu_clock_deadline_ns_all: mem::transmute::<*mut c_void, extern "C" fn(c_int, c_int) -> i64>(
                        qemu_clock_deadline_ns_all,
                    ),
                },
            )
        };
        // SAFETY: an object of QEMU's by its name, an enumeration of C and so four bytes, in a mapping that can be
        // read; QEMU sets it before there is a CPU and never again.
        if unsafe { use_icount.cast::<u32>().read_volatile() } != 1 {
            return Err("QEMU does not count instructions: -icount shift=0,sleep=off".into());
        }
        if to_ns(STEP) != STEP {
            return Err("an instruction does not take a nanosecond: -icount shift=0,sleep=off".into());
        }
        let cpu = get_cpu(0);
        if cpu.is_null() || !get_cpu(1).is_null() {
            return Err("not exactly one CPU".into());
        }
        let slot = slot(accel(), icount_get as usize, &symbols.maps)?;
        if get_clock() != icount() {
            return Err("the virtual clock is not the count of instructions".into());
        }
        ORIGINAL.set(icount).map_err(|_| "the clock was taken over before")?;
        // SAFETY: `slot` found this address in a mapping that can be read and written, aligned, and it holds a
        // pointer to a function of the type of `clock`. Other threads of QEMU read it as a whole.
        let slot = unsafe { AtomicUsize::from_ptr(slot as *mut usize) };
        slot.store(clock as *const () as usize, Ordering::SeqCst);
        EXTRA.store(STEP, Ordering::SeqCst);
        let moved = (get_clock().wrapping_sub(icount()), get_ns(VIRTUAL).wrapping_sub(icount()));
        EXTRA.store(0, Ordering::SeqCst);
        if moved != (STEP, STEP) {
            slot.store(icount_get as usize, Ordering::SeqCst);
            return Err("QEMU's clock does not follow the pointer that was replaced".into());
        }
        Ok(Self { cpu, work, async_run_on_cpu, timers, look: 0, asked: false })
    }

    /// Brings the clock to where the model is: after `cycles` and `instructions`.
    #[inline]
    pub fn set(&self, cycles: u64, instructions: u64) {
        EXTRA.store(cycles.wrapping_sub(instructions) as i64, Ordering::Relaxed);
    }

    /// A block starts: has QEMU leave it at its end for the timers, if one may be due.
    #[inline]
    pub fn follow(&mut self, cycles: u64) {
        if cycles >= self.look && !self.asked {
            self.asked = true;
            (self.async_run_on_cpu)(self.cpu, self.work, 0);
        }
    }

    /// The guest sets a timer or halts: what is known about the timers is out of date.
    pub fn doubt(&mut self) {
        self.look = 0;
    }

    /// What the work does.
    pub fn timers(&self) -> Timers {
        self.timers
    }

    /// The work is done; the next timer is due at this cycle.
    pub fn until(&mut self, cycle: u64) {
        self.look = cycle;
        self.asked = false;
    }
}

/// QAPI's, as `qmp_query_version` returns it.
#[repr(C)]
struct VersionInfo {
    qemu: *const VersionTriple,
    package: *const c_char,
}

#[repr(C)]
struct VersionTriple {
    major: i64,
    minor: i64,
    micro: i64,
}

/// A mapping of this process: first address, the one behind it, and `rwxp`.
type Map = (usize, usize, String);

fn maps() -> Result<Vec<Map>, String> {
    let text = std::fs::read_to_string("/proc/self/maps").map_err(|e| format!("cannot read the memory map: {e}"))?;
    let map = |line: &str| {
        let mut words = line.split(' ');
        let (first, end) = words.next()?.split_once('-')?;
        let number = |x| usize::from_str_radix(x, 16).ok();
        Some((number(first)?, number(end)?, words.next()?.to_owned()))
    };
    Ok(text.lines().filter_map(map).collect())
}

/// Whether the `bytes` at `address` are in one mapping that allows `needed`.
fn allows(maps: &[Map], address: usize, bytes: usize, needed: &str) -> bool {
    maps.iter().any(|(first, end, flags)| {
        (*first..*end).contains(&address) && end - address >= bytes && needed.chars().all(|c| flags.contains(c))
    })
}

struct Symbols<'a> {
    maps: Vec<Map>,
    without: Option<&'a str>,
}

impl Symbols<'_> {
    fn find(&self, name: &CStr, bytes: usize, needed: &str) -> Result<*mut c_void, String> {
        let text = name.to_string_lossy();
        if self.without == Some(&*text) {
            return Err(format!("this QEMU does not export {text}"));
        }
        // SAFETY: the name is a string; looking a symbol up runs no code of QEMU's.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if found.is_null() {
            return Err(format!("this QEMU does not export {text}"));
        }
        if !allows(&self.maps, found as usize, bytes, needed) {
            return Err(format!("{text} of this QEMU is not what it was"));
        }
        Ok(found)
    }

    fn function(&self, name: &CStr) -> Result<*mut c_void, String> {
        self.find(name, 1, "rx")
    }

    fn data(&self, name: &CStr) -> Result<*mut c_void, String> {
        self.find(name, size_of::<u32>(), "rw")
    }
}

/// Where the accelerator's class holds its virtual clock. Of `get_virtual_clock`, `set_virtual_clock` and
/// `get_elapsed_ticks`, which follow one another, the first and the third are `held`, and nothing else is.
fn slot(class: usize, held: usize, maps: &[Map]) -> Result<usize, String> {
    let bytes = CLASS * size_of::<usize>();
    if class == 0 || !class.is_multiple_of(align_of::<usize>()) || !allows(maps, class, bytes, "rw") {
        return Err("the accelerator's class is not in writable memory".into());
    }
    let mut words = vec![0; bytes];
    // Through the system, because the class may end before the words do.
    File::open("/proc/self/mem")
        .and_then(|memory| memory.read_exact_at(&mut words, class as u64))
        .map_err(|e| format!("cannot read the accelerator's class: {e}"))?;
    let words = words.chunks_exact(size_of::<usize>());
    let holds = |word: &[u8]| word.try_into().is_ok_and(|word| usize::from_ne_bytes(word) == held);
    let found: Vec<usize> = words.enumerate().filter(|(_, word)| holds(word)).map(|(i, _)| i).collect();
    match found[..] {
        [first, third] if third - first == 2 => Ok(class + first * size_of::<usize>()),
        _ => Err("the accelerator's class does not hold icount_get where it did".into()),
    }
}

/// Checks how this QEMU was told to count: what it keeps of `sleep` is not to be seen from outside.
fn icount_option() -> Result<(), String> {
    let line = std::fs::read("/proc/self/cmdline").map_err(|e| format!("cannot read the command line: {e}"))?;
    let words: Vec<&[u8]> = line.split(|&b| b == 0).collect();
    let mut given = words.windows(2).filter(|w| w[0] == b"-icount" || w[0] == b"--icount").map(|w| w[1]);
    match (given.next(), given.next()) {
        (Some(b"shift=0,sleep=off" | b"sleep=off,shift=0"), None) => Ok(()),
        _ => Err("QEMU was not started with exactly one -icount shift=0,sleep=off".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stand-in for the accelerator's class, with `held` at these words.
    fn class(at: &[usize]) -> Vec<usize> {
        (0..CLASS).map(|i| if at.contains(&i) { HELD } else { i }).collect()
    }

    const HELD: usize = 0x1234_5678;

    #[test]
    fn the_slot_is_the_first_of_exactly_two() {
        let found = |at: &[usize]| {
            let class = class(at);
            let first = class.as_ptr() as usize;
            slot(first, HELD, &maps().unwrap()).map(|slot| (slot - first) / size_of::<usize>())
        };
        assert_eq!(found(&[20, 22]), Ok(20));
        for other in [&[][..], &[20], &[20, 21], &[20, 22, 24]] {
            assert!(found(other).unwrap_err().contains("does not hold icount_get"), "{other:?}");
        }
    }

    #[test]
    fn the_class_must_be_writable() {
        static CONSTANT: [usize; CLASS] = [HELD; CLASS];
        let at = CONSTANT.as_ptr() as usize;
        assert!(slot(at, HELD, &maps().unwrap()).unwrap_err().contains("writable"));
        assert!(slot(0, HELD, &maps().unwrap()).is_err());
        assert!(slot(class(&[]).as_ptr() as usize + 1, HELD, &maps().unwrap()).is_err());
    }

    #[test]
    fn another_process_is_not_steered() {
        let symbols = Symbols { maps: maps().unwrap(), without: Some("strlen") };
        assert!(symbols.function(c"strlen").unwrap_err().ends_with("does not export strlen"));
        assert!(symbols.function(c"icount_get").unwrap_err().ends_with("does not export icount_get"));
        let symbols = Symbols { without: None, ..symbols };
        assert!(symbols.function(c"strlen").is_ok());
        assert!(symbols.data(c"strlen").unwrap_err().contains("not what it was"));
        assert!(icount_option().is_err());
    }
}
