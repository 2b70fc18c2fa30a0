"""What goes into the controller and comes out of it, once per step."""

from __future__ import annotations

from typing import NamedTuple

from paceline.figures import Decision, Reason

FORCED = "grammar"
"""The drafter whose proposals the grammar leaves no choice about: `drafters.forced.NAME`."""


class StepPlan(NamedTuple):
    """What a step may do.

    Attributes:
        n_max: Most tokens that may be verified; 0: the step is a plain one.
        reason: Why, where it is a plain one; else "pays" or "trial".
        models: Whether a draft model may be asked.
        lookups: Which lookups are to be asked, in this order.
    """

    n_max: int
    reason: Reason
    models: bool
    lookups: tuple[str, ...]


class Settled(NamedTuple):
    """Whose draft is verified, and how many of its tokens; no drafter: a plain step."""

    drafter: str
    n: int
    decision: Decision


class StepTimes(NamedTuple):
    """What a step was and took.

    Attributes:
        n_ctx: Tokens in the context before the step.
        width: Tokens of the verify batch: drafted ones and one more.
        seconds: The whole step, drafting included, from the last step's end; without `held_s`.
        draft_s: Of that, drafting by models.
        lookup_s: Of that, asking lookups.
        n_draft_decoded: Tokens that the draft model decoded, its backlog included.
        n_accepted: Drafted tokens that were accepted.
        n_judged: Drafted tokens that were not discarded.
        n_committed: Tokens that the step added to the reply.
        is_warm: Whether the step before had the same width, so that no graph was rebuilt.
        had_pause: Whether something foreign happened in between; nothing is learned or charged.
        own_s: Of the seconds, what deciding took.
        held_s: Further seconds in which the thread did not run, since others used the machine.
    """

    n_ctx: int
    width: int
    seconds: float
    draft_s: float
    lookup_s: float
    n_draft_decoded: int
    n_accepted: int
    n_judged: int
    n_committed: int
    is_warm: bool
    had_pause: bool
    own_s: float = 0.0
    held_s: float = 0.0
