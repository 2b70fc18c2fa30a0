"""Errors of the Hub, each with a sentence and what to do about it.

The Hub explains errors in headers (`X-Error-Code`, `Retry-After`, `RateLimit`); without them only
the status is known. No text has a token or a signed address. The codes are stable: "offline",
"no-network", "tls-failed", "timed-out", "stopped", "not-found", "gated", "unauthorized",
"rate-limited", "server-error", "bad-answer", "bad-environment", "bad-proxy", "location-expired",
"range-refused", "file-changed", "bad-reference".
"""

from __future__ import annotations

import email.utils
import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from paceline.errors import UserError
from paceline.sentence import Argument, made, sentence
from paceline.sizes import duration

_REPO = re.compile(
    r"^/(?:api/models/)?([^/]+/[^/]+?)(?:/(?:resolve|revision|tree)/([^/]+)/?(.*))?$"
)
_RESET = re.compile(r";\s*t\s*=\s*([0-9]{1,9})\b")
"""Seconds until requests are taken again, in the header `RateLimit` (an IETF draft)."""


class HubError(UserError):
    """The Hub cannot be reached, or refuses the request.

    Attributes:
        retry_after: Seconds to wait before the next try, or 0 if the Hub names none.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        /,
        *,
        retry_after: int = 0,
        **arguments: Argument,
    ) -> None:
        super().__init__(code, message, hint, **arguments)
        self.retry_after = retry_after


def offline() -> HubError:
    """Return the refusal to use the network at all."""
    return HubError(
        "offline",
        "Paceline is offline, so the Hub is not asked.",
        "Switch offline mode off, or unset HF_HUB_OFFLINE.",
    )


def stopped() -> HubError:
    """Return the error that ends a stopped call."""
    return HubError("stopped", "The request to the Hub was stopped.")


def timed_out(host: str) -> HubError:
    """Return the error that ends a call that takes too long."""
    return HubError(
        "timed-out",
        "{host} did not answer in time.",
        "Try again; if that does not help, check the network connection.",
        host=host,
    )


def bad_answer(host: str, what: str, /, **arguments: Argument) -> HubError:
    """Return the error for an answer that is not what the Hub's protocol says."""
    return HubError(
        "bad-answer",
        "{host} did not answer as the Hub does: {what}.",
        "Log in to the network if it asks for that, or check the address in HF_ENDPOINT.",
        host=host,
        what=made(what, arguments),
    )


def bad_address() -> HubError:
    """Return the error for an invalid address, of the Hub or in its answer."""
    return HubError(
        "bad-answer",
        "The address of the Hub, or one that it gave, is none.",
        "Check the address in HF_ENDPOINT.",
    )


def bad_proxy(*, is_socks: bool) -> HubError:
    """Return the error for a proxy of the settings that cannot be used.

    Args:
        is_socks: Whether it is of a kind that needs a package which is not there.
    """
    if is_socks:
        return HubError(
            "bad-proxy",
            "The proxy in the settings is a SOCKS proxy, which Paceline cannot use.",
            "Give the address of an HTTP proxy in the settings.",
        )
    return HubError(
        "bad-proxy",
        "The proxy in the settings cannot be used.",
        "Check its address; it begins with http:// and ends with a port.",
    )


def bad_environment(*, is_socks: bool) -> HubError:
    """Return the error for a proxy or certificates that cannot be used.

    Args:
        is_socks: Whether it is a proxy of a kind that needs a package which is not there.
    """
    if is_socks:
        return HubError(
            "bad-environment",
            "The proxy that ALL_PROXY, HTTP_PROXY or HTTPS_PROXY names is a SOCKS proxy, which "
            "Paceline cannot use.",
            "Give the address of an HTTP proxy in these variables, or unset them.",
        )
    return HubError(
        "bad-environment",
        "The connection cannot be prepared: the environment names an unusable proxy or "
        "certificates that cannot be read.",
        "Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR.",
    )


