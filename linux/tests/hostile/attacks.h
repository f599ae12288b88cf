/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ATTACKS_H
#define ATTACKS_H

#include "netfront.h"

/*
 * An attack puts requests, which are pushed then; one that has a mind of its
 * own about that has `run` instead, and reports what it saw besides by note().
 */
struct attack {
	const char *name;
	void (*put)(struct vif *v);
	void (*run)(struct vif *v);
};

extern const struct attack attacks[];
extern const unsigned int nr_attacks;

/* main.c */
extern struct vif peer; /* of the same guest, for packets to be held in */
void note(const char *fmt, ...) format(1, 2);
/* Wait for what is out to be answered; false if it is not, in SETTLE ms. */
#define SETTLE 60000
bool settle(struct vif *v);
bool alive(struct vif *v);

#endif
