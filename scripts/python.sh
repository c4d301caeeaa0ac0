#!/usr/bin/env bash
# The Python that the tests of the bridge use: a virtual environment in target/python with the packages of
# requirements.txt. Made once, and again when that file changes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=target/python
stamp=$folder/requirements.txt
if cmp --silent scripts/requirements.txt "$stamp"; then
    exit 0
fi
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement scripts/requirements.txt
cp scripts/requirements.txt "$stamp"
