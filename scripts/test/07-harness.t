#!/bin/bash
# The harness's own tests: bad input, and boots that go wrong, are told as what
# they are.
# Parallel: yes
. "$(dirname "$0")/tap.sh"
plan 32

boot() { scripts/run.py "$1" --pairs base/base --boots 1 --run "$SCRATCH/$1"; }
export BOOT_TIMEOUT=120
refuses "a boot that hangs" 1 'hang: the guests were not up in time' env BOOT_TIMEOUT=25 scripts/run.py hang --pairs base/base --boots 1 --run "$SCRATCH/hang"
refuses "a kernel that panics" 1 'crash: .*Kernel panic' boot crash
refuses "a machine that goes down without a verdict" 1 'no verdict: ' boot silent
refuses "judged again, from what is stored" 1 'no verdict: ' scripts/judge.py "$SCRATCH/silent"

check "the guest-side scripts started by hand, as on a host" scripts/run.py by-hand --pairs base/base --boots 1 --run "$SCRATCH/by-hand"

# A machine that says what a real one would, at once. Its n-th boot, counted in
# $FAKE/boots, ends in the way that the n-th word of $FAKE_ENDS tells.
cat >"$SCRATCH/qemu" <<'END'
#!/bin/bash
[ "${1:-}" != --version ] || { echo fake; exit; }
echo boot >>"$FAKE/boots"
console=$(printf '%s\n' "$@" | sed -n 's/^file://p')
set -- $FAKE_ENDS
shift $(($(wc -l <"$FAKE/boots") - 1))
echo '{"type":"boot","stage":"guests"}'
case ${1:-pass} in
pass) echo '{"type":"verdict","status":"pass"}' ;;
interrupt) kill -TERM $PPID; exec sleep 60 ;;
twice) # what judge.interrupted_twice() knows QEMU by
	printf '%s\n' 'asm_sysvec_xen_hvm_callback+0x5/0x20' 'RIP: 0010:asm_sysvec_xen_hvm_callback+0x5/0x20' \
		'RSP: 0018:ffffc9 EFLAGS: 00010046' 'Kernel panic - not syncing' >"$console" ;;
esac
END
chmod +x "$SCRATCH/qemu"
# fake NAME ENDS COMMAND...: that machine for a command, its boots kept by NAME.
fake() {
	mkdir -p "$SCRATCH/$1"
	env FAKE="$SCRATCH/$1" FAKE_ENDS="$2" QEMU="$SCRATCH/qemu" "${@:3}"
}
made() { [ "$(wc -l <"$SCRATCH/$1/boots")" -eq "$2" ]; }

lost() { fake lost 'pass twice twice twice' scripts/run.py bench --boots 1 --run "$SCRATCH/lost/run"; }
refuses "a boot that QEMU broke each time, though another passed" 1 'PROBLEM: boot 2: QEMU broke each of 3 attempts' lost
check "it was tried as often as it may be" made lost 4

several=(fake cut 'pass interrupt' scripts/run.py bench --machine 'vtd,amdvi' --boots 1 --run "$SCRATCH/cut/run")
refuses "a run that is interrupted" 130 'boot 2 of 4' "${several[@]}"
first=$(cat "$SCRATCH/cut/run/01-vtd-base-base/outcome.json")
refuses "going on with it in another way" 2 'was begun with another streams: finish it as it was' "${several[@]}" --streams 2
check "going on with it" "${several[@]}"
went_on() {
	made cut 5 && [ "$(cat "$SCRATCH/cut/run/01-vtd-base-base/outcome.json")" = "$first" ] &&
		[ "$(cd "$SCRATCH/cut/run" && echo */outcome.json)" = "$(echo 0{1-vtd-base-base,2-vtd-patched-patched,3-amdvi-base-base,4-amdvi-patched-patched}/outcome.json)" ]
}
check "the boot that ended was kept, the one cut short made again, the others made" went_on
again() { "${several[@]}" && made cut 5; }
check "there is nothing left to boot" again
missing() { rm -r "$SCRATCH/cut/run/03-amdvi-base-base" && scripts/judge.py "$SCRATCH/cut/run"; }
refuses "a boot of the schedule that is missing" 1 'boot 3: not made' missing

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

# What an assembler file takes in is looked at, as CC=cached compiles it.
included() {
	echo ".incbin \"$SCRATCH/data\"" >"$SCRATCH/data.S" && for data in $$ x; do
		printf '%8s' "$data" >"$SCRATCH/data" && "${1:-scripts/cached}" gcc -MD -c -o "$SCRATCH/data.o" "$SCRATCH/data.S" || return
	done
	grep -q '       x' "$SCRATCH/data.o"
}
check "a file that an assembler file includes has changed" included

# The tests' own count: a small project, whose first program fails at first.
mkdir "$SCRATCH/project" "$SCRATCH/count"
cat >"$SCRATCH/project/one.t" <<'END'
#!/bin/sh
echo 1..1
echo one >>"$OUT/ran"
[ -e "$OUT/mended" ] && echo ok 1 - one || echo not ok 1 - one
END
printf '#!/bin/sh\necho 1..2\necho two >>"$OUT/ran"\necho "ok 1 - two"\necho "ok 2 - more # SKIP not here"\n' >"$SCRATCH/project/two.t"
chmod +x "$SCRATCH"/project/*.t
(cd "$SCRATCH/project" && git init -q && git add . && git -c user.name=rig -c user.email=rig@localhost commit -q -m project)
tests() { (cd "$SCRATCH/project" && OUT=$SCRATCH/count "$TOP/scripts/test.py" --keep --record "$SCRATCH/record" ./one.t ./two.t); }
refuses "a failed test" 1 '^1 passed, 1 failed, 1 skipped' tests
mended() { touch "$SCRATCH/count/mended" && tests && [ "$(tr '\n' ' ' <"$SCRATCH/count/ran")" = "one two one " ]; }
check "run again, what had passed is kept" mended
edited() { echo '# edited' >>"$SCRATCH/project/two.t" && tests && [ "$(wc -l <"$SCRATCH/count/ran")" -eq 5 ]; }
check "and forgotten when the project has changed" edited
one_only() { (cd "$SCRATCH/project" && OUT=$SCRATCH/count "$TOP/scripts/test.py" --record "$SCRATCH/record" ./one.t) && grep -q '^./two.t: .* 1 passed, 0 failed, 1 skipped$' "$SCRATCH/record" && grep -q '^last result of each: 2 passed, 0 failed, 1 skipped' "$SCRATCH/record"; }
check "the record tells of each program how it went last" one_only
cut_off() { sed -i s/1..2/1..3/ "$SCRATCH/project/two.t" && tests; }
refuses "a test that ends before its plan does" 1 'planned 3 results and gave 2' cut_off
