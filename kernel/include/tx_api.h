/* The C API of the bundled kernel. Made by kernel/tests/header.rs, which also checks it: do not edit. */

#ifndef TX_API_H
#define TX_API_H

#if defined(TX_INCLUDE_USER_DEFINE_FILE) && defined(__has_include)
#if __has_include("tx_user.h")
#include "tx_user.h"
#endif
#endif

#if defined(__has_include)
#if __has_include(<stdlib.h>) && __has_include(<string.h>)
#include <stdlib.h>
#include <string.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VOID void
typedef char CHAR;
typedef unsigned char UCHAR;
typedef int INT;
typedef unsigned int UINT;
typedef long LONG;
typedef unsigned long ULONG;
typedef short SHORT;
typedef unsigned short USHORT;
typedef unsigned long long ULONG64;

#if !defined(__arm__) || __SIZEOF_LONG__ != 4
#error "the bundled kernel's control blocks have the sizes below on 32-bit Arm only"
#endif

/* Control blocks: the memory is the application's, what is in it the kernel's. They are larger where the
   kernel has its feature performance-info, which threadx-sys tells C code by TX_KERNEL_PERFORMANCE_INFO. */
#ifdef TX_KERNEL_PERFORMANCE_INFO
#define TX_KERNEL_BLOCK(plain, counting) (counting)
#else
#define TX_KERNEL_BLOCK(plain, counting) (plain)
#endif
typedef struct TX_THREAD_STRUCT { ULONG64 tx_reserved[TX_KERNEL_BLOCK(27, 34)]; } TX_THREAD;
typedef struct TX_TIMER_STRUCT { ULONG tx_reserved[TX_KERNEL_BLOCK(13, 18)]; } TX_TIMER;
typedef struct TX_SEMAPHORE_STRUCT { ULONG tx_reserved[TX_KERNEL_BLOCK(9, 14)]; } TX_SEMAPHORE;
typedef struct TX_MUTEX_STRUCT { ULONG tx_reserved[TX_KERNEL_BLOCK(12, 19)]; } TX_MUTEX;
typedef struct TX_EVENT_FLAGS_GROUP_STRUCT { ULONG tx_reserved[TX_KERNEL_BLOCK(11, 16)]; } TX_EVENT_FLAGS_GROUP;
typedef struct TX_QUEUE_STRUCT { ULONG tx_reserved[TX_KERNEL_BLOCK(16, 22)]; } TX_QUEUE;
typedef struct TX_BLOCK_POOL_STRUCT { ULONG tx_reserved[TX_KERNEL_BLOCK(12, 17)]; } TX_BLOCK_POOL;
typedef struct TX_BYTE_POOL_STRUCT { ULONG tx_reserved[TX_KERNEL_BLOCK(14, 22)]; } TX_BYTE_POOL;

