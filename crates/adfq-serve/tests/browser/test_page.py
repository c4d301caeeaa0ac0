#!/usr/bin/env python3
"""The page of `adfq serve` in a real browser: Chromium of the system, driven by Playwright's client.

    scripts/test_browser.sh                       # all
    scripts/test_browser.sh -k explorer           # tests whose name has this word
    scripts/test_browser.sh --shots shots         # keeps a picture of every page

A small fixture is trained by the program itself; beside it lie runs with numbers that are known. No test waits for a fixed
time: each waits for what it wants to see, at most twenty seconds.
"""

import argparse
import json
import math
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from playwright.sync_api import expect, sync_playwright

PAGES = {
    "runs": "Runs",
    "curves?runs=*&q=cartpole": "Curves",
    "watch?run=trained/cartpole-adfq-thompson-0": "Watch",
    "watch?run=tables/minimaze": "Watch",
    "compare?runs=*&q=trained": "Compare",
    "explorer": "Explorer",
    "reports": "Reports",
}
CONFIG = 'env = "cartpole"\nagent = "{agent}"\npolicy = "epsilon"\nseed = {seed}\nsteps = 400\n'
SMALL = ["--set", "learning.warmup=100", "--set", "evaluation.every=200", "--set", "evaluation.episodes=2",
         "--set", "evaluation.final_episodes=2", "--set", "logging.metrics=50"]
expect.set_options(timeout=20_000)


def write_known(folder, agent="dqn", seed=3):
    """A run with numbers that are known."""
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(CONFIG.format(agent=agent, seed=seed))
    (folder / "metrics.csv").write_text("step,train_return,loss\n100,,\n200,12.25,0.5\n300,17.5,0.25\n")
    (folder / "evaluations.csv").write_text("step,episode,return,clipped_return,length\n200,0,4,4,4\n200,1,5,5,5\n")


def append(path, text):
    with open(path, "a") as file:
        file.write(text)


