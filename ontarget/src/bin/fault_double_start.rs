//! expect-exit: 101; expect: the kernel is started already; expect: thread: culprit
//!
//! Starting the kernel a second time, from a thread.
#![no_std]
#![no_main]

#[bsp::entry]
fn main() -> ! {
    ontarget::run_to_fault("culprit", || threadx::start(|_| ()))
}
