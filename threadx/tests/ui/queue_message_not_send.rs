use threadx::Queue;

/// A type of this file, so that the message quotes nothing of the standard library.
struct NotSend(#[allow(dead_code)] *mut u8);

static QUEUE: Queue<NotSend, 4> = Queue::new();

fn main() {
    let _ = QUEUE.try_send(NotSend(core::ptr::null_mut()));
}
