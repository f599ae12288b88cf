// SPDX-License-Identifier: GPL-2.0
/* What a frontend may do to netback. What is to come of each: run-hostile. */
#include "attacks.h"

#define MORE	NETTXF_more_data
#define WITH	NETTXF_extra_info
#define CHAIN	XEN_NETIF_EXTRA_FLAG_MORE

/* A packet of nr slots, of size bytes each; the first says the size of all. */
static void packet(struct vif *v, unsigned int nr, unsigned int size,
		   unsigned int flags)
{
	for (unsigned int i = 0; i < nr; i++)
		put(v, REF_PAGE(i % NR_PAGES), 0, i ? size : nr * size,
		    flags | (i + 1 < nr ? MORE : 0));
}

/* Slot n of the attack, counted from its first, before it is pushed. */
static struct netif_tx_request *slot(struct vif *v, unsigned int n)
{
	return &v->tx->ring[(v->first + n) % SLOTS].req;
}

static void put_gso(struct vif *v, unsigned int type, unsigned int size)
{
	struct netif_extra_info *extra =
		put_extra(v, XEN_NETIF_EXTRA_TYPE_GSO, 0);

	extra->u.gso.type = type;
	extra->u.gso.size = size;
}

/* What netback has to bear without complaint */

static void small(struct vif *v)
{
	packet(v, 1, 100, 0);
}

static void large(struct vif *v)
{
	packet(v, 1, PAGE_SIZE, 0);
}

static void slots_18(struct vif *v)
{
	packet(v, 18, 3600, 0);
}

static void slots_19(struct vif *v)
{
	packet(v, 19, 3400, 0);
}

static void full_ring(struct vif *v)
{
	for (unsigned int i = 0; i < SLOTS / 4; i++)
		packet(v, 4, PAGE_SIZE - 1, 0);
}

static void same_ref(struct vif *v)
{
	packet(v, 18, 3600, 0);
	for (unsigned int i = 0; i < 18; i++)
		slot(v, i)->gref = REF_PAGE(0);
}

/* Grants */

static void bad_ref(struct vif *v)
{
	put(v, REF_NONE, 0, 100, 0);
}

static void bad_ref_large(struct vif *v)
{
	put(v, REF_NONE, 0, 4000, 0);
}

static void bad_ref_beyond(struct vif *v)
{
	put(v, REF_BEYOND, 0, 4000, 0);
}

static void bad_ref_stranger(struct vif *v)
{
	put(v, REF_STRANGER, 0, 4000, 0);
}

static void bad_ref_no_frame(struct vif *v)
{
	put(v, REF_NO_FRAME, 0, 4000, 0);
}

static void bad_ref_first(struct vif *v)
{
	packet(v, 3, 3000, 0);
	slot(v, 0)->gref = REF_NONE;
}

static void bad_ref_middle(struct vif *v)
{
	packet(v, 3, 3000, 0);
	slot(v, 1)->gref = REF_NONE;
}

static void bad_ref_all(struct vif *v)
{
	packet(v, 18, 3600, 0);
	for (unsigned int i = 0; i < 18; i++)
		slot(v, i)->gref = REF_NONE;
}

static void bad_ref_last_of_19(struct vif *v)
{
	packet(v, 19, 3400, 0);
	slot(v, 18)->gref = REF_NONE;
}

/* The packets beside it have to fare well. */
static void bad_ref_among_good(struct vif *v)
{
	for (unsigned int i = 0; i < 8; i++) {
		packet(v, 2, 3000, 0);
		if (i % 4 == 3)
			slot(v, 2 * i + 1)->gref = REF_NONE;
	}
}

static void revoked_early(struct vif *v)
{
	revoke(REF_PAGE(1));
	packet(v, 3, 3000, 0);
	push(v);
	settle(v);
	grant_page(1);
}

/*
 * The packet waits in the peer's interface, which has no slot for it, until
 * netback gives up; by then its grants have been made to say something else.
 */
