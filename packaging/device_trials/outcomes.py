"""The outcome of one start of the program, and its differences from another one.

A `Case` is the options of `paceline chat` in two parts: those that say what is computed, and those
that say where. The same case without the second part, on the processor, is what it is compared
with. Each start is a process of its own, since llama.cpp may end it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

PACKAGING = Path(__file__).resolve().parent.parent
PROMPT = "What does os.path.join do?"
N_TOKENS = 24
USUAL = ("--temperature", "0", "--seed", "1", "--max-tokens", str(N_TOKENS), "--threads", "1")
DEATH = re.compile(r"crashed|gave up|process ended|engine ended|Traceback|does not answer any more")
"""Texts in the output of a program whose engine died, or that has a bug."""


@dataclass(frozen=True)
class Case:
    """Options of `paceline chat`.

    Attributes:
        name: Unique name for people.
        what: The options that say what is computed.
        where: The options that say on which devices.
        n_devices: Devices that the program sees.
    """

    name: str
    what: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    n_devices: int = 1


class Outcome(NamedTuple):
    """The outcome of a start: a reply, a refusal in words, or a failure that ends the trials.

    Attributes:
        tokens: Tokens of the reply; empty if there is none.
        words: The message of the refusal or the failure.
        has_failed: It crashed, hung or ended without a word.
    """

    tokens: tuple[int, ...] = ()
    words: str = ""
    has_failed: bool = False


class Rows(NamedTuple):
    """Logits of the same tokens, and what decodes took; see `rows_child`.

    Attributes:
        logits: float32 [tokens, vocabulary].
        seconds: Seconds by width.
    """

    logits: np.ndarray
    seconds: tuple[float, ...]


def reply(options: Sequence[str], variables: Mapping[str, str], limit_s: float) -> Outcome:
    """Let the program reply, and return the outcome."""
    words = ["chat", "--json", "--prompt", PROMPT, *USUAL, *options]
    code, output, errors = _run(["-m", "paceline", *words], variables, limit_s)
    if code is None:
        return Outcome(words=f"no end after {limit_s:.0f} s", has_failed=True)
    for line in output.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("event") == "finished" and code == 0:
            return Outcome(tuple(event["tokens"]))
    said = _last_words(errors)
    if code < 0 or code not in (1, 2) or DEATH.search(errors) or not said:
        return Outcome(words=f"exit code {code}: {said or 'without a word'}", has_failed=True)
    return Outcome(words=said)


def rows(
    options: Sequence[str], tokens: Sequence[int], variables: Mapping[str, str], limit_s: float
) -> Rows | str:
    """Decode the tokens in the target's context; return the rows, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        ids, out = Path(folder, "tokens.json"), Path(folder, "rows.npz")
        ids.write_text(json.dumps(list(tokens)))
        words = [str(out), "--prompt-tokens", str(ids), *USUAL, *options]
        command = ["-m", "device_trials.rows_child", *words]
        code, _, errors = _run(command, variables, limit_s)
        if code != 0:
            return f"no rows (exit code {code}): {_last_words(errors)}"
        with np.load(out) as found:
            return Rows(found["rows"], tuple(float(each) for each in found["seconds"]))


def told(found: Outcome, usual: Outcome, *two: Rows | str) -> str:
    """Return in words how a case's outcome differs from that of the processor.

    Args:
        found: The case's.
        usual: The processor's.
        two: Rows of both, where they were asked for.
    """
    if found.has_failed:
        return f"FAILED: {found.words}"
    if not found.tokens:
        also = "" if usual.tokens else "; so does the processor"
        return f"refused: {found.words}{also}"
    if not usual.tokens:
        return f"replied, which the processor did not: {usual.words}"
    where = first_difference(found.tokens, usual.tokens)
    text = "equal" if where is None else f"differs at token {where}"
    return f"{text}; {_told_rows(*two)}" if two else text


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """Return the index of the first different token, or None if there is none."""
    for i, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return i
    return None if len(one) == len(other) else min(len(one), len(other))


def _told_rows(one: Rows | str, other: Rows | str) -> str:
    if isinstance(one, str) or isinstance(other, str):
        return one if isinstance(one, str) else str(other)
    if not (np.isfinite(one.logits).all() and np.isfinite(other.logits).all()):
        return "rows with NaN or infinities"
    most = float(np.abs(one.logits - other.logits).max())
    if most == 0:
        return "logits equal"
    same = int((one.logits.argmax(1) == other.logits.argmax(1)).sum())
    return f"logits by up to {most:.2g}, {same} of {len(one.logits)} with the same likeliest token"


def _last_words(errors: str) -> str:
    """Return the program's error message without llama.cpp's output, or the last line."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    started = [i for i, line in enumerate(lines) if line.startswith(("paceline: ", "Error: "))]
    return " ".join(lines[started[-1] :] if started else lines[-1:])[:300]


def _run(
    words: list[str], variables: Mapping[str, str], limit_s: float
) -> tuple[int | None, str, str]:
    """Run a Python child; the exit code is None if it exceeded the time limit."""
    paths = filter(None, (str(PACKAGING), variables.get("PYTHONPATH")))
    more = {"PYTHONPATH": os.pathsep.join(paths), "PACELINE_KERNELS": "stock"}
    command = [sys.executable, *words]
    try:
        done = subprocess.run(
            command,
            env={**variables, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout, done.stderr
