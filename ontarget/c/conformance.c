/* Every service, constant and type of the documented API, from C, with nothing but tx_api.h: the same
   file for upstream's kernel with upstream's header and for the bundled kernel with its own. */

#include "tx_api.h"

/* The image's part: prints a check that failed, and ends the run. */
extern void conformance_failed(const char *what, unsigned line, unsigned long got, unsigned long wanted);
extern void conformance_group(const char *name);
extern void conformance_done(unsigned checks, unsigned failures);
/* One float ABI: arguments and results between C and Rust, in both directions. */
extern double conformance_scale(float a, double b, float c);
double conformance_mix(float a, double b, float c, unsigned long long d);

static UINT checks, failures;

static VOID check(const char *what, UINT line, ULONG got, ULONG wanted)
{
    checks++;
    if (got != wanted) {
        failures++;
        conformance_failed(what, line, got, wanted);
    }
}

#define IS(expression, wanted) check(#expression, __LINE__, (ULONG) (expression), (ULONG) (wanted))
#define OK(expression) IS(expression, TX_SUCCESS)
#define WORDS(array) (sizeof(array) / sizeof((array)[0]))

double conformance_mix(float a, double b, float c, unsigned long long d)
{
    return a + b * 2 + c * 4 + (double) d;
}

/* ---- types and constants ---- */

_Static_assert(sizeof(CHAR) == 1 && sizeof(UCHAR) == 1 && (UCHAR) -1 > 0, "bytes");
_Static_assert(sizeof(SHORT) == 2 && sizeof(USHORT) == 2 && (SHORT) -1 < 0 && (USHORT) -1 > 0, "half words");
_Static_assert(sizeof(INT) == 4 && sizeof(UINT) == 4 && (INT) -1 < 0 && (UINT) -1 > 0, "words");
_Static_assert(sizeof(LONG) == 4 && sizeof(ULONG) == 4 && (LONG) -1 < 0 && (ULONG) -1 > 0, "long words");

#if TX_MAX_PRIORITIES < 32 || TX_MINIMUM_STACK < 1
#error "the preprocessor cannot compare these"
#endif

/* The values that the User Guide gives: data of existing programs contains them. */
static const struct { const char *name; ULONG value, documented; } constants[] = {
#define CONSTANT(name, documented) { #name, (ULONG) (name), documented },
    CONSTANT(TX_SUCCESS, 0x00) CONSTANT(TX_DELETED, 0x01) CONSTANT(TX_POOL_ERROR, 0x02) CONSTANT(TX_PTR_ERROR, 0x03)
    CONSTANT(TX_WAIT_ERROR, 0x04) CONSTANT(TX_SIZE_ERROR, 0x05) CONSTANT(TX_GROUP_ERROR, 0x06)
    CONSTANT(TX_NO_EVENTS, 0x07) CONSTANT(TX_OPTION_ERROR, 0x08) CONSTANT(TX_QUEUE_ERROR, 0x09)
    CONSTANT(TX_QUEUE_EMPTY, 0x0A) CONSTANT(TX_QUEUE_FULL, 0x0B) CONSTANT(TX_SEMAPHORE_ERROR, 0x0C)
    CONSTANT(TX_NO_INSTANCE, 0x0D) CONSTANT(TX_THREAD_ERROR, 0x0E) CONSTANT(TX_PRIORITY_ERROR, 0x0F)
    CONSTANT(TX_NO_MEMORY, 0x10) CONSTANT(TX_START_ERROR, 0x10) CONSTANT(TX_DELETE_ERROR, 0x11)
    CONSTANT(TX_RESUME_ERROR, 0x12) CONSTANT(TX_CALLER_ERROR, 0x13) CONSTANT(TX_SUSPEND_ERROR, 0x14)
    CONSTANT(TX_TIMER_ERROR, 0x15) CONSTANT(TX_TICK_ERROR, 0x16) CONSTANT(TX_ACTIVATE_ERROR, 0x17)
    CONSTANT(TX_THRESH_ERROR, 0x18) CONSTANT(TX_SUSPEND_LIFTED, 0x19) CONSTANT(TX_WAIT_ABORTED, 0x1A)
    CONSTANT(TX_WAIT_ABORT_ERROR, 0x1B) CONSTANT(TX_MUTEX_ERROR, 0x1C) CONSTANT(TX_NOT_AVAILABLE, 0x1D)
    CONSTANT(TX_NOT_OWNED, 0x1E) CONSTANT(TX_INHERIT_ERROR, 0x1F) CONSTANT(TX_NOT_DONE, 0x20)
    CONSTANT(TX_CEILING_EXCEEDED, 0x21) CONSTANT(TX_INVALID_CEILING, 0x22) CONSTANT(TX_FEATURE_NOT_ENABLED, 0xFF)
    CONSTANT(TX_NO_WAIT, 0) CONSTANT(TX_WAIT_FOREVER, 0xFFFFFFFF) CONSTANT(TX_NO_TIME_SLICE, 0)
    CONSTANT(TX_AND, 2) CONSTANT(TX_AND_CLEAR, 3) CONSTANT(TX_OR, 0) CONSTANT(TX_OR_CLEAR, 1)
    CONSTANT(TX_1_ULONG, 1) CONSTANT(TX_2_ULONG, 2) CONSTANT(TX_4_ULONG, 4) CONSTANT(TX_8_ULONG, 8)
    CONSTANT(TX_16_ULONG, 16) CONSTANT(TX_AUTO_START, 1) CONSTANT(TX_DONT_START, 0) CONSTANT(TX_AUTO_ACTIVATE, 1)
    CONSTANT(TX_NO_ACTIVATE, 0) CONSTANT(TX_TRUE, 1) CONSTANT(TX_FALSE, 0) CONSTANT(TX_NULL, 0) CONSTANT(TX_INHERIT, 1)
    CONSTANT(TX_NO_INHERIT, 0) CONSTANT(TX_THREAD_ENTRY, 0) CONSTANT(TX_THREAD_EXIT, 1) CONSTANT(TX_READY, 0)
    CONSTANT(TX_COMPLETED, 1) CONSTANT(TX_TERMINATED, 2) CONSTANT(TX_SUSPENDED, 3) CONSTANT(TX_SLEEP, 4)
    CONSTANT(TX_QUEUE_SUSP, 5) CONSTANT(TX_SEMAPHORE_SUSP, 6) CONSTANT(TX_EVENT_FLAG, 7) CONSTANT(TX_BLOCK_MEMORY, 8)
    CONSTANT(TX_BYTE_MEMORY, 9) CONSTANT(TX_IO_DRIVER, 10) CONSTANT(TX_FILE, 11) CONSTANT(TX_TCP_IP, 12)
    CONSTANT(TX_MUTEX_SUSP, 13) CONSTANT(TX_PRIORITY_CHANGE, 14) CONSTANT(TX_INT_DISABLE, 0x80)
    CONSTANT(TX_INT_ENABLE, 0) CONSTANT(TX_NO_SUSPENSIONS, 0) CONSTANT(TX_NO_MESSAGES, 0) CONSTANT(TX_EMPTY, 0)
    CONSTANT(TX_TRACE_ALL_EVENTS, 0x7FF) CONSTANT(TX_TRACE_INTERNAL_EVENTS, 0x1) CONSTANT(TX_TRACE_BLOCK_POOL_EVENTS, 0x2)
    CONSTANT(TX_TRACE_BYTE_POOL_EVENTS, 0x4) CONSTANT(TX_TRACE_EVENT_FLAGS_EVENTS, 0x8)
    CONSTANT(TX_TRACE_INTERRUPT_CONTROL_EVENT, 0x10) CONSTANT(TX_TRACE_MUTEX_EVENTS, 0x20)
    CONSTANT(TX_TRACE_QUEUE_EVENTS, 0x40) CONSTANT(TX_TRACE_SEMAPHORE_EVENTS, 0x80)
    CONSTANT(TX_TRACE_THREAD_EVENTS, 0x100) CONSTANT(TX_TRACE_TIME_EVENTS, 0x200) CONSTANT(TX_TRACE_TIMER_EVENTS, 0x400)
    CONSTANT(TX_TRACE_USER_EVENTS, 0x80000000) CONSTANT(TX_TRACE_USER_EVENT_START, 4096)
    CONSTANT(TX_TRACE_USER_EVENT_END, 65535) CONSTANT(TX_CLEAR_ID, 0) CONSTANT(TX_STACK_FILL, 0xEFEFEFEF) CONSTANT(TX_MAX_PRIORITIES, 32)
    CONSTANT(TX_TIMER_TICKS_PER_SECOND, 100)
};

