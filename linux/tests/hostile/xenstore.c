// SPDX-License-Identifier: GPL-2.0
#include "xenstore.h"

#include <xen/hvm/params.h>
#include <xen/io/xs_wire.h>

#define XS_TIMEOUT 30000 /* ms */

static struct xenstore_domain_interface *ring;
static evtchn_port_t ring_port;

void xs_init(void)
{
	ring = (void *)(hvm_param(HVM_PARAM_STORE_PFN) << PAGE_SHIFT);
	ring_port = hvm_param(HVM_PARAM_STORE_EVTCHN);
}

static void notify(void)
{
	struct evtchn_send send = { .port = ring_port };

	hypercall2(__HYPERVISOR_event_channel_op, EVTCHNOP_send,
		   (unsigned long)&send);
}

static void put(const void *data, size_t len)
{
	for (const char *c = data; len--; c++) {
		if (!AWAIT(ring->req_prod - READ(ring->req_cons) <
			   sizeof(ring->req), XS_TIMEOUT))
			panic("# xenstore takes no requests");
		ring->req[MASK_XENSTORE_IDX(ring->req_prod)] = *c;
		barrier();
		WRITE(ring->req_prod, ring->req_prod + 1);
	}
}

static void get(void *data, size_t len)
{
	for (char *c = data; len--; c++) {
		if (READ(ring->rsp_prod) == ring->rsp_cons)
			notify(); /* there is room for more */
		if (!AWAIT(READ(ring->rsp_prod) != ring->rsp_cons, XS_TIMEOUT))
			panic("# xenstore does not answer");
		*c = ring->rsp[MASK_XENSTORE_IDX(ring->rsp_cons)];
		barrier();
		WRITE(ring->rsp_cons, ring->rsp_cons + 1);
	}
}

/* The reply, cut to size and terminated, in reply; false if it is an error. */
static bool call(unsigned int type, const char *path, const char *value,
		 char *reply, size_t size)
{
	size_t path_len = strlen(path) + 1, len = value ? strlen(value) : 0;
	struct xsd_sockmsg msg = { .type = type, .len = path_len + len };
	char c;

	put(&msg, sizeof(msg));
	put(path, path_len);
	put(value, len);
	notify();

	get(&msg, sizeof(msg));
	for (size_t i = 0; i < msg.len; i++) {
		get(&c, 1);
		if (i + 1 < size)
			reply[i] = c;
	}
	reply[MIN(msg.len, size - 1)] = 0;

	return msg.type == type;
}

bool xs_read(const char *path, char *value, size_t size)
{
	return call(XS_READ, path, NULL, value, size);
}

long xs_number(const char *path)
{
	char value[24];
	long n = 0;

	if (!xs_read(path, value, sizeof(value)) || !value[0])
		return -1;
	for (const char *c = value; *c; c++) {
		if (*c < '0' || *c > '9')
			return -1;
		n = n * 10 + *c - '0';
	}
	return n;
}

void xs_write(const char *path, const char *fmt, ...)
{
	char value[400], reply[32];
	__builtin_va_list args;

	__builtin_va_start(args, fmt);
	vformat(value, sizeof(value), fmt, args);
	__builtin_va_end(args);

	if (!call(XS_WRITE, path, value, reply, sizeof(reply)))
		panic("# xenstore: %s = %s: %s", path, value, reply);
}

void xs_remove(const char *path)
{
	char reply[32];

	call(XS_RM, path, NULL, reply, sizeof(reply));
}
