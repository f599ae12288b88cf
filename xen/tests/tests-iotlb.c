/*
 * Stale translations in the IOMMU: a device that has used a mapping goes on
 * using it after the unmapping hypercall has returned.
 */
#include "edu.h"
#include "tests.h"

#define SCRATCH(dev)    (NR_PAGES - 1 - (dev))  /* pages of the pool */
#define BASE            (MAP_GFN(0) + 32)

/* A place of the batch for each device: the first, the last, ... */
static unsigned int place(unsigned int dev, unsigned int nr)
{
    return dev == 0 ? 0 : dev == 1 ? nr - 1 : dev * nr / MAX_EDU;
}

#define FOR_ALL(dev) for ( unsigned int dev = 0; dev < nr_edu; ++dev )

/* Xen's own word that it saw at least one of these transfers fail. */
static void check_fault_log(unsigned int nr)
{
    bool found = false;

    if ( option("nofaultlog") ) /* there is another witness, see run.sh */
        return;

    /* Where the fault record is in use, the next one gets lost. */
    WAIT_FOR(({
        char address[20];

        FOR_ALL(dev)
        {
            sformat(address, sizeof(address), "%lx",
                    (BASE + place(dev, nr)) << PAGE_SHIFT);
            found |= xen_logged(address);
        }
        found; }), 5000);

    CHECK(found, "batch of %u: Xen has not logged an IOMMU fault", nr);
}

/* Word 0 of each page is for the device to read, word 8 for it to write. */
static void check_iotlb(unsigned int nr)
{
    uint64_t gfn[MAX_EDU];

    FOR_ALL(dev)
        gfn[dev] = BASE + place(dev, nr);

    for ( unsigned int i = 0; i < nr && i < NR_PAGES - MAX_EDU; ++i )
    {
        page(i)[0] = 0x10000 + i;
        page(i)[8] = 0;
    }

    batch_map(&batches[0], 0, BASE, nr, WRITABLE);

    FOR_ALL(dev)
        edu_read(dev, gfn[dev] << PAGE_SHIFT);
    edu_wait();
    FOR_ALL(dev)
        edu_write(dev, (gfn[dev] << PAGE_SHIFT) + 64);
    edu_wait();
    FOR_ALL(dev)
        CHECK(page(place(dev, nr))[8] == page(place(dev, nr))[0],
              "batch of %u: mapping %u cannot be used by the device", nr,
              place(dev, nr));

    batch_unmap(&batches[0]);
    xen_log_clear();

    FOR_ALL(dev)
    {
        page(place(dev, nr))[0] = 0x20000 + dev;
        page(place(dev, nr))[8] = 0;
        edu_read(dev, gfn[dev] << PAGE_SHIFT);
    }
    edu_wait();
    check_fault_log(nr);

    xen_log_clear();
    FOR_ALL(dev)
        edu_write(dev, (gfn[dev] << PAGE_SHIFT) + 64);
    edu_wait();
    check_fault_log(nr);

    FOR_ALL(dev)
        edu_write(dev, page_gfn(SCRATCH(dev)) << PAGE_SHIFT);
    edu_wait();

    FOR_ALL(dev)
    {
        CHECK(page(place(dev, nr))[8] == 0,
              "batch of %u: the device wrote to %u after it was unmapped", nr,
              place(dev, nr));
        CHECK(page(SCRATCH(dev))[0] != 0x20000 + dev,
              "batch of %u: the device read %u after it was unmapped", nr,
              place(dev, nr));
    }
}

/* Xen frees an IOMMU page table that becomes empty, and flushes everything. */
void test_iotlb_empty(unsigned int nr)
{
    check_iotlb(nr);
}

/* Where the tables stay in use, the range of the flush has to be right. */
void test_iotlb(unsigned int nr)
{
    struct batch *below = &batches[1], *above = &batches[2];

    batch_map(below, NR_REFS - 1, BASE - 1, 1, WRITABLE);
    batch_map(above, NR_REFS - 2, BASE + nr, 1, WRITABLE);
    check_iotlb(nr);
    batch_unmap(below);
    batch_unmap(above);
}

