#!/bin/bash
# EPT, in Bochs, at length: netback in a driver domain under the checker, which
# looks at 10 million uses or more of translations that may be cached.
. "$(dirname "$0")/../test/tap.sh"
plan 6

# traffic NAME [VARIABLE=VALUE...]: stock and patched, all directions.
traffic() {
	local run=$OUT/test/ept-$1 # kept until the next time
	rm -rf "$run"
	env "${@:2}" scripts/run.py bench --machine ept --ept-check on --boots 1 --runs 4 --seconds 5 --run "$run" \
		--dom0-vcpus "${cpus:-2}" --copybreak 0
}
# looked NAME: how often, all boots of a run together.
looked() {
	python3 - "$OUT/test/ept-$1/summary.json" <<-'END'
		import json, sys
		boots = [boot["ept_check"] for boot in json.load(open(sys.argv[1]))["boots"]]
		print([(boot["rewalks"], boot["stale"], boot["stale_after_release"]) for boot in boots])
		sys.exit(not boots or any(boot["rewalks"] < 10_000_000 or boot["stale_after_release"] for boot in boots))
	END
}
for debug in n y; do
	check "traffic, two CPUs, Xen $([ $debug = y ] && echo debug || echo release)" traffic "$debug" XEN_DEBUG=$debug LINUX_DEBUG=n
	check "10 million uses a boot, none of a page given back" looked "$debug"
done
cpus=1
check "traffic, one CPU" traffic one XEN_DEBUG=n LINUX_DEBUG=n
check "10 million uses a boot, none of a page given back" looked one
