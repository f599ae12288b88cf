#!/usr/bin/env python3
"""The Bochs machine in which Xen is booted: EPT, where QEMU emulates SVM alone, or NPT.

As with QEMU (qemu.py) com1 is Xen's console, and com2 the channel. Bochs starts
no kernel by itself: each boot has a CD of its own, with GRUB on it. It has no
IOMMU, without which Xen refuses a PVH dom0 unless it is told dom0-iommu=none;
dom0's devices could do no DMA then, and it has none that would.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import machines
import qemu

# One CD of 100 MB is made a boot, and removed after it.
CD = "boot.iso"
XEN = ("dom0=pvh dom0-iommu=none dom0_mem={dom0_mem} dom0_max_vcpus={dom0_vcpus} cpuidle=no "
       "console=com1 com1=115200,8n1 loglvl=all guest_loglvl=all")
# ips: instructions that make an emulated second; with sync=none one takes as long
# as it takes, and idle time is skipped.
# ignore_bad_msrs: Xen reads some that this Bochs does not know.
BOCHSRC = """\
display_library: nogui
cpu: {cpu}, count={cpus}, ips=100000000, reset_on_triple_fault=0, ignore_bad_msrs=1
memory: guest={memory}, host={memory}
romimage: file={built}/BIOS-bochs-latest
vgaromimage: file={built}/vgabios-stdvga.bin
pci: enabled=1, chipset=i440fx
clock: sync=none, time0=utc
ata0: enabled=1
ata0-master: type=cdrom, path={directory}/{cd}, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={directory}/console.log
com2: enabled=1, mode=file, dev={channel}
log: {directory}/bochs.log
panic: action=fatal
error: action=ignore
info: action=report
"""
GRUB = """\
set timeout=0
multiboot2 /boot/xen {xen}
module2 /boot/vmlinux {dom0}
module2 /boot/initrd
boot
"""


def program():
    """Nothing to be looked for: scripts/bochs.sh builds it."""


def version(built):
    """What it is, for the record."""
    return (built / "id").read_text().strip()


def make_cd(directory, files, grub):
    """A CD that boots itself, from {name: path} below /boot."""
    tree = directory / "cd"
    (tree / "boot/grub").mkdir(parents=True)
    for name, path in files.items():
        shutil.copy(path, tree / "boot" / name)
    (tree / "boot/grub/grub.cfg").write_text(grub)
    (directory / "grub.cfg").write_text(grub)
    made = subprocess.run(["grub-mkrescue", "-d", "/usr/lib/grub/i386-pc", "--install-modules=multiboot2 normal iso9660 biosdisk",
                           "--fonts=", "--locales=", "--themes=", "-o", directory / CD, tree],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    shutil.rmtree(tree)
    if made.returncode:
        raise qemu.Missing(f"no CD to boot from, grub-mkrescue says: {made.stdout.strip().splitlines()[-1]}")


def prepare(built, directory, files, lines, machine, channel="/dev/stdout"):
    """Make what Bochs is to be started with; the command line, as a list.

    files: (xen, dom0's kernel, its initramfs); lines: the command lines of the
    first two; machine: cpu, cpus, memory (MiB), and check: off, on, or
    ignore-invept (scripts/bochs/eptcheck); channel: where com2 goes, which has to
    be a file of its own where standard output is none to be shared, as a pipe is.
    """
    make_cd(directory, dict(zip(("xen", "vmlinux", "initrd"), files)), GRUB.format(xen=lines[0], dom0=lines[1]))
    (directory / "bochsrc").write_text(BOCHSRC.format(built=built, directory=directory, cd=CD, channel=channel, **machine))
    line = [built / "bochs", "-q", "-f", directory / "bochsrc"]
    if machine["check"] == "off":
        return line
    words = ["EPTCHECK_IGNORE_INVEPT=1"] if machine["check"] == "ignore-invept" else []
    return ["env", f"EPTCHECK={directory}/eptcheck.jsonl", *words, *line]


def command(machine, directory, xen, kernel, initrd, options):
    """As qemu.py's; options also has `built`, where Bochs is, and `check`."""
    return prepare(options["built"], directory, (xen, kernel, initrd), (
        " ".join([XEN.format(**options), machine.xen, options.get("xen", "")]).strip(),
        f"{qemu.DOM0} rig.poll=1 {options.get('dom0', '')}"), {
            "cpu": machine.options, "cpus": options["cpus"], "memory": options["memory"], "check": options["check"]})


def clean(directory):
    """Once the machine is gone."""
    (directory / CD).unlink(missing_ok=True)


def main():
    """bochs.py BUILT DIRECTORY XEN KERNEL INITRD XEN-LINE DOM0-LINE CPUS MEMORY: the
    command line, for a script. Environment: MACHINE, EPT_CHECK, CHANNEL."""
    built, directory, *files = map(pathlib.Path, sys.argv[1:6])
    *lines, cpus, memory = sys.argv[6:10]
    print(shlex.join(map(str, prepare(built, directory.resolve(), files, lines, {
        "cpu": machines.machine(os.environ.get("MACHINE", "ept")).options, "cpus": cpus, "memory": memory,
        "check": os.environ.get("EPT_CHECK", "off")}, os.environ.get("CHANNEL", "/dev/stdout")))))


if __name__ == "__main__":
    main()
