"""Titles that the loaded model writes, of chats that their users have not named.

One is requested after the first reply, by `SayAside`, which does not affect the next turn and gives
way to any other request. It is no reply: only the title is shown, it counts in no figure, and
drafters learn nothing from it. An unusable answer leaves the title as it is. On the session's
thread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial

from msgspec import structs

from paceline.chat.pair import PairLoader
from paceline.chat.reply_runner import start_turn
from paceline.chat.session import ChatSession
from paceline.conversation import Conversation, automatic_title
from paceline.errors import UserError
from paceline.hosting.broker import Priority, Ticket
from paceline.hosting.client import EngineClient
from paceline.messages import AsideAnswered, Event, SayAside

MAX_TITLE_CHARS = 60
MIN_PARAMS = 500_000_000
"""Weights of the smallest model that is asked: SmolLM2-135M answered most questions with nothing or
a preamble, and one with "Two Swords of Two Worlds"."""
_MAX_REPLIES, _MAX_REQUESTS = 3, 3
_QUESTION = (
    "Give our chat a short title of two to six words, in the language of my first message. "
    "Answer with the title alone."
)
_LABEL = re.compile(r"^(?:the )?(?:chat(?:'s)? )?(?:title|titel)\s*[:\-–]\s*", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"(i['’]?m (sorry|unable|an ai)|i am (sorry|unable|an ai)|sorry|i (can ?not|can['’]t|apologi)|"
    r"as an? (ai|language)|sure\b|certainly\b|here (is|are)|here['’]s|of course|untitled|"
    r"es tut mir|tut mir leid|entschuldigung|ich kann (nicht|keine)|natürlich\b|hier ist)"
)
_AROUND = " \t\"'“”„‘’«»*_#`."


def title_of_answer(said: str, *texts: str) -> str:
    """Return the title in a model's answer, or empty if it has no usable one.

    Args:
        said: One line.
        texts: The chat's first question and its reply, whose beginning is no title.
    """
    title = " ".join(_LABEL.sub("", said.strip(_AROUND)).strip(_AROUND).split())
    words = re.findall(r"\w+", title.casefold())
    begins = (re.findall(r"\w+", text.casefold())[: len(words)] for text in texts)
    is_usable = words and len(title) <= MAX_TITLE_CHARS and title[-1] not in ",:;"
    if not is_usable or words in begins or _NO_TITLE.match(title.casefold()):
        return ""
    return title


class TitleWriter:
    """Asks for one title at a time.

    Attributes:
        on_over: Called when a request is answered, or had to give way.
    """

    def __init__(self, client: EngineClient, session: ChatSession, pair: PairLoader) -> None:
        self._client, self._session, self._pair = client, session, pair
        self.on_over: Callable[[], None] = lambda: None
        self._ticket: Ticket | None = None
        self._n_asked: Counter[str] = Counter()  # by the chat

    def write(self, conversation_id: str) -> None:
        """Ask for a chat's title, if it is to have another one and nothing else is under way."""
        is_free = self._ticket is None and self._session.active is None
        pair = self._pair.state
        if not is_free or pair.status != "ready" or pair.target is None:
            return
        if pair.target.n_params < MIN_PARAMS:
            return
        if self._n_asked[conversation_id] >= _MAX_REQUESTS:
            return
        try:
            with self._session.conversations.opened(conversation_id) as chat:
                command = self._question_about(chat)
        except UserError:  # another window may have deleted it
            return
        if command is not None:
            self._n_asked[conversation_id] += 1
            answer = partial(self._on_answer, conversation_id)
            self._ticket = self._client.request(command, Priority.IDLE, answer, "title")

    def is_wanted(self, conversation_id: str) -> bool:
        """Return whether another request can help: the last one had to give way."""
        return 0 < self._n_asked[conversation_id] < _MAX_REQUESTS

    def _question_about(self, chat: Conversation) -> SayAside | None:
        """Return the request for a chat's title, or None if there is nothing to ask."""
        path, chats = chat.path(), self._session.conversations
        n_replies = sum(message.role == "assistant" for message in path)
        if not 0 < n_replies <= _MAX_REPLIES or not _is_unnamed(chat):
            return None
        reply = chats.full_reply(chat.conversation_id, path[-1].message_id)
        if reply is None or reply.reason != "eog" or reply.n_parts > 1:
            return None
        turn = start_turn(reply, chat, chats.known_in(chat.conversation_id))
        return SayAside(structs.replace(turn, earlier=()), _QUESTION)

    def _on_answer(self, conversation_id: str, event: Event) -> None:
        ticket, self._ticket = self._ticket, None
        if isinstance(event, AsideAnswered):  # otherwise the engine has died, or ends
            if ticket is None or not ticket.gave_way:
                self._n_asked[conversation_id] = _MAX_REQUESTS
                self._take(conversation_id, event.text)
            self.on_over()

    def _take(self, conversation_id: str, said: str) -> None:
        """Give a chat the title of the answer, if it still has none of its own."""
        try:
            chat = self._session.conversations.get(conversation_id)
        except UserError:
            return
        title = title_of_answer(said, *(message.text for message in chat.path()[:2]))
        if title and _is_unnamed(chat) and self._session.conversations.summary(conversation_id):
            self._session.rename(conversation_id, title)


def _is_unnamed(chat: Conversation) -> bool:
    return chat.title == automatic_title(chat)
