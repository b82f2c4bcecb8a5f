//! Runs the measuring code of `../published.c` and says on the console which series has ended, for
//! `txbench validate`: `SERIES PAIRS NAME`. The counter's reads themselves are in the model's log.
#![no_std]
#![no_main]

use core::ffi::{CStr, c_char};

use bsp::memory::Dram0;
use bsp::println;
use threadx::{Builder, Priority, ThreadCell};
// Brings the kernel's symbols into the image.
use threadx_sys as _;

unsafe extern "C" {
    /// Measures everything; 0, or what the kernel refused. To be called once, by a thread of a priority
    /// above 16. `announce` gets a name, which is a C string that lives for ever.
    fn published(clean_invalidate: extern "C" fn(), announce: extern "C" fn(*const c_char, u32)) -> u32;
}

threadx::stack! { static MAIN_STACK: Stack<Dram0, 8192>; }
static MAIN: ThreadCell = ThreadCell::new();

extern "C" fn clean_invalidate() {
    bsp::cache::clean_invalidate_data();
}

extern "C" fn announce(name: *const c_char, pairs: u32) {
    // SAFETY: see `published`.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("?");
    println!("SERIES {} {}", pairs, name);
}

fn run() {
    println!("kernel     {}", threadx::KERNEL);
    // SAFETY: once, in a thread of priority 8; both functions take what C hands them.
    let status = unsafe { published(clean_invalidate, announce) };
    println!("status     {}", status);
    bsp::exit(u8::from(status != 0))
}

#[bsp::entry]
fn main() -> ! {
    threadx::start(|_init| {
        let started = MAIN_STACK
            .take()
            .and_then(|stack| Builder::new("main").priority(Priority::of::<8>()).spawn(&MAIN, stack, run));
        match started {
            Ok(handle) => handle.detach(),
            Err(error) => panic!("the measuring thread does not start: {error}"),
        }
    })
}
