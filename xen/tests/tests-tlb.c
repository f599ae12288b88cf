/*
 * Stale translations on another vCPU.
 *
 * A watcher on the last vCPU uses a mapping all along, without anything that
 * would make it leave guest mode: a processor may forget its translations at
 * each entry, and some do.  So its first use after the unmapping hypercall has
 * returned is the one that tells, and every test takes as many rounds as it has
 * time for.
 */
#include "tests.h"

#define WATCHED         4       /* mappings of a batch */
#define ROUNDS          4       /* at least */
#define MIN_MS          400
#define WATCHER         (nr_vcpus - 1)

/* Rounds are few where each grant costs a flush, so keep their number open. */
#define FOR_ROUNDS(round, ms)                                   \
    for ( uint64_t round = 0, start_ = rdtsc();                 \
          !tap_failed() && (round < ROUNDS ||                   \
                            rdtsc() - start_ < (ms) * tsc_khz); \
          ++round )

enum phase { MAPPED, HOLD, UNMAPPED, STOP };

static struct {
    volatile enum phase phase;
    unsigned int ref[WATCHED];
    uint64_t gfn[WATCHED];
    uint64_t before[WATCHED];   /* what is read while mapped */
    uint64_t after[WATCHED];    /* what is read in phase UNMAPPED */
    volatile uint64_t loops[STOP + 1];
    volatile uint64_t seen;     /* reads that found the mapping */
    volatile uint64_t wrong;
    volatile uint64_t wrong_val;
} watch;

static const unsigned int sizes[] = { 1, 2, 4, 33 };

static void wrong(uint64_t val)
{
    watch.wrong_val = val;
    ++watch.wrong;
}

static void reader(void *unused)
{
    enum phase phase;

    while ( (phase = watch.phase) != STOP )
    {
        for ( unsigned int i = 0; i < WATCHED && phase != HOLD; ++i )
        {
            uint64_t val = at(watch.gfn[i])[0];

            /* A read in phase MAPPED may be one of after, if ever so little. */
            if ( val == watch.before[i] && phase == MAPPED )
                ++watch.seen;
            else if ( val != watch.after[i] &&
                      !(phase == MAPPED && val == HOLE) )
                wrong(val);
        }
        ++watch.loops[phase];
    }
}

static void writer(void *unused)
{
    enum phase phase;
    uint64_t n = 0;

    while ( (phase = watch.phase) != STOP )
    {
        ++n;
        for ( unsigned int i = 0; i < WATCHED; ++i )
            at(watch.gfn[i])[0] = n;
        ++watch.loops[phase];
    }
}

static bool is_released(unsigned int ref)
{
    return !grant_in_use(ref);
}

static bool is_reported(unsigned int ref)
{
    return *(volatile int16_t *)&batches[0].unmap[ref].status == GNTST_okay;
}

/* A grant of which one or the other is true is to be out of reach by then. */
static void release_reader(void *fn)
{
    bool (*gone)(unsigned int ref) = fn;

    while ( watch.phase != STOP )
    {
        for ( unsigned int i = 0; i < WATCHED; ++i )
        {
            bool is_gone = gone(watch.ref[i]);
            uint64_t val = at(watch.gfn[i])[0];

            if ( val == watch.before[i] && !is_gone )
                ++watch.seen;
            else if ( val != HOLE && is_gone )
                wrong(val);
        }
        ++watch.loops[watch.phase];
    }
}

/* Map nr grants, and set the watcher on the first, the last and others. */
static void start(unsigned int nr, uint32_t flags, void (*fn)(void *),
                  void *arg)
{
    static unsigned int generation;

    memset((void *)&watch, 0, sizeof(watch));
    ++generation;

    for ( unsigned int i = 0; i < nr; ++i )
        page(i)[0] = ((uint64_t)generation << 32) + i;

    batch_map(&batches[0], 0, MAP_GFN(0), nr, flags);

    for ( unsigned int i = 0; i < WATCHED; ++i )
    {
        watch.ref[i] = i * (nr - 1) / (WATCHED - 1);
        watch.gfn[i] = MAP_GFN(0) + watch.ref[i];
        watch.before[i] = page(watch.ref[i])[0];
        watch.after[i] = HOLE;
    }

    run_on(WATCHER, fn, arg);
}

static void stop(unsigned int nr)
{
    watch.phase = UNMAPPED;
    CHECK(WAIT_FOR(watch.loops[UNMAPPED] >= 3, 20000), "the watcher is stuck");
    watch.phase = STOP;
    join(WATCHER);
    CHECK(!watch.wrong, "batch of %u: %lu reads of what should be gone, as %lx",
          nr, watch.wrong, watch.wrong_val);
}

static void wait_seen(void)
{
    CHECK(WAIT_FOR(watch.seen >= 1000, 20000), "the watcher sees no mapping");
}

void test_tlb_read(unsigned int flags)
{
    FOR_ROUNDS(round, MIN_MS)
    {
        unsigned int nr = sizes[round % ARRAY_SIZE(sizes)];

        start(nr, flags, reader, NULL);
        wait_seen();
        batch_unmap(&batches[0]);
        stop(nr);
    }
}

