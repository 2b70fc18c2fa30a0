"""Reading ahead of the next message, while it is being written. On the client's thread."""

from __future__ import annotations

import re
from collections.abc import Callable

from paceline.chat.reply import TurnOptions
from paceline.codec import made_of
from paceline.conversation import Conversation
from paceline.hosting.broker import Priority
from paceline.hosting.client import EngineClient
from paceline.hosting.newest import NewestQuestion
from paceline.messages import (
    Chat,
    ChatMessage,
    Event,
    PrefillProgressed,
    ReadAhead,
    ReadAheadEnded,
    StartTurn,
    StateOwner,
)

_SENTENCE_END = re.compile(r"[.!?…][\"')\]»”“’]*(?=\s)|[。！？]|\n")


def certain_part(before: str) -> str:
    """Return the part of a text being typed that will hardly change: all before the last sentence.

    Args:
        before: The text before the caret.
    """
    ends = [found.end() for found in _SENTENCE_END.finditer(before)]
    return before[: ends[-1]].strip() if ends else ""


def turn_that_may_come(
    chat: Conversation, messages: tuple[ChatMessage, ...], options: TurnOptions
) -> StartTurn:
    """Return the chat's next turn, as far as it is known.

    Args:
        chat: The chat's id.
        messages: Messages of the prompt, the last one with the certain part of the typed text.
        options: Options of the next reply.
    """
    return made_of(
        StartTurn,
        options.settings,
        prompt=Chat(messages, options.prompting, options.cuts),
        strategy=options.strategy,
        owner=StateOwner(chat.conversation_id, chat.private),
    )


class AheadReader:
    """Has the newest turn read ahead.

    Attributes:
        progress: Progress of the reading.
        is_reading: Whether a request to the engine is unanswered.

    Args:
        client: The engine.
        on_progress: Called on progress, and when the reading was stopped for another request: then
            `read` continues it.
    """

    def __init__(self, client: EngineClient, on_progress: Callable[[], None]) -> None:
        self.progress = ReadAheadEnded()
        self.is_reading = False
        self._on_progress = on_progress
        self._question = NewestQuestion(client, self._on_event, Priority.IDLE)
        self._turn: StartTurn | None = None

    def read(self, turn: StartTurn) -> None:
        """Read a turn ahead, unless it was read already; replaces the request before."""
        if turn != self._turn or not self.progress.is_over:
            self._turn, self.progress = turn, ReadAheadEnded(is_over=False)
            self.is_reading = True
            self._question.ask(ReadAhead(turn))

    def drop(self) -> None:
        """Read nothing more."""
        self._turn, self.progress, self.is_reading = None, ReadAheadEnded(), False
        self._question.drop()

    def _on_event(self, event: Event) -> None:
        match event:
            case PrefillProgressed(n_done=n_read, n_total=n_certain):
                self.progress = ReadAheadEnded(n_read, n_certain, is_over=False)
            case ReadAheadEnded():
                self.progress, self.is_reading = event, False
            case _:  # the engine has died, or ends
                self.drop()
        self._on_progress()
