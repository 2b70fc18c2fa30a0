"""Idle-time work of the engine: jobs in short slices, with one handler for their failures.

A slice takes about one decode. A command stops it at once through the cancel flag, and no slice
changes the text of the next reply. A job that failed is not tried again until the next load.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from paceline.engine.measure.calibration import IdleCalibration
from paceline.engine.measure.known import recall_costs
from paceline.engine.model.backend import DraftHead
from paceline.engine.model.context import CachedContext
from paceline.engine.model.tokens import common_prefix
from paceline.engine.pair import LoadedPair
from paceline.errors import CancelledError, ComputeFailedError, DecodeMemoryError, EngineError

PIECE_TOKENS = 64
"""Tokens per slice of catching up: a command stops a slice at once, but its work is lost."""

_log = logging.getLogger(__name__)


class IdleJob(Protocol):
    """A kind of work for idle time."""

    @property
    def contexts(self) -> Sequence[CachedContext]:
        """The contexts that it decodes in."""

    def slice(self) -> bool:
        """Do one slice; return False if there is nothing to do at present.

        Raises:
            CancelledError: The flag was set; the contexts are as before.
            EngineError: A model failed; the contexts are as before, or empty.
        """


class IdleWork:
    """A pair's jobs; the first one that has something to do gets the slice.

    Args:
        pair: The pair; marked as lost after a failure that requires it.
        jobs: Jobs in order of priority, or None for all.
    """

    def __init__(self, pair: LoadedPair, jobs: Sequence[IdleJob] | None = None) -> None:
        self._pair = pair
        if jobs is None:
            jobs = (
                *((pair.states,) if pair.states else ()),
                _calibration(pair),
                Grammars(pair),
                CatchingUp(pair),
                pair.earlier,
                pair.promise,
            )
        self._jobs = list(jobs)

    def slice(self) -> bool:
        """Do one slice of work; return False if there is none.

        Raises:
            ComputeFailedError: Neither contexts nor device can be trusted any more.
        """
        # A job that fails is removed, and counts as having used its slice.
        return not self._pair.is_lost and any(self._run(job) for job in self._jobs)

    def calibrate_anew(self) -> None:
        """Measure the costs of decodes again, since they are no longer known."""
        self.stop_calibrating()
        self._jobs.insert(self._pair.states is not None, _calibration(self._pair))

    def stop_calibrating(self) -> None:
        """Stop measuring, since everything is known."""
        self._jobs = [job for job in self._jobs if not isinstance(job, IdleCalibration)]

    def _run(self, job: IdleJob) -> bool:
        try:
            return job.slice()
        except CancelledError:
            return True
        except ComputeFailedError:
            self._pair.is_lost = True
            raise
        except (EngineError, MemoryError, OSError) as error:  # an index may find no memory
            _log.info("%s ends: %s", type(job).__name__, error)
            if isinstance(error, DecodeMemoryError):  # may have left anything in the contexts
                for context in job.contexts:
                    context.clear(wipe=True)
            self._jobs.remove(job)
            return True


def _calibration(pair: LoadedPair) -> IdleCalibration:
    return IdleCalibration(pair, is_known=recall_costs(pair))


class Grammars:
    """Prepares grammars for the target's vocabulary, so that no first reply waits for it."""

    def __init__(self, pair: LoadedPair) -> None:
        self._pair = pair
        self.contexts: Sequence[CachedContext] = ()

    def slice(self) -> bool:
        """Prepare a part; return False if nothing is left."""
        return self._pair.target.model.vocab.prepare_grammars()


class CatchingUp:
    """Makes the draft model's context hold the target's text; for the engine's thread.

    Drafting begins with decoding what the draft model's context lacks. After a long prompt that may
    cost more than Auto's promise allows to lose, or than the rest of a reply could gain, so the
    model would stay unused. Between two replies it delays nothing. When a draft model decodes a
    token never changes a text (`verify.py`).

    Args:
        pair: The pair with both contexts.
    """

    def __init__(self, pair: LoadedPair) -> None:
        self._pair = pair

    @property
    def contexts(self) -> Sequence[CachedContext]:
        """The draft model's context."""
        return [self._pair.draft] if self._pair.draft else []

    def slice(self) -> bool:
        """Decode one piece; return False if nothing is left to decode, or it would not be used.

        Raises:
            CancelledError: The flag was set.
            EngineError: The draft model failed.
        """
        pair, draft = self._pair, self._pair.draft
        if draft is None or not self._is_of_use or not draft.model.max_rollback:
            return False
        first = pair.target.tokens.gaps.end  # cells without ids cannot be read
        text = pair.target.tokens[first:]
        n_shared = common_prefix(draft.tokens, text)
        if not n_shared < len(text) < draft.n_ctx or not _can_read(draft, first, n_shared):
            return False
        if any(token >= draft.n_vocab for token in text[n_shared:]):
            return False  # vocabularies may differ by a few tokens at their ends
        draft.rollback(n_shared)
        draft.save_for_draft()  # the place to go back to if a command stops the slice
        n_held = len(draft.tokens)
        draft.feed(text[n_held : n_held + PIECE_TOKENS], 0)
        return True

    @property
    def _is_of_use(self) -> bool:
        """Return whether the last reply could use the draft model, and it is not given up."""
        pair = self._pair
        rates = pair.knowledge.rates[pair.draft.model.drafter] if pair.draft else None
        return pair.uses_draft and rates is not None and not rates.is_given_up


def _can_read(draft: CachedContext, first: int, n_held: int) -> bool:
    """Return whether it can continue after `n_held` tokens: a head needs the target's states."""
    head = draft.model
    if not isinstance(head, DraftHead):
        return True
    is_read = head.origin == first and first + n_held >= head.first_place
    return is_read and not head.shares_memory
