//! Creations and looks at an owner that an interrupt cuts in two.

mod common;

use std::sync::Mutex as Std;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Host, run};
use threadx::{
    BlockPool, Builder, BytePool, Error, Inheritance, JoinHandle, Mutex, Priority, Semaphore, Timeout, host,
};

/// Has `high` run, at priority 5, in an interrupt where the create service of `POOL`, called by `main`, unlocks the
/// kernel; then `main` goes on.
macro_rules! interrupted_creation {
    ($test:ident, $Pool:ty, $high:expr, $main:expr) => {
        #[test]
        fn $test() {
            static POOL: $Pool = <$Pool>::new();
            static GO: Semaphore = Semaphore::new();
            static ARMED: AtomicU32 = AtomicU32::new(0);
            static RESULT: Std<Option<Result<(), Error>>> = Std::new(None);
            cell! { MAIN_CELL, MAIN_STACK; HIGH_CELL, HIGH_STACK }
            fn point() {
                if POOL.info().is_ok() && ARMED.swap(0, SeqCst) != 0 {
                    host::interrupt(|| GO.put().unwrap());
                }
            }
            run(|_| {
                GO.create("go", 0).unwrap();
                let high = Builder::new("high").priority(Priority::of::<5>());
                let high = high.spawn(&HIGH_CELL, HIGH_STACK.take().unwrap(), || {
                    GO.get(Timeout::Forever).unwrap();
                    let high: fn(&'static $Pool) -> Result<(), Error> = $high;
                    *RESULT.lock().unwrap() = Some(high(&POOL));
                });
                high.unwrap().detach();
                let main = Builder::new("main").priority(Priority::of::<10>());
                let main = main.spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), || {
                    host::set_interrupt_point(Some(point));
                    ARMED.store(1, SeqCst);
                    POOL.create("pool").unwrap();
                    host::set_interrupt_point(None);
                    assert_eq!(ARMED.load(SeqCst), 0, "no interrupt came");
                    let main: fn(&'static $Pool, Result<(), Error>) = $main;
                    main(&POOL, RESULT.lock().unwrap().take().unwrap());
                    host::finish()
                });
                main.unwrap().detach();
            });
        }
    };
}

// Deleted between the kernel's creation and its creator's word, the pool would hand out memory twice.
interrupted_creation!(
    a_block_pool_is_not_deleted_before_its_creator_has_it,
    BlockPool<u64, 4>,
    |pool| pool.delete(),
    |pool, deleted| {
        assert_eq!(deleted, Err(Error::Pool));
        assert_eq!(pool.create("again"), Err(Error::InUse));
        let (first, second) = (pool.store(1, Timeout::NoWait).unwrap(), pool.store(2, Timeout::NoWait).unwrap());
        assert_eq!((*first, *second), (1, 2));
        drop((first, second));
        assert_eq!((pool.delete(), pool.delete()), (Ok(()), Err(Error::Pool)));
        assert_eq!(pool.create("again"), Ok(()));
    }
);
interrupted_creation!(a_byte_pool_is_created_in_one_step, BytePool<1024>, |pool| pool.delete(), |pool, deleted| {
    assert_eq!((deleted, pool.delete()), (Ok(()), Err(Error::Pool)));
    assert_eq!(pool.create("again"), Ok(()));
    let (first, second) = (pool.store(1u64, Timeout::NoWait).unwrap(), pool.store(2u64, Timeout::NoWait).unwrap());
    assert_eq!((*first, *second), (1, 2));
});
// Released between the two, memory would be lost.
interrupted_creation!(
    a_box_dropped_while_its_pool_is_created_goes_back,
    BytePool<1024>,
    |pool| pool.store(1u64, Timeout::NoWait).map(drop).map_err(|rejected| rejected.error),
    |pool, stored| {
        assert_eq!(stored, Ok(()));
        let all = pool.info().unwrap().available;
        assert_eq!((pool.delete(), pool.create("again")), (Ok(()), Ok(())));
        assert_eq!(pool.info().unwrap().available, all);
    }
);

/// Between the kernel's answer and the look for the owner's cell the owner ends and is joined: there is no reference
/// to a cell without a thread, which would mean the thread created there next, from its first word on.
#[test]
fn no_reference_to_an_owner_who_is_gone() {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    static GO: Semaphore = Semaphore::new();
    static GO_OWNER: Semaphore = Semaphore::new();
    static ARMED: AtomicU32 = AtomicU32::new(0);
    static OWNER: Std<Option<JoinHandle<()>>> = Std::new(None);
    cell! { MAIN_CELL, MAIN_STACK; HIGH_CELL, HIGH_STACK; OWNER_CELL, OWNER_STACK }
    fn point() {
        if ARMED.swap(0, SeqCst) != 0 {
            host::interrupt(|| GO.put().unwrap());
        }
    }
    run(|_| {
        GO.create("go", 0).unwrap();
        GO_OWNER.create("go owner", 0).unwrap();
        MUTEX.create("mutex", Inheritance::Off).unwrap();
        let high = Builder::new("high").priority(Priority::of::<3>());
        let high = high.spawn(&HIGH_CELL, HIGH_STACK.take().unwrap(), || {
            GO.get(Timeout::Forever).unwrap();
            GO_OWNER.put().unwrap();
            let owner = OWNER.lock().unwrap().take();
            owner.unwrap().join().unwrap();
        });
        high.unwrap().detach();
        let main = Builder::new("main").priority(Priority::of::<10>());
        let main = main.spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), || {
            let owner = Builder::new("owner").priority(Priority::of::<5>());
            let owner = owner.spawn(&OWNER_CELL, OWNER_STACK.take().unwrap(), || {
                let _guard = MUTEX.lock(Timeout::Forever).unwrap();
                GO_OWNER.get(Timeout::Forever).unwrap();
            });
            *OWNER.lock().unwrap() = Some(owner.unwrap());
            assert!(MUTEX.info().unwrap().owner.is_some());
            host::set_interrupt_point(Some(point));
            ARMED.store(1, SeqCst);
            let info = MUTEX.info().unwrap();
            host::set_interrupt_point(None);
            assert_eq!(ARMED.load(SeqCst), 0, "no interrupt came");
            assert!(info.locked && info.owner.is_none(), "{info:?}");
            host::finish()
        });
        main.unwrap().detach();
    });
}
