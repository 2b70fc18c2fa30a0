"""Two texts side by side: nothing is lost, equal words are found, code is compared by lines."""

from __future__ import annotations

import time
from difflib import SequenceMatcher
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.chat import difference
from paceline.chat.difference import DiffRow, as_table, compare

WORDS = st.lists(st.sampled_from(["a", "bee", "sea", "\n", "\n\n", "```", "it.", "  ", "<b>"]))


def text(side: object) -> str:
    return "".join(part.text for part in side)  # type: ignore[attr-defined]


def squeezed(whole: str) -> str:
    return "".join(whole.split())


def changed(rows: tuple[DiffRow, ...]) -> list[tuple[str, ...]]:
    """Return the marked text on either side of each row."""
    return [
        tuple("".join(part.text for part in side if not part.is_same) for side in row[:2])
        for row in rows
        if not row.is_same
    ]


@given(WORDS, WORDS)
def test_both_texts_are_there_whole_and_what_counts_as_equal_is_equal(
    one: list[str], other: list[str]
) -> None:
    left, right = "".join(one), "".join(other)
    difference = compare(left, right)
    assert squeezed("".join(text(row.left) for row in difference.rows)) == squeezed(left)
    assert squeezed("".join(text(row.right) for row in difference.rows)) == squeezed(right)
    for row in difference.rows:
        same = [squeezed("".join(p.text for p in side if p.is_same)) for side in row[:2]]
        assert same[0] == same[1]
    assert (difference.n_changes == 0) == all(row.is_same for row in difference.rows)


def test_words_are_marked_in_prose_and_whole_lines_in_code() -> None:
    code = "```python\ndef f({}):\n    return 1\n```\n"
    rows = compare("A big city.\n" + code.format("a"), "A huge city.\n" + code.format("b")).rows
    assert changed(rows) == [("big ", "huge "), ("def f(a):", "def f(b):")]
    assert [row.is_code for row in rows] == [False, True, True, True, True]


def test_a_new_paragraph_stands_beside_nothing() -> None:
    difference = compare("One.\n\nThree.", "One.\n\nTwo is new.\n\nThree.")
    assert [(text(row.left), text(row.right)) for row in difference.rows] == [
        ("One.", "One."),
        ("", "Two is new."),
        ("Three.", "Three."),
    ]
    assert difference.n_changes == 1


def test_a_single_word_between_longer_changes_is_no_agreement() -> None:
    rows = compare("red green blue the cold dark night", "x y z the q r s").rows
    assert changed(rows) == [("red green blue the cold dark night", "x y z the q r s")]


def test_equal_and_empty_texts() -> None:
    assert compare("", "") == ((), 0)
    assert compare("a\n\nb", "a\nb").n_changes == 0
    assert compare("", "new").n_changes == 1


def test_the_longest_texts_take_no_minutes() -> None:
    one = " ".join(f"w{n * n % 997}" for n in range(20_000))
    other = " ".join(f"w{n * n * n % 997}" for n in range(20_000))
    begin = time.thread_time()
    difference = compare(one, other)
    assert time.thread_time() - begin < 5
    assert difference.n_changes == 1


def test_a_table_escapes_texts_and_numbers_the_changes() -> None:
    html = as_table(compare("<a> one\n\nsame\n\n  old", "<a> two\n\nsame\n\n  new"), anchors=True)
    assert html.count('<a name="change-') == 2
    assert '&lt;a&gt; <span class="gone">one</span>' in html
    assert '  <span class="new">new</span>' in html
    assert "<a name=" not in as_table(compare("a", "b"))


def test_equal_ends_take_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []

    def search(junk: None, left: list[object], right: list[object], *, autojunk: bool) -> Any:
        searched.append(len(left) * len(right))
        return SequenceMatcher(junk, left, right, autojunk=autojunk)  # type: ignore[type-var]

    monkeypatch.setattr(difference, "SequenceMatcher", search)
    same = "The same line.\n" * 4_000
    assert compare(same, same).n_changes == 0
    assert compare(f"{same}One.\n{same}", f"{same}Two.\n{same}").n_changes == 1
    assert max(searched) <= 4
    assert compare(f"One.\n{same}One.", f"Two.\n{same}Two.").n_changes == 1, "too many pairs"
    assert max(searched) <= 4