/* Constants. */
#define TX_NULL ((void *) 0)
#define TX_SUCCESS ((UINT) 0x00) /* The service did what was asked. */
#define TX_DELETED ((UINT) 0x01) /* The object was deleted while the thread waited on it. */
#define TX_POOL_ERROR ((UINT) 0x02) /* Not a created pool. */
#define TX_PTR_ERROR ((UINT) 0x03) /* A pointer argument is not usable. */
#define TX_WAIT_ERROR ((UINT) 0x04) /* A wait was asked for where nothing may wait. */
#define TX_SIZE_ERROR ((UINT) 0x05) /* A size argument is out of range. */
#define TX_GROUP_ERROR ((UINT) 0x06) /* Not a created event flags group. */
#define TX_NO_EVENTS ((UINT) 0x07) /* The requested flags did not come in the time given. */
#define TX_OPTION_ERROR ((UINT) 0x08) /* Not an option of the event flags services. */
#define TX_QUEUE_ERROR ((UINT) 0x09) /* Not a created queue. */
#define TX_QUEUE_EMPTY ((UINT) 0x0A) /* The queue stayed empty for the time given. */
#define TX_QUEUE_FULL ((UINT) 0x0B) /* The queue stayed full for the time given. */
#define TX_SEMAPHORE_ERROR ((UINT) 0x0C) /* Not a created semaphore. */
#define TX_NO_INSTANCE ((UINT) 0x0D) /* The semaphore stayed at zero for the time given. */
#define TX_THREAD_ERROR ((UINT) 0x0E) /* Not a created thread, or one that exists already. */
#define TX_PRIORITY_ERROR ((UINT) 0x0F) /* Priority out of range. */
#define TX_NO_MEMORY ((UINT) 0x10) /* The pool had no memory for the time given. The same number as `TX_START_ERROR`. */
#define TX_START_ERROR ((UINT) 0x10) /* Auto-start option out of range. */
#define TX_DELETE_ERROR ((UINT) 0x11) /* The thread is neither completed nor terminated. */
#define TX_RESUME_ERROR ((UINT) 0x12) /* The thread is not suspended by `tx_thread_suspend`. */
#define TX_CALLER_ERROR ((UINT) 0x13) /* The service may not be called from here. */
#define TX_SUSPEND_ERROR ((UINT) 0x14) /* The thread cannot be suspended. */
#define TX_TIMER_ERROR ((UINT) 0x15) /* Not a created timer. */
#define TX_TICK_ERROR ((UINT) 0x16) /* Zero initial ticks. */
#define TX_ACTIVATE_ERROR ((UINT) 0x17) /* The timer is active already, or an expired one-shot. */
#define TX_THRESH_ERROR ((UINT) 0x18) /* Preemption-threshold out of range. */
#define TX_SUSPEND_LIFTED ((UINT) 0x19) /* A delayed suspension was lifted: information, not a failure. */
#define TX_WAIT_ABORTED ((UINT) 0x1A) /* The wait was ended by `tx_thread_wait_abort`. */
#define TX_WAIT_ABORT_ERROR ((UINT) 0x1B) /* The thread does not wait. */
#define TX_MUTEX_ERROR ((UINT) 0x1C) /* Not a created mutex. */
#define TX_NOT_AVAILABLE ((UINT) 0x1D) /* The mutex stayed with its owner for the time given. */
#define TX_NOT_OWNED ((UINT) 0x1E) /* The mutex is not the caller's. */
#define TX_INHERIT_ERROR ((UINT) 0x1F) /* Inheritance option out of range. */
#define TX_NOT_DONE ((UINT) 0x20) /* The thread is neither completed nor terminated. */
#define TX_CEILING_EXCEEDED ((UINT) 0x21) /* The put would lift the count above the ceiling. */
#define TX_INVALID_CEILING ((UINT) 0x22) /* A ceiling of zero. */
#define TX_FEATURE_NOT_ENABLED ((UINT) 0xFF) /* The kernel was built without this. */
#define TX_DONT_START ((UINT) 0) /* Create the thread suspended. */
#define TX_AUTO_START ((UINT) 1) /* Create the thread ready. */
#define TX_NO_ACTIVATE ((UINT) 0) /* Create the timer inactive. */
#define TX_AUTO_ACTIVATE ((UINT) 1) /* Create the timer active. */
#define TX_OR ((UINT) 0) /* Any of the requested flags; set them. */
#define TX_OR_CLEAR ((UINT) 1) /* Any of the requested flags, which are then cleared. */
#define TX_AND ((UINT) 2) /* All of the requested flags; keep only these. */
#define TX_AND_CLEAR ((UINT) 3) /* All of the requested flags, which are then cleared. */
#define TX_NO_INHERIT ((UINT) 0) /* Mutex without priority inheritance. */
#define TX_INHERIT ((UINT) 1) /* Mutex with priority inheritance. */
#define TX_THREAD_ENTRY ((UINT) 0) /* Notification: the thread is about to run its entry function. */
#define TX_THREAD_EXIT ((UINT) 1) /* Notification: the thread completed or was terminated. */
#define TX_FALSE ((UINT) 0) /* False. */
#define TX_TRUE ((UINT) 1) /* True. */
#define TX_INT_ENABLE ((UINT) 0x00) /* Interrupt posture: IRQ enabled (CPSR.I clear). */
#define TX_INT_DISABLE ((UINT) 0x80) /* Interrupt posture: IRQ masked (CPSR.I set). */
#define TX_MAX_PRIORITIES 32 /* Number of priorities; 0 is the highest. */
#define TX_NO_WAIT ((ULONG) 0) /* Return at once. */
#define TX_WAIT_FOREVER ((ULONG) 0xFFFFFFFF) /* Wait without limit. */
#define TX_NO_TIME_SLICE ((ULONG) 0) /* No time-slice. */
#define TX_BYTE_POOL_MIN ((ULONG) 100) /* Smallest byte pool, in bytes. */
#define TX_MINIMUM_STACK 336 /* Smallest stack a thread may be created with, in bytes: a switch (64) that an interrupt (96) meets, whose end preempts (64), and room for calls. */
#define TX_STACK_FILL ((ULONG) 0xEFEFEFEF) /* Pattern a stack is filled with at creation. */
#define TX_READY ((UINT) 0) /* State: ready or running. */
#define TX_COMPLETED ((UINT) 1) /* State: the entry function returned. */
#define TX_TERMINATED ((UINT) 2) /* State: terminated. */
#define TX_SUSPENDED ((UINT) 3) /* State: suspended by `tx_thread_suspend` or created so. */
#define TX_SLEEP ((UINT) 4) /* State: sleeping. */
#define TX_QUEUE_SUSP ((UINT) 5) /* State: waiting on a queue. */
#define TX_SEMAPHORE_SUSP ((UINT) 6) /* State: waiting on a semaphore. */
#define TX_EVENT_FLAG ((UINT) 7) /* State: waiting on an event flags group. */
#define TX_BLOCK_MEMORY ((UINT) 8) /* State: waiting on a block pool. */
#define TX_BYTE_MEMORY ((UINT) 9) /* State: waiting on a byte pool. */
#define TX_MUTEX_SUSP ((UINT) 13) /* State: waiting on a mutex. */
#define TX_1_ULONG ((UINT) 1)
#define TX_2_ULONG ((UINT) 2)
#define TX_4_ULONG ((UINT) 4)
#define TX_8_ULONG ((UINT) 8)
#define TX_16_ULONG ((UINT) 16)
#define TX_IO_DRIVER ((UINT) 10)
#define TX_FILE ((UINT) 11)
#define TX_TCP_IP ((UINT) 12)
#define TX_PRIORITY_CHANGE ((UINT) 14)
#define TX_LOOP_FOREVER ((UINT) 1)
#define TX_NO_SUSPENSIONS ((UINT) 0)
#define TX_NO_MESSAGES ((UINT) 0)
#define TX_EMPTY ((ULONG) 0)
#define TX_CLEAR_ID ((ULONG) 0)
#define TX_TRACE_ALL_EVENTS ((ULONG) 2047)
#define TX_TRACE_INTERNAL_EVENTS ((ULONG) 1)
#define TX_TRACE_BLOCK_POOL_EVENTS ((ULONG) 2)
#define TX_TRACE_BYTE_POOL_EVENTS ((ULONG) 4)
#define TX_TRACE_EVENT_FLAGS_EVENTS ((ULONG) 8)
#define TX_TRACE_INTERRUPT_CONTROL_EVENT ((ULONG) 16)
#define TX_TRACE_MUTEX_EVENTS ((ULONG) 32)
#define TX_TRACE_QUEUE_EVENTS ((ULONG) 64)
#define TX_TRACE_SEMAPHORE_EVENTS ((ULONG) 128)
#define TX_TRACE_THREAD_EVENTS ((ULONG) 256)
#define TX_TRACE_TIME_EVENTS ((ULONG) 512)
#define TX_TRACE_TIMER_EVENTS ((ULONG) 1024)
#define TX_TRACE_USER_EVENTS ((ULONG) 2147483648)
#define TX_TRACE_USER_EVENT_START ((ULONG) 4096)
#define TX_TRACE_USER_EVENT_END ((ULONG) 65535)
#ifndef TX_PARAMETER_NOT_USED
#define TX_PARAMETER_NOT_USED(p) ((void) (p))
#endif
#ifndef TX_TIMER_TICKS_PER_SECOND
#define TX_TIMER_TICKS_PER_SECOND ((ULONG) 100)
#endif

