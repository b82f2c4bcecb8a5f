//! Queues: order, copies, blocked senders, and every code of their services.

mod common;
use common::*;
use std::ptr::null_mut;
use std::sync::Mutex;

fn receiver(log: &Log, name: &'static str, options: Options, queue: Queue, wait: ULONG) -> Thread {
    let log = log.clone();
    Thread::spawn(options, move || match queue.receive(wait) {
        Ok(message) => log.push(format!("{name}={message}")),
        Err(status) => log.push(format!("{name}:{status:x}")),
    })
}

fn sender(log: &Log, options: Options, queue: Queue, message: ULONG, front: bool) -> Thread {
    let log = log.clone();
    Thread::spawn(options, move || {
        let status =
            if front { queue.front_send(message, TX_WAIT_FOREVER) } else { queue.send(message, TX_WAIT_FOREVER) };
        log.push(format!("sent{message}:{status:x}"));
    })
}

/// Receives until the queue is empty.
fn drain(queue: Queue) -> Vec<ULONG> {
    let mut messages = Vec::new();
    loop {
        check();
        match queue.receive(TX_NO_WAIT) {
            Ok(message) => messages.push(message),
            Err(status) => {
                assert_eq!(status, TX_QUEUE_EMPTY);
                return messages;
            }
        }
    }
}

// ---- codes -------------------------------------------------------------------------------------

/// K15, create part: sizes in words, 1 to 16, and a remainder that is not used.
#[test]
fn k15_create_refuses_sizes_and_uses_whole_messages_only() {
    scenario(|| {
        for (words, bytes) in [(0, 100), (17, 1000), (2, 4), (1, 0), (1, 3), (16, 63)] {
            assert_eq!(Queue::blank().create(words, bytes), TX_SIZE_ERROR, "{words} words on {bytes}");
        }
        for (words, bytes, capacity) in [(2, 28, 3), (1, 4, 1), (1, 7, 1), (16, 64, 1), (16, 127, 1), (5, 100, 5)] {
            let queue = Queue::blank();
            assert_eq!(queue.create(words, bytes), TX_SUCCESS);
            assert_eq!(queue.counts(), (0, capacity, 0), "{words} words on {bytes}");
        }
    });
}

#[test]
fn create_refuses_what_is_wrong_in_the_documented_order() {
    scenario(|| {
        let memory = Memory::new(64);
        let create = |block, start, words, size| service!(_txe_queue_create(block, null_mut(), words, start, 64, size));
        let start = memory.start.cast();
        let block = Queue::blank();
        assert_eq!(create(null_mut(), null_mut(), 0, Queue::SIZE), TX_QUEUE_ERROR);
        assert_eq!(create(block.0, null_mut(), 0, 1), TX_QUEUE_ERROR);
        assert_eq!(create(block.0, null_mut(), 0, Queue::SIZE), TX_PTR_ERROR);
        assert_eq!(create(block.0, memory.start.wrapping_add(1).cast(), 1, Queue::SIZE), TX_PTR_ERROR);
        assert_eq!(create(block.0, start, 0, Queue::SIZE), TX_SIZE_ERROR);
        isr(move || assert_eq!(block.create(1, 8), TX_CALLER_ERROR));
        assert_eq!(create(block.0, start, 1, Queue::SIZE), TX_SUCCESS);
        assert_eq!(create(block.0, start, 1, Queue::SIZE), TX_QUEUE_ERROR);
        assert_eq!(block.delete(), TX_SUCCESS);
        assert_eq!(create(block.0, start, 1, Queue::SIZE), TX_SUCCESS);
    });
}

