// SPDX-License-Identifier: GPL-2.0
/*
 * pump: send a reproducible byte stream over TCP, or receive one and prove
 * that it is the one that was sent.
 *
 * TCP's checksum is no witness here: a paravirtual network device passes
 * packets on with the checksum left blank, so a page that was swapped, stale
 * or overwritten arrives unnoticed. Each 8-byte word of the stream depends on
 * the seed and on its own offset, and the receiver makes the same words again.
 */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK		(256 * 1024)
#define CONNECT_TRIES	50
#define CONNECT_PAUSE	200000	/* us between two tries */
#define PEER_TIMEOUT	60	/* s without one byte moved */

static_assert(sizeof(unsigned long) == 8, "a word of the stream is 64 bits");

enum status { OK = 0, CORRUPT = 1, BROKEN = 2 };

static const char usage[] =
"usage: pump send HOST PORT BYTES SEED\n"
"       pump recv PORT BYTES SEED\n"
"\n"
"recv accepts one connection on PORT, reads to its end and compares what came\n"
"with the BYTES bytes that SEED stands for; send connects to it, trying for\n"
"10 s, and sends them. Both print one line:\n"
"    ROLE bytes=N sum=HEX first_bad=OFFSET|none\n"
"BYTES counts bytes (suffix K, M or G: 2^10, 2^20, 2^30), SEED is a number\n"
"below 2^64, OFFSET counts bytes from 0. A peer silent for 60 s is an error.\n"
"\n"
"exit: 0  all bytes sent, or all received and as expected\n"
"      1  received bytes differ, or there are too few or too many\n"
"      2  bad usage, or the transfer could not be made\n";

static unsigned long number(const char *text, const char *what, bool scaled)
{
	unsigned int shift = 0;
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (scaled && *end)
		switch (*end++) {
		case 'K':
			shift = 10;
			break;
		case 'M':
			shift = 20;
			break;
		case 'G':
			shift = 30;
			break;
		default:
			end--;
		}
	if (errno || end == text || *end || *text == '-' ||
	    n > ULONG_MAX >> shift)
		errx(BROKEN, "%s: bad %s", text, what);
	return n << shift;
}

/* The word at byte offset @at of the stream. */
static unsigned long word(unsigned long seed, unsigned long at)
{
	unsigned long x = (seed ^ at) * 0x9e3779b97f4a7c15UL;

	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93UL;
	return x ^ (x >> 32);
}

/* @at and @len are multiples of the word's size. */
static void fill(unsigned long *buf, size_t len, unsigned long seed,
		 unsigned long at)
{
	for (size_t i = 0; i < len / sizeof(*buf); i++)
		buf[i] = word(seed, at + i * sizeof(*buf));
}

/* Order matters to it: two swapped words give another sum. */
static unsigned long checksum(unsigned long sum, const unsigned char *buf,
			      size_t len)
{
	while (len) {
		size_t n = len < sizeof(sum) ? len : sizeof(sum);
		unsigned long w = 0;

		memcpy(&w, buf, n);
		sum = (sum ^ w) * 0x100000001b3UL;
		sum ^= sum >> 29;
		buf += n;
		len -= n;
	}
	return sum;
}

static void report(const char *role, unsigned long bytes, unsigned long sum,
		   unsigned long first_bad)
{
	printf("%s bytes=%lu sum=%016lx first_bad=",
	       role, bytes, sum);
	if (first_bad == ULONG_MAX)
		puts("none");
	else
		printf("%lu\n", first_bad);
	if (fflush(stdout))
		err(BROKEN, "stdout");
}

static void bound_waits(int fd)
{
	struct timeval limit = { .tv_sec = PEER_TIMEOUT };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static int connect_to(const char *host, unsigned short port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	int fd;

	if (!inet_aton(host, &to.sin_addr))
		errx(BROKEN, "%s: HOST is an IPv4 address, as 10.0.0.1", host);

	/* The receiver may be starting still. */
	for (int tries = CONNECT_TRIES; ; usleep(CONNECT_PAUSE)) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (fd < 0)
			err(BROKEN, "socket");
		bound_waits(fd);
		if (!connect(fd, (struct sockaddr *)&to, sizeof(to)))
			return fd;
		if (!--tries)
			err(BROKEN, "connecting to %s port %u", host, port);
		close(fd);
	}
}

