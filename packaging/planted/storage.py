"""Faults of files: chats and downloads."""

from __future__ import annotations

from planted.fault import Fault

FAULTS = (
    Fault(
        "a message is not synced to disk",
        (("{'FULL' if durable else 'NORMAL'}", "NORMAL"),),
        ("tests/storage/test_power.py",),
    ),
    Fault(
        "a download's hash is not checked",
        (('if self._files[index].sha256 in ("", sha256):', "if sha256:"),),
        ("tests/catalog/download/test_faults.py",),
    ),
)
