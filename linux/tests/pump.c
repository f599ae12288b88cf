// SPDX-License-Identifier: GPL-2.0
/*
 * pump: send a reproducible byte stream over TCP or UDP, or receive one and
 * prove that it is the one that was sent.
 *
 * The protocols' checksums are no witness here: a paravirtual network device
 * passes packets on with the checksum left blank, so a page that was swapped,
 * stale or overwritten arrives unnoticed. Each 8-byte word of the stream
 * depends on the seed and on its own offset, and the receiver makes the same
 * words again. A datagram starts with the offset of the words that follow.
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHUNK		(256 * 1024)
#define CONNECT_TRIES	150
#define CONNECT_PAUSE	200000	/* us between two tries */
#define PEER_TIMEOUT	60	/* s without one byte moved */
#define QUIET_TIMEOUT	10	/* s after which no datagram is on its way */
#define DATAGRAM_MAX	65507
#define DATAGRAM_HEAD	sizeof(unsigned long)
#define END_MARK	ULONG_MAX /* in place of an offset */
#define END_MARKS	10	/* some of them may get lost */
#define END_PAUSE	20000	/* us between them, and to what they overtook */
#define RECEIVE_BUFFER	(4 << 20)

static_assert(sizeof(unsigned long) == 8, "a word of the stream is 64 bits");

enum status { OK = 0, CORRUPT = 1, BROKEN = 2 };

struct stream {
	const char *host;	/* to send to, or NULL */
	unsigned short port;
	unsigned long bytes;
	unsigned long seed;
	size_t datagram;	/* bytes of one, or 0 for TCP */
	int buffer;		/* of the socket that sends, bytes, or 0 */
	unsigned int pause;	/* of the one that receives, s */
};

static const char usage[] =
"usage: pump [OPTION...] send HOST PORT BYTES SEED\n"
"       pump [OPTION...] recv PORT BYTES SEED\n"
"\n"
"recv accepts one connection on PORT, reads to its end and compares what came\n"
"with the BYTES bytes that SEED stands for; send connects to it, trying for\n"
"30 s, and sends them. Both print one line:\n"
"    ROLE bytes=N sum=HEX first_bad=OFFSET|none seconds=S\n"
"\n"
"-u SIZE    datagrams of SIZE bytes instead, a multiple of 8; HOST may be a\n"
"           broadcast address, and recv has to be there first. Some may get\n"
"           lost, but not all, and none may differ. The line is then:\n"
"    ROLE datagrams=N of=N corrupt=N again=N seconds=S\n"
"-n NUMBER  so many streams at once, on PORT, PORT + 1, ... of SEED, SEED + 1,\n"
"           ...; each prints its line\n"
"-w BYTES   send: the size of the socket's buffer\n"
"-p SECONDS recv: wait so long before the first byte is read\n"
"\n"
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

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void report_end(double began)
{
	printf(" seconds=%.3f\n", now() - began);
	if (fflush(stdout))
		err(BROKEN, "stdout");
}

static void report(const char *role, unsigned long bytes, unsigned long sum,
		   unsigned long first_bad, double began)
{
	printf("%s bytes=%lu sum=%016lx first_bad=", role, bytes, sum);
	if (first_bad == ULONG_MAX)
		printf("none");
	else
		printf("%lu", first_bad);
	report_end(began);
}

static void bound_waits(int fd, unsigned int seconds, unsigned int us)
{
	struct timeval limit = { .tv_sec = seconds, .tv_usec = us };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

/* A socket of the stream, and the address it is to be connected or bound to. */
static int open_socket(const struct stream *s, struct sockaddr_in *address)
{
	int fd, on = 1, size = RECEIVE_BUFFER;

	*address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(s->port),
	};
	if (s->host && !inet_aton(s->host, &address->sin_addr))
		errx(BROKEN, "%s: HOST is an IPv4 address, as 10.0.0.1",
		     s->host);

	fd = socket(AF_INET, s->datagram ? SOCK_DGRAM : SOCK_STREAM, 0);
	if (fd < 0)
		err(BROKEN, "socket");
	bound_waits(fd, PEER_TIMEOUT, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (s->host && s->buffer)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &s->buffer,
			   sizeof(s->buffer));
	if (s->datagram) {
		setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on));
		if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size,
			       sizeof(size)))
			setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size,
				   sizeof(size));
	}
	return fd;
}