/* Xen moves 16 pages, flushes, and goes on with the rest. */
#define MOVED           17

static void move(uint64_t from, uint64_t to, unsigned int nr)
{
    xen_add_to_physmap_t range = {
        .domid = DOMID_SELF,
        .size = nr,
        .space = XENMAPSPACE_gmfn_range,
        .idx = from,
        .gpfn = to,
    };
    long rc = memory_op(XENMEM_add_to_physmap, &range);

    CHECK(!rc, "moving %u pages returned %ld", nr, rc);
}

/*
 * Not grants: pages of one's own that move.  A device finds them where they
 * are, not what was there before them, and not where they were.  One is left
 * where it was, for the IOMMU's page table not to be freed, and all flushed.
 */
void test_iotlb_moved(unsigned int unused)
{
    static uint64_t ram[2][MOVED + 1][PAGE_SIZE / 8] page_aligned;
    const uint64_t to = MAP_GFN(0) + 2 * MAX_BATCH;
    const uint64_t from = to + MAX_BATCH + 128; /* see README.md */

    for ( unsigned int i = 0; i < MOVED; ++i )
    {
        ram[0][i][0] = 0x50000 + i;
        ram[1][i][0] = 0x60000 + i;
    }
    move((uint64_t)ram[0] >> PAGE_SHIFT, to, MOVED);
    move((uint64_t)ram[1] >> PAGE_SHIFT, from, MOVED + 1);

    FOR_ALL(dev)
        edu_read(dev, (to + place(dev, MOVED)) << PAGE_SHIFT);
    edu_wait();
    FOR_ALL(dev)
        edu_write(dev, ((from + place(dev, MOVED)) << PAGE_SHIFT) + 64);
    edu_wait();
    FOR_ALL(dev)
        CHECK(at(from + place(dev, MOVED))[8] == 0x50000 + place(dev, MOVED),
              "page %u cannot be used by the device", place(dev, MOVED));

    move(from, to, MOVED);
    FOR_ALL(dev)
    {
        at(to + place(dev, MOVED))[8] = 0;
        edu_read(dev, (to + place(dev, MOVED)) << PAGE_SHIFT);
    }
    edu_wait();
    FOR_ALL(dev)
        edu_write(dev, ((from + place(dev, MOVED)) << PAGE_SHIFT) + 64);
    edu_wait();
    FOR_ALL(dev)
        edu_write(dev, page_gfn(SCRATCH(dev)) << PAGE_SHIFT);
    edu_wait();

    FOR_ALL(dev)
    {
        CHECK(at(to + place(dev, MOVED))[8] == 0,
              "the device wrote to page %u where it had been",
              place(dev, MOVED));
        CHECK(page(SCRATCH(dev))[0] == 0x60000 + place(dev, MOVED),
              "the device read %lx where page %u is",
              page(SCRATCH(dev))[0], place(dev, MOVED));
    }
}

/* A mapping that may only be read takes no write from the device either. */
void test_iotlb_readonly(unsigned int unused)
{
    page(0)[0] = 0x30000;
    page(0)[8] = 0;
    batch_map(&batches[0], 0, MAP_GFN(0), 1, READONLY);

    edu_read(0, MAP_GFN(0) << PAGE_SHIFT);
    edu_wait();
    edu_write(0, (MAP_GFN(0) << PAGE_SHIFT) + 64);
    edu_wait();
    edu_write(0, page_gfn(SCRATCH(0)) << PAGE_SHIFT);
    edu_wait();

    CHECK(page(0)[8] == 0, "the device wrote to a read-only mapping");
    CHECK(page(SCRATCH(0))[0] == 0x30000, "the device did not read %lx",
          page(SCRATCH(0))[0]);
    batch_unmap(&batches[0]);
}
