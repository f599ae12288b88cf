# Shared by the shell scripts: sourced, never run.
# shellcheck shell=bash
# Settings from the environment: OUT (output directory), BUILD_TIMEOUT (s).

set -euo pipefail
TOP=$(cd "$(dirname "$0")/.." && pwd)
OUT=$(mkdir -p "${OUT:-$TOP/build}" 2>/dev/null && cd "${OUT:-$TOP/build}" && pwd) || {
	echo "error: cannot create OUT=${OUT:-$TOP/build}: name a directory that can be written" >&2
	exit 2
}
export OUT

# Compiler results are found again under another OUT.
export CCACHE_BASEDIR=$OUT CCACHE_NOHASHDIR=1 PATH=$TOP/scripts:$PATH

# die MESSAGE: one clear line, exit status 2.
die() { echo "error: $*" >&2; exit 2; }

# say MESSAGE: progress, on stderr, with the time since the script started.
say() { printf '[%02d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*" >&2; }

# pin NAME: read scripts/pins/NAME into suite, type, package, version, file, sha256.
pin() {
	[ -f "$TOP/scripts/pins/$1" ] || die "no pin for $1; known: $(cd "$TOP/scripts/pins" && echo *)"
	# shellcheck disable=SC2034 # for the caller
	suite='' type='' package='' version='' file='' sha256=''
	# shellcheck source=/dev/null
	. "$TOP/scripts/pins/$1"
}

# need_space MiB: stop before a disk is filled, not after.
need_space() {
	local free
	free=$(df -Pm "$OUT" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$1" ] ||
		die "disk full: $OUT has $free MiB free, this step needs $1; free some or set OUT= to another disk"
}

# logged LABEL LOG COMMAND...: run a command into a log, with a line of
# progress every 20 s and a bound on its time. A failure shows the first
# lines that say why. STEPS is how many lines the log of a whole build has.
logged() {
	local label=$1 log=$2 pid began=$SECONDS rc=0 next
	shift 2
	mkdir -p "$(dirname "$log")"
	timeout --foreground "${BUILD_TIMEOUT:-3600}" "$@" >"$log" 2>&1 </dev/null &
	pid=$!
	next=$((SECONDS + 20))
	while kill -0 $pid 2>/dev/null; do
		sleep 0.2
		[ $SECONDS -lt $next ] || {
			say "$label: step $(wc -l <"$log")${STEPS:+ of $STEPS at most}, $((SECONDS - began)) s"
			next=$((SECONDS + 20))
		}
	done
	wait $pid || rc=$?
	[ $rc -ne 0 ] || return 0
	! grep -q 'No space left on device' "$log" ||
		die "$label: disk full while building below $OUT; free some or set OUT=, then run again: what is built is kept"
	[ $rc -ne 124 ] || die "$label: not done after ${BUILD_TIMEOUT:-3600} s (BUILD_TIMEOUT); log: $log"
	grep -m5 -E 'error|Error|\*\*\*|fatal|cannot' "$log" >&2 || tail -n 5 "$log" >&2
	die "$label failed with status $rc; log: $log"
}
