#!/bin/sh
# Measures every peer and writes their JSON lines. Run setup.sh first, and let nothing else run meanwhile.
#
#   run.sh [FOLDER]            the environment setup.sh made; default: target/peers at the root of the repository
#
# STEPS         environment steps of each training (default 20000)
# SECONDS_EACH  time for each gradient step and environment (default 4)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/../../target/peers}
results=$folder/results.jsonl
seconds=${SECONDS_EACH:-4}
python=$folder/bin/python
export PYTHONDONTWRITEBYTECODE=1

# Two threads that share a core with something else wait for each other by spinning: such figures mean nothing.
read -r load _ </proc/loadavg
case $load in
0.*) ;;
*) echo "warning: the load of this machine is $load; the figures will be too slow" >&2 ;;
esac

"$python" "$here/gradient_step.py" --check
: >"$results"
"$python" "$here/gradient_step.py" --seconds "$seconds" --json "$results"
"$python" "$here/cartpole.py" --steps "${STEPS:-20000}" --json "$results"
"$python" "$here/gymnasium_steps.py" --seconds "$seconds" --json "$results"
echo "written: $results"
