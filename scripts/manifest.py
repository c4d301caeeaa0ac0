#!/usr/bin/env python3
"""Checks results/ against results/manifest.toml: digests, and the limits on size and number of files.

    scripts/manifest.py            # exits with 1 and says what differs
    scripts/manifest.py --update   # writes the digests of the files as they are

Every folder in results/ is a suite with a table in the manifest: what it shows, the commit, the commands and the machine
that made it, and the SHA-256 digest of each file. Only the digests are written by this script.
"""

import hashlib
import pathlib
import sys
import tomllib

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"
MANIFEST = RESULTS / "manifest.toml"
MAX_BYTES = 12 * 1000 * 1000
MAX_FILES = 250
REQUIRED = ["what", "commit", "date", "machine", "commands"]
# Twins of a file that is kept, and what belongs to a run folder.
UNWANTED = {".png", ".json", ".gz"}
RUN_FILES = {"config.toml", "evaluations.csv", "metrics.csv"}


def files_of(suite=""):
    """All files of a suite, or of all, but for what is hidden, such as the cache of trials."""
    paths = (RESULTS / suite).rglob("*")
    return sorted(p for p in paths if p.is_file() and not any(part.startswith(".") for part in p.relative_to(RESULTS).parts))


def digests_of(suite):
    folder = RESULTS / suite
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files_of(suite)}


def suites():
    return sorted(path.name for path in RESULTS.iterdir() if path.is_dir())


def complaints(manifest):
    found = []
    for suite in suites():
        if suite not in manifest:
            found.append(f"{suite}: no table [{suite}] in the manifest")
            continue
        table = manifest[suite]
        found += [f"{suite}: no {key}" for key in REQUIRED if not table.get(key)]
        recorded, actual = table.get("files", {}), digests_of(suite)
        found += [f"{suite}/{name}: in the manifest, not on disk" for name in recorded.keys() - actual.keys()]
        found += [f"{suite}/{name}: on disk, not in the manifest" for name in actual.keys() - recorded.keys()]
        found += [
            f"{suite}/{name}: its digest differs from the manifest's"
            for name in recorded.keys() & actual.keys()
            if recorded[name] != actual[name]
        ]
    found += [f"{suite}: in the manifest, but there is no such folder" for suite in manifest.keys() - set(suites())]
    return sorted(found + limits())


def limits():
    everything = files_of()
    size = sum(path.stat().st_size for path in everything)
    found = []
    if size > MAX_BYTES:
        found.append(f"results/ has {size:,} bytes, more than {MAX_BYTES:,}")
    if len(everything) > MAX_FILES:
        found.append(f"results/ has {len(everything)} files, more than {MAX_FILES}")
    for path in everything:
        if path.suffix in UNWANTED or path.name in RUN_FILES:
            found.append(f"{path.relative_to(RESULTS)}: not a kind of file that is kept")
    return found


def update():
    """Rewrites the [SUITE.files] tables and leaves every other line as it is."""
    lines, skipping = [], False
    for line in MANIFEST.read_text().splitlines():
        if line.startswith("["):
            skipping = line.endswith(".files]")
        if not skipping:
            lines.append(line)
    text = "\n".join(lines).rstrip() + "\n"
    for suite in suites():
        text += f'\n[{suite}.files]\n'
        text += "".join(f'"{name}" = "{digest}"\n' for name, digest in digests_of(suite).items())
    MANIFEST.write_text(text)


def main(arguments):
    if arguments not in ([], ["--update"]):
        sys.exit(__doc__)
    if arguments:
        update()
    found = complaints(tomllib.loads(MANIFEST.read_text()))
    if found:
        sys.exit("\n".join(found))
    print(f"results/: {len(suites())} suites as the manifest has them")


if __name__ == "__main__":
    main(sys.argv[1:])
