#!/usr/bin/env python3
"""Tests of the scripts that check the documentation and the results, of the search for settings, and of the yardstick."""

import argparse
import json
import pathlib
import tempfile
import tomllib
import unittest

import doc_commands
import links
import manifest
import tune
import yardstick


class Folder(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name).resolve()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def use(self, module, **values):
        for name, value in values.items():
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)


class Links(Folder):
    def test_files_and_headings_must_exist(self):
        self.use(links, ROOT=self.folder)
        page = self.write("docs/a.md", "# A title, with (signs)\n\n## Twice\n\n## Twice\n")
        self.assertIsNone(links.problem(page, "a.md#a-title-with-signs"))
        self.assertIsNone(links.problem(page, "#twice-1"))
        self.assertIsNone(links.problem(page, "https://example.org/nowhere"))
        self.assertEqual(links.problem(page, "b.md"), "does not exist")
        self.assertEqual(links.problem(page, "a.md#other"), "has no such heading")
        self.assertEqual(links.problem(page, "../../a.md"), "leads out of the repository")

    def test_code_is_not_searched_for_links(self):
        lines = links.without_code("[a](b)\n```sh\n[c](d)\n```\n    [e](f)\n`[g](h)` [i](j)\n")
        self.assertEqual(links.LINK.findall("\n".join(lines)), ["b", "j"])


class Manifest(Folder):
    def test_every_difference_is_found(self):
        self.use(manifest, RESULTS=self.folder, MANIFEST=self.folder / "manifest.toml")
        self.write("manifest.toml", '[a]\nwhat = "w"\ncommit = "c"\ndate = "d"\nmachine = "m"\ncommands = ["x"]\n')
        self.write("a/seeds.csv", "1\n")
        self.write("a/old.csv", "1\n")
        manifest.update()
        self.assertEqual(self.complaints(), [])
        self.write("a/seeds.csv", "2\n")
        self.write("a/plot.png", "")
        self.write("b/seeds.csv", "")
        (self.folder / "a/old.csv").unlink()
        self.assertEqual(
            self.complaints(),
            [
                "a/old.csv: in the manifest, not on disk",
                "a/plot.png: not a kind of file that is kept",
                "a/plot.png: on disk, not in the manifest",
                "a/seeds.csv: its digest differs from the manifest's",
                "b: no table [b] in the manifest",
            ],
        )

    def test_size_and_number_of_files_are_limited(self):
        self.use(manifest, RESULTS=self.folder, MAX_BYTES=3, MAX_FILES=1)
        self.write("a/x.csv", "12")
        self.assertEqual(manifest.limits(), [])
        self.write("a/y.csv", "34")
        self.assertEqual(len(manifest.limits()), 2)

    def complaints(self):
        return manifest.complaints(tomllib.loads(manifest.MANIFEST.read_text()))


class DocCommands(Folder):
    def test_only_sh_blocks_are_commands(self):
        text = "```sh\n# a comment\nadfq learn \\\n  maze   # why\n\n./x '# kept'\n```\n```console\nadfq\n```\n    adfq\n"
        self.assertEqual(doc_commands.blocks(text), [(3, "adfq learn maze"), (6, "./x '# kept'")])

    def test_rules_shorten_skip_or_refuse(self):
        self.assertEqual(doc_commands.decide("cargo run --release -- learn maze"), ("adfq learn maze", None))
        line, reason = doc_commands.decide("adfq train cartpole --steps 100000")
        self.assertIsNone(reason)
        self.assertTrue(line.startswith("adfq train cartpole --steps 3000 --set learning.warmup"), line)
        self.assertEqual(doc_commands.decide("adfq train x --device cuda")[1], "needs an NVIDIA GPU")
        self.assertEqual(doc_commands.decide("rm -rf /"), (None, None))

    def test_shortened_runs_have_the_names_that_are_documented(self):
        self.write("runs/cartpole-dqn-epsilon-evaluation.episodes=1-evaluation.every=300-0/config.toml", "")
        doc_commands.name_as_documented(self.folder)
        self.assertTrue((self.folder / "runs/cartpole-dqn-epsilon-0/config.toml").exists())

    def test_a_command_that_fails_stops_the_script(self):
        self.use(doc_commands, ROOT=self.folder)
        program = self.write("adfq", "#!/bin/sh\nexec test \"$2\" = good\n")
        program.chmod(0o755)
        doc_commands.run_page(self.write("good.md", "```sh\nadfq learn good\n```\n"), program, [])
        for text, message in [("adfq learn bad", "exit status 1"), ("unknown", "no rule covers")]:
            page = self.write("bad.md", f"```sh\n{text}\n```\n")
            with self.assertRaisesRegex(SystemExit, message):
                doc_commands.run_page(page, program, [])


