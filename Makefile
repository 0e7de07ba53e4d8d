# Two commands on a fresh clone: `make demo` and `make test`. Each creates what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow test-all lint format build bench studies studies-quick docs clean help

help:
	@echo "make demo       install into $(VENV) and find the tiers of a real data set"
	@echo "make test       install what the tests need and run them"
	@echo "make test-slow  run the tests that take longer"
	@echo "make lint       ruff, format check and types"
	@echo "make docs       build the documentation in docs/_build/html"
	@echo "make bench      print the benchmark table"
	@echo "make studies    run the paper's studies again and write docs/reproduction.md"
	@echo "make build      make wheel and source distribution in dist/"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.run-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.run-installed

demo: $(VENV)/.run-installed
	@$(BIN)/tierwise demo

test: $(VENV)/.dev-installed
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

test-slow: $(VENV)/.dev-installed
	$(BIN)/python -m pytest -m slow --timeout 1800

test-all: test test-slow

lint: $(VENV)/.dev-installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/.dev-installed
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

build: $(VENV)/.dev-installed
	$(BIN)/python -m build --outdir dist

$(VENV)/.docs-installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@ $(VENV)/.run-installed

docs: $(VENV)/.docs-installed
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs docs/_build/html

# The peers that are raced against are not part of dev: some would change versions of what is.
bench: $(VENV)/.dev-installed
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	@$(BIN)/python -m benchmarks

studies: $(VENV)/.dev-installed
	@$(BIN)/python -m studies

studies-quick: $(VENV)/.dev-installed
	@$(BIN)/python -m studies --quick > /dev/null

clean:
	rm -rf $(VENV) dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
