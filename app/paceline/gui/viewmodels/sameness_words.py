"""What a check of sameness found, in words that promise nothing more. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication

from paceline.chat.sameness import CannotCompare, Same

if TYPE_CHECKING:
    from paceline.chat.sameness import Differs, Result


@dataclass(frozen=True, slots=True)
class SamenessWords:
    """A verdict, and what stands behind it."""

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
