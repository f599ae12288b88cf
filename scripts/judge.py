#!/usr/bin/env python3
"""Judge a run directory from what is stored in it.

usage: judge.py RUN

Writes RUN/summary.json and prints a line a boot. Nothing but the stored files
is read, so a run can be judged again, years later and elsewhere.
Exit status: 0 all boots good; 1 some are not; 2 RUN is no run directory.
"""

import bisect
import json
import pathlib
import re
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent
TRACE_TOLERANCE = 0.05  # Xen's and QEMU's IOTLB counts must agree within this

# Summary key -> name of the counter that scripts/counters adds to Xen, an
# array indexed by the calling domain.
COUNTERS = {
    "unmap_calls": "grant unmap: calls",
    "unmap_grants": "grant unmap: grants",
    "tlb_flushes": "grant unmap: TLB flushes",
    "iotlb_flushes": "grant unmap: IOTLB flushes",
}
IPIS = "#IPIs"  # that CPUs received, by CPU, for whatever reason
SIZES = "grant unmap: log2 sizes"  # calls of 2^(i-1) to 2^i - 1 grants, all domains'
WIDEST = 16  # values of the longest of these arrays; xenperf prints none if all are 0


def text(value, form="{:.3f}"):
    """A figure for people; one that could not be had is a dash."""
    return "-" if value is None else form.format(value)


def received(message, what):
    """A figure of iperf3's receiver, of all senders together, or None."""
    reports = message.get("iperf")
    try:
        return sum(report["end"]["sum_received"][what] for report in (reports if isinstance(reports, list) else [reports]))
    except (KeyError, TypeError):
        return None


def gbps(message):
    """Throughput that iperf3's receiver saw, Gbit/s, or None."""
    bits = received(message, "bits_per_second")
    return None if bits is None else bits / 1e9


def messages(directory):
    """[(time of arrival, JSON object)] of a boot's channel."""
    found = []
    for line in (directory / "channel.jsonl").read_text().splitlines():
        entry = json.loads(line)
        try:
            message = json.loads(entry["line"])
        except ValueError:
            continue
        if isinstance(message, dict):
            found.append((entry["time"], message))
    return found


def badness(directory):
    """Lines of a boot's consoles that must not be there."""
    bad, ignored, expected = [], [], []
    environment = directory.parent / "environment.json"
    plan = json.loads(environment.read_text()).get("plan") if environment.exists() else None
    for line in (SCRIPTS / "badness").read_text().splitlines():
        of_plan = re.match(r"!(\w+)! (.*)", line)
        if of_plan:
            expected += [of_plan[2]] if of_plan[1] == plan else []
        elif line and not line.startswith("#"):
            (ignored if line.startswith("!") else bad).append(line.lstrip("!"))
    bad, ignored, expected = (re.compile("|".join(patterns) or "$.") for patterns in (bad, ignored, expected))
    lines = [line for line in console(directory) if not expected.search(line)]
    # a kernel's warning says in the next lines what it is about
    return [line.strip() for number, line in enumerate(lines)
            if bad.search(line) and not ignored.search(" ".join(lines[number:number + 5]))]


def console(directory):
    """The lines of Xen's console, dom0's and the guests' among them."""
    log = directory / "console.log"
    if not log.exists():
        return []
    return [line for line in log.read_text(errors="replace").splitlines() if line.strip()]


def leaks(directory):
    """What dead domains left behind, by Xen's dump of the grant tables.

    The dump (debug key g) is made after the guests were destroyed. It names
    each domain there is; one that cannot die, since a grant of it is still
    mapped, is among them. Only domain 0 may be there.
    """
    lines = console(directory)
    starts = [number for number, line in enumerate(lines) if "gnttab_usage_print_all [ key 'g' pressed" in line]
    found = []
    for line in lines[starts[-1]:] if starts else []:
        if "gnttab_usage_print_all ] done" in line:
            return found
        domain = re.search(r"grant-table for remote d(\d+)", line)
        if domain and domain[1] != "0":
            found.append(line.strip())
    return ["the dump of the grant tables is missing or cut short"]


