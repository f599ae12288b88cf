#!/usr/bin/env python3
"""What the two halves would give on a published machine, in closed form.

usage: costmodel.py RESULTS...

A page that netback moves takes T = c I + F f of the time in which the backend
moves one page after the other:
  I  instructions of the backend's domain, and of Xen for it, for a page (4 KiB
     received); RESULTS/instructions.json, measured with MODE=icount
  f  flushes for a page; RESULTS/summary.json, counted by Xen in the same runs
  c  ns an instruction
  F  ns a batch, that is what one TLB flush on all CPUs and one IOTLB flush cost
c is fitted to row dom0-domU, 1 stream, of the base column of
results/published-pvh-netback.csv, where nothing is unmapped; F to its rows that
start at domU, least squares of relative errors. The patched column is not used
for that: the prediction of it, row by row, is the test. Then both halves, and
growth with batch size and CPUs, are predicted.

What several streams do beyond f is not in the model: locks that are contended,
CPUs that sleep deeper when there is less to do, work done in parallel.
Of several RESULTS the first that has a cell counts, and those of MODE=calibrated
are passed over: their instructions are longer by the prices. A number of streams
not measured takes the nearest measured one's.
"""

import csv
import json
import pathlib
import sys

import instructions
import report

TOP = pathlib.Path(__file__).resolve().parent.parent
PUBLISHED = TOP / "results/published-pvh-netback.csv"
PUBLISHED_CPUS = 96
PAGE = 4096
STOCK, XEN_HALF, BOTH = "base/base", "patched/base", "patched/patched"
NAMES = {STOCK: "stock", XEN_HALF: "patched Xen, stock netback", BOTH: "both halves"}


def microseconds(gbps):
    """Time a page, us, at that throughput; and throughput at that time: its own inverse."""
    return PAGE * 8 / 1e3 / gbps


def published():
    """{(direction, streams): (base, patched)}, Gbit/s."""
    lines = [line for line in PUBLISHED.read_text().splitlines() if not line.startswith("#")]
    return {(row["direction"], int(row["streams"])): (float(row["base_gbps"]), float(row["patched_gbps"]))
            for row in csv.DictReader(lines)}


def measured(directories):
    """{(direction, streams, pair): {"work": instructions a page, "flushes": and "grants": a page}} of all results."""
    cells = {}
    for directory in directories:
        kept = json.loads((directory / "instructions.json").read_text())
        if kept["environment"].get("prices"):
            continue
        counted = instructions.cells(kept)
        summary = json.loads((directory / "summary.json").read_text())
        for row in summary["metrics"]:
            cell = (row["direction"], row["streams"], f"{row['xen']}/{row['linux']}")
            if cell not in counted or None in (row["tlb_flushes"], *row["gbps"]):
                continue
            pages = sum(row["gbps"]) * 1e9 / 8 / PAGE * summary["environment"]["seconds_each"]
            work = sum(counted[cell][part] for part in instructions.PARTS if part != "guests")
            cells.setdefault(cell, {"work": work * 1e6 * PAGE / 2 ** 20, "flushes": row["tlb_flushes"] / pages,
                                    "grants": row["unmap_grants"] / pages, "from": directory.name})
    return cells


def nearest(cells, direction, streams, pair):
    """The cell of that number of streams, or of the nearest measured one."""
    known = [cell for cell in cells if (cell[0], cell[2]) == (direction, pair)]
    if not known:
        raise report.Missing(f"no figures of {direction} {pair} in the results given")
    return cells[min(known, key=lambda cell: (abs(cell[1] - streams), cell[1]))]


def fit_c(table, cells):
    """us an instruction, from the row that unmaps nothing."""
    return microseconds(table["dom0-domU", 1][0]) / nearest(cells, "dom0-domU", 1, STOCK)["work"]


def fit_f(rows):
    """F of rows (T, page's work in us, flushes a page): the least sum of squared relative errors."""
    return (sum(flushes * (time - work) / time ** 2 for time, work, flushes in rows) /
            sum(flushes ** 2 / time ** 2 for time, _, flushes in rows))


def predict(c, price, work, flushes):
    """Gbit/s."""
    return microseconds(c * work + price * flushes)


