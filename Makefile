# Both main targets do all their own set-up: they need Python 3.11+, pip and the package registries, nothing else.
#   make demo   evaluates the built-in systems on the samples and prints the tables
#   make test   lints, type-checks and tests everything (what CI runs)
#   make qwen   optional: tests the models whose processors need torchvision, in an environment of its own (several GB)

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo test lint types unit chromium qwen clean
.DEFAULT_GOAL := help

help:
	@sed -n '2,5p' Makefile | sed 's/^# *//'

demo: .venv/.demo
	@echo "== demo: built-in systems on the samples"
	@HF_HUB_OFFLINE=1 $(BIN)/diffspot-hf demo --out runs/demo

test: lint types unit
	@echo "== test: everything passed"

lint: .venv/.test
	@echo "== lint: ruff check, ruff format"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: .venv/.test
	@echo "== types: mypy --strict on the vocabulary and the scoring core"
	@$(BIN)/mypy

unit: .venv/.test chromium
	@echo "== unit: pytest and doctests, warnings are errors, no network"
	@HF_HUB_OFFLINE=1 HF_EVALUATE_OFFLINE=1 $(BIN)/python -m pytest -q

chromium: .venv/.test
	@echo "== chromium: looking for a browser and fonts"
	@$(BIN)/python -m diffspot_hf.build.install

.venv/bin/python:
	@echo "== set-up: virtual environment in .venv"
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv

.venv/.demo: pyproject.toml constraints.txt | .venv/bin/python
	@echo "== set-up: package with the extras vlm, pixel, ocr (a few minutes the first time)"
	@$(PIP) -e '.[vlm,pixel,ocr]'
	@touch $@

.venv/.test: pyproject.toml constraints.txt | .venv/bin/python
	@echo "== set-up: package with all extras and the tools for tests (a few minutes the first time)"
	@$(PIP) -e '.[all,dev]'
	@touch $@

qwen: .venv-torchvision/.ready
	@echo "== qwen: order of images, batches and sizes with a tiny Qwen3-VL and Qwen2.5-VL of random weights"
	@HF_HUB_OFFLINE=1 HF_EVALUATE_OFFLINE=1 .venv-torchvision/bin/python -m pytest -v -k qwen tests/models

.venv-torchvision/.ready: pyproject.toml
	@echo "== set-up: torch and the torchvision that belongs to it, in .venv-torchvision"
	@$(PYTHON) -m venv .venv-torchvision
	@.venv-torchvision/bin/python -m pip install --quiet --disable-pip-version-check -e '.[vlm,dev]' torch torchvision
	@touch $@

clean:
	rm -rf .venv .venv-torchvision build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
