#!/bin/bash
# Deterministic mode: the same figures again, and a flush that takes its price.
. "$(dirname "$0")/../test/tap.sh"
plan 6

# bench NAME PAIR OPTION...: a short run, one direction
bench() { scripts/run.py bench --pairs "$2" --boots 1 --runs 1 --seconds 1 --directions domU-dom0 --run "$SCRATCH/$1" "${@:3}"; }
check "stock pair, MODE=icount" bench one base/base --mode icount
check "once more" bench two base/base --mode icount
check "both runs agree within 2 %" scripts/instructions.py "$SCRATCH/one" "$SCRATCH/two"
published() {
	python3 -c "
import sys; sys.path.insert(0, 'scripts'); import pathlib, publish
runs, into = [pathlib.Path(run) for run in sys.argv[2:]], pathlib.Path(sys.argv[1])
into.mkdir()
publish.pack([file for number, run in enumerate(runs, 1) for file in publish.taken(run, f'{number}/')], into / 'raw.tar.xz')
publish.remake(into / 'raw.tar.xz', 'icount', into)" "$SCRATCH/published" "$SCRATCH/one" "$SCRATCH/two" &&
		grep -q '^| next target ' "$SCRATCH/published/report.md" && grep -q '^The run of .* at most' "$SCRATCH/published/report.md"
}
check "their report says where a page's instructions go, and how far they are apart" published
check "stock pair, each TLB flush at 30 us and each IOTLB flush at 20 us" bench priced base/base --mode calibrated --prices 30000,0,20000

# What a page takes longer is the price of a flush of each kind, less what others did meanwhile.
charged() { python3 -c "
import sys; sys.path.insert(0, 'scripts'); import costmodel, instructions, json, pathlib
free, priced = (instructions.read(pathlib.Path(sys.argv[1]) / name) for name in ('one', 'priced'))
cell = ('domU-dom0', 1, 'base/base')
longer = costmodel.microseconds(instructions.cells(priced)[cell]['gbps']) - costmodel.microseconds(instructions.cells(free)[cell]['gbps'])
row = json.loads((pathlib.Path(sys.argv[1]) / 'priced/summary.json').read_text())['metrics'][0]
flushes = row['tlb_flushes'] / (row['gbps'][0] * 1e9 / 8 / 4096)
print(longer, flushes)
sys.exit(not 0.7 < longer / (50 * flushes) < 1.1)" "$SCRATCH"; }
check "a page takes that much longer" charged
