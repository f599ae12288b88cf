#!/usr/bin/env python3
"""Publish runs, and show that what is published follows from its raw data.

usage: publish.py NAME RUN...     make results/NAME of run directories
       publish.py NAME            write results/NAME again, from its raw data
       publish.py --check [DIR...] write each anew into a scratch directory, and compare

A RUN is what run.py, bench-unmap.sh or EPT runs of selftest.sh left. results/NAME holds raw.tar.xz,
what was taken from the run, and what was made of it: report.md, plots, summary.json. A run that
failed, and a name that is taken, are refused. Of RUNs that are themselves published, results/...,
the first of MODE=icount and others of MODE=calibrated, the cost model is made; its raw data are
their names.
Exit status: 0; 1 something published does not follow from its raw data; 2 with a line that says what is wrong.
"""

import filecmp
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import calibrate
import costmodel
import hotspots
import instructions
import judge
import plots
import report

TOP = pathlib.Path(__file__).resolve().parent.parent
BOOT_FILES = ("sides.json", "outcome.json", "channel.jsonl", "console.log", "command", "xen.config", "linux.config",
              "eptcheck.jsonl", "instructions.jsonl", "functions.json")
# a path on the machine that ran it: what is left is relative to OUT, or to the run
MACHINE_PATH = re.compile(r"/[^\s',=:]*/(?=(?:built|image)/|[^/\s']+/(?:console|trace)\.log)")


EPT_COUNTS = ("rewalks", "stale", "stale_after_release", "releases", "released_while_cached")
EPT_HEAD = (">walks repeated by the checker", ">stale uses", ">after release", ">pages released", ">of them while cached")
EPT_MEANING = ("In Bochs, with a TLB of nested translations that forgets nothing until it has to: on ept for an INVEPT, on npt for "
               "a flush of its ASID or a new one. A stale use is of a translation that none of these dropped and whose entry "
               "has changed; after release, of a page that Xen had given back, which is what must never happen.")


FLUSHES_MEANING = "TLB/1000, IOTLB/1000: flushes for 1,000 grants unmapped by the backend."


def fail(text):
    raise report.Missing(text)


# Raw data

def taken(run, prefix):
    """What of a run is published: [(name in the archive, bytes)]."""
    found = []
    if (run / "environment.json").exists():
        found.append(("environment.json", (run / "environment.json").read_bytes()))
        if list(run.glob("*/profile")):
            hotspots.read([run])  # makes functions.json of what is too large to be kept
        for boot in sorted(path.parent for path in run.glob("*/sides.json")):
            found += [(f"{boot.name}/{name}", (boot / name).read_bytes()) for name in BOOT_FILES if (boot / name).exists()]
            if (boot / "channel.jsonl").exists():
                found.append((f"{boot.name}/trace.json", json.dumps(judge.trace_counts(boot)).encode()))
    elif (run / "id").exists():
        found = [(str(path.relative_to(run)), path.read_bytes()) for path in [run / "id", *sorted(run.glob("*/*.csv"))]]
    else:
        found = [(path.name, path.read_bytes()) for path in sorted(run.glob("*.out"))]
    return [(prefix + name, MACHINE_PATH.sub("", data.decode()).encode() if name.endswith("/command") else data)
            for name, data in found]


def pack(files, path):
    """An archive that depends on its files alone."""
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


# Markdown

def rows(head, lines):
    """A table; columns whose names start with > are figures."""
    text = ["| " + " | ".join(name.lstrip(">") for name in head) + " |",
            "|" + "|".join("---:" if name.startswith(">") else "---" for name in head) + "|"]
    return text + ["| " + " | ".join(map(str, line)) + " |" for line in lines] + [""]


