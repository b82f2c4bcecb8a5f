use std::rc::Rc;
use threadx::Queue;

static QUEUE: Queue<Rc<u32>, 4> = Queue::new();

fn main() {
    let _ = QUEUE.try_send(Rc::new(1));
}
