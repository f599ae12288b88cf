#!/bin/bash
# image.sh: make the images of dom0 and of the guests, print their directory.
#
# It is named by a hash of the project's files they are made of, and holds dom0.cpio,
# domU.cpio, latency.cpio (what plan latency has besides, in both), pump and hostile
# for use on a real host, and `manifest`, which names each Debian package that went
# in with its version and sha256. What was made once is used again, and removed when
# it has not been used for a week; root is not needed.
#
# dom0.cpio lacks the kernels that dom0 starts domains with: initrd.sh appends an
# archive that has them. The kernel unpacks archives that follow each other as one.
#
# Settings: XEN_MINOR (4.17), of the hypervisor that is to boot; SUITE
# (bookworm), the Debian release that has those tools; XEN_TOOLS, a dist/install
# tree of Xen's own build to take them from instead.
. "$(dirname "$0")/lib.sh"

XEN_MINOR=${XEN_MINOR:-4.17}
SUITE=${SUITE:-bookworm}
XEN_TOOLS=${XEN_TOOLS:-}
DEBS=$OUT/debs

domU_programs=(iperf3 ethtool xenstore-read xenstore-write xenstore-rm xenstore-watch)
dom0_programs=("${domU_programs[@]}" xl xenstored xenconsoled xen-init-dom0 xenperf xenstore-ls setserial tc nft)
packages=(busybox-static iperf3 ethtool setserial iproute2 nftables sockperf)
[ -n "$XEN_TOOLS" ] || packages+=("xen-utils-$XEN_MINOR" xenstore-utils)

main() {
	result=$OUT/image/$(inputs | sha256sum | cut -c1-16)
	mkdir -p "$OUT/image"
	exec 9>"$OUT/image/lock"
	flock -w "${BUILD_TIMEOUT:-3600}" 9 || die "another $0 has gone on for ${BUILD_TIMEOUT:-3600} s"
	if [ ! -f "$result/manifest" ]; then
		need_space 300
		find "$OUT/image" -mindepth 1 -maxdepth 1 ! -name lock -mtime +7 -exec rm -rf {} +
		work=$(mktemp -d "$OUT/image/work.XXXXXX")
		trap 'rm -rf "$work"' EXIT
		dir=$work/made
		mkdir "$dir"
		make_images
		rm -rf "$result"
		mv "$dir" "$result"
	fi
	touch "$result"
	echo "$result"
}

