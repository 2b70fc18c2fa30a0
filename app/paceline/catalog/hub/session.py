"""The HTTP session that the Hub's client library uses in this program: limits, token, errors.

`huggingface_hub` 2.4 has one session per process; its own sets no time limit, and `list_models`
cannot be given one. On a failure the library sleeps for 23 s in all and tries six times, so here
every failure becomes a `HubError` before that. A token goes to the host it was meant for and
nowhere else: the session adds it itself, per request, so that neither a redirect nor a link to the
next page carries it elsewhere. Nothing is sent about this machine, and cookies are refused; nor
does the library make its own request to huggingface.co when another Hub is in use.

Importing the library takes a third of a second, so this module is imported where it is used.
"""

from __future__ import annotations

import functools
import http.cookiejar
import threading
import zlib
from collections.abc import Iterator
from typing import Any

import httpx2
from huggingface_hub import (
    HfFileMetadata,
    constants,
    get_hf_file_metadata,
    get_session,
    hf_hub_url,
    set_client_factory,
)

from paceline import __version__
from paceline.catalog.hub import errors
from paceline.catalog.hub.certificates import trusted
from paceline.catalog.hub.errand import Errand
from paceline.catalog.hub.errors import host_of, origin

_MAX_JSON_BYTES = 32 << 20
"""Upper bound of an unpacked answer in bytes; the longest file lists have a tenth of that."""
_INSTALLING = threading.Lock()
"""One per process, as the library's session: replacing it breaks running requests."""


def hub_session() -> HubClient:
    """Return the session, after giving it to the library if it has another one.

    Happens with the first request and not at import, which would change the library for others,
    and again with the first one by another proxy.

    Raises:
        HubError: "bad-environment": proxy or certificates that the environment names are unusable.
            "bad-proxy": the caller's own proxy is.
    """
    thread = threading.current_thread()
    proxy = thread.caller.proxy if isinstance(thread, Errand) else ""
    with _INSTALLING:
        # For its own user agent, which is not used, the library would send one more request
        # to the Hub that HF_ENDPOINT names, and wait for that (utils/_detect_agent.py).
        constants.HF_HUB_DISABLE_TELEMETRY = True
        try:
            ours = _latest()
            session = ours.get("session")
            if session is None or session.is_closed or session.proxy != proxy:
                set_client_factory(functools.partial(HubClient, proxy))
                made = get_session()
                assert isinstance(made, HubClient)
                session = ours["session"] = made
        except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
            is_socks = isinstance(error, ImportError)
            refuse = errors.bad_proxy if proxy else errors.bad_environment
            raise refuse(is_socks=is_socks) from error
    return session


@functools.cache
def _latest() -> dict[str, HubClient]:
    """Keep the session that was given to the library; it is closed when another one is."""
    return {}


def get_json(url: str, params: dict[str, Any]) -> tuple[Any, httpx2.Response]:
    """Fetch JSON; for the thread of an errand.

    Raises:
        HubError: See `errors`.
    """
    response = hub_session().get(url, params=params or None)
    try:
        return response.json(), response
    except (ValueError, RecursionError) as error:  # also for a number with too many digits
        raise errors.bad_answer(host_of(url), "the answer cannot be read") from error


def file_metadata(endpoint: str, repo: str, path: str, revision: str) -> HfFileMetadata:
    """Request a file's address, size and ETag; for the thread of an errand.

    Raises:
        HubError: See `errors`.
    """
    hub_session()
    url = hf_hub_url(repo, path, revision=revision, endpoint=endpoint)
    try:
        return get_hf_file_metadata(url, token=False, endpoint=endpoint)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:  # it redirects to no address
        raise errors.bad_answer(host_of(endpoint), "the answer cannot be read") from error


