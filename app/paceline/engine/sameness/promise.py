"""The promise about equal texts, and the batch widths that make it true.

"The same text" has three meanings. The same turn, after the same context, is equal with any
strategy if rows of logits do not depend on the batch: by construction if Paceline's kernels compute
everything, otherwise as far as rows were compared. The next turn, a regenerated reply, or one after
a restart follow cells that were computed in other batches, since prompts are prefilled from the end
of the reused part. If Paceline's kernels compute everything, these cells contain the same numbers;
otherwise they do so only in exact mode, which prefills in pieces at fixed places. On another
machine or build texts are never promised to be equal.

How many rows a load can compare in its time depends on the machine and its other work, but a text
must not. So exact mode decodes batches of one width, `EXACT_WIDTH`, until enough rows were compared
to know cheaper widths that agree with it and with each other: then the text is the same before and
after the change.

A load's self-test finds the largest differences at no cost, and the command `Calibrate` looks until
it is known what holds. Looks continue in idle time, at the text in the context, and a single
different row withdraws the promise: then exact mode goes back to the one width, and otherwise the
figures report it from the next reply on. Without exact mode, wider batches than needed are used
only if a plain step costs next to nothing more.
"""

from __future__ import annotations

import hashlib
import logging
import math
import statistics
import time
from collections.abc import Callable, Sequence

from paceline.engine.auto.costs import MAX_WIDTH, VerifyCosts
from paceline.engine.facts import Facts
from paceline.engine.model.context import BatchWidths, CachedContext
from paceline.engine.sameness.evidence import EXACT_WIDTH, RANGE_STARTS, Evidence, evidence_key
from paceline.engine.sameness.look import N_NARROW, look, n_tokens_of, sample_tokens, ways_of_look
from paceline.figures import Sameness
from paceline.sentence import joined, sentence

ENOUGH_LOOKS = 8
"""Number of looks, each at another place, that suffice to say that rows agree; with at least one in
each part of the context (`evidence.RANGE_STARTS`) that is not shorter than `_MIN_PART_TOKENS`."""
_MIN_PART_TOKENS = 100
IDLE_S = 10.0
"""Seconds that a load spends in idle time on looks at texts of its own."""
LIMIT_S = 15.0
"""Maximum seconds of looks in exact mode at load, or in the command `Calibrate`; the rest follows
in idle time."""
MAX_CHEAP_STEPS = 1.05
"""Maximum time of a padded plain step without exact mode, in plain steps."""
PIECE_TOKENS = 128
"""Tokens per piece of a prefill in exact mode. Shorter ones leave less to compute again after a
reply, longer ones suit GPUs; 64 to 512 were equally fast on a CPU (0.95 to 1.04 of 512)."""
_STRIDE = 37
_ROOMY_WIDTH = 16  # a maximum width that allows drafts of usual lengths
_N_TIMED = 3

_log = logging.getLogger(__name__)
_clock = time.perf_counter