def interrupted_twice(directory):
    """Did a kernel take Xen's interrupt again in the first steps of taking it?

    Interrupts are off there (bit 9 of EFLAGS is clear), so no processor does
    that. QEMU does (7.2, helper_vmrun()): an interrupt that VMRUN injects stays
    in exception_index, and is delivered once more if the CPU leaves its loop
    for another reason before anything else happens. About one boot in fifty.
    """
    lines = console(directory)
    for number, line in enumerate(lines):
        if "RIP: 0010:asm_sysvec_xen_hvm_callback+" in line:
            taken = any("asm_sysvec_xen_hvm_callback+" in above for above in lines[max(0, number - 2):number])
            flags = re.search(r"EFLAGS: ([0-9a-f]{8})", " ".join(lines[number:number + 4]))
            if taken and flags and not int(flags[1], 16) & 0x200:
                return True
    return False


def ept_check(directory):
    """What the EPT checker counted in a boot (scripts/bochs/eptcheck), or None if it was off."""
    log = directory / "eptcheck.jsonl"
    if not log.exists():
        return None
    last = (log.read_text().splitlines() or [""])[-1]
    try:
        found = json.loads(last)
    except ValueError:
        found = {}
    return found if found.get("event") == "summary" else {}


def ept_fault(checked):
    """What is wrong by the EPT checker, or None."""
    if checked is None:
        return None
    if not checked.get("rewalks"):
        return "the EPT checker has seen nothing"
    if checked["stale_after_release"]:
        return (f"{checked['stale_after_release']} uses of a page that was given back, by a translation "
                "which no flush had dropped")
    if checked["stale"] and not checked["releases"]:
        return f"{checked['stale']} uses of a stale translation, and Xen does not tell when it gives pages back"
    return None


def boot_verdict(directory):
    """(status, text) of a boot: pass, fail, timeout, crash, no-verdict, error or emulator.

    fail: the subject is wrong. error: the test is. timeout: a bound was run
    into. crash: Xen or a domain went down. no-verdict: it ended without saying how
    it went, which is never taken for a pass. emulator: QEMU broke it, so it says
    nothing of the subject.
    """
    try:
        outcome = json.loads((directory / "outcome.json").read_text())
    except (OSError, ValueError):
        return "error", "the boot was interrupted: no outcome was stored"
    said = [message for _, message in messages(directory)]
    last = (console(directory) or ["nothing"])[-1].strip()
    bad = badness(directory)
    panic = next((line for line in bad if re.search("Panic on CPU|Kernel panic|FATAL|Triple fault", line)), None)
    verdicts = [message for message in said if message.get("type") == "verdict"]

    if panic and interrupted_twice(directory):
        return "emulator", "emulator: QEMU delivered an interrupt twice, the boot does not count"
    if panic:
        return "crash", f"crash: {panic}"
    if outcome["ended"] == "boot-timeout":
        return "timeout", f"hang: the guests were not up in time (BOOT_TIMEOUT); last on the console: {last}"
    if outcome["ended"] == "silence":
        return "timeout", f"hang: nothing heard any more (SILENCE_TIMEOUT); last on the console: {last}"
    if outcome["ended"] == "no-poweroff":
        return "timeout", "hang: the machine did not power off after its verdict (POWEROFF_TIMEOUT)"
    if not verdicts:
        if outcome["status"]:
            return "error", f"the machine ended with status {outcome['status']}: {outcome['said'] or last}"
        return "no-verdict", f"no verdict: the machine went down without one; last on the console: {last}"
    verdict = verdicts[-1]
    if verdict.get("status") != "pass":
        return verdict.get("status", "error"), f"{verdict.get('status')}: {verdict.get('why')}"
    failed = [message.get("name") for message in said if message.get("type") == "tap" and not message.get("ok")]
    if failed:
        return "fail", f"fail: {'; '.join(map(str, failed))}"
    if bad:
        return "fail", f"fail: on the console: {bad[0]}" + (f" (and {len(bad) - 1} more)" if bad[1:] else "")
    fault = ept_fault(ept_check(directory))
    if fault:
        return "fail", f"fail: {fault}"
    left = leaks(directory) if any(message.get("what") == "grant-dump" for message in said) else None
    if left:
        return "fail", f"fail: grants left after the guests are gone: {left[0]}"
    return "pass", "pass"


