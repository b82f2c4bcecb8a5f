use threadx::{Builder, Mutex, Region, ThreadCell, Timeout};

struct Btcm;
impl Region for Btcm {
    const NAME: &'static str = "BTCM";
    fn range() -> core::ops::Range<usize> {
        0..usize::MAX
    }
}

threadx::stack! { static STACK: Stack<Btcm, 1024>; }
static CELL: ThreadCell = ThreadCell::new();
static MUTEX: Mutex<u32> = Mutex::new(0);

fn main() {
    let guard = MUTEX.lock(Timeout::Forever).unwrap();
    let _ = Builder::new("other").spawn(&CELL, STACK.take().unwrap(), move || drop(guard));
}
