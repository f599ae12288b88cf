#!/bin/bash
# icount.sh: build the plugin that counts instructions (scripts/icount), print its path.
. "$(dirname "$0")/lib.sh"

source=$TOP/scripts/icount/count.c
made=$OUT/built/icount-$(sha256sum <"$source" | cut -c1-16).so
[ -f "$made" ] || {
	mkdir -p "$OUT/built"
	# undefined symbols are those of QEMU, which loads it
	logged "plugin" "$OUT/log/icount.log" gcc -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -o "$made.new" "$source"
	mv "$made.new" "$made"
}
echo "$made"
