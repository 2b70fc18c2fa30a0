"""The line below a reply: its figures, and room for what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from paceline.gui.scale import px
from paceline.gui.widgets.message_item import ROW_PX
from paceline.gui.widgets.stats_label import SEPARATOR, StatsLabel

if TYPE_CHECKING:
    from paceline.gui.theme import Theme
    from paceline.gui.widgets.message_actions import MessageActions

_COMPACT_PX = 160
"""What the row of actions takes when it shows icons alone, at scale 1."""


class _Slot(QWidget):
    """Room for the actions, also while they are hidden; gives way down to the icons alone."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted = 0
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.set_wanted(0)

    def set_wanted(self, width: int) -> None:
        """Take this room, and at least that of the icons."""
        least = px(_COMPACT_PX)
        width = max(width, least)
        if width != self._wanted:
            self.setMinimumWidth(least)
            self._wanted = width
            self.setMaximumWidth(width)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(self._wanted, super().sizeHint().height())


class ReplyFooter(QWidget):
    """Figures on the left, actions on the right.

    Attributes:
        stats: The figures; hidden at first.
        row: All of it, for a switch between siblings behind the figures.
        action_row: Where the actions go.
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = self._details = ""
        self.stats = StatsLabel()
        self.stats.hide()
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(4)
        self.row.addStrut(ROW_PX)
        self.row.addWidget(self.stats)
        self.row.addStretch(1)
        self._slot = _Slot()
        self.action_row = QHBoxLayout(self._slot)
        self.action_row.setContentsMargins(0, 0, 0, 0)
        self.action_row.addStretch(1)
        self.row.addWidget(self._slot)

    @property
    def has_stats(self) -> bool:
        """Whether there are figures, shown or not."""
        return bool(self._text)

    def set_stats(self, text: str, details: str, theme: Theme) -> None:
        """Take the figures.

        Args:
            text: Rich text; ``<b>`` is in the text colour, ``<em>`` a gain, ``<del>`` a loss.
            details: More of the same, on hover.
            theme: The colours.
        """
        self._text, self._details = text, details
        shown = text
        for tag, colour in (("em", theme.accent), ("b", theme.text), ("del", theme.danger)):
            start = f'<span style="color:{colour};font-weight:600">'
            shown = shown.replace(f"<{tag}>", start).replace(f"</{tag}>", "</span>")
            text = text.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
        self.stats.set_parts(shown)
        self.stats.setToolTip(f"{text}\n{details}".strip())
        self.stats.setAccessibleName(
            self.tr("Figures of this reply: {}").format(text.replace(SEPARATOR, ", "))
        )

    def set_theme(self, theme: Theme) -> None:
        """Show the figures in other colours."""
        if self.has_stats:
            self.set_stats(self._text, self._details, theme)

    def fit(self, actions: MessageActions, switch: QWidget | None, width: int) -> None:
        """Show words beside the icons of the actions where so many pixels have room for them."""
        others = self.stats.natural_width if self.has_stats else 0
        if switch is not None:
            others += switch.sizeHint().width()
        full = actions.full_width
        is_compact = others + full + 16 > width
        actions.set_compact(is_compact)
        self._slot.set_wanted(0 if is_compact else full)
