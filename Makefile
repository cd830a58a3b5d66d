# Everything starts from a bare machine: Python 3.11 or newer, make, and a package index.
# The first call creates .venv with the versions of constraints.txt; later calls find it ready.
# From Python 3.12 on there are newer versions: make CONSTRAINTS=constraints-newest.txt

PYTHON ?= python3
CONSTRAINTS ?= constraints.txt

VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c $(CONSTRAINTS)
EXTRAS := all,scipy,conformance,export,optax,plot
SOURCES := adinterface backends conformance docs/demo

# The arrays of the demo and of the tests are small: threads would only wait for each other.
export OMP_NUM_THREADS ?= 1
# Two workers and a hundred programs import what the tests import: they share the bytecode of the first.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test lint docs check coverage benchmark versions integrations engines clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.demo-ready ## train on real digits with three engines, compare the gradients of four
	@$(BIN)/python docs/demo/digits.py

# Each of lint and docs takes one core.
test: $(VENV)/.test-ready ## everything: lint, docs, tests
	@$(MAKE) --no-print-directory docs & docs=$$!; $(MAKE) --no-print-directory lint; lint=$$?; wait $$docs && exit $$lint
	@$(MAKE) --no-print-directory check

lint: $(VENV)/.test-ready ## ruff, mypy and the layers of the package (import-linter)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy $(SOURCES)
	@$(BIN)/lint-imports --no-logo --cache-dir .cache/import_linter

docs: $(VENV)/.test-ready ## build the documentation into docs/_build/html; warnings are errors
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

# Neighbours in a file share what an engine has compiled: a worker takes half of the tests in their order, then helps the other.
check: $(VENV)/.test-ready ## only the tests; what JAX compiles is kept in .cache for the next run
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal

# What runs in a subprocess, and each engine's own threads, is not measured.
coverage: $(VENV)/.test-ready ## the tests once more, with the lines they miss
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal --cov --cov-report=term

benchmark: $(VENV)/.test-ready ## time and peak memory beside hand-written engine code, a few minutes
	@$(BIN)/python -m adinterface_studies benchmark --memory

versions: ## the core tests and the conformance table at the lowest declared and the newest versions, half an hour or more
	@$(PYTHON) tests/versions.py $(VERSIONS)

# These packages need others (Numba, ...) that would change what `make test` sees: an environment on top of $(VENV) holds them.
# pymanopt switches JAX to 64 bits when it is imported, so its tests run last and alone.
integrations: $(VENV)-integrations/.ready ## the packages that adinterface.integrations leads to: PyTensor, PyMC, pymanopt, Tesseract, OpenMDAO
	@$(VENV)-integrations/bin/python -m pytest -q tests/integrations --ignore tests/integrations/test_pymanopt.py
	@$(VENV)-integrations/bin/python -m pytest -q -W ignore::FutureWarning:arviz tests/integrations/test_pymanopt.py 'tests/project/test_docs.py::test_page[integrations]'

clean: ## remove the environment and whatever was built
	rm -rf $(VENV) $(VENV)-integrations $(VENV)-engines .cache build dist docs/_build demo_output .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.torch-ready: $(CONSTRAINTS)
	@echo "Setting up $(VENV) with the versions of $(CONSTRAINTS); the first time this takes a few minutes."
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "adinterface needs Python 3.11 or newer: make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) --upgrade pip
# torch first and alone: only so does the pin decide which build is taken, before another package asks for torch.
	@$(INSTALL) torch
	@touch $@

$(VENV)/.demo-ready: $(VENV)/.torch-ready pyproject.toml
	@$(INSTALL) -e '.[all]' --group demo
	@touch $@

$(VENV)/.test-ready: $(VENV)/.demo-ready
	@$(INSTALL) -e '.[$(EXTRAS)]' --group test --group docs
	@touch $@

# TensorFlow would more than double the size of $(VENV), and its tests switch its NumPy operators on for their process.
engines: $(VENV)-engines/.ready ## engines of other packages: TensorFlow, which compiles, and MLX, which does not
	@TF_CPP_MIN_LOG_LEVEL=3 $(VENV)-engines/bin/python -m pytest -q tests/engines/test_tensorflow.py
	@$(VENV)-engines/bin/python -m pytest -q tests/engines/test_mlx.py

# What $(VENV) has is found through a path file: torch and JAX are not installed twice.
$(VENV)-integrations/.ready: $(VENV)/.test-ready pyproject.toml constraints-integrations.txt
	@$(BIN)/python -m venv $(VENV)-integrations
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
		> $$($(VENV)-integrations/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/below.pth
	@$(VENV)-integrations/bin/python -m pip install -qq --disable-pip-version-check -c constraints-integrations.txt -e '.[integrations]'
	@touch $@

$(VENV)-engines/.ready: $(VENV)/.test-ready constraints-engines.txt
	@$(BIN)/python -m venv $(VENV)-engines
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
		> $$($(VENV)-engines/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/below.pth
	@$(VENV)-engines/bin/python -m pip install -qq --disable-pip-version-check -c constraints-engines.txt \
		hatchling ./tests/engines/tensorflow_engine ./tests/engines/mlx_engine
	@touch $@
