"""Plots of a summary, as SVG, by gnuplot.

Each function but model takes a summary (judge.py), a machine's name and the file to write.
"""

import statistics
import subprocess

import report

COLOURS = {"base/base": "#888888", "base/patched": "#d08000", "patched/base": "#3070c0", "patched/patched": "#208040"}
SETTINGS = """set terminal svg size {width},{height} font 'sans,12' background 'white'
set output '{path}'
set datafile missing '?'
set grid ytics
set key above horizontal maxcols {keys} samplen 2 width 1
"""


def gnuplot(path, width, height, commands, keys=2):
    settings = SETTINGS.format(width=width, height=height, path=path, keys=keys)
    try:
        subprocess.run(["gnuplot"], input="\n".join([settings, *commands, ""]), text=True, check=True)
    except FileNotFoundError:
        raise report.Missing("no gnuplot: apt-get install gnuplot-nox") from None


def cells(summary, machine):
    """The cells of a machine, and which directions and pairs there are, in the tables' order."""
    rows = [row for row in report.ordered(summary) if row["machine"] == machine and not report.is_latency(row)]
    pairs = sorted({report.pair(row) for row in rows}, key=report.PAIRS.index)
    return rows, sorted({row["direction"] for row in rows}), pairs


def block(name, lines):
    """A named block of data."""
    return "\n".join([f"${name} << END", *(" ".join("?" if value is None else str(value) for value in line)
                                           for line in lines), "END"])


def throughput(summary, machine, path):
    """By streams, a panel for each direction; bars from the lowest to the highest boot."""
    rows, directions, pairs = cells(summary, machine)
    streams = sorted({row["streams"] for row in rows})
    environment = summary["environment"]
    unit = "Gbit/s" + (" of virtual time" if report.repeatable(environment) else ", emulated" if environment.get("emulated") else "")
    commands = ["set logscale x 2", f"set xrange [{streams[0] / 1.6}:{streams[-1] * 1.6}]",
                f"set xtics ({', '.join(map(str, streams))})", "set yrange [0:*]",
                "set xlabel 'streams'", f"set ylabel '{unit}'", f"set multiplot layout 1,{len(directions)}"]
    for direction in directions:
        curves = []
        for number, pair in enumerate(pairs):
            # beside one another, or the bars hide each other
            aside = 1.06 ** (number - (len(pairs) - 1) / 2)
            data = [(f"{row['streams'] * aside:.4f}", report.middle(row), min(report.boots(row)), max(report.boots(row)))
                    for row in rows if (row["direction"], report.pair(row)) == (direction, pair) and report.boots(row)]
            if data:
                name = f"{direction}_{number}".replace("-", "_")
                commands.append(block(name, data))
                curves.append(f"${name} using 1:2:3:4 with yerrorlines lw 1.5 pt 7 ps 0.5 "
                              f"lc rgb '{COLOURS[pair]}' title '{pair}'")
        commands.append(f"set title '{direction}'")
        commands.append(f"plot {', '.join(curves)}" if curves else "plot 0 notitle")
    gnuplot(path, 320 * len(directions) + 20, 380, commands)


def flushes(summary, machine, path):
    """TLB and IOTLB flushes for 1,000 grants, by direction and streams."""
    rows, _, pairs = cells(summary, machine)
    groups = list(dict.fromkeys((row["direction"], row["streams"]) for row in rows))
    found = {(row["direction"], row["streams"], report.pair(row)): row for row in rows}
    # side by side, or one above the other if they are wide
    down, across = (1, 2) if len(groups) * len(pairs) < 20 else (2, 1)
    commands = ["set style data histograms", "set style histogram clustered gap 1", "set boxwidth 0.9",
                "set logscale y", "set yrange [1:2000]", "set xtics rotate by -30",
                "set rmargin 8", "set ylabel 'flushes for 1,000 grants'", f"set multiplot layout {down},{across}"]
    for kind in ("tlb", "iotlb"):
        lines = []
        for group in groups:
            row = [report.each(found.get((*group, pair), {}), f"{kind}_flushes", "unmap_grants", 1000) for pair in pairs]
            lines.append((f'"{group[0]} {group[1]}"', *row))
        commands += [block(kind, lines), f"set title '{kind.upper()}'", "plot " + ", ".join(
            f"${kind} using {column}:xtic(1) fs solid 0.8 lc rgb '{COLOURS[pair]}' title '{pair}'"
            for column, pair in enumerate(pairs, 2))]
    gnuplot(path, across * max(350, 20 * len(groups) * len(pairs)), down * 400, commands)


def scaling(summary, path):
    """Throughput, and IPIs for 1,000 grants: a column for each part of a setup that varies, the others as in most runs."""
    setups = [row["setup"] for row in summary["metrics"]]
    usual = [statistics.mode(part) for part in zip(*setups)]
    varied = [part for part in range(len(usual)) if len({setup[part] for setup in setups}) > 1]
    rows = sorted(report.ordered(summary), key=lambda row: row["setup"])
    series = list(dict.fromkeys((row["machine"], row["direction"], row["streams"], report.pair(row)) for row in rows))
    commands = ["set logscale x 2", f"set multiplot layout 2,{len(varied)}"]
    for number, (label, of, style) in enumerate((
            ("Gbit/s" + (", emulated" if summary["environment"].get("emulated") else ""),
             lambda row: (report.middle(row), min(report.boots(row), default=None), max(report.boots(row), default=None)), "yerrorlines"),
            ("IPIs for 1,000 grants", lambda row: (report.each(row, "ipis", "unmap_grants", 1000),), "linespoints"))):
        for part in varied:
            values, curves = set(), []
            for index, one in enumerate(series):
                data = [(row["setup"][part], *of(row)) for row in rows
                        if (row["machine"], row["direction"], row["streams"], report.pair(row)) == one
                        and all(row["setup"][other] == usual[other] for other in range(len(usual)) if other != part)]
                values |= {line[0] for line in data}
                commands.append(block(f"s{number}_{part}_{index}", data))
                curves.append(f"$s{number}_{part}_{index} with {style} lw 1.5 pt {7 - index // len(report.PAIRS) * 2} ps 0.5 "
                              f"lc rgb '{COLOURS[one[3]]}' title '{one[3]}'")
            commands += [f"set xtics ({', '.join(map(str, sorted(values)))})", f"set xrange [{min(values) / 1.3}:{max(values) * 1.3}]",
                         "set yrange [0:*]", f"set xlabel '{report.SETUP_HEAD[part]}'", f"set ylabel '{label}'", f"plot {', '.join(curves)}"]
    gnuplot(path, 340 * len(varied) + 20, 660, commands)


