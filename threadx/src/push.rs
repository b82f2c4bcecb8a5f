//! Lists that only grow at their front: cells, timers, the threads of a scope.

use crate::sync::{AtomicPtr, Ordering};

/// Puts `new`, whose link is `next`, before all others. From any context.
///
/// Whoever loads `head` (acquire) and finds `new` also sees what was written to it before, and its link.
pub(crate) fn push<T>(head: &AtomicPtr<T>, new: *mut T, next: &AtomicPtr<T>) {
    let mut first = head.load(Ordering::Acquire);
    loop {
        next.store(first, Ordering::Relaxed);
        match head.compare_exchange_weak(first, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => first = now,
        }
    }
}