class Promise:
    """Chooses a context's batch widths and says what holds with them; for the engine's thread.

    Args:
        context: The target's context.
        facts: The facts that store evidence.
        costs: Returns the present costs of steps.
        is_exact: Whether the user asked for exact mode.
    """

    def __init__(
        self,
        context: CachedContext,
        facts: Facts,
        costs: Callable[[], VerifyCosts],
        *,
        is_exact: bool = False,
    ) -> None:
        self._context = context
        self._costs = costs
        self._is_exact = is_exact and not context.model.forgets
        self._key = evidence_key(context.model)
        self._evidence = Evidence(facts, self._key)
        self._is_possible = True
        self._cost: float | None = None
        self._news: tuple[str, ...] = ()
        self._looked_at = 0
        self._spent_s = 0.0
        if self._is_exact and not self._computes_each_row_alone:
            context.prefill_piece = n = min(PIECE_TOKENS, context.model.n_batch)
            context.prompt_widths = BatchWidths(EXACT_WIDTH, EXACT_WIDTH, n - n % EXACT_WIDTH)
        self.choose_widths()

    # ------------------------------------------------------------------------------ what holds

    @property
    def sameness(self) -> Sameness:
        """The present knowledge of equal texts."""
        evidence, widths = self._evidence, self._context.widths
        return Sameness(
            self._holds,
            evidence.n_rows(widths),
            evidence.difference,
            self._is_exact,
            self._words,
            self._basis,
            any_context=self._any_context,
        )

    @property
    def _any_context(self) -> bool:
        in_pieces = bool(self._context.prefill_piece)
        is_constructed = self._is_constructed(self._context.widths)
        return self._holds is not False and (in_pieces or is_constructed)

    @property
    def _basis(self) -> str:
        mode = "exact" if self._context.prefill_piece else "usual"
        text = f"{self._key}|{self._context.widths}|{mode}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def _holds(self) -> bool | None:
        widths = self._context.widths
        if not self._is_possible or self._evidence.refutes(widths):
            return False
        return True if self._is_sure(widths) else None

    def _is_sure(self, widths: BatchWidths) -> bool:
        return self._is_constructed(widths) or self._has_enough(widths)

    def _has_enough(self, widths: BatchWidths) -> bool:
        """Return whether enough looks agreed in all parts of the context."""
        looks = self._evidence.looks(widths)
        return sum(looks) >= ENOUGH_LOOKS and all(looks[part] for part in self._parts)

    @property
    def _parts(self) -> list[int]:
        """The parts of the context that it is long enough for, as indexes of `RANGE_STARTS`."""
        return [
            i
            for i, n in enumerate(RANGE_STARTS)
            if n + _MIN_PART_TOKENS < self._context.model.n_ctx
        ]

    def _is_constructed(self, widths: BatchWidths) -> bool:
        return widths.lowest == 1 and self._computes_each_row_alone

    @property
    def _computes_each_row_alone(self) -> bool:
        """Return whether all products are computed by kernels with rows independent of the batch.

        The CPU computes everything else row by row.
        """
        model = self._context.model
        if model.max_rollback and model.forgets:
            # Recurrent operators were never compared; and where only windows are kept, the order of
            # cells, in which attention adds up, depends on which ones were removed.
            return False
        own = [use.by == "own" for use in model.info.kernels]
        return all(own) and bool(own) and model.computes_here

    @property
    def _words(self) -> str:
        evidence, widths = self._evidence, self._context.widths
        if self._is_exact:
            return words_of_exact_mode(
                widths, evidence.n_rows(widths), self._cost, self._context.prefill_piece,
                holds=self._holds, is_sure=self._is_constructed(widths),
                is_possible=self._is_possible, may_cost_less=self._goal.lowest < widths.lowest,
            )  # fmt: skip
        if not self._context.model.max_rollback:
            return PLAINLY
        if self._holds is None and self._context.model.forgets:
            return NOT_COMPARED
        return usual_words(
            evidence.n_rows(widths),
            evidence.difference,
            holds=self._holds,
            is_sure=self._is_constructed(widths),
        )

    # ------------------------------------------------------------------------------ the choice

    def choose_widths(self) -> bool:
        """Choose the widths by the present evidence; called between two replies.

        Returns:
            Whether the widths changed, so that steps have other costs.
        """
        before = self._context.widths
        self._context.widths = self._choice()
        has_changed = self._context.widths != before
        if has_changed and self._is_exact:
            self._cost = None  # not known until the next load
            self._news = (self._words,)
        return has_changed

    def take_news(self) -> tuple[str, ...]:
        """Return notes for the next reply, once: that exact mode uses other widths."""
        news, self._news = self._news, ()
        return news

    def _choice(self) -> BatchWidths:
        choices = self._choices
        if self._is_exact:
            self._is_possible = bool(choices)
            return next(filter(self._is_sure, choices), choices[-1] if choices else self._unpadded)
        for widths in choices:
            if widths == self._unpadded:
                return widths
            if self._has_enough(widths) and self._is_cheap(widths):
                return widths
        return self._unpadded

    @property
    def _choices(self) -> list[BatchWidths]:
        """The choices that are not refuted, the cheapest first.

        In exact mode those that include `EXACT_WIDTH`, the last of which is that width alone; other
        choices if there are none of these.
        """
        model = self._context.model
        choices = self._evidence.choices(min(self._unpadded.highest, model.n_ctx // 2))
        if not self._is_exact:
            return choices
        return [widths for widths in choices if EXACT_WIDTH in widths.every] or choices

    @property
    def _unpadded(self) -> BatchWidths:
        return BatchWidths(highest=min(self._context.model.max_rows, MAX_WIDTH))

    def _is_cheap(self, widths: BatchWidths) -> bool:
        """Return whether they cost almost nothing, neither plain steps nor drafts."""
        if widths.highest < _ROOMY_WIDTH:
            return False
        if self._context.widths == widths:
            return True  # the costs are already those of padded steps
        ratios = self._costs().ratios()
        return len(ratios) > widths.lowest and ratios[widths.lowest] <= MAX_CHEAP_STEPS

    @property
    def _goal(self) -> BatchWidths:
        """The widths to compare: those in use, or those that could replace them."""
        in_use = self._context.widths
        if self._is_exact:
            return next(iter(self._choices), in_use)
        if not self._evidence.refutes(in_use):
            return in_use
        for widths in self._choices:
            if self._is_cheap(widths):
                return widths
        return in_use  # the size of their differences is worth knowing, too

    # --------------------------------------------------------------------------------- looking

    def measure(self) -> None:
        """Compare in exact mode until the choice is certain or time is up; leaves an empty context.

        Raises:
            CancelledError: The user stopped the load.
            EngineError: The model could not be run.
        """
        if self._is_exact:
            self.find_out()
            self._time()

    def find_out(self) -> None:
        """Compare until it is known what holds, or time is up; leaves an empty context.

        Raises:
            CancelledError: The flag was set.
            EngineError: The model could not be run.
        """
        until = _clock() + LIMIT_S
        try:
            while self._holds is None and not self._context.model.forgets:
                if _clock() >= until or not self._look_on(until):
                    return
                if self._is_exact:
                    self.choose_widths()
        finally:
            self._context.clear()

    @property
    def contexts(self) -> tuple[CachedContext]:
        """The target's context."""
        return (self._context,)

    def slice(self) -> bool:
        """Make one look; return False if everything was looked at before.

        Raises:
            CancelledError: The flag was set; the context is as before.
            EngineError: The model failed; the context is as before, or empty.
        """
        context = self._context
        if context.model.forgets or not self._is_possible:
            return False
        began = _clock()
        try:
            if context.tokens:
                return self._look_here()
            is_wanted = not self._has_enough(self._goal) and self._spent_s < IDLE_S
            return is_wanted and self.look_at_a_text(began + IDLE_S)
        finally:
            self._spent_s += _clock() - began

    def _look_here(self) -> bool:
        """Look at the end of the context's content, once for each length of it."""
        n_held = len(self._context.tokens)
        if n_held == self._looked_at:
            return False
        has_looked = self._look(self._context.tokens)
        self._looked_at = n_held
        return has_looked

    def look_at_a_text(self, until: float = math.inf) -> bool:
        """Look after a text of a length with few looks so far; leaves an empty context.

        Args:
            until: Time of the clock after which no more of the text is decoded first.

        Returns:
            Whether there was room for it.
        """
        try:
            return self._look_on(until)
        finally:
            self._context.clear()

    def _look_on(self, until: float) -> bool:
        """Look after what an earlier look has decoded in the context, which stays."""
        context, goal = self._context, self._goal
        looks = self._evidence.looks(goal)
        number, n_each = sum(looks), -(-ENOUGH_LOOKS // max(len(self._parts), 1))
        # The parts in order, each as often as needed, further on each time: little is read again.
        part = min(self._parts, key=lambda part: looks[part] // n_each, default=0)
        further = looks[part] % n_each * _MIN_PART_TOKENS + number * _STRIDE % _MIN_PART_TOKENS
        n_before = min(
            RANGE_STARTS[part] + further // n_each, context.model.n_ctx - 2 * goal.highest
        )
        n_before = max(n_before, 0)
        context.rollback(n_before)
        text = sample_tokens(context.model.vocab, n_before + goal.highest + N_NARROW, number)
        for done in range(len(context.tokens), n_before, PIECE_TOKENS):
            if _clock() > until:
                break
            context.feed(text[done : min(done + PIECE_TOKENS, n_before)], 0)
        return self._look(text[len(context.tokens) :])

    def _look(self, text: Sequence[int]) -> bool:
        """Look after the context's content, at a text's last tokens; return False without room."""
        context, goal = self._context, self._goal
        room = (context.model.n_ctx - len(context.tokens)) // 2
        if room < max(N_NARROW, goal.lowest):
            return False
        narrower = goal._replace(highest=min(room - room % goal.multiple, goal.highest))
        ways = ways_of_look(narrower, sum(self._evidence.looks(goal)))
        n_tokens = n_tokens_of(ways)
        n_cells = len(context.tokens) + n_tokens
        tokens = [*text[-n_tokens:]]
        tokens += sample_tokens(context.model.vocab, n_tokens - len(tokens), 0)
        n_rows, found = look(context, ways, tokens)
        if found:
            _log.info("rows differ between batch widths: %s", found)
        self._evidence.add(goal, n_rows, n_cells, found)
        return True

    def _time(self) -> None:
        """Measure the time of a plain step at the widths in use."""
        context, widths = self._context, self._context.widths
        self._news = ()  # the load reports it
        if widths.lowest == 1:
            return
        token = sample_tokens(context.model.vocab, 1, 0)
        seconds = {}
        try:
            for used in (BatchWidths(), widths):
                context.widths = used
                taken = []
                for _ in range(1 + _N_TIMED):  # the first one rebuilds the graph
                    context.clear()
                    began = _clock()
                    context.feed(token, 1)
                    taken.append(_clock() - began)
                seconds[used.lowest] = statistics.median(taken[1:])
        finally:
            context.widths = widths
            context.clear()
        self._cost = seconds[widths.lowest] / max(seconds[1], 1e-9)


PLAINLY = sentence(
    "This model runs without speculation, so there is no strategy that a text could depend on."
)
NOT_COMPARED = sentence(
    "Whether the same turn gives the same text with any strategy is not "
    "known: this model's memory overwrites what is far back, so rows are not "
    "compared."
)


def usual_words(n_rows: int, difference: float | None, *, holds: bool | None, is_sure: bool) -> str:
    """Return a text about equal replies without exact mode.

    Args:
        n_rows: Number of compared rows.
        difference: Largest difference of a logit, or None.
        holds: See `figures.Sameness`.
        is_sure: Whether it holds by construction, and not only as far as rows were compared.
    """
    match holds:
        case True if is_sure:
            return sentence(
                "The same turn gives the same text here with any strategy, and whatever was in "
                "the context before: each token is computed as if it were alone{looked}.",
                looked=_looked(n_rows),
            )
        case True:
            return sentence(
                "The same turn gives the same text with any strategy here, as far as was "
                "looked{looked}. A next turn, or regenerating, can differ in near-ties; "
                "exact mode avoids that.",
                looked=_looked(n_rows),
            )
        case False:
            return sentence(
                "Another strategy can turn a near-tie here: logits depend on the width "
                "of a batch, by up to {difference:.2g} as seen so far. Exact mode avoids "
                "that.",
                difference=difference or 0.0,
            )
        case None:
            return sentence(
                "Whether the same turn gives the same text with any strategy is not "
                "known yet; it is looked at in idle time, and by `paceline calibrate`."
            )


def words_of_exact_mode(
    widths: BatchWidths,
    n_rows: int,
    cost: float | None,
    piece: int,
    *,
    holds: bool | None,
    is_sure: bool,
    is_possible: bool,
    may_cost_less: bool,
) -> str:
    """Return a text about what exact mode does here and what it costs.

    Args:
        widths: The widths in use.
        n_rows: Number of rows compared at them.
        cost: Time of a plain step relative to its usual time, or None if not measured.
        piece: Tokens per piece of a prefill; 0 if it may be cut anywhere.
        holds: See `figures.Sameness`.
        is_sure: See `usual_words`.
        is_possible: Whether there are widths that agree.
        may_cost_less: Whether cheaper widths may be found to agree with those in use.
    """
    if not is_possible:
        return sentence(
            "Exact mode is not possible here: no batch widths were found at which "
            "this device computes the same numbers, so replies may differ in "
            "near-ties."
        )
    if holds is False:
        return sentence(
            "Exact mode goes on with other batch widths from the next reply on, "
            "since rows of logits were seen to differ at the present ones."
        )
    parts = [
        sentence(
            "Exact mode: a reply is the same with any strategy and whatever was in the context "
            "before{looked}{rows}.",
            looked="" if is_sure else sentence(", as far as was looked"),
            rows=_looked(n_rows),
        )
    ]
    if widths.lowest > 1:
        words = sentence("Single tokens are decoded as {n}.", n=widths.lowest)
        if cost is not None:
            words = sentence(
                "Single tokens are decoded as {n}, which takes {cost:.2f} × the time of one.",
                n=widths.lowest,
                cost=cost,
            )
        parts.append(words)
    if may_cost_less:
        parts.append(sentence("Once enough rows were compared, fewer may do, with the same text."))
    if widths.highest <= BatchWidths().highest - widths.multiple:
        parts.append(sentence("Drafts end at {n} tokens.", n=widths.highest - 1))
    if piece:
        parts.append(
            sentence(
                "With each prompt the last reply and up to {n} tokens more are prefilled again.",
                n=piece - 1,
            )
        )
    return joined(parts)


def _looked(n_rows: int) -> str:
    if not n_rows:
        return ""
    return sentence(" (checked, {n:,} rows)", n=n_rows)