static void revoked_mapped(struct vif *v)
{
	/* TCP, as no other packet of this size would be forwarded */
	static const unsigned char ip_tcp[40] = {
		0x45, [2] = 0x5d, 0xb2, [8] = 64, 6,
		[12] = 10, 0, 0, 1, [16] = 10, 0, 0, 2, [32] = 0x50, 0x10,
	};
	const unsigned int nr = 8;
	unsigned char saved[54];
	unsigned int held;

	memcpy(saved, page(0), sizeof(saved));
	memcpy(page(0), peer.mac, sizeof(peer.mac));
	memcpy(page(0) + 12, "\x08\x00", 2);
	memcpy(page(0) + 14, ip_tcp, sizeof(ip_tcp));
	put(v, REF_PAGE(0), 0, nr * 3000, MORE | WITH | NETTXF_csum_blank);
	put_gso(v, XEN_NETIF_GSO_TYPE_TCPV4, 1448);
	for (unsigned int i = 1; i < nr; i++)
		put(v, REF_PAGE(i), 0, 3000, i + 1 < nr ? MORE : 0);
	push(v);
	WAIT_FOR(nr_in_use(nr) == nr, 2000);
	WAIT_FOR(false, 500);
	held = nr_in_use(nr);
	for (unsigned int i = 0; i < nr; i++)
		revoke(REF_PAGE(i));
	/* These may as well have been copied, and be long answered. */
	note(held == nr ? "held" : held ? "held in part" : "not held");
	if (!settle(v))
		note("never answered");
	for (unsigned int i = 0; i < nr; i++)
		if (grant_flags(REF_PAGE(i)))
			note("page %u has got flags", i);
	for (unsigned int i = 0; i < nr; i++)
		grant_page(i);
	memcpy(page(0), saved, sizeof(saved));
}

/* Whichever wins, each has to be answered. */
static void revoked_racing(struct vif *v)
{
	unsigned int unanswered = 0, in_time = 0;

	for (unsigned int i = 0; i < 200; i++) {
		v->first = v->prod;
		packet(v, 4, 3000, 0);
		push(v);
		WAIT_FOR(nr_in_use(4) || collect(v), 2000);
		in_time += !!nr_in_use(4);
		for (unsigned int j = 0; j < 4; j++)
			revoke(REF_PAGE(j));
		unanswered += !settle(v);
		for (unsigned int j = 0; j < 4; j++)
			grant_page(j);
	}
	say("# revoked-racing: %u of 200 while in use", in_time);
	v->first = v->prod; /* their fates are anybody's */
	note(unanswered ? "some unanswered" : "all answered");
}

/* Lengths */

static void cross_page(struct vif *v)
{
	put(v, REF_PAGE(0), PAGE_SIZE - 96, 200, 0);
}

static void cross_page_frag(struct vif *v)
{
	packet(v, 3, 3000, 0);
	slot(v, 1)->offset = PAGE_SIZE - 2999;
}

static void offset_beyond(struct vif *v)
{
	put(v, REF_PAGE(0), PAGE_SIZE + 1, 60, 0);
}

static void size_max(struct vif *v)
{
	put(v, REF_PAGE(0), 0, 0xffff, 0);
}

static void size_0(struct vif *v)
{
	put(v, REF_PAGE(0), 0, 0, 0);
}

static void size_13(struct vif *v)
{
	put(v, REF_PAGE(0), 0, 13, 0);
}

static void first_is_0(struct vif *v)
{
	packet(v, 3, 3000, 0);
	slot(v, 0)->size = 6000;
}

static void frag_0(struct vif *v)
{
	packet(v, 3, 3000, 0);
	slot(v, 0)->size = 6000;
	slot(v, 1)->size = 0;
}

static void frag_0_bad_ref(struct vif *v)
{
	frag_0(v);
	slot(v, 1)->gref = REF_NONE;
}

static void frags_all_0(struct vif *v)
{
	packet(v, 18, 0, 0);
	slot(v, 0)->size = 1000;
}

static void last_of_19_is_0(struct vif *v)
{
	packet(v, 19, 3400, 0);
	slot(v, 18)->size = 0;
	slot(v, 0)->size = 18 * 3400;
}

