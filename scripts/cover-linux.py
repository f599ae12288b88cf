#!/usr/bin/env python3
"""Fill the cover letter that git format-patch has made.

usage: cover-linux.py TEMPLATE SUMMARY COVER

TEMPLATE's first line is the subject, the rest the text, in which a line
@RESULTS@ stands for the figures of SUMMARY, a published summary.json. COVER is
changed in place. Exit status: 0; 2 if the figures are not fit to be sent.
"""

import json
import pathlib
import sys

from report import each, middle, show


def figures(summary):
    """One line for each direction, number of streams and pair of halves."""
    rows = [("direction", "streams", "xen/linux", "Gbit/s", "runs", "grants/call", "TLB", "IOTLB")]
    for row in summary["metrics"]:
        rows.append((row["direction"], str(row["streams"]), f"{row['xen']}/{row['linux']}",
                     show(middle(row), "{:.3f}"), str(len(row["gbps"])),
                     show(each(row, "unmap_grants", "unmap_calls"), "{:.1f}"),
                     show(each(row, "tlb_flushes", "unmap_grants", 1000), "{:.0f}"),
                     show(each(row, "iotlb_flushes", "unmap_grants", 1000), "{:.0f}")))
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(value.ljust(width) for value, width in zip(row, widths)).rstrip() for row in rows]
    environment = summary["environment"]
    lines += ["", "Gbit/s: mean of the boots' medians; TLB, IOTLB: flushes for 1,000 grants unmapped.",
              f"Machine {environment['machine']}, dom0 with {environment['dom0_vcpus']} vCPUs, "
              f"guests with {environment['guest_vcpus']}."]
    if environment["emulated"]:
        lines += ["In emulation: the rates compare the rows with each other and say nothing of",
                  "hardware; the flush counts are exact."]
    return "\n".join(lines)


def main():
    template, results, cover = map(pathlib.Path, sys.argv[1:])
    summary = json.loads(results.read_text(encoding="utf-8"))
    if summary["status"] != "pass" or not summary["metrics"]:
        print(f"error: {results} is of a run that did not pass: {summary['status']}", file=sys.stderr)
        sys.exit(2)
    subject, text = template.read_text(encoding="utf-8").split("\n", 1)
    text = text.strip().replace("@RESULTS@", figures(summary))
    mail = cover.read_text(encoding="utf-8")
    mail = mail.replace("*** SUBJECT HERE ***", subject).replace("*** BLURB HERE ***", text)
    cover.write_text(mail, encoding="utf-8")


if __name__ == "__main__":
    main()
