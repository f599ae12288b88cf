# Shared by the guest-side scripts: sourced, never run. POSIX shell, so that
# busybox's ash and a real host's sh both read it.
#
# A setting is RIG_NAME in the environment, else rig.name= on the kernel's
# command line, else the default below.
# shellcheck shell=sh

RIG_DIR=$(cd "${0%/*}" && pwd)
# Debian keeps xenperf out of the way.
xen_bin=$(echo /usr/lib/xen*/bin | tr ' ' ':')
PATH=$RIG_DIR:$PATH:/usr/sbin:/sbin:$xen_bin
export PATH RIG_DIR

set -a
if [ -z "${RIG_CHANNEL_OPEN-}" ]; then
	# What eval sees is quoted, and has no character that could end that.
	eval "$(awk -v RS='[ \n]' '/^rig\.[a-z0-9_]+=[-A-Za-z0-9._,:\/]*$/ {
		i = index($0, "=")
		printf ": \"${RIG_%s=%s}\"\n", toupper(substr($0, 5, i - 5)), substr($0, i + 1)
	}' /proc/cmdline)"
	: "${RIG_PLAN=bench}"		# bench latency verify teardown matrix hostile shell; by-hand hang crash silent test the harness
	: "${RIG_BACKEND=dom0}"		# where netback runs: dom0, or domU for a driver domain
	: "${RIG_DIRECTIONS=domU-dom0,domU-domU,dom0-domU}"
	: "${RIG_STREAMS=1}"		# numbers of parallel streams, e.g. 1,8
	: "${RIG_ROUNDS=12}"		# of run-teardown
	: "${RIG_CASES=all}"		# of run-matrix: all, short, or a path
	: "${RIG_ATTACKS=}"		# of run-hostile; empty: all
	: "${RIG_RUNS=3}"		# a direction and number of streams
	: "${RIG_SECONDS=5}"		# a run
	: "${RIG_WARMUP=2}"		# seconds of the run before the first, 0 for none
	: "${RIG_COPYBREAK=}"		# rx-copybreak of the vifs, bytes; empty: netback's default
	: "${RIG_GUESTS=1}"		# that send to dom0 at once, of direction domU-dom0
	: "${RIG_VCPUS=1}"		# a guest
	: "${RIG_CPUS=all}"		# where guests run, as in xl.cfg
	: "${RIG_BACKEND_VCPUS=2}"	# a driver domain
	: "${RIG_BACKEND_P2M=}"		# its page tables: empty, altp2m or log-dirty (p2m-mode)
	: "${RIG_BALLOON=0}"		# 1: split superpages of the backend beside its grants, in
					# each run: it gives back 2 MiB five times a second
	: "${RIG_QUEUES=8}"		# a vif at most; a guest has no more than vCPUs
	: "${RIG_MEMORY=192}"		# MiB a guest
	: "${RIG_MEGABYTES=64}"		# MiB a verified transfer
	: "${RIG_TSO_SEGS=}"		# smallest packet TCP makes of a full queue, segments;
					# empty: the kernel's choice
	: "${RIG_NET=10.98.0}"		# first three numbers of the rig's addresses
	: "${RIG_BRIDGE=rigbr0}"
	: "${RIG_TIMEOUT=90}"		# seconds a guest may take to answer
	: "${RIG_SLACK=30}"		# seconds a transfer may take beyond its length
	: "${RIG_KERNEL=$RIG_DIR/vmlinux}"	# the guests'; a driver domain's is this with
						# .backend appended, if there is one
	: "${RIG_RAMDISK=$RIG_DIR/domU.cpio}"
	: "${RIG_HOSTILE=$RIG_DIR/hostile}"	# the hostile frontend, a kernel
	: "${RIG_TMP=/tmp/rig}"
	: "${RIG_CHANNEL=/dev/stdout}"	# where the JSON lines go
	mkdir -p "$RIG_TMP"
	# All that is not the channel's goes to stderr.
	exec 3>>"$RIG_CHANNEL" 1>&2
	RIG_CHANNEL_OPEN=1
fi
set +a

tso_segs() { [ -z "$RIG_TSO_SEGS" ] || echo "$RIG_TSO_SEGS" >/proc/sys/net/ipv4/tcp_min_tso_segs; }

# uptime: seconds since boot, with hundredths, in $up.
uptime() { read -r up _ </proc/uptime; }

# json_string TEXT...: one line, quoted.
json_string() {
	printf '"%s"' "$(printf '%s' "$*" | tr '\n\t' '; ' | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"
}

# json_lines: an array of the lines on stdin.
json_lines() {
	printf '[%s]' "$(tr '\t' ' ' | sed 's/[\\"]/\\&/g; s/  */ /g; s/ $//; s/.*/"&"/' | paste -s -d ,)"
}

# emit JSON: one line on the channel.
emit() { printf '%s\n' "$1" >&3; }

# mark WHAT [JSON]: a moment that the harness has to find in what it recorded.
mark() {
	uptime
	emit "{\"type\":\"mark\",\"what\":\"$1\",\"uptime\":$up${2:+,$2}}"
	! command -v marker >/dev/null || marker
}