static VOID test_constants(VOID)
{
    UINT i;
    for (i = 0; i < WORDS(constants); i++)
        check(constants[i].name, __LINE__, constants[i].value, constants[i].documented);
}

/* ---- a second thread ---- */

#define PRIORITY 10

static TX_THREAD main_thread, worker;
static ULONG main_stack[1024], worker_stack[512];
static VOID (*job)(VOID);
static UINT ended;

static VOID worker_entry(ULONG input)
{
    IS(input, 0x12345678);
    job();
    ended++;
}

static VOID start_worker(VOID (*what)(VOID), UINT priority)
{
    job = what;
    OK(tx_thread_create(&worker, "worker", worker_entry, 0x12345678, worker_stack, sizeof(worker_stack), priority, priority,
                        TX_NO_TIME_SLICE, TX_AUTO_START));
}

static VOID delete_worker(VOID)
{
    (VOID) tx_thread_terminate(&worker);
    OK(tx_thread_delete(&worker));
}

static UINT state_of(TX_THREAD *thread)
{
    UINT state = 99;
    OK(tx_thread_info_get(thread, TX_NULL, &state, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL));
    return state;
}

/* ---- waiting, the same for every object that threads wait on ---- */

static TX_SEMAPHORE semaphore;
static TX_MUTEX mutex;
static TX_QUEUE queue;
static TX_EVENT_FLAGS_GROUP group;
static TX_BLOCK_POOL blocks;
static TX_BYTE_POOL bytes;
static TX_TIMER timer;
static ULONG messages[4], block_memory[16], byte_memory[64];
static VOID *taken;

static VOID create_semaphore(VOID) { OK(tx_semaphore_create(&semaphore, "semaphore", 0)); }
static UINT wait_semaphore(ULONG wait) { return tx_semaphore_get(&semaphore, wait); }
static UINT delete_semaphore(VOID) { return tx_semaphore_delete(&semaphore); }
static UINT prioritize_semaphore(VOID) { return tx_semaphore_prioritize(&semaphore); }
static UINT feed_semaphore(VOID) { return tx_semaphore_put(&semaphore); }

static VOID create_mutex(VOID)
{
    OK(tx_mutex_create(&mutex, "mutex", TX_NO_INHERIT));
    OK(tx_mutex_get(&mutex, TX_NO_WAIT));
}
static UINT wait_mutex(ULONG wait) { return tx_mutex_get(&mutex, wait); }
static UINT delete_mutex(VOID) { return tx_mutex_delete(&mutex); }
static UINT prioritize_mutex(VOID) { return tx_mutex_prioritize(&mutex); }
static UINT feed_mutex(VOID) { return tx_mutex_put(&mutex); }

static VOID create_empty_queue(VOID) { OK(tx_queue_create(&queue, "queue", TX_1_ULONG, messages, sizeof(messages))); }
static VOID create_full_queue(VOID)
{
    ULONG message;
    create_empty_queue();
    for (message = 0; message < WORDS(messages); message++)
        OK(tx_queue_send(&queue, &message, TX_NO_WAIT));
}
static ULONG received;
static UINT wait_to_receive(ULONG wait) { return tx_queue_receive(&queue, &received, wait); }
static UINT wait_to_send(ULONG wait) { ULONG message = 9; return tx_queue_send(&queue, &message, wait); }
static UINT wait_to_send_first(ULONG wait) { ULONG message = 9; return tx_queue_front_send(&queue, &message, wait); }
static UINT delete_queue(VOID) { return tx_queue_delete(&queue); }
static UINT prioritize_queue(VOID) { return tx_queue_prioritize(&queue); }
static UINT feed_by_message(VOID) { ULONG message = 7; return tx_queue_send(&queue, &message, TX_NO_WAIT); }
static UINT feed_by_room(VOID) { return tx_queue_receive(&queue, &received, TX_NO_WAIT); }