def page_work(cells, direction, streams, pair):
    """Instructions a page without those of a flush of each: with stock Xen, those of the patched one."""
    return nearest(cells, direction, streams, pair.replace("base/", "patched/"))["work"]


def fit(table, cells):
    """(c, F), from the base column alone."""
    c = fit_c(table, cells)
    return c, fit_f([(microseconds(base), c * page_work(cells, direction, streams, STOCK),
                      nearest(cells, direction, streams, STOCK)["flushes"])
                     for (direction, streams), (base, _) in table.items() if direction != "dom0-domU"])


def rows(table, cells, c, price):
    """[(direction, streams, base, patched, {pair: by the model})], Gbit/s; none of dom0-domU, which unmaps nothing."""
    return [(direction, streams, base, patched, {pair: predict(
        c, price, page_work(cells, direction, streams, pair), nearest(cells, direction, streams, pair)["flushes"]) for pair in NAMES})
            for (direction, streams), (base, patched) in table.items() if direction != "dom0-domU"]


def error(predicted, known):
    return f"{100 * (predicted / known - 1):+.0f} %"


def by_batch(cells, c, price):
    """[(grants a flush, Gbit/s)], and how many grants a page has, where all of them are mapped."""
    cell = nearest(cells, "domU-dom0", 1, XEN_HALF)
    work = page_work(cells, "domU-dom0", 1, XEN_HALF)
    return [(str(size), f"{predict(c, price, work, cell['grants'] / size):.2f}") for size in (1, 2, 4, 8, 16, 32, 64, 128, 256)], cell["grants"]


def by_cpus(cells, c, price):
    """[(CPUs, Gbit/s of each of NAMES)]: with none, half and all of a batch's price being for each remote CPU."""
    def figures(cpus, pair):
        work, flushes = page_work(cells, "domU-dom0", 1, pair), nearest(cells, "domU-dom0", 1, pair)["flushes"]
        return " ".join(f"{predict(c, price * (1 - share + share * (cpus - 1) / (PUBLISHED_CPUS - 1)), work, flushes):.2f}" for share in (0, 0.5, 1))
    return [(str(cpus), *(figures(cpus, pair) for pair in NAMES)) for cpus in (2, 4, 8, 16, 32, 64, PUBLISHED_CPUS)]


def text(table, cells):
    """The fit, its test and the predictions."""
    c, price = fit(table, cells)
    compared = [(direction, str(streams), f"{base:.2f}", f"{by[STOCK]:.2f}", error(by[STOCK], base), f"{patched:.2f}",
                 f"{by[XEN_HALF]:.2f}", error(by[XEN_HALF], patched), f"{by[BOTH]:.2f}")
                for direction, streams, base, patched, by in rows(table, cells, c, price)]
    batches, grants = by_batch(cells, c, price)
    return "\n".join([
        f"Predicted in closed form, with these prices: an instruction {1e3 * c:.3f} ns, a batch {price:.1f} us.",
        "Fitted to the base column of results/published-pvh-netback.csv; its patched column was not used.",
        f"Instructions and flushes a page are measured: {', '.join(sorted({cell['from'] for cell in cells.values()}))}.", "",
        *report.drawn([("direction", "streams", "base: published", "fitted", "error", "Xen half: published", "predicted", "error",
                        "both halves: predicted"), *compared]),
        "Gbit/s. dom0-domU unmaps nothing: its first row gave the price of an instruction, and the model says nothing of the others.", "",
        f"Predicted for domU-dom0, 1 stream, all pages mapped ({grants:.2f} grants a page), by grants a flush:", "",
        *report.drawn([("grants a flush", "Gbit/s"), *batches]), "",
        "Predicted for domU-dom0, 1 stream, by CPUs of dom0. How much of a batch's price is for each CPU the table cannot tell",
        f"(all its rows have {PUBLISHED_CPUS}): in each cell none of it, half of it, and all of it.", "",
        *report.drawn([("CPUs", *NAMES.values()), *by_cpus(cells, c, price)])])


def main():
    if len(sys.argv) < 2:
        raise report.Missing("usage: costmodel.py RESULTS..., directories with instructions.json and summary.json")
    print(text(published(), measured([pathlib.Path(path) for path in sys.argv[1:]])))


if __name__ == "__main__":
    report.called(main)
