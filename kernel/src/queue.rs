//! Message queues.
//!
//! A ring of messages, each of 1 to 16 words. Who waits follows from the ring: senders only while it is
//! full, receivers only while it is empty. The one exception is a flush, which empties the ring before it
//! has let the last blocked sender go; an interrupt handler that comes in between finds senders waiting on
//! a queue that has room, and leaves them to the flush.
//!
//! A blocked front sender waits at the head of the others and hands its message straight to the next
//! receiver; it overtakes the stored messages and is never stored itself.

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr::{null, null_mut};

use crate::kernel::{Locked, lock, set_bits};
use crate::list::{LinkKind, Links};
use crate::object_ref;
use crate::performance::{QueueCounters, TOTALS, bump, count_call};
use crate::port;
use crate::thread::Thread;
use crate::types::*;
use crate::wait::{Caller, Wait, WaitQueue};

pub(crate) const QUEUE_ID: u32 = crate::types::tag(0xA6);
static RECEIVER_WAIT: Wait = Wait::new(TX_QUEUE_SUSP, TX_QUEUE_EMPTY);
static SENDER_WAIT: Wait = Wait::new(TX_QUEUE_SUSP, TX_QUEUE_FULL);
static FRONT_SENDER_WAIT: Wait = Wait::first(TX_QUEUE_SUSP, TX_QUEUE_FULL);
/// Largest message, in words.
pub(crate) const MAX_MESSAGE: UINT = 16;
/// In place of a type of messages: only the queue knows how many words they have.
pub(crate) type AnySize = ();

/// How a sender waits at a full queue, kept in its `wait_option`.
mod role {
    pub(super) const SENDER: u8 = 1;
    pub(super) const FRONT_SENDER: u8 = 2;
}

/// What makes a send more than the store of a message or a wake: bits of [`TX_QUEUE::special`].
mod special {
    /// There is a send notification.
    pub(super) const NOTIFY: u8 = 1;
    /// A flush has emptied the ring and not yet woken the last sender.
    pub(super) const FLUSH: u8 = 2;
}

/// Control block of a queue. Same rules as for [`crate::TX_THREAD`].
#[repr(C)]
pub struct TX_QUEUE {
    /// First: the address of one is that of the other.
    pub(crate) waiters: WaitQueue,
    pub(crate) id: Cell<ULONG>,
    // Not beside one another: the compiler would load both as a pair, which takes a register more, and
    // with it a frame.
    capacity: Cell<UINT>,
    /// Words of a message.
    message_size: Cell<UINT>,
    enqueued: Cell<UINT>,
    /// The ring: from `start` up to, not including, `end`.
    start: Cell<*mut ULONG>,
    end: Cell<*mut ULONG>,
    /// The oldest message.
    read: Cell<*mut ULONG>,
    /// Behind the newest.
    write: Cell<*mut ULONG>,
    send_notify: Cell<Option<QueueNotify>>,
    special: Cell<u8>,
    name: Cell<*const CHAR>,
    created_links: Links<Queue>,
    pub(crate) performance: QueueCounters,
}

// SAFETY: reached only with the kernel locked.
unsafe impl Sync for TX_QUEUE {}
// SAFETY: as for `Sync`.
unsafe impl Send for TX_QUEUE {}

object_ref! {
    /// A created queue.
    Queue -> TX_QUEUE
}

pub(crate) struct CreatedQueue;
impl LinkKind<Queue> for CreatedQueue {
    fn links(node: &Queue) -> &Links<Queue> {
        &node.created_links
    }
}

impl TX_QUEUE {
    /// A control block that no kernel knows yet.
    pub const fn new() -> Self {
        Self {
            id: Cell::new(0),
            message_size: Cell::new(0),
            capacity: Cell::new(0),
            enqueued: Cell::new(0),
            start: Cell::new(null_mut()),
            end: Cell::new(null_mut()),
            read: Cell::new(null_mut()),
            write: Cell::new(null_mut()),
            waiters: WaitQueue::closed(TX_QUEUE_ERROR),
            send_notify: Cell::new(None),
            special: Cell::new(0),
            name: Cell::new(null()),
            created_links: Links::new(),
            performance: QueueCounters::new(),
        }
    }
}

