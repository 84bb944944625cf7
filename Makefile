# Every target installs what it needs into .venv; only Python 3.11 or newer is required.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SPACE := quickstart

.DEFAULT_GOAL := help
.PHONY: help install demo test test-long test-lowest test-newest lint fix docs fuzz hostile soak bench clean

help:            ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*##/ { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(READY) ## set up .venv

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is required: make PYTHON=...")'
	@echo "setting up $(VENV), a minute or two the first time"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

demo: $(READY)   ## from a shipped space to a standalone network: check, count, compile, search, derive, export
	$(BIN)/bayesnas-graph check $(SPACE)
	$(BIN)/bayesnas-graph spaces $(SPACE)
	$(BIN)/bayesnas-graph stats $(SPACE)
	@rm -rf build/demo
	$(BIN)/bayesnas-graph compile $(SPACE) -o build/demo
	$(BIN)/bayesnas-graph search $(SPACE) -o build/demo/run
	$(BIN)/bayesnas-graph derive build/demo/run
	$(BIN)/bayesnas-graph export build/demo/run -o build/demo/run/digits.py --weights build/demo/run/digits.safetensors
	$(BIN)/python benchmarks/exported_alone.py build/demo/run
	$(BIN)/bayesnas-graph report build/demo/run

test: $(READY)   ## run the tests
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test-long: $(READY) ## run the tests that `make test` leaves out
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m long

test-lowest:     ## run the tests of the verbs with the lowest versions that pyproject.toml allows
	PYTHON=$(PYTHON) .ci/versions lowest

test-newest:     ## run them with the newest versions of everything but torch
	PYTHON=$(PYTHON) .ci/versions newest

lint: $(READY)   ## run the linters and the type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/bayesnas-graph fmt --check spaces

fix: $(READY)    ## fix what the linters can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/bayesnas-graph fmt spaces

docs: $(READY)   ## build build/site, the documentation as a site that works offline, and check it
	@mkdir -p build
	$(BIN)/python -m website.demo > build/docs-demo.txt
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	$(BIN)/python -m website.check build/site

fuzz: $(READY)   ## check 200,000 random programs: about an hour of processor time
	$(BIN)/python -m benchmarks.fuzz --jobs 2 --save

hostile: $(READY) ## run the tests with files from strangers and damaged files, the long ones too
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m 'long or not long' tests/hostile

soak: $(READY)   ## kill runs of every kind a hundred times each: hours
	$(BIN)/python -m benchmarks.soak --kills 100 --save

bench: $(READY)  ## run the short benchmarks and update docs/benchmarks.md
	@rm -rf build/bench
	$(BIN)/python -m benchmarks.startup --save
	$(BIN)/python -m benchmarks.check_scaling --save
	$(BIN)/python -m benchmarks.compile_scaling --rounds 3 --save
	$(BIN)/python -m benchmarks.hard_scaling --save
	$(BIN)/python -m benchmarks.supernet_step --rounds 5 --save
	$(BIN)/python -m benchmarks.fusion_sites --batch 16 64 --rounds 5 --save
	$(BIN)/python -m benchmarks.curvature --rounds 3 --save
	$(BIN)/python -m benchmarks.switch_update --save
	$(BIN)/python -m benchmarks.search_overhead --save
	$(BIN)/python -m benchmarks.disconnected --save
	$(BIN)/python -m benchmarks.size_by_lambda --save
	$(BIN)/python -m benchmarks.compression digits --runs build/bench/compression --save
	$(BIN)/python -m benchmarks.page

clean:           ## remove everything the other targets created
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
