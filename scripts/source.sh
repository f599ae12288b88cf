#!/bin/bash
# source.sh xen|linux: lay the half's source as a git tree, print its path.
#
# Takes XEN=VERSION or LINUX=VERSION (a pin), or XEN_TREE= / LINUX_TREE=, a git
# checkout of the user's, of which HEAD is taken and nothing is written to.
# Branch `upstream` of the tree is what patches are made against. A commit
# made from a package has a fixed author and date, so that its name is the
# same on every machine.
. "$(dirname "$0")/lib.sh"

half=$1
case $half in
xen) release=${XEN:-4.17} tree=${XEN_TREE:-} want=xen/arch/x86/Makefile ;;
linux) release=${LINUX:-6.12} tree=${LINUX_TREE:-} want=drivers/net/xen-netback/netback.c ;;
*) die "source.sh takes xen or linux, not '$half'" ;;
esac

if [ -n "$tree" ]; then
	[ -d "$tree" ] || die "${half^^}_TREE=$tree: no such directory"
	head=$(git -C "$tree" rev-parse --verify -q HEAD 2>/dev/null) ||
		die "${half^^}_TREE=$tree is no git checkout with a commit: git init, add and commit there"
	git -C "$tree" cat-file -e "HEAD:$want" 2>/dev/null ||
		die "${half^^}_TREE=$tree does not look like $half: it has no $want"
	dir=$OUT/src/$half-tree
	[ -d "$dir" ] || git clone -q --shared --no-checkout "$tree" "$dir.new"
	[ -d "$dir" ] || mv "$dir.new" "$dir"
	git -C "$dir" fetch -q --no-tags "$tree" "+HEAD:refs/heads/upstream" 2>/dev/null ||
		git -C "$dir" update-ref refs/heads/upstream "$head"
	echo "$dir"
	exit 0
fi

dir=$OUT/src/$half-$release
pin "$half-$release"
laid() { [ -d "$dir" ] && [ "$(cat "$dir/.git/pin")" = "$sha256" ]; }
if laid; then
	echo "$dir"
	exit 0
fi
mkdir -p "$OUT/src"
exec 8>"$dir.unpack"
flock -w "${BUILD_TIMEOUT:-3600}" 8 || die "another $0 has been at $half for ${BUILD_TIMEOUT:-3600} s"
if laid; then # by somebody else, meanwhile
	echo "$dir"
	exit 0
fi
archive=$("$TOP/scripts/fetch.sh" "$half-$release")
need_space 4000
say "unpacking $half $release"
rm -rf "$dir" "$dir.new"
mkdir -p "$dir.new"
case $half in
xen) tar -xJf "$archive" -C "$dir.new" --strip-components=1 ;;
linux) dpkg-deb --fsys-tarfile "$archive" | tar -xO "./usr/src/linux-source-$release.tar.xz" |
	tar -xJ -C "$dir.new" --strip-components=1 ;;
esac || die "cannot unpack $archive: is the disk full?"
cd "$dir.new"
git init -q -b upstream
git config gc.auto 0
git config user.name xen-netback-batch
git config user.email rig@localhost
git add -Af .
GIT_AUTHOR_DATE=@1767225600+0000 GIT_COMMITTER_DATE=@1767225600+0000 git commit -qm "$package $version"
echo "$sha256" >.git/pin
mv "$dir.new" "$dir"
echo "$dir"
