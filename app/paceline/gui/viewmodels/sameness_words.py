"""What a check of sameness found, in words that promise nothing more. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication

from paceline.chat.sameness import CannotCompare, Same

if TYPE_CHECKING:
    from paceline.chat.sameness import Differs, Result

NEAR_TIE = 0.2
"""Logits. Between batch widths, backends were measured to differ by about 0.1."""


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
    is_other_prefix = result.reused is not None and result.reused[0] != result.reused[1]
    if is_other_prefix and result.reused is not None:
        details.append(
            _tr(
                "Of the prompt, {:,} tokens were reused then and {:,} now; what was computed in "
                "other batches can differ by rounding."
            ).format(*result.reused)
        )
    is_near = result.margin is not None and abs(result.margin) <= NEAR_TIE
    if result.margin is not None:
        details.append(_tr("The margin is {:.4f} logits.").format(result.margin))
    if is_near and (result.may_flip is not False or is_other_prefix):
        details.append(
            _tr(
                "That is a near-tie: where logits depend a little on the width of a batch, it can "
                "fall either way. Exact mode (in the loading settings) keeps to widths that agree."
            )
        )
        return SamenessWords("lookup", verdict, "\n".join(details))
    if result.may_flip:
        details.append(
            _tr(
                "Logits of this model depend on the width of a batch here, so near-ties can fall "
                "either way; exact mode (in the loading settings) keeps to widths that agree."
            )
        )
        return SamenessWords("lookup", verdict, "\n".join(details))
    details.append(
        _tr(
            "Was the pair loaded with other threads, devices or cache types then? If not, this "
            "should not be; please report it with the run record."
        )
    )
    return SamenessWords("danger", verdict, "\n".join(details))


def _quoted(text: str) -> str:
    if not text:
        return _tr("its end, or a token without text")
    return "“{}”".format(text.replace("\n", "⏎"))
