#!/usr/bin/env python3
"""Run test programs that speak TAP, and count.

usage: test.py [--record FILE] PROGRAM...

Each program prints a plan (1..N), then `ok N - name`, `not ok N - name`, with
`# SKIP reason` where one was left out. A program that prints another number of
results than it planned, or ends with a status other than 0 though all its
results are ok, counts as one failure more: no verdict is not a pass. Its time
is bounded by TEST_TIMEOUT (s, default 3600). Last line: N passed, N failed,
N skipped. Exit status: 0 none failed and some passed; 1 otherwise.
--record FILE: also keep there when, of which commit, how it went and what failed.
"""

import os
import pathlib
import re
import subprocess
import sys
import threading
import time

TIMEOUT = int(os.environ.get("TEST_TIMEOUT", 3600))
RESULT = re.compile(r"(not )?ok\b(?: \d+)?(?: - )?(.*?)(?:# SKIP\s*(.*))?$")


def run(program):
    """Run one program, passing its lines on; (passed, failed, skipped names)."""
    counts = {"passed": [], "failed": [], "skipped": []}
    planned, expired = None, threading.Event()
    process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, start_new_session=True)

    def expire():
        expired.set()
        os.killpg(process.pid, 9)

    bound = threading.Timer(TIMEOUT, expire)
    bound.start()
    for line in process.stdout:
        print(line, end="", flush=True)
        plan = re.match(r"1\.\.(\d+)", line)
        result = RESULT.match(line)
        if plan:
            planned = int(plan[1])
        elif result:
            kind = "failed" if result[1] else "skipped" if result[3] is not None else "passed"
            counts[kind].append(result[2].strip())
    status = process.wait()
    bound.cancel()
    made = sum(map(len, counts.values()))
    if expired.is_set():
        counts["failed"].append(f"{program}: not done after {TIMEOUT} s (TEST_TIMEOUT)")
    elif planned != made:
        counts["failed"].append(f"{program}: planned {planned} results and gave {made}")
    elif status and not counts["failed"]:
        counts["failed"].append(f"{program}: exit status {status}")
    return counts


def record(path, began, took, summary, names):
    """Write down a whole run of the tests."""
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    commit = subprocess.run(git, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    lines = [f"date: {time.strftime('%Y-%m-%d', time.gmtime(began))}", f"commit: {commit}",
             f"took: {took // 60} min {took % 60} s", f"result: {summary}"]
    path.write_text("\n".join(lines + [f"failed: {name}" for name in names["failed"]] +
                              [f"skipped: {name}" for name in names["skipped"]]) + "\n")


def main():
    began = time.time()
    programs = sys.argv[1:]
    kept = pathlib.Path(programs[1]) if programs[:1] == ["--record"] else None
    programs = programs[2:] if kept else programs
    totals = {"passed": [], "failed": [], "skipped": []}
    for number, program in enumerate(programs, 1):
        elapsed = int(time.time() - began)
        print(f"# [{elapsed // 60:02d}:{elapsed % 60:02d}] {number} of {len(programs)}: {program}", flush=True)
        for kind, names in run(program).items():
            totals[kind] += names
    for name in totals["failed"]:
        print(f"# failed: {name}")
    elapsed = int(time.time() - began)
    print(f"# took {elapsed // 60} min {elapsed % 60} s")
    summary = ", ".join(f"{len(names)} {kind}" for kind, names in totals.items())
    if kept:
        record(kept, began, elapsed, summary, totals)
    print(summary)
    sys.exit(0 if totals["passed"] and not totals["failed"] else 1)


if __name__ == "__main__":
    main()
