#!/bin/bash
# What is published follows from its raw data, and what does not is noticed.
. "$(dirname "$0")/tap.sh"
plan 8

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

refuses "a name that is taken" 2 'is there already' scripts/publish.py "$(basename "$published")" "$SCRATCH/raw/1"
links() {
	local file missing=0
	for file in $(grep -ohE 'results/[A-Za-z0-9./_-]*[A-Za-z0-9_]' README.md xen/cover-letter.txt linux/cover-letter); do
		[ -e "$file" ] || { echo "$file is not there"; missing=1; }
	done
	return $missing
}
check "every result that README and the cover letters name is there" links