/// A snapshot of a queue.
pub(crate) struct QueueInfo {
    pub(crate) name: *const CHAR,
    pub(crate) enqueued: ULONG,
    pub(crate) available: ULONG,
    pub(crate) first: Option<Thread>,
    pub(crate) waiting: ULONG,
    pub(crate) next: Option<Queue>,
}

/// Words of an `M`.
const fn words_of<M>() -> usize {
    size_of::<M>() / size_of::<ULONG>()
}

/// Copies one message of `words` words, at least one: those of an `M`, unless that is [`AnySize`].
///
/// # Safety
///
/// `from` is readable and `to` writable for that many words, both are aligned, and they do not overlap.
/// The words may be uninitialised: a message may have padding.
#[inline(always)]
unsafe fn copy<M>(from: *const ULONG, to: *mut ULONG, words: UINT) {
    let (from, to) = (from.cast::<MaybeUninit<ULONG>>(), to.cast::<MaybeUninit<ULONG>>());
    if size_of::<M>() != 0 {
        // SAFETY: the caller's promise. Of so few words the compiler makes no library call.
        unsafe { to.copy_from_nonoverlapping(from, words_of::<M>()) };
        return;
    }
    // SAFETY: the caller's promise. Volatile keeps the loop a loop: the library call that the
    // compiler would make of it costs more than most messages.
    unsafe {
        to.write(from.read());
        let mut at = 1;
        while at < words as usize {
            to.add(at).write(from.add(at).read_volatile());
            at += 1;
        }
    }
}

impl Queue {
    /// # Safety
    ///
    /// `start` is the start of `bytes` bytes, aligned for words, that belong to this queue alone until
    /// it is deleted; a message of `message_size` words, 1 to 16, fits in.
    pub(crate) unsafe fn create(self, name: *const CHAR, message_size: UINT, start: *mut ULONG, bytes: ULONG) {
        let capacity = bytes / (message_size * size_of::<ULONG>() as ULONG);
        self.name.set(name);
        self.message_size.set(message_size);
        self.capacity.set(capacity);
        self.start.set(start);
        self.end.set(start.wrapping_add((capacity * message_size) as usize));
        self.read.set(start);
        self.write.set(start);
        let k = lock();
        self.waiters.open();
        self.id.set(QUEUE_ID);
        k.queues.push_back(self);
    }

    /// Words of a message, which the caller may know already.
    #[inline(always)]
    fn words<M>(self) -> UINT {
        if size_of::<M>() == 0 {
            return self.message_size.get();
        }
        debug_assert!(self.message_size.get() as usize == words_of::<M>());
        words_of::<M>() as UINT
    }

    /// The slot behind `slot`, `words` being the message size.
    #[inline(always)]
    fn following(self, slot: *mut ULONG, words: UINT) -> *mut ULONG {
        let next = slot.wrapping_add(words as usize);
        if next == self.end.get() { self.start.get() } else { next }
    }

    #[inline(always)]
    fn store<M>(self, source: *const ULONG) {
        let (slot, words) = (self.write.get(), self.words::<M>());
        // Set first: what the copy writes might be this block, for all the compiler knows.
        self.write.set(self.following(slot, words));
        // SAFETY: the ring is not full, so `write` was a free slot; the sender, which runs or waits,
        // vouched for the source.
        unsafe { copy::<M>(source, slot, words) };
    }

    #[inline(always)]
    fn fetch<M>(self, destination: *mut ULONG) {
        let (slot, words) = (self.read.get(), self.words::<M>());
        self.read.set(self.following(slot, words));
        // SAFETY: the ring is not empty, so `read` was a stored message; the receiver vouched for the
        // destination.
        unsafe { copy::<M>(slot, destination, words) };
    }

