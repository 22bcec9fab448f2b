# Every habit of the project is a target here; `make` lists them. Environments are made by
# tools/venv.py from the pinned tools/requirements/*.txt; stamp files in them say what is done.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
JOBS ?= 2
# cmake and ninja of the environment come first; where it has none, the system's serve.
TOOLS := PATH=$(CURDIR)/$(BIN):$$PATH
TRITON_MATRIX := 3.7.1 3.8.0 3.9.0
PYTHON_MATRIX := 3.12 3.13
WHEELS ?= 3.11 3.12 3.13

PACKAGE_FILES := $(shell find src CMakeLists.txt pyproject.toml README.md LICENSE -type f \
	-not -name '*.so' -not -name '*.pyc' 2>/dev/null)
WEB_FILES := tools/page.py $(shell find web -path web/node_modules -prune -o -type f -print 2>/dev/null)
PYTHON_DIRS := src tests tools benchmarks examples
PYTEST := $(RUN) -m pytest -n $(JOBS) --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help demo build wheel test test-matrix test-long test-wide test-native test-plain test-address test-thread test-page test-web test-gpu test-python \
	lint types format format-check contracts tree web docs schema bench check clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- environments and builds ----

$(VENV)/.stamp-demo: tools/venv.py tools/requirements/demo.txt
	@$(PYTHON) -m tools.venv demo $(VENV)
	@touch $@

$(VENV)/.stamp-test: $(VENV)/.stamp-demo tools/requirements/test.txt tools/requirements/torch.txt
	@$(RUN) -m tools.venv test $(VENV)
	@touch $@

# Without Node, or without a network to get the page's packages from, this is a warning.
build/.stamp-web: $(WEB_FILES)
	@mkdir -p build
	@$(PYTHON) -m tools.page --optional
	@touch $@

$(VENV)/.stamp-package: $(VENV)/.stamp-demo $(PACKAGE_FILES) build/.stamp-web
	@$(RUN) -m tools.progress "building and installing proton (a minute at first, seconds later)" \
		$(RUN) -m pip install --disable-pip-version-check --verbose \
		--no-build-isolation --no-deps --force-reinstall .
	@touch $@

demo: $(VENV)/.stamp-package  ## build, install, profile examples/matmul.py and show the tree
	@echo "== proton --hook triton --name matmul examples/matmul.py (some seconds)"
	@mkdir -p build/demo
	@cd build/demo && ../../$(RUN) -m proton --quiet --hook triton --name matmul ../../examples/matmul.py
	@echo "== proton-viewer -m time/ms,time/%,gflop/s build/demo/matmul.hatchet"
	@$(RUN) -m proton.viewer -m time/ms,time/%,gflop/s build/demo/matmul.hatchet
	@echo "== proton report build/demo/matmul.hatchet"
	@$(RUN) -m proton report build/demo/matmul.hatchet || test $$? = 1

build: $(VENV)/.stamp-demo  ## build the extension in place (src/proton) for PYTHONPATH=src
	@mkdir -p build
	@$(TOOLS) cmake -S . -B build/dev -G Ninja -DPROTON_DEV=ON \
		-DPython_EXECUTABLE=$(CURDIR)/$(RUN) -Dnanobind_DIR=$$($(RUN) -m nanobind --cmake_dir) >build/dev-configure.log 2>&1 \
		|| { cat build/dev-configure.log; exit 1; }
	@$(TOOLS) cmake --build build/dev -j $(JOBS)

wheel: $(VENV)/.stamp-demo build/.stamp-web  ## a wheel for each Python, and one that reads anywhere, into dist/
	@$(RUN) -m tools.wheel --jobs $(JOBS) --python $(WHEELS)

schema:  ## TypeScript types and tables of the docs, from the dataclasses of the file
	@PYTHONPATH=src $(RUN) -m tools.schema

# ---- tests ----

test: check  ## what needs no GPU, set-up included; C++ under ASan (under 10 minutes)

# Side by side is what waits for the network, for a disk, for time to pass or has a single thread.
# The package would build the page too, so it comes later.
check:  ## format, lint, types, import contracts, tree, page, C++ under ASan, pytest
	@$(MAKE) --no-print-directory -j $(JOBS) $(VENV)/.stamp-test test-page test-address \
		types format-check lint contracts tree
	@$(MAKE) --no-print-directory test-python

