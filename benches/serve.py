#!/usr/bin/env python3
"""How quick the page of `adfq serve` is, and what it costs.

    scripts/test_browser.sh -k nothing               # once: installs Playwright's client into target/browser
    target/browser/bin/pip install tensorboard       # to time TensorBoard beside it
    target/browser/bin/python benches/serve.py --adfq target/release/adfq

Measures, in headless Chromium: the first paint of the table with 1,000 runs; the curves of 100 runs with 1,000 points, from the
click until they are drawn; frames a second while zooming in them; the memory of the server after that. TensorBoard reads the
100 runs too: seconds until it knows them, and until it has given the points of one curve of each. Then a training is run with
and without --serve, in turn: the processor time of the server's threads over that of the others, which other work on the
machine hardly changes, and the ratio of the times on the clock. The load of the machine is printed with the results.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from playwright.sync_api import sync_playwright

HEAD = "step,episodes,updates,train_return,train_clipped_return,episode_length,loss,gradient_norm,mean_q,mean_sigma,epsilon\n"


def write_runs(root, runs, rows):
    """Runs as the trainer leaves them, with walks for values."""
    chance = random.Random(0)
    for i in range(runs):
        env = ["cartpole", "acrobot", "minatar/breakout", "deepsea-10"][i % 4]
        agent, policy = [("adfq", "thompson"), ("dqn", "epsilon"), ("split", "optimist")][i // 4 % 3]
        folder = root / f"{env.replace('/', '-')}-{agent}-{i:04d}"
        (folder / "checkpoints").mkdir(parents=True)
        (folder / "config.toml").write_text(
            f'env = "{env}"\nagent = "{agent}"\npolicy = "{policy}"\nseed = {i // 12}\nsteps = {rows * 100}\n')
        x, metrics, evaluations = 0.0, [HEAD], ["step,episode,return,clipped_return,length\n"]
        for k in range(1, rows + 1):
            x = 0.995 * x + chance.gauss(0.05, 1)
            metrics.append(f"{k * 100},{k},{k * 25},{20 + x},{20 + x},{30 + x},{abs(x) / 9 + .01},1.5,{x / 2},{3 / (1 + k / 100)},.1\n")
            if k % 10 == 0:
                evaluations.append(f"{k * 100},0,{25 + x},{25 + x},40\n")
        (folder / "metrics.csv").write_text("".join(metrics))
        (folder / "evaluations.csv").write_text("".join(evaluations))


def write_events(root, runs):
    """The training returns of some runs for TensorBoard."""
    from tensorboard.compat.proto import event_pb2, summary_pb2
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    for folder in sorted(root.iterdir())[:runs]:
        writer = EventFileWriter(str(folder), max_queue_size=10_000)
        for row in (folder / "metrics.csv").read_text().splitlines()[1:]:
            fields = row.split(",")
            value = summary_pb2.Summary.Value(tag="train/train_return", simple_value=float(fields[3]))
            event = event_pb2.Event(wall_time=1.7e9 + int(fields[0]), step=int(fields[0]))
            event.summary.value.append(value)
            writer.add_event(event)
        writer.close()


class Server:
    def __init__(self, adfq, root):
        self.process = subprocess.Popen([adfq, "serve", str(root), "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.link = self.process.stdout.readline().strip()

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()


PAINTED = """window.painted = null;
new MutationObserver((_, observer) => {
  if (!document.querySelector("tbody tr")) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }));
}).observe(document, { subtree: true, childList: true });"""

CLICKED = """() => {
  window.drawn = null;
  const link = [...document.querySelectorAll("a.button")].find((a) => a.textContent === "Curves");
  link.href += "&y=train_return";
  const observer = new MutationObserver(() => {
    if (!document.querySelector(".u-over")) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = performance.now() - begun; }));
  });
  observer.observe(document.body, { subtree: true, childList: true });
  const begun = performance.now();
  link.click();
}"""

ZOOMED = """async () => {
  const over = document.querySelector(".u-over");
  const box = over.getBoundingClientRect();
  const begun = performance.now();
  for (let i = 0; i < 120; i += 1) {
    over.dispatchEvent(new WheelEvent("wheel", { deltaY: i % 20 < 10 ? -1 : 1, bubbles: true, cancelable: true,
      clientX: box.left + box.width / 2, clientY: box.top + 100 }));
    await new Promise((done) => requestAnimationFrame(done));
  }
  return 120_000 / (performance.now() - begun);
}"""


def until(page, name):
    while page.evaluate(f"window.{name}") is None:
        page.wait_for_timeout(20)
    return page.evaluate(f"window.{name}")


def measure_page(adfq, root):
    server = Server(adfq, root)
    chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.add_init_script(PAINTED)
        table, curves, zooms = [], [], []
        for _ in range(5):
            page.goto("about:blank")
            page.goto(f"{server.link}#/runs")
            table.append(until(page, "painted"))
        ids = sorted(path.name for path in root.iterdir())[:100]
        for _ in range(5):
            page.goto("about:blank")
            page.goto(f"{server.link}#/runs?runs={'|'.join(ids)}")
            page.wait_for_selector("tbody tr:nth-child(1000)")
            page.wait_for_timeout(300)
            page.evaluate(CLICKED)
            curves.append(until(page, "drawn"))
            page.wait_for_timeout(500)
            zooms.append(page.evaluate(ZOOMED))
        page.goto("about:blank")
        page.goto(f"{server.link}#/curves?runs=*&y=train_return")
        page.wait_for_selector(".u-over", timeout=60_000)
        browser.close()
    memory = server.memory()
    server.stop()
    return {"table_ms": table, "curves_ms": curves, "zoom_frames_per_s": zooms, "server_mb": memory}


def get(url, body=None):
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(url, data, {"content-type": "application/json"} if body else {})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def measure_servers(adfq, root):
    """Seconds from the start until 100 runs are known, and until a curve of each was given."""
    begun = time.perf_counter()
    server = Server(adfq, root)
    while True:
        try:
            runs = get(f"{server.link}api/runs")["runs"]
            if len(runs) == 100:
                break
        except OSError:
            pass
        time.sleep(0.01)
    known = time.perf_counter() - begun
    get(f"{server.link}api/curves", {"runs": [run["id"] for run in runs], "y": "train_return", "points": 1000})
    ours = {"known_s": known, "curves_s": time.perf_counter() - begun, "mb": server.memory()}
    server.stop()
    board = pathlib.Path(sys.executable).parent / "tensorboard"
    begun = time.perf_counter()
    process = subprocess.Popen([board, "--logdir", root, "--port", "7790", "--samples_per_plugin", "scalars=1000"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    base = "http://localhost:7790/data/plugin/scalars"
    while True:
        try:
            if len(get(f"{base}/tags")) == 100:
                break
        except OSError:
            pass
        time.sleep(0.1)
    known = time.perf_counter() - begun
    for run in get(f"{base}/tags"):
        points = get(f"{base}/scalars?tag=train/train_return&run={run}")
        while len(points) < 1000:
            time.sleep(0.2)
            points = get(f"{base}/scalars?tag=train/train_return&run={run}")
    # Its loader is a process of its own.
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    status = [pathlib.Path(f"/proc/{pid}/status").read_text() for pid in [process.pid, *children]]
    memory = sum(int(re.search(r"VmHWM:\s+(\d+)", text)[1]) for text in status) / 1024
    theirs = {"known_s": known, "curves_s": time.perf_counter() - begun, "mb": memory}
    process.terminate()
    process.wait()
    return {"adfq": ours, "tensorboard": theirs}


def spent(pid):
    """Seconds of processor time of the server's threads, and of all."""
    served, total = 0, 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            name, used = (task / "comm").read_text(), int((task / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue
        total += used
        served += used if name.startswith("adfq-serve") else 0
    return served, total


def measure_training(adfq, root, pairs, steps):
    """What a page that is open takes of a training: the share of processor time of the server's threads, and the time on the
    clock over that of the same training alone."""
    walls, shares = [], []
    for i in range(pairs):
        wall = {}
        for name in ["alone", "served"]:
            words = [adfq, "train", "cartpole", "--agent", "dqn", "--steps", str(steps), "--seed", str(i), "--threads", "1",
                     "--set", "logging.metrics=100", "--out", str(root / name / str(i))]
            begun = time.perf_counter()
            process = subprocess.Popen(words + (["--serve"] if name == "served" else []), stderr=subprocess.PIPE, text=True)
            listener, last = None, None
            if name == "served":
                link = next(match[0] for line in process.stderr if (match := re.search(r"http://\S+", line)))
                # Somebody watches.
                listener = subprocess.Popen(["curl", "-sN", f"{link}api/events"], stdout=subprocess.DEVNULL)
                while process.poll() is None:
                    try:
                        last = spent(process.pid)
                    except OSError:
                        pass
                    time.sleep(0.2)
                shares.append(last[0] / (last[1] - last[0]))
            process.communicate()
            wall[name] = time.perf_counter() - begun
            if listener:
                listener.terminate()
                listener.wait()
        walls.append(wall["served"] / wall["alone"])
    return {"cpu_of_server_over_training": shares, "wall_served_over_alone": walls}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adfq", required=True)
    parser.add_argument("--only", choices=["page", "servers", "training"])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20_000)
    arguments = parser.parse_args()
    adfq = str(pathlib.Path(arguments.adfq).resolve())
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        result = {"load": os.getloadavg()}
        if arguments.only in [None, "page"]:
            write_runs(root / "thousand", 1000, 1000)
            result["page"] = measure_page(adfq, root / "thousand")
        if arguments.only in [None, "servers"]:
            write_runs(root / "hundred", 100, 1000)
            write_events(root / "hundred", 100)
            result["servers"] = measure_servers(adfq, root / "hundred")
        if arguments.only in [None, "training"]:
            result["training"] = measure_training(adfq, root, arguments.pairs, arguments.steps)
        result["load_after"] = os.getloadavg()
    print(json.dumps(result, indent=2))


main()
