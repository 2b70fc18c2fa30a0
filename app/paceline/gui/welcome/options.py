"""Options of the welcome page: a question, or models to load or download."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy

from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import Refits, column_of, row_of
from paceline.gui.look.scale import HALF, STEP, px
from paceline.gui.welcome.starters import Starter

_MARGINS = (12, 9, 12, 9)


class OptionButton(Refits, QPushButton):
    """A question to start with, by its title, which wraps.

    A `QPushButton` does not wrap; so it has a label that takes no clicks, and adapts its height to
    that.
    """

    def __init__(self, starter: Starter) -> None:
        super().__init__()
        self.setProperty("kind", "option")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        # Those of one row have the same height.
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Minimum)
        self.starter = starter
        self._title = text_label(starter.title, "", wraps=True, plain=True)
        self._title.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._column = column_of(self._title, on=self, margins=_MARGINS)
        self.setAccessibleName(starter.title)
        if starter.text != starter.title:
            self.setToolTip(starter.text)

    def sizeHint(self) -> QSize:
        """Return the height of the lines at this width."""
        return QSize(px(150), self._height())

    def minimumSizeHint(self) -> QSize:
        """Return a narrow size that cuts no text."""
        return QSize(px(120), self._height())

    def _height(self) -> int:
        left, top, right, bottom = _MARGINS
        width = max(self.width() - left - right, 80)
        return top + bottom + self._title.heightForWidth(width)

    def _fit(self) -> None:
        """Update the layout: another width breaks the lines elsewhere."""
        self.setMinimumHeight(self._height())
        # A layout that is resized within its own resizing keeps the previous geometry.
        self._column.invalidate()
        self._column.activate()


class OfferCard(QFrame):
    """Models with their facts, and buttons; hidden until it has words.

    Attributes:
        button: Button of the offer, or the button that cancels it.
        pauses: Button that pauses or resumes a download; hidden without one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.title = text_label("", "title", wraps=True, plain=True)
        self.facts = text_label("", "small", wraps=True, plain=True)
        self.button, self.pauses = QPushButton(self.tr("Load")), QPushButton()
        words = column_of(None, self.title, self.facts, None, spacing=HALF // 2)
        middle = Qt.AlignmentFlag.AlignVCenter
        row_of(
            (words, 1), (self.pauses, 0, middle), (self.button, 0, middle),
            on=self, margins=(14, 9, 12, 9), spacing=STEP,
        )  # fmt: skip
        self.pauses.hide()
        self.hide()

    def keep_room(self) -> None:
        """Reserve its space from now on, so that nothing moves when it gets words."""
        self.title.setText(" ")
        self.facts.setText(" ")
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)

    def show_models(self, title: str, facts: str, action: str, pauses: str = "") -> None:
        """Offer models; `action` is the button's text, `pauses` that of another button, if any."""
        self.pauses.setText(pauses)
        self.pauses.setAccessibleName(f"{pauses}: {title}")
        self.pauses.setVisible(bool(pauses))
        self.button.setText(action)
        self.title.setText(title)
        say(self.facts, facts)
        self.button.setAccessibleName(f"{action}: {title}, {facts}")
        self.setAccessibleName(title)
        self.show()
