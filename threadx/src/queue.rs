//! Queues of messages of one type.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicPtr, Ordering};

use threadx_sys::{TX_NO_WAIT, TX_QUEUE, TX_SUCCESS, UINT, ULONG};

use crate::claim::Claim;
use crate::error::check;
use crate::name::Name;
use crate::performance::QueueCounts;
use crate::{Error, Rejected, Timeout, service};

/// Largest message, in bytes: 16 words (User Guide, chapter 3, "Message Queues", "Message Size").
pub const MAX_MESSAGE_SIZE: usize = 16 * size_of::<ULONG>();

/// A message as the kernel copies it: whole words, at least one, the message's own bytes first.
#[repr(C)]
union Slot<T> {
    message: ManuallyDrop<MaybeUninit<T>>,
    /// Gives an empty message a word, and every message a word's alignment.
    word: MaybeUninit<ULONG>,
}

impl<T> Slot<T> {
    const WORDS: usize = {
        let words = size_of::<Self>() / size_of::<ULONG>();
        assert!(words <= 16, "a message has at most 16 words: send a Block of a pool, or a reference");
        words
    };

    const fn empty() -> Self {
        Self { word: MaybeUninit::uninit() }
    }

    const fn new(message: T) -> Self {
        Self { message: ManuallyDrop::new(MaybeUninit::new(message)) }
    }

    /// # Safety
    ///
    /// The slot holds a message, which is moved out: nobody else will take or drop it.
    unsafe fn take(&self) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.message.assume_init_read() }
    }
}

/// A queue of up to `N` messages of type `T` (User Guide, chapter 3, "Message Queues").
///
/// Messages move: a send gives one away or hands it back with its error, a receive makes it the
/// receiver's, and each is dropped exactly once wherever it ends. The kernel copies its bytes from the
/// sender's variable into the queue, or straight to a receiver that waits. A message has at most
/// [`MAX_MESSAGE_SIZE`] bytes, more fails to compile; send a [`Block`](crate::Block) instead. Its size
/// is rounded up to words.
///
/// ```compile_fail,E0080
/// # use threadx::{Queue, Timeout};
/// static QUEUE: Queue<[u8; 65], 4> = Queue::new();
/// let _ = QUEUE.receive(Timeout::NoWait);
/// ```
///
/// A `static`: the kernel links it, so it can neither move nor go away. Until [`Queue::create`], and
/// after [`Queue::delete`], every method returns [`Error::Queue`].
///
/// ```
/// # use core::ops::Range;
/// # struct Btcm;
/// # impl threadx::Region for Btcm {
/// #     const NAME: &'static str = "BTCM";
/// #     fn range() -> Range<usize> { 0..usize::MAX }
/// # }
/// # threadx::stack! { static STACK: Stack<Btcm, 2048>; }
/// use threadx::{Builder, Queue, ThreadCell, Timeout};
///
/// enum Command { Set(u32), Stop }
/// static COMMANDS: Queue<Command, 8> = Queue::new();
/// static WORKER: ThreadCell = ThreadCell::new();
///
/// threadx::host::run(10, |_init| {
///     COMMANDS.create("commands").unwrap();
///     let worker = Builder::new("worker").spawn(&WORKER, STACK.take().unwrap(), || {
///         let mut value = 0;
///         while let Command::Set(new) = COMMANDS.receive(Timeout::Forever).unwrap() {
///             value = new;
///         }
///         assert_eq!(value, 7);
/// #       threadx::host::finish()
///     });
///     worker.unwrap().detach();
///     COMMANDS.try_send(Command::Set(7)).unwrap(); // as an interrupt handler would
///     COMMANDS.try_send(Command::Stop).unwrap();
/// });
/// ```
///
/// # Deletion
///
/// Waiting receivers get [`Error::Deleted`], waiting senders too, with their message. Stored messages
/// are dropped by the thread that deletes. A send that is overtaken by the deletion between two steps
/// may still succeed; its message is then dropped when the queue is created again.
#[repr(C)]
pub struct Queue<T, const N: usize> {
    core: Core<T>,
    ring: UnsafeCell<MaybeUninit<[Slot<T>; N]>>,
}

/// Everything but the memory of the messages, and so the same for every length.
#[repr(C)]
struct Core<T> {
    /// First, so that the kernel's pointer to the control block is a pointer to this.
    control: UnsafeCell<TX_QUEUE>,
    claim: Claim<false>,
    /// A `fn(Receiver<T>)` or null.
    send_notify: AtomicPtr<()>,
    name: UnsafeCell<Name>,
    messages: PhantomData<T>,
}

