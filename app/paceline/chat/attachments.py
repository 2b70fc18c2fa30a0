"""Text files that are attached to a message: read and checked. No Qt, any thread.

A model reads text, so only text can be attached: UTF-8, or UTF-16, which is recognised by its byte
order mark or by the places of its zero bytes. An eight-bit encoding is refused, not guessed: each
of them accepts every file, and a wrong guess would give the model wrong letters.
"""

from __future__ import annotations

import contextlib
import json
import re
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from paceline.conversation import Attachment
from paceline.errors import UserError
from paceline.sentence import Argument, sentence

MAX_BYTES = 1_000_000
"""Bytes of one file at most; some 250,000 tokens, more than contexts hold."""
MAX_FILES = 16
"""Files of one message at most."""
BYTES_PER_TOKEN = 4
"""Bytes per token of English and of code, roughly; only for estimates."""

_KNOWN = (
    (b"\x89PNG", sentence("a picture")),
    (b"\xff\xd8\xff", sentence("a picture")),
    (b"GIF8", sentence("a picture")),
    (b"%PDF-", sentence("a PDF")),
    (b"PK\x03\x04", sentence("an archive or an office document")),
    (b"\x1f\x8b", sentence("an archive")),
    (b"7z\xbc\xaf", sentence("an archive")),
    (b"GGUF", sentence("a model")),
    (b"\x7fELF", sentence("a program")),
    (b"MZ", sentence("a program")),
    (b"SQLite format 3\x00", sentence("a database")),
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_UTF16_SHARE = 0.3
_OTHER_HALF = 0.1
_UTF16_SAMPLE = 4_096


def read_attachment(path: Path) -> Attachment:
    """Read a text file.

    Raises:
        UserError: It is not there, cannot be read, is too large, or is no text.
    """
    name = path.name or str(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UserError(
                "attachment-is-folder",
                "“{name}” is a folder.",
                "Attach the files in it.",
                name=name,
            )
        if not stat.S_ISREG(status.st_mode):
            raise UserError(
                "attachment-is-no-file", "“{name}” is not a file.", "Attach a file.", name=name
            )
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UserError(
            "attachment-not-found", "“{name}” is not there any more.", "Choose it again.", name=name
        ) from None
    except OSError as error:
        raise UserError(
            "attachment-unreadable",
            "“{name}” cannot be read ({why}).",
            "Check who may read it.",
            name=name,
            why=error.strerror or error,
        ) from error
    if len(raw) > MAX_BYTES:
        raise UserError(
            "attachment-too-large",
            "“{name}” has {size:.1f} MB; a file may have 1 MB.",
            "Attach the part that matters.",
            name=name,
            size=max(status.st_size, len(raw)) / 1e6,
        )
    return Attachment(name, text_of(raw, name), len(raw))


def text_of(raw: bytes, name: str) -> str:
    """Decode a file's content; line ends become newlines.

    Raises:
        UserError: It is no text, or its encoding cannot be recognised.
    """
    for start, what in _KNOWN:
        if raw.startswith(start) and not (start == b"MZ" and b"\x00" not in raw):
            raise _binary("“{name}” is {what}, not text.", name=name, what=what)
    encoding = _encoding(raw)
    if encoding == "utf-8-sig" and _CONTROLS.search(raw):
        raise _binary("“{name}” is not text.", name=name)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        raise UserError(
            "attachment-encoding",
            "“{name}” is in an encoding other than UTF-8 and UTF-16.",
            "Save it as UTF-8 and attach it again.",
            name=name,
        ) from None
    if not text:
        raise UserError(
            "attachment-empty", "“{name}” is empty.", "Attach a file with text.", name=name
        )
    if "\x00" in text:
        raise _binary("“{name}” is not text.", name=name)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_count(attached: Sequence[Attachment], n_more: int) -> None:
    """Refuse more files than a message may have.

    Raises:
        UserError: They are too many.
    """
    if len(attached) + n_more > MAX_FILES:
        raise UserError(
            "too-many-attachments",
            "A message can have {most} files; these would be {n}.",
            "Send some of them with another message.",
            most=MAX_FILES,
            n=len(attached) + n_more,
        )


def estimated_tokens(attachment: Attachment) -> int:
    """Return an estimate of a file's tokens, rounded to two digits."""
    n_tokens = max(1, round(len(attachment.text.encode(errors="replace")) / BYTES_PER_TOKEN))
    return round(n_tokens, 2 - len(str(n_tokens)))


def pasted(text: str, attached: Sequence[Attachment]) -> Attachment:
    """Make a file of a text that was pasted, of any size, under a name that is still free."""
    taken = {attachment.name for attachment in attached}
    number, name = 1, "pasted.txt"
    while name in taken:
        number += 1
        name = f"pasted-{number}.txt"
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _named(name, text)


def check_pasted(file: Attachment) -> None:
    """Refuse a pasted text that is larger than a file may be.

    Raises:
        UserError: It is too large.
    """
    if file.n_bytes > MAX_BYTES:
        raise UserError(
            "attachment-too-large",
            "The pasted text has {size:.1f} MB; a file may have 1 MB.",
            "Paste the part that matters.",
            size=file.n_bytes / 1e6,
        )


_KEPT_WITH_FILES = "\x1e"
"""First character of stored unsent text that has files; no keyboard types it."""


def split_pasted(kept: str) -> tuple[str, tuple[Attachment, ...]]:
    """Split stored unsent text into the text and the pasted files that earlier versions kept in it.

    Content that those versions cannot have written, as in a damaged file, counts as text.
    """
    if kept.startswith(_KEPT_WITH_FILES):
        with contextlib.suppress(ValueError, TypeError):
            text, *files = json.loads(kept.removeprefix(_KEPT_WITH_FILES))
            pairs = [(name, content) for name, content in files]
            if all(isinstance(part, str) for part in (text, *chain.from_iterable(pairs))):
                return text, tuple(_named(*pair) for pair in pairs)
    return kept, ()


def _named(name: str, text: str) -> Attachment:
    return Attachment(name, text, len(text.encode(errors="replace")))


def _encoding(raw: bytes) -> str:
    if raw.startswith(BOM_UTF8):
        return "utf-8-sig"
    if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    sample = raw[: min(len(raw), _UTF16_SAMPLE) // 2 * 2]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    enough = _UTF16_SHARE * len(sample) / 2
    if len(raw) % 2 == 0 and len(sample) >= 4:
        # A few letters end with a zero byte in the other half, too.
        if odd > enough and even <= odd * _OTHER_HALF:
            return "utf-16-le"
        if even > enough and odd <= even * _OTHER_HALF:
            return "utf-16-be"
    return "utf-8-sig"


def _binary(message: str, /, **arguments: Argument) -> UserError:
    return UserError(
        "attachment-is-binary", message, "Text and code files can be attached.", **arguments
    )
