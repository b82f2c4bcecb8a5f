use std::rc::Rc;
use threadx::Mutex;

static MUTEX: Mutex<Option<Rc<u32>>> = Mutex::new(None);

fn main() {
    let _ = &MUTEX;
}
