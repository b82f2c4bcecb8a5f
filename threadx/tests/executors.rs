//! Futures in threads, on the host port.

mod common;

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

use common::{Dropped, Host, run};
use threadx::{Builder, Error, Executor, Priority, Schedule, Ticks, Timer, host, thread};

const MAIN: Priority = Priority::of::<10>();
const HIGHER: Priority = Priority::of::<5>();

/// A number that threads, timers and interrupts post and one future takes.
struct Post {
    value: AtomicU32,
    waker: Mutex<Option<Waker>>,
}

impl Post {
    const fn new() -> Self {
        Self { value: AtomicU32::new(0), waker: Mutex::new(None) }
    }

    fn put(&self, value: u32) {
        self.value.store(value, SeqCst);
        let waker = self.waker.lock().unwrap().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Future for &Post {
    type Output = u32;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        *self.waker.lock().unwrap() = Some(context.waker().clone());
        match self.value.swap(0, SeqCst) {
            0 => Poll::Pending,
            value => Poll::Ready(value),
        }
    }
}

#[test]
fn wakes_are_neither_lost_nor_crossed() {
    const ROUNDS: u32 = 10_000;
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK; B, B_STACK; C, C_STACK }
    static EXECUTORS: [Executor; 3] = [const { Executor::new() }; 3];
    static POSTS: [Post; 3] = [const { Post::new() }; 3];
    static ANSWERS: [Post; 3] = [const { Post::new() }; 3];
    static MAINS: Executor = Executor::new();
    run(|_| {
        let echo = |i: usize| {
            move || {
                let echo = async {
                    for round in 1..=ROUNDS {
                        assert_eq!((&POSTS[i]).await, round * 3 + i as u32);
                        ANSWERS[i].put(round);
                    }
                    i
                };
                EXECUTORS[i].block_on(echo)
            }
        };
        let a = Builder::new("a").priority(HIGHER).spawn(&A, A_STACK.take().unwrap(), echo(0)).unwrap();
        let b = Builder::new("b").priority(MAIN).spawn(&B, B_STACK.take().unwrap(), echo(1)).unwrap();
        let c = Builder::new("c").priority(Priority::of::<20>()).spawn(&C, C_STACK.take().unwrap(), echo(2)).unwrap();
        let main = move || {
            let mut seed = 7u32;
            let result = MAINS.block_on(async {
                for round in 1..=ROUNDS {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let first = (seed >> 16) as usize;
                    for i in (first..first + 3).map(|i| i % 3) {
                        let value = round * 3 + i as u32;
                        // A wake before the wait, one from an interrupt, and a needless one.
                        match (seed >> 8) % 3 {
                            0 => POSTS[i].put(value),
                            1 => host::interrupt(move || POSTS[i].put(value)),
                            _ => {
                                EXECUTORS[i].waker().wake_by_ref();
                                POSTS[i].put(value);
                            }
                        }
                    }
                    for answer in &ANSWERS {
                        assert_eq!(answer.await, round);
                    }
                }
            });
            assert_eq!(result, Ok(()));
            assert_eq!((a.join(), b.join(), c.join()), (Ok(Ok(0)), Ok(Ok(1)), Ok(Ok(2))));
            host::check_invariants().unwrap();
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn an_executor_serves_one_thread_at_a_time_and_is_refused_elsewhere() {
    cell! { MAIN_CELL, MAIN_STACK; A, A_STACK; B, B_STACK }
    static EXECUTOR: Executor = Executor::new();
    static T: Timer = Timer::new();
    static REFUSED: AtomicU32 = AtomicU32::new(0);
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    fn refused() {
        assert_eq!(EXECUTOR.block_on(async {}), Err(Error::Caller));
        REFUSED.fetch_add(1, SeqCst);
    }
    run(|_| {
        refused();
        let main = || {
            host::interrupt(refused);
            T.create("timer", Schedule::once(Ticks::new(1)), refused).unwrap();
            T.activate().unwrap();
            thread::sleep(Ticks::new(2)).unwrap();
            assert_eq!(REFUSED.load(SeqCst), 3);

            let never = || {
                let counted = Dropped(&DROPPED);
                EXECUTOR.block_on(async move {
                    pending::<()>().await;
                    drop(counted);
                })
            };
            let builder = Builder::new("never").priority(HIGHER);
            let thread = builder.spawn(&A, A_STACK.take().unwrap(), never).unwrap();
            assert_eq!(EXECUTOR.block_on(async { 1 }), Err(Error::InUse));
            thread.thread().wait_abort().unwrap();
            assert_eq!(thread.join(), Ok(Err(Error::WaitAborted)));
            assert_eq!(DROPPED.load(SeqCst), 1);
            assert_eq!(EXECUTOR.block_on(async { 1 }), Ok(1));
            let inside = critical_section::with(|_| EXECUTOR.block_on(pending::<()>()));
            assert_eq!(inside, Err(Error::Caller));
            let mut polls = 0;
            let twice = poll_fn(|context| {
                context.waker().wake_by_ref();
                polls += 1;
                if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
            });
            assert_eq!(EXECUTOR.block_on(twice), Ok(()));

            let thread = builder.spawn(&B, B_STACK.take().unwrap(), never).unwrap();
            let waker = EXECUTOR.waker();
            assert!(thread.terminate().unwrap().is_none());
            waker.wake();
            assert_eq!(EXECUTOR.block_on(async { 1 }), Err(Error::InUse), "its future is still pinned");
            host::finish()
        };
        Builder::new("main").priority(MAIN).spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}