// SAFETY: `control` is touched by the kernel only, under its own lock; `name` is written by the one
// who has claimed the queue before it is created, and read afterwards. Messages go from one context to
// another, so they must be `Send`; nobody gets a reference to one inside.
unsafe impl<T: Send> Sync for Core<T> {}
// SAFETY: nothing else is tied to a context.
unsafe impl<T: Send> Send for Core<T> {}
// SAFETY: the ring is touched by the kernel only, under its own lock.
unsafe impl<T: Send, const N: usize> Sync for Queue<T, N> {}
// SAFETY: as for the core.
unsafe impl<T: Send, const N: usize> Send for Queue<T, N> {}

/// A snapshot of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct QueueInfo {
    /// Messages stored; those of waiting senders do not count.
    pub messages: u32,
    /// Room for so many more.
    pub free: u32,
    /// How many threads wait, to send or to receive.
    pub waiting: u32,
}

impl<T> Core<T> {
    const fn new() -> Self {
        Self {
            control: UnsafeCell::new(TX_QUEUE::new()),
            claim: Claim::new(),
            send_notify: AtomicPtr::new(null_mut()),
            name: UnsafeCell::new(Name::empty()),
            messages: PhantomData,
        }
    }

    /// The control block, with the provenance of the whole so that the way back is allowed.
    fn control(&'static self) -> *mut TX_QUEUE {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    #[inline(always)]
    fn send(&'static self, message: T, timeout: Timeout) -> Result<(), Rejected<T>> {
        const { assert!(Slot::<T>::WORDS > 0) }
        let slot = Slot::new(message);
        let source = (&raw const slot).cast_mut().cast();
        // SAFETY: control block and claim are this queue's, whose messages have the size of a `Slot<T>`; the
        // service reads one, with its alignment, before it returns. It only reads.
        match unsafe { service::queue_send::<Slot<T>>(self.control(), &self.claim, source, timeout.option()) } {
            Ok(()) => Ok(()),
            // SAFETY: the kernel took no copy of a message it refused, so this is the only one.
            Err(error) => Err(Rejected { error, value: unsafe { slot.take() } }),
        }
    }

    fn send_front(&'static self, message: T, timeout: Timeout) -> Result<(), Rejected<T>> {
        const { assert!(Slot::<T>::WORDS > 0) }
        let slot = Slot::new(message);
        let source = (&raw const slot).cast_mut().cast();
        // SAFETY: the service checks control block and context, and reads one message of `Slot<T>`'s size,
        // with its alignment, from the slot before it returns. It only reads.
        let service = || unsafe { threadx_sys::tx_queue_front_send(self.control(), source, timeout.option()) };
        // SAFETY: as in `send`.
        self.claim.visit(|| check(service())).map_err(|error| Rejected { error, value: unsafe { slot.take() } })
    }

    #[inline(always)]
    fn receive(&'static self, timeout: Timeout) -> Result<T, Error> {
        const { assert!(Slot::<T>::WORDS > 0) }
        let mut slot = Slot::<T>::empty();
        let destination = (&raw mut slot).cast();
        // SAFETY: control block and claim are this queue's, whose messages have the size of a `Slot<T>`; the
        // service writes one into the slot before it returns.
        unsafe { service::queue_receive::<Slot<T>>(self.control(), &self.claim, destination, timeout.option()) }?;
        // SAFETY: the kernel gives each message to one receiver, and with success this is it.
        Ok(unsafe { slot.take() })
    }

    /// A message that is left in a deleted queue, or in one that was never created: none then.
    fn take_left(&'static self) -> Option<T> {
        let mut slot = Slot::<T>::empty();
        // SAFETY: the unchecked service, because the check refuses a deleted queue. That one is empty of
        // waiters, its ring is in place, and neither kernel's delete touches ring or counts, so the
        // step is the same as before the deletion; and under the kernel's lock, so that a receiver
        // whom the deletion has overtaken gets another message. Without a wait nothing is linked.
        let status = unsafe { threadx_sys::_tx_queue_receive(self.control(), (&raw mut slot).cast(), TX_NO_WAIT) };
        // SAFETY: as for `receive`.
        (status == TX_SUCCESS).then(|| unsafe { slot.take() })
    }

    fn info(&'static self) -> Result<QueueInfo, Error> {
        let (mut messages, mut free, mut waiting) = (0, 0, 0);
        // SAFETY: the service checks the control block, writes to valid variables, skips nulls.
        check(unsafe {
            threadx_sys::tx_queue_info_get(
                self.control(),
                null_mut(),
                &raw mut messages,
                &raw mut free,
                null_mut(),
                &raw mut waiting,
                null_mut(),
            )
        })?;
        Ok(QueueInfo { messages, free, waiting })
    }
}

impl<T, const N: usize> Default for Queue<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> Queue<T, N> {
    /// A queue that is not created yet.
    #[must_use]
    pub const fn new() -> Self {
        const {
            assert!(N > 0, "a queue has room for at least one message");
            assert!(N * size_of::<Slot<T>>() <= u32::MAX as usize, "the kernel counts 32 bits of messages");
        }
        Self { core: Core::new(), ring: UnsafeCell::new(MaybeUninit::uninit()) }
    }
}

impl<T: Send, const N: usize> Queue<T, N> {
    /// Creates the queue, empty.
    ///
    /// From initialization and threads.
    ///
    /// # Errors
    ///
    /// [`Error::InUse`] if it exists; [`Error::Caller`] elsewhere and before the kernel is started.
    pub fn create(&'static self, name: &'static str) -> Result<(), Error> {
        let core = &self.core;
        core.claim.take()?;
        loop {
            // One step for threads, see `Claim`, and so that no message can come into the deleted queue
            // between the last look and the creation, which forgets it.
            let step = critical_section::with(|_| {
                if let Some(left) = core.take_left() {
                    return Err(left);
                }
                core.send_notify.store(null_mut(), Ordering::Release);
                // SAFETY: claimed and not created: nobody else looks at the name.
                unsafe { *core.name.get() = Name::new(name) };
                // SAFETY: the control block is `'static` and not created; name and ring stay in place
                // until the queue is deleted, and the ring is the kernel's alone.
                let status = unsafe {
                    threadx_sys::tx_queue_create(
                        core.control(),
                        (*core.name.get()).as_c(),
                        Slot::<T>::WORDS as UINT,
                        self.ring.get().cast(),
                        size_of::<[Slot<T>; N]>() as ULONG,
                    )
                };
                Ok(core.claim.created(check(status)))
            });
            match step {
                Ok(created) => return created,
                // Outside the critical section: dropping a message may take long, or call services.
                Err(left) => drop(left),
            }
        }
    }

