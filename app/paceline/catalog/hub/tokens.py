"""The access token for the Hub: from the environment, the keyring, or the Hub's own login file.

In this order: who sets HF_TOKEN means this run, the keyring holds what was given to this program,
and the login file what was given to the Hub's own tools. The keyring is that of the operating
system, by the optional package `keyring`; without it, or without a service behind it, a token that
is given to this program is kept where the Hub's tools keep theirs, readable by its owner only.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paceline.errors import UserError, ValueOutOfRangeError
from paceline.files import write_whole

_SERVICE, _USER = "paceline", "hugging-face-token"
_LONGEST = 512


class TokenSource:
    """Finds and keeps the token. Any thread; a keyring may ask its owner to unlock it."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ

    def token(self) -> str:
        """Return the token; empty: there is none."""
        named = self._environ.get("HF_TOKEN") or self._environ.get("HUGGING_FACE_HUB_TOKEN") or ""
        return _usable(named) or _usable(self._from_keyring()) or _usable(self._from_file())

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
                f"The access token cannot be kept in {path} ({error.strerror or error}).",
                "Set HF_TOKEN instead.",
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
                f"The access token cannot be deleted ({error.strerror or error}).",
                f"Delete the file {path}.",
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

        Read anew each time: the library looks at the environment once, at import.
        """
        env = self._environ
        if env.get("HF_TOKEN_PATH"):
            return Path(env["HF_TOKEN_PATH"]).expanduser()
        if env.get("HF_HOME"):
            return Path(env["HF_HOME"]).expanduser() / "token"
        cache = env.get("XDG_CACHE_HOME") or "~/.cache"
        return Path(cache).expanduser() / "huggingface" / "token"


def _usable(token: str) -> str:
    """Return a token that fits into a header; empty: it does not."""
    token = token.strip()
    fits = token.isascii() and token.isprintable() and " " not in token and len(token) <= _LONGEST
    return token if fits else ""


def _keyring() -> Any:
    """Return the package, if it is there; its import alone looks for services."""
    try:
        import keyring
    except ImportError:
        return None
    return keyring
