#!/usr/bin/env python3
"""Checks every relative link and image in README.md, CONTRIBUTING.md, CHANGELOG.md, docs/, results/ and crates/*/README.md.

A link must lead to a file or folder of the repository, and its #anchor to a heading of that page. Addresses on the web
are not looked at. Exits with 1 and a line for each broken link.
"""

import pathlib
import re
import sys
import unicodedata
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["*.md", "docs/**/*.md", "results/**/*.md", "crates/*/README.md", "crates/*/python/README.md", "examples/**/*.md"]
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HTML_LINK = re.compile(r"<(?:a|img)\b[^>]*?(?:href|src)=\"([^\"]+)\"")


def without_code(text):
    """The page without fenced, indented and inline code, line by line, so that line numbers stay."""
    lines, fenced = [], False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        if fence:
            fenced = not fenced
        hidden = fenced or fence or line.startswith("    ")
        lines.append("" if hidden else re.sub(r"`[^`]*`", "", line))
    return lines


def anchors(path):
    """The anchors that GitHub gives to the headings of a page."""
    found, fenced = {}, False
    for line in path.read_text().splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = re.match(r"#{1,6}\s+(.*)", line)
        if heading and not fenced:
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).strip().lower()
            kept = (c for c in title if c in "-_ " or unicodedata.category(c)[0] in "LN")
            anchor = "".join(kept).replace(" ", "-")
            count = found[anchor] = found.get(anchor, -1) + 1
            if count:
                found[f"{anchor}-{count}"] = 0
    return found


def problem(page, target):
    """What is wrong with a link, or None."""
    if re.match(r"[a-z][a-z+.-]*:", target):
        return None
    name, _, anchor = target.partition("#")
    path = (page.parent / urllib.parse.unquote(name)).resolve() if name else page
    if not path.is_relative_to(ROOT):
        return "leads out of the repository"
    if not path.exists():
        return "does not exist"
    if anchor and path.suffix == ".md" and urllib.parse.unquote(anchor) not in anchors(path):
        return "has no such heading"
    return None


def main():
    pages = sorted({page for pattern in PAGES for page in ROOT.glob(pattern)})
    broken, count = [], 0
    for page in pages:
        for number, line in enumerate(without_code(page.read_text()), 1):
            for target in LINK.findall(line) + HTML_LINK.findall(line):
                count += 1
                if wrong := problem(page, target):
                    broken.append(f"{page.relative_to(ROOT)}:{number}: {target} {wrong}")
    if broken:
        sys.exit("\n".join(broken))
    print(f"{count} links in {len(pages)} pages lead somewhere")


if __name__ == "__main__":
    main()
