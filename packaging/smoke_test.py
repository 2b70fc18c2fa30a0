#!/usr/bin/env python3
"""Run a program of Paceline's through its life, in a home of its own that is deleted afterwards.

    python3 packaging/smoke_test.py dist/paceline-VERSION-linux-x86_64/paceline
    python3 packaging/smoke_test.py --root DIR chroot DIR /usr/bin/paceline

Each step is a line with its seconds and its figures. The first step that fails ends the test: its
output comes on stderr, and the exit code is 1. It needs no network. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PATIENCE = 300.0  # seconds for one command; ten times what a slow machine takes
PNG = b"\x89PNG\r\n\x1a\n"
QUESTION = "What does the function len do?"
SCHEMA = {
    **{"type": "object", "properties": {"n": {"enum": [1, 2]}}},
    **{"required": ["n"], "additionalProperties": False},
}


class SmokeError(Exception):
    """A step that went wrong: one sentence, and what the program printed."""

    def __init__(self, text: str, output: str = "") -> None:
        super().__init__(text)
        self.output = output


class Place(NamedTuple):
    """A folder as this script sees it and as the program does, which may run in another root.

    Attributes:
        here: The path for this script.
        there: The path for the program.
    """

    here: Path
    there: str

    def file(self, name: str) -> Place:
        """Return a file or folder in it."""
        return Place(self.here / name, f"{self.there}/{name}")


class Program:
    """The program under test.

    Args:
        words: The command that starts it.
        home: All files that it writes come into this folder.
    """

    def __init__(self, words: Sequence[str], home: Place) -> None:
        self.words = list(words)
        self.home = home
        self.variables = {
            **os.environ,
            "PACELINE_HOME": home.there,
            # Nothing of this is the program's own; another platform than these has a screen.
            **({"QT_QPA_PLATFORM": "offscreen"} if sys.platform == "linux" else {}),
            "HF_ENDPOINT": "http://127.0.0.1:9",  # no server answers there
        }

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command to its end.

        Raises:
            SmokeError: It cannot be started, hangs, or ends with another code.
        """
        command = [*self.words, *arguments]
        try:
            done = subprocess.run(
                command, env=self.variables, stdin=subprocess.DEVNULL, capture_output=True,
                encoding="utf-8", errors="replace", timeout=PATIENCE, check=False,
            )  # fmt: skip
        except OSError as error:
            raise SmokeError(f"{command[0]} cannot be started: {error}") from error
        except subprocess.TimeoutExpired as error:
            said = b"".join(filter(None, (error.stdout, error.stderr))).decode(errors="replace")
            raise SmokeError(f"No end after {PATIENCE:.0f} s.", said) from error
        if done.returncode != code:
            text = f"The exit code is {done.returncode}, not {code}."
            raise SmokeError(text, done.stdout + done.stderr)
        return done

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[dict[str, Any]]:
        """Start a command that serves; yields what it says when it is ready, and ends it.

        Raises:
            SmokeError: It does not get ready, or does not end with code 0 when it is asked to.
        """
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            process = subprocess.Popen(
                [*self.words, *arguments], env=self.variables, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=errors, encoding="utf-8",
            )  # fmt: skip
            with process:
                try:
                    ready = _first_line(process)
                    yield json.loads(ready)
                except (ValueError, OSError) as error:
                    process.kill()
                    errors.seek(0)
                    raise SmokeError(f"It does not serve: {error}", errors.read()) from error
                finally:
                    process.terminate()
                    code: int | None
                    try:
                        code = process.wait(60)
                    except subprocess.TimeoutExpired:
                        process.kill()
                        code = None
            if code and sys.platform != "win32":  # where a program is ended without being asked
                errors.seek(0)
                raise SmokeError(f"It ended with code {code}, not 0.", errors.read())
            if code is None:
                raise SmokeError("It does not end.")


