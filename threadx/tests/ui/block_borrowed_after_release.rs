use threadx::{BlockPool, BytePool, Timeout};

static BLOCKS: BlockPool<[u8; 16], 2> = BlockPool::new();
static BYTES: BytePool<200> = BytePool::new();

fn main() {
    let block = BLOCKS.store([0; 16], Timeout::NoWait).unwrap();
    let first = &block[0];
    drop(block);
    assert_eq!(*first, 0);

    let memory = BYTES.store([0u8; 16], Timeout::NoWait).unwrap();
    let first = &memory[0];
    drop(memory);
    assert_eq!(*first, 0);
}
