#!/bin/bash
# EPT and NPT, in Bochs, with a TLB that forgets nothing: short, and only where
# Bochs is built already (make bochs).
# Parallel: yes
. "$(dirname "$0")/tap.sh"
plan 6

drop_rules() {
	g++ -std=c++11 -Wall -Wextra -Werror -o "$SCRATCH/drop-rules" scripts/bochs/eptcheck/test.cc && "$SCRATCH/drop-rules"
}
check "what the checker's TLB drops, and what it keeps" drop_rules

names=("test kernel, ept: no page is used that was given back"
	"ept: a missing flush of TLBs is caught by the checker"
	"INVEPT ignored: the checker reports"
	"test kernel, npt: no page is used that was given back"
	"stock: 256 rounds of INVEPT for 256 grants, patched: 1")
if ! scripts/bochs.sh --if-built >/dev/null; then
	for name in "${names[@]}"; do skip "$name" "Bochs is not built: make bochs"; done
	exit
fi

# kernel STATE OPTION...: the test kernel in Bochs, with the checker.
export XEN_DEBUG=n MACHINES=ept EPT_CHECK=on
kernel() { OPTIONS="${*:2}" scripts/selftest.sh "$1"; }

check "${names[0]}" kernel patched
# The tables are right then, and so is all that the kernel reads in Bochs: none
# but the checker can tell.
refuses "${names[1]}" 1 'a page was used that had been given back' kernel mutant/tlb-flush-missing only tlb-read-of-writable
# A checker that never reports would pass the first test.
EPT_CHECK=ignore-invept refuses "${names[2]}" 1 'a page was used that had been given back' kernel patched only count-256
MACHINES=npt check "${names[3]}" kernel patched

# rounds STATE WANTED: TLB flushes, each an interruption of all CPUs the domain
# runs on, that Xen counted in four calls which unmap 256 grants each.
rounds() {
	EPT_CHECK=off kernel "$1" bench >/dev/null || return
	grep -E "^256,0,1024,[0-9]*,[0-9]*,$2," "$OUT/selftest/$1-ept-2/verdict.log"
}
both() { rounds base 1024 && rounds patched 4; }
check "${names[4]}" both
