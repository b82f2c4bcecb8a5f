//! expect-exit: 101; expect: the reason is 42; expect: fault_panic.rs; expect: thread: culprit
//!
//! A panic: message, place and thread.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || panic!("the reason is {}", core::hint::black_box(42)))
}