def changes(summary, machine, pair):
    """The published table's form: base, patched, % change; and how many of the changes could be tested."""
    base, lines, tested = report.bases(summary), [], 0
    for row in report.ordered(summary):
        first = base[row["machine"], row["direction"], row["streams"]]
        if row["machine"] != machine or report.pair(row) != pair or row is first or report.is_latency(row):
            continue
        cells = [text for side in (first, row) for text in (
            report.show(report.middle(side), "{:.3f}"), report.show(report.spread(side["gbps"]), "{:.0f} %"))]
        found = report.change(first, row)
        tested += found is not None and found.low is not None
        lines.append((row["direction"], row["streams"], *cells, report.change_text(found),
                      f"{len(set(first['boot']))} + {len(set(row['boot']))}", f"{len(first['gbps'])} + {len(row['gbps'])}"))
    return lines, tested


def counts(summary, machine):
    return [(row["direction"], row["streams"], report.pair(row), report.show(row["unmap_grants"], "{:,}"),
             *(report.show(report.each(row, *what), form) for *what, form in (
                 ("unmap_grants", "unmap_calls", "{:.1f}"), ("tlb_flushes", "unmap_grants", 1000, "{:.0f}"),
                 ("iotlb_flushes", "unmap_grants", 1000, "{:.0f}"))))
            for row in report.ordered(summary) if row["machine"] == machine and not report.is_latency(row)]


def again(runs, data):
    """How far further runs of the same cells are from the first: the largest difference of each."""
    for run, other in zip(runs[1:], data[1:]):
        builds = instructions.of_other_builds([runs[0], run])
        found, _ = instructions.differences(data[0], other)
        if found:
            cell, name, percent = max(found, key=lambda difference: abs(difference[2]))
            yield (f"The run of {other['environment']['date']} against that of {data[0]['environment']['date']}: at most {percent:+.2f} % "
                   f"in any of {len(found)} figures, in {'throughput' if name == 'gbps' else 'instructions'} of {' '.join(map(str, cell))}"
                   + (f"; not of the same builds: {', '.join(builds)}." if builds else "."))


def counted(runs, into):
    """Of runs in virtual time: instructions a MiB, kept for the cost model too, and where a page's go."""
    data = [instructions.read(run) for run in runs]
    together = {**data[0], "runs": [run for each in data for run in each["runs"]]}
    (into / "instructions.json").write_text(json.dumps(together, indent=1) + "\n")
    text = ["## Instructions", "", *rows(instructions.HEAD, instructions.lines(together)), instructions.MEANING, *again(runs, data), ""]
    profiled = {} if together["environment"].get("prices") else hotspots.read(runs)
    if profiled:
        text += ["## Where a page's instructions go", "", hotspots.MEANING, ""]
    for (direction, streams), pairs in profiled.items():
        text += [f"### {direction}, {streams} stream(s)", ""]
        for table in (hotspots.rows, hotspots.targets):
            head, *lines = table(pairs, hotspots.pair_of(pairs))
            text += rows(head, lines)
    return text


