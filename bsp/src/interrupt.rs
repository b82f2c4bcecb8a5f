//! Interrupts: lines, priorities, handlers, and what the dispatcher counted.
//!
//! The kernel's entry saves the interrupted context, moves to the ISR stack and calls
//! `_tx_irq_dispatch`. That acknowledges first, then unmasks IRQ while the handler runs, so that only
//! a source of a higher priority can nest (the running priority shuts out the others), masks again
//! and only then ends the interrupt. Special IDs (1020 and above) are neither ended nor used as an
//! index.

/// An interrupt line that this board has: SGI 0-15, PPI 16-31, SPI from 32 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptId(u16);

impl InterruptId {
    /// The tick: PPI 30, the EL1 physical timer.
    pub const TICK: Self = Self(30);
    /// The one-shot alarm ([`timer::set_alarm`](crate::timer)): PPI 27, the virtual timer, which no tick depends on.
    pub const ALARM: Self = Self(27);

    /// The line with this INTID, if the board has it.
    #[must_use]
    pub const fn new(id: u32) -> Option<Self> {
        if (id as usize) < crate::board::LINES { Some(Self(id as u16)) } else { None }
    }

    /// Software interrupt `n`.
    ///
    /// # Panics
    /// If `n` is above 15; in a `const` the build fails instead.
    #[must_use]
    pub const fn sgi(n: u8) -> Self {
        assert!(n < 16, "software interrupts are 0 to 15");
        Self(n as u16)
    }

    /// The INTID.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0 as u32
    }
}

/// Why a handler was not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptError {
    /// The priority is not a multiple of 8: the Cortex-R52's GIC has five priority bits, so it would
    /// silently become another.
    PriorityStep(u8),
    /// The priority is not above the mask (ICC_PMR as the hardware holds it), so the line could never
    /// interrupt.
    PriorityMasked(u8),
    /// The line is the kernel's tick.
    Reserved,
}

impl ufmt::uDisplay for InterruptError {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        match *self {
            Self::PriorityStep(p) => {
                ufmt::uwrite!(f, "interrupt priority {} is not a multiple of {}", p, crate::board::PRIORITY_STEP)
            }
            Self::PriorityMasked(p) => ufmt::uwrite!(f, "interrupt priority {} is masked: use a lower number", p),
            Self::Reserved => ufmt::uwrite!(f, "the line belongs to the kernel's tick"),
        }
    }
}

/// Checks a priority (0 is the highest) against the steps of the hardware and the priority mask.
///
/// # Errors
/// [`InterruptError::PriorityStep`] or [`InterruptError::PriorityMasked`].
pub const fn check_priority(priority: u8, mask: u8) -> Result<(), InterruptError> {
    if !priority.is_multiple_of(crate::board::PRIORITY_STEP) {
        return Err(InterruptError::PriorityStep(priority));
    }
    if priority >= mask {
        return Err(InterruptError::PriorityMasked(priority));
    }
    Ok(())
}

/// This core's interface to the controller, as the dispatcher uses it.
pub trait CpuInterface {
    /// ICC_IAR1: acknowledges.
    fn acknowledge(&self) -> u32;
    /// ICC_EOIR1: drops the running priority and deactivates.
    fn end(&self, acknowledged: u32);
}

/// First of the IDs that name no interrupt.
const SPECIAL: u32 = 1020;

/// Acknowledges, runs the handler that `find` has for the interrupt, or `unhandled`, and ends it with what was
/// acknowledged. A special ID is neither handled nor ended; false says that it was one. IRQ is masked before and
/// after.
///
/// `find` is asked for what was acknowledged as it is, too: above the ID are bits that read 0 today, and an ID
/// with others is looked for again without them, out of the usual way.
#[inline(always)]
pub fn serve<H>(
    cpu: &impl CpuInterface,
    find: impl Fn(u32) -> Option<H>,
    run: impl Fn(H),
    unhandled: impl FnOnce(u32),
) -> bool {
    let acknowledged = cpu.acknowledge();
    match find(acknowledged) {
        Some(handler) => run(handler),
        None => {
            let id = acknowledged & 0x00ff_ffff;
            if id >= SPECIAL {
                return false;
            }
            match find(id) {
                Some(handler) => run(handler),
                None => unhandled(id),
            }
        }
    }
    cpu.end(acknowledged);
    true
}

