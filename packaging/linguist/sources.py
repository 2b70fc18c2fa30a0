"""Every string of the interface, found in the source code by its syntax tree.

Qt's own ``lupdate`` reads Python by patterns and knows neither module-level helpers nor literals
that are joined by standing side by side. What counts here as a string of the interface:

* ``self.tr("...")``; the context is the class that it is written in, where PySide looks it up;
* a call of a helper: what the module made by ``translator("Context")``, or a function whose body
  hands its first argument to ``QCoreApplication.translate``, whose context it then has;
* ``QCoreApplication.translate("Context", "...")`` with literals, also under a local name.

A conditional expression between literals is two strings. Any other first argument is refused: no
translator would ever see it.

What the packages below the window say are the templates of sentences
(`paceline.sentence`), which are literals where a sentence or an error is made.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeGuard

from paceline.chat.exchange.words import Words
from paceline.engine.draft import grammar_drafter, registry
from paceline.parameters import Parameter, parameters_of
from paceline.params import ModelParams, ReplySettings, SamplingParams

DRAFTERS = "Drafters"
"""Context of the drafters' descriptions; `paceline.gui.kit.translation` uses it."""
FIELDS = "Fields"
"""Context of the texts of parameters; `paceline.gui.kit.translation` uses it."""
EXPORT = "Export"
"""Context of the texts of exported files; `paceline.gui.conversations.exchange` uses it."""
SENTENCES = "Sentences"
"""Context of messages of engine and catalogue; `paceline.gui.kit.sentences` uses it."""
_UNSEEN = ("cli/", "__main__.py", "installation/kernel_build.py", "installation/library_build.py",
           "installation/rows_build.py", "bench/workload.py", "chat/prompt.py",
           "storage/changes.py", "engine/api.py", "settings.py")  # fmt: skip
"""Modules whose texts appear only on the command line and in the log."""
_TEMPLATES = {
    (0, 1): "sentence ReasonError Remedy _binary _refusal",
    (0, 2): "refuse NoKernelsError _refuse _unusable",
    (1, 2): "reject misfit bad_answer broken Reason MemoryRemedy _bad _if_fitting",
    (1, 3): "UserError Death RunError CannotCompare TurnFailed LoadFailed problem",
    (2, 4): "TuneRejected",
}
"""Arguments of a call that are templates; of errors that derive from others, as of these."""
CURATED = "resources/curated_pairs.json"


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """One string of the interface: its context and its English text."""

    context: str
    text: str


