#!/bin/bash
# mutants.sh [NAME...]: break the patched hypervisor in one way after another,
# and see the test kernel (xen/tests) notice.
#
# Each patch in xen/tests/mutants says which test is to catch it (Caught-by)
# and what that takes: Machine (default vtd), Vcpus (default 2), Needs:
# fault-injection. The name fault-injection stands for the patched hypervisor
# with that alone, which the test of failing flushes has to pass. Default: all.
# Prints TAP and a table; keeps the logs in OUT/mutants.
. "$(dirname "$0")/lib.sh"

tests=$TOP/xen/tests
if [ $# -eq 0 ]; then
	mapfile -t names < <(cd "$tests/mutants" && basename -s .patch -- *.patch)
	set -- fault-injection "${names[@]}"
fi

field() {
	sed -n "s/^$1: //p" "$tests/mutants/$name.patch"
}

# attempt XEN ARGUMENT...: boot the test kernel with those arguments.
attempt() {
	local xen=$1
	shift
	rm -rf "$logs" && mkdir -p "$logs"
	XEN=$xen/xen KERNEL=$kernel MACHINE=$machine VCPUS=$vcpus LOGDIR=$logs \
		XEN_ARGS=$injected DOM0_KERNEL=$linux/vmlinux DOM0_IMAGE=$image/dom0.cpio \
		"$tests/run.sh" "$@" >"$logs.out" 2>&1 || :
}

mkdir -p "$OUT/mutants"
kernel=$("$TOP/scripts/test-kernel.sh")
linux=$("$TOP/scripts/build.sh" linux base)
image=$("$TOP/scripts/image.sh")
echo "1..$#"
number=0 missed=0 table=
for name; do
	number=$((number + 1))
	logs=$OUT/mutants/$name
	if [ "$name" = fault-injection ]; then
		state=$name machine=vtd vcpus=2 needs=$name test=flush-fails
		what="passed by" want="^ok [0-9]* - $test # [0-9]* ms"
	else
		state=mutant/$name machine=$(field Machine) vcpus=$(field Vcpus) needs=$(field Needs) test=$(field Caught-by)
		what="caught by" want="^not ok [0-9]* - $test "
	fi
	machine=${machine:-vtd} vcpus=${vcpus:-2} injected=
	options=(only "$test")
	if [ "$needs" = fault-injection ]; then
		options+=(inject) injected=iotlb_inject=0x420100
	fi
	# A guest that does not go away is for dom0 to see.
	[ "$test" != zombie ] || { options=(only count-512) want='^# zombie'; }

	say "$number of $#: $name, $machine, $vcpus vCPUs"
	xen=$("$TOP/scripts/build.sh" xen "$state")
	attempt "$xen" "${options[@]}"
	if grep -qs "$want" "$logs/verdict.log"; then
		echo "ok $number - $name: $what $test"
		table+="$name|$machine|$vcpus|$what $test"$'\n'
	else
		missed=$((missed + 1))
		sed 's/^/# /' "$logs.out" | tail -n 5
		echo "not ok $number - $name: not $what $test ($logs)"
		table+="$name|$machine|$vcpus|NOT $what $test"$'\n'
	fi
done
printf 'mutant|machine|vCPUs|result\n%s' "$table" | column -t -s '|' | sed 's/^/# /'
[ $missed -eq 0 ]
