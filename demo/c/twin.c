/* The measurements of ../src in C: the same loops, the same samples, the documented API only.
 *
 * Compiled twice, with TWIN as the suffix of its entry points: as it is, and with
 * TX_DISABLE_ERROR_CHECKING, which sends the calls to the unchecked services. */

#include "tx_api.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

#define ROUNDS 256
#define DIVES 64
#define FRAMES 24
#define WORDS 16

#define PRIORITY 16
/* Ticks that a series may take before it counts as lost: ten seconds. */
#define LIMIT 1000

enum region { BTCM, DRAM0 };
enum disturbance { NOTHING, TICK, INTERRUPT };

/* What the board offers, and what the series brings back; the Rust side has the same two. */
struct twin_board
{
    void (*clean_invalidate_data)(void);
    ULONG (*interrupts)(void);
};

struct twin_series
{
    ULONG samples[ROUNDS];
    UCHAR disturbed[ROUNDS];
    /* Samples in the two. */
    UINT taken;
    /* Dives whose sum came out wrong. */
    UINT wrong;
    /* How often the measuring thread was scheduled. */
    ULONG turns;
    /* Address of a variable on the measuring thread's stack. */
    const VOID *stack;
};

#define STACK(name, region, size) \
    __attribute__((section(".stacks." #region), aligned(64))) static UCHAR name[size]

STACK(measuring_btcm, Btcm, 4096);
STACK(partner_btcm, Btcm, 1024);
STACK(measuring_dram0, Dram0, 4096);
STACK(partner_dram0, Dram0, 1024);

static TX_THREAD measuring_thread;
static TX_THREAD partner_thread;
static TX_SEMAPHORE finished;

static const struct twin_board *board;
static struct twin_series *series;
static volatile UCHAR stop;

/* The counter that the Rust side reads on this board: the low word of CNTPCT. */
static inline ULONG cycles(void)
{
    ULONG low, high;
    __asm__ volatile ("mrrc p15, 0, %0, %1, c14" : "=r" (low), "=r" (high) : : "memory");
    return low;
}

/* The sample's own disturbance; what follows from it for the next one is for the Rust side to say. */
static void keep(ULONG start, ULONG end, ULONG ticks, ULONG interrupts)
{
    UINT at = series->taken;
    series->disturbed[at] = tx_time_get() != ticks ? TICK : board->interrupts() != interrupts ? INTERRUPT : NOTHING;
    series->samples[at] = end - start;
    series->taken = at + 1;
}

/* ---- round trip ---- */

static void round_trips(ULONG cold)
{
    UCHAR here;
    series->stack = &here;
    /* The partner gets into its loop. */
    tx_thread_relinquish();
    while (series->taken < ROUNDS)
    {
        ULONG ticks, interrupts, start, end;
        if (cold)
        {
            board->clean_invalidate_data();
        }
        ticks = tx_time_get();
        interrupts = board->interrupts();
        start = cycles();
        tx_thread_relinquish();
        end = cycles();
        keep(start, end, ticks, interrupts);
    }
    stop = 1;
    tx_semaphore_put(&finished);
}

static void partner(ULONG input)
{
    (void) input;
    while (!stop)
    {
        tx_thread_relinquish();
    }
    tx_semaphore_put(&finished);
}

/* ---- stack-heavy work ---- */

/* As opaque as the Rust side's black_box: the compiler must take the frame for read and written. */
#define OPAQUE(frame) __asm__ volatile ("" : : "r" (frame) : "memory")

__attribute__((noinline)) static ULONG deep_touch(ULONG depth)
{
    ULONG frame[WORDS];
    ULONG sum = 0;
    UINT i;
    for (i = 0; i < WORDS; i++)
    {
        frame[i] = depth + i;
    }
    OPAQUE(frame);
    if (depth > 1)
    {
        sum = deep_touch(depth - 1);
    }
    for (i = 0; i < WORDS; i++)
    {
        sum += frame[i];
    }
    return sum;
}

static void dives(ULONG input)
{
    /* Words 0 to 15 of the frames of depths 1 to 24. */
    const ULONG expected = WORDS * (FRAMES * (FRAMES + 1) / 2) + FRAMES * (WORDS * (WORDS - 1) / 2);
    UCHAR here;
    (void) input;
    series->stack = &here;
    while (series->taken < DIVES)
    {
        ULONG ticks, interrupts, start, end, sum;
        board->clean_invalidate_data();
        ticks = tx_time_get();
        interrupts = board->interrupts();
        start = cycles();
        sum = deep_touch(FRAMES);
        end = cycles();
        series->wrong += sum != expected;
        keep(start, end, ticks, interrupts);
    }
    tx_semaphore_put(&finished);
}

/* ---- what the Rust side calls, from a thread of higher priority ---- */

/* Creates the threads, waits until they have finished, removes them. */
static UINT run(VOID (*measuring)(ULONG), ULONG input, VOID (*other)(ULONG), enum region region)
{
    UINT status, threads = 1, i;
    status = tx_semaphore_create(&finished, "finished", 0);
    if (status != TX_SUCCESS)
    {
        return status;
    }
    stop = 0;
    status = tx_thread_create(&measuring_thread, "measuring", measuring, input,
                              region == BTCM ? measuring_btcm : measuring_dram0, sizeof measuring_btcm, PRIORITY, PRIORITY,
                              TX_NO_TIME_SLICE, TX_AUTO_START);
    if (status == TX_SUCCESS && other != TX_NULL)
    {
        status = tx_thread_create(&partner_thread, "partner", other, 0, region == BTCM ? partner_btcm : partner_dram0,
                                  sizeof partner_btcm, PRIORITY, PRIORITY, TX_NO_TIME_SLICE, TX_AUTO_START);
        threads += status == TX_SUCCESS;
    }
    for (i = 0; status == TX_SUCCESS && i < threads; i++)
    {
        status = tx_semaphore_get(&finished, LIMIT);
    }
    tx_thread_info_get(&measuring_thread, TX_NULL, TX_NULL, &series->turns, TX_NULL, TX_NULL, TX_NULL, TX_NULL, TX_NULL);
    tx_thread_terminate(&measuring_thread);
    tx_thread_delete(&measuring_thread);
    if (threads > 1)
    {
        tx_thread_terminate(&partner_thread);
        tx_thread_delete(&partner_thread);
    }
    tx_semaphore_delete(&finished);
    return status;
}

UINT JOIN(twin_switch, TWIN)(const struct twin_board *b, struct twin_series *out, UINT region, UINT cold)
{
    board = b;
    series = out;
    return run(round_trips, cold, partner, (enum region) region);
}

UINT JOIN(twin_deep, TWIN)(const struct twin_board *b, struct twin_series *out, UINT region)
{
    board = b;
    series = out;
    return run(dives, 0, TX_NULL, (enum region) region);
}

/* ---- do both languages mean the same by a call, and by a thread? ---- */

float JOIN(twin_floats, TWIN)(float a, double b, float c, float (*rust)(float, double, float))
{
    /* Arguments in S and D registers both ways; what comes back is exact in single precision. */
    return rust(c, b * 2.0, a) + (float) (b / 4.0);
}

/* The thread's floating-point flag is where the kernel's assembly has it: switching it changes the flag
   and nothing else of the control block. Returns how many other bytes changed, or that the flag did not. */
UINT JOIN(twin_vfp_flag, TWIN)(VOID)
{
#ifdef TX_ENABLE_VFP_SUPPORT
    extern void tx_thread_vfp_enable(void);
    extern void tx_thread_vfp_disable(void);
    static UCHAR before[sizeof(TX_THREAD)];
    TX_THREAD *me = tx_thread_identify();
    UINT i, strange = 0, posture = tx_interrupt_control(TX_INT_DISABLE);
    for (i = 0; i < sizeof before; i++)
    {
        before[i] = ((const UCHAR *) me)[i];
    }
    tx_thread_vfp_disable();
    strange += me->tx_thread_vfp_enable != 0;
    for (i = 0; i < sizeof before; i++)
    {
        const UCHAR *byte = (const UCHAR *) me + i;
        int flag = byte >= (const UCHAR *) &me->tx_thread_vfp_enable && byte < (const UCHAR *) (&me->tx_thread_vfp_enable + 1);
        strange += !flag && *byte != before[i];
    }
    tx_thread_vfp_enable();
    for (i = 0; i < sizeof before; i++)
    {
        strange += ((const UCHAR *) me)[i] != before[i];
    }
    tx_interrupt_control(posture & TX_INT_DISABLE);
    return strange;
#else
    return 0;
#endif
}