#[test]
fn services_refuse_what_is_no_queue_and_no_pointer() {
    scenario(|| {
        let deleted = Queue::new(1, 1);
        assert_eq!(deleted.delete(), TX_SUCCESS);
        for queue in [Queue(null_mut()), Queue::blank(), deleted] {
            assert_eq!(queue.send(1, TX_NO_WAIT), TX_QUEUE_ERROR);
            assert_eq!(queue.front_send(1, TX_NO_WAIT), TX_QUEUE_ERROR);
            assert_eq!(queue.receive(TX_NO_WAIT), Err(TX_QUEUE_ERROR));
            assert_eq!(queue.flush(), TX_QUEUE_ERROR);
            assert_eq!(queue.prioritize(), TX_QUEUE_ERROR);
            assert_eq!(queue.send_notify(None), TX_QUEUE_ERROR);
            assert_eq!(queue.delete(), TX_QUEUE_ERROR);
            let status = service!(_txe_queue_info_get(
                queue.0,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
            ));
            assert_eq!(status, TX_QUEUE_ERROR);
        }
        let queue = Queue::new(1, 1);
        for message in [null_mut(), 2usize as *mut VOID] {
            assert_eq!(service!(_txe_queue_send(queue.0, message, TX_NO_WAIT)), TX_PTR_ERROR);
            assert_eq!(service!(_txe_queue_front_send(queue.0, message, TX_NO_WAIT)), TX_PTR_ERROR);
            assert_eq!(service!(_txe_queue_receive(queue.0, message, TX_NO_WAIT)), TX_PTR_ERROR);
        }
        assert_eq!(queue.counts(), (0, 1, 0));
    });
}

#[test]
fn interrupts_and_timers_may_do_all_but_wait_create_and_delete() {
    scenario(|| {
        let calls = Shared::new(0);
        let c = calls.clone();
        let queue = Queue::new(1, 2);
        let from_isr_or_timer = move || {
            for wait in [1, TX_WAIT_FOREVER] {
                assert_eq!(queue.send(1, wait), TX_WAIT_ERROR);
                assert_eq!(queue.front_send(1, wait), TX_WAIT_ERROR);
                assert_eq!(queue.receive(wait), Err(TX_WAIT_ERROR));
            }
            assert_eq!(queue.send(1, TX_NO_WAIT), TX_SUCCESS);
            assert_eq!(queue.front_send(2, TX_NO_WAIT), TX_SUCCESS);
            assert_eq!(queue.send(3, TX_NO_WAIT), TX_QUEUE_FULL);
            assert_eq!(queue.receive(TX_NO_WAIT), Ok(2));
            assert_eq!(queue.flush(), TX_SUCCESS);
            assert_eq!(queue.receive(TX_NO_WAIT), Err(TX_QUEUE_EMPTY));
            assert_eq!(queue.prioritize(), TX_SUCCESS);
            assert_eq!(queue.send_notify(None), TX_SUCCESS);
            assert_eq!(queue.delete(), TX_CALLER_ERROR);
            assert_eq!(Queue::blank().create(1, 4), TX_CALLER_ERROR);
            c.set(c.get() + 1);
        };
        isr(from_isr_or_timer.clone());
        Timer::start(1, 0, from_isr_or_timer);
        sleep(1);
        assert_eq!(calls.get(), 2);
    });
}

// ---- order and copies --------------------------------------------------------------------------

#[test]
fn messages_come_in_the_order_of_the_sends_those_sent_to_the_front_first() {
    scenario(|| {
        let queue = Queue::new(1, 4);
        // Every position of the ring.
        for round in 0..9 {
            for message in [10, 11] {
                assert_eq!(queue.send(message + round, TX_NO_WAIT), TX_SUCCESS);
            }
            assert_eq!(queue.front_send(20 + round, TX_NO_WAIT), TX_SUCCESS);
            assert_eq!(queue.front_send(30 + round, TX_NO_WAIT), TX_SUCCESS);
            assert_eq!(queue.send(1, TX_NO_WAIT), TX_QUEUE_FULL);
            assert_eq!(queue.front_send(1, TX_NO_WAIT), TX_QUEUE_FULL);
            assert_eq!(queue.counts(), (4, 0, 0));
            assert_eq!(drain(queue), [30 + round, 20 + round, 10 + round, 11 + round]);
            queue.send(0, TX_NO_WAIT);
            assert_eq!(drain(queue), [0]);
        }
    });
}

