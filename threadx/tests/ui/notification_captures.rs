use threadx::{EventFlags, Queue};

fn main() {
    let local = 1;
    let _flags: fn(&'static EventFlags) = |_| drop(&local);
    let _queue: fn(&'static Queue<u32, 2>) = |_| drop(&local);
}
