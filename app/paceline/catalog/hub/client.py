"""The Hub as the rest of the program sees it: search, repositories, and the bytes of files.

Every call blocks and belongs on a worker thread; it ends within a fraction of a second once
`is_stopped` says so, and in any case after `CALL_LIMIT_S`. Any thread may call.

The access token comes from the environment, the keyring, or the Hub's own login file, in this
order: HF_TOKEN is meant for this run, the keyring has what was given to this program, and the login
file what was given to the Hub's own tools. The keyring is that of the operating system, by the
optional package `keyring`; without it, or without a keyring service, a token that is given to this
program is kept where the Hub's tools keep theirs, readable by its owner only.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urljoin

from paceline.catalog.hub import errors, listing, stream
from paceline.catalog.hub.errand import Errand, ErrandCaller
from paceline.catalog.hub.errors import host_of, origin
from paceline.catalog.hub.stream import Body, Location
from paceline.catalog.hub.values import HubModel, HubRepository, SearchQuery
from paceline.errors import UserError, ValueOutOfRangeError
from paceline.files import write_whole

_SERVICE, _USER = "paceline", "hugging-face-token"
_MAX_TOKEN_CHARS = 512


class TokenSource:
    """Finds and keeps the token. Any thread; a keyring may ask its owner to unlock it."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ

    def token(self) -> str:
        """Return the token, or empty if there is none."""
        named = self._environ.get("HF_TOKEN") or self._environ.get("HUGGING_FACE_HUB_TOKEN") or ""
        return _usable(named) or _usable(self._from_keyring()) or _usable(self._from_file())

    def place(self) -> Literal["environment", "kept", ""]:
        """Return where the token is: in a variable, kept, or nowhere."""
        env = self._environ
        if _usable(env.get("HF_TOKEN") or env.get("HUGGING_FACE_HUB_TOKEN") or ""):
            return "environment"
        return "kept" if self.token() else ""

    def set_token(self, token: str) -> None:
        """Keep a token for the next requests and for the next time.

        Raises:
            ValueOutOfRangeError: It cannot be one.
            UserError: It cannot be kept.
        """
        token = token.strip()
        if not _usable(token):
            raise ValueOutOfRangeError(
                "bad-token",
                "This is no access token: it has spaces or signs that no token has.",
                "Copy it from the settings of your account on the Hub; it begins with “hf_”.",
            )
        keyring = _keyring()
        if keyring is not None:
            try:
                keyring.set_password(_SERVICE, _USER, token)
            except keyring.errors.KeyringError:
                pass  # no service, or it stays locked: the file will do
            else:
                return
        path = self._login_file()
        try:
            write_whole(path, token.encode())
        except OSError as error:
            raise UserError(
                "token-not-kept",
                "The access token cannot be kept in {path} ({why}).",
                "Set HF_TOKEN instead.",
                path=path,
                why=error.strerror or error,
            ) from error

    def forget(self) -> None:
        """Delete the token from keyring and login file, as the Hub's own logout does.

        Raises:
            UserError: The file cannot be deleted.
        """
        keyring = _keyring()
        if keyring is not None:
            with contextlib.suppress(keyring.errors.KeyringError):  # there was none
                keyring.delete_password(_SERVICE, _USER)
        path = self._login_file()
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(
                "token-not-deleted",
                "The access token cannot be deleted ({why}).",
                "Delete the file {path}.",
                why=error.strerror or error,
                path=path,
            ) from error

    def _from_keyring(self) -> str:
        keyring = _keyring()
        if keyring is None:
            return ""
        try:
            return str(keyring.get_password(_SERVICE, _USER) or "")
        except keyring.errors.KeyringError:
            return ""

    def _from_file(self) -> str:
        try:
            return self._login_file().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def _login_file(self) -> Path:
        """Return where the Hub's tools keep their token (huggingface_hub/constants.py).

        Read again each time: the library reads the environment once, at import.
        """
        env = self._environ
        if env.get("HF_TOKEN_PATH"):
            return Path(env["HF_TOKEN_PATH"]).expanduser()
        if env.get("HF_HOME"):
            return Path(env["HF_HOME"]).expanduser() / "token"
        cache = env.get("XDG_CACHE_HOME") or "~/.cache"
        return Path(cache).expanduser() / "huggingface" / "token"


def _usable(token: str) -> str:
    """Return a token that fits into a header, or empty if it does not."""
    token = token.strip()
    fits = (
        token.isascii()
        and token.isprintable()
        and " " not in token
        and len(token) <= _MAX_TOKEN_CHARS
    )
    return token if fits else ""


