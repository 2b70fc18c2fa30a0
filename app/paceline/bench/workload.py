"""Workloads of a benchmark: prompts with their sampling, one JSON object per line of a file.

    {"name": "question", "messages": [{"role": "user", "content": "…"}], "max_tokens": 64,
     "temperature": 0, "seed": 1}

``messages`` or ``prompt_tokens`` is the prompt; with ``"raw": true`` the messages' texts are
continued without a chat template. ``max_tokens``, ``temperature``, ``top_k``, ``top_p``, ``min_p``,
``seed`` and ``ignore_eog`` say how the reply is drawn and when it ends; what is left out is as in
`paceline chat`, and the seed is 1, so that every repeat draws the same reply. ``earlier`` is the
reply that this one replaces, ``{"tokens": […]}`` or ``{"text": "…"}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from paceline.chat.prompt import (
    PromptDataError,
    is_unicode,
    read_conversation,
    read_earlier,
    read_token_ids,
)
from paceline.codec import CodecError, decode, made_of
from paceline.engine.draft.strategy import read_strategy
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.files import open_ordinary
from paceline.messages import (
    Chat,
    EarlierReply,
    Prompt,
    RawText,
    SamplingParams,
    StartTurn,
    Tokens,
)
from paceline.parameters import check_fields
from paceline.params import ReplySettings
from paceline.paths import resources

MAX_BYTES = 20_000_000
_SAMPLING = ("temperature", "top_k", "top_p", "min_p")
_MAX_TOKENS = 1024  # as in `paceline chat`
_LIMITS = ("max_tokens", "seed")
_KEYS = (
    "name", "messages", "prompt_tokens", *_SAMPLING, *_LIMITS, "raw", "ignore_eog", "earlier",
)  # fmt: skip
_SEED = 1
_MAX_NAME_CHARS = 60


@dataclass(frozen=True, slots=True)
class Workload:
    """One prompt and how its reply is drawn.

    Attributes:
        name: Its name in reports; unique in a benchmark.
        prompt: The prompt.
        max_tokens: Upper bound of the reply's tokens.
        sampling: Sampling settings.
        seed: Seed of the sampling noise; the same in every repeat.
        ignore_eog: Whether the reply continues to `max_tokens` in any case.
        earlier: The reply that it replaces, or empty if it replaces none.
    """

    name: str
    prompt: Prompt
    max_tokens: int = _MAX_TOKENS
    sampling: SamplingParams = field(default_factory=SamplingParams)
    seed: int = _SEED
    ignore_eog: bool = False
    earlier: tuple[EarlierReply, ...] = ()

    def turn(self, strategy: str, most: int | None = None) -> StartTurn:
        """Return the command that generates the reply.

        Args:
            strategy: A text that `read_strategy` takes.
            most: Upper bound of the tokens; None means the workload's.
        """
        n_tokens = self.max_tokens if most is None else min(most, self.max_tokens)
        return made_of(
            StartTurn,
            self,
            strategy=read_strategy(strategy),
            max_tokens=n_tokens,
        )


class WorkloadError(UserError):
    """A line is no workload; the message has its number."""

    exit_code = 2


def shipped_workloads(name: str = "standard") -> Path:
    """Return a file that comes with the program: ``standard`` or ``held_out``."""
    return resources() / "benchmarks" / f"{name}.jsonl"


def read_workloads(path: Path) -> tuple[Workload, ...]:
    """Return the workloads of a file, in its order.

    Raises:
        WorkloadError: A line is invalid, or the file has no lines.
        UserError: The file cannot be read.
    """
    try:
        with open_ordinary(path) as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError(
            "file-unreadable",
            f"{path} cannot be read ({error.strerror}).",
            "Give a file with one JSON object per line.",
        ) from error
    if len(raw) > MAX_BYTES:
        raise WorkloadError(
            "bad-workload", f"{path} is larger than {MAX_BYTES // 10**6} MB.", "Split it."
        )
    found: dict[str, Workload] = {}
    for number, line in _lines(raw, path):
        workload = _workload(line, number, path)
        if workload.name in found:
            _refuse(number, path, f"the name {workload.name!r} is given twice", "Choose another.")
        found[workload.name] = workload
    if not found:
        raise WorkloadError(
            "bad-workload", f"{path} has no workload.", "Write one JSON object per line."
        )
    return tuple(found.values())


def _lines(raw: bytes, path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers from 1."""
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            _refuse(number, path, f"byte {error.start + 1} is not UTF-8", "Save it as UTF-8.")
        if text.strip():
            yield number, text