def _first_line(process: subprocess.Popen[str]) -> str:
    """Return the first line that a program prints, or "" where none comes in time."""
    lines: queue.Queue[str] = queue.Queue()
    output = process.stdout
    assert output is not None
    threading.Thread(target=lambda: lines.put(output.readline()), daemon=True).start()
    try:
        return lines.get(timeout=PATIENCE)
    except queue.Empty:
        return ""


def need(truth: object, text: str, output: object = "") -> None:
    """Raise a SmokeError with a sentence and what there is instead, unless something is true."""
    if not truth:
        raise SmokeError(text, output if isinstance(output, str) else json.dumps(output, indent=1))


def say_version(program: Program) -> str:
    """Ask for the version."""
    told = program.run("--version").stdout.strip()
    need(re.fullmatch(r"paceline \d+\.\d+\.\S+", told), "That is no version.", told)
    return told


def run_doctor(program: Program) -> str:
    """Ask what there is: llama.cpp for this processor, native code, and every child process."""
    report = json.loads(program.run("doctor", "--json").stdout)
    library, kernels, sampling = report["library"], report["kernels"], report["sampling"]
    need("error" not in library, "llama.cpp cannot be loaded.", library)
    need(report["engine_process"]["starts"], "The engine does not start.", report["engine_process"])
    children = report["children"]
    need(children, "No child process was tried.", report)
    for child in children:
        need(child["starts"], f"The child process “{child['name']}” does not start.", child)
    need(not report["problems"], "There are problems.", report["problems"])
    is_native = sampling["choice"] == "native"
    is_package = report["installation"].startswith("package")  # others need not have compiled it
    need(is_native or not is_package, "Sampling is not in native code.", sampling)
    n_proved = len(kernels["proved"])
    proved = f"{n_proved} of {n_proved + len(kernels['refused'])} proved"
    proved = proved if kernels["available"] else "none here"
    variant = library.get("cpu_variant") or "one for all processors"
    drawn = f"native, {sampling['isa']}" if is_native else "in Python"
    return (
        f"variant {variant}; kernels: {proved}; sampling: {drawn}; "
        f"{len(children)} child processes start"
    )


def run_chat(program: Program) -> str:
    """Let the demo pair reply without drafts and with them: the text must be the same."""
    replies = {}
    for strategy in ("off", "draft:n_max=4"):
        words = ["--prompt", QUESTION, "--temperature", "0", "--max-tokens", "60", "--exact"]
        told = program.run("chat", "--json", "--strategy", strategy, *words).stdout
        replies[strategy] = json.loads(told.splitlines()[-1])
    plain, drafted = replies.values()
    need(plain["text"] and plain["text"] == drafted["text"], "The texts differ.", replies)
    figures = drafted["stats"]
    need(figures["n_accepted"], "No draft was accepted.", figures)
    speeds = " and ".join(f"{each['stats']['tokens_per_s']:.0f}" for each in replies.values())
    accepted = f"{figures['n_accepted']} of {figures['n_drafted']} drafted tokens accepted"
    return f"same text with and without drafts; {speeds} tokens/s; {accepted}"


def keep_schema(program: Program) -> str:
    """Let a reply be held to a JSON schema."""
    schema = program.home.file("schema.json")
    schema.here.write_text(json.dumps(SCHEMA), "utf-8")
    words = ["--json-schema", schema.there, "--prompt", "One or two?", "--seed", "1"]
    text = program.run("chat", *words).stdout.strip()
    need(json.loads(text)["n"] in (1, 2), "The reply is not of the schema.", text)
    return text


def judge_pair(program: Program) -> str:
    """Let a process of its own read two model files, and draft across their tokenizers."""
    report = json.loads(program.run("doctor", "--json").stdout)["demo_pair"]
    files = [report[role]["path"] for role in ("target", "draft")]
    verdict = json.loads(program.run("pairs", "check", *files, "--json").stdout)
    need(verdict["ok"], "The demo pair does not go together.", verdict)
    return ", ".join(reason["code"] for reason in verdict["reasons"])