def from_exception(error: Exception, host: str) -> HubError:
    """Return the error for what the HTTP library raised.

    Args:
        error: An `httpx2.HTTPError` or `httpx2.InvalidURL`.
        host: The host that was asked.
    """
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return timed_out(host)
    causes = list(_causes(error))
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return HubError(
            "tls-failed",
            "The connection to {host} is not trustworthy: its certificate was refused.",
            "Check the clock of this computer; behind a company's proxy, install its certificate.",
            host=host,
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return HubError(
            "no-network",
            "The address of {host} cannot be found.",
            "Check the network connection.",
            host=host,
        )
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return HubError(
            "no-network",
            "{host} cannot be reached.",
            "Check the network connection and the proxy.",
            host=host,
        )
    if isinstance(error, httpx2.NetworkError | httpx2.RemoteProtocolError):
        return HubError(
            "no-network", "The connection to {host} broke off.", "Try again.", host=host
        )
    return bad_answer(host, "the answer cannot be read")


def from_status(
    status: int,
    headers: Mapping[str, str],
    url: str,
    *,
    page: str = "",
    sent_token: bool = False,
    is_foreign: bool = False,
) -> HubError:
    """Return the error for a status from 400 on.

    Args:
        status: The answer's HTTP status.
        headers: The answer's headers, names in lower case.
        url: The requested address.
        page: Address of the Hub's web pages.
        sent_token: Whether an access token went with the request.
        is_foreign: Whether another host than the Hub answered, which has the large files.
    """
    host = host_of(url)
    if status == 416:
        return HubError(
            "range-refused",
            "{host} has no such part of the file.",
            "Start the download again.",
            host=host,
        )
    if is_foreign and status in (401, 403, 404, 410):
        return HubError(
            "location-expired",
            "The address that the Hub gave for the file does not work any more.",
            "Try again.",
        )
    if status == 429:
        return _rate_limited(host, headers)
    if status in (408, 504):
        return timed_out(host)
    if status >= 500:
        return HubError(
            "server-error",
            "{host} has a problem of its own (status {status}).",
            "Try again later.",
            host=host,
            status=status,
        )
    return _refused(status, headers, url, page, sent_token=sent_token)


def _refused(
    status: int, headers: Mapping[str, str], url: str, page: str, *, sent_token: bool
) -> HubError:
    """Return the error for a repository or file that is not handed out."""
    repo, revision, path = _parts(url, page)
    what = sentence("“{name}”", name=repo) if repo else sentence("this address")
    code = headers.get("x-error-code", "")
    is_refused_token = status == 401 and sent_token  # with a valid token it would be 403
    if code == "GatedRepo" and not is_refused_token:
        where = f"{page}/{repo}" if page else repo
        return HubError(
            "gated",
            "{what} is only for those who asked for it.",
            "Ask for access on {where}."
            if sent_token
            else "Accept its terms on {where}, then give Paceline your access token.",
            where=where,
            what=what,
        )
    if status == 404 or code in ("RepoNotFound", "RevisionNotFound", "EntryNotFound"):
        if not repo:
            return HubError(
                "not-found",
                "{host} has nothing at {path:.80}, where a Hub has its models.",
                "Check the address in HF_ENDPOINT.",
                host=host_of(url),
                path=repr(urlsplit(url).path),
            )
        if code == "EntryNotFound":
            text = sentence("{what} has no file “{path}”.", what=what, path=path)
        elif code == "RevisionNotFound":
            text = sentence("{what} has no revision “{revision}”.", what=what, revision=revision)
        else:
            text = sentence("The Hub has no repository {what}, or it is private.", what=what)
        return HubError("not-found", text, "Check the name; upper and lower case count.")
    if status in (401, 403):
        if sent_token:
            return HubError(
                "unauthorized",
                "The Hub does not accept the access token for {what}.",
                "Make a new token with read access in the settings of your account there.",
                what=what,
            )
        return HubError(
            "unauthorized",
            "The Hub wants an access token for {what}.",
            "Give Paceline your access token, or set HF_TOKEN.",
            what=what,
        )
    return bad_answer(host_of(url), "status {status}", status=status)


def _rate_limited(host: str, headers: Mapping[str, str]) -> HubError:
    seconds = _seconds_to_wait(headers)
    return HubError(
        "rate-limited",
        "{host} takes no more requests for now.",
        "Wait {time}, then try again."
        if seconds
        else "Wait a few minutes, then try again; with an access token more is allowed.",
        retry_after=seconds,
        host=host,
        time=duration(seconds),
    )


def _seconds_to_wait(headers: Mapping[str, str]) -> int:
    text = headers.get("retry-after", "").strip()
    if re.fullmatch("[0-9]+", text):
        return min(int(text[:9]), 86400)
    if text:
        try:
            until = email.utils.parsedate_to_datetime(text).timestamp()
        except (ValueError, OverflowError):
            return 0
        return max(0, min(round(until - time.time()), 86400))
    reset = _RESET.search(headers.get("ratelimit", ""))
    return min(int(reset[1]), 86400) if reset else 0


def _parts(url: str, page: str) -> tuple[str, str, str]:
    """Return repository, revision and file that an address is about, as far as it says.

    Args:
        url: The address.
        page: Address of the Hub; that of a mirror may have a path of its own.
    """
    found = _REPO.match(urlsplit(url).path.removeprefix(urlsplit(page).path.rstrip("/")))
    if found is None or found[1] == "api/models":
        return "", "", ""
    return unquote(found[1]), unquote(found[2] or ""), unquote(found[3] or "")


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address, which together are what a token is sent to.

    Text that is no address has an empty scheme and host, which are never trusted.
    """
    try:
        parts = urlsplit(url)
        scheme, port = parts.scheme.lower(), parts.port
    except ValueError:
        return "", "", 0
    return scheme, (parts.hostname or "").lower(), port or {"http": 80, "https": 443}.get(scheme, 0)


def host_of(url: str) -> str:
    """Return host and port for an error text, without a password that the address may have."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return url
