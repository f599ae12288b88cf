#!/bin/bash
# config-check.sh CONFIG FRAGMENT...: print each line of the fragments that the
# configuration lacks. Exit: 0 none; 1 some; 2 no such file.
# A line `CONFIG_X=y` is met by =m too where CONFIG is a modular kernel's.
set -euo pipefail

config=$1
shift
[ -r "$config" ] || { echo "error: cannot read the configuration '$config'; set CONFIG=/path/to/.config" >&2; exit 2; }
modules=$(grep -c '^CONFIG_MODULES=y' "$config" || true)
lacking=0
while read -r line; do
	grep -qxF "$line" "$config" && continue
	[ "$modules" -gt 0 ] && grep -qxF "${line%=y}=m" "$config" && continue
	[ "${line%=n}" != "$line" ] && ! grep -q "^${line%=n}=" "$config" && continue
	echo "$line"
	lacking=1
done < <(grep -h '^CONFIG_' "$@")
exit $lacking
