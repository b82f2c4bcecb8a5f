//! Block pools: sizes, order, waiters, wrong releases, and every code of their services.

mod common;
use common::*;
use std::ptr::null_mut;

const POINTER: usize = size_of::<usize>();

fn getter(log: &Log, name: &'static str, options: Options, pool: BlockPool, wait: ULONG) -> Thread {
    let log = log.clone();
    Thread::spawn(options, move || match pool.allocate(wait) {
        Ok(block) => {
            log.push(format!("{name}:0"));
            assert_eq!(block_release(block), TX_SUCCESS);
        }
        Err(status) => log.push(format!("{name}:{status:x}")),
    })
}

#[test]
fn the_number_of_blocks_is_what_fits_with_a_pointer_each() {
    scenario(|| {
        let memory = Memory::new(1000);
        for size in 0..100usize {
            for bytes in (0..1000usize).step_by(37) {
                let pool = BlockPool::blank();
                let stride = size.next_multiple_of(POINTER) + POINTER;
                let status = pool.create_on(size as ULONG, memory.start, bytes as ULONG);
                if bytes / stride == 0 {
                    assert_eq!(status, TX_SIZE_ERROR, "{size} on {bytes}");
                    assert_eq!(pool.delete(), TX_POOL_ERROR);
                    continue;
                }
                assert_eq!(status, TX_SUCCESS, "{size} on {bytes}");
                let info = pool.info();
                assert_eq!((info.total as usize, info.available), (bytes / stride, info.total));
                check();
                assert_eq!(pool.delete(), TX_SUCCESS);
            }
        }
        assert_eq!(BlockPool::blank().create_on(ULONG::MAX, memory.start, 1000), TX_SIZE_ERROR);
        assert_eq!(BlockPool::blank().create_on(ULONG::MAX - 3, memory.start, 1000), TX_SIZE_ERROR);
    });
}

#[test]
fn create_refuses_what_is_wrong_in_the_documented_order() {
    scenario(|| {
        let memory = Memory::new(64);
        let create =
            |block, start, size, control| service!(_txe_block_pool_create(block, null_mut(), size, start, 64, control));
        let start: *mut VOID = memory.start.cast();
        let block = BlockPool::blank();
        assert_eq!(create(null_mut(), null_mut(), 100, BlockPool::SIZE), TX_POOL_ERROR);
        assert_eq!(create(block.0, null_mut(), 100, 3), TX_POOL_ERROR);
        assert_eq!(create(block.0, null_mut(), 100, BlockPool::SIZE), TX_PTR_ERROR);
        assert_eq!(create(block.0, memory.start.wrapping_add(2).cast(), 8, BlockPool::SIZE), TX_PTR_ERROR);
        assert_eq!(create(block.0, start, 100, BlockPool::SIZE), TX_SIZE_ERROR);
        isr(move || {
            assert_eq!(block.create_on(100, memory.ptr(), 64), TX_SIZE_ERROR);
            assert_eq!(block.create_on(8, memory.ptr(), 64), TX_CALLER_ERROR);
        });
        assert_eq!(create(block.0, start, 8, BlockPool::SIZE), TX_SUCCESS);
        assert_eq!(create(block.0, start, 8, BlockPool::SIZE), TX_POOL_ERROR);
        assert_eq!(block.delete(), TX_SUCCESS);
        assert_eq!(create(block.0, start, 8, BlockPool::SIZE), TX_SUCCESS);
    });
}

#[test]
fn services_refuse_what_is_no_pool() {
    scenario(|| {
        let deleted = BlockPool::new(8, 1);
        let block = deleted.allocate(TX_NO_WAIT).unwrap();
        assert_eq!(deleted.delete(), TX_SUCCESS);
        assert_eq!(block_release(block), TX_PTR_ERROR);
        for pool in [BlockPool(null_mut()), BlockPool::blank(), deleted] {
            assert_eq!(pool.allocate(TX_NO_WAIT), Err(TX_POOL_ERROR));
            assert_eq!(pool.prioritize(), TX_POOL_ERROR);
            assert_eq!(pool.delete(), TX_POOL_ERROR);
            let status = service!(_txe_block_pool_info_get(
                pool.0,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
            ));
            assert_eq!(status, TX_POOL_ERROR);
        }
        let pool = BlockPool::new(8, 1);
        assert_eq!(service!(_txe_block_allocate(pool.0, null_mut(), TX_NO_WAIT)), TX_PTR_ERROR);
        assert_eq!(pool.available(), 1);
    });
}

#[test]
fn interrupts_and_timers_may_do_all_but_wait_create_and_delete() {
    scenario(|| {
        let calls = Shared::new(0);
        let c = calls.clone();
        let pool = BlockPool::new(8, 1);
        let from_isr_or_timer = move || {
            assert_eq!(pool.allocate(1), Err(TX_WAIT_ERROR));
            let block = pool.allocate(TX_NO_WAIT).unwrap();
            assert_eq!(pool.allocate(TX_NO_WAIT), Err(TX_NO_MEMORY));
            assert_eq!(block_release(block), TX_SUCCESS);
            assert_eq!(pool.prioritize(), TX_SUCCESS);
            assert_eq!(pool.delete(), TX_CALLER_ERROR);
            c.set(c.get() + 1);
        };
        isr(from_isr_or_timer.clone());
        Timer::start(1, 0, from_isr_or_timer);
        sleep(1);
        assert_eq!(calls.get(), 2);
    });
}

