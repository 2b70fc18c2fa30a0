"""What a judgement about a pair says: whether it works, why, and what to take instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["good", "note", "bad"]


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that was found.

    Attributes:
        code: Stable name in kebab-case, e.g. ``token-differs``.
        text: One sentence.
        level: "bad" refuses the pair, "note" is worth knowing, "good" speaks for it.
    """

    code: str
    text: str
    level: Level


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to take instead.

    Attributes:
        text: One sentence that says it.
        target: Path or ``hf:`` reference of the target to take; empty: the one that was judged.
        draft: Path or ``hf:`` reference of the draft model to take; empty: none.
        strategy: A strategy that goes with it; empty: the usual one.
    """

    text: str
    target: str = ""
    draft: str = ""
    strategy: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a draft model can draft for a target.

    Attributes:
        ok: Whether the pair can be loaded and speculates.
        reasons: What was found, the most important first; never empty.
        gain: The expected gain in words; empty where nothing is known.
        remedy: None where nothing better is known, or nothing better is needed.
    """

    ok: bool
    reasons: tuple[Reason, ...]
    gain: str = ""
    remedy: Remedy | None = None
