"""The program's source as data, for the tests in this folder."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
APP = REPOSITORY / "app"
PACKAGE = APP / "paceline"


@dataclass(frozen=True)
class Module:
    """A module of the program: its dotted name, its path within the package, and its text."""

    name: str
    place: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree; a dozen checks look through it."""
        return tuple(ast.walk(self.tree))


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the program."""
    return modules_in(PACKAGE)


def modules_in(folder: Path) -> tuple[Module, ...]:
    """Every module below a folder, with names and paths that begin there."""
    return tuple(_read(path, folder) for path in sorted(folder.rglob("*.py")))


def _read(path: Path, folder: Path) -> Module:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return Module(
        ".".join(parts), path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
    )


def module(text: str, place: str = "engine/example.py") -> Module:
    """A made-up module, to show that a check bites."""
    return Module("paceline." + place.removesuffix(".py").replace("/", "."), place, text)
