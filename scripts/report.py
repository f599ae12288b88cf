#!/usr/bin/env python3
"""Print the comparison of one run directory, or of several as one.

usage: report.py RUN...

Reads each RUN/summary.json and nothing else. The first pair of halves in a
cell, base/base if it is there, is what the others are compared with.

Runs within a boot are not independent, so a boot counts once, by the median of
its runs, and a cell by the geometric mean of its boots. A change is the ratio of
two such means. Its 95 % interval is that of Student's t test on the logarithms
of the boots, by ministat; a star says that it leaves out "no change".
"""

import collections
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

PAIRS = ["base/base", "base/patched", "patched/base", "patched/patched"]
LEAST_BOOTS = 3  # a side that ministat wants
USELESS = 4  # an interval whose ends are this factor apart tells neither half from double
EMULATED = ("Emulated time: Gbit/s compare the sides with each other and say nothing of hardware. "
            "Flush counts are exact.")
VIRTUAL = ("Virtual time: an instruction takes a nanosecond, and all CPUs share that time; Gbit/s say nothing of hardware. "
           "The same build and seed give the same figures each time; each boot of a pair has another seed, and is one sample of what TCP does.")
UNPRICED = "What a TLB or IOTLB flush costs hardware is not in these figures."
PRICED = ("Simulated, with these prices in ns of virtual time: a TLB flush {}, each remote CPU in it {}, an IOTLB flush {}. "
          "Xen's instructions are with those in which it lets that time pass.")


class Missing(Exception):
    """Something this machine or a run lacks; its text says what to do."""


Change = collections.namedtuple("Change", "ratio low high")


def repeatable(environment):
    """Whether the figures are the same each time, being of virtual time."""
    return environment.get("mode", "threads") != "threads"


def kind_of_time(environment):
    """What has to be said wherever Gbit/s stand that are not of hardware, or None."""
    if repeatable(environment):
        prices = environment.get("prices")
        return f"{PRICED.format(*prices.split(','))} {VIRTUAL}" if prices else f"{VIRTUAL} {UNPRICED}"
    return EMULATED if environment.get("emulated") else None


def pair(row):
    return f"{row['xen']}/{row['linux']}"


def boots(row):
    """What each boot of a cell counts for: the median of the figures that could be had."""
    found = {}
    for boot, value in zip(row["boot"], row["gbps"]):
        if value is not None:
            found.setdefault(boot, []).append(value)
    return [statistics.median(values) for _, values in sorted(found.items())]


def median(values):
    """Median of the figures that could be had, or None."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def middle(row):
    """A cell's figure, or None."""
    values = boots(row)
    if not values:
        return None
    return statistics.geometric_mean(values) if min(values) > 0 else 0


def spread(values):
    """Relative standard deviation, %, or None for fewer than two figures."""
    known = [value for value in values if value is not None]
    if len(known) < 2 or not statistics.mean(known):
        return None
    return 100 * statistics.stdev(known) / statistics.mean(known)


def half_width(base, other):
    """Half the 95 % interval of the difference of two means, by ministat.

    ministat prints the interval only where it leaves out 0. It is as wide
    wherever it is, so one side is moved far enough.
    """
    away = 1 + 100 * (max(base + other) - min(base + other))
    with tempfile.TemporaryDirectory() as scratch:
        paths = [pathlib.Path(scratch) / name for name in ("base", "other")]
        for path, values in zip(paths, (base, [value + away for value in other])):
            path.write_text("".join(f"{value:.9f}\n" for value in values))
        try:
            said = subprocess.run(["ministat", "-A", "-c", "95", *paths], capture_output=True, text=True, check=True).stdout
        except FileNotFoundError:
            raise Missing("no ministat, which tests differences: apt-get install ministat") from None
    return float(re.search(r"Difference at 95.0% confidence\n\s+\S+ \+/- (\S+)", said)[1])


def change(base, row):
    """How a cell differs from another: a Change, without an interval for too few boots, or None."""
    if not middle(base) or not middle(row):
        return None
    ratio = middle(row) / middle(base)
    if min(len(boots(base)), len(boots(row))) < LEAST_BOOTS:
        return Change(ratio, None, None)
    width = half_width(*(list(map(math.log, boots(side))) for side in (base, row)))
    return Change(ratio, ratio * math.exp(-width), ratio * math.exp(width))


