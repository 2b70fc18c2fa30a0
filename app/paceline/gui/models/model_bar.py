"""The loaded pair in the top bar, "TARGET drafted by DRAFT" with its state; and the saved pairs.

The menu of models begins with the saved pairs: a click loads one, a submenu removes them from the
list.
"""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QObject, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy

from paceline.gui.kit.labels import ElidedLabel, text_label
from paceline.gui.kit.layouts import IconLabel, Refits, row_of, set_look, styled
from paceline.gui.kit.sentences import said
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.models.saved_pairs import SavedPairs
from paceline.gui.state.pair import PairModel
from paceline.names import told_apart

_MAX_TITLE_LETTERS = 60
"""Maximum number of letters of a pair's name in a menu."""


_MAX_PAIRS = 8
"""Maximum number of saved pairs in the menu, which more would make too long to read."""


class PairsMenu(QObject):
    """Keeps a menu up to date with the saved pairs; the current one is ticked."""

    chosen = Signal(int)
    """Row of a pair to load"""

    def __init__(self, menu: QMenu, forget: QMenu, pairs: SavedPairs) -> None:
        """Put pairs above all else in `menu`, and fill `forget`."""
        super().__init__(menu)
        self._menu, self._forget, self._pairs = menu, forget, pairs
        self._current = -1
        self._first = menu.actions()[0]
        self._line = menu.insertSeparator(self._first)
        self.actions_: list[QAction] = []
        pairs.changed.connect(self._fill)
        self._fill()

    def tick(self, row: int) -> None:
        """Tick the loaded or loading pair, or none for -1."""
        self._current = row
        for at, action in enumerate(self.actions_):
            action.setChecked(at == row)

    @Slot()
    def _fill(self) -> None:
        for action in self.actions_:
            self._menu.removeAction(action)
            action.deleteLater()
        self.actions_ = []
        self._forget.clear()
        titles = self._pairs.titles[:_MAX_PAIRS]
        for at, short in enumerate(told_apart(titles, _MAX_TITLE_LETTERS)):
            words, title = short.replace("&", "&&"), titles[at]
            action = QAction(words, self._menu, checkable=True, toolTip=title)
            action.setData(at)
            action.triggered.connect(self._on_chosen)
            self._menu.insertAction(self._line, action)
            self.actions_.append(action)
            forget = self._forget.addAction(words)
            forget.setData(at)
            forget.triggered.connect(self._on_forget)
        self._line.setVisible(bool(titles))
        self._forget.menuAction().setEnabled(bool(titles))
        if titles:
            self._forget.addSeparator()
            self._forget.addAction(self.tr("All of them")).triggered.connect(self._pairs.forget_all)
        self.tick(self._current if self._current < len(titles) else -1)

    @Slot()
    def _on_chosen(self) -> None:
        row = cast("QAction", self.sender()).data()
        self.tick(self._current)  # the tick follows the load and not the click
        self.chosen.emit(row)

    @Slot()
    def _on_forget(self) -> None:
        self._pairs.forget(cast("QAction", self.sender()).data())


_NAME_PX, _ARROW_PX = 420, 14
_MIN_NAME_LETTERS = 6
"""Minimum number of letters of a name."""


class ModelBar(Refits, QPushButton):
    """A button that shows a `PairModel`: the names of the models, and the state of the engine."""

    def __init__(self, model: PairModel) -> None:
        super().__init__()
        self.setProperty("kind", "chip")
        self._model = model
        self._has_died = False
        self.target = styled(ElidedLabel(_NAME_PX), role="title")
        self.draft = styled(ElidedLabel(_NAME_PX), role="title")
        self.between = text_label("", "muted")
        self.pill = text_label("", "pill")
        arrow = IconLabel(look.icon("chevron-down"), _ARROW_PX)
        self._row = row_of(on=self, margins=(12, 0, 12, 0), spacing=7)
        for label in (self.target, self.between, self.draft, self.pill, arrow):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._row.addWidget(label, 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.insertStretch(3, 1)  # takes the space that elided names leave
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        model.changed.connect(self._show_state)
        model.sameness_found.connect(self._show_state)
        self._show_state()

    @property
    def _words(self) -> tuple[str, str, str]:
        """Both unabridged names, and the words between them."""
        target, draft = self._model.target_name, self._model.draft_name
        return target or self.tr("No model"), self.tr("drafted by") if draft else "", draft

    def _width(self, *words: str) -> int:
        """Return the labels' width with these words, in pixels."""
        labels = self.target, self.between, self.draft
        room = QRect(0, 0, 9999, 999)  # as QLabel does
        widths = (
            label.fontMetrics().boundingRect(room, 0, text).width()
            for label, text in zip(labels, words, strict=True)
        )
        return sum(min(width, px(_NAME_PX)) for width in widths)

    def sizeHint(self) -> QSize:
        """Return the width of the labels with all words unabridged."""
        labels = self.target, self.between, self.draft
        now = sum(label.sizeHint().width() for label in labels if not label.isHidden())
        return QSize(self._row.sizeHint().width() - now + self._width(*self._words), 34)

    def minimumSizeHint(self) -> QSize:
        """Return a width with elided names."""
        return QSize(self._row.minimumSize().width(), 34)

    def _fit(self) -> None:
        """Shorten the words where space is short; two names are elided where they are alike."""
        target, between, draft = words = self._words
        room = self._width(*words) - max(self.sizeHint().width() - self.width(), 0)
        if draft and self._width(*words) > room:
            between = "+"
            most = range(max(len(target), len(draft), _MIN_NAME_LETTERS + 1), _MIN_NAME_LETTERS, -1)
            cuts = [told_apart((target, draft), letters) for letters in most]
            widths = [self._width(cut[0], between, cut[1]) for cut in cuts]
            fits = (at for at, width in enumerate(widths) if width <= room)
            target, draft = cuts[next(fits, widths.index(min(widths)))]
        for label, text in zip(
            (self.target, self.between, self.draft), (target, between, draft), strict=True
        ):
            label.setText(text)
            label.setVisible(bool(text))

    @Slot()
    def _show_state(self) -> None:
        state, names = self._model.state, self._words
        # A load while the engine is dead restarts it.
        self._has_died = state.status == "dead" or (self._has_died and state.status == "loading")
        words, tone = self._pill_text()
        self.pill.setText(words)
        set_look(self.pill, tone=tone)
        self.pill.setVisible(bool(words))
        lines = [said(note) for note in state.notes]
        if state.sameness is not None and not state.sameness.is_exact:  # otherwise a note says it
            lines.append(said(state.sameness.words))
        what = " ".join(filter(None, names))
        self.setToolTip("\n".join(lines) or said(state.problem) or what)
        self.setAccessibleName(" ".join(filter(None, (what, words))))
        self.setAccessibleDescription(self.tr("Choose the models"))
        self._fit()
        self.updateGeometry()

    def _pill_text(self) -> tuple[str, str]:
        state = self._model.state
        if self._model.waits_for_reply:
            return self.tr("waits for the reply"), "muted"
        if state.status == "loading":
            words = self.tr("loading {:.0f} %")
            if self._has_died:
                words = self.tr("restarting {:.0f} %")
            elif state.stage == "draft":
                words = self.tr("loading the draft model {:.0f} %")
            return words.format(state.fraction * 100), "muted"
        if state.status == "ready":
            return (self.tr("see note"), "lookup") if state.notes else (self.tr("ready"), "accent")
        if state.status == "failed":
            return self.tr("not loaded"), "danger"
        if state.status == "dead":
            return self.tr("engine ended"), "danger"
        return "", "muted"
