"""The page of a list of models: fields, the list, and the words for an empty list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from paceline.gui.kit.fields import DropDown
from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import Refits, Shown, column_of, fill, row_of
from paceline.gui.kit.search_field import PAUSE_MS, SearchField
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.models.candidates import MachineFacts, Picks
from paceline.gui.models.lists.model_list import ModelList
from paceline.gui.models.lists.offers import Offer, timed

_ICON_PX = 32
_TEXT_PX = 360


@dataclass(frozen=True, slots=True)
class Instead:
    """The words of a page in place of its rows.

    Attributes:
        title: Why there are no rows.
        text: A further sentence.
        sign: Name of an icon above.
        action_text: Text of a button; empty without one.
        action: Action of the button.
        is_busy: Whether the page waits for something.
    """

    title: str
    text: str = ""
    sign: str = ""
    action_text: str = ""
    action: Callable[[], object] | None = None
    is_busy: bool = False


class StatePanel(Shown):
    """Widget of an `Instead`: a sign, a title, a sentence, and perhaps a button."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = Instead("")
        self.sign = QLabel()
        self.title = text_label("", "title", wraps=True)
        self.text = text_label("", "muted", wraps=True, plain=True)
        self.bar = QProgressBar(minimum=0, maximum=0, textVisible=False)
        self.bar.setFixedWidth(160)
        self.button = QPushButton()
        # A label of several lines that is aligned in a column does not get the height that it
        # needs.
        middle = QWidget()
        middle.setMaximumWidth(px(_TEXT_PX))
        column_of(
            self.sign,
            self.title,
            self.text,
            (self.bar, 0, Qt.AlignmentFlag.AlignHCenter),
            (self.button, 0, Qt.AlignmentFlag.AlignHCenter),
            on=middle,
            margins=0,
            spacing=8,
        )
        column = column_of((None, 2), on=self, margins=(0, 24, 0, 24))
        row = row_of(None, (middle, 100), None)
        fill(column, row, (None, 3))
        for label in (self.sign, self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button.clicked.connect(self._on_clicked)

    def show_state(self, shown: Instead) -> None:
        """Show these words."""
        self._shown = shown
        self.title.setText(shown.title)
        say(self.text, shown.text)
        self.sign.setVisible(bool(shown.sign))
        if shown.sign:
            self.sign.setPixmap(look.icon(shown.sign).pixmap(_ICON_PX, _ICON_PX))
        self.bar.setVisible(shown.is_busy)
        say(self.button, shown.action_text)
        self.setAccessibleName(f"{shown.title} {shown.text}".strip())

    @Slot()
    def _on_clicked(self) -> None:
        if self._shown.action is not None:
            self._shown.action()


class Page(Refits, Shown):
    """A source of models; subclasses have the fields, and choose the content.

    The fields are stacked where the page is narrower than `wide_px` at scale 1.
    """

    wide_px = 340

    picked = Signal(object)
    """Offer"""
    confirmed = Signal(object)
    """Offer that is picked and confirmed"""

    def __init__(self, name: str, *, opens: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(name)
        # Its fields shrink, or stack as soon as its place is narrow.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.picks = Picks()
        """The present picks."""
        self.machine = MachineFacts()
        """Facts about this computer"""
        self._step = 0
        self._words: SearchField | None = None
        self.rows = ModelList(name, opens=opens)
        self.state = StatePanel()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.rows)
        self.stack.addWidget(self.state)
        self.bar = row_of(spacing=8)
        self.column = column_of(
            self.bar, (self.stack, 1), on=self, margins=(0, 12, 0, 0), spacing=8
        )
        self.add_list(self.rows)

    def add_list(self, rows: ModelList) -> None:
        """Connect a list, whose picks become the page's."""
        rows.picked.connect(self.picked)
        rows.confirmed.connect(self.confirmed)

    def offers(self) -> Sequence[Offer]:
        """Return the present rows."""
        raise NotImplementedError

    def instead(self) -> Instead | QWidget | None:
        """Return the content in place of the rows that were shown last, or None for the rows."""
        raise NotImplementedError

    def begin(self, *, takes_focus: bool) -> None:
        """Come to the front; typing then searches, if the page may take the focus."""

    def follow(self, *, was_in_front: QWidget | None) -> None:
        """Update the parts around the rows.

        Args:
            was_in_front: The widget that was shown before in this place.
        """

    # Not overridden: PySide would keep the connection to a deleted page (6.11.3).
    @Slot()
    def refresh(self) -> None:
        """Show the present rows, or the content in their place."""
        before = self.stack.currentWidget()
        self.show_rows(self.rows, self.offers())
        front = self.instead() or self.rows
        if isinstance(front, Instead):
            self.state.show_state(front)
            front = self.state
        self.stack.setCurrentWidget(front)
        self.follow(was_in_front=before)

    def show_rows(self, rows: ModelList, offers: Iterable[Offer]) -> None:
        """Show rows in a list, with their expected speeds here."""
        picks, reading = self.picks, self.machine.reading
        rows.offers.show([timed(offer, picks, reading) for offer in offers], picks)

    def show_picks(self, picks: Picks, machine: MachineFacts) -> None:
        """Follow the picks; another step begins with an empty search, at its pick."""
        if (picks, machine) == (self.picks, self.machine) and self._step:
            return  # not while a slider moves
        is_other_step, self._step = picks.step != self._step, picks.step
        self.picks, self.machine = picks, machine
        if is_other_step and self._words is not None:
            self._words.clear()
        self.refresh()
        current = self.rows.current
        is_closed = self.rows.opens and current is not None and not current.is_open(picks)
        if is_other_step or is_closed:
            shown = enumerate(self.rows.offers.rows)
            self.rows.show_row(next((at for at, row in shown if row.is_open(picks)), -1))

    def _fit(self) -> None:
        directions = QBoxLayout.Direction
        is_wide = self.width() >= px(self.wide_px)
        self.bar.setDirection(directions.LeftToRight if is_wide else directions.TopToBottom)

    def make_choice(self, name: str, entries: Iterable[tuple[str, str]]) -> DropDown:
        """Make a field to choose from words with values."""
        choice = DropDown(entries, name=name, n_letters=12)
        choice.setToolTip(name)
        return choice

    def make_search(self, words: str, pause_ms: int = PAUSE_MS) -> SearchField:
        """Make a search field with arrow keys that lead into the list; see `SearchField`."""
        made = self._words = SearchField(words, pause_ms=pause_ms)
        made.left_downwards.connect(self._on_down)
        return made

    @Slot()
    def _on_down(self) -> None:
        if self.rows.isVisible():
            self.rows.take_focus()
