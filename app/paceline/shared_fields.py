"""Makes a dataclass of another one, as far as both have the same fields."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

T = TypeVar("T")


def made_of(cls: type[T], source: object, **given: Any) -> T:
    """Return a `cls` whose fields are those of `source` by name, but for what is given.

    Raises:
        TypeError: A field without a default is neither given nor one of the source's.
    """
    names = (each.name for each in dataclasses.fields(cls) if each.init)  # type: ignore[arg-type]
    taken = {
        name: getattr(source, name) for name in names if name not in given and hasattr(source, name)
    }
    return cls(**taken, **given)
