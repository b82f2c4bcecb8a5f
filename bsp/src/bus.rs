//! Access to device registers, so that the drivers run on silicon and on models alike.

/// 32-bit access to a device's registers.
pub trait Bus {
    /// Reads the register at this address.
    fn read(&self, address: u32) -> u32;
    /// Writes the register at this address.
    fn write(&self, address: u32, value: u32);
}

#[cfg(start_up = "rust")]
mod hardware {
    use super::Bus;
    use crate::mpu::MpuOn;

    /// The real registers; the field is the proof that the memory map is in force and has them as Device memory.
    #[derive(Clone, Copy)]
    pub(crate) struct Mmio(#[allow(dead_code)] MpuOn);

    impl Mmio {
        pub(crate) const fn new(proof: MpuOn) -> Self {
            Self(proof)
        }
    }

    impl Bus for Mmio {
        fn read(&self, address: u32) -> u32 {
            // SAFETY: drivers only ask for registers of the frames they were given, which the memory map has as
            // Device; the proof says that the map is in force. A device's read moves no memory that Rust knows.
            unsafe { (address as usize as *const u32).read_volatile() }
        }
        fn write(&self, address: u32, value: u32) {
            // SAFETY: as above; none of the devices here moves memory, so no write can break Rust's rules.
            unsafe { (address as usize as *mut u32).write_volatile(value) }
        }
    }
}

#[cfg(start_up = "rust")]
pub(crate) use hardware::Mmio;
