"""The text of a reply: its answer and its reasoning, which is folded, each in its place.

It takes the reply's whole source; offsets of tokens count from its start. A section is one stretch
of the text, so reasoning between two answers stays between them.

Folded reasoning is not rendered: however long, it costs no more than its line.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from paceline.chat.markdown import as_json
from paceline.chat.reasoning import UNKNOWN, Known, ReasoningSplitter, ReplySection, join_parts
from paceline.gui.chat.links import MessageRequests
from paceline.gui.chat.markdown.code_buttons import CopyButton
from paceline.gui.chat.markdown.found import Hits
from paceline.gui.chat.markdown.provenance import Provenance
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.kit.card import FoldHeader
from paceline.gui.kit.layouts import Refits
from paceline.gui.kit.translation import local
from paceline.gui.look.current import look

_LINE_PX, _INDENT_PX, _INNER_GAP_PX = 2, 18, 6


class ReasoningBlock(Refits, QWidget):
    """One stretch of reasoning; as high as its visible part.

    Attributes:
        header: The line that unfolds the text.
        view: The text's view; None before it was unfolded.
    """

    height_changed = Signal()

    def __init__(self, provenance: Provenance, requests: MessageRequests, parent: QWidget) -> None:
        super().__init__(parent)
        self._provenance, self._requests = provenance, requests
        self._source = ""
        self._base = 0
        self._is_growing = True
        self._is_view_due = False
        self._was_chosen = False
        self.view: MessageView | None = None
        self._hits = Hits()
        self.header = FoldHeader(self)
        self.header.toggled.connect(self._on_toggled)
        self.header.clicked.connect(self._on_clicked)
        self._copy = CopyButton(self)
        self._copy.setAccessibleName(self.tr("Copy the reasoning"))
        self._copy.hide()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_time(None)

    # ----------------------------------------------------------------------------- state

    @property
    def is_open(self) -> bool:
        """Return whether the text is shown."""
        return self.header.isChecked()

    def unfold(self) -> None:
        """Show the text, unless the user has chosen already."""
        if not self._was_chosen:
            self.header.setChecked(True)

    def set_time(self, seconds: float | None) -> None:
        """Show the duration so far, or None where it is unknown."""
        if self._is_growing:
            words = self.tr("Thinking… {:.0f} s") if seconds else self.tr("Thinking…")
        elif seconds is None:
            words = self.tr("Reasoning")
        elif seconds < 60:
            words = self.tr("Thought for {:.1f} s")
        else:
            words = self.tr("Thought for {minutes} min {seconds} s")
        minutes, rest = divmod(round(seconds or 0), 60)
        text = words.format(local(seconds or 0), minutes=minutes, seconds=rest)
        if text != self.header.text():
            self.header.setText(text)
            self._fit()

    def show_source(self, source: str, base: int, *, is_growing: bool, is_final: bool) -> None:
        """Show Markdown.

        Args:
            source: The text of the reasoning.
            base: Its offset in the reply.
            is_growing: Whether the reasoning is still growing.
            is_final: Whether the reply is complete.
        """
        is_same = source == self._source and base == self._base
        if is_same and is_growing == self._is_growing and not is_final:
            return
        self._source, self._base, self._is_growing = source, base, is_growing
        self._copy.set_code(None if is_growing else source.strip())
        self._copy.setVisible(self.is_open and not is_growing)
        if self.is_open:
            self._render()

    def _render(self) -> None:
        view = self.view
        if view is None:
            view = self.view = MessageView(
                self, requests=self._requests, provenance=self._provenance, is_muted=True
            )
            view.setAccessibleName(self.tr("Reasoning"))
            view.mark(self._hits)
            view.height_changed.connect(self._fit)
        elif self._is_view_due:
            view.renew()
        self._is_view_due = False
        view.show_source(self._source, self._base, is_final=not self._is_growing)
        view.set_caret(self._is_growing)
        view.show()
        self._fit()

    def renew(self) -> None:
        """Show the same in the present colours and size; a folded text when it is unfolded."""
        self._is_view_due = self.view is not None
        if self.is_open:
            self._render()
        self._fit()

    def mark(self, hits: Hits) -> None:
        """Mark hits; the text is unfolded once it contains the current one."""
        is_new, self._hits = hits.current != self._hits.current, hits
        begin = hits.current[0] if hits.current is not None else -1
        if is_new and self._base <= begin < self._base + len(self._source):
            self.header.setChecked(True)
        if self.view is not None:
            self.view.mark(hits)

    # -------------------------------------------------------------------------- geometry

    @Slot()
    def _fit(self) -> None:
        """Give the text the whole width."""
        size = self.header.sizeHint()
        self.header.setGeometry(0, 0, min(size.width(), max(self.width(), 1)), size.height())
        height = size.height()
        button = self._copy.sizeHint()
        top = (size.height() - button.height()) // 2
        self._copy.setGeometry(self.width() - button.width(), top, button.width(), button.height())
        if self.is_open and self.view is not None:
            top = height + _INNER_GAP_PX
            width = max(1, self.width() - _INDENT_PX)
            self.view.setGeometry(_INDENT_PX, top, width, self.view.height())
            height = top + self.view.height() + _INNER_GAP_PX
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.height_changed.emit()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint a line at the left of the text."""
        if self.is_open:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(look.theme.line_strong))
            top = self.header.height() + _INNER_GAP_PX
            painter.drawRoundedRect(
                QRectF(6, top, _LINE_PX, self.height() - top - _INNER_GAP_PX), 1, 1
            )

    # ---------------------------------------------------------------------------- events

    @Slot()
    def _on_clicked(self) -> None:
        self._was_chosen = True

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:  # noqa: FBT001
        self._copy.setVisible(on and not self._is_growing)
        if on:
            self._render()
        elif self.view is not None:
            self.view.hide()
        self._fit()


