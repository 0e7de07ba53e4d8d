# Two commands on a fresh clone: `make demo` and `make test`. Each creates what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# What is imported again and again is compiled to bytecode once, at first use: to compile all that is
# installed would take longer than to install it.
unexport PYTHONDONTWRITEBYTECODE

# In this order, which conftest.py explains, nothing is compiled twice.
IN_PARALLEL := --numprocesses auto --dist loadfile --no-loadscope-reorder

.PHONY: demo compiler-installed run-installed dev-installed lint-installed warm-up test-ready test test-thorough test-slow test-all test-lowest coverage lint format build check-dist bench bench-history \
  bench-compare studies studies-quick docs docs-installed notebooks clean help

help:
	@echo "make demo       install into $(VENV) and find the tiers of a real data set"
	@echo "make warm-up    compile beforehand what first uses would wait for"
	@echo "make test       install what the tests need and run them"
	@echo "make test-thorough  run those that take half a second or more, or need servers and browsers"
	@echo "make test-slow  run the tests that take longer"
	@echo "make test-lowest    run the tests with the oldest versions of everything that pyproject.toml allows"
	@echo "make coverage   run the tests and say which lines none of them reaches"
	@echo "make lint       ruff, format check and types"
	@echo "make docs       build the documentation in docs/_build/html"
	@echo "make notebooks  make a notebook of each tutorial in docs/_notebooks"
	@echo "make bench      print the benchmark table"
	@echo "make bench-compare BASE=main    say which benchmarks changed since a commit"
	@echo "make studies    run the paper's studies again and write docs/reproduction.md"
	@echo "make build      make wheel and source distribution in dist/"
	@echo "make check-dist     build them again and check them as a package index would"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# What `tierwise warm-up` imports comes first: kernels are compiled while the rest is installed.
$(VENV)/.compiler-installed: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile joblib numba rich typer
	@touch $@

$(VENV)/.run-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	@touch $@ $(VENV)/.compiler-installed

$(VENV)/.dev-installed: pyproject.toml | $(VENV)/.compiler-installed
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[dev]"
	@touch $@ $(VENV)/.run-installed

# Tests need none of it.
$(VENV)/.lint-installed: pyproject.toml | $(VENV)/.dev-installed
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[lint]"
	@touch $@ $(VENV)/.dev-installed $(VENV)/.run-installed

compiler-installed: $(VENV)/.compiler-installed

run-installed: $(VENV)/.run-installed

dev-installed: $(VENV)/.dev-installed

lint-installed: $(VENV)/.lint-installed

# All cores compile what the tests, too, would compile, one process by one. The path is given because
# the package itself may not be installed yet.
$(VENV)/.warmed-up: $(wildcard src/tierwise/_kernels/*.py) src/tierwise/_compiling/first_uses.json | $(VENV)/.compiler-installed
	@PYTHONPATH=src $(BIN)/python -m tierwise warm-up
	@touch $@

warm-up: $(VENV)/.warmed-up

demo: $(VENV)/.run-installed
	@$(BIN)/tierwise demo

# All that tests import is translated to bytecode by one process, for all that run them. What cannot be
# imported is left to the tests, which say why.
$(VENV)/.imported: $(VENV)/.dev-installed
	@$(BIN)/python -m pytest --collect-only --quiet > /dev/null 2>&1 || true
	@touch $@

# Installing mostly waits, so kernels are compiled at the same time.
test-ready:
	@$(MAKE) --jobs 2 $(VENV)/.imported warm-up

test: test-ready
	$(BIN)/python -m pytest $(IN_PARALLEL)

test-thorough: test-ready
	$(BIN)/python -m pytest -m "thorough and not slow" $(IN_PARALLEL)

test-slow: $(VENV)/.dev-installed
	$(BIN)/python -m pytest -m slow --timeout 1800 $(IN_PARALLEL)

test-all: test test-thorough test-slow

# The oldest Python that pyproject.toml allows, and an environment of its own.
PYTHON_LOWEST ?= python3.11
VENV_LOWEST ?= .venv-lowest

$(VENV_LOWEST)/.installed: pyproject.toml tools/lowest_versions.py
	$(PYTHON_LOWEST) -m venv $(VENV_LOWEST)
	$(VENV_LOWEST)/bin/python -m pip install --quiet --upgrade pip
	$(VENV_LOWEST)/bin/python tools/lowest_versions.py dev > $(VENV_LOWEST)/constraints.txt
	$(VENV_LOWEST)/bin/python -m pip install --quiet --no-compile --constraint $(VENV_LOWEST)/constraints.txt --editable ".[dev]"
	@touch $@

# Code that another version of Numba compiled is kept apart. Old packages use what newer ones below them have
# deprecated since, which is not ours to repair. TESTS=tests/model runs some of the tests.
test-lowest: $(VENV_LOWEST)/.installed
	NUMBA_CACHE_DIR=$(abspath $(VENV_LOWEST))/numba $(VENV_LOWEST)/bin/python -m pytest \
	  -W ignore::DeprecationWarning -m "not slow" $(IN_PARALLEL) $(TESTS)

coverage: $(VENV)/.dev-installed
	$(BIN)/python -m pytest -m "not slow" $(IN_PARALLEL) --cov --cov-report term-missing

lint: $(VENV)/.lint-installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/plain_words.py

format: $(VENV)/.lint-installed
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

build: $(VENV)/.dev-installed
	$(BIN)/python -m build --outdir dist

$(VENV)/.release-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[release]"
	@touch $@ $(VENV)/.run-installed

check-dist: $(VENV)/.release-installed
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

$(VENV)/.docs-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[docs]"
	@touch $@ $(VENV)/.run-installed

docs-installed: $(VENV)/.docs-installed

docs: $(VENV)/.docs-installed
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs docs/_build/html

notebooks: $(VENV)/.docs-installed
	$(BIN)/python docs/notebooks.py

# The peers that are raced against have an environment of their own: some need older versions of
# what the project uses, Numba among them.
VENV_BENCH ?= .venv-bench

$(VENV_BENCH)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV_BENCH)
	$(VENV_BENCH)/bin/python -m pip install --quiet --upgrade pip
	$(VENV_BENCH)/bin/python -m pip install --quiet --no-compile --editable ".[dev,bench]"
	@touch $@

bench: $(VENV_BENCH)/.installed
	@$(VENV_BENCH)/bin/python -m benchmarks

bench-history: $(VENV)/.dev-installed
	$(BIN)/python -m benchmarks.history

bench-compare: $(VENV)/.dev-installed
	@test -n "$(BASE)" || { echo "Which commit? make bench-compare BASE=main (and ONLY=partition for some)"; exit 2; }
	@$(BIN)/python -m benchmarks.compare $(BASE) --only "$(ONLY)"

studies: $(VENV)/.dev-installed
	@$(BIN)/python -m studies

studies-quick: $(VENV)/.dev-installed
	@$(BIN)/python -m studies --quick > /dev/null

clean:
	rm -rf $(VENV) $(VENV_LOWEST) $(VENV_BENCH) dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
