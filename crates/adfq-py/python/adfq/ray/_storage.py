"""Run folders in stores that are no folder of this machine, such as `s3://bucket/runs`.

A run is trained in a folder of its node, and its copy in the store follows after each checkpoint. What is copied first and
what last is the order in which training itself writes: at any moment the store holds a run that can be gone on with.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import threading
import warnings
from types import TracebackType
from typing import Any, Iterable

from ..model import NOT_COPIED

# How often a run is looked at for a new checkpoint, in seconds.
LOOK = 0.5

# What training goes on from.
CHECKPOINTS = "checkpoints/step-*.adfq"

# The end of a file's name while it is copied.
PARTIAL = ".adfq-partial"

# The size of a file and when it was written. A file that has the same of both has not changed.
Version = tuple[int, int]


def is_uri(storage: str) -> bool:
    return "://" in storage


class Store:
    """A folder of a store, by its URI; any that `pyarrow.fs` knows."""

    def __init__(self, uri: str) -> None:
        import pyarrow.fs

        self.files, self.root = pyarrow.fs.FileSystem.from_uri(uri)
        self._selector = pyarrow.fs.FileSelector
        self._is_file = pyarrow.fs.FileType.File

    def inner(self, recursive: bool) -> Iterable[tuple[str, bool]]:
        """What is in it, by its path in it, and whether it is a file."""
        selector = self._selector(self.root, recursive=recursive, allow_not_found=True)
        for found in self.files.get_file_info(selector):
            yield os.path.relpath(found.path, self.root), found.type == self._is_file

    def read(self, name: str) -> bytes | None:
        """A file, if it is there."""
        if self.files.get_file_info(f"{self.root}/{name}").type != self._is_file:
            return None
        with self.files.open_input_stream(f"{self.root}/{name}") as source:
            content: bytes = source.read()
        return content

    def get(self, name: str, target: pathlib.Path) -> None:
        """Copies a file from it."""
        target.parent.mkdir(parents=True, exist_ok=True)
        with self.files.open_input_stream(f"{self.root}/{name}") as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)

    def put(self, name: str, source: pathlib.Path) -> None:
        """Copies a file to it. The file has its name once it is whole."""
        path = f"{self.root}/{name}"
        self.files.create_dir(os.path.dirname(path), recursive=True)
        with source.open("rb") as content, self.files.open_output_stream(path + PARTIAL) as copy:
            shutil.copyfileobj(content, copy, 1 << 20)
        self.files.move(path + PARTIAL, path)

    def delete(self, name: str) -> None:
        self.files.delete_file(f"{self.root}/{name}")


class Copy:
    """The copy of a run folder in a store."""

    def __init__(self, store: Store, folder: pathlib.Path) -> None:
        self.store, self.folder = store, folder
        self._there: dict[str, Version | None] = {}

    def download(self) -> None:
        """Fetches what the store holds of the run."""
        for name, is_file in self.store.inner(recursive=True):
            if not is_file:
                continue
            self._there[name] = None
            if not name.endswith(PARTIAL):
                self.store.get(name, self.folder / name)
                self._there[name] = version(self.folder / name)

    def upload(self) -> None:
        """Copies what is new to the store, and removes there what is gone here."""
        here = versions(self.folder)
        for name in sorted(here, key=rank):
            if self._there.get(name) != here[name]:
                self.store.put(name, self.folder / name)
                self._there[name] = here[name]
        for name in self._there.keys() - here.keys():
            self.store.delete(name)
            del self._there[name]


class Following:
    """Has the copy of a run follow it, on a thread of its own, until the training in this context is over."""

    def __init__(self, copy: Copy) -> None:
        self._copy, self._over = copy, threading.Event()
        self._thread = threading.Thread(target=self._follow, name="adfq-upload", daemon=True)

    def __enter__(self) -> Following:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        if self._copy.folder.exists():
            self._copy.upload()

    def _follow(self) -> None:
        copied: set[str] = set()
        while not self._over.wait(LOOK):
            checkpoints = {path.name for path in self._copy.folder.glob(CHECKPOINTS)}
            if checkpoints == copied:
                continue
            try:
                self._copy.upload()
                copied = checkpoints
            except FileNotFoundError:
                pass  # Training has replaced a file meanwhile. What is there now is copied in the next round.
            except OSError as error:
                warnings.warn(f"a checkpoint could not be copied, which is tried again: {error}", stacklevel=2)


def rank(name: str) -> tuple[int, str]:
    """The order of copying. Without its configuration a folder is no run. A checkpoint counts once it is there, so all that it needs
    comes before it. The result says that the run is complete."""
    if name == "config.toml":
        return 0, name
    if name == "result.json":
        return 3, name
    return (2 if name.startswith("checkpoints/step-") else 1), name


def versions(folder: pathlib.Path) -> dict[str, Version]:
    """The files of a run. Checkpoints are listed before the rest, so that all that they need is in the list too."""
    checkpoints = list(folder.glob(CHECKPOINTS))
    others = [path for path in folder.rglob("*") if path.is_file() and not path.match(CHECKPOINTS)]
    kept = [path for path in others if not NOT_COPIED(os.fspath(path.parent), [path.name])]
    return {path.relative_to(folder).as_posix(): version(path) for path in checkpoints + kept}


def version(path: pathlib.Path) -> Version:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def fetch(storage: str, out: str | os.PathLike[str]) -> list[pathlib.Path]:
    """Copies the run folders of a sweep from its store to a folder, where `adfq compare` and `adfq.load` read them. Gives their paths."""
    folders = []
    for name, is_file in Store(storage).inner(recursive=False):
        store, folder = Store(f"{storage.rstrip('/')}/{name}"), pathlib.Path(out) / name
        if not is_file and store.read("config.toml") is not None:
            Copy(store, folder).download()
            folders.append(folder)
    return sorted(folders)
