"""Drafting with a second, smaller model, token by token.

It draws with the noise of the very position that it predicts, so that at chat temperatures it
agrees with the target far more often than an argmax draft would (see `noise.py`). Its context keeps
every row that it has computed: only the rejected tail is dropped, and the tokens that the target
committed without it are decoded in one batch before the next draft. llama.cpp's server instead
decodes the whole verify batch once more with the draft model.

After a long prompt the caller may let it read only the end of the text: the context then holds the
history from some token on, at positions that begin with 0. The same happens after a gap, which only
the target can read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paceline.engine.draft.base import (
    NO_DRAFT,
    Draft,
    DrafterInfo,
    Parameter,
    Settings,
    Workbench,
)
from paceline.engine.model.context import CachedContext
from paceline.engine.model.states import no_copies
from paceline.engine.model.tokens import common_prefix, gaps_of
from paceline.errors import EngineError, NothingAllowedError, SamplingError, UserError
from paceline.params import DRAFT
from paceline.sentence import sentence


class ModelDrafter:
    """Drafts up to `n_max` tokens, stops below `p_min`, gives up drafts shorter than `n_min`.

    When the text outgrows the model's context, the last half of a context is read again.

    Attributes:
        n_decoded: Tokens that the model has decoded for this drafter.
    """

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self._context = self._context_in(bench)
        self._bench = bench
        self._sampler = bench.sampler.twin(self._context.n_vocab)
        self._n_vocab = bench.vocab.n_tokens
        self.tune(settings)
        self._history: Sequence[int] = ()
        self._n_prompt = 0
        self._n_agreed = 0  # number of the context's tokens that equal the history
        self._first = 0  # index in the history of the first token that it can read
        self._origin = 0  # index in the history of the context's first token
        self.n_decoded = 0

    def _context_in(self, bench: Workbench) -> CachedContext:
        if bench.draft is None or bench.draft.model.drafter != INFO.id:
            raise UserError(
                "no-draft-model",
                "The strategy “draft” needs a draft model, and none is loaded.",
                "Choose a draft model, or lookups, which need none.",
            )
        if not bench.draft.model.max_rollback:
            raise UserError(
                "draft-cannot-rollback",
                no_copies(sentence("draft model")),
                "Close other programs and load it again, or choose another draft model.",
            )
        return bench.draft

    def tune(self, settings: Settings) -> None:
        """Change the limits of drafts."""
        self._n_max = int(settings["n_max"])
        self._n_min = int(settings["n_min"])
        self._p_min = settings["p_min"]

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        """Keep what the context shares with the history; the rest is decoded when needed."""
        self._history = history
        self._n_prompt = n_prompt
        self._origin = self._first = gaps_of(history).end
        context = self._context
        context.rollback(common_prefix(context.tokens, history[self._first :]))
        self._n_agreed = len(context.tokens)

    @property
    def n_backlog(self) -> int:
        """Tokens to decode before the first drafted one is known."""
        context = self._context
        n_lacking = len(self._history) - self._origin - len(context.tokens)
        return self._n_anew or max(n_lacking, 1) + context.n_owed

    @property
    def n_unread(self) -> int:
        """Tokens before the backlog that must also be read to know the whole history."""
        n_passed = self._origin - self._first
        has_room = len(self._history) - self._first <= self._context.model.n_ctx // 2
        return n_passed + len(self._context.tokens) if n_passed and has_room else 0

    @property
    def _n_anew(self) -> int:
        """Tokens at the text's end to read in an empty context, once it has no room for more."""
        n_ctx = self._context.model.n_ctx
        return n_ctx // 2 if len(self._history) - self._origin >= n_ctx else 0

    def propose(self, n_max: int) -> Draft:
        """Decode what is missing of the history, then draft one token after the other."""
        return self.propose_while(n_max, _always, self.n_backlog)

    def propose_while(self, n_max: int, goes_on: Callable[[float], bool], n_read: int) -> Draft:
        """Draft like `propose` while `goes_on` returns True; see `Paced`."""
        try:
            if n_read != self.n_backlog or self._n_anew:
                self._begin_at(max(len(self._history) - n_read, self._first))
            return self._propose(n_max, goes_on)
        except SamplingError:
            raise
        except EngineError:  # no result of a failed decode may survive into the next reply
            self._context.clear(wipe=True)
            raise

    @property
    def _text(self) -> Sequence[int]:
        """The history from the context's first token on."""
        return self._history[self._origin :] if self._origin else self._history

    def _begin_at(self, place: int) -> None:
        """Read the history from this index on in an empty context."""
        self._context.clear()
        self._origin = place

    def observe(self, n_accepted: int | None) -> None:
        """Drop the drafted tokens that were not committed."""
        del n_accepted
        context, history, origin = self._context, self._history, self._origin
        held, n = context.tokens, self._n_agreed
        end = min(len(held), len(history) - origin)
        while n < end and held[n] == history[origin + n]:
            n += 1
        context.rollback(n)
        self._n_agreed = len(context.tokens)

    def close(self) -> None:
        """Leave the context with a prefix of the history."""
        if self._history:
            self.observe(None)
        self._sampler.close()
        self._history = ()

    def _propose(self, n_max: int, goes_on: Callable[[float], bool]) -> Draft:
        history, context, model = self._history, self._context, self._context.model
        n_max = min(n_max, self._n_max, model.n_ctx - len(history) + self._origin)
        if n_max < 1 or n_max < self._n_min:
            return NO_DRAFT
        draw, eog, n_vocab = self._sampler.draft, self._bench.eog, self._n_vocab
        position = len(history) - self._n_prompt
        pending = self._catch_up()
        if pending is None:
            return NO_DRAFT
        sampler = self._sampler
        has_memory = self._bench.sampler.has_memory
        if has_memory:
            sampler.follow(self._bench.sampler)
        tokens: list[int] = []
        confidences: list[float] = []
        while True:
            self.n_decoded += len(pending) + context.n_owed
            try:
                row = context.feed(pending, 1)[0]
                if len(row) > n_vocab:  # vocabularies may differ by a few tokens at their ends
                    row = row[:n_vocab]
                token, sure = draw(row, position + len(tokens))
            except NothingAllowedError:  # no token of this model may come next
                break
            if sure < self._p_min:
                break
            tokens.append(token)
            confidences.append(sure)
            if has_memory:
                sampler.commit(token)
            if not goes_on(sure) or len(tokens) >= n_max or token in eog:
                break
            if len(tokens) == 1:
                context.save_for_draft()
            pending = [token]
        if len(tokens) < self._n_min:
            return NO_DRAFT
        return Draft(tokens, confidences)

    def _catch_up(self) -> Sequence[int] | None:
        """Decode all but the last stretch of what the context lacks; return that stretch.

        None if it contains a token that the draft model does not have: vocabularies may differ by a
        few tokens at their ends.
        """
        context, chunk = self._context, self._bench.chunk
        text = self._text
        if len(context.tokens) >= len(text):  # the last row is needed again
            context.rollback(len(text) - 1)
        self._n_agreed = len(context.tokens)
        if any(token >= context.n_vocab for token in text[len(context.tokens) :]):
            return None
        while len(text) - len(context.tokens) > chunk:
            done = len(context.tokens)
            context.feed(text[done : done + chunk], 0)
            self.n_decoded += chunk
            context.model.save("prompt")
        self._n_agreed = len(context.tokens)
        return text[len(context.tokens) :]


def _always(_confidence: float) -> bool:
    return True


INFO = DrafterInfo(
    id=DRAFT,
    title="Draft model",
    summary="A smaller model of the same family writes ahead; the main model checks it in one "
            "go.",
    family="model",
    parameters=(
        Parameter(
            "n_max", "int", 16, 1, 10_000, "Tokens ahead",
            "Tokens drafted per step at most. Longer drafts pay when most guesses are right; "
            "what the batch cannot take is cut.", can_be_auto=True,
        ),
        Parameter(
            "n_min", "int", 0, 0, 10_000, "Shortest draft",
            "Drafts shorter than this are thrown away and the step is a plain one.",
        ),
        Parameter(
            "p_min", "float", 0.5, 0, 1, "Min. confidence",
            "Drafting stops where the draft model's favourite token is less likely than this.",
        ),
    ),
    make=ModelDrafter,
)  # fmt: skip
