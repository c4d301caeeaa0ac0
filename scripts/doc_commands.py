#!/usr/bin/env python3
"""Runs the commands of the documentation.

    scripts/doc_commands.py --adfq target/release/adfq        # all pages
    scripts/doc_commands.py --adfq target/release/adfq README.md docs/training.md
    scripts/doc_commands.py --list                            # what would be run or skipped, and why

A block that is fenced as ```sh holds commands and is executed; ```console and ```text are not. The pages are README.md,
docs/*.md, examples/*.md, results/README.md and crates/*/README.md. Each page has a folder of its own, with copies of
examples/ and results/, in which its commands run in order: `adfq eval runs/...` finds what an earlier line has trained.

Every command must be covered by one of the RULES. The first rule that matches decides: it runs the line, runs it with
shortened settings, or skips it and says why. The script stops at the first command that fails or that no rule covers.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "results/README.md", "docs/*.md", "examples/*.md", "crates/*/README.md"]
SECONDS = 60  # the most that one command may take

# Training for so long shows that the command works, not what the agent reaches.
SHORT = "--steps 600 --set learning.warmup=100 --set evaluation.every=300 --set evaluation.episodes=1 --set evaluation.final_episodes=1"

# Rewritten before the rules are looked at: (pattern, replacement).
REWRITE = [
    (r"cargo run --release -- ", "adfq "),
    (r"(adfq train .*--steps) [\d.e]+", r"\1 3000"),
    (r"(adfq paper .*--trials) \d+", r"\1 1"),
]

# (pattern, what is done). "run": as it is. "skip: REASON". "add: WORDS": appended to the line.
RULES = [
    (r"--device cuda|--features cuda", "skip: needs an NVIDIA GPU"),
    (r"\b(gym|atari):|runs/atari-", "skip: needs Python packages; crates/adfq-env tests the bridge"),
    (r"^python3 (examples/|-m adfq\.ray )|^adfq compare ray-runs", "skip: needs the Python package; scripts/test_python.sh runs it"),
    (r"^python3 -m venv|^pip install|^tensorboard\b", "skip: needs Python packages"),
    (r"^cargo (install|build|test|bench|fuzz|doc|clippy|fmt)\b|RUSTC_BOOTSTRAP", "skip: builds; .ci/run does what is needed"),
    (r"^cargo run --release (-p \S+ )?--example", "skip: builds; .ci/run runs the examples"),
    (r"^(scripts/|benches/|\.ci/run|git )", "skip: a script of the repository, run by .ci/run or by hand"),
    (r"^adfq bench", "skip: a benchmark; crates/adfq-cli/tests/bench.rs runs it"),
    (r"^target/peers/", "skip: needs Python packages"),
    (r"^adfq bsuite .*--only", "add: --episodes 5"),
    (r"^adfq bsuite\b", "add: --only bandit --episodes 5"),
    (r"^adfq paper .*--quick", "add: --only rmse --trials 1"),
    (r"^adfq paper\b.*--only", "add: --quick --trials 1"),
    (r"^adfq paper\b", "add: --quick --only rmse --trials 1"),
    (r"^adfq study calibration\b.*--(agents|domains)", "add: --quick --seeds 1"),
    (r"^adfq study calibration\b", "add: --quick --seeds 1 --agents split,q-learning --domains loop"),
    (r"^adfq study rivals\b", "add: --quick --seeds 1 --agents split,beb --domains riverswim-6,chain"),
    (r"^timeout --signal INT \d+ adfq train .* \|\| true$", "run"),
    (r"^adfq serve\b", "skip: runs until it is stopped; crates/adfq-cli/tests/serve.rs and scripts/test_browser.sh run it"),
    (r"^adfq train --resume", "run"),
    (r"^adfq train ", f"add: {SHORT}"),
    (r"^adfq eval .*--watch", "run"),
    (r"^adfq eval .*--episodes", "run"),
    (r"^adfq eval ", "add: --episodes 3"),
    (r"^adfq beliefs ", "add: --states 4 --rollouts 16"),
    (r"^adfq (compare|learn|solve|update|export|presets)\b", "run"),
    (r"^echo .*\| adfq (update|act)\b", "run"),
    (r"^head -\d+ \S+\.csv$", "run"),
    (r"^adfq (--help|help)", "run"),
]


def blocks(text):
    """The ```sh blocks of a page: (line number, commands with their line numbers)."""
    commands, inside, pending, start = [], None, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            inside = stripped[3:].strip() if inside is None else None
            continue
        if inside != "sh" or not stripped or stripped.startswith("#"):
            continue
        start = start or number
        if stripped.endswith("\\"):
            pending += stripped[:-1]
            continue
        commands.append((start, without_comment(pending + stripped)))
        pending, start = "", 0
    return commands


def without_comment(line):
    """The command without a comment at its end. A # inside quotes stays."""
    quote = None
    for i, c in enumerate(line):
        if quote:
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c == "#" and i > 0 and line[i - 1].isspace():
            return line[:i].rstrip()
    return line


def decide(command):
    """What is run in place of a command, and why it is not run: (command, reason)."""
    for pattern, replacement in REWRITE:
        command = re.sub(pattern, replacement, command)
    for pattern, action in RULES:
        if re.search(pattern, command):
            verb, _, rest = action.partition(": ")
            if verb == "skip":
                return command, rest
            if verb == "add":
                given = set(re.findall(r"--[a-z-]+", command)) - {"--set"}
                command = " ".join([command, *new_options(rest, given)])
            return command, None
    return None, None


def new_options(words, given):
    """The options of a rule that the line does not have already."""
    kept, words = [], words.split()
    while words:
        option = [words.pop(0)]
        while words and not words[0].startswith("--"):
            option.append(words.pop(0))
        if option[0] not in given:
            kept += option
    return kept


def run_page(page, adfq, times):
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        for name in ["examples", "results"]:
            if (ROOT / name).exists():
                shutil.copytree(ROOT / name, home / name)
        (home / "bin").mkdir()
        (home / "bin" / "adfq").symlink_to(adfq)
        environment = os.environ | {"PATH": f"{home / 'bin'}:{os.environ['PATH']}", "TERM": "dumb"}
        for number, command in blocks(page.read_text()):
            where = f"{page.relative_to(ROOT)}:{number}"
            line, reason = decide(command)
            if line is None:
                sys.exit(f"{where}: no rule covers: {command}")
            if reason:
                print(f"skip {where}: {command}\n     {reason}", flush=True)
                continue
            begin = time.monotonic()
            try:
                done = subprocess.run(
                    ["bash", "-euo", "pipefail", "-c", line],
                    cwd=home, env=environment, timeout=SECONDS, text=True, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                )
            except subprocess.TimeoutExpired:
                sys.exit(f"{where}: took more than {SECONDS} s: {line}")
            times.append((time.monotonic() - begin, where, line))
            if done.returncode:
                sys.exit(f"{where}: exit status {done.returncode}: {line}\n{done.stdout}")
            print(f"ok   {where}: {line} ({times[-1][0]:.1f} s)", flush=True)
            name_as_documented(home)


def name_as_documented(home):
    """The names of run folders show settings. Those of SHORT are not in the documentation, so they leave the names too."""
    for run in list(home.glob("**/*-evaluation.episodes=1*")):
        name = re.sub(r"-evaluation\.episodes=1.*-(\d+)$", r"-\1", run.name)
        if not run.with_name(name).exists():
            run.rename(run.with_name(name))


def list_page(page):
    for number, command in blocks(page.read_text()):
        line, reason = decide(command)
        outcome = "NO RULE" if line is None else f"skip ({reason})" if reason else "run"
        print(f"{page.relative_to(ROOT)}:{number}: {outcome}: {line or command}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", type=pathlib.Path, help="the program")
    parser.add_argument("--list", action="store_true", help="run nothing")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="only these pages")
    arguments = parser.parse_args()
    pages = [page.resolve() for page in arguments.pages] or [p for pattern in PAGES for p in sorted(ROOT.glob(pattern))]
    if arguments.list:
        for page in pages:
            list_page(page)
        return
    if arguments.adfq is None or not arguments.adfq.is_file():
        parser.error("--adfq PATH: the program to run")
    times = []
    for page in pages:
        run_page(page, arguments.adfq.resolve(), times)
    total = sum(seconds for seconds, _, _ in times)
    print(f"{len(times)} commands in {len(pages)} pages, {total:.0f} s; the slowest:")
    for seconds, where, line in sorted(times, reverse=True)[:5]:
        print(f"  {seconds:.1f} s  {where}: {line}")


if __name__ == "__main__":
    main()
