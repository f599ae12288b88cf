#!/bin/bash
# scaling.sh OPTION...: the comparison with more of what makes a flush dear, one
# thing after another: vCPUs of the backend domain (dom0, or the driver domain),
# guests that send to it at once, queues of a guest.
#
# OPTIONs are run.py's for bench, but settings, which are those of SETTINGS. RUN names the directory (default:
# OUT/runs/<time>-scaling), which gets a run directory for each setup. With more
# vCPUs than twice the host's, whose threads then wait for one another, the guests
# do not come up; such a setup is left out, but in the modes of one thread. Exit
# status: 0; 1 a run was judged bad; 2 one could not be made.
. "$(dirname "$0")/lib.sh"

run=${RUN:-$OUT/runs/$(date +%Y%m%d-%H%M%S)-scaling}
# backend vCPUs, guests, queues
setups=("1 1 1" "2 1 1" "4 1 1" "8 1 1" "2 2 1" "2 4 1" "2 1 2" "2 1 4" "2 1 8")
number=0 status=0
for setup in "${setups[@]}"; do
	number=$((number + 1))
	read -r vcpus guests queues <<<"$setup"
	if [ "${MODE:-threads}" = threads ] && [ "$vcpus" -gt $((2 * $(nproc))) ]; then
		say "setup $number of ${#setups[@]} left out: $vcpus vCPUs are too many for $(nproc) CPUs"
		continue
	fi
	say "setup $number of ${#setups[@]}: $vcpus vCPUs of the backend, $guests guests, $queues queues"
	"$TOP/scripts/run.py" bench "$@" --dom0-vcpus "$vcpus" --guest-vcpus "$queues" --guest-queues "$queues" \
		--settings "guests=$guests${SETTINGS:+,$SETTINGS}" --run "$run/$vcpus-vcpus-$guests-guests-$queues-queues" >&2 || status=$?
	[ $status -lt 2 ] || exit $status
done
"$TOP/scripts/report.py" "$run"/*
say "kept in $run"
exit $status
