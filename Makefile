# make replay        replay the sample incident on the built-in simulator
# make test          everything that needs no cluster
# make test-cluster  the contract suite and the handler on a real control plane
# make check         formatter, linters, types, import contracts
# make bench         what it costs, measured; SCENARIO=D1 for one of the drains beside kubectl's
# make setup         everything that the others need, into .venv
# make clean         remove what was made
# make lock          pin the requirements anew

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-deps --require-hashes
RUN    := PATH="$(CURDIR)/$(BIN):$$PATH"

.PHONY: replay test test-cluster check bench lock clean setup help
.DELETE_ON_ERROR:

help:
	@sed -n 's/^# make/make/p' Makefile

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "evac needs Python 3.11 or newer, and $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "python3 has no venv module here. On Debian and Ubuntu: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 2; }

# What replay needs and no more; with it comes the command itself, .venv/bin/evac.
$(VENV)/.replay: requirements/replay.txt requirements/build.txt pyproject.toml | $(BIN)/python
	@echo "setting up replay (once) ..."
	@$(PIP) -r requirements/replay.txt -r requirements/build.txt
	@$(BIN)/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@

# Everything; a Node runtime only where the PATH has none that aws-cdk-lib supports.
$(VENV)/.setup: requirements/test.txt requirements/node.txt $(VENV)/.replay
	@echo "setting up tests and linters (once, a minute or two) ..."
	@$(PIP) -r requirements/test.txt
	@node -e 'process.exit(+process.versions.node.split(".")[0] < 22)' 2>/dev/null || $(PIP) -r requirements/node.txt
	@touch $@

setup: $(VENV)/.setup

replay: $(VENV)/.replay
	@$(BIN)/python -m evac replay examples/s1/events --cluster examples/s1/cluster.yaml $(ARGS) || [ $$? -eq 1 ]

test: $(VENV)/.setup
	@$(RUN) python -m pytest $(ARGS)

# In the order of the files: all tests share one control plane, and what one leaves would be told of the wrong one.
test-cluster: $(VENV)/.setup
	@$(RUN) python -m controlplane build $(if $(KUBERNETES),--version $(KUBERNETES))
	@$(RUN) $(if $(KUBERNETES),EVAC_CONTROL_PLANE_VERSION=$(KUBERNETES)) python -m pytest -m cluster -p no:randomly tests/cluster $(ARGS)

check: $(VENV)/.setup
	@echo "format and lint ..."; $(RUN) ruff format --check . && $(RUN) ruff check .
	@echo "types (a minute, the first time) ..."; $(RUN) mypy
	@echo "import contracts ..."; $(RUN) lint-imports

bench: $(VENV)/.setup
	@$(RUN) python -m bench $(SCENARIO) $(PEERS:%=--peer %) $(ARGS)

lock: $(BIN)/python
	@$(BIN)/python -m pip --quiet install uv
	@cd requirements && for set in test lambda replay deploy node build; do \
	  $(CURDIR)/$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-header --override overrides.txt $$([ $$set = test ] || echo -c test.txt) $$set.in -o $$set.txt || exit 1; done

clean:
	rm -rf $(VENV) .build cdk.out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
