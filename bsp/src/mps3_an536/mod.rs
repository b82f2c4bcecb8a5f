//! Arm MPS3 with the AN536 image, as QEMU 10 emulates it: one Cortex-R52 core of two.

pub mod memory;

#[cfg(target_arch = "arm")]
mod boot;
#[cfg(target_arch = "arm")]
pub(crate) use boot::entry;
#[cfg(all(target_arch = "arm", not(feature = "boot-at-el1")))]
pub(crate) use boot::hypervisor;
#[cfg(target_arch = "arm")]
pub mod uart;

/// The board's name in records.
pub const NAME: &str = "mps3-an536";

/// GICD base address (IMP_CBAR).
#[cfg(target_arch = "arm")]
pub const GICD: u32 = memory::GIC.range.start as u32;
/// GICR base address of core 0.
#[cfg(target_arch = "arm")]
pub const GICR: u32 = GICD + 0x10_0000;
/// The counter's frequency where nobody wrote CNTFRQ: unknown, as this board has no second clock to measure against.
#[cfg(target_arch = "arm")]
pub const COUNTER_HZ: Option<u32> = None;
/// Interrupt lines: 32 private ones and the 96 SPIs that GICD_TYPER reports.
pub const LINES: usize = 128;
/// Lowest interrupt priority step: five priority bits, as the Cortex-R52's own GIC has. QEMU has
/// eight; what holds on five holds there too.
pub const PRIORITY_STEP: u8 = 8;

/// The error of what cannot fail.
#[cfg(target_arch = "arm")]
pub enum Never {}

#[cfg(target_arch = "arm")]
impl ufmt::uDisplay for Never {
    fn fmt<W: ufmt::uWrite + ?Sized>(&self, _: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        match *self {}
    }
}

/// No memory of this board needs a first write.
#[cfg(target_arch = "arm")]
pub(crate) fn memories(_: crate::mpu::MpuOn) -> Result<(), Never> {
    Ok(())
}

/// The banner of the image says it all.
#[cfg(target_arch = "arm")]
pub(crate) fn report() {}
