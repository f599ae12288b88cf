#!/usr/bin/env python3
"""The prices that make simulated flushes cost what a published machine's do.

usage: calibrate.py RESULTS...

RESULTS are run directories, or of results/, with an instructions.json: one of
MODE=icount, where flushes cost nothing, and any number of MODE=calibrated. What
is compared are their cells of one stream.
  scale   virtual throughput for each published Gbit/s, by row dom0-domU, 1
          stream, of the base column of results/published-pvh-netback.csv
  price   virtual ns of a TLB and an IOTLB flush together, with which base/base
          gives the 1-stream rows that start at domU, of the base column: by the
          line through what base/base gave with the prices tried so far
Printed are the PRICES to try next and, for the last RESULTS given, its cells in
published Gbit/s beside the published ones. The patched column is in no fit: the
row of patched Xen and stock netback is the test, both halves a prediction.

All figures are simulated, with the prices printed. How the price is divided
between the two flushes, and between CPUs, the table cannot tell: both halves
of it are charged alike here.
"""

import pathlib
import sys

import costmodel
import instructions
import report

STOCK, XEN_HALF = costmodel.STOCK, costmodel.XEN_HALF
DIRECTIONS = ("domU-dom0", "domU-domU")


def price(data):
    """Virtual ns that a flush of each kind takes together in those runs."""
    tlb, remote, iotlb = map(int, (data["environment"].get("prices") or "0,0,0").split(","))
    return tlb + iotlb + remote * (data["environment"]["dom0_vcpus"] - 1)


def line(points):
    """(a, b) of y = a + b x, least squares; of a single point one of slope 1."""
    if len({x for x, _ in points}) == 1:
        return points[0][1] - points[0][0], 1.0
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points))
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points))
    return mean_y - slope * mean_x, slope


def scale_of(free, table):
    """Virtual throughput for each published Gbit/s."""
    cell = "dom0-domU", 1, STOCK
    cells = instructions.cells(free)
    if cell not in cells:
        raise report.Missing(f"no figures of {' '.join(map(str, cell))} in the first results")
    return cells[cell]["gbps"] / table[cell[:2]][0]


def fit(runs, table, scale):
    """The price, virtual us: least squared relative errors of the base rows, 1 stream."""
    rows = []
    for direction in DIRECTIONS:
        points = [(price(data) / 1e3, costmodel.microseconds(cells[direction, 1, STOCK]["gbps"]))
                  for data in runs for cells in [instructions.cells(data)] if (direction, 1, STOCK) in cells]
        if points:
            free, each = line(points)
            rows.append((costmodel.microseconds(table[direction, 1][0]) / scale, free, each))
    return costmodel.fit_f(rows)


def simulated(data, table, scale):
    """[(direction, streams, pair, simulated, published or None)] of a run's cells, Gbit/s as on the published machine."""
    column = {STOCK: 0, XEN_HALF: 1}
    return [(direction, streams, pair, figures["gbps"] / scale,
             table[direction, streams][column[pair]] if pair in column and (direction, streams) in table else None)
            for (direction, streams, pair), figures in instructions.cells(data).items()]


def text(runs, table):
    """The scale, the prices to try next, and the last run's cells beside the published ones."""
    if price(runs[0]):
        raise report.Missing("the first results were made with prices: it has to be those of MODE=icount")
    scale = scale_of(runs[0], table)
    wanted = round(fit(runs, table, scale) * 1e3)
    environment, charged = runs[-1]["environment"], price(runs[-1])
    rows = [(direction, str(streams), pair, f"{ours:.2f}", report.show(published, "{:.2f}"),
             costmodel.error(ours, published) if published else "-")
            for direction, streams, pair, ours, published in simulated(runs[-1], table, scale)]
    return "\n".join([
        f"scale: {scale:.4f} Gbit/s of virtual time for each published one",
        f"to try next: PRICES={wanted // 2},0,{wanted - wanted // 2} ({wanted * scale / 1e3:.1f} us for both on the published machine)", "",
        f"Simulated, with PRICES={environment.get('prices') or '0,0,0'} ({charged * scale / 1e3:.1f} us for both on the published machine), "
        f"{environment['dom0_vcpus']} CPUs of dom0", f"and {environment['guest_vcpus']} of a guest; Gbit/s as on the published machine. "
        "Fitted to rows of base/base; patched/base is the test.", "",
        *report.drawn([("direction", "streams", "xen/linux", "simulated", "published", "error"), *rows])])


def main():
    if len(sys.argv) < 2:
        raise report.Missing("usage: calibrate.py RESULTS..., the first of MODE=icount")
    print(text([instructions.read(pathlib.Path(path)) for path in sys.argv[1:]], costmodel.published()))


if __name__ == "__main__":
    report.called(main)
