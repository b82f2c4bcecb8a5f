//! From assembly to `main`.

use crate::stage::{self, Stage};
use crate::{board, exit, interrupt, mpu, println};
use core::arch::asm;

/// The board cannot be used: says why and ends the image.
fn give_up(error: impl ufmt::uDisplay) -> ! {
    println!("error: {}", error);
    exit(exit::BOARD);
}

/// Called once by the entry code in SVC mode with interrupts masked, after statics are initialised. The order is that of
/// the proofs: nothing but memory is touched before the MPU is on.
#[unsafe(no_mangle)]
extern "C" fn bsp_board_init() {
    stage::mark(Stage::Statics);
    // SAFETY: EL1, interrupts masked, once; the table covers the code RAM and DRAM0, where code, statics and
    // this stack lie.
    let mpu = unsafe { mpu::enable() }.unwrap_or_else(|error| give_up(error));
    stage::mark(Stage::Mpu);
    board::uart::init(mpu).unwrap_or_else(|error| give_up(error));
    stage::mark(Stage::Console);
    board::memories(mpu).unwrap_or_else(|error| give_up(error));
    stage::mark(Stage::Memories);
    interrupt::init(mpu).unwrap_or_else(|error| give_up(error));
    stage::mark(Stage::Interrupts);
    crate::counter::start();
    crate::kernel::install_stack_report();
    // SAFETY: the abort vector and its stack are ready, so an asynchronous abort can be reported from
    // here on.
    unsafe { asm!("cpsie a", options(nostack, preserves_flags)) };
    board::report();
    stage::mark(Stage::Main);
}
