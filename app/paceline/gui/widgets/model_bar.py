"""The chosen pair in the top bar: "TARGET drafted by DRAFT", its state, and a menu to change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from paceline.gui.theme import restyle
from paceline.gui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QMenu

    from paceline.gui.viewmodels.pair import PairModel

_NAME_PX = 220


class ModelBar(QPushButton):
    """A button that shows a `PairModel` and opens a menu."""

    def __init__(self, model: PairModel, menu: QMenu, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "chip")
        self._model = model
        self.target, self.draft = ElidedLabel(_NAME_PX), ElidedLabel(_NAME_PX)
        self.target.setProperty("role", "title")
        self.draft.setProperty("role", "title")
        self.between = QLabel()
        self.between.setProperty("role", "muted")
        self.pill = QLabel()
        self.pill.setProperty("role", "pill")
        self._arrow = QLabel("▾")
        self._arrow.setProperty("role", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(7)
        for label in (self.target, self.between, self.draft, self.pill, self._arrow):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            row.addWidget(label, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setMenu(menu)
        self.setToolTip(self.tr("Choose the models"))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        model.changed.connect(self._show_state)
        model.sameness_found.connect(self._show_state)
        self._show_state()

    def set_arrow(self, arrow: QIcon) -> None:
        """Show an icon in place of the arrow sign."""
        if not arrow.isNull():
            self._arrow.setPixmap(arrow.pixmap(14, 14))

    def sizeHint(self) -> QSize:
        """As wide as its labels."""
        return QSize(self._row_hint().width(), 34)

    def minimumSizeHint(self) -> QSize:
        """The names may give way."""
        layout = self.layout()
        return QSize(layout.minimumSize().width() if layout else 80, 34)

    def _row_hint(self) -> QSize:
        layout = self.layout()
        return layout.sizeHint() if layout else QSize(80, 34)

    def _show_state(self) -> None:
        state, target, draft = self._model.state, self._model.target_name, self._model.draft_name
        self.target.set_full_text(target or self.tr("No model"))
        if draft:
            self.between.setText(self.tr("drafted by"))
        else:
            self.between.setText(self.tr("without a draft model") if target else "")
        self.between.setVisible(bool(self.between.text()))
        self.draft.set_full_text(draft)
        self.draft.setVisible(bool(draft))
        words, tone = self._pill_text()
        self.pill.setText(words)
        self.pill.setProperty("tone", tone)
        restyle(self.pill)
        self.pill.setVisible(bool(words))
        said = [*state.notes]
        if state.sameness is not None and not state.sameness.is_exact:  # else a note says it
            said.append(state.sameness.words)
        self.setToolTip("\n".join(said) or state.problem or self.tr("Choose the models"))
        self.setAccessibleName(
            " ".join(part for part in (target, self.between.text(), draft, words) if part)
        )
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
