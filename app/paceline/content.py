"""Values for a model's input: the content of messages, and the prompts of replies. Any thread.

Content is a tuple of parts: text, and possibly other kinds later. Parts and prompts are values that
are sent between processes and stored in files, under the name of their kind. Every kind of part has
a `text`, which represents it where only text is possible: in titles, searches and exported texts.
If that may get into a prompt, it is a field: control tokens in it are broken up.
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
"""The speaker of a message in the engine's input; "tool" is the result of a called tool."""

ROLES: tuple[Role, ...] = get_args(Role)


class Text(Tagged, frozen=True):
    """A text; shown as Markdown."""

    text: str


Part = Text
"""Every kind of part; further ones are added with ``|``."""

Content = tuple[Part, ...]

BETWEEN = "\n\n"
"""Text between parts that are joined into one text."""


def of_text(text: str) -> Content:
    """Return content with only this text."""
    return (Text(text),)


def text_of(content: Content) -> str:
    """Return the texts of all parts, with a blank line between two of them."""
    if len(content) == 1:
        return content[0].text
    return BETWEEN.join([part.text for part in content if part.text])


def beyond_text(content: Content) -> Content:
    """Return the parts to store beside the text: all if they are more than one text, else none."""
    return () if content == of_text(text_of(content)) else content


def is_empty(content: Content) -> bool:
    """Return whether it has nothing but empty text."""
    return all(isinstance(part, Text) and not part.text for part in content)


def with_texts(content: Content, change: Callable[[str], str]) -> Content:
    """Return the content with every text converted that is a field of its part."""
    return tuple(
        structs.replace(part, text=change(part.text)) if "text" in part.__struct_fields__ else part
        for part in content
    )


def appended(content: Content, text: str) -> Content:
    """Return the content with text appended to the last part, if that is text."""
    if content and isinstance(content[-1], Text):
        return (*content[:-1], Text(content[-1].text + text))
    return (*content, Text(text))


def joined(first: Content, second: Content) -> Content:
    """Return both contents as one, with a blank line between two adjacent texts.

    Adjacent texts become one part, as in a model's training data.
    """
    if not (second and isinstance(second[0], Text)):
        return first + second
    if not (first and isinstance(first[-1], Text)):
        return first + second
    return (*appended(first, BETWEEN + second[0].text), *second[1:])


class ToolCall(Checked, frozen=True):
    """A call of a tool by the model.

    Attributes:
        id: Id of the call; the tool's result refers to it.
        name: The tool's name.
        arguments: The arguments, a JSON object as text.
    """

    id: str
    name: str
    arguments: str


class ChatMessage(Checked, frozen=True):
    """One message of a conversation.

    Attributes:
        role: The speaker.
        content: The text; for a tool, its result.
        calls: Tools that the model called in this message, in order.
        answers: For a tool's result, the id of the call; otherwise empty.
        reasoning: The model's reasoning before this message, for templates that show it.
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
        description: Its purpose, for the model.
        parameters: JSON schema of its arguments, as text; empty if it takes none.
    """

    name: str
    description: str = ""
    parameters: str = ""


ToolChoice = Literal["auto", "none", "required"]


class ToolUse(Checked, frozen=True):
    """The tools that the model is given, and whether it must call one.

    Attributes:
        tools: At least one tool.
        choice: "auto": the model decides; "none": it knows them, and calls none; "required": it
            calls at least one.
        name: With "required", the tool to call; empty for any of them.
        is_parallel: Whether a reply may hold several calls.
    """

    tools: tuple[Tool, ...]
    choice: ToolChoice = "auto"
    name: str = ""
    is_parallel: bool = True


class Chat(Tagged, frozen=True):
    """A conversation, to which the model's chat template is applied.

    Attributes:
        messages: Messages, at least one of them with a text.
        prompting: Settings of the conversion to a prompt.
        tools: Tools that the model may call, or None if it is given none.
        cuts: Whether to omit the oldest messages if the prompt does not fit, in turns of question
            and answer; the system prompt and the last question always stay.
    """

    messages: tuple[ChatMessage, ...]
    prompting: Prompting = field(default_factory=Prompting)
    cuts: bool = False
    tools: ToolUse | None = None


class RawText(Tagged, frozen=True):
    """Text without a template.

    Attributes:
        text: The text, before which the model's begin token is added, if it has one.
        special: Whether names of control tokens in it become control tokens, for programs that
            apply templates themselves; otherwise they are plain text.
    """

    text: str
    special: bool = False


class Tokens(Tagged, frozen=True):
    """Token ids, used unchanged."""

    ids: tuple[int, ...]


class ProjectFile(Checked, frozen=True):
    """A text of the same project as another one.

    Attributes:
        name: Its name or path; empty if not known.
        text: Its content.
    """

    name: str
    text: str


class Infill(Tagged, frozen=True):
    """A text without its middle, which the reply provides; control tokens in it are plain text.

    Only for models with tokens for a missing middle.

    Attributes:
        before: The text that precedes the middle.
        after: The text that follows it.
        files: Other texts, the most useful last. The first ones are omitted from a reply's prompt
            if not all fit.
    """

    before: str
    after: str
    files: tuple[ProjectFile, ...] = ()


Prompt = Chat | RawText | Tokens | Infill
