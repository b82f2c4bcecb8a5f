//! Queues through the safe API, on the host port.

mod common;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Dropped, Host, run};
use threadx::{
    Builder, Error, Priority, Queue, Receiver, Rejected, Schedule, Sender, Ticks, Timeout, Timer, host, thread,
};

const MAIN: Priority = Priority::of::<10>();
const HIGHER: Priority = Priority::of::<5>();

macro_rules! run_in_thread {
    ($main:expr) => {{
        cell! { MAIN_CELL, MAIN_STACK }
        run(|_| {
            let main = Builder::new("main").priority(MAIN);
            main.spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), $main).unwrap().detach();
        });
    }};
}

/// Sends one message of a type through a queue, and looks for damage around the receiver's variable.
fn round_trip<T: PartialEq + Clone + core::fmt::Debug + Send>(queue: &'static Queue<T, 3>, message: &T) {
    queue.create("typed").unwrap();
    assert_eq!(queue.info().unwrap().free, 3);
    for _ in 0..7 {
        let mut guarded = [(0x5555_5555u32, None, 0x5555_5555u32), (0x5555_5555, None, 0x5555_5555)];
        queue.try_send(message.clone()).unwrap();
        queue.try_send(message.clone()).unwrap();
        guarded[0].1 = Some(queue.try_receive().unwrap());
        guarded[1].1 = Some(queue.try_receive().unwrap());
        let expected = (0x5555_5555, Some(message.clone()), 0x5555_5555);
        assert_eq!(guarded, [expected.clone(), expected]);
    }
    queue.delete().unwrap();
}

#[test]
fn messages_of_all_sizes_arrive_whole() {
    macro_rules! types {
        ($($ty:ty = $message:expr;)*) => {$({
            static QUEUE: Queue<$ty, 3> = Queue::new();
            round_trip(&QUEUE, &$message);
        })*};
    }
    run_in_thread!(|| {
        types! {
            () = ();
            u8 = 0xA5;
            [u8; 3] = [1, 2, 3];
            u32 = 0xDEAD_BEEF;
            [u8; 5] = [1, 2, 3, 4, 5];
            [u32; 3] = [1, 2, 3];
            u64 = 0x0123_4567_89AB_CDEF;
            (u8, u64, u16) = (1, 2, 3);
            [u8; 64] = [7; 64];
            Option<Box<u32>> = Some(Box::new(5));
            &'static str = "a borrow";
            Result<[u16; 5], char> = Err('x');
        }
        host::finish()
    });
}

#[test]
fn front_sends_and_blocked_senders_come_in_order_and_flush_drops() {
    cell! { A, A_STACK; B, B_STACK; C, C_STACK }
    static Q: Queue<u32, 3> = Queue::new();
    run_in_thread!(|| {
        Q.create("queue").unwrap();
        assert_eq!(Q.create("again"), Err(Error::InUse));
        for message in 1..=3 {
            Q.try_send(message).unwrap();
        }
        assert_eq!(Q.try_send(4), Err(Rejected { error: Error::QueueFull, value: 4 }));
        assert_eq!(Q.send(5, Ticks::new(2)).unwrap_err().error, Error::QueueFull);
        let blocked = |cell, stack: threadx::StackToken<Host>, message, front| {
            let send = move || {
                if front { Q.send_front(message, Timeout::Forever) } else { Q.send(message, Timeout::Forever) }
            };
            Builder::new("sender").priority(HIGHER).spawn(cell, stack, send).unwrap()
        };
        let a = blocked(&A, A_STACK.take().unwrap(), 50, false);
        let b = blocked(&B, B_STACK.take().unwrap(), 51, false);
        let c = blocked(&C, C_STACK.take().unwrap(), 100, true);
        assert_eq!((Q.info().unwrap().messages, Q.info().unwrap().waiting), (3, 3));
        for expected in [100, 1, 2, 3, 50, 51] {
            assert_eq!(Q.try_receive(), Ok(expected));
        }
        assert_eq!(Q.try_receive(), Err(Error::QueueEmpty));
        assert_eq!((a.join(), b.join(), c.join()), (Ok(Ok(())), Ok(Ok(())), Ok(Ok(()))));

        for message in [1, 2] {
            Q.try_send(message).unwrap();
        }
        Q.try_send_front(0).unwrap();
        let a = blocked(&A, A_STACK.take().unwrap(), 3, false);
        assert_eq!(Q.flush(), Ok(4));
        assert_eq!(a.join(), Ok(Ok(())), "the blocked sender's send succeeds");
        assert_eq!((Q.info().unwrap().messages, Q.flush()), (0, Ok(0)));
        let waiter = Builder::new("receiver").priority(HIGHER);
        let waiter = waiter.spawn(&A, A_STACK.take().unwrap(), || Q.receive(Timeout::Forever)).unwrap();
        assert_eq!(Q.flush(), Ok(0), "a waiting receiver is left alone");
        Q.try_send(9).unwrap();
        assert_eq!(waiter.join(), Ok(Ok(9)));
        assert_eq!(critical_section::with(|_| Q.receive(Timeout::Forever)), Err(Error::QueueEmpty));
        host::check_invariants().unwrap();
        host::finish()
    });
}

