"""What is known of a reply, written into its view: steps, status, figures, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from paceline.gui.viewmodels import figures
from paceline.gui.viewmodels.decision_rows import decision_details, decision_part
from paceline.gui.viewmodels.decisions import mix_of
from paceline.hosting.deaths import DIED
from paceline.run_record import INTERRUPTED

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.viewmodels.sources import Sources
    from paceline.gui.widgets.reply_view import ReplyView
    from paceline.messages import StepCommitted


class ReplyWriter(QObject):
    """Knows the words; which view shows which reply is the chat controller's business."""

    def __init__(self, pair: PairModel, sources: Sources, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pair = pair
        self._sources = sources

    def fill(self, view: ReplyView, reply: Reply) -> None:
        """Write all that is known into a view that has just been made."""
        for step in reply.steps:
            self.append(view, step)
        if reply.has_ended:
            self.close(view, reply)
        else:
            self.show_status(view, reply)

    def append(self, view: ReplyView, step: StepCommitted) -> None:
        """Write what one step committed."""
        n_drafted = sum(count.n_drafted for count in step.drafted)
        view.append(
            step.text,
            step.tokens,
            step=step.step,
            n_drafted=n_drafted,
            sources=self._sources,
            seconds=step.total_s,
            decision=step.decision,
        )

    def show_status(self, view: ReplyView, reply: Reply) -> None:
        """Say what happens before the first token."""
        if reply.stopping:
            view.set_status(self.tr("Stopping…"))
        elif reply.status == "waiting":
            state = self._pair.state
            if state.status == "loading":
                words = self.tr("Waiting for the models: {:.0f} % loaded…")
                view.set_status(words.format(state.fraction * 100))
            else:
                view.set_status(self.tr("Waiting for the engine…"))
        elif reply.status == "prefill" and reply.n_prompt:
            share = reply.n_prefilled / reply.n_prompt
            view.set_status(self.tr("Reading the prompt: {:.0f} %…").format(share * 100))
        else:
            view.set_status("")

    def close(self, view: ReplyView, reply: Reply) -> None:
        """Write how a reply ended."""
        view.set_status("")
        view.finish(reply.text)
        speed = reply.stats.tokens_per_s if reply.stats is not None else None
        decided = mix_of(reply.steps)
        line = figures.stats_line(reply, decision_part(decided))
        details = "\n".join(filter(None, (figures.stats_details(reply), decision_details(decided))))
        view.set_stats(line, details, tokens_per_s=speed)
        if reply.n_cut:
            view.set_note(self._cut_note(reply.n_cut))
        if reply.reason == "cancelled" and not reply.text:
            view.set_status(self.tr("Stopped."))
        error = reply.error
        if error is None:
            return
        message, hint = error.message, error.hint
        kept = self.tr("What was written before is kept.") if reply.text else ""
        if error.code == DIED:  # the notice says what to do, and it is soon out of date
            hint = kept
        elif error.code == INTERRUPTED.code:
            message = self.tr("Paceline ended while this reply was being written.")
            hint = kept
        view.set_error(message, hint)

    def _cut_note(self, n_cut: int) -> str:
        if n_cut == 1:
            return self.tr("The oldest message was left out: the context is full.")
        return self.tr("The oldest {} messages were left out: the context is full.").format(n_cut)
