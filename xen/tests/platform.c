/* The machine as Xen hands it over: command line, hypercalls, time, the end. */
#include "kernel.h"

#include <xen/arch-x86/cpuid.h>
#include <xen/arch-x86/hvm/start_info.h>
#include <xen/hvm/params.h>

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

void platform_init(void)
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

uint64_t hvm_param(uint32_t index)
{
    struct xen_hvm_param p = { .domid = DOMID_SELF, .index = index };

    return hypercall2(__HYPERVISOR_hvm_op, HVMOP_get_param, (unsigned long)&p)
           ? 0 : p.value;
}

/*
 * Local variables:
 * mode: C
 * c-file-style: "BSD"
 * c-basic-offset: 4
 * indent-tabs-mode: nil
 * End:
 */
