"""The Hub as the rest of the program sees it: search, repositories, and the bytes of files.

Every call blocks and belongs on a worker thread; it ends within a fraction of a second once
`is_stopped` says so, and by itself after at most `CALL_LIMIT_S`. Any thread may call.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import TypeVar
from urllib.parse import urljoin

from paceline.catalog.hub import errors, repository, search, stream
from paceline.catalog.hub.addresses import host_of, origin
from paceline.catalog.hub.errand import Caller, Errand
from paceline.catalog.hub.stream import Body, Location
from paceline.catalog.hub.tokens import TokenSource
from paceline.catalog.hub.values import HubModel, HubRepository, SearchQuery
from paceline.errors import ValueOutOfRangeError

T = TypeVar("T")

CALL_LIMIT_S = 40.0
"""For each answer, or each piece of a file; lookup of the name and connecting included."""
USUAL_ENDPOINT = "https://huggingface.co"
_SHA256 = re.compile(r"[0-9a-f]{64}")


def never() -> bool:
    """The stop flag of who does not stop."""
    return False


def is_offline(environ: Mapping[str, str]) -> bool:
    """Whether the environment forbids the network, by the variable of the Hub's own tools."""
    return environ.get("HF_HUB_OFFLINE", "").strip().upper() in ("1", "ON", "YES", "TRUE")


class Hub:
    """One Hub: huggingface.co or a mirror of it.

    Attributes:
        endpoint: Its address, without a slash at the end.
        offline: Whether every call is refused; may be changed at any time.
        tokens: Where the access token comes from.
    """

    def __init__(
        self, *, endpoint: str = "", offline: bool = False, tokens: TokenSource | None = None
    ) -> None:
        """Reach nobody yet.

        Args:
            endpoint: Address; empty: what HF_ENDPOINT says, or the usual one.
            offline: As the attribute.
            tokens: None: environment, keyring and login file.
        """
        chosen = endpoint or os.environ.get("HF_ENDPOINT", "") or USUAL_ENDPOINT
        self.endpoint = chosen.strip().rstrip("/")
        self.offline = offline
        self.tokens = TokenSource() if tokens is None else tokens

    def search(
        self, query: SearchQuery, is_stopped: Callable[[], bool] = never
    ) -> Iterator[HubModel]:
        """Yield what matches, page by page; the next page is asked for when it is needed.

        Raises:
            HubError: See `errors`; what was yielded before stands.
        """

        def get(url: str, params: Mapping[str, object]) -> search.Page:
            return self._fetch(lambda: search.get_page(url, params), is_stopped)

        yield from search.models(query, self.endpoint, get)

    def repository(
        self, repo: str, revision: str = "main", is_stopped: Callable[[], bool] = never
    ) -> HubRepository:
        """Return a repository's page.

        Args:
            repo: ``OWNER/NAME``.
            revision: Branch, tag or commit.
            is_stopped: Ends the call.

        Raises:
            HubError: See `errors`.
        """
        return self._fetch(
            lambda: repository.get_repository(self.endpoint, repo, revision), is_stopped
        )

    def locate(
        self, repo: str, path: str, revision: str = "main", is_stopped: Callable[[], bool] = never
    ) -> Location:
        """Return where a file's bytes are, by one request without content.

        Raises:
            HubError: See `errors`.
        """
        return self._fetch(lambda: _locate(self.endpoint, repo, path, revision), is_stopped)

    @contextlib.contextmanager
    def open(
        self,
        location: Location,
        start: int = 0,
        end: int | None = None,
        is_stopped: Callable[[], bool] = never,
    ) -> Iterator[Body]:
        """Open a file at a place; the bytes come while the block runs.

        Args:
            location: From `locate`.
            start: First byte.
            end: Behind the last one; None: to the end of the file.
            is_stopped: Ends the call, and the bytes.

        Raises:
            HubError: See `errors`; "location-expired" asks for another `locate`, "range-refused"
                says that there is nothing from `start` on, "file-changed" that the size is
                another one.
        """
        caller = self._caller()
        host = host_of(location.url)
        errand: Errand[stream.Head | bytes] = Errand(
            caller, lambda: stream.read(location, start, end)
        )
        pieces = errand.results(is_stopped, CALL_LIMIT_S, host)
        with contextlib.closing(pieces):
            head = next(pieces)
            assert isinstance(head, stream.Head)
            yield Body(head, pieces)

    def _fetch(self, function: Callable[[], T], is_stopped: Callable[[], bool]) -> T:
        """Call a function on a thread that may make requests."""

        def once() -> Generator[T, None, None]:
            yield function()

        errand = Errand(self._caller(), once)
        try:
            return next(errand.results(is_stopped, CALL_LIMIT_S, host_of(self.endpoint)))
        except UnicodeEncodeError as error:
            raise ValueOutOfRangeError(
                "bad-text",
                f"{error.object!r:.80} has signs that cannot be sent to the Hub.",
                "Leave them out.",
            ) from error

    def _caller(self) -> Caller:
        if self.offline:
            raise errors.offline()
        scheme, host, _ = origin(self.endpoint)
        if scheme not in ("http", "https") or not host:
            raise ValueOutOfRangeError(
                "bad-endpoint",
                f"“{self.endpoint}” is not the address of a Hub.",
                "Give one such as https://huggingface.co.",
            )
        return Caller(self.endpoint, self.tokens.token())


def _locate(endpoint: str, repo: str, path: str, revision: str) -> Location:
    from huggingface_hub import hf_hub_url

    from paceline.catalog.hub.session import file_metadata

    found = file_metadata(endpoint, repo, path, revision)
    host = host_of(endpoint)
    etag = found.etag or ""
    if not etag or found.size is None or found.size < 0:
        raise errors.bad_answer(host, "it does not say which file this is")
    commit = found.commit_hash or ""
    # A branch may move on between this request and the next; a commit does not.
    hub_url = hf_hub_url(repo, path, revision=commit or revision, endpoint=endpoint)
    try:
        location = urljoin(hub_url, found.location)
    except ValueError as error:
        raise errors.bad_answer(host, "it leads to no address") from error
    is_foreign = origin(location) != origin(endpoint)
    return Location(
        url=location if is_foreign else hub_url,
        n_bytes=found.size,
        etag=etag,
        sha256=etag if _SHA256.fullmatch(etag) else "",
        commit=commit,
        is_foreign=is_foreign,
        hub_url=hub_url,
    )
