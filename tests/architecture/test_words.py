"""The words of the code: docstrings begin with a noun or a verb, and public classes have one name.

Half a sentence ("Whether …", "Of one file.") has to be completed by the reader, who often cannot;
and a name that stands for two classes is looked up twice.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from architecture.measures import TREES
from architecture.source import REPOSITORY, Module, module, modules, modules_in

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS = "What|Whether|How|Why|Where|Which|When|Who|Whose|As|Of|In|For|If"
_BEGINNING = re.compile(rf"\W*(?:{_WORDS})\b")
_CANDIDATE = re.compile(rf'"""\W*(?:{_WORDS})\b')
API = frozenset({"Pair", "Reply"})
"""Classes of `engine/api.py`, which scripts import, share their names with those of `chat`."""


def half_sentences(module: Module) -> Iterator[str]:
    """Yield the docstrings that begin with neither a noun nor a verb, attributes' among them."""
    if _CANDIDATE.search(module.text) is None:  # to parse a thousand files takes seconds
        return
    for node in module.nodes:
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))) if _BEGINNING.match(text):
                    yield f"{module.place}:{statement.lineno}: {text.splitlines()[0]}"


def shared_names(found: tuple[Module, ...]) -> dict[str, list[str]]:
    """Return the modules of each public class that stands in several."""
    places = defaultdict(list)
    for each in found:
        for node in each.nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(each.place)
    return {name: where for name, where in places.items() if len(where) > 1}


@pytest.mark.parametrize("tree", TREES)
def test_docstrings_begin_with_a_noun_or_a_verb(tree: str) -> None:
    found = [line for each in modules_in(REPOSITORY / tree) for line in half_sentences(each)]
    assert not found, "\n".join(found)


def test_a_public_class_has_a_name_of_its_own() -> None:
    shared = shared_names(modules())
    assert {name: where for name, where in shared.items() if name not in API} == {}


def test_half_a_sentence_and_a_shared_name_are_seen() -> None:
    bad = module('A = 1\n"""Of one file."""\nclass B:\n    def c():\n        """Whether."""\n')
    good = module('A = 1\n"""Ofcom, a name."""\nclass B:\n    """Bytes of a file."""\n')
    assert len(list(half_sentences(bad))) == 2
    assert list(half_sentences(good)) == []
    assert shared_names((bad, good)) == {"B": [bad.place, good.place]}
