use threadx::{BlockPool, Mutex, Inheritance, Queue};

static MUTEX: Mutex<u32> = Mutex::new(0);
static QUEUE: Queue<u32, 2> = Queue::new();

fn main() {
    let _ = MUTEX.create("mutex", Inheritance::On);
    let moved = MUTEX;
    let _ = QUEUE.create("queue");
    let moved_too = QUEUE;
    let leaked: &'static mut BlockPool<u32, 2> = Box::leak(Box::new(BlockPool::new()));
    let pool: &'static BlockPool<u32, 2> = leaked;
    let _ = pool.create("pool");
    core::mem::swap(leaked, &mut BlockPool::new());
    let _ = pool.info();
}
