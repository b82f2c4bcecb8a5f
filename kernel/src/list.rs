//! The kernel's one list: circular, doubly linked, intrusive.
//!
//! Invariant of every list: following `next` from the head visits each member once and comes back
//! to the head; `prev` is the inverse. A node is in at most one list per link kind.

use core::cell::Cell;
use core::marker::PhantomData;

/// The two links of a node; `None` while the node is in no list.
#[repr(C)]
pub(crate) struct Links<T: Copy> {
    /// First: the port's assembly reads it.
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

    /// [`Self::next`] of a node that is in a list.
    ///
    /// # Safety
    ///
    /// The node is in a list.
    #[inline(always)]
    pub(crate) unsafe fn next_of_member(&self) -> T {
        debug_assert!(self.is_linked());
        // SAFETY: a member has a successor, and the caller promised a member.
        unsafe { self.next.get().unwrap_unchecked() }
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
            None => self.push_only(node),
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

    /// Makes `node` the one member of an empty list.
    #[inline(always)]
    pub(crate) fn push_only(&self, node: T) {
        let links = K::links(&node);
        debug_assert!(self.head.get().is_none() && !links.is_linked());
        links.next.set(Some(node));
        links.prev.set(Some(node));
        self.head.set(Some(node));
    }

    /// Puts `node` behind `only`, the one member of a list.
    #[inline(always)]
    pub(crate) fn push_second(&self, only: T, node: T) {
        let (first, second) = (K::links(&only), K::links(&node));
        debug_assert!(self.head.get() == Some(only) && first.next.get() == Some(only) && !second.is_linked());
        first.next.set(Some(node));
        first.prev.set(Some(node));
        second.next.set(Some(only));
        second.prev.set(Some(only));
    }

    /// Unlinks `node` from a list of two, whose other member is `other`. The links of `node` mean nothing
    /// then; only a debug build clears them.
    #[inline(always)]
    pub(crate) fn remove_other(&self, node: T, other: T) {
        let (gone, left) = (K::links(&node), K::links(&other));
        debug_assert!(gone.next.get() == Some(other) && left.next.get() == Some(node));
        if cfg!(debug_assertions) {
            gone.next.set(None);
            gone.prev.set(None);
        }
        left.next.set(Some(other));
        left.prev.set(Some(other));
        self.head.set(Some(other));
    }

    /// Empties a list of one without unlinking the member, which goes on in [`Self::set_only`].
    #[inline(always)]
    pub(crate) fn clear_only(&self, node: T) {
        debug_assert!(self.head.get() == Some(node) && K::links(&node).next.get() == Some(node));
        self.head.set(None);
    }

    /// Makes `node`, which comes from [`Self::clear_only`], the one member of an empty list.
    #[inline(always)]
    pub(crate) fn set_only(&self, node: T) {
        debug_assert!(self.head.get().is_none() && K::links(&node).next.get() == Some(node));
        self.head.set(Some(node));
    }

    /// Unlinks the one member that a list has.
    #[inline(always)]
    pub(crate) fn remove_only(&self, node: T) {
        let links = K::links(&node);
        debug_assert!(self.head.get() == Some(node) && links.next.get() == Some(node));
        links.next.set(None);
        self.head.set(None);
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

    /// The member after `node`, itself a member; `None` at the end.
    #[inline(always)]
    pub(crate) fn after(&self, node: T) -> Option<T> {
        let next = K::links(&node).next.get();
        if next == self.head.get() { None } else { next }
    }

    pub(crate) fn contains(&self, node: T) -> bool {
        let mut at = self.front();
        while let Some(member) = at {
            if member == node {
                return true;
            }
            at = self.after(member);
        }
        false
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Node {
        name: char,
        a: Links<Ref>,
        b: Links<Ref>,
    }

    type Ref = &'static NodeRef;
    struct NodeRef(Node);

    impl PartialEq for NodeRef {
        fn eq(&self, other: &Self) -> bool {
            self.0.name == other.0.name
        }
    }

    struct A;
    impl LinkKind<Ref> for A {
        fn links(node: &Ref) -> &Links<Ref> {
            &node.0.a
        }
    }

    struct B;
    impl LinkKind<Ref> for B {
        fn links(node: &Ref) -> &Links<Ref> {
            &node.0.b
        }
    }

    fn nodes<const N: usize>() -> [Ref; N] {
        core::array::from_fn(|i| {
            let name = char::from(b'a' + i as u8);
            &*Box::leak(Box::new(NodeRef(Node { name, a: Links::new(), b: Links::new() })))
        })
    }

    /// The members front to back; the invariant at the top of this file holds.
    fn names<K: LinkKind<Ref>>(list: &List<Ref, K>) -> String {
        let mut members = Vec::new();
        list.for_each(|node| members.push(node));
        for (i, node) in members.iter().enumerate() {
            let next = members[(i + 1) % members.len()];
            assert!(K::links(node).next() == Some(next));
            assert!(K::links(&next).prev() == Some(*node));
        }
        assert!(list.front() == members.first().copied());
        members.iter().map(|node| node.0.name).collect()
    }

    #[test]
    fn pushes_keep_order() {
        let list = List::<Ref, A>::new();
        let [a, b, c] = nodes();
        assert_eq!(names(&list), "");
        list.push_back(a);
        assert_eq!(names(&list), "a");
        list.push_back(b);
        list.push_front(c);
        assert_eq!(names(&list), "cab");
    }

    #[test]
    fn remove_unlinks_from_every_place() {
        for victim in 0..4 {
            let list = List::<Ref, A>::new();
            let nodes: [Ref; 4] = nodes();
            nodes.iter().for_each(|n| list.push_back(n));
            list.remove(nodes[victim]);
            assert_eq!(names(&list), "abcd".replace(nodes[victim].0.name, ""));
            assert!(!nodes[victim].0.a.is_linked());
            list.push_back(nodes[victim]);
            assert_eq!(names(&list).len(), 4);
        }
    }

    #[test]
    fn pop_empties_from_the_front() {
        let list = List::<Ref, A>::new();
        let nodes: [Ref; 3] = nodes();
        nodes.iter().for_each(|n| list.push_back(n));
        let popped: String = core::iter::from_fn(|| list.pop_front()).map(|n| n.0.name).collect();
        assert_eq!(popped, "abc");
        assert_eq!(names(&list), "");
        assert!(list.pop_front().is_none());
        assert!(nodes.iter().all(|n| !n.0.a.is_linked()));
    }

    #[test]
    fn set_front_turns_the_circle() {
        let list = List::<Ref, A>::new();
        let nodes: [Ref; 4] = nodes();
        nodes.iter().for_each(|n| list.push_back(n));
        list.set_front(nodes[2]);
        assert_eq!(names(&list), "cdab");
        list.remove(nodes[2]);
        assert_eq!(names(&list), "dab");
    }

    #[test]
    fn append_moves_all_members() {
        for (left, right) in [(0, 0), (0, 2), (2, 0), (1, 1), (2, 3), (3, 1)] {
            let (list, other) = (List::<Ref, A>::new(), List::<Ref, A>::new());
            let nodes: [Ref; 6] = nodes();
            nodes[..left].iter().for_each(|n| list.push_back(n));
            nodes[left..left + right].iter().for_each(|n| other.push_back(n));
            list.append(&other);
            assert_eq!(names(&list), "abcdef"[..left + right]);
            assert_eq!(names(&other), "");
            other.push_back(nodes[5]);
            assert_eq!(names(&other), "f");
        }
    }

    #[test]
    fn for_each_allows_removal_of_the_visited() {
        let list = List::<Ref, A>::new();
        let nodes: [Ref; 3] = nodes();
        nodes.iter().for_each(|n| list.push_back(n));
        let mut visited = String::new();
        list.for_each(|n| {
            visited.push(n.0.name);
            if n.0.name != 'a' {
                list.remove(n);
            }
        });
        assert_eq!(visited, "abc");
        assert_eq!(names(&list), "a");
    }

    #[test]
    fn link_kinds_are_independent() {
        let (list, other) = (List::<Ref, A>::new(), List::<Ref, B>::new());
        let nodes: [Ref; 3] = nodes();
        for n in nodes {
            list.push_back(n);
            other.push_front(n);
        }
        list.remove(nodes[1]);
        assert_eq!((names(&list), names(&other)), ("ac".into(), "cba".into()));
    }

    #[test]
    fn random_operations_agree_with_a_vector() {
        let list = List::<Ref, A>::new();
        let nodes: [Ref; 8] = nodes();
        let mut model: Vec<Ref> = Vec::new();
        let mut random = 1u32;
        for _ in 0..if cfg!(miri) { 200 } else { 20_000 } {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let node = nodes[(random >> 24) as usize % nodes.len()];
            match (model.iter().position(|&m| m == node), random >> 16 & 3) {
                (Some(at), 0) => {
                    list.set_front(node);
                    model.rotate_left(at);
                }
                (Some(at), _) => {
                    list.remove(node);
                    model.remove(at);
                }
                (None, 0) => {
                    list.push_front(node);
                    model.insert(0, node);
                }
                (None, _) => {
                    list.push_back(node);
                    model.push(node);
                }
            }
            assert_eq!(names(&list), model.iter().map(|n| n.0.name).collect::<String>());
        }
    }
}
