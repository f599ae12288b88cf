/* Exceptions, which end the run, and the one interrupt there is. */
#include "kernel.h"

struct frame {
    uint64_t r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax;
    uint64_t vector, error_code, rip, cs, rflags, rsp, ss;
};

struct gate {
    uint16_t offset0, selector, type, offset1;
    uint32_t offset2, pad;
};

extern char trap_stubs[];

volatile unsigned int ipis, continuations;

static struct gate idt[256];

void do_trap(const struct frame *f)
{
    uint64_t cr2;

    if ( f->vector == IPI_VECTOR )
    {
        /*
         * A hypercall that Xen cut short leaves the instruction pointer at
         * its instruction, for the interrupt to return to.
         */
        if ( f->rip - (uint64_t)hypercall_page < PAGE_SIZE &&
             *(uint8_t *)f->rip == 0x0f )
            ++continuations;
        ++ipis;
        wrmsr(0x80b, 0); /* EOI */
        return;
    }

    asm volatile ( "mov %%cr2, %0" : "=r" (cr2) );
    panic("# vector %lu, error code %lx, at %lx, cr2 %lx", f->vector,
          f->error_code, f->rip, cr2);
}

void trap_init(void)
{
    const struct {
        uint16_t limit;
        void *base;
    } __attribute__((__packed__)) desc = { sizeof(idt) - 1, idt };

    for ( unsigned int i = 0; i < ARRAY_SIZE(idt); ++i )
    {
        uint64_t stub = (uint64_t)trap_stubs + i * 16;

        idt[i] = (struct gate) {
            .offset0 = stub,
            .selector = KERNEL_CS,
            .type = 0x8e00,
            .offset1 = stub >> 16,
            .offset2 = stub >> 32,
        };
    }

    asm volatile ( "lidt %0" :: "m" (desc) );
}
