"""Measured facts about machine and models, kept in one small JSON file.

The key of a fact contains everything it depends on (model, build, threads, settings), so that a
fact is simply not found after a change of any of them. Losing the file costs a measurement, so
every failure to read or write it is ignored.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from paceline.files import write_whole

Fact = bool | int | float | str


class Facts:
    """A store of facts, read at first and before every change, so that two programs may write.

    Of one fact the last value written counts: before adding to an earlier value, call `newest`.
    With an empty folder name the facts are kept in memory only.
    """

    def __init__(self, cache_dir: str) -> None:
        self.path = Path(cache_dir) / "facts.json" if cache_dir else None
        """The path of the file, or None without one."""
        self._unsaved: dict[str, Fact] = {}
        self._facts = self._read() or {}

    def get(self, key: str) -> Fact | None:
        """Return a fact, or None if it was never measured."""
        return self._facts.get(key)

    def newest(self, key: str) -> Fact | None:
        """Return a fact as another program may have written it meanwhile, or None."""
        self._take_over()
        return self.get(key)

    def below(self, prefix: str) -> dict[str, Fact]:
        """Return the facts whose keys begin with `prefix`."""
        return {key: fact for key, fact in self._facts.items() if key.startswith(prefix)}

    def put(self, key: str, fact: Fact) -> None:
        """Store a fact."""
        self._take_over()
        self._facts[key] = self._unsaved[key] = fact
        self._save()

    def forget(self, prefix: str) -> None:
        """Delete the facts whose keys begin with `prefix`."""
        self._take_over()
        found = self.below(prefix)
        for key in found:
            del self._facts[key]
            self._unsaved.pop(key, None)
        if found:
            self._save()

    def _take_over(self) -> None:
        """Read what other programs have written meanwhile; do nothing if that fails."""
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
