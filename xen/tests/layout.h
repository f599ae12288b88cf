/* Addresses and processor constants that C and assembly share. */
#ifndef LAYOUT_H
#define LAYOUT_H

#define KERNEL_CS       8
#define KERNEL_DS       16

#define CR0_PE          0x00000001
#define CR0_WP          0x00010000
#define CR0_PG          0x80000000
#define CR4_PAE         0x20
#define MSR_EFER        0xc0000080
#define EFER_LME        0x100
#define EFER_LMA        0x400

#define PAGE_SHIFT      12
#define PAGE_SIZE       4096

/* Guest physical addresses behind which there is no RAM, mapped 1:1. */
#define WINDOW          0x400000000
/* FAULT_PAGES of memory, then nothing, and the same memory read-only. */
#define FAULT_VA        0x200000000
#define FAULT_PAGES     3
#define FAULT_END       (FAULT_VA + FAULT_PAGES * PAGE_SIZE)
#define FAULT_RO_VA     (FAULT_END + PAGE_SIZE)

#endif
