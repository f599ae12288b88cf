#!/bin/bash
# The series: each applies, is written back unchanged, and every patch of it
# builds alone without a warning that its parent does not have.
. "$(dirname "$0")/tap.sh"

count() { scripts/series.sh list "$1" "$(scripts/source.sh "$1")" | wc -l; }
xen=$(count xen) linux=$(count linux)
plan $((2 * 2 + xen + linux))

warnings() { grep -c 'warning:' "$1/build.log"; }

# unchanged HALF: what the work tree writes back is what is there.
unchanged() {
	scripts/series.sh write "$1" "$SCRATCH/work" "$SCRATCH/written" &&
		diff -r "$(dirname "$(scripts/series.sh list "$1" "$(scripts/source.sh "$1")" | head -n 1)")" "$SCRATCH/written"
}

# builds HALF N: the result of building the first N patches. Of Linux, whose linking
# takes a minute, only netback itself is built, but for the first and last: what it
# takes from elsewhere has to be in the stock kernel.
builds() {
	local built
	if [ "$1" = xen ] || [ "$2" = 0 ] || [ "$2" = "$linux" ]; then
		scripts/build.sh "$1" "$2"
	else
		built=$(LINUX_PART=drivers/net/xen-netback/ scripts/build.sh linux "${2/part/0}") || return
		comm -23 "$built/undefined" "$SCRATCH/defined" >"$SCRATCH/missing"
		[ ! -s "$SCRATCH/missing" ] || { sed 's/^/undefined: /' "$SCRATCH/missing" >&2; return 1; }
		echo "$built"
	fi
}

# series HALF: its results; its scratch files are its own.
series() {
	local half=$1 work=$SCRATCH/$1/work parent number patch built
	SCRATCH+=/$half
	mkdir "$SCRATCH"
	check "$half: the series applies" scripts/series.sh lay "$half" "$work"
	check "$half: writing it back changes nothing" unchanged "$half"
	rm -rf "$work"

	parent=$(builds "$half" 0)
	if [ "$half" = linux ]; then
		nm --defined-only "$parent/vmlinux" | awk '{ print $3 }' | sort -u >"$SCRATCH/defined"
		parent=$(builds linux part)
	fi
	for ((number = 1; number <= ${!half}; number++)); do
		patch=$(basename "$(scripts/series.sh list "$half" "$(scripts/source.sh "$half")" | sed -n "${number}p")" .patch)
		if built=$(builds "$half" "$number") && [ "$(warnings "$built")" -le "$(warnings "$parent")" ]; then
			result 0 "$half: $patch builds alone"
			parent=$built
		else
			result 1 "$half: $patch builds alone, without a new warning"
		fi
	done
}

# Side by side: much of a build of one patch of Xen is a link, by one process.
(results=$((2 + xen)) && series linux) >"$SCRATCH/linux-results" &
(series xen)
wait
cat "$SCRATCH/linux-results"
