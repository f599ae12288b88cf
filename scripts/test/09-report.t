#!/bin/bash
# What is published follows from its raw data, and what does not is noticed.
# Parallel: yes
. "$(dirname "$0")/tap.sh"
plan 15

check "each published report is made again from its raw data, without a difference" make -s report-check

# A copy of a published run in which one thing is not as it was.
published=$(grep -l '"plan": "bench"' results/*/summary.json | head -n 1)
published=${published%/summary.json}
copy=$SCRATCH/copy/$(basename "$published")
tampered() {
	rm -rf "$copy" && mkdir -p "$SCRATCH/copy" && cp -r "$published" "$copy" && sed -i "$2" "$copy/$1"
}
tampered report.md '/^| domU-dom0 | 1 /s/| 0\./| 9./'
refuses "a figure of a table that was changed" 1 'report.md differs' scripts/publish.py --check "$copy"
plot=$(basename "$(echo "$published"/throughput-*.svg | cut -d ' ' -f 1)")
tampered "$plot" 's/<path /<path id="x" /'
refuses "a plot that was changed" 1 "$plot differs" scripts/publish.py --check "$copy"
tampered report.md '' && rm "$copy/summary.json"
refuses "a file that is missing" 1 'summary.json is missing' scripts/publish.py --check "$copy"
tampered report.md '' && echo more >"$copy/more.md"
refuses "a file that comes from nowhere" 1 'more.md is not made from the raw data' scripts/publish.py --check "$copy"

# One boot's figures changed in the raw data.
tampered report.md '' && mkdir "$SCRATCH/raw" && tar -xJf "$copy/raw.tar.xz" -C "$SCRATCH/raw"
sed -i 's/\(sum_received[^}]*bits_per_second[^0-9]*\)[0-9]/\19/' "$SCRATCH"/raw/1/01-*/channel.jsonl
tar -cJf "$copy/raw.tar.xz" -C "$SCRATCH/raw" 1
refuses "raw data that were changed" 1 'summary.json differs' scripts/publish.py --check "$copy"

# tells TEXT BASE OTHER: what a comparison says of two cells, each boot:figure...
tells() {
	(cd scripts && python3 - "$@") <<-'END'
		import sys
		import report
		expected, *cells = sys.argv[1:]
		rows = [{"boot": [int(run.split(":")[0]) for run in cell.split()], "gbps": [float(run.split(":")[1]) for run in cell.split()]}
		        for cell in cells]
		said = report.change_text(report.change(*rows))
		print(said)
		sys.exit(said != expected)
	END
}
# 1.5 x; the intervals are exp(0.405465 +- t(4, 0.975) s sqrt(2/3)), t = 2.776445, s of the logarithms
check "a difference that the test bears out has its interval and a star" \
	tells '+50 % (+23 to +84) *' '1:0.9 2:1 3:1.111111' '1:1.4 2:1.5 3:1.607143'
check "one that it does not bear out has no star" tells '+50 % (-11 to +154)' '1:0.9 2:1 3:1.111111' '1:1.1 2:1.5 3:2.045455'
check "cells whose spread is too large are called useless" tells 'useless: -37 to +256' '1:0.7 2:1 3:1.428571' '1:1 2:1.5 3:2.25'
check "many runs in two boots prove nothing" tells '+50 %, untested' '1:1 1:1 1:1 2:1 2:1 2:1' '1:1.5 1:1.5 2:1.5'
check "a boot counts once, by its median run" tells '+50 % (+23 to +84) *' '1:0.9 1:0.9 1:5 2:1 3:1.111111' '1:1.4 2:1.5 3:1.607143'

setups() {
	mkdir "$SCRATCH/two" "$SCRATCH/four" && cp "$published/summary.json" "$SCRATCH/two" &&
		sed 's/"dom0_vcpus": 2/"dom0_vcpus": 4/' "$published/summary.json" >"$SCRATCH/four/summary.json" &&
		scripts/report.py "$SCRATCH/two" "$SCRATCH/four" >"$SCRATCH/setups" &&
		for vcpus in 2 4; do
			[ "$(grep -c " $vcpus  *1  *1  *domU-dom0  *1  *base/base" "$SCRATCH/setups")" -eq 1 ] || return
		done
}
check "runs with other numbers of vCPUs are not taken together, but told by them" setups

senders() {
	(cd scripts && python3 - <<-'END'
		import judge
		good, bad = {"end": {"sum_received": {"bits_per_second": 1e9}}}, {"error": "no route"}
		assert [judge.gbps({"iperf": iperf}) for iperf in (good, [good, good, good], [good, bad], bad, None)] == [1, 3, None, None, None]
	END
	)
}
check "the senders of a run count together, and not at all when one failed" senders

refuses "a name that is taken" 2 'is there already' scripts/publish.py "$(basename "$published")" "$SCRATCH/raw/1"
links() {
	local missing
	missing=$(grep -ohE 'results/[A-Za-z0-9./_-]*[A-Za-z0-9_]' README.md xen/cover-letter.txt linux/cover-letter |
		while read -r file; do [ -e "$file" ] || echo "$file is not there"; done)
	echo "$missing"
	[ -z "$missing" ]
}
check "every result that README and the cover letters name is there" links
