#!/usr/bin/env python3
"""Boot the sides of a comparison, interleaved, and leave a run directory.

usage: run.py PLAN [--machine M,M...] [--pairs X/L,X/L...] [--boots N] ...

PLAN: bench (iperf3 in each direction), latency (guests that wait for each
completion), verify (payloads checked end to end, then guests destroyed and
grants counted), matrix (the same for many kinds of traffic), teardown
(interfaces taken away under load), hostile (a frontend that attacks netback), or
one of the harness's own tests: by-hand, hang, crash, silent.

A pair names the Xen and the Linux half, each base or patched: base/base,
patched/patched, patched/base, base/patched; or one of a half's mutants, as in
patched/mutant:NAME. Boots go there and back through the list of machines and
pairs (ABBA), so that a drift of the host weighs on all alike. In the modes that
repeat, icount and calibrated, the n-th boots of all pairs have the seed n.

The run directory, by default OUT/runs/<time>, holds for each boot the exact
command line, both configurations, the identity of what was booted, Xen's
console, the channel and QEMU's trace: judge.py and report.py need no more.
One that was interrupted is gone on with: --run names it, with the settings it
was begun with. Boots that ended are kept, the one that was cut short is made again.
Exit status: 0 judged good; 1 judged bad; 2 nothing could be run.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time

import bochs
import channel
import instructions
import judge
import machines
import qemu
import report

TOP = pathlib.Path(__file__).resolve().parent.parent
BEGAN = time.time()
EMULATORS = {"qemu": qemu, "bochs": bochs}
SLOWER = 10  # a mode of one thread, with every block counted, takes that much longer at most
RETRIES = 2  # of a boot that QEMU broke (judge.interrupted_twice)
# TCP makes its packets as large as what it sends in a millisecond, of time and
# not of work: an emulated sender would get stuck at two segments a packet, and
# wait some milliseconds for the completion of each two packets. Hardware of this
# speed relative to its clock would send packets of 64 KiB.
EMULATED = {"tso_segs": 44}


def say(text):
    """A line of progress with the time since the start, on stderr."""
    seconds = int(time.time() - BEGAN)
    print(f"[{seconds // 60:02d}:{seconds % 60:02d}] {text}", file=sys.stderr, flush=True)


def script(name, *arguments, **environment):
    """Run a script that prints one path as its last line; return that path."""
    done = subprocess.run([TOP / "scripts" / name, *arguments], stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode:
        sys.exit(2)
    return pathlib.Path(done.stdout.split()[-1])


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("plan", choices=["bench", "latency", "verify", "matrix", "teardown", "hostile", "by-hand", "hang", "crash", "silent"])
    add("--machine", default="vtd", help="rows of scripts/machines, a list (default: %(default)s)")
    add("--pairs", default="base/base,patched/patched", help="Xen/Linux sides to boot (default: %(default)s)")
    add("--boots", type=int, default=2, help="boots of each pair (default: %(default)s)")
    add("--runs", type=int, default=3, help="runs of each cell in a boot (default: %(default)s)")
    add("--rounds", type=int, default=12, help="rounds of teardown (default: %(default)s)")
    add("--cases", default="all", help="of the matrix: all, short, or those of one path (default: %(default)s)")
    add("--attacks", default="", help="of plan hostile, a list (default: all)")
    add("--seconds", type=int, default=5, help="length of a run, s (default: %(default)s)")
    add("--streams", default="1", help="parallel streams, a list (default: %(default)s)")
    add("--directions", default="domU-dom0,domU-domU,dom0-domU", help="a list (default: %(default)s)")
    add("--copybreak", default="", help="rx-copybreak of netback's vifs, bytes; 0 maps all (default: netback's own)")
    add("--guest-vcpus", type=int, default=1)
    add("--guest-queues", type=int, default=8, help="netfront queues at most (default: %(default)s)")
    add("--dom0-vcpus", type=int, default=2)
    add("--settings", default="", help="more of scripts/guest/rig.sh, as balloon=1,backend_p2m=altp2m")
    add("--ept-check", default="off", choices=["off", "on", "ignore-invept"],
        help="of machines ept and npt: look for stale nested translations; ignore-invept has to find some")
    add("--mode", default="threads", choices=list(qemu.MODES), help="how time passes in QEMU (default: %(default)s)")
    add("--prices", default="", help="of mode calibrated, ns: of a TLB flush, of each remote CPU in it, of an IOTLB flush")
    add("--note", default="", help="what the report's reader should know, as of what else the host did")
    add("--run", type=pathlib.Path, help="the run directory (default: OUT/runs/<time>)")
    chosen = parser.parse_args()
    try:
        chosen.machines = [machines.machine(name) for name in chosen.machine.split(",")]
    except ValueError as error:
        parser.error(str(error))
    chosen.machine = chosen.machines[0]
    if len({machine.via for machine in chosen.machines}) > 1:
        parser.error("the machines of one run are started in the same way: see scripts/machines")
    if chosen.ept_check != "off" and chosen.machine.via != "bochs":
        parser.error(f"EPT_CHECK={chosen.ept_check}: only MACHINE=ept and npt have that checker")
    if chosen.mode != "threads" and chosen.machine.via != "qemu":
        parser.error(f"MODE={chosen.mode}: only QEMU has that mode")
    if chosen.mode != "threads" and len(chosen.machines) > 1:
        parser.error(f"MODE={chosen.mode}: one machine a run")
    if bool(chosen.prices) != (chosen.mode == "calibrated") or chosen.prices and not re.fullmatch(r"\d+,\d+,\d+", chosen.prices):
        parser.error(f"PRICES={chosen.prices}: MODE=calibrated, and it alone, takes three prices in ns, as 1000,100,500")
    for pair in chosen.pairs.split(","):
        if pair.count("/") != 1 or [side for side in pair.split("/") if not re.fullmatch("base|patched|mutant:.+", side)]:
            parser.error(f"PAIRS={pair}: a pair is XEN/LINUX, each base or patched")
    return chosen


def identity(half, _, built):
    """What a built half is: its `id` line and the sha256 of its binary; of the images, their directory's name and dom0's."""
    binary = built / {"xen": "xen", "linux": "vmlinux", "image": "dom0.cpio"}[half]
    said = built.name if half == "image" else (built / "id").read_text().strip()
    return {"id": said, "sha256": hashlib.sha256(binary.read_bytes()).hexdigest()}


def environment(chosen, built):
    """What the figures depend on and the boots have in common."""
    said = [word for last, word in zip(sys.argv, sys.argv[1:]) if not re.match("--run(=|$)", word) and last != "--run"]
    emulator = EMULATORS.get(chosen.machine.via)
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    commit = subprocess.run(["git", "-C", TOP, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "rig": commit.stdout.strip(), "emulated": emulator is not None, "emulator": emulator and emulator.version(built.get("bochs")),
        "host_cpu": model[0] if model else platform.machine(), "host_cpus": os.cpu_count(),
        "command": shlex.join(["scripts/run.py", *said]),
        "plan": chosen.plan, "machine": ",".join(machine.name for machine in chosen.machines), "pairs": chosen.pairs, "mode": chosen.mode, "prices": chosen.prices,
        "directions": chosen.directions, "streams": chosen.streams, "boots": chosen.boots, "runs": chosen.runs,
        "seconds_each": chosen.seconds, "copybreak": chosen.copybreak, "dom0_vcpus": chosen.dom0_vcpus, "guest_vcpus": chosen.guest_vcpus,
        "guest_queues": chosen.guest_queues, "xen_debug": os.environ.get("XEN_DEBUG", "n"),
        "linux_debug": os.environ.get("LINUX_DEBUG", "n"), "linux_modular": os.environ.get("LINUX_MODULAR", "n"),
        "ept_check": chosen.ept_check, "settings": chosen.settings,
        **({"note": chosen.note} if chosen.note else {}),
    }


def schedule(wanted, boots):
    """What is booted, in its order: there and back again."""
    order = []
    for index in range(boots):
        order += wanted if index % 2 == 0 else wanted[::-1]
    return order


def begin(run, now):
    """Store the environment of a run; one that goes on must be what it was begun as."""
    stored = run / "environment.json"
    run.mkdir(parents=True, exist_ok=True)
    if stored.exists():
        began = json.loads(stored.read_text())
        changed = [key for key in now if key not in ("date", "rig", "command", "note") and began.get(key) != now[key]]
        if changed:
            raise qemu.Missing(f"{run} was begun with another {', '.join(changed)}: finish it as it was, or name another RUN")
    else:
        stored.write_text(json.dumps(now, indent=1) + "\n")


def ended(directory, sides):
    """How a boot ended that a run had made before it was interrupted, or None; what was cut short is removed."""
    try:
        how = json.loads((directory / "outcome.json").read_text())
    except (OSError, ValueError):
        if directory.exists():
            shutil.rmtree(directory)
        return None
    if json.loads((directory / "sides.json").read_text()) != sides:
        raise qemu.Missing(f"{directory} is a boot of another build: name another RUN")
    return how


def left(seconds, boots):
    """How long so many boots will take, by those that were made."""
    if not seconds:
        return ""
    minutes = round(statistics.mean(seconds) * boots / 60)
    return f", about {minutes // 60} h {minutes % 60:02d} min left"


def settings(chosen):
    """The guest-side scripts' settings, by their names (scripts/guest/rig.sh)."""
    return {"plan": chosen.plan, "backend": chosen.machine.backend, "directions": chosen.directions,
            "streams": chosen.streams, "runs": chosen.runs, "rounds": chosen.rounds, "cases": chosen.cases, "attacks": chosen.attacks, "seconds": chosen.seconds,
            "copybreak": chosen.copybreak, "vcpus": chosen.guest_vcpus, "queues": chosen.guest_queues,
            "backend_vcpus": chosen.dom0_vcpus, **dict(word.split("=") for word in chosen.settings.split(",") if word)}


