// SPDX-License-Identifier: GPL-2.0
/*
 * p2m-mode DOMID altp2m|log-dirty
 *
 * Run in dom0: change how Xen keeps the page tables of a guest that runs
 * already. altp2m: its vCPUs run on an alternate p2m from then on, which the
 * guest is to have been created for (altp2m="external"). log-dirty: its writes
 * are logged, in hardware where there is PML.
 *
 * Exit status: 0 it is so; 1 Xen refused; 2 usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define __XEN_TOOLS__ 1
#include <xen/xen.h>
#include <xen/domctl.h>
#include <xen/hvm/hvm_op.h>
#include <xen/sys/privcmd.h>

int main(int argc, char **argv)
{
	union {
		struct xen_hvm_altp2m_op altp2m;
		struct xen_domctl domctl;
	} *op;
	privcmd_hypercall_t call = { 0 };
	int fd;

	/* What Xen is to read has to be there, and to stay. */
	op = mmap(NULL, sizeof(*op), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
	if (op == MAP_FAILED) {
		perror("p2m-mode: mmap");
		return 1;
	}
	if (argc == 3 && !strcmp(argv[2], "altp2m")) {
		op->altp2m = (struct xen_hvm_altp2m_op){
			.version = HVMOP_ALTP2M_INTERFACE_VERSION,
			.cmd = HVMOP_altp2m_set_domain_state,
			.domain = atoi(argv[1]),
			.u.domain_state.state = 1,
		};
		call.op = __HYPERVISOR_hvm_op;
		call.arg[0] = HVMOP_altp2m;
		call.arg[1] = (uintptr_t)op;
	} else if (argc == 3 && !strcmp(argv[2], "log-dirty")) {
		op->domctl = (struct xen_domctl){
			.cmd = XEN_DOMCTL_shadow_op,
			.interface_version = XEN_DOMCTL_INTERFACE_VERSION,
			.domain = atoi(argv[1]),
			.u.shadow_op.op = XEN_DOMCTL_SHADOW_OP_ENABLE_LOGDIRTY,
		};
		call.op = __HYPERVISOR_domctl;
		call.arg[0] = (uintptr_t)op;
	} else {
		fprintf(stderr, "usage: p2m-mode DOMID altp2m|log-dirty\n");
		return 2;
	}

	fd = open("/dev/xen/privcmd", O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, IOCTL_PRIVCMD_HYPERCALL, &call) < 0) {
		fprintf(stderr, "p2m-mode %s %s: %s\n", argv[1], argv[2],
			strerror(errno));
		return 1;
	}
	return 0;
}
