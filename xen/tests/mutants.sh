#!/bin/sh
# Break the patched hypervisor in one way after another, and see the test
# kernel notice.
#
#   TREE=dir KERNEL=path ./mutants.sh [name...]
#
# TREE is a source tree of the patched hypervisor that one may write to, with
# a configuration; OBJ, where it is built, if not in the tree. Each patch in
# mutants/ says which test is to catch it (Caught-by) and what that takes:
# Machine (default vtd), Vcpus (default 2), Needs: fault-injection.
# Prints TAP. Variables of run.sh are passed on; logs go to LOGDIR/<name>.
# shellcheck disable=SC2012,SC2035,SC2046,SC2086 # lists of names without blanks
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${TREE:?is to name a source tree of the patched hypervisor}"
: "${KERNEL:?is to name the test kernel}"
OBJ=${OBJ:-$TREE/xen}
LOGDIR=${LOGDIR:-$(mktemp -d)}
JOBS=${JOBS:-$(nproc)}
logs=$LOGDIR

field()
{
	sed -n "s/^$1: //p" "$here/mutants/$name.patch"
}

build()
{
	make -C "$TREE/xen" O="$OBJ" -j"$JOBS" ${CC:+CC="$CC"} > "$LOGDIR/build.log" 2>&1
}

# The test that is to notice, and the tests that need no other to be run.
try()
{
	patch -s -d "$TREE" -p1 < "$1" || return
	shift
	if [ $# -gt 0 ]; then
		try "$@"
	else
		build && XEN=$OBJ/xen "$here/run.sh" $args > "$LOGDIR/out" 2>&1
		status=$?
	fi
}

undo()
{
	for p in "$@"; do
		patch -s -R -d "$TREE" -p1 < "$p"
	done
}

[ $# -gt 0 ] || set -- $(cd "$here/mutants" && ls *.patch | sed 's/\.patch$//')
echo "TAP version 13"
echo "1..$#"
n=0 missed=0
for name; do
	n=$((n + 1))
	LOGDIR=$logs/$name
	rm -rf "$LOGDIR" && mkdir -p "$LOGDIR"
	MACHINE=$(field Machine) VCPUS=$(field Vcpus) test=$(field Caught-by)
	MACHINE=${MACHINE:-vtd} VCPUS=${VCPUS:-2}
	export LOGDIR MACHINE VCPUS

	patches=$here/mutants/$name.patch
	args="only $test"
	if [ "$(field Needs)" = fault-injection ]; then
		patches="$(echo "$here"/fault-injection/*.patch) $patches"
		args="$args inject"
		export XEN_ARGS=iotlb_inject=0x420100
	else
		unset XEN_ARGS
	fi
	[ "$test" != zombie ] || args="only count-512"

	status=
	try $patches
	undo $(for p in $patches; do echo "$p"; done | tac)

	if [ "$test" = zombie ]; then
		grep -q '^# zombie' "$LOGDIR/verdict.log"
	else
		grep -q "^not ok [0-9]* - $test " "$LOGDIR/verdict.log"
	fi && echo "ok $n - $name: caught by $test" || {
		missed=$((missed + 1))
		echo "not ok $n - $name: $test did not catch it, run.sh returned ${status:-nothing} ($LOGDIR)"
	}
done
[ $missed -eq 0 ]
