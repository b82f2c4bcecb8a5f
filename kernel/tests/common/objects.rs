//! Handles of mutexes, event flags, queues and pools, as those in the parent module.

use std::ptr::null_mut;

use super::{Thread, c_api, leak_name, result, service};
use kernel::*;

fn name_of(name: *mut CHAR) -> Option<String> {
    // SAFETY: names are null or leaked C strings of these tests.
    (!name.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

macro_rules! handle {
    ($(#[$doc:meta])* $Handle:ident -> $Block:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $Handle(pub *mut $Block);
        // SAFETY: an address; the block behind it is reached through the kernel.
        unsafe impl Send for $Handle {}
        // SAFETY: as above.
        unsafe impl Sync for $Handle {}

        impl $Handle {
            pub const SIZE: UINT = size_of::<$Block>() as UINT;

            /// A block that no kernel knows.
            pub fn blank() -> Self {
                Self(Box::into_raw(Box::new($Block::new())))
            }
        }
    };
}

/// Memory for an object, leaked, aligned for pointers, zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    pub start: *mut u8,
    pub size: usize,
}
// SAFETY: an address and a size; what they lead to is used by the kernel and by code that holds the
// host's baton.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub fn new(size: usize) -> Self {
        let start = Box::leak(vec![0u64; size.div_ceil(8)].into_boxed_slice()).as_mut_ptr().cast();
        Self { start, size }
    }

    /// For closures, which would capture the bare pointer otherwise.
    pub fn ptr(self) -> *mut u8 {
        self.start
    }

    pub fn contains(self, ptr: *mut VOID, bytes: usize) -> bool {
        let (start, at) = (self.start as usize, ptr as usize);
        start <= at && at + bytes <= start + self.size
    }
}

/// What a pool gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece(pub *mut VOID);
// SAFETY: an address; what it leads to is used by the script that was given it.
unsafe impl Send for Piece {}
// SAFETY: as above.
unsafe impl Sync for Piece {}

impl Piece {
    pub fn fill(self, bytes: usize, value: u8) {
        // SAFETY: the tests only name as many bytes as they allocated.
        unsafe { std::ptr::write_bytes(self.0.cast::<u8>(), value, bytes) };
    }

    pub fn is_filled(self, bytes: usize, value: u8) -> bool {
        // SAFETY: as above.
        (0..bytes).all(|at| unsafe { self.0.cast::<u8>().add(at).read() } == value)
    }

    pub fn offset(self, bytes: isize) -> Self {
        Self(self.0.wrapping_byte_offset(bytes))
    }
}

// ---- mutexes -----------------------------------------------------------------------------------

