"""A machine and texts by random numbers, on which the controller's promises can be measured.

After the simulation that the controller was designed by. A text is a chain of stretches of two
kinds, harder and easier ones; within each, the chance that the draft model is right differs from
token to token, and its confidence is that chance with noise. Whether it is right at a place is
decided once, so that all policies run on the very same text. Kinds of text are fitted to what
fixed lengths gain on them: with the flat curve and drafts at a tenth of a plain step, drafting 3,
4 and 8 tokens gives 1.00/.91/.69 (hard), 1.45/1.39/1.13 (chat) and 2.10/2.17/2.18 (code).

Lookups know stretches that are copied from earlier; their confidence is the length of the match.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from paceline.engine.auto import Controller, Knowledge, StepPlan, StepTimes, VerifyCosts

PLAIN_S = 0.01


# ------------------------------------------------------------------------------------- texts


@dataclass(frozen=True)
class Kind:
    """A kind of text.

    Attributes:
        easy: Share of the easier stretches.
        chances: Mean probability that a drafted token is right, in harder and in easier stretches.
        concentration: Sum of the parameters of the probability's beta distribution in a stretch.
        stretch: Half the tokens of two stretches.
    """

    easy: float
    chances: tuple[float, float]
    concentration: float
    stretch: float = 40.0


KINDS = {
    "hard": Kind(0.48, (0.14, 0.41), 20),
    "chat": Kind(0.39, (0.42, 0.775), 4),
    "code": Kind(0.58, (0.60, 0.937), 8),
}
HEADS = {
    "prose": Kind(0.5, (0.40, 0.40), 8),
    "source": Kind(0.5, (0.87, 0.87), 8),
    "turns": Kind(0.5, (0.40, 0.87), 8, 100.0),
}
"""Acceptance of MTP heads as measured on prose, on code, and on both in turns."""
USELESS = Kind(0.5, (0.004, 0.008), 10)


@dataclass
class Text:
    """Proposals of the drafters at every place of a text, and whether they would be right.

    Attributes:
        right: True where the model predicts a token correctly, given all tokens before it.
        sure: The model's confidence at each place.
        copies: By lookup and place: tokens that its proposal gets right, and its confidences.
    """

    right: list[bool]
    sure: list[float]
    copies: dict[str, list[tuple[int, list[float | None]]]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.right)


def write(rng: random.Random, kind: Kind, n: int, *, noise: float = 0.15) -> Text:
    """Return a text without copies; `noise` is that of the confidences."""
    n += 80  # drafts look beyond the end
    right, sure = [], []
    is_easy, left = rng.random() < kind.easy, 0.0
    spread = kind.concentration
    for _ in range(n):
        if left <= 0:
            is_easy = not is_easy
            share = kind.easy if is_easy else 1 - kind.easy
            left = rng.expovariate(1 / (2 * kind.stretch * share))
        left -= 1
        chance = kind.chances[is_easy]
        p = rng.betavariate(chance * spread, (1 - chance) * spread)
        right.append(rng.random() < p)
        sure.append(min(max(p + rng.gauss(0, noise), 0.0), 1.0))
    return Text(right, sure)


def copy_into(
    text: Text, rng: random.Random, name: str, *, share: float, length: float = 20.0,
    false: float = 0.3,
) -> None:  # fmt: skip
    """Let a share of the text be copied, and a lookup know it.

    Args:
        text: Changed.
        rng: Decides where.
        name: The lookup.
        share: Share of the text that stands in copied stretches.
        length: Their mean length in tokens.
        false: Share of other places where the lookup proposes wrong tokens after a short match.
    """
    n = len(text)
    until = [0] * n  # end of the copied stretch around a place, or 0 if there is none
    since = [0] * n
    place = 0
    while place < n:
        gap = rng.expovariate(1 / (length * (1 / max(share, 1e-3) - 1) + 1e-9))
        start = place + int(gap)
        end = min(start + 2 + int(rng.expovariate(1 / length)), n)
        if share > 0:
            for i in range(start, end):
                until[i], since[i] = end, start
        place = end + 1
    proposals: list[tuple[int, list[float | None]]] = []
    for i in range(n):
        agreed = i - since[i]
        if until[i] and agreed >= 2:
            n_right, n_said = until[i] - i, 32
        elif rng.random() < false:
            agreed, n_right, n_said = rng.choice((2, 2, 3)), int(rng.random() < 0.15), 4
        else:
            proposals.append((0, []))
            continue
        said: list[float | None] = [(agreed + j) / (agreed + j + 1) for j in range(n_said)]
        proposals.append((n_right, said))
    text.copies[name] = proposals


# ----------------------------------------------------------------------------------- machines


def flat(n: int) -> float:
    """+3 % per token."""
    return 1 + 0.03 * (n - 1)


def gpu(n: int) -> float:
    """+8 % per token, and a cliff at nine."""
    return 1 + 0.08 * (n - 1) + (1.0 if n >= 9 else 0.0)


def cpu(n: int) -> float:
    """Steps of four, as measured on Q4_0."""
    if n <= 4:
        return 1 + 0.04 * (n - 1)
    return (1.75, 2.4, 3.4)[(n - 5) // 4] if n <= 16 else 3.4 + 0.19 * (n - 16)


def moe(n: int) -> float:
    """+55 % per token, until all experts are loaded."""
    return min(1 + 0.55 * (n - 1), 4.2 + 0.02 * n)


CURVES: dict[str, Callable[[int], float]] = {"flat": flat, "gpu": gpu, "cpu": cpu, "moe": moe}


def through(**points: float) -> Callable[[int], float]:
    """Return a curve of straight lines through the costs of widths, given as ``n4=1.23``."""
    known = sorted((int(name[1:]), cost) for name, cost in points.items())
    table = [0.0, 1.0]
    for (left, low), (right, high) in pairwise([(1, 1.0), *known]):
        table += [low + (high - low) * k / (right - left) for k in range(1, right - left + 1)]
    return table.__getitem__


class Kit(NamedTuple):
    """Costs of a machine with a pair of models, in plain steps.

    Attributes:
        curve: Cost of a verify step by its width.
        draft: Cost of a drafted token.
        batched: Cost of a token in a batch of the draft model, relative to a drafted token.
        prefill: Cost of a token of the prompt.
    """

    curve: Callable[[int], float]
    draft: float
    batched: float
    prefill: float


MACHINES = {
    "own": Kit(through(n2=1.01, n4=1.23, n8=2.05, n16=3.7, n63=14), 0.1, 0.25, 0.22),
    "stock": Kit(through(n2=2.5, n4=3.2, n8=4.0, n16=6.0, n63=20), 0.1, 0.4, 0.32),
    "q4_0": Kit(
        through(n2=1.0, n3=1.1, n4=1.12, n5=1.75, n6=1.9, n7=1.85, n8=1.74, n12=2.6, n16=3.4,
                n63=13),
        0.15, 0.25, 0.2,
    ),
    "q8 .3B": Kit(
        through(n2=1.34, n3=1.63, n4=1.9, n5=2.7, n8=3.0, n16=5.1, n63=19), 0.3, 0.3, 0.3
    ),
    "xeon": Kit(through(n2=1.26, n4=2.28, n8=4.34, n16=8.5, n63=33), 0.05, 0.5, 0.5),
    "ik": Kit(
        through(n2=1.0, n3=1.02, n4=1.05, n5=1.15, n6=1.34, n8=1.83, n16=3.7, n63=14),
        0.05, 0.25, 0.2,
    ),
    "3090": Kit(through(n2=1.08, n4=1.35, n8=2.39, n9=2.6, n16=2.9, n63=4.5), 0.12, 0.1, 0.015),
    "9950x": Kit(
        through(n2=1.14, n3=1.28, n4=1.44, n5=1.54, n6=1.73, n8=2.2, n16=4.3, n63=16), 0.1, 0.5, 0.2
    ),
    "m4": Kit(through(n2=1.6, n4=3.2, n8=6.54, n16=9.0, n63=25), 0.12, 0.3, 0.08),
    "flat": Kit(flat, 0.1, 0.1, 0.02),
    "moe": Kit(moe, 0.15, 0.25, 0.1),
}  # fmt: skip
"""Curves as they were measured or published; a prefill's token takes its share of a wide batch."""


