# make demo: search a small real protein database. make check: tests of what changed. make test-all: all.
# Each makes .venv and installs what is missing there; each can be repeated at any time.

PYTHON ?= python3
WORKERS ?= auto
SECONDS ?= 60
VENV := .venv
BIN := $(VENV)/bin

# Real data for the tests marked `realdata`, where it lies beside the checkout.
ifneq ($(wildcard ../shared/data),)
export GLSW_DATA ?= $(abspath ../shared/data)
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo check test test-all core clients fuzz bench readme-tables vendors lint format typecheck wheel pages dist site clean

ALL = -m "not slow and not clients"
ifdef CI
TESTS ?= $(ALL)
endif

PYTEST = LP_NUM_THREADS=0 $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

help: ## say what there is
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 15

demo: $(VENV)/installed ## search a small real protein database and show the best hits
	$(BIN)/glsw search demo/query.fasta demo/proteins.fasta --top 5 --format table

# What changed since main: make check SINCE=COMMIT.
check: lint typecheck ## lint, types and the tests of what changed, else those that fail most often
	@tools/ensure-gl.sh $(BIN)/glsw devices
	LP_NUM_THREADS=0 $(BIN)/python tests/changed.py $(SINCE) -- -q -n $(WORKERS) --dist worksteal

# No software-rendering threads but the pytest workers: these fill the cores.
# With CI=1 all of them, as test-all.
test: lint typecheck ## lint, types, and the tests but those that tests/thorough.py lists
	@tools/ensure-gl.sh $(BIN)/glsw devices
	@tools/ensure-test-tools.sh
	$(PYTEST) $(TESTS)

test-all: TESTS = $(ALL)
test-all: test ## all tests, on every OpenGL implementation at hand: what is run before a merge

core: $(VENV)/installed-dev ## the tests of the core, in a copy where all wings are closed
	rm -rf build/core
	$(BIN)/python tests/closing.py build/core
	cd build/core && PYTHONPATH=$(CURDIR)/build/core LP_NUM_THREADS=0 $(CURDIR)/$(BIN)/python -m pytest \
	-q -n $(WORKERS) --dist worksteal

# Needs the network: the programs are installed into an environment of their own.
clients: ## the programs of docs/CLIENTS.md with glsw in place of their aligners
	@tools/ensure-venv.sh $(PYTHON) .venv-clients
	.venv-clients/bin/python -m pip install --quiet --editable '.[clients]'
	.venv-clients/bin/python -m pip download --quiet --no-deps --no-binary biopython \
	--dest build/clients biopython
	@tools/ensure-gl.sh .venv-clients/bin/glsw devices
	LP_NUM_THREADS=0 .venv-clients/bin/python -m pytest -q -m 'clients or not slow' \
	tests/clients tests/sequences/test_other_packages.py

fuzz: $(VENV)/installed-dev ## random work for engines and commands: make fuzz SECONDS=600 DEVICE=0
	PYTHONPATH=tests $(BIN)/python tests/faults/fuzz.py --seconds $(SECONDS) $(if $(DEVICE),--device $(DEVICE))

# Goes on where it was interrupted; RUN='--size full' or other words are for `python -m bench run`.
bench: $(VENV)/installed-bench ## measure this device by every paper's benchmark, write a report
	@tools/ensure-gl.sh $(BIN)/glsw devices
	@$(BIN)/python -m bench run --output bench-results/this-device.ndjson $(RUN); status=$$?; \
	[ -f bench-results/this-device.ndjson ] && [ $$status -ne 130 ] && \
	{ $(BIN)/python -m bench report bench-results/this-device.ndjson bench/results/h100.ndjson \
	--output bench-results || status=2; }; exit $$status

readme-tables: $(VENV)/installed-bench ## write the tables of README.md, bench/README.md, docs/
	$(BIN)/python -m bench readme

# The table of docs/DEVICES.md: every shader before the compilers of devices that are not here.
vendors: $(VENV)/installed-dev ## compile the shaders with other vendors' drivers: make vendors DEVICE=intel-tgl
	@PYTHON=$(BIN)/python tools/vendors/ensure.sh .vendors; status=$$?; [ $$status -le 1 ] || exit $$status; \
	$(BIN)/python -m tools.vendors --measure --write $(DEVICE:%=--device %) && exit $$status

site: $(VENV)/installed-docs ## build the documentation in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open build/site/index.html"

lint: $(VENV)/installed-dev ## ruff: rules and format
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --diff .

typecheck: $(VENV)/installed-dev ## mypy: strict over glsw and bench, names over tests; pyright: a client
	$(BIN)/mypy --no-error-summary
	$(BIN)/mypy --no-error-summary tests/typed/client.py
	$(BIN)/mypy --no-error-summary --config-file tests/mypy.ini tests
	$(BIN)/basedpyright --project tests/typed

format: $(VENV)/installed-dev ## let ruff repair and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: $(VENV)/installed-dev ## build the wheel and the source archive into dist/
	$(BIN)/python -m hatchling build

pages: $(VENV)/installed-packaging ## make manual pages and shell completions of the parsers
	$(BIN)/python packaging/pages.py

# Needs the network: the dependencies are installed into two empty environments.
dist: pages ## build the archives, check them, install each into an empty environment
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/twine check --strict dist/*
	tools/check-dist.sh $(BIN)/python dist/*
	$(BIN)/python packaging/bioconda.py dist/*.tar.gz build/bioconda

clean: ## remove everything that make and the tools made
	rm -rf $(VENV) .venv-clients .vendors dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find glsw tests bench demo -name __pycache__ -type d -exec rm -rf {} +

$(BIN)/python:
	@tools/ensure-venv.sh $(PYTHON) $(VENV)

# The stamps are older than pyproject.toml when its dependencies may have changed.
$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[cpu]'
	@touch $@

$(VENV)/installed-bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-packaging: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[packaging]' hatchling
	@touch $@ $(VENV)/installed

# Most of these files are never imported: Python compiles those that are.
$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[dev]'
	@touch $@ $(VENV)/installed
