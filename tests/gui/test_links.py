from __future__ import annotations

import pytest

from paceline.gui.chat.links import MAX_LINK_CHARS, describe_link


@pytest.mark.parametrize(
    ("address", "shown", "words"),
    [
        ("https://example.org/a?b=1", "https://example.org/a?b=1", ""),
        ("https://münchen.de/ä", "https://xn--mnchen-3ya.de/%C3%A4", "münchen.de"),
        ("https://xn--mnchen-3ya.de/", "https://xn--mnchen-3ya.de/", "münchen.de"),
        ("https://аpple.com/", "https://xn--pple-43d.com/", "several alphabets"),
        ("https://яндекс.рф/", "https://xn--d1acpjx3f.xn--p1ai/", "look like others"),
        ("https://日本語カナab.jp/", "", "look like others"),
        ("https://apple.com@evil.org/", "https://apple.com@evil.org/", "leads to evil.org"),
        ("https://a.org/\u202egpj.exe", "https://a.org/%E2%80%AEgpj.exe", ""),
        ("https://xn--a.org/", "", "is written"),
    ],
)
def test_an_address_is_shown_as_it_is_sent(address: str, shown: str, words: str) -> None:
    text, warning = describe_link(address)
    if shown:
        assert text == shown
    assert text.isascii()
    assert words in warning
    assert bool(words) == bool(warning)


def test_a_long_address_is_cut() -> None:
    text, _ = describe_link("https://a.org/" + "x" * 2_000)
    assert len(text) == MAX_LINK_CHARS + 1


@pytest.mark.parametrize("address", ["", "x", "https://", "\ud800", "https://xn--" + "a" * 400])
def test_no_address_is_too_odd(address: str) -> None:
    assert all(isinstance(part, str) for part in describe_link(address))
