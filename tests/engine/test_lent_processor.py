"""A processor that is lent to another program computes what it computes for its own."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from paceline.installation import kernel_files
from rpc_servers import rpc_servers

if TYPE_CHECKING:
    from pathlib import Path

# In a process of its own, which llama.cpp ends where something is wrong with a server.
_ROWS = """
import hashlib, sys
from paceline.engine import load_pair
from paceline.messages import ModelParams
path, cache, *servers = sys.argv[1:]
params = ModelParams(path, n_ctx=256, n_threads=1)
with load_pair(params, kernels="own", cache_dir=cache, servers=servers) as pair:
    model, digest = pair.loaded.target.model, hashlib.sha256()
    model.clear()
    for width in (40, 1, 2, 3, 5, 8, 1):
        n_past = model.n_past
        digest.update(model.decode(range(300 + n_past, 300 + n_past + width), min(width, 8)))
    print(model.computes_here, digest.hexdigest())
"""


def rows(model: Path, cache: Path, *servers: str) -> list[str]:
    """Return whether the process itself computes, and the rows of several widths in short."""
    done = subprocess.run(
        [sys.executable, "-c", _ROWS, model, cache, *servers],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.skipif(kernel_files.find(None) is None, reason="own kernels are not built here")
def test_rows_are_the_same_bit_by_bit_with_own_kernels(
    target_path: Path, paceline_home: Path
) -> None:
    cache = paceline_home / "cache"
    with rpc_servers(2, "--device", "CPU", "--kernels", "own") as servers:
        endpoints = [server.endpoint for server in servers]
        here, digest = rows(target_path, cache)
        assert here == "True"
        assert rows(target_path, cache, *endpoints) == ["False", digest]
