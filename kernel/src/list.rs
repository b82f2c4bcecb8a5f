//! The kernel's one list: circular, doubly linked, intrusive.
//!
//! Invariant of every list: following `next` from the head visits each member once and comes back
//! to the head; `prev` is the inverse. A node is in at most one list per link kind.

use core::cell::Cell;
use core::marker::PhantomData;

/// The two links of a node; `None` while the node is in no list.
#[repr(C)]
pub(crate) struct Links<T: Copy> {
    next: Cell<Option<T>>,
    prev: Cell<Option<T>>,
}

impl<T: Copy> Links<T> {
    pub(crate) const fn new() -> Self {
        Self { next: Cell::new(None), prev: Cell::new(None) }
    }

    /// Successor of a linked node (itself when it is alone).
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<T> {
        self.next.get()
    }

    #[inline(always)]
    pub(crate) fn prev(&self) -> Option<T> {
        self.prev.get()
    }

    #[inline(always)]
    pub(crate) fn is_linked(&self) -> bool {
        self.next.get().is_some()
    }
}

/// Chooses which of a node's links a list uses.
pub(crate) trait LinkKind<T: Copy> {
    fn links(node: &T) -> &Links<T>;
}

/// A list over the links that `K` chooses.
#[repr(transparent)]
pub(crate) struct List<T: Copy, K> {
    head: Cell<Option<T>>,
    kind: PhantomData<K>,
}

impl<T: Copy + PartialEq, K: LinkKind<T>> List<T, K> {
    pub(crate) const fn new() -> Self {
        Self { head: Cell::new(None), kind: PhantomData }
    }

    /// Forgets the members without unlinking them: only for a kernel that starts afresh.
    #[cfg(not(target_os = "none"))]
    pub(crate) fn clear(&self) {
        self.head.set(None);
    }

    #[inline(always)]
    pub(crate) fn front(&self) -> Option<T> {
        self.head.get()
    }

    /// Makes `node`, already a member, the head; the circular order is unchanged.
    #[inline(always)]
    pub(crate) fn set_front(&self, node: T) {
        debug_assert!(K::links(&node).is_linked());
        self.head.set(Some(node));
    }

    pub(crate) fn push_back(&self, node: T) {
        let links = K::links(&node);
        debug_assert!(!links.is_linked());
        match self.head.get() {
            None => {
                links.next.set(Some(node));
                links.prev.set(Some(node));
                self.head.set(Some(node));
            }
            Some(head) => {
                let tail = K::links(&head).prev.replace(Some(node));
                links.next.set(Some(head));
                links.prev.set(tail);
                if let Some(tail) = tail {
                    K::links(&tail).next.set(Some(node));
                }
            }
        }
    }

    pub(crate) fn push_front(&self, node: T) {
        self.push_back(node);
        self.head.set(Some(node));
    }

    /// Unlinks a member.
    pub(crate) fn remove(&self, node: T) {
        let links = K::links(&node);
        let (Some(next), Some(prev)) = (links.next.take(), links.prev.take()) else {
            debug_assert!(false, "removed a node that is in no list");
            return;
        };
        if next == node {
            self.head.set(None);
            return;
        }
        K::links(&prev).next.set(Some(next));
        K::links(&next).prev.set(Some(prev));
        if self.head.get() == Some(node) {
            self.head.set(Some(next));
        }
    }

    pub(crate) fn pop_front(&self) -> Option<T> {
        let node = self.head.get()?;
        self.remove(node);
        Some(node)
    }

    /// Appends all of `other`, which is empty afterwards, in constant time.
    pub(crate) fn append(&self, other: &Self) {
        let Some(second) = other.head.take() else { return };
        let Some(first) = self.head.get() else {
            self.head.set(Some(second));
            return;
        };
        let first_tail = K::links(&first).prev.replace(K::links(&second).prev.get());
        let second_tail = K::links(&second).prev.replace(first_tail);
        if let (Some(first_tail), Some(second_tail)) = (first_tail, second_tail) {
            K::links(&first_tail).next.set(Some(second));
            K::links(&second_tail).next.set(Some(first));
        }
    }

    /// Calls `f` for each member, front to back.
    pub(crate) fn for_each(&self, mut f: impl FnMut(T)) {
        let Some(head) = self.head.get() else { return };
        let mut at = head;
        loop {
            let next = K::links(&at).next.get();
            f(at);
            match next {
                Some(next) if next != head => at = next,
                _ => return,
            }
        }
    }
}