def latencies(summary, machine, path):
    """Percentiles of round trips, a panel for each kind of them; bars from the lowest to the highest run."""
    rows = [row for row in report.ordered(summary) if row["machine"] == machine and report.is_latency(row)]
    kinds = list(dict.fromkeys(row["direction"] for row in rows))
    least = min(min(row["latency_us"]["p50"]) for row in rows)
    commands = ["set style data histograms", "set style histogram errorbars gap 1 lw 1.5", "set boxwidth 0.9",
                "set logscale y", f"set yrange [{least / 2}:*]",
                f"set ylabel 'us{', emulated' if summary['environment'].get('emulated') else ''}'", f"set multiplot layout 1,{len(kinds)}"]
    for number, kind in enumerate(kinds):
        found = [row for row in rows if row["direction"] == kind]
        lines = []
        for percentile in ("p50", "p99", "p99.9"):
            values = [row["latency_us"][percentile] for row in found]
            lines.append((percentile, *(part for each in values for part in (report.median(each), min(each), max(each)))))
        commands += [block(f"kind{number}", lines), f"set title '{kind}'", "plot " + ", ".join(
            f"$kind{number} using {3 * column + 2}:{3 * column + 3}:{3 * column + 4}:xtic(1) fs solid 0.8 "
            f"lc rgb '{COLOURS[report.pair(row)]}' title '{report.pair(row)}'" for column, row in enumerate(found))]
    gnuplot(path, 320 * len(kinds) + 20, 380, commands)


def sizes(summary, machine, path):
    """Calls by the number of grants in them, a panel for each direction, all numbers of streams together."""
    rows, directions, pairs = cells(summary, machine)
    calls = {}
    for row in rows:
        if row.get("sizes") and sum(row["sizes"]):
            key = (row["direction"], report.pair(row))
            calls[key] = [a + b for a, b in zip(calls.get(key, [0] * len(row["sizes"])), row["sizes"])]
    directions = [direction for direction in directions if any(key[0] == direction for key in calls)]
    if not directions:
        return
    last = max(index for values in calls.values() for index, value in enumerate(values) if value)
    commands = ["set style data histograms", "set style histogram clustered gap 1", "set boxwidth 0.9",
                "set yrange [0:*]", "set xtics rotate by -45", "set xlabel 'grants a call'", "set ylabel '% of the calls'",
                f"set multiplot layout 1,{len(directions)}"]
    for direction in directions:
        here = [pair for pair in pairs if (direction, pair) in calls]
        lines = []
        for index in range(1, last + 1):
            low, high = 2 ** (index - 1), 2 ** index - 1
            lines.append((f'"{low}"' if low == high else f'"{low}-{high}"',
                          *(f"{100 * calls[direction, pair][index] / sum(calls[direction, pair]):.3f}" for pair in here)))
        name = direction.replace("-", "_")
        commands += [block(name, lines), f"set title '{direction}'", "plot " + ", ".join(
            f"${name} using {column}:xtic(1) fs solid 0.8 lc rgb '{COLOURS[pair]}' title '{pair}, {sum(calls[direction, pair])} calls'"
            for column, pair in enumerate(here, 2))]
    gnuplot(path, 440 * len(directions) + 20, 400, commands, keys=1)


def model(table, predicted, simulated, path):
    """Published throughput by streams, what costmodel.rows made of it as lines, and what calibrate.simulated did."""
    directions = sorted({row[0] for row in predicted})
    streams = sorted({row[1] for row in predicted})
    published = {"base/base": 0, "patched/base": 1}
    commands = ["set logscale x 2", f"set xrange [{streams[0] / 1.6}:{streams[-1] * 1.6}]",
                f"set xtics ({', '.join(map(str, streams))})", "set yrange [0:*]", "set xlabel 'streams'",
                "set ylabel 'Gbit/s, published or predicted'", f"set multiplot layout 1,{len(directions)}"]
    for direction in directions:
        curves = []
        for number, pair in enumerate(report.PAIRS):
            series = {
                "published": ("points pt 7 ps 0.8", [(n, table[direction, n][published[pair]]) for n in streams if pair in published]),
                "model": ("lines lw 1.5", [(n, by[pair]) for where, n, _, _, by in predicted if where == direction and pair in by]),
                "simulated": ("points pt 6 ps 1", [(n, gbps) for where, n, which, gbps, _ in simulated if (where, which) == (direction, pair)])}
            for kind, (style, data) in series.items():
                if data:
                    name = f"{kind}_{direction}_{number}".replace("-", "_")
                    commands.append(block(name, data))
                    curves.append(f"${name} using 1:2 with {style} lc rgb '{COLOURS[pair]}' title '{pair}, {kind}'")
        commands += [f"set title '{direction}'", f"plot {', '.join(curves)}"]
    gnuplot(path, 480 * len(directions) + 20, 460, commands)