static void frag_too_large(struct vif *v)
{
	packet(v, 3, 3000, 0);
	slot(v, 0)->size = 4000;
}

/* Slots */

static void slots_20(struct vif *v)
{
	packet(v, 20, 3200, 0);
}

static void slots_21(struct vif *v)
{
	packet(v, 21, 3100, 0);
}

static void slots_22(struct vif *v)
{
	packet(v, 22, 2900, 0);
}

static void slots_256(struct vif *v)
{
	packet(v, SLOTS, 250, 0);
}

static void unfinished(struct vif *v)
{
	put(v, REF_PAGE(0), 0, 4000, MORE);
}

/* Extras */

static void extra_chain(struct vif *v)
{
	put(v, REF_PAGE(0), 0, 1000, WITH);
	for (unsigned int i = 0; i < 10; i++)
		put_extra(v, XEN_NETIF_EXTRA_TYPE_HASH, i < 9 ? CHAIN : 0);
}

static void extra_missing(struct vif *v)
{
	put(v, REF_PAGE(0), 0, 1000, WITH);
}

static void extra_endless(struct vif *v)
{
	put(v, REF_PAGE(0), 0, 1000, WITH);
	for (unsigned int i = 1; i < SLOTS; i++)
		put_extra(v, XEN_NETIF_EXTRA_TYPE_HASH, CHAIN);
}

static void extra_type_0(struct vif *v)
{
	put(v, REF_PAGE(0), 0, 1000, WITH);
	put_extra(v, XEN_NETIF_EXTRA_TYPE_NONE, 0);
}

static void extra_type_255(struct vif *v)
{
	put(v, REF_PAGE(0), 0, 1000, WITH);
	put_extra(v, 0xff, 0);
}

/* On a packet that goes wrong for another reason, too. */
static void extra_and_bad_ref(struct vif *v)
{
	put(v, REF_NONE, 0, 4000, WITH);
	put_extra(v, XEN_NETIF_EXTRA_TYPE_HASH, CHAIN);
	put_extra(v, XEN_NETIF_EXTRA_TYPE_HASH, 0);
}

static void gso(struct vif *v, unsigned int type, unsigned int size)
{
	put(v, REF_PAGE(0), 0, 4000, WITH | NETTXF_csum_blank);
	put_gso(v, type, size);
}

static void gso_size_0(struct vif *v)
{
	gso(v, XEN_NETIF_GSO_TYPE_TCPV4, 0);
}

static void gso_type_bad(struct vif *v)
{
	gso(v, 77, 1448);
}

static void gso_not_tcp(struct vif *v)
{
	gso(v, XEN_NETIF_GSO_TYPE_TCPV4, 1448);
}

static void csum_of_junk(struct vif *v)
{
	packet(v, 3, 3000, NETTXF_csum_blank);
}

/* One address more than netback remembers. */
static void multicast(struct vif *v)
{
	unsigned int added = 0, refused = 0;

	for (unsigned int i = 0; i < 65; i++) {
		put(v, REF_PAGE(0), 0, 100, WITH);
		put_extra(v, XEN_NETIF_EXTRA_TYPE_MCAST_ADD, 0)
			->u.mcast.addr[5] = i;
	}
	push(v);
	settle(v);
	for (; v->first != v->prod; v->first += 2) {
		added += v->fate[v->first % SLOTS] == OKAY;
		refused += v->fate[v->first % SLOTS] == ERROR;
	}
	note("added %u, refused %u", added, refused);
}

/* The ring's indices */

static void forge(struct vif *v, RING_IDX req_prod)
{
	put(v, REF_PAGE(0), 0, 1000, 0);
	barrier();
	v->tx->req_prod = req_prod;
	kick(v);
	settle(v);
}

static void ahead(struct vif *v)
{
	forge(v, v->prod + 1 + SLOTS);
}

static void ahead_half(struct vif *v)
{
	forge(v, v->prod + 0x80000000u);
}

