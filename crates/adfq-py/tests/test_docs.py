"""The Python of the documentation is run, with fewer steps."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
PAGES = ["docs/python.md", "crates/adfq-py/README.md"]
FEWER = [(r"learn\([\d_]+", "learn(600"), (r'(steps=|"steps": )[\d_]+', r"\g<1>600"), (r'(every": )[\d_]+', r"\g<1>300")]


def run_examples(page):
    """Runs the Python of a page in this folder."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    names = {}
    for block in blocks:
        for pattern, replacement in FEWER:
            block = re.sub(pattern, replacement, block)
        exec(compile(block, page, "exec"), names)
    assert blocks


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_examples(page)


def test_the_quickstart_runs():
    subprocess.run([sys.executable, ROOT / "examples" / "quickstart.py", "600"], check=True, timeout=120)


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs_and_shows_pictures():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(ROOT / "examples" / "beliefs.ipynb", as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    pictures = [str(output.get("data", {}).get("text/html")) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("<svg" in picture for picture in pictures) == 3
    # Bars are drawn there by default.
    assert any("steps" in str(output.get("text", "")) + str(output.get("data", "")) for output in notebook.cells[1].outputs)