static VOID create_group(VOID) { OK(tx_event_flags_create(&group, "group")); }
static UINT wait_group(ULONG wait)
{
    ULONG flags;
    return tx_event_flags_get(&group, 0x6, TX_AND_CLEAR, &flags, wait);
}
static UINT delete_group(VOID) { return tx_event_flags_delete(&group); }
static UINT feed_group(VOID) { return tx_event_flags_set(&group, 0x6, TX_OR); }

static VOID create_blocks(VOID)
{
    VOID *block;
    OK(tx_block_pool_create(&blocks, "blocks", 8, block_memory, sizeof(block_memory)));
    while (tx_block_allocate(&blocks, &block, TX_NO_WAIT) == TX_SUCCESS)
        taken = block;
}
static VOID *given;
static UINT wait_block(ULONG wait) { return tx_block_allocate(&blocks, &given, wait); }
static UINT delete_blocks(VOID) { return tx_block_pool_delete(&blocks); }
static UINT prioritize_blocks(VOID) { return tx_block_pool_prioritize(&blocks); }
static UINT feed_blocks(VOID) { return tx_block_release(taken); }

static VOID create_bytes(VOID)
{
    OK(tx_byte_pool_create(&bytes, "bytes", byte_memory, sizeof(byte_memory)));
    OK(tx_byte_allocate(&bytes, &taken, sizeof(byte_memory) / 2, TX_NO_WAIT));
}
static UINT wait_bytes(ULONG wait) { return tx_byte_allocate(&bytes, &given, sizeof(byte_memory) / 2, wait); }
static UINT delete_bytes(VOID) { return tx_byte_pool_delete(&bytes); }
static UINT prioritize_bytes(VOID) { return tx_byte_pool_prioritize(&bytes); }
static UINT feed_bytes(VOID) { return tx_byte_release(taken); }

static const struct waiting {
    const char *name;
    VOID (*create)(VOID);
    UINT (*wait)(ULONG wait);
    UINT (*feed)(VOID);
    UINT (*prioritize)(VOID);
    UINT (*delete)(VOID);
    UINT state, refused;
} waits[] = {
    { "tx_semaphore_get", create_semaphore, wait_semaphore, feed_semaphore, prioritize_semaphore, delete_semaphore,
      TX_SEMAPHORE_SUSP, TX_NO_INSTANCE },
    { "tx_mutex_get", create_mutex, wait_mutex, feed_mutex, prioritize_mutex, delete_mutex, TX_MUTEX_SUSP,
      TX_NOT_AVAILABLE },
    { "tx_queue_receive", create_empty_queue, wait_to_receive, feed_by_message, prioritize_queue, delete_queue,
      TX_QUEUE_SUSP, TX_QUEUE_EMPTY },
    { "tx_queue_send", create_full_queue, wait_to_send, feed_by_room, prioritize_queue, delete_queue, TX_QUEUE_SUSP,
      TX_QUEUE_FULL },
    { "tx_queue_front_send", create_full_queue, wait_to_send_first, feed_by_room, prioritize_queue, delete_queue,
      TX_QUEUE_SUSP, TX_QUEUE_FULL },
    { "tx_event_flags_get", create_group, wait_group, feed_group, TX_NULL, delete_group, TX_EVENT_FLAG, TX_NO_EVENTS },
    { "tx_block_allocate", create_blocks, wait_block, feed_blocks, prioritize_blocks, delete_blocks, TX_BLOCK_MEMORY,
      TX_NO_MEMORY },
    { "tx_byte_allocate", create_bytes, wait_bytes, feed_bytes, prioritize_bytes, delete_bytes, TX_BYTE_MEMORY,
      TX_NO_MEMORY },
};
static const struct waiting *row;
static UINT answer;

static VOID wait_for_ever(VOID) { answer = row->wait(TX_WAIT_FOREVER); }
static VOID wait_two_ticks(VOID)
{
    ULONG start;
    OK(tx_thread_sleep(1));
    start = tx_time_get();
    answer = row->wait(2);
    IS(tx_time_get() - start, 2);
}
/* Not waiting is not for timers only: any caller may ask for it. */
static VOID do_not_wait(VOID) { answer = row->wait(TX_NO_WAIT); }

static VOID test_waiting(VOID)
{
    /* How each wait can end, and with which answer. */
    enum { FED, PRIORITIZED, ABORTED, DELETED, TIMEOUT, REFUSED, WAYS } way;
    for (row = waits; row < waits + WORDS(waits); row++) {
        conformance_group(row->name);
        for (way = FED; way < WAYS; way++) {
            row->create();
            answer = 99;
            start_worker(way == REFUSED ? do_not_wait : way == TIMEOUT ? wait_two_ticks : wait_for_ever, PRIORITY - 1);
            if (way < TIMEOUT)
                IS(state_of(&worker), row->state);
            switch (way) {
            case PRIORITIZED:
                if (row->prioritize != TX_NULL)
                    OK(row->prioritize());
                /* fall through */
            case FED:
                OK(row->feed());
                IS(answer, TX_SUCCESS);
                break;
            case ABORTED:
                OK(tx_thread_wait_abort(&worker));
                IS(answer, TX_WAIT_ABORTED);
                break;
            case DELETED:
                OK(row->delete());
                IS(answer, TX_DELETED);
                break;
            case TIMEOUT:
                OK(tx_thread_sleep(5));
                /* fall through */
            default:
                IS(answer, row->refused);
            }
            IS(state_of(&worker), TX_COMPLETED);
            delete_worker();
            if (way != DELETED)
                OK(row->delete());
        }
    }
}

/* ---- threads ---- */

static UINT notified[2], lifted;
static VOID notify_thread(TX_THREAD *thread, UINT what)
{
    IS(thread, &worker);
    if (what < 2)
        notified[what]++;
}
static VOID damaged(TX_THREAD *thread) { (VOID) thread; }
static VOID do_nothing(VOID) {}
static VOID sleep_long(VOID) { answer = tx_thread_sleep(1000); }
static VOID relinquish_often(VOID)
{
    UINT i;
    for (i = 0; i < 3; i++) {
        lifted++;
        tx_thread_relinquish();
    }
}

