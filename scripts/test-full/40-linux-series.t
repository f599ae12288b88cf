#!/bin/bash
# What netdev asks of each patch, on every release of Linux that is pinned:
# checkpatch --strict; and allmodconfig's xen-netback, for x86-64 and arm64,
# builds with the patches up to it and with no warning of gcc (W=1) or sparse
# (C=1) that its parent does not have.
# Where the machine's sparse is too old for a release, as Debian 12's 0.6.4 is
# for 7.3, that is told by a skipped result.
# RELEASES, ARCHES: to check less.
# Tests: linux scripts/pins scripts/*.sh scripts/test/tap.sh
. "$(dirname "$0")/../test/tap.sh"

read -ra releases <<<"${RELEASES:-$(cd scripts/pins && echo linux-*)}"
read -ra arches <<<"${ARCHES:-x86_64 arm64}"
for tool in sparse aarch64-linux-gnu-gcc; do
	command -v $tool >/dev/null || { echo "error: no $tool: apt-get install sparse gcc-aarch64-linux-gnu" >&2; exit 2; }
done

# sparse_serves DIR: newer sources say themselves what their checker must know;
# one that does not is left out by make, with no more than a warning.
sparse_serves() { [ ! -f "$1/scripts/checker-valid.sh" ] || [ "$(sh "$1/scripts/checker-valid.sh" sparse)" = 1 ]; }

# build RELEASE ARCH NUMBER: the warnings of the first NUMBER patches' build
# go to $SCRATCH/RELEASE-ARCH-NUMBER, without their line numbers.
build() {
	local source commit objects make log=$SCRATCH/build.log directory=drivers/net/xen-netback cross=
	read -r source commit < <(scripts/state.sh linux "$3") || return
	objects=$OUT/obj/allmod-$1-$2
	[ "$2" = x86_64 ] || cross=aarch64-linux-gnu-
	make=(make -s -C "$source" O="$objects" ARCH="$2" "CROSS_COMPILE=$cross" "CC=ccache ${cross}gcc" "-j${JOBS:-2}" LOCALVERSION=)
	mkdir -p "$objects"
	(
		flock -w "${BUILD_TIMEOUT:-3600}" 9 || exit
		git -C "$source" checkout -q -f --detach "$commit" || exit
		[ -f "$objects/.config" ] || "${make[@]}" allmodconfig || exit
		"$source/scripts/config" --file "$objects/.config" -d WERROR # they are compared
		rm -rf "${objects:?}/$directory"
		"${make[@]}" olddefconfig && "${make[@]}" prepare && "${make[@]}" W=1 "C=$checked" $directory/
	) 9>"$source.lock" >"$log" 2>&1 </dev/null || { tail -n 25 "$log"; return 1; }
	grep -E '(warning|error):' "$log" | sed -E "s|$source/||; s/:[0-9]+(:[0-9]+)?:/:/" | sort >"$SCRATCH/$1-$2-$3"
}

# builds RELEASE ARCH NUMBER: and says nothing that NUMBER - 1 did not.
builds() {
	[ -f "$SCRATCH/$1-$2-$(($3 - 1))" ] || build "$1" "$2" $(($3 - 1)) || return
	build "$1" "$2" "$3" || return
	! comm -13 "$SCRATCH/$1-$2-$(($3 - 1))" "$SCRATCH/$1-$2-$3" | grep .
}

total=0
for release in "${releases[@]}"; do
	source=$(LINUX=${release#linux-} scripts/source.sh linux) || exit 2
	total=$((total + 1 + (1 + ${#arches[@]}) * $(scripts/series.sh list linux "$source" | wc -l)))
done
plan $total

for release in "${releases[@]}"; do
	export LINUX=${release#linux-}
	source=$(scripts/source.sh linux)
	checked=1
	if sparse_serves "$source"; then
		result 0 "$release: sparse can check it"
	else
		checked=0
		skip "$release: sparse can check it" "$(sparse --version) is too old for it"
	fi
	number=0
	while read -r patch; do
		number=$((number + 1))
		name="$release: $(basename "$patch" .patch | cut -c1-40)"
		check "$name: checkpatch --strict" scripts/checkpatch.sh "$source" "$patch"
		for arch in "${arches[@]}"; do
			check "$name: $arch, W=1 C=$checked, no new warning" builds "$release" "$arch" $number
		done
	done < <(scripts/series.sh list linux "$source")
done
