"""Lays our figures beside those of the peers and prints the ratios.

    adfq bench --json > ours.jsonl
    python table.py ours.jsonl results.jsonl

Needs nothing but Python. Each line of `ours.jsonl` is a row of `adfq bench`: {"name": "gradient step minatar",
"threads": 2, "median_us": 480.0, "steps_per_s": 2083.3, ...}; lines that are not JSON are passed over. The names
are in COMPARISONS and nowhere else here.
"""

import argparse
import json
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """One of our figures, the peers' lines it is laid beside, and what was promised."""

    title: str
    ours: str  # our "name"
    peers: dict | None  # what a peer's line must contain; None where there is no peer
    quantity: str  # "median_us" (less is better) or "steps_per_s" (more is better)
    limit: float | None = None  # our own figure, in `quantity`
    ratios: tuple = ()  # (peer, how many times faster we must be)


COMPARISONS = [
    Comparison(
        "gradient step, MLP 4-64-64",
        "gradient step mlp 4-64-64",
        {"network": "mlp 4-64-64"},
        "median_us",
        45.0,
        (("JAX jit", 5), ("PyTorch eager", 20)),
    ),
    Comparison(
        "gradient step, MinAtar network",
        "gradient step minatar",
        {"network": "minatar"},
        "median_us",
        1000.0,
        (("PyTorch eager", 2.5),),
    ),
    Comparison(
        "gradient step, Atari network",
        "gradient step atari",
        {"network": "atari"},
        "median_us",
        None,
        (("PyTorch eager", 1),),
    ),
    Comparison(
        "training CartPole, 64-64",
        "train cartpole dqn 64-64",
        {"task": "train cartpole", "hidden": [64, 64]},
        "steps_per_s",
        None,
        (("Stable-Baselines3", 20), ("loop after CleanRL", 10)),
    ),
    Comparison(
        "training CartPole, 120-84",
        "train cartpole dqn 120-84",
        {"task": "train cartpole", "hidden": [120, 84]},
        "steps_per_s",
        None,
        (("CleanRL", 10), ("loop after CleanRL, its layers", 10)),
    ),
    Comparison("prioritised sampling and update", "replay sample + update 32 of 1M", None, "median_us", 15.0),
    Comparison("CartPole alone", "env cartpole", {"task": "env cartpole"}, "steps_per_s", 10e6),
    Comparison(
        "MinAtar Breakout alone",
        "env minatar breakout",
        {"task": "env minatar breakout"},
        "steps_per_s",
        3e6,
    ),
]


def read(path):
    """The JSON objects among the lines of a file."""
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.lstrip().startswith("{"):
                rows.append(json.loads(line))
    return rows


def show(value, quantity):
    """µs with one decimal, steps/s in whole numbers."""
    if value is None:
        return "–"
    return f"{value:,.1f}" if quantity == "median_us" else f"{value:,.0f}"


def verdict(met):
    return "met" if met else "MISSED"


def of_peers(peers, comparison):
    """The peers' lines that a comparison is about."""
    if comparison.peers is None:
        return []
    wanted = comparison.peers.items()
    return [p for p in peers if all(p.get(k) == v for k, v in wanted) and comparison.quantity in p]


def faster(mine, theirs, quantity):
    """How many times as fast we are."""
    return theirs / mine if quantity == "median_us" else mine / theirs


def best(values, quantity):
    """The fastest of some figures."""
    return min(values) if quantity == "median_us" else max(values)


def lines(comparison, ours, peers):
    """The table's lines for one comparison; ratios above one say that we are faster.

    A promise is judged once for each peer, by its best number of threads against our best.
    """
    quantity, found = comparison.quantity, of_peers(peers, comparison)
    own = {row["threads"]: row[quantity] for row in ours if row.get("name") == comparison.ours}
    for threads in sorted({p["threads"] for p in found} | own.keys(), reverse=True):
        mine = own.get(threads)
        limit = ""
        if comparison.limit is not None and mine is not None:
            sign, met = (
                ("≤", mine <= comparison.limit)
                if quantity == "median_us"
                else ("≥", mine >= comparison.limit)
            )
            limit = f"{sign} {show(comparison.limit, quantity)}: {verdict(met)}"
        yield (comparison.title, threads, "adfq", show(mine, quantity), "", limit)
        for peer in (p for p in found if p["threads"] == threads):
            theirs, ratio, promise = peer[quantity], "–", ""
            wanted = dict(comparison.ratios).get(peer["peer"])
            if mine is not None:
                ratio = f"{faster(mine, theirs, quantity):.1f} ×"
            top = best([p[quantity] for p in found if p["peer"] == peer["peer"]], quantity)
            if wanted and own and theirs == top:
                times = faster(best(own.values(), quantity), top, quantity)
                promise = f"≥ {wanted} ×: {verdict(times >= wanted)}, best against best {times:.1f} ×"
            yield (comparison.title, threads, peer["peer"], show(theirs, quantity), ratio, promise)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ours", help="JSON lines of `adfq bench --json`")
    parser.add_argument("peers", help="results.jsonl of run.sh")
    a = parser.parse_args()
    try:
        ours, peers = read(a.ours), read(a.peers)
    except (OSError, json.JSONDecodeError) as error:
        sys.exit(f"cannot read the results: {error}")
    print(
        "| what | threads | who | µs or steps/s | adfq is faster by | promised |\n|---|---|---|---|---|---|"
    )
    for comparison in COMPARISONS:
        for line in lines(comparison, ours, peers):
            print("| " + " | ".join(map(str, line)) + " |")


if __name__ == "__main__":
    main()
