#!/bin/bash
# Prepare the hypervisor series for its mailing list, and print the command
# that sends it. Nothing is sent from here.
#
# Takes the user's checkout, XEN_TREE=, whose HEAD is what the series is sent
# against; without it the pinned source serves for a dry run. Author and
# Signed-off-by are the user's (git config user.name, user.email); the text is
# xen/cover-letter.txt (scripts/cover.py), the addresses are what the tree's
# get_maintainer.pl says of each patch. REROLL=2 makes it a v2, of which the
# letter must say, in a line `v2: ...`, what has changed.
# Gives OUT/send/xen-RELEASE/, a file a mail, in the order of sending.
. "$(dirname "$0")/lib.sh"

name=$(git -C "$TOP" config user.name || true)
email=$(git -C "$TOP" config user.email || true)
[ -n "$name" ] && [ -n "$email" ] ||
	die "whose sign-off? set git config user.name and user.email"
[ "$name" != xen-netback-batch ] && [ "$email" != rig@localhost ] ||
	die "$name <$email> is the rig, which cannot sign off: set git config user.name and user.email to your own"
[ -f "$TOP/xen/cover-letter.txt" ] || die "no xen/cover-letter.txt"

[ -z "${REROLL:-}" ] || grep -q "^v$REROLL: " "$TOP/xen/cover-letter.txt" ||
	die "xen/cover-letter.txt does not say what has changed: it has no line 'v$REROLL: ...'"

source=$("$TOP/scripts/source.sh" xen)
dir=$OUT/send/xen-$("$TOP/scripts/series.sh" release xen "$source")
[ -n "${XEN_TREE:-}" ] || dir+=-dry-run
rm -rf "$dir"
mkdir -p "$dir"
scratch=$(mktemp -d "$OUT/send/new.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
"$TOP/scripts/cover.py" "$TOP/xen/cover-letter.txt" >"$scratch/cover"

work=$scratch/tree
"$TOP/scripts/series.sh" lay xen "$work" >&2
[ -x "$work/scripts/get_maintainer.pl" ] || die "$source has no scripts/get_maintainer.pl"
git -C "$work" config user.name "$name"
git -C "$work" config user.email "$email"
git -C "$work" rebase -q --exec 'git commit -q --amend --no-edit --reset-author --signoff' upstream >"$scratch/log" 2>&1 ||
	die "cannot sign off: $(tail -n 1 "$scratch/log")"
git -C "$work" config branch.series.description "$(cat "$scratch/cover")"
git -C "$work" format-patch -q ${REROLL:+-v "$REROLL"} --no-signature --base=upstream \
	--cover-letter --cover-from-description=subject -o "$dir" upstream..series

# address FILE WHO: head the mail FILE with the addresses in WHO; of lists
# get_maintainer.pl gives no name.
address() {
	sed -E 's/^[^<]*$/To: &/; t; s/^/Cc: /' "$2" >"$scratch/heads"
	grep -q '^To: ' "$scratch/heads" || die "get_maintainer.pl knows no mailing list for $1"
	sed -i -e "/^Date: /{r $scratch/heads" -e 'N}' "$1"
}
mails=("$dir"/*.patch)
for mail in "${mails[@]:1}"; do
	(cd "$work" && scripts/get_maintainer.pl --nogit-fallback --norolestats "$mail") >"$scratch/who"
	cat "$scratch/who" >>"$scratch/all"
	address "$mail" "$scratch/who"
done
sort -u "$scratch/all" >"$scratch/who"
address "${mails[0]}" "$scratch/who"

echo "$dir: a cover letter and $((${#mails[@]} - 1)) patches by $name <$email>"
echo "base: $(git -C "$work" log -1 --format='%h %s' upstream)"
if [ -n "${XEN_TREE:-}" ]; then
	echo "A guest reaches what some of the fixes mend: ask security@xenproject.org first."
	echo "Read them, see that the base is a commit the list has, then send with:"
	echo "  git send-email --confirm=always '$dir'/*.patch"
else
	echo "A dry run, not to be sent: its base is a package and no commit upstream. Name a checkout with XEN_TREE="
fi
