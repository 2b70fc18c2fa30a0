"""The two sets of colours; `paceline.gui.look.theme` applies them.

Teal (the accent) marks tokens of the draft model, amber those of a lookup, grey rejected ones. Text
and muted text keep a contrast of 4.5:1 on both grounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours, all "#rrggbb".

    Attributes:
        name: "light" or "dark".
        window: Background of the window and of the chat.
        surface: Cards, side panels, fields.
        line: Thin lines around and between surfaces.
        line_strong: Outlines of controls, and of items under the pointer.
        text: Body text.
        muted: Secondary text; still 4.5:1 on window and surface.
        faint: Placeholders and disabled controls.
        accent: The draft model's colour, and the product's.
        accent_soft: Background of text that the draft model wrote, and of selected items.
        accent_hover: The accent under the pointer.
        accent_text: Text on the accent.
        lookup: The colour of all drafters that are not a model.
        lookup_soft: Background of text that a lookup proposed.
        rejected: Drafted but not accepted.
        danger: Failures.
        danger_soft: Background of failures.
        hover: Background of an item under the pointer.
        pressed: Background of a pressed item.
        bubble: Background of the user's messages.
        code_surface: Background of code.
        selection: Background of selected text.
        selection_text: Selected text.
        tooltip: Background of tool tips.
        tooltip_text: Text of tool tips.
        time_verify: Time in the target's decodes. Colours of times are never those of drafters.
        time_draft: Time spent on drafting.
        time_sample: Time spent on sampling.
        time_rest: All other time.
        time_prefill: Time spent on reading the prompt.
    """

    name: Literal["light", "dark"]
    window: str
    surface: str
    line: str
    line_strong: str
    text: str
    muted: str
    faint: str
    accent: str
    accent_soft: str
    accent_hover: str
    accent_text: str
    lookup: str
    lookup_soft: str
    rejected: str
    danger: str
    danger_soft: str
    hover: str
    pressed: str
    bubble: str
    code_surface: str
    selection: str
    selection_text: str
    tooltip: str
    tooltip_text: str
    time_verify: str
    time_draft: str
    time_sample: str
    time_rest: str
    time_prefill: str

    @property
    def is_dark(self) -> bool:
        """Return whether the theme has light text on a dark background."""
        return self.name == "dark"


LIGHT = Theme(
    name="light",
    window="#F6F7F8",
    surface="#FFFFFF",
    line="#E3E6E8",
    line_strong="#C9D0D4",
    text="#1B2226",
    muted="#5D6A72",
    faint="#7F8B92",
    accent="#0B7A75",
    accent_soft="#E1F3F1",
    accent_hover="#096560",
    accent_text="#FFFFFF",
    lookup="#8A5A00",
    lookup_soft="#FBEBCB",
    rejected="#CBD3D8",
    danger="#B3261E",
    danger_soft="#FBE9E7",
    hover="#EEF1F2",
    pressed="#E3E8EA",
    bubble="#ECEFF1",
    code_surface="#FFFFFF",
    selection="#B9DEDB",
    selection_text="#10201F",
    tooltip="#1F272B",
    tooltip_text="#F2F5F6",
    time_verify="#4A63C8",
    time_draft="#8A6BD1",
    time_sample="#C0619B",
    time_rest="#AAB4BA",
    time_prefill="#6F7F2E",
)

DARK = Theme(
    name="dark",
    window="#14181A",
    surface="#1B2124",
    line="#2B3338",
    line_strong="#414C52",
    text="#E7ECEE",
    muted="#9FACB3",
    faint="#738087",
    accent="#4CC7BE",
    accent_soft="#17393A",
    accent_hover="#6AD5CD",
    accent_text="#08201F",
    lookup="#E6B450",
    lookup_soft="#3A2F16",
    rejected="#4A555B",
    danger="#FF8A80",
    danger_soft="#3B1F1E",
    hover="#232B2F",
    pressed="#2B3439",
    bubble="#222A2E",
    code_surface="#1B2124",
    selection="#215E5B",
    selection_text="#F2FBFA",
    tooltip="#E7ECEE",
    tooltip_text="#1B2226",
    time_verify="#8298F2",
    time_draft="#B59AF0",
    time_sample="#E08FBF",
    time_rest="#5D6970",
    time_prefill="#B4C46C",
)

# Neither teal nor amber, since these two show which drafter a token came from.
CODE_COLOURS: dict[str, dict[str, str]] = {
    "light": {
        "keyword": "#7B3FA0",
        "string": "#3B6E22",
        "number": "#1E5FB3",
        "comment": "#6B777E",
        "name": "#1E5FB3",
        "builtin": "#9B2F5F",
        "wrong": "#B3261E",
    },
    "dark": {
        "keyword": "#C9A0F0",
        "string": "#A8CF8E",
        "number": "#86B8F7",
        "comment": "#87949B",
        "name": "#86B8F7",
        "builtin": "#F09BBE",
        "wrong": "#FF8A80",
    },
}
"""Colours of code by the theme's name, then by the kind of token (`paceline.chat.syntax.code`)."""
