#!/bin/bash
# Verified payloads over many paths, queues and packet sizes, on the patched
# pair that checks itself: locks, sleep in atomic context, memory after its end.
. "$(dirname "$0")/../test/tap.sh"
plan 2

for machine in vtd amdvi; do
	rm -rf "$OUT/test/matrix-$machine"
	check "$machine: each case of the traffic matrix, no leak, clean console" \
		env LINUX_DEBUG=kasan scripts/run.py matrix --machine $machine --pairs patched/patched --boots 1 --guest-vcpus 2 \
		--run "$OUT/test/matrix-$machine"
done
