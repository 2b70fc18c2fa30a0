"""The chosen pair in the top bar: "TARGET drafted by DRAFT", its state, and a menu to change it.

The menu begins with the saved pairs: a click loads one, a submenu removes them from the list.
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
from paceline.gui.models.saved_pairs import SavedPairs
from paceline.gui.state.pair import PairModel

_LONGEST = 60
"""Letters of a pair's name that a menu shows."""


_MOST = 8
"""Pairs, the newest; more would make the menu too long to read."""


class PairsMenu(QObject):
    """Keeps one menu in line with the pairs; the current one is ticked."""

    chosen = Signal(int)
    """Row of a pair to load"""

    def __init__(self, menu: QMenu, forget: QMenu, pairs: SavedPairs) -> None:
        """Put pairs above everything else in `menu`, and fill `forget`."""
        super().__init__(menu)
        self._menu, self._forget, self._pairs = menu, forget, pairs
        self._current = -1
        self._first = menu.actions()[0]
        self._line = menu.insertSeparator(self._first)
        self.actions_: list[QAction] = []
        pairs.changed.connect(self._fill)
        self._fill()

    def tick(self, row: int) -> None:
        """Mark the pair that is loaded, or being loaded; -1: none of them."""
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
        titles = self._pairs.titles[:_MOST]
        for at, title in enumerate(titles):
            words = title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"
            words = words.replace("&", "&&")
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


_NAME_PX, _ARROW_PX = 220, 14


class ModelBar(Refits, QPushButton):
    """A button that shows a `PairModel` and opens a menu."""

    def __init__(self, model: PairModel, menu: QMenu) -> None:
        super().__init__()
        self.setProperty("kind", "chip")
        self._model = model
        self.target = styled(ElidedLabel(_NAME_PX), role="title")
        self.draft = styled(ElidedLabel(_NAME_PX), role="title")
        self.between = text_label("", "muted")
        self._words = ""
        self.pill = text_label("", "pill")
        arrow = IconLabel(look.icon("chevron-down"), _ARROW_PX)
        self._row = row_of(on=self, margins=(12, 0, 12, 0), spacing=7)
        for label in (self.target, self.between, self.draft, self.pill, arrow):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._row.addWidget(label, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setMenu(menu)
        self.setToolTip(self.tr("Choose the models"))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        model.changed.connect(self._show_state)
        model.sameness_found.connect(self._show_state)
        self._show_state()

    def sizeHint(self) -> QSize:
        """As wide as its labels, with all the words between the names."""
        metrics, room = self.between.fontMetrics(), QRect(0, 0, 2000, 2000)  # as QLabel does
        full, now = (
            metrics.boundingRect(room, 0, words).width()
            for words in (self._words, self.between.text())
        )
        return QSize(self._row.sizeHint().width() + full - now, 34)

    def _fit(self) -> None:
        """Say less between the names where that would leave them too little."""
        names = self.target.sizeHint().width() + self.draft.sizeHint().width()
        lacks = self.sizeHint().width() - self.width()
        is_short = bool(self.draft.text()) and lacks > names / 2
        self.between.setText("+" if is_short else self._words)

    def minimumSizeHint(self) -> QSize:
        """The names may give way."""
        return QSize(self._row.minimumSize().width(), 34)

    def _show_state(self) -> None:
        state, target, draft = self._model.state, self._model.target_name, self._model.draft_name
        self.target.setText(target or self.tr("No model"))
        if draft:
            self._words = self.tr("drafted by")
        else:
            self._words = self.tr("without a draft model") if target else ""
        self.between.setVisible(bool(self._words))
        self.draft.setText(draft)
        self.draft.setVisible(bool(draft))
        words, tone = self._pill_text()
        self.pill.setText(words)
        set_look(self.pill, tone=tone)
        self.pill.setVisible(bool(words))
        lines = [said(note) for note in state.notes]
        if state.sameness is not None and not state.sameness.is_exact:  # else a note says it
            lines.append(said(state.sameness.words))
        self.setToolTip("\n".join(lines) or said(state.problem) or self.tr("Choose the models"))
        self.setAccessibleName(
            " ".join(part for part in (target, self._words, draft, words) if part)
        )
        self._fit()
        self.updateGeometry()

    def _pill_text(self) -> tuple[str, str]:
        state = self._model.state
        if self._model.waits_for_reply:
            return self.tr("waits for the reply"), "muted"
        if state.status == "loading":
            which = self.tr("target") if state.stage == "target" else self.tr("draft")
            return self.tr("loading {} {:.0f} %").format(which, state.fraction * 100), "muted"
        if state.status == "ready":
            return (self.tr("see note"), "lookup") if state.notes else (self.tr("ready"), "accent")
        if state.status == "failed":
            return self.tr("not loaded"), "danger"
        if state.status == "dead":
            return self.tr("engine ended"), "danger"
        return "", "muted"
