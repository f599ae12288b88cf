#!/bin/bash
# bench-unmap.sh: what a grant costs to unmap, by the size of the batch.
#
# The test kernel (xen/tests, `bench`) on stock and patched Xen, boots there and
# back (ABBA), on each of MACHINES (default: vtd amdvi). BOOTS (default 2) a
# side; RUN names the directory (default: OUT/runs/<time>-unmap). It gets, for
# each machine, a CSV file a boot as the kernel printed it, a table of medians
# and a plot. Emulated cycles compare the sides with each other; flush counts
# are exact.
. "$(dirname "$0")/lib.sh"

run=${RUN:-$OUT/runs/$(date +%Y%m%d-%H%M%S)-unmap}
kernel=$("$TOP/scripts/test-kernel.sh")
declare -A xen
for side in base patched; do
	xen[$side]=$("$TOP/scripts/build.sh" xen $side)
done
for machine in ${MACHINES:-vtd amdvi}; do
	mkdir -p "$run/$machine" "$OUT/selftest"
	sides=(base patched) all=() number=0
	for ((boot = 0; boot < ${BOOTS:-2}; boot++)); do
		for side in "${sides[@]}"; do
			number=$((number + 1))
			say "$machine: boot $number of $((2 * ${BOOTS:-2})), $side"
			logs=$OUT/selftest/bench
			XEN=${xen[$side]}/xen KERNEL=$kernel MACHINE=$machine LOGDIR=$logs \
				"$TOP/xen/tests/run.sh" bench >"$logs.out" 2>&1 ||
				die "no figures from $side on $machine: $(tail -n 1 "$logs.out")"
			csv=$run/$machine/$number-$side.csv
			grep -E '^(batch|[0-9]+),' "$logs/verdict.log" >"$csv"
			all+=("$side=$csv")
		done
		sides=("${sides[1]}" "${sides[0]}")
	done
	"$TOP/xen/tests/bench.py" --plot "$run/$machine/unmap.svg" "${all[@]}" | tee "$run/$machine/table.md"
done
{ echo "rig $(git -C "$TOP" describe --always --dirty)"; cat "${xen[base]}/id" "${xen[patched]}/id"; } >"$run/id"
say "kept in $run"