/// K15, copy part: the queue's size decides, no more and no less.
#[test]
fn k15_a_message_of_every_size_is_copied_whole_and_nothing_beside_it() {
    scenario(|| {
        for words in 1..=16u32 {
            let len = words as usize;
            // Guard words before and behind the ring of three messages and the receiver's variable.
            let memory = Memory::new((len * 3 + 2) * 4 + 8);
            let ring: &[ULONG] = {
                // SAFETY: the leaked memory, read when no service runs.
                unsafe { std::slice::from_raw_parts(memory.start.cast(), len * 3 + 2) }
            };
            let first = ring.as_ptr().cast_mut();
            // SAFETY: inside the leaked memory.
            unsafe {
                first.write(0xAAAA_AAAA);
                first.add(len * 3 + 1).write(0xBBBB_BBBB);
            }
            let queue = Queue::blank();
            let start = first.wrapping_add(1).cast();
            assert_eq!(queue.create_on(null_mut(), words, start, words * 12), TX_SUCCESS);
            let message = |n: u32| (0..words).map(|at| n * 1000 + at).collect::<Vec<_>>();
            for round in 0..4 {
                assert_eq!(queue.send_words(&message(1 + round), TX_NO_WAIT), TX_SUCCESS);
                assert_eq!(queue.send_words(&message(2 + round), TX_NO_WAIT), TX_SUCCESS);
                assert_eq!(queue.front_send_words(&message(3 + round), TX_NO_WAIT), TX_SUCCESS);
                for n in [3, 1, 2] {
                    let mut buffer = vec![0xCCCC_CCCC; len + 2];
                    assert_eq!(queue.receive_words(&mut buffer[1..], TX_NO_WAIT), TX_SUCCESS);
                    assert_eq!(buffer[1..=len], message(n + round));
                    assert_eq!((buffer[0], buffer[len + 1]), (0xCCCC_CCCC, 0xCCCC_CCCC));
                }
            }
            // Straight to a waiting receiver, and from waiting senders of both kinds.
            let got = Log::new();
            let g = got.clone();
            Thread::spawn(at(10), move || {
                for _ in 0..2 {
                    let mut buffer = vec![0xCCCC_CCCC; len + 1];
                    assert_eq!(queue.receive_words(&mut buffer, TX_WAIT_FOREVER), TX_SUCCESS);
                    assert_eq!(buffer.pop(), Some(0xCCCC_CCCC));
                    g.push(format!("{buffer:?}"));
                }
            });
            queue.send_words(&message(7), TX_NO_WAIT);
            queue.front_send_words(&message(8), TX_NO_WAIT);
            assert_eq!(got.take(), [format!("{:?}", message(7)), format!("{:?}", message(8))]);
            for n in 1..=3 {
                queue.send_words(&message(n), TX_NO_WAIT);
            }
            Thread::spawn(at(10), move || {
                let message: Vec<_> = (0..words).map(|at| 4000 + at).collect();
                queue.send_words(&message, TX_WAIT_FOREVER);
            });
            Thread::spawn(at(10), move || {
                let message: Vec<_> = (0..words).map(|at| 5000 + at).collect();
                queue.front_send_words(&message, TX_WAIT_FOREVER);
            });
            for n in [5, 1, 2, 3, 4] {
                let mut buffer = vec![0; len];
                assert_eq!(queue.receive_words(&mut buffer, TX_NO_WAIT), TX_SUCCESS);
                assert_eq!(buffer, message(n));
                check();
            }
            assert_eq!((ring[0], ring[len * 3 + 1]), (0xAAAA_AAAA, 0xBBBB_BBBB));
        }
    });
}

/// K16.
#[test]
fn k16_a_blocked_front_sender_overtakes_everything_and_a_flush_lets_senders_go() {
    scenario(|| {
        let log = Log::new();
        let queue = Queue::new(1, 3);
        for message in [1, 2, 3] {
            assert_eq!(queue.send(message, TX_NO_WAIT), TX_SUCCESS);
        }
        assert_eq!(queue.send(4, TX_NO_WAIT), TX_QUEUE_FULL);
        sender(&log, at(20), queue, 50, false);
        sender(&log, at(20), queue, 51, false);
        let front = sender(&log, at(20), queue, 100, true);
        sleep(1);
        assert_eq!(queue.counts(), (3, 0, 3));
        assert_eq!((queue.info().first, front.state()), (front, TX_QUEUE_SUSP));
        check();
        assert_eq!(drain(queue), [100, 1, 2, 3, 50, 51]);
        sleep(1);
        log.expect("sent100:0 sent50:0 sent51:0");
        for message in [1, 2, 3] {
            queue.send(message, TX_NO_WAIT);
        }
        sender(&log, at(20), queue, 60, false);
        sleep(1);
        assert_eq!(queue.flush(), TX_SUCCESS);
        check();
        sleep(1);
        log.expect("sent60:0");
        assert_eq!(queue.counts(), (0, 3, 0));
        assert_eq!(drain(queue), []);
    });
}

