"""The demo pair's recipe: what is read out of the documentation's sources."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from demo_pair.corpus.blocks import parse
from demo_pair.corpus.inline import to_markdown
from demo_pair.corpus.markdown import Renderer
from demo_pair.corpus.objects import documented, with_alone
from demo_pair.corpus.prose import brief, clipped, pieces, sentences
from demo_pair.corpus.sections import sections
from demo_pair.corpus.signature import parameters_of
from demo_pair.corpus.sources import Documentation, NoSourcesError, read_documentation
from demo_pair.corpus.tables import rows_of

MODULE = r"""
.. _lights-label:

:mod:`lights` --- Switching lights
==================================

.. module:: lights
   :synopsis: Switches.

Lights are switched by :func:`switch`. See :ref:`lights-label` and |release|.

.. function:: switch(lamp, \*wires, state=True, \
                     wait=(1, 2))
              toggle(lamp)

   Switch a *lamp*.  Returns the old state::

      >>> switch('desk')
      False

   .. note::

      A :class:`~lights.Lamp` may be `broken <https://example.org>`_.

   .. versionchanged:: 3.9
      Added *wires*. (Contributed by Ann in :issue:`1`.)

.. class:: Lamp(colour)

   A lamp.

   .. attribute:: colour

      Its colour, see [#f]_.

   .. method:: dim(by, /)

      Dim it.

.. [#f] A footnote.

Colours
-------

=====  =========
name   meaning
=====  =========
red    it is on
=====  =========

* one
* two

  with more

term
   What it means.
"""


@pytest.fixture
def documentation(tmp_path: Path) -> Documentation:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "lights.rst.txt").write_text(MODULE, encoding="utf-8")
    (tmp_path / "c-api").mkdir()
    (tmp_path / "c-api" / "lights.rst.txt").write_text(MODULE, encoding="utf-8")
    return read_documentation(tmp_path)


def test_objects_have_names_signatures_and_texts(documentation: Documentation) -> None:
    found = {each.name: each for each in documented(documentation)}
    assert sorted(found) == [
        "lights.Lamp", "lights.Lamp.colour", "lights.Lamp.dim", "lights.switch", "lights.toggle",
    ]  # fmt: skip
    switch = found["lights.switch"]
    assert switch.signatures == ("switch(lamp, *wires, state=True, wait=(1, 2))",)
    assert switch.paragraphs == (
        "Switch a *lamp*. Returns the old state:",
        "```python\n>>> switch('desk')\nFalse\n```",
        "Note: A `Lamp` may be broken.",
        "Changed in version 3.9: Added *wires*.",
    )
    assert found["lights.toggle"].signatures == ("toggle(lamp)",)
    assert found["lights.Lamp.dim"].owner == "Lamp"
    assert found["lights.Lamp"].paragraphs == ("A lamp.",)
    assert found["lights.Lamp.colour"].paragraphs == ("Its colour, see.",)


def test_short_names_that_say_enough(documentation: Documentation) -> None:
    switch, *_ = documented(documentation)
    member = replace(switch, name="lights.Lamp.dim", owner="Lamp")
    things = [
        switch,
        replace(switch, name="rails.switch", module="rails"),
        replace(switch, name="collections.deque", module="collections"),
        replace(switch, name="typing.deque", module="typing"),
        replace(member, name="x.Y.deque"),
        member,
        replace(member, name="lights.Lamp.blink"),
        replace(member, name="lights.Sign.blink"),
    ]
    found = [each.name for each in with_alone(things) if each.alone]
    assert found == ["collections.deque", "lights.Lamp.dim"]


def test_sections_have_titles_and_everything_but_objects(documentation: Documentation) -> None:
    top, colours = sections(documentation)
    assert (top.title, top.above, top.module) == ("`lights` - Switching lights", "", "lights")
    assert top.paragraphs == (
        "Lights are switched by `switch()`. See `lights` - Switching lights and 3.11.",
    )
    assert (colours.title, colours.above) == ("Colours", "`lights` - Switching lights")
    assert colours.paragraphs == (
        "| name | meaning |\n|---|---|\n| red | it is on |",
        "- one",
        "- two\n\n  with more",
        "**term**: What it means.",
    )


def test_a_folder_without_sources_says_where_they_are(tmp_path: Path) -> None:
    with pytest.raises(NoSourcesError, match=r"python3\.11-doc"):
        read_documentation(tmp_path)


@pytest.mark.parametrize(
    ("markup", "markdown"),
    [
        (":meth:`~list.sort`", "`sort()`"),
        (":meth:`!list.sort`", "`list.sort()`"),
        (":func:`the list <list>`", "`the list`"),
        (":pep:`484` and :rfc:`822`", "PEP 484 and RFC 822"),
        (":term:`iterable <iterables>`", "iterable"),
        (":ref:`here <there>` or :ref:`some-label`", "here or some label"),
        ("``a\\n``, \\*args and ``__init__``", "`a\\n`, *args and `__init__`"),
        ("a link_ -- to `a place`_ [1]_", "a link - to a place"),
        ("the `default` role", "the `default` role"),
        ("so (contributed by Ben (him)).", "so"),
        (":file:`{home}/x` :kbd:`Ctrl-C`", "`home/x` Ctrl-C"),
    ],
)
def test_inline_markup(markup: str, markdown: str) -> None:
    assert to_markdown(markup, {}) == markdown


def test_code_is_told_from_text() -> None:
    lines = "::\n\n   x = 1\n\n.. code-block:: none\n\n   one two\n\nUse::\n\n   $ ls".splitlines()
    assert Renderer({}).paragraphs(parse(lines)) == [
        "```python\nx = 1\n```", "```\none two\n```", "Use:", "```\n$ ls\n```",
    ]  # fmt: skip


def test_grid_tables_with_joined_cells_are_left_out() -> None:
    grid = ["+---+---+", "| a | b |", "+===+===+", "| 1 | 2 |", "|   | 3 |", "+---+---+"]
    assert rows_of(grid) == [["a", "b"], ["1", "2 3"]]
    assert rows_of([*grid[:3], "| joined|", *grid[4:]]) == []


@pytest.mark.parametrize(
    ("signature", "parameters"),
    [
        ("f()", []),
        ("range(start, stop[, step])", [("start", "", ""), ("stop", "", ""),
                                        ("step", "", "optional")]),
        ("f(a, /, b='x, y', *, c=(1, 2), **rest)", [
            ("a", "", "by position only"), ("b", "'x, y'", ""), ("c", "(1, 2)", "by keyword only"),
            ("**rest", "", "by keyword only"),
        ]),
        ("f(x: int = 1)", [("x", "1", "")]),
    ],
)  # fmt: skip
def test_parameters(signature: str, parameters: list[tuple[str, str, str]]) -> None:
    found = parameters_of(signature)
    assert found is not None
    assert [(each.name, each.default, each.note) for each in found] == parameters


@pytest.mark.parametrize("signature", ["pi", "f(a, ...)", "f(a", "f(<'str'>)"])
def test_signatures_that_are_not_understood(signature: str) -> None:
    assert parameters_of(signature) is None


def test_sentences_and_pieces(documentation: Documentation) -> None:
    assert sentences("See e.g. `x`. It works. (Yes.)") == ["See e.g. `x`.", "It works.", "(Yes.)"]
    switch = next(each for each in documented(documentation) if each.short == "switch")
    assert brief(switch) == "Switch a *lamp*. Returns the old state."
    assert clipped(["one. Two is long.", "three"], 10) == "one."
    assert clipped(["a text", "it leads to:", "```\n" + "x" * 99 + "\n```"], 60) == "a text"
    assert pieces(["a" * 50, "b:", "```\nc\n```", "d" * 40], 60) == [
        "a" * 50 + "\n\nb:\n\n```\nc\n```", "d" * 40,
    ]  # fmt: skip
