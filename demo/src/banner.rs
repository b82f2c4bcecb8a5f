//! Everything a reader needs to know about the figures that follow.

use bsp::counter::Counter;
use bsp::memory::region_of;
use bsp::println;
use ufmt::{uDebug, uDisplay, uWrite};

use crate::{deep_stack, image, switch};

/// An address, with the memory that it lies in.
struct At(usize);

impl uDisplay for At {
    fn fmt<W: uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        ufmt::uwrite!(f, "{:#x} ", self.0)?;
        f.write_str(region_of(self.0))
    }
}

impl uDebug for At {
    fn fmt<W: uWrite + ?Sized>(&self, f: &mut ufmt::Formatter<'_, W>) -> Result<(), W::Error> {
        uDisplay::fmt(self, f)
    }
}

/// Prints kernel, build, counter, caches and addresses.
pub fn print(counter: &Counter) {
    image::print_build("ThreadX from safe Rust: context switch and stack-heavy work by the memory of the stack");
    println!("");
    image::print_machine(counter);
    image::print_note(counter);
    for (what, stack) in [
        ("measuring", switch::MEASURING_BTCM.addresses()),
        ("partner", switch::PARTNER_BTCM.addresses()),
        ("measuring", switch::MEASURING_DRAM0.addresses()),
        ("partner", switch::PARTNER_DRAM0.addresses()),
        ("deep_touch", deep_stack::DEEP_BTCM.addresses()),
        ("deep_touch", deep_stack::DEEP_DRAM0.addresses()),
    ] {
        println!("stack      {} {} bytes of {}", At(stack.start), stack.end - stack.start, what);
    }
    for (what, cell) in
        [("measuring", &switch::MEASURING), ("partner", &switch::PARTNER), ("deep_touch", &deep_stack::DEEP)]
    {
        println!("control    {} of {}", At(core::ptr::from_ref(cell) as usize), what);
    }
    let round_trips = switch::round_trips as *const () as usize;
    let deep_touch = deep_stack::deep_touch as *const () as usize;
    println!("code       {} round_trips, offset {} in its 64-byte line", At(round_trips), round_trips % 64);
    println!("code       {} deep_touch, offset {} in its 64-byte line", At(deep_touch), deep_touch % 64);
    println!("");
}
