#!/bin/bash
# kunit.sh [MUTANT]: run the netback series' KUnit suite in QEMU.
#
# Takes the patched source (LINUX=, LINUX_TREE=), broken first by MUTANT, a
# patch, if one is given. The kernel's own kunit.py builds, boots and judges;
# what it says is printed, and its results are left in
# OUT/obj/kunit-<source>/results.json. Exit: 0 all passed; 1 some did not, or
# there was no verdict in KUNIT_TIMEOUT s (default 120); 2 nothing was run.
. "$(dirname "$0")/lib.sh"

suite=drivers/net/xen-netback
read -r source commit < <("$TOP/scripts/state.sh" linux patched) || exit 2
objects=$OUT/obj/kunit-$(basename "$source")
mkdir -p "$objects"
rm -f "$objects/results.json"

exec 9>"$source.lock"
flock -w "${BUILD_TIMEOUT:-3600}" 9 || die "a build of linux has gone on for ${BUILD_TIMEOUT:-3600} s"
git -C "$source" checkout -q -f --detach "$commit"
cd "$source"
config=("$TOP/scripts/kunit.config" "$source/$suite/.kunitconfig")
[ -f "${config[1]}" ] || die "the series has no $suite/.kunitconfig"
[ $# -eq 0 ] || git apply "$1" || die "$1 does not apply to the patched source"

# kunit.py switches on what is on by default; it is given a configuration that
# says no to all of that, so that less is built. Made each time, as it also says
# which tools this machine has now, which kunit.py compares.
mkdir -p "$objects/least"
logged "kunit configuration" "$objects/config.log" scripts/kconfig/merge_config.sh -n -O "$objects/least" "${config[@]}"
lost=$("$TOP/scripts/config-check.sh" "$objects/least/.config" "${config[@]}") || die "configuration lines did not stick:
$lost"

options=(--arch=x86_64 --build_dir="$objects" --kunitconfig="$objects/least/.config")
logged "kunit kernel" "$objects/build.log" tools/testing/kunit/kunit.py build "${options[@]}" \
	--jobs="${JOBS:-$(nproc)}" --make_options "CC=cached gcc"
timeout $((${KUNIT_TIMEOUT:-120} + 30)) tools/testing/kunit/kunit.py exec "${options[@]}" \
	--timeout="${KUNIT_TIMEOUT:-120}" --json="$objects/results.json" xen_netback 2>&1 || exit 1
grep -qF "$(sed -n 's/^#define UTS_VERSION "\(.*\)"/\1/p' "$objects/include/generated/utsversion.h")" "$objects/test.log" ||
	die "the kernel that ran is not the one that was built"
