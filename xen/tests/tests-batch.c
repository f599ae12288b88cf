/* Batches: how many, which operations are good, and what becomes of each. */
#include "tests.h"

static struct batch *const b = &batches[0];

static void fill_pages(void)
{
    for ( unsigned int i = 0; i < NR_PAGES; ++i )
        page(i)[0] = 0xc0000000 + i;
}

static void check_mapped(unsigned int i, bool mapped)
{
    uint64_t want = mapped ? 0xc0000000 + i % NR_PAGES : HOLE;
    uint64_t is = at(MAP_GFN(0) + i)[0];

    CHECK(is == want, "mapping %u of %u reads %lx, not %lx", i, b->nr, is, want);
    CHECK(grant_in_use(i) == mapped, "grant %u of %u: in use is %u, not %u",
          i, b->nr, !mapped, mapped);
}

/* One hypercall unmaps all of nr grants, and they are gone for this vCPU. */
void test_count(unsigned int nr)
{
    fill_pages();
    batch_map(b, 0, MAP_GFN(0), nr, WRITABLE);
    for ( unsigned int i = 0; i < nr; ++i )
        check_mapped(i, true);

    batch_unmap(b);
    for ( unsigned int i = 0; i < nr; ++i )
        check_mapped(i, false);
}

/* Good and bad operations in one batch: each gets the status it deserves. */
void test_mixed(unsigned int unused)
{
    enum { GOOD, DUPLICATE, ALREADY, NO_HANDLE, WRONG_ADDRESS, NO_ADDRESS, KINDS };
    static const int16_t status[KINDS] = {
        [DUPLICATE]     = GNTST_bad_handle,
        [ALREADY]       = GNTST_bad_handle,
        [NO_HANDLE]     = GNTST_bad_handle,
        [WRONG_ADDRESS] = GNTST_general_error,
    };
    static gnttab_unmap_grant_ref_t ops[300];
    const unsigned int nr = ARRAY_SIZE(ops);
    long rc;

    fill_pages();
    batch_map(b, 0, MAP_GFN(0), nr, WRITABLE);
    memcpy(ops, b->unmap, sizeof(ops));

    for ( unsigned int i = 0; i < nr; ++i )
        switch ( i % KINDS )
        {
        case DUPLICATE:
            ops[i] = ops[i - 1];
            break;
        case ALREADY:
            rc = grant_table_op(GNTTABOP_unmap_grant_ref, &ops[i], 1);
            CHECK(!rc && !ops[i].status, "single: %ld, status %d", rc,
                  ops[i].status);
            ops[i].status = 1;
            break;
        case NO_HANDLE:
            ops[i].handle = ~0U;
            break;
        case WRONG_ADDRESS:
            ops[i].host_addr = MAP_GFN(1) << PAGE_SHIFT;
            break;
        case NO_ADDRESS: /* asks for nothing, and succeeds */
            ops[i].host_addr = 0;
            break;
        }

    rc = grant_table_op(GNTTABOP_unmap_grant_ref, ops, nr);
    CHECK(!rc, "returned %ld", rc);

    b->nr = 0; /* collects what is left to unmap */
    for ( unsigned int i = 0; i < nr; ++i )
    {
        unsigned int kind = i % KINDS;
        bool mapped = kind != GOOD && kind != ALREADY;

        CHECK(ops[i].status == status[kind], "operation %u: status %d, not %d",
              i, ops[i].status, status[kind]);
        check_mapped(i, mapped);
        if ( mapped )
            b->unmap[b->nr++] = b->unmap[i];
    }
    batch_unmap(b);
}

/* The sibling of unmap_grant_ref, whose batches would need the same care. */
void test_replace(unsigned int unused)
{
    gnttab_unmap_and_replace_t op;
    long rc;

    fill_pages();
    batch_map(b, 0, MAP_GFN(0), 1, WRITABLE);
    op = (gnttab_unmap_and_replace_t) {
        .host_addr = b->unmap[0].host_addr,
        .handle = b->unmap[0].handle,
    };

    rc = grant_table_op(GNTTABOP_unmap_and_replace, &op, 1);
    CHECK(rc == -XEN_ENOSYS, "a translated domain may use it: %ld", rc);
    check_mapped(0, true);
    batch_unmap(b);
}

