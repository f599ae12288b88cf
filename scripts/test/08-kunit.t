#!/bin/bash
# The decisions of the netback series, by its own KUnit suite in QEMU; a mutant
# of one of them shows that the run can fail.
# Parallel: yes
. "$(dirname "$0")/tap.sh"
plan 3

# Another run would write its results where these are read.
mkdir -p "$OUT/obj"
exec 8>"$OUT/obj/kunit.lock"
flock -w 600 8 || { echo "another $0 has gone on for 600 s" >&2; exit 2; }

mutant=$TOP/linux/tests/mutants/kick-half-ring.patch
caught_by=$(sed -n 's/^Caught-by: //p' "$mutant")
read -r source commit < <(scripts/state.sh linux patched) || exit 2
git -C "$source" show "$commit:drivers/net/xen-netback/tests/xen_netback_kunit.c" >"$SCRATCH/suite.c" || exit 2
results() { scripts/kunit-results.py "$OUT/obj/kunit-$(basename "$source")/results.json" "$SCRATCH/suite.c"; }

check "the suite passes" scripts/kunit.sh
check "every test and case that the suite declares ran" results

# caught: the same run fails, and in that test alone.
caught() {
	! scripts/kunit.sh "$mutant" || return
	results >"$SCRATCH/mutant"
	cat "$SCRATCH/mutant"
	grep -q "^FAIL $caught_by" "$SCRATCH/mutant" && ! grep -vE "^FAIL $caught_by|^[0-9]+ results of" "$SCRATCH/mutant"
}
check "$(basename "$mutant"): caught by $caught_by" caught
