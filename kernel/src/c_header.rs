//! What `include/tx_api.h` tells C code about the control blocks on the target.

macro_rules! blocks {
    ($($block:ident: $size:literal, $align:literal;)*) => {
        /// Name, size and alignment in bytes, of each control block.
        pub const BLOCKS: &[(&str, usize, usize)] = &[$((stringify!($block), $size, $align)),*];

        // C code reserves the memory, so a header that says too little would let the kernel write past
        // it. When this fails, correct the table and refresh the header: tests/header.rs says how.
        #[cfg(target_os = "none")]
        const _: () = {
            $(assert!(size_of::<crate::$block>() == $size && align_of::<crate::$block>() == $align);)*
        };
    };
}

blocks! {
    TX_THREAD: 256, 8;
    TX_TIMER: 52, 4;
    TX_SEMAPHORE: 36, 4;
    TX_MUTEX: 48, 4;
    TX_EVENT_FLAGS_GROUP: 44, 4;
    TX_QUEUE: 60, 4;
    TX_BLOCK_POOL: 48, 4;
    TX_BYTE_POOL: 52, 4;
}
