"""A drafter and its reference side by side, driven as the engine drives a drafter."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest import mock

from hypothesis import strategies as st

from engine.draft.references import Reference, Tokens, common
from engine.workbench import workbench
from paceline.engine.cancel import CancelFlag
from paceline.engine.draft.base import DrafterInfo, Extender, Tunable
from paceline.engine.draft.lookups import lookup
from paceline.engine.native import llama_backend
from paceline.messages import ModelParams

Settings = Mapping[str, int]
MakeReference = Callable[[Settings], Reference]


@dataclass(frozen=True)
class Step:
    """One verified draft: `ahead` by a draft model, then up to `n_max` tokens of the drafter.

    The engine keeps `n_kept` of them; the target agrees with the first `n_agree` of what is
    left and goes on with `then`.
    """

    ahead: tuple[int, ...]
    n_max: int
    n_kept: int
    n_agree: int
    then: tuple[int, ...]


@dataclass(frozen=True)
class Grow:
    """Tokens are committed without a draft of this drafter's."""

    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Tune:
    """The user changes settings in mid-turn."""

    settings: Settings


@dataclass(frozen=True)
class Turn:
    """The turn ends, and another one begins on the first `n_kept` tokens and then `more`."""

    n_kept: int
    more: tuple[int, ...]
    closes: bool


Move = Step | Grow | Tune | Turn


class Rehearsal:
    """Plays moves and compares every proposal.

    Attributes:
        settings: The settings at present.
        seen: Number of proposals that were empty, accepted in full or in part, or refused at once.
    """

    def __init__(
        self, info: DrafterInfo, slow: MakeReference, settings: Settings, shaping: Sequence[str]
    ) -> None:
        self._slow = slow
        self._shaping = shaping
        self.settings = dict(settings)
        self.reference = slow(settings)
        self.drafter = info.make(workbench(), settings)
        self.history: Tokens = []
        self.seen: Counter[str] = Counter()

    def play(self, prompt: Sequence[int], moves: Sequence[Move]) -> None:
        """Begin with a prompt and carry out the moves."""
        # Slices have a test of their own; here no clock may end one.
        with mock.patch.multiple(lookup, STEP_S=600.0, PREFILL_S=600.0):
            self.history = list(prompt)
            self.drafter.begin(self.history, len(self.history))
            for move in moves:
                self.carry_out(move)
                self.ask((), 1000)

    def ask(self, ahead: Sequence[int], n_max: int) -> Tokens:
        """Return a proposal of the drafter, found to be the reference's."""
        assert isinstance(self.drafter, Extender)
        it = self.drafter
        draft = it.extend(list(ahead), n_max) if ahead else it.propose(n_max)
        tokens = list(draft.tokens)
        assert tokens == self.reference.propose(list(self.history), list(ahead), n_max)
        assert not draft.confidences
        return tokens

    def verify(self, ahead: Sequence[int], draft: Tokens, n_kept: int, truth: Tokens) -> int:
        """Let the target judge a draft, and return how many tokens it commits.

        Args:
            ahead: Tokens that another drafter proposed before it.
            draft: This drafter's proposal.
            n_kept: Number of its tokens that are verified.
            truth: Tokens that the target writes from here to the end of the reply.
        """
        verified = [*ahead, *draft[:n_kept]]
        n_agreed = common(verified, truth)
        committed = truth[: n_agreed + 1]
        self.history += committed
        if draft[:n_kept]:
            n_accepted = max(n_agreed - len(ahead), 0)
            written = committed[len(ahead) + n_accepted :]
            if n_accepted < len(draft) and written[:1] not in ([], [draft[n_accepted]]):
                self.reference.refused(n_accepted)
                self.seen["in part"] += n_accepted > 0
                self.seen["refused"] += n_accepted == 0
            self.seen["in full"] += n_accepted == len(draft)
            self.drafter.observe(n_accepted)
        else:
            self.seen["empty"] += not draft
            self.drafter.observe(None)
        return len(committed)

    def carry_out(self, move: Move) -> None:
        """Make one move."""
        match move:
            case Step():
                draft = self.ask(move.ahead, move.n_max)
                whole = [*move.ahead, *draft]
                truth = whole[: move.n_agree] + list(move.then)
                self.verify(move.ahead, draft, move.n_kept, truth or [1])
            case Grow():
                self.history += move.tokens
                self.drafter.observe(None)
            case Tune():
                self._tune(move.settings)
            case Turn():
                self._turn(move)

    def _tune(self, settings: Settings) -> None:
        assert isinstance(self.drafter, Tunable)
        self.drafter.tune(settings)
        old, self.settings = self.settings, dict(settings)
        if any(old[name] != settings[name] for name in self._shaping):
            assert not self.drafter.propose(9).tokens  # the index is built with the next step
            self.reference = self._slow(settings)
        else:
            self.reference.__dict__.update(settings)
        self.drafter.observe(None)

    def _turn(self, move: Turn) -> None:
        old = self.history
        self.history = [*old[: move.n_kept], *move.more] or [1]
        if move.closes:
            self.drafter.close()
        if not move.closes or self.history[: len(old)] != old:
            self.reference.forget()
        self.drafter.begin(self.history, len(self.history))