# tap ok|no NAME [DETAIL]
tap() {
	[ "$1" = ok ] && tap_ok=true || tap_ok=false
	emit "{\"type\":\"tap\",\"ok\":$tap_ok,\"name\":$(json_string "$2"),\"detail\":$(json_string "${3-}")}"
}

# verdict pass|fail|error WHY: the last line of a run.
verdict() {
	uptime
	emit "{\"type\":\"verdict\",\"status\":\"$1\",\"why\":$(json_string "$2"),\"uptime\":$up}"
}

note() { emit "{\"type\":\"log\",\"text\":$(json_string "$@")}"; }

# wait_for SECONDS WHAT COMMAND...: until it succeeds; else say what did not.
wait_for() {
	uptime
	wait_end=$((${up%.*} + $1)) wait_what=$2 wait_limit=$1
	shift 2
	until "$@" >/dev/null 2>&1; do
		uptime
		[ "${up%.*}" -lt "$wait_end" ] || {
			note "timeout: $wait_what, waited $wait_limit s"
			return 1
		}
		sleep 0.1
	done
}

# address NAME: of the control domain, the driver domain or a guest.
address() {
	case $1 in
	control) echo "$RIG_NET.1" ;;
	netvm) echo "$RIG_NET.2" ;;
	hostile) echo "$RIG_NET.20" ;;
	peer) echo "$RIG_NET.21" ;;
	domU[1-9]) echo "$RIG_NET.1${1#domU}" ;;
	dom0) if [ "$RIG_BACKEND" = domU ]; then address netvm; else address control; fi ;;
	esac
}

# mac NAME: of that domain's interface.
mac() { printf '00:16:3e:62:00:%02x' "$(address "$1" | sed 's/.*\.//')"; }

# vif_config NAME: that guest's interface, for xl.
vif_config() {
	if [ "$RIG_BACKEND" = domU ]; then vif_backend=backend=rig-netvm; else vif_backend=script=$RIG_DIR/vif-bridge; fi
	echo "mac=$(mac "$1"),bridge=$RIG_BRIDGE,$vif_backend"
}

# load_netback: where it is a module; the rig's own lies beside the scripts.
load_netback() { insmod "$RIG_DIR/xen-netback.ko" 2>/dev/null || modprobe xen_netback 2>/dev/null || :; }

# on NAME SECONDS COMMAND: run it in that domain, bounded; its output and
# status are ours. dom0 is the backend domain, wherever that is.
on() {
	if [ "$1" = control ] || { [ "$1" = dom0 ] && [ "$RIG_BACKEND" = dom0 ]; }; then
		timeout "$2" sh -c "$3" 3>&-
		return
	fi
	printf '%s\n' "$(printf '%s' "$3" | tr '\n' '\001')" | timeout "$2" busybox nc -w 3 "$(address "$1")" 99 | {
		# The agent's status comes last, on a line of its own, after one
		# that ends what the command left unfinished.
		awk '/^rig-status [0-9]+$/ { status = $2; done = 1; next }
			{ if (lines++) print held; held = $0 }
			END { if (lines && !(done && held == "")) print held; exit done ? status : 125 }'
	}
}

# set_copybreak: of the vifs there are, as the run asks; stock netback has none.
set_copybreak() {
	[ -z "$RIG_COPYBREAK" ] ||
		on dom0 10 "for vif in /sys/class/net/vif*; do ethtool --set-tunable \${vif##*/} rx-copybreak $RIG_COPYBREAK; done"
}

# xl, bounded: it waits for others itself.
xl() { timeout "$RIG_TIMEOUT" xl "$@"; }

# guests: the names of those that the plan takes, a line each.
guests() {
	case $RIG_PLAN,$RIG_DIRECTIONS in
	bench,*domU-domU*) least=2 ;;
	bench,* | latency,*) least=1 ;;
	*) least=2 ;;
	esac
	seq 1 $((RIG_GUESTS > least ? RIG_GUESTS : least)) | sed 's/^/domU/'
}

# domain_id NAME
domain_id() { xl domid "rig-$1"; }

# backend_domid: of the domain whose netback is measured.
backend_domid() { if [ "$RIG_BACKEND" = domU ]; then domain_id netvm; else echo 0; fi; }

# gone NAME...: no such domain, and none that dies without getting done with it.
gone() {
	names=$(xl list | awk 'NR > 1 { print $1 }') && [ -n "$names" ] || return
	for name in "$@" '(null)'; do
		! echo "$names" | grep -qxF "$name" || return
	done
}

# judge ok|no NAME [DETAIL]: a check of a plan, counted in $done and $bad.
judge() {
	done=$((done + 1))
	[ "$1" = ok ] || bad=$((bad + 1))
	tap "$@"
}

# leftovers: end the guests, and have Xen list the grants that are left. The
# harness reads Xen's console from here on for those of dead domains.
leftovers() {
	if guests-down >&2; then judge ok "nothing is left of the guests"; else judge no "nothing is left of the guests" "$(xl list)"; fi
	mark grant-dump
	xl debug-keys g
	sleep 1
	mark grant-dump-end
}
