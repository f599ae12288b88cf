/* Several vCPUs that map and unmap at once, each for itself. */
#include "tests.h"

#define REFS_EACH       (NR_REFS / MAX_VCPUS)

static volatile bool worker_stop;

/* Maps and unmaps until told to stop, and looks at what it gets. */
static void worker(void *vcpu)
{
    unsigned long id = (unsigned long)vcpu;
    struct batch *b = &batches[id];
    uint64_t gfn = MAP_GFN(id);

    for ( unsigned int round = 0; !worker_stop; ++round )
    {
        unsigned int nr = 1 + (round * 37 + id * 11) % 64;
        unsigned int ref = id * REFS_EACH + round % (REFS_EACH - nr);

        batch_map(b, ref, gfn, nr, round & 1 ? READONLY : WRITABLE);
        for ( unsigned int i = 0; i < nr; i += 7 )
            CHECK(at(gfn + i)[1] == (ref + i) % NR_PAGES,
                  "vCPU %lu maps grant %u and reads %lx", id, ref + i,
                  at(gfn + i)[1]);

        batch_unmap(b);
        for ( unsigned int i = 0; i < nr; i += 7 )
        {
            CHECK(at(gfn + i)[1] == HOLE, "vCPU %lu still reads %lx", id,
                  at(gfn + i)[1]);
            CHECK(!grant_in_use(ref + i), "vCPU %lu: grant %u is still in use",
                  id, ref + i);
        }
    }
}

void test_race(unsigned int unused)
{
    worker_stop = false;
    for ( unsigned long id = 1; id < nr_vcpus; ++id )
        run_on(id, worker, (void *)id);
    WAIT_FOR(false, 1500);
    worker_stop = true;
    for ( unsigned int id = 1; id < nr_vcpus; ++id )
        join(id);
}
