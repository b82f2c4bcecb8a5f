use threadx::{Mutex, Timeout};

static MUTEX: Mutex<u32> = Mutex::new(0);

fn main() {
    let mut guard = MUTEX.lock(Timeout::Forever).unwrap();
    let value: &mut u32 = &mut guard;
    drop(guard);
    *value += 1;
}
