use core::ops::Range;
use threadx::{Builder, Region, ThreadCell};

pub struct Btcm;
impl Region for Btcm {
    const NAME: &'static str = "BTCM";
    fn range() -> Range<usize> {
        0..usize::MAX
    }
}

threadx::stack! { static STACK: Stack<Btcm, 2048>; }
static CELL: ThreadCell = ThreadCell::new();

pub struct Dram0;
impl Region for Dram0 {
    const NAME: &'static str = "DRAM0";
    fn range() -> Range<usize> {
        0..usize::MAX
    }
}
threadx::stack! { static SLOW: Stack<Dram0, 2048>; }

fn measure(stack: threadx::StackToken<Btcm>) {
    let _ = Builder::new("t").spawn(&CELL, stack, || ());
}

fn main() {
    measure(STACK.take().unwrap());
    measure(SLOW.take().unwrap());
}
