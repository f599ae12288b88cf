#!/bin/bash
# bochs.sh [--if-built]: build Bochs, with VMX and the EPT checker, print the path.
#
# The source is that of scripts/pins/bochs, patched with scripts/bochs/*.patch;
# scripts/bochs/eptcheck goes in as the instrumentation. The result, a directory
# named by a hash of all that, holds `bochs`, the two BIOS images it needs, and
# `id`. With --if-built nothing is built: exit status 1 when it is not there.
# Environment: JOBS.
. "$(dirname "$0")/lib.sh"

own=$TOP/scripts/bochs
jobs=${JOBS:-$(nproc)}
# What Xen needs of a processor, for speed all optimisations, and nothing that a
# machine without a display has no use for.
options=(--with-nogui --without-x11 --without-wx --disable-docbook --disable-readline --disable-debugger --disable-plugins
	--disable-sb16 --enable-cpu-level=6 --enable-x86-64 --enable-smp --enable-vmx=2 --enable-svm --enable-avx --enable-evex
	--enable-monitor-mwait --enable-pci --enable-all-optimizations --enable-instrumentation=instrument/eptcheck)
bios=(/usr/share/bochs/BIOS-bochs-latest /usr/share/seabios/vgabios-stdvga.bin)

pin bochs
key=$( (echo "$sha256 ${options[*]}"; cat "$own"/*.patch "$own"/eptcheck/{instrument.cc,*.h}; gcc -dumpfullversion) | sha256sum | cut -c1-16)
result=$OUT/built/bochs-$key
if [ -x "$result/bochs" ]; then
	echo "$result"
	exit 0
fi
[ "${1:-}" != --if-built ] || exit 1
"$TOP/scripts/deps.sh" packages-ept
archive=$("$TOP/scripts/fetch.sh" bochs)
need_space 500

# Always the same directory, for ccache to find what it knows.
source=$OUT/obj/bochs
exec 9>"$OUT/obj-bochs.lock"
flock -w "${BUILD_TIMEOUT:-3600}" 9 || die "another build of Bochs has gone on for ${BUILD_TIMEOUT:-3600} s"
rm -rf "$source"
mkdir -p "$source"
tar -xJf "$archive" -C "$source" --strip-components=1 --no-same-owner
cd "$source"
for patch in "$own"/*.patch; do
	patch -sp1 -i "$patch" || die "${patch#"$TOP"/} does not apply to $package $version"
done
mkdir instrument/eptcheck
cp "$own"/eptcheck/{instrument.cc,*.h} instrument/stubs/Makefile.in instrument/eptcheck/

say "bochs: building $result"
export CC="cached gcc" CXX="cached g++" CFLAGS="-O3 -g0" CXXFLAGS="-O3 -g0"
logged "bochs configuration" "$OUT/log/bochs-configure.log" ./configure "${options[@]}"
STEPS=970 logged bochs "$OUT/log/bochs.log" make -j"$jobs"

mkdir -p "$result.new"
cp bochs "${bios[@]}" "$result.new/"
strip "$result.new/bochs"
echo "bochs $version, $(find "$own" -name '*.patch' | wc -l) patches" >"$result.new/id"
rm -rf "$result" "$source"
mv "$result.new" "$result"
say "bochs: built"
echo "$result"
