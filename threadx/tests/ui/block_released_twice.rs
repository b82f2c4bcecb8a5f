use threadx::{BlockPool, BytePool, Timeout};

static BLOCKS: BlockPool<u32, 2> = BlockPool::new();
static BYTES: BytePool<200> = BytePool::new();

fn main() {
    let block = BLOCKS.store(0, Timeout::NoWait).unwrap();
    drop(block);
    drop(block);

    let memory = BYTES.store(0, Timeout::NoWait).unwrap();
    let _ = memory.into_inner();
    drop(memory);
}
