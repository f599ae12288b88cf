#!/usr/bin/env python3
"""Make a table, and a plot, of what `run.sh bench` printed.

usage: bench.py [--plot FILE.svg] NAME=FILE.csv...

Medians over the rows of one batch size, for each hypervisor named (a name may
come again, with another boot's file): thousands of TSC cycles and flushes, for
each grant unmapped. Ratios are to the first.
"""

import argparse
import csv
import statistics
import subprocess


def read(path, sizes):
    """Add a boot's rows to {batch: {column: [value for each grant, ...]}}."""
    with open(path) as rows:
        for row in csv.DictReader(rows):
            size = sizes.setdefault(int(row["batch"]), {})
            for column in ("map_cycles", "unmap_cycles", "tlb_flushes", "iotlb_flushes"):
                if row[column]:
                    size.setdefault(column, []).append(int(row[column]) / int(row["grants"]))


def cell(sizes, batch, column, scale=1):
    values = sizes.get(batch, {}).get(column)
    return statistics.median(values) / scale if values else None


def show(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def table(sides):
    first = next(iter(sides.values()))
    print("| grants a call | " + " | ".join(
        f"{name}: kcycles unmap | of {next(iter(sides))} | TLB flushes | IOTLB flushes" for name in sides) + " |")
    print("|---:|" + "---:|---:|---:|---:|" * len(sides))
    for batch in sorted(first):
        cells = []
        for sizes in sides.values():
            cycles, base = (cell(s, batch, "unmap_cycles", 1000) for s in (sizes, first))
            cells += [show(cycles, 1), show(cycles and cycles / base, 2),
                      show(cell(sizes, batch, "tlb_flushes"), 4), show(cell(sizes, batch, "iotlb_flushes"), 4)]
        print(f"| {batch} | " + " | ".join(cells) + " |")


def plot(sides, path):
    """Both by gnuplot, side by side, on logarithmic scales."""
    data, cycles, flushes = [], [], []
    for name, sizes in sides.items():
        block = f"$data{len(data)}"
        data.append(f"{block} << END\n" + "".join(
            f"{b} {cell(sizes, b, 'unmap_cycles', 1000)} {cell(sizes, b, 'tlb_flushes')} {cell(sizes, b, 'iotlb_flushes')}\n"
            for b in sorted(sizes)) + "END\n")
        cycles.append(f"{block} using 1:2 with linespoints title '{name}'")
        flushes += [f"{block} using 1:3 with linespoints title '{name}, TLB'",
                    f"{block} using 1:4 with points title '{name}, IOTLB'"]
    script = "".join(data) + f"""
set terminal svg size 900,400 background 'white'
set datafile missing 'None'
set output '{path}'
set multiplot layout 1,2
set logscale x 2
set logscale y
set grid
set xlabel 'grants a hypercall'
set title 'thousand TSC cycles for each grant unmapped, emulated'
plot {", ".join(cycles)}
set title 'flushes for each grant unmapped'
plot {", ".join(flushes)}
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plot")
    parser.add_argument("files", nargs="+", metavar="NAME=FILE.csv")
    chosen = parser.parse_args()
    sides = {}
    for name, path in (log.split("=", 1) for log in chosen.files):
        read(path, sides.setdefault(name, {}))
    table(sides)
    if chosen.plot:
        plot(sides, chosen.plot)


if __name__ == "__main__":
    main()
