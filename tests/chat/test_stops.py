from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.chat.presets import MAX_STOP_CHARS, MAX_STOPS, check_stops
from paceline.errors import ValueOutOfRangeError
from paceline.params import read_stop, shown_stop


@given(st.text(alphabet="\\ntr\n\t\r a", max_size=30))
def test_what_is_shown_is_read_as_it_was(stop: str) -> None:
    shown = shown_stop(stop)
    assert read_stop(shown) == stop
    assert not set("\n\t\r") & set(shown)


@pytest.mark.parametrize(
    ("typed", "stop"),
    [("\\n\\n", "\n\n"), ("a\\tb", "a\tb"), ("\\\\n", "\\n"), ("\\d", "\\d"), ("\\", "\\")],
)
def test_escapes(typed: str, stop: str) -> None:
    assert read_stop(typed) == stop


@pytest.mark.parametrize(
    ("stops", "words"),
    [
        (tuple(map(str, range(MAX_STOPS + 1))), "There are 17 stop strings"),
        (("",), "is empty"),
        (("x" * (MAX_STOP_CHARS + 1),), "201 characters"),
        (("\n", "\n"), "“\\n” is given twice"),
    ],
)
def test_what_cannot_be_is_refused(stops: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueOutOfRangeError) as raised:
        check_stops(stops)
    assert words in raised.value.message


def test_limits_belong_to_what_can_be() -> None:
    check_stops(())
    check_stops((*map(str, range(MAX_STOPS - 1)), "x" * MAX_STOP_CHARS))
