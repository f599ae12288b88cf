#!/bin/bash
# initrd.sh IMAGE BACKEND-KERNEL GUEST-KERNEL PLAN: dom0's initramfs for one boot.
#
# Appends to IMAGE/dom0.cpio an archive with the kernels dom0 starts domains
# with: /guest/vmlinux for guests, /guest/vmlinux.backend for a driver domain, and
# netback, where that is a module of the latter; and IMAGE/PLAN.cpio, if there is
# one, here and to the guests' initramfs.
# Prints the path, in IMAGE; what was made once is used again.
. "$(dirname "$0")/lib.sh"

image=$1 backend=$2 guest=$3 more=$1/$4.cpio
[ -f "$more" ] || more=
key=$(echo "$backend $guest $more" | sha256sum | cut -c1-16)
made=$image/initrd-$key.cpio
if [ ! -f "$made" ]; then
	need_space 200
	work=$(mktemp -d "$image/initrd.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/guest"
	cp "$guest" "$work/guest/vmlinux"
	cp "$backend" "$work/guest/vmlinux.backend"
	[ -z "$more" ] || cat "$image/domU.cpio" "$more" >"$work/guest/domU.cpio"
	[ ! -f "${backend%/*}/xen-netback.ko" ] || cp "${backend%/*}/xen-netback.ko" "$work/guest/"
	find "$work/guest" -exec touch -hd @0 {} +
	(cd "$work" && find guest | sort | cpio --quiet --reproducible -o -H newc -R 0:0) >"$work/kernels.cpio"
	cat "$image/dom0.cpio" "$work/kernels.cpio" ${more:+"$more"} >"$work/made"
	mv "$work/made" "$made"
fi
echo "$made"
