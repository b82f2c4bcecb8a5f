static MUTEX: threadx::Mutex<u32> = threadx::Mutex::new(0);

fn main() {
    let _ = MUTEX.clear_poison();
}