static void rewound(struct vif *v)
{
	forge(v, v->prod - 1);
}

static void rewound_all(struct vif *v)
{
	forge(v, v->prod - SLOTS - 1);
}

/* Netback's own index, which it is not to believe what it reads of. */
static void rsp_prod_changed(struct vif *v)
{
	v->tx->rsp_prod += 1000;
	put(v, REF_PAGE(0), 0, 1000, 0);
	push(v);
	settle(v);
}

static void reconnect_after(struct vif *v)
{
	forge(v, v->prod + 1 + SLOTS);
	if (alive(v))
		note("not shut");
	if (!vif_close(v) || !vif_connect(v, NULL))
		note("no reconnection");
}

/* A good frontend closes, and connects again, with all of it in flight. */
static void reconnect_busy(struct vif *v)
{
	for (unsigned int i = 0; i < 5; i++) {
		full_ring(v);
		push(v);
		if (!vif_close(v) || !vif_connect(v, NULL))
			note("no reconnection %u", i);
	}
}

/* The handshake: netback is told something false, and then the truth. */
static void lie(struct vif *v, void (*how)(struct vif *v))
{
	if (!vif_close(v))
		note("not closed");
	vif_connect(v, how);
	put(v, REF_PAGE(0), 0, 1000, 0);
	push(v);
	note(AWAIT(collect(v), 5000) ? "believed" : "not connected");
	if (!vif_close(v) || !vif_connect(v, NULL))
		note("no reconnection");
}

static void bad_ring_ref(struct vif *v)
{
	xs_write("device/vif/66/tx-ring-ref", "%u", REF_NONE);
}

static void full_before(struct vif *v)
{
	v->tx->req_prod = SLOTS + 1;
}

static void many_queues(struct vif *v)
{
	xs_write("device/vif/66/multi-queue-num-queues", "1000");
}

static void bad_port(struct vif *v)
{
	xs_write("device/vif/66/event-channel", "%u", 4000);
}

static void lie_ring_ref(struct vif *v)
{
	lie(v, bad_ring_ref);
}

static void lie_full(struct vif *v)
{
	lie(v, full_before);
}

static void lie_queues(struct vif *v)
{
	lie(v, many_queues);
}

static void lie_port(struct vif *v)
{
	lie(v, bad_port);
}

/* The control ring */

static void control_ring(struct vif *v)
{
	static const struct xen_netif_ctrl_request requests[] = {
		{ .type = XEN_NETIF_CTRL_TYPE_INVALID },
		{ .type = 99 },
		{ .type = XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM,
		  .data = { 7 } },
		{ .type = XEN_NETIF_CTRL_TYPE_SET_HASH_ALGORITHM,
		  .data = { XEN_NETIF_CTRL_HASH_ALGORITHM_TOEPLITZ } },
		{ .type = XEN_NETIF_CTRL_TYPE_SET_HASH_FLAGS, .data = { ~0u } },
		{ .type = XEN_NETIF_CTRL_TYPE_SET_HASH_KEY,
		  .data = { REF_NONE, 40 } },
		{ .type = XEN_NETIF_CTRL_TYPE_SET_HASH_KEY,
		  .data = { REF_PAGE(0), ~0u } },
		{ .type = XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE,
		  .data = { ~0u } },
		{ .type = XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING_SIZE,
		  .data = { 64 } },
		{ .type = XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING,
		  .data = { REF_PAGE(0), 64, ~0u } },
		{ .type = XEN_NETIF_CTRL_TYPE_SET_HASH_MAPPING,
		  .data = { REF_NONE, 64, 0 } },
	};
	struct evtchn_send send = { .port = v->ctrl_port };
	RING_IDX *answered = &v->ctrl->rsp_prod;
	char said[40];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(requests); i++)
		v->ctrl->ring[i].req = requests[i];
	barrier();
	v->ctrl->req_prod = i;
	hypercall2(__HYPERVISOR_event_channel_op, EVTCHNOP_send,
		   (unsigned long)&send);
	AWAIT(READ(*answered) == i, SETTLE);

	for (i = 0; i < ARRAY_SIZE(requests) && i < READ(*answered); i++)
		said[i] = '0' + v->ctrl->ring[i].rsp.status;
	said[i] = 0;
	note("control %s", said);
}

