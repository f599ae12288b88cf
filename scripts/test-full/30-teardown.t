#!/bin/bash
# Interfaces destroyed, detached, closed by the guest, given another number of
# queues, renamed, and netback unloaded, all under load, with every packet mapped.
. "$(dirname "$0")/../test/tap.sh"
plan 2

export LINUX_MODULAR=y
for machine in vtd amdvi; do
	rm -rf "$OUT/test/teardown-$machine"
	check "$machine: ${ROUNDS:-24} rounds of teardown under load, no leak, clean console" \
		scripts/run.py teardown --machine $machine --pairs patched/patched --boots 1 --rounds "${ROUNDS:-24}" --guest-vcpus 2 \
		--copybreak 0 --run "$OUT/test/teardown-$machine"
done