def heard(message):
    """Show the progress a machine reports."""
    kind = message.get("type")
    if kind == "boot":
        say(f"  {message.get('stage')} up after {message.get('uptime')} s")
    elif kind == "tap":
        say(f"  {'ok' if message.get('ok') else 'NOT OK'} {message.get('name')}")
    elif kind == "log":
        say(f"  {message.get('text')}")
    elif kind == "run" and message.get("run"):
        latency = message.get("latency_us")
        say(f"  {message.get('direction')} {message.get('streams')} stream(s), run {message.get('run')}: " +
            (f"{latency} us" if latency else f"{judge.text(judge.gbps(message))} Gbit/s"))


def boot(chosen, directory, built, xen, linux, seed):
    """Boot a pair in an emulator, with the artefacts built; how it ended. seed: of modes that repeat."""
    emulator = EMULATORS[chosen.machine.via]
    xen, linux, guest = built["xen", xen], built["linux", linux], built["linux", "base"]
    initrd = script("initrd.sh", str(built["image", ""]), str(linux / "vmlinux"), str(guest / "vmlinux"), chosen.plan)
    for built_half, name in ((xen, "xen"), (linux, "linux")):
        shutil.copy(built_half / "config", directory / f"{name}.config")
        if "plugin" in built and (built_half / "symbols").exists():
            shutil.copy(built_half / "symbols", directory / f"{name}.symbols")
    if chosen.machine.via == "bochs":
        # no processor is Xen's alone there
        more_guests = max(0, report.setup(vars(chosen))[1] - 2)
        cpus, memory, words = chosen.dom0_vcpus, {"dom0_mem": "768M", "memory": 1536 + 192 * more_guests}, {}
    else:
        cpus = max(2, chosen.dom0_vcpus)
        memory, words = {"dom0_mem": "1G", "memory": 3072, "mode": chosen.mode}, {"cpus": f"1-{cpus}"}
    if "plugin" in built:
        # whose CPU it was tells whose instructions they are
        cpus, guests = chosen.dom0_vcpus + 2 * chosen.guest_vcpus, chosen.dom0_vcpus + 1
        prices = "price_tlb={} price_tlb_cpu={} price_iotlb={}".format(*chosen.prices.split(",")) if chosen.prices else ""
        memory.update(plugin=built["plugin"], seed=seed, xen=f"dom0_vcpus_pin {prices}".strip())
        words.update(cpus=f"{guests}-{cpus}", warmup=1)
    words.update(settings(chosen), **EMULATED)
    command = emulator.command(chosen.machine, directory, xen / "xen", linux / "vmlinux", initrd, {
        **memory, "dom0_vcpus": chosen.dom0_vcpus, "cpus": cpus, "built": built.get("bochs"), "check": chosen.ept_check,
        "dom0": " ".join(f"rig.{name}={value}" for name, value in words.items())})
    try:
        return channel.listen(command, directory, heard)
    finally:
        emulator.clean(directory)