@dataclass
class Machine:
    """A simulated machine: it returns the time that steps and drafts take.

    Attributes:
        curve: Cost of a verify step in plain steps, by its width.
        draft: Plain steps per drafted token.
        rng: Source of the noise.
        noise: Relative standard deviation of a step's time.
        hiccups: Share of steps that take three times as long.
        cold: Plain steps that another width costs once.
        slope: Relative growth of a plain step per token of context.
        share: Part of that growth that each further token of a batch adds again.
        pace: Slow-down by the number of committed tokens.
        wide_pace: The same for wide steps alone.
        batched: Cost of a token in a batch of the draft model, relative to a drafted token.
        held_s: Seconds of the last step in which other programs had the processor.
    """

    curve: Callable[[int], float]
    draft: float
    rng: random.Random
    noise: float = 0.03
    hiccups: float = 0.0
    cold: float = 0.0
    slope: float = 0.0
    share: float = 0.2
    pace: Callable[[int], float] = lambda _n: 1.0
    wide_pace: Callable[[int], float] = lambda _n: 1.0
    batched: float = 0.25
    last_width: int = 1
    held_s: float = 0.0

    def plain(self, n_ctx: int, n_done: int) -> float:
        """Return the true seconds of a plain step."""
        return PLAIN_S * self.pace(n_done) * (1 + self.slope * n_ctx)

    def verify(self, width: int, n_ctx: int, n_done: int) -> float:
        """Return the seconds of a step."""
        rows = 1 + self.share * (width - 1)
        seconds = PLAIN_S * self.pace(n_done) * (self.curve(width) + self.slope * n_ctx * rows)
        if width > 1:
            seconds *= self.wide_pace(n_done)
        if width != self.last_width:
            seconds += self.cold * self.plain(n_ctx, n_done)
        self.last_width = width
        return seconds * self._noise()

    def drafts(self, n_drafted: int, n_backlog: int, n_ctx: int, n_done: int) -> float:
        """Return the seconds of drafting after a backlog."""
        n = n_drafted + self.batched * max(n_backlog - 1, 0)
        return n * self.draft * self.plain(n_ctx, n_done) * self._noise()

    def _noise(self) -> float:
        held_up = 3.0 if self.hiccups and self.rng.random() < self.hiccups else 1.0
        return max(1 + self.rng.gauss(0, self.noise), 0.5) * held_up


