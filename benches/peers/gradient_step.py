"""Times one Deep ADFQ-shaped gradient step of each framework and network, at one thread and at two.

    python gradient_step.py [--seconds 4] [--json FILE]     all of it, a table and JSON lines
    python gradient_step.py --check                         do the frameworks calculate the same losses?

Each combination runs in a process of its own, bound to as many processors as it may have threads, so that no
framework finds the thread pool of another and JAX (which has no setting for it) obeys too.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time

import workload

PEERS = {
    "PyTorch eager": ("step_torch", "plain"),
    "PyTorch eager, tuned": ("step_torch", "tuned"),
    "PyTorch eager, tuned, NHWC": ("step_torch", "tuned nhwc"),
    "PyTorch compile": ("step_torch", "compiled"),
    "JAX jit": ("step_jax", "jit"),
}
CHECK_STEPS = 20
# float32 sums in another order, fed back through Adam for a few steps.
CHECK_TOLERANCE = 2e-3


def applies(peer, network):
    """The order of channels means something only where there are images."""
    return "NHWC" not in peer or workload.NETWORKS[network].convolutions


def build(peer, network, threads):
    """Binds this process to `threads` processors, then loads the framework."""
    available = sorted(os.sched_getaffinity(0))
    if len(available) < threads:
        sys.exit(
            f"{threads} threads on {len(available)} processors: leave {threads} out of --threads"
        )
    os.sched_setaffinity(0, available[:threads])
    module, way = PEERS[peer]
    return importlib.import_module(module).build(workload.NETWORKS[network], way, threads)


def measure(peer, network, threads, seconds):
    """Median and minimum of single steps, in microseconds, after a warm-up of a quarter of the time."""
    step = build(peer, network, threads)
    count = 0
    step(count)  # compilation, which may take longer than the warm-up
    end = time.perf_counter() + seconds / 4
    while count < 20 or time.perf_counter() < end:
        count += 1
        step(count)
    times, end = [], time.perf_counter() + seconds
    while len(times) < 30 or time.perf_counter() < end:
        count += 1
        start = time.perf_counter_ns()
        step(count)
        times.append(time.perf_counter_ns() - start)
    return {
        "peer": peer,
        "network": network,
        "threads": threads,
        "median_us": round(statistics.median(times) / 1e3, 1),
        "min_us": round(min(times) / 1e3, 1),
        "repetitions": len(times),
    }


def in_own_process(*arguments):
    """Runs this file with other arguments; returns its last line as JSON, or None after printing why not."""
    command = [sys.executable, os.path.abspath(__file__), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.strip().splitlines()[-1])
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    print(f"{' '.join(map(str, arguments))}: failed, {last}", file=sys.stderr)
    return None


def check():
    """Compares the losses of the first steps with those of the first peer. Returns whether all agree."""
    good = True
    for network in workload.NETWORKS:
        reference = None
        for peer in PEERS:
            if not applies(peer, network):
                continue
            losses = in_own_process("--losses", peer, network)
            if losses is None:
                good = False
                continue
            reference = reference or losses
            apart = max(abs(a - b) / abs(b) for a, b in zip(losses, reference))
            agrees = apart < CHECK_TOLERANCE
            good = good and agrees
            print(
                f"{network:12} {peer:28} loss {losses[0]:.6f} -> {losses[-1]:.6f}, at most {apart:.1e} apart",
                "" if agrees else "TOO FAR",
            )
    return good


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="time for each combination")
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument(
        "--networks", nargs="+", default=list(workload.NETWORKS), choices=list(workload.NETWORKS)
    )
    parser.add_argument("--json", help="file the JSON lines are appended to")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--one", nargs=3, metavar=("PEER", "NETWORK", "THREADS"), help=argparse.SUPPRESS)
    parser.add_argument("--losses", nargs=2, metavar=("PEER", "NETWORK"), help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.one:
        print(json.dumps(measure(a.one[0], a.one[1], int(a.one[2]), a.seconds)))
        return
    if a.losses:
        step = build(*a.losses, 1)
        print(json.dumps([float(step(i)) for i in range(CHECK_STEPS)]))
        return
    if a.check:
        sys.exit(0 if check() else 1)
    print(f"{'network':12} {'peer':28} {'threads':>7} {'median µs':>11} {'minimum µs':>11}")
    for network in a.networks:
        for threads in a.threads:
            for peer in a.peers:
                if not applies(peer, network):
                    continue
                row = in_own_process("--seconds", a.seconds, "--one", peer, network, threads)
                if row is None:
                    continue
                print(
                    f"{network:12} {peer:28} {threads:7} {row['median_us']:11} {row['min_us']:11}", flush=True
                )
                if a.json:
                    with open(a.json, "a", encoding="utf-8") as file:
                        print(json.dumps(row), file=file)


if __name__ == "__main__":
    main()
