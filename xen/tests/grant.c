#include "grant.h"

#define RESERVED_REFS   8
#define MASTER_REF(i)   (RESERVED_REFS + (i))
#define TEST_REF(i)     (1024 + (i))
#define TABLE_GFN       (WINDOW >> PAGE_SHIFT)
#define MASTER_GFN      (TABLE_GFN + 0x1000)

static domid_t owner;       /* of the pool and of the grant table */
static struct batch pool;   /* maps each page of it once, for good */

struct batch batches[MAX_VCPUS];

static volatile grant_entry_v1_t *const table = (void *)WINDOW;

volatile uint64_t *page(unsigned int i)
{
    return at(page_gfn(i));
}

uint64_t page_gfn(unsigned int i)
{
    return MASTER_GFN + i;
}

/* What refs for tests grant: a frame of the owner's. */
static uint64_t owner_gfn(unsigned int i)
{
    return is_dom0 ? i : page_gfn(i);
}

static void set_entry(unsigned int entry, uint64_t gfn, bool readonly)
{
    table[entry].domid = own_domid;
    table[entry].frame = gfn;
    barrier();
    table[entry].flags = GTF_permit_access | (readonly ? GTF_readonly : 0);
}

volatile uint16_t *grant_flags(unsigned int ref)
{
    return &table[TEST_REF(ref)].flags;
}

void grant_access(unsigned int ref, unsigned int page, bool readonly)
{
    set_entry(TEST_REF(ref), owner_gfn(page), readonly);
}

bool grant_in_use(unsigned int ref)
{
    return *grant_flags(ref) & (GTF_reading | GTF_writing);
}

bool grant_end(unsigned int ref)
{
    uint16_t old = *grant_flags(ref) & ~(GTF_reading | GTF_writing);

    return __atomic_compare_exchange_n(grant_flags(ref), &old, 0, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void try_map(struct batch *b, unsigned int entry, uint64_t gfn,
                    unsigned int nr, uint32_t flags)
{
    long rc;

    b->nr = nr;
    for ( unsigned int i = 0; i < nr; ++i )
        b->map[i] = (gnttab_map_grant_ref_t) {
            .host_addr = (gfn + i) << PAGE_SHIFT,
            .flags = GNTMAP_host_map | flags,
            .ref = entry + i,
            .dom = owner,
            .status = 1,
        };

    rc = grant_table_op(GNTTABOP_map_grant_ref, b->map, nr);
    CHECK(!rc, "mapping %u grants returned %ld", nr, rc);

    for ( unsigned int i = 0; i < nr; ++i )
        b->unmap[i] = (gnttab_unmap_grant_ref_t) {
            .host_addr = b->map[i].host_addr,
            .handle = b->map[i].handle,
            .status = 1,
        };
}

static void check_map(const struct batch *b)
{
    unsigned int good = 0;

    for ( unsigned int i = 0; i < b->nr; ++i )
        good += CHECK(b->map[i].status == GNTST_okay,
                      "mapping %u of %u: status %d", i, b->nr,
                      b->map[i].status);
    if ( b->nr && !good )
        tap_bail("nothing can be mapped");
}

void batch_try_map(struct batch *b, unsigned int ref, uint64_t gfn,
                   unsigned int nr, uint32_t flags)
{
    try_map(b, TEST_REF(ref), gfn, nr, flags);
}

void batch_map(struct batch *b, unsigned int ref, uint64_t gfn,
               unsigned int nr, uint32_t flags)
{
    batch_try_map(b, ref, gfn, nr, flags);
    check_map(b);
}

void batch_unmap(struct batch *b)
{
    long rc = grant_table_op(GNTTABOP_unmap_grant_ref, b->unmap, b->nr);

    CHECK(!rc, "unmapping %u grants returned %ld", b->nr, rc);
    for ( unsigned int i = 0; i < b->nr; ++i )
        CHECK(b->unmap[i].status == GNTST_okay, "unmapping %u of %u: status %d",
              i, b->nr, b->unmap[i].status);
}

unsigned int grant_table_frames(void)
{
    gnttab_query_size_t q = { .dom = owner };

    if ( grant_table_op(GNTTABOP_query_size, &q, 1) || q.status )
        panic("# query_size: status %d", q.status);
    return q.nr_frames;
}

/*
 * A guest tests with its own pages.  Mapping one takes it away from where it
 * was: Xen lets a page of the domain have one address only.  But Xen 4.17 does
 * not count addresses that are grant mappings, and lets them be granted.  So
 * each page is mapped once, and what tests grant is the frame where it then is.
 */
static void own_pool(void)
{
    static uint8_t ram[NR_PAGES][PAGE_SIZE] page_aligned;

    owner = own_domid;
    for ( unsigned int i = 0; i < TABLE_FRAMES; ++i )
    {
        xen_add_to_physmap_t add = {
            .domid = DOMID_SELF,
            .space = XENMAPSPACE_grant_table,
            .idx = i,
            .gpfn = TABLE_GFN + i,
        };
        long rc = memory_op(XENMEM_add_to_physmap, &add);

        if ( rc )
            panic("# grant table frame %u: %ld", i, rc);
    }

    for ( unsigned int i = 0; i < NR_PAGES; ++i )
        set_entry(MASTER_REF(i), (uint64_t)ram[i] >> PAGE_SHIFT, false);
}

/* The hardware domain has a domain made for that, as on any Xen it can. */
static void foreign_pool(void)
{
    owner = owner_create(TABLE_GFN);
    for ( unsigned int i = 0; i < NR_PAGES; ++i )
        set_entry(MASTER_REF(i), owner_gfn(i), false);
}

/* However often a page is mapped by tests, it stays visible by a ref apart. */
void grant_init(void)
{
    if ( is_dom0 )
        foreign_pool();
    else
        own_pool();
    try_map(&pool, MASTER_REF(0), MASTER_GFN, NR_PAGES, 0);
    check_map(&pool);

    for ( unsigned int i = 0; i < NR_PAGES; ++i )
    {
        page(i)[0] = i;
        page(i)[1] = i; /* and so it stays, for the worker to see */
        if ( page(i)[0] != i )
            panic("# page %u of the pool is not there", i);
    }

    for ( unsigned int i = 0; i < NR_REFS; ++i )
        grant_access(i, i % NR_PAGES, false);
}

void grant_exit(void)
{
    owner_displace();
    owner_destroy(TABLE_GFN);
    CHECK(!owner_gone(), "the owner of the pool goes with its pages mapped");
    batch_unmap(&pool);
    CHECK(WAIT_FOR(owner_gone(), 10000),
          "the owner of the pool does not go away");
}