#[test]
fn two_blocked_front_senders_the_later_goes_first() {
    scenario(|| {
        let log = Log::new();
        let queue = Queue::new(1, 1);
        queue.send(1, TX_NO_WAIT);
        sender(&log, at(10), queue, 2, true);
        sender(&log, at(10), queue, 3, true);
        sender(&log, at(10), queue, 4, false);
        assert_eq!(drain(queue), [3, 2, 1, 4]);
        log.expect("sent3:0 sent2:0 sent4:0");
    });
}

#[test]
fn receivers_are_served_in_order_and_directly() {
    scenario(|| {
        let log = Log::new();
        let queue = Queue::new(1, 2);
        receiver(&log, "a", at(12), queue, TX_WAIT_FOREVER);
        receiver(&log, "b", at(10), queue, TX_WAIT_FOREVER);
        assert_eq!(queue.counts(), (0, 2, 2));
        assert_eq!(queue.flush(), TX_SUCCESS);
        assert_eq!(queue.counts(), (0, 2, 2));
        check();
        queue.send(1, TX_NO_WAIT);
        log.expect("a=1");
        assert_eq!(queue.counts(), (0, 2, 1));
        queue.front_send(2, TX_NO_WAIT);
        log.expect("b=2");
        isr(move || assert_eq!(queue.send(3, TX_NO_WAIT), TX_SUCCESS));
        assert_eq!(queue.counts(), (1, 1, 0));
    });
}

#[test]
fn prioritize_serves_the_best_waiter_first_on_both_sides() {
    scenario(|| {
        let log = Log::new();
        let queue = Queue::new(1, 1);
        receiver(&log, "12", at(12), queue, TX_WAIT_FOREVER);
        receiver(&log, "10", at(10), queue, TX_WAIT_FOREVER);
        receiver(&log, "10b", at(10), queue, TX_WAIT_FOREVER);
        queue.prioritize();
        for message in 1..=3 {
            queue.send(message, TX_NO_WAIT);
        }
        log.expect("10=1 12=2 10b=3");
        queue.send(0, TX_NO_WAIT);
        sender(&log, at(12), queue, 12, false);
        sender(&log, at(10), queue, 10, false);
        queue.prioritize();
        check();
        assert_eq!(drain(queue), [0, 10, 12]);
        log.expect("sent10:0 sent12:0");
    });
}

#[test]
fn a_wait_ends_by_time_abort_and_delete_with_its_own_code() {
    scenario(|| {
        let log = Log::new();
        let empty = Queue::new(1, 1);
        let full = Queue::new(1, 1);
        full.send(1, TX_NO_WAIT);
        let l = log.clone();
        Thread::spawn(at(10), move || l.push(format!("full:{:x}", full.send(2, 2))));
        let l = log.clone();
        Thread::spawn(at(10), move || l.push(format!("front:{:x}", full.front_send(2, 3))));
        receiver(&log, "empty", at(10), empty, 4);
        let aborted = receiver(&log, "aborted", at(10), empty, TX_WAIT_FOREVER);
        let aborted2 = sender(&log, at(10), full, 3, false);
        receiver(&log, "deleted", at(10), empty, TX_WAIT_FOREVER);
        sender(&log, at(10), full, 4, true);
        let start = now();
        for (tick, expected) in [(1, ""), (2, "full:b"), (3, "front:b"), (4, "empty:a"), (5, "")] {
            sleep(1);
            assert_eq!(now(), start + tick);
            assert_eq!(log.take().join(" "), expected, "tick {tick}");
            check();
        }
        aborted.wait_abort();
        aborted2.wait_abort();
        log.expect("aborted:1a sent3:1a");
        assert_eq!(empty.delete(), TX_SUCCESS);
        assert_eq!(full.delete(), TX_SUCCESS);
        log.expect("deleted:1 sent4:1");
    });
}

#[test]
fn a_terminated_waiter_neither_sends_nor_receives() {
    scenario(|| {
        let log = Log::new();
        let queue = Queue::new(1, 1);
        let gone = receiver(&log, "gone", at(10), queue, TX_WAIT_FOREVER);
        gone.terminate();
        check();
        queue.send(1, TX_NO_WAIT);
        let gone = sender(&log, at(10), queue, 2, true);
        gone.terminate();
        check();
        assert_eq!(drain(queue), [1]);
        log.expect("");
    });
}

