use threadx::Queue;

static QUEUE: Queue<&'static u32, 4> = Queue::new();

fn main() {
    let local = 1;
    let _ = QUEUE.try_send(&local);
}
