# Everything here sets itself up: `make grade` and `make test` work in a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# An environment of its own: pip takes a build of torch for CPUs, where it finds one, for the same.
GPU_VENV := .venv-gpu
GPU_READY := $(firstword $(wildcard $(GPU_VENV)/.installed-*))
# The build that is there, whichever it is, unless one is asked for.
GPU_STAMP := $(if $(TORCH_CUDA),,$(GPU_READY))
GPU_STAMP := $(or $(GPU_STAMP),$(GPU_VENV)/.installed-$(TORCH_CUDA))
GPU_CUDA := $(GPU_STAMP:$(GPU_VENV)/.installed-%=%)
# Installs the same in less time, where it is there; pip tries what it cannot. `make UV=` does without.
UV ?= $(shell command -v uv)
# $(1): an environment's Python.
INSTALL = $(if $(UV),"$(UV)" pip install --quiet --python $(1) $(WANTED) || )$(1) -m pip install \
    --quiet --disable-pip-version-check $(WANTED)
WANTED := --constraint .ci/constraints.txt --editable '.[dev]'
ID ?= pytorch101
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)

.DEFAULT_GOAL := help
.PHONY: help setup grade test test-all test-release redteam gpu gpu-env gpu-doctor containers check lint types contracts starter golden bench accuracy priced clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP) ## Make .venv and install torchgrade with its tools

$(STAMP): pyproject.toml .ci/constraints.txt .ci/light_torch.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(BIN)/python .ci/light_torch.py .ci/constraints.txt
	$(call INSTALL,$(BIN)/python)
	@mkdir -p build
	$(BIN)/grader schema assignment > build/assignment.schema.json
	$(BIN)/grader schema course > build/course.schema.json
	@touch $@

grade: $(STAMP) ## Grade six sample submissions; reports in build/grades
	$(BIN)/grader batch pytorch101 tests/submissions/pytorch101/showcase --without gpu --out build/grades

test: $(STAMP) lint types contracts ## Lint, types, import contract, starter drift, core tests
	$(BIN)/python -m pytest -n $(JOBS) --durations=20 -m 'not heavy'

test-all: $(STAMP) ## Heavy tests: grader lint, large classes, browser; then soak and clock, alone
	$(BIN)/python -m pytest -n $(JOBS) --durations=40 -m 'heavy and not alone and not release'
	$(BIN)/python -m pytest --durations=10 -m 'heavy and alone'

test-release: $(STAMP) ## Before a release: heavy tests that make test-all leaves out
	$(BIN)/python -m pytest -n $(JOBS) -m release

gpu-env: $(GPU_STAMP) ## Torch's CUDA build that fits the driver, into .venv-gpu. TORCH_CUDA=12.6: for older cards

gpu: $(GPU_STAMP) ## What needs a real GPU; figures in build/gpu-figures.md
	@$(GPU_VENV)/bin/python tests/gpu/run.py build

$(GPU_STAMP): pyproject.toml .ci/constraints.txt tests/gpu/builds.py
	@$(PYTHON) tests/gpu/builds.py $(GPU_CUDA) >/dev/null
	$(PYTHON) -m venv --clear $(GPU_VENV)
	$(GPU_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(GPU_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
	    --constraint .ci/constraints.txt $$($(PYTHON) tests/gpu/builds.py $(GPU_CUDA))
	$(call INSTALL,$(GPU_VENV)/bin/python)
	@touch $@

gpu-doctor: $(if $(GPU_READY),,$(STAMP)) ## Look at a new machine with a GPU; stops at the first thing that is wrong
	@$(if $(GPU_READY),$(GPU_VENV),$(VENV))/bin/python tests/gpu/doctor.py

bench: $(STAMP) build/peers ## What each command takes, beside other graders; table in build/bench.md
	$(BIN)/python tests/bench/table.py | tee build/bench.md

accuracy: $(STAMP) ## False accepts and rejects among variants of submissions; tables in docs/accuracy.md
	@$(BIN)/python tests/bench/accuracy.py
	@$(BIN)/python tests/bench/priced.py
	@$(BIN)/python tests/bench/priced.py --set second
	@$(BIN)/python tests/bench/priced.py --set third

priced: $(STAMP) ## What wrong answers earn beside a teaching assistant's price; tables in docs/prices.md
	@$(BIN)/python tests/bench/priced.py --seconds 3000
	@$(BIN)/python tests/bench/priced.py --seconds 3000 --set second
	@$(BIN)/python tests/bench/priced.py --seconds 3000 --set third

build/peers: $(STAMP)
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check otter-grader nbgrader
	$(BIN)/python -c "import site; print(site.getsitepackages()[0])" > \
	    "$$($@/bin/python -c 'import site; print(site.getsitepackages()[0])')/torch.pth"

containers: $(STAMP) ## What runs in real containers alone; needs root, docker.io and debootstrap
	$(BIN)/python -m pytest tests/containers

redteam: $(STAMP) ## What the strongest attacks keep, for each assignment
	PYTHONPATH=tests $(BIN)/python tests/exploits/redteam.py

check: lint types contracts ## Static checks alone

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

starter: $(STAMP) ## Write starter/ID again from reference/ID (ID=pytorch101)
	$(BIN)/grader starter $(ID)

golden: $(STAMP) ## Write the golden outputs again; read the diff before you commit it
	$(BIN)/python -m pytest tests/unit/report tests/unit/selfcheck tests/exploits/test_table.py \
	    tests/vgpu/test_programs.py tests/vgpu/test_docs.py tests/test_oracle.py -k "not values_are_those" --golden

clean: ## Remove what was made, .venv included
	rm -rf $(VENV) $(GPU_VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
