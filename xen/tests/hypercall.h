/* Hypercalls, through the page of stubs that Xen fills in. */
#ifndef HYPERCALL_H
#define HYPERCALL_H

#include <stdint.h>

#include <xen/xen.h>
#include <xen/errno.h>
#include <xen/event_channel.h>
#include <xen/grant_table.h>
#include <xen/hvm/hvm_op.h>
#include <xen/memory.h>
#include <xen/sched.h>
#include <xen/vcpu.h>

extern char hypercall_page[];

static inline long hypercall3(unsigned int nr, unsigned long a,
                              unsigned long b, unsigned long c)
{
    long ret;

    asm volatile ( "call *%[stub]"
                   : "=a" (ret), "+D" (a), "+S" (b), "+d" (c)
                   : [stub] "r" (hypercall_page + nr * 32)
                   : "memory", "r10", "r8" );

    return ret;
}

#define hypercall2(nr, a, b) hypercall3(nr, a, b, 0)
#define hypercall1(nr, a)    hypercall3(nr, a, 0, 0)

static inline long grant_table_op(unsigned int cmd, void *ops,
                                  unsigned int count)
{
    return hypercall3(__HYPERVISOR_grant_table_op, cmd, (unsigned long)ops,
                      count);
}

static inline long memory_op(unsigned int cmd, void *arg)
{
    return hypercall2(__HYPERVISOR_memory_op, cmd, (unsigned long)arg);
}

static inline long vcpu_op(unsigned int cmd, unsigned int vcpu, void *arg)
{
    return hypercall3(__HYPERVISOR_vcpu_op, cmd, vcpu, (unsigned long)arg);
}

static inline long sched_op(unsigned int cmd, void *arg)
{
    return hypercall2(__HYPERVISOR_sched_op, cmd, (unsigned long)arg);
}

static inline long console_io(unsigned int cmd, unsigned int count,
                              const char *buf)
{
    return hypercall3(__HYPERVISOR_console_io, cmd, count, (unsigned long)buf);
}

/*
 * Sysctls and domctls: the second word is the version of the interface, which
 * is the one of the headers or one of a newer Xen.
 */
static inline long versioned_op(unsigned int nr, uint32_t *op,
                                uint32_t *version)
{
    for ( unsigned int tries = 16; ; ++*version )
    {
        long rc;

        op[1] = *version;
        rc = hypercall1(nr, (unsigned long)op);
        if ( rc != -XEN_EACCES || !--tries )
            return rc;
    }
}

#endif
