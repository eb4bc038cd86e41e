# The front door. Each target is one line here and one script in scripts/; CI calls the same words.

.DEFAULT_GOAL := help
.PHONY: help run build test check tidy fmt bench sim soak chaos coverage

help:  ## This list.
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name line; do \
	  printf '  make %-8s %s\n' "$$name" "$$line"; done

run:  ## Build, then audit a real diary day end to end: no server, no key.
	@scripts/build
	@scripts/run-demo

build:  ## Build the release binary: build/release/belay.
	@scripts/build

test:  ## Every test, under ASan+UBSan and TSan, the program at -O2, a build with clang.
	@scripts/test all

check:  ## The quick tests, for every few minutes of work.
	@scripts/test quick

tidy:  ## Formatting, include direction, banned names, the co_await rule.
	@scripts/test tidy

fmt:  ## Format the C++ files in place.
	@scripts/check-format --fix

bench:  ## Measure node commits a second against the bare writer (beside others: bench/peers/run).
	@scripts/bench

sim:  ## Play a seed of the simulator, every event told: make sim SEED=4711.
	@scripts/sim

soak:  ## The long campaigns; their figures go to docs/evidence/.
	@scripts/soak

chaos:  ## A fleet on a PostgreSQL that is restarted, killed all the while: make chaos MINUTES=60.
	@scripts/chaos

coverage:  ## What the tests run of src/ and agents/: build/coverage/summary.txt, and html/.
	@scripts/coverage
