/* Further vCPUs: started by hypercall, then given functions to run. */
#include "kernel.h"

#include <xen/hvm/hvm_vcpu.h>

#define MSR_APIC_BASE   0x1b
#define APIC_EXTD       0x400
#define X2APIC_ID       0x802
#define X2APIC_SVR      0x80f
#define X2APIC_ICR      0x830

static struct vcpu {
    void (*volatile fn)(void *);
    void *arg;
    uint32_t apic_id;
    volatile bool up;
    uint8_t stack[16384] __attribute__((__aligned__(16)));
} vcpus[MAX_VCPUS];

unsigned int nr_vcpus = 1;

static void apic_init(struct vcpu *v)
{
    wrmsr(MSR_APIC_BASE, rdmsr(MSR_APIC_BASE) | APIC_EXTD);
    wrmsr(X2APIC_SVR, 0x1ff);
    v->apic_id = rdmsr(X2APIC_ID);
}

void send_ipi(unsigned int vcpu)
{
    wrmsr(X2APIC_ICR, ((uint64_t)vcpus[vcpu].apic_id << 32) | IPI_VECTOR);
}

void ap_main(unsigned long id)
{
    struct vcpu *v = &vcpus[id];

    trap_init();
    apic_init(v);
    v->up = true;

    for ( ; ; )
    {
        if ( v->fn )
        {
            v->fn(v->arg);
            __atomic_store_n(&v->fn, NULL, __ATOMIC_RELEASE);
        }
        else
            asm volatile ( "sti; hlt; cli" ::: "memory" );
    }
}

void run_on(unsigned int vcpu, void (*fn)(void *), void *arg)
{
    struct vcpu *v = &vcpus[vcpu];

    v->arg = arg;
    __atomic_store_n(&v->fn, fn, __ATOMIC_RELEASE);
    send_ipi(vcpu);
}

void join(unsigned int vcpu)
{
    if ( !WAIT_FOR(!vcpus[vcpu].fn, 60000) )
        panic("# vCPU %u does not come back", vcpu);
}

void smp_init(void)
{
    apic_init(&vcpus[0]);

    for ( ; nr_vcpus < MAX_VCPUS; ++nr_vcpus )
    {
        struct vcpu *v = &vcpus[nr_vcpus];
        struct vcpu_hvm_context ctx = {
            .mode = VCPU_HVM_MODE_64B,
            .cpu_regs.x86_64 = {
                .rsp = (uint64_t)v->stack + sizeof(v->stack) - 8,
                .rip = (uint64_t)ap_start,
                .rdi = nr_vcpus,
                .rflags = 2,
                .cr0 = CR0_PG | CR0_WP | CR0_PE,
                .cr3 = (uint64_t)pml4,
                .cr4 = CR4_PAE,
                .efer = EFER_LME | EFER_LMA,
            },
        };

        if ( vcpu_op(VCPUOP_initialise, nr_vcpus, &ctx) )
            break; /* no vCPU of that number */
        if ( vcpu_op(VCPUOP_up, nr_vcpus, NULL) ||
             !WAIT_FOR(v->up, 20000) )
            panic("# vCPU %u does not start", nr_vcpus);
    }
}