def calibrated(
    curve: Callable[[int], float],
    draft: float = 0.1,
    batched: float = 0.25,
    *,
    on_device: bool = False,
) -> Knowledge:
    """Return knowledge with every width's cost in it, and the draft model's."""
    knowledge = Knowledge(VerifyCosts(on_device=on_device))
    for width in range(1, 40):
        for _ in range(2):
            knowledge.costs.add(width, 0, PLAIN_S * curve(width), calibrated=True)
    for _ in range(3):
        knowledge.pace.saw_plain(PLAIN_S)
    knowledge.draft_costs["draft"].add(1, PLAIN_S * draft)
    knowledge.draft_costs["draft"].add(64, PLAIN_S * draft * (1 + batched * 63), 64)
    return knowledge


# ------------------------------------------------------------------------------------ policies


@dataclass
class Step:
    """Record of one step."""

    drafter: str
    n_drafted: int
    n_committed: int
    seconds: float
    plain: float
    believed: float
    reason: str


@dataclass
class Reply:
    """A reply: seconds it took, seconds of plain decoding, and its steps.

    `n_unread` tokens at the text's beginning were not in the draft model's context in the end.
    """

    seconds: float = 0.0
    plain: float = 0.0
    n: int = 0
    n_unread: int = 0
    steps: list[Step] = field(default_factory=list)

    def add(self, n_committed: int, seconds: float, plain: float) -> None:
        """Count a step; `plain` are the seconds that plain decoding takes for a token there."""
        self.n += n_committed
        self.seconds += seconds
        self.plain += plain * n_committed

    @property
    def gain(self) -> float:
        """Return the speed relative to plain decoding."""
        return self.plain / self.seconds

    @property
    def excess(self) -> float:
        """Plain steps beyond 1.02 times plain decoding: the promise is 4 at most."""
        return (self.seconds - 1.02 * self.plain) / (self.plain / self.n)


class _Draft:
    """Proposals of a step's drafters, and the cost of the model's part."""

    def __init__(self) -> None:
        self.n = 0
        self.n_read = 0
        self.seconds = 0.0
        self.asked: list[str] = []


def _draft(
    controller: Controller,
    plan: StepPlan,
    text: Text,
    done: int,
    model: str,
    n_backlog: int,
    n_unread: int,
) -> _Draft:
    """Offer what the lookups know, and draft with the model where that is wanted."""
    draft = _Draft()
    for name in text.copies:
        _, said = text.copies[name][done]
        draft.asked.append(name)
        if said and controller.offer(name, said[: plan.n_max]) > 0.0:
            break
    if plan.models:
        draft.n_read = controller.wants_model(model, n_backlog, n_unread)
    if draft.n_read:
        going = True
        while going:
            going = controller.goes_on(text.sure[done + draft.n])
            draft.n += 1
    return draft


