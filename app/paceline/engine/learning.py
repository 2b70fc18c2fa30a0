"""Whether a turn's drafters may keep what they learn, and the log that lets it be forgotten.

A turn with a named chat notes its text in the chat's log before drafters learn it for good. Where
that cannot be done, nothing is learned; and what a drafter has already written during the reply is
taken away again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from paceline.engine.drafters.chat_log import ChatLog, Tokens
from paceline.engine.drafters.strategy import Strategy
from paceline.engine.pair import LoadedPair
from paceline.errors import UserError
from paceline.messages import StartTurn

_log = logging.getLogger(__name__)

_NOTE_EVERY = 64
"""Tokens of a reply between two notes. What a crash keeps from being noted are single slots of the
n-gram pool, no text: everything else is kept behind the reply's end."""
_LONGEST = 64
"""Tokens before what was not noted that drafters may have learned it with."""


class Learning:
    """One turn's permission.

    Attributes:
        memory: Where drafters may keep what they learn; None: nowhere.
        log: The chat's log; None without a memory or a chat.
    """

    def __init__(
        self, pair: LoadedPair, command: StartTurn, strategy: Strategy, prompt: Sequence[int]
    ) -> None:
        self.memory = pair.memory if command.remember else None
        self.log: ChatLog | None = None
        self._n_noted = -1  # of the text; below 0: nobody learns yet
        self._may_follow = True
        self._learners: dict[str, Callable[[Path, ChatLog], None]] = {}
        if self.memory is None or not command.chat:
            return
        self.log = ChatLog(self.memory, command.chat)
        try:
            # Twice, since counts are noted with their text.
            n_most = len(prompt) + 2 * min(command.max_tokens, pair.target.n_ctx)
            if self.log.has_room(n_most):
                self._begin(strategy, prompt)
                return
            _log.warning("this chat has taught all that can be forgotten again, so it ends here")
        except OSError as error:
            _log.warning("nothing is learned from this reply: %s", error)
        self.memory = self.log = None

    def go_on(self, strategy: Strategy, history: Sequence[int]) -> None:
        """Let the drafters of another strategy work from now on.

        Raises:
            UserError: What they learn cannot be noted.
        """
        try:
            self._begin(strategy, history)
        except OSError as error:
            raise UserError(
                "cannot-remember",
                f"What this chat teaches cannot be noted, so nothing may be learned: {error}.",
                "See that there is room on the disk, or switch off that drafts are remembered.",
            ) from error

    def follow(self, history: Sequence[int]) -> None:
        """Note what was committed, now and then."""
        if self._may_follow and 0 <= self._n_noted <= len(history) - _NOTE_EVERY:
            try:
                self._note(history)
            except OSError as error:
                self._may_follow = False
                _log.warning("what this reply teaches cannot be noted: %s", error)

    def finish(self, history: Sequence[int]) -> bool:
        """Note what is left; false when drafters must not keep what they learned of it."""
        if self._n_noted < 0:
            return True
        try:
            self._note(history, lasting=True)
        except OSError as error:
            _log.warning("nothing more is learned from this reply: %s", error)
            self._take_back(history)
            return False
        return True

    def _begin(self, strategy: Strategy, history: Sequence[int]) -> None:
        infos = [info for info, _ in strategy.members(has_grammar=False)]
        if self.log is not None and any(info.forget for info in infos):
            self._learners |= {info.id: info.forget for info in infos if info.forget}
            self._note(history)

    def _note(self, history: Sequence[int], *, lasting: bool = False) -> None:
        assert self.log is not None
        self.log.add_text(history, lasting=lasting)
        self._n_noted = len(history)

    def _take_back(self, history: Sequence[int]) -> None:
        assert self.memory is not None
        begin = max(self._n_noted - _LONGEST, 0)
        for drafter, forget in self._learners.items():
            try:
                forget(self.memory, Unnoted(self.memory, history[begin:]))
            except Exception as error:  # noqa: BLE001  a plug-in may raise anything
                _log.warning("%s keeps what it learned of this reply: %s", drafter, error)


class Unnoted(ChatLog):
    """In place of a log: a text that no log names. What all chats have noted stays.

    Args:
        memory: The vocabulary's folder.
        text: The text.
    """

    def __init__(self, memory: Path, text: Sequence[int]) -> None:
        super().__init__(memory, "")
        self._text = np.array(text, np.uint32)

    def texts(self) -> Iterator[Tokens]:
        """Yield it."""
        yield self._text

    def counted(self) -> list[tuple[list[int], int]]:
        """Return nothing, since counts are noted before they are written."""
        return []
