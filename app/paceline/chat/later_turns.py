"""The turns of an older branch that the shown one does not have yet: after an edit far up.

Nothing is kept of an edit beside the tree: the shown branch lacks what another version of one of
its messages is followed by, as long as it asks the same questions after that message. No Qt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paceline.conversation import Conversation, Message


@dataclass(frozen=True, slots=True)
class LaterTurns:
    """Turns that are brought up to date, one after the other.

    Attributes:
        question_id: The message of the question that is being answered.
        n_questions: How many questions are asked.
        n_asked: How many have been, the one under way included.
    """

    question_id: str
    n_questions: int
    n_asked: int

    @property
    def is_last(self) -> bool:
        """Whether the last one is under way, or answered."""
        return self.n_asked >= self.n_questions


def later_turns(conversation: Conversation) -> tuple[Message, ...]:
    """Return the messages to ask and answer again, a question first; empty: there are none.

    Of several older branches the longest counts, of equal ones the newest.
    """
    path = conversation.path()
    if not path or path[-1].role != "assistant":
        return ()
    for place in range(len(path) - 1, -1, -1):
        n_older, _ = conversation.place_of(path[place].message_id)
        older = conversation.siblings(path[place].message_id)[:n_older]
        versions = [m.message_id for m in reversed(older) if m.role == path[place].role]
        branch = max((conversation.activate(v).path() for v in versions), key=len, default=())
        pairs = zip(path[place + 1 :], branch[place + 1 :], strict=False)
        rest = branch[len(path) :]
        if rest and rest[0].role == "user" and all(_asks_the_same(*pair) for pair in pairs):
            return rest
    return ()


def _asks_the_same(new: Message, old: Message) -> bool:
    if new.role != old.role:
        return False
    same = new.content == old.content and new.attachments == old.attachments
    return same or new.role == "assistant"
