use threadx::{EventFlags, Queue};

static FLAGS: EventFlags = EventFlags::new();
static QUEUE: Queue<u32, 2> = Queue::new();

fn main() {
    let local = 1;
    let _ = FLAGS.set_set_notify(Some(|_| drop(&local)));
    let _ = QUEUE.set_send_notify(Some(|_| drop(&local)));
}
