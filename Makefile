# The two commands: make bench, make test. make help lists the rest.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# The published table's rows, of every combination of halves.
ifneq ($(filter bench-full,$(MAKECMDGOALS)),)
MACHINE      ?= vtd,amdvi
PAIRS        ?= base/base,patched/base,base/patched,patched/patched
BOOTS        ?= 4
STREAMS      ?= 1,2,4,8,16
endif

# What makes flushes dear, with every packet mapped.
ifneq ($(filter scaling,$(MAKECMDGOALS)),)
STREAMS      ?= 4
DIRECTIONS   ?= domU-dom0
COPYBREAK    ?= 0
endif

# Where built things go; what a run consists of; what it is made from.
OUT          ?= build
MACHINE      ?= vtd
PAIRS        ?= base/base,patched/patched
BOOTS        ?= 2
RUNS         ?= 3
SECONDS_EACH ?= 5
STREAMS      ?= 1
DIRECTIONS   ?= domU-dom0,domU-domU,dom0-domU
COPYBREAK    ?=
GUEST_VCPUS  ?= 1
GUEST_QUEUES ?= 8
DOM0_VCPUS   ?= 2
EPT_CHECK    ?= off
SETTINGS     ?=
MODE         ?= threads
PRICES       ?=
NOTE         ?=
XEN          ?= 4.17
LINUX        ?= 6.12
XEN_TREE     ?=
LINUX_TREE   ?=
XEN_DEBUG    ?= n
LINUX_DEBUG  ?= n
LINUX_MODULAR ?= n
BASE         ?=
RUN          ?=
CONFIG       ?=
SIDE         ?=
REROLL       ?=
RESULTS      ?=
NAME         ?=
TESTS        ?= scripts/test/*.t scripts/test-full/*.t

override OUT := $(abspath $(OUT))
export OUT MACHINE PAIRS BOOTS RUNS SECONDS_EACH STREAMS DIRECTIONS COPYBREAK GUEST_VCPUS GUEST_QUEUES DOM0_VCPUS EPT_CHECK SETTINGS MODE PRICES NOTE \
	XEN LINUX XEN_TREE LINUX_TREE XEN_DEBUG LINUX_DEBUG LINUX_MODULAR BASE RUN CONFIG SIDE REROLL RESULTS NAME TESTS

bench-options = --machine '$(MACHINE)' --pairs '$(or $(SIDE),$(PAIRS))' --boots '$(BOOTS)' --runs '$(RUNS)' \
	--seconds '$(SECONDS_EACH)' --streams '$(STREAMS)' --directions '$(DIRECTIONS)' --copybreak '$(COPYBREAK)' \
	--guest-vcpus '$(GUEST_VCPUS)' \
	--guest-queues '$(GUEST_QUEUES)' --dom0-vcpus '$(DOM0_VCPUS)' --ept-check '$(EPT_CHECK)' \
	--settings '$(SETTINGS)' --mode '$(MODE)' --prices '$(PRICES)' $(if $(NOTE),--note '$(NOTE)') $(if $(RUN),--run '$(RUN)')

.PHONY: help
help: ## this list
	@echo 'targets:'
	@sed -nE 's/^([a-z0-9 -]+):.*## (.*)/  \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'
	@echo 'variables, with their values now:'
	@sed -nE 's/^\| ([A-Z_0-9]+) *\| (.*)/\1|\2/p' scripts/variables | while IFS='|' read -r name text; do \
		printf '  %-13s %-28s %s\n' "$$name" "$$(printenv "$$name" || true)" "$$text"; done

.PHONY: deps
deps:
	@$(if $(NO_DEPS),true,scripts/deps.sh)

.PHONY: bench
bench: deps ## build stock and patched Xen and Linux, boot each, run iperf3, print the comparison
	@scripts/run.py bench $(bench-options)

.PHONY: bench-full
bench-full: bench ## the same for 1 to 16 streams, both IOMMUs, each half alone too: hours; RUN=<dir> goes on with one

.PHONY: scaling
scaling: deps ## the comparison with more vCPUs of dom0, more guests, more queues: flushes, and IPIs, for 1,000 grants
	@scripts/scaling.sh $(bench-options)

.PHONY: latency
latency: deps ## round trips alone and beside a bulk stream, and guests that wait for each completion
	@scripts/run.py latency $(bench-options)

.PHONY: bench-unmap
bench-unmap: deps ## cycles and flushes for each grant unmapped, by size of batch, stock and patched Xen
	@BOOTS='$(BOOTS)' RUN='$(RUN)' scripts/bench-unmap.sh

.PHONY: build
build: deps ## build both sides of both halves and the guest images, boot nothing
	@for half in xen linux; do for side in base patched; do scripts/build.sh $$half $$side || exit; done; done
	@scripts/image.sh

.PHONY: bochs
bochs: deps ## build the emulator of MACHINE=ept
	@scripts/bochs.sh

.PHONY: report
report: ## print the comparison of stored runs again: RUN=<dir>; with NAME=<name> put it into results/
	@$(if $(NAME),scripts/publish.py '$(NAME)',scripts/report.py) $(RUN)

.PHONY: report-check
report-check: ## make each published report again from its raw data; nothing may differ
	@scripts/publish.py --check

.PHONY: judge
judge: ## judge a stored run again from its logs: RUN=<dir>
	@scripts/judge.py $(RUN)

.PHONY: test
test: deps ## prove it: lint, series, boots with verified payloads, the harness's own tests
	@XEN_DEBUG=y LINUX_DEBUG=y scripts/test.py scripts/test/*.t

.PHONY: test-full
test-full: deps ## all of make test, and what takes longer, or TESTS of it; goes on with what has passed; results are kept in results/test-full
	@$(if $(NO_DEPS),true,scripts/deps.sh packages-full)
	@XEN_DEBUG=y LINUX_DEBUG=y TEST_TIMEOUT=$${TEST_TIMEOUT:-43200} scripts/test.py --keep --record results/test-full $(TESTS)

.PHONY: selftest
selftest: deps ## run the PVH test kernel on patched Xen, on MACHINES
	@$(if $(filter command,$(firstword $(origin MACHINE))),$(error make selftest takes MACHINES=$(MACHINE), a list with spaces))scripts/selftest.sh patched

.PHONY: test-mutants
test-mutants: deps ## break the patched Xen in one way after another; the test kernel must notice each
	@scripts/mutants.sh

.PHONY: config-check
config-check: ## list what a kernel configuration lacks for a PVH dom0 with netback: CONFIG=<.config>
	@scripts/config-check.sh '$(CONFIG)' Kconfig.snippet && echo '$(CONFIG) has all of Kconfig.snippet'

.PHONY: xen-tree linux-tree
xen-tree linux-tree: %-tree: ## lay a git work tree with the series applied: BASE=<commit>, default the pinned source
	@scripts/series.sh lay $* '$(OUT)/work/$*' $(BASE)

.PHONY: xen-patches linux-patches
xen-patches linux-patches: %-patches: ## write the series back from that work tree
	@scripts/series.sh write $* '$(OUT)/work/$*'

.PHONY: send-xen
send-xen: ## prepare the series for its mailing list, with your own sign-off; sends nothing
	@scripts/send-xen.sh

.PHONY: send-linux
send-linux: ## prepare the netback series for netdev, figures from RESULTS; it sends nothing
	@scripts/send-linux.sh

.PHONY: clean
clean: ## remove what was built, but not downloads, sources and runs
	rm -rf '$(OUT)/built' '$(OUT)/obj' '$(OUT)/image' '$(OUT)/log' '$(OUT)/tests'
