//! Performance information through the safe API, on the host port: with the feature `performance-info` the counts,
//! without it the error.

mod common;

use common::{Host, run};
use threadx::performance::*;
use threadx::{
    BlockPool, Builder, BytePool, Error, EventFlags, Inheritance, Match, Mutex, Priority, Queue, Schedule, Semaphore,
    Ticks, Timeout, Timer, host, thread,
};

const COUNTING: bool = cfg!(feature = "performance-info");
const NONE: Timeout = Timeout::NoWait;

/// The counts, or what there is without them.
fn counts<C, const N: usize>(seen: Result<C, Error>, of: impl Fn(C) -> [u32; N]) -> Option<[u32; N]> {
    if COUNTING {
        return Some(of(seen.unwrap()));
    }
    assert_eq!(seen.err(), Some(Error::FeatureNotEnabled));
    None
}

/// What is expected, where anything is.
fn are<T>(expected: T) -> Option<T> {
    COUNTING.then_some(expected)
}

#[test]
fn objects_tell_what_they_did_and_so_do_all_of_a_kind() {
    cell! { MAIN, MAIN_STACK }
    static S: Semaphore = Semaphore::new();
    static M: Mutex<u32> = Mutex::new(0);
    static E: EventFlags = EventFlags::new();
    static Q: Queue<u32, 1> = Queue::new();
    static B: BlockPool<u32, 1> = BlockPool::new();
    static Y: BytePool<512> = BytePool::new();
    static T: Timer = Timer::new();
    run(|_| {
        let missing = |class| if COUNTING { class } else { Error::FeatureNotEnabled };
        assert_eq!(S.performance(), Err(missing(Error::Semaphore)));
        assert_eq!(M.performance(), Err(missing(Error::Mutex)));
        assert_eq!(E.performance(), Err(missing(Error::Group)));
        assert_eq!(Q.performance(), Err(missing(Error::Queue)));
        assert_eq!(B.performance(), Err(missing(Error::Pool)));
        assert_eq!(Y.performance(), Err(missing(Error::Pool)));
        assert_eq!(T.performance(), Err(missing(Error::Timer)));
        let main = || {
            // Spawned threads have semaphores of their own.
            let before = counts(semaphores(), |c| [c.puts, c.gets, c.suspensions, c.timeouts]);
            S.create("semaphore", 0).unwrap();
            S.put().unwrap();
            S.get(NONE).unwrap();
            assert_eq!(S.get(NONE), Err(Error::NoInstance));
            assert_eq!(S.get(Ticks::new(1)), Err(Error::NoInstance));
            assert_eq!(counts(S.performance(), |c| [c.puts, c.gets, c.suspensions, c.timeouts]), are([1, 3, 1, 1]));
            let after = counts(semaphores(), |c| [c.puts, c.gets, c.suspensions, c.timeouts]);
            let difference = |(after, before): (u32, u32)| after.wrapping_sub(before);
            let differences = after.zip(before).map(|(a, b)| a.into_iter().zip(b).map(difference).collect());
            assert_eq!(differences, are(vec![1, 3, 1, 1]));

            M.create("mutex", Inheritance::On).unwrap();
            drop(M.lock(NONE).unwrap());
            let of = |c: MutexCounts| [c.puts, c.gets, c.suspensions, c.timeouts, c.inversions, c.inheritances];
            assert_eq!(counts(M.performance(), of), are([1, 1, 0, 0, 0, 0]));
            assert_eq!(counts(mutexes(), of), are([1, 1, 0, 0, 0, 0]));

            E.create("flags").unwrap();
            E.set(1).unwrap();
            assert_eq!(E.get(2, Match::Any, Ticks::new(1)), Err(Error::NoEvents));
            let of = |c: EventFlagsCounts| [c.sets, c.gets, c.suspensions, c.timeouts];
            assert_eq!(counts(E.performance(), of), are([1, 1, 1, 1]));
            assert_eq!(counts(event_flags(), of), are([1, 1, 1, 1]));

            Q.create("queue").unwrap();
            Q.send(1, NONE).unwrap();
            assert_eq!(Q.send(2, NONE).unwrap_err().error, Error::QueueFull);
            assert_eq!(Q.send(2, Ticks::new(1)).unwrap_err().error, Error::QueueFull);
            assert_eq!(Q.receive(NONE), Ok(1));
            assert_eq!(Q.receive(Ticks::new(1)), Err(Error::QueueEmpty));
            let of = |c: QueueCounts| {
                let suspensions = (c.empty_suspensions, c.full_suspensions);
                [c.messages_sent, c.messages_received, suspensions.0, suspensions.1, c.full_errors, c.timeouts]
            };
            assert_eq!(counts(Q.performance(), of), are([3, 2, 1, 1, 1, 2]));
            // The creation looked for a message that a deletion before might have left.
            assert_eq!(counts(queues(), of), are([3, 3, 1, 1, 1, 2]));

            B.create("blocks").unwrap();
            let block = B.store(1, NONE).unwrap();
            assert_eq!(B.store(2, Ticks::new(1)).unwrap_err().error, Error::NoMemory);
            drop(block);
            let of = |c: BlockPoolCounts| [c.allocates, c.releases, c.suspensions, c.timeouts];
            assert_eq!(counts(B.performance(), of), are([2, 1, 1, 1]));
            assert_eq!(counts(block_pools(), of), are([2, 1, 1, 1]));

            Y.create("bytes").unwrap();
            drop(Y.store(1u32, NONE).unwrap());
            let of = |c: BytePoolCounts| {
                let searches = (c.fragments_searched, c.merges, c.splits);
                [c.allocates, c.releases, searches.0, searches.1, searches.2, c.suspensions, c.timeouts]
            };
            assert_eq!(counts(Y.performance(), of), are([1, 1, 1, 0, 1, 0, 0]));
            assert_eq!(counts(byte_pools(), of), are([1, 1, 1, 0, 1, 0, 0]));

            let of = |c: TimerCounts| [c.activates, c.reactivates, c.deactivates, c.expirations, c.expiration_adjusts];
            let before = counts(timers(), of);
            T.create("timer", Schedule::every(Ticks::new(2)), || {}).unwrap();
            T.activate().unwrap();
            (0..5).for_each(|_| host::tick());
            T.deactivate().unwrap();
            assert_eq!(counts(T.performance(), of), are([1, 2, 1, 2, 0]));
            let before = before.map(|b| [b[0] + 1, b[1] + 2, b[2] + 1, b[3] + 2, b[4]]);
            assert_eq!(counts(timers(), of), before);
            host::finish()
        };
        let builder = Builder::new("main").priority(Priority::of::<10>());
        builder.spawn(&MAIN, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}

#[test]
fn threads_tell_what_they_did_and_who_took_the_processor() {
    cell! { MAIN, MAIN_STACK; A, A_STACK; B, B_STACK }
    run(|_| {
        let main = || {
            let of = |c: ThreadCounts| {
                let preemptions = [c.solicited_preemptions, c.interrupt_preemptions];
                let other = [c.priority_inversions, c.time_slices, c.timeouts, c.wait_aborts];
                assert_eq!(other, [0; 4]);
                [c.resumptions, c.suspensions, preemptions[0], preemptions[1], c.relinquishes]
            };
            let me = thread::current().unwrap();
            let mine = || counts(me.performance().map(|(counts, _)| counts), of);
            let preemptor = || me.performance().ok().and_then(|(_, by)| by);
            assert_eq!((mine(), preemptor()), (are([1, 0, 0, 0, 0]), None));
            // Higher, so it runs at once; equal, so it runs in turn.
            let higher = Builder::new("higher").priority(Priority::of::<5>());
            let higher = higher.spawn(&A, A_STACK.take().unwrap(), || {}).unwrap();
            assert_eq!((mine(), preemptor()), (are([1, 0, 1, 0, 0]), are(higher.thread())));
            let equal = Builder::new("equal").priority(Priority::of::<10>());
            let equal = equal.spawn(&B, B_STACK.take().unwrap(), thread::relinquish).unwrap();
            (0..3).for_each(|_| thread::relinquish());
            assert_eq!(mine(), are([1, 0, 1, 0, 2]));
            assert_eq!(counts(equal.thread().performance().map(|(c, _)| c), of), are([1, 1, 0, 0, 1]));
            let idle = counts(threads(), |c| [c.idle_returns]);
            thread::sleep(Ticks::new(1)).unwrap();
            assert_eq!(mine(), are([2, 1, 1, 0, 2]));
            assert_eq!(counts(threads(), |c| [c.idle_returns]), idle.map(|[n]| [n + 1]));
            assert_eq!(counts(threads(), |c| [c.threads.relinquishes]), are([3]));
            let joined = higher.thread();
            higher.join().unwrap();
            assert_eq!(joined.performance(), Err(Error::Thread));
            equal.join().unwrap();
            // What joined threads did remains part of the sum.
            assert_eq!(counts(threads(), |c| [c.threads.relinquishes]), are([3]));
            host::finish()
        };
        let builder = Builder::new("main").priority(Priority::of::<10>());
        builder.spawn(&MAIN, MAIN_STACK.take().unwrap(), main).unwrap().detach();
    });
}
