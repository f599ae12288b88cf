#!/bin/bash
# selftest.sh [STATE]: run the PVH test kernel (xen/tests) on a hypervisor.
#
# STATE as for state.sh, default patched. MACHINES (default: vtd amdvi; guest is
# a PVH guest beside a Linux dom0, ept and npt are Bochs, EPT_CHECK=on with its checker)
# and VCPUS (default: 2) are lists; OPTIONS goes to the test kernel;
# XEN_DEBUG=y takes the debug build. Prints the kernel's TAP for each, and keeps
# the logs in OUT/selftest.
# Exit status: 0 all passed; 1 a test failed; 2 no verdict, or Xen complained.
. "$(dirname "$0")/lib.sh"

[ "${EPT_CHECK:-off}" = off ] || export XEN_MARKS=y
xen=$("$TOP/scripts/build.sh" xen "${1:-patched}")/xen
kernel=$("$TOP/scripts/test-kernel.sh")
linux='' image='' bochs=''
if [[ " ${MACHINES:-} " = *" guest "* ]]; then
	linux=$(LINUX_DEBUG=n "$TOP/scripts/build.sh" linux base) image=$("$TOP/scripts/image.sh")
fi
[[ ! " ${MACHINES:-} " =~ " "[en]pt" " ]] || bochs=$("$TOP/scripts/bochs.sh")
worst=0
for machine in ${MACHINES:-vtd amdvi}; do
	for vcpus in ${VCPUS:-2}; do
		say "$(cat "$(dirname "$xen")/id"): $machine, $vcpus vCPUs"
		logs=$OUT/selftest/${1:-patched}-$machine-$vcpus
		rc=0
		mkdir -p "$(dirname "$logs")"
		exec 9>"$logs.lock"
		flock -w 600 9 || die "another selftest has written to $logs for 600 s"
		# shellcheck disable=SC2086 # options are words
		XEN=$xen KERNEL=$kernel MACHINE=$machine VCPUS=$vcpus BOCHS=$bochs \
			DOM0_KERNEL=$linux/vmlinux DOM0_IMAGE=$image/dom0.cpio \
			LOGDIR=$logs "$TOP/xen/tests/run.sh" ${OPTIONS:-} || rc=$?
		[ "$rc" -le "$worst" ] || worst=$rc
	done
done
exit "$worst"
