#!/bin/bash
# Netback on EPT and NPT under a TLB that forgets nothing (scripts/bochs/eptcheck), in
# the configurations that change what the tables hold or how they are walked: no page
# is used that was given back. Takes about 40 minutes on an idle machine.
. "$(dirname "$0")/../test/tap.sh"
plan 11
export BOOT_TIMEOUT=${BOOT_TIMEOUT:-900} XEN_DEBUG=n LINUX_DEBUG=n

# run NAME PLAN MACHINE OPTION...: boots of it, every packet mapped, with the checker.
run() {
	local directory=$OUT/test/ept-$1 # kept until the next time
	rm -rf "$directory"
	scripts/run.py "$2" --machine "$3" --boots 1 --runs 1 --seconds 2 --copybreak 0 --ept-check on --run "$directory" \
		--directions domU-dom0,domU-domU,dom0-domU,flood "${@:4}"
}

# holds NAME EXPRESSION: of what the checker counted in each boot (`b`), and of all
# rows of the table (`rows`); it repeated ten million walks at least in each boot.
holds() {
	python3 - "$OUT/test/ept-$1/summary.json" "$2" <<-'END'
		import json, sys
		summary = json.load(open(sys.argv[1]))
		for boot in summary["boots"]:
		    print(boot["ept_check"])
		    if boot["ept_check"]["rewalks"] < 10_000_000:
		        sys.exit(f"{boot['directory']}: too few walks to tell")
		    if not eval(sys.argv[2], {"b": boot["ept_check"], "rows": summary["metrics"]}):
		        sys.exit(f"{boot['directory']}: not so: {sys.argv[2]}")
	END
}

# strict NAME TITLE EXPRESSION PLAN MACHINE OPTION...: and the expression holds.
strict() {
	both() { run "$1" "${@:3}" && holds "$1" "$2"; }
	check "$2: no page is used that was given back" both "$1" "$3" "${@:4}"
}

one=(--pairs patched/patched --settings)
strict release "ept, stock and patched, 2 CPUs, no A/D bits" 'b["ad_bits"] == 0' bench ept --settings warmup=0
check "ept: flushes for 1,000 grants: stock 1,000, patched at most 80" holds release \
	'all((900 <= each <= 1000) if row["xen"] == "base" else each <= 80 for row in rows if row["direction"] != "dom0-domU"
		for each in [1000 * row["tlb_flushes"] / row["unmap_grants"]])'
XEN_DEBUG=y LINUX_DEBUG=y strict debug "ept, stock and patched, debug builds" True bench ept --settings warmup=0
strict verify "ept, payloads verified, no grant left" True verify ept "${one[@]}" megabytes=8
strict one-cpu "ept, 1 CPU" True bench ept --dom0-vcpus 1 "${one[@]}" warmup=0
# exit 62: the page-modification log is full
strict pml "ept, writes logged by PML, A/D bits" 'b["ad_bits"] and b["exits"].get("62")' bench ept-pml "${one[@]}" warmup=0,backend_p2m=log-dirty
# tables: dom0's and three guests' at least, and the backend's alternate ones
strict altp2m "ept, altp2m" 'b["tables"] > 4' bench ept-altp2m "${one[@]}" warmup=0,backend_p2m=altp2m
strict npt "npt, stock and patched" True bench npt --settings warmup=0
strict balloon "ept, superpages split beside the grants" 'b["large_pages"]' bench ept "${one[@]}" warmup=0,balloon=1

# A checker that never reports would pass all of these.
ignored() { run ignored bench ept "${one[@]}" warmup=0 --ept-check ignore-invept --directions domU-dom0; }
refuses "ept, INVEPT ignored: the checker reports" 1 'uses of a page that was given back' ignored
no_asids() { MACHINES=npt EPT_CHECK=ignore-invept OPTIONS="only count-256" scripts/selftest.sh patched; }
refuses "npt, ASIDs ignored: the checker reports" 1 'a page was used that had been given back' no_asids