MAX_SECTIONS = 24
"""Maximum number of sections; text after a further change between reasoning and answer is all
answer."""

_GAP_PX = 10


class ReplyBody(Refits, QWidget):
    """Text of a reply; as high as its content.

    Attributes:
        answer: The view of the answer; of the first one, if reasoning interrupts it.
    """

    height_changed = Signal()

    def __init__(
        self,
        provenance: Provenance,
        requests: MessageRequests | None = None,
    ) -> None:
        """Create it without text.

        Args:
            provenance: Receives each step before its text is shown.
            requests: Handles links and code to save; None for the body's own.
        """
        super().__init__()
        self._provenance = provenance
        self._requests = requests or MessageRequests(self)
        self._splitter = ReasoningSplitter()
        self._text, self._is_json = "", False
        self._parts: tuple[ReplySection, ...] = ()
        self._has_caret = False
        self._name = ""
        self.answer = self._make_view()
        self._sections: list[tuple[ReplySection, MessageView | ReasoningBlock]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._fit()

    def _make_view(self) -> MessageView:
        view = MessageView(self, requests=self._requests, provenance=self._provenance)
        view.setAccessibleName(self._name)
        view.height_changed.connect(self._fit)
        view.hide()
        return view

    def _make_reasoning(self) -> ReasoningBlock:
        block = ReasoningBlock(self._provenance, self._requests, self)
        block.height_changed.connect(self._fit)
        block.resize(self.width(), block.height())
        block.show()
        return block

    # ----------------------------------------------------------------------------- state

    @property
    def reasoning(self) -> tuple[ReasoningBlock, ...]:
        """Stretches of reasoning in order."""
        return tuple(w for _, w in self._sections if isinstance(w, ReasoningBlock))

    @property
    def answer_text(self) -> str:
        """Markdown of the answer alone, or the whole text without reasoning."""
        return join_parts(self._text, self._parts, "answer")

    @property
    def reasoning_text(self) -> str:
        """Markdown of the reasoning alone."""
        return join_parts(self._text, self._parts, "reasoning") if self.reasoning else ""

    @property
    def plain_text(self) -> str:
        """Readable text of the answer, without markup."""
        views = [w for _, w in self._sections if isinstance(w, MessageView)]
        return "\n".join(view.content.plain_text for view in views)

    def setAccessibleName(self, name: str) -> None:
        """Name the views of the answer, which take the focus."""
        self._name = name
        super().setAccessibleName(name)
        for view in {self.answer, *(w for _, w in self._sections if isinstance(w, MessageView))}:
            view.setAccessibleName(name)

    def show_source(self, text: str, *, is_final: bool = False, known: Known = UNKNOWN) -> None:
        """Show the text so far, or the whole text, split by what is known of its reasoning."""
        self._text, self._is_json = text, known.is_json
        self._parts = self._splitter.split(text, is_final=is_final, known=known)
        wanted = self._wanted()
        n_kept = 0
        for (old, _), new in zip(self._sections, wanted, strict=False):
            if (old.kind, old.start) != (new.kind, new.start):
                break
            n_kept += 1
        for _, view in self._sections[n_kept:]:
            self._drop(view)
        del self._sections[n_kept:]
        for index, part in enumerate(wanted):
            if index < n_kept:
                old, view = self._sections[index]
                self._sections[index] = (part, view)
                if part.end == old.end and index < len(wanted) - 1 and not is_final:
                    continue
            else:
                view = self._make(part)
                self._sections.append((part, view))
            self._fill(part, view, is_last=part is wanted[-1], is_final=is_final)
        has_answer = any(part.kind == "answer" for part in wanted)
        if is_final and not has_answer:
            for block in self.reasoning:
                block.unfold()
        self.set_caret(self._has_caret)
        self._fit()

    def set_caret(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide the caret after the last character, a sign of more to come."""
        self._has_caret = on
        last = self._sections[-1][1] if self._sections else self.answer
        for view in [self.answer, *(w for _, w in self._sections)]:
            if isinstance(view, MessageView):
                view.set_caret(on and view is last)

    def renew(self) -> None:
        """Show the same in the present colours and size; the owner decides when."""
        for view in dict.fromkeys([self.answer, *(w for _, w in self._sections)]):
            view.renew()

    def mark(self, hits: Hits) -> None:
        """Mark hits; reasoning is unfolded for the current one."""
        for _, view in self._sections:
            view.mark(hits)

    def is_reasoning(self, offset: int) -> bool:
        """Return whether an offset of the reply's source is in its reasoning."""
        return any(p.kind == "reasoning" and p.start <= offset < p.end for p in self._parts)

    # ----------------------------------------------------------------------------- showing

    def _wanted(self) -> list[ReplySection]:
        """Return the stretches with a section of their own: those that are not blank."""
        text = self._text
        wanted = [
            part
            for part in self._parts
            if part.kind in {"answer", "reasoning"} and text[part.start : part.end].strip()
        ]
        if len(wanted) > MAX_SECTIONS:
            rest = ReplySection("answer", wanted[MAX_SECTIONS - 1].start, len(text))
            wanted[MAX_SECTIONS - 1 :] = [rest]
        return wanted

    def _make(self, part: ReplySection) -> MessageView | ReasoningBlock:
        if part.kind == "reasoning":
            return self._make_reasoning()
        in_use = any(view is self.answer for _, view in self._sections)
        view = self._make_view() if in_use else self.answer
        view.resize(self.width(), view.height())
        view.show()
        return view

    def _drop(self, view: MessageView | ReasoningBlock) -> None:
        view.hide()
        if view is self.answer:
            self.answer.show_source("")
        else:
            view.deleteLater()

    def _fill(
        self,
        part: ReplySection,
        view: MessageView | ReasoningBlock,
        *,
        is_last: bool,
        is_final: bool,
    ) -> None:
        source = self._text[part.start : part.end]
        if isinstance(view, MessageView):
            n_before = 0
            if self._is_json:
                source, n_before = as_json(source, is_final=is_final)
            view.show_source(source, part.start - n_before, is_final=is_final)
            return
        is_growing = not is_final and is_last and part is self._last_part()
        view.show_source(source, part.start, is_growing=is_growing, is_final=is_final)
        view.set_time(self._seconds(part))

    def _last_part(self) -> ReplySection | None:
        """Return the part in which the text is growing."""
        held = [part for part in self._parts if part.kind != "held"]
        return held[-1] if held else None

    def _seconds(self, part: ReplySection) -> float | None:
        """Return the time of a stretch, marks included; None without a step."""
        before = max(
            (p.end for p in self._parts if p.end <= part.start and p.kind != "mark"), default=0
        )
        return self._provenance.seconds(before, part.end)

    # -------------------------------------------------------------------------- geometry

    @Slot()
    def _fit(self) -> None:
        """Give every section the whole width."""
        top = 0
        for _, view in self._sections:
            top += _GAP_PX if top else 0
            view.setGeometry(0, top, self.width(), view.height())
            top += view.height()
        if top != self.height() or self.minimumHeight() != top:
            self.setFixedHeight(top)
            self.height_changed.emit()
