#!/bin/sh
# Makes a virtual environment with the pinned packages. The Python it is made from is not changed.
#
#   setup.sh [FOLDER]          default: target/peers at the root of the repository
#
# PYTHON   the Python to make it from (default python3; 3.11 or later)
# CLEANRL  where to clone CleanRL from (default its GitHub address; a local clone works too)
#
# PyTorch's package from the index brings its CUDA libraries (about 4 GB) and does not load without them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/../../target/peers}
cleanrl_commit=fe8d8a03c41a7ef5b523e2e354bd01c363e786bb

"${PYTHON:-python3}" -m venv "$folder"
folder=$(cd "$folder" && pwd)
"$folder/bin/pip" install --quiet --requirement "$here/requirements.txt"

# The package bsuite with its own DQN.
"$folder/bin/pip" install --quiet --requirement "$here/requirements-bsuite.txt" ||
    echo "bsuite could not be installed: bsuite_dqn.py will not run." >&2

# CleanRL's dqn.py needs an older Gymnasium, and with it an older NumPy, than the others: they go into a folder
# that only the process running it is shown.
rm -rf "$folder/cleanrl" "$folder/cleanrl-packages"
if git clone --quiet "${CLEANRL:-https://github.com/vwxyzjn/cleanrl}" "$folder/cleanrl" &&
    git -C "$folder/cleanrl" checkout --quiet "$cleanrl_commit"; then
    # --no-deps: the list is complete, and torch comes from the environment.
    "$folder/bin/pip" install --quiet --no-deps --target "$folder/cleanrl-packages" \
        --requirement "$here/requirements-cleanrl.txt"
else
    rm -rf "$folder/cleanrl"
    echo "CleanRL could not be cloned: its script will be left out, the loop after its pattern is still measured." >&2
fi
echo "ready: $folder"
