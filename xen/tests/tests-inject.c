/*
 * An IOTLB flush that fails, in a hypervisor built with the patch in
 * fault-injection/: where devices may still reach the pages, nothing is
 * released, and the caller is told.  What is pinned by then stays so, which
 * is why this test comes after the others.
 */
#include "tests.h"

/* Flushes of a range with this frame in it fail: iotlb_inject=0x420100. */
#define FAILING_GFN     (MAP_GFN(MAX_VCPUS - 1) + 0x100)

void test_flush_fails(unsigned int unused)
{
    const unsigned int nr = 40, bad = 7;
    struct batch *b = &batches[0];
    uint64_t gfn = FAILING_GFN - nr / 2;
    uint32_t handle;
    long rc;

    if ( !option("inject") )
    {
        tap_skip("needs a hypervisor with fault injection");
        return;
    }

    batch_map(b, 0, gfn, nr, WRITABLE);
    handle = b->unmap[bad].handle;
    b->unmap[bad].handle = ~0U;

    rc = grant_table_op(GNTTABOP_unmap_grant_ref, b->unmap, nr);
    CHECK(!rc, "returned %ld", rc);
    for ( unsigned int i = 0; i < nr; ++i )
    {
        int want = i == bad ? GNTST_bad_handle : GNTST_general_error;

        CHECK(b->unmap[i].status == want, "operation %u: status %d, not %d", i,
              b->unmap[i].status, want);
        CHECK(grant_in_use(i), "grant %u was released", i);
        CHECK(!grant_end(i), "grant %u could be taken back", i);
        CHECK((at(gfn + i)[0] == HOLE) == (i != bad), "mapping %u reads %lx", i,
              at(gfn + i)[0]);
    }

    /* Away from there all is well, and the operation that was not is. */
    batch_map(b, nr, MAP_GFN(0), nr, WRITABLE);
    batch_unmap(b);
    b->nr = 1;
    b->unmap[0] = (gnttab_unmap_grant_ref_t) {
        .host_addr = (gfn + bad) << PAGE_SHIFT,
        .handle = handle,
    };
    batch_unmap(b);
    CHECK(!grant_in_use(bad), "grant %u is still in use", bad);
}