static VOID test_threads(VOID)
{
    CHAR *name;
    UINT state, priority, threshold, old;
    ULONG runs, slice, old_slice;
    TX_THREAD *next, *next_suspended;

    IS(tx_thread_identify(), &main_thread);
    OK(tx_thread_create(&worker, "a name", worker_entry, 0x12345678, worker_stack, sizeof(worker_stack), 12, 11, 7,
                        TX_DONT_START));
    OK(tx_thread_info_get(&worker, &name, &state, &runs, &priority, &threshold, &slice, &next, &next_suspended));
    IS(name[2], 'n');
    IS(state, TX_SUSPENDED);
    IS(runs, 0);
    IS(priority, 12);
    IS(threshold, 11);
    IS(slice, 7);
    IS(next != TX_NULL, TX_TRUE);
    IS(next_suspended, TX_NULL);

    OK(tx_thread_entry_exit_notify(&worker, notify_thread));
    OK(tx_thread_priority_change(&worker, 9, &old));
    IS(old, 12);
    OK(tx_thread_preemption_change(&worker, 8, &old));
    IS(old, 9);
    OK(tx_thread_preemption_change(&worker, 9, &old));
    OK(tx_thread_time_slice_change(&worker, 3, &old_slice));
    IS(old_slice, 7);
    OK(tx_thread_time_slice_change(&worker, TX_NO_TIME_SLICE, &old_slice));
    IS(old_slice, 3);

    ended = 0;
    job = do_nothing;
    OK(tx_thread_resume(&worker));
    IS(ended, 1);
    IS(state_of(&worker), TX_COMPLETED);
    IS(notified[TX_THREAD_ENTRY], 1);
    IS(notified[TX_THREAD_EXIT], 1);
    IS(tx_thread_resume(&worker), TX_RESUME_ERROR);
    IS(tx_thread_suspend(&worker), TX_SUSPEND_ERROR);
    IS(tx_thread_wait_abort(&worker), TX_WAIT_ABORT_ERROR);
    OK(tx_thread_reset(&worker));
    IS(state_of(&worker), TX_SUSPENDED);

    /* Sleeping, a suspension that waits for its end, and the end before its time. */
    job = sleep_long;
    answer = 99;
    OK(tx_thread_resume(&worker));
    IS(state_of(&worker), TX_SLEEP);
    IS(tx_thread_reset(&worker), TX_NOT_DONE);
    IS(tx_thread_delete(&worker), TX_DELETE_ERROR);
    OK(tx_thread_suspend(&worker));
    IS(tx_thread_resume(&worker), TX_SUSPEND_LIFTED);
    OK(tx_thread_wait_abort(&worker));
    IS(answer, TX_WAIT_ABORTED);
    IS(state_of(&worker), TX_COMPLETED);
    OK(tx_thread_reset(&worker));
    OK(tx_thread_resume(&worker));
    OK(tx_thread_terminate(&worker));
    IS(state_of(&worker), TX_TERMINATED);
    IS(notified[TX_THREAD_EXIT], 3);
    OK(tx_thread_entry_exit_notify(&worker, TX_NULL));
    OK(tx_thread_delete(&worker));

    /* Equals take turns. */
    lifted = 0;
    start_worker(relinquish_often, PRIORITY);
    IS(lifted, 0);
    tx_thread_relinquish();
    IS(lifted, 1);
    tx_thread_relinquish();
    IS(lifted, 2);
    tx_thread_relinquish();
    tx_thread_relinquish();
    IS(state_of(&worker), TX_COMPLETED);
    delete_worker();

    /* Without stack checking there is nothing to notify of. */
    answer = tx_thread_stack_error_notify(damaged);
    IS(answer == TX_SUCCESS || answer == TX_FEATURE_NOT_ENABLED, TX_TRUE);
    (VOID) tx_thread_stack_error_notify(TX_NULL);
}

/* ---- objects ---- */

static UINT told;
static VOID tell_semaphore(TX_SEMAPHORE *object) { told += object == &semaphore; }
static VOID tell_queue(TX_QUEUE *object) { told += object == &queue; }
static VOID tell_group(TX_EVENT_FLAGS_GROUP *object) { told += object == &group; }

static VOID test_semaphores(VOID)
{
    CHAR *name;
    ULONG count, waiting;
    TX_THREAD *first;
    TX_SEMAPHORE *next;
    OK(tx_semaphore_create(&semaphore, "semaphore", 1));
    told = 0;
    OK(tx_semaphore_put_notify(&semaphore, tell_semaphore));
    OK(tx_semaphore_put(&semaphore));
    OK(tx_semaphore_ceiling_put(&semaphore, 3));
    IS(tx_semaphore_ceiling_put(&semaphore, 3), TX_CEILING_EXCEEDED);
    IS(tx_semaphore_ceiling_put(&semaphore, 0), TX_INVALID_CEILING);
    IS(told, 2);
    OK(tx_semaphore_info_get(&semaphore, &name, &count, &first, &waiting, &next));
    IS(name[0], 's');
    IS(count, 3);
    IS(first, TX_NULL);
    IS(waiting, TX_NO_SUSPENSIONS);
    IS(next, &semaphore);
    OK(tx_semaphore_delete(&semaphore));
    IS(tx_semaphore_put(&semaphore), TX_SEMAPHORE_ERROR);
}

static VOID steal_mutex(VOID)
{
    IS(tx_mutex_put(&mutex), TX_NOT_OWNED);
    IS(tx_mutex_get(&mutex, TX_NO_WAIT), TX_NOT_AVAILABLE);
    answer = tx_mutex_get(&mutex, TX_WAIT_FOREVER);
    OK(tx_mutex_put(&mutex));
}

static VOID middle_entry(ULONG input) { lifted += input; }

