/* SPDX-License-Identifier: GPL-2.0 */
/* The guest's side of xenstore; paths are relative to the domain's own. */
#ifndef XENSTORE_H
#define XENSTORE_H

#include "kernel.h"

/* What another domain writes, or reads */
#define READ(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE(x, val)	__atomic_store_n(&(x), val, __ATOMIC_RELAXED)

/* Give way to other domains while there is nothing to do. */
static inline void relax(void)
{
	sched_op(SCHEDOP_yield, NULL);
}

/* WAIT_FOR() of kernel.h, for waits in which another domain has to act. */
#define AWAIT(cond, ms) WAIT_FOR((cond) || (relax(), false), ms)

void xs_init(void);
/* false: there is no such node, or it is not for this domain to see. */
bool xs_read(const char *path, char *value, size_t size);
long xs_number(const char *path); /* -1 where there is none */
void xs_write(const char *path, const char *fmt, ...) format(2, 3);
void xs_remove(const char *path);

#endif