def useless(found):
    return found.low is not None and found.high / found.low >= USELESS


def change_text(found, tested=True):
    """A change for people; if tested with its interval, and a star where it is one by the test."""
    if found is None:
        return "-"
    ratio, low, high = (None if x is None else f"{100 * (x - 1):+.0f}" for x in found)
    if low is None or not tested:
        return f"{ratio} %" + (", untested" if tested else "")
    if useless(found):
        return f"useless: {low} to {high}"
    return f"{ratio} % ({low} to {high})" + (" *" if found.low > 1 or found.high < 1 else "")


def each(row, key, per, scale=1):
    """row[key] for each row[per], scaled, or None."""
    if row.get(key) is None or not row.get(per):
        return None
    return scale * row[key] / row[per]


def show(value, form):
    return "-" if value is None else form.format(value)


def ordered(summary):
    """The cells in the order of every table."""
    return sorted(summary["metrics"], key=lambda row: (
        row["machine"], row["direction"], row["streams"], PAIRS.index(pair(row))))


def bases(summary):
    """What the cells are compared with: {(machine, direction, streams): the first pair's cell}."""
    found = {}
    for row in ordered(summary):
        found.setdefault((row["machine"], row["direction"], row["streams"]), row)
    return found


HEAD = ("machine", "direction", "streams", "xen/linux", "Gbit/s", "spread", "runs", "boots", "against base",
        "grants/call", "TLB/1000", "IOTLB/1000")


def drawn(rows):
    """Rows of text in columns; the first one is their head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(value.ljust(width) for value, width in zip(row, widths)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return lines


def is_latency(row):
    return row.get("latency_us") is not None


def typical(row):
    """A cell of round trips, with their medians as its figures."""
    return {**row, "gbps": row["latency_us"]["p50"]}


LATENCY_HEAD = ("machine", "round trips", "xen/linux", "p50 us", "spread", "p99 us", "p99.9 us", "runs", "boots", "p50 against base")


def latencies(summary):
    """The cells that are round trips: rows of text under LATENCY_HEAD."""
    rows, base = [], bases(summary)
    for row in filter(is_latency, ordered(summary)):
        first = base[row["machine"], row["direction"], row["streams"]]
        p50, rare = row["latency_us"]["p50"], [median(row["latency_us"][key]) for key in ("p99", "p99.9")]
        rows.append((row["machine"], row["direction"], pair(row), show(middle(typical(row)), "{:.0f}"), show(spread(p50), "{:.0f} %"),
                     *(show(value, "{:.0f}") for value in rare), str(len(p50)), str(len(set(row["boot"]))),
                     "-" if row is first else change_text(change(typical(first), typical(row)))))
    return rows


def setup(environment):
    """What scaling varies: vCPUs of the backend domain, guests that send at once, queues of each."""
    settings = dict(word.split("=") for word in (environment.get("settings") or "").split(",") if word)
    return [environment["dom0_vcpus"], int(settings.get("guests", 1)), min(environment["guest_queues"], environment["guest_vcpus"])]


SETUP_HEAD = ("backend vCPUs", "guests", "queues")
SCALING_HEAD = ("machine", *SETUP_HEAD, "direction", "streams", "xen/linux", "Gbit/s", "spread", "boots", "against base",
                "grants/call", "TLB/1000", "IOTLB/1000", "IPIs/1000")
SCALING_MEANING = ("guests: as many send at once from domU to dom0, with so many streams each; Gbit/s: of all of them together. TLB/1000, IOTLB/1000: flushes for 1,000 grants unmapped by "
                   "the backend; IPIs/1000: interrupts that CPUs had from one another meanwhile, for whatever reason.")


def is_scaling(summary):
    """Whether its runs are of several setups."""
    return any("setup" in row for row in summary["metrics"])


def scaling(summary):
    """The cells by setup: rows of text under SCALING_HEAD."""
    rows, base = [], {}
    for row in sorted(ordered(summary), key=lambda row: row["setup"]):
        first = base.setdefault((*row["setup"], row["machine"], row["direction"], row["streams"]), row)
        rows.append((row["machine"], *map(str, row["setup"]), row["direction"], str(row["streams"]), pair(row),
                     show(middle(row), "{:.3f}"), show(spread(row["gbps"]), "{:.0f} %"), str(len(set(row["boot"]))),
                     "-" if row is first else change_text(change(first, row), not repeatable(summary["environment"])),
                     show(each(row, "unmap_grants", "unmap_calls"), "{:.1f}"),
                     *(show(each(row, key, "unmap_grants", 1000), "{:.0f}") for key in ("tlb_flushes", "iotlb_flushes", "ipis"))))
    return rows


def table(summary):
    """The comparison as text: figures, relative standard deviations, counts."""
    if is_scaling(summary):
        return "\n".join([*drawn([SCALING_HEAD, *scaling(summary)]), *filter(None, [kind_of_time(summary["environment"])]), SCALING_MEANING,
                          *(f"PROBLEM: {problem}" for problem in summary["problems"])])
    rows = [HEAD]
    base = bases(summary)
    for row in ordered(summary):
        if is_latency(row):
            continue
        cell = (row["machine"], row["direction"], row["streams"])
        rows.append((*map(str, cell), pair(row), show(middle(row), "{:.3f}"), show(spread(row["gbps"]), "{:.0f} %"),
                     str(len(row["gbps"])), str(len(set(row["boot"]))),
                     "-" if row is base[cell] else change_text(change(base[cell], row), not repeatable(summary["environment"])),
                     show(each(row, "unmap_grants", "unmap_calls"), "{:.1f}"),
                     show(each(row, "tlb_flushes", "unmap_grants", 1000), "{:.0f}"),
                     show(each(row, "iotlb_flushes", "unmap_grants", 1000), "{:.0f}")))
    lines = drawn(rows) if rows[1:] else []
    if latencies(summary):
        lines += ["", *drawn([LATENCY_HEAD, *latencies(summary)])]
    lines += filter(None, [kind_of_time(summary["environment"])])
    interval = "" if repeatable(summary["environment"]) else "against base: with its 95 % interval, * where that leaves out 0; "
    lines.append("Gbit/s: at the receiver, the mean of the boots' medians; spread: relative standard deviation of the runs; " + interval +
                 "TLB and IOTLB: flushes for 1,000 grants unmapped by the backend.")
    lines += [f"PROBLEM: {problem}" for problem in summary["problems"]]
    return "\n".join(lines)


def added(ours, theirs):
    """Two runs' sums; None if either is."""
    if None in (ours, theirs):
        return None
    return [a + b for a, b in zip(ours, theirs)] if isinstance(ours, list) else ours + theirs


