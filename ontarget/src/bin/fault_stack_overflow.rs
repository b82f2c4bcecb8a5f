//! expect-exit: 104; expect: stack overflow: thread deep
//!
//! A recursion without end that gives the kernel time to look: the tick's check finds the stack
//! overflowed and names the thread. Its stack lies above others' memory, so nothing faults.
#![no_std]
#![no_main]

use core::hint::black_box;

#[expect(unconditional_recursion, reason = "it is to overflow the stack")]
fn recurse(depth: u32) -> u32 {
    let frame = black_box([depth; 8]);
    ontarget::spin(bsp::timer::frequency() / bsp::tick_hz() / 8);
    recurse(depth + 1) + frame[depth as usize % 8]
}

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("deep", || {
        black_box(recurse(black_box(0)));
    })
}
