/*
 * A test kernel for grant mappings: what Xen promises to those whose pages
 * are mapped and unmapped, seen from the processor and from a device.
 */
#include "edu.h"
#include "tests.h"

/* Memory next to which there is none, and memory that cannot be written. */
static void fault_init(void)
{
    static uint8_t pages[FAULT_PAGES][PAGE_SIZE] page_aligned;

    for ( unsigned int i = 0; i < FAULT_PAGES; ++i )
    {
        pt_fault[i] = (uint64_t)pages[i] + 0x63; /* writable */
        pt_fault[FAULT_PAGES + 1 + i] = (uint64_t)pages[i] + 0x61;
    }
}

void main(void)
{
    platform_init();
    fault_init();
    console_init();
    trap_init();
    smp_init();
    edu_init();
    grant_init();

    say("# d%d, %u vCPUs, %u edu devices, TSC %lu kHz", own_domid, nr_vcpus,
        nr_edu, tsc_khz);
    if ( option("bench") )
        bench();
    else
        tests_run();
    say("# end");

    /* Xen without noreboot restarts the machine with its hardware domain. */
    shutdown(is_dom0 ? SHUTDOWN_reboot : SHUTDOWN_poweroff);
}
