#!/usr/bin/env bash
# Builds the wheel of the Python package into target/wheels.
#
#     scripts/wheel.sh                        # optimised, as it is published
#     scripts/wheel.sh --profile dev          # what else maturin takes is passed on; this one builds quickly
#     scripts/wheel.sh --features cuda        # with learning on NVIDIA GPUs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/python_package.sh
python=target/python-package/bin
arguments=("$@")
[[ " $* " == *" --profile "* ]] || arguments+=(--release)
[[ " $* " == *" --out "* ]] || arguments+=(--out target/wheels)
"$python/maturin" build --manifest-path crates/adfq-py/Cargo.toml --interpreter "$python/python" --quiet \
    "${arguments[@]}"
