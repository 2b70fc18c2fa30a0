"""The result of a check of sameness, in words and with both texts side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton, QSizePolicy, QWidget

from paceline.chat.difference import Difference, DiffPart, DiffRow
from paceline.chat.sameness import CannotCompare, Differs, Result, Same
from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import column_of, row_of, set_look, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.scale import px
from paceline.gui.run.difference_view import DifferenceView


@dataclass(frozen=True, slots=True)
class SamenessWords:
    """A verdict, its reasons, and both texts up to their difference."""

    tone: Literal["accent", "lookup", "danger", "muted"]
    verdict: str
    details: str = ""
    difference: Difference | None = None


_tr = translator("SamenessWords")


def progress_words(n_same: int, n_tokens: int) -> str:
    """Return the progress of a check; before the first token it reads the prompt."""
    if not n_same:
        return _tr("Reading the prompt…")
    return _tr("{:,} of {:,} tokens the same").format(local(n_same), local(n_tokens))


def result_words(result: Result) -> SamenessWords:
    """Return the result in words."""
    if isinstance(result, Same):
        words = _tr("Checked: the same text, all {:,} tokens.").format(local(result.n_tokens))
        return SamenessWords("accent", words)
    if isinstance(result, CannotCompare):
        return SamenessWords("muted", said(result.message), said(result.hint))
    return _different(result)


def _different(result: Differs) -> SamenessWords:
    verdict = _tr("Token {:,} of {:,} differs.").format(
        local(result.index + 1), local(result.n_tokens)
    )
    if result.margin is None:
        change = _tr("No change of one logit gives plain decoding the reply's token.")
    else:
        change = _tr(
            "If one logit changes by {:.3g}, plain decoding has the reply's token, too."
        ).format(local(result.margin))
    before = DiffPart(_visible(f"…{result.before}") if result.before else "", is_same=True)
    expected, found = (
        (
            before,
            DiffPart(_visible(token) or _tr("(its end, or a token without text)"), is_same=False),
        )
        for token in (result.expected, result.found)
    )
    # As code, so that every space is shown: tokens often differ by their number alone.
    texts = Difference((DiffRow(expected, found, is_code=True),), n_changes=1)
    if result.is_promised:
        why = _tr(
            "This pair gives the same text with any strategy here, so this should not be; "
            "please report it with the run record."
        )
        return SamenessWords("danger", verdict, f"{change}\n{why}", texts)
    return SamenessWords("lookup", verdict, f"{change}\n{_explanation(result)}", texts)


def _explanation(result: Differs) -> str:
    """Return the cause of a difference that no promise excludes."""
    cure = _tr("Exact mode (in the loading settings) avoids that.")
    most = result.logit_difference
    if result.any_context:
        words = _tr("Was the reply made with other settings or kernels, or not in exact mode?")
    elif result.reused is not None and result.reused[0] != result.reused[1]:
        words = _tr(
            "Of the prompt, {:,} tokens were reused then and {:,} now; what was computed in other "
            "batches can differ by rounding."
        ).format(*map(local, result.reused))
        words = f"{words} {cure}"
    elif most is None:
        words = _tr("How far logits depend on the width of a batch was not looked at here yet.")
        words = f"{words} {cure}"
    # Each of the two compared logits may be off by so much.
    elif most > 0 and result.margin is not None and result.margin <= 2 * most:
        words = _tr(
            "That is a near-tie: between batch widths a logit was seen to differ by up to {:.2g} "
            "here."
        ).format(local(most))
        words = f"{words} {cure}"
    else:
        words = _tr(
            "Rounding was not seen to do so much here (up to {:.2g} in a logit). Was the reply "
            "made with other kernels, threads, devices or cache types?"
        ).format(local(most))
    return words


def _visible(text: str) -> str:
    """Return a text with visible line ends, and visible spaces if it has nothing else."""
    shown = text.replace("\n", "⏎")
    return f"“{shown}”" if text.isspace() else shown


_TEXTS_PX = 84
"""Height for three lines of both texts; longer ones are scrolled."""


class SamenessStrip(QFrame):
    """Strip with the check's progress and result; hidden without either."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self.verdict = text_label("", "", wraps=True, plain=True)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details = text_label(wraps=True, plain=True)
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar()
        self.bar.setFixedWidth(160)
        self.bar.setAccessibleName(self.tr("Tokens compared"))
        self.stop = styled(QPushButton(self.tr("Stop")), kind="compact")
        self.stop.setAccessibleName(self.tr("Stop the check"))
        row = row_of((self.verdict, 1), self.bar, self.stop, spacing=12)
        self.texts = QWidget()
        self.difference = DifferenceView()
        self.difference.setFixedHeight(px(_TEXTS_PX))
        sides = (text_label(self.tr("Reply")), 1), (text_label(self.tr("Plain decoding")), 1)
        column_of(row_of(*sides), self.difference, on=self.texts, margins=0, spacing=2)
        self.texts.hide()
        column_of(row, self.texts, self.details, on=self, margins=(14, 8, 14, 8), spacing=4)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def show_progress(self, n_same: int, n_tokens: int) -> None:
        """Show a running check."""
        self.verdict.setText(progress_words(n_same, n_tokens))
        self.bar.setRange(0, max(n_tokens, 1))
        self.bar.setValue(n_same)
        self.bar.show()
        self.stop.show()
        self.texts.hide()
        self.details.hide()
        set_look(self, tone="")
        self.show()

    def show_words(self, words: SamenessWords) -> None:
        """Show a result, or why no check is possible."""
        self.verdict.setText(words.verdict)
        say(self.details, words.details)
        self.texts.setVisible(words.difference is not None)
        if words.difference is not None:
            self.difference.show_difference(words.difference)
            self.difference.go(1)
        self.bar.hide()
        self.stop.hide()
        set_look(self, tone=words.tone)
        self.setAccessibleName(words.verdict)
        self.setAccessibleDescription(words.details)
        self.show()

    def show_problem(self, message: str) -> None:
        """Show an error that is no result of a check."""
        self.show_words(SamenessWords("danger", message))
