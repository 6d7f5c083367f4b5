# Every target sets up .venv by itself; later calls find it and start at once.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
# Shows a workflow in few lines; without it, Snakemake's own output is longer.
SNAKEMAKE := $(RUN) PYTHONPATH="$(CURDIR)/workflow/terminal:$$PYTHONPATH" snakemake --logger dekm
ARGS ?=
PORT ?= 5000
CONFIG ?=
RESULTS ?= results
# Without files of bytecode each of many processes would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# One process more than cores: some tests wait for a server, a browser or Slurm.
WORKERS = --numprocesses=$$(($$(getconf _NPROCESSORS_ONLN) + 1)) --maxprocesses=8 --dist=loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help demo paper cluster status report ui test coverage mutants schema lint check docs clean

help: ## Show the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /|/' | awk -F'|' '{printf "  make %-8s %s\n", $$1, $$2}'

# An upgrade of the system may have removed the Python of .venv. A PyTorch that is in it is kept, unless it is too old.
ifeq ($(shell test -x $(BIN)/python || echo missing),missing)
.PHONY: .venv/installed
endif
.venv/installed: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || \
		{ echo "Python >= 3.11 is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || { echo "Installing into .venv, once; this takes minutes and up to 6 GB of disk."; \
		$(PYTHON) -m venv --clear .venv; }
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || $(BIN)/python -I -m ensurepip
	@{ $(PIP) show --quiet torch 2> /dev/null && sed '/^torch==/d' requirements.txt || cat requirements.txt; } > .venv/requirements.txt
	@$(PIP) install --no-compile -r .venv/requirements.txt
	@$(BIN)/python -W ignore -m compileall -q -j 0 .venv/lib > /dev/null || true # on all cores; pip takes one
	@$(PIP) install --no-build-isolation -c .venv/requirements.txt -e .
	@touch $@

demo: .venv/installed ## Run the demo: two embedded datasets, minutes on two cores
	@test '$(origin CONFIG)' != 'command line' || \
		{ echo "make demo runs config/demo.yaml; for another configuration: make paper CONFIG=..."; exit 1; }
	@test -f results/demo/tables/table3.md || \
		echo "The demo takes 4 to 8 minutes on two idle CPU cores with AVX-512, and 0.2 GB of disk below results/."
	@$(SNAKEMAKE) $(ARGS) --configfile config/demo.yaml
	@test ! -f results/demo/tables/table3.md || { echo; cat results/demo/tables/table3.md; \
		echo "Tables: results/demo/tables/table3.html    Figures: results/demo/figures/"; \
		echo "Runs:   results/demo/runs/                 Browse them: make ui    All on one page: make report"; }

paper: .venv/installed ## Run the paper's experiments; CONFIG=my.yaml, ARGS="-n"
	@$(RUN) python -m dekm config '$(or $(CONFIG),config/config.yaml)' > /dev/null
	@$(SNAKEMAKE) $(ARGS) $(if $(CONFIG),--configfile '$(CONFIG)')

cluster: .venv/installed ## Install the plugin for Slurm (docs/cluster.md)
	@$(PIP) install --quiet --no-build-isolation -c requirements.txt -e '.[slurm]'

report: CONFIG := $(or $(CONFIG),config/demo.yaml)
report: .venv/installed ## Write results/<name>/report.html; CONFIG=config/config.yaml
	@$(RUN) && export PATH && folder=$$(python -m dekm config '$(CONFIG)') && \
		{ test -f "$$folder/tables/table3.html" || { echo "Run it first: $$folder has no tables."; exit 1; }; } && \
		snakemake --configfile '$(CONFIG)' --report "$$folder/report.html" && \
		echo "The report is $$folder/report.html"

status: .venv/installed ## Show what is complete, running or waiting; RESULTS=folder
	@$(RUN) python -m dekm status $(RESULTS) $(ARGS)

ui: .venv/installed ## Browse all runs in the MLflow UI on this machine; PORT=5001
	@$(RUN) python -m dekm ui --store results --port $(PORT)

test: .venv/installed ## Run the tests on all cores
	@$(RUN) python -m pytest $(WORKERS) $(ARGS)

coverage: .venv/installed ## Run the tests and list the lines that none of them reaches
	@$(RUN) python -m pytest $(WORKERS) --cov --cov-report=term $(ARGS)

mutants: .venv/installed ## Plant changes in the code that tests must find; minutes
	@$(RUN) python -m tests.mutants $(ARGS)

schema: .venv/installed ## Write config/parameters.schema.json from the classes
	@$(RUN) python config/generate.py

lint: .venv/installed ## Run all linters
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .
	@$(RUN) mypy
	@$(RUN) lint-imports
	@$(RUN) snakefmt --check Snakefile workflow
	@$(RUN) snakemake --lint --configfile config/demo.yaml

check: lint ## Run all linters, then the tests
	@$(MAKE) --no-print-directory test

.venv/docs: docs/requirements.txt .venv/installed
	@$(PIP) install --quiet -c requirements.txt -r docs/requirements.txt
	@touch $@

docs: .venv/docs ## Build the documentation in docs/_build/html, minutes
	@$(RUN) MPLBACKEND=agg sphinx-build -W --keep-going --quiet -c docs . docs/_build/html
	@echo "The documentation is docs/_build/html/index.html"

clean: ## Remove .venv, caches and the site; results and raw data stay
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache *.egg-info docs/_build docs/gallery docs/reference/api
