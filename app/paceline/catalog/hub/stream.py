"""Bytes of a file on the Hub as they arrive, of a range."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paceline.catalog.hub import errors
from paceline.catalog.hub.errand import Errand

if TYPE_CHECKING:
    import httpx2

_CHUNK = 1 << 20
MAX_DELAY_S = 0.25
"""Seconds after which the bytes so far are passed on, however few they are."""
_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")


@dataclass(frozen=True, slots=True)
class Location:
    """The address of a file's bytes, and their size and hash.

    Attributes:
        url: Their address; on another host it is signed and valid for about an hour.
        n_bytes: Size of the file, or 0 if not known yet.
        etag: Changes with the content.
        sha256: Hash of the content; empty if the Hub has none.
        commit: The revision that it belongs to, 40 hex digits, or empty.
        hub_url: The address on the Hub, which redirects to `url`; used when `url` has expired.
    """

    url: str
    n_bytes: int
    etag: str
    sha256: str
    commit: str
    hub_url: str = ""


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The response before its bytes.

    Attributes:
        start: Index of their first byte; 0 if the server does not support ranges.
        n_bytes: Size of the whole file, or 0 if the server does not say.
    """

    start: int
    n_bytes: int


class Body:
    """Bytes of a file, in chunks of 1 MiB at most; iterate once."""

    def __init__(self, head: ResponseHead, chunks: Iterator[bytes | ResponseHead]) -> None:
        self.start = head.start
        self.n_bytes = head.n_bytes
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            assert isinstance(chunk, bytes)
            yield chunk


def read(
    location: Location, start: int, end: int | None
) -> Generator[ResponseHead | bytes, None, None]:
    """Yield the head and then the bytes; for the thread of an errand.

    Args:
        location: Their address.
        start: First byte.
        end: After the last one; None means to the end of the file.

    Raises:
        HubError: They cannot be downloaded, or are those of another file.
    """
    from paceline.catalog.hub.session import hub_session

    headers = {"accept-encoding": "identity"}  # ranges count the bytes of the file itself
    if start or end is not None:
        headers["range"] = f"bytes={start}-{'' if end is None else end - 1}"
    session = hub_session()

    def get(url: str) -> httpx2.Response:
        return session.send(session.build_request("GET", url, headers=headers), stream=True)

    try:
        response = get(location.url)
    except errors.HubError as error:
        if error.code != "location-expired" or not location.hub_url:
            raise
        response = get(location.hub_url)
    host = response.request.url.netloc.decode("ascii")
    try:
        head = _head(response, location, start, end)
        yield head
        wanted = None if end is None else end - head.start
        yield from _chunks(response, host, wanted)
    finally:
        response.close()


def _head(
    response: httpx2.Response, location: Location, start: int, end: int | None
) -> ResponseHead:
    host = response.request.url.netloc.decode("ascii")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise errors.bad_answer(host, "the file came compressed")
    if response.status_code == 206:
        found = _RANGE.fullmatch(response.headers.get("content-range", ""))
        if found is None or int(found[1]) != start:
            raise errors.bad_answer(host, "another part of the file came than was asked for")
        if end is not None and int(found[2]) >= end:
            raise errors.bad_answer(host, "more came than was asked for")
        head = ResponseHead(start, int(found[3]) if found[3] != "*" else 0)
    elif response.status_code == 200:
        length = response.headers.get("content-length", "")
        head = ResponseHead(0, int(length) if length.isdigit() else 0)
    else:
        raise errors.bad_answer(host, "status {status_code}", status_code=response.status_code)
    if "html" in response.headers.get("content-type", "") and not location.url.endswith(".html"):
        raise errors.bad_answer(host, "a web page came instead of the file")
    if location.n_bytes and head.n_bytes and head.n_bytes != location.n_bytes:
        raise errors.HubError(
            "file-changed",
            "The file on the Hub has changed meanwhile.",
            "Start the download again.",
        )
    return head


def _chunks(response: httpx2.Response, host: str, wanted: int | None) -> Iterator[bytes]:
    """Yield what arrives; what came before a connection broke is yielded, too."""
    import httpx2

    thread = threading.current_thread()
    waiting, n_waiting, since = [], 0, time.monotonic()
    n_left = wanted
    failure: errors.HubError | None = None
    pieces = response.iter_raw()
    while n_left is None or n_left > 0:
        try:
            piece = next(pieces, b"")
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            failure = errors.from_exception(error, host)
            break
        if isinstance(thread, Errand):
            thread.check()
        if not piece:
            break
        if n_left is not None:
            piece = piece[:n_left]  # a server without ranges sends the whole file
            n_left -= len(piece)
        waiting.append(piece)
        n_waiting += len(piece)
        if n_waiting >= _CHUNK or time.monotonic() - since > MAX_DELAY_S:
            yield b"".join(waiting)
            waiting, n_waiting, since = [], 0, time.monotonic()
    if waiting:
        yield b"".join(waiting)
    if failure is not None:
        raise failure
