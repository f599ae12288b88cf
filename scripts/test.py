#!/usr/bin/env python3
"""Run test programs that speak TAP, and count.

usage: test.py [--keep] [--record FILE] PROGRAM...

Each program prints a plan (1..N), then `ok N - name`, `not ok N - name`, with
`# SKIP reason` where one was left out. A program that prints another number of
results than it planned, or ends with a status other than 0 though all its
results are ok, counts as one failure more: no verdict is not a pass. Its time
is bounded by TEST_TIMEOUT (s, default 3600). Neighbours that say `# Parallel: yes`,
as they time nothing and need one processor once all is built, run two at a time;
what they print comes when they have ended. Last line: N passed, N failed, N skipped.
Exit status: 0 none failed and some passed; 1 otherwise; 130 interrupted.
--keep: how a program went is kept in OUT/tests, and one that is known to have
passed is not run again as long as what it tests is the same: the files that its
line `# Tests: PATH...` names (default all of the project, but results/ and *.md)
and the settings. So a run of hours can be interrupted, or done in parts; `make
clean` forgets. Not with a tree of the user's own, nor with changes not committed.
--record FILE: also write there when, of which commit, how each program went, and
what failed; what FILE says of other programs stays, so that it tells how each
went last.
"""

import concurrent.futures
import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

# what a program may be told to do less, or otherwise, by the environment
SETTINGS = ("XEN", "LINUX", "XEN_DEBUG", "LINUX_DEBUG", "ROUNDS", "RELEASES", "ARCHES", "CONFIGURATIONS")
TIMEOUT = int(os.environ.get("TEST_TIMEOUT", 3600))
RESULT = re.compile(r"(not )?ok\b(?: \d+)?(?: - )?(.*?)(?:# SKIP\s*(.*))?$")
RUNNING = set()


def show(line):
    print(f"{line}\n", end="", flush=True)  # in one piece: there may be two who print


def end(process, number):
    """Signal all of a program's session; timeout(1) makes groups of its own in it."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[3]) == process.pid:
                os.kill(int(path.parent.name), number)


def interrupted(*_):
    """End at once, and what was started, too."""
    for process in list(RUNNING):
        end(process, signal.SIGTERM)
    os._exit(130)


def run(program, say):
    """Run one program, passing its lines on; (passed, failed, skipped names)."""
    counts = {"passed": [], "failed": [], "skipped": []}
    planned, expired = None, threading.Event()
    process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, start_new_session=True)
    RUNNING.add(process)

    def expire():
        expired.set()
        end(process, signal.SIGKILL)

    bound = threading.Timer(TIMEOUT, expire)
    bound.start()
    for line in process.stdout:
        say(line.rstrip("\n"))
        plan = re.match(r"1\.\.(\d+)", line)
        result = RESULT.match(line)
        if plan:
            planned = int(plan[1])
        elif result:
            kind = "failed" if result[1] else "skipped" if result[3] is not None else "passed"
            counts[kind].append(result[2].strip())
    status = process.wait()
    RUNNING.discard(process)
    bound.cancel()
    made = sum(map(len, counts.values()))
    if expired.is_set():
        counts["failed"].append(f"{program}: not done after {TIMEOUT} s (TEST_TIMEOUT)")
    elif planned != made:
        counts["failed"].append(f"{program}: planned {planned} results and gave {made}")
    elif status and not counts["failed"]:
        counts["failed"].append(f"{program}: exit status {status}")
    return counts


def git(*arguments):
    return subprocess.run(["git", *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def place(program):
    """The file that is to keep how a program went with this content and these settings, or None."""
    header = re.search(r"^# Tests: (.*)", pathlib.Path(program).read_text(), re.MULTILINE)
    content = ["--", *(header[1].split() if header else ["."]), program, ":!results", ":!*.md"]
    if os.environ.get("XEN_TREE") or os.environ.get("LINUX_TREE") or git("status", "--porcelain", *content):
        return None
    known = [os.environ.get(name, "") for name in SETTINGS]
    key = hashlib.sha256("\n".join([git("ls-files", "-s", *content), *known]).encode()).hexdigest()[:16]
    return pathlib.Path(os.environ["OUT"]) / "tests" / f"{os.path.basename(program)}-{key}.json"


def once(program, keep, say):
    """Run a program, or take what is kept of it: its counts, the day, commit and time (s) of the run."""
    kept = place(program) if keep else None
    if kept and kept.exists():
        result = json.loads(kept.read_text())
        if result["passed"] and not result["failed"]:
            say(f"# passed on {result['date']} in {result['took']} s")
            return result
    began = time.time()
    result = {"date": time.strftime("%Y-%m-%d", time.gmtime(began)), "commit": git("describe", "--always", "--dirty", "--abbrev=12")}
    result.update(run(program, say), took=int(time.time() - began))
    if kept and place(program) == kept: # not changed meanwhile
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(result, indent=1) + "\n")
    return result


def parallel(program):
    return re.search("^# Parallel: yes", pathlib.Path(program).read_text(), re.MULTILINE) is not None


def all_of(programs, keep, began):
    """Run them, and tell how far that is: {program: as once() has it}, in their order."""
    numbers = {program: number for number, program in enumerate(programs, 1)}

    def step(program, together):
        elapsed = int(time.time() - began)
        show(f"# [{elapsed // 60:02d}:{elapsed % 60:02d}] {numbers[program]} of {len(programs)}: {program}")
        said = []
        result = once(program, keep, said.append if together else show)
        if said:
            show("\n".join([f"# {program}:", *said]))
        return result

    results = {}
    for together, group in itertools.groupby(numbers, key=parallel):
        with concurrent.futures.ThreadPoolExecutor(2 if together else 1) as pool:
            group = list(group)
            results.update(zip(group, pool.map(step, group, itertools.repeat(together))))
    return results


def count(results):
    return ", ".join(f"{sum(len(each[kind]) for each in results)} {kind}" for kind in ("passed", "failed", "skipped"))


def record(path, results):
    """Write down how each program went last: these results, and what `path` says of other programs."""
    kept = [line for line in (path.read_text().splitlines() if path.exists() else []) if not line.split(": ")[0] in ("last result of each", *results)]
    lines = [f"{name}: {each['date']}, commit {each['commit']}, {each['took']} s, {count([each])}" for name, each in results.items()]
    lines += [f"{name}: {kind}: {each_name}" for name, each in results.items() for kind in ("failed", "skipped") for each_name in each[kind]]
    lines = sorted(kept + lines, key=lambda line: line.split(": ")[0])
    rows = re.findall(r"(\d+) s, (\d+) passed, (\d+) failed, (\d+) skipped$", "\n".join(lines), re.MULTILINE)
    took, *counts = (sum(map(int, column)) for column in zip(*rows))
    total = "{} passed, {} failed, {} skipped".format(*counts)
    path.write_text("\n".join([f"last result of each: {total}, {took // 60} min {took % 60} s", *lines]) + "\n")


def main():
    began = time.time()
    programs = sys.argv[1:]
    keep = programs[:1] == ["--keep"]
    programs = programs[keep:]
    recorded = pathlib.Path(programs[1]) if programs[:1] == ["--record"] else None
    programs = programs[2:] if recorded else programs
    results = all_of(programs, keep, began)
    failed = [name for each in results.values() for name in each["failed"]]
    for name in failed:
        print(f"# failed: {name}")
    elapsed = int(time.time() - began)
    print(f"# took {elapsed // 60} min {elapsed % 60} s")
    if recorded:
        record(recorded, results)
    print(count(results.values()))
    sys.exit(0 if not failed and any(each["passed"] for each in results.values()) else 1)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    main()
