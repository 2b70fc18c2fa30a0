"""Actions on a message: a row of buttons, the same as a menu, and the switch of its versions.

A row is made when it is first needed; otherwise a long conversation would spend most of its time on
buttons that are never seen.
"""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from paceline.content import StoredRole
from paceline.gui.chat.markdown.code_buttons import CONFIRM_MS
from paceline.gui.kit.layouts import IconButton, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import ICON, px

_BESIDE_ICON_PX, _FRAME_PX = 8, 18
"""Width of a button beside its icon and its words."""


class Act(StrEnum):
    """Request of a message's button."""

    EDIT = "edit"
    COPY = "copy"
    COPY_PLAIN = "copy-plain"
    CONTINUE = "continue"
    REGENERATE = "regenerate"
    BRANCH = "branch"
    DETAILS = "details"
    COMPARE = "compare"
    ANSWER_TWICE = "answer-twice"
    DELETE = "delete"
    ORIGIN = "origin"


_ICONS = {
    Act.EDIT: "edit",
    Act.COPY: "copy",
    Act.CONTINUE: "play",
    Act.REGENERATE: "regenerate",
    Act.ANSWER_TWICE: "speed",
    Act.BRANCH: "branch",
    Act.DETAILS: "details",
    Act.DELETE: "trash",
}
_BY_ROLE: dict[StoredRole, tuple[Act, ...]] = {
    "user": (Act.EDIT, Act.COPY, Act.REGENERATE, Act.ANSWER_TWICE, Act.BRANCH, Act.DELETE),
    "assistant": (
        Act.COPY,
        Act.CONTINUE,
        Act.REGENERATE,
        Act.EDIT,
        Act.BRANCH,
        Act.DETAILS,
        Act.DELETE,
    ),  # fmt: skip,
}
_ICON_ALONE = (Act.EDIT, Act.DETAILS, Act.DELETE)
"""Acts whose words are never beside the icon, since they would not fit."""
_IN_THE_MENU_ALONE = (Act.ANSWER_TWICE,)
_NOT_WHILE_BUSY = (Act.EDIT, Act.CONTINUE, Act.REGENERATE, Act.DELETE)