# What the images depend on.
inputs() {
	echo "$XEN_MINOR $SUITE $XEN_TOOLS"
	(cd "$TOP" && sha256sum scripts/image.sh scripts/guest/* linux/tests/Makefile linux/tests/*.c linux/tests/hostile/* xen/tests/*.[chS] xen/tests/*.lds)
	[ -z "$XEN_TOOLS" ] || find "$XEN_TOOLS" -type f -printf '%p %s %T@\n' | sort
}

make_images() {
	fetch
	logged "programs for the guests" "$OUT/log/pump.log" make -C "$TOP/linux/tests" O="$work"
	logged "hostile frontend" "$OUT/log/hostile.log" make -C "$TOP/linux/tests/hostile" O="$work"
	tree domU "${domU_programs[@]}"
	archive domU
	tree dom0 "${dom0_programs[@]}"
	cp "$dir/domU.cpio" "$work/hostile" "$work/dom0/guest/"
	cp "$work/marker" "$work/dom0/bin/"
	echo 'autoballoon="off"' >"$work/dom0/etc/xen/xl.conf"
	archive dom0
	root=$work/latency
	mkdir -p "$root"/{bin,lib}
	add "$root/bin" sockperf
	(cd "$root" && find lib -type f | while read -r file; do [ ! -e "$work/domU/$file" ] || rm "$file"; done)
	archive latency
	mv "$work/manifest" "$work/pump" "$work/hostile" "$dir/"
}

apt() { "$TOP/scripts/apt.sh" "$@"; }

# Unpack the packages named above and the libraries they depend on, nothing
# else. What was chosen once stays chosen until $DEBS is removed.
fetch() {
	local list deb
	list=$DEBS/list-$( (echo "${packages[*]} $SUITE"; cat "$TOP/scripts/apt.sh") | sha256sum | cut -c 1-16)
	mkdir -p "$DEBS" "$work/files"
	[ -f "$list" ] || choose "$list"
	while read -r deb; do
		dpkg-deb -x "$DEBS/$deb" "$work/files"
		printf '%s %s\n' "$(dpkg-deb -W --showformat '${Package} ${Version}' "$DEBS/$deb")" \
			"$(sha256sum <"$DEBS/$deb" | cut -d ' ' -f 1)" >>"$work/manifest"
	done <"$list"
}

# choose LIST: download them, and name the files in LIST.
choose() {
	local known=() todo=("${packages[@]}")
	while [ ${#todo[@]} -gt 0 ]; do
		known+=("${todo[@]}")
		mapfile -t todo < <(apt apt-cache -o APT::Default-Release="$SUITE" depends --important "${todo[@]}" |
			awk '$1 ~ /^\|?Depends:/ && $2 ~ /^(lib|zlib)/ { print $2 }' | sort -u | grep -vxF "$(printf '%s\n' "${known[@]}")")
	done
	(cd "$DEBS" && logged "packages for the images" "$OUT/log/image-packages.log" \
		"$TOP/scripts/apt.sh" -t "$SUITE" download "${known[@]}")
	apt -t "$SUITE" download --print-uris "${known[@]}" | awk '{ print $2 }' | sort >"$1.new"
	mv "$1.new" "$1"
}

# tree NAME PROGRAM...: the image's files, in $work/NAME.
tree() {
	local root=$work/$1 program applet
	mkdir -p "$root"/{bin,lib,proc/xen,sys,dev,run,tmp,etc/xen,var/lib,var/log,guest}
	ln -s ../run "$root/var/run"
	ln -s ../run/lock "$root/var/lock"
	ln -s bin "$root/sbin"
	ln -s lib "$root/lib64"
	cp "$work/files/bin/busybox" "$work/pump" "$work/p2m-mode" "$root/bin/"
	for applet in $("$root/bin/busybox" --list); do
		[ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
	done
	for program in "${@:2}"; do
		add "$root/bin" "$program"
	done
	add "$root/lib" libgcc_s.so.1 # pthread_cancel() opens it
	cp "$TOP"/scripts/guest/* "$root/guest/"
	printf '%s\n' '#!/bin/sh' "exec /guest/$1-init" >"$root/init"
	chmod +x "$root/init"
}

# find_one NAME: that file of the packages, or of Xen's own build first.
find_one() {
	find ${XEN_TOOLS:+"$XEN_TOOLS"} "$work/files" -name "$1" ! -type d ! -path '*/etc/*' ! -path '*/share/*' -print -quit
}

# add DIRECTORY NAME: a program or library, and what it is linked against.
add() {
	local from needed
	from=$(find_one "$2")
	[ -n "$from" ] || die "image: no $2 in ${XEN_TOOLS:+$XEN_TOOLS or }${packages[*]} and their libraries"
	rm -f "$1/$2" # an applet of that name
	cp -L "$from" "$1/$2"
	for needed in $(readelf -d "$from" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[ -e "$root/lib/$needed" ] || add "$root/lib" "$needed"
	done
}

# archive NAME: the same bytes for the same files.
archive() {
	find "$work/$1" -exec touch -hd @0 {} +
	(cd "$work/$1" && find . -mindepth 1 -print0 | sort -z |
		cpio --null --quiet --reproducible -o -H newc -R 0:0) >"$work/$1.cpio"
	mv "$work/$1.cpio" "$dir/$1.cpio"
}

main "$@"
