#!/usr/bin/env python3
"""Tests of the scripts that check the documentation and the results: each must find what is wrong."""

import pathlib
import tempfile
import tomllib
import unittest

import doc_commands
import links
import manifest


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


if __name__ == "__main__":
    unittest.main()
