#!/bin/bash
# make send-xen: what it prepares, what it refuses, and that it sends nothing.
# Parallel: yes
. "$(dirname "$0")/tap.sh"
unset REROLL
plan 10

# as NAME EMAIL COMMAND...: with that git identity, and a git send-email that tells.
as() {
	local name=$1 email=$2
	shift 2
	env PATH="$SCRATCH/bin:$PATH" GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0="$name" \
		GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1="$email" "$@"
}
mkdir "$SCRATCH/bin"
printf '#!/bin/sh\ntouch %s\n' "$SCRATCH/sent" | tee "$SCRATCH/bin/git-send-email" "$SCRATCH/bin/sendmail" >/dev/null
chmod +x "$SCRATCH"/bin/*

refuses "refuses without a name" 2 '^error: whose sign-off' as '' '' scripts/send-xen.sh
refuses "refuses to sign off as the rig" 2 '^error: .*cannot sign off' as xen-netback-batch rig@localhost scripts/send-xen.sh
refuses "refuses a new version that does not say what has changed" 2 "^error: .* no line 'v99:" \
	as 'A Tester' tester@example.org env REROLL=99 scripts/send-xen.sh

source=$(scripts/source.sh xen)
patches=$(scripts/series.sh list xen "$source" | wc -l)
dir=$OUT/send/xen-$(scripts/series.sh release xen "$source")
[ -n "${XEN_TREE:-}" ] || dir+=-dry-run

check "prepares the series" as 'A Tester' tester@example.org scripts/send-xen.sh
cp "$SCRATCH/said" "$SCRATCH/prepared"
mapfile -t mails < <(find "$dir" -type f | sort)
mails_right() {
	local mail
	[ ${#mails[@]} -eq $((patches + 1)) ] || { echo "${#mails[@]} mails"; return 1; }
	for mail in "${mails[@]}"; do
		grep -q "^Subject: \[PATCH [0-9]*/$patches\] " "$mail" && grep -q '^To: xen-devel@' "$mail" &&
			grep -q '^Cc: .*<.*@.*>' "$mail" && grep -q '^From: A Tester <tester@example.org>' "$mail" || { echo "$mail"; return 1; }
	done
}
check "each mail has a number, a sender, the list and its maintainers" mails_right
signed() {
	local mail
	for mail in "${mails[@]:1}"; do
		[ "$(grep -c '^Signed-off-by: ' "$mail")" -eq 1 ] && grep -q '^Signed-off-by: A Tester <tester@example.org>$' "$mail" ||
			{ echo "$mail"; return 1; }
	done
	! grep -rn 'rig@localhost' "$dir"
}
check "each patch has the user's sign-off and no other" signed
cover() {
	grep -q "^base-commit: $(git -C "$source" rev-parse upstream)" "${mails[0]}" &&
		grep -q '^direction .*IOTLB/1000' "${mails[0]}" && ! grep -nE '^@results|\*\*\*' "${mails[0]}"
}
check "the cover letter has base commit and figures, and nothing left to fill in" cover
same() {
	git clone -q --shared --no-checkout "$source" "$SCRATCH/tree" && cd "$SCRATCH/tree" && git config user.name x &&
		git config user.email x@example.org && git checkout -q upstream && git am -q "${mails[@]:1}" &&
		COUNTERS=n "$TOP/scripts/state.sh" xen patched | {
			read -r _ commit
			git diff --exit-code --stat "$commit" HEAD
		}
}
check "the mails make the tree that the series makes" same
if [ -n "${XEN_TREE:-}" ]; then
	check "names the command that sends" grep -q "git send-email .*$dir" "$SCRATCH/prepared"
else
	check "a dry run says so, and names no command" \
		sh -c "grep -q 'dry run, not to be sent' '$SCRATCH/prepared' && ! grep -q 'git send-email' '$SCRATCH/prepared'"
fi
check "nothing was sent" test ! -e "$SCRATCH/sent"
