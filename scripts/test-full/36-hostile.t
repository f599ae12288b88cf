#!/bin/bash
# A frontend that attacks netback, stock and patched: each attack has the outcome
# that scripts/guest/run-hostile expects of it, the same on both sides, and what it
# had granted is free again in the end. Mutants of netback show that these can fail.
. "$(dirname "$0")/../test/tap.sh"
mutants=(cross-page page-stays-mapped frag-list-counts-frags empty-slot-copied)
plan $((1 + ${#mutants[@]}))

# hostile NAME ARGUMENT...: a run, which is kept until the next time.
hostile() {
	rm -rf "$OUT/test/$1"
	scripts/run.py hostile --boots 1 --run "$OUT/test/$1" "${@:2}"
}
check "stock and patched bear a hostile frontend alike" hostile hostile

# caught MUTANT: by the attack that it names, while another goes as it should.
caught() {
	local attack
	attack=$(sed -n 's/^Caught-by: hostile //p' "linux/tests/mutants/$1.patch")
	! hostile "hostile-$1" --pairs "patched/mutant:$1" --attacks "small,$attack" >"$SCRATCH/run" 2>&1 || return
	grep -E 'attack|error' "$SCRATCH/run"
	grep -q '  ok attack small,' "$SCRATCH/run" && grep -q "  NOT OK attack $attack," "$SCRATCH/run"
}
for mutant in "${mutants[@]}"; do
	check "$mutant: caught" caught "$mutant"
done
