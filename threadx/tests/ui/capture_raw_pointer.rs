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
    let pointer = core::ptr::null_mut::<u8>();
    let _ = Builder::new("t").spawn(&CELL, STACK.take().unwrap(), move || {
        let pointer = pointer;
        let _ = pointer.is_null();
    });
}
