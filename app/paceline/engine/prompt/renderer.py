"""Has chat templates rendered in a process of its own, which is ended when one takes too much.

The process (`sandbox`) stays warm between replies; the first load starts it, beside the reading of
the model. A template that hangs, eats memory or crashes the process costs what was asked, and the
next question starts another one.
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
"""The process's name."""
SANDBOX = "paceline.engine.prompt.sandbox:run_sandbox"  # not imported here: it loads Jinja
DEADLINE_S = 2.5
MEMORY = 300 << 20
_HINT = sentence("Close other programs and try again.")

_REASONING_NAMES = ("reasoning_content", "reasoning", "thinking")
"""What templates call the reasoning of a reply."""
_PLAN = "tool_plan"
"""The name that Cohere's templates have for all that is said before a call."""


WriteCalls = Callable[[Sequence[ToolCall]], str]
"""Writes calls as the model does."""


class RenderJob(NamedTuple):
    """What is put through a template.

    Attributes:
        messages: A conversation.
        variables: Given besides those that all templates are given.
        tools: Those that the model is told of.
        takes_text: Whether the template wants the arguments of calls as text, not as objects.
        write_calls: Makes calls the end of what is said; None: the template is given them.
    """

    messages: Sequence[ChatMessage]
    variables: Mapping[str, Any]
    tools: Sequence[Tool] = ()
    takes_text: bool = False
    write_calls: WriteCalls | None = None

    def with_texts(self, change: Callable[[str], str], field: Callable[[str], str]) -> RenderJob:
        """Return the same with other texts.

        Args:
            change: What becomes of what is said and reasoned.
            field: And of descriptions, parameters and arguments, each name and text in them.
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
        """Return every text that `with_texts` changes as a field."""
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
        """Yield names of tools and ids of calls, which cannot be changed."""
        yield from (tool.name for tool in self.tools)
        for message in self.messages:
            yield from (part for call in message.calls for part in (call.id, call.name))

    def as_json(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return what the process is told of it."""
        called = {call.id: call.name for message in self.messages for call in message.calls}
        told = [self._message(message, called) for message in self.messages]
        tools = {"tools": list(map(told_tool, self.tools))} if self.tools else {}
        return told, {**self.variables, **tools}

    def _message(self, message: ChatMessage, called: Mapping[str, str]) -> dict[str, Any]:
        if message.calls and self.write_calls:
            said = appended(message.content, self.write_calls(message.calls))
            message = structs.replace(message, content=said, calls=())
        told: dict[str, Any] = {
            "role": message.role,
            "content": [_as_told(part) for part in message.content],
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
    """Return a JSON text with every name and every text in it changed."""

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


def told_tool(tool: Tool) -> dict[str, Any]:
    """Return a tool as OpenAI's interface describes it, which templates are written for."""
    parameters = json.loads(tool.parameters or "{}")
    if "properties" not in parameters:
        parameters = {"type": "object", "properties": {}, **parameters}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _as_told(part: Part) -> dict[str, Any]:
    """Return a part as templates read it that take contents in parts."""
    match part:
        case Text(text):
            return {"type": "text", "text": text}


class Outcome(NamedTuple):
    """What came of a job.

    Attributes:
        kind: "text", "refused" or "failed".
        text: The prompt; or what the template said against the conversation; or why it failed, as
            a part of a sentence.
    """

    kind: str
    text: str


TemplateJobs = tuple[tuple[str, str, str], Sequence[RenderJob]]
"""A template, as `Renderer.render` takes it, and what is put through it."""


class Renderer:
    """Asks one process, one question at a time. Any thread."""

    def __init__(self) -> None:
        # No template can spoil the process for the next one, so none is tried twice.
        self._worker = Worker(SANDBOX, templates_language(), memory=MEMORY, asks_again=False)

    @property
    def pid(self) -> int:
        """The process's id; 0 when there is none."""
        return self._worker.pid

    def start(self) -> None:
        """Start the process, if it does not run, and do not wait for it."""
        self._worker.start()

    def render(self, template: tuple[str, str, str], jobs: Sequence[RenderJob]) -> list[Outcome]:
        """Return what comes of each job; all of them have `DEADLINE_S` seconds and `MEMORY` bytes.

        Args:
            template: Its source, and the texts of the tokens BOS and EOS.
            jobs: At least one.

        Raises:
            EngineError: There is no process, or the conversations are too large for it.
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
        """End the process; the next question starts another one. Does not wait."""
        self._worker.rest()

    def close(self) -> None:
        """End the process for good."""
        self._worker.close()


def _why(error: NoAnswerError) -> str:
    """Return why a template failed, as a part of a sentence about it."""
    if error.trouble == "slow":
        return sentence("it ran longer than {seconds} seconds", seconds=DEADLINE_S)
    if error.trouble == "out-of-memory":
        return sentence("it took too much memory")
    return sentence("its process {end}", end=error.words)


def templates_language() -> Language[TemplateJobs, list[Outcome]]:
    """Return the messages that are exchanged with the process."""
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
    """Return the one of this program; its process ends with the program."""
    shared = Renderer()
    atexit.register(shared.close)
    return shared