    /// Deletes the queue, see [`Queue`].
    ///
    /// From threads.
    ///
    /// # Errors
    ///
    /// [`Error::Queue`], [`Error::Caller`].
    pub fn delete(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        self.core.claim.delete(Error::Queue, || check(unsafe { threadx_sys::tx_queue_delete(self.core.control()) }))?;
        while let Some(left) = self.core.take_left() {
            drop(left);
        }
        self.core.claim.release();
        Ok(())
    }

    /// Appends a message, waiting for room as long as `timeout` says.
    ///
    /// `Ok` means that the message is the queue's, not that somebody will receive it.
    ///
    /// From any context with [`Timeout::NoWait`], else from threads.
    ///
    /// # Errors
    ///
    /// The message, with
    /// * [`Error::QueueFull`]: no room in time; inside a critical section at once.
    /// * [`Error::Wait`]: a wait outside threads.
    /// * [`Error::Deleted`], [`Error::WaitAborted`]: the wait ended early.
    /// * [`Error::Queue`].
    #[inline(always)]
    pub fn send(&'static self, message: T, timeout: impl Into<Timeout>) -> Result<(), Rejected<T>> {
        self.core.send(message, timeout.into())
    }

    /// [`Queue::send`] without a wait. From any context.
    ///
    /// # Errors
    ///
    /// The message, with [`Error::QueueFull`] or [`Error::Queue`].
    #[inline(always)]
    pub fn try_send(&'static self, message: T) -> Result<(), Rejected<T>> {
        self.core.send(message, Timeout::NoWait)
    }

    /// [`Queue::send`] to the front: the message is received before all others. If it must wait, it is
    /// first among the waiting senders, and handed to the next receiver.
    ///
    /// From any context with [`Timeout::NoWait`], else from threads.
    ///
    /// # Errors
    ///
    /// As [`Queue::send`].
    pub fn send_front(&'static self, message: T, timeout: impl Into<Timeout>) -> Result<(), Rejected<T>> {
        self.core.send_front(message, timeout.into())
    }

    /// [`Queue::send_front`] without a wait. From any context.
    ///
    /// # Errors
    ///
    /// As [`Queue::try_send`].
    pub fn try_send_front(&'static self, message: T) -> Result<(), Rejected<T>> {
        self.core.send_front(message, Timeout::NoWait)
    }

