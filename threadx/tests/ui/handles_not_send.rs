use std::rc::Rc;
use threadx::{JoinHandle, ScopedJoinHandle};

fn needs_send<T: Send>() {}
fn needs_sync<T: Sync>() {}

fn main() {
    needs_send::<JoinHandle<Rc<u32>>>();
    needs_sync::<JoinHandle<Rc<u32>>>();
    needs_send::<ScopedJoinHandle<'static, Rc<u32>>>();
    needs_sync::<ScopedJoinHandle<'static, Rc<u32>>>();
    // A reference is `Send` only if what it refers to is `Sync`.
    needs_send::<ScopedJoinHandle<'static, &core::cell::Cell<u32>>>();
}
