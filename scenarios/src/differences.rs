//! Where the kernels are known to part, and why. Anything else that differs is a failure.

/// One value that is not the same on both kernels.
#[derive(Debug)]
pub struct Difference {
    /// On the bundled kernel.
    pub bundled: &'static [u32],
    /// On upstream's, whose versions may differ among themselves.
    pub upstream: &'static [u32],
    /// The reason.
    pub why: &'static str,
}

impl Difference {
    /// The values of the kernel that this was built for.
    #[must_use]
    pub const fn here(&self) -> &'static [u32] {
        if cfg!(feature = "bundled") { self.bundled } else { self.upstream }
    }
}

/// `tx_timer_change` in initialization.
pub const TIMER_CHANGE_IN_INITIALIZATION: Difference = Difference {
    bundled: &[0],
    upstream: &[0x13, 0],
    why: "upstream allows it from #730 (September 2026) on; the bundled kernel has that behaviour",
};

/// `tx_thread_suspend` of the interrupted thread by an interrupt handler.
pub const SUSPENSION_OF_THE_INTERRUPTED_THREAD: Difference = Difference {
    bundled: &[0x14],
    upstream: &[0],
    why: "the bundled kernel refuses what upstream's code carries out when the interrupt ends; the User Guide names \
          neither",
};

/// Whether a thread that lowers itself below another ready thread comes before its new equals after that.
pub const LOWERED_BELOW_ANOTHER_THREAD: Difference = Difference {
    bundled: &[1],
    upstream: &[0],
    why: "upstream moves the thread to the front of its list only where no higher thread is ready",
};

/// Mutex get with a wait option in an interrupt handler.
pub const MUTEX_WAIT_IN_AN_INTERRUPT: Difference = Difference {
    bundled: &[0x13],
    upstream: &[0x04],
    why: "both are wrong there, the caller and the wait; the bundled kernel names the caller first",
};

/// Fragments that a byte pool with two small ones looks at before it has no memory for a larger request.
pub const FRAGMENTS_OF_A_SEARCH_IN_VAIN: Difference = Difference {
    bundled: &[5],
    upstream: &[7],
    why: "the bundled kernel's search ends at the end of the pool, before which nothing is free; upstream's begins again",
};

/// Preemptions counted of a thread that is made ready, but after which a higher one is, before either can run.
pub const PREEMPTIONS_OF_A_THREAD_THAT_DID_NOT_RUN: Difference = Difference {
    bundled: &[0],
    upstream: &[1],
    why: "upstream counts the decision who is to run, the bundled kernel that the processor is taken",
};

/// Preemptions counted of a thread that lowers itself below another ready thread.
pub const PREEMPTIONS_OF_A_THREAD_THAT_LOWERED_ITSELF: Difference = Difference {
    bundled: &[1],
    upstream: &[0],
    why: "upstream suspends and resumes the thread meanwhile, so that nobody is preempted",
};

/// All of them, by name.
pub const ALL: &[(&str, &Difference)] = &[
    ("TIMER_CHANGE_IN_INITIALIZATION", &TIMER_CHANGE_IN_INITIALIZATION),
    ("SUSPENSION_OF_THE_INTERRUPTED_THREAD", &SUSPENSION_OF_THE_INTERRUPTED_THREAD),
    ("LOWERED_BELOW_ANOTHER_THREAD", &LOWERED_BELOW_ANOTHER_THREAD),
    ("MUTEX_WAIT_IN_AN_INTERRUPT", &MUTEX_WAIT_IN_AN_INTERRUPT),
    ("FRAGMENTS_OF_A_SEARCH_IN_VAIN", &FRAGMENTS_OF_A_SEARCH_IN_VAIN),
    ("PREEMPTIONS_OF_A_THREAD_THAT_DID_NOT_RUN", &PREEMPTIONS_OF_A_THREAD_THAT_DID_NOT_RUN),
    ("PREEMPTIONS_OF_A_THREAD_THAT_LOWERED_ITSELF", &PREEMPTIONS_OF_A_THREAD_THAT_LOWERED_ITSELF),
];
