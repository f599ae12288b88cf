#!/bin/bash
# The harness's own tests: bad input, and boots that go wrong, are told as what
# they are.
. "$(dirname "$0")/tap.sh"
plan 18

boot() { scripts/run.py "$1" --pairs base/base --boots 1 --run "$SCRATCH/$1"; }
export BOOT_TIMEOUT=60
refuses "a boot that hangs" 1 'hang: the guests were not up in time' env BOOT_TIMEOUT=25 scripts/run.py hang --pairs base/base --boots 1 --run "$SCRATCH/hang"
refuses "a kernel that panics" 1 'crash: .*Kernel panic' boot crash
refuses "a machine that goes down without a verdict" 1 'no verdict: ' boot silent
refuses "judged again, from what is stored" 1 'no verdict: ' scripts/judge.py "$SCRATCH/silent"

check "the guest-side scripts started by hand, as on a host" scripts/run.py by-hand --pairs base/base --boots 1 --run "$SCRATCH/by-hand"

refuses "an unknown MACHINE" 2 'MACHINE=none is unknown; known: vtd amdvi' make -s NO_DEPS=1 bench MACHINE=none
refuses "an unknown pair" 2 'a pair is XEN/LINUX' make -s NO_DEPS=1 bench PAIRS=stock
refuses "MACHINE=host where no Xen runs" 2 'wants root in dom0' scripts/run.py bench --machine host --pairs base/base
refuses "no QEMU" 2 'no qemu-system-x86_64: apt-get install' env QEMU=/nonexistent/qemu scripts/run.py silent --pairs base/base --boots 1
refuses "report of a directory that is no run" 2 'holds no summary' make -s report RUN="$SCRATCH"
refuses "a XEN_TREE that is not there" 2 'XEN_TREE=.*: no such directory' env XEN_TREE=/nonexistent scripts/source.sh xen
refuses "a XEN_TREE that is no checkout" 2 'is no git checkout' env XEN_TREE="$SCRATCH" scripts/source.sh xen
refuses "a XEN_TREE that is not Xen" 2 'does not look like xen' env XEN_TREE="$TOP" scripts/source.sh xen
refuses "an unknown release" 2 'no pin for xen-4.0; known:' env XEN=4.0 scripts/source.sh xen

mkdir -p "$SCRATCH/other/download"
echo changed >"$SCRATCH/other/download/$(sed -n 's/^file=//p' scripts/pins/xen-4.17)"
refuses "a package with another hash" 2 'sha256 differs' env OUT="$SCRATCH/other" scripts/source.sh xen

# A pin of a version that no mirror has, in a copy of the scripts.
mkdir "$SCRATCH/old"
cp -r scripts "$SCRATCH/old"
sed -i 's/^version=.*/version=4.17.0-0none1/' "$SCRATCH/old/scripts/pins/xen-4.17"
refuses "a package whose version is gone from the mirror" 2 'the mirror has no xen 4.17.0-0none1: set XEN_TREE=' \
	env OUT="$SCRATCH/old/build" "$SCRATCH/old/scripts/source.sh" xen

# A build whose disk is full, from the compiler's own message.
full() { bash -c '. scripts/lib.sh; logged "xen" "$OUT/log/full.log" cp /dev/zero /dev/full' scripts/full; }
refuses "a disk that fills while building" 2 'disk full while building' full

if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	small() { unshare -m sh -c 'mkdir "$0" && mount -t tmpfs -o size=20m none "$0" && OUT="$0" scripts/source.sh linux' "$SCRATCH/small"; }
	refuses "a disk without room for the next step" 2 'disk full: .* MiB free, this step needs' small
else
	skip "a disk without room for the next step" "needs root to mount one"
fi
