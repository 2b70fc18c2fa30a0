"""A worker that answers every text by itself; its process imports as little as can be."""

from __future__ import annotations

import socket

from paceline.workers.child import ChildPipe, serve
from paceline.workers.frames import WireError
from paceline.workers.process import Language


def run_echo(pipe: socket.socket) -> None:
    """Answer every text by itself."""
    serve(ChildPipe(pipe), str, bytes.decode, str.encode)


def _text(payload: bytes) -> str:
    try:
        return payload.decode()
    except UnicodeDecodeError as error:
        raise WireError(str(error)) from None


LANGUAGE = Language("paceline-echo", str.encode, _text)
