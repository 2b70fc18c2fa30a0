"""Rendering of chat templates in a separate process, which is ended if it uses too much.

The process (`sandbox`) is kept between replies; the first load starts it while the model is read.
If a template hangs, uses up memory or crashes the process, only that question fails, and the next
question starts another process.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from msgspec import structs

from paceline.codec import decode
from paceline.content import Part, Text, Tool, ToolCall, appended, with_texts
from paceline.engine.refusals import TOO_LARGE
from paceline.errors import EngineError
from paceline.messages import ChatMessage
from paceline.sentence import UserText, sentence
from paceline.workers.frames import WireError
from paceline.workers.process import Language
from paceline.workers.worker import NoAnswerError, Worker

RENDER = "paceline-templates"
"""Name of the process."""
SANDBOX = "paceline.engine.prompt.sandbox:run_sandbox"  # not imported here: it loads Jinja
DEADLINE_S = 2.5
MEMORY_BYTES = 300 << 20
_HINT = sentence("Close other programs and try again.")

_REASONING_NAMES = ("reasoning_content", "reasoning", "thinking")
"""Names that templates use for the reasoning of a reply."""
_PLAN = "tool_plan"
"""Name of Cohere's templates for everything that is said before a call."""


WriteCalls = Callable[[Sequence[ToolCall]], str]
"""A function that writes calls as the model does."""