    /// # Safety
    ///
    /// `source` is readable for one message of this queue until this returns. `M` is [`AnySize`]
    /// or has as many words.
    #[inline(always)]
    pub(crate) unsafe fn send<M>(self, source: *const ULONG, wait: ULONG, k: Locked, caller: impl Caller) -> UINT {
        count_call(&self.performance.sent, &TOTALS.queues.sent, caller);
        let enqueued = self.enqueued.get();
        if self.special.get() == 0 {
            if enqueued == 0 {
                if let Some(receiver) = self.waiters.first() {
                    // Who waits on an empty queue is a receiver.
                    if !caller.admit_beside_waiter() {
                        return caller.refuse(k);
                    }
                    return self.send_to::<M>(source, receiver, k);
                }
            } else if enqueued == self.capacity.get() {
                return self.send_later(source, wait, k, caller);
            }
            if !caller.admit() {
                return caller.refuse(k);
            }
            self.enqueued.set(enqueued + 1);
            self.store::<M>(source);
            return TX_SUCCESS;
        }
        self.send_later(source, wait, k, caller)
    }

    /// The send that is more than the store of a message or a wake.
    #[inline(always)]
    fn send_later(self, source: *const ULONG, wait: ULONG, k: Locked, caller: impl Caller) -> UINT {
        if !caller.admit() {
            return caller.refuse(k);
        }
        self.send_any::<false>(source, wait, k).into()
    }

    /// # Safety
    ///
    /// As for [`Self::send`].
    pub(crate) unsafe fn front_send(self, source: *const ULONG, wait: ULONG) -> UINT {
        let k = lock();
        bump(&self.performance.sent, &TOTALS.queues.sent);
        self.send_any::<true>(source, wait, k).into()
    }

    /// Gives a message to `receiver`, the first waiter.
    #[inline(always)]
    fn send_to<M>(self, source: *const ULONG, receiver: Thread, k: Locked) -> UINT {
        if size_of::<M>() == 0 {
            return self.send_any_size_to(source, receiver, k);
        }
        // SAFETY: the receiver, which waits, vouched for its destination, the sender for the source.
        unsafe { copy::<M>(source, receiver.wait_memory.get(), self.words::<M>()) };
        Locked::grant(&self.waiters, receiver, k)
    }

    #[inline(never)]
    fn send_any_size_to(self, source: *const ULONG, receiver: Thread, k: Locked) -> UINT {
        if self.message_size.get() != 1 {
            return self.send_words_to(source, receiver, k).into();
        }
        // SAFETY: the receiver, which waits, vouched for its destination, the sender for the source; one
        // word, which may be uninitialised.
        unsafe {
            receiver.wait_memory.get().cast::<MaybeUninit<ULONG>>().write(source.cast::<MaybeUninit<ULONG>>().read())
        };
        Locked::grant_here(&self.waiters, receiver, k)
    }

    /// [`Self::send_to`] of a message of any length.
    #[inline(never)]
    fn send_words_to(self, source: *const ULONG, receiver: Thread, k: Locked) -> Code {
        // SAFETY: as in `send_to`.
        unsafe { copy::<AnySize>(source, receiver.wait_memory.get(), self.message_size.get()) };
        Locked::grant_here(&self.waiters, receiver, k) as Code
    }

