/* The measurements of upstream's pull requests #634, #635, #636 and #638 after their published description:
 * the loops are written anew from it, so they are not the published code. Compiled as that was documented to
 * be: no optimisation, -mlong-calls. Every series is announced to the caller with its name and the number of
 * pairs of counter reads that it took; the figures come from the model's log. */

#include "tx_api.h"

#define SWITCHES 64
#define DIVES 16
#define SWEEPS 4
#define FRAMES 24
#define WORDS 16
#define TABLE 2048
#define PASSES 4

typedef void (*announce_t)(const char *name, ULONG pairs);

#define IN(region) __attribute__((section(".stacks." #region), aligned(64)))

IN(Btcm) static UCHAR measuring_btcm[2048];
IN(Btcm) static UCHAR partner_btcm[1024];
IN(Dram0) static UCHAR measuring_dram0[2048];
IN(Dram0) static UCHAR partner_dram0[1024];
IN(Dram0) static UCHAR deep_dram0[6144];
IN(Btcm) static UCHAR deep_btcm[6144];
IN(Dram0) static ULONG table_dram0[TABLE];
IN(Dram2) static ULONG table_dram2[TABLE];
IN(Ctcm) static ULONG table_ctcm[TABLE];

static TX_THREAD measuring_thread;
static TX_THREAD partner_thread;
static TX_SEMAPHORE finished;
static volatile ULONG stop;
static volatile ULONG cold;
static void (*clean)(void);

static ULONG cycles(void)
{
    ULONG low, high;
    __asm__ volatile ("mrrc p15, 0, %0, %1, c14" : "=r" (low), "=r" (high) : : "memory");
    return low;
}

/* The published threads did not keep floating-point state. */
extern void tx_thread_vfp_disable(void);

static volatile ULONG sample;

/* ---- #635: round trip of two threads ---- */

static void switches(ULONG input)
{
    ULONG i, start, end;
    (void) input;
    tx_thread_vfp_disable();
    tx_thread_relinquish();
    for (i = 0; i < SWITCHES; i++)
    {
        if (cold)
        {
            clean();
        }
        start = cycles();
        tx_thread_relinquish();
        end = cycles();
        sample = end - start;
    }
    stop = 1;
    tx_semaphore_put(&finished);
}

static void partner(ULONG input)
{
    (void) input;
    tx_thread_vfp_disable();
    while (!stop)
    {
        tx_thread_relinquish();
    }
    tx_semaphore_put(&finished);
}

/* ---- #636 and #638: 24 frames of 16 words, at four places in the 64-byte line ---- */

