#!/usr/bin/env bash
# Tests the Python package: builds a wheel that is quick to compile, installs it, and runs its tests, the examples of its
# documentation and its types. Some tests compare with the program, which must have been built (cargo build); ADFQ names another.
#
#     scripts/test_python.sh                        # all
#     scripts/test_python.sh -k callbacks           # what else pytest takes is passed on
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wheels=target/wheels-dev
python=$PWD/target/python-package/bin/python
ADFQ=$(realpath "${ADFQ:-${CARGO_TARGET_DIR:-target}/debug/adfq}")
export ADFQ
rm -rf "$wheels"
scripts/wheel.sh --profile dev --out "$wheels"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheels"/adfq-*.whl
cd crates/adfq-py
"$python" -m pytest -q tests "$@"
"$python" -m pytest -q --doctest-modules --pyargs adfq
"$python" -m mypy
