"""Measured facts about machine and models, kept in one small JSON file.

A fact is named by a key that holds everything it depends on (model, build, threads, settings), so
that a change of any of them simply finds nothing. Losing the file costs a measurement, so every
failure to read or write it is ignored.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from paceline.files import write_whole

Fact = bool | int | float | str


class Facts:
    """Read at the beginning and before every change, so that two programs may note theirs.

    Of one fact the last one noted counts: what is added to an earlier value begins with `newest`.
    An empty folder name keeps the facts in memory only.
    """

    def __init__(self, cache_dir: str) -> None:
        self.path = Path(cache_dir) / "facts.json" if cache_dir else None
        """The file; None: there is none."""
        self._unsaved: dict[str, Fact] = {}
        self._facts = self._read() or {}

    def get(self, key: str) -> Fact | None:
        """Return a fact; None when it was never measured."""
        return self._facts.get(key)

    def newest(self, key: str) -> Fact | None:
        """Return a fact as others may have noted it meanwhile; None when it never was."""
        self._take_over()
        return self.get(key)

    def below(self, prefix: str) -> dict[str, Fact]:
        """Return the facts whose keys begin so."""
        return {key: fact for key, fact in self._facts.items() if key.startswith(prefix)}

    def put(self, key: str, fact: Fact) -> None:
        """Keep a fact."""
        self._take_over()
        self._facts[key] = self._unsaved[key] = fact
        self._save()

    def forget(self, prefix: str) -> None:
        """Drop the facts whose keys begin so."""
        self._take_over()
        found = self.below(prefix)
        for key in found:
            del self._facts[key]
            self._unsaved.pop(key, None)
        if found:
            self._save()

    def _take_over(self) -> None:
        """Take what others have noted or forgotten meanwhile; nothing where it cannot be read."""
        found = self._read()
        if found is not None:
            self._facts = {**found, **self._unsaved}

    def _read(self) -> dict[str, Fact] | None:
        if self.path is None:
            return None
        with contextlib.suppress(OSError, ValueError, RecursionError):
            data = json.loads(self.path.read_text("utf-8"))
            if isinstance(data, dict):
                return {
                    str(k): v for k, v in data.items() if isinstance(v, (bool, int, float, str))
                }
        return None

    def _save(self) -> None:
        if self.path is None:
            return
        with contextlib.suppress(OSError):
            text = json.dumps(self._facts, indent=1, sort_keys=True)
            write_whole(self.path, text.encode())
            self._unsaved.clear()
