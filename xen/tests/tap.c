/* Runs the tests and says how they went. */
#include "edu.h"
#include "tap.h"

#define MAX_DIAGNOSTICS 8

static volatile unsigned int failures;
static const char *skip_reason, *bail_reason;

void tap_fail(const char *fmt, ...)
{
    char line[200];
    __builtin_va_list args;

    if ( __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) >= MAX_DIAGNOSTICS )
        return;

    __builtin_va_start(args, fmt);
    vformat(line, sizeof(line), fmt, args);
    __builtin_va_end(args);
    say("%s", line);
}

bool tap_failed(void)
{
    return failures;
}

void tap_skip(const char *reason)
{
    skip_reason = reason;
}

void tap_bail(const char *reason)
{
    bail_reason = reason;
}

static const char *missing(unsigned int need)
{
    if ( nr_vcpus < (need & 0xf) )
        return "needs more vCPUs";
    if ( (need & NEED_EDU) && !nr_edu )
        return "needs QEMU's edu device and an IOMMU";
    if ( (need & NEED_DOM0) && !is_dom0 )
        return "needs to be the hardware domain";
    return NULL;
}

void tap_run(const struct test *tests, unsigned int nr)
{
    say("KTAP version 1");
    say("1..%u", nr);

    for ( unsigned int i = 0; i < nr; ++i )
    {
        const struct test *t = &tests[i];
        uint64_t start = rdtsc();

        failures = 0;
        skip_reason = option("only") && !option(t->name) ? "not asked for"
                                                         : missing(t->need);
        if ( !skip_reason )
            t->fn(t->arg);

        if ( failures )
            say("not ok %u - %s # %u checks failed", i + 1, t->name, failures);
        else if ( skip_reason )
            say("ok %u - %s # SKIP %s", i + 1, t->name, skip_reason);
        else
            say("ok %u - %s # %lu ms", i + 1, t->name,
                (rdtsc() - start) / tsc_khz);
        if ( bail_reason )
            panic("# %s", bail_reason);
    }
}
