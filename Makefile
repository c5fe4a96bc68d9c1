# Everything a newcomer or the continuous integration needs. Only Python (>= 3.11) and make are assumed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PRODUCT := $(VENV)/.product
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers

# Without bytecode every process that a test starts compiles everything it imports.
unexport PYTHONDONTWRITEBYTECODE

PARALLEL := -n 2 --dist worksteal
# Two workers on two cores: more threads of linear algebra would only wait for one another.
test test-rest proofs: export OMP_NUM_THREADS := 1
test test-rest proofs: export OPENBLAS_NUM_THREADS := 1
# Kinds of tests are markers, listed in pyproject.toml; `smoke` brings one of a kind into the quick loop.
QUICK := smoke or not (slow or process or postgres or browser or statistical)

.PHONY: setup demo test test-all test-rest check docs proofs bench clean

setup: $(READY)

$(PRODUCT): pyproject.toml  # what a user installs; the tools of developers are many more
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[lab,service]'
	@touch $@

$(READY): $(PRODUCT)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(PRODUCT)  ## a simulated lending desk: a table, and a picture in demo.png
	$(BIN)/evenhand demo

test: $(READY)  ## minutes: every unit, every contract, one PostgreSQL, one journey through the pages in a real Chromium
	$(BIN)/python -m tests.support.chromium
	$(BIN)/python -m pytest $(PARALLEL) -m "$(QUICK)"

test-all: test test-rest  ## everything that is not slow

test-rest: $(READY)  ## what `make test` leaves out: processes, PostgreSQL, pages, simulations
	$(BIN)/python -m tests.support.chromium
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow and not ($(QUICK))"

check: $(READY)  ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

proofs: $(READY)  ## the long proofs: thousands of instances, ten seeds
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

bench: $(PEERS)  ## ratios against peers, measured in one run; a short one: make bench OPTIONS=--quick
	$(BIN)/python -m benchmarks $(OPTIONS)

$(PEERS): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	@touch $@

docs: $(READY)  ## the documentation site in site/: links checked, tutorials executed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

clean:
	rm -rf $(VENV) site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis demo.png
