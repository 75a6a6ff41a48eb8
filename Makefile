# `make` alone prints this help. Everything lives in .venv; nothing is assumed but Python 3.11, Rust and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.rs') Cargo.toml Cargo.lock pyproject.toml
FILES := python tests benchmarks $(wildcard docs/*.py)

.DEFAULT_GOAL := help
.PHONY: help demo test check bench docs format lint types rust-check clean

help: ## Print this help.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	touch $@

$(VENV)/built: $(VENV)/installed $(SOURCES)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[text,data,plots]"
	touch $@

$(VENV)/engines: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group engines || echo "The engines could not be installed; their tests are skipped." >&2
	touch $@

demo: $(VENV)/built ## Train on the bundled messages, evaluate, explain one.
	$(BIN)/bayleaf demo

test: check ## Everything that CI runs: environment, build, every check and test.

check: lint types rust-check $(VENV)/built $(VENV)/engines ## The same as `make test`.
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
	cargo clippy --release --locked --all-targets -- -D warnings
	cargo test --release --locked --quiet

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

clean: ## Remove the environment and everything built.
	rm -rf $(VENV) target docs/_build
