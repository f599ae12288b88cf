#!/bin/bash
# The hypervisor series in every configuration below: the tree without it, then
# each patch alone, then the last one in random configurations. Each must
# compile, and warn of nothing that the tree without the series does not.
#
# Takes XEN= or XEN_TREE= (scripts/source.sh), JOBS, BUILD_TIMEOUT (s), and
#   CONFIGURATIONS  names out of the table, default all of them
#   RANDOM_CONFIGS  how many random ones, default 10
#   SEED            of the first random one, default from the clock; printed
#
# Xen compiles with -Werror, which is checked here: a compiler's warning is a
# failed build. The comparison is for make, Kconfig, assembler and linker.
# Keeps one build directory a configuration, so that from one patch to the next
# little is compiled; logs are in OUT/matrix/<base commit>/log.
# Tests: xen scripts/pins scripts/*.sh scripts/test/tap.sh
. "$(dirname "$0")/../test/tap.sh"

# name, architecture, Xen's defconfig or -, options. What is not about debugging
# has the same options as debug, so that ccache finds most of it compiled.
debug='DEBUG=y EXPERT=y PERF_COUNTERS=y'
table="
release  x86_64 -                 DEBUG=n
debug    x86_64 -                 $debug
no-hvm   x86_64 -                 $debug HVM=n
no-pv    x86_64 -                 $debug PV=n
no-vtd   x86_64 -                 $debug INTEL_IOMMU=n
no-amdvi x86_64 -                 $debug AMD_IOMMU=n
pv-shim  x86_64 pvshim_defconfig
arm64    arm64  -                 $debug
"
jobs=${JOBS:-$(nproc)} random=${RANDOM_CONFIGS:-10} seed=${SEED:-$(date +%s)}
mapfile -t configurations < <(echo "$table" | while read -r name rest; do
	[ -n "$name" ] && [[ " ${CONFIGURATIONS:-$name} " = *" $name "* ]] && echo "$name $rest"
done)

source=$(scripts/source.sh xen) || exit 2
mapfile -t series < <(scripts/series.sh list xen "$source")
base=$(git -C "$source" rev-parse upstream)
out=$OUT/matrix/${base:0:12} tree=$OUT/matrix/${base:0:12}/tree
export CCACHE_BASEDIR=$OUT CCACHE_NOHASHDIR=1
export XEN_BUILD_DATE=2026-01-01 XEN_BUILD_TIME=00:00:00 XEN_WHOAMI=rig XEN_DOMAIN=rig
mkdir -p "$out/log"
[ -d "$tree" ] || git clone -q --shared --no-checkout "$source" "$tree" || exit 2

# checkout N: the tree with the first N patches.
checkout() {
	local commit
	read -r _ commit < <(COUNTERS=n scripts/state.sh xen "$1") && git -C "$tree" checkout -q -f --detach "$commit"
}

# xen_make ARCH OBJ ARGUMENT...
xen_make() {
	local arch=$1 obj=$2 cross=''
	shift 2
	[ "$arch" = x86_64 ] || cross=aarch64-linux-gnu-
	timeout --foreground "${BUILD_TIMEOUT:-3600}" make -C "$tree/xen" O="$obj" XEN_TARGET_ARCH="$arch" CROSS_COMPILE=$cross \
		CC="ccache ${cross}gcc" "$@"
}

# configure ARCH OBJ DEFCONFIG OPTION...: does nothing where that was done.
configure() {
	local arch=$1 obj=$2 defconfig=$3 option
	shift 3
	mkdir -p "$obj"
	for option in "$defconfig" "$@"; do echo "CONFIG_$option"; done | sed 's/^CONFIG_\(-\|.*_defconfig\)$/# \1/' >"$obj/wanted"
	cmp -s "$obj/wanted" "$obj/wanted.done" && return
	cp "$obj/wanted" "$obj/.config"
	[ "$defconfig" != - ] || defconfig=olddefconfig
	xen_make "$arch" "$obj" "$defconfig" && scripts/config-check.sh "$obj/.config" "$obj/wanted" &&
		cp "$obj/wanted" "$obj/wanted.done"
}

