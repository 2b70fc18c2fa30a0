"""A conversation as an immutable tree of messages; no I/O, any thread.

Editing a message or regenerating a reply never overwrites anything: it adds a sibling under the
same parent. The window shows one path from a root to a leaf, the *active path*. Every change
returns a new `Conversation`; ids are chosen by the caller, so that storage and tests control them.
The children of all messages are computed once per value, at the first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from paceline.content import Content, StoredRole, of_text, text_of, with_texts
from paceline.params import ReplySettings

MAX_TITLE_CHARS = 48
MAX_HEADING_CHARS = 160
"""Maximum length of a heading in exports, in characters; a heading has more of the first question
than a title."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file that was sent with a message.

    Attributes:
        name: The file's name, without its folder.
        text: Its content.
        n_bytes: Its size on disk.
    """

    name: str
    text: str
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `parent_id` is None for the first ones of a conversation.

    `created_s` is in seconds since the epoch, or 0 if not known. Only users attach files.
    """

    message_id: str
    parent_id: str | None
    role: StoredRole
    content: Content
    created_s: float = 0.0
    attachments: tuple[Attachment, ...] = ()

    @classmethod
    def of_text(
        cls,
        message_id: str,
        parent_id: str | None,
        role: StoredRole,
        text: str,
        created_s: float = 0.0,
        *,
        attachments: tuple[Attachment, ...] = (),
    ) -> Message:
        """Return a message with only this text."""
        return cls(message_id, parent_id, role, of_text(text), created_s, attachments)

    @property
    def text(self) -> str:
        """The texts of all parts; see `text_of`."""
        return text_of(self.content)


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a branch or of an imported chat.

    Attributes:
        conversation_id: The chat it was taken from, which may no longer exist.
        message_id: The last common message, by its id there.
        here: The last common message, by its id in the branch.
        program: The program whose export it was imported from; all other fields are empty then.
            Empty for a branch.
    """

    conversation_id: str = ""
    message_id: str = ""
    here: str = ""
    program: str = ""


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A conversation as in the list.

    Attributes:
        conversation_id: Id chosen by the caller.
        title: Title in the list; empty until the first message provides one.
        created_s: Seconds since the epoch.
        changed_s: Time of the last new message, in seconds since the epoch.
        pinned: Whether it is listed above the others.
        tags: Words for sorting, without duplicates, in the user's order.
        private: Whether nothing of it is stored or remembered; it exists as long as the window.
        origin: Origin of a branch or an imported chat, or None.
        folder_id: Id of its folder; a missing folder counts as none. Empty for none.
        archived: Whether it is hidden from the list.
    """

    conversation_id: str
    title: str = ""
    created_s: float = 0.0
    changed_s: float = 0.0
    pinned: bool = False
    tags: tuple[str, ...] = ()
    private: bool = False
    origin: Origin | None = None
    folder_id: str = ""
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of chats.

    Attributes:
        folder_id: Id chosen by the caller; different from those of all chats.
        name: Name in the list.
        instructions: Text before the system prompt of each chat in it; may be empty.
    """

    folder_id: str
    name: str
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Head(ConversationSummary):
    """A conversation without its messages.

    Attributes:
        leaf_id: End of the active path, or None without messages.
        settings: Settings of its replies, or None for those of the last reply, or else the
            defaults.
    """

    leaf_id: str | None = None
    settings: ReplySettings | None = None


@dataclass(frozen=True, slots=True)
class Conversation(Head):
    """A tree of messages with the active leaf.

    Attributes:
        messages: All messages by id, in the order in which they were added.
    """

    messages: Mapping[str, Message] = field(default_factory=lambda: MappingProxyType({}))
    _following: dict[str | None, tuple[Message, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def path(self) -> tuple[Message, ...]:
        """The active path, first message first."""
        return self.path_to(self.leaf_id)

    def path_to(self, message_id: str | None) -> tuple[Message, ...]:
        """The messages from the root to this one; empty for None."""
        path: list[Message] = []
        while message_id is not None:
            message = self.messages[message_id]
            path.append(message)
            message_id = message.parent_id
        return tuple(reversed(path))

    def siblings(self, message_id: str) -> tuple[Message, ...]:
        """The messages under the same parent, this one included, oldest first."""
        return self.children(self.messages[message_id].parent_id)

    def children(self, message_id: str | None) -> tuple[Message, ...]:
        """The messages that directly follow this one, oldest first; for None, the first ones."""
        if not self._following:  # messages never change, so the result stays valid
            following: dict[str | None, list[Message]] = {}
            for message in self.messages.values():
                following.setdefault(message.parent_id, []).append(message)
            # In one step, since another thread may read it meanwhile.
            self._following.update({key: tuple(found) for key, found in following.items()})
        return self._following.get(message_id, ())

    def versions(self, message_id: str) -> tuple[Message, ...]:
        """All versions of a message, oldest first, which can be compared with it.

        For a question, the questions after the same message; for a reply, all replies to the same
        question, to another version of it, or, in another branch, to the same words at the same
        place.
        """
        message = self.messages[message_id]
        if message.role == "user" or message.parent_id is None:
            return tuple(m for m in self.siblings(message_id) if m.role == message.role)
        question = self.messages[message.parent_id]
        depths: dict[str | None, int] = {}
        for other in self.messages.values():  # each comes after its parent
            depths[other.message_id] = depths.get(other.parent_id, 0) + 1
        asked = {sibling.message_id for sibling in self.siblings(question.message_id)}
        asked |= {
            other.message_id
            for other in self.messages.values()
            if other.content == question.content
            and other.role == "user"
            and depths[other.message_id] == depths[question.message_id]
        }
        return tuple(
            other
            for other in self.messages.values()
            if other.role == "assistant" and other.parent_id in asked
        )

    def add(self, message: Message) -> Conversation:
        """Append a message and make it the end of the active path.

        Raises:
            ValueError: The id is in use, or the parent is not in the tree.
        """
        if message.message_id in self.messages:
            raise ValueError(f"message {message.message_id} exists already")
        if message.parent_id is not None and message.parent_id not in self.messages:
            raise ValueError(f"message {message.message_id} has an unknown parent")
        title = self.title
        if not title and message.role == "user":
            title = title_of(message.text)
        return replace(
            self,
            title=title,
            messages=MappingProxyType({**self.messages, message.message_id: message}),
            leaf_id=message.message_id,
            changed_s=max(self.changed_s, message.created_s),
        )

    def edit(
        self,
        message_id: str,
        new_id: str,
        content: Content,
        *,
        created_s: float = 0.0,
        attachments: tuple[Attachment, ...] | None = None,
    ) -> Conversation:
        """Add a sibling with other content and show it; the messages after the old one stay there.

        Args:
            message_id: The message to replace.
            new_id: Id of the sibling.
            content: Content of the sibling.
            created_s: Time of creation, in seconds since the epoch.
            attachments: Files of the sibling, or None for those of the old message.
        """
        old = self.messages[message_id]
        files = old.attachments if attachments is None else attachments
        return self.add(Message(new_id, old.parent_id, old.role, content, created_s, files))

    def with_content(self, message_id: str, content: Content) -> Conversation:
        """Set the content of a reply that was generated meanwhile."""
        message = replace(self.messages[message_id], content=content)
        return replace(self, messages=MappingProxyType({**self.messages, message_id: message}))

    def activate(self, message_id: str) -> Conversation:
        """Show the path through this message, down to its newest leaf."""
        leaf_id = self.messages[message_id].message_id
        below = {leaf_id}
        for message in self.messages.values():  # each comes after its parent
            if message.parent_id in below:
                leaf_id = message.message_id
                below.add(leaf_id)
        return replace(self, leaf_id=leaf_id)

    def renamed(self, title: str) -> Conversation:
        """Return the conversation with another title; a blank one keeps the old title."""
        title = " ".join(title.split())
        return replace(self, title=title) if title else self

    def place_of(self, message_id: str) -> tuple[int, int]:
        """Return the message's index among its siblings, from 0, and their number."""
        siblings = self.siblings(message_id)
        if len(siblings) == 1:
            return 0, 1
        return [m.message_id for m in siblings].index(message_id), len(siblings)

    def sibling(self, message_id: str, step: int) -> Message | None:
        """Return the sibling `step` places further, or None beyond either end."""
        place, n_siblings = self.place_of(message_id)
        if not 0 <= place + step < n_siblings:
            return None
        return self.siblings(message_id)[place + step]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A message, or a title, that contains the words of a search.

    Attributes:
        conversation_id: The conversation.
        message_id: The message; empty if the title contains them.
        snippet: The text around the first of them, in one line.
        marks: Places of the words in the snippet, as (start, end) in characters.
    """

    conversation_id: str
    message_id: str
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ViewPlace:
    """The scroll position at which a conversation was left.

    Attributes:
        message_id: Message at the upper edge of the view; empty for the end.
        offset_px: Distance of its top above the edge, in device-independent pixels.
    """

    message_id: str = ""
    offset_px: int = 0


def clean(text: str) -> str:
    """Return the text with question marks for lone surrogates, which no file can hold."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def clean_files(files: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """Return the files with `clean` names and texts."""
    return tuple(replace(file, name=clean(file.name), text=clean(file.text)) for file in files)


def clean_message(message: Message) -> Message:
    """Return the message with `clean` texts."""
    files = clean_files(message.attachments)
    return replace(message, content=with_texts(message.content, clean), attachments=files)


def title_of(content: str, most: int = MAX_TITLE_CHARS) -> str:
    """Return a title from a message: its first line, cut at a word."""
    lines = content.strip().splitlines()
    words = " ".join(lines[0].split()) if lines else ""
    if len(words) <= most:
        return words
    cut = words[:most].rsplit(" ", 1)[0]
    return f"{cut.rstrip(' ,;:.')}…"


def heading_of(conversation: Conversation) -> str:
    """Return the title on one line, longer if it is the beginning of the first question."""
    title = " ".join(conversation.title.split())
    first = next((m.text for m in conversation.path() if m.role == "user"), "")
    return title_of(first, MAX_HEADING_CHARS) if title and title == title_of(first) else title


# ------------------------------------------------------------------------------------- branches
#
# After an edit far up, an older branch may have more turns than the active one. Nothing about an
# edit is stored besides the tree: `later_turns` finds the messages after another version, as
# long as the active branch asks the same questions after that message.


def without(conversation: Conversation, message_id: str) -> Conversation:
    """Return the conversation without a message and everything after it."""
    gone = {message_id}
    for message in conversation.messages.values():
        if message.parent_id in gone:
            gone.add(message.message_id)
    messages = {name: m for name, m in conversation.messages.items() if name not in gone}
    rest = replace(conversation, messages=MappingProxyType(messages))
    if conversation.leaf_id not in gone:
        return rest
    parent_id = conversation.messages[message_id].parent_id
    rest, others = replace(rest, leaf_id=parent_id), rest.children(parent_id)
    return rest.activate(others[-1].message_id) if others else rest


def without_reply(conversation: Conversation, reply_id: str) -> tuple[Conversation, Message | None]:
    """Remove a reply that never began, and its question if that has no other reply.

    Returns:
        The conversation, and the question if it was removed.
    """
    question = conversation.messages[conversation.messages[reply_id].parent_id or ""]
    if len(conversation.children(question.message_id)) > 1:
        return without(conversation, reply_id), None
    # The message that the question was an edit of is shown again.
    return without(conversation, question.message_id), question


def answer_to(conversation: Conversation, question_id: str) -> Message | None:
    """Return the reply to a question: the one on the active path, or else the newest."""
    answers = [m for m in conversation.children(question_id) if m.role == "assistant"]
    active = conversation.path()
    return next((m for m in answers if m in active), answers[-1] if answers else None)


def later_turns(conversation: Conversation) -> tuple[Message, ...]:
    """Return the messages to ask and answer again, starting with a question; may be empty.

    Of several older branches the longest is used; of equal ones the newest.
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