#[test]
fn blocks_are_apart_aligned_and_the_last_released_comes_first() {
    scenario(|| {
        for size in [0usize, 1, 7, 8, 33, 64] {
            let memory = Memory::new((size.next_multiple_of(8) + 8) * 6);
            let pool = BlockPool::blank();
            assert_eq!(pool.create_on(size as ULONG, memory.start, memory.size as ULONG), TX_SUCCESS);
            let blocks: Vec<_> = (0..6).map(|_| pool.allocate(TX_NO_WAIT).unwrap()).collect();
            assert_eq!(pool.allocate(TX_NO_WAIT), Err(TX_NO_MEMORY));
            assert_eq!(pool.available(), 0);
            for (value, block) in (1..).zip(&blocks) {
                assert!(memory.contains(block.0, size));
                assert!((block.0 as usize).is_multiple_of(POINTER));
                block.fill(size, value);
            }
            for (value, block) in (1..).zip(&blocks) {
                assert!(block.is_filled(size, value));
            }
            check();
            for order in [3, 0, 5] {
                assert_eq!(block_release(blocks[order]), TX_SUCCESS);
            }
            for order in [5, 0, 3] {
                assert_eq!(pool.allocate(TX_NO_WAIT), Ok(blocks[order]));
            }
            check();
        }
    });
}

/// K14, block pool part: what upstream does not detect.
#[test]
fn k14_a_second_release_and_foreign_pointers_are_refused() {
    scenario(|| {
        let (pool, other) = (BlockPool::new(16, 3), BlockPool::new(16, 3));
        let (a, b) = (pool.allocate(TX_NO_WAIT).unwrap(), pool.allocate(TX_NO_WAIT).unwrap());
        let foreign = other.allocate(TX_NO_WAIT).unwrap();
        a.fill(16, 0);
        assert_eq!(block_release(a), TX_SUCCESS);
        assert_eq!(block_release(a), TX_PTR_ERROR);
        assert_eq!(block_release(b), TX_SUCCESS);
        // Its header leads to another free block now, and a's to the third.
        assert_eq!(block_release(b), TX_PTR_ERROR);
        assert_eq!(block_release(a), TX_PTR_ERROR);
        let local = 0usize;
        for wrong in [
            Piece(null_mut()),
            Piece((&raw const local).cast_mut().cast()),
            foreign.offset(1),
            foreign.offset(8),
            foreign.offset(-8),
            foreign.offset(24),
            foreign.offset(1 << 30),
        ] {
            assert_eq!(block_release(wrong), TX_PTR_ERROR);
        }
        assert_eq!(block_release(foreign), TX_SUCCESS);
        assert_eq!((pool.available(), other.available()), (3, 3));
        check();
    });
}

#[test]
fn a_release_goes_to_the_first_waiter_or_to_the_best_after_prioritize() {
    scenario(|| {
        let log = Log::new();
        let pool = BlockPool::new(8, 1);
        let block = pool.allocate(TX_NO_WAIT).unwrap();
        let first = getter(&log, "12", at(12), pool, TX_WAIT_FOREVER);
        getter(&log, "10", at(10), pool, TX_WAIT_FOREVER);
        getter(&log, "11", at(11), pool, TX_WAIT_FOREVER);
        assert_eq!((pool.info().first, pool.info().waiting), (first, 3));
        assert_eq!(first.state(), TX_BLOCK_MEMORY);
        check();
        assert_eq!(pool.prioritize(), TX_SUCCESS);
        assert_eq!(block_release(block), TX_SUCCESS);
        log.expect("10:0 12:0 11:0");
        assert_eq!(pool.available(), 1);
        let block = pool.allocate(TX_NO_WAIT).unwrap();
        getter(&log, "a", at(12), pool, TX_WAIT_FOREVER);
        getter(&log, "b", at(10), pool, TX_WAIT_FOREVER);
        isr(move || assert_eq!(block_release(block), TX_SUCCESS));
        log.expect("a:0 b:0");
        check();
    });
}

#[test]
fn a_wait_ends_by_time_abort_and_delete_with_its_own_code() {
    scenario(|| {
        let log = Log::new();
        let pool = BlockPool::new(8, 1);
        pool.allocate(TX_NO_WAIT).unwrap();
        getter(&log, "timed", at(10), pool, 2);
        let aborted = getter(&log, "aborted", at(10), pool, TX_WAIT_FOREVER);
        let ended = getter(&log, "ended", at(10), pool, TX_WAIT_FOREVER);
        getter(&log, "deleted", at(10), pool, TX_WAIT_FOREVER);
        sleep(1);
        log.expect("");
        sleep(1);
        log.expect("timed:10");
        aborted.wait_abort();
        log.expect("aborted:1a");
        ended.terminate();
        check();
        assert_eq!(pool.info().waiting, 1);
        assert_eq!(pool.delete(), TX_SUCCESS);
        log.expect("deleted:1");
    });
}

#[test]
fn info_skips_null_pointers_and_tells_next() {
    scenario(|| {
        let (a, b) = (BlockPool::new(8, 1), BlockPool::new(8, 2));
        assert_eq!((a.info().next, b.info().next), (b, a));
        assert_eq!((b.info().total, b.info().name), (2, None));
        let status = service!(_txe_block_pool_info_get(
            a.0,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
        ));
        assert_eq!(status, TX_SUCCESS);
    });
}
