"""`paceline hub download` killed at random points, again and again, against a loopback Hub."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hub_server import Fault, HubServer, Repository, Request
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.hub.client import Hub

if TYPE_CHECKING:
    from trials import Trials

MB = 1_000_000
SIZE = 32 * MB
SPEED = 40 * MB
LOST_AT_MOST = 10 * MB
"""Bytes that one break may cost, as promised."""
REPO, FILE = "owner/model", "model-Q4_K_M.gguf"


@pytest.fixture(scope="module")
def content() -> bytes:
    return random.Random(1).randbytes(SIZE)


@pytest.fixture
def server(content: bytes) -> Iterator[HubServer]:
    with HubServer({REPO: Repository(REPO, {FILE: content})}) as server:
        server.add(Fault("*.gguf", bytes_per_s=SPEED))
        yield server


def started(server: HubServer, folder: Path) -> subprocess.Popen[str]:
    command = ["hub", "download", REPO, FILE, "--endpoint", server.endpoint, "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "paceline", *command, "--dest", str(folder)],
        env={**os.environ, "HF_HUB_OFFLINE": "0", "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_after(process: subprocess.Popen[str], server: HubServer, n: int, delay_s: float) -> bool:
    """Kill a program once the server has sent it `n` bytes; false: it was done before."""
    before = server.n_bytes_sent()
    start = None
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        now = server.n_bytes_sent()
        start = server.requests[-1].start if now > before and start is None else start
        if now - before >= n or (start is not None and start + now - before >= SIZE):
            time.sleep(delay_s)
            process.kill()
            break
        time.sleep(0.001)
    _, said = process.communicate(timeout=60)
    assert process.returncode in (-9, 0), said
    return process.returncode != 0


def losses(requests: list[Request]) -> list[int]:
    """Return how many bytes each answer sent that had been sent before."""
    farthest, found = 0, []
    for request in requests:
        if request.n_sent:
            found.append(max(0, farthest - request.start))
            farthest = max(farthest, request.start + request.n_sent)
    return found


def test_killed_at_random_points_the_file_is_right_and_little_is_fetched_twice(
    server: HubServer, tmp_path: Path, is_long: bool, trials: Trials, content: bytes
) -> None:
    chance = random.Random(2)
    n_kills = worst = 0
    for n_downloads in range(50 if is_long else 1):
        folder = tmp_path / f"models-{n_downloads}"
        server.clear()
        if n_downloads % 2 == 0:  # every other one as fast as it goes
            server.add(Fault("*.gguf", bytes_per_s=SPEED))
        n_before = len(server.requests)
        for _ in trials(4, 4):
            # From "nothing has come yet" to "the last byte is there, but not its name".
            n = chance.randrange(chance.choice((1, 12 * MB, 12 * MB, 12 * MB, SIZE)))
            if kill_after(started(server, folder), server, n, chance.random() * 0.05):
                n_kills += 1
                names = {path.name for path in folder.glob("*")}
                assert names <= {f"{FILE}.part", FILE}
        said, problem = started(server, folder).communicate(timeout=120)
        assert said, problem
        result = json.loads(said)
        assert result == {
            "path": str(folder / FILE),
            "n_bytes": SIZE,
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        assert (folder / FILE).read_bytes() == content
        assert [path.name for path in folder.iterdir()] == [FILE]
        lost = losses([r for r in server.requests[n_before:] if r.host == "cdn"])
        worst = max(worst, *lost)
    print(f"{n_kills} of {trials.n} kills were in time, at most {worst / MB:.1f} MB fetched twice")
    assert n_kills > trials.n // 2
    assert worst <= LOST_AT_MOST


def test_a_killed_window_shows_its_download_as_paused(server: HubServer, tmp_path: Path) -> None:
    assert kill_after(started(server, tmp_path / "models"), server, 8 * MB, 0)
    state_dir = Path(os.environ["PACELINE_HOME"]) / "data" / "downloads"
    downloads = Downloads(Hub(endpoint=server.endpoint), state_dir)
    (state,) = downloads.states()
    assert state.status == "paused"
    assert state.n_total == SIZE
    assert 0 < state.n_done <= (tmp_path / "models" / f"{FILE}.part").stat().st_size
    downloads.close()
