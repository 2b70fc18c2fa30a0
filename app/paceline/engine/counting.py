"""The size of a conversation, for whoever asks before a reply is started."""

from __future__ import annotations

import logging

from paceline.engine.answers import not_counted
from paceline.engine.pair import LoadedPair
from paceline.engine.prompt_fit import Cutter, room_for_reply
from paceline.engine.prompt_size import at_most
from paceline.engine.turn_request import check_messages
from paceline.errors import UserError
from paceline.messages import CountTokens, TokensCounted

_log = logging.getLogger(__name__)


def count_tokens(pair: LoadedPair | None, command: CountTokens) -> TokensCounted:
    """Answer the question; what cannot be counted is -1."""
    if pair is None or pair.is_lost:
        return not_counted(command)
    n_ctx, messages, sizes = pair.target.n_ctx, command.messages, pair.sizes
    limit = n_ctx - room_for_reply(n_ctx, command.max_tokens)
    n_cut = 0
    try:
        check_messages(messages)
        n_tokens = sizes.count(messages, limit)
        if command.cuts and n_tokens > limit:
            n_cut = Cutter(messages, sizes, limit).n_cut(lambda kept: sizes.count(kept, limit))
        per_message = at_most(sizes.of_messages(messages), n_tokens)
    except UserError as error:
        _log.debug("a conversation cannot be counted: %s", error)
        return TokensCounted(command.request_id, -1, n_ctx)
    return TokensCounted(command.request_id, n_tokens, n_ctx, per_message, n_cut)