/* The application's part: called once, before the first thread runs. */
VOID tx_application_define(VOID *first_unused_memory);

/* Entry points. */
VOID _tx_initialize_kernel_enter(VOID);
VOID _tx_timer_interrupt(VOID);
UINT _tx_thread_preempt_disable_enter(VOID);
VOID _tx_thread_preempt_disable_exit(UINT posture);
UINT _tx_thread_create(TX_THREAD *thread_ptr, CHAR *name_ptr, VOID (*entry_function)(ULONG a1), ULONG entry_input, VOID *stack_start, ULONG stack_size, UINT priority, UINT preempt_threshold, ULONG time_slice, UINT auto_start);
UINT _txe_thread_create(TX_THREAD *thread_ptr, CHAR *name_ptr, VOID (*entry_function)(ULONG a1), ULONG entry_input, VOID *stack_start, ULONG stack_size, UINT priority, UINT preempt_threshold, ULONG time_slice, UINT auto_start, UINT thread_control_block_size);
UINT _tx_thread_delete(TX_THREAD *thread_ptr);
UINT _txe_thread_delete(TX_THREAD *thread_ptr);
UINT _tx_thread_entry_exit_notify(TX_THREAD *thread_ptr, VOID (*notify)(TX_THREAD *a1, UINT a2));
UINT _txe_thread_entry_exit_notify(TX_THREAD *thread_ptr, VOID (*notify)(TX_THREAD *a1, UINT a2));
TX_THREAD *_tx_thread_identify(VOID);
UINT _tx_thread_info_get(TX_THREAD *thread_ptr, CHAR **name, UINT *state, ULONG *run_count, UINT *priority, UINT *preemption_threshold, ULONG *time_slice, TX_THREAD **next_thread, TX_THREAD **next_suspended_thread);
UINT _txe_thread_info_get(TX_THREAD *thread_ptr, CHAR **name, UINT *state, ULONG *run_count, UINT *priority, UINT *preemption_threshold, ULONG *time_slice, TX_THREAD **next_thread, TX_THREAD **next_suspended_thread);
UINT _tx_thread_preemption_change(TX_THREAD *thread_ptr, UINT new_threshold, UINT *old_threshold);
UINT _txe_thread_preemption_change(TX_THREAD *thread_ptr, UINT new_threshold, UINT *old_threshold);
UINT _tx_thread_priority_change(TX_THREAD *thread_ptr, UINT new_priority, UINT *old_priority);
UINT _txe_thread_priority_change(TX_THREAD *thread_ptr, UINT new_priority, UINT *old_priority);
VOID _txe_thread_relinquish(VOID);
UINT _tx_thread_reset(TX_THREAD *thread_ptr);
UINT _txe_thread_reset(TX_THREAD *thread_ptr);
UINT _tx_thread_resume(TX_THREAD *thread_ptr);
UINT _txe_thread_resume(TX_THREAD *thread_ptr);
UINT _tx_thread_sleep(ULONG timer_ticks);
UINT _tx_thread_stack_error_notify(VOID (*handler)(TX_THREAD *a1));
UINT _tx_thread_suspend(TX_THREAD *thread_ptr);
UINT _txe_thread_suspend(TX_THREAD *thread_ptr);
UINT _tx_thread_terminate(TX_THREAD *thread_ptr);
UINT _txe_thread_terminate(TX_THREAD *thread_ptr);
UINT _tx_thread_time_slice_change(TX_THREAD *thread_ptr, ULONG new_time_slice, ULONG *old_time_slice);
UINT _txe_thread_time_slice_change(TX_THREAD *thread_ptr, ULONG new_time_slice, ULONG *old_time_slice);
UINT _tx_thread_wait_abort(TX_THREAD *thread_ptr);
UINT _txe_thread_wait_abort(TX_THREAD *thread_ptr);
ULONG _tx_time_get(VOID);
VOID _tx_time_set(ULONG new_time);
UINT _tx_timer_activate(TX_TIMER *timer_ptr);
UINT _txe_timer_activate(TX_TIMER *timer_ptr);
UINT _tx_timer_change(TX_TIMER *timer_ptr, ULONG initial_ticks, ULONG reschedule_ticks);
UINT _txe_timer_change(TX_TIMER *timer_ptr, ULONG initial_ticks, ULONG reschedule_ticks);
UINT _tx_timer_create(TX_TIMER *timer_ptr, CHAR *name_ptr, VOID (*expiration_function)(ULONG a1), ULONG expiration_input, ULONG initial_ticks, ULONG reschedule_ticks, UINT auto_activate);
UINT _txe_timer_create(TX_TIMER *timer_ptr, CHAR *name_ptr, VOID (*expiration_function)(ULONG a1), ULONG expiration_input, ULONG initial_ticks, ULONG reschedule_ticks, UINT auto_activate, UINT timer_control_block_size);
UINT _tx_timer_deactivate(TX_TIMER *timer_ptr);
UINT _txe_timer_deactivate(TX_TIMER *timer_ptr);
UINT _tx_timer_delete(TX_TIMER *timer_ptr);
UINT _txe_timer_delete(TX_TIMER *timer_ptr);
UINT _tx_timer_info_get(TX_TIMER *timer_ptr, CHAR **name, UINT *active, ULONG *remaining_ticks, ULONG *reschedule_ticks, TX_TIMER **next_timer);
UINT _txe_timer_info_get(TX_TIMER *timer_ptr, CHAR **name, UINT *active, ULONG *remaining_ticks, ULONG *reschedule_ticks, TX_TIMER **next_timer);
UINT _tx_semaphore_create(TX_SEMAPHORE *semaphore_ptr, CHAR *name_ptr, ULONG initial_count);
UINT _txe_semaphore_create(TX_SEMAPHORE *semaphore_ptr, CHAR *name_ptr, ULONG initial_count, UINT semaphore_control_block_size);
UINT _tx_semaphore_get(TX_SEMAPHORE *semaphore_ptr, ULONG wait_option);
UINT _txe_semaphore_get(TX_SEMAPHORE *semaphore_ptr, ULONG wait_option);
UINT _tx_semaphore_put(TX_SEMAPHORE *semaphore_ptr);
UINT _txe_semaphore_put(TX_SEMAPHORE *semaphore_ptr);
UINT _tx_semaphore_ceiling_put(TX_SEMAPHORE *semaphore_ptr, ULONG ceiling);
UINT _txe_semaphore_ceiling_put(TX_SEMAPHORE *semaphore_ptr, ULONG ceiling);
UINT _tx_semaphore_delete(TX_SEMAPHORE *semaphore_ptr);
UINT _txe_semaphore_delete(TX_SEMAPHORE *semaphore_ptr);
UINT _tx_semaphore_prioritize(TX_SEMAPHORE *semaphore_ptr);
UINT _txe_semaphore_prioritize(TX_SEMAPHORE *semaphore_ptr);
UINT _tx_semaphore_put_notify(TX_SEMAPHORE *semaphore_ptr, VOID (*notify)(TX_SEMAPHORE *a1));
UINT _txe_semaphore_put_notify(TX_SEMAPHORE *semaphore_ptr, VOID (*notify)(TX_SEMAPHORE *a1));
UINT _tx_semaphore_info_get(TX_SEMAPHORE *semaphore_ptr, CHAR **name, ULONG *current_value, TX_THREAD **first_suspended, ULONG *suspended_count, TX_SEMAPHORE **next_semaphore);
UINT _txe_semaphore_info_get(TX_SEMAPHORE *semaphore_ptr, CHAR **name, ULONG *current_value, TX_THREAD **first_suspended, ULONG *suspended_count, TX_SEMAPHORE **next_semaphore);
VOID _tx_thread_relinquish(VOID);
UINT _tx_thread_interrupt_control(UINT new_posture);
UINT _tx_mutex_create(TX_MUTEX *mutex_ptr, CHAR *name_ptr, UINT inherit);
UINT _txe_mutex_create(TX_MUTEX *mutex_ptr, CHAR *name_ptr, UINT inherit, UINT mutex_control_block_size);
UINT _tx_mutex_delete(TX_MUTEX *mutex_ptr);
UINT _txe_mutex_delete(TX_MUTEX *mutex_ptr);
UINT _tx_mutex_get(TX_MUTEX *mutex_ptr, ULONG wait_option);
UINT _txe_mutex_get(TX_MUTEX *mutex_ptr, ULONG wait_option);
UINT _tx_mutex_put(TX_MUTEX *mutex_ptr);
UINT _txe_mutex_put(TX_MUTEX *mutex_ptr);
UINT _tx_mutex_prioritize(TX_MUTEX *mutex_ptr);
UINT _txe_mutex_prioritize(TX_MUTEX *mutex_ptr);
UINT _tx_mutex_info_get(TX_MUTEX *mutex_ptr, CHAR **name, ULONG *count, TX_THREAD **owner, TX_THREAD **first_suspended, ULONG *suspended_count, TX_MUTEX **next_mutex);
UINT _txe_mutex_info_get(TX_MUTEX *mutex_ptr, CHAR **name, ULONG *count, TX_THREAD **owner, TX_THREAD **first_suspended, ULONG *suspended_count, TX_MUTEX **next_mutex);
UINT _tx_event_flags_create(TX_EVENT_FLAGS_GROUP *group_ptr, CHAR *name_ptr);
UINT _txe_event_flags_create(TX_EVENT_FLAGS_GROUP *group_ptr, CHAR *name_ptr, UINT event_control_block_size);
UINT _tx_event_flags_delete(TX_EVENT_FLAGS_GROUP *group_ptr);
UINT _txe_event_flags_delete(TX_EVENT_FLAGS_GROUP *group_ptr);
UINT _tx_event_flags_get(TX_EVENT_FLAGS_GROUP *group_ptr, ULONG requested_flags, UINT get_option, ULONG *actual_flags_ptr, ULONG wait_option);
UINT _txe_event_flags_get(TX_EVENT_FLAGS_GROUP *group_ptr, ULONG requested_flags, UINT get_option, ULONG *actual_flags_ptr, ULONG wait_option);
UINT _tx_event_flags_set(TX_EVENT_FLAGS_GROUP *group_ptr, ULONG flags_to_set, UINT set_option);
UINT _txe_event_flags_set(TX_EVENT_FLAGS_GROUP *group_ptr, ULONG flags_to_set, UINT set_option);
UINT _tx_event_flags_set_notify(TX_EVENT_FLAGS_GROUP *group_ptr, VOID (*notify)(TX_EVENT_FLAGS_GROUP *a1));
UINT _txe_event_flags_set_notify(TX_EVENT_FLAGS_GROUP *group_ptr, VOID (*notify)(TX_EVENT_FLAGS_GROUP *a1));
UINT _tx_event_flags_info_get(TX_EVENT_FLAGS_GROUP *group_ptr, CHAR **name, ULONG *current_flags, TX_THREAD **first_suspended, ULONG *suspended_count, TX_EVENT_FLAGS_GROUP **next_group);
UINT _txe_event_flags_info_get(TX_EVENT_FLAGS_GROUP *group_ptr, CHAR **name, ULONG *current_flags, TX_THREAD **first_suspended, ULONG *suspended_count, TX_EVENT_FLAGS_GROUP **next_group);
UINT _tx_queue_create(TX_QUEUE *queue_ptr, CHAR *name_ptr, UINT message_size, VOID *queue_start, ULONG queue_size);
UINT _txe_queue_create(TX_QUEUE *queue_ptr, CHAR *name_ptr, UINT message_size, VOID *queue_start, ULONG queue_size, UINT queue_control_block_size);
UINT _tx_queue_delete(TX_QUEUE *queue_ptr);
UINT _txe_queue_delete(TX_QUEUE *queue_ptr);
UINT _tx_queue_flush(TX_QUEUE *queue_ptr);
UINT _txe_queue_flush(TX_QUEUE *queue_ptr);
UINT _tx_queue_send(TX_QUEUE *queue_ptr, VOID *source_ptr, ULONG wait_option);
UINT _txe_queue_send(TX_QUEUE *queue_ptr, VOID *source_ptr, ULONG wait_option);
UINT _tx_queue_front_send(TX_QUEUE *queue_ptr, VOID *source_ptr, ULONG wait_option);
UINT _txe_queue_front_send(TX_QUEUE *queue_ptr, VOID *source_ptr, ULONG wait_option);
UINT _tx_queue_receive(TX_QUEUE *queue_ptr, VOID *destination_ptr, ULONG wait_option);
UINT _txe_queue_receive(TX_QUEUE *queue_ptr, VOID *destination_ptr, ULONG wait_option);
UINT _tx_queue_prioritize(TX_QUEUE *queue_ptr);
UINT _txe_queue_prioritize(TX_QUEUE *queue_ptr);
UINT _tx_queue_send_notify(TX_QUEUE *queue_ptr, VOID (*notify)(TX_QUEUE *a1));
UINT _txe_queue_send_notify(TX_QUEUE *queue_ptr, VOID (*notify)(TX_QUEUE *a1));
UINT _tx_queue_info_get(TX_QUEUE *queue_ptr, CHAR **name, ULONG *enqueued, ULONG *available_storage, TX_THREAD **first_suspended, ULONG *suspended_count, TX_QUEUE **next_queue);
UINT _txe_queue_info_get(TX_QUEUE *queue_ptr, CHAR **name, ULONG *enqueued, ULONG *available_storage, TX_THREAD **first_suspended, ULONG *suspended_count, TX_QUEUE **next_queue);
UINT _tx_block_pool_create(TX_BLOCK_POOL *pool_ptr, CHAR *name_ptr, ULONG block_size, VOID *pool_start, ULONG pool_size);
UINT _txe_block_pool_create(TX_BLOCK_POOL *pool_ptr, CHAR *name_ptr, ULONG block_size, VOID *pool_start, ULONG pool_size, UINT pool_control_block_size);
UINT _tx_block_pool_delete(TX_BLOCK_POOL *pool_ptr);
UINT _txe_block_pool_delete(TX_BLOCK_POOL *pool_ptr);
UINT _tx_block_allocate(TX_BLOCK_POOL *pool_ptr, VOID **block_ptr, ULONG wait_option);
UINT _txe_block_allocate(TX_BLOCK_POOL *pool_ptr, VOID **block_ptr, ULONG wait_option);
UINT _tx_block_release(VOID *block_ptr);
UINT _txe_block_release(VOID *block_ptr);
UINT _tx_block_pool_prioritize(TX_BLOCK_POOL *pool_ptr);
UINT _txe_block_pool_prioritize(TX_BLOCK_POOL *pool_ptr);
UINT _tx_block_pool_info_get(TX_BLOCK_POOL *pool_ptr, CHAR **name, ULONG *available_blocks, ULONG *total_blocks, TX_THREAD **first_suspended, ULONG *suspended_count, TX_BLOCK_POOL **next_pool);
UINT _txe_block_pool_info_get(TX_BLOCK_POOL *pool_ptr, CHAR **name, ULONG *available_blocks, ULONG *total_blocks, TX_THREAD **first_suspended, ULONG *suspended_count, TX_BLOCK_POOL **next_pool);
UINT _tx_byte_pool_create(TX_BYTE_POOL *pool_ptr, CHAR *name_ptr, VOID *pool_start, ULONG pool_size);
UINT _txe_byte_pool_create(TX_BYTE_POOL *pool_ptr, CHAR *name_ptr, VOID *pool_start, ULONG pool_size, UINT pool_control_block_size);
UINT _tx_byte_pool_delete(TX_BYTE_POOL *pool_ptr);
UINT _txe_byte_pool_delete(TX_BYTE_POOL *pool_ptr);
UINT _tx_byte_allocate(TX_BYTE_POOL *pool_ptr, VOID **memory_ptr, ULONG memory_size, ULONG wait_option);
UINT _txe_byte_allocate(TX_BYTE_POOL *pool_ptr, VOID **memory_ptr, ULONG memory_size, ULONG wait_option);
UINT _tx_byte_release(VOID *memory_ptr);
UINT _txe_byte_release(VOID *memory_ptr);
UINT _tx_byte_pool_prioritize(TX_BYTE_POOL *pool_ptr);
UINT _txe_byte_pool_prioritize(TX_BYTE_POOL *pool_ptr);
UINT _tx_byte_pool_info_get(TX_BYTE_POOL *pool_ptr, CHAR **name, ULONG *available_bytes, ULONG *fragments, TX_THREAD **first_suspended, ULONG *suspended_count, TX_BYTE_POOL **next_pool);
UINT _txe_byte_pool_info_get(TX_BYTE_POOL *pool_ptr, CHAR **name, ULONG *available_bytes, ULONG *fragments, TX_THREAD **first_suspended, ULONG *suspended_count, TX_BYTE_POOL **next_pool);
UINT _tx_thread_performance_info_get(TX_THREAD *thread_ptr, ULONG *resumptions, ULONG *suspensions, ULONG *solicited_preemptions, ULONG *interrupt_preemptions, ULONG *priority_inversions, ULONG *time_slices, ULONG *relinquishes, ULONG *timeouts, ULONG *wait_aborts, TX_THREAD **last_preempted_by);
UINT _tx_thread_performance_system_info_get(ULONG *resumptions, ULONG *suspensions, ULONG *solicited_preemptions, ULONG *interrupt_preemptions, ULONG *priority_inversions, ULONG *time_slices, ULONG *relinquishes, ULONG *timeouts, ULONG *wait_aborts, ULONG *non_idle_returns, ULONG *idle_returns);
UINT _tx_timer_performance_info_get(TX_TIMER *timer_ptr, ULONG *activates, ULONG *reactivates, ULONG *deactivates, ULONG *expirations, ULONG *expiration_adjusts);
UINT _tx_timer_performance_system_info_get(ULONG *activates, ULONG *reactivates, ULONG *deactivates, ULONG *expirations, ULONG *expiration_adjusts);
UINT _tx_semaphore_performance_info_get(TX_SEMAPHORE *semaphore_ptr, ULONG *puts, ULONG *gets, ULONG *suspensions, ULONG *timeouts);
UINT _tx_semaphore_performance_system_info_get(ULONG *puts, ULONG *gets, ULONG *suspensions, ULONG *timeouts);
UINT _tx_mutex_performance_info_get(TX_MUTEX *mutex_ptr, ULONG *puts, ULONG *gets, ULONG *suspensions, ULONG *timeouts, ULONG *inversions, ULONG *inheritances);
UINT _tx_mutex_performance_system_info_get(ULONG *puts, ULONG *gets, ULONG *suspensions, ULONG *timeouts, ULONG *inversions, ULONG *inheritances);
UINT _tx_event_flags_performance_info_get(TX_EVENT_FLAGS_GROUP *group_ptr, ULONG *sets, ULONG *gets, ULONG *suspensions, ULONG *timeouts);
UINT _tx_event_flags_performance_system_info_get(ULONG *sets, ULONG *gets, ULONG *suspensions, ULONG *timeouts);
UINT _tx_queue_performance_info_get(TX_QUEUE *queue_ptr, ULONG *messages_sent, ULONG *messages_received, ULONG *empty_suspensions, ULONG *full_suspensions, ULONG *full_errors, ULONG *timeouts);
UINT _tx_queue_performance_system_info_get(ULONG *messages_sent, ULONG *messages_received, ULONG *empty_suspensions, ULONG *full_suspensions, ULONG *full_errors, ULONG *timeouts);
UINT _tx_block_pool_performance_info_get(TX_BLOCK_POOL *pool_ptr, ULONG *allocates, ULONG *releases, ULONG *suspensions, ULONG *timeouts);
UINT _tx_block_pool_performance_system_info_get(ULONG *allocates, ULONG *releases, ULONG *suspensions, ULONG *timeouts);
UINT _tx_byte_pool_performance_info_get(TX_BYTE_POOL *pool_ptr, ULONG *allocates, ULONG *releases, ULONG *fragments_searched, ULONG *merges, ULONG *splits, ULONG *suspensions, ULONG *timeouts);
UINT _tx_byte_pool_performance_system_info_get(ULONG *allocates, ULONG *releases, ULONG *fragments_searched, ULONG *merges, ULONG *splits, ULONG *suspensions, ULONG *timeouts);
UINT _tx_trace_enable(VOID *trace_buffer_start, ULONG trace_buffer_size, ULONG registry_entries);
UINT _tx_trace_disable(VOID);
UINT _tx_trace_event_filter(ULONG event_filter_bits);
UINT _tx_trace_event_unfilter(ULONG event_unfilter_bits);
UINT _tx_trace_buffer_full_notify(VOID (*full_buffer_callback)(VOID *a1));
UINT _tx_trace_user_event_insert(ULONG event_id, ULONG info_field_1, ULONG info_field_2, ULONG info_field_3, ULONG info_field_4);
VOID _tx_trace_isr_enter_insert(ULONG isr_id);
VOID _tx_trace_isr_exit_insert(ULONG isr_id);

