//! expect-exit: 0; expect: pong has run
#![no_std]
#![no_main]
use bsp::memory::{Btcm, Dram0};
use threadx::{Builder, Priority, ThreadCell, thread::relinquish};

threadx::stack! {
    static PING_STACK: Stack<Btcm, 2048>;  // in tightly-coupled memory
    static PONG_STACK: Stack<Dram0, 2048>; // in main RAM: another type, another section
}
static PING: ThreadCell = ThreadCell::new();
static PONG: ThreadCell = ThreadCell::new();

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_init| {
        let ping = Builder::new("ping").priority(Priority::of::<16>());
        let pong = Builder::new("pong").priority(Priority::of::<16>());
        let pong = pong.spawn(&PONG, PONG_STACK.take().unwrap(), || (0..3).for_each(|_| relinquish())).unwrap();
        let ping = ping.spawn(&PING, PING_STACK.take().unwrap(), move || {
            pong.join().unwrap();
            bsp::println!("pong has run");
            bsp::exit(0)
        });
        ping.unwrap().detach();
    })
}