#[test]
fn every_message_is_dropped_exactly_once() {
    cell! { A, A_STACK; B, B_STACK }
    static Q: Queue<Dropped, 2> = Queue::new();
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    run_in_thread!(|| {
        let mut expected = 0;
        let mut dropped = |now: u32, why| {
            expected += now;
            assert_eq!(DROPPED.load(SeqCst), expected, "{why}");
        };
        let rejected = Q.try_send(Dropped(&DROPPED)).unwrap_err();
        dropped(0, "handed back by a queue that does not exist");
        drop(rejected);
        dropped(1, "by the sender");
        for _ in 0..100 {
            Q.create("queue").unwrap();
            Q.try_send(Dropped(&DROPPED)).unwrap();
            Q.try_send_front(Dropped(&DROPPED)).unwrap();
            dropped(0, "stored");
            drop(Q.try_receive().unwrap());
            dropped(1, "received");
            Q.try_send(Dropped(&DROPPED)).unwrap();
            assert_eq!(Q.flush(), Ok(2));
            dropped(2, "flushed");
            Q.try_send(Dropped(&DROPPED)).unwrap();
            Q.try_send(Dropped(&DROPPED)).unwrap();
            let blocked = Builder::new("blocked").priority(HIGHER);
            let blocked = blocked.spawn(&A, A_STACK.take().unwrap(), || Q.send(Dropped(&DROPPED), Timeout::Forever));
            let aborted = Builder::new("aborted").priority(HIGHER);
            let aborted = aborted.spawn(&B, B_STACK.take().unwrap(), || Q.send(Dropped(&DROPPED), Timeout::Forever));
            let aborted = aborted.unwrap();
            aborted.thread().wait_abort().unwrap();
            assert_eq!(aborted.join().unwrap().unwrap_err().error, Error::WaitAborted);
            dropped(1, "handed back by an aborted wait, and dropped above");
            Q.delete().unwrap();
            dropped(2, "in the queue when it was deleted");
            let rejected = blocked.unwrap().join().unwrap().unwrap_err();
            assert_eq!(rejected.error, Error::Deleted);
            dropped(0, "handed back by the deletion");
            drop(rejected);
            dropped(1, "by the blocked sender");
            assert_eq!(
                (Q.delete(), Q.flush(), Q.prioritize()),
                (Err(Error::Queue), Err(Error::Queue), Err(Error::Queue))
            );
            assert_eq!((Q.try_receive().err(), Q.info()), (Some(Error::Queue), Err(Error::Queue)));
            host::check_invariants().unwrap();
        }
        host::finish()
    });
}

#[test]
fn receivers_wait_and_deletion_wakes_them() {
    cell! { A, A_STACK }
    static Q: Queue<Box<u32>, 1> = Queue::new();
    run_in_thread!(|| {
        Q.create("queue").unwrap();
        let receive = || {
            let receiver: Receiver<Box<u32>> = Q.receiver();
            receiver.receive(Timeout::Forever)
        };
        let receiver = Builder::new("receiver").priority(HIGHER);
        let waiting = receiver.spawn(&A, A_STACK.take().unwrap(), receive).unwrap();
        let sender: Sender<Box<u32>> = Q.sender();
        sender.send(Box::new(3), Timeout::Forever).unwrap();
        assert_eq!(waiting.join(), Ok(Ok(Box::new(3))));
        let waiting = receiver.spawn(&A, A_STACK.take().unwrap(), receive).unwrap();
        Q.delete().unwrap();
        assert_eq!(waiting.join(), Ok(Err(Error::Deleted)));
        assert_eq!(sender.try_send(Box::new(4)).unwrap_err().error, Error::Queue);
        assert_eq!(Q.receiver().try_receive(), Err(Error::Queue));
        host::finish()
    });
}

