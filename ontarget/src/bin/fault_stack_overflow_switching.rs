//! expect-exit: 104; expect: stack overflow: thread deep
//!
//! A recursion without end that sleeps at each level: found at a switch, and the thread named.
#![no_std]
#![no_main]

use core::hint::black_box;

use threadx::Ticks;

fn recurse(depth: u32) -> u32 {
    let frame = black_box([depth; 8]);
    if threadx::thread::sleep(Ticks::new(1)).is_err() {
        return 0;
    }
    recurse(depth + 1) + frame[depth as usize % 8]
}

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("deep", || {
        black_box(recurse(black_box(0)));
    })
}
