/* Several vCPUs that map and unmap at once, each for itself. */
#include "tests.h"

#define REFS_EACH       (NR_REFS / MAX_VCPUS)

static volatile bool worker_stop;
static unsigned int worker_max;

/* Maps and unmaps until told to stop, and looks at what it gets. */
static void worker(void *vcpu)
{
    unsigned long id = (unsigned long)vcpu;
    struct batch *b = &batches[id];
    uint64_t gfn = MAP_GFN(id);

    for ( unsigned int round = 0; !worker_stop; ++round )
    {
        unsigned int nr = 1 + (round * 37 + id * 11) % worker_max;
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

/* Have vCPUs from 1 to last do that, in batches of at most max. */
void workers_start(unsigned int last, unsigned int max)
{
    worker_stop = false;
    worker_max = max;
    for ( unsigned long id = 1; id <= last; ++id )
        run_on(id, worker, (void *)id);
}

void workers_stop(unsigned int last)
{
    worker_stop = true;
    for ( unsigned int id = 1; id <= last; ++id )
        join(id);
}

void test_race(unsigned int unused)
{
    workers_start(nr_vcpus - 1, 64);
    WAIT_FOR(false, 1500);
    workers_stop(nr_vcpus - 1);
}
