#!/usr/bin/env bash
# Brings what the page of `adfq serve` takes from npm into the repository: crates/adfq-serve/page/vendor. Run it after a
# change of package.json or package-lock.json, and commit what it writes. Building and using adfq needs no npm.
set -euo pipefail
page="$(dirname "${BASH_SOURCE[0]}")/../crates/adfq-serve/page"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp "$page/package.json" "$page/package-lock.json" "$work"
(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund)
mkdir -p "$page/vendor/uplot"
for file in dist/uPlot.esm.js dist/uPlot.min.css LICENSE; do
    cp "$work/node_modules/uplot/$file" "$page/vendor/uplot/"
done
