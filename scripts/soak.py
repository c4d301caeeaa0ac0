#!/usr/bin/env python3
"""The long test of what docs/reliability.md promises: real kills, errors, power cuts and damage, many times.

    scripts/soak.py --adfq target/release/adfq                        # every experiment, a few dozen times each
    scripts/soak.py --adfq target/release/adfq --count 300 kills flips
    scripts/soak.py --adfq target/release/adfq --json soak.json       # the counts, to be recorded

The measure is the same everywhere: a small run is trained once without a disturbance. Every disturbed run must end with
the same bytes in result.json, metrics.csv and evaluations.csv, or refuse to go on and say why. It must never panic and
never end with other numbers.

    kills      SIGKILL at random moments, several times in one run
    calls      SIGKILL at single system calls that change files (needs strace)
    errors     single system calls fail with EIO or ENOSPC (needs strace)
    power      power cuts: what was not synced is lost, whole or in part (needs strace)
    flips      single bits of the folder's files are flipped
    workers    SIGKILL of the Python workers of gym:CartPole-v1, with --restart-failed (needs scripts/python.sh)

Fuzzing is scripts/fuzz.sh. All chance comes from --seed; only the moments of kills depend on the clock.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ["result.json", "metrics.csv", "evaluations.csv"]
SETTINGS = """learning.warmup=100 evaluation.every=400 evaluation.episodes=1 evaluation.final_episodes=2 logging.checkpoint=150
logging.metrics=100 replay.capacity=500 network.layers=[{dense={units=8}}]""".split()
CHANGES = ["openat", "write", "fsync", "rename", "renameat", "renameat2", "ftruncate", "unlink", "unlinkat", "mkdir", "mkdirat"]
SECONDS = 60


class Failed(Exception):
    """A promise that was not kept."""


class Soak:
    def __init__(self, adfq, folder, seed):
        self.adfq, self.folder, self.random = adfq, folder, random.Random(seed)
        self.number = 0
        begun = time.monotonic()
        self.reference = self.train(self.new())
        self.seconds = time.monotonic() - begun
        self.expected = record(self.reference)

    def new(self):
        self.number += 1
        return self.folder / f"run-{self.number}"

    def command(self, run, env="cartpole", steps=3000):
        words = [self.adfq, "train", env, "--steps", str(steps), "--threads", "1", "--out", str(run)]
        return words + [word for setting in SETTINGS for word in ("--set", setting)]

    def train(self, run):
        done = execute(self.command(run))
        if done.returncode:
            raise Failed(f"an undisturbed run failed: {done.stderr}")
        return run

    def finish(self, run):
        """Goes on until the end as a user would, and says whether the run refused instead."""
        for _ in range(3):
            resumable = (run / "config.toml").exists()
            done = execute([self.adfq, "train", "--resume", str(run)] if resumable else self.command(run))
            if done.returncode == 0:
                return done.stderr
        return None

    def check_same(self, run, what):
        if self.finish(run) is None:
            raise Failed(f"{what}: the run cannot go on")
        if record(run) != self.expected:
            raise Failed(f"{what}: other numbers in {run}")

    def kills(self):
        run, kills = self.new(), self.random.randint(1, 5)
        for _ in range(kills):
            resumable = (run / "config.toml").exists()
            command = [self.adfq, "train", "--resume", str(run)] if resumable else self.command(run)
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(self.random.uniform(0, self.seconds))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.check_same(run, f"after {kills} kills")
        return kills

    def calls(self):
        run, (call, index) = self.new(), self.call()
        self.strace(run, f"{call}:signal=KILL:when={index}")
        self.check_same(run, f"killed at {call} {index}")
        return 1

    def errors(self):
        run, (call, index) = self.new(), self.call()
        error = self.random.choice(["EIO", "ENOSPC"])
        done = self.strace(run, f"{call}:error={error}:when={index}")
        if done.returncode == 0 and (run / "result.json").exists() and record(run) == self.expected:
            return 1
        self.check_same(run, f"{error} at {call} {index}")
        return 1

    def call(self):
        """A system call of a whole run, as its name and index."""
        if not hasattr(self, "called"):
            log = self.folder / "calls"
            execute(["strace", "-f", "-o", str(log), "-e", "trace=" + ",".join(CHANGES), *self.command(self.new())])
            counts = {}
            for line in log.read_text(errors="replace").splitlines():
                if match := re.match(r"\d+ +(\w+)\(", line):
                    counts[match[1]] = counts.get(match[1], 0) + 1
            self.called = [(name, i + 1) for name, count in sorted(counts.items()) for i in range(count)]
        return self.random.choice(self.called)

    def strace(self, run, inject):
        done = execute(["strace", "-f", "-o", "/dev/null", "-e", "inject=" + inject, *self.command(run)])
        return done

    def power(self):
        if not hasattr(self, "disk"):
            self.disk = Disk.watch(self, self.new())
        run, cut = self.new(), self.random.randrange(len(self.disk.operations) + 1)
        variant = self.random.choice(Disk.VARIANTS)
        self.disk.restore(run, cut, variant, self.random)
        self.check_same(run, f"power cut after {cut} operations ({variant})")
        return 1

    def flips(self):
        if not hasattr(self, "stopped"):
            self.stopped = self.stop_in_the_middle()
        run = self.new()
        shutil.copytree(self.stopped, run)
        path = self.random.choice(sorted(path for path in run.rglob("*") if path.is_file() and path.stat().st_size))
        data = bytearray(path.read_bytes())
        bit = self.random.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        what = f"bit {bit} of {path.name} flipped"
        done = execute([self.adfq, "eval", str(run), "--episodes", "1"])
        if self.finish(run) is None:
            return 1  # Refused, with a message: nothing wrong was shown.
        # A log has no checksum: what was flipped in its rows stays.
        same = ["result.json"] if path.suffix == ".csv" else RECORD
        if [(run / name).read_bytes() for name in same] != [(self.reference / name).read_bytes() for name in same]:
            raise Failed(f"{what}: other numbers in {run}")
        return 1

    def stop_in_the_middle(self):
        run = self.new()
        process = subprocess.Popen(self.command(run), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not list(run.glob("checkpoints/step-000000001*")):
            time.sleep(0.001)
        process.terminate()
        if process.wait() != 128 + signal.SIGTERM:
            raise Failed("a run that was stopped ended with another status")
        return run

    def workers(self):
        run, kills = self.new(), 0
        command = self.command(run, "gym:CartPole-v1", 20_000)
        command += ["--envs", "4", "--workers", "2", "--restart-failed", "1000"]
        command += ["--python", str(ROOT / "target/python/bin/python"), "--set", "logging.checkpoint=1000000"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None:
            time.sleep(self.random.uniform(0.5, 1.5))
            children = execute(["pgrep", "-P", str(process.pid)]).stdout.split()
            if children and process.poll() is None:
                try:
                    os.kill(int(self.random.choice(children)), signal.SIGKILL)
                    kills += 1
                except ProcessLookupError:
                    pass
        said = process.stderr.read()
        if process.returncode or "panicked" in said:
            raise Failed(f"{kills} workers killed: {said[-2000:]}")
        # The last kill may have hit a worker that had nothing left to do.
        restarts = json.loads((run / "result.json").read_text())["restarts"]
        if not kills - 2 <= restarts <= kills:
            raise Failed(f"{kills} workers killed, {restarts} restarts counted")
        return kills


class Disk:
    """What a run wrote and synced, in order, so that a power cut after any operation can be made up.

    A file's data survives as far as the file was synced. A name survives if the file or its folder was synced, as on
    ext4, XFS and Btrfs. What else may have reached the disk is up to the variant.
    """

    VARIANTS = ["nothing more", "all names", "all names, half of the data"]

    def __init__(self, operations, run):
        self.operations, self.run = operations, run

    @classmethod
    def watch(cls, soak, run):
        log = soak.folder / "disk"
        calls = ",".join([*CHANGES, "fdatasync", "pwrite64", "close"])
        execute(["strace", "-f", "-y", "-xx", "-s", "100000000", "-o", str(log), "-e", f"trace={calls}", *soak.command(run)])
        operations = [operation for line in whole_lines(log) if (operation := parse(line, str(run)))]
        if not any(operation[0] == "rename" for operation in operations):
            raise Failed("no rename was seen: the log of system calls is not understood")
        return cls(operations, run)

    def restore(self, run, cut, variant, chance):
        """Makes the folder as it is after a cut."""
        files, durable, folders = {}, {}, set()
        for kind, path, *rest in self.operations[:cut]:
            if kind == "create":
                files.setdefault(path, {"data": b"", "synced": b""})
            elif kind == "write":
                files[path]["data"] += rest[0]
            elif kind == "cut":
                files[path]["data"] = files[path]["data"][: rest[0]]
            elif kind == "sync" and path in files:
                files[path]["synced"] = files[path]["data"]
                durable[path] = files[path]
            elif kind == "sync":
                for name in [name for name in durable if os.path.dirname(name) == path and name not in files]:
                    del durable[name]
                durable.update({name: file for name, file in files.items() if os.path.dirname(name) == path})
            elif kind == "rename":
                files[rest[0]] = files.pop(path)
            elif kind == "remove":
                files.pop(path, None)
            elif kind == "folder":
                folders.add(path)
        run.mkdir()
        for folder in sorted(folders):
            (run / folder).mkdir(parents=True, exist_ok=True)
        for path, file in (durable if variant == "nothing more" else files).items():
            data = file["synced"]
            if variant.endswith("half of the data") and file["data"].startswith(data):
                data = file["data"][: chance.randint(len(data), len(file["data"]))]
            (run / path).parent.mkdir(exist_ok=True)
            (run / path).write_bytes(data)


def whole_lines(log):
    """The lines of a log, with calls that another thread interrupted put together again."""
    waiting = {}
    for line in log.read_text(errors="replace").splitlines():
        thread, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            waiting[thread] = call.removesuffix("<unfinished ...>").rstrip()
        elif match := re.match(r"<\.\.\. \w+ resumed>(.*)", call):
            yield waiting.pop(thread) + match[1]
        else:
            yield call


def parse(line, run):
    """An operation in the run folder as (kind, path, …); none for all else and for calls that failed."""
    match = re.match(r"(\w+)\((.*)\) += (-?\d+)", line)
    if not match or match[3].startswith("-"):
        return None
    call, arguments = match[1], match[2]
    text = r'"((?:\\x[0-9a-f]{2})*)"'
    folder_of = lambda found: decode(re.search(r"<([^>]*)>", found)[1]).decode() if "<" in found else ""

    def inside(path):
        path = os.path.normpath(path)
        return os.path.relpath(path, run) if path.startswith(run + "/") or path == run else None

    named = [
        os.path.join(folder_of(place or ""), decode(name).decode(errors="replace"))
        for place, name in re.findall(r"((?:AT_FDCWD|\d+)(?:<[^>]*>)?, )?" + text, arguments)
    ] if call not in ("write", "pwrite64") else []
    if call == "openat":
        path = inside(named[0])
        return ("create", path) if path and "O_CREAT" in arguments else None
    if call in ("rename", "renameat", "renameat2"):
        old, new = inside(named[0]), inside(named[1])
        return ("rename", old, new) if old and new else None
    if call in ("unlink", "unlinkat"):
        path = inside(named[0])
        return path and ("remove", path)
    if call in ("mkdir", "mkdirat"):
        path = inside(named[0])
        return path and ("folder", path)
    path = inside(folder_of(arguments.split(",")[0]))
    if not path:
        return None
    path = "" if path == "." else path
    if call in ("fsync", "fdatasync"):
        return ("sync", path)
    if call == "ftruncate":
        return ("cut", path, int(arguments.rsplit(",", 1)[1]))
    if call == "write":
        return ("write", path, decode(re.search(text, arguments)[1])[: int(match[3])])
    return None


def decode(text):
    """The bytes of a text in which strace wrote some or all as hex."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda byte: bytes([int(byte[1], 16)]), text.encode())


