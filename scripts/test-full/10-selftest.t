#!/bin/bash
# The PVH test kernel with one and with four processors, and as a guest without
# an IOMMU; the usual machines with two are in make test.
# Tests: xen scripts
. "$(dirname "$0")/../test/tap.sh"
plan 10

for vcpus in 1 4; do
	for machine in vtd amdvi; do
		check "test kernel, $machine, $vcpus vCPUs, patched" env MACHINES=$machine VCPUS=$vcpus scripts/selftest.sh patched
	done
done
for vcpus in 1 2 4; do
	for side in patched base; do
		check "test kernel, guest, $vcpus vCPUs, $side" env MACHINES=guest VCPUS=$vcpus scripts/selftest.sh $side
	done
done
