"""Lets a draft model catch up with the text in idle time.

Drafting begins with decoding what the draft model's context lacks. Behind a long prompt that may
cost more than Auto's promise leaves to lose, or than a reply's rest could bring in, so the model
would stay unused. Between two replies it costs nobody anything. What a draft model has decoded
never changes a text (`verify.py`), only when it was decoded.
"""

from __future__ import annotations

import logging

from paceline.engine.known_costs import DRAFTER
from paceline.engine.pair import LoadedPair
from paceline.engine.prefix import common_prefix
from paceline.errors import CancelledError, ComputeFailedError, DecodeMemoryError, EngineError

PIECE = 64
"""Tokens per slice: a command that comes meanwhile stops one at once, but its work is lost."""

_log = logging.getLogger(__name__)


class CatchingUp:
    """Brings the draft model's context to what the target's holds; for the engine's thread.

    Args:
        pair: Both contexts.
    """

    def __init__(self, pair: LoadedPair) -> None:
        self._pair = pair
        self._has_failed = False

    def slice(self) -> bool:
        """Decode one piece; False: there is nothing left to decode, or no use for it.

        Raises:
            ComputeFailedError: Neither contexts nor device can be trusted any more.
        """
        pair, draft = self._pair, self._pair.draft
        if draft is None or self._has_failed or not self._is_of_use:
            return False
        if not draft.model.can_rollback:  # which cannot draft
            return False
        text = pair.target.tokens
        n_shared = common_prefix(draft.tokens, text)
        if n_shared >= len(text) or len(text) >= draft.n_ctx:
            return False
        if any(token >= draft.model.vocab.n_tokens for token in text[n_shared:]):
            return False  # vocabularies may differ by some tokens at their ends
        try:
            draft.rollback(n_shared)
            n_held = len(draft.tokens)
            draft.feed(text[n_held : n_held + PIECE], 0)
        except CancelledError:
            pass
        except ComputeFailedError:
            pair.is_lost = True
            raise
        except EngineError as error:
            _log.info("the draft model does not catch up any more: %s", error)
            if isinstance(error, DecodeMemoryError):  # which may have left anything in there
                draft.clear(wipe=True)
            self._has_failed = True
        return True

    @property
    def _is_of_use(self) -> bool:
        """Whether the last reply could use the draft model, and it paid as far as is known."""
        record = self._pair.knowledge.models.get(DRAFTER)
        return self._pair.uses_draft and (
            record is None or (record.gate.is_open and record.value >= 0.0)
        )
