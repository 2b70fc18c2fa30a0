"""How full the context is: a few words over a thin bar; a click tells what fills it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPoint, QSize, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QLabel,
    QProgressBar,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import (
    Popup,
    Refits,
    column_of,
    discard,
    grid_of,
    set_look,
    styled,
)
from paceline.gui.kit.translation import local, translator
from paceline.messages import ChatMessage, TokensCounted

AMBER_FROM = 0.85
"""Share of the context above which the meter warns."""

MeterTone = Literal["calm", "amber", "danger"]

_tr = translator("Context")


@dataclass(frozen=True, slots=True)
class ContextUse:
    """How full the context is, or will be with the next message.

    Attributes:
        n_used: Tokens in it, without what is left out; -1: it cannot be counted.
        n_ctx: Tokens that it holds; 0: no model is loaded, so there is nothing to show.
        n_system: Tokens of the system prompt.
        n_chat: Tokens of the messages that are kept.
        n_messages: How many those are; 0 where only the whole prompt is known.
        n_unsent: Tokens of what is written and not sent, with its attachments.
        n_reply: Tokens of the reply that is being written.
        n_cut: How many of the oldest messages are left out.
        n_cut_tokens: Their tokens.
        room: Tokens that the reply may have by the settings; 0: it is being written.
    """

    n_used: int = -1
    n_ctx: int = 0
    n_system: int = 0
    n_chat: int = 0
    n_messages: int = 0
    n_unsent: int = 0
    n_reply: int = 0
    n_cut: int = 0
    n_cut_tokens: int = 0
    room: int = 0

    @property
    def share(self) -> float:
        """How much of the context is filled, 0..1."""
        return min(max(self.n_used, 0) / self.n_ctx, 1.0) if self.n_ctx else 0.0

    @property
    def n_free(self) -> int:
        """Tokens that the reply finds free."""
        return max(self.n_ctx - max(self.n_used, 0), 0)

    @property
    def n_reply_room(self) -> int:
        """Tokens that the reply can have: what the settings allow, as far as they are free."""
        return min(self.room, self.n_free)

    @property
    def is_refused(self) -> bool:
        """Whether a reply would be refused, since its prompt leaves no room for a token."""
        return self.room > 0 and self.n_ctx > 0 and self.n_used >= self.n_ctx

    @property
    def tone(self) -> MeterTone:
        """The meter's colour."""
        if self.is_refused:
            return "danger"
        # What is left out comes by itself in a long chat, and the chat shows where.
        return "amber" if self.share > AMBER_FROM or (self.n_cut and self.room) else "calm"


def use_of(
    counted: TokensCounted, messages: Sequence[ChatMessage], *, has_unsent: bool, room: int
) -> ContextUse:
    """Return what the engine has counted, by what it is made of.

    Args:
        counted: The engine's answer.
        messages: What it was asked about.
        has_unsent: Whether the last of them is what is being written.
        room: Tokens that the reply may have.
    """
    if counted.n_tokens < 0 or len(counted.per_message) != len(messages):
        return ContextUse(counted.n_tokens, counted.n_ctx, room=room)
    sizes = list(zip(messages, counted.per_message, strict=True))
    n_unsent = sizes.pop()[1] if has_unsent else 0
    spoken = [size for message, size in sizes if message.role != "system"]
    n_cut_tokens = sum(spoken[: counted.n_cut])
    return ContextUse(
        n_used=counted.n_tokens - n_cut_tokens,
        n_ctx=counted.n_ctx,
        n_system=sum(size for message, size in sizes if message.role == "system"),
        n_chat=sum(spoken[counted.n_cut :]),
        n_messages=len(spoken[counted.n_cut :]),
        n_unsent=n_unsent,
        n_cut=counted.n_cut,
        n_cut_tokens=n_cut_tokens,
        room=room,
    )