class HubClient(httpx2.Client):
    """Requests with time limits on behalf of the `Errand` whose thread makes them.

    Attributes:
        proxy: Address of the proxy that they go by; empty means as the environment says.
    """

    def __init__(self, proxy: str = "") -> None:
        self.proxy = proxy
        policy = http.cookiejar.DefaultCookiePolicy(allowed_domains=[])
        super().__init__(
            verify=trusted(),
            proxy=proxy or None,
            follow_redirects=True,
            timeout=httpx2.Timeout(20, connect=10),
            cookies=http.cookiejar.CookieJar(policy),
            headers={"accept-encoding": "gzip"},
            event_hooks={"request": [_dress], "response": [_limit_redirect]},
        )

    def build_request(self, *args: Any, **more: Any) -> httpx2.Request:
        """Prepare a request.

        Raises:
            HubError: "bad-answer": the address is invalid.
        """
        try:
            return super().build_request(*args, **more)
        except httpx2.InvalidURL as error:
            raise errors.bad_address() from error

    def send(
        self, request: httpx2.Request, *, stream: bool = False, **more: Any
    ) -> httpx2.Response:
        """Send a request with our own time limits, since some callers pass none.

        Raises:
            HubError: It failed, or was refused.
        """
        request.extensions = {**request.extensions, "timeout": self.timeout.as_dict()}
        host = request.url.netloc.decode("ascii")
        try:
            response = super().send(request, stream=True, **more)
            _refuse(response)
            if not stream:
                _limit(response)
                try:
                    response.read()
                finally:
                    response.close()
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise errors.from_exception(error, host) from error
        return response


class _Limited(httpx2.SyncByteStream):
    """An answer that is read at once, unless it is too long or the errand is abandoned.

    Also decompresses: a few compressed bytes can stand for gigabytes.
    """

    def __init__(self, stream: Any, host: str, *, is_packed: bool) -> None:
        self._stream = stream
        self._host = host
        self._is_packed = is_packed

    def __iter__(self) -> Iterator[bytes]:
        n_read = 0
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS) if self._is_packed else None
        for packed in self._stream:
            _check_errand()
            chunk = packed
            if unpacker is not None:
                try:
                    chunk = unpacker.decompress(packed, _MAX_JSON_BYTES + 1 - n_read)
                except zlib.error as error:
                    raise errors.bad_answer(self._host, "the answer cannot be read") from error
            n_read += len(chunk)
            if n_read > _MAX_JSON_BYTES:
                raise errors.bad_answer(self._host, "the answer is too long")
            yield chunk

    def close(self) -> None:
        self._stream.close()


def _limit(response: httpx2.Response) -> None:
    """Decompress an answer's body, up to a limit.

    Raises:
        HubError: It is compressed in a way that was not requested.
    """
    host = response.request.url.netloc.decode("ascii")
    packing = response.headers.pop("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip", ""):
        raise errors.bad_answer(host, "the answer came packed in another way than asked for")
    is_packed = packing == "gzip" and response.request.method != "HEAD"
    response.stream = _Limited(response.stream, host, is_packed=is_packed)


def _limit_redirect(response: httpx2.Response) -> None:
    """Limit the body of a redirect, which the library reads to its end."""
    if response.has_redirect_location:
        _limit(response)


def _check_errand() -> None:
    thread = threading.current_thread()
    if isinstance(thread, Errand):
        thread.check()


def _dress(request: httpx2.Request) -> None:
    """Set the headers of a request, also of one that follows a redirect.

    Raises:
        HubError: It would leave the encryption that the Hub's address asks for.
    """
    _check_errand()
    request.headers["user-agent"] = f"paceline/{__version__}"
    request.headers.pop("authorization", None)
    thread = threading.current_thread()
    if isinstance(thread, Errand):
        caller = thread.caller
        if origin(caller.endpoint)[0] == "https" and request.url.scheme == "http":
            raise errors.bad_answer(
                host_of(caller.endpoint), "it leads to an address without encryption"
            )
        if caller.token and origin(str(request.url)) == origin(caller.endpoint):
            request.headers["authorization"] = f"Bearer {caller.token}"


def _refuse(response: httpx2.Response) -> None:
    """Turn a status from 400 on into an error.

    Raises:
        HubError: It is one.
    """
    if response.status_code < 400:
        return
    thread = threading.current_thread()
    endpoint = thread.caller.endpoint if isinstance(thread, Errand) else ""
    url = str(response.request.url)
    response.close()
    raise errors.from_status(
        response.status_code,
        {name.lower(): text for name, text in response.headers.items()},
        url,
        page=endpoint,
        sent_token="authorization" in response.request.headers,
        is_foreign=bool(endpoint) and origin(url) != origin(endpoint),
    )
