#!/bin/bash
# fetch.sh PIN: download what scripts/pins/PIN names, check it, print its path.
# Exit: 0; 2 with a line that says what to do when it is not to be had.
. "$(dirname "$0")/lib.sh"

pin "$1"
case $1 in
bochs) otherwise="pin another version in scripts/pins/$1" ;;
*) otherwise="set $(echo "${1%%-*}_TREE" | tr '[:lower:]' '[:upper:]')= to a git checkout, or pin another version in scripts/pins/$1" ;;
esac
target=$OUT/download/$file

# check FILE: is it what the pin says?
check() { echo "$sha256  $1" | sha256sum --status -c -; }

if [ -f "$target" ]; then
	check "$target" || die "$target is not what scripts/pins/$1 pins (sha256 differs): remove it and run again"
	echo "$target"
	exit 0
fi
need_space 1000
mkdir -p "$OUT/download/new"
cd "$OUT/download/new"
say "fetching $package $version"
case $type in
# the tarball alone: only that is used, and some mirrors lack what describes it
source) get=(source --download-only --tar-only "$package=$version") ;;
binary) get=(download "$package=$version") ;;
esac
(logged "fetching $package" "$OUT/log/fetch-$1.log" "$TOP/scripts/apt.sh" "${get[@]}") ||
	die "the mirror has no $package $version: $otherwise"
# apt writes the epoch and a tilde of a version as %3a and ~
check "$file" || die "$file has another sha256 than scripts/pins/$1 pins: a changed package, or a bad mirror; it was not used"
mv "$file" "$target"
echo "$target"
