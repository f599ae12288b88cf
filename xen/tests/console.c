/*
 * Every line goes to Xen's console and, where there is one, to a channel of
 * its own that nobody else writes to: com2 for the hardware domain, the PV
 * console for a guest.
 */
#include "kernel.h"

#include <xen/hvm/params.h>
#include <xen/io/console.h>

#define COM2      0x2f8
#define COM_LCR   3
#define COM_LSR   5
#define LSR_THRE  0x20
#define DEBUGCONS 0xe9

static struct xencons_interface *ring;
static evtchn_port_t ring_port;

void console_init(void)
{
    if ( is_dom0 )
    {
        /* Eight bits: QEMU does not care, Bochs sends five of them otherwise. */
        outb(COM2 + COM_LCR, 3);
        return;
    }

    ring = (void *)(hvm_param(HVM_PARAM_CONSOLE_PFN) << PAGE_SHIFT);
    ring_port = hvm_param(HVM_PARAM_CONSOLE_EVTCHN);
}

static void com2_write(const char *s, unsigned int len)
{
    while ( len-- )
    {
        if ( !WAIT_FOR(inb(COM2 + COM_LSR) & LSR_THRE, 100) )
            return;
        outb(COM2, *s++);
    }
}

static void ring_write(const char *s, unsigned int len)
{
    struct evtchn_send send = { .port = ring_port };

    while ( len-- )
    {
        volatile struct xencons_interface *r = ring;

        if ( !WAIT_FOR(r->out_prod - r->out_cons < sizeof(r->out), 1000) )
            return;
        r->out[MASK_XENCONS_IDX(r->out_prod, r->out)] = *s++;
        barrier();
        ++r->out_prod;
    }
    hypercall2(__HYPERVISOR_event_channel_op, EVTCHNOP_send,
               (unsigned long)&send);
}

/* Before the end of the domain, let the other side read what is written. */
void console_drain(void)
{
    volatile struct xencons_interface *r = ring;

    if ( r )
        WAIT_FOR(r->out_prod == r->out_cons, 5000);
}

static void write(const char *s, unsigned int len)
{
    /* A release build of Xen has no console for guests, but this port. */
    if ( console_io(CONSOLEIO_write, len, s) < 0 )
        for ( unsigned int i = 0; i < len; ++i )
            outb(DEBUGCONS, s[i]);

    if ( is_dom0 )
        com2_write(s, len);
    else if ( ring )
        ring_write(s, len);
}

static void vsay(const char *fmt, __builtin_va_list args)
{
    static volatile bool lock;
    char line[240];
    unsigned int len = vformat(line, sizeof(line) - 1, fmt, args);

    line[len++] = '\n';

    while ( __atomic_exchange_n(&lock, true, __ATOMIC_ACQUIRE) )
        asm volatile ( "pause" );
    write(line, len);
    __atomic_store_n(&lock, false, __ATOMIC_RELEASE);
}

void say(const char *fmt, ...)
{
    __builtin_va_list args;

    __builtin_va_start(args, fmt);
    vsay(fmt, args);
    __builtin_va_end(args);
}

void panic(const char *fmt, ...)
{
    __builtin_va_list args;

    __builtin_va_start(args, fmt);
    vsay(fmt, args);
    __builtin_va_end(args);

    say("Bail out!");
    shutdown(SHUTDOWN_crash);
}
