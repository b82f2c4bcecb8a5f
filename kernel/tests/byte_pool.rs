//! Byte pools: first fit, merging, waiters, wrong releases, and every code of their services.
//!
//! Figures are those of the host, whose words have 8 bytes: an allocation costs 16 bytes beside its own.

mod common;
use common::*;
use std::ptr::null_mut;
use std::sync::Mutex;

const WORD: usize = size_of::<usize>();
const HEADER: ULONG = 2 * WORD as ULONG;

fn getter(log: &Log, name: &'static str, options: Options, pool: BytePool, bytes: ULONG, wait: ULONG) -> Thread {
    let log = log.clone();
    Thread::spawn(options, move || match pool.allocate(bytes, wait) {
        Ok(memory) => {
            memory.fill(bytes as usize, 0xA5);
            log.push(format!("{name}:0"));
        }
        Err(status) => log.push(format!("{name}:{status:x}")),
    })
}

#[test]
fn create_refuses_what_is_wrong_in_the_documented_order() {
    scenario(|| {
        let memory = Memory::new(256);
        let create =
            |block, start, bytes, control| service!(_txe_byte_pool_create(block, null_mut(), start, bytes, control));
        let start: *mut VOID = memory.start.cast();
        let block = BytePool::blank();
        assert_eq!(create(null_mut(), null_mut(), 1, BytePool::SIZE), TX_POOL_ERROR);
        assert_eq!(create(block.0, null_mut(), 1, 3), TX_POOL_ERROR);
        assert_eq!(create(block.0, null_mut(), 1, BytePool::SIZE), TX_PTR_ERROR);
        assert_eq!(create(block.0, memory.start.wrapping_add(4).cast(), 200, BytePool::SIZE), TX_PTR_ERROR);
        assert_eq!(create(block.0, start, 99, BytePool::SIZE), TX_SIZE_ERROR);
        isr(move || assert_eq!(block.create_on(memory.ptr(), 100), TX_CALLER_ERROR));
        assert_eq!(create(block.0, start, 100, BytePool::SIZE), TX_SUCCESS);
        assert_eq!(create(block.0, start, 100, BytePool::SIZE), TX_POOL_ERROR);
        // Rounded down to words, less the end mark.
        assert_eq!(block.counts(), (96 - HEADER, 2));
        assert_eq!(block.delete(), TX_SUCCESS);
        assert_eq!(create(block.0, start, 100, BytePool::SIZE), TX_SUCCESS);
    });
}

