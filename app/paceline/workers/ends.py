"""The end of a child process, and its description in a sentence.

The exit code alone says little. Together with the process's last message and the tail of its output
it distinguishes the usual causes.
"""

from __future__ import annotations

import re
import signal
import sys
from dataclasses import dataclass

from paceline.sentence import sentence

_MEMORY_SIGNS = re.compile(
    r"bad_alloc|out of memory|failed to allocate|unable to allocate|mem_buffer != NULL"
    r"|MemoryError|cannot allocate memory|cudaMalloc",
    re.IGNORECASE,
)
_MAX_MESSAGE_CHARS = 2000
"""Upper bound of the characters of a last message; a broken process may send a very long one, and
the search for paths in it must not take long."""
_WINDOWS_CODES = {
    0xC0000005: "SIGSEGV",
    0xC000001D: "SIGILL",
    0xC0000409: "SIGABRT",
    0xC0000006: "SIGBUS",
}
"""Exit codes of Windows: access violation, illegal instruction, fail-fast, in-page error."""
_WINDOWS_ABORT = 3
"""Exit code of `abort` in Windows' C library; on other systems 3 has no special meaning."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of a process.

    Attributes:
        code: As `subprocess` gives it: negative for a signal, or None if it hung until it was
            killed.
        last_words: The last message of the library or Python before the end; may be empty.
        stderr: The tail of the process's output.
    """

    code: int | None
    last_words: str = ""
    stderr: str = ""

    @property
    def signal(self) -> str:
        """The signal that ended it, such as ``SIGSEGV``, or empty if none did."""
        if self.code is None:
            return ""
        if self.code < 0:
            return _signal_name(-self.code)
        if self.code == _WINDOWS_ABORT and sys.platform == "win32":
            return "SIGABRT"
        return _WINDOWS_CODES.get(self.code, "")

    @property
    def lacked_memory(self) -> bool:
        """Return whether it reported a lack of memory."""
        return bool(_MEMORY_SIGNS.search(self.last_words) or _MEMORY_SIGNS.search(self.stderr))

    @property
    def said(self) -> str:
        """Its last message on one line, without the folders of a build machine; may be empty."""
        return _one_line(self.last_words)

    @property
    def words(self) -> str:
        """The end as a part of a sentence about the process, such as "crashed, SIGSEGV"."""
        if self.code is None:
            return sentence("hung")
        said = self.said
        if self.signal:
            end = sentence("crashed, {signal}", signal=self.signal)
        else:
            end = sentence("ended with exit code {code}", code=self.code)
            said = said or _one_line(_last_line(self.stderr))
        return sentence("{end} ({words:bare})", end=end, words=said) if said else end


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return sentence("signal {number}", number=number)


def _last_line(text: str) -> str:
    """Return the last line that names an error, which in a traceback begins at the margin."""
    lines = (line for line in reversed(text.splitlines()) if ": " in line and not line[0].isspace())
    return next(lines, "")


def _one_line(text: str) -> str:
    """Return a text for use in a sentence: no line breaks, no folders of a build machine."""
    line = " ".join(text[:_MAX_MESSAGE_CHARS].split())
    line = re.sub(r"(?:[A-Za-z]:)?(?:[\w.+-]*[/\\])+([\w.+-]+\.(?:cpp|cu|c|h|m|py))\b", r"\1", line)
    return line[:500]