/*
 * After a hypercall that failed half way, a grant is either mapped and in use
 * or neither.  Unmap the rest, and find that it is the rest.
 */
static void settle(const gnttab_unmap_grant_ref_t *ops, unsigned int nr,
                   unsigned int done_min, unsigned int done_max)
{
    unsigned int done = 0;

    while ( done < nr && !grant_in_use(done) )
        ++done;
    CHECK(done >= done_min && done <= done_max,
          "%u of %u grants released, not %u to %u", done, nr, done_min,
          done_max);

    for ( unsigned int i = 0; i < nr; ++i )
        check_mapped(i, i >= done);

    b->nr -= done;
    for ( unsigned int i = 0; i < b->nr; ++i )
        b->unmap[i] = b->unmap[i + done];
    batch_unmap(b);
}

/* The array of operations runs into an unmapped page. */
void test_fault(unsigned int unused)
{
    static const unsigned int counts[] = { 0, 1, 31, 32, 33, 100, 256, 511 };

    for ( unsigned int c = 0; c < 2 * ARRAY_SIZE(counts); ++c )
    {
        unsigned int nr = counts[c / 2];
        /* The first bad operation is missing altogether, or half of it is. */
        gnttab_unmap_grant_ref_t *ops = (void *)FAULT_END -
            nr * sizeof(*ops) - (c % 2) * sizeof(*ops) / 2;
        long rc;

        fill_pages();
        batch_map(b, 0, MAP_GFN(0), nr + 8, WRITABLE);
        memcpy(ops, b->unmap, (void *)FAULT_END - (void *)ops);

        rc = grant_table_op(GNTTABOP_unmap_grant_ref, ops, nr + 8);
        CHECK(rc == -XEN_EFAULT, "%u operations and a fault: %ld", nr, rc);
        for ( unsigned int i = 0; i < nr; ++i )
            CHECK(ops[i].status == GNTST_okay, "%u operations and a fault: "
                  "status %d of %u", nr, ops[i].status, i);
        settle(ops, nr + 8, nr, nr);
    }
}

/* The operations can be read, but no status can be written. */
void test_status_fault(unsigned int unused)
{
    const unsigned int nr = FAULT_PAGES * PAGE_SIZE / sizeof(*b->unmap);
    long rc;

    fill_pages();
    batch_map(b, 0, MAP_GFN(0), nr, WRITABLE);
    memcpy((void *)FAULT_VA, b->unmap, nr * sizeof(*b->unmap));

    rc = grant_table_op(GNTTABOP_unmap_grant_ref, (void *)FAULT_RO_VA, nr);
    CHECK(rc == -XEN_EFAULT, "returned %ld", rc);
    /* How many are done by the time Xen writes statuses is up to Xen. */
    settle((void *)FAULT_VA, nr, 1, nr);
}

static volatile bool nag_stop;

static void nag(void *unused)
{
    while ( !nag_stop )
    {
        unsigned int before = ipis;

        send_ipi(0);
        WAIT_FOR(ipis != before, 100);
        WAIT_FOR(false, 1); /* for the hypercall to come forward */
    }
}

/* Interrupts make Xen continue the hypercall, from where it has come to. */
void test_interrupted(unsigned int unused)
{
    const unsigned int nr = 512;
    uint64_t start = rdtsc();
    unsigned int rounds = 0;

    fill_pages();
    continuations = 0;
    nag_stop = false;
    run_on(1, nag, NULL);
    asm volatile ( "sti" );

    do {
        batch_map(b, 0, MAP_GFN(0), nr, WRITABLE);
        batch_unmap(b);
        for ( unsigned int i = 0; i < nr; ++i )
            check_mapped(i, false);
        ++rounds;
    } while ( !tap_failed() &&
              (rdtsc() - start < 500 * tsc_khz ||
               (!continuations && rdtsc() - start < 10000 * tsc_khz)) );

    nag_stop = true;
    join(1);
    asm volatile ( "nop; cli" );

    CHECK(continuations, "no hypercall of %u was ever continued", rounds);
    say("# %u hypercalls were continued %u times", rounds, continuations);
}
