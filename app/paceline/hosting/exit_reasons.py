"""Reasons for the end of the engine's process, in words for users, and the policy of restarts.

Distinguishes the usual causes: too little memory, a file that changed while it was read, an
instruction that the CPU does not know, a fault in native code.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from paceline.figures import ServerProblem
from paceline.installation import remedies
from paceline.sentence import Sentence, sentence
from paceline.workers.child import UNAVAILABLE
from paceline.workers.ends import End

OUT_OF_MEMORY = "out-of-memory"
DIED = "engine-died"
NOT_STARTED = "engine-stopped"

AGAIN = sentence("It starts again with the next message.")
LATER = sentence("That was the third time within a minute: it can be started again in a minute.")
_MEMORY_HINT = sentence("Choose a shorter context or a smaller model, or close other programs.")
_CAUSES = {
    "SIGKILL": (
        sentence(
            "The engine's process was ended from outside, as the system does when memory runs out."
        ),
        sentence(
            "{again} If it happens again, choose a shorter context or a smaller model.", again=AGAIN
        ),
    ),
    "SIGBUS": (
        sentence(
            "A model file became unreadable while it was used (SIGBUS): it was "
            "changed, or its disk failed."
        ),
        sentence("Download the file again or check the disk."),
    ),
}
"""Meanings of signals, and what to do about each."""
_DEATH_COUNTS_S = 60.0  # that a death counts


@dataclass(frozen=True, slots=True)
class Death:
    """The end of the engine's process.

    Attributes:
        code: "out-of-memory" or "engine-died"; "engine-stopped" when it was never ready.
        reason: One sentence with the cause.
        hint: The remedy.
        is_native: Whether native code crashed, as opposed to being ended from outside.
        by_server: Whether an RPC server was lost; nothing is wrong with the engine then.
        lost: RPC servers that do not answer any more.
    """

    code: str
    reason: str
    hint: str
    is_native: bool = False
    by_server: bool = False
    lost: tuple[ServerProblem, ...] = ()


def describe_death(end: End) -> Death:
    """Put the end of an engine's process into words."""
    name, words = end.signal, end.said
    what = _exit_words(end.code)
    if name:
        what = sentence("the engine's process ended ({name})", name=name)
    if end.lacked_memory:
        return Death(
            OUT_OF_MEMORY,
            sentence("Memory ran out, and {what}.", what=what),
            _MEMORY_HINT,
            is_native=True,
        )
    if words and end.code == UNAVAILABLE:
        return Death(DIED, words, "")
    if words:
        reason = sentence("The engine ended: {words:bare}.", words=words)
        if name:
            reason = sentence("llama.cpp gave up: {words:bare}.", words=words)
        return Death(DIED, reason, AGAIN, is_native=bool(name))
    if name == "SIGILL":
        reason = sentence("llama.cpp uses an instruction that this CPU does not know (SIGILL).")
        return Death(DIED, reason, remedies.library_for_this_processor(), is_native=True)
    if name in _CAUSES:
        return Death(DIED, *_CAUSES[name], is_native=name != "SIGKILL")
    if name in ("SIGSEGV", "SIGABRT", "SIGFPE"):
        return Death(
            DIED, sentence("llama.cpp crashed ({name}).", name=name), AGAIN, is_native=True
        )
    if name:
        return Death(
            DIED,
            sentence("The engine's process was ended from outside ({name}).", name=name),
            AGAIN,
        )
    return Death(DIED, sentence("{what:capital}.", what=what), AGAIN)


def told_later(hint: str) -> str:
    """Return a hint that the engine starts again in a minute, not with the next message."""
    if hint == AGAIN:
        return LATER
    if not isinstance(hint, Sentence):
        return hint
    return Sentence(
        hint.template, {k: LATER if v == AGAIN else v for k, v in hint.arguments.items()}
    )


def _exit_words(exit_code: int | None) -> str:
    if exit_code is None:
        return sentence("the engine's process ended")
    return sentence("the engine's process ended with exit code {exit_code}", exit_code=exit_code)


class RestartPolicy:
    """Lets a dead process be started again, later each time, but not after `most` deaths in a row.

    Args:
        most: Deaths within `_DEATH_COUNTS_S` after which no start is allowed.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        most: int = 3,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._clock = clock
        self._deaths: deque[float] = deque(maxlen=most)

    def note_death(self) -> None:
        """Count an unrequested end of the process."""
        self._deaths.append(self._clock())

    @property
    def delay_s(self) -> float:
        """Seconds to wait before the next start: 0 after the first death, then doubling."""
        n = len(self._recent())
        return 0.0 if n < 2 else 0.5 * 2 ** (n - 2)

    @property
    def refused_s(self) -> float:
        """Seconds for which no start is allowed; 0 when it is."""
        recent = self._recent()
        if len(recent) < self._most:
            return 0.0
        return recent[0] + _DEATH_COUNTS_S - self._clock()

    def _recent(self) -> list[float]:
        now = self._clock()
        return [t for t in self._deaths if now - t < _DEATH_COUNTS_S]