handle! {
    /// A mutex control block, created or not.
    TxMutex -> TX_MUTEX
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutexInfo {
    pub name: Option<String>,
    pub count: ULONG,
    pub owner: Thread,
    pub first: Thread,
    pub waiting: ULONG,
    pub next: TxMutex,
}

impl TxMutex {
    /// Creates a mutex; the service must succeed.
    #[track_caller]
    pub fn new(inherit: UINT) -> Self {
        let mutex = Self::blank();
        assert_eq!(mutex.create(inherit), TX_SUCCESS);
        mutex
    }

    pub fn create(self, inherit: UINT) -> UINT {
        service!(_txe_mutex_create(self.0, null_mut(), inherit, Self::SIZE))
    }

    pub fn create_named(self, name: &str, inherit: UINT) -> UINT {
        service!(_txe_mutex_create(self.0, leak_name(name), inherit, Self::SIZE))
    }

    pub fn get(self, wait: ULONG) -> UINT {
        service!(_txe_mutex_get(self.0, wait))
    }

    pub fn get_unchecked(self, wait: ULONG) -> UINT {
        service!(_tx_mutex_get(self.0, wait))
    }

    pub fn put(self) -> UINT {
        service!(_txe_mutex_put(self.0))
    }

    pub fn put_unchecked(self) -> UINT {
        service!(_tx_mutex_put(self.0))
    }

    pub fn delete(self) -> UINT {
        service!(_txe_mutex_delete(self.0))
    }

    pub fn prioritize(self) -> UINT {
        service!(_txe_mutex_prioritize(self.0))
    }

    pub fn info(self) -> MutexInfo {
        let (mut name, mut owner, mut first, mut next) = (null_mut(), null_mut(), null_mut(), null_mut());
        let (mut count, mut waiting) = (0, 0);
        let status = service!(_txe_mutex_info_get(
            self.0,
            &mut name,
            &mut count,
            &mut owner,
            &mut first,
            &mut waiting,
            &mut next,
        ));
        assert_eq!(status, TX_SUCCESS);
        MutexInfo {
            name: name_of(name),
            count,
            owner: Thread(owner),
            first: Thread(first),
            waiting,
            next: TxMutex(next),
        }
    }

    pub fn owner(self) -> Thread {
        self.info().owner
    }
}

// ---- event flags -------------------------------------------------------------------------------

handle! {
    /// An event flags control block, created or not.
    EventFlags -> TX_EVENT_FLAGS_GROUP
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFlagsInfo {
    pub name: Option<String>,
    pub flags: ULONG,
    pub first: Thread,
    pub waiting: ULONG,
    pub next: EventFlags,
}

impl EventFlags {
    /// Creates a group with these flags set; the services must succeed.
    #[track_caller]
    pub fn new(flags: ULONG) -> Self {
        let group = Self::blank();
        assert_eq!(group.create(), TX_SUCCESS);
        assert_eq!(group.set(flags, TX_OR), TX_SUCCESS);
        group
    }

    pub fn create(self) -> UINT {
        service!(_txe_event_flags_create(self.0, null_mut(), Self::SIZE))
    }

    pub fn create_named(self, name: &str) -> UINT {
        service!(_txe_event_flags_create(self.0, leak_name(name), Self::SIZE))
    }

    /// Status and the output, which was 0x55 before.
    pub fn get(self, requested: ULONG, option: UINT, wait: ULONG) -> (UINT, ULONG) {
        let mut actual = 0x55;
        let status = service!(_txe_event_flags_get(self.0, requested, option, &mut actual, wait));
        (status, actual)
    }

    pub fn set(self, flags: ULONG, option: UINT) -> UINT {
        service!(_txe_event_flags_set(self.0, flags, option))
    }

    pub fn set_notify(self, notify: Option<EventFlagsNotify>) -> UINT {
        service!(_txe_event_flags_set_notify(self.0, notify))
    }

    pub fn delete(self) -> UINT {
        service!(_txe_event_flags_delete(self.0))
    }

    pub fn info(self) -> EventFlagsInfo {
        let (mut name, mut first, mut next) = (null_mut(), null_mut(), null_mut());
        let (mut flags, mut waiting) = (0, 0);
        let status =
            service!(_txe_event_flags_info_get(self.0, &mut name, &mut flags, &mut first, &mut waiting, &mut next));
        assert_eq!(status, TX_SUCCESS);
        EventFlagsInfo { name: name_of(name), flags, first: Thread(first), waiting, next: EventFlags(next) }
    }

    pub fn flags(self) -> ULONG {
        self.info().flags
    }
}

// ---- queues ------------------------------------------------------------------------------------

handle! {
    /// A queue control block, created or not.
    Queue -> TX_QUEUE
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueInfo {
    pub name: Option<String>,
    pub enqueued: ULONG,
    pub available: ULONG,
    pub first: Thread,
    pub waiting: ULONG,
    pub next: Queue,
}

impl Queue {
    /// Creates a queue for `capacity` messages; the service must succeed.
    #[track_caller]
    pub fn new(words: UINT, capacity: usize) -> Self {
        let queue = Self::blank();
        assert_eq!(queue.create(words, words as usize * capacity * 4), TX_SUCCESS);
        queue
    }

    pub fn create(self, words: UINT, bytes: usize) -> UINT {
        let memory = Memory::new(bytes);
        service!(_txe_queue_create(self.0, null_mut(), words, memory.start.cast(), bytes as ULONG, Self::SIZE))
    }

    pub fn create_on(self, name: *mut CHAR, words: UINT, start: *mut u8, bytes: ULONG) -> UINT {
        service!(_txe_queue_create(self.0, name, words, start.cast(), bytes, Self::SIZE))
    }

    /// Sends a message of one word.
    pub fn send(self, message: ULONG, wait: ULONG) -> UINT {
        let mut message = message;
        service!(_txe_queue_send(self.0, (&raw mut message).cast(), wait))
    }

    pub fn front_send(self, message: ULONG, wait: ULONG) -> UINT {
        let mut message = message;
        service!(_txe_queue_front_send(self.0, (&raw mut message).cast(), wait))
    }

    /// Receives a message of one word.
    pub fn receive(self, wait: ULONG) -> Result<ULONG, UINT> {
        let mut message = 0;
        result(service!(_txe_queue_receive(self.0, (&raw mut message).cast(), wait)), message)
    }

    /// For messages of at most as many words as `message` has.
    pub fn send_words(self, message: &[ULONG], wait: ULONG) -> UINT {
        service!(_txe_queue_send(self.0, message.as_ptr().cast_mut().cast(), wait))
    }

    pub fn front_send_words(self, message: &[ULONG], wait: ULONG) -> UINT {
        service!(_txe_queue_front_send(self.0, message.as_ptr().cast_mut().cast(), wait))
    }

    /// For messages of at most as many words as `message` has.
    pub fn receive_words(self, message: &mut [ULONG], wait: ULONG) -> UINT {
        service!(_txe_queue_receive(self.0, message.as_mut_ptr().cast(), wait))
    }

    pub fn flush(self) -> UINT {
        service!(_txe_queue_flush(self.0))
    }

    pub fn prioritize(self) -> UINT {
        service!(_txe_queue_prioritize(self.0))
    }

    pub fn send_notify(self, notify: Option<QueueNotify>) -> UINT {
        service!(_txe_queue_send_notify(self.0, notify))
    }

    pub fn delete(self) -> UINT {
        service!(_txe_queue_delete(self.0))
    }

    pub fn info(self) -> QueueInfo {
        let (mut name, mut first, mut next) = (null_mut(), null_mut(), null_mut());
        let (mut enqueued, mut available, mut waiting) = (0, 0, 0);
        let status = service!(_txe_queue_info_get(
            self.0,
            &mut name,
            &mut enqueued,
            &mut available,
            &mut first,
            &mut waiting,
            &mut next,
        ));
        assert_eq!(status, TX_SUCCESS);
        QueueInfo { name: name_of(name), enqueued, available, first: Thread(first), waiting, next: Queue(next) }
    }

    /// Enqueued messages, free places, waiting threads.
    pub fn counts(self) -> (ULONG, ULONG, ULONG) {
        let info = self.info();
        (info.enqueued, info.available, info.waiting)
    }
}

// ---- block pools -------------------------------------------------------------------------------

handle! {
    /// A block pool control block, created or not.
    BlockPool -> TX_BLOCK_POOL
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolInfo<Pool> {
    pub name: Option<String>,
    pub available: ULONG,
    /// Blocks of a block pool, fragments of a byte pool.
    pub total: ULONG,
    pub first: Thread,
    pub waiting: ULONG,
    pub next: Pool,
}

/// Releases a block of any pool.
pub fn block_release(piece: Piece) -> UINT {
    service!(_txe_block_release(piece.0))
}

impl BlockPool {
    /// Creates a pool of `count` blocks of `size` bytes; the service must succeed.
    #[track_caller]
    pub fn new(size: usize, count: usize) -> Self {
        let pool = Self::blank();
        let bytes = (size.next_multiple_of(8) + 8) * count;
        assert_eq!(pool.create_on(size as ULONG, Memory::new(bytes).start, bytes as ULONG), TX_SUCCESS);
        pool
    }

    pub fn create_on(self, size: ULONG, start: *mut u8, bytes: ULONG) -> UINT {
        service!(_txe_block_pool_create(self.0, null_mut(), size, start.cast(), bytes, Self::SIZE))
    }

    pub fn allocate(self, wait: ULONG) -> Result<Piece, UINT> {
        let mut block = null_mut();
        result(service!(_txe_block_allocate(self.0, &mut block, wait)), block).map(Piece)
    }

    pub fn prioritize(self) -> UINT {
        service!(_txe_block_pool_prioritize(self.0))
    }

    pub fn delete(self) -> UINT {
        service!(_txe_block_pool_delete(self.0))
    }

    pub fn info(self) -> PoolInfo<BlockPool> {
        let (mut name, mut first, mut next) = (null_mut(), null_mut(), null_mut());
        let (mut available, mut total, mut waiting) = (0, 0, 0);
        let status = service!(_txe_block_pool_info_get(
            self.0,
            &mut name,
            &mut available,
            &mut total,
            &mut first,
            &mut waiting,
            &mut next,
        ));
        assert_eq!(status, TX_SUCCESS);
        PoolInfo { name: name_of(name), available, total, first: Thread(first), waiting, next: BlockPool(next) }
    }

    pub fn available(self) -> ULONG {
        self.info().available
    }
}

// ---- byte pools --------------------------------------------------------------------------------

handle! {
    /// A byte pool control block, created or not.
    BytePool -> TX_BYTE_POOL
}

/// Releases memory of any byte pool.
pub fn byte_release(piece: Piece) -> UINT {
    service!(_txe_byte_release(piece.0))
}

impl BytePool {
    /// Creates a pool of `bytes` bytes; the service must succeed.
    #[track_caller]
    pub fn new(bytes: usize) -> Self {
        let pool = Self::blank();
        assert_eq!(pool.create_on(Memory::new(bytes).start, bytes as ULONG), TX_SUCCESS);
        pool
    }

    pub fn create_on(self, start: *mut u8, bytes: ULONG) -> UINT {
        service!(_txe_byte_pool_create(self.0, null_mut(), start.cast(), bytes, Self::SIZE))
    }

    pub fn allocate(self, bytes: ULONG, wait: ULONG) -> Result<Piece, UINT> {
        let mut memory = null_mut();
        result(service!(_txe_byte_allocate(self.0, &mut memory, bytes, wait)), memory).map(Piece)
    }

    pub fn prioritize(self) -> UINT {
        service!(_txe_byte_pool_prioritize(self.0))
    }

    pub fn delete(self) -> UINT {
        service!(_txe_byte_pool_delete(self.0))
    }

    pub fn info(self) -> PoolInfo<BytePool> {
        let (mut name, mut first, mut next) = (null_mut(), null_mut(), null_mut());
        let (mut available, mut total, mut waiting) = (0, 0, 0);
        let status = service!(_txe_byte_pool_info_get(
            self.0,
            &mut name,
            &mut available,
            &mut total,
            &mut first,
            &mut waiting,
            &mut next,
        ));
        assert_eq!(status, TX_SUCCESS);
        PoolInfo { name: name_of(name), available, total, first: Thread(first), waiting, next: BytePool(next) }
    }

    /// Available bytes and fragments.
    pub fn counts(self) -> (ULONG, ULONG) {
        let info = self.info();
        (info.available, info.total)
    }
}
