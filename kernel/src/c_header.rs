//! What `include/tx_api.h` tells C code about the control blocks on the target.

/// Name, size and alignment in bytes, of each control block.
pub const BLOCKS: &[(&str, usize, usize)] = &[("TX_THREAD", 248, 8), ("TX_TIMER", 52, 4), ("TX_SEMAPHORE", 36, 4)];

// C code reserves the memory, so a header that says too little would let the kernel write past it.
// When this fails, correct the table and refresh the header: tests/header.rs says how.
#[cfg(target_os = "none")]
const _: () = {
    const fn stated(at: usize, size: usize, align: usize) -> bool {
        BLOCKS[at].1 == size && BLOCKS[at].2 == align
    }
    assert!(stated(0, size_of::<crate::TX_THREAD>(), align_of::<crate::TX_THREAD>()));
    assert!(stated(1, size_of::<crate::TX_TIMER>(), align_of::<crate::TX_TIMER>()));
    assert!(stated(2, size_of::<crate::TX_SEMAPHORE>(), align_of::<crate::TX_SEMAPHORE>()));
    assert!(BLOCKS.len() == 3);
};
