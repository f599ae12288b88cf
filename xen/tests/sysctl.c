/* Xen's console ring and its performance counters, for the hardware domain. */
#include "kernel.h"

#include <xen/sysctl.h>

#define MAX_COUNTERS    1024
#define MAX_VALUES      16384

static xen_sysctl_perfc_desc_t desc[MAX_COUNTERS];
static xen_sysctl_perfc_val_t values[MAX_VALUES];
static char log[16384];
static uint32_t log_index;

/* The operations used here are older than any change of the interface. */
static int do_sysctl(xen_sysctl_t *op)
{
    static uint32_t version = XEN_SYSCTL_INTERFACE_VERSION;

    return versioned_op(__HYPERVISOR_sysctl, &op->cmd, &version);
}

/* The sum, over all CPUs, of the counter of that name. */
bool perfc_read(const char *name, uint64_t *sum)
{
    xen_sysctl_t op = {
        .cmd = XEN_SYSCTL_perfc_op,
        .u.perfc_op.cmd = XEN_SYSCTL_PERFCOP_query,
    };
    const xen_sysctl_perfc_val_t *val = values;

    if ( do_sysctl(&op) || op.u.perfc_op.nr_counters > MAX_COUNTERS ||
         op.u.perfc_op.nr_vals > MAX_VALUES )
        return false;

    set_xen_guest_handle(op.u.perfc_op.desc, desc);
    set_xen_guest_handle(op.u.perfc_op.val, values);
    if ( do_sysctl(&op) )
        return false;

    for ( unsigned int i = 0; i < op.u.perfc_op.nr_counters; ++i )
    {
        if ( !strncmp(desc[i].name, name, sizeof(desc[i].name)) )
        {
            *sum = 0;
            for ( unsigned int j = 0; j < desc[i].nr_vals; ++j )
                *sum += val[j];
            return true;
        }
        val += desc[i].nr_vals;
    }

    return false;
}

/* Reads what Xen has logged from log_index on; where the rest begins. */
static uint32_t log_read(void)
{
    xen_sysctl_t op = {
        .cmd = XEN_SYSCTL_readconsole,
        .u.readconsole = {
            .incremental = 1,
            .index = log_index,
            .count = sizeof(log) - 1,
        },
    };

    set_xen_guest_handle(op.u.readconsole.buffer, log);
    if ( do_sysctl(&op) )
        op.u.readconsole.count = 0;
    log[op.u.readconsole.count] = 0;

    return op.u.readconsole.index;
}

/* Is text in what Xen has logged since xen_log_clear()? */
void xen_log_clear(void)
{
    do {
        log_index = log_read();
    } while ( log[0] );
}

/* Read anew each time: another CPU may be in the middle of a line. */
bool xen_logged(const char *text)
{
    log_read();
    return strstr(log, text);
}
