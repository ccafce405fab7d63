# Everything runs in a virtual environment of the project's own; only Python 3.11+, pip, venv and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := .venv-peers

.PHONY: install demo studio test test-studio test-slow test-cuda test-random test-hostile test-reach lint format bench bench-peers clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e ".[dev]"
	touch $@

# the engine and its commands alone; what tests and the page of the studio need is installed when they are asked for
install:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e .
	@echo "pliant is in $(BIN): $(BIN)/pliant demo, $(BIN)/python"

demo: $(STAMP)
	$(BIN)/pliant demo --out out

# builds the page with node from PyPI and packages from npm, and opens it; SCENE=file.toml begins with a file
PAGE := src/pliant/studio/page/studio.js
PAGE_SOURCES := $(wildcard studio/source/* studio/pictures/* studio/*.json studio/build.py examples/scenes/*)

$(PAGE): $(STAMP) $(PAGE_SOURCES)
	$(BIN)/python studio/build.py

studio: $(PAGE)
	$(BIN)/pliant studio $(SCENE)

# the page, and the headless browser in which it is tested, from npm; without them its tests are skipped and say so
BROWSER := studio/browser/node_modules/.pliant

$(BROWSER): $(STAMP) $(PAGE_SOURCES) studio/browser/package-lock.json
	$(BIN)/python studio/build.py --browser && touch $@ || echo "the page of the studio cannot be built and tested here"

test: $(STAMP) lint $(BROWSER)
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-studio: $(STAMP) $(BROWSER)
	$(BIN)/python -m pytest $(wildcard tests/test_studio_*.py)

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

# what needs an NVIDIA GPU, with the extra `cuda`; elsewhere it is skipped with one message a file
test-cuda: $(STAMP)
	$(BIN)/python -m pip install --quiet -e ".[cuda]"
	$(BIN)/python -m pytest tests/test_cuda_formulas.py tests/test_cuda_host.py tests/test_cuda_kernels.py tests/test_cuda_steps.py tests/test_cuda_solvers.py tests/test_cuda_rows.py tests/test_cuda_driven.py tests/test_cuda_places.py tests/test_many_host.py tests/test_many_cuda.py

# random scenes: PLIANT_SCENES of them (500) from PLIANT_SEED (0) on
test-random: $(STAMP)
	$(BIN)/python -m pytest -m slow -s tests/test_random_scenes.py tests/test_random_mechanisms.py tests/test_random_drops.py

# generated cases that look for failures: PLIANT_CASES of each kind (300) from PLIANT_SEED (0) on, each kind for at most
# PLIANT_SECONDS (240); PLIANT_SURVEY=1 counts all kinds of failures instead of printing the smallest case of the first
test-hostile: $(STAMP)
	$(BIN)/python -m pytest -m hostile -s tests/hostile

# which part of the code the generated cases reach, by room; slower than test-hostile
test-reach: $(STAMP)
	PLIANT_REACH=1 $(BIN)/python -m pytest -m hostile -s $(addprefix tests/hostile/test_,calls.py checkpoints.py commands.py formulas.py mesh_files.py scene_files.py studio_pages.py)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/pliant bench grid
	$(BIN)/pliant bench brick
	$(BIN)/pliant bench cantilever

# other engines, as far as pip can get them, in an environment of their own
bench-peers:
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/bin/python -m pip install --quiet -e .
	for package in mujoco drake pybullet; do \
		$(PEERS)/bin/python -m pip install --quiet $$package || echo "pip cannot get $$package; left out"; \
	done
	$(PEERS)/bin/pliant bench cantilever --peers

clean:
	rm -rf $(VENV) $(PEERS) out studio/node_modules studio/browser/node_modules src/pliant/studio/page
