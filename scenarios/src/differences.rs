//! Where the kernels are known to part, and why. Anything else that differs is a failure.

/// One value that is not the same on both kernels.
#[derive(Debug)]
pub struct Difference {
    /// On the bundled kernel.
    pub bundled: &'static [u32],
    /// On upstream's, whose versions may differ among themselves; none if it is not tried there.
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

    /// Whether it is tried on the kernel that this was built for.
    #[must_use]
    pub const fn is_tried_here(&self) -> bool {
        !self.here().is_empty()
    }
}

/// Defines the differences, and the list of all.
macro_rules! differences {
    ($($(#[$doc:meta])* $name:ident: bundled $bundled:expr, upstream $upstream:expr, $why:literal;)*) => {
        $(
            $(#[$doc])*
            pub const $name: Difference = Difference { bundled: &$bundled, upstream: &$upstream, why: $why };
        )*
        /// All of them, by name.
        pub const ALL: &[(&str, &Difference)] = &[$((stringify!($name), &$name)),*];
    };
}

differences! {
    /// `tx_timer_change` in initialization.
    TIMER_CHANGE_IN_INITIALIZATION: bundled [0], upstream [0x13, 0],
        "upstream allows it from #730 (September 2026) on; the bundled kernel has that behaviour";
    /// `tx_thread_suspend` of the interrupted thread by an interrupt handler.
    SUSPENSION_OF_THE_INTERRUPTED_THREAD: bundled [0x14], upstream [0],
        "the bundled kernel refuses what upstream's code carries out when the interrupt ends; the User Guide names \
        neither";
    /// Whether a thread that lowers itself below another ready thread comes before its new equals after that.
    LOWERED_BELOW_ANOTHER_THREAD: bundled [1], upstream [0],
        "upstream moves the thread to the front of its list only where no higher thread is ready";
    /// Mutex get with a wait option in an interrupt handler.
    MUTEX_WAIT_IN_AN_INTERRUPT: bundled [0x13], upstream [0x04],
        "both are wrong there, the caller and the wait; the bundled kernel names the caller first";
    /// Fragments that a byte pool with two small ones looks at before it has no memory for a larger request.
    FRAGMENTS_OF_A_SEARCH_IN_VAIN: bundled [5], upstream [7],
        "the bundled kernel's search ends at the end of the pool, before which nothing is free; upstream's begins again";
    /// Preemptions counted of a thread that is made ready, but after which a higher one is, before either can run.
    PREEMPTIONS_OF_A_THREAD_THAT_DID_NOT_RUN: bundled [0], upstream [1],
        "upstream counts the decision who is to run, the bundled kernel that the processor is taken";
    /// Preemptions counted of a thread that lowers itself below another ready thread.
    PREEMPTIONS_OF_A_THREAD_THAT_LOWERED_ITSELF: bundled [1], upstream [0],
        "upstream suspends and resumes the thread meanwhile, so that nobody is preempted";
    /// Whether the notification of a put, a send or a set comes before the waiter runs, if that has a higher priority.
    NOTIFIED_BEFORE_A_HIGHER_WAITER_RUNS: bundled [1], upstream [0],
        "a waiter that runs first may do the same meanwhile: on the bundled kernel notifications come in the order of \
        what they tell of";

    /// Mutex get with a wait option of an inheriting mutex that initialization took and did not put.
    WAIT_FOR_A_MUTEX_OF_INITIALIZATION: bundled [0x1d], upstream [],
        "upstream reads the owner's priority, and nobody is the owner: it reads at address 0, which is memory here";
}
