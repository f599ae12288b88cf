#!/bin/sh
# Boot the test kernel on a hypervisor, and judge what it says.
#
#   XEN=path/to/xen KERNEL=path/to/test-kernel ./run.sh [kernel options]
#
# MACHINE  vtd (default), amdvi: hardware domain of a machine with that IOMMU;
#          guest: a guest, started by a Linux dom0, which is to be named by
#          DOM0_KERNEL and DOM0_IMAGE (the rig's vmlinux and dom0.cpio);
#          ept, npt: hardware domain in Bochs, with EPT or NPT and without an
#          IOMMU; BOCHS names what scripts/bochs.sh made. EPT_CHECK=on: with the
#          checker of nested translations (scripts/bochs/eptcheck)
# VCPUS    processors of the machine and of the domain (default 2)
# LOGDIR   where the logs and the command line go (default: a new directory)
# TIMEOUT  seconds until the machine counts as hung (default 180)
# XEN_ARGS, QEMU_ARGS: more of each
#
# Kernel options: `only` and names of tests; `bench`, `bench busy`.
# Exit status: 0 all passed, 1 a test failed, 2 no verdict, or Xen complained.
set -u

: "${XEN:?is to name the hypervisor, an ELF32 file}"
: "${KERNEL:?is to name the test kernel}"
MACHINE=${MACHINE:-vtd}
VCPUS=${VCPUS:-2}
TIMEOUT=${TIMEOUT:-180}
LOGDIR=${LOGDIR:-$(mktemp -d)}
QEMU=${QEMU:-qemu-system-x86_64}
here=$(dirname "$0")

xen_log=$LOGDIR/xen.log
verdict=$LOGDIR/verdict.log
qemu_log=$LOGDIR/qemu.log

error()
{
	echo "ERROR $MACHINE, $VCPUS vCPUs: $* ($LOGDIR)"
	exit 2
}

# What to boot beneath the hypervisor, on which machine.
machine()
{
	dom0_mem=64M dom0_vcpus=$VCPUS cpus=$VCPUS memory=512
	modules="$KERNEL $*"
	iommu=intel-iommu
	trace=
	bochs=
	# Any address may be the target of edu's DMA, not 28 bits only.
	edu="-device edu,dma_mask=0xffffffffffffffff"

	case $MACHINE in
	vtd) ;;
	# The emulated AMD IOMMU reports no fault for an entry that is not
	# present; its trace of translations is the second witness there.
	amdvi)
		iommu=amd-iommu
		trace="-trace amdvi_translation_result"
		modules="$KERNEL nofaultlog $*" ;;
	ept | npt) edu='' bochs=y ;;
	guest)
		dom0_mem=512M dom0_vcpus=1 memory=1024 edu=
		[ "$cpus" -gt 1 ] || cpus=2
		modules="${DOM0_KERNEL:?} console=hvc0 loglevel=5 rdinit=/guest-init"
		modules="$modules test.vcpus=$VCPUS test.args=$(echo "$*" | tr ' ' ,)"
		modules="$(echo "$modules" | sed 's/,/,,/g'),$LOGDIR/dom0.cpio"
		overlay ;;
	*) error "no machine $MACHINE" ;;
	esac
}

# Archives that follow each other are unpacked as one.
overlay()
{
	rm -rf "$LOGDIR/overlay"
	if ! { mkdir "$LOGDIR/overlay" &&
	       cp "$KERNEL" "$LOGDIR/overlay/test-kernel" &&
	       cp "$here/guest-init" "$LOGDIR/overlay/" &&
	       cp "${DOM0_IMAGE:?}" "$LOGDIR/dom0.cpio" &&
	       (cd "$LOGDIR/overlay" && find . | cpio --quiet -o -H newc) >> "$LOGDIR/dom0.cpio"; }
	then
		error "no image for dom0"
	fi
}

# Xen's usual scheduler would interrupt a processor that has nothing else to
# run every other millisecond, and what the emulated TLB holds would be lost.
# The first processor is Xen's alone, in a node of its own: QEMU's emulation of
# FXRSTOR on any other changes the first one's hflags2 without a lock
# (cpu_clear_ignne()), and undoes what a VMRUN or a #VMEXIT there has just set.
# Newer ones have a message for each look at a hole, and for each map that fails.
boot()
{
	own="numa=on dom0_nodes=1 iommu=no-sharept"
	[ -z "$bochs" ] || own="dom0-iommu=none apicv=0 spec-ctrl=no reboot=t"
	xen_line="dom0=pvh dom0=pf-fixup=0 $own dom0_mem=$dom0_mem dom0_max_vcpus=$dom0_vcpus sched=credit sched_credit_tslice_ms=1000 gnttab_max_maptrack_frames=32 cpuidle=no console=com1 com1=115200,8n1 loglvl=all guest_loglvl=warning ${XEN_ARGS:-}"
	if [ -n "$bochs" ]; then
		boot_bochs "$*"
		return
	fi
	# shellcheck disable=SC2086 # options are words
	set -- "$QEMU" \
		-M q35,kernel-irqchip=split -accel tcg,thread=multi \
		-cpu EPYC,-monitor,-rdtscp,-xsave,-avx,-avx2,-f16c,-fma \
		-smp $((cpus + 1)) -m $((memory + 256))M -nodefaults -no-reboot -display none \
		-object memory-backend-ram,id=ram0,size=256M -numa node,nodeid=0,cpus=0,memdev=ram0 \
		-object "memory-backend-ram,id=ram1,size=${memory}M" -numa "node,nodeid=1,cpus=1-$cpus,memdev=ram1" \
		-device "$iommu,intremap=on" $edu $edu $edu $edu $trace \
		-serial "file:$xen_log" -serial "file:$verdict" \
		-kernel "$XEN" -initrd "$modules" \
		-append "$xen_line" \
		${QEMU_ARGS:-}
	printf "'%s' " "$@" > "$LOGDIR/qemu-cmd"

	run "$@" > "$qemu_log" 2>&1
	[ $rc -ne 124 ] || error "no end after $TIMEOUT s"
	[ $rc -eq 0 ] || error "QEMU ended with status $rc"
}

