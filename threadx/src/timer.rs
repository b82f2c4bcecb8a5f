//! Application timers.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

use threadx_sys::{TX_NO_ACTIVATE, TX_TIMER, ULONG};

use crate::error::check;
use crate::name::Name;
use crate::performance::TimerCounts;
use crate::push::push;
use crate::start::check_ready;
use crate::{Error, Ticks};

/// Bytes that a timer's closure may capture.
///
/// ```compile_fail,E0080
/// # use threadx::{Schedule, Ticks, Timer};
/// static TIMER: Timer = Timer::new();
/// let large = [0u8; threadx::timer::TIMER_CLOSURE_SIZE + 1];
/// let _ = TIMER.create("large", Schedule::once(Ticks::new(1)), move || {
///     let _ = &large;
/// });
/// ```
pub const TIMER_CLOSURE_SIZE: usize = size_of::<Place>();

type Place = [u64; 2];

/// No timer; whoever changes this to `CREATING` may write the closure.
const FREE: u8 = 0;
const CREATING: u8 = 1;
/// The kernel knows the timer and calls its closure.
const LIVE: u8 = 2;
/// Deleted while its closure ran: who ran it drops it.
const ENDING: u8 = 3;
/// Bit beside `LIVE` or `ENDING`: the closure runs.
const RUNNING: u8 = 0x80;

/// Every timer that ever was created; they are `'static`, so none is ever removed.
static TIMERS: AtomicPtr<Timer> = AtomicPtr::new(null_mut());
static NEXT_ID: AtomicU32 = AtomicU32::new(1);

/// When a timer expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// Ticks from activation to the first expiration, at least 1. Activation falls inside a tick, so
    /// the first expiration may be up to one tick early.
    pub first: Ticks,
    /// Ticks between further expirations, 0 for none.
    pub period: Ticks,
}

impl Schedule {
    /// One expiration.
    #[must_use]
    pub const fn once(after: Ticks) -> Self {
        Self { first: after, period: Ticks::ZERO }
    }

    /// An expiration every `period`.
    #[must_use]
    pub const fn every(period: Ticks) -> Self {
        Self { first: period, period }
    }
}

/// A snapshot of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TimerInfo {
    /// Whether it will expire. In its own closure: a periodic timer is active, a one-shot is not.
    pub active: bool,
    /// Ticks to the next expiration.
    pub remaining: u32,
    /// Ticks between expirations, 0 for a one-shot.
    pub period: u32,
}

/// An application timer: a closure that the system timer thread calls when time is up.
///
/// The closure runs at priority 0 and must not wait: services with a wait are refused there, and
/// [`thread::current`](crate::thread::current) is `None`. It may capture up to
/// [`TIMER_CLOSURE_SIZE`] bytes, which are stored in the timer; more fails to compile.
///
/// A `static`: the kernel links it, so it can neither move nor go away. Until [`Timer::create`], and
/// after [`Timer::delete`], every method returns [`Error::Timer`].
///
/// ```no_run
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use threadx::{Schedule, Ticks, Timer};
///
/// static BEATS: AtomicU32 = AtomicU32::new(0);
/// static BEAT: Timer = Timer::new();
///
/// threadx::start(|_init| {
///     BEAT.create("beat", Schedule::every(Ticks::new(10)), || {
///         BEATS.fetch_add(1, Ordering::Relaxed);
///     })
///     .unwrap();
///     BEAT.activate().unwrap();
/// # std::process::exit(0);
/// })
/// ```
pub struct Timer {
    control: UnsafeCell<TX_TIMER>,
    state: AtomicU8,
    /// What the kernel passes to [`expire`]; 0 until the first creation.
    id: AtomicU32,
    /// Next in [`TIMERS`].
    next: AtomicPtr<Timer>,
    record: UnsafeCell<Record>,
    closure: UnsafeCell<MaybeUninit<Place>>,
}

struct Record {
    name: Name,
    call: unsafe fn(*mut u8),
    drop: unsafe fn(*mut u8),
}