# ------------------------------------------------------------------------------------- titles
#
# Until the user gives a conversation a title, it is the first line of the first question. If that
# is a greeting, a code fence or a file without a word, it is a later question, the code's first
# line or the file's name; no model is asked for it.

_GREETING = re.compile(
    r"(hi|hello|hey|yo|hallo|moin|servus|hola|salut|bonjour|ciao|test|ping|thanks|danke|ok|okay|"
    r"good|morning|evening|afternoon|day|guten|morgen|tag|abend|there|you|again)"
)
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_WORD = re.compile(r"[^\W_]+")
_MARKS = "#>*-+ \t"


def automatic_title(conversation: Conversation) -> str:
    """Return the title from the questions on the active path; empty if they give none."""
    questions = [message for message in conversation.path() if message.role == "user"]
    return next((title for title in _candidates(questions) if title), "")


def with_title(old: Conversation, new: Conversation) -> Conversation:
    """Return `new` with an updated automatic title; a title that the user gave stays.

    Args:
        old: The conversation before the change.
        new: The conversation after the change.
    """
    if old.title and old.title != automatic_title(old):
        return new.renamed(old.title)
    return new.renamed(automatic_title(new))


def numbered(title: str, taken: Iterable[str]) -> str:
    """Return the title with the first free number after it: "Title (2)"."""
    others = set(taken)
    stem = re.sub(r" \(\d+\)$", "", title)
    number = 2
    while f"{stem} ({number})" in others:
        number += 1
    return f"{stem} ({number})"


def _candidates(questions: list[Message]) -> Iterator[str]:
    """Yield titles, the best first; some are empty."""
    prose = [_prose(question.text) for question in questions]
    for line in prose:
        if not _is_greeting(line):
            yield title_of(line)
    for question in questions:
        yield title_of(_code(question.text))
        for attachment in question.attachments:
            yield title_of(attachment.name)
    for line in prose:
        yield title_of(line)
    for question in questions:
        yield title_of(question.text)


def _prose(content: str) -> str:
    """Return the first line outside of fences, without marks of headings, lists and quotes."""
    fence = ""
    for line in content.splitlines():
        mark = _FENCE.match(line)
        if mark:
            sign = mark[1]
            if not fence:
                fence = sign
            elif sign.startswith(fence):
                fence = ""
        elif not fence and _WORD.search(line):
            return line.lstrip(_MARKS)
    return ""


def _code(content: str) -> str:
    """Return the first line that is not a fence."""
    for line in content.splitlines():
        if not _FENCE.match(line) and _WORD.search(line):
            return line
    return ""


def _is_greeting(line: str) -> bool:
    words = _WORD.findall(line.casefold())
    return not words or (len(words) <= 3 and all(map(_GREETING.fullmatch, words)))
