# `make` alone prints this help. Everything lives in .venv; nothing is assumed but Python 3.11, Rust and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.rs') Cargo.toml Cargo.lock pyproject.toml
FILES := python tests benchmarks fuzz $(wildcard docs/*.py)
SECONDS ?= 600

.DEFAULT_GOAL := help
.PHONY: help demo test check bench docs format lint types rust-check fuzz fuzz-quick fuzz-core sanitize wheel clean

help: ## Print this help.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# Made once: a second interpreter over a first leaves a mixture of the two.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	touch $@

$(VENV)/built: $(VENV)/installed $(SOURCES)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[text,data,plots]"
	touch $@ $(VENV)/ready

# What running needs, without the tools of `make test`.
$(VENV)/ready: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/engines: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group engines || echo "The engines could not be installed; their tests are skipped." >&2
	touch $@

demo: $(VENV)/ready ## Train on the bundled messages, evaluate, explain one.
	$(BIN)/bayleaf demo

test: check ## Everything that CI runs: environment, build, every check and test.

check: lint types rust-check $(VENV)/built $(VENV)/engines fuzz-quick ## The same as `make test`.
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

lint: $(VENV)/built ## Format and lint, Python and Rust, and the import contract.
	$(BIN)/ruff format --check $(FILES)
	$(BIN)/ruff check $(FILES)
	$(BIN)/lint-imports
	cargo fmt --check

types: $(VENV)/built ## mypy in strict mode, and the stub of the core against the core.
	$(BIN)/mypy
	$(BIN)/stubtest bayleaf._core

rust-check: ## clippy with warnings as errors, and the tests of the core.
	cargo clippy --release --locked --all-targets --features fuzzing -- -D warnings
	$(if $(CI),PROPTEST_RNG_SEED=1) cargo test --release --locked --quiet

bench: $(VENV)/built ## The speed table against the peers; needs BAYLEAF_DATA.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	$(BIN)/python benchmarks/speed.py --quick

docs: $(VENV)/built ## Draw the figures, build the site (docs/_build), run every example.
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/screenshots.py
	rm -rf docs/_build
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build
	$(BIN)/python -m pytest -q tests/test_docs.py
	@echo "The site: docs/_build/index.html"

format: $(VENV)/built ## Format Python and Rust.
	$(BIN)/ruff format $(FILES)
	$(BIN)/ruff check --fix $(FILES)
	cargo fmt

fuzz-quick: $(VENV)/built ## Some hundred inputs for each fuzz target in Python, the same each time.
	$(BIN)/python fuzz/run.py --quick

fuzz: $(VENV)/built fuzz-core ## Fuzz every target, guided by coverage, SECONDS=600 each; Atheris and libFuzzer.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group fuzz
	for target in model_file text mail corpus spamd http; do \
		mkdir -p target/fuzz/found/$$target && \
		$(BIN)/python fuzz/run.py $$target --atheris -max_total_time=$(SECONDS) -timeout=30 -rss_limit_mb=4096 || exit 1; done
	for target in analyze tally patterns stems restore; do \
		mkdir -p target/fuzz/found/$$target && \
		$(FUZZED)/$$target -max_total_time=$(SECONDS) -timeout=30 -rss_limit_mb=4096 -print_final_stats=1 \
			target/fuzz/found/$$target fuzz/corpus/$$target || exit 1; done

# The core with AddressSanitizer, debug assertions and counters of coverage: features of the compiler that are not stable.
TARGET = $(shell rustc -vV | sed -n 's/host: //p')
FUZZED = target/fuzz/$(TARGET)/release
COVERAGE := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
	-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares
fuzz-core: ## Build the targets in Rust, and a Python with the core inside.
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="$(COVERAGE) --cfg fuzzing -Zsanitizer=address" CARGO_TARGET_DIR=target/fuzz \
		cargo build --release --manifest-path fuzz/core/Cargo.toml --target $(TARGET)

LAWS := tests/test_laws.py tests/test_analysis.py tests/test_storage.py tests/test_leave_one_out.py tests/test_trust_files.py
sanitize: $(VENV)/built fuzz-core ## The law tests on a core with AddressSanitizer and debug assertions.
	ASAN_OPTIONS=detect_leaks=0 PYTHONPATH="$(CURDIR)/python:$(shell $(BIN)/python -c 'import site; print(site.getsitepackages()[0])')" \
		$(FUZZED)/python pytest -q -p no:xdist -p no:cacheprovider $(LAWS)

wheel: $(VENV)/installed ## Build the source archive and the wheel, and try both in bare environments.
	rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --locked --sdist --out dist
	$(BIN)/python tests/bare_wheel.py dist

clean: ## Remove the environment and everything built.
	rm -rf $(VENV) target docs/_build
