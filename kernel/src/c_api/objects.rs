//! Services of mutexes, event flags, queues, block pools and byte pools.

use core::ptr::{NonNull, null_mut};

use super::{called_from, from, put, refuse, thread_ptr, unless};
use crate::block_pool::{BLOCK_POOL_ID, BlockPool, TX_BLOCK_POOL};
use crate::byte_pool::{BYTE_POOL_ID, BytePool, TX_BYTE_POOL};
use crate::event_flags::{EVENT_FLAGS_ID, EventFlags, TX_EVENT_FLAGS_GROUP};
use crate::kernel::lock;
use crate::mutex::{MUTEX_ID, Mutex, TX_MUTEX};
use crate::queue::{AnySize, MAX_MESSAGE, QUEUE_ID, Queue, TX_QUEUE};
use crate::types::*;

/// Defines the conversion of a control-block pointer and the test of its tag.
macro_rules! object {
    ($convert:ident, $is:ident: $Ref:ident -> $Block:ty, $ID:ident) => {
        #[inline(always)]
        pub(super) unsafe fn $convert(ptr: *mut $Block) -> $Ref {
            debug_assert!(!ptr.is_null());
            // SAFETY: the unchecked services' contract: a created object.
            unsafe { $Ref::new(NonNull::new_unchecked(ptr)) }
        }

        pub(super) unsafe fn $is(ptr: *mut $Block) -> bool {
            // SAFETY: the checked services' contract: null or readable as a block.
            !ptr.is_null() && unsafe { (*ptr).id.get() } == $ID
        }
    };
}

object!(mutex, is_mutex: Mutex -> TX_MUTEX, MUTEX_ID);
object!(event_flags, is_event_flags: EventFlags -> TX_EVENT_FLAGS_GROUP, EVENT_FLAGS_ID);
object!(queue, is_queue: Queue -> TX_QUEUE, QUEUE_ID);
object!(block_pool, is_block_pool: BlockPool -> TX_BLOCK_POOL, BLOCK_POOL_ID);
object!(byte_pool, is_byte_pool: BytePool -> TX_BYTE_POOL, BYTE_POOL_ID);

fn aligned<T>(ptr: *mut VOID) -> bool {
    ptr.cast::<T>().is_aligned()
}

