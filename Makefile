# The two main commands are `make test` (everything that a change must pass) and `make check` (before
# each commit). Every target works on its own; `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Some servers are installed in /usr/sbin, which isn't on every user's PATH.
export PATH := $(PATH):/usr/sbin:/sbin

# The steps of `make test`. The ones that fail soonest come first. Those that run the binary leave
# processors idle, so two run at a time, starting with the longest.
CARGO_STEPS := fmt lint doc test-rust bench-build
BINARY_STEPS := test-browser test-client-python test-client-typescript test-readme test-contract test-mcp

# All tests, and the binary that they run, are built with failpoints, so the crate is compiled once.
TESTED := --locked --features failpoints
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
# The binary under test. It's built unless SOFTWARE_DIRECTORY_BIN names one.
BINARY := $(abspath $(or $(SOFTWARE_DIRECTORY_BIN),$(TARGET_DIR)/debug/software-directory))
CARGO_DENY_VERSION := 0.20.2
CARGO_DENY := .tools/cargo-deny-$(CARGO_DENY_VERSION)/bin/cargo-deny
TYPESCRIPT := clients/typescript
UV_VERSION := 0.13.8
UV := .tools/uv-$(UV_VERSION)/bin/uv
CONTRACT := UV_PROJECT_ENVIRONMENT='$(CURDIR)/.tools/contract' $(UV) run --quiet --locked --project tests/contract python tests/contract/check.py
STARTED := $(shell date +%s)

.PHONY: help test check binary packages test-packages picture faults faults-generations faults-soak faults-callers faults-contract faults-any fuzz relevance bench bench-generated bench-http bench-growth fmt lint doc test-rust test-fast test-binary test-readme test-client-python test-client-typescript test-browser test-contract test-deploy test-generators test-mcp test-opensearch bench-build licences

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-23s %s\n", $$1, $$2 }' Makefile

test: $(CARGO_STEPS) test-binary ## Run everything that a change must pass
	@echo "make test: passed ($(CARGO_STEPS) $(BINARY_STEPS)) in $$(( $$(date +%s) - $(STARTED) )) s"

check: fmt lint test-fast ## Check formatting and lints, and run the fast tests; under five minutes
	@echo "make check: passed (fmt lint test-fast) in $$(( $$(date +%s) - $(STARTED) )) s"

faults: faults-generations faults-callers faults-contract faults-any fuzz ## Run all fault tests in full; `make test` runs a quick part of them
	@echo "make faults: passed in $$(( $$(date +%s) - $(STARTED) )) s"

fmt: need-cargo ## Check that the code is formatted (`cargo fmt` formats it)
	cargo fmt --check

lint: need-cargo need-cc ## Run the compiler's and clippy's lints; warnings are errors
	cargo clippy $(TESTED) --all-targets --quiet -- -D warnings
	cargo clippy --locked --quiet -- -D warnings

doc: need-cargo need-cc ## Check that the documentation builds without warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps --quiet

test-fast: need-cargo need-cc ## Run the Rust tests, except slow ones
	cargo test $(TESTED) --lib --bins --test directory --test server -- --quiet

# Slow tests are marked #[ignore = "slow: …"]. This runs everything except tests that need a
# cluster.
test-rust: need-cargo need-cc ## Run all Rust tests, including slow ones and examples in comments
	cargo test $(TESTED) --lib --bins --test directory --test server -- --quiet --include-ignored --skip on_cluster
	@# These tests mostly wait for processes and quiet periods, so they use more threads than
	@# processors.
	cargo test $(TESTED) --test faults -- --quiet --test-threads=4
	cargo test $(TESTED) --doc -- --quiet

# This only checks that they build, so it uses the dev profile, whose crates the tests have already
# built.
bench-build: need-cargo need-cc ## Check that the benchmarks and the fuzz targets build
	cargo bench $(TESTED) --no-run --profile dev --quiet --bench search --bench build --bench relevance
	cargo build $(TESTED) --quiet --example http-baselines
	@# Naming a libFuzzer keeps it from being built, which would need a C++ compiler. Since `check`
	@# doesn't link, the file needn't exist.
	cp Cargo.lock fuzz/Cargo.lock
	CUSTOM_LIBFUZZER_PATH=/nowhere/libfuzzer.a cargo check --quiet --manifest-path fuzz/Cargo.toml --target-dir '$(TARGET_DIR)'

binary: $(if $(SOFTWARE_DIRECTORY_BIN),,need-cargo need-cc)
	$(if $(SOFTWARE_DIRECTORY_BIN),,cargo build $(TESTED) --quiet)

