#!/usr/bin/env python3
"""Print a cover letter, with the figures it asks for filled in.

usage: cover.py LETTER

A line `@results/NAME` of the letter becomes the comparison in that directory's
summary.json, `@results/NAME/FILE` the text of that file. So no figure is
copied by hand, and each names the run it is from.
Exit status: 0; 2 with a line that says what is missing.
"""

import json
import pathlib
import sys

from report import each, middle, show, spread

TOP = pathlib.Path(__file__).resolve().parent.parent
HEAD = ("direction", "streams", "xen/linux", "Gbit/s", "spread", "TLB/1000", "IOTLB/1000")


def table(name, summary):
    """The comparison, narrow enough for a mail."""
    environment = summary["environment"]
    rows = [HEAD]
    for row in sorted(summary["metrics"], key=lambda row: (row["direction"], row["streams"], row["xen"], row["linux"])):
        rows.append((row["direction"], str(row["streams"]), f"{row['xen']}/{row['linux']}",
                     show(middle(row), "{:.3f}"), show(spread(row["gbps"]), "{:.0f} %"),
                     show(each(row, "tlb_flushes", "unmap_grants", 1000), "{:.0f}"),
                     show(each(row, "iotlb_flushes", "unmap_grants", 1000), "{:.0f}")))
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["  ".join(value.ljust(width) for value, width in zip(row, widths)).rstrip() for row in rows]
    where = f"{environment['host_cpu']}, {environment['emulator']}" if environment["emulated"] else environment["host_cpu"]
    lines.append(f"({name}: {environment['machine']}, {where})")
    return lines


def asked(line):
    """What stands in the place of a line of the letter."""
    if not line.startswith("@results/"):
        return [line]
    name = line[1:].strip()
    path = TOP / name
    try:
        if not path.is_dir():
            return path.read_text().splitlines()
        return table(name, json.loads((path / "summary.json").read_text()))
    except (OSError, ValueError, KeyError) as problem:
        print(f"error: {sys.argv[1]} asks for {name}, which is not to be had: {problem}", file=sys.stderr)
        sys.exit(2)


def main():
    for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
        print("\n".join(asked(line)))


if __name__ == "__main__":
    main()
