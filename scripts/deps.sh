#!/bin/bash
# deps.sh [LIST]: install what a list names and this machine lacks.
#
# LIST is a file beside this one, default packages. packages-ept is what
# MACHINE=ept takes besides, packages-full make test-full.
# Exit: 0 all there; 2 something is missing and cannot be installed here.
. "$(dirname "$0")/lib.sh"

list=${1:-packages}
command -v dpkg-query >/dev/null ||
	die "this is no Debian system: install the counterparts of scripts/$list yourself, then NO_DEPS=1 make ..."
missing=()
while read -r package; do
	[ "$(dpkg-query -Wf '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done < <(grep -v '^#' "$TOP/scripts/$list")
[ ${#missing[@]} -gt 0 ] || exit 0

[ "$(id -u)" -eq 0 ] || die "missing packages; run: sudo apt-get install --no-install-recommends ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
say "installing ${missing[*]}"
logged "apt-get update" "$OUT/log/apt-update.log" apt-get update
logged "apt-get install" "$OUT/log/apt-install.log" apt-get install -y --no-install-recommends "${missing[@]}"
