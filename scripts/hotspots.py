#!/usr/bin/env python3
"""Where a page's instructions go, by function, of a run with MODE=icount.

usage: hotspots.py RUN [PAIR [N]]

RUN is a run directory. For each direction and number of streams the N (default
20) functions in which dom0's CPUs spend most, as instructions a page (4 KiB
received), of PAIR (default: the last of the run) and, beside it, of the first
pair of the run; then the five largest GROUPS of functions, the next targets, and
what each could give. Each boot's directory gets a functions.json with what makes
up 0.01 % or more: where it is, the profile it was made from is not needed.
Of Xen's and Linux's code; what runs in user space has no names here.
Exit: 0; 2 nothing to read.
"""

import bisect
import collections
import json
import pathlib
import re
import sys

import judge
import report

PAGE = 4096
GRAIN = 16  # bytes of code the plugin counts together
LINUX = 0xffffffff80000000  # from here on, Xen's is below
LEAST = 0.0001  # of a cell's instructions, to be kept

# What functions are for, by their names; the first that fits counts. A helper
# that several call is where most of its calls come from.
GROUPS = {
    "guest memory by virtual address (hypercall arguments, emulated instructions), with its p2m lookups":
        r"Xen (guest_walk_|__hvm_copy|hvm_copy_|hvm_translate_|hvmemul_(read|write)_cache|hap_\w*gfn|paging_gva_to|map_domain_gfn|"
        r"hvm_find_io_handler|hvm_mmio_|vpci_mmcfg_|vioapic_range|vlapic_range|copy_(to|from)_user|p2m_(pt_)?get_|p2m_recalc|"
        r"do_recalc|__mfn_valid|(get|put)_page$|(un)?map_domain_page|_check_lock_level)",
    "p2m and IOMMU entries made and removed":
        r"Xen (p2m_|write_p2m_|pt_update_c|iommu_|\w*_iommu_|addr_to_dma|dma_|flush_|replace_grant_p2m|xenmem_|do_memory_op)",
    "grants mapped, unmapped and copied, without the payload":
        r"Xen (\w*gnttab|\w*grant|get_paged_frame|check_get_page|unmap_batch|_?(get|put)_page_type|shared_entry|_set_status|put_maptrack)",
    "exits, emulation, interrupts and event channels":
        r"Xen (svm_|vmx_|nsvm_|nestedhvm|hvm_|hvmemul_|x86_|vlapic_|pt_|evtchn_|do_event|do_sched|do_IRQ|send_IPI|common_interrupt|"
        r"__update_guest_eip|handle_pio)",
    "payload copied": r"Xen memcpy|Linux (rep_movs|memcpy|_copy_(to|from)_iter)",
    "thunks against speculation": r"Xen __x86_",
    "netback": r"Linux (xenvif|xen_|gnttab|evtchn)",
    "network stack": r"Linux (\w*tcp|\w*skb|\w*netif|napi|\w*sock|ip_|__ip|br_|fdb_|dev_|__dev|page_pool|net_|nf_|eth_|inet)",
}
TARGETS = 5
MEANING = ("Instructions a page (4 KiB received) of dom0's CPUs in Xen and Linux. Groups are by the functions' names (scripts/hotspots.py), "
           "so a helper counts where most of its calls come from. What a run starts with, as iperf3's random payload, is in it; so is that Xen "
           "decodes each instruction that exits, since QEMU, unlike hardware, does not say where the next one is.")


def symbols(path):
    """(addresses, names) of nm's output, sorted."""
    found = sorted((int(fields[0], 16), fields[2].split("#")[-1]) for fields in map(str.split, path.read_text().splitlines()))
    return [address for address, _ in found], [name for _, name in found]


def name_of(address, xen, linux):
    """The function that a grain of code belongs to."""
    which, (addresses, names) = ("Linux", linux) if address >= LINUX else ("Xen", xen)
    index = bisect.bisect_right(addresses, address + GRAIN - 1) - 1
    return f"{which} {names[index] if index >= 0 else hex(address)}"


def profiles(directory, dom0_vcpus):
    """{mark: Counter of functions} of dom0's CPUs, from the plugin's profile of a boot."""
    xen, linux = symbols(directory / "xen.symbols"), symbols(directory / "linux.symbols")
    known, found = {}, collections.defaultdict(collections.Counter)
    with open(directory / "profile") as lines:
        for line in lines:
            mark, cpu, address, count = line.split()
            if 1 <= int(cpu) <= dom0_vcpus:
                if address not in known:
                    known[address] = name_of(int(address, 16), xen, linux)
                found[int(mark)][known[address]] += int(count)
    return found


