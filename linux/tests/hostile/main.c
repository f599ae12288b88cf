// SPDX-License-Identifier: GPL-2.0
/*
 * A frontend that attacks netback. As vif 66 it carries out the attack that
 * xenstore's data/next names, over and over, and leaves in data/said what
 * became of the requests, slot by slot, and whether netback takes packets then.
 */
#include "attacks.h"

#define ETHERTYPE	0x88b5 /* for experiments */
#define SETTLE_SHUT	500 /* ms, when the interface is known to be shut */

static struct vif vif;
struct vif peer;

static char said[300];

void note(const char *fmt, ...)
{
	size_t len = strlen(said);
	__builtin_va_list args;

	__builtin_va_start(args, fmt);
	vformat(said + len, sizeof(said) - len, fmt, args);
	__builtin_va_end(args);
	len = strlen(said);
	sformat(said + len, sizeof(said) - len, "; ");
}

/* What netback says in dom0's log of vif 66, as run-hostile passes it on. */
static bool is_shut(void)
{
	return xs_number("data/shut") == 1;
}

bool settle(struct vif *v)
{
	return AWAIT(collect(v) || is_shut(), SETTLE) &&
	       WAIT_FOR(collect(v), SETTLE_SHUT);
}

/* Does a good packet get its answer? */
bool alive(struct vif *v)
{
	v->first = v->prod;
	put(v, REF_PAGE(0), 0, 1000, 0);
	push(v);
	return settle(v) && v->fate[v->first % SLOTS] == OKAY;
}

static void note_fates(struct vif *v)
{
	static const char *const names[] = {
		"none", "okay", "error", "dropped", "null", "odd",
	};
	RING_IDX at, next;

	for (at = v->first; at != v->prod; at = next) {
		enum fate fate = v->fate[at % SLOTS];

		for (next = at; next != v->prod; next++)
			if (v->fate[next % SLOTS] != fate)
				break;
		if (next - at > 1)
			note("%s x %u", names[fate], next - at);
		else
			note("%s", names[fate]);
	}
	if (v->stray)
		note("stray x %u", v->stray);
	v->stray = 0;
}

static void carry_out(const struct attack *a)
{
	said[0] = 0;
	vif.first = vif.prod;
	if (a->put) {
		a->put(&vif);
		push(&vif);
		settle(&vif);
	} else {
		a->run(&vif);
	}
	note_fates(&vif);
	note(alive(&vif) ? "alive" : "dead");
	said[strlen(said) - 2] = 0;
	say("# %s: %s", a->name, said);
	xs_write("data/said", "%s", said);
	xs_write("data/after", "%s", a->name);
}

/*
 * Frames to the interface they are from: the bridge learns where that is, and
 * drops them. The last page has the peer's.
 */
static void make_frames(void)
{
	for (unsigned int i = 0; i < NR_PAGES; i++) {
		const struct vif *v = i < NR_PAGES - 1 ? &vif : &peer;
		unsigned char *frame = page(i);

		memset(frame, i, PAGE_SIZE);
		memcpy(frame, v->mac, sizeof(v->mac));
		memcpy(frame + 6, v->mac, sizeof(v->mac));
		frame[12] = ETHERTYPE >> 8;
		frame[13] = ETHERTYPE & 0xff;
	}
}

static void holds(struct vif *v)
{
	xs_write("device/vif/67/feature-rx-notify", "1");
}

void main(void)
{
	char next[32], last[32] = "";

	platform_init();
	console_init();
	trap_init();
	xs_init();
	netfront_init(xs_number("device/vif/66/backend-id"));
	vif_open(&vif, 66);
	vif_open(&peer, 67);
	make_frames();
	if (!vif_connect(&vif, NULL) || !vif_connect(&peer, holds))
		panic("# no connection");
	put(&peer, REF_PAGE(NR_PAGES - 1), 0, 1000, 0);
	push(&peer);
	if (!settle(&peer) || !alive(&vif))
		panic("# no packet gets through");
	xs_write("data/after", "connected");

	for (;;) {
		unsigned int i;

		if (!xs_read("data/next", next, sizeof(next)) ||
		    !strncmp(next, last, sizeof(next))) {
			AWAIT(false, 100);
			continue;
		}
		memcpy(last, next, sizeof(next));
		for (i = 0; i < nr_attacks; i++)
			if (!strncmp(attacks[i].name, next, sizeof(next)))
				break;
		if (i == nr_attacks)
			panic("# no such attack: %s", next);
		carry_out(&attacks[i]);
	}
}
