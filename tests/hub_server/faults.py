"""Faults that the server can make, and the requests that they affect."""

from __future__ import annotations

import fnmatch
import threading
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Fault:
    """One misbehaviour.

    Attributes:
        path: Pattern for the address without the query, e.g. ``*/resolve/*`` or ``*.gguf``; the
            second server's addresses end with the file's name, too.
        method: HEAD, GET or POST; ``*``: any.
        host: "hub", "cdn" (the second server) or ``*``.
        times: Number of requests that it affects, or 0 for all.
        skip: Number of requests that it lets pass before.
        status: Answer with this status, without content.
        error_code: ``X-Error-Code`` beside that status.
        retry_after: ``Retry-After`` in seconds beside that status.
        latency_s: Wait before the answer.
        silent: Take the request and never answer.
        html: Answer 200 with a page for people.
        bytes_per_s: Send content at most this fast.
        drop_after: Close the connection after so many bytes of content.
        holds_after: Send so many bytes of content, and the others when the faults are cleared.
        wrong_byte_at: Send this byte of the file wrong.
        ignores_range: Answer 200 with everything, whatever part was asked for.
        etag: Say this instead of the true one.
    """

    path: str = "*"
    method: str = "*"
    host: str = "*"
    times: int = 0
    skip: int = 0
    status: int = 0
    error_code: str = ""
    retry_after: int | None = None
    latency_s: float = 0.0
    silent: bool = False
    html: bool = False
    bytes_per_s: int = 0
    drop_after: int | None = None
    holds_after: int | None = None
    wrong_byte_at: int | None = None
    ignores_range: bool = False
    etag: str = ""

    @property
    def is_about_content(self) -> bool:
        """Return whether it affects only answers with a file's bytes."""
        return bool(
            self.bytes_per_s
            or self.drop_after is not None
            or self.holds_after is not None
            or self.wrong_byte_at is not None
            or self.ignores_range
        )

    def fits(self, method: str, path: str, host: str) -> bool:
        """Return whether it affects a request."""
        return (
            self.method in ("*", method)
            and self.host in ("*", host)
            and fnmatch.fnmatchcase(path, self.path)
        )


class Faults:
    """The faults that are set, and how often each has struck; any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[tuple[Fault, list[int]]] = []
        self.cleared = threading.Event()
        """Set when the faults of now are cleared; there is another one afterwards."""

    def add(self, fault: Fault) -> None:
        """Set one more."""
        with self._lock:
            self._faults.append((fault, [0]))

    def clear(self) -> None:
        """Behave from now on."""
        with self._lock:
            self._faults.clear()
            self.cleared.set()
            self.cleared = threading.Event()

    def of(self, method: str, path: str, host: str, *, content: bool) -> Fault:
        """Return what is to go wrong with a request, all faults in one, and count it."""
        wanted: dict[str, object] = {}
        with self._lock:
            for fault, count in self._faults:
                if fault.is_about_content is not content or not fault.fits(method, path, host):
                    continue
                count[0] += 1
                passed = count[0] - fault.skip
                if passed <= 0 or (fault.times and passed > fault.times):
                    continue
                for field in fields(fault):
                    value = getattr(fault, field.name)
                    if value != field.default:
                        wanted.setdefault(field.name, value)
        return Fault(**wanted)  # type: ignore[arg-type]
