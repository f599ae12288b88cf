#!/bin/bash
# send-linux.sh prepares what netdev takes, and sends nothing.
# Parallel: yes
. "$(dirname "$0")/tap.sh"
plan 8

# git, with an identity of the test's own and nothing to send mail with.
mkdir "$SCRATCH/bin"
printf '#!/bin/sh\ntouch "%s"\n' "$SCRATCH/sent" | tee "$SCRATCH/bin/git-send-email" "$SCRATCH/bin/sendmail" >/dev/null
chmod +x "$SCRATCH"/bin/*
export PATH=$SCRATCH/bin:$PATH GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_KEY_1=user.email
export GIT_CONFIG_VALUE_0='Some One' GIT_CONFIG_VALUE_1=some.one@kernel.test
published=$(cd results && for name in */; do grep -qs '"status": "pass",$' "$name/summary.json" && echo "${name%/}"; done | head -n 1)
export RESULTS=$published

refuses "no address to sign off with" 2 'no one to sign the series off' env GIT_CONFIG_VALUE_1= scripts/send-linux.sh
refuses "the rig's own" 2 'is a placeholder' env GIT_CONFIG_VALUE_1=rig@localhost scripts/send-linux.sh
refuses "results that are not there" 2 "RESULTS='none' names no results" env RESULTS=none scripts/send-linux.sh
refuses "more patches than netdev takes" 2 'and netdev takes 3: send it in parts' env LIMIT=3 scripts/send-linux.sh

# A checkout whose history lacks what the patches fix.
source=$(scripts/source.sh linux) || exit 2
git clone -q --shared --no-checkout "$source" "$SCRATCH/tree"
refuses "a Fixes: that the user's tree does not have" 2 'Fixes: .* is not in ' env LINUX_TREE="$SCRATCH/tree" OUT="$SCRATCH/out" scripts/send-linux.sh

check "a dry run prepares both series" scripts/send-linux.sh
cp "$SCRATCH/said" "$SCRATCH/dry-run"
send=$(sed -n "s|^git send-email.* \(/.*\)/net/\*.patch$|\1|p" "$SCRATCH/dry-run")
right() {
	local fixes others
	fixes=$(scripts/series.sh list linux "$source" | xargs grep -l '^Fixes: ' | wc -l)
	others=$(($(scripts/series.sh list linux "$source" | wc -l) - fixes))
	grep -q 'DRY RUN on the pinned source' "$SCRATCH/dry-run" || return
	[ "$(grep -lE '^Subject: \[PATCH net( |\])' "$send"/net/*.patch | wc -l)" -eq "$fixes" ] || return
	[ "$(grep -lE "^Subject: \[PATCH net-next 0*[1-9][0-9]*/$others\]" "$send"/net-next/*.patch | wc -l)" -eq "$others" ] || return
	[ "$(cat "$send"/net*/*.patch | grep -c '^Signed-off-by: Some One <some.one@kernel.test>$')" -eq $((fixes + others)) ] || return
	grep -q "^base-commit: $(git -C "$source" rev-parse upstream)$" "$send/net-next/0000-cover-letter.patch" || return
	! grep -E '@RESULTS@|\*\*\*' "$send/net-next/0000-cover-letter.patch" || return
	grep -qE '^domU-dom0 .*patched/patched' "$send/net-next/0000-cover-letter.patch" || return
	[ "$(grep -c "^git send-email.*--cc='netdev@vger.kernel.org'.*--cc='xen-devel@" "$SCRATCH/dry-run")" -eq 2 ]
}
check "prefixes, sign-offs, base, cover letter and addresses are right" right
check "nothing was sent" test ! -e "$SCRATCH/sent"