static VOID test_mutexes(VOID)
{
    static TX_THREAD middle;
    static ULONG middle_stack[256];
    CHAR *name;
    ULONG count, waiting;
    TX_THREAD *owner, *first;
    TX_MUTEX *next;
    OK(tx_mutex_create(&mutex, "mutex", TX_INHERIT));
    OK(tx_mutex_get(&mutex, TX_NO_WAIT));
    OK(tx_mutex_get(&mutex, TX_WAIT_FOREVER));
    start_worker(steal_mutex, PRIORITY - 4);
    OK(tx_mutex_info_get(&mutex, &name, &count, &owner, &first, &waiting, &next));
    IS(name[0], 'm');
    IS(count, 2);
    IS(owner, &main_thread);
    IS(first, &worker);
    IS(waiting, 1);
    IS(next, &mutex);
    /* Raised to the waiting thread's priority, the owner goes on before those in between. */
    lifted = 0;
    OK(tx_thread_create(&middle, "middle", middle_entry, 1, middle_stack, sizeof(middle_stack), PRIORITY - 2, PRIORITY - 2,
                        TX_NO_TIME_SLICE, TX_AUTO_START));
    OK(tx_mutex_put(&mutex));
    IS(lifted, 0);
    OK(tx_mutex_put(&mutex));
    IS(lifted, 1);
    OK(tx_thread_delete(&middle));
    IS(answer, TX_SUCCESS);
    delete_worker();
    OK(tx_mutex_delete(&mutex));
    IS(tx_mutex_get(&mutex, TX_NO_WAIT), TX_MUTEX_ERROR);
}

static VOID test_queues(VOID)
{
    static const UINT sizes[] = { TX_1_ULONG, TX_2_ULONG, TX_4_ULONG, TX_8_ULONG, TX_16_ULONG };
    static ULONG memory[40], message[16], back[16];
    CHAR *name;
    ULONG enqueued, room, waiting;
    TX_THREAD *first;
    TX_QUEUE *next;
    UINT i;
    for (i = 0; i < WORDS(sizes); i++) {
        OK(tx_queue_create(&queue, "queue", sizes[i], memory, sizeof(memory)));
        told = 0;
        OK(tx_queue_send_notify(&queue, tell_queue));
        message[0] = 1;
        message[sizes[i] - 1] = 21;
        OK(tx_queue_send(&queue, message, TX_NO_WAIT));
        message[0] = 2;
        message[sizes[i] - 1] = 22;
        OK(tx_queue_front_send(&queue, message, TX_NO_WAIT));
        IS(told, 2);
        OK(tx_queue_info_get(&queue, &name, &enqueued, &room, &first, &waiting, &next));
        IS(name[0], 'q');
        IS(enqueued, 2);
        IS(room, WORDS(memory) / sizes[i] - 2);
        IS(first, TX_NULL);
        IS(waiting, 0);
        IS(next, &queue);
        OK(tx_queue_receive(&queue, back, TX_NO_WAIT));
        IS(back[sizes[i] - 1], 22);
        OK(tx_queue_flush(&queue));
        IS(tx_queue_receive(&queue, back, TX_NO_WAIT), TX_QUEUE_EMPTY);
        OK(tx_queue_delete(&queue));
    }
    IS(tx_queue_flush(&queue), TX_QUEUE_ERROR);
}

static VOID test_event_flags(VOID)
{
    /* Flags there, asked for, how, then: answer, flags returned, flags left. */
    static const struct { ULONG there, asked; UINT option, answer; ULONG seen, left; } rows[] = {
        { 0x5, 0x1, TX_OR, TX_SUCCESS, 0x5, 0x5 },       { 0x5, 0x3, TX_OR_CLEAR, TX_SUCCESS, 0x5, 0x4 },
        { 0x5, 0x5, TX_AND, TX_SUCCESS, 0x5, 0x5 },      { 0x5, 0x4, TX_AND_CLEAR, TX_SUCCESS, 0x5, 0x1 },
        { 0x5, 0x7, TX_AND, TX_NO_EVENTS, 0, 0x5 },      { 0x5, 0x2, TX_OR_CLEAR, TX_NO_EVENTS, 0, 0x5 },
        { 0xFFFFFFFF, 0x80000000, TX_AND_CLEAR, TX_SUCCESS, 0xFFFFFFFF, 0x7FFFFFFF },
    };
    CHAR *name;
    ULONG flags, waiting;
    TX_THREAD *first;
    TX_EVENT_FLAGS_GROUP *next;
    UINT i;
    OK(tx_event_flags_create(&group, "group"));
    told = 0;
    OK(tx_event_flags_set_notify(&group, tell_group));
    for (i = 0; i < WORDS(rows); i++) {
        OK(tx_event_flags_set(&group, 0, TX_AND));
        OK(tx_event_flags_set(&group, rows[i].there, TX_OR));
        flags = 0;
        IS(tx_event_flags_get(&group, rows[i].asked, rows[i].option, &flags, TX_NO_WAIT), rows[i].answer);
        if (rows[i].answer == TX_SUCCESS)
            IS(flags, rows[i].seen);
        OK(tx_event_flags_info_get(&group, &name, &flags, &first, &waiting, &next));
        IS(flags, rows[i].left);
    }
    /* Clearing with TX_AND sets nothing, so tells nothing. */
    IS(told, WORDS(rows));
    IS(name[0], 'g');
    IS(first, TX_NULL);
    IS(waiting, 0);
    IS(next, &group);
    IS(tx_event_flags_get(&group, 1, 4, &flags, TX_NO_WAIT), TX_OPTION_ERROR);
    OK(tx_event_flags_delete(&group));
    IS(tx_event_flags_set(&group, 1, TX_OR), TX_GROUP_ERROR);
}

