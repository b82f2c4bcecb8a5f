use threadx::{Mutex, Timeout};

static MUTEX: Mutex<u32> = Mutex::new(0);

fn forever() -> &'static mut u32 {
    let mut guard = MUTEX.lock(Timeout::Forever).unwrap();
    &mut guard
}

fn main() {
    forever();
}