# compile ARCH OBJ LOG: the log says what was built, and whether by -Werror.
compile() {
	xen_make "$1" "$2" -j"$jobs" >"$3" 2>&1 </dev/null || return
	[ -s "$2/xen" ] && grep -q -- '-Werror ' "$2/common/.memory.o.cmd"
}

# warnings LOG: without the lines' numbers, which patches move.
warnings() { grep -iE '(^|[^-])warning:' "$1" | sed -E 's/:[0-9]+(:[0-9]+)?:/:/g' | sort -u; }

# verdict STATUS NAME LOG [KNOWN]: pass if built, and no warning is new.
verdict() {
	local rc=$1
	if [ "$rc" -ne 0 ]; then
		grep -m5 -E 'error|Error|\*\*\*|undefined' "$3" | sed 's/^/# /'
		echo "# log: $3"
	elif [ $# -gt 3 ]; then
		warnings "$3" | comm -23 - "$4" >"$SCRATCH/new"
		[ ! -s "$SCRATCH/new" ] || rc=1
		sed 's/^/# new: /' "$SCRATCH/new"
	fi
	result "$rc" "$2"
}

# lacks ARCH OPTION...: why this machine or tree has no such configuration.
lacks() {
	local option
	[ "$1" = x86_64 ] || command -v aarch64-linux-gnu-gcc >/dev/null ||
		{ echo 'no aarch64-linux-gnu-gcc: scripts/deps.sh packages-full'; return; }
	shift
	for option in "$@"; do
		git -C "$tree" grep -qE "^(menu)?config ${option%=*}\$" HEAD -- xen '*/Kconfig*' ||
			{ echo "this release has no CONFIG_${option%=*}"; return; }
	done
}

plan $((${#configurations[@]} * (${#series[@]} + 1) + random))
echo "# $(git -C "$source" log -1 --format='%h %s' upstream); $(gcc --version | head -n 1); random configurations from SEED=$seed"

for ((number = 0; number <= ${#series[@]}; number++)); do
	checkout "$number" || exit 2
	patch=base
	[ "$number" -eq 0 ] || patch=$(basename "${series[number - 1]}" .patch)
	for row in "${configurations[@]}"; do
		read -r name arch defconfig options <<<"$row"
		obj=$out/obj/$name log=$out/log/$number-$name known=$out/obj/$name/warnings
		read -ra options <<<"$options"
		why=$(lacks "$arch" "${options[@]}")
		if [ -n "$why" ]; then
			skip "$name: $patch" "$why"
			continue
		fi
		rc=0
		configure "$arch" "$obj" "$defconfig" "${options[@]}" >"$log" 2>&1 </dev/null && compile "$arch" "$obj" "$log" || rc=1
		if [ "$number" -eq 0 ]; then
			# An incremental build tells only part of what there is.
			{ warnings "$log"; cat "$known" 2>/dev/null; } | sort -u -o "$known.new"
			mv "$known.new" "$known"
			verdict $rc "$name: $patch" "$log"
		else
			verdict $rc "$name: $patch" "$log" "$known"
		fi
	done
done

obj=$out/obj/random
# random_build N SEED LOG: with the first N patches, from nothing.
random_build() {
	checkout "$1" && rm -rf "$obj" && mkdir -p "$obj" &&
		KCONFIG_SEED=$2 xen_make x86_64 "$obj" randconfig >"$3" 2>&1 </dev/null && compile x86_64 "$obj" "$3"
}
for ((i = 0; i < random; i++)); do
	log=$out/log/random-$((seed + i)) rc=0
	random_build ${#series[@]} $((seed + i)) "$log" || rc=1
	cp "$obj/.config" "$log.config" 2>/dev/null
	# The base is built only to be compared with.
	if [ $rc -ne 0 ] || [ -n "$(warnings "$log")" ]; then
		if random_build 0 $((seed + i)) "$log.base"; then
			warnings "$log.base" >"$SCRATCH/known"
		elif [ $rc -ne 0 ]; then
			skip "random: SEED=$((seed + i))" "does not build without the series either"
			continue
		fi
	else
		: >"$SCRATCH/known"
	fi
	verdict $rc "random: SEED=$((seed + i))" "$log" "$SCRATCH/known"
done
