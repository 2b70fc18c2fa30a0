"""Texts that were made to hold the window up: each is shown, in bounded time, by a real view."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from gui.chat_help import shown_body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.messages.reply_body import ReplyBody

N = 60_000
ALLOWED_S = 0.2
"""Time limit of one write with layout and paint; tests allow ten times that."""

BOMBS = {
    "quotes in quotes": "".join("> " * n + "a\n" for n in range(1, 300)) + "> " * 1_000 + "deep",
    "quotes without blanks": ">" * 1_000 + "a\n" + ">" * 1_000 + "b",
    "quotes with gaps": (">\n" * 500 + "> a\n") * 20,
    "lists in lists": "- " * 1_000 + "a",
    "lists in lists, in steps": "\n".join(" " * (2 * n) + "- a" for n in range(1_000)),
    "numbers in numbers": "\n".join(" " * (3 * n) + "1. a" for n in range(400)),
    "quotes in lists": "\n".join(" " * n + "> - a" for n in range(400)),
    "lists in quotes": "> - " * 400 + "a",
    "tasks": "- [x] a\n" * 5_000,
    "one word": "x" * 200_000,
    "one line": "word " * 40_000,
    "one line of code": "```\n" + "x = 1; " * 30_000 + "\n```",
    "one line in one language": "```python\n" + "(" * 200_000 + "\n```",
    "a string without end": "```python\n'''" + "a\n" * 30_000,
    "a language without end": "```" + "p" * 100_000 + "\na\n```",
    "a wide table": "|a" * 1_000 + "\n" + "|-" * 1_000 + "\n" + ("|b" * 1_000 + "\n") * 28,
    "a long table": "a|b\n-|-\n" + "x|y\n" * 15_000,
    "a table with long cells": "a|b\n-|-\n" + ("x" * 9_000 + "|" + "y" * 9_000 + "\n") * 6,
    "many tables": "a|b\n-|-\nx|y\n\n" * 400,
    "tables in lists": "- a|b\n  -|-\n  x|y\n" * 300,
    "bars": "|" * N + "\n" + "|-" * 100,
    "escaped bars": "a|b\n-|-\n" + "\\|" * 9_000 + "|x\n",
    "brackets": "[" * N,
    "links in links": "[a](" * (N // 4),
    "link ends": "]" * N + "(" * N,
    "pictures in pictures": "![" * (N // 2),
    "pictures": "![a](http://a.org/x.png) " * 2_000,
    "references": "[a]: http://x\n\n" + "[a] " * (N // 4),
    "many references": "".join(f"[a{n}]: http://x\n" for n in range(3_000)),
    "emphasis": "*a " * (N // 3),
    "mixed emphasis": "*_" * (N // 2),
    "emphasis that never ends": "a**b" + "c* " * (N // 4),
    "strikes": "~~a" * (N // 4),
    "backticks": "".join("`" * (n % 300 + 1) + " " for n in range(400)),
    "entities": "&amp;&#x1F600;&lt" * 3_000,
    "long entities": "&" + "a" * N + ";" + "&#" + "9" * N + ";",
    "escapes": "\\*" * (N // 2),
    "dollars": "$a $" * (N // 4),
    "formulas": "\\(" * (N // 4) + "\\[" * (N // 4),
    "angles": "<" * N,
    "autolinks": "<http://a.org/" * (N // 14) + ">" * N,
    "addresses": "https://a.org/" + "a" * 18_000 + "\n" + "https://a.org/(" * 1_000,
    "raw html": "<div>" * (N // 5) + "<!--" * 5_000 + "<![CDATA[" * 2_000,
    "fences": "```\n" * (N // 4),
    "fences of many lengths": "".join("`" * (n % 90 + 3) + "\na\n" for n in range(900)),
    "underlines": "a\n=\n" * (N // 6),
    "rules": "---\n" * (N // 8),
    "headings": "# a\n" * (N // 8),
    "newlines": "\n" * N,
    "blanks": " " * N + "a",
    "tabs": "\t" * 5_000 + "a\n" + "- \t\ta\n" * 2_000,
    "emoji": "🎉" * 30_000,
    "marks on a letter": "a" + "\u0301" * 9_000,
    "both directions": ("אב\u202eab" * 20 + " ") * 300,
    "joiners": "👩\u200d" * 9_000,
    "reasoning": "<think>\n" * 9_000 + "</think>\n" * 3_000,
    "reasoning and fences": "<think>\n```\n</think>\n" * 4_000,
    "channels": "<|channel|>analysis<|message|>a<|end|>" * 1_000,
    "not ours": "\0\ufdd0\ufdd1\ufffc\u2028\u2029\ud800\udfff\x1c\x85" * 3_000,
}


@pytest.fixture
def body(qtbot: QtBot) -> Iterator[ReplyBody]:
    yield from shown_body(qtbot)


@pytest.mark.grid(short=20)
@pytest.mark.parametrize("name", BOMBS)
def test_no_text_holds_the_window_up(
    name: str, body: ReplyBody, record_property: pytest.RecordProperty
) -> None:
    text = BOMBS[name]
    slowest = 0.0
    for show, part in (
        *((body.show_source, text[: len(text) * n // 4]) for n in range(1, 5)),
        (partial(body.show_source, is_final=True), text),
    ):
        start = perf_counter()
        show(part)
        body.answer.viewport().repaint(0, max(0, body.answer.height() - 600), 700, 600)
        slowest = max(slowest, perf_counter() - start)
    record_property("slowest_ms", round(1e3 * slowest))
    print(f"{name}: {1e3 * slowest:.0f} ms")
    assert slowest < 10 * ALLOWED_S
