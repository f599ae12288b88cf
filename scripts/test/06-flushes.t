#!/bin/bash
# What the series are for: flushes for 1,000 grants unmapped, domU to dom0, with
# each packet mapped (rx-copybreak 0).
. "$(dirname "$0")/tap.sh"
plan 6

# flushes RUN XEN/LINUX KEY OPERATOR BOUND
flushes() {
	python3 - "$@" <<-'END'
		import json, sys
		run, pair, key, operator, bound = sys.argv[1:]
		row, = [row for row in json.load(open(run + "/summary.json"))["metrics"] if f"{row['xen']}/{row['linux']}" == pair]
		each = 1000 * row[key] / row["unmap_grants"]
		print(f"{pair}: {each:.0f} {key} for 1,000 grants, {row['unmap_grants']} grants in {row['unmap_calls']} calls")
		sys.exit(not (each >= int(bound) if operator == "least" else each <= int(bound)))
	END
}

for machine in vtd amdvi; do
	run=$OUT/test/flushes-$machine # kept until the next time
	rm -rf "$run"
	check "$machine: stock and patched run, Xen's and QEMU's IOTLB counts agree" \
		scripts/run.py bench --machine $machine --boots 1 --runs 1 --seconds 3 --directions domU-dom0 --copybreak 0 --run "$run"
	stock() { flushes "$run" base/base tlb_flushes least 900 && flushes "$run" base/base iotlb_flushes least 900; }
	patched() { flushes "$run" patched/patched tlb_flushes most 80 && flushes "$run" patched/patched iotlb_flushes most 80; }
	check "$machine: stock flushes at least 900 times, TLB and IOTLB" stock
	check "$machine: patched flushes at most 80 times, TLB and IOTLB" patched
done