static VOID test_pools(VOID)
{
    CHAR *name;
    ULONG available, total, waiting;
    TX_THREAD *first;
    TX_BLOCK_POOL *next_blocks;
    TX_BYTE_POOL *next_bytes;
    VOID *one, *other;
    OK(tx_block_pool_create(&blocks, "blocks", 12, block_memory, sizeof(block_memory)));
    OK(tx_block_allocate(&blocks, &one, TX_NO_WAIT));
    OK(tx_block_pool_info_get(&blocks, &name, &available, &total, &first, &waiting, &next_blocks));
    IS(name[1], 'l');
    IS(total, sizeof(block_memory) / (12 + sizeof(VOID *)));
    IS(available, total - 1);
    IS(first, TX_NULL);
    IS(waiting, 0);
    IS(next_blocks, &blocks);
    OK(tx_block_release(one));
    OK(tx_block_pool_delete(&blocks));
    IS(tx_block_allocate(&blocks, &one, TX_NO_WAIT), TX_POOL_ERROR);

    OK(tx_byte_pool_create(&bytes, "bytes", byte_memory, sizeof(byte_memory)));
    OK(tx_byte_allocate(&bytes, &one, 20, TX_NO_WAIT));
    OK(tx_byte_allocate(&bytes, &other, 30, TX_NO_WAIT));
    IS((ULONG) other % sizeof(ULONG), 0);
    OK(tx_byte_pool_info_get(&bytes, &name, &available, &total, &first, &waiting, &next_bytes));
    IS(name[1], 'y');
    IS(available > 0 && available <= sizeof(byte_memory) - 52, TX_TRUE);
    IS(total >= 3, TX_TRUE);
    IS(first, TX_NULL);
    IS(waiting, 0);
    IS(next_bytes, &bytes);
    OK(tx_byte_release(one));
    OK(tx_byte_release(other));
    IS(tx_byte_allocate(&bytes, &one, sizeof(byte_memory), TX_NO_WAIT), TX_NO_MEMORY);
    OK(tx_byte_allocate(&bytes, &one, sizeof(byte_memory) - 24, TX_NO_WAIT));
    OK(tx_byte_release(one));
    OK(tx_byte_pool_delete(&bytes));
    IS(tx_byte_allocate(&bytes, &one, 20, TX_NO_WAIT), TX_POOL_ERROR);
}

/* ---- timers, time, interrupts ---- */

static VOID do_not_expire(ULONG input) { (VOID) input; }
static UINT expired, refused, refused_create;
static VOID expire(ULONG input)
{
    static TX_SEMAPHORE other;
    IS(input, 0xABCD);
    expired++;
    /* A timer's function must not wait, and creates nothing. */
    refused = tx_semaphore_get(&semaphore, 1);
    refused_create = tx_semaphore_create(&other, "other", 0);
    OK(tx_semaphore_put(&semaphore));
}

static VOID test_timers(VOID)
{
    CHAR *name;
    UINT active;
    ULONG remaining, again, start;
    TX_TIMER *next;
    OK(tx_semaphore_create(&semaphore, "expired", 0));
    OK(tx_timer_create(&timer, "timer", expire, 0xABCD, 3, 2, TX_NO_ACTIVATE));
    OK(tx_timer_info_get(&timer, &name, &active, &remaining, &again, &next));
    IS(name[0], 't');
    IS(active, TX_FALSE);
    IS(remaining, 3);
    IS(again, 2);
    IS(next, &timer);
    OK(tx_thread_sleep(1));
    start = tx_time_get();
    OK(tx_timer_activate(&timer));
    IS(tx_timer_activate(&timer), TX_ACTIVATE_ERROR);
    OK(tx_semaphore_get(&semaphore, 10));
    IS(tx_time_get() - start, 3);
    OK(tx_semaphore_get(&semaphore, 10));
    IS(tx_time_get() - start, 5);
    IS(refused, TX_WAIT_ERROR);
    IS(refused_create, TX_CALLER_ERROR);
    OK(tx_timer_deactivate(&timer));
    OK(tx_timer_change(&timer, 1, 0));
    OK(tx_timer_activate(&timer));
    OK(tx_semaphore_get(&semaphore, 10));
    OK(tx_thread_sleep(3));
    IS(expired, 3);
    OK(tx_timer_delete(&timer));
    IS(tx_timer_activate(&timer), TX_TIMER_ERROR);
    OK(tx_semaphore_delete(&semaphore));

    start = tx_time_get();
    tx_time_set(0xFFFFFFFF);
    OK(tx_thread_sleep(1));
    IS(tx_time_get(), 0);
    tx_time_set(start + 1);

    IS(tx_interrupt_control(TX_INT_DISABLE) & TX_INT_DISABLE, TX_INT_ENABLE);
    IS(tx_interrupt_control(TX_INT_ENABLE) & TX_INT_DISABLE, TX_INT_DISABLE);
    IS(tx_interrupt_control(TX_INT_ENABLE) & TX_INT_DISABLE, TX_INT_ENABLE);
}

/* ---- trace, which neither kernel records here ---- */

static VOID buffer_full(VOID *buffer) { (VOID) buffer; }

static VOID test_trace(VOID)
{
    static ULONG buffer[64];
    IS(tx_trace_enable(buffer, sizeof(buffer), 4), TX_FEATURE_NOT_ENABLED);
    IS(tx_trace_event_filter(TX_TRACE_ALL_EVENTS | TX_TRACE_USER_EVENTS), TX_FEATURE_NOT_ENABLED);
    IS(tx_trace_event_unfilter(TX_TRACE_THREAD_EVENTS | TX_TRACE_TIMER_EVENTS | TX_TRACE_TIME_EVENTS), TX_FEATURE_NOT_ENABLED);
    IS(tx_trace_buffer_full_notify(buffer_full), TX_FEATURE_NOT_ENABLED);
    IS(tx_trace_user_event_insert(TX_TRACE_USER_EVENT_START, 1, 2, 3, 4), TX_FEATURE_NOT_ENABLED);
    tx_trace_isr_enter_insert(1);
    tx_trace_isr_exit_insert(1);
    IS(tx_trace_disable(), TX_FEATURE_NOT_ENABLED);
}

/* ---- counts of what objects did, where the kernel was built to count ---- */

