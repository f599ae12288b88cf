#include "edu.h"
#include "tap.h"

#define EDU_ID          0x11e81234
#define EDU_BUFFER      0x40000

#define PCI_COMMAND     0x04
#define PCI_MEMORY      0x2
#define PCI_MASTER      0x4
#define PCI_BAR0        0x10

/* 64-bit registers, by index from BAR0. */
#define DMA_SRC         (0x80 / 8)
#define DMA_DST         (0x88 / 8)
#define DMA_COUNT       (0x90 / 8)
#define DMA_COMMAND     (0x98 / 8)
#define DMA_RUN         0x1
#define DMA_TO_MEMORY   0x2

static volatile uint64_t *regs[MAX_EDU];
unsigned int nr_edu;

static uint32_t pci_read(unsigned int devfn, unsigned int reg)
{
    outl(0xcf8, 0x80000000 | (devfn << 8) | reg);
    return inl(0xcfc);
}

static void pci_write(unsigned int devfn, unsigned int reg, uint32_t val)
{
    outl(0xcf8, 0x80000000 | (devfn << 8) | reg);
    outl(0xcfc, val);
}

void edu_init(void)
{
    if ( !is_dom0 )
        return;

    for ( unsigned int devfn = 0; devfn < 256 && nr_edu < MAX_EDU; ++devfn )
    {
        if ( pci_read(devfn, 0) != EDU_ID )
            continue;

        regs[nr_edu++] = (void *)(uint64_t)(pci_read(devfn, PCI_BAR0) & ~0xf);
        pci_write(devfn, PCI_COMMAND,
                  (pci_read(devfn, PCI_COMMAND) & 0xffff) |
                  PCI_MEMORY | PCI_MASTER);
    }
}

static void start(unsigned int dev, uint64_t src, uint64_t dst, uint64_t cmd)
{
    regs[dev][DMA_SRC] = src;
    regs[dev][DMA_DST] = dst;
    regs[dev][DMA_COUNT] = EDU_COUNT;
    regs[dev][DMA_COMMAND] = cmd | DMA_RUN;
}

void edu_read(unsigned int dev, uint64_t addr)
{
    start(dev, addr, EDU_BUFFER, 0);
}

void edu_write(unsigned int dev, uint64_t addr)
{
    start(dev, EDU_BUFFER, addr, DMA_TO_MEMORY);
}

void edu_wait(void)
{
    for ( unsigned int i = 0; i < nr_edu; ++i )
        CHECK(WAIT_FOR(!(regs[i][DMA_COMMAND] & DMA_RUN), 20000),
              "edu %u does not finish", i);
}