def execute(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    if "panicked" in done.stderr or done.returncode in (101, 134):
        raise Failed(f"{' '.join(command)} panicked: {done.stderr[-2000:]}")
    return done


def record(run):
    return [(run / name).read_bytes() for name in RECORD]


def main():
    experiments = ["kills", "calls", "errors", "power", "flips", "workers"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", required=True)
    parser.add_argument("--count", type=int, default=30, help="how often each experiment is done")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="a file for the counts")
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=", ".join(experiments))
    args = parser.parse_args()
    for name in args.experiments:
        if name not in experiments:
            parser.error(f"there is no experiment {name}")
    counts, failures = {}, []
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(os.path.abspath(args.adfq), pathlib.Path(folder).resolve(), args.seed)
        for name in args.experiments or experiments:
            begun, done = time.monotonic(), 0
            for _ in range(args.count):
                try:
                    done += getattr(soak, name)()
                except Failed as failure:
                    failures.append(f"{name}: {failure}")
                    print(failures[-1], file=sys.stderr, flush=True)
                for run in soak.folder.glob("run-*"):
                    if run not in (soak.reference, getattr(soak, "stopped", None)) and not failures:
                        shutil.rmtree(run)
            counts[name] = {"disturbances": done, "seconds": round(time.monotonic() - begun)}
            print(f"{name:8} {done} disturbances in {counts[name]['seconds']} s", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"counts": counts, "failures": failures}, indent=1) + "\n")
    print(f"{len(failures)} promises broken")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
