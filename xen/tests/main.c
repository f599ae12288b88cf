/*
 * A test kernel for grant mappings: what Xen promises to those whose pages
 * are mapped and unmapped, seen from the processor and from a device.
 */
#include "edu.h"
#include "tests.h"

#include <xen/arch-x86/cpuid.h>
#include <xen/arch-x86/hvm/start_info.h>

char hypercall_page[PAGE_SIZE] page_aligned;
uint32_t boot_info; /* set at the entry point */

bool is_dom0;
domid_t own_domid;
uint64_t tsc_khz;
static const char *cmdline = "";

/* The command line is words; the test looks for whole ones. */
bool option(const char *name)
{
    size_t n = strlen(name);

    for ( const char *s = cmdline; (s = strstr(s, name)); s += n )
        if ( (s == cmdline || s[-1] == ' ') && (!s[n] || s[n] == ' ') )
            return true;
    return false;
}

void shutdown(unsigned int reason)
{
    sched_shutdown_t arg = { .reason = reason };

    console_drain();
    for ( ; ; )
        sched_op(SCHEDOP_shutdown, &arg);
}

static void xen_init(void)
{
    const struct hvm_start_info *info = (void *)(uint64_t)boot_info;
    uint32_t base = 0x40000000, r[4];

    for ( ; ; base += 0x100 )
    {
        cpuid(base, r);
        if ( r[1] == XEN_CPUID_SIGNATURE_EBX &&
             r[2] == XEN_CPUID_SIGNATURE_ECX &&
             r[3] == XEN_CPUID_SIGNATURE_EDX )
            break;
    }

    cpuid(base + 2, r);
    wrmsr(r[1], (uint64_t)hypercall_page);
    cpuid(base + 3, r);
    tsc_khz = r[2];
    cpuid(base + 4, r);
    own_domid = r[0] & XEN_HVM_CPUID_DOMID_PRESENT ? r[2] : 0;

    is_dom0 = info->flags & SIF_INITDOMAIN;
    if ( info->cmdline_paddr )
        cmdline = (const char *)info->cmdline_paddr;
}

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
    xen_init();
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