def _keyring() -> Any:
    """Return the package, if it is there; its import alone looks for services."""
    try:
        import keyring
    except ImportError:
        return None
    return keyring


T = TypeVar("T")

CALL_LIMIT_S = 40.0
"""Seconds for each answer or piece of a file, looking up the name and connecting included."""
USUAL_ENDPOINT = "https://huggingface.co"
_SHA256 = re.compile(r"[0-9a-f]{64}")


def never() -> bool:
    """A stop flag that is never set."""
    return False


def is_offline(environ: Mapping[str, str]) -> bool:
    """Return whether the environment forbids the network, by the variable of the Hub's tools."""
    return environ.get("HF_HUB_OFFLINE", "").strip().upper() in ("1", "ON", "YES", "TRUE")


class Hub:
    """One Hub: huggingface.co or a mirror of it.

    Attributes:
        endpoint: Its address, without a slash at the end.
        offline: Whether every call is refused; may be changed at any time.
        proxy: Address of the proxy that calls go by from now on; empty means as the environment
            says. Another one breaks off what is under way, which downloads try again.
        tokens: Source of the access token.
    """

    def __init__(
        self,
        *,
        endpoint: str = "",
        offline: bool = False,
        proxy: str = "",
        tokens: TokenSource | None = None,
    ) -> None:
        """Make a client; no request is made yet.

        Args:
            endpoint: Address; empty means what HF_ENDPOINT says, or the usual one.
            offline: As the attribute.
            proxy: As the attribute.
            tokens: Source of the access token; None means environment, keyring and login file.
        """
        chosen = endpoint or os.environ.get("HF_ENDPOINT", "") or USUAL_ENDPOINT
        self.endpoint = chosen.strip().rstrip("/")
        self.offline = offline
        self.proxy = proxy
        self.tokens = TokenSource() if tokens is None else tokens

    def search(
        self, query: SearchQuery, is_stopped: Callable[[], bool] = never
    ) -> Iterator[HubModel]:
        """Yield the results, page by page; the next page is requested when it is needed.

        Raises:
            HubError: See `errors`; what was yielded before stands.
        """

        def get(url: str, params: Mapping[str, object]) -> listing.Page:
            return self._fetch(lambda: listing.get_page(url, params), is_stopped)

        yield from listing.models(query, self.endpoint, get)

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
            lambda: listing.get_repository(self.endpoint, repo, revision), is_stopped
        )

    def locate(
        self, repo: str, path: str, revision: str = "main", is_stopped: Callable[[], bool] = never
    ) -> Location:
        """Return where a file's bytes are, by one request without content.

        Raises:
            HubError: See `errors`.
        """
        return self._fetch(lambda: _locate(self.endpoint, repo, path, revision), is_stopped)

    def unseen(self, repo: str, path: str, revision: str) -> Location:
        """Return a file's address, without asking for its size and hash."""
        from huggingface_hub import hf_hub_url

        url = hf_hub_url(repo, path, revision=revision, endpoint=self.endpoint)
        return Location(url, n_bytes=0, etag="", sha256="", commit="")

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
            end: After the last one; None means to the end of the file.
            is_stopped: Ends the call, and the bytes.

        Raises:
            HubError: See `errors`; "location-expired" asks for another `locate`, "range-refused"
                says that there is nothing from `start` on, "file-changed" that the size has
                changed.
        """
        caller = self._caller()
        host = host_of(location.url)
        errand: Errand[stream.ResponseHead | bytes] = Errand(
            caller, lambda: stream.read(location, start, end)
        )
        pieces = errand.results(is_stopped, CALL_LIMIT_S, host)
        with contextlib.closing(pieces):
            head = next(pieces)
            assert isinstance(head, stream.ResponseHead)
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
                "{text:.80} has signs that cannot be sent to the Hub.",
                "Leave them out.",
                text=repr(error.object),
            ) from error

    def _caller(self) -> ErrandCaller:
        if self.offline:
            raise errors.offline()
        scheme, host, _ = origin(self.endpoint)
        if scheme not in ("http", "https") or not host:
            raise ValueOutOfRangeError(
                "bad-endpoint",
                "“{endpoint}” is not the address of a Hub.",
                "Give one such as https://huggingface.co.",
                endpoint=self.endpoint,
            )
        return ErrandCaller(self.endpoint, self.tokens.token(), self.proxy)


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
    return Location(
        url=location if origin(location) != origin(endpoint) else hub_url,
        n_bytes=found.size,
        etag=etag,
        sha256=etag if _SHA256.fullmatch(etag) else "",
        commit=commit,
        hub_url=hub_url,
    )