#[test]
fn a_terminated_sender_or_receiver_leaves_a_sound_queue() {
    cell! { A, A_STACK; B, B_STACK }
    static Q: Queue<Box<u32>, 1> = Queue::new();
    run_in_thread!(|| {
        Q.create("queue").unwrap();
        let receiver = Builder::new("receiver").priority(HIGHER);
        let receiver = receiver.spawn(&A, A_STACK.take().unwrap(), || Q.receive(Timeout::Forever)).unwrap();
        receiver.terminate().unwrap();
        Q.try_send(Box::new(1)).unwrap();
        let sender = Builder::new("sender").priority(HIGHER);
        let sender = sender.spawn(&B, B_STACK.take().unwrap(), || Q.send(Box::new(2), Timeout::Forever)).unwrap();
        assert_eq!(Q.info().unwrap().waiting, 1);
        sender.terminate().unwrap();
        assert_eq!((Q.try_receive(), Q.try_receive()), (Ok(Box::new(1)), Err(Error::QueueEmpty)));
        host::check_invariants().unwrap();
        host::finish()
    });
}

#[test]
fn contexts() {
    static Q: Queue<u32, 2> = Queue::new();
    static OTHER: Queue<u32, 2> = Queue::new();
    static T: Timer = Timer::new();
    static DONE: AtomicU32 = AtomicU32::new(0);
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK }
    fn anywhere() {
        assert_eq!(Q.try_send(1), Ok(()));
        assert_eq!(Q.try_send_front(2), Ok(()));
        assert_eq!(Q.try_send(3), Err(Rejected { error: Error::QueueFull, value: 3 }));
        assert_eq!((Q.try_receive(), Q.try_receive()), (Ok(2), Ok(1)));
        assert_eq!(Q.send(4, Timeout::Forever), Err(Rejected { error: Error::Wait, value: 4 }));
        assert_eq!(Q.send_front(4, Ticks::new(1)), Err(Rejected { error: Error::Wait, value: 4 }));
        assert_eq!((Q.receive(Timeout::Forever), Q.try_receive()), (Err(Error::Wait), Err(Error::QueueEmpty)));
        assert_eq!((Q.flush(), Q.prioritize(), Q.delete()), (Ok(0), Ok(()), Err(Error::Caller)));
        DONE.fetch_add(1, SeqCst);
    }
    run(|_| {
        Q.create("queue").unwrap();
        anywhere();
        let main = || {
            host::interrupt(|| {
                anywhere();
                assert_eq!(OTHER.create("other"), Err(Error::Caller));
            });
            T.create("timer", Schedule::once(Ticks::new(1)), anywhere).unwrap();
            T.activate().unwrap();
            thread::sleep(Ticks::new(2)).unwrap();
            assert_eq!(DONE.load(SeqCst), 3);
            let receiver = Builder::new("receiver").priority(HIGHER);
            let receiver = receiver.spawn(&A, A_STACK.take().unwrap(), || Q.receive(Timeout::Forever)).unwrap();
            host::interrupt(|| Q.try_send(5).unwrap());
            assert!(receiver.is_finished(), "woken by an interrupt, it runs right after it");
            assert_eq!(receiver.join(), Ok(Ok(5)));
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn each_queue_has_its_own_notification() {
    cell! { A, A_STACK }
    static P: Queue<u32, 4> = Queue::new();
    static Q: Queue<u32, 7> = Queue::new();
    static P_SUM: AtomicU32 = AtomicU32::new(0);
    static Q_SENT: AtomicU32 = AtomicU32::new(0);
    run_in_thread!(|| {
        P.create("p").unwrap();
        Q.create("q").unwrap();
        let sum = |receiver: Receiver<u32>| {
            assert_eq!(receiver, P.receiver());
            if let Ok(message) = receiver.try_receive() {
                P_SUM.fetch_add(message, SeqCst);
            }
        };
        P.set_send_notify(Some(sum)).unwrap();
        Q.set_send_notify(Some(|_| _ = Q_SENT.fetch_add(1, SeqCst))).unwrap();
        P.try_send(3).unwrap();
        P.sender().try_send(4).unwrap();
        host::interrupt(|| P.try_send_front(5).unwrap());
        assert_eq!(P_SUM.load(SeqCst), 12);
        let receiver = Builder::new("receiver").priority(HIGHER);
        let receiver = receiver.spawn(&A, A_STACK.take().unwrap(), || {
            let message = Q.receive(Timeout::Forever);
            (message, Q_SENT.load(SeqCst))
        });
        Q.try_send(1).unwrap();
        assert_eq!(receiver.unwrap().join(), Ok((Ok(1), 1)), "called before the receiver goes on");
        P.delete().unwrap();
        P.create("p").unwrap();
        P.try_send(1).unwrap();
        assert_eq!((P_SUM.load(SeqCst), P.info().unwrap().messages), (12, 1), "forgotten with the deletion");
        host::finish()
    });
}
