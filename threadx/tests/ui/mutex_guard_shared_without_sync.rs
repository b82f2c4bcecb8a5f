use std::cell::Cell;
use threadx::{Mutex, Timeout};

static MUTEX: Mutex<Cell<u32>> = Mutex::new(Cell::new(0));

fn share<T: Sync>(_: &T) {}

fn main() {
    share(&MUTEX.lock(Timeout::Forever).unwrap());
}
