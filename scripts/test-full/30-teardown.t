#!/bin/bash
# Interfaces destroyed, detached, closed by the guest, given another number of
# queues, and renamed under load, with every packet mapped.
. "$(dirname "$0")/../test/tap.sh"
plan 2

for machine in vtd amdvi; do
	rm -rf "$OUT/test/teardown-$machine"
	check "$machine: 20 rounds of teardown under load, no leak, clean console" \
		scripts/run.py teardown --machine $machine --pairs patched/patched --boots 1 --rounds 20 --guest-vcpus 2 \
		--copybreak 0 --run "$OUT/test/teardown-$machine"
done