def on_host(chosen, directory, guest, image):
    """Run the same scripts on the Xen host one stands on; how it ended."""
    words = [f"RIG_{name.upper()}={value}" for name, value in settings(chosen).items()]
    ramdisk, more = image / "domU.cpio", image / f"{chosen.plan}.cpio"
    if more.exists():
        together = directory / "domU.cpio"
        together.write_bytes(ramdisk.read_bytes() + more.read_bytes())
        ramdisk = together
    command = ["env", *words, f"RIG_KERNEL={guest / 'vmlinux'}", f"RIG_RAMDISK={ramdisk}",
               f"RIG_HOSTILE={image / 'hostile'}",
               TOP / "scripts/guest/run-plan"]
    how = channel.listen(command, directory, heard)
    with open(directory / "console.log", "w") as log:
        for reader in (["timeout", "30", "xl", "dmesg"], ["timeout", "30", "dmesg"]):
            subprocess.run(reader, stdout=log, check=False)
    return how


def main():
    chosen = options()
    pairs = [tuple(pair.split("/")) for pair in chosen.pairs.split(",")]
    run = (chosen.run or pathlib.Path(os.environ.get("OUT", TOP / "build")) / "runs" /
           time.strftime("%Y%m%d-%H%M%S")).resolve()

    host = chosen.machine.via == "host"
    # what a machine lacks is told before anything is built for it
    if host and (not pathlib.Path("/proc/xen/privcmd").exists() or os.geteuid()):
        raise qemu.Missing("MACHINE=host wants root in dom0 of a running Xen, with xl and iperf3: this is none")
    if host and len(pairs) > 1:
        raise qemu.Missing("MACHINE=host: say what was booted, SIDE=base/base or SIDE=patched/patched")
    if not host:
        EMULATORS[chosen.machine.via].program()
    wanted = [(machine, *pair) for machine in chosen.machines for pair in pairs]
    order = wanted[:1] if host else schedule(wanted, chosen.boots)
    needed = [] if host else sorted({("xen", x) for x, _ in pairs} | {("linux", l) for _, l in pairs})
    needed += [("linux", "base")] if ("linux", "base") not in needed else []
    # where Xen says when it gives pages back, the checker can tell what that was too early for
    marks = {"XEN_MARKS": "n" if chosen.ept_check == "off" else "y", "XEN_PRICES": "y" if chosen.prices else "n"}
    built = {}
    for number, (half, side) in enumerate(needed, 1):
        say(f"step {number} of {len(needed) + 2}: {half} {side}")
        # a guest has no netback that could be a module
        guest = {} if side in {linux for _, linux in pairs} else {"LINUX_MODULAR": "n"}
        built[half, side] = script("build.sh", half, side.replace(":", "/"), **marks, **guest)
    if chosen.machine.via == "bochs":
        say(f"step {len(needed) + 1} of {len(needed) + 2}: Bochs, guest images")
        built["bochs"] = script("bochs.sh")
    else:
        say(f"step {len(needed) + 1} of {len(needed) + 2}: guest images")
    built["image", ""] = script("image.sh")
    if chosen.mode != "threads":
        built["plugin"] = script("icount.sh")
        channel.BOOT_TIMEOUT *= SLOWER
        channel.SILENCE_TIMEOUT *= SLOWER
        channel.POWEROFF_TIMEOUT *= SLOWER

    begin(run, {**environment(chosen, built), "scheduled": len(order)})
    say(f"step {len(needed) + 2} of {len(needed) + 2}: {len(order)} boots into {run}")
    took = []
    for number, (chosen.machine, xen, linux) in enumerate(order, 1):
        for attempt in range(1 + RETRIES):
            directory = run / (f"{number:02d}-{chosen.machine.name}-{xen}-{linux}" + (f"-retry{attempt}" if attempt else ""))
            booted = {"guest": ("linux", "base"), "image": ("image", "")}
            booted.update({} if host else {"xen": ("xen", xen), "linux": ("linux", linux)})
            sides = {"boot": number, "machine": chosen.machine.name, "xen": xen, "linux": linux, "built": {
                name: identity(*what, built[what]) for name, what in booted.items()}}
            how = ended(directory, sides)
            say(f"boot {number} of {len(order)}: xen {xen}, linux {linux}, {chosen.machine.name}" +
                (" was made before" if how else left(took, len(order) - number + 1)))
            if not how:
                directory.mkdir()
                (directory / "sides.json").write_text(json.dumps(sides, indent=1) + "\n")
                if host:
                    how = on_host(chosen, directory, built["linux", "base"], built["image", ""])
                else:
                    how = boot(chosen, directory, built, xen, linux, seed=1 + (number - 1) // len(wanted))
                (directory / "outcome.json").write_text(json.dumps(how) + "\n")
            took.append(how["seconds"])
            status, why = judge.boot_verdict(directory)
            say(f"  {why} ({how['seconds']} s)")
            if status != "emulator":
                break

    summary = judge.judge(run)
    print(report.table(summary))
    if "plugin" in built:
        print(instructions.table(instructions.read(run)))
    say(f"kept in {run}")
    sys.exit(0 if summary["status"] == "pass" else 1)


if __name__ == "__main__":
    # the machine is ended in either case
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        main()
    except (qemu.Missing, report.Missing, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
