"""Names from elsewhere: nothing in them is hidden, or turns what stands beside them around."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.names import REPLACEMENT, told_apart, visible

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
INVISIBLE = "\0\x1b\x7f\x9b\xad\u034f\u115f\u180e\u200b\u2028\u2029\u2060\u2064\u3164\ufeff\ufff9"
TAGS = "\U000e0001\U000e0041\U000e007f"


@pytest.mark.parametrize("sign", [*BIDI, *INVISIBLE, *TAGS], ids=lambda sign: f"U+{ord(sign):04X}")
def test_a_sign_that_is_not_seen_is_shown(sign: str) -> None:
    assert visible(f"Qwen{sign}3 Q4_K_M") == f"Qwen{REPLACEMENT}3 Q4_K_M"
    assert visible(f"模型{sign}三") == f"模型{REPLACEMENT}三"


@pytest.mark.parametrize(
    "name",
    [
        "Qwen3 8B Q4_K_M",
        "é 模-Q4_0.gguf",
        "👩‍👩‍👧 family",
        "❤️ heart",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿 England",
        "می‌خواهم",
        "क्‍ष",
        "葛\U000e0100",
        "שלום 7B",
        "two\nlines\tand tabs",
        "٪ \u0600١",
        "",
    ],
)
def test_what_scripts_and_emoji_need_stays(name: str) -> None:
    assert visible(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("pay\u200dpal", f"pay{REPLACEMENT}pal"),
        ("a\ufe0f\ufe01\U000e0121b", f"a\ufe0f{REPLACEMENT}{REPLACEMENT}b"),
        ("\U0001f3f4\U000e0067", f"\U0001f3f4{REPLACEMENT}"),
        ("\u200d模", f"{REPLACEMENT}模"),
    ],
)
def test_joiners_variants_and_tags_out_of_their_place_are_shown(name: str, shown: str) -> None:
    assert visible(name) == shown


@given(st.text(max_size=30))
def test_any_name_keeps_its_length_and_has_no_control(name: str) -> None:
    shown = visible(name)
    assert len(shown) == len(name)
    assert visible(shown) == shown
    assert not set(BIDI) & set(shown)
    assert all(unicodedata.category(char) != "Cc" or char in "\n\t" for char in shown)
    assert all(new in (old, REPLACEMENT) for old, new in zip(name, shown, strict=True))


LETTERS = st.text("aB-1", max_size=14)
ALIKE = st.lists(st.tuples(LETTERS, LETTERS, LETTERS).map("".join), min_size=1, max_size=6)


@given(ALIKE, st.integers(2, 40))
def test_names_that_differ_are_distinguished_and_alike_parts_are_left_out(
    names: list[str], most: int
) -> None:
    told = told_apart(names, most)
    assert len(set(told)) == len(set(names))
    assert told == tuple(names) or max(map(len, told)) <= most
    for name, short in zip(names, told, strict=True):
        begin, _, end = short.partition("…")
        assert name.startswith(begin)
        assert name.endswith(end)
        assert short == name or len(name) > most


def test_what_two_names_have_in_common_is_what_goes() -> None:
    pair = "Qwen2.5-Coder-7B-Instruct-Q4_K_M", "Qwen2.5-Coder-0.5B-Instruct-Q4_K_M"
    assert told_apart(pair, 21) == ("Qwen2.5-Coder-7…4_K_M", "Qwen2.5-Coder-0…4_K_M")
    assert told_apart(pair[:1], 21) == ("Qwen2.5-Co…uct-Q4_K_M",)