def miss_the_hub(program: Program) -> str:
    """Ask a Hub that does not exist, which prints one sentence."""
    told = program.run("hub", "search", "qwen", code=1).stderr.strip()
    need("cannot be reached" in told and "\n" not in told, "That is not one sentence.", told)
    return told


def answer_by_http(program: Program) -> str:
    """Serve one reply over HTTP, and end when asked to."""
    with program.serving("serve", "--port", "0", "--json") as ready:
        need(ready.get("event") == "listening", "It is not listening.", ready)
        asked = {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": 16, "seed": 1}
        request = urllib.request.Request(
            ready["url"] + "/v1/chat/completions",
            json.dumps(asked).encode(),
            {"Content-Type": "application/json"},
        )
        # A proxy of the environment is for others.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=PATIENCE) as response:
            reply = json.load(response)
    text = reply["choices"][0]["message"]["content"]
    need(text, "The reply is empty.", reply)
    return f"{reply['usage']['completion_tokens']} tokens by {reply['model']}"


def lend_devices(program: Program) -> str:
    """Lend this machine's devices to others, and end when asked to."""
    with program.serving("rpc-server", "--port", "0", "--json") as ready:
        need(ready.get("event") == "listening" and ready["devices"], "It lends nothing.", ready)
        return f"{', '.join(ready['devices'])} at {ready['endpoint']}"


def open_window(program: Program) -> str:
    """Open the real window, let the demo pair reply in it, and take a picture."""
    picture = program.home.file("window.png")
    told = program.run("--smoke-test", picture.there).stdout
    figures = json.loads(told.splitlines()[-1])
    need(figures["n_accepted"] and figures["text"], "The reply is empty.", figures)
    content = picture.here.read_bytes()
    need(content.startswith(PNG) and len(content) > 20_000, "There is no picture.", told)
    return f"{figures['tokens_per_s']:.0f} tokens/s; a picture of {len(content) / 1e3:.0f} kB"


STEPS: dict[str, Callable[[Program], str]] = {
    "--version": say_version,
    "chat": run_chat,
    "doctor": run_doctor,  # by now the kernels have proved themselves
    "chat --json-schema": keep_schema,
    "pairs check": judge_pair,
    "hub search": miss_the_hub,
    "serve": answer_by_http,
    "rpc-server": lend_devices,
    "--smoke-test": open_window,
}


def smoke_test(words: Sequence[str], root: str = "") -> int:
    """Run every step; returns the exit code.

    Args:
        words: The command that starts the program.
        root: Root folder of the program's file system, or empty if it is this script's.
    """
    parent = Path(root or "/", "tmp") if root else None
    with tempfile.TemporaryDirectory(prefix="paceline smoke ", dir=parent) as name:
        here = Path(name)
        there = "/" + here.relative_to(root).as_posix() if root else name
        program = Program(words, Place(here, there))
        begun = time.monotonic()
        for title, step in STEPS.items():
            started = time.monotonic()
            try:
                figures = step(program)
            except (SmokeError, LookupError, TypeError, ValueError, OSError) as error:
                print(f"{title:20} FAILED  {error!r}", flush=True)
                print(getattr(error, "output", "") or "(no output)", file=sys.stderr, flush=True)
                return 1
            print(f"{title:20} {time.monotonic() - started:6.1f} s  {figures}", flush=True)
        print(f"{'all':20} {time.monotonic() - begun:6.1f} s", flush=True)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and run the test; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    root = "the folder that is / for the program, where the command changes that"
    parser.add_argument("--root", metavar="DIR", default="", help=root)
    words = "the program, with words before it where it takes some to start it"
    parser.add_argument("program", metavar="WORD", nargs=argparse.REMAINDER, help=words)
    options = parser.parse_args(arguments)
    if not options.program:
        parser.error("name the program: smoke_test.py PROGRAM")
    if options.root and not Path(options.root, "tmp").is_dir():
        parser.error(f"there is no folder {Path(options.root, 'tmp')}")
    return smoke_test(options.program, options.root and str(Path(options.root).resolve()))


if __name__ == "__main__":
    sys.exit(main())