/* Their documented names. TX_DISABLE_ERROR_CHECKING leaves out the checks. */
#define tx_kernel_enter _tx_initialize_kernel_enter
#define tx_thread_preempt_disable_enter _tx_thread_preempt_disable_enter
#define tx_thread_preempt_disable_exit _tx_thread_preempt_disable_exit
#define tx_thread_identify _tx_thread_identify
#define tx_thread_sleep _tx_thread_sleep
#define tx_thread_stack_error_notify _tx_thread_stack_error_notify
#define tx_time_get _tx_time_get
#define tx_time_set _tx_time_set
#define tx_interrupt_control _tx_thread_interrupt_control
#define tx_thread_performance_info_get _tx_thread_performance_info_get
#define tx_thread_performance_system_info_get _tx_thread_performance_system_info_get
#define tx_timer_performance_info_get _tx_timer_performance_info_get
#define tx_timer_performance_system_info_get _tx_timer_performance_system_info_get
#define tx_semaphore_performance_info_get _tx_semaphore_performance_info_get
#define tx_semaphore_performance_system_info_get _tx_semaphore_performance_system_info_get
#define tx_mutex_performance_info_get _tx_mutex_performance_info_get
#define tx_mutex_performance_system_info_get _tx_mutex_performance_system_info_get
#define tx_event_flags_performance_info_get _tx_event_flags_performance_info_get
#define tx_event_flags_performance_system_info_get _tx_event_flags_performance_system_info_get
#define tx_queue_performance_info_get _tx_queue_performance_info_get
#define tx_queue_performance_system_info_get _tx_queue_performance_system_info_get
#define tx_block_pool_performance_info_get _tx_block_pool_performance_info_get
#define tx_block_pool_performance_system_info_get _tx_block_pool_performance_system_info_get
#define tx_byte_pool_performance_info_get _tx_byte_pool_performance_info_get
#define tx_byte_pool_performance_system_info_get _tx_byte_pool_performance_system_info_get
#define tx_trace_enable _tx_trace_enable
#define tx_trace_disable _tx_trace_disable
#define tx_trace_event_filter _tx_trace_event_filter
#define tx_trace_event_unfilter _tx_trace_event_unfilter
#define tx_trace_buffer_full_notify _tx_trace_buffer_full_notify
#define tx_trace_user_event_insert _tx_trace_user_event_insert
#define tx_trace_isr_enter_insert _tx_trace_isr_enter_insert
#define tx_trace_isr_exit_insert _tx_trace_isr_exit_insert
#ifdef TX_DISABLE_ERROR_CHECKING
#define tx_thread_create _tx_thread_create
#define tx_thread_delete _tx_thread_delete
#define tx_thread_entry_exit_notify _tx_thread_entry_exit_notify
#define tx_thread_info_get _tx_thread_info_get
#define tx_thread_preemption_change _tx_thread_preemption_change
#define tx_thread_priority_change _tx_thread_priority_change
#define tx_thread_reset _tx_thread_reset
#define tx_thread_resume _tx_thread_resume
#define tx_thread_suspend _tx_thread_suspend
#define tx_thread_terminate _tx_thread_terminate
#define tx_thread_time_slice_change _tx_thread_time_slice_change
#define tx_thread_wait_abort _tx_thread_wait_abort
#define tx_timer_activate _tx_timer_activate
#define tx_timer_change _tx_timer_change
#define tx_timer_create _tx_timer_create
#define tx_timer_deactivate _tx_timer_deactivate
#define tx_timer_delete _tx_timer_delete
#define tx_timer_info_get _tx_timer_info_get
#define tx_semaphore_create _tx_semaphore_create
#define tx_semaphore_get _tx_semaphore_get
#define tx_semaphore_put _tx_semaphore_put
#define tx_semaphore_ceiling_put _tx_semaphore_ceiling_put
#define tx_semaphore_delete _tx_semaphore_delete
#define tx_semaphore_prioritize _tx_semaphore_prioritize
#define tx_semaphore_put_notify _tx_semaphore_put_notify
#define tx_semaphore_info_get _tx_semaphore_info_get
#define tx_thread_relinquish _tx_thread_relinquish
#define tx_mutex_create _tx_mutex_create
#define tx_mutex_delete _tx_mutex_delete
#define tx_mutex_get _tx_mutex_get
#define tx_mutex_put _tx_mutex_put
#define tx_mutex_prioritize _tx_mutex_prioritize
#define tx_mutex_info_get _tx_mutex_info_get
#define tx_event_flags_create _tx_event_flags_create
#define tx_event_flags_delete _tx_event_flags_delete
#define tx_event_flags_get _tx_event_flags_get
#define tx_event_flags_set _tx_event_flags_set
#define tx_event_flags_set_notify _tx_event_flags_set_notify
#define tx_event_flags_info_get _tx_event_flags_info_get
#define tx_queue_create _tx_queue_create
#define tx_queue_delete _tx_queue_delete
#define tx_queue_flush _tx_queue_flush
#define tx_queue_send _tx_queue_send
#define tx_queue_front_send _tx_queue_front_send
#define tx_queue_receive _tx_queue_receive
#define tx_queue_prioritize _tx_queue_prioritize
#define tx_queue_send_notify _tx_queue_send_notify
#define tx_queue_info_get _tx_queue_info_get
#define tx_block_pool_create _tx_block_pool_create
#define tx_block_pool_delete _tx_block_pool_delete
#define tx_block_allocate _tx_block_allocate
#define tx_block_release _tx_block_release
#define tx_block_pool_prioritize _tx_block_pool_prioritize
#define tx_block_pool_info_get _tx_block_pool_info_get
#define tx_byte_pool_create _tx_byte_pool_create
#define tx_byte_pool_delete _tx_byte_pool_delete
#define tx_byte_allocate _tx_byte_allocate
#define tx_byte_release _tx_byte_release
#define tx_byte_pool_prioritize _tx_byte_pool_prioritize
#define tx_byte_pool_info_get _tx_byte_pool_info_get
#else
#define tx_thread_create(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) _txe_thread_create((a1), (a2), (a3), (a4), (a5), (a6), (a7), (a8), (a9), (a10), sizeof(TX_THREAD))
#define tx_thread_delete _txe_thread_delete
#define tx_thread_entry_exit_notify _txe_thread_entry_exit_notify
#define tx_thread_info_get _txe_thread_info_get
#define tx_thread_preemption_change _txe_thread_preemption_change
#define tx_thread_priority_change _txe_thread_priority_change
#define tx_thread_reset _txe_thread_reset
#define tx_thread_resume _txe_thread_resume
#define tx_thread_suspend _txe_thread_suspend
#define tx_thread_terminate _txe_thread_terminate
#define tx_thread_time_slice_change _txe_thread_time_slice_change
#define tx_thread_wait_abort _txe_thread_wait_abort
#define tx_timer_activate _txe_timer_activate
#define tx_timer_change _txe_timer_change
#define tx_timer_create(a1, a2, a3, a4, a5, a6, a7) _txe_timer_create((a1), (a2), (a3), (a4), (a5), (a6), (a7), sizeof(TX_TIMER))
#define tx_timer_deactivate _txe_timer_deactivate
#define tx_timer_delete _txe_timer_delete
#define tx_timer_info_get _txe_timer_info_get
#define tx_semaphore_create(a1, a2, a3) _txe_semaphore_create((a1), (a2), (a3), sizeof(TX_SEMAPHORE))
#define tx_semaphore_get _txe_semaphore_get
#define tx_semaphore_put _txe_semaphore_put
#define tx_semaphore_ceiling_put _txe_semaphore_ceiling_put
#define tx_semaphore_delete _txe_semaphore_delete
#define tx_semaphore_prioritize _txe_semaphore_prioritize
#define tx_semaphore_put_notify _txe_semaphore_put_notify
#define tx_semaphore_info_get _txe_semaphore_info_get
#define tx_thread_relinquish _txe_thread_relinquish
#define tx_mutex_create(a1, a2, a3) _txe_mutex_create((a1), (a2), (a3), sizeof(TX_MUTEX))
#define tx_mutex_delete _txe_mutex_delete
#define tx_mutex_get _txe_mutex_get
#define tx_mutex_put _txe_mutex_put
#define tx_mutex_prioritize _txe_mutex_prioritize
#define tx_mutex_info_get _txe_mutex_info_get
#define tx_event_flags_create(a1, a2) _txe_event_flags_create((a1), (a2), sizeof(TX_EVENT_FLAGS_GROUP))
#define tx_event_flags_delete _txe_event_flags_delete
#define tx_event_flags_get _txe_event_flags_get
#define tx_event_flags_set _txe_event_flags_set
#define tx_event_flags_set_notify _txe_event_flags_set_notify
#define tx_event_flags_info_get _txe_event_flags_info_get
#define tx_queue_create(a1, a2, a3, a4, a5) _txe_queue_create((a1), (a2), (a3), (a4), (a5), sizeof(TX_QUEUE))
#define tx_queue_delete _txe_queue_delete
#define tx_queue_flush _txe_queue_flush
#define tx_queue_send _txe_queue_send
#define tx_queue_front_send _txe_queue_front_send
#define tx_queue_receive _txe_queue_receive
#define tx_queue_prioritize _txe_queue_prioritize
#define tx_queue_send_notify _txe_queue_send_notify
#define tx_queue_info_get _txe_queue_info_get
#define tx_block_pool_create(a1, a2, a3, a4, a5) _txe_block_pool_create((a1), (a2), (a3), (a4), (a5), sizeof(TX_BLOCK_POOL))
#define tx_block_pool_delete _txe_block_pool_delete
#define tx_block_allocate _txe_block_allocate
#define tx_block_release _txe_block_release
#define tx_block_pool_prioritize _txe_block_pool_prioritize
#define tx_block_pool_info_get _txe_block_pool_info_get
#define tx_byte_pool_create(a1, a2, a3, a4) _txe_byte_pool_create((a1), (a2), (a3), (a4), sizeof(TX_BYTE_POOL))
#define tx_byte_pool_delete _txe_byte_pool_delete
#define tx_byte_allocate _txe_byte_allocate
#define tx_byte_release _txe_byte_release
#define tx_byte_pool_prioritize _txe_byte_pool_prioritize
#define tx_byte_pool_info_get _txe_byte_pool_info_get
#endif

#ifdef __cplusplus
}
#endif

#endif
