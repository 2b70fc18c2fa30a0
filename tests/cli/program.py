"""The program, run within the test or as a process of its own.

Most tests ask for words, values and exit codes: `paceline` and `chat` run the program's `main` in
the test's own process, which takes a twentieth of the time. What hangs on a process (signals,
pipes, encodings, what an interpreter imports, native output) is tested by `paceline_process`.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paceline.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

COMMAND = (sys.executable, "-m", "paceline")
TIMEOUT_S = 60


@dataclass(frozen=True)
class Result:
    """The output and exit code of a run of the program."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Stdout as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def finished(self) -> dict[str, Any]:
        """The last object, which must be a finished reply."""
        last = self.objects[-1]
        assert last["event"] == "finished", last
        return last


def paceline(
    *arguments: str | Path, environ: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Result:
    """Run `paceline` to its end, in this process."""
    out, err = _stream(), _stream()
    logger = logging.getLogger("paceline")
    # The program reports a warning to its own user; the test's log recorder is for other tests.
    handlers, logger.handlers = logger.handlers, []
    before = dict(os.environ)
    os.environ.update(environ or {})
    try:
        with (
            contextlib.chdir(cwd or "."),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = _exit_code([str(argument) for argument in arguments])
    finally:
        os.environ.clear()
        os.environ.update(before)
        logger.handlers = handlers
    return Result(code, _text(out), _text(err))


def _exit_code(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace", newline="")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def paceline_process(
    *arguments: str | Path, environ: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Result:
    """Run `paceline` to its end, as a process of its own."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env={**os.environ, **(environ or {})},
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_S,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def running(
    *arguments: str | Path,
    environ: Mapping[str, str] | None = None,
    command: Sequence[str] = COMMAND,
) -> Iterator[subprocess.Popen[str]]:
    """Run `paceline`, or another command, as a process that the block meets under way."""
    process = subprocess.Popen(
        [*command, *map(str, arguments)],
        env={**os.environ, **(environ or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def interrupted(
    *arguments: str | Path, environ: Mapping[str, str], is_time: Callable[[], object]
) -> Result:
    """Run `paceline` and press Ctrl+C when it is time; it has 10 s to end."""
    with running(*arguments, environ=environ) as process:
        until = time.monotonic() + TIMEOUT_S
        while not (now := is_time()) and time.monotonic() < until:
            time.sleep(0.005)
        assert now
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    return Result(process.returncode, out, err)


def read_start(process: subprocess.Popen[str], n: int | None = None) -> str:
    """Read a line of stdout, or `n` characters, and nothing more: `communicate` gets the rest."""
    assert process.stdout is not None
    decoder, text = codecs.getincrementaldecoder("utf-8")(), ""
    while not text.endswith("\n") if n is None else len(text) < n:
        byte = os.read(process.stdout.fileno(), 1)
        if not byte:
            break
        text += decoder.decode(byte)
    return text


def chat(
    *arguments: str | Path,
    prompt: str | None = "What is a list?",
    run: Callable[..., Result] = paceline,
    **more: Any,
) -> Result:
    """Run `paceline chat --json` with a short reply, or with the given options."""
    defaults: list[str | Path] = ["--json"]
    if prompt is not None:
        defaults += ["--prompt", prompt]
    if "--max-tokens" not in arguments:
        defaults += ["--max-tokens", "24"]
    if "--threads" not in arguments:  # with one thread a reply does not depend on batch widths
        defaults += ["--threads", "1"]
    return run("chat", *defaults, *arguments, **more)


def assert_one_clear_line(result: Result, *words: str, code: int | None = None) -> None:
    """Stderr is one sentence for people, with these words, and says more than a code."""
    assert code in (None, result.code), result.err
    lines = result.err.splitlines()
    assert len(lines) == 1, result.err
    assert lines[0].startswith("paceline: ")
    assert "Traceback" not in result.err
    assert all(each in result.err for each in words), result.err
    assert len(lines[0].split()) >= 4
    assert lines[0].rstrip().endswith((".", ")", "`")), lines[0]
