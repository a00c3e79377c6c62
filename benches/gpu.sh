#!/usr/bin/env bash
# Rows a second and GPU utilisation against a bare loop (and vLLM if installed): one GPU, no download, under 8 minutes.
# Usage: bash benches/gpu.sh [size: tiny|small|medium] [rows]      PYTHON chooses the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python}
size=${1:-medium} rows=${2:-64}
export PYTHONPATH=. PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
began=$SECONDS

if command -v nvidia-smi >/dev/null; then
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
else
  echo "no GPU is visible: the figures below are of the CPU"
fi
"$python" -c 'import torch, transformers, accelerate as a; print("torch", torch.__version__, "transformers", transformers.__version__, "accelerate", a.__version__)'

timeout 90 "$python" benches/gpu.py make "$folder" --size "$size"
timeout 240 "$python" benches/gpu.py compare "$folder" --rows "$rows"
if "$python" -c 'import vllm' 2>/dev/null; then
  timeout 140 "$python" benches/gpu.py vllm "$folder" --rows "$rows" || echo "vllm: no figure within its time"
else
  echo "vllm is not installed: left out"
fi
echo "done after $((SECONDS - began)) s"
