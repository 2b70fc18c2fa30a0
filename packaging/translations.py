#!/usr/bin/env python3
"""The interface's translations: ``python packaging/translations.py [update | check | list]``.

``update`` collects every string of the interface, brings ``resources/translations/*.ts`` in line
(finished translations stay, new strings are marked unfinished, old ones go) and compiles them to
``.qm``, which are shipped. ``check`` changes nothing, prints what is wrong and exits with 1; with
``--partial`` strings without a translation are allowed. ``list`` prints what is not translated yet.
Translate with Qt Linguist, or by hand: add the translation and remove ``type="unfinished"``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from linguist import catalogue, checks
from linguist.sources import Found, find_all

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "app" / "paceline"
FOLDER = REPOSITORY / "resources" / "translations"
LANGUAGES = {"de": "de_DE"}


def ts_file(language: str) -> Path:
    """Return the file with a language's translations."""
    return FOLDER / f"paceline_{language}.ts"


def update(found: Found) -> None:
    """Bring all files in line with the sources, and compile them.

    Raises:
        OSError: A file cannot be written, or ``pyside6-lrelease`` is not installed.
        subprocess.CalledProcessError: ``pyside6-lrelease`` failed.
        ValueError: A file is broken.
    """
    for language, full in LANGUAGES.items():
        file = ts_file(language)
        entries = catalogue.brought_up(catalogue.read(file), found)
        catalogue.write(file, entries, found, full)
        release(file)
        n_open = sum(not entry.is_finished for entry in entries.values())
        print(f"{file.name}: {len(entries)} strings, {n_open} not translated")


def release(file: Path) -> None:
    """Compile a file to ``.qm``; raises the errors of `update`."""
    beside = shutil.which("pyside6-lrelease", path=str(Path(sys.executable).parent))
    tool = beside or shutil.which("pyside6-lrelease")
    if tool is None:
        raise FileNotFoundError("pyside6-lrelease is not installed; it comes with PySide6")
    out = file.with_suffix(".qm")
    subprocess.run([tool, "-silent", str(file), "-qm", str(out)], check=True)


def faults(found: Found, *, is_partial: bool = False) -> list[str]:
    """Return all problems of the files, one line each; changes nothing."""
    wrong = list(found.refused)
    for language in LANGUAGES:
        file = ts_file(language)
        entries = catalogue.read(file)
        if not is_partial:
            wrong.extend(checks.gaps(entries, found))
        wrong.extend(checks.faults_of_entries(entries))
        wrong.extend(checks.faults_of_release(entries, file.with_suffix(".qm")))
    return wrong


def main(argv: Sequence[str]) -> int:
    """Run the command that the command line names, and return the exit code."""
    parser = argparse.ArgumentParser(description="Keep the translations of the interface.")
    parser.add_argument("command", choices=("update", "check", "list"))
    parser.add_argument("--partial", action="store_true", help="allow what is not translated")
    options = parser.parse_args(argv)
    found = find_all(PACKAGE)
    if options.command == "update":
        update(found)
        wrong = found.refused
    elif options.command == "list":
        for language in LANGUAGES:
            entries = catalogue.brought_up(catalogue.read(ts_file(language)), found)
            for source, entry in entries.items():
                if not entry.is_finished:
                    print(f"{source.context}\t{source.text!r}")
        wrong = []
    else:
        wrong = faults(found, is_partial=options.partial)
    for line in wrong:
        sys.stderr.write(f"{line}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
