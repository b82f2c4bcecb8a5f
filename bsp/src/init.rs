//! From assembly to `main`.

use crate::{exit, interrupt, mpu, println};
use core::arch::asm;

/// Called once by `_start` in SYS mode with interrupts masked, after statics are initialised.
#[unsafe(no_mangle)]
extern "C" fn bsp_board_init() {
    // SAFETY: EL1, interrupts masked, once; the table covers BRAM and DRAM0, where code, statics and
    // this stack lie.
    let mpu = unsafe { mpu::enable() };
    crate::board::uart::init();
    let mpu = match mpu {
        Ok(on) => on,
        Err(error) => {
            println!("error: {}", error);
            exit(exit::BOARD);
        }
    };
    if let Err(error) = interrupt::init(mpu) {
        println!("error: {}", error);
        exit(exit::BOARD);
    }
    crate::counter::start();
    crate::kernel::install_stack_report();
    // SAFETY: the abort vector and its stack are ready, so an asynchronous abort can be reported from
    // here on.
    unsafe { asm!("cpsie a", options(nostack, preserves_flags)) };
}
