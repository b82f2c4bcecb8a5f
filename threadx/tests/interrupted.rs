//! Creations and looks at an owner that an interrupt cuts in two.

mod common;

use std::sync::Mutex as Std;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Host, run};
use threadx::{
    BlockPool, Builder, BytePool, Error, Inheritance, JoinHandle, Mutex, Priority, Semaphore, Timeout, host,
};

/// A deletion between the kernel's creation and the creator's word is refused, and the pool is whole afterwards:
/// it would hand out memory twice otherwise.
macro_rules! deleted_while_created {
    ($test:ident, $Pool:ty) => {
        #[test]
        fn $test() {
            static POOL: $Pool = <$Pool>::new();
            static GO: Semaphore = Semaphore::new();
            static STAGE: AtomicU32 = AtomicU32::new(0);
            static DELETED: Std<Option<Result<(), Error>>> = Std::new(None);
            cell! { MAIN_CELL, MAIN_STACK; HIGH_CELL, HIGH_STACK }
            /// An interrupt where the create service has just unlocked the kernel.
            fn point() {
                if STAGE.load(SeqCst) == 1 && POOL.info().is_ok() {
                    STAGE.store(2, SeqCst);
                    host::interrupt(|| GO.put().unwrap());
                }
            }
            run(|_| {
                GO.create("go", 0).unwrap();
                let high = Builder::new("high").priority(Priority::of::<5>());
                let high = high.spawn(&HIGH_CELL, HIGH_STACK.take().unwrap(), || {
                    GO.get(Timeout::Forever).unwrap();
                    *DELETED.lock().unwrap() = Some(POOL.delete());
                });
                high.unwrap().detach();
                let main = Builder::new("main").priority(Priority::of::<10>());
                let main = main.spawn(&MAIN_CELL, MAIN_STACK.take().unwrap(), || {
                    host::set_interrupt_point(Some(point));
                    STAGE.store(1, SeqCst);
                    POOL.create("pool").unwrap();
                    host::set_interrupt_point(None);
                    assert_eq!(DELETED.lock().unwrap().take(), Some(Err(Error::Pool)));
                    assert_eq!(POOL.create("again"), Err(Error::InUse));
                    let (first, second) = (POOL.store(1u64, Timeout::NoWait), POOL.store(2u64, Timeout::NoWait));
                    let (first, second) = (first.unwrap(), second.unwrap());
                    assert_eq!((*first, *second), (1, 2));
                    drop((first, second));
                    assert_eq!((POOL.delete(), POOL.delete()), (Ok(()), Err(Error::Pool)));
                    assert_eq!(POOL.create("again"), Ok(()));
                    host::finish()
                });
                main.unwrap().detach();
            });
        }
    };
}
deleted_while_created!(a_byte_pool_is_not_deleted_before_its_creator_has_it, BytePool<1024>);
deleted_while_created!(a_block_pool_is_not_deleted_before_its_creator_has_it, BlockPool<u64, 4>);

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
