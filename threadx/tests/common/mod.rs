//! What the tests on the host port share.

use std::sync::Mutex;

use threadx::{Region, host};

/// A region that contains every address of the host.
pub struct Host;

impl Region for Host {
    const NAME: &'static str = "HOST";
    fn range() -> core::ops::Range<usize> {
        0..usize::MAX
    }
}

#[allow(dead_code)] // not every test file runs threads
/// Runs `define` and then the threads until one calls `host::finish`.
///
/// Panics if none does: a thread waits that should not.
pub fn run(define: impl FnOnce(&mut threadx::Init)) {
    assert_eq!(host::run(1000, define), host::Outcome::Finished, "the threads wait for ever");
}

/// What happened, in order.
pub struct Log(Mutex<Vec<&'static str>>);

#[allow(dead_code)] // not every test file logs
impl Log {
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    pub fn add(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    pub fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Counts its drops in a static.
#[allow(dead_code)] // not every test file counts
#[derive(Debug)]
pub struct Dropped(pub &'static std::sync::atomic::AtomicU32);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

/// A cell and a stack of 1024 bytes under one name.
#[macro_export]
macro_rules! cell {
    ($($name:ident, $stack:ident);+ $(;)?) => {
        $(
            static $name: threadx::ThreadCell = threadx::ThreadCell::new();
            threadx::stack! { static $stack: Stack<Host, 1024>; }
        )+
    };
}
