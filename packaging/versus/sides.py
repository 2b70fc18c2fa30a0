"""Servers that answer the requests of a session: llama.cpp's servers with their settings, and ours.

Every side is an HTTP server that is asked for chat completions and streams them.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .child import Child, free_port
from .server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.messages import LoadPair

    from .sessions import Request

OURS, SAME_SOURCES, CURRENT = "paceline", "llama-server", "current"
PREDICTION = "prediction"
_TYPES = {"off": "none", "ngram-simple": "ngram-simple", "ngram-mod": "ngram-mod"}
"""The value of ``--spec-type`` by setting; their lengths are the server's own."""
GREEDY = {"samplers": ["top_k"], "top_k": 1}
"""The cheapest chain of llama.cpp's samplers that is greedy."""


class Side(NamedTuple):
    """A server that is compared with others.

    Attributes:
        program: One of `OURS`, `SAME_SOURCES` and `CURRENT`.
        setting: Its setting of drafts.
        start: Function that makes a server, which is not started yet.
        body: Fields of its requests besides the conversation.
    """

    program: str
    setting: str
    start: Callable[[], Child]
    body: Callable[[Request], dict[str, Any]]

    @property
    def name(self) -> str:
        """Program and setting."""
        return f"{self.program} {self.setting}"


@dataclass(frozen=True)
class Answer:
    """A reply that was streamed.

    Attributes:
        first_s: Seconds from the request to the first event with text.
        rest_s: Seconds from there to the end of the stream.
        text: The whole text.
        n_tokens: Number of its tokens, as the server counts them.
        timings: Times and counts of drafts that the server reports, in llama-server's format.
        paceline: Additional figures that only Paceline's server reports; empty for the others.
    """

    first_s: float
    rest_s: float
    text: str
    n_tokens: int
    timings: dict[str, Any]
    paceline: dict[str, Any]


def sides(load: LoadPair, server: Path, current: str | None, home: Path) -> list[Side]:
    """Return all sides for a model.

    Args:
        load: The model and how it is loaded.
        server: llama-server of the same sources.
        current: An interpreter with xllamacpp; without one its server takes no part.
        home: Folder for what ours keeps, such as the costs that it has measured.
    """

    def same_sources(kind: str) -> Callable[[], Child]:
        return lambda: Server(server, load, ("--spec-type", kind))

    def of_package(kind: str) -> Callable[[], Child]:
        return lambda: _current(str(current), load, kind)

    starts = {SAME_SOURCES: same_sources, CURRENT: of_package}
    if current is None:
        del starts[CURRENT]
    theirs = [
        Side(program, setting, start(kind), lambda _: GREEDY)
        for setting, kind in _TYPES.items()
        for program, start in starts.items()
    ]
    return [
        Side(OURS, "auto", lambda: ours(load, home, "auto"), lambda _: {}),
        *theirs,
        Side(OURS, PREDICTION, lambda: ours(load, home, "auto"), _predicted),
    ]


def ask(child: Child, request: Request, more: dict[str, Any]) -> Answer:
    """Let a server answer a request.

    Raises:
        ConnectionError: It did not, or without any text.
    """
    body = {
        "messages": request.messages,
        "max_tokens": request.max_tokens,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        **more,
    }
    return read_stream(*child.stream("/v1/chat/completions", body))


def read_stream(began: float, lines: list[tuple[float, bytes]]) -> Answer:
    """Read the events of a streamed chat completion; times are seconds of one clock.

    Raises:
        ConnectionError: There is an error among them, or no text, or no usage.
    """
    first = began
    pieces: list[str] = []
    told: dict[str, Any] = {}
    for at, line in lines:
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        if "error" in event:
            raise ConnectionError(f"the stream ended with an error: {event['error']}")
        told |= {key: event[key] for key in ("usage", "timings", "paceline") if event.get(key)}
        for choice in event.get("choices", ()):
            if text := choice["delta"].get("content"):
                first = first if pieces else at
                pieces.append(text)
    if not pieces or "usage" not in told:
        raise ConnectionError(f"a stream of {len(lines)} lines without text or usage")
    return Answer(
        first - began,
        lines[-1][0] - first,
        "".join(pieces),
        told["usage"]["completion_tokens"],
        told.get("timings", {}),
        told.get("paceline", {}),
    )


def _predicted(request: Request) -> dict[str, Any]:
    if not request.prediction:
        return {}
    return {"prediction": {"type": "content", "content": request.prediction}}


def _current(interpreter: str, load: LoadPair, kind: str) -> Child:
    port, target = free_port(), load.target
    options = {
        "--model": target.path,
        "--ctx-size": target.n_ctx,
        "--threads": target.n_threads,
        "--port": port,
        "--spec-type": kind,
    }
    script = str(Path(__file__).with_name("current.py"))
    return Child("xllamacpp", [interpreter, script, *flat(options)], port)


def ours(
    load: LoadPair,
    home: Path,
    strategy: str,
    more: Sequence[str] = (),
    python: str = sys.executable,
) -> Child:
    """Return `paceline serve` for a model, which is not started yet.

    Args:
        load: The model and how it is loaded.
        home: Folder for its files.
        strategy: Its drafting strategy.
        more: Further options.
        python: The interpreter of its environment.
    """
    port = free_port()
    options = options_of_ours(load) | {"--strategy": strategy, "--port": port}
    command = [python, "-m", "paceline", "serve", *flat(options), *more]
    return Child("paceline serve", command, port, {"PACELINE_HOME": str(home)})


def options_of_ours(load: LoadPair) -> dict[str, Any]:
    """Return the options with which a command of ours loads a model."""
    target = load.target
    kernels = {} if load.kernels == "auto" else {"--kernels": load.kernels}
    return {
        "--target": target.path,
        "--ctx": target.n_ctx,
        "--threads": target.n_threads,
        "--threads-batch": target.n_threads_batch,
        "--gpu-layers": 0,
        **kernels,
    }


def flat(options: dict[str, Any]) -> list[str]:
    """Return options as the arguments of a command."""
    return [str(part) for pair in options.items() for part in pair]


def as_json(answer: Answer) -> dict[str, Any]:
    """Return everything about an answer but its text."""
    return {key: value for key, value in asdict(answer).items() if key != "text"}
