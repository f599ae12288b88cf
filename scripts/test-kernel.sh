#!/bin/bash
# test-kernel.sh: build the PVH test kernel (xen/tests), print its path.
#
# Like a half, it lands in a directory named by a hash of what went into it.
. "$(dirname "$0")/lib.sh"

tests=$TOP/xen/tests
key=$( (cat "$tests"/*.[chS] "$tests"/*.lds "$tests/Makefile"; gcc -dumpfullversion) | sha256sum | cut -c1-16)
result=$OUT/built/test-kernel-$key
if [ ! -f "$result/test-kernel" ]; then
	mkdir -p "$result"
	logged "test kernel" "$result/build.log" make -C "$tests" OUT="$result"
fi
echo "$result/test-kernel"
