"""The structure of the program in numbers: ``python tests/architecture/measures.py``.

`test_measures` holds the size of each room against its budget (`budgets.py`).
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from architecture.source import REPOSITORY, Module, modules, modules_in

TREES = ("app", "tests", "packaging")
"""The repository's folders with Python code."""


@cache
def docstring_lines(module: Module) -> set[int]:
    """The lines of all docstrings, those of attributes included."""
    lines: set[int] = set()
    for node in module.nodes:
        body = getattr(node, "body", ())
        for child in body if isinstance(body, list) else ():
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and isinstance(child.value.value, str)
            ):
                lines.update(range(child.lineno, (child.end_lineno or child.lineno) + 1))
    return lines


@cache
def code_lines(module: Module) -> int:
    """Lines with at least one token that is neither a comment nor part of a docstring."""
    quiet = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type not in quiet and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(module))


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """Per module, which ones of the program it imports, also for typing or within functions."""
    names = {module.name for module in modules()}
    return {module.name: frozenset(_imports(module, names)) for module in modules()}


def _imports(module: Module, names: set[str]) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in names:
                    yield full
                elif node.module in names:
                    yield node.module


def circles() -> list[list[str]]:
    """Groups of modules that import each other, by Tarjan's algorithm."""
    graph, found = imports(), []
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            at = stack.index(name)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                found.append(sorted(group))

    sys.setrecursionlimit(10_000)
    for name in graph:
        if name not in index:
            visit(name)
    return found


def folders() -> Counter[str]:
    """Python files per folder, ``__init__.py`` not counted."""
    places = [module.place for module in modules() if not module.place.endswith("__init__.py")]
    return Counter(place.rpartition("/")[0] or "." for place in places)


@cache
def rooms() -> Mapping[str, tuple[int, int]]:
    """Files and code lines of every room.

    A room is a package of the program; engine and gui have rooms of their own. The modules beside
    the packages are the room ``.``, those beside the rooms of engine and gui ``engine``, ``gui``.
    """
    found: dict[str, tuple[int, int]] = {}
    for module in modules():
        room = room_of(module.place)
        n_files, n_lines = found.get(room, (0, 0))
        found[room] = n_files + 1, n_lines + code_lines(module)
    return dict(sorted(found.items()))


def trees() -> Mapping[str, tuple[int, int]]:
    """Files and code lines of every folder of the repository that holds Python code."""
    found = {tree: modules_in(REPOSITORY / tree) for tree in TREES}
    return {tree: (len(files), sum(map(code_lines, files))) for tree, files in found.items()}


def room_of(place: str) -> str:
    """Return the room of a module by its path within the package."""
    folder = place.rpartition("/")[0].split("/")
    return "/".join(folder[: 2 if folder[0] in {"engine", "gui"} else 1]) or "."


def with_one_importer() -> list[str]:
    """Modules that exactly one other imports; packages and entry points are not counted."""
    packages = {m.name for m in modules() if m.place.endswith("__init__.py")}
    users = Counter(other for names in imports().values() for other in names)
    return sorted(m.name for m in modules() if users[m.name] == 1 and m.name not in packages)


def constructor_parameters() -> list[tuple[int, str]]:
    """Parameters of constructors but for `self` and those with a default, most first."""
    found = []
    for module in modules():
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                plain = len(node.args.args) - 1 - len(node.args.defaults)
                named = sum(default is None for default in node.args.kw_defaults)
                found.append((plain + named, f"{module.place}:{node.lineno}"))
    return sorted(found, reverse=True)


def signals() -> int:
    """Qt signals that the program's classes have."""
    return sum(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "Signal"
        for module in modules()
        for node in module.nodes
    )


def report() -> str:
    """All numbers, a line each."""
    code = sum(code_lines(m) for m in modules())
    docs = sum(len(docstring_lines(m)) for m in modules())
    lines = sum(m.text.count("\n") for m in modules())
    largest = folders().most_common(3)
    wide = constructor_parameters()
    return "\n".join(
        (
            f"files                     {len(modules())}",
            f"  with one importer       {len(with_one_importer())}",
            f"  largest folders         {', '.join(f'{n} {name}' for name, n in largest)}",
            f"circles                   {len(circles())}",
            *(f"  {' '.join(group)}" for group in circles()),
            f"code lines                {code}",
            f"docstring lines           {docs} ({docs / lines:.1%} of {lines})",
            f"constructors above six    {sum(n > 6 for n, _ in wide)}, most {wide[0]}",
            f"signals                   {signals()}",
            "trees                     files, code lines",
            *(f"  {tree:<24}{files:>5}{lines:>7}" for tree, (files, lines) in trees().items()),
            "rooms                     files, code lines",
            *(f"  {room:<24}{files:>5}{lines:>7}" for room, (files, lines) in rooms().items()),
        )
    )


if __name__ == "__main__":
    print(report())