    #[inline(never)]
    fn send_any<const FRONT: bool>(self, source: *const ULONG, wait: ULONG, k: Locked) -> Code {
        let enqueued = self.enqueued.get();
        if enqueued == self.capacity.get() {
            if !FRONT && wait == TX_NO_WAIT {
                bump(&self.performance.full_errors, &TOTALS.queues.full_errors);
            }
            let Some(thread) = k.may_wait(wait) else { return TX_QUEUE_FULL as Code };
            thread.wait_memory.set(source.cast_mut());
            thread.wait_option.set(if FRONT { role::FRONT_SENDER } else { role::SENDER });
            let kind = if FRONT { &FRONT_SENDER_WAIT } else { &SENDER_WAIT };
            // Before the wait: after it the queue may be gone.
            let Some(notify) = self.send_notify.get() else {
                return Locked::suspend_in(&self.waiters, wait, kind, k) as Code;
            };
            let status = Locked::suspend_in(&self.waiters, wait, kind, k) as Code;
            if status == TX_SUCCESS as Code {
                self.call(notify);
            }
            return status;
        }
        let notify = self.send_notify.get();
        if notify.is_some() {
            // The notification belongs to this send: it runs before the receiver does.
            k.disable_preemption();
        }
        match self.waiters.first() {
            Some(receiver) if enqueued == 0 && self.special.get() & special::FLUSH == 0 => {
                // SAFETY: the receiver, which waits, vouched for its destination, the sender for the
                // source.
                unsafe { copy::<AnySize>(source, receiver.wait_memory.get(), self.message_size.get()) };
                k.wake(receiver, TX_SUCCESS);
            }
            _ => {
                self.enqueued.set(enqueued + 1);
                if FRONT {
                    let read = self.read.get();
                    let behind = if read == self.start.get() { self.end.get() } else { read };
                    let slot = behind.wrapping_sub(self.message_size.get() as usize);
                    // SAFETY: the ring is not full, so the slot before `read` is free.
                    unsafe { copy::<AnySize>(source, slot, self.message_size.get()) };
                    self.read.set(slot);
                } else {
                    self.store::<AnySize>(source);
                }
            }
        }
        if let Some(notify) = notify {
            drop(k);
            self.call(notify);
            lock().enable_preemption();
        }
        TX_SUCCESS as Code
    }

    /// Registers the send notification, or none.
    pub(crate) fn notify(self, notify: Option<QueueNotify>) {
        let _k = lock();
        self.send_notify.set(notify);
        set_bits(&self.special, special::NOTIFY, notify.is_some());
    }

    /// Calls the send notification. The kernel is unlocked.
    fn call(self, notify: QueueNotify) {
        // SAFETY: registered through `tx_queue_send_notify`, whose caller vouches for the function and
        // for the queue existing while its senders run.
        unsafe { notify(self.as_ptr()) };
    }

    /// # Safety
    ///
    /// `destination` is writable for one message of this queue until this returns. `M` is
    /// [`AnySize`] or has as many words.
    #[inline(always)]
    pub(crate) unsafe fn receive<M>(
        self,
        destination: *mut ULONG,
        wait: ULONG,
        k: Locked,
        caller: impl Caller,
    ) -> UINT {
        count_call(&self.performance.received, &TOTALS.queues.received, caller);
        let enqueued = self.enqueued.get();
        if enqueued != 0 {
            if self.waiters.first().is_none() {
                if size_of::<M>() == 0 {
                    return self.receive_from_ring(destination, k);
                }
                if !caller.admit() {
                    return caller.refuse(k);
                }
                self.enqueued.set(enqueued - 1);
                self.fetch::<M>(destination);
                return TX_SUCCESS;
            }
        } else if wait == TX_WAIT_FOREVER {
            return self.receive_later(destination, wait, k);
        }
        if !caller.admit() {
            return caller.refuse(k);
        }
        self.receive_any(destination, wait, k).into()
    }

    /// Fetches a message from the ring, which is not empty.
    #[inline(never)]
    fn receive_from_ring(self, destination: *mut ULONG, _k: Locked) -> UINT {
        self.enqueued.set(self.enqueued.get() - 1);
        self.fetch::<AnySize>(destination);
        port::success()
    }

    /// Waits for a message without limit.
    #[inline(never)]
    fn receive_later(self, destination: *mut ULONG, forever: ULONG, k: Locked) -> UINT {
        match port::plain() {
            Some(thread) => {
                thread.wait_memory.set(destination);
                Locked::suspend_plain_in(thread, &self.waiters, forever, &RECEIVER_WAIT, k)
            }
            None => self.receive_later_any(destination, forever, k),
        }
    }

    /// [`Self::receive_later`] where something is special about the caller.
    #[inline(never)]
    fn receive_later_any(self, destination: *mut ULONG, forever: ULONG, k: Locked) -> UINT {
        self.receive_any(destination, forever, k).into()
    }

