"""The choices of the welcome page: a question, or models to load or to get."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy

from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import Refits, column_of, row_of
from paceline.gui.look.scale import HALF, STEP, px
from paceline.gui.welcome.starters import Starter

_MARGINS = (12, 9, 12, 9)


class OptionButton(Refits, QPushButton):
    """A question to begin with, by its title, which breaks where it must.

    A `QPushButton` does not wrap; its label here takes no clicks, and the button is as high as it
    needs.
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
        """As high as the lines at this width."""
        return QSize(px(150), self._height())

    def minimumSizeHint(self) -> QSize:
        """Narrow, and never cut."""
        return QSize(px(120), self._height())

    def _height(self) -> int:
        left, top, right, bottom = _MARGINS
        width = max(self.width() - left - right, 80)
        return top + bottom + self._title.heightForWidth(width)

    def _fit(self) -> None:
        """Another width breaks the lines elsewhere."""
        self.setMinimumHeight(self._height())
        # A layout that is resized within its own resizing keeps the geometry from before.
        self._column.invalidate()
        self._column.activate()


class OfferCard(QFrame):
    """Models by name, with what is to be known of them, and buttons; hidden until it says so.

    Attributes:
        button: What is offered, or its end.
        pauses: Lets a download stand or go on; hidden where there is none.
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
        """Take its room from now on, so that nothing moves when it says something."""
        self.title.setText(" ")
        self.facts.setText(" ")
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)

    def show_models(self, title: str, facts: str, action: str, pauses: str = "") -> None:
        """Offer them; `action` is on the button, `pauses` on the one beside it, if it is there."""
        self.pauses.setText(pauses)
        self.pauses.setAccessibleName(f"{pauses}: {title}")
        self.pauses.setVisible(bool(pauses))
        self.button.setText(action)
        self.title.setText(title)
        say(self.facts, facts)
        self.button.setAccessibleName(f"{action}: {title}, {facts}")
        self.setAccessibleName(title)
        self.show()
