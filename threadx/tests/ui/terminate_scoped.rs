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
    let local = 1;
    let _ = threadx::scope(|s| {
        let handle = Builder::new("t").spawn_scoped(s, &CELL, STACK.take().unwrap(), || local).unwrap();
        handle.terminate();
    });
}
