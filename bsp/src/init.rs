//! From assembly to `main`.

use crate::mpu::MpuOn;
use crate::stage::{self, Stage};
use crate::startup::{Machine, bring_up};
use crate::{board, exit, interrupt, mpu, println};
use core::arch::asm;

/// The board cannot be used: says why and ends the image.
fn give_up(error: impl ufmt::uDisplay) -> ! {
    println!("error: {}", error);
    exit(exit::BOARD);
}

/// The processor and the board that this runs on.
struct Here(());

impl Machine for Here {
    type Proof = MpuOn;
    fn protect(&mut self) -> MpuOn {
        // SAFETY: EL1, interrupts masked, once, as there is one `Here`; the table covers the code RAM and DRAM0, where
        // code, statics and this stack lie.
        unsafe { mpu::enable() }.unwrap_or_else(|error| give_up(error))
    }
    fn console(&mut self, proof: MpuOn) {
        board::uart::init(proof).unwrap_or_else(|error| give_up(error));
    }
    fn memories(&mut self, proof: MpuOn) {
        board::memories(proof).unwrap_or_else(|error| give_up(error));
    }
    fn interrupts(&mut self, proof: MpuOn) {
        interrupt::init(proof).unwrap_or_else(|error| give_up(error));
    }
    fn reached(&mut self, stage: Stage) {
        stage::mark(stage);
    }
}

/// Called once by the entry code in SVC mode with interrupts masked, after statics are initialised.
#[unsafe(no_mangle)]
extern "C" fn bsp_board_init() {
    bring_up(&mut Here(()));
    crate::counter::start();
    crate::kernel::install_stack_report();
    // SAFETY: the abort vector and its stack are ready, so an asynchronous abort can be reported from
    // here on.
    unsafe { asm!("cpsie a", options(nostack, preserves_flags)) };
    board::report();
    stage::mark(Stage::Main);
}