class MessageActions(QWidget):
    """The row of one message."""

    acted = Signal(str)
    """An `Act`."""

    def __init__(self, role: StoredRole) -> None:
        super().__init__()
        self._role: StoredRole = role
        self._is_compact = False
        self._group = QActionGroup(self, exclusionPolicy=QActionGroup.ExclusionPolicy.None_)
        self._group.triggered.connect(self._on_triggered)
        self._actions = {act: self._make(act) for act in _BY_ROLE[role]}
        self._buttons: dict[Act, QToolButton] = {}
        layout = row_of(on=self, margins=0, spacing=2)
        for act, action in self._actions.items():
            if act in _IN_THE_MENU_ALONE:
                continue
            self._buttons[act] = self._make_button(action)
            layout.addWidget(self._buttons[act])
            if act == Act.COPY and role == "assistant":
                self._more = self._make_more()
                layout.addWidget(self._more)
        self._confirm = QTimer(self, singleShot=True, interval=CONFIRM_MS)
        self._confirm.timeout.connect(self._on_confirmed)
        self._set_style()

    def _make(self, act: Act) -> QAction:
        text, name = self._words(act)
        action = QAction(look.icon(_ICONS[act]), text, self._group, toolTip=name)
        action.setData(str(act))
        return action

    def _words(self, act: Act) -> tuple[str, str]:
        both = {
            Act.BRANCH: (self.tr("Branch"), self.tr("Go on from here in a chat of its own")),
            Act.DETAILS: (self.tr("Details"), self.tr("Show how this reply was made")),
            Act.DELETE: (self.tr("Delete"), self.tr("Delete this message and what follows it")),
        }
        question = {
            Act.EDIT: (self.tr("Edit"), self.tr("Edit this message and send it again")),
            Act.COPY: (self.tr("Copy"), self.tr("Copy the message")),
            Act.REGENERATE: (self.tr("Answer"), self.tr("Generate a reply to this message")),
            Act.ANSWER_TWICE: (
                self.tr("Compare…"),
                self.tr("Answer twice, without and with drafts, side by side"),
            ),
        }
        reply = {
            Act.EDIT: (self.tr("Edit"), self.tr("Change the text of this reply")),
            Act.COPY: (self.tr("Copy"), self.tr("Copy the reply")),
            Act.CONTINUE: (
                self.tr("Continue"),
                self.tr("Let the model write on from where this reply ends"),
            ),
            Act.REGENERATE: (self.tr("Regenerate"), self.tr("Generate this reply again")),
        }
        return (both | (question if self._role == "user" else reply))[act]

    def _make_button(self, action: QAction) -> QToolButton:
        button = styled(QToolButton(), kind="link")
        button.setDefaultAction(action)
        button.setAccessibleName(action.toolTip())
        return button

    def _make_more(self) -> QToolButton:
        name = self.tr("Copy as…")
        button = IconButton("chevron-down", name, kind="link", sign="small")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        self._copies = (
            self._make_copy(menu, self.tr("Copy as Markdown"), Act.COPY),
            self._make_copy(menu, self.tr("Copy as plain text"), Act.COPY_PLAIN),
        )
        self._copies[0].setIcon(look.icon(_ICONS[Act.COPY]))
        button.setMenu(menu)
        return button

    def _make_copy(self, menu: QMenu, text: str, act: Act) -> QAction:
        action = menu.addAction(text)
        action.setData(str(act))
        self._group.addAction(action)
        return action

    # ----------------------------------------------------------------------------- state

    @property
    def full_width(self) -> int:
        """Width of the row with text, in device-independent pixels."""
        return sum(
            self._button_width(button) + 2 for button in [*self._buttons.values(), *self._extra()]
        )

    def _button_width(self, button: QToolButton) -> int:
        if button not in self._buttons.values():
            return button.sizeHint().width()
        icon = px(ICON) + px(_BESIDE_ICON_PX)
        if button in map(self._buttons.get, _ICON_ALONE):
            return icon + _FRAME_PX
        return button.fontMetrics().horizontalAdvance(button.text()) + icon + _FRAME_PX

    def _extra(self) -> list[QToolButton]:
        return [self._more] if self._role == "assistant" else []

    def set_compact(self, on: bool) -> None:  # noqa: FBT001
        """Show the icons alone."""
        if on != self._is_compact:
            self._is_compact = on
            self._set_style()

    def _set_style(self) -> None:
        style = Qt.ToolButtonStyle
        for act, button in self._buttons.items():
            is_alone = self._is_compact or act in _ICON_ALONE
            button.setToolButtonStyle(
                style.ToolButtonIconOnly if is_alone else style.ToolButtonTextBesideIcon
            )

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """Disable requests for a reply while one is running."""
        for act in _NOT_WHILE_BUSY:
            if act in self._actions:
                self._actions[act].setEnabled(not busy)

    def set_possible(self, act: Act, possible: bool) -> None:  # noqa: FBT001
        """Offer an act or not."""
        if act in self._actions:
            self._actions[act].setVisible(possible)
            self._buttons[act].setVisible(possible)
        if act == Act.COPY:
            for button in self._extra():
                button.setVisible(possible)

    def show_figures(self, figures: str) -> None:
        """Set a reply's figures as a tool tip: beside its actions they may not fit."""
        name = self._words(Act.DETAILS)[1]
        self._actions[Act.DETAILS].setToolTip(f"{name}\n{figures}".strip())

    def fill(self, menu: QMenu) -> None:
        """Add all offered acts to a context menu."""
        for act, action in self._actions.items():
            if act == Act.COPY and self._role == "assistant":
                menu.addActions(self._copies)
            else:
                menu.addAction(action)

    def confirm_copy(self) -> None:
        """Say for a moment that the text was copied."""
        self._actions[Act.COPY].setText(self.tr("Copied"))
        self._confirm.start()

    @Slot()
    def _on_confirmed(self) -> None:
        self._actions[Act.COPY].setText(self.tr("Copy"))

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        self.acted.emit(str(action.data()))


class SiblingSwitch(QWidget):
    """Steps through the versions of a message, ‹ 2 / 3 ›; hidden with a single one."""

    stepped = Signal(int)
    """-1: the previous version, 1: the next one."""

    def __init__(self) -> None:
        super().__init__()
        self._sibling, self._n_siblings = 0, 1
        self._is_busy = False
        self.place = styled(QToolButton(), kind="link")
        self.place.setToolTip(self.tr("Compare the versions"))
        back, on = self.tr("Previous version"), self.tr("Next version")
        self._back = IconButton("chevron-left", back, kind="link", sign="medium")
        self._back.clicked.connect(self._on_back)
        self._on = IconButton("chevron-right", on, kind="link", sign="medium")
        self._on.clicked.connect(self._on_next)
        row_of(self._back, self.place, self._on, on=self, margins=0, spacing=0)

    def show_place(self, sibling: int, n_siblings: int) -> None:
        """Show the version's number.

        Args:
            sibling: The version's place, from 0.
            n_siblings: The number of versions.
        """
        self._sibling, self._n_siblings = sibling, n_siblings
        self.place.setText(f"{sibling + 1} / {n_siblings}")
        self.setAccessibleName(self.tr("Version {} of {}").format(sibling + 1, n_siblings))
        self.place.setAccessibleName(f"{self.accessibleName()}: {self.place.toolTip()}")
        self._update()

    def set_busy(self, busy: bool) -> None:  # noqa: FBT001
        """Disable the switch while a reply is running: its path must stay."""
        self._is_busy = busy
        self._update()

    def _update(self) -> None:
        self._back.setEnabled(not self._is_busy and self._sibling > 0)
        self._on.setEnabled(not self._is_busy and self._sibling + 1 < self._n_siblings)

    @Slot()
    def _on_back(self) -> None:
        self.stepped.emit(-1)

    @Slot()
    def _on_next(self) -> None:
        self.stepped.emit(1)