test-python: $(VENV)/.stamp-test $(VENV)/.stamp-package
	@echo "== pytest: tests that need no GPU"
	@$(PYTEST) -m "not gpu and not long and not wide" tests

test-wide: $(VENV)/.stamp-test $(VENV)/.stamp-package  ## many combinations, of which `make test` takes a few
	@$(PYTEST) -m "wide and not gpu" tests

test-long: $(VENV)/.stamp-test $(VENV)/.stamp-package  ## soak and fuzz tests; 16 threads of a million launches under TSan
	@$(TOOLS) PROTON_JOBS=$(JOBS) PROTON_UNITY=ON PROTON_LONG=1 sh tests/native/run.sh thread -R test_cupti_threads
	@$(PYTEST) -m long --timeout 3600 tests

test-native: test-address test-plain test-thread  ## C++ tests: plain, under ASan and under TSan

test-plain test-address test-thread: test-%: $(VENV)/.stamp-demo
	@echo "== native tests: $*"
	@$(TOOLS) PROTON_JOBS=$(JOBS) PROTON_UNITY=ON sh tests/native/run.sh $*

test-page:  # types and unit tests of the page, and its build; skipped aloud without Node
	@$(PYTHON) -m tools.page --check

test-web: test-page $(VENV)/.stamp-test $(VENV)/.stamp-package  ## the page: types, unit tests, in a browser
	@$(PYTEST) -m web tests/web

test-gpu: $(VENV)/.stamp-package  ## tests that need a GPU
	@$(RUN) -c "import pytest, pytest_timeout, xdist" 2>/dev/null || \
		$(RUN) -m pip install -q --disable-pip-version-check pytest pytest-timeout pytest-xdist
	@$(RUN) -m pytest -m gpu tests/gpu

test-matrix: $(VENV)/.stamp-demo  ## the tests marked `matrix` with Triton 3.7 to 3.9 and Python 3.12, 3.13
	@$(RUN) -m tools.matrix --jobs $(JOBS) --triton $(TRITON_MATRIX) --python $(PYTHON_MATRIX)

# ---- checks ----

format-check: $(VENV)/.stamp-test
	@echo "== format"
	@$(BIN)/ruff format --check $(PYTHON_DIRS)
	@find src/native tests/native -name '*.h' -o -name '*.cpp' | xargs -r $(BIN)/clang-format --dry-run -Werror

lint: $(VENV)/.stamp-test  ## ruff
	@echo "== lint"
	@$(BIN)/ruff check $(PYTHON_DIRS)

types: $(VENV)/.stamp-test  ## mypy --strict
	@echo "== types"
	@$(BIN)/mypy

contracts: $(VENV)/.stamp-test  # which room may import which
	@echo "== import contracts"
	@PYTHONPATH=src $(BIN)/lint-imports --no-cache

tree: $(VENV)/.stamp-test  # sizes, mirrors, include order
	@echo "== tree"
	@$(RUN) -m tools.check_tree

format: $(VENV)/.stamp-test  ## format everything in place
	@$(BIN)/ruff check --fix-only $(PYTHON_DIRS)
	@$(BIN)/ruff format $(PYTHON_DIRS)
	@find src/native tests/native -name '*.h' -o -name '*.cpp' | xargs -r $(BIN)/clang-format -i

# ---- the rest ----

web:  ## build the page that shows profiles (needs Node 20)
	@$(PYTHON) -m tools.page

docs: $(VENV)/.stamp-test $(VENV)/.stamp-package  ## check the documentation: links, names, snippets
	@$(RUN) -m pytest -q tests/integration/test_docs.py tests/unit/test_public_surface.py

bench: $(VENV)/.stamp-test $(VENV)/.stamp-package  ## measure, and write docs/performance.md
	@$(RUN) benchmarks/run_all.py

clean:  ## remove builds and environments
	rm -rf build dist web/node_modules $(VENV) .venv-* src/proton/_native*.so .mypy_cache .pytest_cache .ruff_cache
