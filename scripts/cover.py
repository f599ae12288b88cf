#!/usr/bin/env python3
"""Print a cover letter, with the figures it asks for filled in.

usage: cover.py LETTER

A line `@results/NAME` of the letter becomes the comparison in that directory's
summary.json, `@results/NAME#HEADING` the first table below that heading of its
report.md. So no figure is copied by hand, and each names the run it is from.
Exit status: 0; 2 with a line that says what is missing.
"""

import itertools
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


def below(heading, report):
    """The first table below a heading of a report, in columns of plain text."""
    lines = report.split(f"\n## {heading}\n", 1)[1].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in itertools.takewhile(
        lambda line: line.startswith("|"), lines[first:]) if not set(line) <= set("|-: ")]
    # heads are set in lines of one word, as wide as their figures
    heads = [cell.split() for cell in cells[0]]
    depth = max(map(len, heads))
    rows = [*map(list, zip(*([""] * (depth - len(words)) + words for words in heads))), *cells[1:]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    return ["  ".join(value.rjust(width) for value, width in zip(row, widths)).rstrip() for row in rows]


def asked(line):
    """What stands in the place of a line of the letter."""
    if not line.startswith("@results/"):
        return [line]
    name, _, heading = line[1:].strip().partition("#")
    path = TOP / name
    try:
        if heading:
            return [*below(heading, (path / "report.md").read_text()), f"({name}: {heading}, emulated)"]
        return table(name, json.loads((path / "summary.json").read_text()))
    except (OSError, ValueError, KeyError, IndexError, StopIteration) as problem:
        print(f"error: {sys.argv[1]} asks for {name}, which is not to be had: {problem}", file=sys.stderr)
        sys.exit(2)


def main():
    for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
        print("\n".join(asked(line)))


if __name__ == "__main__":
    main()
