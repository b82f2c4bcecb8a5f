/* The cache maintenance that upstream's demo asks for; src/main.rs has it. */
#ifndef SHIM_CACHE_H
#define SHIM_CACHE_H
void cache_clean_all(void);
void cache_invalidate_dcache_all(void);
#endif
