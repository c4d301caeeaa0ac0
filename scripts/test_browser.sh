#!/usr/bin/env bash
# Tests of `adfq serve` in a real browser. ADFQ names the program; target/browser holds Playwright's client.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/browser.sh
tests=crates/adfq-serve/tests/browser
python="${CARGO_TARGET_DIR:-target}/browser/bin/python"
if ! cmp -s "$tests/requirements.txt" "$(dirname "$python")/../installed.txt"; then
    python3 -m venv --clear "$(dirname "$python")/.."
    "$python" -m pip install -q --disable-pip-version-check -r "$tests/requirements.txt"
    cp "$tests/requirements.txt" "$(dirname "$python")/../installed.txt"
fi
"$python" -B "$tests/test_page.py" --adfq "${ADFQ:-${CARGO_TARGET_DIR:-target}/debug/adfq}" "$@"
