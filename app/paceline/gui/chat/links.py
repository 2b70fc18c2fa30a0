"""Requests of messages to the window, and the display of an address before it is opened.

A link's text proves nothing about its target, and letters of other scripts look like ours. So the
host is shown as it is sent (punycode), with a warning if it mixes scripts or hides a name before an
"@". The rules are a short form of Unicode's UTS 39, section 5.
"""

from __future__ import annotations

import unicodedata

from PySide6.QtCore import QObject, QUrl, Signal

from paceline.gui.kit.translation import translator


class MessageRequests(QObject):
    """Requests of all messages of a conversation; parts need no signals of their own."""

    link_activated = Signal(str)
    """An http or https address; the receiver asks before it is opened."""
    code_save_requested = Signal(str, str)
    """A block's language as the author named it, and its code."""
    code_wrap_requested = Signal()
    """The wrapping of long lines of code is to be switched."""


MAX_LINK_CHARS = 200
_SCRIPTS_TOGETHER = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
"""Scripts that are written together in one language."""

_tr = translator("Links")


def describe_link(url: str) -> tuple[str, str]:
    """Return an address as it is sent, shortened if it is very long, and a warning.

    Args:
        url: An http or https address.

    Returns:
        The text to show, and a warning in one sentence, or empty if nothing is suspicious.
    """
    parsed = QUrl(url, QUrl.ParsingMode.StrictMode)
    sent = parsed.toString(QUrl.ComponentFormattingOption.FullyEncoded) or url
    shown = sent if len(sent) <= MAX_LINK_CHARS else f"{sent[:MAX_LINK_CHARS]}…"
    host = parsed.host(QUrl.ComponentFormattingOption.FullyEncoded)
    return shown, _warning(parsed, host)


def _warning(url: QUrl, host: str) -> str:
    if url.userInfo():
        return _tr("The address begins with a user name. It leads to {host}.").format(host=host)
    if any(label.startswith("xn--") for label in host.lower().split(".")):
        named = _decoded(host)
        scripts = {script for label in named.split(".") for script in _scripts(label)}
        if any(_is_mixed(label) for label in named.split(".")):
            return _tr(
                "The host is written {name}: it mixes letters of several alphabets, as addresses "
                "do that imitate others."
            ).format(name=named)
        if scripts - {"LATIN"}:
            return _tr(
                "The host is written {name}: some of its letters may look like others."
            ).format(name=named)
        return _tr("The host is written {name}.").format(name=named)
    return ""


def _decoded(host: str) -> str:
    labels = []
    for label in host.split("."):
        try:
            is_coded = label.lower().startswith("xn--")
            labels.append(label[4:].encode("ascii").decode("punycode") if is_coded else label)
        except (UnicodeError, ValueError):
            labels.append(label)
    return "".join(char if char.isprintable() else "\ufffd" for char in ".".join(labels))


def _scripts(label: str) -> set[str]:
    return {unicodedata.name(char, "?").split(" ")[0] for char in label if char.isalpha()}


def _is_mixed(label: str) -> bool:
    scripts = _scripts(label)
    if scripts & _SCRIPTS_TOGETHER:
        scripts -= _SCRIPTS_TOGETHER | {"LATIN"}
        return bool(scripts)
    return len(scripts) > 1
