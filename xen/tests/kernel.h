/* What the files of the test kernel offer each other. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hypercall.h"
#include "layout.h"

#define ARRAY_SIZE(a)   (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)       ((a) < (b) ? (a) : (b))
#define barrier()       asm volatile ( "" ::: "memory" )
#define page_aligned    __attribute__((__aligned__(PAGE_SIZE)))
#define format(s, a)    __attribute__((__format__(__printf__, s, a)))

/* start.S */
extern uint64_t pml4[], pt_fault[];
void ap_start(void);

/* The few instructions that C has no word for */
static inline uint64_t rdtsc(void)
{
    uint32_t lo, hi;

    asm volatile ( "lfence; rdtsc" : "=a" (lo), "=d" (hi) );
    return lo | ((uint64_t)hi << 32);
}

static inline uint64_t rdmsr(uint32_t msr)
{
    uint32_t lo, hi;

    asm volatile ( "rdmsr" : "=a" (lo), "=d" (hi) : "c" (msr) );
    return lo | ((uint64_t)hi << 32);
}

static inline void wrmsr(uint32_t msr, uint64_t val)
{
    asm volatile ( "wrmsr" :: "c" (msr), "a" ((uint32_t)val),
                   "d" ((uint32_t)(val >> 32)) : "memory" );
}

static inline void cpuid(uint32_t leaf, uint32_t r[4])
{
    asm volatile ( "cpuid" : "=a" (r[0]), "=b" (r[1]), "=c" (r[2]), "=d" (r[3])
                   : "0" (leaf), "2" (0) );
}

static inline void outb(uint16_t port, uint8_t val)
{
    asm volatile ( "outb %0, %1" :: "a" (val), "Nd" (port) );
}

static inline uint8_t inb(uint16_t port)
{
    uint8_t val;

    asm volatile ( "inb %1, %0" : "=a" (val) : "Nd" (port) );
    return val;
}

static inline void outl(uint16_t port, uint32_t val)
{
    asm volatile ( "outl %0, %1" :: "a" (val), "Nd" (port) );
}

static inline uint32_t inl(uint16_t port)
{
    uint32_t val;

    asm volatile ( "inl %1, %0" : "=a" (val) : "Nd" (port) );
    return val;
}

/* platform.c */
extern bool is_dom0;
extern domid_t own_domid;
extern uint64_t tsc_khz;
void platform_init(void);
/* HVM_PARAM_*, or 0 */
uint64_t hvm_param(uint32_t index);
bool option(const char *name);
void shutdown(unsigned int reason) __attribute__((__noreturn__));

/* lib.c */
int strncmp(const char *a, const char *b, size_t n);
size_t strlen(const char *s);
const char *strstr(const char *haystack, const char *needle);
void *memset(void *s, int c, size_t n);
void *memcpy(void *d, const void *s, size_t n);
unsigned int vformat(char *buf, size_t size, const char *fmt,
                     __builtin_va_list args);
unsigned int sformat(char *buf, size_t size, const char *fmt, ...) format(3, 4);

/* console.c: one line, to every channel there is */
void console_init(void);
void console_drain(void);
void say(const char *fmt, ...) format(1, 2);
void panic(const char *fmt, ...) format(1, 2) __attribute__((__noreturn__));

/* trap.c */
#define IPI_VECTOR 0xf0
void trap_init(void);
/* IPIs that arrived, and how many did when a hypercall was to be continued */
extern volatile unsigned int ipis, continuations;

/* smp.c */
#define MAX_VCPUS 8
extern unsigned int nr_vcpus;
void smp_init(void);
void run_on(unsigned int vcpu, void (*fn)(void *), void *arg);
void join(unsigned int vcpu);
void send_ipi(unsigned int vcpu);

/* Wait, but not for ever; false means that time ran out. */
#define WAIT_FOR(cond, ms) ({                                   \
    uint64_t end_ = rdtsc() + (uint64_t)(ms) * tsc_khz;         \
    bool ok_;                                                   \
    while ( !(ok_ = !!(cond)) && rdtsc() < end_ )               \
        asm volatile ( "pause" ::: "memory" );                  \
    ok_; })

/* sysctl.c: what only the hardware domain may ask of Xen */
bool perfc_read(const char *name, uint64_t *val);
bool xen_logged(const char *text);
void xen_log_clear(void);

#endif
