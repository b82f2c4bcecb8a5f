//! Services of the event trace, which this kernel does not record: the answers are those that the
//! User Guide gives for a kernel built without it, so that a program that traces links and runs.

use crate::types::*;

services! {
    /// `tx_trace_enable`.
    fn _tx_trace_enable(_trace_buffer_start: *mut VOID, _trace_buffer_size: ULONG, _registry_entries: ULONG) -> UINT {
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_trace_disable`.
    fn _tx_trace_disable() -> UINT { TX_FEATURE_NOT_ENABLED }

    /// `tx_trace_event_filter`.
    fn _tx_trace_event_filter(_event_filter_bits: ULONG) -> UINT { TX_FEATURE_NOT_ENABLED }

    /// `tx_trace_event_unfilter`.
    fn _tx_trace_event_unfilter(_event_unfilter_bits: ULONG) -> UINT { TX_FEATURE_NOT_ENABLED }

    /// `tx_trace_buffer_full_notify`.
    fn _tx_trace_buffer_full_notify(_full_buffer_callback: Option<TraceBufferNotify>) -> UINT { TX_FEATURE_NOT_ENABLED }

    /// `tx_trace_user_event_insert`.
    fn _tx_trace_user_event_insert(
        _event_id: ULONG, _info_field_1: ULONG, _info_field_2: ULONG, _info_field_3: ULONG, _info_field_4: ULONG,
    ) -> UINT {
        TX_FEATURE_NOT_ENABLED
    }

    /// `tx_trace_isr_enter_insert`.
    fn _tx_trace_isr_enter_insert(_isr_id: ULONG) {}

    /// `tx_trace_isr_exit_insert`.
    fn _tx_trace_isr_exit_insert(_isr_id: ULONG) {}
}
