//! The services that are called often, on either kernel.
//!
//! On upstream's kernel they are the checked C services, whose caller counts as a guest, see
//! [`Claim`]. Into the bundled kernel they are inlined: it looks with its lock held whether the object
//! exists, and what else a check would find out the types of this crate have settled.

use core::ffi::c_void;

#[cfg(feature = "bundled")]
use core::sync::atomic::AtomicBool;

use threadx_sys::{TX_BLOCK_POOL, TX_EVENT_FLAGS_GROUP, TX_QUEUE, TX_SEMAPHORE, UINT, ULONG};
#[cfg(feature = "bundled")]
use threadx_sys::{
    TX_GROUP_ERROR, TX_NO_EVENTS, TX_NO_INSTANCE, TX_NO_MEMORY, TX_POOL_ERROR, TX_QUEUE_EMPTY, TX_QUEUE_ERROR,
    TX_QUEUE_FULL, TX_SEMAPHORE_ERROR, TX_SUCCESS,
};

use crate::Error;
use crate::claim::Claim;

/// Defines the services: name, arguments behind control block and claim, the checked C service, what that says
/// of an object that does not exist, and when the time of a wait is over.
macro_rules! services {
    ($($(#[$doc:meta])* fn $name:ident$(<$M:ident>)?(
        $block:ident: *mut $Block:ty $(, $arg:ident: $ty:ty)* $(; wait $wait:ident, $timed_out:ident)?
    ) = $checked:ident, $missing:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The control block is the one of the object whose claim this is, in place for ever. Pointers
            /// lead to live memory, large enough and aligned, until the service returns.
            #[inline(always)]
            #[cfg_attr(not(feature = "bundled"), allow(clippy::extra_unused_type_parameters))]
            pub(crate) unsafe fn $name$(<$M>)?(
                $block: *mut $Block, claim: &Claim<false> $(, $arg: $ty)* $(, $wait: ULONG)?
            ) -> Result<(), Error> {
                #[cfg(feature = "bundled")]
                {
                    // SAFETY: the caller's promise. `Claim` sets and clears the flag as the kernel asks, and the
                    // types of the other arguments leave no values that a check would refuse.
                    let status = unsafe {
                        threadx_sys::direct::$name$(::<$M>)?($block, claim.exists() $(, $arg)* $(, $wait)?)
                    };
                    if status == TX_SUCCESS {
                        return Ok(());
                    }
                    $(return Err(explain(status, claim.exists(), $wait, $timed_out << 8 | $missing));)?
                    #[allow(unreachable_code)] // with a wait
                    Err(Error::from_code(status))
                }
                #[cfg(not(feature = "bundled"))]
                // SAFETY: the caller's promise; the service checks the rest.
                crate::error::check(claim.visit(|| unsafe { threadx_sys::$checked($block $(, $arg)* $(, $wait)?) }))
            }
        )*
    };
}

/// The error of a status, with what the service says when the time is over, and below it what it says of an
/// object that does not exist.
#[cfg(feature = "bundled")]
#[cold]
#[inline(never)]
fn explain(status: UINT, exists: &AtomicBool, wait: ULONG, codes: UINT) -> Error {
    Error::from_code(threadx_sys::direct::explain(status, exists, wait, codes >> 8, codes & 0xFF))
}

services! {
    fn semaphore_get(semaphore: *mut TX_SEMAPHORE; wait wait, TX_NO_INSTANCE) = tx_semaphore_get, TX_SEMAPHORE_ERROR;
    fn semaphore_put(semaphore: *mut TX_SEMAPHORE) = tx_semaphore_put, TX_SEMAPHORE_ERROR;
    fn event_flags_get(
        group: *mut TX_EVENT_FLAGS_GROUP, requested: ULONG, option: UINT, seen: *mut ULONG; wait wait, TX_NO_EVENTS
    ) = tx_event_flags_get, TX_GROUP_ERROR;
    fn event_flags_set(group: *mut TX_EVENT_FLAGS_GROUP, flags: ULONG, option: UINT) =
        tx_event_flags_set, TX_GROUP_ERROR;
    /// The block is not a guest.
    fn block_allocate(pool: *mut TX_BLOCK_POOL, block: *mut *mut c_void; wait wait, TX_NO_MEMORY) =
        tx_block_allocate, TX_POOL_ERROR;
    /// `M` has the size of the queue's messages.
    fn queue_send<M>(queue: *mut TX_QUEUE, message: *mut c_void; wait wait, TX_QUEUE_FULL) =
        tx_queue_send, TX_QUEUE_ERROR;
    /// `M` has the size of the queue's messages.
    fn queue_receive<M>(queue: *mut TX_QUEUE, message: *mut c_void; wait wait, TX_QUEUE_EMPTY) =
        tx_queue_receive, TX_QUEUE_ERROR;
}