#ifdef tx_thread_performance_info_get
static VOID test_performance(VOID)
{
    ULONG n[11];
    UINT i;
    UINT answers[16];
    create_semaphore();
    create_mutex();
    create_empty_queue();
    create_group();
    OK(tx_timer_create(&timer, "timer", do_not_expire, 0, 1, 0, TX_NO_ACTIVATE));
    OK(tx_block_pool_create(&blocks, "blocks", 8, block_memory, sizeof(block_memory)));
    OK(tx_byte_pool_create(&bytes, "bytes", byte_memory, sizeof(byte_memory)));
    answers[0] = tx_thread_performance_info_get(&main_thread, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], TX_NULL);
    answers[1] = tx_thread_performance_system_info_get(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &n[9], &n[10]);
    answers[2] = tx_semaphore_performance_info_get(&semaphore, &n[0], &n[1], &n[2], &n[3]);
    answers[3] = tx_semaphore_performance_system_info_get(&n[0], &n[1], &n[2], &n[3]);
    answers[4] = tx_mutex_performance_info_get(&mutex, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5]);
    answers[5] = tx_mutex_performance_system_info_get(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5]);
    answers[6] = tx_queue_performance_info_get(&queue, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5]);
    answers[7] = tx_queue_performance_system_info_get(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5]);
    answers[8] = tx_event_flags_performance_info_get(&group, &n[0], &n[1], &n[2], &n[3]);
    answers[9] = tx_event_flags_performance_system_info_get(&n[0], &n[1], &n[2], &n[3]);
    answers[10] = tx_timer_performance_info_get(&timer, &n[0], &n[1], &n[2], &n[3], &n[4]);
    answers[11] = tx_timer_performance_system_info_get(&n[0], &n[1], &n[2], &n[3], &n[4]);
    answers[12] = tx_block_pool_performance_info_get(&blocks, &n[0], &n[1], &n[2], &n[3]);
    answers[13] = tx_block_pool_performance_system_info_get(&n[0], &n[1], &n[2], &n[3]);
    answers[14] = tx_byte_pool_performance_info_get(&bytes, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6]);
    answers[15] = tx_byte_pool_performance_system_info_get(&n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6]);
    /* All of them count, or none. */
    for (i = 0; i < WORDS(answers); i++)
        IS(answers[i], answers[0] == TX_SUCCESS ? TX_SUCCESS : TX_FEATURE_NOT_ENABLED);
    if (answers[0] == TX_SUCCESS)
    {
        /* What was counted in between, without what nobody asks for. */
        OK(tx_semaphore_performance_info_get(&semaphore, &n[0], &n[1], TX_NULL, TX_NULL));
        OK(tx_semaphore_put(&semaphore));
        OK(tx_semaphore_put(&semaphore));
        OK(tx_semaphore_get(&semaphore, TX_NO_WAIT));
        OK(tx_semaphore_performance_info_get(&semaphore, &n[2], &n[3], TX_NULL, TX_NULL));
        IS(n[2] - n[0], 2);
        IS(n[3] - n[1], 1);
        IS(tx_semaphore_performance_info_get(TX_NULL, &n[0], &n[1], TX_NULL, TX_NULL), TX_PTR_ERROR);
    }
    OK(tx_byte_pool_delete(&bytes));
    OK(tx_block_pool_delete(&blocks));
    OK(tx_timer_delete(&timer));
    OK(tx_event_flags_delete(&group));
    OK(tx_queue_delete(&queue));
    OK(tx_mutex_delete(&mutex));
    OK(tx_semaphore_delete(&semaphore));
}
#endif

/* ---- what is refused ---- */