    /// Takes the oldest message, waiting for one as long as `timeout` says.
    ///
    /// From any context with [`Timeout::NoWait`], else from threads.
    ///
    /// # Errors
    ///
    /// * [`Error::QueueEmpty`]: none in time; inside a critical section at once.
    /// * [`Error::Wait`]: a wait outside threads.
    /// * [`Error::Deleted`], [`Error::WaitAborted`]: the wait ended early.
    /// * [`Error::Queue`].
    #[inline(always)]
    pub fn receive(&'static self, timeout: impl Into<Timeout>) -> Result<T, Error> {
        self.core.receive(timeout.into())
    }

    /// [`Queue::receive`] without a wait. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::QueueEmpty`], [`Error::Queue`].
    #[inline(always)]
    pub fn try_receive(&'static self) -> Result<T, Error> {
        self.core.receive(Timeout::NoWait)
    }

    /// Drops the messages that are in the queue now, and those of senders that wait now, whose sends
    /// succeed. Returns how many.
    ///
    /// The kernel's flush would forget them without a drop, so this receives them; it is not one step
    /// for others.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Queue`].
    pub fn flush(&'static self) -> Result<u32, Error> {
        let QueueInfo { messages, waiting, .. } = self.info()?;
        // Who waits on an empty queue is no sender.
        let limit = if messages == 0 { 0 } else { messages + waiting };
        let mut dropped = 0;
        while dropped < limit {
            match self.try_receive() {
                Ok(message) => drop(message),
                Err(Error::QueueEmpty) => break,
                Err(error) => return Err(error),
            }
            dropped += 1;
        }
        Ok(dropped)
    }

    /// Moves the first of the highest-priority waiting threads to the front, once.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Queue`].
    pub fn prioritize(&'static self) -> Result<(), Error> {
        // SAFETY: the service checks the control block.
        critical_section::with(|_| check(unsafe { threadx_sys::tx_queue_prioritize(self.core.control()) }))
    }

    /// Has `notify` called after each send, in the sender's context, when the message is in the queue
    /// or with a receiver that waited; `None` ends that. It is forgotten when the queue is deleted.
    ///
    /// From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Queue`].
    pub fn set_send_notify(&'static self, notify: Option<fn(Receiver<T>)>) -> Result<(), Error> {
        unsafe extern "C-unwind" fn trampoline<T: Send + 'static>(control: *mut TX_QUEUE) {
            // SAFETY: registered for queues in a `'static Core<T>` only, whose first field the control
            // block is; the kernel got the pointer from `Core::control`.
            let core: &'static Core<T> = unsafe { &*control.cast::<Core<T>>() };
            let notify = core.send_notify.load(Ordering::Acquire);
            if !notify.is_null() {
                // SAFETY: what is stored and not null is such a function.
                let notify = unsafe { core::mem::transmute::<*mut (), fn(Receiver<T>)>(notify) };
                notify(Receiver { core });
            }
        }
        let core = &self.core;
        // One step for everybody else, so that function and registration belong together.
        critical_section::with(|_| {
            let registered = notify.map(|_| trampoline::<T> as threadx_sys::QueueNotify);
            // SAFETY: the service checks the control block; the trampoline stays for ever.
            check(unsafe { threadx_sys::tx_queue_send_notify(core.control(), registered) })?;
            core.send_notify.store(notify.map_or(null_mut(), |notify| notify as *mut ()), Ordering::Release);
            Ok(())
        })
    }

    /// A snapshot of messages and waiting threads. From any context.
    ///
    /// # Errors
    ///
    /// [`Error::Queue`].
    pub fn info(&'static self) -> Result<QueueInfo, Error> {
        self.core.info()
    }

    /// What was counted, see [`performance`](crate::performance). From any context.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureNotEnabled`], [`Error::Queue`].
    pub fn performance(&'static self) -> Result<QueueCounts, Error> {
        QueueCounts::of(self.core.control())
    }

    /// The queue's sending end, which does not name its length.
    #[must_use]
    pub const fn sender(&'static self) -> Sender<T> {
        Sender { core: &self.core }
    }

    /// The queue's receiving end, which does not name its length.
    #[must_use]
    pub const fn receiver(&'static self) -> Receiver<T> {
        Receiver { core: &self.core }
    }
}

