"""Sending a file or a range of it, as fast and as whole as the faults allow."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from hub_server.repositories import RepoFile

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

    from hub_server.server import HubServer, Request


@dataclass(frozen=True)
class Content:
    """A file as an answer."""

    file: RepoFile
    headers: Mapping[str, str]


def send(
    handler: BaseHTTPRequestHandler, request: Request, content: Content, hub: HubServer
) -> None:
    """Answer HEAD or GET for a file."""
    fault = hub.faults_of(request, content=True)
    n_bytes = content.file.n_bytes
    part = None if fault.ignores_range else _part(request.headers.get("range", ""), n_bytes)
    if part == (0, 0) and n_bytes:
        _begin(handler, request, 416, {"Content-Range": f"bytes */{n_bytes}"}, 0)
        return
    start, end = part or (0, n_bytes)
    headers = dict(content.headers)
    if fault.ignores_range:
        headers.pop("Accept-Ranges", None)
    if part:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{n_bytes}"
    headers.setdefault("Content-Type", "application/octet-stream")
    request.start = start
    _begin(handler, request, 206 if part else 200, headers, end - start)
    if handler.command == "HEAD":
        return
    stop = end if fault.drop_after is None else min(end, start + fault.drop_after)
    began = time.monotonic()
    pause = stop if fault.holds_after is None else min(stop, start + fault.holds_after)
    for chunk in chain(content.file.read(start, pause), _held(hub, content.file, pause, stop)):
        sent = _damaged(chunk, start + request.n_sent, fault.wrong_byte_at)
        request.n_sent += len(chunk)  # before: a client that has it all may look at once
        try:
            handler.wfile.write(sent)
        except OSError:
            request.n_sent -= len(chunk)
            raise
        if fault.bytes_per_s:
            due = began + request.n_sent / fault.bytes_per_s
            hub.closing.wait(max(0.0, due - time.monotonic()))
        if hub.closing.is_set():
            stop = start + request.n_sent
            break
    if stop < end:
        handler.close_connection = True


def _held(hub: HubServer, file: RepoFile, start: int, stop: int) -> Iterator[bytes]:
    """Yield the rest of a file once it is let go."""
    if start < stop:
        hub.hold()
        yield from file.read(start, stop)


def _begin(
    handler: BaseHTTPRequestHandler,
    request: Request,
    status: int,
    headers: Mapping[str, str],
    n_bytes: int,
) -> None:
    request.status = status
    handler.send_response(status)
    for name, text in headers.items():
        handler.send_header(name, text)
    handler.send_header("Content-Length", str(n_bytes))
    handler.end_headers()


def _part(text: str, n_bytes: int) -> tuple[int, int] | None:
    """Return start and end of a range; None for the whole file, (0, 0) for bytes beyond its end."""
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", text)
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return max(0, n_bytes - int(found[2])), n_bytes
    start = int(found[1])
    end = min(n_bytes, int(found[2]) + 1) if found[2] else n_bytes
    return (start, end) if start < end else (0, 0)


def _damaged(chunk: bytes, start: int, at: int | None) -> bytes:
    if at is None or not start <= at < start + len(chunk):
        return chunk
    i = at - start
    return chunk[:i] + bytes([chunk[i] ^ 0xFF]) + chunk[i + 1 :]
