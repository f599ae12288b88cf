#!/bin/bash
# Each mutant of the hypervisor is caught by the check that guards against it.
# Tests: xen scripts
XEN_DEBUG=n LINUX_DEBUG=n exec "$(dirname "$0")/../mutants.sh"
