PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
# What is imported is compiled then; to compile all of torch takes longer than most tests.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile
# What test-changed compares with.
BASE ?= main
# The demo runs in a complete environment where there is one.
DEMO := $(firstword $(wildcard $(VENV)/.installed) $(VENV)/.demo)

# Its page only: what it depends on is for its own server, in the extra `explorer`.
EXPLORER := ai-edge-model-explorer==0.1.34

# Finds the lowest versions that pyproject.toml allows, among those that this Python has wheels for.
UV := uv==0.13.9
LOWEST := $(VENV)/lowest/bin/python
# Quick ones, none of which needs torch: the tests pin one version of it, and it is large.
LOWEST_TESTS := $(addprefix test/, names program test_compiler.py dialects/tt dialects/ttir \
	passes/general passes/ttnn/convert_ttir_to_ttnn.mlir explorer/test_documents.py \
	tools/ttmlir_opt tools/ttmlir_translate tools/test_help.py tools/test_lsp_server.py \
	$(patsubst %, runtime/test_%.py, element layers memory signature) \
	sim/execution/test_scheduler.py sim/calls/test_cpp_printing.py)

# What the first process compiles of torch and the like, the next ones read.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Print this help
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e ".[test,check]"
	$(INSTALL) --no-deps $(EXPLORER)
	touch $@

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e ".[demo]"
	touch $@

.PHONY: setup
setup: $(VENV)/.installed ## Make .venv with the project and its tools
	@$(BIN)/python -m compileall -q ttmlir tools ttrt pykernel ttnn_jit schema

.PHONY: test
test: setup ## Run the tests: pytest, which runs the lit suite too; OPTIONS are pytest's
	$(PYTEST) -q -n auto --dist worksteal $(OPTIONS)

.PHONY: test-changed
test-changed: setup ## Run the tests that execute what changed since BASE, for a minute
	$(BIN)/python test/mutation/changed.py --base $(BASE) $(OPTIONS)

.PHONY: test-all
test-all: setup ## Run the tests with the whole of each sweep, and lit with real processes
	$(PYTEST) -q -n auto --dist worksteal -m "not nightly" $(OPTIONS)
	$(BIN)/lit -sv test -D real_process=1

$(VENV)/lowest/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)/lowest
	$(LOWEST) -m pip install --quiet --no-compile $(UV)
	echo "torch; python_version < '3'" > $(VENV)/lowest/without-torch
	$(LOWEST) -m uv pip install --quiet --python $(LOWEST) --resolution lowest-direct \
		--only-binary :all: --no-binary ttmlir-py --override $(VENV)/lowest/without-torch \
		-e ".[test]"
	touch $@

.PHONY: test-lowest
test-lowest: $(VENV)/lowest/.installed ## Run quick tests with the lowest versions of what is depended on
	$(LOWEST) -m pytest -q -n auto --dist worksteal -p no:cacheprovider $(LOWEST_TESTS)

# Their dependencies are listed, too: torch itself is that of the environment.
$(VENV)/models/.installed: test/model_zoo/requirements.txt $(VENV)/.installed
	$(INSTALL) --upgrade --no-deps --target $(VENV)/models -r $<
	touch $@

MODELS := PYTHONPATH=test/support:$(VENV)/models
# Those that emit kernels.
KERNEL_TESTS := $(addprefix test/, e2e/test_kernel_operations.py e2e/test_random_kernels.py \
	frontend/pykernel passes/d2m passes/emitc passes/pipelines passes/ttmetal target ttnn_jit \
	vendor/test_kernel_verdicts.py)

.PHONY: test-models
test-models: setup $(VENV)/models/.installed ## Compile and run public models, which takes long
	$(MODELS) $(PYTEST) -q -n auto --dist worksteal -m nightly test/model_zoo \
		test/frontend/test_jax_tracing.py

.PHONY: onnx-tests
onnx-tests: setup ## Run ONNX's own tests of backends, and print how many are right
	$(BIN)/python test/support/running/onnx_backend.py $(OPTIONS)

.PHONY: test-kernels
test-kernels: setup ## Compile the kernels of tests by COMMAND, tt-metal's compiler, which takes long
	rm -rf $(VENV)/kernels
	-PYTHONPATH=.:test/vendor $(PYTEST) -q -p no:xdist -p collect_kernels \
		--kernels $(VENV)/kernels $(KERNEL_TESTS)
	$(BIN)/python test/vendor/compile_kernels.py $(VENV)/kernels --command '$(COMMAND)'

# What runs a script with the real ttnn, by a mode in front of it: `make test-models-card TTNN=...`.
TTNN ?= false

.PHONY: test-models-card
test-models-card: setup $(VENV)/models/.installed ## Public models as scripts on ttnn, without a card
	$(MODELS) $(BIN)/python test/vendor/card_zoo.py $(VENV)/models-card --command "$(TTNN)"

.PHONY: onnx-models
onnx-models: setup $(VENV)/models/.installed ## Public models of torch as files of ONNX
	$(MODELS) $(BIN)/python -m model_zoo.exported
	$(BIN)/python docs/generator

.PHONY: docs-models
docs-models: setup $(VENV)/models/.installed ## Write the page of public models, those that changed
	$(MODELS) $(BIN)/python -m model_zoo; status=$$?; $(BIN)/python docs/generator; exit $$status

.PHONY: check
check: setup ## Run ruff, pyright and the import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(PYTEST) -q test/test_import_rules.py

.PHONY: fmt
fmt: setup ## Format the sources and apply safe fixes
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: lit
lit: setup ## Run only the lit suite, with lit's own report
	$(BIN)/lit -sv test

.PHONY: explorer-test
explorer-test: setup ## Try the explorer in Chromium (Debian: chromium, chromium-driver)
	@# Apart from the environment: what selenium brings has names that examples have, too.
	$(INSTALL) --upgrade --target $(VENV)/browser selenium pillow
	PYTHONPATH=$(VENV)/browser $(PYTEST) -q test/explorer/browser.py

# Both want other versions of the same packages.
$(VENV)/viewers/.installed:
	$(PYTHON) -m venv $(VENV)/viewers/visualizer
	$(PYTHON) -m venv $(VENV)/viewers/perf
	$(VENV)/viewers/visualizer/bin/pip install --quiet --no-compile ttnn-visualizer==0.108.0
	$(VENV)/viewers/perf/bin/pip install --quiet --no-compile tt-perf-report==1.4.1
	touch $@

.PHONY: viewers-test
viewers-test: setup $(VENV)/viewers/.installed ## Open reports in ttnn-visualizer and tt-perf-report
	VIEWERS=$(VENV)/viewers $(PYTEST) -q test/runtime/viewers.py

.PHONY: demo
demo: $(DEMO) ## Train, compile and run digit classifiers, one of them in JAX
	$(BIN)/python examples/digits/demo.py
	$(BIN)/python examples/models/mlp.py
	$(BIN)/python -m ttmlir examples/ttnn/attention.py

.PHONY: bench
bench: setup ## Measure start-up, compilation and execution
	$(BIN)/python test/bench

.PHONY: docs
docs: setup ## Write the pages that are generated from the code
	$(BIN)/python docs/generator