/// The priority of the tick, in the middle of the range.
pub const TICK_PRIORITY: u8 = 0xa0;

/// Runs `f` with IRQ masked and restores the mask as it was. Callable from every context.
///
/// The mask is the thread's: if `f` calls a service that switches, others run unmasked meanwhile. What nobody
/// may interrupt or preempt belongs into a `critical_section`.
#[cfg(target_arch = "arm")]
pub fn masked<T>(f: impl FnOnce() -> T) -> T {
    let cpsr: u32;
    // SAFETY: reads CPSR and sets its I bit; without `nomem` the compiler keeps memory accesses
    // on their side.
    unsafe { core::arch::asm!("mrs {}, cpsr", "cpsid i", out(reg) cpsr, options(nostack, preserves_flags)) };
    let value = f();
    if cpsr & (1 << 7) == 0 {
        // SAFETY: IRQ was unmasked when this function was entered.
        unsafe { core::arch::asm!("cpsie i", options(nostack, preserves_flags)) };
    }
    value
}

#[cfg(start_up = "upstream")]
pub use crate::upstream::count;
#[cfg(start_up = "rust")]
pub use hardware::{count, disable, enable, max_nesting, nesting, pend_sgi, register, spurious, unhandled};
#[cfg(start_up = "rust")]
pub(crate) use hardware::{init, start_tick};

#[cfg(start_up = "rust")]
mod hardware {
    use super::{CpuInterface, InterruptError, InterruptId, TICK_PRIORITY, check_priority, masked, serve};
    use crate::board::{GICD, GICR, LINES};
    use crate::bus::Mmio;
    use crate::gic::{Gic, GicError, sgi_request};
    use crate::mpu::MpuOn;
    use crate::timer::{self, TimerError};
    use aarch32_cpu::register::{Mpidr, SysRegRead};
    use core::arch::asm;
    use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

    /// The controller, if the MPU is on; it has been since before `main`.
    fn gic() -> Option<Gic<Mmio>> {
        MpuOn::now().map(|proof| Gic::new(Mmio::new(proof), GICD, GICR))
    }

    /// What the dispatcher reads and counts, together, so that one address leads to all of it. The counters
    /// change with IRQ masked only, on the one core there is, so load and store need not be one access.
    struct Dispatcher {
        count: AtomicU32,
        /// Handlers that were interrupted by another and have not ended.
        nested: AtomicU32,
        deepest: AtomicU32,
        spurious: AtomicU32,
        unhandled: AtomicU32,
        handlers: [AtomicPtr<()>; LINES],
    }

    static DISPATCHER: Dispatcher = Dispatcher {
        count: AtomicU32::new(0),
        nested: AtomicU32::new(0),
        deepest: AtomicU32::new(0),
        spurious: AtomicU32::new(0),
        unhandled: AtomicU32::new(0),
        handlers: [const { AtomicPtr::new(core::ptr::null_mut()) }; LINES],
    };