@dataclass
class Found:
    """All strings with the files they stand in, and the calls that cannot be translated."""

    strings: dict[Source, set[str]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def add(self, context: str, text: str, file: str) -> None:
        """Record one string; several files may contain it."""
        self.strings.setdefault(Source(context, text), set()).add(file)

    def refuse(self, file: str, call: ast.Call, why: str) -> None:
        """Record a call whose text cannot be translated."""
        self.refused.append(f"{file}:{call.lineno}: {why}: {ast.unparse(call):.70}")


def find_all(package: Path) -> Found:
    """Return the strings of all modules below a folder, of drafters and exports."""
    found = Found()
    modules = {
        file.relative_to(package).as_posix(): ast.parse(file.read_text(encoding="utf-8"))
        for file in sorted(package.rglob("*.py"))
    }
    for name, tree in modules.items():
        _Finder(tree, f"{package.name}/{name}", found).run()
    find_sentences(modules, found)
    _find_curated(package, found)
    _find_drafters(found)
    _find_fields(found)
    for word in fields(Words):
        if isinstance(word.default, str):
            found.add(EXPORT, word.default, "paceline/chat/exchange/words.py")
    return found


def find_in(source: str, file: str, found: Found) -> None:
    """Add the strings of one module's source."""
    _Finder(ast.parse(source), file, found).run()


def _find_drafters(found: Found) -> None:
    own = [info for info in registry.available() if not info.id.startswith(registry.PLUGIN_PREFIX)]
    for info in (*own, grammar_drafter.INFO):
        for text in (info.title, info.summary):
            found.add(DRAFTERS, text, "engine/draft")
        for parameter in info.parameters:
            _find_parameter(parameter, "engine/draft", found)


def _find_fields(found: Found) -> None:
    for cls in (SamplingParams, ReplySettings, ModelParams):
        for parameter in parameters_of(cls).values():
            _find_parameter(parameter, "paceline/params.py", found)
            if parameter.is_number or parameter.choices:  # what is refused is named in a sentence
                found.add(SENTENCES, parameter.title, "paceline/params.py")


def _find_parameter(parameter: Parameter, file: str, found: Found) -> None:
    """Add the words of a parameter; a choice that is called as its value is a name."""
    choices = (words for value, words in parameter.choices if words != value)
    texts = (parameter.title, parameter.help, parameter.unset, parameter.unit, *choices)
    for text in filter(None, texts):
        found.add(FIELDS, text, file)


def _find_curated(package: Path, found: Found) -> None:
    """Add the texts of the list of curated pairs."""
    for pair in json.loads((package.parents[1] / CURATED).read_text(encoding="utf-8"))["pairs"]:
        texts = [(pair["gain"] or {}).get(key) for key in ("claim", "texts")]
        # What names no model is a title in words.
        for text in filter(None, (*texts, pair["title"] if not pair["target_repo"] else None)):
            found.add(SENTENCES, text, CURATED)


def find_sentences(modules: Mapping[str, ast.Module], found: Found) -> None:
    """Add the templates of the sentences and errors that modules make.

    A template that is no literal is refused, and a call that lacks an argument for a place.

    Args:
        modules: The modules by their paths below the package.
        found: The strings to add them to.
    """
    where = {name: at for at, names in _TEMPLATES.items() for name in names.split()}
    nodes = [node for tree in modules.values() for node in ast.walk(tree)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    for _ in range(4):  # deep enough for the longest chain of base classes
        for node in classes:
            for base in map(_called, node.bases):
                if base.endswith("Error") and base in where:
                    where.setdefault(node.name, where[base])
    for file, tree in modules.items():
        if not file.startswith(_UNSEEN):
            _Templates(where, file, found).visit(tree)


def places_of(template: str) -> set[str]:
    """Return the names of a template's places."""
    return set(re.findall(r"{([a-z]\w*)[:}]", template))


class _Templates(ast.NodeVisitor):
    """Walks one module and tracks the variables that hold a literal text of it."""

    def __init__(self, where: Mapping[str, tuple[int, int]], file: str, found: Found) -> None:
        self._where, self._file, self._found = where, file, found
        self._written: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = self._written
        self._written = before | {
            ast.unparse(target)
            for part in ast.walk(node)
            if isinstance(part, ast.Assign)
            and (any(_literals(part.value) or ()) or _is_made(part.value))
            for target in part.targets
        }
        self.generic_visit(node)
        self._written = before

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        first, last = self._where.get(_called(node.func), (0, 0))
        given = {word.arg for word in node.keywords}
        for argument in node.args[first:last]:
            if _is_made(argument) or ast.unparse(argument) in self._written:
                self._found.refuse(self._file, node, "the template is no literal")
            for text in filter(None, _literals(argument) or ()):
                self._found.add(SENTENCES, text, self._file)
                if given and not given >= places_of(text):
                    self._found.refuse(self._file, node, "a place has no argument")


def _is_made(node: ast.expr) -> bool:
    """Return True if the expression joins or formats a text."""
    match node:
        case ast.JoinedStr() | ast.BinOp() | ast.Call(ast.Attribute(ast.Constant())):
            return True
    return False


def _called(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


class _Finder(ast.NodeVisitor):
    """Walks one module and tracks the current class and the meaning of local names."""

    def __init__(self, tree: ast.Module, file: str, found: Found) -> None:
        self._tree, self._file, self._found = tree, file, found
        self._classes: list[str] = []
        self._constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name) and isinstance(node.value.value, str)
        }
        self._helpers: dict[str, str] = {}
        self._inner: set[ast.Call] = set()
        self._translates: set[str] = set()
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self._learn_helper(node)
            elif isinstance(node, ast.Assign) and _is_translator(node.value):
                self._helpers[ast.unparse(node.targets[0])] = str(
                    self._constant(node.value.args[0])
                )

    def run(self) -> None:
        self.visit(self._tree)

    def _learn_helper(self, function: ast.FunctionDef) -> None:
        """Record a function that passes its own first argument to Qt."""
        first = function.args.args[0].arg if function.args.args else None
        for node in ast.walk(function):
            if not (isinstance(node, ast.Call) and _is_translate(node.func)):
                continue
            context = self._constant(node.args[0])
            if context and len(node.args) > 1 and _is_name(node.args[1], first):
                self._helpers[function.name] = context
                self._inner.add(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        aliases = {}
        for part in ast.walk(node):
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                aliases[part.targets[0].id] = part.value
            elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                aliases[part.target.id] = part.value or part.target
        before = self._helpers, self._translates
        self._helpers, self._translates = dict(self._helpers), set(self._translates)
        for name, value in aliases.items():
            if _is_own_tr(value) and self._classes:
                self._helpers[name] = self._classes[-1]
            elif _is_translate(value):
                self._translates.add(name)
        self.generic_visit(node)
        self._helpers, self._translates = before

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if node in self._inner:
            return
        func = node.func
        name = func.id if isinstance(func, ast.Name) else ""
        if name in self._helpers:
            self._take(self._helpers[name], node, 0)
        elif _is_translate(func) or name in self._translates:
            context = self._constant(node.args[0]) if node.args else None
            self._take(context, node, 1)
        elif _is_own_tr(func) and self._classes:
            self._take(self._classes[-1], node, 0)
        elif name in ("tr", "_tr") or (isinstance(func, ast.Attribute) and func.attr == "tr"):
            self._refuse(node, "the context is not known")

    def _take(self, context: str | None, call: ast.Call, at: int) -> None:
        if context in (DRAFTERS, FIELDS, EXPORT, SENTENCES):
            return  # also for entries of the registry, and texts of exports
        texts = _literals(call.args[at]) if len(call.args) > at else None
        if context is None or texts is None:
            self._refuse(call, "the argument is no literal")
            return
        for text in texts:
            self._found.add(context, text, self._file)

    def _refuse(self, call: ast.Call, why: str) -> None:
        self._found.refuse(self._file, call, why)

    def _constant(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        return self._constants.get(node.id) if isinstance(node, ast.Name) else None


def _literals(node: ast.expr) -> list[str] | None:
    """Return the possible texts of an argument, or None if only a run can tell."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        either, other = _literals(node.body), _literals(node.orelse)
        return either + other if either is not None and other is not None else None
    return None


def _is_name(node: ast.expr, name: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_own_tr(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "tr" and _is_name(node.value, "self")


def _is_translator(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and _is_name(node.func, "translator")


def _is_translate(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "translate"
        and _is_name(node.value, "QCoreApplication")
    )