def _workload(line: str, number: int, path: Path) -> Workload:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        _refuse(number, path, f"it is not JSON ({error})")
    try:
        return parse_workload(data)
    except PromptDataError as error:
        wrong = error.message.rstrip(".")
        _refuse(number, path, f"{wrong[:1].lower()}{wrong[1:]}", error.hint)


def parse_workload(data: object) -> Workload:
    """Return the workload that one line's JSON is.

    Raises:
        PromptDataError: It is no workload.
    """
    if not isinstance(data, dict):
        raise PromptDataError("It is not a JSON object.")
    unknown = sorted(data.keys() - set(_KEYS))
    if unknown:
        raise PromptDataError(
            f"The key {unknown[0]!r:.40} is not known.", f"There are {', '.join(_KEYS)}."
        )
    given = [key for key in ("messages", "prompt_tokens") if data.get(key) is not None]
    if len(given) != 1:
        has = "both messages and prompt_tokens" if given else "neither messages nor prompt_tokens"
        raise PromptDataError(f"It has {has}.", "Give one of them.")
    is_raw = _flag(data, "raw")
    prompt: Prompt
    if given == ["prompt_tokens"]:
        prompt = Tokens(read_token_ids(data["prompt_tokens"], "in prompt_tokens"))
    else:
        messages = read_conversation(data["messages"], "in messages")
        texts = (message.text for message in messages)
        prompt = RawText("".join(texts)) if is_raw else Chat(messages)
    earlier, reply = data.get("earlier"), _reply(data)
    return Workload(
        _name(data),
        prompt,
        reply.max_tokens,
        reply.sampling,
        _SEED if reply.seed is None else reply.seed,
        _flag(data, "ignore_eog"),
        (read_earlier(earlier, "in earlier"),) if earlier is not None else (),
    )


def _name(data: dict[str, Any]) -> str:
    name = data.get("name")
    if not isinstance(name, str) or not name.strip() or not is_unicode(name):
        raise PromptDataError("It has no name.", 'Add "name": "…".')
    if len(name) > _MAX_NAME_CHARS or not name.isprintable():
        raise PromptDataError(
            f"Its name is not one line of at most {_MAX_NAME_CHARS} characters.", "Choose another."
        )
    return name.strip()


def _flag(data: dict[str, Any], key: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise PromptDataError(f"Its {key} is {value!r:.40}, not true or false.")
    return value


def _reply(data: dict[str, Any]) -> ReplySettings:
    """Return the sampling settings of the reply.

    Raises:
        PromptDataError: A value is invalid.
    """
    given = {key: data[key] for key in (*_SAMPLING, *_LIMITS) if data.get(key) is not None}
    drawn = {key: given.pop(key) for key in _SAMPLING if key in given}
    try:
        sampling = decode(SamplingParams, drawn)
        reply = replace(decode(ReplySettings, given), sampling=sampling)
        check_fields(reply, by_name=True)
    except CodecError as error:
        raise PromptDataError(f"Its {error}.") from None
    except ValueOutOfRangeError as error:
        raise PromptDataError(error.message, error.hint) from None
    return reply


def _refuse(number: int, path: Path, what: str, hint: str = "") -> NoReturn:
    raise WorkloadError("bad-workload", f"Line {number} of {path} is wrong: {what}.", hint)
