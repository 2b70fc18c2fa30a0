"""The other end of a side: its process, which imports nothing but what it measures needs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def serve(ready: Any, carry_out: Callable[[list[Any]], Any]) -> None:
    """Say that the side is ready, then carry out orders until stdin is closed.

    Args:
        ready: JSON value to send first.
        carry_out: Function of an order with its arguments; returns the answer.
    """
    _answer(ready)
    for line in sys.stdin:
        _answer(carry_out(json.loads(line)))


def _answer(value: Any) -> None:
    print(json.dumps(value), flush=True)
