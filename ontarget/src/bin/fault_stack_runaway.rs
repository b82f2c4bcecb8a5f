//! expect-exit: 103; expect: data abort; expect: DFAR 0xee0fff; expect: thread: deep
//!
//! A recursion without end that never lets the kernel look, on the lowest stack of its memory: the MPU
//! stops it.
#![no_std]
#![no_main]

use core::hint::black_box;

use bsp::memory::Btcm;
use threadx::{Builder, ThreadCell, stack};

stack! { static STACK: Stack<Btcm, 4096>; }
static CELL: ThreadCell = ThreadCell::new();

#[expect(unconditional_recursion, reason = "it is to overflow the stack")]
fn recurse(depth: u32) -> u32 {
    let frame = black_box([depth; 8]);
    recurse(depth + 1) + frame[depth as usize % 8]
}

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_| {
        let spawned = STACK.take().and_then(|stack| {
            Builder::new("deep").spawn(&CELL, stack, || {
                black_box(recurse(black_box(0)));
            })
        });
        match spawned {
            Ok(handle) => handle.detach(),
            Err(error) => {
                bsp::println!("error: the thread does not start: {}", error);
                bsp::exit(1);
            }
        }
    })
}
