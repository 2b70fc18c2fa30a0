"""Events of scripted turns, with their seconds: what a recording or an engine would give."""

from __future__ import annotations

from msgspec import structs

from gui.fake_client import STATS, undrafted
from paceline.messages import (
    DraftCount,
    FinishReason,
    PrefillProgressed,
    StepCommitted,
    Strategy,
    TokenTrace,
    TurnEvent,
    TurnFinished,
    TurnStarted,
)

Turn = list[tuple[float, TurnEvent]]
READ_S = 0.5


def turn(
    text: str,
    step_s: float,
    *,
    per_step: int = 1,
    jitter: float = 0.0,
    reason: FinishReason = "eog",
    first_id: int = 0,
) -> Turn:
    """Return a turn that writes a text word by word.

    Args:
        text: Its text; a token is a word with the blank after it.
        step_s: Seconds of a step.
        per_step: Tokens that a step commits; all but the last of them are drafted.
        jitter: Fraction by which every other step is longer, and the ones between shorter.
        reason: Reason of its end.
        first_id: Added to all ids of tokens.
    """
    words = [f"{word} " for word in text.split(" ")]
    words[-1] = words[-1][:-1]
    at, end, events = READ_S, 0, list[tuple[float, TurnEvent]]()
    events += [(0.1, TurnStarted(40, 0, 7)), (0.2, PrefillProgressed(20, 40))]
    traces: list[TokenTrace] = []
    steps = [words[i : i + per_step] for i in range(0, len(words), per_step)]
    for number, said in enumerate(steps):
        new = []
        for place, word in enumerate(said):
            end += len(word)
            is_own = place == len(said) - 1
            token = first_id + sum(word.encode())
            source = "target" if is_own else "draft"
            new.append(TokenTrace(token, source, -1 if is_own else place, None, end))
        n_drafted = len(said) - 1
        drafted = (DraftCount("draft", n_drafted, n_drafted),) if n_drafted else ()
        took = step_s * (1 + jitter * (-1) ** number)
        at += took
        traces += new
        gained = "".join(said)
        events.append((at, StepCommitted(number, tuple(new), gained, drafted, 0, took, 0, took)))
    stats = structs.replace(
        STATS if per_step > 1 else undrafted(),
        n_generated=len(words), n_steps=len(steps), prefill_s=READ_S, decode_s=at - READ_S,
        tokens_per_s=len(words) / (at - READ_S),
    )  # fmt: skip
    tokens = tuple(trace.token for trace in traces)
    return [*events, (at, TurnFinished(reason, text, tokens, 7, Strategy.of("off"), stats))]