test-binary: ## Run the steps that test the binary from outside, two at a time
	$(MAKE) --jobs=2 --output-sync=target $(BINARY_STEPS)

test-readme: need-python3 need-curl binary ## Run the commands in the README and docs, and compare their output
	python3 tests/tools/test_readme.py --quiet
	python3 tests/tools/readme.py --binary '$(BINARY)'

test-client-python: need-python3 binary $(UV) ## Test the Python client: style, types, tests on the oldest and newest Python, packages
	python3 clients/python/tools/check.py

test-client-typescript: binary need-node need-npm $(if $(CHROMIUM),,need-chromium) $(TYPESCRIPT)/node_modules/.installed $(TYPESCRIPT)/runtimes/node_modules/.installed ## Test the TypeScript client in every runtime it supports
	SOFTWARE_DIRECTORY_BIN='$(BINARY)' npm test --silent --prefix $(TYPESCRIPT)

%/node_modules/.installed: %/package-lock.json
	npm ci --prefix $* --no-audit --no-fund --loglevel=error
	@touch $@

# The seed is fixed, so the requests are the same each time.
test-contract: binary $(UV) ## Send the binary valid and invalid requests based on the OpenAPI document; takes a minute at most
	$(CONTRACT) --binary '$(BINARY)' --examples 100 --seeds 1

faults-contract: binary $(UV) ## Like test-contract, with ten times as many requests and five seeds
	$(CONTRACT) --binary '$(BINARY)' --examples 1000 --seeds 1,2,3,4,5

faults-any: need-cargo need-cc ## Try arbitrary exports, queries and requests, 25 times as many as `make test` and different ones each time
	FAULTS=full cargo test $(TESTED) --test directory --test server -- any_ --nocapture

# Coverage-guided, with libFuzzer. cargo-fuzz needs a nightly compiler, but only for sanitizers,
# which look for things that safe code can't do. These are its other flags. Interesting inputs are
# kept in fuzz/corpus for the next run.
FUZZ_SECONDS ?= 600
FUZZ_TARGETS := export query request
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1

FUZZ_HOST = $(shell rustc -vV | sed -n 's/^host: //p')

# This rebuilds everything, so it uses a separate build folder. It passes --target explicitly so
# that build scripts and macros aren't instrumented.
fuzz: need-cargo need-cc need-c++ ## Fuzz exports, queries and requests, guided by coverage, FUZZ_SECONDS each
	@# The project's own versions, plus what fuzzing needs.
	cp Cargo.lock fuzz/Cargo.lock
	RUSTFLAGS='$(FUZZ_FLAGS)' cargo build --release --quiet --manifest-path fuzz/Cargo.toml \
		--target $(FUZZ_HOST) --target-dir fuzz/target
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/corpus/$$target fuzz/artifacts/$$target; \
		fuzz/target/$(FUZZ_HOST)/release/$$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=4096 \
			-print_final_stats=1 -artifact_prefix=fuzz/artifacts/$$target/ fuzz/corpus/$$target fuzz/seeds/$$target \
			2> fuzz/artifacts/$$target.log || { tail -40 fuzz/artifacts/$$target.log >&2; exit 1; }; \
		awk -v target=$$target '/number_of_executed_units/ { runs = $$2 } / cov: / { for (i = 1; i < NF; i++) if ($$i == "cov:") places = $$(i + 1) } \
			END { print "fuzz: " target ": " runs " runs, no crashes, " places " places reached" }' fuzz/artifacts/$$target.log; \
	done

test-deploy: binary need-python3 need-openssl need-systemd-analyze need-nginx need-caddy ## Test nginx and Caddy in front of the binary, the units, and the binary without privileges; not part of `make test`, because it needs these servers
	python3 tests/deploy/check.py --binary '$(BINARY)'

PACKAGES := $(TARGET_DIR)/packages

packages: need-cargo need-cc need-python3 need-dpkg-deb ## Build the tarball, Debian package, wheel and npm packages for this machine's platform in target/packages
	cargo build --profile dist --locked --quiet --bin software-directory
	python3 deploy/packages/build.py --binary '$(TARGET_DIR)/dist/software-directory' --out '$(PACKAGES)'

test-packages: packages need-node need-npm need-mmdebstrap ## Install each package on a clean system, and serve from it; not part of `make test`, because it needs an optimised build
	python3 tests/deploy/packages.py --packages '$(PACKAGES)'