static int connect_to(const struct stream *s)
{
	struct sockaddr_in to;
	int fd;

	/* The receiver may be starting still. */
	for (int tries = CONNECT_TRIES; ; usleep(CONNECT_PAUSE)) {
		fd = open_socket(s, &to);
		if (!connect(fd, (struct sockaddr *)&to, sizeof(to)))
			return fd;
		if (!--tries)
			err(BROKEN, "connecting to %s port %u", s->host,
			    s->port);
		close(fd);
	}
}

static int bind_to(const struct stream *s)
{
	struct sockaddr_in any;
	int fd = open_socket(s, &any);

	if (bind(fd, (struct sockaddr *)&any, sizeof(any)))
		err(BROKEN, "port %u", s->port);
	return fd;
}

static int accept_one(const struct stream *s)
{
	int listener = bind_to(s), fd;

	if (listen(listener, 1))
		err(BROKEN, "listening on port %u", s->port);
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		err(BROKEN, "no connection on port %u", s->port);
	close(listener);
	bound_waits(fd, PEER_TIMEOUT, 0);
	return fd;
}

static enum status send_stream(const struct stream *s)
{
	static unsigned long buf[CHUNK / sizeof(unsigned long)];
	unsigned long at, sum = 0;
	int fd = connect_to(s);
	double began = now();
	ssize_t n;
	char end;

	for (at = 0; at < s->bytes; ) {
		size_t len = s->bytes - at < CHUNK ? s->bytes - at : CHUNK;
		size_t done = 0;

		fill(buf, CHUNK, s->seed, at);
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
	report("send", s->bytes, sum, ULONG_MAX, began);
	return OK;
}

static enum status recv_stream(const struct stream *s)
{
	static unsigned long words[CHUNK / sizeof(unsigned long)];
	static unsigned char got[CHUNK];
	const unsigned char *want = (unsigned char *)words;
	unsigned long at = 0, sum = 0, first_bad = ULONG_MAX;
	int fd = accept_one(s);
	double began = now();
	size_t len;

	sleep(s->pause);
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
		fill(words, CHUNK, s->seed, at);
		if (first_bad == ULONG_MAX && memcmp(want, got, len))
			for (size_t i = 0; i < len; i++)
				if (want[i] != got[i]) {
					first_bad = at + i;
					break;
				}
		at += len;
	} while (len == CHUNK);

	if (at != s->bytes && first_bad > (at < s->bytes ? at : s->bytes))
		first_bad = at < s->bytes ? at : s->bytes;
	report("recv", at, sum, first_bad, began);
	return first_bad == ULONG_MAX ? OK : CORRUPT;
}

static void report_datagrams(const char *role, unsigned long number,
			     unsigned long of, unsigned long corrupt,
			     unsigned long again, double began)
{
	printf("%s datagrams=%lu of=%lu corrupt=%lu again=%lu",
	       role, number, of, corrupt, again);
	report_end(began);
}

static enum status send_datagrams(const struct stream *s)
{
	static unsigned long buf[DATAGRAM_MAX / sizeof(unsigned long)];
	size_t payload = s->datagram - DATAGRAM_HEAD;
	unsigned long number = (s->bytes + payload - 1) / payload, i;
	int fd = connect_to(s);
	double began = now();

	for (i = 0; i < number; i++) {
		buf[0] = i * payload;
		fill(buf + 1, payload, s->seed, buf[0]);
		/* A receiver that is gone says so by ICMP, and reports it. */
		if (send(fd, buf, s->datagram, 0) < 0 && errno != ECONNREFUSED)
			err(BROKEN, "sending datagram %lu", i);
	}
	report_datagrams("send", number, number, 0, 0, began);

