"""The QEMU machine in which Xen, a dom0 and its guests are booted.

Two serial ports leave the machine: com1 is Xen's console, and com2 the channel
on which the guest-side scripts write one JSON object a line. Verdicts come
over the channel alone; the console is kept to be scanned afterwards.
"""

import os
import shlex
import shutil
import subprocess

# Why each of these: with MONITOR Xen's idle loop takes a #GP on MWAIT, with
# RDTSCP instruction emulation fails in dom0, with XSAVE and AVX user space in
# dom0 dies of #UD (all of software emulation, QEMU 7.2).
CPU = "EPYC,-monitor,-rdtscp,-xsave,-avx,-avx2,-f16c,-fma"
# The first CPU is kept out of the domains' way, in a NUMA node of its own.  In
# QEMU (cpu_clear_ignne(), 7.2 to 10 at least) every FXRSTOR, on whichever CPU,
# clears a bit of the first CPU's hflags2, without a lock.  One that meets a
# VMRUN or a #VMEXIT there undoes what that one changed: the CPU goes on with
# nested paging as it was before, and the domain dies of a triple fault.
FIRST_NODE = 512  # MiB, of Xen's own node
XEN = ("dom0=pvh numa=on dom0_nodes=1 dom0_mem={dom0_mem} dom0_max_vcpus={dom0_vcpus} cpuidle=no "
       "console=com1 com1=115200,8n1 loglvl=all guest_loglvl=all")
# How time passes in the machine. icount: all CPUs in one thread by turns, a
# nanosecond an instruction, idle time skipped, and nothing from outside that
# differs from run to run. It counts instructions; what a flush costs is not in it.
# calibrated: the same, and Xen lets a time pass for each flush (scripts/prices).
ICOUNT = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off",
          "-rtc", "base=2026-01-01,clock=vm"]
MODES = {"threads": ["-accel", "tcg,thread=multi"], "icount": ICOUNT, "calibrated": ICOUNT}
# An emulated machine may be starved of its host for longer than RCU bears.
DOM0 = "console=hvc0 loglevel=6 rcupdate.rcu_cpu_stall_timeout=150"

class Missing(Exception):
    """Something this machine lacks; its text says what to do."""


def program():
    """The path of QEMU; Missing without one. Environment: QEMU."""
    found = shutil.which(os.environ.get("QEMU", "qemu-system-x86_64"))
    if not found:
        raise Missing("no qemu-system-x86_64: apt-get install qemu-system-x86, or set QEMU=")
    return found


def version(_):
    """What it is, for the record."""
    return subprocess.run([program(), "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]


def command(machine, directory, xen, kernel, initrd, options):
    """The QEMU command line, as a list.

    options: dom0_mem, dom0_vcpus, cpus (those domains run on), memory (MiB), mode
    (of MODES), plugin (of scripts/icount), seed (of the guest's random numbers, a
    number), and further words for the command lines of xen and dom0. kernel and
    initrd are dom0's.
    """
    xen_line = " ".join([XEN.format(**options), machine.xen, options.get("xen", "")]).strip()
    dom0_line = f"{DOM0} {options.get('dom0', '')}"
    line = [program(), "-M", "q35,kernel-irqchip=split", *MODES[options["mode"]], "-cpu", CPU,
            "-smp", str(options["cpus"] + 1), "-m", f"{options['memory']}M",
            "-object", f"memory-backend-ram,id=ram0,size={FIRST_NODE}M",
            "-object", f"memory-backend-ram,id=ram1,size={options['memory'] - FIRST_NODE}M",
            "-numa", "node,nodeid=0,cpus=0,memdev=ram0",
            "-numa", f"node,nodeid=1,cpus=1-{options['cpus']},memdev=ram1", "-nodefaults", "-no-reboot", "-display", "none",
            *shlex.split(machine.options),
            "-serial", f"file:{directory}/console.log",
            "-chardev", "stdio,id=channel,signal=off", "-serial", "chardev:channel"]
    if options.get("plugin"):
        line += ["-seed", str(options["seed"]), "-plugin", f"{options['plugin']},totals={directory}/instructions.jsonl,profile={directory}/profile"]
    if machine.trace:
        line += ["-trace", machine.trace, "-msg", "timestamp=on", "-D", f"{directory}/trace.log"]
    # a comma separates multiboot modules, hence the doubled ones inside a name
    modules = f"{str(kernel).replace(',', ',,')} {dom0_line.replace(',', ',,')},{str(initrd).replace(',', ',,')}"
    return line + ["-kernel", str(xen), "-append", xen_line, "-initrd", modules]


def clean(_):
    """Once the machine is gone: nothing to be removed."""
