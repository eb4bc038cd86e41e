# The targets for developers. Each one calls scripts of scripts/; CI calls `make test`.

.DEFAULT_GOAL := help
.PHONY: help run build test check tidy fmt bench sim soak chaos coverage

help:  ## This list.
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name line; do \
	  printf '  make %-8s %s\n' "$$name" "$$line"; done

run:  ## Build, then audit a day of a real diary end to end, without a server or a key.
	@scripts/run

build:  ## Build the release binary: build/release/belay.
	@scripts/build

test:  ## All tests: under ASan, UBSan and TSan, with -O2, and with clang.
	@scripts/test all

check:  ## The quick tests, to run every few minutes.
	@scripts/test quick

tidy:  ## Formatting, include direction, banned names, the co_await rule.
	@scripts/test tidy

fmt:  ## Format the C++ files in place.
	@scripts/check-format --fix

bench:  ## Measure node commits per second and compare with a bare writer (peers: bench/peers/run).
	@scripts/bench

sim:  ## Execute a seed of the simulator and print every event: make sim SEED=4711.
	@scripts/sim

soak:  ## Run the long campaigns; writes docs/evidence/.
	@scripts/soak

chaos:  ## Run fleets on PostgreSQL under faults and kills: make chaos MINUTES=60.
	@scripts/chaos

coverage:  ## Measure the coverage of src/ and agents/: build/coverage/summary.txt, and html/.
	@scripts/coverage
