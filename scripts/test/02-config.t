#!/bin/bash
# Kconfig.snippet is a contract: a line that did not stick is told.
# Parallel: yes
. "$(dirname "$0")/tap.sh"
plan 4

linux=$(scripts/build.sh linux base) || exit 2
check "the rig's kernel has all of Kconfig.snippet" make -s config-check CONFIG="$linux/config"
grep -v '^CONFIG_XEN_NETDEV_BACKEND=' "$linux/config" >"$SCRATCH/lacking"
refuses "a kernel without netback is told so" 2 '^CONFIG_XEN_NETDEV_BACKEND=y$' make -s config-check CONFIG="$SCRATCH/lacking"
sed 's/^CONFIG_XEN_NETDEV_BACKEND=y/CONFIG_XEN_NETDEV_BACKEND=m/' "$linux/config" >"$SCRATCH/modular"
echo CONFIG_MODULES=y >>"$SCRATCH/modular"
check "a module serves a modular kernel" make -s config-check CONFIG="$SCRATCH/modular"
refuses "a configuration that is not there" 2 'cannot read the configuration' make -s config-check CONFIG="$SCRATCH/none"