/* A ring that is kept full, for some seconds. */
static void keep_full(struct vif *v)
{
	unsigned long end = rdtsc() + 5000 * tsc_khz;
	unsigned int nr = 0;

	while (rdtsc() < end) {
		for (v->first = v->prod; v->prod - v->cons <= SLOTS - 4; nr++)
			packet(v, 4, PAGE_SIZE - 1, 0);
		push(v);
		if (!AWAIT(collect(v) || v->prod - v->cons <= SLOTS - 4,
			   SETTLE))
			break;
	}
	say("# flood: %u packets", nr);
	note(settle(v) ? "all answered" : "some unanswered");
	v->first = v->prod;
}

#define PUT(name, fn)	{ name, fn, NULL }
#define RUN(name, fn)	{ name, NULL, fn }

const struct attack attacks[] = {
	PUT("small", small),
	PUT("large", large),
	PUT("slots-18", slots_18),
	PUT("slots-19", slots_19),
	PUT("full-ring", full_ring),
	PUT("same-ref", same_ref),
	PUT("bad-ref", bad_ref),
	PUT("bad-ref-large", bad_ref_large),
	PUT("bad-ref-beyond", bad_ref_beyond),
	PUT("bad-ref-stranger", bad_ref_stranger),
	PUT("bad-ref-no-frame", bad_ref_no_frame),
	PUT("bad-ref-first", bad_ref_first),
	PUT("bad-ref-middle", bad_ref_middle),
	PUT("bad-ref-all", bad_ref_all),
	PUT("bad-ref-last-of-19", bad_ref_last_of_19),
	PUT("bad-ref-among-good", bad_ref_among_good),
	RUN("revoked-early", revoked_early),
	RUN("revoked-mapped", revoked_mapped),
	RUN("revoked-racing", revoked_racing),
	PUT("cross-page", cross_page),
	PUT("cross-page-frag", cross_page_frag),
	PUT("offset-beyond", offset_beyond),
	PUT("size-max", size_max),
	PUT("size-0", size_0),
	PUT("size-13", size_13),
	PUT("first-is-0", first_is_0),
	PUT("frag-0", frag_0),
	PUT("frag-0-bad-ref", frag_0_bad_ref),
	PUT("frags-all-0", frags_all_0),
	PUT("last-of-19-is-0", last_of_19_is_0),
	PUT("frag-too-large", frag_too_large),
	PUT("slots-20", slots_20),
	PUT("slots-21", slots_21),
	PUT("slots-22", slots_22),
	PUT("slots-256", slots_256),
	PUT("unfinished", unfinished),
	PUT("extra-chain", extra_chain),
	PUT("extra-missing", extra_missing),
	PUT("extra-endless", extra_endless),
	PUT("extra-type-0", extra_type_0),
	PUT("extra-type-255", extra_type_255),
	PUT("extra-and-bad-ref", extra_and_bad_ref),
	PUT("gso-size-0", gso_size_0),
	PUT("gso-type-bad", gso_type_bad),
	PUT("gso-not-tcp", gso_not_tcp),
	PUT("csum-of-junk", csum_of_junk),
	RUN("multicast", multicast),
	RUN("ahead", ahead),
	RUN("ahead-half", ahead_half),
	RUN("rewound", rewound),
	RUN("rewound-all", rewound_all),
	RUN("rsp-prod-changed", rsp_prod_changed),
	RUN("reconnect-after", reconnect_after),
	RUN("reconnect-busy", reconnect_busy),
	RUN("lie-ring-ref", lie_ring_ref),
	RUN("lie-full", lie_full),
	RUN("lie-queues", lie_queues),
	RUN("lie-port", lie_port),
	RUN("control", control_ring),
	RUN("flood", keep_full),
};

const unsigned int nr_attacks = ARRAY_SIZE(attacks);