    fn bump(counter: &AtomicU32) {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Sets up distributor, redistributor and the core's interface; every source off.
    pub(crate) fn init(proof: MpuOn) -> Result<(), GicError> {
        Gic::new(Mmio::new(proof), GICD, GICR).init(TICK_PRIORITY)?;
        // ICC_SRE = SRE, DFB, DIB; ICC_BPR1 = 0, the finest preemption the hardware has; ICC_PMR
        // open; ICC_CTLR.EOImode = 0, so that EOIR1 also deactivates; ICC_IGRPEN0 off, ICC_IGRPEN1 on.
        // SAFETY: system registers of this core's interface only; IRQ is masked, so no interrupt is
        // taken before the kernel is ready.
        unsafe {
            asm!(
                "mcr p15, 0, {sre}, c12, c12, 5",
                "isb",
                "mcr p15, 0, {zero}, c12, c12, 3",
                "mcr p15, 0, {pmr}, c4, c6, 0",
                "mcr p15, 0, {zero}, c12, c12, 4",
                "mcr p15, 0, {zero}, c12, c12, 6",
                "mcr p15, 0, {one}, c12, c12, 7",
                "isb",
                sre = in(reg) 7,
                pmr = in(reg) 0xff,
                zero = in(reg) 0,
                one = in(reg) 1,
                options(nostack, preserves_flags)
            );
        }
        Ok(())
    }

    /// ICC_PMR as the hardware holds it: unimplemented low bits read 0.
    fn priority_mask() -> u8 {
        let pmr: u32;
        // SAFETY: reading ICC_PMR has no side effect.
        unsafe { asm!("mrc p15, 0, {}, c4, c6, 0", out(reg) pmr, options(nomem, nostack, preserves_flags)) };
        pmr as u8
    }

    fn mpidr() -> u32 {
        <Mpidr as SysRegRead>::read_raw()
    }

    fn install(id: InterruptId, priority: u8, handler: fn()) {
        masked(|| {
            if let Some(gic) = gic() {
                gic.route(id.number(), mpidr());
                gic.set_priority(id.number(), priority);
            }
            DISPATCHER.handlers[id.number() as usize].store(handler as *mut (), Ordering::Relaxed);
        });
    }

    /// Sets handler and priority of a line; 0 is the highest of the priorities 0x00, 0x08 ... 0xf8.
    /// The line stays as enabled as it was; a second call replaces the handler. The handler runs on
    /// the ISR stack with IRQ unmasked for higher priorities. Callable from every context.
    ///
    /// # Errors
    /// [`InterruptError`]; nothing has changed then.
    pub fn register(id: InterruptId, priority: u8, handler: fn()) -> Result<(), InterruptError> {
        if id == InterruptId::TICK {
            return Err(InterruptError::Reserved);
        }
        check_priority(priority, priority_mask())?;
        install(id, priority, handler);
        Ok(())
    }

    /// Lets the line interrupt. A line without a handler is switched off again when it fires, and
    /// counted in [`unhandled`]. Callable from every context.
    pub fn enable(id: InterruptId) {
        if let Some(gic) = gic() {
            gic.enable(id.number());
        }
    }

    /// Keeps the line from interrupting. Callable from every context.
    pub fn disable(id: InterruptId) {
        if let Some(gic) = gic() {
            gic.disable(id.number());
        }
    }

    /// Makes software interrupt `n` (0 to 15; the low four bits count) pending on this core.
    /// Callable from every context; the interrupt is taken before the next instruction or two when it
    /// is enabled, unmasked and of a higher priority than what runs.
    pub fn pend_sgi(n: u8) {
        let low = sgi_request(n, mpidr());
        // SAFETY: ICC_SGI1R names this core only. DSB first: what the handler is to see is written.
        unsafe {
            asm!(
                "dsb",
                "mcrr p15, 0, {low}, {high}, c12",
                "isb",
                low = in(reg) low,
                high = in(reg) 0,
                options(nostack, preserves_flags)
            );
        }
    }

    /// Interrupts taken since reset, spurious ones not included; wraps. A sample during which this
    /// moved was interrupted.
    #[inline(always)]
    pub fn count() -> u32 {
        DISPATCHER.count.load(Ordering::Relaxed)
    }

    /// Handlers running now, one inside the other.
    pub fn nesting() -> u32 {
        if crate::kernel::in_interrupt() { 1 + DISPATCHER.nested.load(Ordering::Relaxed) } else { 0 }
    }

    /// The most handlers that ever ran one inside the other, counted when the innermost has ended.
    pub fn max_nesting() -> u32 {
        if count() == 0 { 0 } else { 1 + DISPATCHER.deepest.load(Ordering::Relaxed) }
    }

    /// Acknowledges that found no interrupt (IDs 1020 to 1023).
    pub fn spurious() -> u32 {
        DISPATCHER.spurious.load(Ordering::Relaxed)
    }

    /// Interrupts of lines without a handler; each line was switched off.
    pub fn unhandled() -> u32 {
        DISPATCHER.unhandled.load(Ordering::Relaxed)
    }

    /// Gives the tick its line and starts the timer; IRQ stays masked.
    pub(crate) fn start_tick() -> Result<(), TimerError> {
        install(InterruptId::TICK, TICK_PRIORITY, first_tick);
        timer::start()?;
        enable(InterruptId::TICK);
        Ok(())
    }

    /// The first tick, which makes way for the others' handler.
    fn first_tick() {
        crate::kernel::check_initialization();
        DISPATCHER.handlers[InterruptId::TICK.number() as usize]
            .store(timer::tick as fn() as *mut (), Ordering::Relaxed);
        timer::tick();
    }

    /// The system registers of this core; one value, made by the dispatcher.
    struct Here;

    impl CpuInterface for Here {
        #[inline(always)]
        fn acknowledge(&self) -> u32 {
            let iar: u32;
            // SAFETY: reading ICC_IAR1 acknowledges; this is the only place that does.
            unsafe { asm!("mrc p15, 0, {}, c12, c12, 0", out(reg) iar, options(nostack, preserves_flags)) };
            iar
        }
        #[inline(always)]
        fn end(&self, acknowledged: u32) {
            // DSB: the handler's write that dropped a level-sensitive source has reached it before the
            // priority drops. No ISB: if the drop takes effect late, the next interrupt comes late.
            // SAFETY: `serve` ends exactly the interrupt it acknowledged.
            unsafe {
                asm!(
                    "dsb",
                    "mcr p15, 0, {}, c12, c12, 1",
                    in(reg) acknowledged,
                    options(nostack, preserves_flags)
                );
            }
        }
    }

    /// Called by the kernel's interrupt entry in SVC mode on the ISR stack with IRQ masked; returns
    /// with IRQ masked.
    #[unsafe(no_mangle)]
    extern "C" fn _tx_irq_dispatch() {
        dispatch();
    }

    /// [`_tx_irq_dispatch`] for an interrupt that interrupted a handler.
    #[unsafe(no_mangle)]
    extern "C" fn _tx_irq_dispatch_nested() {
        let nested = DISPATCHER.nested.load(Ordering::Relaxed) + 1;
        DISPATCHER.nested.store(nested, Ordering::Relaxed);
        // Not before: only now it is known that there was an interrupt.
        if dispatch() && nested > DISPATCHER.deepest.load(Ordering::Relaxed) {
            DISPATCHER.deepest.store(nested, Ordering::Relaxed);
        }
        DISPATCHER.nested.store(nested - 1, Ordering::Relaxed);
    }

    /// Whether there was an interrupt.
    #[inline(always)]
    fn dispatch() -> bool {
        let served = serve(&Here, find, run, unhandled_line);
        if !served {
            bump(&DISPATCHER.spurious);
        }
        served
    }

    /// The handler of a line.
    #[inline(always)]
    fn find(id: u32) -> Option<fn()> {
        let handler = DISPATCHER.handlers.get(id as usize)?.load(Ordering::Relaxed);
        // SAFETY: the table holds null or what `install` stored, a `fn()`; pointers to code and to data have
        // one size and one representation on this target, and `None` is null.
        unsafe { core::mem::transmute::<*mut (), Option<fn()>>(handler) }
    }

    /// Runs the handler of the acknowledged line with IRQ unmasked.
    #[inline(always)]
    fn run(handler: fn()) {
        bump(&DISPATCHER.count);
        // SAFETY: the interrupt is acknowledged, so its own and every lower priority is shut out; the kernel's
        // entry allows nesting while its handler runs.
        unsafe { asm!("cpsie i", options(nostack, preserves_flags)) };
        handler();
        // SAFETY: masks IRQ, so that the end cannot nest into the same source.
        unsafe { asm!("cpsid i", options(nostack, preserves_flags)) };
    }

    #[cold]
    fn unhandled_line(id: u32) {
        bump(&DISPATCHER.count);
        bump(&DISPATCHER.unhandled);
        if let Some(gic) = gic() {
            gic.disable(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out what is pending; writes down what happens.
    struct Controller {
        pending: std::cell::RefCell<Vec<u32>>,
        log: std::cell::RefCell<Vec<(&'static str, u32)>>,
    }

    impl CpuInterface for Controller {
        fn acknowledge(&self) -> u32 {
            let iar = self.pending.borrow_mut().pop().unwrap_or(1023);
            self.log.borrow_mut().push(("acknowledge", iar));
            iar
        }
        fn end(&self, acknowledged: u32) {
            assert!(acknowledged & 0x00ff_ffff < 1020, "a special ID is ended");
            self.log.borrow_mut().push(("end", acknowledged));
        }
    }

    #[test]
    fn p06_special_ids_are_neither_handled_nor_ended() {
        let cpu = Controller { pending: vec![1023, 1022, 1021, 1020].into(), log: Vec::new().into() };
        for special in [1020, 1021, 1022, 1023, 1023] {
            let find = |id| (id < SPECIAL).then(|| panic!("{id} is handed on"));
            assert!(!serve(&cpu, find, |()| (), |id| panic!("{id} is handed on")));
            assert_eq!(cpu.log.borrow_mut().drain(..).collect::<Vec<_>>(), [("acknowledge", special)]);
        }
    }

    /// The handler runs between the two, and the end has every bit that the acknowledge gave.
    #[test]
    fn p06_an_interrupt_is_ended_after_its_handler_with_what_was_acknowledged() {
        for iar in [0, 30, 1019, 0x0100_0005] {
            let cpu = Controller { pending: vec![iar].into(), log: Vec::new().into() };
            let handle = |id| cpu.log.borrow_mut().push(("handle", id));
            // One line has no handler.
            assert!(serve(&cpu, |id| (id < SPECIAL && id != 30).then_some(id), handle, handle));
            let expected = [("acknowledge", iar), ("handle", iar & 0x00ff_ffff), ("end", iar)];
            assert_eq!(*cpu.log.borrow(), expected);
        }
    }

    #[test]
    fn only_priorities_that_five_bits_hold_pass() {
        let accepted: Vec<u8> = (0..=255).filter(|&p| check_priority(p, 0xff).is_ok()).collect();
        assert_eq!(accepted, (0..=0xf8).step_by(8).map(|p| p as u8).collect::<Vec<_>>());
        assert_eq!(check_priority(0x81, 0xff), Err(InterruptError::PriorityStep(0x81)));
    }

    #[test]
    fn a_priority_at_the_mask_is_refused() {
        // Five priority bits: the open mask reads 0xf8, and 0xf8 can then never interrupt.
        assert_eq!(check_priority(0xf8, 0xf8), Err(InterruptError::PriorityMasked(0xf8)));
        assert_eq!(check_priority(0xf0, 0xf8), Ok(()));
    }

    #[test]
    fn lines_of_the_board() {
        assert_eq!(InterruptId::new(30), Some(InterruptId::TICK));
        let last = crate::board::LINES as u32 - 1;
        assert_eq!(InterruptId::new(last).map(InterruptId::number), Some(last));
        for id in [last + 1, 1019, 1020, 1023, 8192, u32::MAX] {
            assert_eq!(InterruptId::new(id), None);
        }
        assert_eq!(InterruptId::sgi(15).number(), 15);
    }
}