    #[inline(never)]
    fn receive_any(self, destination: *mut ULONG, wait: ULONG, k: Locked) -> Code {
        let enqueued = self.enqueued.get();
        if enqueued == 0 {
            let Some(thread) = k.may_wait(wait) else { return TX_QUEUE_EMPTY as Code };
            thread.wait_memory.set(destination);
            return Locked::suspend_in(&self.waiters, wait, &RECEIVER_WAIT, k) as Code;
        }
        match self.waiters.first() {
            Some(sender) if enqueued == self.capacity.get() => {
                let source = sender.wait_memory.get();
                if sender.wait_option.get() == role::FRONT_SENDER {
                    // SAFETY: the sender, which waits, vouched for its source, the receiver for the
                    // destination.
                    unsafe { copy::<AnySize>(source, destination, self.message_size.get()) };
                } else {
                    // The ring is full, so the slot that the fetch frees is the one `write` is at.
                    self.fetch::<AnySize>(destination);
                    self.store::<AnySize>(source);
                }
                return Locked::grant(&self.waiters, sender, k) as Code;
            }
            _ => {
                self.enqueued.set(enqueued - 1);
                self.fetch::<AnySize>(destination);
            }
        }
        TX_SUCCESS as Code
    }

    /// Discards all messages, those of blocked senders included; their calls succeed.
    pub(crate) fn flush(self) -> UINT {
        let k = lock();
        if self.enqueued.get() != 0 {
            self.enqueued.set(0);
            self.read.set(self.start.get());
            self.write.set(self.start.get());
            k.disable_preemption();
            set_bits(&self.special, special::FLUSH, true);
            k.wake_all(&self.waiters, TX_SUCCESS);
            set_bits(&self.special, special::FLUSH, false);
            k.enable_preemption();
        }
        TX_SUCCESS
    }

    /// Wakes all waiters with `TX_DELETED`.
    pub(crate) fn delete(self) -> UINT {
        let k = lock();
        self.id.set(0);
        self.waiters.close(TX_QUEUE_ERROR);
        k.queues.remove(self);
        k.disable_preemption();
        k.wake_all(&self.waiters, TX_DELETED);
        k.enable_preemption();
        TX_SUCCESS
    }

    pub(crate) fn prioritize(self) -> UINT {
        let _k = lock();
        self.waiters.prioritize();
        TX_SUCCESS
    }

    pub(crate) fn info(self) -> QueueInfo {
        let _k = lock();
        QueueInfo {
            name: self.name.get(),
            enqueued: self.enqueued.get(),
            available: self.capacity.get() - self.enqueued.get(),
            first: self.waiters.first(),
            waiting: self.waiters.len(),
            next: self.created_links.next(),
        }
    }

    fn check(self) -> Result<(), &'static str> {
        self.waiters.check(TX_QUEUE_SUSP)?;
        let stored = self.enqueued.get();
        let words = (self.write.get() as usize).wrapping_sub(self.read.get() as usize) / size_of::<ULONG>();
        let ring = (self.capacity.get() * self.message_size.get()) as usize;
        let expected = (stored * self.message_size.get()) as usize;
        if stored > self.capacity.get() {
            return Err("a queue holds more than it can");
        }
        let distance = if self.write.get() < self.read.get() {
            ring - (self.read.get() as usize - self.write.get() as usize) / size_of::<ULONG>()
        } else {
            words
        };
        if distance != expected % ring {
            return Err("a queue's ends and its count disagree");
        }
        if self.waiters.first().is_some() && stored != 0 && stored != self.capacity.get() {
            return Err("a thread waits on a queue that could serve it");
        }
        if self.special.get() & special::FLUSH != 0 || (self.special.get() != 0) != self.send_notify.get().is_some() {
            return Err("a queue is special without a reason");
        }
        Ok(())
    }
}

impl Locked {
    pub(crate) fn has_queue(&self, queue: Queue) -> bool {
        self.queues.contains(queue)
    }

    /// Checks rings and waiters of all queues.
    pub(crate) fn check_queues(&self) -> Result<(), &'static str> {
        let mut result = Ok(());
        self.queues.for_each(|q| result = result.and(q.check()));
        result
    }
}