def merged(summaries):
    """Several runs as one; a cell that is in more than one has the boots of all. Of several setups, a cell has its own."""
    setups = [setup(summary["environment"]) for summary in summaries]
    several = any(one != setups[0] for one in setups)
    if several and any(is_latency(row) for summary in summaries for row in summary["metrics"]):
        raise Missing("round trips of several setups, numbers of vCPUs or queues: report each alone")
    result = {**summaries[0], "boots": [], "built": {}, "problems": [], "metrics": []}
    cells, seen = {}, 0
    for summary, of in zip(summaries, setups):
        for key in ("boots", "problems"):
            result[key] = result[key] + summary[key]
        result["built"].update(summary.get("built", {}))
        for row in summary["metrics"]:
            row = {**row, "boot": [seen + boot for boot in row["boot"]], **({"setup": of} if several else {})}
            key = (*of, row["machine"], row["direction"], row["streams"], pair(row))
            if key in cells:
                for name, value in row.items():
                    if isinstance(value, list) and name not in ("sizes", "setup"):
                        cells[key][name] = cells[key][name] + value
                    elif not isinstance(value, str) and name not in ("streams", "setup"):
                        cells[key][name] = added(cells[key].get(name), value)
            else:
                cells[key] = row
                result["metrics"].append(row)
        seen += max((boot for row in summary["metrics"] for boot in row["boot"]), default=0)
    if any(summary["status"] != "pass" for summary in summaries):
        result["status"] = "fail"
    return result


def called(main_of_script):
    """Run a script's main; what it lacks is told in a line, with status 2."""
    try:
        main_of_script()
    except (Missing, OSError, ValueError, KeyError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)


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
    try:
        main()
    except Missing as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
