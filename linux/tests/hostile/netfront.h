/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frontend of one interface: its handshake with netback, grants, requests,
 * and what becomes of each. Nothing here is checked that an attack may want.
 */
#ifndef NETFRONT_H
#define NETFRONT_H

#include "xenstore.h"

#include <xen/io/netif.h>

#define SLOTS	256
#define NR_PAGES	32

/* Grant references; these are all in the first frame of the grant table. */
#define REF_PAGE(i)	(64 + (i))	/* of page i, read-only */
#define REF_NONE	200		/* an entry that grants nothing */
#define REF_STRANGER	201		/* granted to another than netback */
#define REF_NO_FRAME	202		/* of a frame that there is not */
#define REF_BEYOND	0xfffffff0u	/* no entry of any table */

/* A frame number behind which a domain as small as this has no RAM. */
#define NO_FRAME	0xfffff

/* What became of a slot. */
enum fate { NONE, OKAY, ERROR, DROPPED, NULLED, ODD };

struct vif {
	unsigned int handle;
	char backend[64];	/* its directory in xenstore */
	unsigned char mac[6];
	struct netif_tx_sring *tx;
	struct netif_rx_sring *rx;
	struct xen_netif_ctrl_sring *ctrl;
	evtchn_port_t port, ctrl_port;
	/* Requests put, and responses seen; the first of this attack. */
	RING_IDX prod, cons, first;
	enum fate fate[SLOTS];		/* by slot */
	bool is_extra[SLOTS];
	unsigned int stray;		/* responses that nobody asked for */
};

void grant(grant_ref_t ref, domid_t to, unsigned long gfn, bool readonly);
void grant_page(unsigned int i);
void revoke(grant_ref_t ref);
unsigned int grant_flags(grant_ref_t ref);
void *page(unsigned int i);
/* Of the first nr pages, those that somebody has mapped or is copying. */
unsigned int nr_in_use(unsigned int nr);

void netfront_init(domid_t backend_id);
void vif_open(struct vif *v, unsigned int handle);
/* Say something false to netback before it looks; both may be NULL. */
bool vif_connect(struct vif *v, void (*lie)(struct vif *v));
bool vif_close(struct vif *v);

/* Put a request or an extra into the next slot. */
void put(struct vif *v, grant_ref_t ref, unsigned int offset,
	 unsigned int size, unsigned int flags);
struct netif_extra_info *put_extra(struct vif *v, unsigned int type,
				   unsigned int flags);
void kick(struct vif *v);
void push(struct vif *v);
/* See what has been answered; true when all has. */
bool collect(struct vif *v);

#endif
