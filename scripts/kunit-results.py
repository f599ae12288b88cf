#!/usr/bin/env python3
"""Hold KUnit's results against what the suite declares.

usage: kunit-results.py RESULTS SUITE

RESULTS is the JSON that kunit.py wrote, SUITE the suite's source. Prints one
line for each test that did not pass, as `STATUS NAME`, and a count. Exit
status: 0 every test and every case that the suite declares ran, and passed;
1 otherwise.
"""

import json
import re
import sys


def declared(source):
    """The suite's name and its tests, with the cases of each that has some."""
    arrays = {}
    for generator, array in re.findall(r"KUNIT_ARRAY_PARAM\((\w+), (\w+),", source):
        body = re.search(rf"{array}\[\] = \{{(.*?)\n\}};", source, re.S)[1]
        arrays[f"{generator}_gen_params"] = re.findall(r'^\t\{ "([^"]*)"', body, re.M)
    tests = {}
    for test, generator in re.findall(r"\tKUNIT_CASE(?:_PARAM)?\((\w+)(?:, (\w+))?\)", source):
        tests[test] = arrays[generator] if generator else []
    return re.search(r'\.name = "([^"]*)"', source)[1], tests


def ran(group):
    """What is in a group of results: test names with their cases' names."""
    names = {case["name"]: [] for case in group["test_cases"]}
    names.update({sub["name"]: [case["name"] for case in sub["test_cases"]] for sub in group["sub_groups"]})
    return names


def verdicts(group, prefix=""):
    for case in group["test_cases"]:
        yield case["status"], prefix + case["name"]
    for sub in group["sub_groups"]:
        yield from verdicts(sub, f"{prefix}{sub['name']}: ")


def main():
    results = json.load(open(sys.argv[1], encoding="utf-8"))
    suite, tests = declared(open(sys.argv[2], encoding="utf-8").read())
    groups = [group for group in results["sub_groups"] if group["name"] == suite]
    bad = [] if len(groups) == 1 else [f"MISSING {suite}"]
    total = 0
    for group in groups:
        for status, name in verdicts(group):
            total += 1
            bad += [] if status == "PASS" else [f"{status} {name}"]
        there = ran(group)
        for test in sorted(tests.keys() | there.keys()):
            if tests.get(test) != there.get(test):
                bad.append(f"OTHER {test}: declared {tests.get(test)}, ran {there.get(test)}")
    print(*bad, f"{total} results of {len(tests)} tests", sep="\n")
    sys.exit(1 if bad or not total else 0)


if __name__ == "__main__":
    main()
