#!/bin/bash
# The patched pair, debug builds, boots and carries verified payloads; after
# the guests are gone, so are their grants.
. "$(dirname "$0")/tap.sh"
plan 2

for machine in vtd amdvi; do
	rm -rf "$OUT/test/verify-$machine" # kept until the next time
	check "$machine: payloads verified in three directions, no leak, clean console" \
		scripts/run.py verify --machine $machine --pairs patched/patched --boots 1 --run "$OUT/test/verify-$machine"
done
