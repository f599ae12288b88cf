/* QEMU's `edu` PCI device, which copies between its buffer and any address. */
#ifndef EDU_H
#define EDU_H

#include "kernel.h"

#define MAX_EDU         4
#define EDU_COUNT       8       /* bytes a transfer, one word of a page */

extern unsigned int nr_edu;

void edu_init(void);
/* Start one transfer on device `dev`; edu_wait() waits for all of them. */
void edu_read(unsigned int dev, uint64_t addr);     /* memory to buffer */
void edu_write(unsigned int dev, uint64_t addr);    /* buffer to memory */
void edu_wait(void);

#endif
