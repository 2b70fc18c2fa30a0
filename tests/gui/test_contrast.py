"""Every pair of ink and ground that the window uses can be read (WCAG 2.2, 1.4.3 and 1.4.11)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from paceline.gui.look.colours import DARK, LIGHT, Theme
from paceline.gui.look.style import whole_stylesheet

if TYPE_CHECKING:
    from collections.abc import Iterator

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])

TEXT = {
    "text": "window surface bubble hover pressed accent_soft lookup_soft danger_soft code_surface",
    "muted": "window surface bubble hover pressed code_surface accent_soft",
    "accent": "window surface accent_soft hover",
    "lookup": "window surface lookup_soft",
    "danger": "window surface danger_soft hover",
    "accent_text": "accent accent_hover",
    "tooltip_text": "tooltip",
    "selection_text": "selection",
    "faint": "window surface hover",
}
GRAPHICS = {
    "accent": "window surface bubble code_surface accent_soft",
    "lookup": "window surface bubble code_surface lookup_soft",
    "danger": "surface danger_soft",
    "time_prefill": "surface",
    "time_verify": "surface",
    "time_draft": "surface",
    "time_sample": "surface",
}


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def pairs(table: dict[str, str]) -> Iterator[tuple[str, str]]:
    for ink, grounds in table.items():
        for ground in grounds.split():
            yield ink, ground


@THEMES
def test_text_can_be_read_and_graphics_can_be_seen(theme: Theme) -> None:
    bad = {}
    for table, usual in ((TEXT, 4.5), (GRAPHICS, 3.0)):
        for ink, ground in pairs(table):
            # What is disabled, and a placeholder, is exempt; it stays above the limit of graphics.
            least = 3.0 if ink == "faint" else usual
            ratio = contrast(getattr(theme, ink), getattr(theme, ground))
            if ratio < least:
                bad[f"{ink} on {ground}"] = round(ratio, 2)
    assert bad == {}


@THEMES
def test_every_rule_that_has_ink_and_ground_is_among_them(theme: Theme) -> None:
    names = {
        getattr(theme, field): field
        for field in reversed(theme.__slots__)
        if str(getattr(theme, field)).startswith("#")
    }
    known = set(pairs(TEXT))
    found = 0
    for selector, body in re.findall(r"([^{}]+)\{([^}]*)\}", whole_stylesheet(theme)):
        rules = dict(re.findall(r"([\w-]+):\s*(#[0-9A-Fa-f]{6})", body))
        if "color" in rules and "background" in rules and "disabled" not in selector:
            found += 1
            ratio = contrast(rules["color"], rules["background"])
            pair = names[rules["color"]], names[rules["background"]]
            assert pair in known or ratio >= 4.5, f"{selector.strip()}: {pair}, {ratio:.2f}"
    assert found > 10
