#!/usr/bin/env bash
# Tests the page of `adfq serve` in a real browser: the system's Chromium, which scripts/browser.sh installs, driven by
# Playwright's client in target/browser. The program must have been built (cargo build); ADFQ names another.
#
#     scripts/test_browser.sh                       # all
#     scripts/test_browser.sh -k explorer           # tests whose name has this word
#     scripts/test_browser.sh --shots shots         # keeps a picture of every page
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/browser.sh
target="${CARGO_TARGET_DIR:-target}"
tests=crates/adfq-serve/tests/browser
if ! cmp -s "$tests/requirements.txt" "$target/browser/installed.txt"; then
    python3 -m venv --clear "$target/browser"
    "$target/browser/bin/python" -m pip install --quiet --disable-pip-version-check -r "$tests/requirements.txt"
    cp "$tests/requirements.txt" "$target/browser/installed.txt"
fi
"$target/browser/bin/python" -B "$tests/test_page.py" --adfq "${ADFQ:-$target/debug/adfq}" "$@"
