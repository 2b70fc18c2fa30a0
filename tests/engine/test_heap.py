"""Freed memory goes back to the system."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from paceline.engine.native import give_back_freed_memory

SCRIPT = """
    import psutil
    from paceline.engine.native import give_back_freed_memory

    def uss():
        return psutil.Process().memory_full_info().uss

    blocks = [bytearray(40_000) for _ in range(2_000)]
    full = uss()
    plug = bytearray(40_000)  # after all of them, so that the heap cannot simply shrink
    del blocks
    kept = uss()
    give_back_freed_memory()
    print(full - kept, full - uss())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a matter of glibc")
def test_the_heap_keeps_freed_memory_until_it_is_trimmed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    by_itself, told = map(int, done.stdout.split())
    if by_itself > 40e6:
        pytest.skip("this C library gives everything back by itself")
    assert told > 60e6


def test_a_system_without_it_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paceline.engine.native.ctypes.CDLL", lambda name: object())
    give_back_freed_memory()
    monkeypatch.setattr(sys, "platform", "win32")
    give_back_freed_memory()
