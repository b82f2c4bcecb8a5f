//! What `include/tx_api.h` tells C code about the control blocks on the target.

macro_rules! blocks {
    ($($block:ident: $word:ident[$count:literal, $counting:literal];)*) => {
        /// Name of each control block, the C type that it is reserved in units of, how many, and how many in a
        /// kernel with performance information.
        pub const BLOCKS: &[(&str, &str, usize, usize)] =
            &[$((stringify!($block), stringify!($word), $count, $counting)),*];

        // C code reserves the memory, so a header that says too little would let the kernel write past
        // it. When this fails, correct the table and refresh the header: tests/header.rs says how.
        #[cfg(target_os = "none")]
        #[allow(clippy::upper_case_acronyms)] // the names that the C header uses
        const _: () = {
            type ULONG = u32;
            type ULONG64 = u64;
            $(
                assert!(
                    size_of::<crate::$block>()
                        == size_of::<[$word; if cfg!(feature = "performance-info") { $counting } else { $count }]>()
                );
                assert!(align_of::<crate::$block>() == align_of::<$word>());
                assert!(header_contains(concat!(
                    "typedef struct ", stringify!($block), "_STRUCT { ", stringify!($word),
                    " tx_reserved[TX_KERNEL_BLOCK(", $count, ", ", $counting, ")]; } ", stringify!($block), ";\n"
                )));
            )*
        };
    };
}

blocks! {
    TX_THREAD: ULONG64[27, 34];
    TX_TIMER: ULONG[13, 18];
    TX_SEMAPHORE: ULONG[9, 14];
    TX_MUTEX: ULONG[12, 19];
    TX_EVENT_FLAGS_GROUP: ULONG[11, 16];
    TX_QUEUE: ULONG[16, 22];
    TX_BLOCK_POOL: ULONG[12, 17];
    TX_BYTE_POOL: ULONG[14, 22];
}

#[cfg(target_os = "none")]
const fn header_contains(line: &str) -> bool {
    let (header, line) = (include_bytes!("../include/tx_api.h"), line.as_bytes());
    let mut at = 0;
    while at + line.len() <= header.len() {
        let mut same = 0;
        while same < line.len() && header[at + same] == line[same] {
            same += 1;
        }
        if same == line.len() {
            return true;
        }
        at += 1;
    }
    false
}
