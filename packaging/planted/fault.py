"""The description of a fault."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A change of the program, and the tests that must notice it.

    Attributes:
        name: Description of the fault.
        changes: Texts and what they become; each text is found in exactly one module of the
            program, or file of the library of rows, which may be moved and renamed.
        tests: Files, or single tests as ``file::name``.
    """

    name: str
    changes: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]
