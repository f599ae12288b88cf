/*
 * The grant table, a pool of granted pages, and batches of map and unmap
 * operations on them.
 */
#ifndef GRANT_H
#define GRANT_H

#include "tap.h"

#define NR_PAGES        512     /* in the pool */
#define NR_REFS         4096    /* for tests: ref i grants page i % NR_PAGES */
#define MAX_BATCH       4096

/* Guest frame numbers in the window: for mappings by tests, one each vCPU. */
#define MAP_GFN(vcpu)   ((WINDOW >> PAGE_SHIFT) + ((vcpu) + 1) * 0x4000UL)

struct batch {
    unsigned int nr;
    gnttab_map_grant_ref_t map[MAX_BATCH];
    gnttab_unmap_grant_ref_t unmap[MAX_BATCH];
};
extern struct batch batches[MAX_VCPUS];

void grant_init(void);
/* For the hardware domain: have the owner die, unmap all, and see it go. */
void grant_exit(void);

/* owner.c: a domain with NR_PAGES, whose grant table is mapped at table_gfn */
domid_t owner_create(uint64_t table_gfn);
void owner_displace(void);
void owner_destroy(uint64_t table_gfn);
bool owner_gone(void);

/* Pool page i, as it is to be seen at any time, and where that is. */
volatile uint64_t *page(unsigned int i);
uint64_t page_gfn(unsigned int i);

/* What is at a guest frame. A hole reads as all ones, and ignores writes. */
#define HOLE            (~0UL)
static inline volatile uint64_t *at(uint64_t gfn)
{
    return (void *)(gfn << PAGE_SHIFT);
}

/* Test refs: grant access, see whether it is in use, take it back. */
void grant_access(unsigned int ref, unsigned int page, bool readonly);
bool grant_in_use(unsigned int ref);
volatile uint16_t *grant_flags(unsigned int ref);
bool grant_end(unsigned int ref);

/* Map refs ref... at gfn..., and make the operations that unmap them. */
void batch_try_map(struct batch *b, unsigned int ref, uint64_t gfn,
                   unsigned int nr, uint32_t flags);
/* The same, where each must succeed. */
void batch_map(struct batch *b, unsigned int ref, uint64_t gfn,
               unsigned int nr, uint32_t flags);
/* Unmap them, in one hypercall, each of which must succeed. */
void batch_unmap(struct batch *b);

#define TABLE_FRAMES    10      /* of 512 version 1 entries */
unsigned int grant_table_frames(void);

#endif