	buf[0] = END_MARK;
	for (i = 0; i < END_MARKS; i++) {
		send(fd, buf, s->datagram, 0);
		usleep(END_PAUSE);
	}
	return OK;
}

static enum status recv_datagrams(const struct stream *s)
{
	static unsigned long got[DATAGRAM_MAX / sizeof(unsigned long) + 1];
	static unsigned long want[DATAGRAM_MAX / sizeof(unsigned long)];
	size_t payload = s->datagram - DATAGRAM_HEAD;
	unsigned long of = (s->bytes + payload - 1) / payload;
	unsigned long number = 0, corrupt = 0, again = 0;
	bool *seen = calloc(of, sizeof(*seen));
	int fd = bind_to(s);
	double began = now();
	ssize_t n;

	if (!seen)
		err(BROKEN, "memory");
	sleep(s->pause);
	while ((n = recv(fd, got, sizeof(got), 0)) >= 0) {
		if (n == (ssize_t)s->datagram && got[0] == END_MARK) {
			bound_waits(fd, 0, END_PAUSE * END_MARKS);
			continue;
		}
		if (!number++) {
			bound_waits(fd, QUIET_TIMEOUT, 0);
			began = now();
		}
		fill(want, payload, s->seed, got[0]);
		if (n != (ssize_t)s->datagram || got[0] % payload ||
		    got[0] / payload >= of || memcmp(got + 1, want, payload))
			corrupt++;
		else if (seen[got[0] / payload])
			again++;
		else
			seen[got[0] / payload] = true;
	}
	if (errno != EAGAIN)
		err(BROKEN, "receiving");
	report_datagrams("recv", number, of, corrupt, again, began);
	return number && !corrupt ? OK : CORRUPT;
}

static enum status run(const struct stream *s)
{
	if (s->datagram)
		return s->host ? send_datagrams(s) : recv_datagrams(s);
	return s->host ? send_stream(s) : recv_stream(s);
}

/* Each stream in a process of its own; the worst of what they end with. */
static enum status run_all(struct stream s, unsigned long number)
{
	enum status worst = OK;
	int status;

	if (number == 1)
		return run(&s);

	for (; number; number--, s.port++, s.seed++)
		switch (fork()) {
		case -1:
			err(BROKEN, "fork");
		case 0:
			exit(run(&s));
		}
	while (wait(&status) > 0) {
		enum status its = WIFEXITED(status) ? WEXITSTATUS(status) :
						      BROKEN;

		if (its > worst)
			worst = its;
	}
	return worst;
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
	struct stream s = { 0 };
	unsigned long streams = 1;
	int option;

	while ((option = getopt(argc, argv, "u:n:w:p:")) != -1)
		switch (option) {
		case 'u':
			s.datagram = number(optarg, "SIZE", false);
			if (s.datagram <= DATAGRAM_HEAD || s.datagram % 8 ||
			    s.datagram > DATAGRAM_MAX)
				errx(BROKEN, "%s: bad SIZE", optarg);
			break;
		case 'n':
			streams = number(optarg, "NUMBER", false);
			break;
		case 'w':
			s.buffer = number(optarg, "BYTES", true);
			break;
		case 'p':
			s.pause = number(optarg, "SECONDS", false);
			break;
		default:
			fputs(usage, stderr);
			return BROKEN;
		}
	argc -= optind;
	argv += optind;
	if (argc == 5 && !strcmp(argv[0], "send"))
		s.host = *++argv;
	else if (argc != 4 || strcmp(argv[0], "recv"))
		streams = 0;
	if (!streams) {
		fputs(usage, stderr);
		return BROKEN;
	}
	s.port = port_number(argv[1]);
	s.bytes = number(argv[2], "BYTES", true);
	s.seed = number(argv[3], "SEED", false);
	return run_all(s, streams);
}
