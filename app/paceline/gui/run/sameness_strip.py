"""The progress of a check of sameness with a way to stop it, then its result in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
)

from paceline.chat.sameness import CannotCompare, Same
from paceline.gui.look.theme import restyle

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from paceline.chat.sameness import Differs, Result


@dataclass(frozen=True, slots=True)
class SamenessWords:
    """A verdict, and the reasons for it."""

    tone: Literal["accent", "lookup", "danger", "muted"]
    verdict: str
    details: str = ""


def _tr(text: str) -> str:
    return QCoreApplication.translate("SamenessWords", text)


def progress_words(n_same: int, n_tokens: int) -> str:
    """How far a check is."""
    return _tr("{:,} of {:,} tokens the same").format(n_same, n_tokens)


def result_words(result: Result) -> SamenessWords:
    """What came out."""
    if isinstance(result, Same):
        return SamenessWords(
            "accent",
            _tr("The same: all {:,} tokens are what plain decoding gives.").format(result.n_tokens),
        )
    if isinstance(result, CannotCompare):
        return SamenessWords("muted", result.message, result.hint)
    return _different(result)


def _different(result: Differs) -> SamenessWords:
    expected = _quoted(result.expected)
    found = _quoted(result.found)
    verdict = _tr("Token {:,} of {:,} differs: the reply has {}, plain decoding {}.").format(
        result.index + 1, result.n_tokens, expected, found
    )
    details = [_tr("Both have before: “…{}”").format(result.before)] if result.before else []
    if result.margin is None:
        details.append(_tr("No change of one logit gives plain decoding the reply's token."))
    else:
        change = _tr("If one logit changes by {:.3g}, plain decoding has the reply's token, too.")
        details.append(change.format(result.margin))
    if result.is_promised:
        details.append(
            _tr(
                "This pair gives the same text with any strategy here, so this should not be; "
                "please report it with the run record."
            )
        )
        return SamenessWords("danger", verdict, "\n".join(details))
    details.append(_explanation(result))
    return SamenessWords("lookup", verdict, "\n".join(details))


def _explanation(result: Differs) -> str:
    """Why a difference that no promise excludes can be."""
    cure = _tr("Exact mode (in the loading settings) avoids that.")
    most = result.logit_difference
    if result.is_exact:
        words = _tr("Was the reply made with other settings or kernels, or not in exact mode?")
    elif result.reused is not None and result.reused[0] != result.reused[1]:
        words = _tr(
            "Of the prompt, {:,} tokens were reused then and {:,} now; what was computed in other "
            "batches can differ by rounding."
        ).format(*result.reused)
        words = f"{words} {cure}"
    elif most is None:
        words = _tr("How far logits depend on the width of a batch was not looked at here yet.")
        words = f"{words} {cure}"
    # Each of the two logits that are compared may be off by so much.
    elif most > 0 and result.margin is not None and result.margin <= 2 * most:
        words = _tr(
            "That is a near-tie: between batch widths a logit was seen to differ by up to {:.2g} "
            "here."
        ).format(most)
        words = f"{words} {cure}"
    else:
        words = _tr(
            "Rounding was not seen to do so much here (up to {:.2g} in a logit). Was the reply "
            "made with other kernels, threads, devices or cache types?"
        ).format(most)
    return words


def _quoted(text: str) -> str:
    if not text:
        return _tr("its end, or a token without text")
    return "“{}”".format(text.replace("\n", "⏎"))


class SamenessStrip(QFrame):
    """Hidden while no check runs and no result is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "notice")
        self.verdict = QLabel()
        self.verdict.setWordWrap(True)
        self.verdict.setTextFormat(Qt.TextFormat.PlainText)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details = QLabel()
        self.details.setProperty("role", "small")
        self.details.setWordWrap(True)
        self.details.setTextFormat(Qt.TextFormat.PlainText)
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar()
        self.bar.setFixedWidth(160)
        self.bar.setAccessibleName(self.tr("Tokens compared"))
        self.stop = QPushButton(self.tr("Stop"))
        self.stop.setProperty("kind", "compact")
        self.stop.setAccessibleName(self.tr("Stop the check"))
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.verdict, 1)
        row.addWidget(self.bar)
        row.addWidget(self.stop)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 8, 14, 8)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.details)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def clear(self) -> None:
        """Hide: there is neither a check nor a result."""
        self.hide()

    def show_progress(self, n_same: int, n_tokens: int) -> None:
        """A check is under way."""
        self.verdict.setText(progress_words(n_same, n_tokens))
        self.bar.setRange(0, max(n_tokens, 1))
        self.bar.setValue(n_same)
        self.bar.show()
        self.stop.show()
        self.details.hide()
        self._set_tone("")
        self.show()

    def show_words(self, words: SamenessWords) -> None:
        """A check is over, or cannot be made."""
        self.verdict.setText(words.verdict)
        self.details.setText(words.details)
        self.details.setVisible(bool(words.details))
        self.bar.hide()
        self.stop.hide()
        self._set_tone(words.tone)
        self.setAccessibleName(words.verdict)
        self.setAccessibleDescription(words.details)
        self.show()

    def show_problem(self, message: str) -> None:
        """Show an error that is no result of a check."""
        self.show_words(SamenessWords("danger", message))

    def _set_tone(self, tone: str) -> None:
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            restyle(self)
