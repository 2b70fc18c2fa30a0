"""The steps that all sizes of the window are made of: the type scale, spacing, and round corners.

Sizes are device-independent pixels at a font size of 14, which is scale 1; `px` gives what they
are at the size that the user chose. That size belongs to the application as a whole, like its font
and its style sheet, so it is kept there. Main thread.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QSize

BASE_PX = 14
"""Body text of the interface at scale 1."""

TINY, SMALL, COMPACT, READING, HEADING, FIGURE = 11, 12, 13, 15, 20, 28
"""Sizes of text: badges and axes; secondary text; rows of lists; chat messages; titles of dialogs;
the big figure. Titles of cards have the size of body text, in semi-bold."""

HALF, STEP, GAP, PAGE = 4, 8, 12, 24
"""Distances: within a control; between controls that belong together; between cards; around a
page."""

CORNER = 8

COLUMNS = {"narrow": 600, "normal": 760, "full": 1 << 14}
"""Maximum width of a chat, by the setting; independent of the size of text."""

ICON, _ICON_LARGE = 16, 18
"""Side of an icon beside running text, and of one that stands alone."""

_PROPERTY = "paceline_font_px"


def font_px() -> int:
    """Return the size of body text in force."""
    app = QCoreApplication.instance()
    chosen = app.property(_PROPERTY) if app is not None else None
    return chosen if isinstance(chosen, int) else BASE_PX


def set_font_px(size: int) -> None:
    """Set the size of body text, which all later calls of `px` follow; needs an application."""
    app = QCoreApplication.instance()
    if app is not None:
        app.setProperty(_PROPERTY, size)


def px(size: int) -> int:
    """Return a size of scale 1 at the scale in force."""
    return round(size * font_px() / BASE_PX)


def scaled(size: QSize) -> QSize:
    """Return a size of scale 1 at the scale in force."""
    return QSize(px(size.width()), px(size.height()))


def icon_size(side: int = ICON) -> QSize:
    """Return the size of a square icon at the scale in force."""
    return QSize(px(side), px(side))


def type_sizes() -> dict[str, str]:
    """Return the sizes for style sheets, by the names that they use, e.g. ``$small``."""
    sizes = {
        "tiny": TINY,
        "small": SMALL,
        "compact": COMPACT,
        "body": BASE_PX,
        "reading": READING,
        "heading": HEADING,
        "figure": FIGURE,
        "icon": ICON,
        "icon_large": _ICON_LARGE,
    }
    return {name: f"{px(size)}px" for name, size in sizes.items()}
