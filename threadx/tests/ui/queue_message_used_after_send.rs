use threadx::Queue;

static QUEUE: Queue<Box<u32>, 4> = Queue::new();

fn main() {
    let message = Box::new(1);
    let _ = QUEUE.try_send(message);
    assert_eq!(*message, 1);
}
