#!/bin/bash
# mutants.sh [NAME...]: break the patched hypervisor in one way after another,
# and see the test kernel (xen/tests) notice.
#
# Each patch in xen/tests/mutants says which test is to catch it (Caught-by)
# and what that takes: Machine (default vtd), Vcpus (default 2), Needs:
# fault-injection, Attempts: how often to try where a race decides (default 1).
# The name fault-injection stands for the patched hypervisor with that alone,
# which the test of failing flushes has to pass. Default: all.
# Where Bochs is built (make bochs), each is also run there, on ept and npt, with
# the checker of nested translations, by all tests that need no IOMMU; a mutant
# that says `Ept-check: yes` has to be caught by the checker too, and the name
# `patched` stands for the hypervisor that all tests have to pass there.
# Prints TAP and a table; keeps the logs in OUT/mutants, those of Bochs in
# OUT/mutants/ept and npt, each of which make report takes as a RUN.
. "$(dirname "$0")/lib.sh"

tests=$TOP/xen/tests
if [ $# -eq 0 ]; then
	mapfile -t names < <(cd "$tests/mutants" && basename -s .patch -- *.patch)
	set -- fault-injection "${names[@]}"
	control=patched
fi

field() {
	sed -n "s/^$1: //p" "$tests/mutants/$name.patch" 2>/dev/null
}

# attempt XEN ARGUMENT...: boot the test kernel with those arguments.
attempt() {
	local xen=$1
	shift
	rm -rf "$logs" && mkdir -p "$logs"
	XEN=$xen/xen KERNEL=$kernel MACHINE=$machine VCPUS=$vcpus LOGDIR=$logs \
		BOCHS=$bochs XEN_ARGS=$injected "$tests/run.sh" "$@" >"$logs.out" 2>&1 || :
}

# on_bochs MACHINE: what the tests and the checker say there of $state, added to
# $seen; fails when that is not what it has to be.
on_bochs() {
	local xen after failed
	xen=$(XEN_MARKS=y "$TOP/scripts/build.sh" xen "$state")
	logs=$OUT/mutants/$1/$name machine=$1 vcpus=2 injected=
	EPT_CHECK=on attempt "$xen"
	after=$(sed -n '$s/.*"stale_after_release":\([0-9]*\).*/\1/p' "$logs/eptcheck.jsonl" 2>/dev/null)
	failed=$(sed -n 's/^not ok [0-9]* - \([^ ]*\).*/\1/p' "$logs/verdict.log" 2>/dev/null | paste -sd ' ')
	seen+="|checker: ${after:-nothing}; tests: ${failed:-none}"
	[ "$state" != patched ] || grep -q ' 0 failed' "$logs.out" || return
	case $state$(field Ept-check) in
	patched) [ "$after" = 0 ] ;;
	*yes) [ "${after:-0}" -gt 0 ] ;;
	esac
}

rm -rf "$OUT"/mutants/{ept,npt}
mkdir -p "$OUT"/mutants/{ept,npt}
kernel=$("$TOP/scripts/test-kernel.sh")
bochs=$("$TOP/scripts/bochs.sh" --if-built) || :
[ -z "$bochs" ] || [ -z "${control-}" ] || set -- "$control" "$@"
echo "1..$#"
number=0 missed=0 table=
for name; do
	number=$((number + 1))
	logs=$OUT/mutants/$name
	if [ "$name" = patched ]; then
		state=$name machine='ept, npt' vcpus=2 needs='' test='all tests and the checker' what="passed by"
	elif [ "$name" = fault-injection ]; then
		state=$name machine=vtd vcpus=2 needs=$name test=flush-fails
		what="passed by" want="^ok [0-9]* - $test # [0-9]* ms"
	else
		state=mutant/$name machine=$(field Machine) vcpus=$(field Vcpus) needs=$(field Needs) test=$(field Caught-by)
		what="caught by" want="^not ok [0-9]* - $test "
	fi
	machine=${machine:-vtd} vcpus=${vcpus:-2} injected=
	attempts=$(field Attempts) || :
	attempts=${attempts:-1}
	options=(only "$test")
	if [ "$needs" = fault-injection ]; then
		options+=(inject) injected=iotlb_inject=0x420100
	fi

	say "$number of $#: $name, $machine, $vcpus vCPUs"
	if [ "$name" != patched ]; then
		xen=$("$TOP/scripts/build.sh" xen "$state")
		for ((tries = 1; tries <= attempts; tries++)); do
			attempt "$xen" "${options[@]}"
			! grep -qs "$want" "$logs/verdict.log" || break
		done
		[ "$tries" -le "$attempts" ] || what="NOT $what"
	fi
	row="$name|$machine|$vcpus|$what $test" said=$logs.out seen=
	if [ -n "$bochs" ] && [ "$name" != fault-injection ]; then
		for tables in ept npt; do
			on_bochs $tables || what="NOT as it has to be on $tables; $what" said=$OUT/mutants/$tables/$name.out
		done
	fi
	table+="$row$seen"$'\n'
	if [ "${what#NOT}" = "$what" ]; then
		echo "ok $number - $name: $what $test"
	else
		missed=$((missed + 1))
		sed 's/^/# /' "$said" | tail -n 5
		echo "not ok $number - $name: $what $test ($logs)"
	fi
done
printf 'mutant|machine|vCPUs|result|ept|npt\n%s' "$table" | column -t -s '|' | sed 's/^/# /'
[ $missed -eq 0 ]
