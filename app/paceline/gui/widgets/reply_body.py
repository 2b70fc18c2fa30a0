"""The text of a reply: its reasoning, folded, and its answer, each where it stood.

It takes the reply's whole source and all its steps; offsets of tokens count in the whole. One
section is one stretch of the text, so that reasoning between two answers stays between them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QWidget

from paceline.chat.reasoning import Part, ReasoningSplitter, join_parts
from paceline.gui.widgets.message_view import MessageView
from paceline.gui.widgets.plain_text import plain_text
from paceline.gui.widgets.provenance import Provenance
from paceline.gui.widgets.reasoning_block import ReasoningBlock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.sources import Sources
    from paceline.messages import Decision, TokenTrace

MAX_SECTIONS = 24
"""Whoever changes between reasoning and answer more often is shown as it is written from there."""

_GAP_PX = 10


class ReplyBody(QWidget):
    """What a reply says; as high as its content."""

    height_changed = Signal()
    link_activated = Signal(str)
    copy_requested = Signal(str)
    code_save_requested = Signal(str, str)
    """The language as the author named it, and the code."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._provenance = Provenance()
        self._splitter = ReasoningSplitter()
        self._text = ""
        self._parts: tuple[Part, ...] = ()
        self._has_token_colours = True
        self._has_caret = False
        self._name = ""
        # Where the text ended behind each step, and how many seconds had passed by then.
        self._step_ends: list[int] = []
        self._step_seconds: list[float] = []
        self._answer = self._make_view()
        self._sections: list[tuple[Part, MessageView | ReasoningBlock]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._arrange()

    def _make_view(self) -> MessageView:
        view = MessageView(self._theme, self, provenance=self._provenance)
        view.setAccessibleName(self._name)
        view.set_token_colours(self._has_token_colours)
        self._connect(view)
        view.hide()
        return view

    def _make_reasoning(self) -> ReasoningBlock:
        block = ReasoningBlock(self._theme, self._provenance, self)
        block.set_token_colours(self._has_token_colours)
        self._connect(block)
        block.resize(self.width(), block.height())
        block.show()
        return block

    def _connect(self, part: MessageView | ReasoningBlock) -> None:
        part.height_changed.connect(self._arrange)
        part.link_activated.connect(self.link_activated)
        part.copy_requested.connect(self.copy_requested)
        part.code_save_requested.connect(self.code_save_requested)

    # ----------------------------------------------------------------------------- state

    @property
    def answer(self) -> MessageView:
        """The view of the answer; of the first one, if reasoning interrupts it."""
        return self._answer

    @property
    def reasoning(self) -> tuple[ReasoningBlock, ...]:
        """The stretches of reasoning, in their order."""
        return tuple(w for _, w in self._sections if isinstance(w, ReasoningBlock))

    @property
    def answer_text(self) -> str:
        """The Markdown of the answer alone; all of the text where there is no reasoning."""
        return join_parts(self._text, self._parts, "answer")

    @property
    def reasoning_text(self) -> str:
        """The Markdown of the reasoning alone."""
        return join_parts(self._text, self._parts, "reasoning") if self.reasoning else ""

    @property
    def plain_text(self) -> str:
        """What can be read of the answer, without markup."""
        views = [w for _, w in self._sections if isinstance(w, MessageView)]
        return "\n".join(plain_text(view.document(), view.content.marks) for view in views)

    def setAccessibleName(self, name: str) -> None:
        """Name the views of the answer, which are what has the keyboard."""
        self._name = name
        super().setAccessibleName(name)
        for view in {self._answer, *(w for _, w in self._sections if isinstance(w, MessageView))}:
            view.setAccessibleName(name)

    def add_step(
        self,
        traces: tuple[TokenTrace, ...],
        *,
        step: int = 0,
        n_drafted: int = 0,
        sources: Sources | None = None,
        seconds: float = 0.0,
        decision: Decision | None = None,
    ) -> None:
        """Note what one step committed, before its text is shown.

        Args:
            traces: The step's tokens; their ends count in the whole text.
            step: The step's number.
            n_drafted: How many tokens were drafted in it.
            sources: What the drafters are called, and their colours.
            seconds: How long it took.
            decision: What Auto decided for it.
        """
        self._provenance.add(traces, step, n_drafted, sources, decision)
        if traces:
            self._step_ends.append(traces[-1].text_end)
            so_far = self._step_seconds[-1] if self._step_seconds else 0.0
            self._step_seconds.append(so_far + seconds)

    def show_growing(self, text: str) -> None:
        """Show the text so far."""
        self._show(text, is_final=False)

    def show_final(self, text: str) -> None:
        """Show the whole text."""
        self._show(text, is_final=True)

    def set_caret(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide the mark behind the last character: more is to come."""
        self._has_caret = on
        last = self._sections[-1][1] if self._sections else self._answer
        for view in [self._answer, *(w for _, w in self._sections)]:
            if isinstance(view, MessageView):
                view.set_caret(on and view is last)

    def set_theme(self, theme: Theme) -> None:
        """Show the same in other colours."""
        self._theme = theme
        for view in dict.fromkeys([self._answer, *(w for _, w in self._sections)]):
            view.set_theme(theme)

    def set_token_colours(self, on: bool) -> None:  # noqa: FBT001
        """Show or hide where each token came from."""
        self._has_token_colours = on
        for view in dict.fromkeys([self._answer, *(w for _, w in self._sections)]):
            view.set_token_colours(on)

    def mark_words(self, words: Sequence[str]) -> None:
        """Mark these words for a while; reasoning that has one and the answer not is unfolded."""
        found = False
        for _, view in self._sections:
            if isinstance(view, MessageView):
                found = view.mark_words(words) or found
        for block in self.reasoning:
            found = block.mark_words(words, unfold=not found) or found

    # ----------------------------------------------------------------------------- showing

    def _show(self, text: str, *, is_final: bool) -> None:
        self._text = text
        self._parts = self._splitter.split(text, is_final=is_final)
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
        self._arrange()

    def _wanted(self) -> list[Part]:
        """What gets a section of its own: the stretches that say anything."""
        text = self._text
        wanted = [
            part
            for part in self._parts
            if part.kind in {"answer", "reasoning"} and text[part.start : part.end].strip()
        ]
        if len(wanted) > MAX_SECTIONS:
            rest = Part("answer", wanted[MAX_SECTIONS - 1].start, len(text))
            wanted[MAX_SECTIONS - 1 :] = [rest]
        return wanted

    def _make(self, part: Part) -> MessageView | ReasoningBlock:
        if part.kind == "reasoning":
            return self._make_reasoning()
        in_use = any(view is self._answer for _, view in self._sections)
        view = self._make_view() if in_use else self._answer
        view.resize(self.width(), view.height())
        view.show()
        return view

    def _drop(self, view: MessageView | ReasoningBlock) -> None:
        view.hide()
        if view is self._answer:
            self._answer.show_part("", 0, is_final=False)
        else:
            view.deleteLater()

    def _fill(
        self, part: Part, view: MessageView | ReasoningBlock, *, is_last: bool, is_final: bool
    ) -> None:
        source = self._text[part.start : part.end]
        if isinstance(view, MessageView):
            view.show_part(source, part.start, is_final=is_final)
            return
        is_growing = not is_final and is_last and part is self._last_part()
        view.show_source(source, part.start, is_growing=is_growing, is_final=is_final)
        view.set_time(self._seconds(part))

    def _last_part(self) -> Part | None:
        """The part in which the text is growing."""
        held = [part for part in self._parts if part.kind != "held"]
        return held[-1] if held else None

    def _seconds(self, part: Part) -> float | None:
        """How long a stretch of the text took, with its marks; None where no step tells."""
        if not self._step_seconds or not self._step_seconds[-1]:
            return None
        before = max(
            (p.end for p in self._parts if p.end <= part.start and p.kind != "mark"), default=0
        )
        first = bisect_left(self._step_ends, before) if before else -1
        last = bisect_right(self._step_ends, part.end)
        spent = self._step_seconds[first] if first >= 0 else 0.0
        return self._step_seconds[min(last, len(self._step_seconds) - 1)] - spent

    # -------------------------------------------------------------------------- geometry

    @Slot()
    def _arrange(self) -> None:
        top = 0
        for _, view in self._sections:
            top += _GAP_PX if top else 0
            view.setGeometry(0, top, self.width(), view.height())
            top += view.height()
        if top != self.height() or self.minimumHeight() != top:
            self.setFixedHeight(top)
            self.height_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give every section the whole width."""
        super().resizeEvent(event)
        self._arrange()
