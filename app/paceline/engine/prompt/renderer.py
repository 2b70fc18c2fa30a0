"""Has chat templates rendered in a process of its own, which is ended when one takes too much.

The process (`sandbox`) stays warm between replies; the first load starts it, beside the reading of
the model. A template that hangs, eats memory or crashes the process costs what was asked, and the
next question starts another one.
"""

from __future__ import annotations

import atexit
import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from paceline.codec import decode
from paceline.content import Part, Text
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


class Job(NamedTuple):
    """What is put through a template.

    Attributes:
        messages: A conversation.
        variables: Given besides those that all templates are given.
        reasoning: Of its last message; empty: it has none.
    """

    messages: Sequence[ChatMessage]
    variables: Mapping[str, Any]
    reasoning: str = ""

    def as_json(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return what the process is told of it."""
        told: list[dict[str, Any]] = [
            {"role": m.role, "content": [_as_told(part) for part in m.content]}
            for m in self.messages
        ]
        if self.reasoning:
            told[-1] |= dict.fromkeys(_REASONING_NAMES, self.reasoning)
        return told, dict(self.variables)


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


TemplateJobs = tuple[tuple[str, str, str], Sequence[Job]]
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

    def render(self, template: tuple[str, str, str], jobs: Sequence[Job]) -> list[Outcome]:
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


@functools.cache
def renderer() -> Renderer:
    """Return the one of this program; its process ends with the program."""
    shared = Renderer()
    atexit.register(shared.close)
    return shared
