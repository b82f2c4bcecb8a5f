//! The sample that comes with upstream's sources, unmodified, on either kernel: eight threads, a queue,
//! a semaphore, a mutex, event flags, a byte and a block pool. After a second of the counter an
//! interrupt looks at what its threads have counted.
#![no_std]
#![no_main]

use core::arch::asm;

use bsp::interrupt::{InterruptId, enable, register};
use bsp::println;
use measure::line;

// Brings the kernel's symbols into the image.
use threadx_sys as _;

unsafe extern "C" {
    /// The sample's.
    fn main() -> i32;
    static thread_0_counter: u32;
    static thread_1_counter: u32;
    static thread_1_messages_sent: u32;
    static thread_2_counter: u32;
    static thread_2_messages_received: u32;
    static thread_3_counter: u32;
    static thread_4_counter: u32;
    static thread_5_counter: u32;
    static thread_6_counter: u32;
    static thread_7_counter: u32;
}

/// The EL1 virtual timer, which nothing else here uses.
const VIRTUAL_TIMER: u32 = 27;
/// Slots of the sample's queue.
const SLOTS: u32 = 100;

#[bsp::entry]
fn start() -> ! {
    println!("kernel     {}", threadx::KERNEL);
    println!("configured {}", threadx::KERNEL_CONFIGURATION);
    println!("board      {}", bsp::NAME);
    let Some(timer) = InterruptId::new(VIRTUAL_TIMER) else { fail("the virtual timer has no interrupt") };
    if register(timer, 0x40, judge).is_err() {
        fail("the virtual timer's interrupt is taken");
    }
    enable(timer);
    // SAFETY: sets off the virtual timer, which nothing else uses.
    unsafe {
        asm!("mcr p15, 0, {}, c14, c3, 0", in(reg) bsp::timer::frequency(), options(nomem, nostack, preserves_flags));
        asm!("mcr p15, 0, {}, c14, c3, 1", "isb", in(reg) 1, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: the sample's entry, once, with the board set up and outside the kernel.
    unsafe { main() };
    fail("the kernel's entry came back")
}

fn fail(why: &str) -> ! {
    println!("{}: {}", line::DONE_FAILED, why);
    bsp::exit(1)
}

/// In the interrupt: the threads stand still.
fn judge() {
    macro_rules! read {
        ($($name:ident),*) => {
            // SAFETY: counters that C code on this core increments; volatile, as they change behind
            // the compiler's back.
            unsafe { [$((&raw const $name).read_volatile()),*] }
        };
    }
    let [sleeper, _, sent, _, received, third, fourth, waiter, sixth, seventh] = read!(
        thread_0_counter,
        thread_1_counter,
        thread_1_messages_sent,
        thread_2_counter,
        thread_2_messages_received,
        thread_3_counter,
        thread_4_counter,
        thread_5_counter,
        thread_6_counter,
        thread_7_counter
    );
    println!(
        "sleeper {}, event flags {}, semaphore {} and {}, mutex {} and {}",
        sleeper, waiter, third, fourth, sixth, seventh
    );
    println!("messages {} sent, {} received", sent, received);
    // It sleeps for 10 ticks each time.
    let slept = bsp::tick_hz() / 10;
    if sleeper.abs_diff(slept) > 1 {
        fail("the sleeper did not wake as often as it should");
    }
    if waiter.abs_diff(sleeper) > 1 || waiter == 0 {
        fail("the event flags were not waited for");
    }
    if third == 0 || third.abs_diff(fourth) > 1 || sixth == 0 || sixth.abs_diff(seventh) > 1 {
        fail("equals did not get the semaphore or the mutex in turn");
    }
    // One more is on its way out of the queue, another one on its way in.
    if received < 10 * SLOTS || received > sent + 1 || sent - received.min(sent) > SLOTS + 2 {
        fail("messages got lost");
    }
    println!("{}: upstream's sample ran for a second", line::DONE_OK);
    bsp::exit(0)
}
