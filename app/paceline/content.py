"""Values that a model is given: the content of a message, and the prompts of a reply. Any thread.

Content is a tuple of parts, text now, other kinds to come. Parts and prompts are values that travel
between processes and stand in files, each under the name of its kind. Every kind of part has a
`text`, which stands for it where only text can stand: in titles, in searches, in texts that are
exported. If that may get into a prompt, it is a field: control tokens in it are broken up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from msgspec import field, structs

from paceline.codec import Checked, Tagged
from paceline.params import Prompting

StoredRole = Literal["user", "assistant"]
"""The speaker of a message in a stored conversation."""

Role = Literal["system", StoredRole, "tool"]
"""The speaker of a message in what the engine is given; "tool": what a called tool has returned."""

ROLES: tuple[Role, ...] = get_args(Role)


class Text(Tagged, frozen=True):
    """A stretch of text, in Markdown where it is shown."""

    text: str


Part = Text
"""Every kind of part; further ones are added by ``|``."""

Content = tuple[Part, ...]

BETWEEN = "\n\n"
"""The text between parts where all are one text."""


def of_text(text: str) -> Content:
    """Return the content that is this text alone."""
    return (Text(text),)


def text_of(content: Content) -> str:
    """Return the texts of all parts, with a blank line between two of them."""
    if len(content) == 1:
        return content[0].text
    return BETWEEN.join([part.text for part in content if part.text])


def beyond_text(content: Content) -> Content:
    """Return the parts if they are more than one text, else none: what is kept beside the text."""
    return () if content == of_text(text_of(content)) else content


def is_empty(content: Content) -> bool:
    """Return whether there is nothing in it but empty text."""
    return all(isinstance(part, Text) and not part.text for part in content)


def with_texts(content: Content, change: Callable[[str], str]) -> Content:
    """Return the content with every text changed that is a field of its part."""
    return tuple(
        structs.replace(part, text=change(part.text)) if "text" in part.__struct_fields__ else part
        for part in content
    )


def appended(content: Content, text: str) -> Content:
    """Return the content with more text: at the end of the last part, if that is text."""
    if content and isinstance(content[-1], Text):
        return (*content[:-1], Text(content[-1].text + text))
    return (*content, Text(text))


def joined(first: Content, second: Content) -> Content:
    """Return both contents as one, with a blank line between two texts that meet.

    These become one part, as models are trained to see a message.
    """
    if not (second and isinstance(second[0], Text)):
        return first + second
    if not (first and isinstance(first[-1], Text)):
        return first + second
    return (*appended(first, BETWEEN + second[0].text), *second[1:])


class ToolCall(Checked, frozen=True):
    """A tool that the model wants to be called.

    Attributes:
        id: Names the call; what the tool returns refers to it.
        name: The tool's name.
        arguments: A JSON object, as text.
    """

    id: str
    name: str
    arguments: str


class ChatMessage(Checked, frozen=True):
    """One message of a conversation.

    Attributes:
        role: Who speaks.
        content: What is said; of a tool, what it has returned.
        calls: Tools that the model called in this message, in their order.
        answers: Of what a tool has returned, the id of the call; otherwise empty.
        reasoning: What the model reasoned before this message, for templates that show it.
    """

    role: Role
    content: Content
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    reasoning: str = ""

    @classmethod
    def of_text(cls, role: Role, text: str) -> ChatMessage:
        """Return a message whose content is this text alone."""
        return cls(role, of_text(text))

    @property
    def text(self) -> str:
        """The texts of all parts; see `text_of`."""
        return text_of(self.content)


class Tool(Checked, frozen=True):
    """A tool that the model may call.

    Attributes:
        name: Its name.
        description: What it does, for the model.
        parameters: JSON schema of its arguments, as text; empty: it takes none.
    """

    name: str
    description: str = ""
    parameters: str = ""


ToolChoice = Literal["auto", "none", "required"]


class ToolUse(Checked, frozen=True):
    """The tools that the model is told of, and whether it calls one.

    Attributes:
        tools: At least one.
        choice: "auto": the model decides; "none": it is told of them, and calls none; "required":
            it calls at least one.
        name: The tool that it calls, with "required"; empty: any of them.
        is_parallel: Whether a reply may hold several calls.
    """

    tools: tuple[Tool, ...]
    choice: ToolChoice = "auto"
    name: str = ""
    is_parallel: bool = True


class Chat(Tagged, frozen=True):
    """A conversation, put through the model's chat template.

    Attributes:
        messages: At least one with a text.
        prompting: How the messages become a prompt.
        tools: Those that the model may call; None: it is told of none.
        cuts: Whether the oldest messages are left out where the prompt does not fit, in turns of
            question and answer; the system prompt and the last question always stay.
    """

    messages: tuple[ChatMessage, ...]
    prompting: Prompting = field(default_factory=Prompting)
    cuts: bool = False
    tools: ToolUse | None = None


class RawText(Tagged, frozen=True):
    """Text without a template.

    Attributes:
        text: The text, after the token that begins a prompt, if the model has one.
        special: Whether the names of control tokens in it are read as these, as programs expect
            that write templates themselves; otherwise they are plain text.
    """

    text: str
    special: bool = False


class Tokens(Tagged, frozen=True):
    """Token ids, taken as they are."""

    ids: tuple[int, ...]


class ProjectFile(Checked, frozen=True):
    """A text that belongs to the same project as another one.

    Attributes:
        name: Its name or path; empty: not known.
        text: What is in it.
    """

    name: str
    text: str


class Infill(Tagged, frozen=True):
    """A text without its middle, which the reply is; control tokens in it are plain text.

    Only models with tokens that ask for a missing middle can do it.

    Attributes:
        before: The text that precedes the middle.
        after: The text that follows it.
        files: Other texts, the most useful last. The first ones are left out of a reply's prompt
            where not all of them fit.
    """

    before: str
    after: str
    files: tuple[ProjectFile, ...] = ()


Prompt = Chat | RawText | Tokens | Infill