void test_tlb_write(unsigned int unused)
{
    FOR_ROUNDS(round, MIN_MS)
    {
        unsigned int nr = sizes[round % ARRAY_SIZE(sizes)];
        uint64_t val[WATCHED];

        start(nr, WRITABLE, writer, NULL);
        CHECK(WAIT_FOR(page(nr - 1)[0] > 100 && page(nr - 1)[0] < 1U << 31,
                       20000),
              "the watcher's writes do not arrive");

        batch_unmap(&batches[0]);
        for ( unsigned int i = 0; i < WATCHED; ++i )
            val[i] = page(watch.ref[i])[0];
        stop(nr);

        for ( unsigned int i = 0; i < WATCHED; ++i )
            CHECK(page(watch.ref[i])[0] == val[i],
                  "batch of %u: a write to %u after it was unmapped", nr,
                  watch.ref[i]);
    }
}

/*
 * The address is used for another grant at once.  The watcher stands still
 * meanwhile, in guest mode: Xen takes a fault on a hole that has become a grant
 * mapping by the time it looks for a reason to crash the domain.
 */
void test_tlb_remap(unsigned int unused)
{
    FOR_ROUNDS(round, MIN_MS)
    {
        unsigned int nr = sizes[round % ARRAY_SIZE(sizes)] / 2 ?: 1;

        for ( unsigned int i = 0; i < nr; ++i )
            page(NR_PAGES / 2 + i)[0] = 0x5ec0000 + i;

        start(nr, WRITABLE, reader, NULL);
        for ( unsigned int i = 0; i < WATCHED; ++i )
            watch.after[i] = 0x5ec0000 + watch.ref[i];
        wait_seen();
        watch.phase = HOLD;
        CHECK(WAIT_FOR(watch.loops[HOLD], 20000), "the watcher does not hold");

        batch_unmap(&batches[0]);
        batch_map(&batches[0], NR_PAGES / 2, MAP_GFN(0), nr, WRITABLE);
        stop(nr);
        batch_unmap(&batches[0]);
    }
}

/* The owner takes the grant back and uses the page for something else. */
void test_tlb_regrant(unsigned int unused)
{
    FOR_ROUNDS(round, MIN_MS)
    {
        unsigned int nr = sizes[round % ARRAY_SIZE(sizes)];

        start(nr, WRITABLE, reader, NULL);
        wait_seen();
        batch_unmap(&batches[0]);

        for ( unsigned int i = 0; i < nr; ++i )
        {
            CHECK(grant_end(i), "grant %u of %u cannot be taken back", i, nr);
            page(i)[0] = 0xdead;
            grant_access(i, i, false);
        }
        stop(nr);
    }
}

static void before(bool (*gone)(unsigned int ref))
{
    const unsigned int nr = 64;

    FOR_ROUNDS(round, 3 * MIN_MS)
    {
        start(nr, WRITABLE, release_reader, gone);
        wait_seen();
        batch_unmap(&batches[0]);
        stop(nr);
    }
}

void test_tlb_before_release(unsigned int unused)
{
    before(is_released);
}

void test_tlb_before_status(unsigned int unused)
{
    before(is_reported);
}

static volatile bool rival_ready;

/* Unmaps a grant, and has that flushed, once another batch has begun to. */
static void rival(void *unused)
{
    uint32_t r[4];

    batch_map(&batches[1], NR_REFS / 2, MAP_GFN(1), 1, WRITABLE);
    rival_ready = true;
    while ( at(watch.gfn[WATCHED - 1])[0] != HOLE )
        cpuid(0, r); /* leaves guest mode, to look without a TLB of its own */
    batch_unmap(&batches[1]);
}

/*
 * The same while another vCPU has a flush of its own under way, which nobody
 * may take for the one that this batch owes.  To have both at the same time,
 * most of this batch comes after what unmaps something, and asks for nothing.
 */
void test_tlb_before_release_rival(unsigned int unused)
{
    struct batch *b = &batches[0], *other = &batches[2];
    const unsigned int nr = 2, nr_idle = 250;

    batch_map(other, NR_REFS - 1, MAP_GFN(2), 1, WRITABLE);

    FOR_ROUNDS(round, 3 * MIN_MS)
    {
        start(nr, WRITABLE, release_reader, is_released);
        for ( ; b->nr < nr + nr_idle; ++b->nr )
        {
            b->unmap[b->nr] = other->unmap[0];
            b->unmap[b->nr].host_addr = 0;
        }
        rival_ready = false;
        run_on(1, rival, NULL);
        CHECK(WAIT_FOR(rival_ready, 20000), "the other vCPU is stuck");
        wait_seen();
        batch_unmap(b);
        stop(nr);
        join(1);
    }

    batch_unmap(other);
}

/* Where the array of operations ends in nothing, what was done is done. */
void test_tlb_fault(unsigned int unused)
{
    const unsigned int nr = 33;
    gnttab_unmap_grant_ref_t *ops = (gnttab_unmap_grant_ref_t *)FAULT_END - nr;

    FOR_ROUNDS(round, MIN_MS)
    {
        long rc;

        start(nr, WRITABLE, reader, NULL);
        memcpy(ops, batches[0].unmap, nr * sizeof(*ops));
        wait_seen();
        rc = grant_table_op(GNTTABOP_unmap_grant_ref, ops, nr + 1);
        CHECK(rc == -XEN_EFAULT, "returned %ld", rc);
        stop(nr);
    }
}

/* A mapping that may only be read takes no write. */
void test_tlb_readonly(unsigned int unused)
{
    struct batch *b = &batches[0];

    page(0)[0] = 1;
    batch_map(b, 0, MAP_GFN(0), 1, READONLY);
    CHECK(at(MAP_GFN(0))[0] == 1, "%lx read", at(MAP_GFN(0))[0]);
    at(MAP_GFN(0))[0] = 2;
    CHECK(page(0)[0] == 1, "%lx written", page(0)[0]);
    batch_unmap(b);
}
