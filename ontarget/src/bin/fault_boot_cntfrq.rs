//! expect-exit: 102; expect: error: CNTFRQ reads 0
//!
//! Field report P07: nobody has told the counter's frequency. A stated error, no division by zero.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("never", || ())
}
