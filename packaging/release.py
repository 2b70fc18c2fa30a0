#!/usr/bin/env python3
"""Make a release of what is committed: ``python packaging/release.py VERSION [--dry-run]``.

The version stands in one place, `app/paceline/__init__.py`. A release writes it there, gives the
changelog's unreleased part its heading and its day, tells AppStream of it, and commits and tags
that; nothing is pushed. Before, it checks that everything is committed, on main, and tested. With
``--dry-run`` it prints the same steps and changes nothing. Standard library only.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from bootstrap import ROOT, committed_tree, read_json, say

VERSION = Path("app", "paceline", "__init__.py")
CHANGELOG = Path("packaging", "CHANGELOG.md")
APPSTREAM = Path("packaging", "linux", "org.paceline.Paceline.metainfo.xml")
BRANCH = "main"
UNRELEASED = "## [Unreleased]"
FORM = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


class ReleaseError(Exception):
    """Nothing was released; the text says why, and what to do."""


@dataclass(frozen=True)
class Release:
    """A version that is to be made.

    Attributes:
        root: The checkout.
        version: Its three numbers, with dots.
        day: Its day.
    """

    root: Path
    version: str
    day: date

    @property
    def tag(self) -> str:
        """The name of its tag."""
        return f"v{self.version}"

    @property
    def title(self) -> str:
        """The first line of its commit."""
        return f"Release {self.version}"

    def faults(self, stamp: Path) -> Iterator[str]:
        """Yield what stands in the way, each as a sentence that says what to do.

        Args:
            stamp: The file in which the bootstrap says what it has tested.
        """
        if git(self.root, "branch", "--show-current").strip() != BRANCH:
            yield f"The branch is not {BRANCH}: switch to it."
        if git(self.root, "status", "--porcelain"):
            yield "There are files that are not committed: commit or remove them."
        elif read_json(stamp).get("tested") != committed_tree(self.root):
            yield "These files are not tested: call `python3 packaging/bootstrap.py test`."
        if git(self.root, "tag", "--list", self.tag):
            yield f"There is a tag {self.tag} already: choose another version."
        elif git(self.root, "log", "-1", "--format=%s").strip() == self.title:
            yield (
                f"The commit of {self.version} is there without its tag, so this was killed before:"
                " take it back by `git reset --hard HEAD~1`, and call it again."
            )
        changes, versions = unreleased(read(self.root / CHANGELOG))
        if not re.search(r"^- ", changes, re.MULTILINE):
            yield f"{CHANGELOG} has nothing under “Unreleased”: say there what has changed."
        wanted, now = numbers(self.version), numbers(current_version(self.root))
        if wanted < now or any(wanted <= each for each in versions):
            newest = max([now, *versions])
            known = ".".join(map(str, newest))
            yield f"{self.version} does not come after {known}: choose a newer version."

    def changed(self) -> dict[Path, str]:
        """Return the files that a release changes, with what is in them then.

        Raises:
            ReleaseError: One of them has another form than this expects.
        """
        rewrites: dict[Path, Callable[[str], str]] = {
            VERSION: self._with_version,
            CHANGELOG: self._with_heading,
            APPSTREAM: self._with_entry,
        }
        return {path: rewrite(read(self.root / path)) for path, rewrite in rewrites.items()}

    def _with_version(self, text: str) -> str:
        return _replaced(
            VERSION, r'(?m)^__version__ = ".*"$', f'__version__ = "{self.version}"', text
        )

    def _with_heading(self, text: str) -> str:
        heading = f"{UNRELEASED}\n\n## [{self.version}] - {self.day}"
        return _replaced(CHANGELOG, rf"(?m)^{re.escape(UNRELEASED)}$", heading, text)

    def _with_entry(self, text: str) -> str:
        # A version that was named before it was made gets its day.
        known = rf'\n *<release version="{re.escape(self.version)}"[^>]*/>'
        entry = f'<releases>\n    <release version="{self.version}" date="{self.day}"/>'
        return _replaced(APPSTREAM, "<releases>", entry, re.sub(known, "", text))

    def make(self) -> None:
        """Write, commit and tag it.

        Raises:
            ReleaseError: git refuses. Without a commit the files are as they were; a commit that
                cannot be tagged stays.
        """
        changed = self.changed()
        before = git(self.root, "rev-parse", "HEAD").strip()
        try:
            for path, text in changed.items():
                (self.root / path).write_text(text, "utf-8")
            git(self.root, "add", *map(str, changed))
            git(self.root, "commit", "--quiet", "--message", self.title)
            git(self.root, "tag", "--annotate", self.tag, "--message", f"Paceline {self.version}")
        except BaseException:  # Ctrl+C among them
            if not git(self.root, "tag", "--list", self.tag):
                # Nothing else had been changed: `faults` has looked.
                git(self.root, "reset", "--quiet", "--hard", before)
            raise


def read(path: Path) -> str:
    """Return a file's text.

    Raises:
        ReleaseError: It cannot be read.
    """
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"{path} cannot be read ({error}): restore it.") from error


def git(root: Path, *words: str) -> str:
    """Return what git prints.

    Raises:
        ReleaseError: It fails.
    """
    try:
        command = ["git", "-C", str(root), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ReleaseError(f"git cannot be started ({error}): install it.") from error
    if done.returncode:
        raise ReleaseError(f"git {words[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers, which are ordered as versions are.

    Raises:
        ReleaseError: It does not have three.
    """
    found = FORM.fullmatch(version)
    if not found:
        raise ReleaseError(f"“{version}” is no version: name one as in 1.2.3.")
    return tuple(map(int, found.groups()))


