"""Which addresses belong to one place. Pure functions; addresses are foreign input."""

from __future__ import annotations

from urllib.parse import urlsplit


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address, which together make one place to trust.

    What is no address has an empty scheme and host, and so is none that is trusted.
    """
    try:
        parts = urlsplit(url)
        scheme, port = parts.scheme.lower(), parts.port
    except ValueError:
        return "", "", 0
    return scheme, (parts.hostname or "").lower(), port or {"http": 80, "https": 443}.get(scheme, 0)


def host_of(url: str) -> str:
    """Return host and port as an error names them: never with the password that may be there."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return url
