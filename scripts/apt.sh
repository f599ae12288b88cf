#!/bin/bash
# apt.sh COMMAND [ARGUMENT...]: apt-get with package lists of the rig's own.
#
# The machine's apt configuration is left alone: $OUT/apt names, on the mirrors
# that the machine itself uses, the suites that scripts/pins asks for, with
# their sources. COMMAND `apt-cache` runs apt-cache instead.
. "$(dirname "$0")/lib.sh"

dir=$OUT/apt
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# What is installed here would else weigh in the choice of a version.
options=(-q -o Dir::State::status="$dir/status" -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$dir/lists"
	-o "Dir::Cache=$dir/cache" -o APT::Sandbox::User=root -o Acquire::Retries=3)

# mirror LABEL: where this machine gets the packages of that archive.
mirror() {
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Label: $1" | head -n 1
}

sources() {
	local suite uri
	sed -n 's/^suite=//p' "$TOP"/scripts/pins/* | sort -u | while read -r suite; do
		uri=$main
		[[ $suite != *-security ]] || uri=${security:-$main}
		printf '%s [signed-by=%s] %s %s main\n' deb "$keyring" "$uri" "$suite" deb-src "$keyring" "$uri" "$suite"
	done
}

mkdir -p "$dir"
touch "$dir/status"
if [ ! -f "$dir/sources.list" ] || [ -n "$(find "$TOP/scripts/pins" -newer "$dir/sources.list")" ]; then
	main=$(mirror Debian)
	security=$(mirror Debian-Security)
	[ -n "$main" ] || die "apt knows no Debian mirror; run apt-get update once, or set XEN_TREE= and LINUX_TREE="
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	sources >"$dir/sources.new.list"
	say "fetching package lists"
	logged "apt-get update" "$OUT/log/apt-lists.log" \
		apt-get "${options[@]}" -o "Dir::Etc::sourcelist=$dir/sources.new.list" update
	mv "$dir/sources.new.list" "$dir/sources.list"
fi
case $1 in
apt-cache) shift; exec apt-cache "${options[@]}" "$@" ;;
*) exec apt-get "${options[@]}" "$@" ;;
esac
