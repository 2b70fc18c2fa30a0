"""Runs of a packaged program: their output, their first token, and the refusals in one sentence."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from package_trials.report import TrialError, expect

PROMPT = "What does the function len do?"
GREEDY = ("--temperature", "0", "--max-tokens", "24")
USER = 4321
"""The number of an ordinary user, who owns nothing here and has no entry in /etc/passwd."""
LIMIT_S = 180.0


class Ended(NamedTuple):
    """The end of a program.

    Attributes:
        code: Its exit code; that of a signal is negative.
        out: Its stdout.
        err: Its stderr.
        seconds: Seconds from its start to its end.
    """

    code: int
    out: str
    err: str
    seconds: float

    @property
    def last_words(self) -> str:
        """Return the last line that was said, shortened."""
        lines = [line for line in (self.err or self.out).splitlines() if line.strip()]
        return f"exit code {self.code}: {lines[-1].strip()[:300] if lines else 'without a word'}"


class Reply(NamedTuple):
    """A reply of `chat`.

    Attributes:
        tokens: Its ids.
        text: Its text.
        first_s: Seconds from the program's start to the first token.
        stats: The figures that `chat --json` reports.
    """

    tokens: tuple[int, ...]
    text: str
    first_s: float
    stats: Mapping[str, object]


@dataclass(frozen=True)
class Program:
    """A program in a home of its own.

    Attributes:
        words: The command, e.g. `("/opt/paceline/paceline",)`, or one that enters a root first.
        env: All its variables.
        user: Id of the user who runs it, or None for the user who runs the trials.
    """

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    user: int | None = None

    def run(self, *arguments: str, limit_s: float = LIMIT_S) -> Ended:
        """Run it to its end.

        Raises:
            TrialError: There is none within the limit; the program is ended then.
        """
        start = time.monotonic()
        with self.started(*arguments) as process:
            try:
                out, err = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                raise TrialError(f"no end after {limit_s:.0f} s") from None
        return Ended(process.returncode, out, err, time.monotonic() - start)

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Start it; at the end it is killed with all that it has started in its session."""
        with subprocess.Popen(
            [*self.words, *arguments],
            env=self.env,
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user is not None else None,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                kill(process)

    def chat(self, *options: str, prompt: str = PROMPT, limit_s: float = LIMIT_S) -> Reply:
        """Let it reply greedily.

        Raises:
            TrialError: There is no reply.
        """
        words = ("chat", "--json", "--prompt", prompt, *GREEDY, *options)
        start, first_s, last = time.monotonic(), None, None
        with self.started(*words) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            said: list[str] = []
            reader = threading.Thread(target=said.extend, args=(process.stderr,))
            reader.start()
            end = threading.Timer(limit_s, kill, (process,))
            end.start()
            for line in process.stdout:
                event = json.loads(line)
                if event["event"] == "step" and first_s is None:
                    first_s = time.monotonic() - start
                last = event
            code = process.wait()
            is_late = not end.is_alive()
            end.cancel()
            reader.join()
        if is_late:
            raise TrialError(f"no end after {limit_s:.0f} s")
        if code or last is None or last["event"] != "finished" or first_s is None:
            raise TrialError(Ended(code, "", "".join(said) or json.dumps(last), 0.0).last_words)
        return Reply(tuple(last["tokens"]), last["text"], first_s, last["stats"])

    def refused(self, *arguments: str, code: int = 1, limit_s: float = LIMIT_S) -> str:
        """Run what must be refused, and return the sentence.

        Raises:
            TrialError: It was not refused, or not in one clear line.
        """
        return refusal(self.run(*arguments, limit_s=limit_s), code)


def refusal(ended: Ended, code: int = 1) -> str:
    """Return the sentence by which a program has refused what it was to do.

    Raises:
        TrialError: It has not, or not in one clear line.
    """
    expect(ended.code == code, f"{ended.last_words} (in place of a refusal)")
    lines = [line.strip() for line in ended.err.splitlines() if line.strip()]
    expect("Traceback" not in ended.err, f"a traceback: {' '.join(lines[-2:])[-300:]}")
    expect(bool(lines), f"exit code {code} without a word")
    return lines[-1]


def kill(process: subprocess.Popen[str]) -> None:
    """End a program and all of its session, and wait for it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the variables of an ordinary session and these; empty ones are left out."""
    usual = {
        "HOME": str(home),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PACELINE_HOME": str(home / "paceline"),
    }
    return {name: text for name, text in {**usual, **more}.items() if text}


def left_over(home: Path) -> list[int]:
    """Return the processes whose PACELINE_HOME is this one."""
    word = os.fsencode(f"PACELINE_HOME={home}")
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if word in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
        except OSError:  # it has ended, or is another user's
            continue
    return found
