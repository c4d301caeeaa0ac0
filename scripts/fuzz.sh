#!/usr/bin/env bash
# Coverage-guided fuzzing of everything that reads what others wrote.
#
#   scripts/fuzz.sh                   # each target for about a minute, from the committed corpus, always the same inputs
#   scripts/fuzz.sh 3600              # each for an hour, other inputs every time
#   scripts/fuzz.sh 600 checkpoints   # one target
#   scripts/fuzz.sh --corpus 3600     # afterwards the smallest inputs with the same coverage become the corpus
#
# The corpus is in fuzz/corpus/TARGET.tar.gz. What fails is left in target/fuzz/TARGET/failed, from where it is
# tried first the next time.
# Without a number of seconds the seed, the order of the corpus and the number of executions are fixed, so that CI tries the
# same inputs until the code or the corpus changes. The search for new failures is the timed run.
# Two targets run at a time. The flags are those of cargo-fuzz, less the sanitizers: the code is safe Rust.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

keep=false
if [[ ${1:-} == --corpus ]]; then
    keep=true
    shift
fi
seconds=${1:-}
shift || true
targets=("$@")
if [[ ${#targets[@]} == 0 ]]; then
    targets=(lines beliefs configurations models logs checkpoints)
fi

# Jobs of one target in one process would share the folder it writes to.
export RUSTFLAGS="--cfg fuzzing -Cdebuginfo=1 -Ccodegen-units=1 -Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
out=${CARGO_TARGET_DIR:-target}/fuzz
export CARGO_TARGET_DIR=$out/build
# With a --target the flags are not those of build scripts and macros.
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --release --quiet --manifest-path fuzz/Cargo.toml --target "$host"

# About what a minute holds on one of two shared cores.
executions() {
    case $1 in
        lines) echo 8000000 ;;
        beliefs) echo 150000 ;;
        configurations) echo 60000 ;;
        models) echo 500000 ;;
        logs) echo 80000 ;;
        checkpoints) echo 9000 ;;
    esac
}

fuzz() {
    local target=$1 found=$out/$1
    local archive=fuzz/corpus/$target.tar.gz
    mkdir -p "$found/corpus" "$found/failed" fuzz/corpus
    if [[ -e $archive ]]; then tar -xzf "$archive" -C "$found/corpus"; fi
    # Folders are forged in memory where that is possible: a disk would be waited for at every one.
    local tmp
    tmp=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo "$found")")
    local limits=(-timeout=20 -rss_limit_mb=4096 -max_len=8192 -print_final_stats=1 "-artifact_prefix=$found/failed/")
    local inputs=("$found/corpus" "$found/failed") length=("-max_total_time=$seconds") still=()
    if [[ -z $seconds ]]; then
        # A list keeps its order; the order of a folder is the file system's.
        find "$found/corpus" "$found/failed" -type f | LC_ALL=C sort | paste -sd, >"$found/inputs"
        rm -rf "$found/new" && mkdir "$found/new"
        inputs=("-seed_inputs=@$found/inputs" "$found/new")
        length=(-seed=1 -reload=0 "-runs=$(executions "$target")")
        # libFuzzer's choices depend on addresses.
        if setarch -R true 2>/dev/null; then still=(setarch -R); fi
    fi
    # One thread: the threads of a pool would wait for each other more than they compute.
    if ! TMPDIR=$tmp RAYON_NUM_THREADS=1 timeout $((${seconds:-600} + 300)) \
        "${still[@]}" "$CARGO_TARGET_DIR/$host/release/$target" "${limits[@]}" "${length[@]}" "${inputs[@]}" \
        >"$found/log" 2>&1; then
        rm -rf "$tmp"
        tail -n 40 "$found/log"
        echo "fuzz: $target failed; run again: $CARGO_TARGET_DIR/$host/release/$target $found/failed/*" >&2
        return 1
    fi
    if $keep; then
        rm -rf "$found/smallest" && mkdir "$found/smallest"
        TMPDIR=$tmp RAYON_NUM_THREADS=1 "$CARGO_TARGET_DIR/$host/release/$target" -merge=1 -max_len=1024 \
            "$found/smallest" "$found/corpus" "$found/failed" >"$found/merge" 2>&1
        tar -C "$found/smallest" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -c . | gzip -n9 >"$archive"
    fi
    rm -rf "$tmp"
    echo "fuzz: $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found/log") executions${seconds:+ in $seconds s}"
}
export -f fuzz executions
export out seconds keep host
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'fuzz {}'
