"""The process that renders chat templates, each of which is a program from the internet.

Jinja's immutable sandbox isolates a template from this process. The system limits its resources,
and so does `renderer`: it ends the process if a template takes too long, and starts another one. So
nothing that a template does is checked here, and it may even crash the process. Imports Jinja and
nothing else of size, to be ready in a tenth of a second.
"""

from __future__ import annotations

import datetime
import faulthandler
import functools
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from traceback import walk_tb
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from paceline.codec import encode
from paceline.sentence import sentence
from paceline.workers.child import ChildPipe, limit_memory, serve

_MEMORY_BYTES = 256 << 20  # together with mapped files this is below `renderer.MEMORY_BYTES`
_ALONE_S = 3  # longer than `renderer` waits, in case that is gone
_TEMPLATE_FILE = "<template>"  # the file name of compiled code in Jinja's tracebacks
_MAX_REASON_CHARS = 300
_MAX_TEMPLATES = 4
_N_USUAL = 2  # role and content
Message = dict[str, Any]


class _RefusedError(Exception):
    """The template called `raise_exception` to refuse the conversation."""


class _Generation(Extension):
    """Ignores ``{% generation %}``, which marks the part of a text that training uses."""

    tags = {"generation"}  # noqa: RUF012  Jinja's own way

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        body: list[nodes.Node] = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return body


def _raise_exception(message: str) -> NoReturn:
    raise _RefusedError(str(message)[:_MAX_REASON_CHARS])


def _strftime_now(pattern: str) -> str:
    return datetime.datetime.now(tz=datetime.UTC).astimezone().strftime(pattern)


def _tojson(  # with the arguments that `transformers` gives it
    value: Any,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
        default=_listed,
    )


def _listed(value: Any) -> list[Any]:
    """Return the results of filters like `map` as lists, as Jinja's dialects do."""
    if not isinstance(value, Iterator):
        raise TypeError(f"{type(value).__name__} is not JSON")
    return list(value)


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox, in which a template may change its own lists, as Kimi's does."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        is_own_list = attr in ("append", "pop") and type(obj) is list
        return is_own_list or super().is_safe_attribute(obj, attr, value)


class _Given(list[Message]):
    """The messages, which no template may change."""


def _environment() -> ImmutableSandboxedEnvironment:
    env = _Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.loopcontrols", _Generation],
    )
    env.globals["raise_exception"] = _raise_exception
    env.globals["strftime_now"] = _strftime_now
    env.filters["tojson"] = _tojson
    return env


class Template:
    """One model's template, compiled.

    Args:
        source: The template in Jinja.
        bos: Text of the token that begins a prompt.
        eos: Text of the token that ends a turn.

    Raises:
        Exception: Any error in the template.
    """

    def __init__(self, source: str, bos: str, eos: str) -> None:
        self._template = _environment().from_string(source)
        self._usual = {"add_generation_prompt": True, "bos_token": bos, "eos_token": eos}
        self._takes_parts = False
        self._takes_parts = self._reads_parts()

    def _reads_parts(self) -> bool:
        """Return whether a template needs contents in parts, as for models that see pictures."""
        word = "why"
        probe = [{"role": "user", "content": [{"type": "text", "text": word}]}]
        try:
            if word in self.render(probe, {}).lower():
                return False
            self._takes_parts = True
            text = self.render(probe, {})
        except (jinja2.TemplateError, TypeError, _RefusedError):
            return False
        return word in text and f"'{word}'" not in text  # not merely printed as a list

    def render(self, messages: Sequence[Message], variables: dict[str, Any]) -> str:
        """Return the text for messages with role and parts, with additional variables.

        Raises:
            Exception: Any error that the template raises.
        """
        if not self._takes_parts:
            messages = [{**message, "content": _text_of(message)} for message in messages]
        return self._template.render(messages=_Given(messages), **self._usual, **variables)


def _text_of(message: Message) -> str:
    """Return the content of a message as `paceline.content.text_of` does."""
    texts = [part.get("text", "") for part in message["content"]]
    return texts[0] if len(texts) == 1 else "\n\n".join(filter(None, texts))


def _length(message: Message) -> int:
    """Return the approximate number of characters of a whole message."""
    return len(_text_of(message)) if len(message) == _N_USUAL else len(json.dumps(message))


_prepared = functools.lru_cache(_MAX_TEMPLATES)(Template)


def _outcome(render: Callable[[], str], longest: int) -> tuple[str, str]:
    """Return the outcome, "text", "refused" or "failed", with the text or the reason."""
    try:
        try:
            text = render()
        except _RefusedError as refusal:
            return "refused", str(refusal)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  a template can raise anything
            return "failed", _reason(error)
        return ("text", text) if len(text) <= longest else ("failed", sentence("it wrote too much"))
    except MemoryError:  # possibly while formatting another error
        return "failed", sentence("it took too much memory")


def _reason(error: Exception) -> str:
    reason = str(error)[:_MAX_REASON_CHARS].rstrip(".") or type(error).__name__
    line = _line_of(error)
    return sentence("{reason} (line {line})", reason=reason, line=line) if line else reason


def _line_of(error: Exception) -> int:
    """Return the line of the template in which an error occurred, or 0 if not known."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return error.lineno
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    return next((line for file, line in reversed(frames) if file == _TEMPLATE_FILE), 0)


def _answer(request: dict[str, Any]) -> Any:
    """Return the outcomes of one request; see `renderer.Renderer`."""

    def render(messages: list[Message], variables: dict[str, Any]) -> str:
        return _prepared(*request["template"]).render(messages, variables)

    outcomes = tuple(
        _outcome(
            functools.partial(render, messages, variables),
            100_000 + 8 * (len(json.dumps(variables)) + sum(map(_length, messages))),
        )
        for messages, variables in request["jobs"]
    )
    return encode(outcomes)


def run_sandbox(pipe: socket.socket) -> None:
    """Run the process; never returns."""
    limit_memory(_MEMORY_BYTES)
    serve(ChildPipe(pipe), _bounded, _read, _written)


def _bounded(request: dict[str, Any]) -> Any:
    faulthandler.dump_traceback_later(_ALONE_S, exit=True)  # also in native code
    try:
        return _answer(request)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _read(payload: bytes) -> Any:
    return json.loads(payload.decode(errors="surrogatepass"))


def _written(answer: Any) -> bytes:
    return json.dumps(answer).encode()
