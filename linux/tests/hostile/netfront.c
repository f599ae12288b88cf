// SPDX-License-Identifier: GPL-2.0
#include "netfront.h"

#define STATE_INITIALISING	1
#define STATE_INIT_WAIT		2
#define STATE_CONNECTED		4
#define STATE_CLOSING		5
#define STATE_CLOSED		6
#define STATE_TIMEOUT		30000 /* ms */

#define REF_RINGS	8 /* of vif n: Tx, Rx and control from 8 + 4n */
#define MAX_VIFS	2

static grant_entry_v1_t *const table = (void *)WINDOW;
static unsigned char pages[NR_PAGES][PAGE_SIZE] page_aligned;
static unsigned char rings[MAX_VIFS][3][PAGE_SIZE] page_aligned;
static unsigned int nr_vifs;
static domid_t backend; /* the domain that netback is in */

void grant(grant_ref_t ref, domid_t to, unsigned long gfn, bool readonly)
{
	table[ref].domid = to;
	table[ref].frame = gfn;
	barrier();
	WRITE(table[ref].flags, GTF_permit_access |
				(readonly ? GTF_readonly : 0));
}

static unsigned long gfn(const void *p)
{
	return (unsigned long)p >> PAGE_SHIFT;
}

void grant_page(unsigned int i)
{
	grant(REF_PAGE(i), backend, gfn(pages[i]), true);
}

void revoke(grant_ref_t ref)
{
	WRITE(table[ref].flags, 0);
}

unsigned int grant_flags(grant_ref_t ref)
{
	return READ(table[ref].flags);
}

void *page(unsigned int i)
{
	return pages[i];
}

unsigned int nr_in_use(unsigned int nr)
{
	unsigned int used = 0;

	for (unsigned int i = 0; i < nr; i++)
		used += !!(grant_flags(REF_PAGE(i)) & GTF_reading);
	return used;
}

void netfront_init(domid_t backend_id)
{
	struct xen_add_to_physmap add = {
		.domid = DOMID_SELF,
		.space = XENMAPSPACE_grant_table,
		.gpfn = WINDOW >> PAGE_SHIFT,
	};
	long rc = memory_op(XENMEM_add_to_physmap, &add);

	if (rc)
		panic("# grant table: %ld", rc);
	backend = backend_id;
	for (unsigned int i = 0; i < NR_PAGES; i++)
		grant_page(i);
	grant(REF_STRANGER, backend + 999, gfn(pages[0]), true);
	grant(REF_NO_FRAME, backend, NO_FRAME, true);
}

static evtchn_port_t new_port(void)
{
	struct evtchn_alloc_unbound alloc = {
		.dom = DOMID_SELF,
		.remote_dom = backend,
	};

	if (hypercall2(__HYPERVISOR_event_channel_op, EVTCHNOP_alloc_unbound,
		       (unsigned long)&alloc))
		panic("# no event channel");
	return alloc.port;
}

static void close_port(evtchn_port_t port)
{
	struct evtchn_close close = { .port = port };

	hypercall2(__HYPERVISOR_event_channel_op, EVTCHNOP_close,
		   (unsigned long)&close);
}

static const char *node(const struct vif *v, const char *name)
{
	static char path[80];

	sformat(path, sizeof(path), "device/vif/%u/%s", v->handle, name);
	return path;
}

static int vif_state(struct vif *v)
{
	char path[80];

	sformat(path, sizeof(path), "%s/state", v->backend);
	return xs_number(path);
}

static bool backend_gets(struct vif *v, int state)
{
	return AWAIT(vif_state(v) == state, STATE_TIMEOUT);
}

static void set_state(struct vif *v, int state)
{
	xs_write(node(v, "state"), "%d", state);
}

