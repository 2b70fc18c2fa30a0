"""What Auto decided in one reply, in rows and in a few words. Pure functions.

A reply without decisions (another strategy, an older version) has no rows and no words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.gui.viewmodels.control_words import reason_title, sentence
from paceline.gui.viewmodels.figures import percent_text
from paceline.gui.viewmodels.verdict import judge

if TYPE_CHECKING:
    from paceline.figures import Speedup
    from paceline.gui.viewmodels.decisions import Mix
    from paceline.gui.viewmodels.sources import Sources

Row = tuple[str, str]


def decision_rows(mix: Mix, sources: Sources, speedup: Speedup | None) -> tuple[Row, ...]:
    """What a reply's decisions were: in short, by drafter, and by reason with their shares.

    Args:
        mix: All steps of the reply.
        sources: What drafters are called.
        speedup: The reply's; None: not known.
    """
    if not mix.n_steps:
        return ()
    rows = [(_tr("In short"), sentence(judge(mix, speedup=speedup), sources))]
    by_steps = sorted(mix.drafters.items(), key=lambda item: -item[1].n_steps)
    for name, work in by_steps:
        parts = [_tr("drafted first in {} of the steps").format(_share(work.n_steps, mix.n_steps))]
        parts.append(_tr("{:,} of {:,} tokens accepted").format(work.n_accepted, work.n_judged))
        rows.append((sources.title(name), ", ".join(parts)))
    reasons = sorted(mix.reasons.items(), key=lambda item: -item[1])
    rows += [
        (_capital(reason_title(reason)), _tr("{:,} steps, {}").format(n, _share(n, mix.n_steps)))
        for reason, n in reasons
    ]
    return tuple(rows)


def decision_details(mix: Mix) -> str:
    """The shares of the reasons in one line; empty without decisions."""
    if not mix.n_steps:
        return ""
    reasons = sorted(mix.reasons.items(), key=lambda item: -item[1])
    shares = (f"{reason_title(reason)} {_share(n, mix.n_steps)}" for reason, n in reasons)
    return _tr("Auto: {}").format(", ".join(shares))


def decision_part(mix: Mix) -> str:
    """The part of the line below a reply; empty without decisions."""
    if not mix.n_steps:
        return ""
    return _tr("{} of steps drafted").format(_share(mix.n_drafting, mix.n_steps))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _share(n: int, total: int) -> str:
    """A share that never rounds something to nothing."""
    share = n / total
    words = percent_text(max(share, 0.01)) if n else percent_text(0.0)
    return _tr("under {}").format(words) if 0 < share < 0.01 else words


def _tr(text: str) -> str:
    return QCoreApplication.translate("DecisionRows", text)