class Server:
    """The program, serving a folder."""

    def __init__(self, root, port="0"):
        self.process = subprocess.Popen([ADFQ, "serve", str(root), "--port", port], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.link = self.process.stdout.readline().strip()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(20) == 0
        self.process.stdout.close()


class Case(unittest.TestCase):
    """One browser and one server for all tests; a page for each, which must not log an error."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name) / "runs"
        write_known(cls.root / "known")
        (cls.root / "broken").mkdir()
        (cls.root / "broken/config.toml").write_text("seed = [")
        (cls.root / "broken/metrics.csv").write_text("step\n")
        train = [ADFQ, "train", "cartpole", "--agents", "adfq-ts,dqn", "--seeds", "0..1", "--steps", "600", *SMALL]
        subprocess.run([*train, "--out", cls.root / "made"], check=True, capture_output=True)
        (cls.root / "trained").mkdir()
        for folder in (cls.root / "made").iterdir():
            short = re.sub(r"-evaluation.*-(\d)$", r"-\1", folder.name)
            shutil.move(folder, cls.root / "trained" / short)
        (cls.root / "made").rmdir()
        learn = [ADFQ, "learn", "minimaze", "--steps", "3000", "--out", cls.root / "tables/minimaze"]
        subprocess.run(learn, check=True, capture_output=True)
        compare = [ADFQ, "compare", cls.root / "trained", "--out", cls.root / "report"]
        subprocess.run(compare, check=True, capture_output=True)
        cls.server = Server(cls.root)
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        cls.server.stop()
        cls.folder.cleanup()

    def setUp(self):
        self.errors = []
        self.page = self.new_page()

    def tearDown(self):
        self.page.context.close()
        self.assertEqual(self.errors, [])

    def new_page(self, **settings):
        settings = {"viewport": {"width": 1280, "height": 900}, **settings}
        page = self.browser.new_context(**settings).new_page()
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        return page

    def open(self, view, page=None):
        page = page or self.page
        page.goto("about:blank")
        page.goto(f"{self.server.link}#/{view}")
        return page

    def row(self, run):
        return self.page.locator(f'tr[data-id="{run}"]')

    def program(self, *words, given=None):
        return subprocess.run([ADFQ, *words], check=True, capture_output=True, text=True, input=given).stdout

    def test_every_page_opens_light_and_dark_wide_and_narrow(self):
        for scheme in ["light", "dark"]:
            for width, height in [(1280, 900), (390, 844)]:
                page = self.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                for view, title in PAGES.items():
                    self.open(view, page)
                    expect(page.locator("h1")).to_have_text(title)
                    expect(page.locator("nav a[aria-current]")).to_have_text(title)
                    expect(page.locator("#link-state")).to_have_text("live")
                    wide = page.evaluate("document.documentElement.scrollWidth")
                    self.assertLessEqual(wide, width, f"{view} is wider than {width} pixels")
                    if SHOTS:
                        page.wait_for_timeout(1500)
                        name = re.sub(r"\W+", "-", view)
                        page.screenshot(path=f"{SHOTS}/{name}-{scheme}-{width}.png", full_page=width < 500)
                page.context.close()

    def test_runs_have_known_numbers(self):
        self.open("runs")
        known = self.row("known")
        expect(known).to_contain_text("300 of 400")
        for text in ["cartpole", "dqn, epsilon", "17.5", "4.5", "stopped"]:
            expect(known).to_contain_text(text)
        expect(self.row("broken")).to_contain_text("malformed")
        expect(self.row("broken")).to_contain_text("config.toml cannot be understood")
        expect(self.row("trained/cartpole-dqn-epsilon-0")).to_contain_text("finished")

    def test_runs_are_sorted_and_filtered_and_a_link_leads_back(self):
        self.open("runs")
        self.page.get_by_label("Filter runs").fill("trained -dqn")
        expect(self.page.locator("tbody tr")).to_have_count(2)
        self.page.get_by_role("button", name="Seed").click()
        expect(self.page.locator("tbody tr").first).to_have_attribute("data-id", "trained/cartpole-adfq-thompson-1")
        self.page.get_by_label("Tick all shown").check()
        link = self.page.url
        page = self.new_page()
        page.goto(link)
        expect(page.locator("tbody tr")).to_have_count(2)
        expect(page.locator("tbody tr").first).to_have_attribute("data-id", "trained/cartpole-adfq-thompson-1")
        expect(page.locator("tbody input:checked")).to_have_count(2)
        page.context.close()

    def test_runs_update_while_a_training_writes(self):
        self.open("runs")
        write_known(self.root / "growing")
        expect(self.row("growing")).to_contain_text("300 of 400")
        append(self.root / "growing/metrics.csv", "400,42.125,0.1\n")
        expect(self.row("growing")).to_contain_text("400 of 400")
        expect(self.row("growing")).to_contain_text("42.1")
        shutil.rmtree(self.root / "growing")
        expect(self.row("growing")).to_have_count(0)

    def test_a_real_training_is_seen_from_its_start_to_its_end(self):
        self.open("runs")
        out = self.root / "live"
        train = [ADFQ, "train", "cartpole", "--agent", "dqn", "--steps", "1e9", *SMALL, "--out", str(out)]
        training = subprocess.Popen(train, stderr=subprocess.DEVNULL)
        expect(self.row("live")).to_contain_text("training")
        training.send_signal(signal.SIGINT)
        training.wait(20)
        expect(self.row("live")).to_contain_text("stopped")
        shutil.rmtree(out)

    def test_a_restart_of_the_server_is_survived(self):
        root = pathlib.Path(self.folder.name) / "again"
        write_known(root / "known")
        server = Server(root)
        self.page.goto(f"{server.link}#/runs")
        expect(self.row("known")).to_contain_text("300 of 400")
        server.stop()
        expect(self.page.locator("#link-state")).to_have_text("waiting for the server")
        append(root / "known/metrics.csv", "400,1,1\n")
        server = Server(root, port=re.search(r":(\d+)/", server.link)[1])
        expect(self.page.locator("#link-state")).to_have_text("live")
        expect(self.row("known")).to_contain_text("400 of 400")
        self.page.goto("about:blank")
        server.stop()
        # The browser itself logs that nobody was there for a while.
        self.errors = [error for error in self.errors if "net::ERR_" not in error]

    def test_curves_have_values_zoom_and_hide_and_a_link_leads_back(self):
        page = self.open("curves?runs=known&y=train_return")
        over = page.locator(".u-over")
        box = over.bounding_box()
        page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 20)
        expect(page.locator(".tip")).to_contain_text("17.5")
        page.get_by_role("button", name="known").click()
        expect(page.get_by_role("button", name="known")).to_have_attribute("aria-pressed", "false")
        page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 50)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 50, steps=4)
        page.mouse.up()
        page.get_by_label("log y").check()
        page.get_by_role("button", name="Loss").click()
        expect(page.locator("section.card")).to_have_count(2)
        expect(page).to_have_url(re.compile("zoom=.*"))
        again = self.new_page()
        again.goto(page.url)
        expect(again.locator("section.card")).to_have_count(2)
        expect(again.get_by_label("log y")).to_be_checked()
        expect(again.get_by_role("button", name="known").first).to_have_attribute("aria-pressed", "false")
        again.context.close()

    def test_curves_are_downloaded(self):
        page = self.open("curves?runs=known&y=train_return")
        with page.expect_download() as started:
            page.get_by_role("button", name="CSV").click()
        lines = pathlib.Path(started.value.path()).read_text().splitlines()
        self.assertEqual(lines, ["steps,known", "100,", "200,12.25", "300,17.5"])
        with page.expect_download() as started:
            page.get_by_role("button", name="SVG").click()
        picture = pathlib.Path(started.value.path()).read_text()
        self.assertTrue(picture.startswith("<svg") and "Training return" in picture and "known" in picture)
        with page.expect_download() as started:
            page.get_by_role("button", name="PNG").click()
        self.assertEqual(pathlib.Path(started.value.path()).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_curves_of_seeds_are_bands(self):
        page = self.open("curves?runs=*&q=trained&as=bands")
        for name in ["ADFQ-TS (2 seeds)", "DQN (2 seeds)"]:
            expect(page.get_by_role("button", name=name).first).to_be_visible()

    def test_curves_grow_with_their_run(self):
        write_known(self.root / "longer")
        page = self.open("curves?runs=longer&y=train_return")
        expect(page.locator(".u-over")).to_be_visible()
        append(self.root / "longer/metrics.csv", "400,99.5,0.1\n")
        box = page.locator(".u-over").bounding_box()

        def last():
            page.mouse.move(box["x"] + box["width"] - 4, box["y"] + 20)
            page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 20)
            return page.locator(".tip").inner_text()
        for _ in range(100):
            if "99.5" in last():
                break
            page.wait_for_timeout(100)
        self.assertIn("99.5", last())
        shutil.rmtree(self.root / "longer")

    def test_watch_plays_the_episode_of_adfq_eval(self):
        page = self.open("watch?run=trained/cartpole-adfq-thompson-0&seed=2")
        folder = self.root / "trained/cartpole-adfq-thompson-0"
        told = json.loads(self.program("eval", str(folder), "--episodes", "1", "--seed", "2", "--json"))
        length = told["episodes"][0]["length"]
        expect(page.get_by_role("status").nth(1)).to_contain_text(f"return {told['mean']:g} in {length} steps")
        expect(page.locator(".screen img")).to_have_attribute("src", re.compile("^data:image/png;base64,.+"))
        slider = page.get_by_label("Moment", exact=True)
        slider.focus()
        slider.press("Home")
        expect(page.locator(".facts")).to_contain_text("Step 0")
        page.get_by_label("One step on").click()
        expect(page.locator(".facts")).to_contain_text("Step 1")
        expect(page.locator(".actions")).to_contain_text("P(best)")
        expect(page.locator(".densities path")).to_have_count(2)
        expect(page).to_have_url(re.compile("at=1"))

    def test_watch_shows_a_maze_at_its_moments(self):
        page = self.open("watch?run=tables/minimaze")
        expect(page.locator(".facts")).to_contain_text("Step 3,000")
        expect(page.locator(".map circle").first).to_be_visible()
        slider = page.get_by_label("Moment", exact=True)
        slider.focus()
        slider.press("Home")
        expect(page.locator(".facts")).to_contain_text("Step 1 ")

    def test_compare_prints_what_adfq_compare_prints(self):
        page = self.open("compare?runs=*&q=trained")
        page.get_by_text("As adfq compare prints it").click()
        printed = page.locator("pre").first.inner_text()
        expected = self.program("compare", str(self.root / "trained"))
        self.assertEqual(printed.strip(), expected.strip())
        expect(page.locator(".figure img")).to_be_visible()

    def test_explorer_has_the_numbers_of_adfq_update(self):
        page = self.open("explorer")
        self.assertEqual(page.locator("[data-rule=Exact]").count() <= 1, True)
        for name, presses in [("mean", 7), ("variance", 5), ("reward", 4), ("discount", 2), ("noise var", 3)]:
            slider = page.get_by_label(name, exact=True).first
            slider.focus()
            for _ in range(presses):
                slider.press("ArrowRight" if name != "discount" else "ArrowLeft")
        value = lambda name, i=0: float(page.get_by_label(f"{name}, exactly").nth(i).input_value())
        count = page.get_by_label("mean, exactly").count() - 1
        line = {"mu_sa": value("mean"), "var_sa": value("variance"), "r": value("reward"), "gamma": value("discount"),
                "var_w": value("noise var"), "mu_next": [value("mean", i + 1) for i in range(count)],
                "var_next": [value("variance", i + 1) for i in range(count)]}
        self.assertEqual((count, line["r"], line["gamma"], line["var_w"]), (3, 0.2, 0.88, 0.03))
        for name, rule in [("Exact", "exact"), ("ADFQ", "analytic")]:
            told = json.loads(self.program("update", "--rule", rule, given=json.dumps(line)))
            for column, field in [(0, "mean"), (1, "var")]:
                cell = page.locator(f"[data-rule={name}] td").nth(column)
                for _ in range(100):
                    shown = float(cell.get_attribute("data-value"))
                    if math.isclose(shown, told[field], rel_tol=1e-10):
                        break
                    page.wait_for_timeout(50)
                self.assertTrue(math.isclose(shown, told[field], rel_tol=1e-10), f"{name} {field}: {shown} {told[field]}")
                written = float(cell.inner_text().replace("−", "-"))
                self.assertTrue(math.isclose(written, told[field], rel_tol=1e-10))

    def test_explorer_curves_are_dragged_and_presets_taken(self):
        page = self.open("explorer")
        handle = page.locator('[data-handle="prior"]')
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 90, y, steps=5)
        page.mouse.up()
        self.assertGreater(float(page.get_by_label("mean, exactly").first.input_value()), 0.5)
        options = page.get_by_label("Preset").locator("option")
        expect(options).to_have_count(5)
        for index in range(1, 5):
            page.get_by_label("Preset").select_option(index=index)
            expect(page.locator("[data-rule=Exact] td").first).to_have_attribute("data-value", re.compile(".+"))
        for _ in range(16):
            page.get_by_role("button", name="Add a next action").click()
        expect(page.get_by_role("button", name="Add a next action")).to_be_disabled()
        link = page.url
        again = self.new_page()
        again.goto(link)
        expect(again.get_by_label("mean, exactly")).to_have_count(19)
        again.context.close()

    def test_reports_are_linked(self):
        page = self.open("reports")
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Runs compared").click()
        expect(opened.value.locator("h1")).to_have_text("Runs compared")

    def test_everything_is_reached_by_keyboard(self):
        page = self.open("runs")
        expect(self.row("known")).to_be_visible()
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()"))
        for name in ["Runs", "Explorer", "Light or dark", "Filter runs", "Tick all shown", "Tick known", "known"]:
            self.assertIn(name, {label.rstrip("↑↓") for label in reached})
        page.get_by_label("Tick known").focus()
        page.keyboard.press("Space")
        expect(page.get_by_role("status").filter(has_text="1 ticked")).to_be_visible()

    def test_light_and_dark_are_chosen_and_kept(self):
        page = self.open("runs")
        back = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = back()
        page.get_by_label("Light or dark").click()
        self.assertNotEqual(back(), light)
        page.reload()
        expect(self.row("known")).to_be_visible()
        self.assertNotEqual(back(), light)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--adfq", required=True)
    parser.add_argument("--shots", default="")
    arguments, rest = parser.parse_known_args()
    ADFQ, SHOTS = str(pathlib.Path(arguments.adfq).resolve()), arguments.shots
    if SHOTS:
        pathlib.Path(SHOTS).mkdir(parents=True, exist_ok=True)
    found = (shutil.which(name) for name in ["chromium", "chromium-browser", "google-chrome"])
    CHROMIUM = next(name for name in found if name)
    unittest.main(argv=[sys.argv[0], *rest])
