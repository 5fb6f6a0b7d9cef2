# The two commands of the project: `make test` (everything) and `make check` (what to run before each commit).
# Every target stands alone; `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The steps of `make test`, in the order in which failures are cheapest to learn of.
STEPS := fmt lint doc test-rust bench-build test-readme test-client-python test-client-typescript test-browser licences

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
BINARY := $(TARGET_DIR)/debug/software-directory
CARGO_DENY_VERSION := 0.20.2
CARGO_DENY := .tools/cargo-deny-$(CARGO_DENY_VERSION)/bin/cargo-deny
TYPESCRIPT := clients/typescript
STARTED := $(shell date +%s)

.PHONY: help test check relevance faults fmt lint doc test-rust test-fast test-readme test-client-python test-client-typescript test-browser bench-build licences

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-23s %s\n", $$1, $$2 }' Makefile

test: $(STEPS) ## Everything that a change must pass
	@echo "make test: passed ($(STEPS)) in $$(( $$(date +%s) - $(STARTED) )) s"

check: fmt lint test-fast ## Format, lints and the fast tests; under five minutes
	@echo "make check: passed (fmt lint test-fast) in $$(( $$(date +%s) - $(STARTED) )) s"

fmt: need-cargo ## Is the code formatted? (`cargo fmt` does it)
	cargo fmt --check

lint: need-cargo need-cc ## Lints of compiler and clippy, warnings are errors
	cargo clippy --locked --all-targets --quiet -- -D warnings
	cargo clippy --locked --features failpoints --lib --bins --test faults --quiet -- -D warnings

doc: need-cargo need-cc ## Does the documentation build without a warning?
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps --quiet

test-fast: need-cargo need-cc ## The Rust tests, but for those marked as slow
	cargo test --locked --lib --bins --tests -- --quiet

# A slow test is marked #[ignore = "slow: …"]; here none is left out.
test-rust: need-cargo need-cc ## All Rust tests, slow ones and examples in comments too
	cargo test --locked --lib --bins --tests -- --quiet --include-ignored
	@# Most of it waits for processes and quiet times, so more threads than processors.
	cargo test --locked --features failpoints --test faults -- --quiet --test-threads=6
	cargo test --locked --doc -- --quiet

# In the dev profile: what is asked is whether they build, and the tests have built all the crates already.
bench-build: need-cargo need-cc ## Do the benchmarks build?
	$(if $(wildcard benches/*),cargo bench --locked --no-run --profile dev --quiet,@echo "bench-build: there are no benchmarks")

test-readme: need-python3 need-curl need-cargo need-cc ## Run the commands of the README and compare their answers
	python3 tests/tools/test_readme.py --quiet
	cargo build --locked --quiet
	python3 tests/tools/readme.py --binary '$(BINARY)'

test-client-python: need-python3 $(if $(SOFTWARE_DIRECTORY_BIN),,need-cargo need-cc) ## The Python client: style, types, tests on the oldest and newest Python, packages
	$(if $(SOFTWARE_DIRECTORY_BIN),,cargo build --locked --quiet)
	python3 clients/python/tools/check.py

# The server is built unless SOFTWARE_DIRECTORY_BIN names one.
test-client-typescript: need-node need-npm $(TYPESCRIPT)/node_modules/.installed $(TYPESCRIPT)/runtimes/node_modules/.installed ## The TypeScript client in every runtime it is for
	@$(if $(SOFTWARE_DIRECTORY_BIN),,$(MAKE) need-cargo need-cc && cargo build --locked --quiet)
	SOFTWARE_DIRECTORY_BIN='$(abspath $(or $(SOFTWARE_DIRECTORY_BIN),$(BINARY)))' npm test --silent --prefix $(TYPESCRIPT)

%/node_modules/.installed: %/package-lock.json
	npm ci --prefix $* --no-audit --no-fund --loglevel=error
	@touch $@

# Where the judged queries are: relevance/, qhse/ and typos/; see RANKING.md.
MEASURE_DATA ?= ../shared/data

relevance: need-cargo need-cc ## How well the search ranks, on judged queries (MEASURE_DATA names their folder)
	cargo bench --locked --quiet --bench relevance -- $(MEASURE_DATA)

# Not a step of `make test`, which runs a little of each: this takes hours, and measures time, which a busy machine
# stretches. FAULTS_EXPORT names a large export (else one of 60,000 products is made up); FAULTS_ONLY limits it to the tests
# whose names contain it; FAULTS_RELOADS, FAULTS_LARGE_RELOADS, FAULTS_SOAK_SECONDS and FAULTS_SOAK_PRODUCTS change counts.
faults: need-cargo need-cc ## All faults at their full counts: kills, damage, disks, exports, load, a soak of 30 minutes
	FAULTS=full RUST_BACKTRACE=0 cargo test --locked --release --features failpoints --test faults -- \
		--nocapture --include-ignored --test-threads=1 $(FAULTS_ONLY)

licences: $(CARGO_DENY) ## Licences, bans and sources of all crates; advisories are printed only
	$(CARGO_DENY) check --hide-inclusion-graph licenses bans sources
	@# The world's news must not stop a build: advisories are read by people.
	@$(CARGO_DENY) check advisories || echo "licences: the advisories above (or their download) failed; they are for reading and stop nothing"

# Built without optimisation, for it runs for a second; with a build folder of its own, so that an interrupted build goes on.
$(CARGO_DENY): | need-cargo need-cc
	@echo "cargo-deny $(CARGO_DENY_VERSION) is built once into .tools; this takes some minutes"
	cargo install cargo-deny --locked --debug --quiet --version $(CARGO_DENY_VERSION) \
		--root .tools/cargo-deny-$(CARGO_DENY_VERSION) --target-dir .tools/build --config profile.dev.debug=false
	rm -rf .tools/build

install-cargo := curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh
install-cc := sudo apt-get install build-essential   (macOS: xcode-select --install)
install-curl := sudo apt-get install curl
test-browser: need-cargo need-cc need-npm need-python3 need-chromium tests/browser/node_modules ## The page and the documentation in a real browser
	cargo build --locked --quiet
	cd tests/browser && SOFTWARE_DIRECTORY_BIN='$(abspath $(BINARY))' node --test --test-concurrency=2 *.test.mjs

tests/browser/node_modules: tests/browser/package-lock.json | need-npm
	cd tests/browser && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

install-chromium := sudo apt-get install chromium
install-node := sudo apt-get install nodejs   (macOS: brew install node)
install-npm := sudo apt-get install npm   (macOS: brew install node)
install-python3 := sudo apt-get install python3   (macOS: brew install python3)

# A browser is more than most machines have: where apt may, it brings it.
need-chromium:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get update -qq && apt-get install -y -qq chromium; } \
		|| { echo "chromium is missing; install it with: $(install-chromium)" >&2; exit 1; }

need-%:
	@command -v $* >/dev/null || { echo "$* is missing; install it with: $(install-$*)" >&2; exit 1; }
