# SPDX-License-Identifier: BSD-3-Clause
# What a developer types. Everything is made in .venv/ and build/; second runs only do what has changed.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash -o pipefail

VENV := .venv
PYTHON ?= python3
STAMPS := build/stamps
# What the Python package is made of beside Python, which an editable installation reads as it is.
NATIVE := $(shell find native/core native/lab native/python native/cmake native/CMakeLists.txt -type f)

export CTEST_PARALLEL_LEVEL ?= $(shell nproc)
# The core is the same beside every MPI library. Looked for when a recipe runs: the first of them installs it.
WITH_CCACHE := CMAKE_CXX_COMPILER_LAUNCHER="$${CMAKE_CXX_COMPILER_LAUNCHER-$$(command -v ccache)}"
# The CMake that isochrone itself builds with: another one has flags in another order, for which nothing is cached.
CMAKE := $(WITH_CCACHE) $(VENV)/bin/cmake
CTEST := $(VENV)/bin/ctest
# With the flags and the compiler's name of the presets, so that the core is compiled once for all of them.
EDITABLE := CXX="$${CXX-c++}" $(WITH_CCACHE) $(VENV)/bin/python -m pip install --quiet --no-build-isolation \
    --config-settings='cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG' --editable
# Programs that start often compile themselves each time otherwise.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Say what there is to make.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

.PHONY: setup
setup: $(STAMPS)/editable ## Install what is missing, and isochrone into .venv.

$(STAMPS)/packages: scripts/install-packages
	@mkdir -p $(@D)
	scripts/install-packages
	@touch $@

$(STAMPS)/venv: $(STAMPS)/packages
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Without isolation, so that a change of one native file compiles that file.
$(STAMPS)/editable: pyproject.toml CMakeLists.txt src/isochrone/__init__.py $(NATIVE) | $(STAMPS)/venv
	$(VENV)/bin/python scripts/build-requirements | $(VENV)/bin/python -m pip install --quiet -r /dev/stdin
	$(EDITABLE) '.[serve,models,test]'
	@touch $@

# What some targets need beside: packages of the system, and a list of pyproject.toml.
PACKAGES_dev := clang-format clang-tidy
PACKAGES_fuzz := clang libclang-rt-dev
$(STAMPS)/dev $(STAMPS)/fuzz $(STAMPS)/docs: $(STAMPS)/%: pyproject.toml | $(STAMPS)/editable
	$(if $(PACKAGES_$*),scripts/install-packages $(PACKAGES_$*))
	$(EDITABLE) '.[$*]'
	@touch $@

.PHONY: demo
demo: setup ## Survey a simulated cluster, then the MPI of this machine.
	scripts/demo

.PHONY: test
test: setup test-core test-mpi test-python ## All quick tests: core, sanitizers, MPI at 1 to 9 ranks, Python.

.PHONY: test-long
test-long: test fuzz ## All tests, those that take minutes too.
	$(VENV)/bin/python -m pytest -m long

.PHONY: test-core
test-core: setup
	$(CMAKE) --preset release
	$(VENV)/bin/cmake --build --preset release
	$(CTEST) --preset release
	$(CMAKE) --preset asan
	$(VENV)/bin/cmake --build --preset asan
	$(CTEST) --preset asan

.PHONY: test-mpi
test-mpi: setup
	$(CMAKE) --preset openmpi
	$(VENV)/bin/cmake --build --preset openmpi
	$(CTEST) --preset openmpi
	$(CMAKE) --preset mpich
	$(VENV)/bin/cmake --build --preset mpich
	$(CTEST) --preset mpich

# Tests that start labs and daemons, that time ranks of real MPI libraries or themselves: they have the machine to
# themselves, one at a time. All others run side by side, each file in one process.
ALONE := $(addprefix tests/,lab launch probe interpose/test_idle.py interpose/test_live.py record/test_profile.py \
    fabric/test_ibsim.py fabric/test_serve.py fabric/test_serve_http.py fabric/test_serve_lines.py steps/test_local.py \
    steps/test_patterns.py)

.PHONY: test-python
test-python: setup
	OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m pytest -m 'not long' -n $(shell nproc) --dist loadfile \
	    $(addprefix --ignore=,$(ALONE))
	$(VENV)/bin/python -m pytest -m 'not long' $(ALONE)

FUZZ_SECONDS ?= 300

.PHONY: fuzz
fuzz: $(STAMPS)/fuzz ## Fuzz what a fabric is read from and asked, guided by coverage; takes ten minutes.
	$(CMAKE) --preset fuzz
	$(VENV)/bin/cmake --build --preset fuzz
	mkdir -p build/fuzz/corpus/service build/fuzz/corpus/formats
	build/fuzz/native/tests/isochrone_fuzz_fabric_service build/fuzz/corpus/service \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -artifact_prefix=build/fuzz/ -print_final_stats=1
	$(VENV)/bin/python tests/fuzz/fabric_formats.py build/fuzz/corpus/formats \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -artifact_prefix=build/fuzz/ -print_final_stats=1

.PHONY: docs
docs: $(STAMPS)/docs ## Make the documentation as pages, with references from the code, in build/docs.
	$(VENV)/bin/python -m sphinx -W -b html docs build/docs

.PHONY: lint
lint: $(STAMPS)/dev ## Check style and types.
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	find native -name '*.?pp' -not -path '*/third_party/*' -print0 | xargs -0 clang-format --dry-run --Werror
	git ls-files '*.py' '*.pyi' '*.cpp' '*.hpp' '*.cmake' '*CMakeLists.txt' Makefile 'scripts/*' .ci/run \
	    | xargs scripts/check-spdx

.PHONY: tidy
tidy: $(STAMPS)/dev ## Run clang-tidy over the core; takes minutes.
	$(CMAKE) --preset debug
	run-clang-tidy -quiet -p build/debug 'native/core/.*'

.PHONY: clean
clean: ## Remove what was built; .venv and the user's cache folder stay.
	rm -rf build
