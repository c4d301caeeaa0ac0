#!/usr/bin/env bash
# Tests the Python package: builds a wheel that is quick to compile, installs it, and runs its tests, the examples of its
# documentation and its types. Some tests hold it against the program, which must have been built (cargo build).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wheels=target/wheels-dev
python=target/python-package/bin/python
rm -rf "$wheels"
scripts/wheel.sh --profile dev --out "$wheels"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheels"/adfq-*.whl
export ADFQ="${ADFQ:-${CARGO_TARGET_DIR:-target}/debug/adfq}"
cd crates/adfq-py
export ADFQ="$(cd ../.. && realpath "$ADFQ")"
python=../../$python
"$python" -m pytest -q tests "$@"
"$python" -m pytest -q --doctest-modules --import-mode=importlib --pyargs adfq
"$python" -m mypy
