#!/bin/bash
# state.sh xen|linux STATE: make a commit of the half in a given state.
#
# STATE: `base` (as upstream), `patched` (the whole series), N (its first N
# patches), and of Xen `fault-injection` or `mutant/NAME`: the series with
# what xen/tests/ has under that name. The rig's own counters
# (scripts/counters) are added to each, on top, unless COUNTERS=n, and with
# XEN_MARKS=y its marks for the EPT checker (scripts/marks), with XEN_PRICES=y
# what lets a flush take a given time (scripts/prices, needs the counters). Prints
# the source directory and the commit; touches no file of the work tree, so that
# a build stays incremental.
. "$(dirname "$0")/lib.sh"

half=$1 state=$2
dir=$("$TOP/scripts/source.sh" "$half")
mapfile -t series < <("$TOP/scripts/series.sh" list "$half" "$dir")
mutation=()
case $state in
base) series=() ;;
patched) ;;
fault-injection | mutant/*)
	tests=$TOP/$half/tests
	patch=$tests/mutants/${state#mutant/}.patch
	if [ "$state" = fault-injection ] || grep -qs '^Needs: fault-injection$' "$patch"; then
		mutation=("$tests"/fault-injection/*.patch)
	fi
	[ "$state" = fault-injection ] || mutation+=("$patch")
	[ -f "${mutation[-1]}" ] || die "no mutant '${state#mutant/}'; known: $(cd "$tests/mutants" && echo *.patch)"
	;;
*) series=("${series[@]:0:$state}") ;;
esac
counters=()
[ "${COUNTERS:-y}" = n ] || mapfile -t counters < <("$TOP/scripts/series.sh" list "$half" "$dir" counters)
[ "$half${XEN_MARKS:-n}" != xeny ] || mapfile -t -O ${#counters[@]} counters < <("$TOP/scripts/series.sh" list xen "$dir" marks)
[ "$half${XEN_PRICES:-n}" != xeny ] || mapfile -t -O ${#counters[@]} counters < <("$TOP/scripts/series.sh" list xen "$dir" prices)

upstream=$(git -C "$dir" rev-parse upstream)
inputs=$( (echo "$upstream"; cat /dev/null "${series[@]}" "${counters[@]}" "${mutation[@]}") | sha256sum | cut -c1-16)
ref=refs/rig/$inputs
if ! git -C "$dir" rev-parse -q --verify "$ref" >/dev/null; then
	GIT_INDEX_FILE=$(mktemp "$OUT/index.XXXXXX")
	export GIT_INDEX_FILE
	trap 'rm -f "$GIT_INDEX_FILE"' EXIT
	git -C "$dir" read-tree "$upstream"
	for patch in "${series[@]}" "${counters[@]}" "${mutation[@]}"; do
		error=$(git -C "$dir" apply --cached "$patch" 2>&1) ||
			die "${patch#"$TOP"/} does not apply to $dir ($(git -C "$dir" log -1 --format=%s upstream)): $(echo "$error" | head -n 1)"
	done
	commit=$(git -C "$dir" -c user.name=rig -c user.email=rig@localhost \
		commit-tree -p "$upstream" -m "$half $state" "$(git -C "$dir" write-tree)")
	git -C "$dir" update-ref "$ref" "$commit"
fi
echo "$dir" "$(git -C "$dir" rev-parse "$ref")"
