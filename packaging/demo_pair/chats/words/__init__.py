"""Lists of words and questions that are data, not code; one text file each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def word_list(name: str) -> tuple[str, ...]:
    """Return the words of ``NAME.txt``, which blanks separate."""
    return tuple((_HERE / f"{name}.txt").read_text(encoding="utf-8").split())


def off_topic() -> Iterator[tuple[str, list[str]]]:
    """Yield questions about other things, as templates with what may fill their ``{}``.

    The file has groups that blank lines separate: lines that begin with ``- `` are templates, the
    others name what fills them, separated by semicolons.
    """
    for group in (_HERE / "off_topic.txt").read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in group.splitlines() if line and not line.startswith("#")]
        fillers = [x.strip() for line in lines if line[:2] != "- " for x in line.split(";")]
        for line in lines:
            if line.startswith("- "):
                yield line[2:], [x for x in fillers if x] if "{}" in line else []


def how_tos() -> Iterator[tuple[list[str], str]]:
    """Yield tasks, each in several wordings, with the answer.

    In the file every task begins with lines ``? wording`` and ends before the next such lines.
    """
    for entry in ("\n\n" + (_HERE / "how_tos.txt").read_text(encoding="utf-8")).split("\n\n? ")[1:]:
        head, _, answer = f"? {entry}".partition("\n\n")
        yield [line.removeprefix("? ") for line in head.splitlines()], answer.strip()