def boot_cells(directory, dom0_vcpus):
    """What functions.json of a boot holds: for each cell pages received, and instructions in all and by function."""
    kept = directory / "functions.json"
    if kept.exists():
        return json.loads(kept.read_text())
    if not (directory / "profile").exists():
        return []
    by_mark, cells, marks, ended = profiles(directory, dom0_vcpus), {}, 0, None
    for _, message in judge.messages(directory):
        if message.get("type") == "mark":
            marks += 1
            ended = marks if message["what"] == "run-end" else ended
        if message.get("type") == "run" and message["run"] and judge.received(message, "bytes"):
            pages, counts = cells.get((message["direction"], message["streams"]), (0, collections.Counter()))
            cells[message["direction"], message["streams"]] = (
                pages + judge.received(message, "bytes") / PAGE, counts + by_mark[ended])
    found = [{"direction": direction, "streams": streams, "pages": round(pages), "instructions": sum(counts.values()), "functions": {
        name: count for name, count in counts.most_common() if count >= LEAST * sum(counts.values())}}
        for (direction, streams), (pages, counts) in cells.items()]
    kept.write_text(json.dumps(found, indent=1) + "\n")
    return found


def good_boots(run):
    """[(sides, boot_cells)] of a run."""
    dom0_vcpus = json.loads((run / "environment.json").read_text())["dom0_vcpus"]
    return [(json.loads((directory / "sides.json").read_text()), boot_cells(directory, dom0_vcpus))
            for directory in sorted(side.parent for side in run.glob("*/sides.json")) if judge.boot_verdict(directory)[0] == "pass"]


def read(runs):
    """{(direction, streams): {pair: (instructions a page, {function: instructions a page})}} of runs' good boots."""
    sums = {}
    for sides, cells in (boot for run in runs for boot in good_boots(run)):
        pair = report.pair(sides)
        for cell in cells:
            key = (cell["direction"], cell["streams"]), pair
            sums.setdefault(key, collections.Counter()).update({"": cell["instructions"], "pages": cell["pages"], **cell["functions"]})
    cells = {}
    for (cell, pair), counts in sums.items():
        each = {name: count / counts["pages"] for name, count in counts.items() if name != "pages"}
        cells.setdefault(cell, {})[pair] = (each.pop(""), each)
    return cells


def pair_of(pairs):
    """The last pair, which is the one with most patches."""
    return max(pairs, key=report.PAIRS.index)


def rows(pairs, pair, number=20):
    """The functions of a cell, the first row being the head: instructions a page of PAIR, and of the first pair."""
    total, counts = pairs[pair]
    first = min(pairs, key=report.PAIRS.index)
    yield ("function", f">{pair}", ">share", f">{first}")
    for name, count in sorted(counts.items(), key=lambda item: -item[1])[:number]:
        yield (name, f"{count:.0f}", f"{100 * count / total:.1f} %", report.show(pairs[first][1].get(name), "{:.0f}"))
    yield ("all", f"{total:.0f}", "100.0 %", f"{pairs[first][0]:.0f}")


def group_of(name):
    return next((group for group, pattern in GROUPS.items() if re.match(pattern, name)), None)


def targets(pairs, pair):
    """The largest groups of a cell, the first row being the head: what a page would be spared without each."""
    total, counts = pairs[pair]
    groups = collections.defaultdict(dict)
    for name, count in counts.items():
        groups[group_of(name)][name] = count
    groups.pop(None, None)
    yield ("next target", ">instructions a page", ">share", ">at most, where dom0's CPUs are the limit", "largest in it")
    for group, members in sorted(groups.items(), key=lambda item: -sum(item[1].values()))[:TARGETS]:
        share = sum(members.values()) / total
        largest = sorted(members, key=members.get, reverse=True)[:3]
        yield (group, f"{share * total:.0f}", f"{100 * share:.1f} %", f"{100 * share / (1 - share):+.0f} %",
               ", ".join(name.split()[1] for name in largest))


def main():
    if not 2 <= len(sys.argv) <= 4:
        raise report.Missing("usage: hotspots.py RUN [PAIR [N]]")
    run = pathlib.Path(sys.argv[1])
    found = read([run])
    if not found:
        raise report.Missing(f"{run}: no good boot has a profile")
    for (direction, streams), pairs in found.items():
        pair = sys.argv[2] if len(sys.argv) > 2 else pair_of(pairs)
        print(f"{direction}, {streams} stream(s): instructions a page of dom0's CPUs\n")
        for table in (rows(pairs, pair, *map(int, sys.argv[3:])), targets(pairs, pair)):
            print("\n".join([*report.drawn([tuple(cell.lstrip(">") for cell in row) for row in table]), ""]))


if __name__ == "__main__":
    report.called(main)
