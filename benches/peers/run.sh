#!/bin/sh
# Measures `adfq` and every peer in one go and prints the ratios. Run setup.sh and `cargo build --release` first, and
# let nothing else run meanwhile.
#
#   run.sh [FOLDER [ADFQ]]
#
# FOLDER        the environment setup.sh made (default: target/peers at the root of the repository); results go there
# ADFQ          the program (default: target/release/adfq)
# STEPS         environment steps of each training (default 20000)
# SECONDS_EACH  time for each gradient step and environment (default 4)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/../../target/peers}
adfq=${2:-$here/../../target/release/adfq}
results=$folder/results.jsonl
ours=$folder/ours.jsonl
seconds=${SECONDS_EACH:-4}
python=$folder/bin/python
export PYTHONDONTWRITEBYTECODE=1

if [ ! -x "$adfq" ]; then
    echo "there is no program $adfq: run cargo build --release, or name it after the folder" >&2
    exit 1
fi

# Two threads that share a core with something else wait for each other by spinning: such figures mean nothing.
read -r load _ </proc/loadavg
case $load in
0.*) ;;
*) echo "warning: the load of this machine is $load; the figures will be too slow" >&2 ;;
esac

# Runs a program bound to so many processors, as the peers are.
bound() {
    "$python" -c 'import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[1])])
os.execv(sys.argv[2], sys.argv[2:])' "$@"
}

"$python" "$here/gradient_step.py" --check
bound 2 "$adfq" bench --json --threads 2 >"$ours"
bound 1 "$adfq" bench --json --threads 1 --only 'engine,end to end' >>"$ours"
: >"$results"
"$python" "$here/gradient_step.py" --seconds "$seconds" --json "$results"
"$python" "$here/cartpole.py" --steps "${STEPS:-20000}" --json "$results"
"$python" "$here/gymnasium_steps.py" --seconds "$seconds" --json "$results"
echo "written: $ours and $results"
"$python" "$here/table.py" "$ours" "$results"
