#!/bin/bash
# series.sh ACTION xen|linux ...: the patch series and their work trees.
#
#   list HALF DIR [KIND]      the patches (or the rig's own of scripts/KIND,
#                             counters, marks or prices) that fit the source in DIR,
#                             one path a line, in order
#   lay HALF WORK [BASE]      make the git work tree WORK at commit BASE
#                             (default: the source's) with the series applied
#   write HALF WORK           write the series back from WORK, with --base
#   release HALF DIR          the release of the source in DIR, MAJOR.MINOR
#
# A series written for one release stands in HALF/patches-RELEASE; HALF/patches
# serves every other release.
. "$(dirname "$0")/lib.sh"

# release HALF DIR: the release of a source tree, as MAJOR.MINOR.
release() {
	case $1 in
	xen) git -C "$2" show upstream:xen/Makefile |
		sed -nE 's/^(export )?XEN_(VERSION|SUBVERSION) *:?= *//p' ;;
	linux) git -C "$2" show upstream:Makefile | sed -nE 's/^(VERSION|PATCHLEVEL) *= *//p' ;;
	esac | head -n 2 | paste -sd.
}

# patches HALF DIR [counters|marks|prices]: the directory that fits.
patches() {
	local base=$TOP/$1 own
	own=patches-$(release "$1" "$2")
	if [ -n "${3:-}" ]; then
		base=$TOP/scripts/$3 own=${own/patches/$1}
		[ -d "$base/$own" ] && echo "$base/$own" || echo "$base/$1"
	else
		[ -d "$base/$own" ] && echo "$base/$own" || echo "$base/patches"
	fi
}

action=$1 half=$2
case $action in
list)
	find "$(patches "$half" "$3" "${4:-}")" -name '[0-9]*.patch' 2>/dev/null | sort
	;;
lay)
	source=$("$TOP/scripts/source.sh" "$half")
	work=$3 base=${4:-upstream}
	[ ! -e "$work" ] || die "$work exists: edit it there, write it back with make $half-patches, or remove it first"
	git -C "$source" rev-parse -q --verify "$base^{commit}" >/dev/null ||
		die "$source has no commit '$base': name one of its commits, tags or branches"
	mapfile -t series < <("$0" list "$half" "$source")
	[ ${#series[@]} -gt 0 ] || die "no patches in $(patches "$half" "$source")"
	git clone -q --shared --no-checkout "$source" "$work"
	git -C "$work" config user.name "$(git config user.name || echo xen-netback-batch)"
	git -C "$work" config user.email "$(git config user.email || echo rig@localhost)"
	git -C "$work" checkout -q -b series "$(git -C "$source" rev-parse "$base")"
	git -C "$work" branch -qf upstream HEAD
	git -C "$work" am -q "${series[@]}" || die "the series does not apply at $base: solve it in $work (git am --continue)"
	echo "$work: ${#series[@]} patches on $(git -C "$work" log -1 --format='%h %s' upstream)"
	;;
write)
	work=$3
	[ -d "$work/.git" ] || die "$work is no work tree: make $half-tree first"
	[ -z "$(git -C "$work" status --porcelain -uno)" ] || die "$work has changes that are not committed: commit them first"
	into=${4:-$(patches "$half" "$work")}
	mkdir -p "$into"
	into=$(cd "$into" && pwd)
	new=$(mktemp -d "$into/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	git -C "$work" format-patch -q -N --zero-commit --no-signature --full-index --no-thread --no-stat --base=upstream -o "$new" upstream..series
	find "$into" -maxdepth 1 -name '[0-9]*.patch' -delete
	mv "$new"/*.patch "$into"
	echo "$into: $(find "$into" -name '*.patch' | wc -l) patches"
	;;
release) release "$half" "$3" ;;
*) die "series.sh: unknown action '$action'" ;;
esac
