//! expect-exit: 105
//!
//! A panic while a panic is reported ends the image at once.
#![no_std]
#![no_main]

struct Grenade;

impl core::fmt::Display for Grenade {
    fn fmt(&self, _: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        panic!("again")
    }
}

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || panic!("{}", Grenade))
}