# run COMMAND...: the machine, bounded; how it ended is in $rc and $seconds.
run()
{
	start=$(date +%s)
	timeout "$TIMEOUT" "$@"
	rc=$?
	seconds=$(($(date +%s) - start))
	rm -rf "$LOGDIR/overlay" "$LOGDIR/dom0.cpio" "$LOGDIR/boot.iso"
}

# What Bochs ends with says nothing: its status is 1 for a machine that is off.
boot_bochs()
{
	CHANNEL=$verdict "$here/../../scripts/bochs.py" "${BOCHS:?}" "$LOGDIR" "$XEN" "$KERNEL" /dev/null \
		"$xen_line" "$1" "$cpus" $((memory + 256)) > "$LOGDIR/qemu-cmd" || error "no machine"
	run sh "$LOGDIR/qemu-cmd" > "$qemu_log" 2>&1
	ln -sf console.log "$xen_log"
	[ $rc -ne 124 ] || error "no end after $TIMEOUT s"
}

# What the checker of nested translations found, which no test need have noticed.
checker()
{
	used=
	[ -n "$bochs" ] && [ "${EPT_CHECK:-off}" != off ] || return 0
	found=$(tail -n 1 "$LOGDIR/eptcheck.jsonl")
	echo "# $found"
	case $found in
	*'"stale_after_release":0,'*) ;;
	*'"stale_after_release":'*)
		used=1
		echo "the checker: a page was used that had been given back" ;;
	*) error "the checker says nothing" ;;
	esac
}

# The verdict, from a channel that nobody else writes to.
judge()
{
	[ -s "$verdict" ] || error "no verdict"
	tr -d '\r' < "$verdict" > "$verdict.new" && mv "$verdict.new" "$verdict"
	cat "$verdict"
	grep -q '^# end' "$verdict" || error "the test kernel did not reach its end"
	! grep -q '^# zombie' "$verdict" || error "the guest does not go away"

	bad=$(grep -c '^not ok' "$verdict")
	good=$(grep -c '^ok' "$verdict")
	skipped=$(grep -c '^ok.*# SKIP' "$verdict")
	plan=$(sed -n 's/^1\.\.//p' "$verdict")
	[ -z "$plan" ] || [ $((good + bad)) -eq "$plan" ] ||
		error "$((good + bad)) results of $plan"

	echo "$MACHINE, $VCPUS vCPUs: $good passed ($skipped skipped), $bad failed, $seconds s ($LOGDIR)"
	[ "$bad" -eq 0 ] && [ -z "$used" ] || exit 1
}

# What Xen says that it never should, whatever the tests found; and DMA that
# no test asked for, which is any outside of the 1 GiB where they map grants.
scan()
{
	grep -E 'Assertion|BUG|FATAL|Panic|domain_crash|crashed|WARN at|Hung' "$xen_log" &&
		error "Xen complained"

	window='4[0-3][0-9a-f]\{7\}'
	{
		grep 'fault addr' "$xen_log" | grep -v "fault addr $window"
		grep 'IO_PAGE_FAULT' "$xen_log"
		grep 'hpa 0x0$' "$qemu_log" | grep -v "gpa 0x$window"
	} | grep . && error "DMA to an address that no test uses"

	# Two refused transfers by each of four devices in each of these tests.
	if [ "$MACHINE" = amdvi ]; then
		want=$(grep '^ok.* iotlb-[0-9]' "$verdict" | grep -vc SKIP)
		refused=$(grep -c 'gpa 0x[0-9a-f]*[08] hpa 0x0$' "$qemu_log")
		[ "$refused" -ge $((want * 8)) ] ||
			error "the IOMMU refused $refused transfers, not $((want * 8))"
	fi
}

mkdir -p "$LOGDIR" || exit 2
rm -f "$xen_log" "$verdict" "$qemu_log"
machine "$@"
boot "$@"
checker
judge
scan