static unsigned int hex(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

void vif_open(struct vif *v, unsigned int handle)
{
	unsigned int n = nr_vifs++;
	char mac[20];

	v->handle = handle;
	v->tx = (void *)rings[n][0];
	v->rx = (void *)rings[n][1];
	v->ctrl = (void *)rings[n][2];
	for (unsigned int i = 0; i < ARRAY_SIZE(rings[n]); i++)
		grant(REF_RINGS + 4 * n + i, backend, gfn(rings[n][i]), false);

	if (!xs_read(node(v, "backend"), v->backend, sizeof(v->backend)) ||
	    !xs_read(node(v, "mac"), mac, sizeof(mac)))
		panic("# vif %u is not there", handle);
	for (unsigned int i = 0; i < sizeof(v->mac); i++)
		v->mac[i] = hex(mac[3 * i]) << 4 | hex(mac[3 * i + 1]);
}

bool vif_connect(struct vif *v, void (*lie)(struct vif *v))
{
	unsigned int ref = REF_RINGS + 4 * (gfn(v->tx) - gfn(rings)) / 3;

	if (!backend_gets(v, STATE_INIT_WAIT))
		return false;

	memset(v->tx, 0, PAGE_SIZE);
	memset(v->rx, 0, PAGE_SIZE);
	memset(v->ctrl, 0, PAGE_SIZE);
	v->prod = 0;
	v->cons = 0;
	v->first = 0;
	v->stray = 0;
	v->port = new_port();
	v->ctrl_port = new_port();

	xs_write(node(v, "tx-ring-ref"), "%u", ref);
	xs_write(node(v, "rx-ring-ref"), "%u", ref + 1);
	xs_write(node(v, "event-channel"), "%u", v->port);
	xs_write(node(v, "ctrl-ring-ref"), "%u", ref + 2);
	xs_write(node(v, "event-channel-ctrl"), "%u", v->ctrl_port);
	xs_write(node(v, "multi-queue-num-queues"), "1");
	xs_write(node(v, "request-rx-copy"), "1");
	xs_write(node(v, "feature-sg"), "1");
	xs_write(node(v, "feature-gso-tcpv4"), "1");
	if (lie)
		lie(v);
	set_state(v, STATE_CONNECTED);

	return backend_gets(v, STATE_CONNECTED);
}

bool vif_close(struct vif *v)
{
	bool closed;

	set_state(v, STATE_CLOSING);
	AWAIT(vif_state(v) >= STATE_CLOSING, STATE_TIMEOUT);
	set_state(v, STATE_CLOSED);
	closed = backend_gets(v, STATE_CLOSED);
	close_port(v->port);
	close_port(v->ctrl_port);
	set_state(v, STATE_INITIALISING);
	return closed;
}

static void next_slot(struct vif *v, bool is_extra)
{
	v->fate[v->prod % SLOTS] = NONE;
	v->is_extra[v->prod++ % SLOTS] = is_extra;
}

/* An id is the number of the request: netback is not to make one up. */
void put(struct vif *v, grant_ref_t ref, unsigned int offset,
	 unsigned int size, unsigned int flags)
{
	v->tx->ring[v->prod % SLOTS].req = (struct netif_tx_request) {
		.gref = ref,
		.offset = offset,
		.flags = flags,
		.id = v->prod,
		.size = size,
	};
	next_slot(v, false);
}

struct netif_extra_info *put_extra(struct vif *v, unsigned int type,
				   unsigned int flags)
{
	struct netif_extra_info *extra =
		(void *)&v->tx->ring[v->prod % SLOTS];

	memset(extra, 0, sizeof(*extra));
	extra->type = type;
	extra->flags = flags;
	next_slot(v, true);
	return extra;
}

void kick(struct vif *v)
{
	struct evtchn_send send = { .port = v->port };

	hypercall2(__HYPERVISOR_event_channel_op, EVTCHNOP_send,
		   (unsigned long)&send);
}

void push(struct vif *v)
{
	barrier();
	v->tx->req_prod = v->prod;
	kick(v);
}

static enum fate fate_of(int status)
{
	switch (status) {
	case NETIF_RSP_OKAY:
		return OKAY;
	case NETIF_RSP_ERROR:
		return ERROR;
	case NETIF_RSP_DROPPED:
		return DROPPED;
	case NETIF_RSP_NULL:
		return NULLED;
	default:
		return ODD;
	}
}

/* May the request in that slot be answered so, and has it not been yet? */
static bool awaits(struct vif *v, RING_IDX at, bool extra)
{
	return !v->fate[at % SLOTS] && v->is_extra[at % SLOTS] == extra;
}

/* A response names its request by id; one for an extra slot has none. */
static void take(struct vif *v, const struct netif_tx_response *rsp)
{
	bool extra = rsp->status == NETIF_RSP_NULL;
	RING_IDX at = v->prod - (unsigned short)(v->prod - rsp->id);

	if (extra)
		for (at = v->first; at != v->prod; at++)
			if (awaits(v, at, true))
				break;
	if (v->prod - at - 1 < SLOTS && awaits(v, at, extra))
		v->fate[at % SLOTS] = fate_of(rsp->status);
	else
		v->stray++;
}

bool collect(struct vif *v)
{
	RING_IDX prod = READ(v->tx->rsp_prod);

	barrier();
	if (prod - v->cons > SLOTS) /* nonsense, of either side */
		return false;
	while (v->cons != prod)
		take(v, &v->tx->ring[v->cons++ % SLOTS].rsp);
	return v->cons == v->prod;
}
