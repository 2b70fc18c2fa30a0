"""How the next reply is drawn, as the panel edits it."""

from __future__ import annotations

from dataclasses import dataclass, field

from paceline.params import SamplingParams


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """What the sampling card holds; see `settings.Settings` for the fields."""

    sampling: SamplingParams = field(default_factory=SamplingParams)
    max_tokens: int = 1024
    seed: int | None = None
    system_prompt: str = ""
    stop: tuple[str, ...] = ()
