//! Everything a reader needs to know about the figures that follow.

use bsp::counter::Counter;
use bsp::memory::{kernel_code, region_of};
use bsp::println;

use crate::image;
use crate::threads::{Cells, Control};

/// Prints kernel, build, counter, caches and control blocks.
pub fn print(counter: &Counter, cells: &Cells) {
    image::print_build("ThreadX from safe Rust: the measurement suite");
    println!(", {} bytes of code", bsp::memory::text_bytes());
    image::print_machine(counter);
    println!("memory     kernel at {:#x} {}", kernel_code(), region_of(kernel_code()));
    for control in [Control::Dram0, Control::Btcm] {
        let address = cells.of(control).address();
        println!("control    {:#x} {}", address, region_of(address));
    }
    image::print_note(counter);
    println!("");
}