def counters(snapshot, name):
    """The values of an array of counters in a snapshot of xenperf's lines, or None."""
    for line in (snapshot or {}).get("xenperf") or []:
        if line.startswith(name + " ") and "T=" in line:
            total, *values = line.split("T=", 1)[1].split()
            if not values:
                return [0] * WIDEST if total == "0" else None
            return list(map(int, values))
    return None


def counter(snapshot, name, domain):
    """The value of one of them, or None."""
    values = counters(snapshot, name)
    return values[domain] if values and domain < len(values) else None


def trace_times(directory):
    """When QEMU saw an IOTLB invalidation, sorted, or None without a trace."""
    log = directory / "trace.log"
    if not log.exists():
        return None
    stamp = re.compile(r"\d+@(\d+\.\d+):(?:vtd_inv_desc_iotlb|amdvi_pages_inval)")
    return sorted(float(found[1]) for found in map(stamp.match, log.read_text(errors="replace").splitlines()) if found)


def trace_counts(directory):
    """IOTLB invalidations that QEMU saw in each run of a boot's channel, warm-ups too, or None without a trace.

    Of a published boot trace.json holds them: the trace itself is too large to be kept.
    """
    if (directory / "trace.json").exists():
        return json.loads((directory / "trace.json").read_text())
    trace = trace_times(directory)
    if trace is None:
        return None
    counts, marks = [], {}
    for time, message in messages(directory):
        if message.get("type") == "mark":
            marks[message.get("what")] = time
        elif message.get("type") == "run":
            known = {"run-start", "run-end"} <= marks.keys()
            counts.append(bisect.bisect(trace, marks["run-end"]) - bisect.bisect(trace, marks["run-start"]) if known else None)
    return counts


def runs(directory):
    """The measured runs of a boot, warm-ups (run 0) left out.

    [{"cell": (direction, streams), "gbps": x, counter: delta..., "sizes": [calls...], "trace_iotlb": n}]
    """
    found, traced = [], trace_counts(directory)
    said = [message for _, message in messages(directory) if message.get("type") == "run"]
    for number, message in enumerate(said):
        result = {"cell": (message["direction"], message["streams"]), "gbps": gbps(message), "run": message["run"],
                  "latency_us": message.get("latency_us")}
        for key, name in COUNTERS.items():
            domain = message.get("backend_domid")
            values = [counter(message.get(side), name, domain) for side in ("before", "after")]
            # the counters are 32 bits wide
            result[key] = None if None in values else (values[1] - values[0]) % 2 ** 32
        sizes = [counters(message.get(side), SIZES) for side in ("before", "after")]
        result["sizes"] = None if None in sizes else [(after - before) % 2 ** 32 for before, after in zip(*sizes)]
        ipis = [counters(message.get(side), IPIS) for side in ("before", "after")]
        result["ipis"] = None if None in ipis else sum((after - before) % 2 ** 32 for before, after in zip(*ipis))
        result["trace_iotlb"] = traced and traced[number]
        if message["run"]:
            found.append(result)
    return found


def total(results, key):
    """Sum of a figure over runs; None where any run lacks it."""
    values = [result[key] for result in results]
    return None if not values or None in values else sum(values)


