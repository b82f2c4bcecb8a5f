//! expect-exit: 101; expect: too early; expect: thread: none
//!
//! A panic before the kernel was started.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    panic!("too early")
}
