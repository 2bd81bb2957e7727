#!/usr/bin/env bash
# Installs torchgrade into an environment of its own. Runs once, when the autograder is built.
# Needs a container with at least 2 CPUs and 3 GB: torch does not fit into the smallest.
set -euo pipefail
# The versions in constraints.txt graded the reference under this Python.
python=@PYTHON@
torch=@TORCH@
# The CPU build. What the usual index gives brings gigabytes of CUDA along.
torch_index=@INDEX@
cd "${AUTOGRADER:-/autograder}/source"

if command -v "python$python" > /dev/null; then
    "python$python" -m venv .venv \
        || {
            apt-get update
            apt-get install -y "python$python-venv"
            "python$python" -m venv .venv
        }
else
    echo "This image has no Python $python; uv fetches one."
    python3 -m venv .uv \
        || { apt-get update; apt-get install -y python3-venv; python3 -m venv .uv; }
    .uv/bin/python -m pip install --no-cache-dir uv
    # Here and not under /root: student processes have to read it.
    UV_PYTHON_INSTALL_DIR="$PWD/.python" .uv/bin/uv venv --seed --python "$python" .venv
fi
install() { .venv/bin/python -m pip install --no-cache-dir "$@"; }
install --no-deps --index-url "$torch_index" "torch==$torch"
install --constraint constraints.txt @PACKAGES@
