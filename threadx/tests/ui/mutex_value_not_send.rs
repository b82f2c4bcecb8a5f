use threadx::Mutex;

/// A type of this file, so that the message quotes nothing of the standard library.
struct NotSend(#[allow(dead_code)] *mut u8);

static MUTEX: Mutex<NotSend> = Mutex::new(NotSend(core::ptr::null_mut()));

fn main() {
    let _ = &MUTEX;
}