def bench(runs, into):
    """The report of iperf3 runs, and its summary; runs are directories of raw data."""
    summaries = [judge.judge(run) for run in runs]
    if len({report.kind_of_time(run["environment"]) for run in summaries}) > 1:
        fail(f"{into.name}: runs of several modes or prices")
    summary = report.merged(summaries)
    if summary["status"] != "pass":
        fail(f"{into.name}: the run failed: {'; '.join(summary['problems'])}")
    (into / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    text, tested = [], 0
    environment = summary["environment"]
    exact = report.repeatable(environment)
    if exact and report.is_scaling(summary):
        fail(f"{into.name}: runs in virtual time of several setups: publish each alone")
    if report.kind_of_time(environment):
        text += [report.kind_of_time(environment), ""]
    for note in dict.fromkeys(filter(None, (run["environment"].get("note") for run in summaries))):
        text += [f"Note: {note}.", ""]
    text += ["Made by", "", *(f"    {run['environment'].get('command', 'a command that was not recorded')}" for run in summaries), ""]
    if report.latencies(summary):
        text += ["## Latency", ""]
        for machine in sorted({row["machine"] for row in summary["metrics"] if report.is_latency(row)}):
            plots.latencies(summary, machine, into / f"latency-{machine}.svg")
            text += [f"![percentiles of round trips, {machine}](latency-{machine}.svg)", ""]
        lines = report.latencies(summary)
        tested += sum("(" in line[report.LATENCY_HEAD.index("p50 against base")] for line in lines)
        text += rows(report.LATENCY_HEAD, lines)
    profiled = exact and not report.latencies(summary) # round trips have no instructions of their own
    if profiled:
        text += counted(runs, into)
    if report.is_scaling(summary):
        plots.scaling(summary, into / "scaling.svg")
        lines = report.scaling(summary)
        tested += sum("(" in line[report.SCALING_HEAD.index("against base")] for line in lines)
        text += ["## By setup", "", "![Gbit/s and IPIs by setup](scaling.svg)", "", *rows(report.SCALING_HEAD, lines)]
    for machine in [] if report.is_scaling(summary) else sorted({row["machine"] for row in summary["metrics"] if not report.is_latency(row)}):
        text += [f"## Throughput{' in virtual time' if exact else ''}, {machine}", "", f"![Gbit/s by streams](throughput-{machine}.svg)", ""]
        plots.throughput(summary, machine, into / f"throughput-{machine}.svg")
        for pair in [] if profiled else report.PAIRS:
            lines, number = changes(summary, machine, pair)
            tested += number
            if lines:
                text += [f"Xen/Linux {pair}, against {report.pair(next(iter(report.bases(summary).values())))}:", ""]
                text += rows(("direction", ">streams", ">base, Gbit/s", ">spread", ">patched, Gbit/s", ">spread",
                              "change (95 % interval)", "boots", "runs"), lines)
        if not any(row["unmap_grants"] for row in summary["metrics"] if row["machine"] == machine):
            continue
        text += [f"## Grants and flushes, {machine}", "", f"![flushes for 1,000 grants](flushes-{machine}.svg)", ""]
        plots.flushes(summary, machine, into / f"flushes-{machine}.svg")
        plots.sizes(summary, machine, into / f"sizes-{machine}.svg")
        if (into / f"sizes-{machine}.svg").exists():
            text += [f"![calls by grants in them](sizes-{machine}.svg)", ""]
        text += rows(("direction", ">streams", "xen/linux", ">grants unmapped", ">grants/call", ">TLB/1000", ">IOTLB/1000"),
                     counts(summary, machine))
    meaning = report.SCALING_MEANING if report.is_scaling(summary) else FLUSHES_MEANING
    text += [meaning, ""] if exact else [
        "A boot counts once, by the median of its runs. Gbit/s: geometric mean of the boots, at the receiver. Spread: "
        "relative standard deviation of the runs. Change: ratio of the means, with the interval of Student's t test on "
        "the boots' logarithms (ministat); * where it leaves out 0, useless where its ends are a factor of "
        f"{report.USELESS} apart, untested with fewer than {report.LEAST_BOOTS} boots a side. Of {tested} tested changes, "
        f"chance alone gives about {0.05 * tested:.1f} a star. Bars in the plot: lowest and highest boot. " + meaning, ""]
    text += ["## Environment", "", *rows(("", ""), (
        (key, "; ".join(dict.fromkeys(str(run["environment"].get(key, "-")) for run in summaries)))
        for key in environment if key not in ("command", "note")))]
    text += rows(("built", "what", "sha256"), ((name, what["id"], what["sha256"][:16]) for name, what in summary["built"].items()))
    checked = [(boot["directory"], *(f"{boot['ept_check'][key]:,}" for key in EPT_COUNTS)) for boot in summary["boots"] if boot.get("ept_check")]
    if checked:
        text += ["## EPT checker", "", *rows(("boot", *EPT_HEAD), checked), EPT_MEANING, ""]
    text += ["## Boots", "", *rows(("boot", "verdict"), ((boot["directory"], boot["why"]) for boot in summary["boots"]))]
    return text


def unmap(raw, into):
    """The report of bench-unmap.sh."""
    text, machines = [], sorted({path.parent for path in raw.glob("*/*.csv")})
    for machine in machines:
        logs = [f"{path.stem.split('-', 1)[1]}={path}" for path in sorted(machine.glob("*.csv"))]
        table = subprocess.run([TOP / "xen/tests/bench.py", "--plot", into / f"{machine.name}.svg", *logs],
                               stdout=subprocess.PIPE, text=True, check=True).stdout
        text += [f"## {machine.name}", "", f"![cycles and flushes of a grant by batch]({machine.name}.svg)", "", table]
    text += ["Medians over all rows of a size, of all boots. Emulated cycles compare the sides with each other and say nothing "
             "of hardware; flush counts are exact.", "", "## Environment", "",
             *(f"    {line}" for line in (raw / "id").read_text().splitlines()), ""]
    boots = len(list(machines[0].glob("*-base.csv")))
    return ["Made by", "", f"    make bench-unmap BOOTS={boots}", "", *text]


def ept(raw):
    """The report of the test kernel and the EPT checker: of the patched hypervisor, and of mutants."""
    lines = []
    for path in sorted(raw.glob("*.out"), key=lambda path: (path.stem != "patched", path.stem)):
        said = path.read_text()
        checked = re.search(r"^# (\{.*\})$", said, re.M)
        counted = [f"{json.loads(checked[1])[key]:,}" for key in EPT_COUNTS] if checked else ["-"] * len(EPT_COUNTS)
        verdict = re.search(r"(\d+) passed \((\d+) skipped\), \d+ failed", said)
        failed = re.findall(r"^not ok \d+ - (\S+)", said, re.M)
        lines.append((path.stem, *(verdict.groups() if verdict else ("no end", "-")), " ".join(failed) or "none", *counted))
    if lines[0][0] != "patched":
        fail("the patched hypervisor is not among them")
    return ["Made by", "", "    make bochs test-mutants", "",
            *rows(("hypervisor", ">tests passed", ">of them skipped", "failed", *EPT_HEAD), lines), EPT_MEANING, "",
            "patched is the series; each other row is it with one mutant of xen/tests/mutants, which says what it breaks and which "
            "test has to notice, on which machine; not all of them break what can be seen here.", ""]


def model(names, name, into):
    """The cost model, of published results: what costmodel.py prints of them, what calibrate.py does, and both in a plot."""
    directories, table = [TOP / "results" / source for source in names], costmodel.published()
    runs = [json.loads((directory / "instructions.json").read_text()) for directory in directories]
    cells = costmodel.measured(directories)
    (into / "model.txt").write_text(costmodel.text(table, cells) + "\n")
    text = ["Simulated or predicted, with the prices that each file prints; the points called published, and no others, were measured on "
            "that machine.", "", "Made by", "", f"    make report NAME={name} RUN='{' '.join(f'results/{source}' for source in names)}'", "",
            "![published, predicted and simulated Gbit/s by streams](model.svg)", "",
            "[model.txt](model.txt): in closed form, with the prices of an instruction and of a batch (scripts/costmodel.py).", ""]
    simulated = []
    if any(calibrate.price(run) for run in runs):
        simulated = calibrate.simulated(runs[-1], table, calibrate.scale_of(runs[0], table))
        (into / "calibration.txt").write_text(calibrate.text(runs, table) + "\n")
        text += ["[calibration.txt](calibration.txt): simulated, each flush at a price in virtual time (scripts/calibrate.py).", ""]
    plots.model(table, costmodel.rows(table, cells, *costmodel.fit(table, cells)), simulated, into / "model.svg")
    return text


# Publishing and checking

def render(raw, into, name):
    """Make all that is published of raw data, but for the archive."""
    if list(raw.glob("*/environment.json")):
        text = bench(sorted(path.parent for path in raw.glob("*/environment.json")), into)
    elif (raw / "id").exists():
        text = unmap(raw, into)
    elif (raw / "from").exists():
        text = model((raw / "from").read_text().split(), name, into)
    elif list(raw.glob("*.out")):
        text = ept(raw)
    else:
        fail(f"{name}: no run of a kind that is known")
    text = [f"# {name}", "", *text, f"Raw data: raw.tar.xz; `make report NAME={name}` writes all else here again from it."]
    (into / "report.md").write_text("\n".join(text) + "\n")


def remake(archive, name, into):
    """The same from an archive."""
    with tempfile.TemporaryDirectory() as raw:
        try:
            with tarfile.open(archive) as opened:
                opened.extractall(raw)
        except (OSError, tarfile.TarError) as problem:
            fail(f"{name}: no raw data: {problem}")
        render(pathlib.Path(raw), into, name)


def results_of(runs):
    """The names of RUNs that are published ones."""
    names = [run.name for run in runs if run.resolve().parent == TOP / "results"]
    if names and len(names) < len(runs):
        fail(f"RUN={' '.join(map(str, runs))}: some are published and some are not")
    for name in names:
        if not (TOP / "results" / name / "instructions.json").exists():
            fail(f"results/{name} is not of MODE=icount or calibrated: it has no instructions.json")
    return names


def publish(name, runs):
    into = TOP / "results" / name
    if not re.fullmatch("[a-z0-9.-]+", name):
        fail(f"NAME={name} names no results: lower case letters, digits, dots and dashes")
    if runs and into.exists():
        fail(f"results/{name} is there already")
    names = results_of(runs)
    files = [("from", "\n".join(names).encode())] if names else []
    for number, run in enumerate([] if names else runs, 1):
        if not run.is_dir():
            fail(f"RUN={run} is no run directory")
        files += taken(run, f"{number}/" if (run / "environment.json").exists() else "")
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch) / name
        made.mkdir()
        if runs:
            pack(files, made / "raw.tar.xz")
        else:
            shutil.copy(into / "raw.tar.xz", made)
        remake(made / "raw.tar.xz", name, made)
        shutil.rmtree(into, ignore_errors=True)
        shutil.copytree(made, into)
    print(f"results/{name}")


