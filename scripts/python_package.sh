#!/usr/bin/env bash
# The Python that the package is built and tested with: a virtual environment in target/python-package, with the packages of
# requirements.txt and requirements-package.txt. Made once, and again when these files change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=target/python-package
stamp=$folder/requirements.txt
if cat scripts/requirements.txt scripts/requirements-package.txt | cmp --silent - "$stamp"; then
    exit 0
fi
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
    --requirement scripts/requirements.txt --requirement scripts/requirements-package.txt
cat scripts/requirements.txt scripts/requirements-package.txt > "$stamp"
