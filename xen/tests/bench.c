/*
 * What a grant costs, by the size of the batch it is unmapped in: CSV, raw.
 * Counters are of a hypervisor with the patch in scripts/counters; without it
 * their columns are empty.  With the option "busy" the other vCPUs run, so
 * that each flush of TLBs has processors to interrupt.
 */
#include "tests.h"

#define GRANTS          1024    /* in each row */
#define REPEATS         5

static volatile bool spin_stop;

static void spin(void *unused)
{
    while ( !spin_stop )
        ;
}

static void counter(char *buf, size_t size, const char *name,
                    uint64_t *before, bool print)
{
    uint64_t now;

    buf[0] = 0;
    if ( !perfc_read(name, &now) )
        return;
    if ( print )
        sformat(buf, size, "%lu", now - *before);
    *before = now;
}

static void row(unsigned int size, unsigned int busy)
{
    struct batch *b = &batches[0];
    uint64_t map = 0, unmap = 0, tlb = 0, iotlb = 0, t;
    char tlb_text[24], iotlb_text[24];

    for ( unsigned int after = 0; after < 2; ++after )
    {
        counter(tlb_text, sizeof(tlb_text), "grant unmap: TLB flushes",
                &tlb, after);
        counter(iotlb_text, sizeof(iotlb_text), "grant unmap: IOTLB flushes",
                &iotlb, after);

        for ( unsigned int i = 0; !after && i < GRANTS / size; ++i )
        {
            t = rdtsc();
            batch_map(b, 0, MAP_GFN(0), size, WRITABLE);
            map += rdtsc() - t;
            t = rdtsc();
            batch_unmap(b);
            unmap += rdtsc() - t;
        }
    }

    say("%u,%u,%u,%lu,%lu,%s,%s", size, busy, GRANTS, map, unmap, tlb_text,
        iotlb_text);
}

void bench(void)
{
    static const unsigned int sizes[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
    unsigned int busy = option("busy") ? nr_vcpus - 1 : 0;

    spin_stop = false;
    for ( unsigned int v = 1; v <= busy; ++v )
        run_on(v, spin, NULL);

    say("batch,busy_vcpus,grants,map_cycles,unmap_cycles,tlb_flushes,iotlb_flushes");
    for ( unsigned int r = 0; r < REPEATS; ++r )
        for ( unsigned int s = 0; s < ARRAY_SIZE(sizes); ++s )
            row(sizes[s], busy);

    spin_stop = true;
    for ( unsigned int v = 1; v <= busy; ++v )
        join(v);
}
