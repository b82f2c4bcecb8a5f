use threadx::{BlockPool, BytePool, EventFlags, Executor, Inheritance, Mutex, Queue};

fn main() {
    let mutex = Mutex::new(0);
    let _ = mutex.create("mutex", Inheritance::On);
    let flags = EventFlags::new();
    let _ = flags.create("flags");
    let queue = Queue::<u32, 2>::new();
    let _ = queue.create("queue");
    let blocks = BlockPool::<u32, 2>::new();
    let _ = blocks.create("blocks");
    let bytes = BytePool::<200>::new();
    let _ = bytes.create("bytes");
    let executor = Executor::new();
    let _ = executor.block_on(async {});
}