macro_rules! end {
    ($(#[$doc:meta])* $End:ident) => {
        $(#[$doc])*
        pub struct $End<T: 'static> {
            core: &'static Core<T>,
        }

        impl<T> Clone for $End<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $End<T> {}

        impl<T> PartialEq for $End<T> {
            fn eq(&self, other: &Self) -> bool {
                core::ptr::eq(self.core, other.core)
            }
        }

        impl<T> Eq for $End<T> {}

        impl<T> fmt::Debug for $End<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // Nothing of the queue is read: it may be changing.
                let address: *mut () = without_provenance_mut(core::ptr::from_ref(self.core).addr());
                f.debug_tuple(stringify!($End)).field(&address).finish()
            }
        }
    };
}

end! {
    /// Sends to a [`Queue`] of any length. Copies are cheap and keep nothing alive.
    Sender
}
end! {
    /// Receives from a [`Queue`] of any length. Copies are cheap and keep nothing alive.
    Receiver
}

impl<T: Send> Sender<T> {
    /// As [`Queue::send`].
    ///
    /// # Errors
    ///
    /// As [`Queue::send`].
    #[inline(always)]
    pub fn send(self, message: T, timeout: impl Into<Timeout>) -> Result<(), Rejected<T>> {
        self.core.send(message, timeout.into())
    }

    /// As [`Queue::try_send`].
    ///
    /// # Errors
    ///
    /// As [`Queue::try_send`].
    #[inline(always)]
    pub fn try_send(self, message: T) -> Result<(), Rejected<T>> {
        self.core.send(message, Timeout::NoWait)
    }
}

impl<T: Send> Receiver<T> {
    /// As [`Queue::receive`].
    ///
    /// # Errors
    ///
    /// As [`Queue::receive`].
    #[inline(always)]
    pub fn receive(self, timeout: impl Into<Timeout>) -> Result<T, Error> {
        self.core.receive(timeout.into())
    }

    /// As [`Queue::try_receive`].
    ///
    /// # Errors
    ///
    /// As [`Queue::try_receive`].
    #[inline(always)]
    pub fn try_receive(self) -> Result<T, Error> {
        self.core.receive(Timeout::NoWait)
    }

    /// As [`Queue::info`].
    ///
    /// # Errors
    ///
    /// As [`Queue::info`].
    pub fn info(self) -> Result<QueueInfo, Error> {
        self.core.info()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Region, ThreadCell, host};
    use core::sync::atomic::AtomicU32;

    struct Anywhere;
    impl Region for Anywhere {
        const NAME: &'static str = "ANYWHERE";
        fn range() -> core::ops::Range<usize> {
            0..usize::MAX
        }
    }

    struct Counted(&'static AtomicU32);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn messages_are_whole_words() {
        const fn words<T>() -> usize {
            Slot::<T>::WORDS
        }
        assert_eq!((words::<()>(), words::<u8>(), words::<[u8; 3]>(), words::<u32>()), (1, 1, 1, 1));
        assert_eq!((words::<[u8; 5]>(), words::<[u32; 3]>(), words::<u64>()), (2, 3, 2));
        assert_eq!((words::<[u8; 64]>(), words::<(u8, u64)>()), (16, 4));
        assert!(align_of::<Slot<u8>>() == 4 && align_of::<Slot<u64>>() == align_of::<u64>());
    }

    #[test]
    fn a_message_that_came_after_the_deletion_is_dropped_at_the_next_creation() {
        crate::stack! { static STACK: Stack<Anywhere, 1024>; }
        static MAIN: ThreadCell = ThreadCell::new();
        static Q: Queue<Counted, 2> = Queue::new();
        static DROPPED: AtomicU32 = AtomicU32::new(0);
        let main = || {
            Q.create("queue").unwrap();
            assert!(Q.try_send(Counted(&DROPPED)).is_ok());
            Q.delete().unwrap();
            assert_eq!(DROPPED.load(Ordering::SeqCst), 1);
            // What a sender does that was preempted between the service's check and its lock.
            let late = ManuallyDrop::new(Slot::new(Counted(&DROPPED)));
            let source = (&raw const late).cast_mut().cast();
            // SAFETY: a message of the queue's size; see `take_left`.
            let sent = unsafe { threadx_sys::_tx_queue_send(Q.core.control(), source, TX_NO_WAIT) };
            assert_eq!((sent, DROPPED.load(Ordering::SeqCst)), (TX_SUCCESS, 1));
            Q.create("queue").unwrap();
            assert_eq!(DROPPED.load(Ordering::SeqCst), 2);
            assert_eq!(Q.info().unwrap().messages, 0);
            host::finish()
        };
        let outcome =
            host::run(10, |_| Builder::new("main").spawn(&MAIN, STACK.take().unwrap(), main).unwrap().detach());
        assert_eq!(outcome, host::Outcome::Finished);
    }
}