static VOID test_errors(VOID)
{
    ULONG value;
    UINT old;
    VOID *memory;
    TX_THREAD not_created = { 0 };
    IS(tx_thread_create(TX_NULL, "", worker_entry, 0, worker_stack, sizeof(worker_stack), 1, 1, 0, 0), TX_THREAD_ERROR);
    IS(tx_thread_create(&main_thread, "", worker_entry, 0, worker_stack, sizeof(worker_stack), 1, 1, 0, 0), TX_THREAD_ERROR);
    IS(tx_thread_create(&worker, "", TX_NULL, 0, worker_stack, sizeof(worker_stack), 1, 1, 0, 0), TX_PTR_ERROR);
    IS(tx_thread_create(&worker, "", worker_entry, 0, TX_NULL, sizeof(worker_stack), 1, 1, 0, 0), TX_PTR_ERROR);
    IS(tx_thread_create(&worker, "", worker_entry, 0, worker_stack, TX_MINIMUM_STACK - 1, 1, 1, 0, 0), TX_SIZE_ERROR);
    IS(tx_thread_create(&worker, "", worker_entry, 0, worker_stack, sizeof(worker_stack), TX_MAX_PRIORITIES, 1, 0, 0),
       TX_PRIORITY_ERROR);
    IS(tx_thread_create(&worker, "", worker_entry, 0, worker_stack, sizeof(worker_stack), 1, 2, 0, 0), TX_THRESH_ERROR);
    IS(tx_thread_create(&worker, "", worker_entry, 0, worker_stack, sizeof(worker_stack), 1, 1, 0, 2), TX_START_ERROR);
    IS(tx_thread_delete(TX_NULL), TX_THREAD_ERROR);
    IS(tx_thread_entry_exit_notify(&not_created, TX_NULL), TX_THREAD_ERROR);
    IS(tx_thread_info_get(&not_created, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL),
       TX_THREAD_ERROR);
    IS(tx_thread_preemption_change(&main_thread, PRIORITY + 1, &old), TX_THRESH_ERROR);
    IS(tx_thread_preemption_change(&main_thread, PRIORITY, TX_NULL), TX_PTR_ERROR);
    IS(tx_thread_priority_change(&main_thread, TX_MAX_PRIORITIES, &old), TX_PRIORITY_ERROR);
    IS(tx_thread_priority_change(&not_created, 1, &old), TX_THREAD_ERROR);
    IS(tx_thread_reset(&not_created), TX_THREAD_ERROR);
    IS(tx_thread_resume(&not_created), TX_THREAD_ERROR);
    IS(tx_thread_suspend(&not_created), TX_THREAD_ERROR);
    IS(tx_thread_terminate(&not_created), TX_THREAD_ERROR);
    IS(tx_thread_time_slice_change(&main_thread, 0, TX_NULL), TX_PTR_ERROR);
    IS(tx_thread_wait_abort(&not_created), TX_THREAD_ERROR);
    IS(tx_timer_create(&timer, "", expire, 0, 0, 0, TX_AUTO_ACTIVATE), TX_TICK_ERROR);
    IS(tx_timer_create(&timer, "", expire, 0, 1, 0, 2), TX_ACTIVATE_ERROR);
    IS(tx_timer_create(TX_NULL, "", expire, 0, 1, 0, TX_AUTO_ACTIVATE), TX_TIMER_ERROR);
    IS(tx_timer_change(TX_NULL, 1, 1), TX_TIMER_ERROR);
    IS(tx_timer_deactivate(TX_NULL), TX_TIMER_ERROR);
    IS(tx_timer_delete(TX_NULL), TX_TIMER_ERROR);
    IS(tx_timer_info_get(TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL), TX_TIMER_ERROR);
    IS(tx_semaphore_create(TX_NULL, "", 0), TX_SEMAPHORE_ERROR);
    IS(tx_semaphore_get(TX_NULL, TX_NO_WAIT), TX_SEMAPHORE_ERROR);
    IS(tx_semaphore_prioritize(TX_NULL), TX_SEMAPHORE_ERROR);
    IS(tx_semaphore_put_notify(TX_NULL, TX_NULL), TX_SEMAPHORE_ERROR);
    IS(tx_semaphore_info_get(TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL), TX_SEMAPHORE_ERROR);
    IS(tx_mutex_create(&mutex, "", 2), TX_INHERIT_ERROR);
    IS(tx_mutex_put(TX_NULL), TX_MUTEX_ERROR);
    IS(tx_mutex_prioritize(TX_NULL), TX_MUTEX_ERROR);
    IS(tx_mutex_info_get(TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL), TX_MUTEX_ERROR);
    IS(tx_queue_create(&queue, "", 17, messages, sizeof(messages)), TX_SIZE_ERROR);
    IS(tx_queue_create(&queue, "", 0, messages, sizeof(messages)), TX_SIZE_ERROR);
    IS(tx_queue_create(&queue, "", 1, TX_NULL, sizeof(messages)), TX_PTR_ERROR);
    IS(tx_queue_prioritize(TX_NULL), TX_QUEUE_ERROR);
    IS(tx_queue_send_notify(TX_NULL, TX_NULL), TX_QUEUE_ERROR);
    IS(tx_queue_front_send(TX_NULL, &value, TX_NO_WAIT), TX_QUEUE_ERROR);
    IS(tx_queue_info_get(TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL), TX_QUEUE_ERROR);
    create_empty_queue();
    IS(tx_queue_send(&queue, TX_NULL, TX_NO_WAIT), TX_PTR_ERROR);
    IS(tx_queue_receive(&queue, TX_NULL, TX_NO_WAIT), TX_PTR_ERROR);
    OK(tx_queue_delete(&queue));
    IS(tx_event_flags_create(TX_NULL, ""), TX_GROUP_ERROR);
    IS(tx_event_flags_set_notify(TX_NULL, TX_NULL), TX_GROUP_ERROR);
    IS(tx_event_flags_info_get(TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL), TX_GROUP_ERROR);
    create_group();
    IS(tx_event_flags_get(&group, 1, TX_OR, TX_NULL, TX_NO_WAIT), TX_PTR_ERROR);
    IS(tx_event_flags_set(&group, 1, TX_OR_CLEAR), TX_OPTION_ERROR);
    OK(tx_event_flags_delete(&group));
    IS(tx_block_pool_create(&blocks, "", 8, TX_NULL, 64), TX_PTR_ERROR);
    IS(tx_block_pool_create(&blocks, "", 64, block_memory, 32), TX_SIZE_ERROR);
    IS(tx_block_pool_prioritize(TX_NULL), TX_POOL_ERROR);
    IS(tx_block_pool_info_get(TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL), TX_POOL_ERROR);
    IS(tx_block_release(TX_NULL), TX_PTR_ERROR);
    IS(tx_byte_pool_create(&bytes, "", TX_NULL, 200), TX_PTR_ERROR);
    IS(tx_byte_pool_create(&bytes, "", byte_memory, 20), TX_SIZE_ERROR);
    IS(tx_byte_pool_prioritize(TX_NULL), TX_POOL_ERROR);
    IS(tx_byte_pool_info_get(TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL), TX_POOL_ERROR);
    IS(tx_byte_release(TX_NULL), TX_PTR_ERROR);
    OK(tx_byte_pool_create(&bytes, "", byte_memory, sizeof(byte_memory)));
    IS(tx_byte_allocate(&bytes, TX_NULL, 20, TX_NO_WAIT), TX_PTR_ERROR);
    IS(tx_byte_allocate(&bytes, &memory, 0, TX_NO_WAIT), TX_SIZE_ERROR);
    OK(tx_byte_pool_delete(&bytes));
}

/* ---- the whole run ---- */

static const struct { const char *name; VOID (*test)(VOID); } tests[] = {
    { "constants", test_constants }, { "threads", test_threads },     { "semaphores", test_semaphores },
    { "mutexes", test_mutexes },     { "queues", test_queues },       { "event flags", test_event_flags },
    { "pools", test_pools },         { "timers and time", test_timers }, { "errors", test_errors },
    { "trace", test_trace },         { "waiting", test_waiting },
#ifdef tx_thread_performance_info_get
    { "performance", test_performance },
#endif
};

static TX_TIMER early;
static volatile UINT early_calls;

static VOID early_expired(ULONG input)
{
    early_calls += (UINT) input;
}

/* Interrupts during initialization: they are handled, and initialization goes on, although threads are ready. */
static VOID define_with_interrupts(VOID)
{
    ULONG start;
    ULONG rounds;
    OK(tx_timer_create(&early, "early", early_expired, 1, 1, 0, TX_AUTO_ACTIVATE));
    start = tx_time_get();
    tx_interrupt_control(TX_INT_ENABLE);
    for (rounds = 0; rounds < 100000000 && tx_time_get() - start < 2; rounds++) {
    }
    tx_interrupt_control(TX_INT_DISABLE);
    IS(tx_time_get() - start, 2);
    IS(early_calls, 0);
    IS(tx_thread_identify(), TX_NULL);
}

static VOID main_entry(ULONG input)
{
    UINT i;
    IS(input, 1);
    /* The timer thread is above this one. */
    IS(early_calls, 1);
    OK(tx_timer_delete(&early));
    IS(conformance_scale(1.5f, 2.25, -3.0f) == 169.5, TX_TRUE);
    for (i = 0; i < WORDS(tests); i++) {
        conformance_group(tests[i].name);
        tests[i].test();
    }
    conformance_done(checks, failures);
}

VOID tx_application_define(VOID *first_unused_memory)
{
    IS(first_unused_memory != TX_NULL, TX_TRUE);
    IS(tx_thread_identify(), TX_NULL);
    OK(tx_thread_create(&main_thread, "main", main_entry, 1, main_stack, sizeof(main_stack), PRIORITY, PRIORITY,
                        TX_NO_TIME_SLICE, TX_AUTO_START));
    define_with_interrupts();
}

int main(void)
{
    tx_kernel_enter();
    return 1;
}