#[test]
fn services_refuse_what_is_no_pool() {
    scenario(|| {
        let deleted = BytePool::new(200);
        let memory = deleted.allocate(8, TX_NO_WAIT).unwrap();
        assert_eq!(deleted.delete(), TX_SUCCESS);
        assert_eq!(byte_release(memory), TX_PTR_ERROR);
        for pool in [BytePool(null_mut()), BytePool::blank(), deleted] {
            assert_eq!(pool.allocate(8, TX_NO_WAIT), Err(TX_POOL_ERROR));
            assert_eq!(pool.prioritize(), TX_POOL_ERROR);
            assert_eq!(pool.delete(), TX_POOL_ERROR);
            let status = service!(_txe_byte_pool_info_get(
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
        let pool = BytePool::new(200);
        assert_eq!(service!(_txe_byte_allocate(pool.0, null_mut(), 8, TX_NO_WAIT)), TX_PTR_ERROR);
    });
}

/// K17, byte pool part.
#[test]
fn k17_only_initialization_and_threads_allocate_and_release() {
    scenario(|| {
        let pool = BytePool::new(200);
        let memory = pool.allocate(8, TX_NO_WAIT).unwrap();
        let calls = Shared::new(0);
        let c = calls.clone();
        let both = move || {
            assert_eq!(pool.allocate(0, TX_NO_WAIT), Err(TX_SIZE_ERROR));
            assert_eq!(pool.allocate(8, TX_NO_WAIT), Err(TX_CALLER_ERROR));
            assert_eq!(byte_release(memory), TX_CALLER_ERROR);
            assert_eq!(byte_release(Piece(null_mut())), TX_PTR_ERROR);
            assert_eq!(pool.prioritize(), TX_SUCCESS);
            assert_eq!(pool.delete(), TX_CALLER_ERROR);
            c.set(c.get() + 1);
        };
        let b = both.clone();
        isr(move || {
            assert_eq!(pool.allocate(8, 1), Err(TX_WAIT_ERROR));
            b();
        });
        Timer::start(1, 0, move || {
            assert_eq!(pool.allocate(8, 1), Err(TX_CALLER_ERROR));
            both();
        });
        sleep(1);
        assert_eq!(calls.get(), 2);
        assert_eq!(byte_release(memory), TX_SUCCESS);
    });
    let ran = Shared::new(false);
    let r = ran.clone();
    run(move || {
        let pool = BytePool::new(200);
        assert_eq!(pool.allocate(8, 1), Err(TX_WAIT_ERROR));
        let memory = pool.allocate(8, TX_NO_WAIT).unwrap();
        assert_eq!(byte_release(memory), TX_SUCCESS);
        r.set(true);
    });
    assert!(ran.get());
}

/// K13.
#[test]
fn k13_fragments_are_merged_only_while_somebody_allocates() {
    scenario(|| {
        let pool = BytePool::new(4096);
        assert_eq!(pool.allocate(0, TX_NO_WAIT), Err(TX_SIZE_ERROR));
        assert_eq!(pool.allocate(4096, TX_NO_WAIT), Err(TX_NO_MEMORY));
        assert_eq!(pool.allocate(5000, TX_NO_WAIT), Err(TX_SIZE_ERROR));
        assert_eq!(pool.counts(), (4080, 2));
        let pieces: Vec<_> = (0..4).map(|_| pool.allocate(900, TX_NO_WAIT).unwrap()).collect();
        assert_eq!(pool.counts(), (400, 6));
        for &piece in &pieces[..3] {
            assert_eq!(byte_release(piece), TX_SUCCESS);
        }
        assert_eq!(pool.counts(), (3160, 6));
        assert_eq!(pool.allocate(2600, TX_NO_WAIT), Ok(pieces[0]));
        assert_eq!(pool.counts(), (544, 5));
        check();
    });
}

#[test]
fn the_largest_piece_is_the_pool_without_its_end_and_one_header() {
    scenario(|| {
        let pool = BytePool::new(1000);
        let largest = 1000 - 2 * HEADER;
        assert_eq!(pool.allocate(largest + 1, TX_NO_WAIT), Err(TX_NO_MEMORY));
        let piece = pool.allocate(largest, TX_NO_WAIT).unwrap();
        piece.fill(largest as usize, 0xFF);
        assert_eq!(pool.counts(), (0, 2));
        assert_eq!(pool.allocate(1, TX_NO_WAIT), Err(TX_NO_MEMORY));
        check();
        assert_eq!(byte_release(piece), TX_SUCCESS);
        // A rest of less than 20 bytes stays with the piece.
        let piece = pool.allocate(largest - 16, TX_NO_WAIT).unwrap();
        assert_eq!(pool.counts(), (0, 2));
        assert_eq!(byte_release(piece), TX_SUCCESS);
        let piece = pool.allocate(largest - 24, TX_NO_WAIT).unwrap();
        assert_eq!(pool.counts(), (24, 3));
        assert_eq!(byte_release(piece), TX_SUCCESS);
        assert_eq!(pool.allocate(largest, TX_NO_WAIT), Ok(piece));
        check();
    });
}

#[test]
fn the_search_goes_on_from_where_the_last_one_ended() {
    scenario(|| {
        let pool = BytePool::new(1024);
        let [a, b, c, d] = [(); 4].map(|()| pool.allocate(64, TX_NO_WAIT).unwrap());
        byte_release(c);
        byte_release(a);
        // a is before the place of search and moves it back; both fit, the first is taken.
        assert_eq!(pool.allocate(32, TX_NO_WAIT), Ok(a));
        // The rest of a is too small for this one.
        assert_eq!(pool.allocate(64, TX_NO_WAIT), Ok(c));
        byte_release(b);
        byte_release(d);
        assert_eq!(pool.allocate(100, TX_NO_WAIT).unwrap(), d);
        check();
    });
}

/// K14, byte pool part.
#[test]
fn k14_a_second_release_and_foreign_pointers_are_refused() {
    scenario(|| {
        let (pool, other) = (BytePool::new(1000), BytePool::new(1000));
        let a = pool.allocate(64, TX_NO_WAIT).unwrap();
        let b = pool.allocate(64, TX_NO_WAIT).unwrap();
        a.fill(64, 0);
        let foreign = other.allocate(64, TX_NO_WAIT).unwrap();
        assert_eq!(byte_release(a), TX_SUCCESS);
        assert_eq!(byte_release(a), TX_PTR_ERROR);
        let local = [0usize; 4];
        for wrong in [
            Piece(null_mut()),
            Piece((&raw const local[2]).cast_mut().cast()),
            a.offset(8),
            b.offset(3),
            b.offset(8),
            b.offset(-16),
            b.offset(64 + 16),
            b.offset(-(1 << 30)),
        ] {
            assert_eq!(byte_release(wrong), TX_PTR_ERROR);
        }
        assert_eq!(byte_release(foreign), TX_SUCCESS);
        assert_eq!(byte_release(b), TX_SUCCESS);
        assert_eq!((pool.counts().0, other.counts().0), (1000 - HEADER, 1000 - HEADER));
        check();
    });
}

/// K20, byte pool part.
#[test]
fn k20_a_release_serves_from_the_head_and_stops_at_the_first_that_does_not_fit() {
    scenario(|| {
        let log = Log::new();
        let pool = BytePool::new(4096);
        let pieces: Vec<_> = (0..4).map(|_| pool.allocate(900, TX_NO_WAIT).unwrap()).collect();
        let rest = pool.allocate(380, TX_NO_WAIT).unwrap();
        getter(&log, "2000", at(5), pool, 2000, TX_WAIT_FOREVER);
        let small = getter(&log, "100", at(4), pool, 100, TX_WAIT_FOREVER);
        assert_eq!((small.state(), pool.info().waiting), (TX_BYTE_MEMORY, 2));
        check();
        assert_eq!(byte_release(pieces[0]), TX_SUCCESS);
        log.expect("");
        assert_eq!(pool.prioritize(), TX_SUCCESS);
        log.expect("");
        assert_eq!(pool.info().first, small);
        check();
        assert_eq!(byte_release(pieces[2]), TX_SUCCESS);
        log.expect("100:0");
        assert_eq!(byte_release(pieces[1]), TX_SUCCESS);
        assert_eq!(byte_release(pieces[3]), TX_SUCCESS);
        log.expect("2000:0");
        assert_eq!(byte_release(rest), TX_SUCCESS);
        check();
    });
}

#[test]
fn one_release_may_serve_several_waiters() {
    scenario(|| {
        let log = Log::new();
        let pool = BytePool::new(1024);
        let all = pool.allocate(1024 - 2 * HEADER, TX_NO_WAIT).unwrap();
        for (name, bytes) in [("a", 300), ("b", 200), ("c", 600), ("d", 8)] {
            getter(&log, name, at(10), pool, bytes, TX_WAIT_FOREVER);
        }
        byte_release(all);
        log.expect("a:0 b:0");
        assert_eq!(pool.info().waiting, 2);
        check();
    });
}

#[test]
fn a_wait_ends_by_time_abort_and_delete_with_its_own_code() {
    scenario(|| {
        let log = Log::new();
        let pool = BytePool::new(200);
        getter(&log, "timed", at(10), pool, 180, 2);
        let aborted = getter(&log, "aborted", at(10), pool, 180, TX_WAIT_FOREVER);
        let ended = getter(&log, "ended", at(10), pool, 180, TX_WAIT_FOREVER);
        getter(&log, "deleted", at(10), pool, 180, TX_WAIT_FOREVER);
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
fn random_sizes_do_not_overlap_and_all_memory_comes_back() {
    scenario(|| {
        let memory = Memory::new(8192);
        let pool = BytePool::blank();
        assert_eq!(pool.create_on(memory.start, 8192), TX_SUCCESS);
        let mut seed = 12345u32;
        let mut random = move |below: u32| {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            seed % below
        };
        let mut held: Vec<(Piece, usize, u8)> = Vec::new();
        for round in 0..20_000u32 {
            if random(2) == 0 || held.is_empty() {
                let bytes = 1 + random(400);
                if let Ok(piece) = pool.allocate(bytes, TX_NO_WAIT) {
                    assert!(memory.contains(piece.0, bytes as usize));
                    assert!((piece.0 as usize).is_multiple_of(WORD));
                    piece.fill(bytes as usize, round as u8);
                    held.push((piece, bytes as usize, round as u8));
                }
            } else {
                let (piece, bytes, value) = held.swap_remove(random(held.len() as u32) as usize);
                assert!(piece.is_filled(bytes, value), "round {round}");
                assert_eq!(byte_release(piece), TX_SUCCESS);
            }
            if round % 64 == 0 {
                check();
            }
        }
        for (piece, bytes, value) in held {
            assert!(piece.is_filled(bytes, value));
            assert_eq!(byte_release(piece), TX_SUCCESS);
        }
        pool.allocate(8192 - 2 * HEADER, TX_NO_WAIT).unwrap();
        assert_eq!(pool.counts(), (0, 2));
    });
}

/// A higher thread that allocates, releases, or deletes the pool while a search is under way.
#[test]
fn a_search_notices_what_a_higher_thread_did_to_the_pool() {
    static HIGH: Mutex<Option<Thread>> = Mutex::new(None);
    fn point() {
        let high = HIGH.lock().unwrap().take();
        if let Some(high) = high {
            host::interrupt(move || assert_eq!(high.resume(), TX_SUCCESS));
        }
    }
    for case in 0..3 {
        scenario(move || {
            let pool = BytePool::new(2048);
            let pieces = [(); 6].map(|()| pool.allocate(200, TX_NO_WAIT).unwrap());
            for at in [0, 2, 4] {
                byte_release(pieces[at]);
            }
            let last = pieces[5];
            *HIGH.lock().unwrap() = Some(Thread::spawn(at(5).suspended(), move || match case {
                // Takes what the search is about to find.
                0 => drop(pool.allocate(600, TX_NO_WAIT).unwrap()),
                // Joins what the search has passed already.
                1 => assert_eq!(byte_release(pieces[1]), TX_SUCCESS),
                _ => assert_eq!(pool.delete(), TX_SUCCESS),
            }));
            host::set_interrupt_point(Some(point));
            let result = pool.allocate(600, TX_NO_WAIT);
            host::set_interrupt_point(None);
            match case {
                0 => assert_eq!(result, Err(TX_NO_MEMORY)),
                1 => assert_eq!(result, Ok(pieces[0])),
                _ => assert_eq!(result, Err(TX_DELETED)),
            }
            assert_eq!(byte_release(last), if case == 2 { TX_PTR_ERROR } else { TX_SUCCESS });
            check();
        });
    }
}

#[test]
fn info_skips_null_pointers_and_tells_next() {
    scenario(|| {
        let (a, b) = (BytePool::new(200), BytePool::new(300));
        assert_eq!((a.info().next, b.info().next), (b, a));
        let status = service!(_txe_byte_pool_info_get(
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
