#!/bin/bash
# The PVH test kernel on stock and patched Xen: neither leaves a stale
# translation, to a processor or to a device, nor leaks a grant.
. "$(dirname "$0")/tap.sh"
plan 8

for debug in y n; do
	for side in patched base; do
		for machine in vtd amdvi; do
			check "test kernel, $machine, $side, $([ $debug = y ] && echo debug || echo release)" \
				env XEN_DEBUG=$debug MACHINES=$machine scripts/selftest.sh $side
		done
	done
done
