"""The length of the context: a slider in doublings up to what the model was trained for.

A mark on the slider shows up to where the pair finds room, as far as the plan of memory tells.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QSize, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPalette
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QSpinBox, QWidget

from paceline.catalog.words import tokens
from paceline.engine.model_params import DEFAULT_CTX
from paceline.engine.proposals import MIN_PROPOSAL
from paceline.gui.widgets.fields import Slider

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

_STEPS_PER_DOUBLING = 8
_STEP = 256  # llama.cpp pads contexts to it
_HANDLE_PX = 14
_MARK_PX = 6


class _Mark(QWidget):
    """The scale below the slider: a line as far as there is room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.share: float | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(60, _MARK_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if self.share is None:
            return
        painter = QPainter(self)
        width = self.width() - _HANDLE_PX
        end = round(_HANDLE_PX / 2 + self.share * width)
        colour = self.palette().color(QPalette.ColorRole.Accent)
        painter.fillRect(_HANDLE_PX // 2, 1, max(end - _HANDLE_PX // 2, 2), 2, colour)
        painter.fillRect(end - 1, 0, 2, _MARK_PX, QColor(colour))


class ContextField(QWidget):
    """A slider for the field of a column, which takes every number; 0 is automatic."""

    changed = Signal()

    def __init__(self, number: QSpinBox, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number = number
        self._longest = DEFAULT_CTX
        self._wish = 0
        self._decided = 0
        self._fits: int | None = None
        self._is_trained = False
        self.label = QLabel(self.tr("Context"))
        self.label.setProperty("role", "muted")
        self.label.setBuddy(number)
        self.slider = Slider()
        self.slider.setAccessibleName(self.tr("Context"))
        self.slider.setPageStep(_STEPS_PER_DOUBLING)
        self.mark = _Mark()
        self.words = QLabel()
        self.words.setProperty("role", "small")
        self.words.setWordWrap(True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(0)
        grid.addWidget(self.label, 0, 0)
        grid.addWidget(self.slider, 0, 1)
        grid.addWidget(number, 0, 2)
        grid.addWidget(self.mark, 1, 1)
        grid.addWidget(self.words, 2, 0, 1, 3)
        grid.setColumnStretch(1, 1)
        number.setFixedWidth(72)
        number.setAccessibleName(self.tr("Context in tokens"))
        self.slider.valueChanged.connect(self._on_slider_moved)
        number.valueChanged.connect(self._on_number_changed)
        self.set_longest(0)

    @property
    def n_ctx(self) -> int:
        """Tokens, with the automatic value decided."""
        return self._number.value() or min(DEFAULT_CTX, self._longest)

    def set_longest(self, n_ctx_train: int) -> None:
        """Know what the model was trained for; 0: not known.

        A longer wish is cut for this model, and comes back with the next one.
        """
        self._longest = n_ctx_train or max(self._wish, 4 * DEFAULT_CTX)
        with QSignalBlocker(self._number):
            self._number.setMaximum(self._longest)
            self._number.setValue(min(self._wish, self._longest))
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, self._steps)
        self._is_trained = bool(n_ctx_train)
        self.refresh()

    def show_wish(self, n_ctx: int) -> None:
        """Wish for this length, whatever the model was trained for."""
        self._wish = n_ctx
        with QSignalBlocker(self._number):
            self._number.setMaximum(max(self._longest, n_ctx))
            self._number.setValue(n_ctx)

    def show_room(self, n_fits: int | None) -> None:
        """Mark up to where there is room; None: not known."""
        self._fits = n_fits
        self.refresh()

    def show_decided(self, n_ctx: int) -> None:
        """Know what the plan of memory makes of an automatic length; 0: there is none."""
        self._decided = n_ctx
        self.refresh()

    def refresh(self) -> None:
        """Show what the number says."""
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(self._share(self.n_ctx) * self._steps))
        fits = self._fits
        is_short = fits is not None and fits < self._longest
        has_mark = fits is not None and is_short and fits >= MIN_PROPOSAL
        self.mark.share = self._share(fits) if fits is not None and has_mark else None
        self.mark.update()
        text = ", ".join(self._sayings(fits if is_short else None))
        self.words.setText(text[:1].upper() + text[1:])
        self.words.setVisible(bool(text))
        self.slider.setAccessibleDescription(self.words.text())

    def _sayings(self, fits: int | None) -> list[str]:
        """Return what is to be said; `fits` is None where every length finds room."""
        words = []
        if self._wish > self._longest:
            words.append(
                self.tr("cut from {}: trained for {} tokens").format(
                    tokens(self._wish), tokens(self._longest)
                )
            )
        elif self._is_trained:
            words.append(self.tr("trained for {} tokens").format(tokens(self._longest)))
        if self._is_shortened:
            words.append(
                self.tr("automatic: {}, as many as find room").format(tokens(self._decided))
            )
        elif fits is not None and fits < MIN_PROPOSAL:
            words.append(self.tr("no context finds room"))
        elif fits is not None:
            words.append(self.tr("up to about {} find room").format(tokens(_rounded(fits))))
        return words

    @property
    def _is_shortened(self) -> bool:
        """Whether the automatic length is shorter than usual, for want of room."""
        return self._number.value() == 0 and 0 < self._decided < self.n_ctx

    @property
    def _shortest(self) -> int:
        return min(MIN_PROPOSAL, self._longest)

    @property
    def _steps(self) -> int:
        return max(round(math.log2(self._longest / self._shortest) * _STEPS_PER_DOUBLING), 1)

    def _share(self, n_ctx: int) -> float:
        """Return the place of a length on the slider, 0..1."""
        if self._longest == self._shortest:
            return 1.0
        whole = math.log2(self._longest / self._shortest)
        share = math.log2(max(n_ctx, self._shortest) / self._shortest) / whole
        return min(max(share, 0.0), 1.0)

    @Slot(int)
    def _on_slider_moved(self, place: int) -> None:
        n_ctx = self._shortest * 2 ** (place / _STEPS_PER_DOUBLING)
        is_end = place == self.slider.maximum()
        self._number.setValue(self._longest if is_end else min(_rounded(n_ctx), self._longest))

    @Slot()
    def _on_number_changed(self) -> None:
        self._wish = self._number.value()
        self.refresh()
        self.changed.emit()


def _rounded(n_ctx: float) -> int:
    """Round to what a context is padded to, and above 8192 to whole thousands of 1024."""
    step = 1024 if n_ctx >= 8192 else _STEP
    return max(int(n_ctx) // step * step, 1)
