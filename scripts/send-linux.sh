#!/bin/bash
# send-linux.sh: prepare the Linux series for netdev; it sends nothing.
#
# LINUX_TREE  the user's checkout of net-next; without it the pinned source is
#             taken, as a dry run
# RESULTS     which results/<name>/ the cover letter's figures come from
# The user's name and address are git's own for that checkout. Leaves in
# OUT/send/linux-<release>/ what carries a Fixes: as [PATCH net] and the rest as
# [PATCH net-next] with a cover letter, each signed off, and prints the command
# that would send them. Exit: 0; 2 with a line that says what is in the way.
. "$(dirname "$0")/lib.sh"

LIMIT=${LIMIT:-15} # patches that netdev takes in one series

name=$(git -C "${LINUX_TREE:-$TOP}" config user.name || true)
email=$(git -C "${LINUX_TREE:-$TOP}" config user.email || true)
case "$name <$email>" in
" <>" | *" <>" | " <"*) die "no one to sign the series off: git config --global user.name and user.email" ;;
*@localhost* | *.example\> | *@example.* | *noreply*) die "$name <$email> is a placeholder: the sign-off has to be your own (git config user.name, user.email)" ;;
esac
known=$(cd "$TOP/results" && echo */)
summary=$TOP/results/${RESULTS:-}/summary.json
[ -n "${RESULTS:-}" ] && [ -f "$summary" ] || die "RESULTS='${RESULTS:-}' names no results for the cover letter; known: ${known//\//}"

source=$("$TOP/scripts/source.sh" linux) || exit 2
release=$(git -C "$source" show upstream:Makefile | sed -nE 's/^(VERSION|PATCHLEVEL) *= *//p' | paste -sd.)
mapfile -t series < <("$TOP/scripts/series.sh" list linux "$source")
mapfile -t fixes < <(grep -sl '^Fixes: ' "${series[@]}")
mapfile -t features < <(grep -L '^Fixes: ' "${series[@]}")
for count in ${#fixes[@]} ${#features[@]}; do
	[ "$count" -le "$LIMIT" ] || die "$count patches in one series, and netdev takes $LIMIT: send it in parts"
done

# A work tree with what the series and get_maintainer.pl need, and no more.
send=$OUT/send/linux-$release
rm -rf "$send"
mkdir -p "$send"
work=$send/tree
git clone -q --shared --no-checkout "$source" "$work"
git -C "$work" sparse-checkout set drivers/net/xen-netback Documentation/networking scripts
git -C "$work" config user.name "$name"
git -C "$work" config user.email "$email"
base=$(git -C "$source" rev-parse upstream)
git -C "$work" checkout -q -b series "$base"

# lay PATCH...: as written by the user, who signs them off.
lay() {
	sed "s/^From: .*/From: $name <$email>/" "$@" | git -C "$work" am -q --signoff >&2 ||
		die "the series does not apply to $source ($(git -C "$work" log -1 --format='%h %s' "$base"))"
}

# addresses OPTION... PATCH...: of the people or lists that the patches go to.
addresses() { (cd "$work" && scripts/get_maintainer.pl --no-tree --nogit --nogit-fallback --norolestats "${fixers[@]}" "$@") | sort -u; }

# prepare TREE FROM OPTION...: the mails, and the command that would send them.
prepare() {
	local into=$send/$1 since=$2 patches=() to=() cc=()
	shift 2
	git -C "$work" format-patch -q --base="$base" --subject-prefix="PATCH $(basename "$into")" -o "$into" "$@" "$since..HEAD"
	mapfile -t patches < <(find "$into" -name '*.patch' ! -name '0000-*')
	mapfile -t to < <(addresses --nol "${patches[@]}")
	mapfile -t cc < <(addresses --nom --nor --nofixes "${patches[@]}")
	[ ${#to[@]} -gt 0 ] && [ ${#cc[@]} -gt 0 ] || die "get_maintainer.pl of $source names no one"
	printf 'git send-email'
	printf " --to='%s'" "${to[@]}"
	printf " --cc='%s'" "${cc[@]}"
	printf ' %s/*.patch\n\n' "$into"
}

fixers=()
if [ -n "${LINUX_TREE:-}" ]; then
	# A tag that names a commit which is not there, or another, is worse than none.
	sed -n 's/^Fixes: //p' "${series[@]}" | while read -r id subject; do
		[ "$(git -C "$LINUX_TREE" log -1 --format='("%s")' "$id" 2>/dev/null)" = "$subject" ] ||
			[ "$(git -C "$LINUX_TREE" rev-parse --is-shallow-repository)" = true ] ||
			die "Fixes: $id $subject is not in $LINUX_TREE"
	done
else
	fixers=(--nofixes) # a source package has no history
	say "DRY RUN on the pinned source: set LINUX_TREE to a checkout of net-next to prepare for sending"
fi
say "${#fixes[@]} for net and ${#features[@]} for net-next, from $name <$email>, on $(git -C "$source" log -1 --format='%h %s' upstream)"

lay "${fixes[@]}"
prepare net "$base"
fixed=$(git -C "$work" rev-parse HEAD)
lay "${features[@]}"
prepare net-next "$fixed" --cover-letter
"$TOP/scripts/cover-linux.py" "$TOP/linux/cover-letter" "$summary" "$send/net-next/0000-cover-letter.patch" || exit 2
say "a hostile guest reaches what some of the fixes mend: ask security@xenproject.org and security@kernel.org first"
say "nothing was sent; read $send, then run the two commands, the second when net has been merged into net-next"
