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

fn main() {
    let token = STACK.take().unwrap();
    let _ = Builder::new("a").spawn(&CELL, token.clone(), || ());
}