#[test]
fn info_skips_null_pointers_and_tells_name_and_next() {
    scenario(|| {
        let (a, b) = (Queue::blank(), Queue::blank());
        assert_eq!(a.create_on(leak_name("first"), 1, Memory::new(8).start, 8), TX_SUCCESS);
        assert_eq!(b.create(1, 8), TX_SUCCESS);
        assert_eq!((a.info().name.as_deref(), b.info().name), (Some("first"), None));
        assert_eq!((a.info().next, b.info().next), (b, a));
        let status =
            service!(_txe_queue_info_get(a.0, null_mut(), null_mut(), null_mut(), null_mut(), null_mut(), null_mut(),));
        assert_eq!(status, TX_SUCCESS);
    });
}

// ---- notification ------------------------------------------------------------------------------

#[test]
fn the_notification_comes_after_every_send_and_before_the_receiver_runs() {
    static LOG: Mutex<Vec<(ULONG, ULONG)>> = Mutex::new(Vec::new());
    unsafe extern "C-unwind" fn notify(queue: *mut TX_QUEUE) {
        let (enqueued, _, waiting) = Queue(queue).counts();
        LOG.lock().unwrap().push((enqueued, waiting));
    }
    let seen = || std::mem::take(&mut *LOG.lock().unwrap());
    scenario(move || {
        let log = Log::new();
        let queue = Queue::new(1, 1);
        assert_eq!(queue.send_notify(Some(notify)), TX_SUCCESS);
        receiver(&log, "r", at(10), queue, TX_WAIT_FOREVER);
        queue.send(1, TX_NO_WAIT);
        assert_eq!(seen(), [(0, 0)]);
        log.expect("r=1");
        queue.front_send(2, TX_NO_WAIT);
        assert_eq!(seen(), [(1, 0)]);
        assert_eq!(queue.send(3, TX_NO_WAIT), TX_QUEUE_FULL);
        assert_eq!(seen(), []);
        // A sender that waited notifies when it runs again.
        sender(&log, at(10), queue, 4, false);
        assert_eq!(seen(), []);
        assert_eq!(queue.receive(TX_NO_WAIT), Ok(2));
        assert_eq!(seen(), [(1, 0)]);
        log.expect("sent4:0");
        assert_eq!(queue.receive(TX_NO_WAIT), Ok(4));
        isr(move || assert_eq!(queue.send(5, TX_NO_WAIT), TX_SUCCESS));
        assert_eq!(seen(), [(1, 0)]);
        queue.send_notify(None);
        queue.flush();
        queue.send(6, TX_NO_WAIT);
        assert_eq!(seen(), []);
        check();
    });
}

// ---- interrupts during a flush -----------------------------------------------------------------

#[test]
fn an_interrupt_during_a_flush_finds_a_queue_that_works() {
    static QUEUE: Mutex<Option<Queue>> = Mutex::new(None);
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    fn point() {
        let queue = QUEUE.lock().unwrap().take();
        if let Some(queue) = queue {
            host::interrupt(move || {
                let mut seen = SEEN.lock().unwrap();
                seen.push(format!("{:?}", queue.counts()));
                seen.push(format!("{:x?}", queue.receive(TX_NO_WAIT)));
                seen.push(format!("{:x}", queue.send(70, TX_NO_WAIT)));
                seen.push(format!("{:x?}", queue.receive(TX_NO_WAIT)));
                seen.push(format!("{:x}", queue.front_send(71, TX_NO_WAIT)));
            });
        }
    }
    scenario(|| {
        let log = Log::new();
        let queue = Queue::new(1, 2);
        queue.send(1, TX_NO_WAIT);
        queue.send(2, TX_NO_WAIT);
        sender(&log, at(10), queue, 50, false);
        sender(&log, at(10), queue, 51, false);
        sender(&log, at(10), queue, 52, true);
        *QUEUE.lock().unwrap() = Some(queue);
        host::set_interrupt_point(Some(point));
        assert_eq!(queue.flush(), TX_SUCCESS);
        host::set_interrupt_point(None);
        // The handler came when one of three blocked senders had been let go.
        assert_eq!(*SEEN.lock().unwrap(), ["(0, 2, 2)", "Err(a)", "0", "Ok(46)", "0"]);
        log.expect("sent52:0 sent50:0 sent51:0");
        check();
        assert_eq!(drain(queue), [71]);
    });
}
