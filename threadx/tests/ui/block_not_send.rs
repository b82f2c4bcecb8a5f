use std::cell::Cell;
use std::rc::Rc;
use threadx::{BlockPool, BytePool, Timeout};

static BLOCKS: BlockPool<Rc<u32>, 2> = BlockPool::new();
static CELLS: BlockPool<Cell<u32>, 2> = BlockPool::new();
static BYTES: BytePool<200> = BytePool::new();

fn give<T: Send>(_: T) {}
fn share<T: Sync>(_: &T) {}

fn main() {
    give(BLOCKS.store(Rc::new(1), Timeout::NoWait).unwrap());
    give(BYTES.store(Rc::new(1), Timeout::NoWait).unwrap());
    share(&CELLS.store(Cell::new(1), Timeout::NoWait).unwrap());
    share(&BYTES.store(Cell::new(1), Timeout::NoWait).unwrap());
}
