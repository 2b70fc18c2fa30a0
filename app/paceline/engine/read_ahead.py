"""Reading ahead: the certain beginning of a prompt that may come is read before it comes.

That needs no knowledge of template or tokenizer. The conversation is encoded with a few
continuations of its last message, and their common beginning is certain, whatever follows.

With a nearly full context the next prompt may have to omit old messages, and then begins
differently. So that shortened conversation is read as well, after the state of the whole one was
stored; then the whole one is restored, since it is more likely.

No text changes. Where every row is computed as if it were alone, a prompt may be cut anywhere, and
pieces are short, since a stop loses the running one. Elsewhere whole pieces are read, of a turn's
size and from where a turn would begin; the turn reads the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from msgspec import structs

from paceline.content import appended
from paceline.engine.cancel import CancelFlag
from paceline.engine.idle import CatchingUp
from paceline.engine.model.backend import DraftHead
from paceline.engine.model.stored_states import MIN_BLOCK_TOKENS
from paceline.engine.model.tokens import TokenSequence, common_prefix
from paceline.engine.pair import LoadedPair
from paceline.engine.prompt.size import FittedPrompt, room_for_reply
from paceline.engine.request import encode_prompt
from paceline.errors import CancelledError, ComputeFailedError, DecodeMemoryError, UserError
from paceline.messages import Chat, ChatMessage, PrefillProgressed, ReadAheadEnded, StartTurn

PIECE_S = 0.2
"""Approximate seconds per piece, where prompts may be cut anywhere."""
_MIN_PIECE_TOKENS = 32
NEARLY_FULL_DIVISOR = 8
"""Divisor of a prompt's room: a context counts as nearly full if a next message of this part of the
room would be too long."""
_ENDS = " So", "\nWhy", "7"
"""Continuations; no two begin alike, and none continues a word."""
_WORD = " so"

_log = logging.getLogger(__name__)


def read_ahead(
    pair: LoadedPair,
    turn: StartTurn,
    tell: Callable[[PrefillProgressed], None],
    cancel: CancelFlag,
) -> ReadAheadEnded:
    """Read the certain beginning of a turn's prompt.

    Args:
        pair: The pair; its contexts then hold as much of the prompt as could be read.
        turn: The turn that may come; see `ReadAhead`.
        tell: Called after each piece.
        cancel: Flag that is polled between pieces and in decodes.

    Raises:
        EngineError: A decode failed, or the models can no longer be used.
    """
    if pair.is_lost or not pair.target.model.max_rollback:  # a stop could not be undone
        return ReadAheadEnded()
    pair.check_files()
    reader = _Reader(pair, turn, tell, cancel)
    try:
        reader.read()
    except CancelledError:
        return reader.answer(is_over=False)
    except ComputeFailedError:
        pair.is_lost = True
        raise
    except DecodeMemoryError:  # the contexts may hold anything
        pair.empty(wipe=True)
        raise
    except UserError as error:  # the turn will report it
        _log.debug("a prompt cannot be read ahead: %s", error)
    finally:
        if pair.states is not None:
            pair.states.end()
    return reader.answer()


class _Reader:
    def __init__(
        self,
        pair: LoadedPair,
        turn: StartTurn,
        tell: Callable[[PrefillProgressed], None],
        cancel: CancelFlag,
    ) -> None:
        self._pair, self._turn = pair, turn
        self._tell, self._cancel = tell, cancel
        self._catching_up = CatchingUp(pair)
        self._certain: Sequence[int] = ()
        self._n_read = 0
        context = pair.target
        self._may_cut = pair.promise.sameness.any_context and not context.prefill_piece
        self._whole = 1 if self._may_cut else context.prefill_piece or pair.n_read

    def answer(self, *, is_over: bool = True) -> ReadAheadEnded:
        """Return the progress as an event."""
        n_held = common_prefix(self._pair.target.tokens, self._certain)
        return ReadAheadEnded(max(n_held, self._n_read), len(self._certain), is_over)

    def read(self) -> None:
        """Read what is certain, first for the conversation, then for its shortened version."""
        self._certain, n_cut = self._beginning()
        self._read(self._certain, self._tell)
        context, states, owner = self._pair.target, self._pair.states, self._turn.owner
        self._n_read = common_prefix(context.tokens, self._certain)  # kept from here on
        if states is None or owner is None or not self._is_nearly_full:
            return
        shortened, n_cut_then = self._beginning(longer=True)
        n_lacking = len(shortened) - states.n_stored(shortened, owner)
        if n_cut_then == n_cut or n_lacking <= max(self._whole, MIN_BLOCK_TOKENS):
            return
        states.keep()
        n_lasting = min(context.n_lasting, len(self._certain))
        if not 0 < n_lasting < states.n_stored(self._certain, owner) + MIN_BLOCK_TOKENS:
            return  # no room for both
        self._read(shortened, lambda _progress: None)
        states.keep()
        self._read(self._certain, self._tell)

    # ------------------------------------------------------------------------ what is certain

    @property
    def _room(self) -> int:
        """The maximum number of tokens for the prompt."""
        n_ctx = self._pair.target.n_ctx
        return n_ctx - room_for_reply(n_ctx, self._turn.max_tokens)

    @property
    def _is_nearly_full(self) -> bool:
        chat, room = self._turn.prompt, self._room
        is_near = len(self._certain) + room // NEARLY_FULL_DIVISOR > room
        return isinstance(chat, Chat) and chat.cuts and is_near

    def _beginning(self, *, longer: bool = False) -> tuple[TokenSequence, int]:
        """Return the certain tokens of the prompt, and how many messages it omits.

        Args:
            longer: Whether to assume a next message as long as `NEARLY_FULL_DIVISOR` says.
        """
        if not isinstance(self._turn.prompt, Chat):
            return TokenSequence(), 0
        more = ""
        if longer:
            n_tokens = max(len(self._pair.target.model.vocab.tokenize(_WORD, special=False)), 1)
            more = _WORD * (self._room // NEARLY_FULL_DIVISOR // n_tokens)
        prompts = [self._encoded(self._turn.prompt, end + more) for end in _ENDS]
        certain = prompts[0].tokens
        for prompt in prompts[1:]:
            certain = certain.first(common_prefix(certain, prompt.tokens))
        if len(certain) >= self._pair.target.n_ctx:
            return TokenSequence(), 0
        return certain.first(len(certain) - 1), prompts[0].n_cut

    def _encoded(self, chat: Chat, end: str) -> FittedPrompt:
        if self._cancel.is_set():
            raise CancelledError
        *before, last = chat.messages or (ChatMessage("user", ()),)
        if last.role == "user":
            last = structs.replace(last, content=appended(last.content, end))
        else:
            before, last = [*before, last], ChatMessage.of_text("user", end)
        going_on = structs.replace(chat, messages=(*before, last))
        return encode_prompt(self._pair, structs.replace(self._turn, prompt=going_on))

    # ---------------------------------------------------------------------------------- reading

    def _read(self, text: TokenSequence, tell: Callable[[PrefillProgressed], None]) -> None:
        """Make the target's context hold a text, as far as it is read in whole pieces."""
        pair, context, owner = self._pair, self._pair.target, self._turn.owner
        states = pair.states if owner is not None else None
        if self._is_held(text):
            return
        if states is not None:
            states.begin(text, owner, with_draft=pair.uses_draft)
            if not context.model.n_block:
                states.keep()  # parts of a text that continues could not be stored later
        elif common_prefix(context.tokens, text) < len(context.tokens):
            return
        n_kept = context.n_reusable(text)
        if self._is_held(text) or len(text) - n_kept < self._whole:
            return
        context.rollback(n_kept)
        while len(text) - len(context.tokens) >= self._whole:
            if self._cancel.is_set():
                raise CancelledError
            context.read_on(text, self._n_next())
            if pair.draft is not None and isinstance(pair.draft.model, DraftHead):
                while self._catching_up.slice():  # it reads the target's states, which do not stay
                    pass
            tell(PrefillProgressed(len(context.tokens), len(text)))

    def _is_held(self, text: TokenSequence) -> bool:
        return common_prefix(self._pair.target.tokens, text) == len(text)

    def _n_next(self) -> int:
        """Return the maximum number of tokens of the next piece."""
        if not self._may_cut:
            return self._whole
        n_tokens, seconds = self._pair.target.model.last_decode
        if not n_tokens or not seconds:
            return _MIN_PIECE_TOKENS
        n = round(PIECE_S * n_tokens / seconds)
        return min(max(n, _MIN_PIECE_TOKENS), self._pair.n_read)
