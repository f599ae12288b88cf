#!/usr/bin/env python3
"""Where a page's instructions go, by function, of a run with MODE=icount.

usage: hotspots.py RUN [PAIR [N]]

RUN is a run directory, or one of results/ that has a functions.json. For each
direction and number of streams the N (default 20) functions in which dom0's CPUs
spend most, as instructions a page (4 KiB received), of PAIR (default
patched/patched) and, beside it, of the first pair that the run has. A run
directory gets a functions.json with all functions that make up 0.1 % or more.
Of Linux and Xen code of dom0's CPUs; whatever runs in user space has no names.
Exit: 0; 2 nothing to read.
"""

import bisect
import collections
import json
import pathlib
import sys

import instructions
import judge

PAGE = 4096
GRAIN = 16  # bytes of code the plugin counts together


def symbols(path):
    """(addresses, names) of nm's output, sorted."""
    found = sorted((int(fields[0], 16), fields[2].split("#")[-1]) for fields in map(str.split, path.read_text().splitlines()))
    return [address for address, _ in found], [name for _, name in found]


def functions(directory, mark, cpus):
    """Instructions by function between two marks on some CPUs."""
    tables = {"Xen": symbols(directory / "xen.symbols"), "Linux": symbols(directory / "linux.symbols")}
    counts = collections.Counter()
    for line in open(directory / "profile"):
        at, cpu, address, count = line.split()
        if int(at) != mark or int(cpu) not in cpus:
            continue
        address = int(address, 16)
        which = "Xen" if address < 0xffffffff80000000 else "Linux"
        addresses, names = tables[which]
        index = bisect.bisect_right(addresses, address + GRAIN - 1) - 1
        counts[f"{which} {names[index] if index >= 0 else hex(address)}"] += int(count)
    return counts


def boot_cells(directory, dom0_vcpus):
    """{(direction, streams): (pages, Counter of functions)} of a boot's measured runs."""
    found, marks, ended = {}, 0, None
    for _, message in judge.messages(directory):
        if message.get("type") == "mark":
            marks += 1
            ended = marks if message["what"] == "run-end" else ended
        if message.get("type") == "run" and message["run"]:
            received = message["iperf"]["end"]["sum_received"]["bytes"]
            pages, counts = found.setdefault((message["direction"], message["streams"]), (0, collections.Counter()))
            found[message["direction"], message["streams"]] = (
                pages + received / PAGE, counts + functions(directory, ended, range(1, 1 + dom0_vcpus)))
    return found


def read(path):
    """[{direction, streams, pair, total, functions: {name: instructions a page}}] of a run."""
    kept = path / "functions.json"
    if not (path / "environment.json").exists():
        return json.loads(kept.read_text())["cells"]
    dom0_vcpus = json.loads((path / "environment.json").read_text())["dom0_vcpus"]
    sums = {}
    for directory in sorted(side.parent for side in path.glob("*/sides.json")):
        if judge.boot_verdict(directory)[0] != "pass":
            continue
        sides = json.loads((directory / "sides.json").read_text())
        for cell, (pages, counts) in boot_cells(directory, dom0_vcpus).items():
            key = (*cell, f"{sides['xen']}/{sides['linux']}")
            before = sums.get(key, (0, collections.Counter()))
            sums[key] = (before[0] + pages, before[1] + counts)
    cells = []
    for (direction, streams, pair), (pages, counts) in sorted(sums.items(), key=lambda item: (item[0][:2], instructions.ORDER[item[0][2]])):
        total = sum(counts.values())
        cells.append({"direction": direction, "streams": streams, "pair": pair, "total": round(total / pages, 1), "functions": {
            name: round(count / pages, 1) for name, count in counts.most_common() if count >= total / 1000}})
    kept.write_text(json.dumps({"version": 1, "cells": cells}, indent=1) + "\n")
    return cells


def table(cells, pair, number):
    """Print the functions of each cell."""
    for cell in cells:
        if cell["pair"] != pair:
            continue
        first = next(other for other in cells if (other["direction"], other["streams"]) == (cell["direction"], cell["streams"]))
        print(f"\n{cell['direction']}, {cell['streams']} stream(s): instructions a page of dom0's CPUs in Xen and Linux\n")
        rows = [["function", pair, "share", first["pair"]]]
        rows += [[name, f"{count:.0f}", f"{100 * count / cell['total']:.1f} %", f"{first['functions'].get(name, 0):.0f}"]
                 for name, count in list(cell["functions"].items())[:number]]
        rows.append(["all", f"{cell['total']:.0f}", "", f"{first['total']:.0f}"])
        instructions.print_rows(rows)


def main():
    if not 2 <= len(sys.argv) <= 4:
        print("error: usage: hotspots.py RUN [PAIR [N]]", file=sys.stderr)
        sys.exit(2)
    table(read(pathlib.Path(sys.argv[1])), sys.argv[2] if len(sys.argv) > 2 else "patched/patched", int(sys.argv[3]) if len(sys.argv) > 3 else 20)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, KeyError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
