use threadx::{Queue, Sender};

fn sender() -> Sender<*mut u8> {
    unreachable!()
}

fn give<T: Send>(_: T) {}

fn main() {
    give(sender());
    let queue = Box::leak(Box::new(Queue::<*mut u8, 2>::new()));
    let _ = queue.try_send(core::ptr::null_mut());
}