def _score(
    controller: Controller, text: Text, names: Sequence[str], done: int, n_committed: int
) -> None:
    """Score what lookups proposed and was not verified."""
    for name in names:
        n_good, said = text.copies[name][done]
        if said:
            n_compared = min(len(said), n_committed)
            controller.shadow(name, min(n_good, n_compared), n_compared)


def decode(
    knowledge: Knowledge,
    text: Text,
    machine: Machine,
    n_tokens: int,
    *,
    model: str = "draft",
    n_prompt: int = 1,
    n_most: int = 16,
    prefill: float = 0.0,
) -> Reply:
    """Decode a text under control.

    Args:
        knowledge: Learns.
        text: The reply's text, with the proposals and their correctness.
        machine: Takes time.
        n_tokens: Tokens of the reply.
        model: Empty for none.
        n_prompt: Tokens of the prompt; the draft model has read none of them.
        n_most: Most tokens that a step may verify.
        prefill: Plain steps that a token of the prompt has taken.
    """
    lookups = list(text.copies)
    prefill_s = prefill * n_prompt * PLAIN_S
    controller = Controller(
        knowledge, [model] if model else [], lookups, n_most=n_most, prefill_s=prefill_s
    )
    reply = Reply()
    # The draft model's context holds the text from one place on to another.
    done, origin, n_held, last_width = 0, 0, 0, 1
    while done < n_tokens:
        n_ctx = n_prompt + done
        plan = controller.plan(n_ctx, n_tokens - done - 1)
        draft = _Draft()
        if plan.n_max > 0:
            n_backlog = max(n_ctx - n_held, 1)
            n_unread = n_held if origin else 0
            draft = _draft(controller, plan, text, done, model, n_backlog, n_unread)
            if draft.n_read not in (0, n_backlog):
                origin = n_ctx - draft.n_read
        if draft.n:
            draft.seconds = machine.drafts(draft.n, draft.n_read, n_ctx, done)
        settled = controller.settle()
        n = settled.n_drafted
        assert n <= max(plan.n_max, 0)
        accepted = min(n, _n_right(text, done, settled.drafter, model, draft.n))
        n_committed = min(accepted + 1, n_tokens - done)
        lookup_s = 1e-5 * len(draft.asked)
        decode_s = machine.verify(n + 1, n_ctx, done)
        seconds = decode_s + draft.seconds + lookup_s
        ran = 1 - machine.held_s / seconds
        controller.observe(
            StepTimes(
                n_ctx, n + 1, ran * decode_s, ran * draft.seconds, ran * lookup_s,
                draft.n + draft.n_read - 1 if draft.n else 0,
                accepted, n, n_committed, n + 1 == last_width, had_pause=False,
                held_s=machine.held_s,
            )
        )  # fmt: skip
        right = _run(text.right[done : done + draft.n])
        if draft.n and settled.drafter != model:
            n_compared = min(draft.n, n_committed)
            controller.shadow(model, min(right, n_compared), n_compared)
        unused = [name for name in draft.asked if name != settled.drafter]
        _score(controller, text, unused, done, n_committed)
        if draft.n:
            n_held = n_ctx + min(draft.n - 1, n_committed - 1, right)
            reply.n_unread = origin
        last_width = n + 1
        plain = machine.plain(n_ctx, done)
        done += n_committed
        reply.add(n_committed, seconds, plain * (1 + 2 * machine.hiccups))
        believed = controller.report(0, n_ctx).plain_s if (done % 16) < n_committed else 0.0
        reason = settled.reason
        reply.steps.append(Step(settled.drafter, n, n_committed, seconds, plain, believed, reason))
    return reply


def _run(right: Sequence[bool]) -> int:
    n = 0
    for hit in right:
        if not hit:
            break
        n += 1
    return n


def _n_right(text: Text, done: int, drafter: str, model: str, drafted: int) -> int:
    """Return how many tokens of the verified draft are right."""
    if not drafter:
        return 0
    if drafter != model:
        return text.copies[drafter][done][0]
    return _run(text.right[done : done + drafted])


def fixed(text: Text, curve: Callable[[int], float], draft: float, k: int, n: int) -> float:
    """Return the gain of drafting `k` tokens in every step."""
    done, took = 0, 0.0
    while done < n:
        done += min(_run(text.right[done : done + k]), k) + 1
        took += curve(k + 1) + k * draft
    return done / took
