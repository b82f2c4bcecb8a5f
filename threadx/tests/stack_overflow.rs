//! A damaged stack is reported with the name of its thread.

mod common;

use common::{Host, run};
use threadx::{Builder, Ticks, thread};

/// A thread with this name writes the lowest word of its stack and then calls the kernel.
macro_rules! overflow {
    ($name:literal) => {{
        cell! { CELL, STACK }
        run(|_| {
            let damage = || {
                let lowest = core::ptr::with_exposed_provenance_mut::<u32>(STACK.addresses().start);
                // SAFETY: the thread's own stack, of which the host does not use this part.
                unsafe { lowest.write_volatile(0) };
                let _ = thread::sleep(Ticks::new(1));
            };
            Builder::new($name).spawn(&CELL, STACK.take().unwrap(), damage).unwrap().detach();
        })
    }};
}

/// Both ways in one test, since the hook stays.
#[test]
fn without_a_hook_a_panic_names_the_thread_and_a_hook_replaces_it() {
    let message = std::panic::catch_unwind(|| overflow!("deep")).unwrap_err();
    assert_eq!(message.downcast_ref::<String>().unwrap(), "stack overflow: thread deep");

    fn hook(name: &str) -> ! {
        let current = thread::current().map(threadx::ThreadRef::name);
        panic!("the hook got {name}, in {current:?}")
    }
    // SAFETY: the hook ends the run and calls what only reads.
    unsafe { threadx::set_stack_error_hook(hook) };
    let message = std::panic::catch_unwind(|| overflow!("deeper")).unwrap_err();
    assert_eq!(message.downcast_ref::<String>().unwrap(), "the hook got deeper, in Some(\"deeper\")");
}