def short_tokens(n_tokens: int, n_ctx: int) -> str:
    """Return a number of tokens in few signs: "840", "2.1k", "128k".

    Contexts are mostly multiples of 1024, and people call 8192 tokens 8k; in such a context
    everything is told in those.
    """
    unit = 1000 if n_ctx % 1024 else 1024
    if n_tokens < unit:
        return str(n_tokens)
    thousands = n_tokens / unit
    tenths = round(thousands, 1)
    is_whole = thousands >= 99.95 or tenths.is_integer()
    return f"{local(tenths):.{0 if is_whole else 1}f}k"


def meter_text(use: ContextUse) -> str:
    """The meter's words; exact ones where a few tokens decide."""
    if use.is_refused:
        used, whole = (f"{local(n):,}" for n in (use.n_used, use.n_ctx))
        return _tr("Context {} of {}").format(used, whole)
    used = short_tokens(use.n_used, use.n_ctx) if use.n_used >= 0 else "?"
    return _tr("Context {} of {}").format(used, short_tokens(use.n_ctx, use.n_ctx))


def headline(use: ContextUse) -> str:
    """The exact figures in one sentence."""
    if use.n_used < 0:
        return _tr("The context holds {} tokens.").format(f"{local(use.n_ctx):,}")
    return _tr("{} of {} tokens are in use.").format(
        f"{local(use.n_used):,}", f"{local(use.n_ctx):,}"
    )


def warning(use: ContextUse) -> str:
    """What will be cut or refused, or how little is free; empty: all is well."""
    if use.n_used < 0:
        return _tr("This conversation cannot be counted; the model's chat template refuses it.")
    if use.is_refused:
        return _tr(
            "The next message does not fit. Shorten it, start a new chat, or load the model with "
            "a longer context."
        )
    if use.n_cut == 1 and use.room:
        return _tr("The oldest message will be left out of the next reply.")
    if use.n_cut and use.room:
        return _tr("The oldest {} messages will be left out of the next reply.").format(use.n_cut)
    if use.n_cut:
        return _tr("The oldest messages are left out of this reply: {}.").format(use.n_cut)
    if use.n_free < use.room:
        return _tr("The reply ends after at most {} tokens, when the context is full.").format(
            f"{local(use.n_free):,}"
        )
    return ""


def parts(use: ContextUse) -> list[tuple[str, int]]:
    """What fills the context, in the order of the prompt: words and tokens; what is 0 is not."""
    if use.n_used < 0:
        return []
    around = use.n_used - use.n_system - use.n_chat - use.n_unsent - use.n_reply
    prompt = _tr("Messages ({})").format(use.n_messages) if use.n_messages else _tr("Prompt")
    found = [
        (_tr("System prompt"), use.n_system),
        (prompt, use.n_chat),
        (_tr("What you are writing"), use.n_unsent),
        (_tr("Chat template"), around),
        (_tr("The reply so far"), use.n_reply),
        (_tr("Left out"), use.n_cut_tokens),
        (_tr("Free"), use.n_free),
    ]
    return [(words, n_tokens) for words, n_tokens in found if n_tokens > 0]


def description(use: ContextUse) -> str:
    """All of it in lines, for the tool tip and for screen readers."""
    lines = [headline(use), *(f"{words}: {local(n_tokens):,}" for words, n_tokens in parts(use))]
    if use.n_reply_room and use.n_used >= 0:
        lines.append(_tr("The reply may have {} tokens.").format(f"{local(use.n_reply_room):,}"))
    return "\n".join([*lines, warning(use)]).strip()


_POPOVER_PX = 300
_BAR_PX = 3
_SIDE_PX = 4
_STEPS = 1000