# Clients are generated and compiled in .tools/generators. To run only one:
# make test-generators GENERATORS='--only hey-api'
test-generators: binary need-npm need-node need-java need-javac need-mvn need-go $(UV) tests/generators/node_modules ## Read every record with clients from seven code generators; not part of `make test`, because it needs Java, Maven and Go
	UV_PROJECT_ENVIRONMENT='$(CURDIR)/.tools/generators-python' $(UV) run --quiet --locked --project tests/generators \
		python tests/generators/check.py --binary '$(BINARY)' $(GENERATORS)

tests/generators/node_modules: tests/generators/package-lock.json | need-npm
	cd tests/generators && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Tests the operations and edits on one node, TLS and users on another, and failing nodes on three.
# To run one group: make test-opensearch OPENSEARCH=edits
OPENSEARCH ?= operations edits served security faults

test-opensearch: need-cargo need-cc need-python3 need-java need-openssl ## Test a directory in real OpenSearch nodes, including faults; not part of `make test`, because it needs Java and takes a while
	cargo test $(TESTED) --test server --no-run --quiet
	@for group in $(OPENSEARCH); do started=$$SECONDS; $(MAKE) opensearch-$$group; echo "opensearch-$$group: passed in $$((SECONDS - started)) s"; done

# Prints the effect of each fault. The tests of a group run one after the other.
opensearch-%:
	python3 tests/opensearch/cluster.py $(if $(filter faults,$*),--nodes 3) $(if $(filter security,$*),--security) -- \
		cargo test $(TESTED) --test server --quiet -- --ignored on_cluster::$*:: --nocapture --test-threads=1

test-mcp: binary need-npm need-node $(UV) tests/mcp-clients/node_modules/.installed ## Test /mcp and the command mcp with the protocol's own clients and inspector
	for major in v1 v2; do UV_PROJECT_ENVIRONMENT="$(CURDIR)/.tools/mcp-clients-$$major" \
		$(UV) run --quiet --locked --project tests/mcp-clients --group $$major \
		python tests/mcp-clients/check.py --binary '$(BINARY)'; done

# The same uv that the Python client's tools/check.py installs.
$(UV): | need-python3
	python3 -m venv .tools/uv-$(UV_VERSION)
	.tools/uv-$(UV_VERSION)/bin/python -m pip install --quiet uv==$(UV_VERSION)

# The folder with the judged queries (relevance/, qhse/, typos/) and the exports whose names are
# searched (exports/); see RANKING.md.
MEASURE_DATA ?= ../shared/data

relevance: need-cargo need-cc ## Measure the ranking on judged queries and on names in exports (MEASURE_DATA names their folder)
	cargo bench --profile dist --locked --quiet --bench relevance -- $(MEASURE_DATA)

# The export to measure; any will do. The figures in PERFORMANCE.md are for Debian's packages.
MEASURE_EXPORT ?= exports/debian.json

bench: need-cargo need-cc ## Measure searches, the worst of them, and a build (MEASURE_DATA and MEASURE_EXPORT name the corpus)
	MEASURE_DATA='$(MEASURE_DATA)' MEASURE_EXPORT='$(MEASURE_EXPORT)' cargo bench --profile dist --locked --quiet --bench search --bench build

bench-generated: need-cargo need-cc ## Find the worst of 50,000 generated queries, by CPU time
	MEASURE_DATA='$(MEASURE_DATA)' MEASURE_EXPORT='$(MEASURE_EXPORT)' cargo bench --profile dist --locked --quiet --bench search -- generated

# For a subset: make bench-http BENCH_HTTP='--only lookup,search --rounds 3'
bench-http: need-cargo need-cc need-python3 need-wrk ## Measure the service against its baselines over HTTP, as ratios
	cargo build --profile dist --locked --quiet --bin software-directory --example http-baselines
	python3 benches/server/run.py --server '$(TARGET_DIR)/dist/software-directory' --export '$(MEASURE_DATA)/$(MEASURE_EXPORT)' \
		--baselines '$(TARGET_DIR)/dist/examples/http-baselines' --out '$(TARGET_DIR)' $(BENCH_HTTP)

# A million records take about 7 GB of memory and 5 GB of disk. For a smaller run:
# make bench-growth BENCH_GROWTH='--sizes 1000,10000 --seconds 2'
bench-growth: need-cargo need-cc need-python3 need-wrk ## Measure how time and memory grow with the number of records, as a table and curves
	cargo build --profile dist --locked --quiet --bin software-directory --example http-baselines
	python3 benches/growth/run.py --server '$(TARGET_DIR)/dist/software-directory' --export '$(MEASURE_DATA)/$(MEASURE_EXPORT)' \
		--baselines '$(TARGET_DIR)/dist/examples/http-baselines' --out '$(TARGET_DIR)' $(BENCH_GROWTH)

