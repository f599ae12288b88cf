# TAP for the test programs: sourced, never run.
# shellcheck shell=bash
set -u
cd "$(dirname "$0")/../.." || exit 2
TOP=$PWD
export OUT=${OUT:-$TOP/build}
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/rig-test.XXXXXX")
trap 'rm -rf "$SCRATCH"' EXIT
results=0

plan() { echo "1..$1"; }

# result STATUS NAME: what the command before it ended with.
result() {
	results=$((results + 1))
	if [ "$1" -eq 0 ]; then echo "ok $results - $2"; else echo "not ok $results - $2"; fi
}

skip() {
	results=$((results + 1))
	echo "ok $results - $1 # SKIP $2"
}

# check NAME COMMAND...: its output is shown when it fails.
check() {
	local name=$1 rc=0
	shift
	"$@" >"$SCRATCH/said" 2>&1 </dev/null || rc=$?
	[ $rc -eq 0 ] || sed 's/^/# /' "$SCRATCH/said" | tail -n 25
	result $rc "$name"
}

# refuses NAME STATUS TEXT COMMAND...: it must end with that status and with
# one line that says TEXT, an extended regular expression.
refuses() {
	local name=$1 status=$2 text=$3 rc=0
	shift 3
	"$@" >"$SCRATCH/said" 2>&1 </dev/null || rc=$?
	if [ $rc -eq "$status" ] && grep -qE "$text" "$SCRATCH/said"; then
		result 0 "$name"
	else
		echo "# status $rc, wanted $status; wanted: $text"
		sed 's/^/# /' "$SCRATCH/said" | tail -n 10
		result 1 "$name"
	fi
}
