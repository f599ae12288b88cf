#!/usr/bin/env python3
"""Instructions a MiB and virtual-time throughput of runs with MODE=icount.

usage: instructions.py RUN [AGAIN]

RUN is a run directory (of run.py), or one of results/ that has an
instructions.json. For each cell a line: throughput in virtual time, where an
instruction takes a nanosecond and all CPUs share that time, and instructions
for each MiB received: of Xen on dom0's CPUs, of dom0's Linux and programs, and
of the guests with what Xen does on their CPUs. A figure is the median of the
runs; the spread is that of all instructions over the boots, each of which has a
seed of its own (run.py): a boot is the same again each time, but TCP is a chaotic
system, of which it is one sample. A run directory gets an instructions.json with
what the table was made from.
AGAIN: a second run of the same; each cell of both must agree within TOLERANCE.
Exit: 0; 1 a cell differs, or a run lacks its figure; 2 nothing to read.

What a TLB or IOTLB flush costs hardware is not in these figures, nor is waiting.
"""

import json
import os
import pathlib
import statistics
import sys

import judge
import report

TOLERANCE = float(os.environ.get("TOLERANCE", 2))  # %
PARTS = ("dom0_xen", "dom0_linux", "dom0_user", "guests")
HEAD = ("direction", "streams", "xen/linux", "Gbit/s, virtual", "dom0 Xen", "dom0 Linux", "dom0 programs", "guests", "all", "spread", "boots", "against base")
MEANING = ("Million instructions a MiB received. dom0 Xen: of Xen on dom0's CPUs; guests: with what Xen does on theirs; "
           "spread: relative standard deviation of all of them over the boots, each with a seed of its own.")


def parts(cpus, dom0_vcpus):
    """Instructions by PARTS from those of each CPU; CPU 0 is Xen's own, then come dom0's."""
    dom0, guests = cpus[1:1 + dom0_vcpus], cpus[1 + dom0_vcpus:]
    return {**{f"dom0_{kind}": sum(cpu[kind] for cpu in dom0) for kind in ("xen", "linux", "user")},
            "guests": sum(sum(cpu.values()) for cpu in guests)}


def boot_runs(directory, dom0_vcpus):
    """The measured runs of a boot: [{direction, streams, run, gbps, mib, seconds, PARTS...}].

    The plugin's lines and the channel's marks are of the same moments, in the
    same order; a line has what was executed since the one before.
    """
    counted = [json.loads(line) for line in (directory / "instructions.jsonl").read_text().splitlines()]
    found, marks, started, executed = [], 0, None, None
    for _, message in judge.messages(directory):
        if message.get("type") == "mark":
            marks += 1
            if message["what"] == "run-start":
                started = message["uptime"]
            if message["what"] == "run-end" and marks <= len(counted):
                executed = {"seconds": round(message["uptime"] - started, 2), **parts(counted[marks - 1]["cpus"], dom0_vcpus)}
        if message.get("type") == "run":
            if message["run"]:
                found.append({"direction": message["direction"], "streams": message["streams"], "run": message["run"],
                              "gbps": judge.gbps(message), "mib": (judge.received(message, "bytes") or 0) / 2 ** 20, **(executed or {})})
            executed = None
    return found


def read(path):
    """The runs of all good boots of a run directory, or what was kept of them."""
    kept = path / "instructions.json"
    if not (path / "environment.json").exists():
        return json.loads(kept.read_text())
    environment = json.loads((path / "environment.json").read_text())
    runs = []
    for directory in sorted(side.parent for side in path.glob("*/sides.json")):
        sides = json.loads((directory / "sides.json").read_text())
        if judge.boot_verdict(directory)[0] == "pass":
            runs += [{"pair": f"{sides['xen']}/{sides['linux']}", "boot": sides["boot"], **run}
                     for run in boot_runs(directory, environment["dom0_vcpus"])]
    data = {"version": 1, "environment": environment, "runs": runs}
    kept.write_text(json.dumps(data, indent=1) + "\n")
    return data


def cells(data):
    """{(direction, streams, pair): {figure: median}}, of runs that gave all of them."""
    grouped = {}
    for run in data["runs"]:
        if run["gbps"] and run["mib"] and "guests" in run:
            figures = {part: run[part] / run["mib"] / 1e6 for part in PARTS}
            grouped.setdefault((run["direction"], run["streams"], run["pair"]), []).append(
                {"boot": run["boot"], "gbps": run["gbps"], **figures, "all": sum(figures.values())})
    return {cell: {**{name: statistics.median(each[name] for each in group) for name in group[0]},
                   "boots": len({each["boot"] for each in group}), "spread": report.spread([each["all"] for each in group])}
            for cell, group in sorted(grouped.items(), key=lambda item: (item[0][0], item[0][1], report.PAIRS.index(item[0][2])))}


def lines(data):
    """The cells under HEAD; the first pair of a cell is what the others are compared with."""
    base = {}
    for (direction, streams, pair), figures in cells(data).items():
        first = base.setdefault((direction, streams), (pair, figures["all"]))
        yield (direction, str(streams), pair, f"{figures['gbps']:.3f}", *(f"{figures[part]:.2f}" for part in PARTS),
               f"{figures['all']:.2f}", report.show(figures["spread"], "{:.1f} %"), str(figures["boots"]), "-" if first[0] == pair else f"{100 * (figures['all'] / first[1] - 1):+.1f} %")


def table(data):
    """The cells as text."""
    return "\n".join([*report.drawn([HEAD, *lines(data)]), MEANING, report.kind_of_time(data["environment"])])


def differences(one, other):
    """[(cell, figure, %)] of throughput and instructions, one against the other."""
    first, second = cells(one), cells(other)
    return [(cell, name, 100 * (second[cell][name] / first[cell][name] - 1))
            for cell in first if cell in second for name in ("gbps", "all")], first.keys() ^ second.keys()


def of_other_builds(paths):
    """Which of the things that were booted differ between run directories, or published ones, as far as each tells."""
    first, *others = (json.loads(path.read_text())["built"] if path.exists() else {}
                      for path in (path / "summary.json" for path in paths))
    return sorted({name for other in others for name in first.keys() & other.keys() if first[name] != other[name]})


def main():
    if len(sys.argv) not in (2, 3):
        print("error: usage: instructions.py RUN [AGAIN]", file=sys.stderr)
        sys.exit(2)
    paths = [pathlib.Path(path) for path in sys.argv[1:]]
    data = [read(path) for path in paths]
    print(table(data[0]))
    if any(not run["gbps"] or "guests" not in run for each in data for run in each["runs"]) or not all(each["runs"] for each in data):
        print("error: a run has no figure, or no boot was good", file=sys.stderr)
        sys.exit(1)
    if len(data) == 2:
        other = of_other_builds(paths)
        if other:
            print(f"again: not of the same builds, so of other samples: {', '.join(other)}")
        found, lacking = differences(*data)
        for (direction, streams, pair), name, percent in found:
            print(f"again: {direction} {streams} {pair} {'throughput' if name == 'gbps' else 'instructions'} {percent:+.2f} %")
        for cell in sorted(lacking):
            print(f"again: {' '.join(map(str, cell))}: in one of the runs only")
        sys.exit(1 if lacking or not found or any(abs(percent) > TOLERANCE for _, _, percent in found) else 0)


if __name__ == "__main__":
    report.called(main)
