#!/usr/bin/env python3
"""Print the comparison of one run directory, or of several as one.

usage: report.py RUN...

Reads each RUN/summary.json and nothing else. The first pair of halves in a
cell, base/base if it is there, is what the others are compared with.
"""

import json
import pathlib
import statistics
import sys


def median(values):
    """Median of the figures that could be had, or None."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def spread(values):
    """Relative standard deviation, %, or None for fewer than two figures."""
    known = [value for value in values if value is not None]
    if len(known) < 2 or not statistics.mean(known):
        return None
    return 100 * statistics.stdev(known) / statistics.mean(known)


def each(row, key, per, scale=1):
    """row[key] for each row[per], scaled, or None."""
    if row.get(key) is None or not row.get(per):
        return None
    return scale * row[key] / row[per]


def show(value, form):
    return "-" if value is None else form.format(value)


HEAD = ("machine", "direction", "streams", "xen/linux", "Gbit/s", "spread", "runs", "boots", "against base",
        "grants/call", "TLB/1000", "IOTLB/1000")


def table(summary):
    """The comparison as text: medians, relative standard deviations, counts."""
    environment = summary["environment"]
    rows = [HEAD]
    base = {}
    order = {"base/base": 0, "base/patched": 1, "patched/base": 2, "patched/patched": 3}
    metrics = sorted(summary["metrics"], key=lambda row: (
        row["machine"], row["direction"], row["streams"], order[f"{row['xen']}/{row['linux']}"]))
    for row in metrics:
        cell = (row["machine"], row["direction"], row["streams"])
        pair = f"{row['xen']}/{row['linux']}"
        middle = median(row["gbps"])
        base.setdefault(cell, (pair, middle))
        ratio = middle / base[cell][1] if middle and base[cell][1] and base[cell][0] != pair else None
        rows.append((*map(str, cell), pair, show(middle, "{:.3f}"), show(spread(row["gbps"]), "{:.0f} %"),
                     str(len(row["gbps"])), str(len(set(row["boot"]))), show(ratio, "x {:.2f}"),
                     show(each(row, "unmap_grants", "unmap_calls"), "{:.1f}"),
                     show(each(row, "tlb_flushes", "unmap_grants", 1000), "{:.0f}"),
                     show(each(row, "iotlb_flushes", "unmap_grants", 1000), "{:.0f}")))
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["  ".join(value.ljust(width) for value, width in zip(row, widths)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    if environment.get("emulated"):
        lines.append("Emulated time: Gbit/s compare the sides with each other and say nothing of hardware. "
                     "Flush counts are exact.")
    lines.append("Gbit/s: median at the receiver; spread: relative standard deviation; TLB and IOTLB: flushes for "
                 "1,000 grants unmapped by the backend.")
    lines += [f"PROBLEM: {problem}" for problem in summary["problems"]]
    return "\n".join(lines)


def merged(summaries):
    """Several runs as one summary; rows of the same cell are not mixed."""
    first = dict(summaries[0])
    for other in summaries[1:]:
        first["metrics"] = first["metrics"] + other["metrics"]
        first["problems"] = first["problems"] + other["problems"]
    return first


def main():
    if len(sys.argv) < 2:
        print("error: name a run directory: make report RUN=build/runs/<time>", file=sys.stderr)
        sys.exit(2)
    summaries = []
    for run in sys.argv[1:]:
        try:
            summaries.append(json.loads((pathlib.Path(run) / "summary.json").read_text()))
        except (OSError, ValueError) as problem:
            print(f"error: {run} holds no summary: {problem}", file=sys.stderr)
            sys.exit(2)
    print(table(merged(summaries)))


if __name__ == "__main__":
    main()