static int accept_one(unsigned short port)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	int on = 1, listener, fd;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0)
		err(BROKEN, "socket");
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	bound_waits(listener);
	if (bind(listener, (struct sockaddr *)&any, sizeof(any)) ||
	    listen(listener, 1))
		err(BROKEN, "listening on port %u", port);
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		err(BROKEN, "no connection on port %u", port);
	close(listener);
	bound_waits(fd);
	return fd;
}

static enum status send_stream(int fd, unsigned long bytes, unsigned long seed)
{
	static unsigned long buf[CHUNK / sizeof(unsigned long)];
	unsigned long at, sum = 0;
	ssize_t n;
	char end;

	for (at = 0; at < bytes; ) {
		size_t len = bytes - at < CHUNK ? bytes - at : CHUNK;
		size_t done = 0;

		fill(buf, CHUNK, seed, at);
		sum = checksum(sum, (unsigned char *)buf, len);
		while (done < len) {
			n = send(fd, (char *)buf + done, len - done,
				 MSG_NOSIGNAL);
			if (n < 0)
				err(BROKEN, "sending at %lu", at + done);
			done += n;
		}
		at += len;
	}

	/* Bytes that were queued have not been received: await its close. */
	shutdown(fd, SHUT_WR);
	n = recv(fd, &end, 1, 0);
	if (n < 0)
		err(BROKEN, "the receiver did not take all of it");
	if (n)
		errx(BROKEN, "the receiver answered: it is no pump");
	report("send", bytes, sum, ULONG_MAX);
	return OK;
}

static enum status recv_stream(int fd, unsigned long bytes, unsigned long seed)
{
	static unsigned long words[CHUNK / sizeof(unsigned long)];
	static unsigned char got[CHUNK];
	const unsigned char *want = (unsigned char *)words;
	unsigned long at = 0, sum = 0, first_bad = ULONG_MAX;
	size_t len;

	do {
		ssize_t n;

		/* Whole chunks, so that each starts on a word. */
		for (len = 0; len < CHUNK; len += n) {
			n = recv(fd, got + len, CHUNK - len, 0);
			if (n < 0)
				err(BROKEN, "receiving at %lu", at + len);
			if (!n)
				break;
		}
		sum = checksum(sum, got, len);
		fill(words, CHUNK, seed, at);
		if (first_bad == ULONG_MAX && memcmp(want, got, len))
			for (size_t i = 0; i < len; i++)
				if (want[i] != got[i]) {
					first_bad = at + i;
					break;
				}
		at += len;
	} while (len == CHUNK);

	if (at != bytes && first_bad > (at < bytes ? at : bytes))
		first_bad = at < bytes ? at : bytes;
	report("recv", at, sum, first_bad);
	return first_bad == ULONG_MAX ? OK : CORRUPT;
}

static unsigned short port_number(const char *text)
{
	unsigned long port = number(text, "PORT", false);

	if (!port || port > USHRT_MAX)
		errx(BROKEN, "%s: bad PORT", text);
	return port;
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "send")) {
		unsigned short port = port_number(argv[3]);
		unsigned long bytes = number(argv[4], "BYTES", true);
		unsigned long seed = number(argv[5], "SEED", false);

		return send_stream(connect_to(argv[2], port), bytes, seed);
	}
	if (argc == 5 && !strcmp(argv[1], "recv")) {
		unsigned short port = port_number(argv[2]);
		unsigned long bytes = number(argv[3], "BYTES", true);
		unsigned long seed = number(argv[4], "SEED", false);

		return recv_stream(accept_one(port), bytes, seed);
	}
	fputs(usage, stderr);
	return BROKEN;
}
