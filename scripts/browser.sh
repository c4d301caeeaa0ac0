#!/usr/bin/env bash
# Installs the browser that the tests of `adfq serve` drive: Chromium from the system's packages. Nothing happens if there is
# one already.
set -euo pipefail
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then
    exit 0
fi
sudo=""
if [ "$(id -u)" != 0 ]; then sudo="sudo"; fi
$sudo apt-get update -qq
$sudo apt-get install -y -qq --no-install-recommends chromium
