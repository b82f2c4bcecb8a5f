use threadx::{BlockPool, BytePool, Timeout};

static BLOCKS: BlockPool<bool, 2> = BlockPool::new();
static BYTES: BytePool<200> = BytePool::new();

fn main() {
    let block = BLOCKS.allocate(Timeout::NoWait).unwrap();
    let _: bool = *block;
    let memory = BYTES.allocate_slice::<bool>(4, Timeout::NoWait).unwrap();
    let _: bool = memory[0];
}