def current_version(root: Path) -> str:
    """Return the version that stands in the sources.

    Raises:
        ReleaseError: None does.
    """
    found = re.search(r'(?m)^__version__ = "(.*)"$', read(root / VERSION))
    if not found:
        raise ReleaseError(f"{VERSION} has no line with the version: restore it.")
    return found[1]


def unreleased(changelog: str) -> tuple[str, list[tuple[int, ...]]]:
    """Return what is under “Unreleased”, and the numbers of all versions that were released."""
    _, _, rest = changelog.partition(f"{UNRELEASED}\n")
    versions = re.findall(rf"^## \[({FORM.pattern})\]", changelog, re.MULTILINE)
    return re.split(r"(?m)^## ", rest)[0], [numbers(found[0]) for found in versions]


def _replaced(path: Path, pattern: str, by: str, text: str) -> str:
    new, count = re.subn(pattern, lambda _: by, text)
    if count != 1:
        raise ReleaseError(
            f"{path} has {count} places that fit “{pattern}” instead of one: restore it."
        )
    return new


def preview(release: Release) -> str:
    """Return the steps of a release: the changes as a diff, then the commands."""
    lines: list[str] = []
    for path, text in release.changed().items():
        name, before = path.as_posix(), read(release.root / path).splitlines(keepends=True)
        after = text.splitlines(keepends=True)
        lines += difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=1)
    commands = [
        f"git commit --message '{release.title}'",
        f"git tag --annotate {release.tag}",
    ]
    return "".join([*lines, *(f"$ {command}\n" for command in commands)])


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Make the release that the command line names; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("version", metavar="VERSION", help="three numbers, as in 1.2.3")
    parser.add_argument("--dry-run", action="store_true", help="print the steps, change nothing")
    parser.add_argument("--venv", metavar="DIR", type=Path, default=root / ".venv")
    options = parser.parse_args(arguments)
    release = Release(root, options.version, datetime.now(UTC).date())
    try:
        numbers(release.version)
        faults = list(release.faults(options.venv / "paceline-stamp.json"))
        for fault in faults:
            say(fault)
        if options.dry_run:
            print(preview(release), end="")
        if faults or options.dry_run:
            return 1 if faults else 0
        release.make()
    except ReleaseError as error:
        say(str(error))
        return 1
    say(
        f"Paceline {release.version} is committed and tagged, and nothing is pushed. Look at it: "
        f"`git show {release.tag}`. Then `git push origin {BRANCH} {release.tag}` has the packages "
        f"built and a release drafted. To take it back: `git tag --delete {release.tag}` and "
        "`git reset --hard HEAD~1`."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
