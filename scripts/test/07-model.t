#!/bin/bash
# What is computed from counted instructions: known answers, and what was published.
# Parallel: yes
. "$(dirname "$0")/tap.sh"
plan 15

py() { python3 -c "import sys; sys.path.insert(0, 'scripts'); import calibrate, costmodel as m, instructions as i
near = lambda a, b: abs(a - b) < 1e-6 * abs(b)
$1"; }
check "a page's time, and back" py 'assert near(m.microseconds(0.64), 51.2) and near(m.microseconds(m.microseconds(3.11)), 3.11)'
check "a price is found again in rows made with it" py 'assert near(m.fit_f([(10 + 40 * f, 10, f) for f in (1, 0.5, 0.03)]), 40)'
check "a fit weighs relative errors" py 'assert near(m.fit_f([(10, 0, 1), (1000, 0, 1)]), (1 / 10 + 1 / 1000) / (1 / 100 + 1 / 1e6))'
check "a line through two points, and through one" py 'assert calibrate.line([(1, 5), (3, 9)]) == (3, 2) and calibrate.line([(4, 9)]) == (5, 1)'
check "a prediction is the inverse of a fit" py 'assert near(m.predict(0.001, 40, 10000, 1 / 32), m.microseconds(11.25))'

cpus='[{"xen": 9, "linux": 9, "user": 9, "other": 9}, {"xen": 1, "linux": 2, "user": 3, "other": 0}, {"xen": 4, "linux": 5, "user": 6, "other": 0}, {"xen": 7, "linux": 8, "user": 9, "other": 1}]'
check "instructions by whose CPU it was" py "assert i.parts($cpus, 2) == {'dom0_xen': 5, 'dom0_linux': 7, 'dom0_user': 9, 'guests': 25}"

# kept NAME GBPS: a run of one cell, as instructions.py keeps it
kept() {
	mkdir "$SCRATCH/$1"
	printf '{"version": 1, "environment": {"mode": "icount", "dom0_vcpus": 2}, "runs": [{"pair": "base/base", "boot": 1, "direction": "domU-dom0", "streams": 1, "run": 1,
		"gbps": %s, "mib": 10, "dom0_xen": 1, "dom0_linux": 1, "dom0_user": 1, "guests": 1}]}' "$2" >"$SCRATCH/$1/instructions.json"
}
kept one 1.00; kept same 1.015; kept other 1.03
check "two runs that agree within 2 %" scripts/instructions.py "$SCRATCH/one" "$SCRATCH/same"
refuses "two runs that do not" 1 'again: .* throughput \+3.00 %' scripts/instructions.py "$SCRATCH/one" "$SCRATCH/other"
refuses "a run without figures" 2 'No such file' scripts/instructions.py "$SCRATCH"
refuses "MODE=calibrated without prices" 2 'takes three prices' scripts/run.py bench --mode calibrated

fits() { for side in base patched; do XEN_PRICES=y scripts/state.sh xen $side || return; done; }
check "the patch that charges prices applies to both sides" fits

told() { py "import report, hotspots
$1"; }
check "a page in virtual time says what its flushes cost" told 'said = lambda **e: report.kind_of_time({"emulated": True, **e})
assert "Virtual time" in said(mode="icount") and "flush costs hardware is not in these figures" in said(mode="icount")
assert said(mode="calibrated", prices="80,0,70").startswith("Simulated, with these prices") and "an IOTLB flush 70" in said(mode="calibrated", prices="80,0,70")
assert said(mode="threads") == report.EMULATED'
check "figures that are the same each time have no test" told 'assert report.change_text(report.Change(1.5, None, None), tested=False) == "+50 %"'
check "a group's instructions a page, and what it gives at most" told 'head, first, second = hotspots.targets({"patched/patched": (100, {
	"Xen gnttab_copy": 10, "Xen __hvm_copy": 30, "Xen p2m_pt_get_entry": 20, "Linux of_no_group": 40})}, "patched/patched")
assert first[1:4] == ("50", "50.0 %", "+100 %") and first[4] == "__hvm_copy, p2m_pt_get_entry", first
assert second[1:4] == ("10", "10.0 %", "+11 %"), second'
refuses "a model of results that are of no such mode" 2 'is not of MODE=icount' scripts/publish.py a-model results/2026-12-03-unmap