# Not part of `make test`, which runs only part of each test: this takes hours, and it measures times,
# which are longer on a busy machine. FAULTS_EXPORT names a large export (otherwise one with 60,000
# products is generated), and FAULTS_ONLY selects tests by name. FAULTS_RELOADS,
# FAULTS_LARGE_RELOADS, FAULTS_SOAK_SECONDS and FAULTS_SOAK_PRODUCTS change the counts.
faults-generations: need-cargo need-cc ## Test kills, damage, disks, exports, reloads under load, and a 30-minute soak
	FAULTS=full RUST_BACKTRACE=0 cargo test $(TESTED) --release --test faults -- \
		--nocapture --include-ignored --test-threads=1 $(FAULTS_ONLY)

# Runs one of the tests above on its own. FAULTS_SOAK_SECONDS makes it shorter, and
# SOFTWARE_DIRECTORY_BIN names another build for the servers.
faults-soak: need-cargo need-cc ## Test a server and two replicas with limited resources, under all attacks at once, for 30 minutes
	FAULTS=full cargo test $(TESTED) --release --test faults -- \
		--nocapture --test-threads=1 healthy_callers_are_served_during_every_attack_at_once

faults-callers: need-cargo need-cc ## Test slow, numerous, hostile and too many clients, signals and takeovers
	FAULTS=full cargo test $(TESTED) --release --test server callers:: -- --nocapture --include-ignored --test-threads=1

licences: $(CARGO_DENY) ## Check the licences, bans and sources of all crates; advisories are only printed. Not part of `make test`, because building cargo-deny takes minutes
	$(CARGO_DENY) check --hide-inclusion-graph licenses bans sources
	@# News from the outside world mustn't stop a build, so advisories are only for people to read.
	@$(CARGO_DENY) check advisories || echo "licences: there are advisories (see above), or they couldn't be downloaded; this doesn't fail the check"

# Built without optimisation, because it only runs for a second, and in a separate folder, so an
# interrupted build can continue.
$(CARGO_DENY): | need-cargo need-cc
	@echo "building cargo-deny $(CARGO_DENY_VERSION) into .tools, just once; this takes a few minutes"
	cargo install cargo-deny --locked --debug --quiet --version $(CARGO_DENY_VERSION) \
		--root .tools/cargo-deny-$(CARGO_DENY_VERSION) --target-dir .tools/build --config profile.dev.debug=false
	rm -rf .tools/build

install-cargo := curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh
install-c++ := sudo apt-get install build-essential   (macOS: xcode-select --install)
install-cc := sudo apt-get install build-essential   (macOS: xcode-select --install)
install-wrk := sudo apt-get install wrk   (macOS: brew install wrk)
install-curl := sudo apt-get install curl
# One browser at a time: two would keep two processors so busy that the server rejects a page's search.
test-browser: binary need-npm need-python3 need-chromium tests/browser/node_modules ## Test the pages and the documentation in a real browser
	cd tests/browser && SOFTWARE_DIRECTORY_BIN='$(BINARY)' node --test --test-concurrency=1 *.test.mjs

picture: binary need-npm need-chromium tests/browser/node_modules ## Retake the README's screenshot (docs/page.png)
	cd tests/browser && SOFTWARE_DIRECTORY_BIN='$(BINARY)' node picture.mjs

tests/browser/node_modules: tests/browser/package-lock.json | need-npm
	cd tests/browser && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

install-chromium := sudo apt-get install chromium
install-nginx := sudo apt-get install nginx
install-caddy := sudo apt-get install caddy
install-dpkg-deb := sudo apt-get install dpkg
install-mmdebstrap := sudo apt-get install mmdebstrap
install-openssl := sudo apt-get install openssl
install-systemd-analyze := sudo apt-get install systemd
install-java := sudo apt-get install default-jdk-headless   (macOS: brew install openjdk)
install-javac := $(install-java)
install-mvn := sudo apt-get install maven   (macOS: brew install maven)
install-go := sudo apt-get install golang-go   (macOS: brew install go)
install-node := sudo apt-get install nodejs   (macOS: brew install node)
install-npm := sudo apt-get install npm   (macOS: brew install node)
install-python3 := sudo apt-get install python3   (macOS: brew install python3)

# Most machines don't have these programs. If possible, apt installs them, without starting their services.
need-chromium need-nginx need-caddy need-mmdebstrap: need-%:
	@command -v $* >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive $(filter-out sudo,$(install-$*)) -y -qq; } \
		|| { echo "$* is missing; install it with: $(install-$*)" >&2; exit 1; }

need-%:
	@command -v $* >/dev/null || { echo "$* is missing; install it with: $(install-$*)" >&2; exit 1; }