#define DEEP(name, offset)                                                                          \
    __asm__(".pushsection .text." #name ",\"ax\",%progbits\n.balign 64\n.space " #offset "\n.popsection"); \
    __attribute__((noinline, section(".text." #name))) static ULONG name(ULONG depth)               \
    {                                                                                               \
        volatile ULONG frame[WORDS];                                                                \
        ULONG i, sum = 0;                                                                           \
        for (i = 0; i < WORDS; i++)                                                                 \
        {                                                                                           \
            frame[i] = depth + i;                                                                   \
        }                                                                                           \
        if (depth > 1)                                                                              \
        {                                                                                           \
            sum = name(depth - 1);                                                                  \
        }                                                                                           \
        for (i = 0; i < WORDS; i++)                                                                 \
        {                                                                                           \
            sum += frame[i];                                                                        \
        }                                                                                           \
        return sum;                                                                                 \
    }

DEEP(deep_0, 0)
DEEP(deep_16, 16)
DEEP(deep_32, 32)
DEEP(deep_48, 48)

static ULONG (*const deep[])(ULONG) = {deep_0, deep_16, deep_32, deep_48};

static void dives(ULONG place)
{
    ULONG i, start, end;
    tx_thread_vfp_disable();
    for (i = 0; i < DIVES; i++)
    {
        clean();
        start = cycles();
        sample = deep[place](FRAMES);
        end = cycles();
    }
    sample = end - start;
    tx_semaphore_put(&finished);
}

/* ---- #634: sweeps over a table ---- */

static ULONG *const tables[] = {table_ctcm, table_dram0, table_dram2};

static void sweeps(ULONG which)
{
    ULONG i, pass, word, start, end, sum = 0;
    volatile ULONG *table = tables[which];
    tx_thread_vfp_disable();
    for (word = 0; word < TABLE; word++)
    {
        table[word] = word;
    }
    /* The first one is not among those announced: it fills the cache. */
    for (i = 0; i <= SWEEPS; i++)
    {
        if (cold)
        {
            clean();
        }
        start = cycles();
        for (pass = 0; pass < PASSES; pass++)
        {
            for (word = 0; word < TABLE; word++)
            {
                sum += table[word];
            }
        }
        end = cycles();
        sample = end - start + sum;
    }
    tx_semaphore_put(&finished);
}

/* ---- from a thread of higher priority ---- */

static ULONG run(void (*what)(ULONG), ULONG input, VOID *stack, ULONG size, VOID *other, ULONG other_size)
{
    ULONG threads = other != TX_NULL ? 2 : 1, i, status;
    status = tx_semaphore_create(&finished, "finished", 0);
    stop = 0;
    status |= tx_thread_create(&measuring_thread, "measuring", what, input, stack, size, 16, 16, TX_NO_TIME_SLICE, TX_AUTO_START);
    if (other != TX_NULL)
    {
        status |= tx_thread_create(&partner_thread, "partner", partner, 0, other, other_size, 16, 16, TX_NO_TIME_SLICE, TX_AUTO_START);
    }
    for (i = 0; i < threads && status == TX_SUCCESS; i++)
    {
        status = tx_semaphore_get(&finished, 1000);
    }
    tx_thread_terminate(&measuring_thread);
    tx_thread_delete(&measuring_thread);
    if (other != TX_NULL)
    {
        tx_thread_terminate(&partner_thread);
        tx_thread_delete(&partner_thread);
    }
    tx_semaphore_delete(&finished);
    return status;
}

static const char *const dive_names[2][4] = {
    {"deep_stack BTCM cold 0", "deep_stack BTCM cold 16", "deep_stack BTCM cold 32", "deep_stack BTCM cold 48"},
    {"deep_stack DRAM0 cold 0", "deep_stack DRAM0 cold 16", "deep_stack DRAM0 cold 32", "deep_stack DRAM0 cold 48"},
};
static const char *const sweep_names[3][2] = {
    {"table_sweep TCM warm", "table_sweep TCM cold"},
    {"table_sweep DRAM0 warm", "table_sweep DRAM0 cold"},
    {"table_sweep DRAM2 warm", "table_sweep DRAM2 cold"},
};

/* Returns 0, or the sum of the kernel's refusals. */
ULONG published(void (*clean_invalidate)(void), announce_t announce)
{
    ULONG i, status = 0;
    clean = clean_invalidate;
    for (cold = 0; cold < 2; cold++)
    {
        status |= run(switches, 0, measuring_btcm, sizeof measuring_btcm, partner_btcm, sizeof partner_btcm);
        announce(cold ? "context_switch BTCM cold" : "context_switch BTCM warm", SWITCHES);
        status |= run(switches, 0, measuring_dram0, sizeof measuring_dram0, partner_dram0, sizeof partner_dram0);
        announce(cold ? "context_switch DRAM0 cold" : "context_switch DRAM0 warm", SWITCHES);
    }
    for (i = 0; i < 4; i++)
    {
        status |= run(dives, i, deep_btcm, sizeof deep_btcm, TX_NULL, 0);
        announce(dive_names[0][i], DIVES);
        status |= run(dives, i, deep_dram0, sizeof deep_dram0, TX_NULL, 0);
        announce(dive_names[1][i], DIVES);
    }
    for (i = 0; i < 3; i++)
    {
        for (cold = 0; cold < 2; cold++)
        {
            status |= run(sweeps, i, measuring_dram0, sizeof measuring_dram0, TX_NULL, 0);
            announce(sweep_names[i][cold], SWEEPS);
        }
    }
    return status;
}
