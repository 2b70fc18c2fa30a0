"""Context meter: a few words over a thin bar; a click shows the parts of the context."""

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
    """Use of the context, now or with the next message.

    Attributes:
        n_used: Tokens in it, without omitted messages; -1 if they cannot be counted.
        n_ctx: Its size in tokens; 0 without a model, so that nothing is shown.
        n_system: Tokens of the system prompt.
        n_chat: Tokens of the messages in the context.
        n_messages: Number of those messages; 0 where only the whole prompt is known.
        n_unsent: Tokens of the unsent message with its attachments.
        n_reply: Tokens of the running reply.
        n_cut: Number of the oldest messages that are omitted.
        n_cut_tokens: Tokens of the omitted messages.
        room: Maximum tokens of the reply by the settings; 0 while it is being written.
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
        """Used share of the context, 0..1."""
        return min(max(self.n_used, 0) / self.n_ctx, 1.0) if self.n_ctx else 0.0

    @property
    def n_free(self) -> int:
        """Free tokens for the reply."""
        return max(self.n_ctx - max(self.n_used, 0), 0)

    @property
    def n_reply_room(self) -> int:
        """Tokens that the reply can have: the maximum by the settings, limited to free tokens."""
        return min(self.room, self.n_free)

    @property
    def is_refused(self) -> bool:
        """Return whether a reply would be refused, since its prompt leaves no free token."""
        return self.room > 0 and self.n_ctx > 0 and self.n_used >= self.n_ctx

    @property
    def tone(self) -> MeterTone:
        """The meter's colour."""
        if self.is_refused:
            return "danger"
        # Omitted messages are normal in a long chat, and the chat shows where they end.
        return "amber" if self.share > AMBER_FROM or (self.n_cut and self.room) else "calm"


def use_of(
    counted: TokensCounted, messages: Sequence[ChatMessage], *, has_unsent: bool, room: int
) -> ContextUse:
    """Split the tokens that the engine has counted by their kind.

    Args:
        counted: The engine's answer.
        messages: The counted messages.
        has_unsent: Whether the last of them is the unsent one.
        room: Maximum tokens of the reply.
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
    """Return a number of tokens in few characters: "840", "2.1k", "128k".

    Contexts are mostly multiples of 1024, and people call 8192 tokens 8k; in such a context, k
    means 1024 throughout.
    """
    unit = 1000 if n_ctx % 1024 else 1024
    if n_tokens < unit:
        return str(n_tokens)
    thousands = n_tokens / unit
    tenths = round(thousands, 1)
    is_whole = thousands >= 99.95 or tenths.is_integer()
    return f"{local(tenths):.{0 if is_whole else 1}f}k"


def meter_text(use: ContextUse) -> str:
    """Return the meter's words, exact where a few tokens matter."""
    if use.is_refused:
        used, whole = (f"{local(n):,}" for n in (use.n_used, use.n_ctx))
        return _tr("Context {} of {}").format(used, whole)
    used = short_tokens(use.n_used, use.n_ctx) if use.n_used >= 0 else "?"
    return _tr("Context {} of {}").format(used, short_tokens(use.n_ctx, use.n_ctx))


def headline(use: ContextUse) -> str:
    """Return the exact figures in one sentence."""
    if use.n_used < 0:
        return _tr("The context holds {} tokens.").format(f"{local(use.n_ctx):,}")
    return _tr("{} of {} tokens are in use.").format(
        f"{local(use.n_used):,}", f"{local(use.n_ctx):,}"
    )


def warning(use: ContextUse) -> str:
    """Return what will be omitted or refused, or how little is free; empty if all is well."""
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
    """Return words and tokens of the parts of the context, in the prompt's order, without zeros."""
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
    """Return all figures in lines, for the tool tip and for screen readers."""
    lines = [headline(use), *(f"{words}: {local(n_tokens):,}" for words, n_tokens in parts(use))]
    if use.n_reply_room and use.n_used >= 0:
        lines.append(_tr("The reply may have {} tokens.").format(f"{local(use.n_reply_room):,}"))
    return "\n".join([*lines, warning(use)]).strip()


_POPOVER_PX = 300
_BAR_PX = 3
_SIDE_PX = 4
_STEPS = 1000


class ContextMeter(Refits, QToolButton):
    """Button that shows the use of the context; hidden without a figure."""

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
        """Show the use of the context."""
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
        """Show in the tool tip how much was read ahead; empty words for nothing."""
        self._ahead = words
        self._show_tip()

    def _show_tip(self) -> None:
        self.setToolTip(f"{description(self.use)}\n{self._ahead}".strip())

    def set_wanted(self, wanted: bool) -> None:  # noqa: FBT001
        """Hide the meter for more urgent words beside it, or show it again."""
        self._is_wanted = wanted
        self._show_if_wanted()

    def sizeHint(self) -> QSize:
        """Return the width of the words."""
        hint = super().sizeHint()
        return QSize(
            self.fontMetrics().horizontalAdvance(self.text()) + 2 * _SIDE_PX, hint.height()
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Click on Enter, too."""
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
    """The parts of the context, one below the other; closed by Esc or a click elsewhere."""

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
        """Show the parts of the context."""
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
        """Show the popover above a widget, or below it where space is short."""
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
        """Set the height that the lines need at this width."""
        layout = self.layout()
        assert layout is not None
        layout.activate()
        self.setFixedHeight(layout.totalHeightForWidth(self.width()))

    def _add(self, row: int, column: int, text: str, role: str) -> None:
        label = text_label(text, role)
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        self._rows.addWidget(label, row, column, side)
        self._labels.append(label)
