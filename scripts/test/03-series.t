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

# series HALF: its results; its scratch files are its own.
series() {
	local half=$1 work=$SCRATCH/$1/work parent number patch built
	SCRATCH+=/$half
	mkdir "$SCRATCH"
	check "$half: the series applies" scripts/series.sh lay "$half" "$work"
	check "$half: writing it back changes nothing" unchanged "$half"
	rm -rf "$work"

	parent=$(scripts/build.sh "$half" 0)
	for ((number = 1; number <= ${!half}; number++)); do
		patch=$(basename "$(scripts/series.sh list "$half" "$(scripts/source.sh "$half")" | sed -n "${number}p")" .patch)
		if built=$(scripts/build.sh "$half" "$number") && [ "$(warnings "$built")" -le "$(warnings "$parent")" ]; then
			result 0 "$half: $patch builds alone"
			parent=$built
		else
			result 1 "$half: $patch builds alone, without a new warning"
		fi
	done
}

# Side by side: much of a build of one patch is a link, by one process.
(results=$((2 + xen)) && series linux) >"$SCRATCH/linux-results" &
(series xen)
wait
cat "$SCRATCH/linux-results"
