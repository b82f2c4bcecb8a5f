//! What upstream's demo asks of a board, on this one.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use bsp::{print, println};
use measure::line;

unsafe extern "C" {
    /// The demo's `bsp_main`: prints a heading and enters the kernel.
    fn upstream_demo_main();
    /// The demo's `tx_application_define`.
    fn upstream_demo_define(first_unused_memory: *mut c_void);
}

static PASSED: AtomicBool = AtomicBool::new(false);
static FAILED: AtomicBool = AtomicBool::new(false);

#[bsp::entry]
fn main() -> ! {
    println!("kernel     {}", threadx::KERNEL);
    println!("configured {}", bsp::CONFIGURATION);
    println!("board      {}", bsp::NAME);
    // SAFETY: the demo's entry, once, where upstream's board calls it: set up and outside the kernel.
    unsafe { upstream_demo_main() };
    bsp::exit(1)
}

/// The demo's `tx_kernel_enter`.
#[unsafe(no_mangle)]
extern "C" fn upstream_demo_enter() {
    threadx::start(|init| {
        // SAFETY: this is the call in which ThreadX has the application defined.
        unsafe { upstream_demo_define(init.first_unused_memory().cast()) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn linflexd_init() -> u32 {
    0
}

#[unsafe(no_mangle)]
extern "C" fn linflexd_putc(c: u8) {
    print!("{}", char::from(c));
}

/// # Safety
/// A C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn linflexd_puts(text: *const c_char) {
    // SAFETY: the caller's promise; the demo passes literals.
    let text = unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("(not UTF-8)\n");
    print!("{}", text);
    if text.starts_with("FAIL") {
        FAILED.store(true, Ordering::Relaxed);
    } else if text.starts_with("PASS") {
        PASSED.store(true, Ordering::Relaxed);
    } else if text.contains("demo complete") {
        // After this it only sleeps.
        finish();
    }
}

#[unsafe(no_mangle)]
extern "C" fn linflexd_put_hex32(value: u32) {
    for shift in (0..8).rev() {
        let digit = (value >> (4 * shift)) & 0xf;
        print!("{}", char::from_digit(digit, 16).unwrap_or('?'));
    }
}

/// Cleans and, which the demo asks for next anyway, invalidates.
#[unsafe(no_mangle)]
extern "C" fn cache_clean_all() {
    bsp::cache::clean_invalidate_data();
}

/// Not without cleaning: an interrupt may have written since.
#[unsafe(no_mangle)]
extern "C" fn cache_invalidate_dcache_all() {
    bsp::cache::clean_invalidate_data();
}

fn finish() -> ! {
    if PASSED.load(Ordering::Relaxed) && !FAILED.load(Ordering::Relaxed) {
        println!("{}: upstream's demo passed its own checks", line::DONE_OK);
        bsp::exit(0)
    }
    println!("{}: upstream's demo failed its own checks", line::DONE_FAILED);
    bsp::exit(1)
}