class RenderJob(NamedTuple):
    """A conversation to render with a template.

    Attributes:
        messages: A conversation.
        variables: Variables besides those that all templates get.
        tools: The tools that the model is given.
        takes_text: Whether the template expects the arguments of calls as text, not as objects.
        write_calls: Appends calls to the assistant's text, or None to pass them to the template.
    """

    messages: Sequence[ChatMessage]
    variables: Mapping[str, Any]
    tools: Sequence[Tool] = ()
    takes_text: bool = False
    write_calls: WriteCalls | None = None

    def with_texts(self, change: Callable[[str], str], field: Callable[[str], str]) -> RenderJob:
        """Return a copy with other texts.

        Args:
            change: Converts what is said and reasoned.
            field: Converts each name and text in descriptions, parameters and arguments.
        """
        messages = [
            structs.replace(
                m,
                content=with_texts(m.content, change),
                reasoning=m.reasoning and change(m.reasoning),
                calls=tuple(self._call_with(call, field) for call in m.calls),
            )
            for m in self.messages
        ]
        tools = [_tool_with(tool, field) for tool in self.tools]
        return self._replace(messages=messages, tools=tools)

    def fields(self) -> list[str]:
        """Return every text that `with_texts` converts with `field`."""
        found: list[str] = []

        def seen(text: str) -> str:
            found.append(text)
            return text

        for tool in self.tools:
            _tool_with(tool, seen)
        for message in self.messages:
            for call in message.calls:
                self._call_with(call, seen)
        return found

    def _call_with(self, call: ToolCall, field: Callable[[str], str]) -> ToolCall:
        change = field if self.takes_text else partial(_json_with, change=field)
        return structs.replace(call, arguments=change(call.arguments))

    def names(self) -> Iterator[str]:
        """Yield names of tools and ids of calls, which cannot be converted."""
        yield from (tool.name for tool in self.tools)
        for message in self.messages:
            yield from (part for call in message.calls for part in (call.id, call.name))

    def as_json(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the messages and variables as JSON values for the process."""
        called = {call.id: call.name for message in self.messages for call in message.calls}
        told = [self._message(message, called) for message in self.messages]
        tools = {"tools": list(map(tool_for_template, self.tools))} if self.tools else {}
        return told, {**self.variables, **tools}

    def _message(self, message: ChatMessage, called: Mapping[str, str]) -> dict[str, Any]:
        if message.calls and self.write_calls:
            said = appended(message.content, self.write_calls(message.calls))
            message = structs.replace(message, content=said, calls=())
        told: dict[str, Any] = {
            "role": message.role,
            "content": [_part_for_template(part) for part in message.content],
        }
        if message.reasoning:
            told |= dict.fromkeys(_REASONING_NAMES, message.reasoning)
        if message.calls:
            told["tool_calls"] = list(map(self._call, message.calls))
            told[_PLAN] = "\n\n".join(filter(None, (message.reasoning, message.text)))
        if message.role == "tool":
            told |= {"tool_call_id": message.answers, "name": called.get(message.answers, "")}
        return told

    def _call(self, call: ToolCall) -> dict[str, Any]:
        arguments = call.arguments if self.takes_text else json.loads(call.arguments)
        function = {"name": call.name, "arguments": arguments}
        return {"id": call.id, "type": "function", "function": function}


def _tool_with(tool: Tool, field: Callable[[str], str]) -> Tool:
    return structs.replace(
        tool,
        description=field(tool.description),
        parameters=tool.parameters and _json_with(tool.parameters, field),
    )


def _json_with(text: str, change: Callable[[str], str]) -> str:
    """Return a JSON text with every name and every text in it converted."""

    def changed(value: Any) -> Any:
        match value:
            case str():
                return change(value)
            case list():
                return list(map(changed, value))
            case dict():
                return {change(key): changed(part) for key, part in value.items()}
            case _:
                return value

    return json.dumps(changed(json.loads(text)), ensure_ascii=False)


def tool_for_template(tool: Tool) -> dict[str, Any]:
    """Return a tool in the format of OpenAI's API, for which templates are written."""
    parameters = json.loads(tool.parameters or "{}")
    if "properties" not in parameters:
        parameters = {"type": "object", "properties": {}, **parameters}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _part_for_template(part: Part) -> dict[str, Any]:
    """Return a part for templates that take contents in parts."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}


class Outcome(NamedTuple):
    """The result of rendering a job.

    Attributes:
        kind: "text", "refused" or "failed".
        text: The prompt; or the template's message against the conversation; or the reason of a
            failure, as a part of a sentence.
    """

    kind: str
    text: str


TemplateJobs = tuple[tuple[str, str, str], Sequence[RenderJob]]
"""A template, as in `Renderer.render`, with the jobs to render."""


class Renderer:
    """Renders in one process, one question at a time. Any thread."""

    def __init__(self) -> None:
        # Each job is tried once, since no template can spoil the process for the next one.
        self._worker = Worker(SANDBOX, templates_language(), memory=MEMORY_BYTES, asks_again=False)

    @property
    def pid(self) -> int:
        """The process's id, or 0 without one."""
        return self._worker.pid

    def start(self) -> None:
        """Start the process if it is not running, without waiting for it."""
        self._worker.start()

    def render(self, template: tuple[str, str, str], jobs: Sequence[RenderJob]) -> list[Outcome]:
        """Return the outcome of each job; all share `DEADLINE_S` and `MEMORY_BYTES`.

        Args:
            template: Its source, and the texts of the tokens BOS and EOS.
            jobs: At least one job.

        Raises:
            EngineError: The process cannot be started, or the conversations are too large for it.
        """
        try:
            return self._worker.ask((template, jobs), DEADLINE_S)
        except NoAnswerError as error:
            if error.trouble in ("not-started", "not-ready", "stopped"):
                raise EngineError(
                    "no-renderer",
                    "Chat templates cannot be read: their process does not start ({reason}).",
                    _HINT,
                    reason=error.words,
                ) from None
            if error.trouble == "too-large":
                raise EngineError(*TOO_LARGE) from None
            return [Outcome("failed", _why(error))] * len(jobs)

    def rest(self) -> None:
        """End the process, without waiting; the next question starts another one."""
        self._worker.rest()

    def close(self) -> None:
        """End the process for good."""
        self._worker.close()


def _why(error: NoAnswerError) -> str:
    """Return the reason why a template failed, as a part of a sentence about it."""
    if error.trouble == "slow":
        return sentence("it ran longer than {seconds} seconds", seconds=DEADLINE_S)
    if error.trouble == "out-of-memory":
        return sentence("it took too much memory")
    return sentence("its process {end}", end=error.words)


def templates_language() -> Language[TemplateJobs, list[Outcome]]:
    """Return the messages to and from the process."""
    return Language(RENDER, _encode, _decode)


def _encode(question: TemplateJobs) -> bytes:
    template, jobs = question
    data = {"template": template, "jobs": [job.as_json() for job in jobs]}
    return json.dumps(data, ensure_ascii=False).encode(errors="surrogatepass")


def _decode(payload: bytes) -> list[Outcome]:
    try:
        return [Outcome(str(kind), decode(UserText, text)) for kind, text in json.loads(payload)]
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(str(error)[:200]) from None


@cache
def renderer() -> Renderer:
    """Return the renderer of this program; its process ends with the program."""
    shared = Renderer()
    atexit.register(shared.close)
    return shared