class Tune(Folder):
    def row(self, agent, rung, trial, seed, final, settings="{}", env="cartpole"):
        values = [env, agent, rung, trial, settings, "100", seed, final, final, "1.0"]
        return dict(zip(tune.COLUMNS, map(str, values)))

    def test_presets_are_what_was_recorded(self):
        root = pathlib.Path(__file__).resolve().parent.parent
        written = {path.stem: path.read_text() for path in (root / "presets").glob("*.toml")}
        self.assertEqual(tune.presets(tune.recorded(root / "results/presets")), written)

    def test_the_verdict_decides_what_is_reported(self):
        chosen = '{"replay.n_step": 3, "learning.target": {"soft": 0.01}}'
        rows = [self.row("adfq", 1, 0, 1000, 900), self.row("adfq-eps", 1, 4, 1000, 950, chosen)]
        rows += [self.row("adfq", "verdict", 0, seed, 100) for seed in range(3)]
        rows += [self.row("adfq-eps", "verdict", 4, seed, 200 + seed, chosen) for seed in range(3)]
        rows += [self.row("dqn", "verdict", 0, seed, 50, env="gym:Taxi-v4") for seed in range(3)]
        texts = tune.presets(rows)
        self.assertEqual(sorted(texts), ["cartpole-adfq", "taxi-dqn"])
        preset = tomllib.loads(texts["cartpole-adfq"])
        self.assertEqual((preset["agent"], preset["policy"], preset["tried"], preset["steps"]), ("adfq", "epsilon", 2, 100))
        self.assertEqual((preset["reached"]["mean"], preset["general"]["mean"]), (201.0, 100.0))
        self.assertTrue(200.0 <= preset["reached"]["low"] <= 201.0 <= preset["reached"]["high"] <= 202.0)
        self.assertEqual(preset["settings"], {"replay.n_step": 3, "learning.target": {"soft": 0.01}})
        self.assertNotIn("settings", tomllib.loads(texts["taxi-dqn"]))

    def test_settings_that_are_worse_on_fresh_seeds_are_not_taken(self):
        rows = [self.row("dqn", "verdict", 0, seed, 100) for seed in range(3)]
        rows += [self.row("dqn", "verdict", 4, seed, 99, '{"replay.n_step": 3}') for seed in range(3)]
        preset = tomllib.loads(tune.presets(rows)["cartpole-dqn"])
        self.assertEqual((preset["reached"], "settings" in preset), (preset["general"], False))

    def test_of_several_that_were_judged_the_best_is_taken(self):
        rows = [self.row("dqn", "verdict", 0, seed, 100) for seed in range(3)]
        rows += [self.row("dqn", "verdict", 4, seed, 110, '{"replay.n_step": 3}') for seed in range(3)]
        rows += [self.row("dqn", "verdict", 7, seed, 120, '{"replay.n_step": 2}') for seed in range(3)]
        preset = tomllib.loads(tune.presets(rows)["cartpole-dqn"])
        self.assertEqual((preset["reached"]["mean"], preset["settings"]), (120, {"replay.n_step": 2}))

    def test_the_general_settings_with_another_policy_may_be_the_best(self):
        rows = [self.row("adfq", "verdict", 0, seed, 100) for seed in range(3)]
        rows += [self.row("adfq-eps", "verdict", 0, seed, 200) for seed in range(3)]
        preset = tomllib.loads(tune.presets(rows)["cartpole-adfq"])
        self.assertEqual((preset["policy"], preset["reached"]["mean"], preset["general"]["mean"]), ("epsilon", 200, 100))

    def test_settings_depend_on_names_alone(self):
        drawn = tune.draw("cartpole", "dqn", 5)
        self.assertEqual(drawn, tune.draw("cartpole", "dqn", 5))
        self.assertEqual(drawn[0], {})
        self.assertNotEqual(drawn, tune.draw("acrobot", "dqn", 5))

    def test_a_score_is_the_mean_of_the_second_half(self):
        table = self.write("evaluations.csv", "step,return\n50,1\n60,3\n60,5\n100,8\n")
        self.assertEqual(tune.scored(table, 100), (6.0, 8.0))
        self.assertEqual(tune.scored(table, 200), (tune.WORST, tune.WORST))


class Yardstick(Folder):
    def test_a_row_for_each_run_and_for_each_measurement(self):
        self.write("runs/control/a/config.toml", 'env = "e"\nagent = "split"\npolicy = "optimist"\nseed = 200\nsteps = 8\n')
        self.write("runs/control/a/result.json", "{}")
        self.write("runs/control/a/evaluations.csv", "step,episode,return\n4,0,1\n6,0,2\n8,0,3\n8,1,5\n")
        number = {"value": 0.5, "interval": {"low": 0.0, "high": 1.0}}
        measures = {"values": 7, "within_1": number, "within_2": number, "crps": number, "bias": number, "rmse": 1.0}
        found = {**measures, "met_in": None, "against": "own_policy", "mean_sd": 2.0, "rank_correlation": None}
        beliefs = {"checkpoints": [{"step": 4, "doubts_random_play": 0.25, "found": [found]}]}
        self.write(f"runs/control/a/{yardstick.MEASURED}", json.dumps(beliefs) + "\n")
        yardstick.tables(argparse.Namespace(out=str(self.folder)))
        self.assertEqual((self.folder / "returns.csv").read_text().splitlines()[1:], ["e,split,optimist,200,8,4.0,3.0"])
        row = "e,split,optimist,200,4,all,own_policy,7,0.5,0.5,0.5,0.5,1,2,,0.25,"
        self.assertEqual((self.folder / "beliefs.csv").read_text().splitlines()[1:], [row])

    def test_checkpoints_are_those_at_or_after_a_step(self):
        for step in (252, 501, 750, 1002):
            self.write(f"checkpoints/kept-{step:012}.adfq", "")
        self.assertEqual(yardstick.kept(self.folder, [250, 500, 1000]), [252, 501, 1002])


if __name__ == "__main__":
    unittest.main()
