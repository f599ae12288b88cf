/*
 * A plugin for QEMU's software emulation: instructions executed by each
 * emulated CPU, by what they belong to, and by function.
 *
 * -plugin count.so,totals=FILE,profile=FILE
 *
 * Whenever a CPU executes the mark, a NOP that nothing else has (the program
 * marker of linux/tests), what was executed since the last one is written:
 * to FILE of totals one line of JSON,
 *   {"mark":1,"cpus":[{"xen":N,"linux":N,"user":N,"other":N},...]}
 * and to FILE of profile a line for each 16 bytes of code of Xen and of Linux
 * that ran, "MARK CPU ADDRESS INSTRUCTIONS".  Counted are whole blocks when they
 * begin: one that a fault ends early counts too much, the same in each run.
 *
 * The interface is QEMU's plugin API of version 1 (7.2); what is used of it is
 * declared here, since Debian does not package the header.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*executed)(unsigned int cpu, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, executed cb,
					  int registers, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, executed cb,
					    int registers, void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

#define CPUS	64
#define GRAIN	16	/* functions are aligned so */

/* Where each one's code is; its blocks are counted from index `first` on. */
static const struct window {
	const char *name;
	uint64_t start, size, first;
} windows[] = {
	{ "xen",   0xffff82d040000000, 16 << 20, 0 },
	{ "linux", 0xffffffff80000000, 64 << 20, (16 << 20) / GRAIN },
};
#define USER	(((16 << 20) + (64 << 20)) / GRAIN)
#define OTHER	(USER + 1)
#define COUNTS	(OTHER + 1)

static const unsigned char mark[] = { 0x0f, 0x1f, 0x80, 'm', 'a', 'r', 'k' };
static uint64_t *counts[CPUS];
static unsigned int marks;
static FILE *totals, *profile;

static void block_executed(unsigned int cpu, void *data)
{
	uintptr_t what = (uintptr_t)data;

	if (!counts[cpu])
		counts[cpu] = calloc(COUNTS, sizeof(uint64_t));
	counts[cpu][what >> 12] += what & 0xfff;
}

static void mark_executed(unsigned int by, void *data)
{
	(void)by, (void)data;
	marks++;
	fprintf(totals, "{\"mark\":%u,\"cpus\":[", marks);
	for (unsigned int cpu = 0; cpu < CPUS && counts[cpu]; cpu++) {
		fprintf(totals, "%s{", cpu ? "," : "");
		for (unsigned int w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
			const struct window *window = &windows[w];
			uint64_t sum = 0;

			for (uint64_t i = 0; i < window->size / GRAIN; i++) {
				uint64_t count = counts[cpu][window->first + i];

				if (!count)
					continue;
				sum += count;
				counts[cpu][window->first + i] = 0;
				fprintf(profile, "%u %u %" PRIx64 " %" PRIu64 "\n", marks, cpu,
					window->start + i * GRAIN, count);
			}
			fprintf(totals, "\"%s\":%" PRIu64 ",", window->name, sum);
		}
		fprintf(totals, "\"user\":%" PRIu64 ",\"other\":%" PRIu64 "}",
			counts[cpu][USER], counts[cpu][OTHER]);
		counts[cpu][USER] = counts[cpu][OTHER] = 0;
	}
	fprintf(totals, "]}\n");
	fflush(totals);
	fflush(profile);
}

static uint64_t index_of(uint64_t address)
{
	for (unsigned int w = 0; w < sizeof(windows) / sizeof(*windows); w++)
		if (address - windows[w].start < windows[w].size)
			return windows[w].first + (address - windows[w].start) / GRAIN;
	return address >> 63 ? OTHER : USER;
}

static void block_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t length = qemu_plugin_tb_n_insns(tb);
	uintptr_t what = index_of(qemu_plugin_tb_vaddr(tb)) << 12 | length;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block_executed, 0, (void *)what);
	for (size_t i = 0; i < length; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(insn) == sizeof(mark) &&
		    !memcmp(qemu_plugin_insn_data(insn), mark, sizeof(mark)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, mark_executed, 0, NULL);
	}
}

static FILE *output(int argc, char **argv, const char *name)
{
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], name, strlen(name)) && argv[i][strlen(name)] == '=')
			return fopen(argv[i] + strlen(name) + 1, "w");
	return NULL;
}

__attribute__((visibility("default")))
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	totals = output(argc, argv, "totals");
	profile = output(argc, argv, "profile");
	if (!totals || !profile) {
		fprintf(stderr, "count.so: no totals=FILE and profile=FILE that can be written\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
	return 0;
}
