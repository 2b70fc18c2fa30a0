"""Description of the native library by a process of its own, which loads no model."""

from __future__ import annotations

import socket
from contextlib import closing

from paceline.hosting.wire import decode_command, decode_upward, encode_message
from paceline.messages import Command, DescribeEngine, EngineDescribed
from paceline.workers.child import ChildPipe, serve
from paceline.workers.frames import WireError
from paceline.workers.process import Language
from paceline.workers.worker import Worker


def describe_engine(seconds: float, servers: tuple[str, ...] = ()) -> EngineDescribed:
    """Return the native library's description of itself, without loading it here.

    Args:
        servers: RPC servers that are asked for their devices, as HOST:PORT.
        seconds: Time limit for the process's start, and again for its answer.

    Raises:
        NoAnswerError: The process did not answer.
    """
    worker = Worker(run_description, description_language(), start_s=seconds)
    with closing(worker):
        return worker.ask(DescribeEngine(servers), seconds)


def description_language() -> Language[Command, EngineDescribed]:
    """Return the messages that are exchanged with the process."""
    return Language("paceline-description", encode_message, _described)


def _described(payload: bytes) -> EngineDescribed:
    answer = decode_upward(payload)
    if not isinstance(answer, EngineDescribed):
        raise WireError("no description")
    return answer


def run_description(pipe: socket.socket) -> None:
    """Run the process; never returns."""
    from paceline.engine.native import llama_backend, report_aborts

    line = ChildPipe(pipe)
    report_aborts(line.send_last)

    def describe(question: Command) -> EngineDescribed:
        assert isinstance(question, DescribeEngine)
        return llama_backend().describe(question.servers)

    serve(line, describe, decode_command, encode_message)