// SAFETY: `control` is touched by the kernel only, under its own lock; `record` and `closure` by the
// one whom `state` allows it: the creator in CREATING, then the system timer thread while RUNNING is
// set, then the deleter or, after ENDING, the timer thread once more.
unsafe impl Sync for Timer {}
// SAFETY: nothing is tied to a context; closures are `Send`.
unsafe impl Send for Timer {}

impl Default for Timer {
    fn default() -> Self {
        Self::new()
    }
}

impl Timer {
    /// A timer that is not created yet.
    #[must_use]
    pub const fn new() -> Self {
        unsafe fn nothing(_: *mut u8) {}
        Self {
            control: UnsafeCell::new(TX_TIMER::new()),
            state: AtomicU8::new(FREE),
            id: AtomicU32::new(0),
            next: AtomicPtr::new(null_mut()),
            record: UnsafeCell::new(Record { name: Name::empty(), call: nothing, drop: nothing }),
            closure: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    fn control(&'static self) -> *mut TX_TIMER {
        self.control.get()
    }

    /// Calls a service in one step for everybody else: a timer that was deleted between the service's
    /// check and its action would be hung among the active ones, and then created a second time there.
    fn service(&'static self, service: impl FnOnce(*mut TX_TIMER) -> Result<(), Error>) -> Result<(), Error> {
        critical_section::with(|_| service(self.control()))
    }

    /// Creates the timer, inactive.
    ///
    /// From initialization and threads. On an error the closure is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::InUse`] if it exists or its closure still runs after a delete; [`Error::Tick`] if
    /// `schedule.first` is 0; [`Error::Caller`] elsewhere and before the kernel is started.
    pub fn create<F>(&'static self, name: &'static str, schedule: Schedule, f: F) -> Result<(), Error>
    where
        F: FnMut() + Send + 'static,
    {
        unsafe fn call<F: FnMut()>(closure: *mut u8) {
            // SAFETY: the caller says that an `F` is there and that it alone uses it.
            unsafe { (*closure.cast::<F>())() }
        }
        unsafe fn drop<F>(closure: *mut u8) {
            // SAFETY: as above.
            unsafe { closure.cast::<F>().drop_in_place() }
        }
        const {
            assert!(size_of::<F>() <= size_of::<Place>(), "the closure captures more than TIMER_CLOSURE_SIZE bytes");
            assert!(align_of::<F>() <= align_of::<Place>(), "the closure needs more alignment than 8");
        }
        check_ready()?;
        if self.state.compare_exchange(FREE, CREATING, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Err(Error::InUse);
        }
        // SAFETY: CREATING gives record and closure to this function.
        unsafe {
            *self.record.get() = Record { name: Name::new(name), call: call::<F>, drop: drop::<F> };
            self.closure.get().cast::<F>().write(f);
        }
        self.register();
        // Before the kernel knows the timer, because from then on others may delete it.
        self.state.store(LIVE, Ordering::Release);
        // SAFETY: the control block is `'static` and not created, the name stays in place until the
        // timer is deleted, the expiration function finds the timer by its number.
        let created = check(unsafe {
            threadx_sys::tx_timer_create(
                self.control(),
                (*self.record.get()).name.as_c(),
                Some(expire),
                self.id.load(Ordering::Relaxed),
                schedule.first.get(),
                schedule.period.get(),
                TX_NO_ACTIVATE,
            )
        });
        if created.is_err() {
            // SAFETY: the kernel does not know the timer, so nobody could call or delete it.
            unsafe { self.drop_closure() };
        }
        created
    }

    /// Puts the timer on the list of timers, the first time. The caller has it in CREATING.
    fn register(&'static self) {
        if self.id.load(Ordering::Relaxed) != 0 {
            return;
        }
        self.id.store(NEXT_ID.fetch_add(1, Ordering::Relaxed), Ordering::Release);
        push(&TIMERS, core::ptr::from_ref(self).cast_mut(), &self.next);
    }

    /// Drops the closure and makes the timer free.
    ///
    /// # Safety
    ///
    /// The kernel does not know the timer any more, and the closure is the caller's.
    unsafe fn drop_closure(&self) {
        // SAFETY: the closure is in place and the caller's.
        unsafe { ((*self.record.get()).drop)(self.closure.get().cast()) };
        self.state.store(FREE, Ordering::Release);
    }

    /// Deletes the timer, active or not, and drops its closure. No call begins after this has
    /// returned; a call that has begun goes on, and the closure is dropped after it.
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// [`Error::Timer`]; [`Error::Caller`].
    pub fn delete(&'static self) -> Result<(), Error> {
        self.service(|timer| {
            // SAFETY: the service checks the control block.
            check(unsafe { threadx_sys::tx_timer_delete(timer) })
        })?;
        // The kernel let exactly one delete succeed. From here on no call begins, so the state
        // changes only if a running call ends.
        match self.state.compare_exchange(LIVE, CREATING, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: deleted, and nobody runs the closure.
            Ok(_) => unsafe { self.drop_closure() },
            Err(_) => {
                if self.state.swap(ENDING | RUNNING, Ordering::AcqRel) & RUNNING == 0 {
                    // The call ended between the two steps.
                    // SAFETY: as above.
                    unsafe { self.drop_closure() };
                }
            }
        }
        Ok(())
    }

    /// Starts the timer: with its first ticks, or what was left when it was deactivated.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Activate`]: active already, or an expired one-shot, which needs [`Timer::change`]
    /// first. [`Error::Timer`].
    pub fn activate(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.service(|timer| check(unsafe { threadx_sys::tx_timer_activate(timer) }))
    }

    /// Stops the timer; it keeps the ticks it had to go. Repeating this does no harm.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Timer`].
    pub fn deactivate(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.service(|timer| check(unsafe { threadx_sys::tx_timer_deactivate(timer) }))
    }

    /// Gives an inactive timer a new schedule. On an active one this is `Ok` and has no effect
    /// (User Guide, chapter 4, `tx_timer_change`).
    ///
    /// From threads, timer callbacks and interrupts.
    ///
    /// # Errors
    ///
    /// [`Error::Tick`] if `schedule.first` is 0; [`Error::Timer`].
    pub fn change(&'static self, schedule: Schedule) -> Result<(), Error> {
        self.service(|timer| {
            // SAFETY: the service checks the control block.
            check(unsafe { threadx_sys::tx_timer_change(timer, schedule.first.get(), schedule.period.get()) })
        })
    }

    /// A snapshot of the timer. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Timer`].
    pub fn info(&'static self) -> Result<TimerInfo, Error> {
        let (mut active, mut remaining, mut period) = (0, 0, 0);
        // SAFETY: the service checks the control block, writes to valid variables, skips nulls.
        check(unsafe {
            threadx_sys::tx_timer_info_get(
                self.control(),
                null_mut(),
                &raw mut active,
                &raw mut remaining,
                &raw mut period,
                null_mut(),
            )
        })?;
        Ok(TimerInfo { active: active != 0, remaining, period })
    }

    /// What was counted, see [`performance`](crate::performance). From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Timer`].
    pub fn performance(&'static self) -> Result<TimerCounts, Error> {
        TimerCounts::of(self.control())
    }
}

/// The timer with this number. A number and not a pointer, which would not fit on 64-bit hosts.
fn find(id: ULONG) -> Option<&'static Timer> {
    let mut at = TIMERS.load(Ordering::Acquire);
    loop {
        // SAFETY: the list holds pointers made from `&'static Timer` only.
        let timer = unsafe { at.as_ref::<'static>() }?;
        if timer.id.load(Ordering::Relaxed) == id {
            return Some(timer);
        }
        at = timer.next.load(Ordering::Acquire);
    }
}

/// Expiration function of every timer; only the system timer thread calls it.
unsafe extern "C-unwind" fn expire(id: ULONG) {
    let Some(timer) = find(id) else { return };
    // Not LIVE: the kernel chose this timer just before it was deleted.
    if timer.state.compare_exchange(LIVE, LIVE | RUNNING, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return;
    }
    // SAFETY: RUNNING gives record and closure to the one timer thread.
    unsafe { ((*timer.record.get()).call)(timer.closure.get().cast()) };
    if timer.state.compare_exchange(LIVE | RUNNING, LIVE, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // ENDING: the deleter left the closure to this call.
        // SAFETY: the kernel does not know the timer any more.
        unsafe { timer.drop_closure() };
    }
}
