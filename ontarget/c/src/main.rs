//! A C program that uses every service of the documented API, in an image of this project: its `main`
//! enters the kernel, its `tx_application_define` defines the application. `../conformance.c` knows
//! nothing of the board or of Rust but the three functions by which it reports.
#![no_std]
#![no_main]

use core::ffi::{CStr, c_char};

use bsp::println;
use measure::line;

// Brings the kernel's symbols into the image.
use threadx_sys as _;

unsafe extern "C" {
    /// The C program's.
    fn main() -> i32;
    fn conformance_mix(a: f32, b: f64, c: f32, d: u64) -> f64;
}

#[bsp::entry]
fn start() -> ! {
    println!("kernel     {}", threadx::KERNEL);
    println!("configured {}", threadx::KERNEL_CONFIGURATION);
    println!("board      {}", bsp::NAME);
    // SAFETY: the program's entry, once, with the board set up and outside the kernel.
    unsafe { main() };
    println!("{}: the kernel's entry came back", line::DONE_FAILED);
    bsp::exit(1)
}

/// # Safety
/// A C string that stays.
unsafe fn text(of: *const c_char) -> &'static str {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(of) }.to_str().unwrap_or("(not UTF-8)")
}

/// # Safety
/// A C string that stays.
#[unsafe(no_mangle)]
unsafe extern "C" fn conformance_group(name: *const c_char) {
    // SAFETY: the caller's promise.
    println!("checking   {}", unsafe { text(name) });
}

/// # Safety
/// A C string that stays.
#[unsafe(no_mangle)]
unsafe extern "C" fn conformance_failed(what: *const c_char, number: u32, got: u32, wanted: u32) {
    // SAFETY: the caller's promise.
    println!("FAIL line {}: {} is {:#x}, not {:#x}", number, unsafe { text(what) }, got, wanted);
}

/// The other direction of the float ABI's test.
#[unsafe(no_mangle)]
extern "C" fn conformance_scale(a: f32, b: f64, c: f32) -> f64 {
    f64::from(a) * 100.0 + b * 10.0 + f64::from(c)
}

/// The port's assembly finds the floating-point flag of a thread by a number (P02): switching it changes
/// the flag and no other byte of the calling thread's control block.
#[cfg(not(feature = "bundled"))]
fn p02_only_the_floating_point_flag_changes() -> bool {
    use threadx_sys::{TX_INT_DISABLE, TX_THREAD, tx_interrupt_control, tx_thread_identify};
    type Bytes = [u8; size_of::<TX_THREAD>()];
    unsafe extern "C" {
        fn tx_thread_vfp_enable();
        fn tx_thread_vfp_disable();
    }
    let flag = core::mem::offset_of!(TX_THREAD, tx_thread_vfp_enable);
    // SAFETY: the current thread's block exists. With interrupts masked nothing else changes it, and no
    // switch happens in which the flag would count.
    let (before, off, on) = unsafe {
        let block = tx_thread_identify().cast::<Bytes>();
        let posture = tx_interrupt_control(TX_INT_DISABLE);
        let before = block.read_volatile();
        tx_thread_vfp_disable();
        let off = block.read_volatile();
        tx_thread_vfp_enable();
        let on = block.read_volatile();
        tx_interrupt_control(posture);
        (before, off, on)
    };
    let others = (0..before.len()).filter(|at| !(flag..flag + 4).contains(at)).all(|at| before[at] == off[at]);
    others && before == on && before[flag] == 1 && off[flag] == 0
}

#[unsafe(no_mangle)]
extern "C" fn conformance_done(checks: u32, failures: u32) {
    // Single and double arguments in turn, and an integer pair between them (D03).
    // SAFETY: a pure function.
    let mixed = unsafe { conformance_mix(1.5, 2.25, -3.0, 1 << 40) };
    let expected = 1.5 + 2.25 * 2.0 - 3.0 * 4.0 + 1_099_511_627_776.0;
    #[cfg(not(feature = "bundled"))]
    if !p02_only_the_floating_point_flag_changes() {
        println!("{}: P02: switching the floating-point flag changes other bytes", line::DONE_FAILED);
        bsp::exit(1)
    }
    if mixed != expected {
        println!("FAIL D03: C and Rust disagree about floating-point arguments");
    } else if failures == 0 && checks > 0 {
        println!("{}: {} checks of the documented C API passed", line::DONE_OK, checks + 1);
        bsp::exit(0)
    }
    println!("{}: {} of {} checks of the documented C API failed", line::DONE_FAILED, failures, checks);
    bsp::exit(1)
}
