//! `embedded-hal`'s delays.

use core::time::Duration;

use embedded_hal::delay::DelayNs;

use crate::{Error, Ticks, thread};

/// A delay that sleeps: other threads run meanwhile.
///
/// It lasts at least as long as asked for ([`Ticks::at_least`], at
/// [`TICKS_PER_SECOND`](crate::time::TICKS_PER_SECOND)), and up to two ticks longer. A wait abort does
/// not shorten it: the sleep begins again.
///
/// ```
/// # use core::ops::Range;
/// # struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// # threadx::stack! { static STACK: Stack<Btcm, 2048>; }
/// use embedded_hal::delay::DelayNs;
/// use threadx::{Builder, Delay, ThreadCell};
///
/// fn reset(delay: &mut impl DelayNs) {
///     delay.delay_ms(30); // a driver's
/// }
/// static WORKER: ThreadCell = ThreadCell::new();
///
/// threadx::host::run(10, |_init| {
///     let worker = Builder::new("worker").spawn(&WORKER, STACK.take().unwrap(), || {
///         let before = threadx::time::now();
///         reset(&mut Delay);
///         assert_eq!(threadx::time::now() - before, 4);
/// #       threadx::host::finish()
///     });
///     worker.unwrap().detach();
/// });
/// ```
///
/// # Panics
///
/// Outside threads and in critical sections, where nothing can sleep: a delay cannot report an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delay;

impl Delay {
    fn sleep(duration: Duration) {
        if duration.is_zero() {
            return;
        }
        loop {
            match thread::sleep(Ticks::at_least(duration)) {
                Ok(()) => return,
                Err(Error::WaitAborted) => {}
                Err(error) => panic!("threadx::Delay: {error}"),
            }
        }
    }
}

impl DelayNs for Delay {
    fn delay_ns(&mut self, ns: u32) {
        Self::sleep(Duration::from_nanos(ns.into()));
    }

    fn delay_us(&mut self, us: u32) {
        Self::sleep(Duration::from_micros(us.into()));
    }

    fn delay_ms(&mut self, ms: u32) {
        Self::sleep(Duration::from_millis(ms.into()));
    }
}