class ContextMeter(Refits, QToolButton):
    """Hidden while there is nothing to measure."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "meter")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.use = ContextUse()
        self._ahead = ""
        self._is_wanted = True
        self.bar = styled(QProgressBar(self), kind="meter")
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.popover: ContextPopover | None = None
        self.clicked.connect(self._on_clicked)
        self.show_use(self.use)

    @Slot(object)
    def show_use(self, use: ContextUse) -> None:
        """Show how full the context is."""
        self.use = use
        self.setText(meter_text(use))
        self.bar.setValue(round(use.share * _STEPS))
        for widget in (self, self.bar):
            set_look(widget, tone=use.tone)
        self._show_tip()
        self.setAccessibleName(meter_text(use))
        self._show_if_wanted()
        if self.popover is not None and self.popover.isVisible():
            self.popover.show_use(use)

    def show_ahead(self, words: str) -> None:
        """Say in the tip how much of the context was read ahead; empty: nothing is to be said."""
        self._ahead = words
        self._show_tip()

    def _show_tip(self) -> None:
        self.setToolTip(f"{description(self.use)}\n{self._ahead}".strip())

    def set_wanted(self, wanted: bool) -> None:  # noqa: FBT001
        """Make room for more urgent words beside it, or come back."""
        self._is_wanted = wanted
        self._show_if_wanted()

    def sizeHint(self) -> QSize:
        """As wide as the words."""
        hint = super().sizeHint()
        return QSize(
            self.fontMetrics().horizontalAdvance(self.text()) + 2 * _SIDE_PX, hint.height()
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter clicks the button."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def _fit(self) -> None:
        """Keep the bar below the words."""
        place = self.height() - _BAR_PX - 3
        self.bar.setGeometry(_SIDE_PX, place, self.width() - 2 * _SIDE_PX, _BAR_PX)

    def _show_if_wanted(self) -> None:
        self.setVisible(self._is_wanted and self.use.n_ctx > 0)

    @Slot()
    def _on_clicked(self) -> None:
        if self.popover is None:
            self.popover = ContextPopover(self)
        self.popover.show_use(self.use)
        self.popover.open_above(self)


class ContextPopover(Popup):
    """The parts of the context, one below the other; Esc or a click elsewhere closes it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedWidth(_POPOVER_PX)
        self.title = text_label("", "title", wraps=True)
        self._rows = grid_of(down=4, stretches=(0,))
        self._labels: list[QLabel] = []
        self.warning = text_label("", "", wraps=True)
        column_of(
            self.title, self._rows, self.warning, on=self.card, margins=(14, 12, 14, 12), spacing=8
        )

    def show_use(self, use: ContextUse) -> None:
        """Show what fills the context."""
        self.title.setText(headline(use))
        discard(self._labels, self._rows)
        self._labels = []
        rows = [(words, f"{local(n_tokens):,}") for words, n_tokens in parts(use)]
        if use.n_reply_room:
            rows.append((self.tr("The reply may have"), f"{local(use.n_reply_room):,}"))
        for row, (words, figure) in enumerate(rows):
            self._add(row, 0, words, "small")
            self._add(row, 1, figure, "value")
        self.warning.setText(warning(use))
        self.warning.setVisible(bool(self.warning.text()))
        set_look(self.warning, role="danger" if use.tone == "danger" else "small")
        self.setAccessibleName(description(use))
        self._fit()

    def open_above(self, widget: QWidget) -> None:
        """Show it above a widget, or below where there is no room."""
        self._fit()
        screen = widget.screen().availableGeometry()
        place = widget.mapToGlobal(QPoint(0, -self.height() - 6))
        if place.y() < screen.top():
            place.setY(widget.mapToGlobal(QPoint(0, widget.height() + 6)).y())
        place.setX(max(min(place.x(), screen.right() - self.width()), screen.left()))
        self.move(place)
        self.show()
        self.setFocus()

    def _fit(self) -> None:
        """Become as high as the lines need, which break by the width."""
        layout = self.layout()
        assert layout is not None
        layout.activate()
        self.setFixedHeight(layout.totalHeightForWidth(self.width()))

    def _add(self, row: int, column: int, text: str, role: str) -> None:
        label = text_label(text, role)
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        self._rows.addWidget(label, row, column, side)
        self._labels.append(label)
