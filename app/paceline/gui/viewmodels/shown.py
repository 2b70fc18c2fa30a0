"""What the chat view is told about one message; no Qt, any thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from paceline.conversation import Attachment, Role


class ShownMessage(NamedTuple):
    """One message of the active path; a tuple, since a long chat has ten thousand.

    Attributes:
        message_id: Its id in the conversation.
        role: Whose it is.
        text: What is stored of it; empty for a reply that is only beginning.
        attachments: The files that were sent with it.
        n_siblings: Messages under the same parent, this one included.
        sibling: Its place among them, from 0.
    """

    message_id: str
    role: Role
    text: str
    attachments: tuple[Attachment, ...] = ()
    n_siblings: int = 1
    sibling: int = 0