def moves(settings: st.SearchStrategy[Settings], n_tokens: int) -> st.SearchStrategy[list[Move]]:
    """Moves on a small alphabet, steps above all."""
    token = st.integers(1, n_tokens)

    def some(n: int) -> st.SearchStrategy[tuple[int, ...]]:
        return st.lists(token, max_size=n).map(tuple)

    step = st.builds(
        Step,
        ahead=st.just(()) | some(4),
        n_max=st.integers(1, 12),
        n_kept=st.integers(0, 12) | st.just(1000),
        n_agree=st.integers(0, 12),
        then=some(2),
    )
    turn = st.builds(
        Turn, n_kept=st.integers(0, 60) | st.just(1000), more=some(3), closes=st.booleans()
    )
    grow = st.builds(Grow, st.lists(token, min_size=1, max_size=7).map(tuple))
    return st.lists(st.one_of(step, step, step, grow, turn, settings.map(Tune)), max_size=20)


def prompts(n_tokens: int) -> st.SearchStrategy[list[int]]:
    """Prompts of at least one token."""
    return st.lists(st.integers(1, n_tokens), min_size=1, max_size=50)


@cache
def real_tokens(model: Path) -> tuple[int, ...]:
    """Text of this repository as tokens of the demo pair: prose, and code with an edit in it.

    The prose is the license, which never changes: what drafters find must not change with it.
    """
    root = Path(__file__).parents[3]
    prose = (root / "LICENSE").read_text("utf-8")
    code = (root / "app/paceline/engine/draft/lookups/prompt_lookup.py").read_text("utf-8")
    text = prose + code + prose[:600] + code.replace("n_pred", "length")
    loaded = llama_backend().load(
        ModelParams(str(model), n_ctx=64, n_threads=1),
        n_rows=1,
        cancel=CancelFlag(),
        progress=lambda _: None,
    )
    try:
        return tuple(loaded.vocab.tokenize(text, special=False))
    finally:
        loaded.close()


def play_text(rehearsal: Rehearsal, text: Sequence[int], seed: int, others: Settings) -> None:
    """Let the target write a text: in steps, after a draft model now and then, and in chunks.

    The drafter begins in the middle of it, and is tuned once to `others` and once back.
    """
    rng = random.Random(seed)
    with mock.patch.multiple(lookup, STEP_S=600.0, PREFILL_S=600.0):
        rehearsal.history = list(text[:40])
        rehearsal.drafter.begin(rehearsal.history, 10)
        first = dict(rehearsal.settings)
        tunes = {len(text) * 2 // 3: others, len(text) * 5 // 6: first}
        while (done := len(rehearsal.history)) < len(text):
            due = [place for place in tunes if place <= done]
            for place in due:
                rehearsal.carry_out(Tune(tunes.pop(place)))
            if rng.random() < 0.2:
                rehearsal.carry_out(Grow(tuple(text[done : done + rng.randrange(1, 40)])))
                continue
            ahead = text[done : done + 3] if rng.random() < 0.2 else ()
            if ahead and rng.random() < 0.3:
                ahead = (*ahead[:-1], 0)  # the draft model is wrong, too
            draft = rehearsal.ask(ahead, rng.choice([4, 62]))
            n_kept = rng.choice([2, 62, 62])
            rehearsal.verify(ahead, draft, n_kept, list(text[done:]))