def unmade(environment, boots):
    """What is wrong with a run whose boots are these: scheduled ones that say nothing."""
    attempts = {number: [] for number in range(1, environment.get("scheduled", 0) + 1)}
    for boot in boots:
        attempts.setdefault(boot["boot"], []).append(boot["status"])
    for number, statuses in sorted(attempts.items()):
        if not statuses:
            yield f"boot {number}: not made"
        elif set(statuses) == {"emulator"}:
            yield f"boot {number}: QEMU broke each of {len(statuses)} attempts"


def outcomes(directory):
    """[(attack, what came of it)] of a boot of plan hostile."""
    return [(message["name"], message["said"]) for _, message in messages(directory) if message.get("type") == "outcome"]


def judge(run):
    """Judge all boots of a run directory, write its summary.json, return it."""
    environment = json.loads((run / "environment.json").read_text())
    boots, built, cells, disagreements, answers = [], {}, {}, [], {}
    for directory in sorted(path.parent for path in run.glob("*/sides.json")):
        sides = json.loads((directory / "sides.json").read_text())
        status, why = boot_verdict(directory)
        boots.append({"directory": directory.name, "boot": sides["boot"], "status": status, "why": why})
        for half, what in sides["built"].items():
            built[f"{half} {sides[half]}" if half in sides else half] = what
        checked = ept_check(directory)
        if checked is not None:
            boots[-1]["ept_check"] = checked
        if status == "emulator" or not (directory / "channel.jsonl").exists():
            continue
        for name, said in outcomes(directory):
            answers.setdefault(name, {}).setdefault(said, set()).add(directory.name)
        for result in runs(directory):
            key = (sides.get("machine", environment["machine"]), *result["cell"], sides["xen"], sides["linux"])
            cells.setdefault(key, []).append({**result, "boot": sides["boot"]})

    # stock and patched are to say the same to a hostile frontend
    disagreements += [f"attack {name}: " + ", but ".join(f"{said} ({' '.join(sorted(where))})" for said, where in answer.items())
                      for name, answer in answers.items() if len(answer) > 1]

    metrics = []
    for (machine, direction, streams, xen, linux), results in sorted(cells.items(), key=lambda cell: str(cell[0])):
        row = {"machine": machine, "direction": direction, "streams": streams, "xen": xen, "linux": linux,
               "gbps": [result["gbps"] for result in results], "boot": [result["boot"] for result in results]}
        if results[0]["latency_us"]:
            row["latency_us"] = {key: [(result["latency_us"] or {}).get(key) for result in results]
                                 for key in results[0]["latency_us"]}
        for key in (*COUNTERS, "ipis", "trace_iotlb"):
            row[key] = total(results, key)
        sizes = [result["sizes"] for result in results]
        row["sizes"] = None if None in sizes else [sum(calls) for calls in zip(*sizes)]
        metrics.append(row)
        counted, traced = row["iotlb_flushes"], row["trace_iotlb"]
        # a handful more or less is the set-up of a run, not the traffic
        if None not in (counted, traced) and abs(counted - traced) > max(TRACE_TOLERANCE * traced, 20 * len(results)):
            disagreements.append(f"{machine} {direction} {streams} {xen}/{linux}: "
                                 f"Xen counted {counted} IOTLB flushes, QEMU {traced}")
    bad = [f"{boot['directory']}: {boot['why']}" for boot in boots if boot["status"] not in ("pass", "emulator")]
    bad += [*unmade(environment, boots), *disagreements]
    summary = {"version": 1, "environment": environment, "built": built,
               "status": "pass" if any(boot["status"] == "pass" for boot in boots) and not bad else "fail",
               "problems": bad, "boots": boots, "metrics": metrics}
    (run / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    return summary


def main():
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "environment.json").exists():
        print("error: usage: judge.py RUN, a directory that run.py made", file=sys.stderr)
        sys.exit(2)
    summary = judge(pathlib.Path(sys.argv[1]))
    for boot in summary["boots"]:
        print(f"{boot['directory']}: {boot['why']}")
    for problem in summary["problems"]:
        print(f"PROBLEM: {problem}")
    sys.exit(0 if summary["status"] == "pass" else 1)


if __name__ == "__main__":
    main()
