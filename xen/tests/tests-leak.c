/* What is left at the end: counted, not assumed. */
#include "tests.h"

static unsigned int maptrack_before;

static void use_one(void *vcpu)
{
    unsigned long id = (unsigned long)vcpu;

    batch_map(&batches[id], id, MAP_GFN(id), 1, WRITABLE);
    batch_unmap(&batches[id]);
}

/* Map until there is no space for one more, and unmap all of it again. */
static unsigned int count_maptrack(void)
{
    unsigned int total = 0, used;

    for ( used = 0; used < MAX_VCPUS; ++used )
    {
        struct batch *b = &batches[used];
        unsigned int nr;

        batch_try_map(b, 0, MAP_GFN(used), MAX_BATCH, WRITABLE);
        for ( nr = 0; nr < MAX_BATCH && b->map[nr].status == GNTST_okay; ++nr )
            ;
        b->nr = nr;
        total += nr;
        if ( nr < MAX_BATCH )
        {
            CHECK(b->map[nr].status == GNTST_no_space, "mapping %u: status %d",
                  total, b->map[nr].status);
            ++used;
            break;
        }
    }

    while ( used-- )
        batch_unmap(&batches[used]);

    return total < MAX_VCPUS * MAX_BATCH ? total : 0;
}

void test_leak_before(unsigned int unused)
{
    /* A vCPU keeps what it freed last, so have each free something. */
    for ( unsigned long id = 1; id < nr_vcpus; ++id )
    {
        run_on(id, use_one, (void *)id);
        join(id);
    }
    use_one(NULL);

    maptrack_before = count_maptrack();
    if ( !maptrack_before )
        tap_skip("no end to maptrack entries: gnttab_max_maptrack_frames=32");
    else
        say("# %u maptrack entries are free", maptrack_before);
}

void test_leak(unsigned int unused)
{
    unsigned int maptrack = maptrack_before ? count_maptrack() : 0;

    CHECK(maptrack == maptrack_before, "%u maptrack entries are free, not %u",
          maptrack, maptrack_before);
    CHECK(grant_table_frames() == TABLE_FRAMES, "the grant table has %u frames",
          grant_table_frames());

    for ( unsigned int i = 0; i < NR_REFS; ++i )
    {
        CHECK(!grant_in_use(i), "grant %u is still in use", i);
        CHECK(grant_end(i), "grant %u cannot be taken back", i);
    }
}

/*
 * The last: a domain that is dying has its pages unmapped, and then goes.  With
 * a reference too many to any of them it would stay.
 */
void test_owner_gone(unsigned int unused)
{
    if ( option("inject") )
        tap_skip("a flush that failed has left references");
    else
        grant_exit();
}
