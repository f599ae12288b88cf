#!/bin/bash
# The project's own files: shell, Python, spelling, and what no commit may hold.
# Parallel: yes
. "$(dirname "$0")/tap.sh"
plan 6

shell_files() { git ls-files -co --exclude-standard | while read -r file; do
	[ -f "$file" ] && head -n 1 "$file" | grep -qE '^#!/bin/(ba)?sh' && echo "$file"
done; }

mapfile -t shell < <(shell_files)
check "shellcheck: ${#shell[@]} scripts" shellcheck -x -P SCRIPTDIR -e SC2015,SC2016 "${shell[@]}"
check "python compiles" python3 -m py_compile scripts/*.py
check "codespell" codespell -L nd,inflight,beteen,unecessary,somethimes,intialise --skip '*.json,*.csv,*.svg,build,.git' README.md Makefile scripts linux xen results
no_machine_paths() { ! git grep -nE '/(root|home|work)/[a-z]|deb\.debian|[a-z]\.debian\.org' -- . ':!scripts/test/01-lint.t' ':!scripts/guest' ':!*.md'; }
check "no path of a machine and no registry host is committed" no_machine_paths
tests() {
	local dir
	dir=$(scripts/source.sh linux) &&
		find linux/tests -name '*.[ch]' -exec "$dir/scripts/checkpatch.pl" --no-tree --strict --quiet --max-line-length=80 -f {} +
}
check "checkpatch --strict: linux/tests" tests
patches() {
	local dir
	dir=$(scripts/source.sh linux) && scripts/series.sh list linux "$dir" | xargs scripts/checkpatch.sh "$dir"
}
check "checkpatch --strict: each patch to Linux" patches
