#!/bin/bash
# build.sh xen|linux STATE: build a half, print the directory of the result.
#
# STATE as for state.sh: base, patched, N, or a mutant. The result holds the binary
# (`xen`, ELF32 for multiboot, or `vmlinux`), its `config`, `build.log`, `id`:
# what it was made from, and `symbols`: where its functions are, as nm tells. It
# is named by a hash of all that went into it and never built twice.
# Environment: XEN_DEBUG=y or LINUX_DEBUG=y (or kasan) for a debug build,
# LINUX_MODULAR=y for netback as a module (`xen-netback.ko` beside the binary), JOBS.
# LINUX_PART=<directory>/ for no kernel, but what that directory has alone; the result
# then holds `build.log`, `config`, `id`, and `undefined`: the symbols it takes from elsewhere.
. "$(dirname "$0")/lib.sh"

half=$1 state=$2 modular=n
jobs=${JOBS:-$(nproc)}
case $half in
xen)
	fragments=("$TOP/scripts/xen.config") debug=${XEN_DEBUG:-n} binary=xen symbols=xen-syms steps=700
	[ "$debug" = n ] || fragments+=("$TOP/scripts/xen-debug.config")
	;;
linux)
	fragments=("$TOP/Kconfig.snippet" "$TOP/scripts/rig.config") debug=${LINUX_DEBUG:-n} binary=vmlinux symbols=vmlinux steps=1850
	[ "$debug" = n ] || fragments+=("$TOP/scripts/linux-debug.config")
	[ "$debug" != kasan ] || fragments+=("$TOP/scripts/linux-kasan.config")
	[ "${LINUX_MODULAR:-n}" = n ] || modular=y
	;;
*) die "build.sh takes xen or linux, not '$half'" ;;
esac
read -r source commit < <("$TOP/scripts/state.sh" "$half" "$state") || exit 2
if [ "$half" = linux ]; then # what one release alone has
	release=$(git -C "$source" show "$commit:Makefile" | sed -nE 's/^(VERSION|PATCHLEVEL) *= *//p' | paste -sd.)
	[ ! -f "$TOP/scripts/rig-$release.config" ] || fragments+=("$TOP/scripts/rig-$release.config")
	[ $modular = n ] || fragments+=("$TOP/scripts/linux-modular.config")
	part=${LINUX_PART:-}
fi

key=$( (git -C "$source" rev-parse "$commit^{tree}"; cat "${fragments[@]}"; echo -n "${part:-}"; gcc -dumpfullversion) | sha256sum | cut -c1-16)
result=$OUT/built/$half-$key
if [ -f "$result/id" ]; then
	echo "$result"
	exit 0
fi
need_space 3000

exec 9>"$source.lock"
flock -w "${BUILD_TIMEOUT:-3600}" 9 || die "another build of $half has gone on for ${BUILD_TIMEOUT:-3600} s"
case $debug in
n) suffix=release ;;
y) suffix=debug ;;
*) suffix=$debug ;;
esac
[ $modular = n ] || suffix+=-modular
objects=$OUT/obj/$(basename "$source")-$suffix
log=$objects/build.log
label="$half $state ($suffix${part:+, $part})"
mkdir -p "$objects"
git -C "$source" checkout -q -f --detach "$commit"
export KBUILD_BUILD_VERSION=1 KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_USER=rig KBUILD_BUILD_HOST=rig
export XEN_BUILD_DATE=2026-01-01 XEN_BUILD_TIME=00:00:00 XEN_WHOAMI=rig XEN_DOMAIN=rig

# stuck CONFIG FRAGMENT...: each line asked for is in the configuration.
stuck() {
	local lost
	lost=$("$TOP/scripts/config-check.sh" "$@") || die "$label: configuration lines did not stick:
$lost"
}

# undefined ARCHIVE: the symbols that none of its members defines.
undefined() {
	comm -23 <(nm -u "$1" | awk 'NF == 2 { print $2 }' | sort -u) <(nm --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort -u)
}

say "$label: building $result"
case $half in
xen)
	cat "${fragments[@]}" >"$objects/wanted"
	if ! cmp -s "$objects/wanted" "$objects/wanted.done"; then
		cp "$objects/wanted" "$objects/.config"
		logged "$label configuration" "$objects/config.log" make -C "$source/xen" O="$objects" olddefconfig
		cp "$objects/wanted" "$objects/wanted.done"
	fi
	stuck "$objects/.config" "${fragments[@]}"
	STEPS=$steps logged "$label" "$log" make -C "$source/xen" O="$objects" -j"$jobs" CC="cached gcc"
	;;
linux)
	cat "${fragments[@]}" >"$objects/wanted"
	if ! cmp -s "$objects/wanted" "$objects/wanted.done"; then
		(cd "$source" && logged "$label configuration" "$objects/config.log" \
			scripts/kconfig/merge_config.sh -n -O "$objects" "${fragments[@]}")
		cp "$objects/wanted" "$objects/wanted.done"
	fi
	stuck "$objects/.config" "${fragments[@]}"
	targets=("${part:-vmlinux}")
	[ $modular = n ] || targets+=(modules)
	STEPS=$steps logged "$label" "$log" make -C "$source" O="$objects" LOCALVERSION= -j"$jobs" CC="cached gcc" "${targets[@]}"
	;;
esac

mkdir -p "$result.new"
cp "$objects/.config" "$result.new/config"
cp "$log" "$result.new/build.log"
printf '%s %s, %s, on %s\n' "$half" "$state" "$suffix" "$(git -C "$source" log -1 --format='%s %h' upstream)" >"$result.new/id"
if [ -n "${part:-}" ]; then
	undefined "$objects/${part}built-in.a" >"$result.new/undefined"
else
	cp "$objects/$binary" "$result.new/$binary"
	[ $modular = n ] || cp "$objects/drivers/net/xen-netback/xen-netback.ko" "$result.new/"
	nm -n "$objects/$symbols" | grep -i ' t ' >"$result.new/symbols"
	[ "$half" = xen ] || strip --strip-debug "$result.new/$binary"
fi
rm -rf "$result"
mv "$result.new" "$result"
say "$label: built"
echo "$result"
