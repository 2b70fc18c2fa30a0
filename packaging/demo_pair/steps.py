"""Steps that are done once: each keeps what it made, and what it was made from.

A step is done again when its settings, its code or what stands before it has changed. The key of
all that is kept in ``FOLDER/done/STEP.json`` once the step is over; an interrupted step has none.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

RECIPE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Step:
    """Something that makes files.

    Attributes:
        name: E.g. ``tokens``.
        about: What it does, for people.
        settings: What it depends on; JSON's values.
        code: Its sources: modules or folders, relative to the recipe.
        make: Does it; is given the step's key.
    """

    name: str
    about: str
    settings: object
    code: Sequence[str]
    make: Callable[[str], None]


class NotMadeError(Exception):
    """A step needs what an earlier one makes; the message says which."""


def run_steps(
    steps: Sequence[Step], folder: Path, only: Iterable[str] | None, tell: Callable[[str], None]
) -> None:
    """Do the steps whose result is missing or out of date, in their order.

    Args:
        steps: All of them.
        folder: Where everything is kept.
        only: Names of those to look at; those before them are taken as they are. None: all.
        tell: Hears what is done.

    Raises:
        NotMadeError: A step that is left out was never done.
    """
    wanted = set(only) if only is not None else {step.name for step in steps}
    (folder / "done").mkdir(parents=True, exist_ok=True)
    before = ""
    for number, step in enumerate(steps, 1):
        mark = folder / "done" / f"{step.name}.json"
        done = json.loads(mark.read_text(encoding="utf-8"))["key"] if mark.exists() else ""
        if step.name not in wanted:
            if not done and wanted & {later.name for later in steps[number:]}:
                raise NotMadeError(f"{folder} has no result of the step “{step.name}”: do it first")
            before = done
            continue
        key = key_of(step, before)
        title = f"[{number}/{len(steps)}] {step.name}: {step.about}"
        if key == done:
            tell(f"{title}: already done")
        else:
            tell(title)
            mark.unlink(missing_ok=True)
            began = time.monotonic()
            step.make(key)
            seconds = round(time.monotonic() - began, 1)
            mark_done(folder, step.name, key, seconds)
            tell(f"      {seconds:.0f} s")
        before = key


def mark_done(folder: Path, name: str, key: str, seconds: float) -> None:
    """Note that a step is done."""
    mark = folder / "done" / f"{name}.json"
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(json.dumps({"key": key, "seconds": seconds}) + "\n", encoding="utf-8")


def key_of(step: Step, before: str) -> str:
    """Return what a step's result depends on, as a short text."""
    known = hashlib.sha256(json.dumps([step.name, step.settings, before]).encode())
    for name in step.code:
        place = RECIPE / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in (".py", ".txt", ".in"):
                known.update(path.read_bytes())
    return known.hexdigest()[:16]


def files_key(folder: Path) -> list[tuple[str, int]]:
    """Return names and sizes of a folder's sources, which tell one release from another."""
    paths = sorted(path for path in folder.rglob("*.rst*") if path.is_file())
    return [(path.relative_to(folder).as_posix(), path.stat().st_size) for path in paths]
