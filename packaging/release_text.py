#!/usr/bin/env python3
"""Print the text of a release: ``python packaging/release_text.py v0.1.0``.

It is the changelog's section of that version, and how the README says that packages are installed.
Standard library only.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from bootstrap import ROOT
from release import CHANGELOG, ReleaseError, current_version, read


def section(text: str, title: str) -> str:
    """Return what stands below a title of a Markdown text, up to the next one of its rank or above.

    Args:
        text: Markdown without code blocks that have lines like titles.
        title: A regular expression of the whole line.

    Raises:
        LookupError: There is no such title.
    """
    found = re.search(rf"^(?P<rank>#+) {title}$", text, re.MULTILINE)
    if found is None:
        raise LookupError(title)
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found['rank'])}}} ", rest, re.MULTILINE)
    return rest[: end.start() if end else None].strip()


def text_of(tag: str, version: str, changelog: str, readme: str) -> str:
    """Return the release's text.

    Args:
        tag: The tag that is released, such as "v0.1.0".
        version: The program's own.
        changelog: The text of the changelog.
        readme: The text of the README.

    Raises:
        ValueError: The tag is another version, or the changelog has no section of it.
    """
    if tag != f"v{version}":
        raise ValueError(f"The tag {tag} is not that of version {version}: tag v{version}.")
    try:
        changes = section(changelog, rf"\[{re.escape(version)}\].*")
    except LookupError:
        wanted = f"The changelog has no section of {version}: `python packaging/release.py`"
        raise ValueError(f"{wanted} writes it.") from None
    return f"{changes}\n\n## Install\n\n{section(readme, 'Download')}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the text; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tag", help="the tag of the release")
    tag = parser.parse_args(arguments).tag
    try:
        changelog, readme = read(ROOT / CHANGELOG), read(ROOT / "README.md")
        sys.stdout.write(text_of(tag, current_version(ROOT), changelog, readme))
    except (ReleaseError, ValueError, LookupError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
