#!/bin/bash
# publish.sh RUN NAME: put a run into results/NAME: summary.json, table.txt and,
# compressed, what each boot's guest-side scripts said; of a bench-unmap run all
# it has, which is small. Refuses a name that is taken, and a run that failed.
. "$(dirname "$0")/lib.sh"

run=${1:-} name=${2:-}
[ -d "$run" ] || die "RUN='$run' is no run directory"
[[ $name =~ ^[a-z0-9.-]+$ ]] || die "NAME='$name' names no results: lower case letters, digits, dots and dashes"
into=$TOP/results/$name
[ ! -e "$into" ] || die "results/$name is there already"
if [ -f "$run/summary.json" ]; then
	grep -q '^ "status": "pass"' "$run/summary.json" || die "$run has failed boots; make judge RUN=$run names them"
	mkdir -p "$into/channel"
	cp "$run/summary.json" "$into/"
	"$TOP/scripts/report.py" "$run" >"$into/table.txt"
	for boot in "$run"/*/channel.jsonl; do
		xz -c "$boot" >"$into/channel/$(basename "$(dirname "$boot")").jsonl.xz"
	done
elif [ -f "$run/id" ]; then
	cp -r "$run" "$into"
else
	die "$run holds neither a summary.json nor the figures of bench-unmap"
fi
echo "results/$name"