def gnuplot_of(path):
    """The version that drew a plot."""
    return re.search(r"<desc>(.*)</desc>", path.read_text())[1]


def differences(published):
    """What in a published directory does not follow from its raw data."""
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch)
        remake(published / "raw.tar.xz", published.name, made)
        for name in sorted({path.name for path in [*made.iterdir(), *published.iterdir()]} - {"raw.tar.xz"}):
            if not (made / name).exists():
                yield f"{name} is not made from the raw data"
            elif not (published / name).exists():
                yield f"{name} is missing"
            elif name.endswith(".svg") and gnuplot_of(made / name) != gnuplot_of(published / name):
                print(f"{published.name}/{name} is not compared: drawn by {gnuplot_of(published / name)}")
            elif not filecmp.cmp(made / name, published / name, shallow=False):
                yield f"{name} differs"


def check(directories):
    wrong = 0
    for directory in directories:
        found = list(differences(directory))
        wrong += len(found)
        for difference in found:
            print(f"{directory.name}: {difference}")
        if not found:
            print(f"{directory.name}: as its raw data say")
    sys.exit(1 if wrong or not directories else 0)


def main():
    if sys.argv[1:2] == ["--check"]:
        check([pathlib.Path(name) for name in sys.argv[2:]] or
              sorted(path for path in (TOP / "results").iterdir() if path.is_dir()))
    if len(sys.argv) < 2:
        fail("usage: publish.py NAME [RUN...], or --check [DIR...]")
    publish(sys.argv[1], [pathlib.Path(run) for run in sys.argv[2:]])


if __name__ == "__main__":
    report.called(main)