services! {
    // ---- mutexes ---------------------------------------------------------------------------------

    /// `tx_mutex_create`.
    fn _tx_mutex_create(mutex_ptr: *mut TX_MUTEX, name_ptr: *mut CHAR, inherit: UINT) -> UINT {
        mutex_ptr.write(TX_MUTEX::new());
        mutex(mutex_ptr).create(name_ptr, inherit == TX_INHERIT);
        TX_SUCCESS
    }

    /// `tx_mutex_create`, checked.
    fn _txe_mutex_create(
        mutex_ptr: *mut TX_MUTEX, name_ptr: *mut CHAR, inherit: UINT, mutex_control_block_size: UINT,
    ) -> UINT {
        let error = if mutex_ptr.is_null() || mutex_control_block_size as usize != size_of::<TX_MUTEX>()
            || lock().has_mutex(mutex(mutex_ptr))
        {
            TX_MUTEX_ERROR
        } else if inherit > TX_INHERIT {
            TX_INHERIT_ERROR
        } else if !called_from(from::INITIALIZATION | from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_mutex_create(mutex_ptr, name_ptr, inherit))
    }

    /// `tx_mutex_delete`.
    fn _tx_mutex_delete(mutex_ptr: *mut TX_MUTEX) -> UINT { mutex(mutex_ptr).delete() }

    /// `tx_mutex_delete`, checked.
    fn _txe_mutex_delete(mutex_ptr: *mut TX_MUTEX) -> UINT {
        let error = if !is_mutex(mutex_ptr) {
            TX_MUTEX_ERROR
        } else if !called_from(from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_mutex_delete(mutex_ptr))
    }

    /// `tx_mutex_get`. In initialization the mutex gets no owner: only initialization can put it.
    fn _tx_mutex_get(mutex_ptr: *mut TX_MUTEX, wait_option: ULONG) -> UINT { mutex(mutex_ptr).get(wait_option) }

    /// `tx_mutex_get`, checked.
    fn _txe_mutex_get(mutex_ptr: *mut TX_MUTEX, wait_option: ULONG) -> UINT {
        let error = if !is_mutex(mutex_ptr) {
            TX_MUTEX_ERROR
        } else if called_from(from::ISRS) {
            TX_CALLER_ERROR
        } else if wait_option != TX_NO_WAIT && !called_from(from::THREADS) {
            TX_WAIT_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_mutex_get(mutex_ptr, wait_option))
    }

    /// `tx_mutex_put`.
    fn _tx_mutex_put(mutex_ptr: *mut TX_MUTEX) -> UINT { mutex(mutex_ptr).put(lock()) }

    /// `tx_mutex_put`, checked.
    fn _txe_mutex_put(mutex_ptr: *mut TX_MUTEX) -> UINT {
        let error = if !is_mutex(mutex_ptr) {
            TX_MUTEX_ERROR
        } else if called_from(from::ISRS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_mutex_put(mutex_ptr))
    }

    /// `tx_mutex_prioritize`.
    fn _tx_mutex_prioritize(mutex_ptr: *mut TX_MUTEX) -> UINT { mutex(mutex_ptr).prioritize() }

    /// `tx_mutex_prioritize`, checked.
    fn _txe_mutex_prioritize(mutex_ptr: *mut TX_MUTEX) -> UINT {
        if is_mutex(mutex_ptr) { _tx_mutex_prioritize(mutex_ptr) } else { refuse(TX_MUTEX_ERROR) }
    }

    /// `tx_mutex_info_get`: null pointers are skipped.
    fn _tx_mutex_info_get(
        mutex_ptr: *mut TX_MUTEX, name: *mut *mut CHAR, count: *mut ULONG, owner: *mut *mut crate::TX_THREAD,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG, next_mutex: *mut *mut TX_MUTEX,
    ) -> UINT {
        let info = mutex(mutex_ptr).info();
        put(name, info.name.cast_mut());
        put(count, info.count);
        put(owner, thread_ptr(info.owner));
        put(first_suspended, thread_ptr(info.first));
        put(suspended_count, info.waiting);
        put(next_mutex, info.next.map_or(null_mut(), Mutex::as_ptr));
        TX_SUCCESS
    }

    /// `tx_mutex_info_get`, checked.
    fn _txe_mutex_info_get(
        mutex_ptr: *mut TX_MUTEX, name: *mut *mut CHAR, count: *mut ULONG, owner: *mut *mut crate::TX_THREAD,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG, next_mutex: *mut *mut TX_MUTEX,
    ) -> UINT {
        if !is_mutex(mutex_ptr) {
            return TX_MUTEX_ERROR;
        }
        _tx_mutex_info_get(mutex_ptr, name, count, owner, first_suspended, suspended_count, next_mutex)
    }

    // ---- event flags -----------------------------------------------------------------------------

    /// `tx_event_flags_create`.
    fn _tx_event_flags_create(group_ptr: *mut TX_EVENT_FLAGS_GROUP, name_ptr: *mut CHAR) -> UINT {
        group_ptr.write(TX_EVENT_FLAGS_GROUP::new());
        event_flags(group_ptr).create(name_ptr);
        TX_SUCCESS
    }

    /// `tx_event_flags_create`, checked.
    fn _txe_event_flags_create(
        group_ptr: *mut TX_EVENT_FLAGS_GROUP, name_ptr: *mut CHAR, event_control_block_size: UINT,
    ) -> UINT {
        let error = if group_ptr.is_null() || event_control_block_size as usize != size_of::<TX_EVENT_FLAGS_GROUP>()
            || lock().has_event_flags(event_flags(group_ptr))
        {
            TX_GROUP_ERROR
        } else if !called_from(from::INITIALIZATION | from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_event_flags_create(group_ptr, name_ptr))
    }

    /// `tx_event_flags_delete`.
    fn _tx_event_flags_delete(group_ptr: *mut TX_EVENT_FLAGS_GROUP) -> UINT { event_flags(group_ptr).delete() }

    /// `tx_event_flags_delete`, checked.
    fn _txe_event_flags_delete(group_ptr: *mut TX_EVENT_FLAGS_GROUP) -> UINT {
        let error = if !is_event_flags(group_ptr) {
            TX_GROUP_ERROR
        } else if !called_from(from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_event_flags_delete(group_ptr))
    }

    /// `tx_event_flags_get`. The output is written whatever the result.
    fn _tx_event_flags_get(
        group_ptr: *mut TX_EVENT_FLAGS_GROUP, requested_flags: ULONG, get_option: UINT, actual_flags_ptr: *mut ULONG,
        wait_option: ULONG,
    ) -> UINT {
        event_flags(group_ptr).get(requested_flags, get_option, actual_flags_ptr, wait_option, lock(), ())
    }

    /// `tx_event_flags_get`, checked.
    fn _txe_event_flags_get(
        group_ptr: *mut TX_EVENT_FLAGS_GROUP, requested_flags: ULONG, get_option: UINT, actual_flags_ptr: *mut ULONG,
        wait_option: ULONG,
    ) -> UINT {
        let error = if !is_event_flags(group_ptr) {
            TX_GROUP_ERROR
        } else if actual_flags_ptr.is_null() {
            TX_PTR_ERROR
        } else if wait_option != TX_NO_WAIT && !called_from(from::THREADS) {
            TX_WAIT_ERROR
        } else if get_option > TX_AND_CLEAR {
            TX_OPTION_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_event_flags_get(group_ptr, requested_flags, get_option, actual_flags_ptr, wait_option))
    }

    /// `tx_event_flags_set`.
    fn _tx_event_flags_set(group_ptr: *mut TX_EVENT_FLAGS_GROUP, flags_to_set: ULONG, set_option: UINT) -> UINT {
        event_flags(group_ptr).set(flags_to_set, set_option, lock(), ())
    }

    /// `tx_event_flags_set`, checked.
    fn _txe_event_flags_set(group_ptr: *mut TX_EVENT_FLAGS_GROUP, flags_to_set: ULONG, set_option: UINT) -> UINT {
        let error = if !is_event_flags(group_ptr) {
            TX_GROUP_ERROR
        } else if set_option != TX_AND && set_option != TX_OR {
            TX_OPTION_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_event_flags_set(group_ptr, flags_to_set, set_option))
    }

    /// `tx_event_flags_set_notify`.
    fn _tx_event_flags_set_notify(group_ptr: *mut TX_EVENT_FLAGS_GROUP, notify: Option<EventFlagsNotify>) -> UINT {
        event_flags(group_ptr).notify(notify);
        TX_SUCCESS
    }

    /// `tx_event_flags_set_notify`, checked.
    fn _txe_event_flags_set_notify(group_ptr: *mut TX_EVENT_FLAGS_GROUP, notify: Option<EventFlagsNotify>) -> UINT {
        if is_event_flags(group_ptr) { _tx_event_flags_set_notify(group_ptr, notify) } else { refuse(TX_GROUP_ERROR) }
    }

    /// `tx_event_flags_info_get`: null pointers are skipped.
    fn _tx_event_flags_info_get(
        group_ptr: *mut TX_EVENT_FLAGS_GROUP, name: *mut *mut CHAR, current_flags: *mut ULONG,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG,
        next_group: *mut *mut TX_EVENT_FLAGS_GROUP,
    ) -> UINT {
        let info = event_flags(group_ptr).info();
        put(name, info.name.cast_mut());
        put(current_flags, info.flags);
        put(first_suspended, thread_ptr(info.first));
        put(suspended_count, info.waiting);
        put(next_group, info.next.map_or(null_mut(), EventFlags::as_ptr));
        TX_SUCCESS
    }

    /// `tx_event_flags_info_get`, checked.
    fn _txe_event_flags_info_get(
        group_ptr: *mut TX_EVENT_FLAGS_GROUP, name: *mut *mut CHAR, current_flags: *mut ULONG,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG,
        next_group: *mut *mut TX_EVENT_FLAGS_GROUP,
    ) -> UINT {
        if !is_event_flags(group_ptr) {
            return TX_GROUP_ERROR;
        }
        _tx_event_flags_info_get(group_ptr, name, current_flags, first_suspended, suspended_count, next_group)
    }

    // ---- queues ----------------------------------------------------------------------------------

    /// `tx_queue_create`.
    fn _tx_queue_create(
        queue_ptr: *mut TX_QUEUE, name_ptr: *mut CHAR, message_size: UINT, queue_start: *mut VOID, queue_size: ULONG,
    ) -> UINT {
        queue_ptr.write(TX_QUEUE::new());
        queue(queue_ptr).create(name_ptr, message_size, queue_start.cast(), queue_size);
        TX_SUCCESS
    }

    /// `tx_queue_create`, checked. Memory that is not aligned for words is refused as well.
    fn _txe_queue_create(
        queue_ptr: *mut TX_QUEUE, name_ptr: *mut CHAR, message_size: UINT, queue_start: *mut VOID, queue_size: ULONG,
        queue_control_block_size: UINT,
    ) -> UINT {
        let error = if queue_ptr.is_null() || queue_control_block_size as usize != size_of::<TX_QUEUE>()
            || lock().has_queue(queue(queue_ptr))
        {
            TX_QUEUE_ERROR
        } else if queue_start.is_null() || !aligned::<ULONG>(queue_start) {
            TX_PTR_ERROR
        } else if message_size == 0 || message_size > MAX_MESSAGE
            || queue_size / (size_of::<ULONG>() as ULONG) < message_size
        {
            TX_SIZE_ERROR
        } else if !called_from(from::INITIALIZATION | from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_queue_create(queue_ptr, name_ptr, message_size, queue_start, queue_size))
    }

    /// `tx_queue_delete`.
    fn _tx_queue_delete(queue_ptr: *mut TX_QUEUE) -> UINT { queue(queue_ptr).delete() }

    /// `tx_queue_delete`, checked.
    fn _txe_queue_delete(queue_ptr: *mut TX_QUEUE) -> UINT {
        let error = if !is_queue(queue_ptr) {
            TX_QUEUE_ERROR
        } else if !called_from(from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_queue_delete(queue_ptr))
    }

    /// `tx_queue_flush`.
    fn _tx_queue_flush(queue_ptr: *mut TX_QUEUE) -> UINT { queue(queue_ptr).flush() }

    /// `tx_queue_flush`, checked.
    fn _txe_queue_flush(queue_ptr: *mut TX_QUEUE) -> UINT {
        if is_queue(queue_ptr) { _tx_queue_flush(queue_ptr) } else { refuse(TX_QUEUE_ERROR) }
    }

    /// `tx_queue_send`.
    fn _tx_queue_send(queue_ptr: *mut TX_QUEUE, source_ptr: *mut VOID, wait_option: ULONG) -> UINT {
        queue(queue_ptr).send::<AnySize>(source_ptr.cast(), wait_option, lock(), ())
    }

    /// `tx_queue_send`, checked. A message that is not aligned for words is refused as well.
    fn _txe_queue_send(queue_ptr: *mut TX_QUEUE, source_ptr: *mut VOID, wait_option: ULONG) -> UINT {
        match queue_error(queue_ptr, source_ptr, wait_option) {
            TX_SUCCESS => _tx_queue_send(queue_ptr, source_ptr, wait_option),
            error => refuse(error),
        }
    }

    /// `tx_queue_front_send`.
    fn _tx_queue_front_send(queue_ptr: *mut TX_QUEUE, source_ptr: *mut VOID, wait_option: ULONG) -> UINT {
        queue(queue_ptr).front_send(source_ptr.cast(), wait_option)
    }

    /// `tx_queue_front_send`, checked. A message that is not aligned for words is refused as well.
    fn _txe_queue_front_send(queue_ptr: *mut TX_QUEUE, source_ptr: *mut VOID, wait_option: ULONG) -> UINT {
        match queue_error(queue_ptr, source_ptr, wait_option) {
            TX_SUCCESS => _tx_queue_front_send(queue_ptr, source_ptr, wait_option),
            error => refuse(error),
        }
    }

    /// `tx_queue_receive`.
    fn _tx_queue_receive(queue_ptr: *mut TX_QUEUE, destination_ptr: *mut VOID, wait_option: ULONG) -> UINT {
        queue(queue_ptr).receive::<AnySize>(destination_ptr.cast(), wait_option, lock(), ())
    }

    /// `tx_queue_receive`, checked. A destination that is not aligned for words is refused as well.
    fn _txe_queue_receive(queue_ptr: *mut TX_QUEUE, destination_ptr: *mut VOID, wait_option: ULONG) -> UINT {
        match queue_error(queue_ptr, destination_ptr, wait_option) {
            TX_SUCCESS => _tx_queue_receive(queue_ptr, destination_ptr, wait_option),
            error => refuse(error),
        }
    }

    /// `tx_queue_prioritize`.
    fn _tx_queue_prioritize(queue_ptr: *mut TX_QUEUE) -> UINT { queue(queue_ptr).prioritize() }

    /// `tx_queue_prioritize`, checked.
    fn _txe_queue_prioritize(queue_ptr: *mut TX_QUEUE) -> UINT {
        if is_queue(queue_ptr) { _tx_queue_prioritize(queue_ptr) } else { refuse(TX_QUEUE_ERROR) }
    }

    /// `tx_queue_send_notify`.
    fn _tx_queue_send_notify(queue_ptr: *mut TX_QUEUE, notify: Option<QueueNotify>) -> UINT {
        queue(queue_ptr).notify(notify);
        TX_SUCCESS
    }

    /// `tx_queue_send_notify`, checked.
    fn _txe_queue_send_notify(queue_ptr: *mut TX_QUEUE, notify: Option<QueueNotify>) -> UINT {
        if is_queue(queue_ptr) { _tx_queue_send_notify(queue_ptr, notify) } else { refuse(TX_QUEUE_ERROR) }
    }

    /// `tx_queue_info_get`: null pointers are skipped.
    fn _tx_queue_info_get(
        queue_ptr: *mut TX_QUEUE, name: *mut *mut CHAR, enqueued: *mut ULONG, available_storage: *mut ULONG,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG, next_queue: *mut *mut TX_QUEUE,
    ) -> UINT {
        let info = queue(queue_ptr).info();
        put(name, info.name.cast_mut());
        put(enqueued, info.enqueued);
        put(available_storage, info.available);
        put(first_suspended, thread_ptr(info.first));
        put(suspended_count, info.waiting);
        put(next_queue, info.next.map_or(null_mut(), Queue::as_ptr));
        TX_SUCCESS
    }

    /// `tx_queue_info_get`, checked.
    fn _txe_queue_info_get(
        queue_ptr: *mut TX_QUEUE, name: *mut *mut CHAR, enqueued: *mut ULONG, available_storage: *mut ULONG,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG, next_queue: *mut *mut TX_QUEUE,
    ) -> UINT {
        if !is_queue(queue_ptr) {
            return TX_QUEUE_ERROR;
        }
        _tx_queue_info_get(queue_ptr, name, enqueued, available_storage, first_suspended, suspended_count, next_queue)
    }

    // ---- block pools -----------------------------------------------------------------------------

    /// `tx_block_pool_create`.
    fn _tx_block_pool_create(
        pool_ptr: *mut TX_BLOCK_POOL, name_ptr: *mut CHAR, block_size: ULONG, pool_start: *mut VOID, pool_size: ULONG,
    ) -> UINT {
        pool_ptr.write(TX_BLOCK_POOL::new());
        block_pool(pool_ptr).create(name_ptr, block_size, pool_start.cast(), pool_size)
    }

    /// `tx_block_pool_create`, checked. Memory that is not aligned for pointers is refused as well.
    fn _txe_block_pool_create(
        pool_ptr: *mut TX_BLOCK_POOL, name_ptr: *mut CHAR, block_size: ULONG, pool_start: *mut VOID, pool_size: ULONG,
        pool_control_block_size: UINT,
    ) -> UINT {
        let error = if pool_ptr.is_null() || pool_control_block_size as usize != size_of::<TX_BLOCK_POOL>()
            || lock().has_block_pool(block_pool(pool_ptr))
        {
            TX_POOL_ERROR
        } else if pool_start.is_null() || !aligned::<*mut VOID>(pool_start) {
            TX_PTR_ERROR
        } else if !called_from(from::INITIALIZATION | from::THREADS) {
            // As upstream: a size for which there is no block comes first.
            if crate::block_pool::fits(block_size, pool_size) { TX_CALLER_ERROR } else { TX_SIZE_ERROR }
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_block_pool_create(pool_ptr, name_ptr, block_size, pool_start, pool_size))
    }

    /// `tx_block_pool_delete`.
    fn _tx_block_pool_delete(pool_ptr: *mut TX_BLOCK_POOL) -> UINT { block_pool(pool_ptr).delete() }

    /// `tx_block_pool_delete`, checked.
    fn _txe_block_pool_delete(pool_ptr: *mut TX_BLOCK_POOL) -> UINT {
        let error = if !is_block_pool(pool_ptr) {
            TX_POOL_ERROR
        } else if !called_from(from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_block_pool_delete(pool_ptr))
    }

    /// `tx_block_allocate`. The output is written only with success.
    fn _tx_block_allocate(pool_ptr: *mut TX_BLOCK_POOL, block_ptr: *mut *mut VOID, wait_option: ULONG) -> UINT {
        block_pool(pool_ptr).allocate(block_ptr, wait_option, lock(), ())
    }

    /// `tx_block_allocate`, checked.
    fn _txe_block_allocate(pool_ptr: *mut TX_BLOCK_POOL, block_ptr: *mut *mut VOID, wait_option: ULONG) -> UINT {
        let error = if !is_block_pool(pool_ptr) {
            TX_POOL_ERROR
        } else if block_ptr.is_null() {
            TX_PTR_ERROR
        } else if wait_option != TX_NO_WAIT && !called_from(from::THREADS) {
            TX_WAIT_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_block_allocate(pool_ptr, block_ptr, wait_option))
    }

    /// `tx_block_release`.
    fn _tx_block_release(block_ptr: *mut VOID) -> UINT { BlockPool::release(block_ptr, lock()) }

    /// `tx_block_release`, checked: anything but an allocated block is refused, a block released
    /// already included. Takes a few instructions more for every block pool there is.
    fn _txe_block_release(block_ptr: *mut VOID) -> UINT {
        let k = lock();
        if k.is_lent_block(block_ptr) { BlockPool::release(block_ptr, k) } else { drop(k); refuse(TX_PTR_ERROR) }
    }

    /// `tx_block_pool_prioritize`.
    fn _tx_block_pool_prioritize(pool_ptr: *mut TX_BLOCK_POOL) -> UINT { block_pool(pool_ptr).prioritize() }

    /// `tx_block_pool_prioritize`, checked.
    fn _txe_block_pool_prioritize(pool_ptr: *mut TX_BLOCK_POOL) -> UINT {
        if is_block_pool(pool_ptr) { _tx_block_pool_prioritize(pool_ptr) } else { refuse(TX_POOL_ERROR) }
    }

    /// `tx_block_pool_info_get`: null pointers are skipped.
    fn _tx_block_pool_info_get(
        pool_ptr: *mut TX_BLOCK_POOL, name: *mut *mut CHAR, available_blocks: *mut ULONG, total_blocks: *mut ULONG,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG, next_pool: *mut *mut TX_BLOCK_POOL,
    ) -> UINT {
        let info = block_pool(pool_ptr).info();
        put(name, info.name.cast_mut());
        put(available_blocks, info.available);
        put(total_blocks, info.total);
        put(first_suspended, thread_ptr(info.first));
        put(suspended_count, info.waiting);
        put(next_pool, info.next.map_or(null_mut(), BlockPool::as_ptr));
        TX_SUCCESS
    }

    /// `tx_block_pool_info_get`, checked.
    fn _txe_block_pool_info_get(
        pool_ptr: *mut TX_BLOCK_POOL, name: *mut *mut CHAR, available_blocks: *mut ULONG, total_blocks: *mut ULONG,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG, next_pool: *mut *mut TX_BLOCK_POOL,
    ) -> UINT {
        if !is_block_pool(pool_ptr) {
            return TX_POOL_ERROR;
        }
        _tx_block_pool_info_get(pool_ptr, name, available_blocks, total_blocks, first_suspended, suspended_count,
            next_pool)
    }

    // ---- byte pools ------------------------------------------------------------------------------

    /// `tx_byte_pool_create`.
    fn _tx_byte_pool_create(
        pool_ptr: *mut TX_BYTE_POOL, name_ptr: *mut CHAR, pool_start: *mut VOID, pool_size: ULONG,
    ) -> UINT {
        pool_ptr.write(TX_BYTE_POOL::new());
        byte_pool(pool_ptr).create(name_ptr, pool_start.cast(), pool_size);
        TX_SUCCESS
    }

    /// `tx_byte_pool_create`, checked. Memory that is not aligned for pointers is refused as well.
    fn _txe_byte_pool_create(
        pool_ptr: *mut TX_BYTE_POOL, name_ptr: *mut CHAR, pool_start: *mut VOID, pool_size: ULONG,
        pool_control_block_size: UINT,
    ) -> UINT {
        let error = if pool_ptr.is_null() || pool_control_block_size as usize != size_of::<TX_BYTE_POOL>()
            || lock().has_byte_pool(byte_pool(pool_ptr))
        {
            TX_POOL_ERROR
        } else if pool_start.is_null() || !aligned::<*mut VOID>(pool_start) {
            TX_PTR_ERROR
        } else if pool_size < TX_BYTE_POOL_MIN {
            TX_SIZE_ERROR
        } else if !called_from(from::INITIALIZATION | from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_byte_pool_create(pool_ptr, name_ptr, pool_start, pool_size))
    }

    /// `tx_byte_pool_delete`.
    fn _tx_byte_pool_delete(pool_ptr: *mut TX_BYTE_POOL) -> UINT { byte_pool(pool_ptr).delete() }

    /// `tx_byte_pool_delete`, checked.
    fn _txe_byte_pool_delete(pool_ptr: *mut TX_BYTE_POOL) -> UINT {
        let error = if !is_byte_pool(pool_ptr) {
            TX_POOL_ERROR
        } else if !called_from(from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_byte_pool_delete(pool_ptr))
    }

    /// `tx_byte_allocate`. Without success the output becomes null.
    fn _tx_byte_allocate(
        pool_ptr: *mut TX_BYTE_POOL, memory_ptr: *mut *mut VOID, memory_size: ULONG, wait_option: ULONG,
    ) -> UINT {
        match byte_pool(pool_ptr).allocate(memory_size, wait_option, lock()) {
            Ok(memory) => {
                memory_ptr.write(memory);
                TX_SUCCESS
            }
            Err(error) => {
                memory_ptr.write(null_mut());
                error
            }
        }
    }

    /// `tx_byte_allocate`, checked.
    fn _txe_byte_allocate(
        pool_ptr: *mut TX_BYTE_POOL, memory_ptr: *mut *mut VOID, memory_size: ULONG, wait_option: ULONG,
    ) -> UINT {
        let error = if !is_byte_pool(pool_ptr) {
            TX_POOL_ERROR
        } else if memory_ptr.is_null() {
            TX_PTR_ERROR
        } else if memory_size == 0 || memory_size as usize > byte_pool(pool_ptr).size(&lock()) {
            TX_SIZE_ERROR
        } else if wait_option != TX_NO_WAIT && called_from(from::INITIALIZATION | from::ISRS) {
            TX_WAIT_ERROR
        } else if !called_from(from::INITIALIZATION | from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || _tx_byte_allocate(pool_ptr, memory_ptr, memory_size, wait_option))
    }

    /// `tx_byte_release`: anything but allocated memory is refused.
    fn _tx_byte_release(memory_ptr: *mut VOID) -> UINT { BytePool::release(memory_ptr, |pool| pool.lent(memory_ptr)) }

    /// `tx_byte_release`, checked.
    fn _txe_byte_release(memory_ptr: *mut VOID) -> UINT {
        let error = if memory_ptr.is_null() {
            TX_PTR_ERROR
        } else if !called_from(from::INITIALIZATION | from::THREADS) {
            TX_CALLER_ERROR
        } else {
            TX_SUCCESS
        };
        unless(error, || BytePool::release(memory_ptr, |pool| pool.lent_intact(memory_ptr)))
    }

    /// `tx_byte_pool_prioritize`.
    fn _tx_byte_pool_prioritize(pool_ptr: *mut TX_BYTE_POOL) -> UINT { byte_pool(pool_ptr).prioritize() }

    /// `tx_byte_pool_prioritize`, checked.
    fn _txe_byte_pool_prioritize(pool_ptr: *mut TX_BYTE_POOL) -> UINT {
        if is_byte_pool(pool_ptr) { _tx_byte_pool_prioritize(pool_ptr) } else { refuse(TX_POOL_ERROR) }
    }

    /// `tx_byte_pool_info_get`: null pointers are skipped.
    fn _tx_byte_pool_info_get(
        pool_ptr: *mut TX_BYTE_POOL, name: *mut *mut CHAR, available_bytes: *mut ULONG, fragments: *mut ULONG,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG, next_pool: *mut *mut TX_BYTE_POOL,
    ) -> UINT {
        let info = byte_pool(pool_ptr).info();
        put(name, info.name.cast_mut());
        put(available_bytes, info.available);
        put(fragments, info.fragments);
        put(first_suspended, thread_ptr(info.first));
        put(suspended_count, info.waiting);
        put(next_pool, info.next.map_or(null_mut(), BytePool::as_ptr));
        TX_SUCCESS
    }

    /// `tx_byte_pool_info_get`, checked.
    fn _txe_byte_pool_info_get(
        pool_ptr: *mut TX_BYTE_POOL, name: *mut *mut CHAR, available_bytes: *mut ULONG, fragments: *mut ULONG,
        first_suspended: *mut *mut crate::TX_THREAD, suspended_count: *mut ULONG, next_pool: *mut *mut TX_BYTE_POOL,
    ) -> UINT {
        if !is_byte_pool(pool_ptr) {
            return TX_POOL_ERROR;
        }
        _tx_byte_pool_info_get(pool_ptr, name, available_bytes, fragments, first_suspended, suspended_count, next_pool)
    }
}

/// What is wrong with the arguments of a send or receive; 0 for nothing.
#[inline(always)]
unsafe fn queue_error(queue_ptr: *mut TX_QUEUE, message: *mut VOID, wait_option: ULONG) -> UINT {
    // SAFETY: the contract of the checked services.
    if !unsafe { is_queue(queue_ptr) } {
        TX_QUEUE_ERROR
    } else if message.is_null() || !aligned::<ULONG>(message) {
        TX_PTR_ERROR
    } else if wait_option != TX_NO_WAIT && !called_from(from::THREADS) {
        TX_WAIT_ERROR
    } else {
        TX_SUCCESS
    }
}
